/* The Chebyshev solver from start to verified pairs. */
#include "base/check.h"
#include "embed/chebyshev.h"
#include "embed/verify.h"

#include <string.h>

/* Degree of the filter for random vectors that replace the last columns when a count shows that
 * pairs are missing. */
enum { RETRY_DEGREE = 40 };

/* Searches for missed pairs before a warning. */
enum { ATTEMPTS = 4 };

/* Values beyond the wanted ones are reported if their residual is below this multiple of tol. */
static const double extra_tolerance = 10;

/* The final vectors and values, by a Rayleigh-Ritz step in double. Beyond the wanted values those
 * are kept whose residual is not much worse; the first of them always, since it shows the gap.
 * Eigenvalues beyond the wanted ones serve the eigengap rule, which can do with less accuracy: the
 * error of a Ritz value is of the order of the squared residual. */
static huddle_status take_pairs(huddle_context *context, const hd_embed_problem *problem,
                                hd_embed_run *run, hd_embed_pairs *pairs) {
    huddle_status status = HUDDLE_OK;
    double tol = problem->request->tol;
    int64_t n_vectors = run->n_wanted + run->n_extra, count = n_vectors;
    const double *residual = run->ritz.residual;
    while (count < run->ritz.rank &&
           (count == n_vectors || residual[count] < extra_tolerance * tol))
        count++;
    /* The edge is taken before the exact step changes the Ritz values: it belongs to the block as
     * it was filtered. */
    pairs->edge = hd_embed_run_edge(run);
    /* The products are computed again in double, and by whoever continues. */
    huddle_free(run->block.y);
    run->block.y = NULL;
    TRY(hd_embed_ritz_exact(context, run->op, &run->block, &run->ritz));
    TRY(hd_embed_pairs_new(problem, n_vectors, pairs));
    TRY(hd_embed_ritz_vectors(context, run->op, &run->block, &run->ritz, &pairs->vectors));
    ALLOC(pairs->theta, count);
    memcpy(pairs->theta, run->ritz.theta, (size_t)count * sizeof *pairs->theta);
    pairs->count = count;
    pairs->cuts_cluster = count > run->n_wanted &&
                          pairs->theta[run->n_wanted - 1] - pairs->theta[run->n_wanted] <= tol;
    huddle_dense exact = pairs->vectors; /* a view of the first columns */
    exact.cols = run->n_wanted;
    TRY(hd_embed_largest_residual(context, run->op, &exact, pairs->theta, &pairs->residual));
    pairs->stop = run->stop;
    pairs->n_iter = run->n_iter;
    pairs->n_products = run->n_products * run->block.width - run->n_spared;
    pairs->rounded = run->block.in_double ? NULL : run->block.x;
    pairs->rounded_stride = run->block.width;
done:
    return status;
}

/* Replaces the last columns, those of the smallest Ritz values, by what the probe found, or else
 * adds random vectors to them that are much larger, and iterates again. The wanted columns stay, so
 * that little is lost. The probe has been filtered already and needs no filter at the start. */
static huddle_status continue_with(huddle_context *context, const hd_embed_problem *problem,
                                   const hd_embed_block *probe, hd_embed_run *run) {
    huddle_status status = HUDDLE_OK;
    int64_t spare = run->block.width - run->n_wanted;
    int64_t count = probe->width < spare ? probe->width : spare;
    TRY(hd_embed_block_restore(&run->block));
    if (probe->x != NULL) {
        hd_embed_block_replace(probe, count, run->block.width - count, &run->block);
        TRY(hd_embed_run_begin(context, 0, 0, run));
    } else {
        double edge = hd_embed_run_edge(run);
        TRY(hd_embed_block_randomise(context, run->op, run->n_wanted, 1,
                                     problem->request->seed ^ (uint64_t)run->n_products,
                                     &run->block));
        TRY(hd_embed_run_begin(context, edge, RETRY_DEGREE, run));
    }
    TRY(hd_embed_run_iterate(context, "embed", problem->request->tol, problem->request->max_iter,
                             run));
done:
    return status;
}

/* Takes the pairs and verifies them; if some are missing, the search continues from the same
 * block. */
huddle_status hd_embed_run_finish(huddle_context *context, const hd_embed_problem *problem,
                                  hd_embed_run *run, hd_embed_pairs *pairs) {
    huddle_status status = HUDDLE_OK;
    hd_embed_block probe = {0};
    bool missed = false;
    for (int attempt = 0; attempt < ATTEMPTS; attempt++) {
        hd_embed_pairs_free(pairs);
        TRY(take_pairs(context, problem, run, pairs));
        hd_embed_block_free(&probe);
        TRY(hd_embed_verify(context, problem, pairs, &probe, &missed));
        if (!missed)
            break;
        TRY(continue_with(context, problem, &probe, run));
    }
    if (missed)
        hd_warn(context, HUDDLE_WARNING_NOT_VERIFIED,
                "eigenvectors are missing: %d searches found more each time", ATTEMPTS);
done:
    pairs->rounded = NULL; /* the block does not outlive its run */
    hd_embed_block_free(&probe);
    return status;
}

huddle_status hd_embed_solve_chebyshev(huddle_context *context, const hd_embed_problem *problem,
                                       hd_embed_pairs *pairs) {
    huddle_status status = HUDDLE_OK;
    hd_embed_run run = {0};
    TRY(hd_embed_run_new(problem->op, problem->request->n_wanted, problem->n_extra, &run));
    TRY(hd_embed_run_start(context, problem->request->seed, &run));
    TRY(hd_embed_run_iterate(context, "embed", problem->request->tol, problem->request->max_iter,
                             &run));
    TRY(hd_embed_run_finish(context, problem, &run, pairs));
    pairs->solver = "chebyshev";
done:
    hd_embed_run_free(&run);
    return status;
}
