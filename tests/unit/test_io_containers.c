/* io: variables of containers, round trips through every format, damaged files. */
#include "base/memory.h"
#include "support/io.h"

#include <sys/stat.h>
#include <unistd.h>

static void containers_are_read_by_conventional_names(void **state) {
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
        if (!io_has_library(cases[k].file))
            continue;
        assert_ok(huddle_data_read(NULL, io_golden(cases[k].file), NULL, &data));
        assert_string_equal(data.format, cases[k].format);
        io_assert_points(&data, cases[k].sparse, false);
        if (cases[k].first != NULL)
            io_assert_labels(&data, cases[k].first, cases[k].second);
        else
            assert_null(data.labels);
        huddle_data_free(&data);
    }
}

static void names_are_given_and_stacked(void **state) {
    (void)state;
    if (!io_has_library("io_nested.h5"))
        skip();
    const char *x[] = {"train/data", "test/data"}, *y[] = {"train/target", "test/target"};
    const char *s[] = {"S"}, *names[] = {"names"}, *none[] = {"none"};
    huddle_data data;
    huddle_read_options options = {.x = x, .n_x = 2, .y = y, .n_y = 2};
    assert_ok(huddle_data_read(NULL, io_golden("io_nested.h5"), &options, &data));
    io_assert_points(&data, false, false);
    io_assert_labels(&data, "3", "5");
    assert_int_equal(data.n_names, 4);
    assert_string_equal(data.names[0], "test/data");
    huddle_data_free(&data);
    options.n_y = 0; /* the labels beside each part */
    assert_ok(huddle_data_read(NULL, io_golden("io_nested.h5"), &options, &data));
    io_assert_labels(&data, "3", "5");
    huddle_data_free(&data);
    options = (huddle_read_options){.x = s, .n_x = 1, .y = names, .n_y = 1};
    assert_ok(huddle_data_read(NULL, io_golden("io_v73.mat"), &options, &data));
    io_assert_points(&data, true, false);
    io_assert_labels(&data, "cat", "dog");
    huddle_data_free(&data);
    options = (huddle_read_options){.y = names, .n_y = 1};
    assert_ok(huddle_data_read(NULL, io_golden("io_images.h5"), &options, &data));
    io_assert_labels(&data, "cat", "dog");
    huddle_data_free(&data);
    options = (huddle_read_options){.y = none, .n_y = 1};
    assert_ok(huddle_data_read(NULL, io_golden("io_v5.mat"), &options, &data));
    assert_null(data.labels);
    huddle_data_free(&data);
}

static void samples_in_columns_and_image_sizes_are_recognised(void **state) {
    (void)state;
    huddle_data data;
    const char *none[] = {"none"};
    assert_ok(huddle_data_read(NULL, io_golden("io_v5_columns.mat"), NULL, &data));
    assert_int_equal(data.height, 2);
    assert_int_equal(data.width, 2);
    assert_true(data.column_major);
    huddle_data_free(&data);
    huddle_read_options options = {.y = none, .n_y = 1};
    assert_ok(huddle_data_read(NULL, io_golden("io_v5_columns.mat"), &options, &data));
    assert_int_equal(data.points.n, IO_D);
    assert_int_equal(data.height, 0);
    huddle_data_free(&data);
    options.transpose = true;
    assert_ok(huddle_data_read(NULL, io_golden("io_v5_columns.mat"), &options, &data));
    io_assert_points(&data, false, false);
    huddle_data_free(&data);
    if (!io_has_library("io_images.h5"))
        skip();
    assert_ok(huddle_data_read(NULL, io_golden("io_images.h5"), NULL, &data));
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
    assert_ok(huddle_data_list(NULL, io_golden("io_v5.mat"), &listing));
    assert_true(listing.has_points && listing.count > 1);
    assert_string_equal(listing.format, "mat");
    huddle_listing_free(&listing);
    snprintf(path, sizeof path, "%s", io_golden("io_v5.mat"));
    test_each_allocation(list, path);
    if (!io_has_library("io_nested.h5"))
        skip();
    assert_ok(huddle_data_list(NULL, io_golden("io_nested.h5"), &listing));
    assert_false(listing.has_points);
    assert_true(listing.count > 1 && listing.dims[0][0] > 0);
    huddle_listing_free(&listing);
}

static void unsuitable_names_are_explained(void **state) {
    (void)state;
    huddle_data data;
    const char *x[] = {"q"}, *texts[] = {"label"}, *both[] = {"train/data", "train/target"};
    huddle_read_options options = {.x = x, .n_x = 1};
    assert_refused(huddle_data_read(NULL, io_golden("io_v5.mat"), &options, &data), HUDDLE_INVALID,
                   "io_v5.mat: no variable named 'q'; the file contains fea, gnd");
    options = (huddle_read_options){.y = x, .n_y = 1};
    assert_refused(huddle_data_read(NULL, io_golden("io_v5.mat"), &options, &data), HUDDLE_INVALID,
                   "io_v5.mat: no variable named 'q'; the file contains fea, gnd");
    assert_refused(huddle_data_read(NULL, io_golden("io_v5_complex.mat"), NULL, &data),
                   HUDDLE_UNSUPPORTED, "'X' contains complex numbers");
    if (!io_has_library("io_images.h5"))
        skip();
    options = (huddle_read_options){.x = texts, .n_x = 1};
    assert_refused(huddle_data_read(NULL, io_golden("io_images.h5"), &options, &data),
                   HUDDLE_INVALID, "'label' is not an array of numbers");
    options = (huddle_read_options){.x = both, .n_x = 2};
    assert_refused(huddle_data_read(NULL, io_golden("io_nested.h5"), &options, &data),
                   HUDDLE_INVALID, "cannot be stacked");
    assert_refused(huddle_data_read(NULL, io_golden("io_nested.h5"), NULL, &data), HUDDLE_INVALID,
                   "could be the points");
}

/* Points of every kind, with labels that are numbers or texts. */
static void make_data(bool sparse, bool texts, huddle_data *data) {
    assert_ok(huddle_data_read(NULL,
                               io_golden(sparse  ? "io_v5_sparse.mat"
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
            if ((sparse && k != 3 && k != 4 && k != 6) || !io_has_library(names[k]))
                continue;
            huddle_data data, back;
            make_data(sparse, texts, &data);
            assert_ok(huddle_data_write(NULL, &data, io_path(names[k])));
            assert_ok(huddle_data_read(NULL, io_path(names[k]), NULL, &back));
            assert_int_equal(back.points.offsets != NULL, sparse || k == 6);
            for (int64_t i = 0; i < IO_N; i++)
                for (int64_t j = 0; j < IO_D; j++)
                    assert_close(io_value(&back.points, i, j), io_value(&data.points, i, j), 0);
            if (labels)
                io_assert_labels(&back,
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
        assert_refused(huddle_data_write(NULL, &data, io_path(names[k])), HUDDLE_UNSUPPORTED,
                       "sparse points are not made dense");
    assert_int_not_equal(access(io_path("s.csv"), F_OK), 0);
    huddle_data_free(&data);
}

static void matrices_and_graphs_are_read_back(void **state) {
    (void)state;
    huddle_csr graph, back;
    huddle_dense dense, again;
    assert_ok(huddle_csr_read(NULL, io_golden("io_csc.npz"), &graph));
    assert_int_equal(graph.rows, IO_N);
    assert_ok(huddle_csr_write_npz(io_path("graph.npz"), &graph));
    assert_ok(huddle_csr_read(NULL, io_path("graph.npz"), &back));
    int64_t count = graph.offsets[IO_N];
    assert_int_equal(back.offsets[IO_N], count);
    assert_memory_equal(back.columns, graph.columns, (size_t)count * sizeof *back.columns);
    assert_memory_equal(back.values, graph.values, (size_t)count * sizeof *back.values);
    huddle_csr_free(&back);
    assert_ok(huddle_dense_read(NULL, io_path("graph.npz"), &dense));
    assert_ok(huddle_dense_write_npy(io_path("dense.npy"), &dense));
    assert_ok(huddle_dense_read(NULL, io_path("dense.npy"), &again));
    assert_memory_equal(dense.values, again.values, sizeof(double) * IO_N * IO_D);
    assert_ok(huddle_csr_read(NULL, io_path("dense.npy"), &back));
    assert_int_equal(back.offsets[IO_N], count);
    huddle_csr_free(&back);
    huddle_csr_free(&graph);
    huddle_dense_free(&dense);
    huddle_dense_free(&again);
    assert_ok(huddle_dense_read(NULL, io_write_text("m.csv", "0.1,2\n3,4\n"), &dense));
    assert_close(dense.values[0], 0.1, 0);
    huddle_dense_free(&dense);
    assert_refused(huddle_dense_read(NULL, io_write_text("m.csv", "0.1,2\n3,1e999\n"), &dense),
                   HUDDLE_INVALID, "m.csv: row 2, column 2: the value is infinite");
}

/* Cut anywhere, or with any byte changed, a file is refused or read: never a crash. */
static void damaged_files_are_refused(void **state) {
    (void)state;
    static const char *const names[] = {"io_v5.mat",    "io_v5_cells.mat", "io_v5_sparse.mat",
                                        "io_plain.npz", "io_packed.npz",   "io_csr.npz",
                                        "io_gray8.png"};
    for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
        size_t size;
        char *bytes = io_read_bytes(io_golden(names[k]), &size);
        const char *path = io_path(k == 6 ? "pictures/d.png" : names[k]);
        if (k == 6)
            mkdir(io_path("pictures"), 0777);
        for (size_t cut = 1; cut < size; cut += 7) {
            huddle_data data;
            io_write(k == 6 ? "pictures/d.png" : names[k], bytes, cut);
            huddle_status status =
                huddle_data_read(NULL, k == 6 ? io_path("pictures") : path, NULL, &data);
            if (status == HUDDLE_OK)
                huddle_data_free(&data);
            else
                assert_non_null(strstr(huddle_last_error(), ": "));
            char kept = bytes[cut];
            bytes[cut] = (char)(kept ^ (int)(cut % 255 + 1));
            io_write(k == 6 ? "pictures/d.png" : names[k], bytes, size);
            bytes[cut] = kept;
            if (huddle_data_read(NULL, k == 6 ? io_path("pictures") : path, NULL, &data) ==
                HUDDLE_OK)
                huddle_data_free(&data);
        }
        free(bytes);
    }
}

static void truncated_files_are_reported(void **state) {
    (void)state;
    static const char *const names[] = {"io_v5.mat", "io_v73.mat", "io_plain.npz", "io_nested.h5"};
    for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
        size_t size;
        huddle_data data;
        if (!io_has_library(names[k]))
            continue;
        char *bytes = io_read_bytes(io_golden(names[k]), &size);
        io_write(names[k], bytes, size * 2 / 3);
        assert_refused(huddle_data_read(NULL, io_path(names[k]), NULL, &data), HUDDLE_FORMAT,
                       names[k]);
        free(bytes);
    }
}

static void missing_files_and_other_content_are_refused(void **state) {
    (void)state;
    huddle_data data;
    assert_refused(huddle_data_read(NULL, io_path("nothing"), NULL, &data), HUDDLE_IO,
                   "nothing: cannot be opened: No such file or directory");
    assert_refused(huddle_data_read(NULL, io_write("x.npy", "\1\2\3\4", 4), NULL, &data),
                   HUDDLE_FORMAT, "x.npy: the content is not npy, nor any other format");
    assert_refused(huddle_data_read(NULL, io_write("x.bin", "\1\2\3\4", 4), NULL, &data),
                   HUDDLE_FORMAT, "x.bin: the content is of no format Huddle reads");
    assert_refused(huddle_data_read(NULL, io_golden("io_gray8.png"), NULL, &data),
                   HUDDLE_UNSUPPORTED, "a single image is not a data set");
    mkdir(io_path("empty"), 0777);
    assert_refused(huddle_data_read(NULL, io_path("empty"), NULL, &data), HUDDLE_FORMAT,
                   "empty: the folder contains no images, nor folders of them; PGM, PPM, BMP");
    /* What a file holds decides, not its name. */
    assert_ok(huddle_data_read(NULL, io_write_text("table.npy", "1,2\n3,4\n"), NULL, &data));
    assert_string_equal(data.format, "csv");
    huddle_data_free(&data);
    if (geteuid() != 0) {
        chmod(io_write_text("secret.csv", "1,2\n"), 0);
        assert_refused(huddle_data_read(NULL, io_path("secret.csv"), NULL, &data), HUDDLE_IO,
                       "secret.csv: cannot be opened: Permission denied");
    }
}

static huddle_status write_one(void *argument) {
    huddle_data *data = argument;
    return huddle_data_write(NULL, data, data->name);
}

static void every_allocation_may_fail(void **state) {
    (void)state;
    static const char *const names[] = {"io_v5.mat",       "io_v5_columns.mat", "io_v5_cells.mat",
                                        "io_v5_chars.mat", "io_v5_sparse.mat",  "io_v73.mat",
                                        "io_plain.npz",    "io_packed.npz",     "io_csr.npz",
                                        "io_coo.npz",      "io_images.h5"};
    char path[512];
    for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
        if (!io_has_library(names[k]))
            continue;
        snprintf(path, sizeof path, "%s", io_golden(names[k]));
        test_each_allocation(io_read_and_free, path);
    }
}

static void every_allocation_of_writers_may_fail(void **state) {
    (void)state;
    static const char *const names[] = {"w.npy", "w.npz", "w.mat", "w.h5", "w.svm"};
    for (int kind = 0; kind < 3; kind++)
        for (int k = 0; k < 5; k++) {
            huddle_data data;
            make_data(kind == 2, kind == 1, &data);
            huddle_free(data.name);
            data.name = hd_copy_text(io_path(names[k]));
            if ((kind != 2 || (k != 0 && k != 3)) && io_has_library(names[k]))
                test_each_allocation(write_one, &data);
            huddle_data_free(&data);
        }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(containers_are_read_by_conventional_names),
        cmocka_unit_test(names_are_given_and_stacked),
        cmocka_unit_test(samples_in_columns_and_image_sizes_are_recognised),
        cmocka_unit_test(containers_are_listed),
        cmocka_unit_test(unsuitable_names_are_explained),
        cmocka_unit_test(what_is_written_is_read_back),
        cmocka_unit_test(sparse_points_are_never_made_dense),
        cmocka_unit_test(matrices_and_graphs_are_read_back),
        cmocka_unit_test(damaged_files_are_refused),
        cmocka_unit_test(truncated_files_are_reported),
        cmocka_unit_test(missing_files_and_other_content_are_refused),
        cmocka_unit_test(every_allocation_may_fail),
        cmocka_unit_test(every_allocation_of_writers_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
