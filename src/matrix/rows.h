/* Points made of some rows of a matrix, and their shift. */
#ifndef HUDDLE_SRC_MATRIX_ROWS_H
#define HUDDLE_SRC_MATRIX_ROWS_H

#include "huddle/matrix.h"

/* huddle_points_from_double() of the rows index[0 .. count - 1] of a matrix, or of its first
 * `count` rows if index is NULL, without a copy of them as doubles. */
huddle_status hd_points_from_rows(huddle_context *context, const huddle_dense *matrix,
                                  const int64_t *index, int64_t count, huddle_points *points);

/* A copy of numbers, such as the shift of points; of NULL there is none. */
huddle_status hd_copy_numbers(int64_t count, const double *from, double **to);

/* The squared norm of row i as it is stored, without the shift. */
double hd_points_square(const huddle_points *points, int64_t i);

#endif
