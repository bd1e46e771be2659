/* Sparse codes of points over dictionaries of other points, coupled along the edges of a graph:
 *
 *     minimise over A   sum_i ||x_i - sum_k a_ik x_k||^2 + lambda sum_ik |a_ik|
 *                           + beta sum_(i,j) w_ij ||a_i - a_j||^2
 *
 * Row i of A has entries in the columns of its dictionary only, the last sum is over unordered
 * pairs, and x_i is a row of points divided by its norm. */
#ifndef HUDDLE_SRC_STEPS_L1_CODES_H
#define HUDDLE_SRC_STEPS_L1_CODES_H

#include "huddle/fit.h"
#include "huddle/graph.h"

typedef struct hd_step_l1_problem {
    const huddle_points *points; /* of the dictionaries; on the host */
    const huddle_csr *weights;   /* w, symmetric; NULL: the codes are independent */
    double lambda, beta;
    double tol; /* a code is solved to this duality gap, relative to ||x_i||^2; passes over all
                   codes end when the objective falls by less than this share of it */
    int32_t max_passes;
} hd_step_l1_problem;

/* A matrix of zeros whose row i has the columns of the m nearest of list i. */
huddle_status hd_step_l1_dictionaries(const huddle_neighbors *lists, int32_t m, int64_t columns,
                                      huddle_csr *codes);

/* Codes of other points, or of the points themselves, each on its own. */
huddle_status hd_step_l1_encode(huddle_context *context, const hd_step_l1_problem *problem,
                                const huddle_points *x, huddle_csr *codes);

/* Coupled codes of the points, beginning with those in `codes`. passes receives the objective
 * before the first pass and after each; it never rises. */
huddle_status hd_step_l1_couple(huddle_context *context, const hd_step_l1_problem *problem,
                                huddle_csr *codes, huddle_alternation_info *passes);

/* (|A| + |A'|) / 2 without zeros. */
huddle_status hd_step_l1_graph(const huddle_csr *codes, huddle_csr *graph);

#endif
