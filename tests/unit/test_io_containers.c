/* io: NPY, NPZ, MAT, HDF5, LIBSVM, MatrixMarket, IDX and images, and what is wrong with them. The
 * containers of tests/golden were made by make_io.py: X[i][j] = 10 i + j, labels 3 and 5 or cat
 * and dog in turn. */
#include "base/memory.h"
#include "huddle/io.h"
#include "support/support.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

enum { N = 6, D = 4 };

static const char *join(const char *folder, const char *name) {
    static char path[16][512];
    static int next;
    char *p = path[next++ % 16];
    snprintf(p, sizeof path[0], "%s/%s", folder, name);
    return p;
}

static const char *path_of(const char *name) {
    return join(test_directory(), name);
}

static const char *golden(const char *name) {
    return join(HUDDLE_GOLDEN, name);
}

static const char *put(const char *name, const void *bytes, size_t size) {
    const char *path = path_of(name);
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, size, file), size);
    fclose(file);
    return path;
}

static const char *put_text(const char *name, const char *text) {
    return put(name, text, strlen(text));
}

static char *slurp(const char *path, size_t *size) {
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    char *bytes = malloc(1 << 20);
    *size = fread(bytes, 1, 1 << 20, file);
    fclose(file);
    return bytes;
}

/* Value (i, j) of dense or sparse points. */
static float value_at(const huddle_points *x, int64_t i, int64_t j) {
    if (x->offsets == NULL)
        return x->values[i * x->stride + j];
    for (int64_t e = x->offsets[i]; e < x->offsets[i + 1]; e++)
        if (x->columns[e] == j)
            return x->values[e];
    return 0;
}

static void assert_example(const huddle_data *data, bool sparse) {
    assert_int_equal(data->points.n, N);
    assert_int_equal(data->points.d, D);
    assert_int_equal(data->points.offsets != NULL, sparse);
    for (int64_t i = 0; i < N; i++)
        for (int64_t j = 0; j < D; j++) {
            double expected = sparse && (i + j) % 2 != 0 ? 0 : (double)(10 * i + j);
            assert_close(value_at(&data->points, i, j), expected, 0);
        }
}

static void assert_labels(const huddle_data *data, const char *first, const char *second) {
    assert_int_equal(data->n_classes, 2);
    assert_string_equal(data->classes[0], first);
    assert_string_equal(data->classes[1], second);
    for (int i = 0; i < N; i++)
        assert_int_equal(data->labels[i], i % 2);
}

/* ---- golden containers ---------------------------------------------------------------------- */

static void containers_are_read_by_habit(void **state) {
    (void)state;
    static const struct {
        const char *file, *format, *first, *second;
        bool sparse;
    } cases[] = {
        {"io_v5.mat", "mat", "3", "5", false},
        {"io_v5_columns.mat", "mat", "3", "5", false},
        {"io_v5_cells.mat", "mat", "cat", "dog", false},
        {"io_v5_chars.mat", "mat", "cat", "dog", false},
        {"io_v5_sparse.mat", "mat", "3", "5", true},
        {"io_v73.mat", "mat", "3", "5", false},
        {"io_plain.npz", "npz", "3", "5", false},
        {"io_packed.npz", "npz", "cat", "dog", false},
        {"io_csr.npz", "npz", NULL, NULL, true},
        {"io_csc.npz", "npz", NULL, NULL, true},
        {"io_coo.npz", "npz", NULL, NULL, true},
        {"io_images.h5", "hdf5", "cat", "dog", false},
    };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        huddle_data data;
        assert_ok(huddle_data_read(NULL, golden(cases[k].file), NULL, &data));
        assert_string_equal(data.format, cases[k].format);
        assert_example(&data, cases[k].sparse);
        if (cases[k].first != NULL)
            assert_labels(&data, cases[k].first, cases[k].second);
        else
            assert_null(data.labels);
        huddle_data_free(&data);
    }
}

static void names_are_given_and_stacked(void **state) {
    (void)state;
    const char *x[] = {"train/data", "test/data"}, *y[] = {"train/target", "test/target"};
    const char *s[] = {"S"}, *names[] = {"names"}, *none[] = {"none"};
    huddle_data data;
    huddle_read_options options = {.x = x, .n_x = 2, .y = y, .n_y = 2};
    assert_ok(huddle_data_read(NULL, golden("io_nested.h5"), &options, &data));
    assert_example(&data, false);
    assert_labels(&data, "3", "5");
    assert_int_equal(data.n_names, 4);
    assert_string_equal(data.names[0], "test/data");
    huddle_data_free(&data);
    options.n_y = 0; /* the labels beside each part */
    assert_ok(huddle_data_read(NULL, golden("io_nested.h5"), &options, &data));
    assert_labels(&data, "3", "5");
    huddle_data_free(&data);
    options = (huddle_read_options){.x = s, .n_x = 1, .y = names, .n_y = 1};
    assert_ok(huddle_data_read(NULL, golden("io_v73.mat"), &options, &data));
    assert_example(&data, true);
    assert_labels(&data, "cat", "dog");
    huddle_data_free(&data);
    options = (huddle_read_options){.y = names, .n_y = 1};
    assert_ok(huddle_data_read(NULL, golden("io_images.h5"), &options, &data));
    assert_labels(&data, "cat", "dog");
    huddle_data_free(&data);
    options = (huddle_read_options){.y = none, .n_y = 1};
    assert_ok(huddle_data_read(NULL, golden("io_v5.mat"), &options, &data));
    assert_null(data.labels);
    huddle_data_free(&data);
}

static void samples_in_columns_and_image_sizes_are_recognised(void **state) {
    (void)state;
    huddle_data data;
    const char *none[] = {"none"};
    assert_ok(huddle_data_read(NULL, golden("io_v5_columns.mat"), NULL, &data));
    assert_int_equal(data.height, 2);
    assert_int_equal(data.width, 2);
    assert_true(data.column_major);
    huddle_data_free(&data);
    huddle_read_options options = {.y = none, .n_y = 1};
    assert_ok(huddle_data_read(NULL, golden("io_v5_columns.mat"), &options, &data));
    assert_int_equal(data.points.n, D);
    assert_int_equal(data.height, 0);
    huddle_data_free(&data);
    options.transpose = true;
    assert_ok(huddle_data_read(NULL, golden("io_v5_columns.mat"), &options, &data));
    assert_example(&data, false);
    huddle_data_free(&data);
    assert_ok(huddle_data_read(NULL, golden("io_images.h5"), NULL, &data));
    assert_int_equal(data.height, 2);
    assert_false(data.column_major);
    huddle_data_free(&data);
}

static huddle_status list(void *path) {
    huddle_listing listing;
    huddle_status status = huddle_data_list(NULL, path, &listing);
    huddle_listing_free(&listing);
    return status;
}

static void containers_are_listed(void **state) {
    (void)state;
    huddle_listing listing;
    char path[300];
    assert_ok(huddle_data_list(NULL, golden("io_v5.mat"), &listing));
    assert_true(listing.has_points && listing.count > 1);
    assert_string_equal(listing.format, "mat");
    huddle_listing_free(&listing);
    assert_ok(huddle_data_list(NULL, golden("io_nested.h5"), &listing));
    assert_false(listing.has_points);
    assert_true(listing.count > 1 && listing.dims[0][0] > 0);
    huddle_listing_free(&listing);
    snprintf(path, sizeof path, "%s", golden("io_v5.mat"));
    test_each_allocation(list, path);
}

static void unfit_names_are_explained(void **state) {
    (void)state;
    huddle_data data;
    const char *x[] = {"q"}, *texts[] = {"label"}, *both[] = {"train/data", "train/target"};
    huddle_read_options options = {.x = x, .n_x = 1};
    assert_refused(huddle_data_read(NULL, golden("io_v5.mat"), &options, &data), HUDDLE_INVALID,
                   "io_v5.mat: no variable named 'q'; it holds fea, gnd");
    options = (huddle_read_options){.y = x, .n_y = 1};
    assert_refused(huddle_data_read(NULL, golden("io_v5.mat"), &options, &data), HUDDLE_INVALID,
                   "io_v5.mat: no variable named 'q'; it holds fea, gnd");
    options = (huddle_read_options){.x = texts, .n_x = 1};
    assert_refused(huddle_data_read(NULL, golden("io_images.h5"), &options, &data), HUDDLE_INVALID,
                   "'label' is not an array of numbers");
    options = (huddle_read_options){.x = both, .n_x = 2};
    assert_refused(huddle_data_read(NULL, golden("io_nested.h5"), &options, &data), HUDDLE_INVALID,
                   "cannot be stacked");
    assert_refused(huddle_data_read(NULL, golden("io_nested.h5"), NULL, &data), HUDDLE_INVALID,
                   "could both be the points");
    assert_refused(huddle_data_read(NULL, golden("io_v5_complex.mat"), NULL, &data),
                   HUDDLE_UNSUPPORTED, "'X' holds complex numbers");
}

/* ---- round trips ---------------------------------------------------------------------------- */

/* Points of every kind, with labels that are numbers or texts. */
static void make_data(bool sparse, bool texts, huddle_data *data) {
    assert_ok(huddle_data_read(NULL,
                               golden(sparse  ? "io_v5_sparse.mat"
                                      : texts ? "io_v5_cells.mat"
                                              : "io_v5.mat"),
                               NULL, data));
    if (!sparse) {
        data->points.values[3] = 0.1f;
        data->points.values[4] = -1.5e-20f;
        data->height = 2;
        data->width = 2;
    }
}

static void what_is_written_is_read_back(void **state) {
    (void)state;
    static const char *const names[] = {"t.csv", "t.tsv", "t.npy", "t.npz",
                                        "t.mat", "t.h5",  "t.svm"};
    for (int kind = 0; kind < 3; kind++)
        for (int k = 0; k < 7; k++) {
            bool sparse = kind == 2, texts = kind == 1;
            bool labels = k != 2, keeps_texts = texts && k != 6, images = k >= 3 && k < 6;
            if (sparse && k != 3 && k != 4 && k != 6)
                continue;
            huddle_data data, back;
            make_data(sparse, texts, &data);
            assert_ok(huddle_data_write(NULL, &data, path_of(names[k])));
            assert_ok(huddle_data_read(NULL, path_of(names[k]), NULL, &back));
            assert_int_equal(back.points.offsets != NULL, sparse || k == 6);
            for (int64_t i = 0; i < N; i++)
                for (int64_t j = 0; j < D; j++)
                    assert_close(value_at(&back.points, i, j), value_at(&data.points, i, j), 0);
            if (labels)
                assert_labels(&back,
                              keeps_texts ? "cat"
                              : texts     ? "0"
                                          : "3",
                              keeps_texts ? "dog"
                              : texts     ? "1"
                                          : "5");
            assert_int_equal(back.height, images && !sparse ? 2 : 0);
            huddle_data_free(&data);
            huddle_data_free(&back);
        }
}

static void sparse_points_are_never_made_dense(void **state) {
    (void)state;
    huddle_data data;
    make_data(true, false, &data);
    static const char *const names[] = {"s.csv", "s.npy", "s.h5"};
    for (int k = 0; k < 3; k++)
        assert_refused(huddle_data_write(NULL, &data, path_of(names[k])), HUDDLE_UNSUPPORTED,
                       "sparse points are not made dense");
    assert_int_not_equal(access(path_of("s.csv"), F_OK), 0);
    huddle_data_free(&data);
}

static void matrices_and_graphs_are_read_back(void **state) {
    (void)state;
    huddle_csr graph, back;
    huddle_dense dense, again;
    assert_ok(huddle_csr_read(NULL, golden("io_csc.npz"), &graph));
    assert_int_equal(graph.rows, N);
    assert_ok(huddle_csr_write_npz(path_of("graph.npz"), &graph));
    assert_ok(huddle_csr_read(NULL, path_of("graph.npz"), &back));
    int64_t count = graph.offsets[N];
    assert_int_equal(back.offsets[N], count);
    assert_memory_equal(back.columns, graph.columns, (size_t)count * sizeof *back.columns);
    assert_memory_equal(back.values, graph.values, (size_t)count * sizeof *back.values);
    huddle_csr_free(&back);
    assert_ok(huddle_dense_read(NULL, path_of("graph.npz"), &dense));
    assert_ok(huddle_dense_write_npy(path_of("dense.npy"), &dense));
    assert_ok(huddle_dense_read(NULL, path_of("dense.npy"), &again));
    assert_memory_equal(dense.values, again.values, sizeof(double) * N * D);
    assert_ok(huddle_csr_read(NULL, path_of("dense.npy"), &back));
    assert_int_equal(back.offsets[N], count);
    huddle_csr_free(&back);
    huddle_csr_free(&graph);
    huddle_dense_free(&dense);
    huddle_dense_free(&again);
    assert_ok(huddle_dense_read(NULL, put_text("m.csv", "0.1,2\n3,4\n"), &dense));
    assert_close(dense.values[0], 0.1, 0);
    huddle_dense_free(&dense);
    assert_refused(huddle_dense_read(NULL, put_text("m.csv", "0.1,2\n3,1e999\n"), &dense),
                   HUDDLE_INVALID, "m.csv: row 2, column 2: the value is infinite");
}

/* ---- NPY ------------------------------------------------------------------------------------ */

/* An NPY file with this header text and these elements. */
static size_t make_npy(const char *header, const void *elements, size_t bytes, char *file) {
    size_t length = strlen(header);
    memcpy(file, "\x93NUMPY\x01\x00", 8);
    file[8] = (char)(length & 255);
    file[9] = (char)(length >> 8);
    memcpy(file + 10, header, length);
    memcpy(file + 10 + length, elements, bytes);
    return 10 + length + bytes;
}

static void arrays_of_every_element_are_read(void **state) {
    (void)state;
    /* 2, 3 as every type, in both byte orders where it matters. */
    static const struct {
        const char *type, *bytes;
        size_t size;
    } cases[] = {
        {"|u1", "\2\3", 1},
        {"|i1", "\2\3", 1},
        {"|b1", "\2\3", 1},
        {"<i2", "\2\0\3\0", 2},
        {">u2", "\0\2\0\3", 2},
        {"<f2", "\x00\x40\x00\x42", 2},
        {">f2", "\x40\x00\x42\x00", 2},
        {"<i4", "\2\0\0\0\3\0\0\0", 4},
        {">u4", "\0\0\0\2\0\0\0\3", 4},
        {"<f4", "\0\0\0\x40\0\0\x40\x40", 4},
        {">f4", "\x40\0\0\0\x40\x40\0\0", 4},
        {"<i8", "\2\0\0\0\0\0\0\0\3\0\0\0\0\0\0\0", 8},
        {">u8", "\0\0\0\0\0\0\0\2\0\0\0\0\0\0\0\3", 8},
        {"<f8", "\0\0\0\0\0\0\0\x40\0\0\0\0\0\0\x08\x40", 8},
        {">f8", "\x40\0\0\0\0\0\0\0\x40\x08\0\0\0\0\0\0", 8},
    };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        char header[128], file[256];
        huddle_data data;
        snprintf(header, sizeof header,
                 "{'descr': '%s', 'fortran_order': False, 'shape': (2, 1), }\n", cases[k].type);
        size_t size = make_npy(header, cases[k].bytes, 2 * cases[k].size, file);
        assert_ok(huddle_data_read(NULL, put("e.npy", file, size), NULL, &data));
        assert_int_equal(data.points.n, 2);
        assert_close(data.points.values[0], 2, 0);
        assert_close(data.points.values[1], 3, 0);
        huddle_data_free(&data);
    }
}

static void shapes_and_orders_of_arrays_are_understood(void **state) {
    (void)state;
    static const unsigned char bytes[] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11};
    static const struct {
        const char *shape, *order;
        int n, d, height, width;
        float second[6]; /* the second sample */
    } cases[] = {
        {"(12,)", "False", 12, 1, 0, 0, {1}},
        {"(3, 4)", "False", 3, 4, 0, 0, {4, 5, 6, 7}},
        {"(3, 4)", "True", 3, 4, 0, 0, {1, 4, 7, 10}},
        {"(2, 3, 2)", "False", 2, 6, 3, 2, {6, 7, 8, 9, 10, 11}},
        {"(2, 3, 2)", "True", 2, 6, 3, 2, {1, 7, 3, 9, 5, 11}},
    };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        char header[128], file[256];
        huddle_data data;
        snprintf(header, sizeof header, "{'descr': '|u1', 'fortran_order': %s, 'shape': %s, }\n",
                 cases[k].order, cases[k].shape);
        size_t size = make_npy(header, bytes, sizeof bytes, file);
        assert_ok(huddle_data_read(NULL, put("o.npy", file, size), NULL, &data));
        assert_int_equal(data.points.n, cases[k].n);
        assert_int_equal(data.points.d, cases[k].d);
        assert_int_equal(data.height, cases[k].height);
        assert_int_equal(data.width, cases[k].width);
        for (int j = 0; j < cases[k].d; j++)
            assert_close(data.points.values[cases[k].d + j], cases[k].second[j], 0);
        huddle_data_free(&data);
    }
}

static void faults_of_arrays_are_named(void **state) {
    (void)state;
    static const struct {
        const char *header, *said;
    } cases[] = {
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }", "needs 48 bytes"},
        {"{'descr': '<f8', 'fortran_order': False, 'shape': (461168601842738790, 4), }",
         "impossible size"},
        {"{'descr': '<f8', 'fortran_order': False, 'shape': (9999999999, 999999999), }",
         "impossible size"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (-3, 4), }", "damaged shape"},
        {"{'descr': '<f4', 'fortran_order': False}", "no shape"},
        {"{'fortran_order': False, 'shape': (3, 4), }", "no type"},
        {"{'descr': '<c8', 'fortran_order': False, 'shape': (1,), }", "holds complex numbers"},
        {"{'descr': '|O', 'fortran_order': False, 'shape': (1,), }", "holds Python objects"},
        {"{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (1,), }", "holds records"},
        {"{'descr': '|u1', 'fortran_order': False, 'shape': (1, 1, 1, 1), }", "three dimensions"},
        {"{'descr': '|u1', 'fortran_order': False, 'shape': (0, 3), }", "no points in it"},
    };
    huddle_data data;
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        char file[256];
        size_t size = make_npy(cases[k].header, "12345678", 8, file);
        huddle_status status = huddle_data_read(NULL, put("f.npy", file, size), NULL, &data);
        assert_true(status == HUDDLE_FORMAT || status == HUDDLE_UNSUPPORTED);
        assert_non_null(strstr(huddle_last_error(), cases[k].said));
        assert_non_null(strstr(huddle_last_error(), "f.npy: "));
    }
    char file[256];
    const float bad[] = {1, 2, 3, (float)(0.0 / 1.0), 1e30f * 1e30f, 5};
    size_t size = make_npy("{'descr': '<f4', 'fortran_order': False, 'shape': (3, 2), }", bad,
                           sizeof bad, file);
    assert_refused(huddle_data_read(NULL, put("f.npy", file, size), NULL, &data), HUDDLE_INVALID,
                   "f.npy: row 3, column 1: the value is infinite");
}

/* ---- damaged containers --------------------------------------------------------------------- */

/* Cut anywhere, or with any byte changed, a file is refused or read: never a crash. */
static void damaged_files_are_refused_in_peace(void **state) {
    (void)state;
    static const char *const names[] = {"io_v5.mat",    "io_v5_cells.mat", "io_v5_sparse.mat",
                                        "io_plain.npz", "io_packed.npz",   "io_csr.npz",
                                        "io_gray8.png"};
    for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
        size_t size;
        char *bytes = slurp(golden(names[k]), &size);
        const char *path = path_of(k == 6 ? "pictures/d.png" : names[k]);
        if (k == 6)
            mkdir(path_of("pictures"), 0777);
        for (size_t cut = 1; cut < size; cut += 7) {
            huddle_data data;
            put(k == 6 ? "pictures/d.png" : names[k], bytes, cut);
            huddle_status status =
                huddle_data_read(NULL, k == 6 ? path_of("pictures") : path, NULL, &data);
            if (status == HUDDLE_OK)
                huddle_data_free(&data);
            else
                assert_non_null(strstr(huddle_last_error(), ": "));
            char kept = bytes[cut];
            bytes[cut] = (char)(kept ^ (int)(cut % 255 + 1));
            put(k == 6 ? "pictures/d.png" : names[k], bytes, size);
            bytes[cut] = kept;
            if (huddle_data_read(NULL, k == 6 ? path_of("pictures") : path, NULL, &data) ==
                HUDDLE_OK)
                huddle_data_free(&data);
        }
        free(bytes);
    }
}

static void truncated_files_say_so(void **state) {
    (void)state;
    static const char *const names[] = {"io_v5.mat", "io_v73.mat", "io_plain.npz", "io_nested.h5"};
    for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
        size_t size;
        huddle_data data;
        char *bytes = slurp(golden(names[k]), &size);
        put(names[k], bytes, size * 2 / 3);
        assert_refused(huddle_data_read(NULL, path_of(names[k]), NULL, &data), HUDDLE_FORMAT,
                       names[k]);
        free(bytes);
    }
}

static void files_that_are_not_there_or_not_data(void **state) {
    (void)state;
    huddle_data data;
    assert_refused(huddle_data_read(NULL, path_of("nothing"), NULL, &data), HUDDLE_IO,
                   "nothing: cannot be opened: No such file or directory");
    assert_refused(huddle_data_read(NULL, put("x.npy", "\1\2\3\4", 4), NULL, &data), HUDDLE_FORMAT,
                   "x.npy: the content is not npy, nor any other format");
    assert_refused(huddle_data_read(NULL, put("x.bin", "\1\2\3\4", 4), NULL, &data), HUDDLE_FORMAT,
                   "x.bin: the content is of no format Huddle reads");
    assert_refused(huddle_data_read(NULL, golden("io_gray8.png"), NULL, &data), HUDDLE_UNSUPPORTED,
                   "a single image is not a data set");
    mkdir(path_of("empty"), 0777);
    assert_refused(huddle_data_read(NULL, path_of("empty"), NULL, &data), HUDDLE_FORMAT,
                   "empty: the folder holds no PGM or PNG images");
    /* What a file holds decides, not its name. */
    assert_ok(huddle_data_read(NULL, put_text("table.npy", "1,2\n3,4\n"), NULL, &data));
    assert_string_equal(data.format, "csv");
    huddle_data_free(&data);
    if (geteuid() != 0) {
        chmod(put_text("secret.csv", "1,2\n"), 0);
        assert_refused(huddle_data_read(NULL, path_of("secret.csv"), NULL, &data), HUDDLE_IO,
                       "secret.csv: cannot be opened: Permission denied");
    }
}

/* ---- LIBSVM and MatrixMarket ---------------------------------------------------------------- */

static void sparse_texts_are_read(void **state) {
    (void)state;
    huddle_data data;
    assert_ok(huddle_data_read(
        NULL, put_text("a.svm", "# made\n+1 1:2.5 3:-1e1 # c\n\n-1 qid:3 2:4\r\n1\n"), NULL,
        &data));
    assert_int_equal(data.points.n, 3);
    assert_int_equal(data.points.d, 3);
    assert_close(value_at(&data.points, 0, 2), -10, 0);
    assert_close(value_at(&data.points, 1, 1), 4, 0);
    assert_string_equal(data.classes[0], "-1");
    assert_int_equal(data.labels[2], 1);
    huddle_data_free(&data);
    assert_ok(huddle_data_read(NULL, put_text("z.svm", "0 0:1 2:1\n1 1:1"), NULL, &data));
    assert_int_equal(data.points.d, 3); /* indices from 0 */
    assert_close(value_at(&data.points, 1, 1), 1, 0);
    huddle_data_free(&data);
    assert_ok(huddle_data_read(
        NULL,
        put_text("a.mtx", "%%MatrixMarket matrix coordinate integer symmetric\n% c\n3 3 3\n1 1 5\n"
                          "3 1 7\n3 3 1"),
        NULL, &data));
    assert_close(value_at(&data.points, 0, 2), 7, 0);
    assert_close(value_at(&data.points, 2, 0), 7, 0);
    huddle_data_free(&data);
    assert_ok(huddle_data_read(
        NULL, put_text("b.mtx", "%%MatrixMarket matrix array real general\n2 2\n1\n2\n3\n4\n"),
        NULL, &data));
    assert_close(value_at(&data.points, 0, 1), 3, 0);
    huddle_data_free(&data);
    static const char *const skew[] = {
        "%%MatrixMarket matrix coordinate real skew-symmetric\n3 3 2\n2 1 4\n3 2 5\n",
        "%%MatrixMarket matrix array real skew-symmetric\n3 3\n4\n0\n5\n"};
    for (int k = 0; k < 2; k++) {
        assert_ok(huddle_data_read(NULL, put_text("s.mtx", skew[k]), NULL, &data));
        assert_close(value_at(&data.points, 1, 0), 4, 0);
        assert_close(value_at(&data.points, 0, 1), -4, 0);
        assert_close(value_at(&data.points, 2, 1), 5, 0);
        assert_close(value_at(&data.points, 1, 2), -5, 0);
        huddle_data_free(&data);
    }
    assert_ok(huddle_data_read(
        NULL, put_text("p.mtx", "%%MatrixMarket matrix coordinate pattern general\n2 3 1\n2 3\n"),
        NULL, &data));
    assert_close(value_at(&data.points, 1, 2), 1, 0);
    huddle_data_free(&data);
}

static void faults_of_sparse_texts_are_named(void **state) {
    (void)state;
    static const char *const cases[][2] = {
        {"1 1:2\n1 3:1 2:1\n", "line 2: index 2 is out of order"},
        {"1 1:2\n1 3:x\n", "line 2: '3:x' is not index:value"},
        {"1 1:2\n1:3\n", "row 2 has no label"},
        {"1 1:2\n1 3:1e39\n", "row 2, column 3: 1e+39 is beyond single precision"},
        {"1 9999999999:2\n", "out of order or too large"},
        {"%%MatrixMarket matrix coordinate real general\n3 3 2000000000\n1 1 1\n",
         "2000000000 entries are claimed"},
        {"%%MatrixMarket matrix coordinate real general\n2000000000 2000000000 1\n1 1 1\n",
         "not believable"},
        {"%%MatrixMarket matrix coordinate real general\n3 3 1\n4 1 1\n", "(4, 1) is outside"},
        {"%%MatrixMarket matrix coordinate real general\n3 3 2\n1 1 1\n", "ends before all 2"},
        {"%%MatrixMarket matrix coordinate complex general\n3 3 1\n1 1 1 1\n", "not supported"},
        {"%%MatrixMarket matrix coordinate real general\n3 x\n", "line 2: the sizes"},
        {"%%MatrixMarket matrix array real general\n1000000 1000000\n1\n", "entries are claimed"},
    };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        huddle_data data;
        huddle_status status =
            huddle_data_read(NULL, put_text("sparse.txt", cases[k][0]), NULL, &data);
        assert_int_not_equal(status, HUDDLE_OK);
        if (strstr(huddle_last_error(), cases[k][1]) == NULL ||
            strstr(huddle_last_error(), "sparse.txt: ") == NULL)
            fail_msg("'%s' should say '%s'", huddle_last_error(), cases[k][1]);
    }
}

/* ---- IDX ------------------------------------------------------------------------------------ */

static const unsigned char idx_images[] = {0, 0, 8, 3, 0, 0, 0, 2, 0, 0, 0,
                                           1, 0, 0, 0, 3, 1, 2, 3, 4, 5, 255};
static const unsigned char idx_labels[] = {0, 0, 8, 1, 0, 0, 0, 2, 7, 3};

static const char *put_packed(const char *name, const void *bytes, size_t size) {
    const char *path = path_of(name);
    gzFile file = gzopen(path, "wb");
    assert_int_equal((size_t)gzwrite(file, bytes, (unsigned)size), size);
    gzclose(file);
    return path;
}

static void idx_finds_its_labels(void **state) {
    (void)state;
    for (int packed = 0; packed < 2; packed++) {
        huddle_data data;
        const char *path;
        if (packed) {
            path = put_packed("p-images-idx3-ubyte.gz", idx_images, sizeof idx_images);
            put_packed("p-labels-idx1-ubyte.gz", idx_labels, sizeof idx_labels);
        } else {
            path = put("u-images-idx3-ubyte", idx_images, sizeof idx_images);
            put("u-labels-idx1-ubyte", idx_labels, sizeof idx_labels);
        }
        assert_ok(huddle_data_read(NULL, path, NULL, &data));
        assert_string_equal(data.format, "idx");
        assert_int_equal(data.points.n, 2);
        assert_int_equal(data.height, 1);
        assert_int_equal(data.width, 3);
        assert_close(data.points.values[5], 255, 0);
        assert_string_equal(data.classes[0], "3");
        assert_int_equal(data.labels[0], 1);
        huddle_data_free(&data);
    }
    huddle_data data;
    put("b-images-idx3-ubyte", idx_images, sizeof idx_images);
    put("b-labels-idx1-ubyte", idx_labels, sizeof idx_labels - 1);
    assert_refused(huddle_data_read(NULL, path_of("b-images-idx3-ubyte"), NULL, &data),
                   HUDDLE_FORMAT, "b-labels-idx1-ubyte: ");
    assert_refused(
        huddle_data_read(NULL, put("c.idx", idx_images, sizeof idx_images - 1), NULL, &data),
        HUDDLE_FORMAT, "c.idx: the IDX header claims more elements");
    static const unsigned char wide[] = {0, 0, 0x0C, 2, 0, 0, 0,   1,   0,   0,
                                         0, 2, 0,    0, 1, 0, 255, 255, 255, 255};
    assert_ok(huddle_data_read(NULL, put("w.idx", wide, sizeof wide), NULL, &data));
    assert_close(data.points.values[0], 256, 0);
    assert_close(data.points.values[1], -1, 0);
    huddle_data_free(&data);
    static const unsigned char lie[] = {0,   0,   0x0E, 3,   255, 255, 255, 255,
                                        255, 255, 255,  255, 255, 255, 255, 255};
    assert_refused(huddle_data_read(NULL, put("l.idx", lie, sizeof lie), NULL, &data),
                   HUDDLE_FORMAT, "l.idx: the IDX header claims more");
}

/* ---- images --------------------------------------------------------------------------------- */

static void copy_golden(const char *name, const char *to) {
    size_t size;
    char *bytes = slurp(golden(name), &size);
    put(to, bytes, size);
    free(bytes);
}

static void folders_of_images_are_read(void **state) {
    (void)state;
    static const float expected[] = {0, 100, 255, 1, 2, 3};
    huddle_data data;
    mkdir(path_of("faces"), 0777);
    mkdir(path_of("faces/10"), 0777);
    mkdir(path_of("faces/9"), 0777);
    mkdir(path_of("faces/.hidden"), 0777);
    copy_golden("io_gray8.png", "faces/9/a.png");
    copy_golden("io_gray16.png", "faces/9/b.PNG");
    copy_golden("io_rgb8.png", "faces/9/c.png");
    put_text("faces/10/p2.pgm", "P2 # plain\n3 2\n255\n0 100 255\n1 2 3\n");
    put("faces/10/p5.pgm", "P5\n3 2\n255\n\0\x64\xff\1\2\3", 17);
    put("faces/10/p5w.pgm", "P5 3 2 65535\n\0\0\x64\x64\xff\xff\1\1\2\2\3\3", 25);
    put_text("faces/10/notes.txt", "not an image");
    assert_ok(huddle_data_read(NULL, path_of("faces"), NULL, &data));
    assert_string_equal(data.format, "images");
    assert_int_equal(data.points.n, 6);
    assert_int_equal(data.height, 2);
    assert_int_equal(data.width, 3);
    assert_string_equal(data.classes[0], "9"); /* by value, not by text */
    assert_int_equal(data.labels[0], 1);
    for (int i = 0; i < 36; i++)
        assert_close(data.points.values[i], expected[i % 6], 1e-6);
    huddle_data_free(&data);
    copy_golden("io_gray1.png", "faces/9/d.png");
    assert_ok(huddle_data_read(NULL, path_of("faces/9"), NULL, &data)); /* no class folders */
    assert_null(data.labels);
    assert_close(data.points.values[3 * 6 + 1], 255, 0);
    huddle_data_free(&data);
    put_text("faces/9/e.pgm", "P2 2 2 255 1 2 3 4\n");
    assert_refused(huddle_data_read(NULL, path_of("faces"), NULL, &data), HUDDLE_FORMAT,
                   "faces/9/e.pgm: the image is 2 x 2, but ");
    put_text("faces/9/e.pgm", "P2 3 2 255 1 2 3 4\n");
    assert_refused(huddle_data_read(NULL, path_of("faces"), NULL, &data), HUDDLE_FORMAT,
                   "faces/9/e.pgm: pixel 5 is missing");
    assert_memory_equal(huddle_last_error(), "/tmp/", 5);
    put_text("faces/9/e.pgm", "P5 30000 30000 255\n1234");
    assert_refused(huddle_data_read(NULL, path_of("faces"), NULL, &data), HUDDLE_FORMAT,
                   "faces/9/e.pgm: the PGM header claims");
    put_text("faces/9/e.pgm", "GIF89a");
    assert_refused(huddle_data_read(NULL, path_of("faces"), NULL, &data), HUDDLE_FORMAT,
                   "neither PGM (P2, P5) nor PNG");
    remove(path_of("faces/9/e.pgm"));
}

/* ---- memory --------------------------------------------------------------------------------- */

static huddle_status read_one(void *argument) {
    huddle_data data;
    huddle_status status = huddle_data_read(NULL, argument, NULL, &data);
    if (status == HUDDLE_OK)
        huddle_data_free(&data);
    return status;
}

static huddle_status write_one(void *argument) {
    huddle_data *data = argument;
    return huddle_data_write(NULL, data, data->name);
}

static huddle_status read_graph(void *argument) {
    huddle_csr graph;
    huddle_status status = huddle_csr_read(NULL, argument, &graph);
    if (status == HUDDLE_OK)
        huddle_csr_free(&graph);
    return status;
}

static void every_allocation_may_fail(void **state) {
    (void)state;
    static const char *const names[] = {"io_v5.mat",       "io_v5_columns.mat", "io_v5_cells.mat",
                                        "io_v5_chars.mat", "io_v5_sparse.mat",  "io_v73.mat",
                                        "io_plain.npz",    "io_packed.npz",     "io_csr.npz",
                                        "io_coo.npz",      "io_images.h5"};
    char path[512];
    for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
        snprintf(path, sizeof path, "%s", golden(names[k]));
        test_each_allocation(read_one, path);
    }
    snprintf(path, sizeof path, "%s", path_of("faces"));
    test_each_allocation(read_one, path);
    snprintf(path, sizeof path, "%s", path_of("p-images-idx3-ubyte.gz"));
    test_each_allocation(read_one, path);
    snprintf(path, sizeof path, "%s", put_text("f.svm", "1 1:2 3:4\n2 2:1"));
    test_each_allocation(read_one, path);
    snprintf(path, sizeof path, "%s",
             put_text("f.mtx", "%%MatrixMarket matrix array real general\n1 2\n1\n2"));
    test_each_allocation(read_one, path);
    test_each_allocation(read_graph, path);
}

static void every_allocation_of_writers_may_fail(void **state) {
    (void)state;
    static const char *const names[] = {"w.npy", "w.npz", "w.mat", "w.h5", "w.svm"};
    for (int kind = 0; kind < 3; kind++)
        for (int k = 0; k < 5; k++) {
            huddle_data data;
            make_data(kind == 2, kind == 1, &data);
            huddle_free(data.name);
            data.name = hd_copy_text(path_of(names[k]));
            if (kind != 2 || (k != 0 && k != 3))
                test_each_allocation(write_one, &data);
            huddle_data_free(&data);
        }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(containers_are_read_by_habit),
        cmocka_unit_test(names_are_given_and_stacked),
        cmocka_unit_test(samples_in_columns_and_image_sizes_are_recognised),
        cmocka_unit_test(containers_are_listed),
        cmocka_unit_test(unfit_names_are_explained),
        cmocka_unit_test(what_is_written_is_read_back),
        cmocka_unit_test(sparse_points_are_never_made_dense),
        cmocka_unit_test(matrices_and_graphs_are_read_back),
        cmocka_unit_test(arrays_of_every_element_are_read),
        cmocka_unit_test(shapes_and_orders_of_arrays_are_understood),
        cmocka_unit_test(faults_of_arrays_are_named),
        cmocka_unit_test(damaged_files_are_refused_in_peace),
        cmocka_unit_test(truncated_files_say_so),
        cmocka_unit_test(files_that_are_not_there_or_not_data),
        cmocka_unit_test(sparse_texts_are_read),
        cmocka_unit_test(faults_of_sparse_texts_are_named),
        cmocka_unit_test(idx_finds_its_labels),
        cmocka_unit_test(folders_of_images_are_read),
        cmocka_unit_test(every_allocation_may_fail),
        cmocka_unit_test(every_allocation_of_writers_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
