/* Rotations that bring the rows of an embedding near axes, one for each cluster. */
#ifndef HUDDLE_SRC_STEPS_ROTATION_H
#define HUDDLE_SRC_STEPS_ROTATION_H

#include "huddle/fit.h"

/* Finds R with R'R = I and labels that minimise sum_i ||x_i R - e_{y_i}||^2 over rows x of norm 1
 * (zero rows do not count), by alternating two steps: y_i = the largest entry of x_i R, R from the
 * singular vectors of the sums of each cluster's rows (Yu and Shi, ICCV 2003). Of n_init starts,
 * the first from the first row and the others from random rows, each with further rows far from
 * those before, the best is kept.
 *
 * rows: n x c; labels: n; rotation: c x c, new. info and alternation (both or neither NULL; what
 * they own is replaced) receive how the starts ended and the objective after each turn of the best
 * one. */
huddle_status hd_step_rotation_find(huddle_context *context, const huddle_dense *rows,
                                    int32_t n_init, uint64_t seed, int32_t *labels,
                                    huddle_dense *rotation, huddle_rotation_info *info,
                                    huddle_alternation_info *alternation);

/* The cost of a rotation below, J(R), and its gradient, c x c. */
huddle_status hd_step_rotation_cost(huddle_context *context, const huddle_dense *rows,
                                    const double *rotation, double *gradient, double *cost);

/* The alignment of rows of norm 1 with the axes (Zelnik-Manor and Perona, NIPS 2004): R, given as a
 * start, is changed to minimise
 *
 *     J(R) = sum_i sum_j z_ij^2 / max_j z_ij^2,   z_i = x_i R,
 *
 * and *quality = 1 - (J / n - 1) / c, 1 if every row lies on an axis. A zero row counts as one that
 * is equally far from all. */
huddle_status hd_step_rotation_align(huddle_context *context, const huddle_dense *rows,
                                     huddle_dense *rotation, double *quality);

#endif
