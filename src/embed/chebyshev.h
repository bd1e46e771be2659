/* Chebyshev-filtered subspace iteration (Zhou, Saad, Tiago and Chelikowsky, J. Comput. Phys. 219,
 * 2006).
 *
 * The Chebyshev polynomial of [lower, a] stays within [-1, 1] there and grows faster beyond than
 * any other polynomial of its degree. It is applied to a block of vectors, which magnifies the
 * wanted eigenvectors, those of eigenvalues above a; a Rayleigh-Ritz step then separates them. a is
 * the smallest Ritz value of the block: the block has room for that many vectors, and everything
 * else is damped. */
#ifndef HUDDLE_SRC_EMBED_CHEBYSHEV_H
#define HUDDLE_SRC_EMBED_CHEBYSHEV_H

#include "embed/rayleigh.h"
#include "embed/solver.h"

/* The state of an iteration. */
typedef struct hd_embed_run {
    const hd_embed_operator *op;
    int64_t n_wanted;
    int64_t n_extra;    /* vectors after them that need not be accurate */
    const float *found; /* vectors to deflate besides the known ones, or NULL: n_found columns */
    int64_t n_found, found_stride;
    bool smooth_start;    /* from a coarser graph: the first interval is nearly right */
    hd_embed_block block; /* x: Ritz vectors, y: op x */
    hd_embed_ritz ritz;
    int64_t n_products; /* of the whole block */
    int64_t n_spared;   /* products of one vector that the locked columns did not need */
    int32_t n_iter;
    double done, total; /* progress, as the last round reported it; total 0: nothing is reported */
    huddle_stop stop;
} hd_embed_run;

/* Allocates; the caller fills in the block's x. */
huddle_status hd_embed_run_new(const hd_embed_operator *op, int64_t n_wanted, int64_t n_extra,
                               hd_embed_run *run);
void hd_embed_run_free(hd_embed_run *run);

/* First step: deflates x, damps [lower, a] by a filter of that degree (0: none), and finds the Ritz
 * pairs. */
huddle_status hd_embed_run_begin(huddle_context *context, double a, int64_t degree,
                                 hd_embed_run *run);

/* One more round: filters the Ritz vectors and finds the Ritz pairs of the result. */
huddle_status hd_embed_run_filter(huddle_context *context, double a, int64_t degree,
                                  hd_embed_run *run);

/* The first step from random vectors, about whose spectrum nothing is known yet. */
huddle_status hd_embed_run_begin_random(huddle_context *context, uint64_t seed, hd_embed_run *run);

/* Iterates until the residuals of the wanted pairs are below tol (and below a tenth of the gap
 * after them, if the gap is above tol), or max_iter rounds in all. `stage` is the name under which
 * progress is reported, or NULL. */
huddle_status hd_embed_run_iterate(huddle_context *context, const char *stage, double tol,
                                   int32_t max_iter, hd_embed_run *run);

/* The logarithm of the factor by which each degree of the filter magnifies an eigenvalue theta
 * above the interval [lower, a]: acosh of its position, since T_k(cosh u) = cosh(k u). */
double hd_embed_growth(const hd_embed_operator *op, double a, double theta);

/* Where the filter's interval should end: the smallest Ritz value, kept inside the spectrum. */
double hd_embed_run_edge(const hd_embed_run *run);

/* The first step from the eigenvectors of coarser graphs where that saves time (multilevel.c), else
 * from random vectors. */
huddle_status hd_embed_run_start(huddle_context *context, uint64_t seed, hd_embed_run *run);

#endif
