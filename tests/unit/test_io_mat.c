/* io: MAT files. Those of tests/golden were made by make_io.py: X[i][j] = 10 i + j, sparse matrices
 * hold the X[i][j] with i + j even, labels change in turn. */
#include "base/memory.h"
#include "huddle/io.h"
#include "support/support.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

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

static char *slurp(const char *path, size_t *size) {
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    char *bytes = malloc(1 << 20);
    *size = fread(bytes, 1, 1 << 20, file);
    fclose(file);
    return bytes;
}

static huddle_status read_named(const char *file, const char *x, const char *y, huddle_data *data) {
    huddle_read_options options = {.x = &x, .n_x = x != NULL, .y = &y, .n_y = y != NULL};
    return huddle_data_read(NULL, golden(file), &options, data);
}

static float value_at(const huddle_points *x, int64_t i, int64_t j) {
    if (x->offsets == NULL)
        return x->values[i * x->stride + j];
    for (int64_t e = x->offsets[i]; e < x->offsets[i + 1]; e++)
        if (x->columns[e] == j)
            return x->values[e];
    return 0;
}

static void assert_points(const huddle_data *data, bool sparse, bool logical) {
    assert_int_equal(data->points.n, N);
    assert_int_equal(data->points.d, D);
    assert_int_equal(data->points.offsets != NULL, sparse);
    for (int64_t i = 0; i < N; i++)
        for (int64_t j = 0; j < D; j++) {
            double value = sparse && (i + j) % 2 != 0 ? 0 : (double)(10 * i + j);
            if (logical) /* X[0][0] is 0, so it is no entry */
                value = value != 0;
            assert_close(value_at(&data->points, i, j), value, 0);
        }
}

/* The labels are these two in turn. */
static void assert_labels(const huddle_data *data, const char *first, const char *second) {
    assert_non_null(data->labels);
    assert_int_equal(data->n_classes, 2);
    for (int i = 0; i < N; i++)
        assert_string_equal(data->classes[data->labels[i]], i % 2 == 0 ? first : second);
}

/* ---- version 7.3 ---------------------------------------------------------------------------- */

static void version_73_arrays_are_turned_and_of_every_class(void **state) {
    (void)state;
    static const char *const names[] = {
        "double", "single", "int8",   "uint8",  "int16",    "uint16",     "int32",
        "uint32", "int64",  "uint64", "packed", "unmarked", "big_endian", "big_endian_short"};
    for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
        huddle_data data;
        assert_ok(read_named("io_v73_kinds.mat", names[k], "none", &data));
        assert_points(&data, false, false);
        huddle_data_free(&data);
    }
}

static void version_73_images_are_read_by_rows(void **state) {
    (void)state;
    huddle_data data;
    assert_ok(read_named("io_v73_kinds.mat", "images", "cells", &data)); /* 2 x 2 x 6 */
    assert_points(&data, false, false);
    assert_int_equal(data.height, 2);
    assert_int_equal(data.width, 2);
    assert_false(data.column_major);
    huddle_data_free(&data);
}

static void version_73_labels_are_logical_characters_or_cells(void **state) {
    (void)state;
    static const char *const cases[][3] = {
        {"logical", "0", "1"}, {"rows", "cat", "dogs"}, {"cells", "cat", "dog"}};
    huddle_data data;
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        assert_ok(read_named("io_v73_kinds.mat", "single", cases[k][0], &data));
        assert_labels(&data, cases[k][1], cases[k][2]);
        huddle_data_free(&data);
    }
    static const char *const texts[] = {"\xc3\xa9",          "\xe6\x97\xa5\xe6\x9c\xac",
                                        "\xf0\x9f\x98\x80x", "",
                                        "\xc3\xa9",          "\xe6\x97\xa5\xe6\x9c\xac"};
    assert_ok(read_named("io_v73_kinds.mat", "single", "unicode", &data));
    assert_int_equal(data.n_classes, 4);
    for (int i = 0; i < N; i++)
        assert_string_equal(data.classes[data.labels[i]], texts[i]);
    huddle_data_free(&data);
}

static void version_73_sparse_matrices_are_read(void **state) {
    (void)state;
    huddle_data data;
    assert_ok(read_named("io_v73_kinds.mat", "sparse", "none", &data));
    assert_points(&data, true, false);
    huddle_data_free(&data);
    assert_ok(read_named("io_v73_kinds.mat", "sparse_logical", "none", &data));
    assert_points(&data, true, true);
    huddle_data_free(&data);
    assert_ok(read_named("io_v73_kinds.mat", "sparse_zero", "none", &data)); /* no ir, no data */
    assert_int_equal(data.points.n, N);
    assert_int_equal(data.points.d, D);
    assert_int_equal(data.points.offsets[N], 0);
    huddle_data_free(&data);
}

static void version_73_what_is_not_read_is_explained(void **state) {
    (void)state;
    static const char *const cases[][2] = {
        {"complex", "'complex' holds complex numbers"},
        {"sparse_complex", "'sparse_complex' holds complex numbers"},
        {"struct", "'struct' is a struct; save its fields"},
        {"string", "'string' is a string array, which only MATLAB reads; save cellstr()"},
        {"four", "'four' has more than three dimensions"},
        {"empty", "there are no points in it: the array is 0 x 0"},
        {"rows", "'rows' is not an array of numbers"},
        {"struct/X", "no variable named 'struct/X'"},
        {"#refs#/c0", "no variable named '#refs#/c0'"},
    };
    huddle_data data;
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        huddle_status status = read_named("io_v73_kinds.mat", cases[k][0], "none", &data);
        assert_int_not_equal(status, HUDDLE_OK);
        if (strstr(huddle_last_error(), cases[k][1]) == NULL)
            fail_msg("'%s' should say '%s'", huddle_last_error(), cases[k][1]);
    }
    assert_refused(read_named("io_v73_kinds.mat", "double", "numbers_in_cells", &data),
                   HUDDLE_UNSUPPORTED, "'numbers_in_cells' has cells that are not texts");
    assert_refused(read_named("io_v73_kinds.mat", "double", "empty_cells", &data), HUDDLE_INVALID,
                   "'empty_cells' is 0 x 0");
}

static void version_73_names_of_matlab_are_hidden(void **state) {
    (void)state;
    huddle_listing listing;
    int64_t rows = -1, sparse = -1, empty = -1;
    assert_ok(huddle_data_list(NULL, golden("io_v73_kinds.mat"), &listing));
    assert_string_equal(listing.format, "mat");
    for (int64_t k = 0; k < listing.count; k++) {
        assert_null(strpbrk(listing.names[k], "#/"));
        if (strcmp(listing.names[k], "rows") == 0)
            rows = k;
        if (strcmp(listing.names[k], "sparse_zero") == 0)
            sparse = k;
        if (strcmp(listing.names[k], "empty") == 0)
            empty = k;
    }
    assert_int_equal(listing.dims[rows][0], N);
    assert_int_equal(listing.dims[rows][1], 0); /* a list of texts */
    assert_int_equal(listing.dims[sparse][0], N);
    assert_int_equal(listing.dims[sparse][1], D);
    assert_int_equal(listing.dims[empty][0], 0); /* as the data set says, not as it is */
    assert_int_equal(listing.dims[empty][1], D);
    huddle_listing_free(&listing);
}

/* The first MATLAB that wrote HDF5 called it something else; bytes 124 to 127 say what it is. */
static void version_73_is_recognised_by_its_number(void **state) {
    (void)state;
    size_t size;
    huddle_data data;
    char *bytes = slurp(golden("io_v73.mat"), &size);
    memcpy(bytes, "MATLAB 7.0 MAT-file", 19);
    assert_ok(huddle_data_read(NULL, put("early.mat", bytes, size), NULL, &data));
    assert_string_equal(data.format, "mat");
    assert_points(&data, false, false);
    assert_int_equal(data.n_names, 4); /* what is inside S and #refs# is not listed */
    huddle_data_free(&data);
    free(bytes);
}

/* Reads a file cut at each place, and one with each place changed. Returns 0 if all was well: cut
 * files are refused with the right sentence, changed ones are refused or read as points. */
static int read_damaged(char *bytes, size_t size) {
    huddle_data data;
    const char *names[] = {"names"}, *s[] = {"S"};
    int refused = 0;
    for (size_t at = 512; at < size; at += 97) {
        huddle_read_options options = {.x = s, .n_x = at % 2, .y = names, .n_y = 1};
        if (huddle_data_read(NULL, put("cut.mat", bytes, at), &options, &data) != HUDDLE_FORMAT ||
            strstr(huddle_last_error(), "cut.mat: HDF5 cannot open it: it is cut short") == NULL)
            return 2;
        char kept = bytes[at];
        bytes[at] = (char)(kept ^ (int)(at % 255 + 1));
        if (huddle_data_read(NULL, put("changed.mat", bytes, size), &options, &data) == HUDDLE_OK) {
            if (huddle_points_check(NULL, &data.points) != HUDDLE_OK)
                return 3;
            huddle_data_free(&data);
        } else {
            if (strstr(huddle_last_error(), "changed.mat: ") == NULL)
                return 4;
            refused++;
        }
        bytes[at] = kept;
    }
    return refused > 0 ? 0 : 5;
}

/* In a process of its own, since HDF5 loses memory when it finds a file damaged. */
static void damaged_version_73_files_are_refused_in_peace(void **state) {
    (void)state;
    size_t size;
    int status;
    char *bytes = slurp(golden("io_v73.mat"), &size);
    (void)test_directory(); /* the parent makes and removes it */
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0)
        _exit(read_damaged(bytes, size));
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
    free(bytes);
}

/* ---- version 5 ------------------------------------------------------------------------------ */

static void big_endian_files_are_read(void **state) {
    (void)state;
    huddle_data data;
    assert_ok(read_named("io_v5_big_endian.mat", NULL, NULL, &data));
    assert_points(&data, false, false);
    assert_labels(&data, "cat\xc3\xa9", "D\xc3\xb6g");
    huddle_data_free(&data);
    assert_ok(read_named("io_v5_big_endian.mat", "S", "none", &data));
    assert_points(&data, true, false);
    huddle_data_free(&data);
}

/* SciPy's dimensions count characters, of which some have two bytes. */
static void rows_of_characters_with_accents_are_read(void **state) {
    (void)state;
    huddle_data data;
    assert_ok(read_named("io_v5_accents.mat", NULL, NULL, &data));
    assert_labels(&data, "cat\xc3\xa9", "D\xc3\xb6g");
    huddle_data_free(&data);
}

static void logical_sparse_values_are_bytes(void **state) {
    (void)state;
    huddle_data data;
    assert_ok(read_named("io_v5_logical_sparse.mat", NULL, NULL, &data));
    assert_points(&data, true, true);
    huddle_data_free(&data);
}

/* They have no dimensions, and a nameless matrix holds what is in them. */
static void objects_are_named_and_do_no_harm(void **state) {
    (void)state;
    huddle_data data;
    assert_ok(read_named("io_v5_object.mat", "fea", NULL, &data));
    assert_points(&data, false, false);
    assert_int_equal(data.n_names, 2);
    huddle_data_free(&data);
    assert_refused(read_named("io_v5_object.mat", NULL, NULL, &data), HUDDLE_UNSUPPORTED,
                   "'X' is a string array");
}

/* ---- writing -------------------------------------------------------------------------------- */

/* Two points with a label each. */
static void write_labels(const char *name, char **classes, bool numeric, huddle_data *back) {
    float values[] = {1, 2, 3, 4};
    int32_t labels[] = {0, 1};
    huddle_data data = {.points = {.n = 2, .d = 2, .stride = 2, .values = values},
                        .labels = labels,
                        .n_classes = 2,
                        .classes = classes,
                        .classes_numeric = numeric};
    assert_ok(huddle_data_write(NULL, &data, path_of(name)));
    assert_ok(huddle_data_read(NULL, path_of(name), NULL, back));
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
    char *bytes = slurp(path_of("texts.mat"), &size);
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
        assert_refused(huddle_data_write(NULL, &data, path_of("bad.mat")), HUDDLE_UNSUPPORTED,
                       "bad.mat: the name of class 1 is not UTF-8");
    }
    assert_int_not_equal(access(path_of("bad.mat"), F_OK), 0);
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
    const char *path = path_of("too_large.mat");
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

static void a_full_device_is_noticed(void **state) {
    (void)state;
    float values[] = {1, 2};
    huddle_data data = {.points = {.n = 2, .d = 1, .stride = 1, .values = values}};
    if (access("/dev/full", W_OK) != 0)
        skip();
    assert_int_equal(symlink("/dev/full", path_of("full.mat")), 0);
    assert_refused(huddle_data_write(NULL, &data, path_of("full.mat")), HUDDLE_IO,
                   "full.mat: cannot be written: No space left on device");
}

/* ---- memory --------------------------------------------------------------------------------- */

static huddle_status read_part(void *argument) {
    const char **part = argument;
    huddle_data data;
    huddle_status status = read_named(part[0], part[1], part[2], &data);
    if (status == HUDDLE_OK)
        huddle_data_free(&data);
    return status;
}

static void every_allocation_may_fail(void **state) {
    (void)state;
    const char *parts[][3] = {{"io_v73_kinds.mat", "single", "rows"},
                              {"io_v73.mat", "S", "names"},
                              {"io_v5_accents.mat", NULL, NULL},
                              {"io_v5_big_endian.mat", "S", "y"}};
    for (size_t k = 0; k < sizeof parts / sizeof *parts; k++)
        test_each_allocation(read_part, parts[k]);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(version_73_arrays_are_turned_and_of_every_class),
        cmocka_unit_test(version_73_images_are_read_by_rows),
        cmocka_unit_test(version_73_labels_are_logical_characters_or_cells),
        cmocka_unit_test(version_73_sparse_matrices_are_read),
        cmocka_unit_test(version_73_what_is_not_read_is_explained),
        cmocka_unit_test(version_73_names_of_matlab_are_hidden),
        cmocka_unit_test(version_73_is_recognised_by_its_number),
        cmocka_unit_test(damaged_version_73_files_are_refused_in_peace),
        cmocka_unit_test(big_endian_files_are_read),
        cmocka_unit_test(rows_of_characters_with_accents_are_read),
        cmocka_unit_test(logical_sparse_values_are_bytes),
        cmocka_unit_test(objects_are_named_and_do_no_harm),
        cmocka_unit_test(class_names_are_written_as_matlab_has_them),
        cmocka_unit_test(names_that_are_not_utf8_are_refused),
        cmocka_unit_test(labels_beyond_doubles_are_kept),
        cmocka_unit_test(what_is_too_large_is_refused_before_it_is_written),
        cmocka_unit_test(a_full_device_is_noticed),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
