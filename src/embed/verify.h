/* Verification: were any eigenpairs missed? Small residuals do not show that. */
#ifndef HUDDLE_SRC_EMBED_VERIFY_H
#define HUDDLE_SRC_EMBED_VERIFY_H

#include "embed/chebyshev.h"

/* Checks, as problem->verify asks, that the pairs are the first of the operator, and sets
 * pairs->verified and pairs->proven. "inertia" means that all are proven; where a count proves only
 * those before a cluster of eigenvalues, a probe looks for the rest. If *missed, some were not
 * found; `probe`, if not NULL, may then contain vectors with a large part of them (the caller frees
 * it in any case). */
huddle_status hd_embed_verify(huddle_context *context, const hd_embed_problem *problem,
                              hd_embed_pairs *pairs, hd_embed_block *probe, bool *missed);

typedef struct hd_embed_inertia {
    bool affordable; /* false: it would take more than max_work, and nothing was done */
    int64_t above;   /* eigenvalues of the operator, deflated ones included, above the shift */
    double error;    /* the count is exact for some shift within this distance of the given one */
} hd_embed_inertia;

/* The number of eigenvalues above a shift, by the signs of the pivots of a sparse factorisation
 * (inertia.c). max_work is a number of multiplications. Needs all rows in one process. */
huddle_status hd_embed_count_above(huddle_context *context, const hd_embed_operator *op,
                                   double shift, double max_work, hd_embed_inertia *inertia);

/* Takes the pairs of a converged run and verifies them; where some were missed, they are added to
 * the block and the iteration continues (chebyshev_solve.c). */
huddle_status hd_embed_run_finish(huddle_context *context, const hd_embed_problem *problem,
                                  hd_embed_run *run, hd_embed_pairs *pairs);

#endif
