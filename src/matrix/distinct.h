/* Distinct rows as far as they are needed. */
#ifndef HUDDLE_SRC_MATRIX_DISTINCT_H
#define HUDDLE_SRC_MATRIX_DISTINCT_H

#include "huddle/matrix.h"

/* of[i] = the first row equal to row i of the points of this process; *count: how many rows are the
 * first of their kind. It ends when there are `limit` of these: the rows after it are not looked
 * at. */
huddle_status hd_points_find_firsts(huddle_context *context, const huddle_points *x, int64_t limit,
                                    int32_t *of, int64_t *count);

#endif
