/* Groups: which rows have fused, and moving each group to one point (docs/method.md, "Groups and
 * snapping"). */
#ifndef HUDDLE_SRC_SHRINK_GROUPS_H
#define HUDDLE_SRC_SHRINK_GROUPS_H

#include "shrink/block.h"

/* Groups by the caller's numbers. An edge is fused when its dual is slack, ||z_e|| < .99 lambda_e,
 * and closing what is left of it at best_h would cost at most `negligible`: before the solve has
 * converged the two can disagree. An idle edge is fused when it joins equal rows. */
huddle_status hd_shrink_find_groups(huddle_context *context, const hd_shrink_problem *problem,
                                    const hd_shrink_block *blocks, const hd_shrink_arrays *arrays,
                                    double negligible, int32_t *group, int32_t *n_groups);

/* Moves each group of g to its mean, weighted by the rows' weights, or to its fixed row if it has
 * one. Groups with two different fixed rows stay as they are. */
huddle_status hd_shrink_snap(const hd_shrink_input *input, const hd_shrink_problem *problem,
                             const int32_t *group, int32_t n_groups, huddle_dense *g);

#endif
