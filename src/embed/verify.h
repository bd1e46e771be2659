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

/* Takes the pairs of a converged run and verifies them; where some were missed, they are added to
 * the block and the iteration continues (chebyshev_solve.c). */
huddle_status hd_embed_run_finish(huddle_context *context, const hd_embed_problem *problem,
                                  hd_embed_run *run, hd_embed_pairs *pairs);

#endif
