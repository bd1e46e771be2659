/* io: readers of images, ARFF and packed files, in small files made here. What other programs write
 * is read by tests/readers/check.py. */
#include "support/io.h"

#include <sys/stat.h>

static const char arff[] = "% comment\n@RELATION r\n@attribute 'a b' numeric\n"
                           "@attribute c {\"x\",'y z'}\n@data\n1,x\n2.5,'y z'\n-3e1,x\n";

static void dense_arff_is_a_table(void **state) {
    (void)state;
    huddle_data data;
    assert_ok(huddle_data_read(NULL, io_write_text("t.arff", arff), NULL, &data));
    assert_string_equal(data.format, "arff");
    assert_int_equal(data.points.n, 3);
    assert_int_equal(data.points.d, 1);
    assert_string_equal(data.features[0], "a b");
    assert_close(data.points.values[2], -30, 0);
    assert_string_equal(data.classes[data.labels[1]], "y z");
    assert_string_equal(data.columns[1].reason, "the last attribute, which is nominal");
    huddle_data_free(&data);
    int64_t n;
    int32_t *labels, n_classes;
    char **classes;
    assert_ok(huddle_labels_read(NULL, io_path("t.arff"), &n, &labels, &n_classes, &classes));
    assert_int_equal(n, 3);
    assert_int_equal(n_classes, 2);
    for (int32_t k = 0; k < n_classes; k++)
        huddle_free(classes[k]);
    huddle_free(classes);
    huddle_free(labels);
}

static const char sparse_arff[] = "@relation r\n@attribute a numeric\n@attribute b numeric\n"
                                  "@attribute k {p,q}\n@data\n{1 4, 2 q}\n{0 1}\n";

static void sparse_arff_is_sparse(void **state) {
    (void)state;
    huddle_data data;
    assert_ok(huddle_data_read(NULL, io_write_text("s.arff", sparse_arff), NULL, &data));
    assert_non_null(data.points.offsets);
    assert_close(io_value(&data.points, 0, 1), 4, 0);
    assert_close(io_value(&data.points, 1, 0), 1, 0);
    assert_string_equal(data.classes[data.labels[0]], "q");
    assert_string_equal(data.classes[data.labels[1]], "p"); /* left out: the first value */
    huddle_data_free(&data);
}

/* Columns after the class move to its place. */
static void sparse_arff_may_have_its_class_anywhere(void **state) {
    (void)state;
    static const char text[] = "@relation r\n@attribute a numeric\n@attribute class {p,q}\n"
                               "@attribute b numeric\n@data\n{0 3, 1 q, 2 5}\n{2 4}\n";
    huddle_data data;
    assert_ok(huddle_data_read(NULL, io_write_text("c.arff", text), NULL, &data));
    assert_int_equal(data.points.d, 2);
    assert_close(io_value(&data.points, 0, 0), 3, 0);
    assert_close(io_value(&data.points, 0, 1), 5, 0);
    assert_close(io_value(&data.points, 1, 1), 4, 0);
    assert_string_equal(data.classes[data.labels[0]], "q");
    huddle_data_free(&data);
}

/* "a,b\n1,2\n3,4\n", packed by Python's bz2. */
static const unsigned char bzip2_table[] = {
    66, 90, 104, 57,  49,  65, 89, 38,  83,  89,  3,   12, 31, 27, 0,   0,   5,
    89, 0,  0,   16,  0,   4,  60, 0,   48,  0,   32,  0,  34, 30, 161, 136, 67,
    2,  39, 52,  227, 128, 30, 46, 228, 138, 112, 161, 32, 6,  24, 62,  54};

/* A build without a library says so; one with it unpacks. */
static void packed_files_need_their_library(void **state) {
    (void)state;
    huddle_data data;
    const huddle_packing *p = huddle_packings();
    assert_string_equal(p[0].name, "gzip");
    assert_true(p[0].present);
    assert_string_equal(p[1].name, "bzip2");
    const char *path = io_write("t.csv.bz2", bzip2_table, sizeof bzip2_table);
    if (!p[1].present) {
        assert_refused(huddle_data_read(NULL, path, NULL, &data), HUDDLE_UNSUPPORTED,
                       "files packed by bzip2 need libbz2, which this build of Huddle was made");
        return;
    }
    assert_ok(huddle_data_read(NULL, path, NULL, &data));
    assert_int_equal(data.points.n, 2);
    assert_close(data.points.values[3], 4, 0);
    huddle_data_free(&data);
    assert_refused(huddle_data_read(NULL, io_write("cut.bz2", bzip2_table, sizeof bzip2_table - 9),
                                    NULL, &data),
                   HUDDLE_FORMAT, "cut.bz2: what bzip2 packed is cut short");
}

/* Two rows of three pixels of 24 bits, from the bottom up and padded to 12 bytes. */
static const unsigned char bmp[] = {
    'B', 'M', 78, 0, 0, 0, 0, 0, 0,  0, 54, 0, 0, 0, 40, 0,  0,  0,  3,  0,  0,  0,  2,  0, 0, 0,
    1,   0,   24, 0, 0, 0, 0, 0, 24, 0, 0,  0, 0, 0, 0,  0,  0,  0,  0,  0,  0,  0,  0,  0, 0, 0,
    0,   0,   1,  2, 3, 4, 5, 6, 7,  8, 9,  0, 0, 0, 11, 12, 13, 14, 15, 16, 17, 18, 19, 0, 0, 0};

static void bmp_is_read_from_the_bottom_up(void **state) {
    (void)state;
    static const float top[] = {13, 12, 11, 16, 15, 14, 19, 18, 17};
    huddle_data data;
    mkdir(io_path("bmp"), 0777);
    io_write("bmp/a.bmp", bmp, sizeof bmp);
    assert_ok(huddle_data_read(NULL, io_path("bmp"), NULL, &data));
    assert_int_equal(data.height, 2);
    assert_int_equal(data.width, 3);
    assert_int_equal(data.channels, 3);
    assert_int_equal(data.points.d, 18);
    for (int k = 0; k < 9; k++)
        assert_close(data.points.values[k], top[k], 0);
    huddle_data_free(&data);
    huddle_read_options gray = {.gray = true};
    assert_ok(huddle_data_read(NULL, io_path("bmp"), &gray, &data));
    assert_int_equal(data.points.d, 6);
    assert_close(data.points.values[0], 0.299 * 13 + 0.587 * 12 + 0.114 * 11, 1e-5);
    huddle_data_free(&data);
    io_write("bmp/a.bmp", bmp, sizeof bmp - 1);
    assert_refused(huddle_data_read(NULL, io_path("bmp"), NULL, &data), HUDDLE_FORMAT,
                   "bmp/a.bmp: the BMP header claims 2 x 3 pixels, more than there are");
    io_write("bmp/a.bmp", bmp, sizeof bmp);
}

/* Impossible sizes are refused before memory is asked for. */
static void claims_of_headers_are_checked(void **state) {
    (void)state;
    static const unsigned char jpeg[] = {0xFF, 0xD8, 0xFF, 0xC0, 0,    11, 8, 0x70, 0,
                                         0x70, 0,    1,    1,    0x11, 0,  0, 0,    0};
    huddle_data data;
    char huge[sizeof bmp];
    memcpy(huge, bmp, sizeof bmp);
    huge[20] = 1; /* 65539 pixels wide */
    mkdir(io_path("huge"), 0777);
    io_write("huge/a.bmp", huge, sizeof huge);
    assert_refused(huddle_data_read(NULL, io_path("huge"), NULL, &data), HUDDLE_FORMAT,
                   "an image of 2 x 65539 is invalid");
    mkdir(io_path("large"), 0777);
    io_write("large/a.jpg", jpeg, sizeof jpeg);
    huddle_status status = huddle_data_read(NULL, io_path("large"), NULL, &data);
    assert_true(status == HUDDLE_FORMAT || status == HUDDLE_UNSUPPORTED);
}

static void image_sizes_are_given(void **state) {
    (void)state;
    huddle_data data;
    huddle_read_options options = {.image = "2x1:columns"};
    const char *path = io_write_text("rows.csv", "1,2\n3,4\n5,7\n");
    assert_ok(huddle_data_read(NULL, path, &options, &data));
    assert_int_equal(data.height, 2);
    assert_int_equal(data.width, 1);
    assert_int_equal(data.channels, 1);
    assert_true(data.column_major);
    huddle_data_free(&data);
    options.image = "3x1";
    assert_refused(huddle_data_read(NULL, path, &options, &data), HUDDLE_INVALID,
                   "rows.csv: image = 3x1 does not fit rows of 2 features");
    options.image = "wide";
    assert_refused(huddle_data_read(NULL, path, &options, &data), HUDDLE_INVALID,
                   "rows.csv: image = wide is not HEIGHTxWIDTH");
}

/* Latin-1 and UTF-16 are rewritten in memory of their own. */
static void every_allocation_may_fail(void **state) {
    (void)state;
    static const char *const names[] = {"t.arff", "s.arff",     "c.arff",   "t.csv.bz2",
                                        "bmp",    "latin1.csv", "utf16.csv"};
    io_write_text("latin1.csv", "a,b,label\n1,2,\xe4\n3,4,\xf6\n");
    io_write("utf16.csv", "a\0,\0b\0\n\0001\0,\0002\0\n\0003\0,\0004\0\n\0", 24);
    for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
        char path[512];
        snprintf(path, sizeof path, "%s", io_path(names[k]));
        if (strcmp(names[k], "t.csv.bz2") == 0 && !huddle_packings()[1].present)
            continue;
        test_each_allocation(io_read_and_free, path);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(dense_arff_is_a_table),
        cmocka_unit_test(sparse_arff_is_sparse),
        cmocka_unit_test(sparse_arff_may_have_its_class_anywhere),
        cmocka_unit_test(packed_files_need_their_library),
        cmocka_unit_test(bmp_is_read_from_the_bottom_up),
        cmocka_unit_test(claims_of_headers_are_checked),
        cmocka_unit_test(image_sizes_are_given),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
