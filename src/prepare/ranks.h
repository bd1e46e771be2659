/* Rule ranks: the map of every column from values to average ranks; and which values are equal. */
#ifndef HUDDLE_SRC_PREPARE_RANKS_H
#define HUDDLE_SRC_PREPARE_RANKS_H

#include "huddle/prepare.h"

/* True values of this magnitude that differ by no more are equal but for rounding errors: sums of a
 * few terms in different orders, .1 + .2 and .3. Such differences survive in stored values where
 * the shift is large. */
double hd_prepare_rounding(double magnitude);

/* The centre, and the knots of all columns of dense points, out of the stored values. */
huddle_status hd_prepare_fit_ranks(huddle_context *context, const huddle_points *x,
                                   huddle_preparation *p);

/* The rank of a value of column j, relative to the centre as the knots are; 0 in a constant
 * column. */
double hd_prepare_rank(const huddle_preparation *p, int64_t j, double value);

#endif
