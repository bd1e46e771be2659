/* io: reading under an engine whose processes each have some of the rows. The slabs, one after the
 * other, must be what one process reads. */
#include "unit/io_slabs.h"

#include <math.h>
#include <sys/stat.h>

static void assert_texts(char *const *actual, char *const *expected, int64_t count) {
    assert_int_equal(actual != NULL, expected != NULL);
    for (int64_t k = 0; expected != NULL && k < count; k++)
        assert_string_equal(actual[k], expected[k]);
}

/* Everything but the rows is the same on all processes. */
static void assert_facts(const huddle_data *slab, const huddle_data *one) {
    assert_string_equal(slab->name, one->name);
    assert_string_equal(slab->format, one->format);
    assert_int_equal(slab->points.d, one->points.d);
    assert_int_equal(slab->total_rows, one->points.n);
    assert_int_equal(slab->n_classes, one->n_classes);
    assert_texts(slab->classes, one->classes, one->n_classes);
    assert_int_equal(slab->classes_numeric, one->classes_numeric);
    assert_texts(slab->features, one->features, one->points.d);
    assert_int_equal(slab->n_names, one->n_names);
    assert_texts(slab->names, one->names, one->n_names);
    assert_int_equal(slab->height, one->height);
    assert_int_equal(slab->width, one->width);
    assert_int_equal(slab->channels, one->channels);
    assert_int_equal(slab->column_major, one->column_major);
    assert_int_equal(slab->column_major, one->column_major);
    assert_int_equal(slab->n_columns, one->n_columns);
    for (int64_t c = 0; c < one->n_columns; c++) {
        assert_string_equal(slab->columns[c].name, one->columns[c].name);
        assert_int_equal(slab->columns[c].role, one->columns[c].role);
        assert_int_equal(slab->columns[c].reason != NULL, one->columns[c].reason != NULL);
        if (one->columns[c].reason != NULL)
            assert_string_equal(slab->columns[c].reason, one->columns[c].reason);
    }
    assert_int_equal(slab->n_dropped, one->n_dropped);
    for (int64_t k = 0; k < one->n_dropped; k++)
        assert_int_equal(slab->dropped[k], one->dropped[k]);
}

/* Row i of a slab is row j of all, bit for bit. */
static void assert_row(const huddle_data *slab, int64_t i, const huddle_data *one, int64_t j) {
    const huddle_points *x = &slab->points, *y = &one->points;
    assert_int_equal(slab->labels != NULL, one->labels != NULL);
    if (one->labels != NULL)
        assert_int_equal(slab->labels[i], one->labels[j]);
    if (y->offsets == NULL) {
        assert_memory_equal(x->values + i * x->stride, y->values + j * y->stride,
                            (size_t)y->d * sizeof(float));
        return;
    }
    size_t count = (size_t)(y->offsets[j + 1] - y->offsets[j]);
    assert_int_equal(x->offsets[i + 1] - x->offsets[i], count);
    if (count == 0)
        return;
    assert_memory_equal(x->values + x->offsets[i], y->values + y->offsets[j],
                        count * sizeof(float));
    assert_memory_equal(x->columns + x->offsets[i], y->columns + y->offsets[j],
                        count * sizeof(int32_t));
}

/* by_first: process 0 has to read the file, and says so. */
static void check_division(const char *source, const huddle_read_options *options, bool by_first) {
    huddle_data one;
    assert_ok(huddle_data_read(NULL, source, options, &one));
    assert_int_equal(one.first_row, 0);
    assert_int_equal(one.total_rows, one.points.n);
    for (int size = 1; size <= TEAM_MAX; size++) {
        reading r = {.source = source, .options = options, .size = size};
        int64_t row = 0, n = one.points.n;
        assert_ok(team_run(size, &team_engine, read_slab, &r));
        for (int m = 0; m < size; m++) {
            const huddle_data *slab = &r.data[m];
            assert_facts(slab, &one);
            assert_int_equal(slab->first_row, n * m / size);
            assert_int_equal(slab->points.n, n * (m + 1) / size - n * m / size);
            assert_int_equal(slab->points.offsets != NULL, one.points.offsets != NULL);
            assert_int_equal(slab->points.shift != NULL, one.points.shift != NULL);
            for (int64_t j = 0; one.points.shift != NULL && j < one.points.d; j++)
                assert_true(slab->points.shift[j] == one.points.shift[j]);
            for (int64_t i = 0; i < slab->points.n; i++)
                assert_row(slab, i, &one, row++);
            assert_int_equal(strstr(r.log[m], "read by process 0, which sends") != NULL,
                             by_first && m == 0);
        }
        assert_int_equal(row, n);
        free_slabs(&r);
    }
    huddle_data_free(&one);
}

/* Written as `name` and read by teams. */
static void check_format(const char *name, int64_t n, bool shifted, bool texts, bool by_first) {
    huddle_data data;
    const char *path = io_path(name);
    make_data(n, shifted, texts, &data);
    assert_ok(huddle_data_write(NULL, &data, path));
    free_made(&data);
    check_division(path, NULL, by_first);
}

static void arrays_are_read_in_parallel(void **state) {
    (void)state;
    static const int64_t sizes[] = {1, 2, 3, 11, 64};
    for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) {
        check_format("a.npy", sizes[k], false, false, false);
        check_format("b.npy", sizes[k], true, false, false);
    }
    huddle_read_options copy = {.copy = true};
    check_division(io_path("a.npy"), &copy, false);
}

static void hdf5_is_read_in_parallel(void **state) {
    (void)state;
    if (!io_has_library("x.h5"))
        return;
    for (int64_t n = 1; n < 40; n += 9) {
        check_format("a.h5", n, false, false, false);
        check_format("b.h5", n, true, false, false);
        check_format("c.h5", n, false, true, false);
    }
    check_division(io_golden("io_images.h5"), NULL, false);
    /* Large enough that a slab is loaded in several pieces. */
    check_format("d.h5", 800000, true, false, false);
    /* Several parts, with labels beside each. */
    static const char *const both[] = {"train/data", "test/data"};
    huddle_read_options options = {.x = both, .n_x = 2};
    check_division(io_golden("io_nested.h5"), &options, false);
}

static void other_orders_of_arrays_are_divided(void **state) {
    (void)state;
    unsigned char bytes[60];
    double numbers[30];
    for (int k = 0; k < 60; k++)
        bytes[k] = (unsigned char)(k * k);
    for (int k = 0; k < 30; k++)
        numbers[k] = 1e9 + (k * 7 % 30) / 8.0;
    check_division(write_npy("f.npy", "|u1", "True", "(20, 3)", bytes, 60), NULL, false);
    check_division(write_npy("i.npy", "|u1", "False", "(10, 2, 3)", bytes, 60), NULL, false);
    check_division(write_npy("v.npy", "|u1", "False", "(60,)", bytes, 60), NULL, false);
    check_division(write_npy("s.npy", "<f8", "False", "(10, 3)", numbers, 240), NULL, false);
    check_division(write_npy("t.npy", "<f8", "True", "(10, 3)", numbers, 240), NULL, false);
    huddle_read_options options = {.transpose = true};
    check_division(io_path("i.npy"), &options, false);
    check_division(io_path("s.npy"), &options, false);
    /* With a given shift, as new points of a model have. */
    static const double shift[] = {1e9, 0, 5};
    huddle_read_options shifted = {.shift = shift, .n_shift = 3};
    check_division(io_path("s.npy"), &shifted, false);
}

static void idx_is_read_in_parallel(void **state) {
    (void)state;
    unsigned char images[16 + 54] = {0, 0, 8, 3, 0, 0, 0, 9, 0, 0, 0, 2, 0, 0, 0, 3};
    unsigned char labels[8 + 9] = {0, 0, 8, 1, 0, 0, 0, 9, 7, 7, 7, 1, 1, 1, 3, 3, 3};
    for (int k = 0; k < 54; k++)
        images[16 + k] = (unsigned char)(3 * k);
    io_write("x-labels-idx1-ubyte", labels, sizeof labels);
    check_division(io_write("x-images-idx3-ubyte", images, sizeof images), NULL, false);
    check_division(io_write_gzip("z-images-idx3-ubyte.gz", images, sizeof images), NULL, true);
}

static void other_formats_are_read_by_process_0(void **state) {
    (void)state;
    static const char *const files[] = {"io_plain.npz",   "io_packed.npz", "io_csr.npz",
                                        "io_csc.npz",     "io_v5.mat",     "io_v5_sparse.mat",
                                        "io_v5_cells.mat"};
    for (size_t k = 0; k < sizeof files / sizeof *files; k++)
        check_division(io_golden(files[k]), NULL, true);
    if (io_has_library("io_v73.mat"))
        check_division(io_golden("io_v73.mat"), NULL, true);
    check_format("a.csv", 11, false, false, true);
    check_format("b.csv", 3, true, true, true);
    check_format("a.svm", 11, false, false, true);
    check_format("a.mat", 11, true, true, true);
    /* Large enough to be sent in several pieces. */
    check_format("b.mat", 800000, false, false, true);
    check_division(io_write_text("m.mtx", "%%MatrixMarket matrix coordinate real general\n"
                                          "5 3 4\n1 1 2\n3 2 5\n3 3 1\n5 1 4\n"),
                   NULL, true);
    char text[] = "a,b\n1,2\n3,4\n5,7\n";
    check_division(io_write_gzip("g.csv.gz", text, sizeof text - 1), NULL, true);
    check_division(io_write("u.csv",
                            "\xff\xfe"
                            "1\0,\0002\0\n\0003\0,\0004\0\n\0",
                            18),
                   NULL, true);
    check_division(io_write_text("r.arff", "@relation r\n@attribute a real\n@attribute k {p,q}\n"
                                           "@data\n1,p\n2,q\n5,q\n"),
                   NULL, true);
    huddle_read_options options = {.missing = "drop"};
    check_division(io_write_text("d.csv", "a,b,class\n1,2,x\n,2,y\n3,5,x\n4,,y\n"
                                          "1,1,y\n"),
                   &options, true);
}

static void folders_of_images_are_read_by_process_0(void **state) {
    (void)state;
    static const char *const names[] = {"faces/s1/0.pgm", "faces/s2/1.pgm", "faces/s1/2.pgm",
                                        "faces/s2/3.pgm", "faces/s1/4.pgm"};
    (void)mkdir(io_path("faces"), 0777);
    (void)mkdir(io_path("faces/s1"), 0777);
    (void)mkdir(io_path("faces/s2"), 0777);
    for (int k = 0; k < 5; k++) {
        char image[] = "P2\n2 1\n9\n1 2\n";
        image[9] = (char)('1' + k);
        io_write_text(names[k], image);
    }
    check_division(io_path("faces"), NULL, true);
}

/* A bright spot in images of 12 x 9: neighbours in both directions are alike. The processes infer
 * the size together, from rows of all of them. */
static void sizes_of_images_are_inferred(void **state) {
    (void)state;
    enum { N = 40, HEIGHT = 12, WIDTH = 9 };
    huddle_data data = {0};
    assert_ok(huddle_points_new(N, HEIGHT * WIDTH, &data.points));
    for (int i = 0; i < N; i++)
        for (int j = 0; j < HEIGHT * WIDTH; j++) {
            double y = j / WIDTH - (3 + i % 7), x = j % WIDTH - (2 + i % 5);
            data.points.values[i * HEIGHT * WIDTH + j] =
                (float)floor(255 * exp(-(x * x + y * y) / 6));
        }
    assert_ok(huddle_data_write(NULL, &data, io_path("spots.npy")));
    huddle_data_free(&data);
    assert_ok(huddle_data_read(NULL, io_path("spots.npy"), NULL, &data));
    assert_int_equal(data.height, HEIGHT);
    assert_int_equal(data.width, WIDTH);
    huddle_data_free(&data);
    check_division(io_path("spots.npy"), NULL, false);
    huddle_read_options given = {.image = "9x12:columns"};
    check_division(io_path("spots.npy"), &given, false);
}

static void generated_points_are_divided(void **state) {
    (void)state;
    huddle_read_options options = {.n = 101, .noise = HUDDLE_AUTO, .seed = 7};
    for (const char *const *kind = huddle_data_kinds(); *kind != NULL; kind++)
        check_division(*kind, &options, false);
    huddle_read_options some = {.n = 101, .noise = 0.5, .classes = "1-2", .per_class = 9};
    check_division("rings", &some, false);
    huddle_read_options few = {.n = 3, .noise = HUDDLE_AUTO};
    check_division("spirals", &few, false);
}

static void selected_classes_are_those_of_one_process(void **state) {
    (void)state;
    huddle_read_options options = {.classes = "0", .per_class = 4};
    huddle_data data;
    make_data(30, false, false, &data);
    assert_ok(huddle_data_write(NULL, &data, io_path("c.csv")));
    check_division(io_path("c.csv"), &options, true);
    if (io_has_library("x.h5")) {
        assert_ok(huddle_data_write(NULL, &data, io_path("c.h5")));
        check_division(io_path("c.h5"), &options, true);
    }
    free_made(&data);
}

/* ---- labels --------------------------------------------------------------------------------- */

static void labels_come_from_files(void **state) {
    (void)state;
    unsigned char bytes[30];
    memset(bytes, 3, sizeof bytes);
    static const int32_t numbers[] = {9, 9, 9, 9, -2, -2, 7, 7, 7, 7};
    const char *points = write_npy("p.npy", "|u1", "False", "(10, 3)", bytes, 30);
    const char *y[2] = {write_npy("l.npy", "<i4", "False", "(10,)", numbers, 40)};
    huddle_read_options options = {.y = y, .n_y = 1};
    check_division(points, &options, false);
    y[0] = write_npy("w.npy", "|S3", "False", "(10, 1)",
                     "emu"
                     "cat"
                     "cat"
                     "cat"
                     "12\0"
                     "12\0"
                     "12\0"
                     "emu"
                     "emu"
                     "ant",
                     30);
    check_division(points, &options, false);
    y[0] = write_npy("w1.npy", "|S1", "False", "(4,)", "3223", 4);
    y[1] = write_npy("w2.npy", "|S1", "False", "(6,)", "911191", 6);
    options.n_y = 2;
    check_division(points, &options, false);
    y[1] = io_write_text("w2.csv", "9\n1\n1\n1\n9\n4\n");
    check_division(points, &options, true);
    y[0] = io_write_text("w.csv", "label\nb\na\nb\nb\nc\nc\nc\nc\nb\nb\n");
    options.n_y = 1;
    check_division(points, &options, true);
    y[0] = "none";
    check_division(points, &options, false);
}

typedef struct label_reading {
    const char *path;
    int64_t n[TEAM_MAX];
    int32_t *labels[TEAM_MAX], n_classes[TEAM_MAX];
    char **classes[TEAM_MAX];
} label_reading;

static huddle_status read_labels(huddle_context *context, int rank, void *argument) {
    label_reading *r = argument;
    return huddle_labels_read(context, r->path, &r->n[rank], &r->labels[rank], &r->n_classes[rank],
                              &r->classes[rank]);
}

static void free_classes(char **classes, int32_t count) {
    for (int32_t k = 0; k < count; k++)
        huddle_free(classes[k]);
    huddle_free(classes);
}

static void check_labels(const char *path) {
    int64_t n;
    int32_t *labels, n_classes;
    char **classes;
    assert_ok(huddle_labels_read(NULL, path, &n, &labels, &n_classes, &classes));
    for (int size = 1; size <= TEAM_MAX; size++) {
        label_reading r = {.path = path};
        int64_t row = 0;
        assert_ok(team_run(size, &team_engine, read_labels, &r));
        for (int m = 0; m < size; m++) {
            assert_int_equal(r.n[m], n * (m + 1) / size - n * m / size);
            assert_int_equal(r.n_classes[m], n_classes);
            assert_texts(r.classes[m], classes, n_classes);
            for (int64_t i = 0; i < r.n[m]; i++)
                assert_int_equal(r.labels[m][i], labels[row++]);
            huddle_free(r.labels[m]);
            free_classes(r.classes[m], r.n_classes[m]);
        }
        assert_int_equal(row, n);
    }
    huddle_free(labels);
    free_classes(classes, n_classes);
}

static void labels_are_divided(void **state) {
    (void)state;
    static const int64_t numbers[] = {1LL << 60, -4, -4, 0, 0, 0, 3};
    check_labels(write_npy("n.npy", "<i8", "False", "(7,)", numbers, 56));
    check_labels(write_npy("n1.npy", "<i8", "False", "(1, 7)", numbers, 56));
    check_labels(write_npy("n2.npy", "|S2", "False", "(3,)", "x\0zz10", 6));
    check_labels(io_write_text("n.txt", "4\n2\n2\n2\n4\n"));
    check_labels(io_write_text("n1.txt", "a\n7\na\n"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(arrays_are_read_in_parallel),
        cmocka_unit_test(hdf5_is_read_in_parallel),
        cmocka_unit_test(other_orders_of_arrays_are_divided),
        cmocka_unit_test(idx_is_read_in_parallel),
        cmocka_unit_test(other_formats_are_read_by_process_0),
        cmocka_unit_test(folders_of_images_are_read_by_process_0),
        cmocka_unit_test(sizes_of_images_are_inferred),
        cmocka_unit_test(generated_points_are_divided),
        cmocka_unit_test(selected_classes_are_those_of_one_process),
        cmocka_unit_test(labels_come_from_files),
        cmocka_unit_test(labels_are_divided),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
