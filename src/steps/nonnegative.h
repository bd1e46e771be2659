/* Nonnegative cluster indicators, by multiplicative updates (methods/nsc.c). */
#ifndef HUDDLE_SRC_STEPS_NONNEGATIVE_H
#define HUDDLE_SRC_STEPS_NONNEGATIVE_H

#include "fit/fit.h"

/* The problem: minimise over F >= 0, n x c,
 *
 *     J(F) = tr F'(L + mu (I - u u' - Z Z')) F + xi / 2 ||F'F - I||^2,
 *
 * L = I - S the normalised Laplacian of a graph, u the vector of sqrt(m_i / N), where row i stands
 * for m_i of N points. The eigenvalues of u u' + Z Z' should be at most 1. */
typedef struct hd_step_nonnegative {
    const huddle_csr *graph;
    const huddle_dense *components; /* Z, n x r */
    const double *copies;           /* m; NULL: 1 each */
    double discrimination;          /* mu; with 0 the components are not used */
    double orthogonality;           /* xi */
    double tol;                     /* stop when J falls by no more than tol c */
    int32_t max_iter;
} hd_step_nonnegative;

/* Minimises from F, whose entries must be at least 1e-20, and remain so. The objective of the start
 * and that after each update are added to *alternation, which begins anew. Each is less than the
 * one before. */
huddle_status hd_step_nonnegative_minimise(huddle_context *context,
                                           const hd_step_nonnegative *problem, huddle_dense *f,
                                           huddle_alternation_info *alternation);

#endif
