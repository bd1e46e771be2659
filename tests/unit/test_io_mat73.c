/* io: MATLAB v7.3 files, which are HDF5. */
#include "io/hdf5.h"
#include "support/io.h"

#include <hdf5.h>
#include <sys/wait.h>
#include <unistd.h>

static void version_73_arrays_are_turned_and_of_every_class(void **state) {
    (void)state;
    static const char *const names[] = {
        "double", "single", "int8",   "uint8",  "int16",    "uint16",     "int32",
        "uint32", "int64",  "uint64", "packed", "unmarked", "big_endian", "big_endian_short"};
    for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
        huddle_data data;
        assert_ok(io_read_named("io_v73_kinds.mat", names[k], "none", &data));
        io_assert_points(&data, false, false);
        huddle_data_free(&data);
    }
}

static void version_73_images_are_read_by_rows(void **state) {
    (void)state;
    huddle_data data;
    assert_ok(io_read_named("io_v73_kinds.mat", "images", "cells", &data)); /* 2 x 2 x 6 */
    io_assert_points(&data, false, false);
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
        assert_ok(io_read_named("io_v73_kinds.mat", "single", cases[k][0], &data));
        io_assert_labels(&data, cases[k][1], cases[k][2]);
        huddle_data_free(&data);
    }
    static const char *const texts[] = {"\xc3\xa9",          "\xe6\x97\xa5\xe6\x9c\xac",
                                        "\xf0\x9f\x98\x80x", "",
                                        "\xc3\xa9",          "\xe6\x97\xa5\xe6\x9c\xac"};
    assert_ok(io_read_named("io_v73_kinds.mat", "single", "unicode", &data));
    assert_int_equal(data.n_classes, 4);
    for (int i = 0; i < IO_N; i++)
        assert_string_equal(data.classes[data.labels[i]], texts[i]);
    huddle_data_free(&data);
}

static void version_73_sparse_matrices_are_read(void **state) {
    (void)state;
    huddle_data data;
    assert_ok(io_read_named("io_v73_kinds.mat", "sparse", "none", &data));
    io_assert_points(&data, true, false);
    huddle_data_free(&data);
    assert_ok(io_read_named("io_v73_kinds.mat", "sparse_logical", "none", &data));
    io_assert_points(&data, true, true);
    huddle_data_free(&data);
    assert_ok(io_read_named("io_v73_kinds.mat", "sparse_zero", "none", &data)); /* no ir, no data */
    assert_int_equal(data.points.n, IO_N);
    assert_int_equal(data.points.d, IO_D);
    assert_int_equal(data.points.offsets[IO_N], 0);
    huddle_data_free(&data);
}

static void version_73_what_is_not_read_is_explained(void **state) {
    (void)state;
    static const char *const cases[][2] = {
        {"complex", "'complex' contains complex numbers"},
        {"sparse_complex", "'sparse_complex' contains complex numbers"},
        {"struct", "no variable named 'struct'; the file contains"},
        {"string", "'string' is a string array, which only MATLAB reads; save cellstr()"},
        {"empty", "there are no points in it: the array is 0 x 0"},
        {"rows", "'rows' is not an array of numbers"},
        {"struct/X", "no variable named 'struct/X'"},
        {"#refs#/c0", "no variable named '#refs#/c0'"},
    };
    huddle_data data;
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        huddle_status status = io_read_named("io_v73_kinds.mat", cases[k][0], "none", &data);
        assert_int_not_equal(status, HUDDLE_OK);
        if (strstr(huddle_last_error(), cases[k][1]) == NULL)
            fail_msg("'%s' should say '%s'", huddle_last_error(), cases[k][1]);
    }
    assert_refused(io_read_named("io_v73_kinds.mat", "double", "numbers_in_cells", &data),
                   HUDDLE_UNSUPPORTED, "'numbers_in_cells' has cells that are not strings");
    assert_refused(io_read_named("io_v73_kinds.mat", "double", "empty_cells", &data),
                   HUDDLE_INVALID, "'empty_cells' is 0 x 0");
}

static void version_73_names_of_matlab_are_hidden(void **state) {
    (void)state;
    huddle_listing listing;
    int64_t rows = -1, sparse = -1, empty = -1;
    assert_ok(huddle_data_list(NULL, io_golden("io_v73_kinds.mat"), &listing));
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
    assert_int_equal(listing.dims[rows][0], IO_N);
    assert_int_equal(listing.dims[rows][1], 0); /* a list of texts */
    assert_int_equal(listing.dims[sparse][0], IO_N);
    assert_int_equal(listing.dims[sparse][1], IO_D);
    assert_int_equal(listing.dims[empty][0], 0); /* as the data set says, not as it is */
    assert_int_equal(listing.dims[empty][1], IO_D);
    huddle_listing_free(&listing);
}

/* Units of UTF-16 or UTF-32 are what a class of characters may have. */
static void characters_of_eight_bytes_are_refused(void **state) {
    (void)state;
    size_t size;
    huddle_data data;
    const char *x[] = {"single"}, *y[] = {"int64"};
    huddle_read_options options = {.x = x, .n_x = 1, .y = y, .n_y = 1};
    char *bytes = io_read_bytes(io_golden("io_v73_kinds.mat"), &size);
    const char *path = io_write("wide.mat", bytes, size);
    hid_t file = H5Fopen(path, H5F_ACC_RDWR, H5P_DEFAULT);
    hid_t set = H5Dopen2(file, "int64", H5P_DEFAULT);
    hid_t class = H5Aopen(set, "MATLAB_class", H5P_DEFAULT), type = H5Aget_type(class);
    assert_true(H5Awrite(class, type, "char\0\0\0\0\0\0") >= 0);
    assert_true(H5Tclose(type) >= 0 && H5Aclose(class) >= 0);
    assert_true(H5Dclose(set) >= 0 && H5Fclose(file) >= 0);
    assert_refused(huddle_data_read(NULL, path, &options, &data), HUDDLE_UNSUPPORTED,
                   "'int64' has characters of eight bytes");
    free(bytes);
}

/* The first MATLAB that wrote HDF5 called it something else; bytes 124 to 127 say what it is. */
static void version_73_is_recognised_by_its_number(void **state) {
    (void)state;
    size_t size;
    huddle_data data;
    char *bytes = io_read_bytes(io_golden("io_v73.mat"), &size);
    memcpy(bytes, "MATLAB 7.0 MAT-file", 19);
    assert_ok(huddle_data_read(NULL, io_write("early.mat", bytes, size), NULL, &data));
    assert_string_equal(data.format, "mat");
    io_assert_points(&data, false, false);
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
        if (huddle_data_read(NULL, io_write("cut.mat", bytes, at), &options, &data) !=
                HUDDLE_FORMAT ||
            strstr(huddle_last_error(), "cut.mat: HDF5 cannot open it: it is cut short") == NULL)
            return 2;
        char kept = bytes[at];
        bytes[at] = (char)(kept ^ (int)(at % 255 + 1));
        if (huddle_data_read(NULL, io_write("changed.mat", bytes, size), &options, &data) ==
            HUDDLE_OK) {
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
static void damaged_version_73_files_are_refused(void **state) {
    (void)state;
    size_t size;
    int status;
    char *bytes = io_read_bytes(io_golden("io_v73.mat"), &size);
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

/* ---- the trial in another process ------------------------------------------------------------ */

static huddle_status load_or_crash(hd_io_container *container, hd_io_variable *variable) {
    (void)container;
    if (variable->place != 0)
        abort();
    return HUDDLE_FORMAT;
}

/* The variable that crashes when it is read follows one that only fails. */
static huddle_status list_two(hd_io_container *container, int64_t rows, int64_t cols) {
    container->load = load_or_crash;
    for (int64_t k = 0; k < 2; k++) {
        hd_io_variable *variable;
        huddle_status status = hd_io_container_add(container, "x", 1, &variable);
        if (status != HUDDLE_OK)
            return status;
        variable->kind = HD_IO_ARRAY;
        variable->place = k;
        variable->array.rank = 2;
        variable->array.dims[0] = k == 0 ? 1 : rows;
        variable->array.dims[1] = k == 0 ? 1 : cols;
    }
    return HUDDLE_OK;
}

static huddle_status list_small(const hd_file *file, hd_io_container *container) {
    (void)file;
    return list_two(container, 1 << 16, 2);
}

static huddle_status list_large(const hd_file *file, hd_io_container *container) {
    (void)file;
    return list_two(container, 1 << 16, 3);
}

/* Whose product is 0 in 64 bits. */
static huddle_status list_huge(const hd_file *file, hd_io_container *container) {
    (void)file;
    return list_two(container, INT64_C(1) << 32, INT64_C(1) << 32);
}

static huddle_status refuse_file(const hd_file *file, hd_io_container *container) {
    (void)file;
    (void)container;
    return HUDDLE_FORMAT;
}

static huddle_status crash_at_once(const hd_file *file, hd_io_container *container) {
    (void)file;
    (void)container;
    abort();
}

/* Memory that a small file may take, and what none should. */
static huddle_status take_some_memory(const hd_file *file, hd_io_container *container) {
    (void)file;
    (void)container;
    char *volatile block = malloc((size_t)1 << 28);
    bool got = block != NULL;
    free(block);
    return got ? HUDDLE_OK : HUDDLE_NO_MEMORY;
}

static huddle_status take_much_memory(const hd_file *file, hd_io_container *container) {
    (void)file;
    (void)container;
    char *volatile block = malloc((size_t)3 << 30);
    bool got = block != NULL;
    free(block);
    return got ? HUDDLE_OK : HUDDLE_NO_MEMORY;
}

/* Small variables are read, so that what crashes does so there; large ones are not. */
static void a_trial_reads_what_is_small(void **state) {
    (void)state;
    hd_file file = {0};
    assert_false(hd_io_hdf5_try(&file, list_small));
    assert_true(hd_io_hdf5_try(&file, list_large));
    assert_true(hd_io_hdf5_try(&file, list_huge));
    assert_false(hd_io_hdf5_try(&file, refuse_file));
    assert_false(hd_io_hdf5_try(&file, crash_at_once));
    assert_true(hd_io_hdf5_try(&file, take_some_memory));
    if (!HUDDLE_SANITIZED) /* a sanitizer ends the process instead */
        assert_false(hd_io_hdf5_try(&file, take_much_memory));
}

static void every_allocation_may_fail(void **state) {
    (void)state;
    const char *parts[][3] = {{"io_v73_kinds.mat", "single", "rows"}, {"io_v73.mat", "S", "names"}};
    for (size_t k = 0; k < sizeof parts / sizeof *parts; k++)
        test_each_allocation(io_read_part, parts[k]);
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
        cmocka_unit_test(characters_of_eight_bytes_are_refused),
        cmocka_unit_test(damaged_version_73_files_are_refused),
        cmocka_unit_test(a_trial_reads_what_is_small),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
