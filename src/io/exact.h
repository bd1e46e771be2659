/* The values of a file in double precision, beside points that are rounded to float
 * (huddle_data.exact): converting a file must not change its numbers. */
#ifndef HUDDLE_SRC_IO_EXACT_H
#define HUDDLE_SRC_IO_EXACT_H

#include "huddle/io.h"

#include <float.h>

/* What is rounded to float of a value that is kept as a double too: the largest float instead of
 * infinity. */
static inline double hd_io_exact_clamp(double value) {
    const double most = (double)FLT_MAX;
    return value > most ? most : value < -most ? -most : value;
}

/* The largest value that can be read: that of a float unless doubles are kept. */
static inline double hd_io_exact_limit(bool exact) {
    return exact ? DBL_MAX : (double)FLT_MAX;
}

/* huddle_points_from_double(), for values that may be beyond float because they are kept. */
huddle_status hd_io_exact_points(huddle_context *context, int64_t n, int64_t d,
                                 const double *values, huddle_points *points);

/* Adds `count` values behind those of points that have `old`. */
huddle_status hd_io_exact_append(double **exact, int64_t old, const double *more, int64_t count);

/* The values of the chosen rows of data->points, which are still there, in place of all. */
huddle_status hd_io_exact_take(huddle_data *data, const int64_t *index, int64_t count);

/* Frees the values if the points have the same. */
void hd_io_exact_settle(huddle_data *data);

/* A warning if integers of 64 bits were rounded even to doubles. */
void hd_io_exact_warn(huddle_context *context, const double *values, int64_t count);

#endif
