/* Points inside the library: their values, their shift, their distinct rows, and who owns them. */
#ifndef HUDDLE_SRC_MATRIX_POINTS_H
#define HUDDLE_SRC_MATRIX_POINTS_H

#include "huddle/matrix.h"

/* Who owns the values of points if they were not allocated: a file that is mapped into memory. Its
 * maker, a reader, makes one of these as the beginning of a struct of its own. */
struct huddle_mapping {
    void (*free)(huddle_mapping *mapping);
};

/* HUDDLE_INVALID for a value that is not finite, or beyond float; row and column count from 0. */
huddle_status hd_refuse_value(double value, int64_t row, int64_t column);

/* Whether a column whose values are in that range loses its digits as float, and the shift that
 * huddle_points_from_double() gives it. */
bool hd_range_shifts(double low, double high);
double hd_column_shift(double low, double high, double mean);

/* huddle_points_from_double() of the rows index[0 .. count - 1] of a matrix, or of its first
 * `count` rows if index is NULL, without a copy of them as doubles. */
huddle_status hd_points_from_rows(huddle_context *context, const huddle_dense *matrix,
                                  const int64_t *index, int64_t count, huddle_points *points);

/* A copy of numbers, such as the shift of points; of NULL there is none. */
huddle_status hd_copy_numbers(int64_t count, const double *from, double **to);

/* Value j of row i of dense points, with the shift. */
static inline double hd_points_value(const huddle_points *x, int64_t i, int64_t j) {
    return (double)x->values[i * x->stride + j] + (x->shift != NULL ? x->shift[j] : 0);
}

/* The squared norm of row i as it is stored, without the shift. */
double hd_points_square(const huddle_points *points, int64_t i);

/* of[i] = the first row equal to row i of the points of this process; *count: how many rows are the
 * first of their kind. It ends when there are `limit` of these: the rows after it are not looked
 * at. */
huddle_status hd_points_find_firsts(huddle_context *context, const huddle_points *x, int64_t limit,
                                    int32_t *of, int64_t *count);

#endif
