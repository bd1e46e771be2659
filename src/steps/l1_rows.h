/* Rows of an embedding whose distances over the edges of a graph, not squared, have the smallest
 * sum (methods/l1sc.c). */
#ifndef HUDDLE_SRC_STEPS_L1_ROWS_H
#define HUDDLE_SRC_STEPS_L1_ROWS_H

#include "fit/fit.h"

/* The problem: over Q, n x c, with Q'M Q = I, M diagonal, minimise
 *
 *     J(Q) = sum over edges w_ij sqrt(||q_i - q_j||^2 + eps^2),   eps^2 = epsilon^2 2 c / tr M.
 *
 * 2 c / tr M is the mean squared distance between the rows of two points, unless their mean is far
 * from 0: epsilon has no unit. */
typedef struct hd_step_l1_rows {
    const huddle_csr *graph;
    const double *copies;      /* the diagonal of M: points for which a row stands; NULL: 1 each */
    double epsilon, tol;       /* stop when a step lowers J by no more than tol J */
    int32_t max_iter;          /* steps after the first */
    uint64_t seed;             /* of the eigensolver and of linear_solver = approximate */
    const char *linear_solver; /* of shrink/linear.h */
} hd_step_l1_rows;

/* q, n x c, gives the distances of the first step, and receives the rows; its own size does not
 * matter if epsilon is small. J after each step is added to *alternation, which begins anew; no
 * number is larger than the one before. Where the graph has c components or more, no step is
 * needed: rows are indicators of the largest ones. */
huddle_status hd_step_l1_rows_minimise(huddle_context *context, const hd_step_l1_rows *problem,
                                       huddle_dense *q, huddle_alternation_info *alternation);

/* The eps of c columns for so many points. */
double hd_step_l1_rows_eps(double epsilon, int64_t c, double points);

/* A row more, with edges of weight weights[j] to `count` rows columns[j] of q, which stay: the one
 * with the least sum of its terms of J, by the same reweighting from the mean of its neighbours.
 * Without edges it is 0. scratch has room for a row. */
void hd_step_l1_rows_place(const huddle_dense *q, double eps, int64_t count, const int32_t *columns,
                           const double *weights, double *row, double *scratch);

#endif
