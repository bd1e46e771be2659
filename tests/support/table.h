/* What the tests of tables share: a table as text, the messages of its reader, its columns. */
#ifndef HUDDLE_TESTS_TABLE_H
#define HUDDLE_TESTS_TABLE_H

#include "support/io.h"

#include <math.h>
#include <stdarg.h>

/* The messages of the reader, one per line. */
static char recorded[4000];

static inline void record_line(void *user, huddle_log_level level, huddle_warning_code code,
                               const char *text) {
    (void)user;
    assert_int_equal(code,
                     level == HUDDLE_LOG_WARNING ? HUDDLE_WARNING_INPUT : HUDDLE_WARNING_NONE);
    snprintf(recorded + strlen(recorded), sizeof recorded - strlen(recorded), "%s%s\n",
             level == HUDDLE_LOG_WARNING ? "warning: " : "", text);
}

static inline huddle_status read_text(const char *text, const huddle_read_options *options,
                                      huddle_data *data) {
    huddle_context *context = NULL;
    recorded[0] = '\0';
    assert_ok(huddle_context_new(&context));
    huddle_context_set_log(context, record_line, NULL);
    huddle_status status =
        huddle_data_read(context, io_write_text("table.csv", text), options, data);
    huddle_context_free(context);
    return status;
}

static inline void assert_values(const huddle_data *data, int64_t n, int64_t d,
                                 const double *values) {
    assert_int_equal(data->points.n, n);
    assert_int_equal(data->points.d, d);
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < d; j++) {
            double shift = data->points.shift != NULL ? data->points.shift[j] : 0;
            assert_close((double)data->points.values[i * data->points.stride + j] + shift,
                         values[i * d + j], 1e-6);
        }
}

/* Text of a table that grows. */
static inline char *grow(char *text, const char *format, ...) {
    static char room[100000];
    va_list arguments;
    if (text == NULL)
        room[0] = '\0';
    size_t used = strlen(room);
    va_start(arguments, format);
    vsnprintf(room + used, sizeof room - used, format, arguments);
    va_end(arguments);
    return room;
}

static inline const huddle_column *column_of(const huddle_data *data, int64_t c) {
    assert_true(c < data->n_columns);
    return &data->columns[c];
}

#endif
