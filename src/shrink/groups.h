/* Which rows have fused, and putting them at one point. */
#ifndef HUDDLE_SRC_SHRINK_GROUPS_H
#define HUDDLE_SRC_SHRINK_GROUPS_H

#include "shrink/block.h"

/* Groups by the caller's numbers. An edge is fused when its dual is slack, ||z_e|| < .99 lambda_e,
 * and closing what is left of it at h would cost at most `negligible`: where the solve is not yet
 * done the two can disagree. An idle edge is fused when it joins equal rows. */
huddle_status hd_groups(const hd_problem *problem, const hd_block *blocks, const double *h,
                        double negligible, int32_t *group, int32_t *n_groups);

/* g = g with each group at its mean (weights: of the rows, in the caller's order, or NULL), or at
 * its fixed row if it has one. Groups with two different fixed rows stay as they are. */
huddle_status hd_snap(const hd_problem *problem, const huddle_dense *f, const double *weights,
                      const int32_t *group, int32_t n_groups, huddle_dense *g);

#endif
