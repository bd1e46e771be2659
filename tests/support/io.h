/* What the tests of io share: files in the test's own folder, golden files, and the data set that
 * tests/golden/make_io.py writes in every format: X[i][j] = 10 i + j for 6 points of 4 features;
 * sparse files have only the entries with i + j even; two labels alternate. */
#ifndef HUDDLE_TESTS_IO_H
#define HUDDLE_TESTS_IO_H

#include "huddle/io.h"
#include "support/support.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

enum { IO_N = 6, IO_D = 4 };

/* The path of a file; valid until sixteen more have been asked for. */
static inline const char *io_join(const char *folder, const char *name) {
    static char path[16][512];
    static int next;
    char *p = path[next++ % 16];
    snprintf(p, sizeof path[0], "%s/%s", folder, name);
    return p;
}

static inline const char *io_path(const char *name) {
    return io_join(test_directory(), name);
}

static inline const char *io_golden(const char *name) {
    return io_join(HUDDLE_GOLDEN, name);
}

/* Write a file into the test's folder and return its path. */
static inline const char *io_write(const char *name, const void *bytes, size_t size) {
    const char *path = io_path(name);
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, size, file), size);
    fclose(file);
    return path;
}

static inline const char *io_write_text(const char *name, const char *text) {
    return io_write(name, text, strlen(text));
}

/* Reads text as a CSV file; the caller frees data. */
static inline huddle_status io_read_text(const char *text, const huddle_read_options *options,
                                         huddle_data *data) {
    return huddle_data_read(NULL, io_write_text("table.csv", text), options, data);
}

/* For test_each_allocation(): reads the data of this path or name. */
static inline huddle_status io_read_and_free(void *source) {
    huddle_data data;
    huddle_status status = huddle_data_read(NULL, source, NULL, &data);
    if (status == HUDDLE_OK)
        huddle_data_free(&data);
    return status;
}

static inline void io_assert_floats(const huddle_data *data, int64_t n, int64_t d,
                                    const float *values) {
    assert_int_equal(data->points.n, n);
    assert_int_equal(data->points.d, d);
    for (int64_t i = 0; i < n * d; i++)
        assert_close(data->points.values[i], values[i], 0);
}

static inline const char *io_write_gzip(const char *name, const void *bytes, size_t size) {
    const char *path = io_path(name);
    gzFile file = gzopen(path, "wb");
    assert_non_null(file);
    assert_int_equal((size_t)gzwrite(file, bytes, (unsigned)size), size);
    assert_int_equal(gzclose(file), Z_OK);
    return path;
}

/* The bytes of a small file; the caller frees them with free(). */
static inline char *io_read_bytes(const char *path, size_t *size) {
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    char *bytes = malloc(1 << 20);
    *size = fread(bytes, 1, 1 << 20, file);
    fclose(file);
    return bytes;
}

/* Fails unless a small file consists of this text. */
static inline void assert_text(const char *path, const char *expected) {
    size_t size;
    char *bytes = io_read_bytes(path, &size);
    bytes[size] = '\0';
    assert_string_equal(bytes, expected);
    free(bytes);
}

/* True if this build has the library that a golden file needs. */
static inline bool io_has_library(const char *file) {
    size_t length = strlen(file);
    bool hdf5 = strncmp(file, "io_v73", 6) == 0 || strcmp(file + length - 3, ".h5") == 0;
    const char *library = hdf5 ? "HDF5" : strcmp(file + length - 4, ".png") == 0 ? "libpng" : NULL;
    for (const huddle_format *f = huddle_formats(); library != NULL && f->name != NULL; f++)
        if (f->library != NULL && strcmp(f->library, library) == 0)
            return f->present;
    return true;
}

/* Value (i, j) of dense or sparse points. */
static inline float io_value(const huddle_points *x, int64_t i, int64_t j) {
    if (x->offsets == NULL)
        return x->values[i * x->stride + j];
    for (int64_t e = x->offsets[i]; e < x->offsets[i + 1]; e++)
        if (x->columns[e] == j)
            return x->values[e];
    return 0;
}

/* The points of the data set; `logical` ones are 1 where it is not 0. */
static inline void io_assert_points(const huddle_data *data, bool sparse, bool logical) {
    assert_int_equal(data->points.n, IO_N);
    assert_int_equal(data->points.d, IO_D);
    assert_int_equal(data->points.offsets != NULL, sparse);
    for (int64_t i = 0; i < IO_N; i++)
        for (int64_t j = 0; j < IO_D; j++) {
            double value = sparse && (i + j) % 2 != 0 ? 0 : (double)(10 * i + j);
            assert_close(io_value(&data->points, i, j), logical ? value != 0 : value, 0);
        }
}

/* The labels are these two in turn, and numbered in ascending order. */
static inline void io_assert_labels(const huddle_data *data, const char *first,
                                    const char *second) {
    assert_non_null(data->labels);
    assert_int_equal(data->n_classes, 2);
    assert_string_equal(data->classes[0], strcmp(first, second) < 0 ? first : second);
    for (int i = 0; i < IO_N; i++)
        assert_string_equal(data->classes[data->labels[i]], i % 2 == 0 ? first : second);
}

/* Reads variables of a golden file by name; NULL leaves the choice to the reader. */
static inline huddle_status io_read_named(const char *file, const char *x, const char *y,
                                          huddle_data *data) {
    huddle_read_options options = {.x = &x, .n_x = x != NULL, .y = &y, .n_y = y != NULL};
    return huddle_data_read(NULL, io_golden(file), &options, data);
}

/* The same for tests that repeat a call: the argument is {file, x, y}. */
static inline huddle_status io_read_part(void *argument) {
    const char **part = argument;
    huddle_data data;
    huddle_status status = io_read_named(part[0], part[1], part[2], &data);
    if (status == HUDDLE_OK)
        huddle_data_free(&data);
    return status;
}

#endif
