/* io: NPY files. */
#include "support/io.h"

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
        assert_ok(huddle_data_read(NULL, io_write("e.npy", file, size), NULL, &data));
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
        assert_ok(huddle_data_read(NULL, io_write("o.npy", file, size), NULL, &data));
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
        const char *header, *message;
    } cases[] = {
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }", "needs 48 bytes"},
        {"{'descr': '<f8', 'fortran_order': False, 'shape': (461168601842738790, 4), }",
         "invalid size"},
        {"{'descr': '<f8', 'fortran_order': False, 'shape': (9999999999, 999999999), }",
         "invalid size"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (-3, 4), }", "damaged shape"},
        {"{'descr': '<f4', 'fortran_order': False}", "no shape"},
        {"{'fortran_order': False, 'shape': (3, 4), }", "no type"},
        {"{'descr': '<c8', 'fortran_order': False, 'shape': (1,), }", "contains complex numbers"},
        {"{'descr': '|O', 'fortran_order': False, 'shape': (1,), }", "contains Python objects"},
        {"{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (1,), }", "contains records"},
        {"{'descr': '|u1', 'fortran_order': False, 'shape': (1, 1, 1, 1, 1), }", "four dimensions"},
        {"{'descr': '|u1', 'fortran_order': False, 'shape': (0, 3), }", "no points in it"},
    };
    huddle_data data;
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        char file[256];
        size_t size = make_npy(cases[k].header, "12345678", 8, file);
        huddle_status status = huddle_data_read(NULL, io_write("f.npy", file, size), NULL, &data);
        assert_true(status == HUDDLE_FORMAT || status == HUDDLE_UNSUPPORTED);
        assert_non_null(strstr(huddle_last_error(), cases[k].message));
        assert_non_null(strstr(huddle_last_error(), "f.npy: "));
    }
    char file[256];
    const float bad[] = {1, 2, 3, (float)(0.0 / 1.0), 1e30f * 1e30f, 5};
    size_t size = make_npy("{'descr': '<f4', 'fortran_order': False, 'shape': (3, 2), }", bad,
                           sizeof bad, file);
    assert_refused(huddle_data_read(NULL, io_write("f.npy", file, size), NULL, &data),
                   HUDDLE_INVALID, "f.npy: row 3, column 1: the value is infinite");
}

/* An NPY file of 3 x 2 elements of four bytes whose header ends at a multiple of 4, plus `shift`
 * bytes. */
static size_t make_elements(int shift, const char *description, const void *values, char *file) {
    char header[128];
    snprintf(header, sizeof header, "%-*s\n", 69 + shift, description);
    return make_npy(header, values, 24, file);
}

static size_t make_floats(int shift, const float *values, char *file) {
    return make_elements(shift, "{'descr': '<f4', 'fortran_order': False, 'shape': (3, 2), }",
                         values, file);
}

static void floats_stay_in_the_file(void **state) {
    (void)state;
    static const float values[] = {1, 2, 3, 4, 5, 6};
    const huddle_read_options copy = {.copy = true};
    char file[256];
    huddle_data data;
    size_t size = make_floats(0, values, file);
    const char *path = io_write("m.npy", file, size);
    assert_ok(huddle_data_read(NULL, path, NULL, &data));
    assert_non_null(data.points.mapping);
    assert_int_equal(data.points.stride, 2);
    assert_memory_equal(data.points.values, values, sizeof values);
    /* Another file under the same name does not change the points. */
    file[size - 4] = 0;
    assert_int_equal(rename(io_write("other.npy", file, size), path), 0);
    assert_memory_equal(data.points.values, values, sizeof values);
    huddle_points all;
    assert_ok(huddle_points_copy(&data.points, &all));
    assert_null(all.mapping);
    huddle_data_free(&data);
    assert_memory_equal(all.values, values, sizeof values);
    huddle_points_free(&all);
    assert_ok(huddle_data_read(NULL, path, &copy, &data));
    assert_null(data.points.mapping);
    assert_close(data.points.values[4], 5, 0);
    huddle_data_free(&data);
    /* Elements that are not aligned, or compressed, are copied. */
    size = make_floats(1, values, file);
    assert_ok(huddle_data_read(NULL, io_write("m.npy", file, size), NULL, &data));
    assert_null(data.points.mapping);
    assert_memory_equal(data.points.values, values, sizeof values);
    huddle_data_free(&data);
    size = make_floats(0, values, file);
    assert_ok(huddle_data_read(NULL, io_write_gzip("m.npy.gz", file, size), NULL, &data));
    assert_null(data.points.mapping);
    assert_memory_equal(data.points.values, values, sizeof values);
    huddle_data_free(&data);
}

static void floats_of_another_byte_order_are_copied(void **state) {
    (void)state;
    static const unsigned char bytes[24] = {0x40, 0, 0, 0, 0x40, 0x40}; /* 2, 3, 0, 0, 0, 0 */
    char file[256];
    huddle_data data;
    size_t size = make_elements(0, "{'descr': '>f4', 'fortran_order': False, 'shape': (3, 2), }",
                                bytes, file);
    assert_ok(huddle_data_read(NULL, io_write("b.npy", file, size), NULL, &data));
    assert_null(data.points.mapping);
    assert_close(data.points.values[0], 2, 0);
    assert_close(data.points.values[1], 3, 0);
    huddle_data_free(&data);
}

static void transposed_floats_are_copied(void **state) {
    (void)state;
    static const float values[] = {1, 2, 3, 4, 5, 6};
    const huddle_read_options transpose = {.transpose = true};
    char file[256];
    huddle_data data;
    size_t size = make_floats(0, values, file);
    assert_ok(huddle_data_read(NULL, io_write("t.npy", file, size), &transpose, &data));
    assert_null(data.points.mapping);
    assert_int_equal(data.points.n, 2);
    assert_close(data.points.values[1], 3, 0);
    huddle_data_free(&data);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(arrays_of_every_element_are_read),
        cmocka_unit_test(shapes_and_orders_of_arrays_are_understood),
        cmocka_unit_test(faults_of_arrays_are_named),
        cmocka_unit_test(floats_stay_in_the_file),
        cmocka_unit_test(floats_of_another_byte_order_are_copied),
        cmocka_unit_test(transposed_floats_are_copied),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
