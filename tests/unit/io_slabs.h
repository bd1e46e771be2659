/* What the tests of io under slabs share: a data set, files of it, and teams that read them. */
#ifndef HUDDLE_TESTS_IO_SLABS_H
#define HUDDLE_TESTS_IO_SLABS_H

#include "engines/team.h"
#include "support/io.h"

/* What the members read. */
typedef struct reading {
    const char *source;
    const char *other; /* what the last member reads instead, or NULL */
    const huddle_read_options *options;
    huddle_data data[TEAM_MAX];
    int size;
    char log[TEAM_MAX][2048];
} reading;

static inline void keep_log(void *user, huddle_log_level level, huddle_warning_code code,
                            const char *line) {
    (void)level;
    (void)code;
    strncat(user, line, 2047 - strlen(user));
}

static inline huddle_status read_slab(huddle_context *context, int rank, void *argument) {
    reading *r = argument;
    bool other = r->other != NULL && rank == r->size - 1;
    huddle_context_set_log(context, keep_log, r->log[rank]);
    return huddle_data_read(context, other ? r->other : r->source, r->options, &r->data[rank]);
}

static inline void free_slabs(reading *r) {
    for (int m = 0; m < r->size; m++)
        huddle_data_free(&r->data[m]);
}

/* A data set of n images of 2 x 3; the third feature of `shifted` ones needs a shift. Means of
 * halves are exact, so that any order of summation gives the same bits. */
static inline void make_data(int64_t n, bool shifted, bool texts, huddle_data *data) {
    static const char *const names[] = {"ape", "bear", "cat"};
    memset(data, 0, sizeof *data);
    assert_ok(huddle_points_new(n, 6, &data->points));
    data->labels = malloc((size_t)n * sizeof *data->labels);
    data->classes = malloc(3 * sizeof *data->classes);
    data->n_classes = 3;
    data->classes_numeric = !texts;
    data->height = 2;
    data->width = 3;
    for (int k = 0; k < 3; k++) {
        char number[8];
        snprintf(number, sizeof number, "%d", 5 * k - 5);
        data->classes[k] = strdup(texts ? names[k] : number);
    }
    for (int64_t i = 0; i < n; i++) {
        data->labels[i] = i < n / 2 ? 2 : (int32_t)(i % 2); /* no process sees all classes */
        for (int64_t j = 0; j < 6; j++)
            data->points.values[i * 6 + j] = (float)(10 * (i % 499) + j) / 8;
    }
    if (!shifted)
        return;
    data->points.shift = calloc(6, sizeof(double));
    data->points.shift[2] = 1 << 27;
}

static inline void free_made(huddle_data *data) {
    for (int k = 0; k < 3; k++)
        free(data->classes[k]);
    free(data->classes);
    free(data->labels);
    free(data->points.shift);
    data->points.shift = NULL;
    huddle_points_free(&data->points);
}

/* An NPY file with any header. */
static inline const char *write_npy(const char *name, const char *type, const char *order,
                                    const char *shape, const void *elements, size_t bytes) {
    char file[4096] = "\x93NUMPY\x01\x00", header[256];
    snprintf(header, sizeof header, "{'descr': '%s', 'fortran_order': %s, 'shape': %s, }\n", type,
             order, shape);
    size_t length = strlen(header);
    file[8] = (char)(length & 255);
    file[9] = (char)(length >> 8);
    memcpy(file + 10, header, length);
    memcpy(file + 10 + length, elements, bytes);
    return io_write(name, file, 10 + length + bytes);
}

#endif
