/* Chebyshev-filtered subspace iteration.
 *
 * A polynomial that stays within [-1, 1] on [lower, a] and grows as fast as a polynomial can beyond
 * is applied to a block of vectors; a Rayleigh-Ritz step then separates what has grown. a is the
 * smallest Ritz value of the block, so that everything outside the block's reach is damped. */
#ifndef HUDDLE_SRC_EMBED_CHEBYSHEV_H
#define HUDDLE_SRC_EMBED_CHEBYSHEV_H

#include "embed/rayleigh.h"
#include "embed/solver.h"

/* An iteration under way. */
typedef struct hd_embed_run {
    const hd_embed_operator *op;
    int64_t wanted;
    const float
        *found; /* n x n_found: vectors to stay orthogonal to besides the null ones, or NULL */
    int64_t n_found;
    hd_embed_block block; /* x: Ritz vectors, y: op x */
    hd_embed_ritz ritz;
    int64_t n_products; /* of the whole block */
    int32_t n_iter;
    huddle_stop stop;
} hd_embed_run;

/* Makes room; the block's x is then the caller's to fill. */
huddle_status hd_embed_run_new(const hd_embed_operator *op, int64_t wanted, hd_embed_run *run);
void hd_embed_run_free(hd_embed_run *run);

/* First step: deflates x, damps [lower, a] by a filter of that degree (0: none), and finds the Ritz
 * pairs. */
huddle_status hd_embed_run_begin(huddle_context *context, double a, int64_t degree,
                                 hd_embed_run *run);

/* One round more: filters the Ritz vectors and finds the Ritz pairs of the result. */
huddle_status hd_embed_run_filter(huddle_context *context, double a, int64_t degree,
                                  hd_embed_run *run);

/* The first step from random vectors, about whose spectrum nothing is known yet. */
huddle_status hd_embed_run_begin_random(huddle_context *context, uint64_t seed, hd_embed_run *run);

/* Goes on until the wanted pairs meet tol (and a tenth of the gap behind them, if that is above
 * tol), or max_iter rounds in all. `stage` is the name for progress, or NULL. */
huddle_status hd_embed_run_iterate(huddle_context *context, const char *stage, double tol,
                                   int32_t max_iter, hd_embed_run *run);

/* Growth in one degree, as a logarithm, of an eigenvalue theta beyond the interval [lower, a]. */
double hd_embed_growth(const hd_embed_operator *op, double a, double theta);

/* Where the filter's interval should end: the smallest Ritz value, kept inside the spectrum. */
double hd_embed_run_edge(const hd_embed_run *run);

/* Fills the run's block from coarser graphs if there is something to gain, else at random, and
 * begins. */
huddle_status hd_embed_run_start(huddle_context *context, uint64_t seed, hd_embed_run *run);

#endif
