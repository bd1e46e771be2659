/* io: MATLAB files up to v7, read and written. */
#include "base/memory.h"
#include "support/io.h"

#include <unistd.h>

static void big_endian_files_are_read(void **state) {
    (void)state;
    huddle_data data;
    assert_ok(io_read_named("io_v5_big_endian.mat", NULL, NULL, &data));
    io_assert_points(&data, false, false);
    io_assert_labels(&data, "cat\xc3\xa9", "D\xc3\xb6g");
    huddle_data_free(&data);
    assert_ok(io_read_named("io_v5_big_endian.mat", "S", "none", &data));
    io_assert_points(&data, true, false);
    huddle_data_free(&data);
}

/* SciPy's dimensions count characters, of which some have two bytes. */
static void rows_of_characters_with_accents_are_read(void **state) {
    (void)state;
    huddle_data data;
    assert_ok(io_read_named("io_v5_accents.mat", NULL, NULL, &data));
    io_assert_labels(&data, "cat\xc3\xa9", "D\xc3\xb6g");
    huddle_data_free(&data);
}

static void logical_sparse_values_are_bytes(void **state) {
    (void)state;
    huddle_data data;
    assert_ok(io_read_named("io_v5_logical_sparse.mat", NULL, NULL, &data));
    io_assert_points(&data, true, true);
    huddle_data_free(&data);
}

/* They have no dimensions, and a nameless matrix holds what is in them. */
static void objects_are_reported_as_unsupported(void **state) {
    (void)state;
    huddle_data data;
    assert_ok(io_read_named("io_v5_object.mat", "fea", NULL, &data));
    io_assert_points(&data, false, false);
    assert_int_equal(data.n_names, 2);
    huddle_data_free(&data);
    assert_refused(io_read_named("io_v5_object.mat", NULL, NULL, &data), HUDDLE_UNSUPPORTED,
                   "'X' is a string array");
}

/* Two points with a label each. */
static void write_labels(const char *name, char **classes, bool numeric, huddle_data *back) {
    float values[] = {1, 2, 3, 4};
    int32_t labels[] = {0, 1};
    huddle_data data = {.points = {.n = 2, .d = 2, .stride = 2, .values = values},
                        .labels = labels,
                        .n_classes = 2,
                        .classes = classes,
                        .classes_numeric = numeric};
    assert_ok(huddle_data_write(NULL, &data, io_path(name)));
    assert_ok(huddle_data_read(NULL, io_path(name), NULL, back));
    for (int i = 0; i < 2; i++)
        assert_string_equal(back->classes[back->labels[i]], classes[i]);
    assert_int_equal(back->classes_numeric, numeric);
}

static void class_names_are_written_as_matlab_has_them(void **state) {
    (void)state;
    huddle_data back;
    size_t size;
    char *classes[] = {"caf\xc3\xa9", "\xf0\x9f\x98\x80x"}, *blank[] = {"", "b"};
    write_labels("texts.mat", classes, false, &back);
    huddle_data_free(&back);
    char *bytes = io_read_bytes(io_path("texts.mat"), &size);
    /* 1 x 4 characters, then UTF-16; the other is 1 x 3, with a pair. */
    static const char first[] = "\5\0\0\0\10\0\0\0\1\0\0\0\4\0\0\0\1\0\0\0\0\0\0\0"
                                "\x11\0\0\0\10\0\0\0c\0a\0f\0\xe9\0";
    static const char second[] = "\5\0\0\0\10\0\0\0\1\0\0\0\3\0\0\0\1\0\0\0\0\0\0\0"
                                 "\x11\0\0\0\6\0\0\0\x3d\xd8\x00\xdex\0\0\0";
    assert_int_equal(size, 128 + 72 + 48 + 64 + 64);
    assert_memory_equal(bytes + 128 + 72 + 48 + 24, first, sizeof first - 1);
    assert_memory_equal(bytes + 128 + 72 + 48 + 64 + 24, second, sizeof second - 1);
    free(bytes);
    write_labels("blank.mat", blank, false, &back);
    huddle_data_free(&back);
}

static void names_that_are_not_utf8_are_refused(void **state) {
    (void)state;
    static const char *const bad[] = {"caf\xe9",          "\xc3", "\xc0\x80", "\xed\xa0\x80",
                                      "\xf5\x80\x80\x80", "\x80"};
    for (size_t k = 0; k < sizeof bad / sizeof *bad; k++) {
        float value = 1;
        int32_t label = 0;
        char name[8], *class = name;
        snprintf(name, sizeof name, "%s", bad[k]);
        huddle_data data = {.points = {.n = 1, .d = 1, .stride = 1, .values = &value},
                            .labels = &label,
                            .n_classes = 1,
                            .classes = &class};
        assert_refused(huddle_data_write(NULL, &data, io_path("bad.mat")), HUDDLE_UNSUPPORTED,
                       "bad.mat: the name of class 1 is not UTF-8");
    }
    assert_int_not_equal(access(io_path("bad.mat"), F_OK), 0);
}

/* A double would make them equal. */
static void labels_beyond_doubles_are_kept(void **state) {
    (void)state;
    huddle_data back;
    char *classes[] = {"9007199254740992", "9007199254740993"};
    char *negative[] = {"-9007199254740993", "7"};
    write_labels("large.mat", classes, true, &back);
    huddle_data_free(&back);
    write_labels("negative.mat", negative, true, &back);
    huddle_data_free(&back);
}

/* Sizes are checked before the points are looked at, and before there is a file. */
static void what_is_too_large_is_refused_before_it_is_written(void **state) {
    (void)state;
    float value = 1;
    double shift = 0;
    int64_t offsets[] = {0, INT64_C(179000000)};
    int32_t column = 0, *labels = calloc(3000, sizeof *labels);
    char *long_name = malloc(400001), *class = long_name;
    memset(long_name, 'a', 400000);
    long_name[400000] = '\0';
    huddle_data data = {.points = {.n = 1 << 16, .d = 1 << 13, .stride = 1, .values = &value}};
    const char *path = io_path("too_large.mat");
    assert_refused(huddle_data_write(NULL, &data, path), HUDDLE_UNSUPPORTED,
                   "too_large.mat: 65536 x 8192 is too large for MAT v5; write .h5 or .npz");
    data.points.d = 1 << 12; /* half as much, but doubles */
    data.points.shift = &shift;
    assert_refused(huddle_data_write(NULL, &data, path), HUDDLE_UNSUPPORTED,
                   "65536 x 4096 is too large");
    data.points = (huddle_points){.n = 1, .d = 1, .offsets = offsets, .columns = &column};
    assert_refused(huddle_data_write(NULL, &data, path), HUDDLE_UNSUPPORTED,
                   "179000000 non-zeros are too many for MAT v5; write .npz");
    data = (huddle_data){.points = {.n = 3000, .d = 1, .stride = 0, .values = &value},
                         .labels = labels,
                         .n_classes = 1,
                         .classes = &class};
    assert_refused(huddle_data_write(NULL, &data, path), HUDDLE_UNSUPPORTED,
                   "3000 labels are too many for MAT v5");
    assert_int_not_equal(access(path, F_OK), 0);
    data.points.n = 2;
    assert_ok(huddle_data_write(NULL, &data, path));
    free(labels);
    free(long_name);
}

static void a_full_device_is_reported(void **state) {
    (void)state;
    float values[] = {1, 2};
    huddle_data data = {.points = {.n = 2, .d = 1, .stride = 1, .values = values}};
    if (access("/dev/full", W_OK) != 0)
        skip();
    assert_int_equal(symlink("/dev/full", io_path("full.mat")), 0);
    assert_refused(huddle_data_write(NULL, &data, io_path("full.mat")), HUDDLE_IO,
                   "full.mat: cannot be written: No space left on device");
}

static void every_allocation_may_fail(void **state) {
    (void)state;
    const char *parts[][3] = {{"io_v5_accents.mat", NULL, NULL},
                              {"io_v5_big_endian.mat", "S", "y"}};
    for (size_t k = 0; k < sizeof parts / sizeof *parts; k++)
        test_each_allocation(io_read_part, parts[k]);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(big_endian_files_are_read),
        cmocka_unit_test(rows_of_characters_with_accents_are_read),
        cmocka_unit_test(logical_sparse_values_are_bytes),
        cmocka_unit_test(objects_are_reported_as_unsupported),
        cmocka_unit_test(class_names_are_written_as_matlab_has_them),
        cmocka_unit_test(names_that_are_not_utf8_are_refused),
        cmocka_unit_test(labels_beyond_doubles_are_kept),
        cmocka_unit_test(what_is_too_large_is_refused_before_it_is_written),
        cmocka_unit_test(a_full_device_is_reported),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
