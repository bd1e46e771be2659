#include "embed/verify.h"

#include "base/check.h"
#include "embed/inertia.h"

#include <math.h>
#include <string.h>

/* Multiplications a factorisation may take: hardly noticed, and what one asks for. */
static const double cheap_work = 2e7, most_work = 1e12;

/* Beyond so many entries the analysis alone is no longer cheap. */
enum { CHEAP_ENTRIES = 30000 };

/* ---- inertia ------------------------------------------------------------------------------- */

/* A number with exactly `expected` of the pairs well above it: a little under the last wanted one
 * or, if the next is too close for that, between earlier ones. Ritz pairs lie within `room` of
 * eigenvalues, each of its own (Kahan), so if no more eigenvalues are above it, they are these.
 * False if all are in one cluster. */
static bool choose_shift(const hd_problem *problem, const hd_pairs *pairs, double *shift,
                         int64_t *expected, double *room) {
    double error = sqrt((double)problem->wanted) * pairs->residual;
    error = fmax(error, 1e-9 * (problem->op->upper - problem->op->lower));
    *room = .5 * error;
    for (int64_t j = problem->wanted; j > 0; j--) {
        double next = j < pairs->count ? pairs->theta[j] : -INFINITY;
        *expected = j;
        *shift = pairs->theta[j - 1] - 1.5 * error;
        if (pairs->theta[j - 1] - next > 3 * error)
            return true;
    }
    return false;
}

/* Tries to prove the count. */
static huddle_status count_pairs(huddle_context *context, const hd_problem *problem, double work,
                                 hd_pairs *pairs, bool *settled) {
    huddle_status status = HUDDLE_OK;
    hd_inertia inertia;
    int64_t expected;
    double room, shift;
    *settled = false;
    if (!choose_shift(problem, pairs, &shift, &expected, &room))
        goto done;
    TRY(hd_count_above(context, problem->op, shift, work, &inertia));
    *settled = inertia.affordable && inertia.error < room &&
               inertia.above == expected + problem->op->n_null;
done:
    return status;
}

/* ---- probe --------------------------------------------------------------------------------- */

static huddle_status round_vectors(const huddle_dense *vectors, float **rounded) {
    huddle_status status = HUDDLE_OK;
    ALLOC(*rounded, vectors->rows * vectors->cols);
    for (int64_t i = 0; i < vectors->rows * vectors->cols; i++)
        (*rounded)[i] = (float)vectors->values[i];
done:
    return status;
}

/* Degree of the filter: a missed eigenvector is a part of about 1 / sqrt(n) of a random vector and
 * shall stand out tenfold from what each is made of. 0 if no filter can do that. */
static int64_t probe_degree(const hd_problem *problem, const hd_pairs *pairs) {
    double growth = hd_growth(problem->op, pairs->edge, pairs->theta[problem->wanted - 1]);
    double degree = ceil(log(10 * sqrt((double)problem->op->n)) / growth);
    return degree < 2000 ? (int64_t)degree : 0;
}

/* Fresh random vectors through the filter, kept orthogonal to what was found. */
static huddle_status send_probe(huddle_context *context, const hd_problem *problem, hd_pairs *pairs,
                                hd_block *probe, bool *missed) {
    huddle_status status = HUDDLE_OK;
    hd_run run = {0};
    float *found = NULL;
    uint64_t seed = problem->seed ^ 0x9e3779b97f4a7c15u;
    int64_t degree = isnan(pairs->edge) ? 0 : probe_degree(problem, pairs);
    if (degree == 0 && !isnan(pairs->edge))
        goto done;
    TRY(round_vectors(&pairs->vectors, &found));
    TRY(hd_run_new(problem->op, 1, &run));
    run.found = found;
    run.n_found = problem->wanted;
    if (degree > 0) {
        hd_block_randomise(&run.block, 0, 1, seed);
        TRY(hd_run_begin(context, pairs->edge, degree, &run));
    } else {
        TRY(hd_run_begin_random(context, seed, &run));
        TRY(hd_run_iterate(context, NULL, problem->tol, problem->max_iter, &run));
    }
    pairs->n_products += run.n_products * run.block.width;
    *missed =
        run.ritz.rank > 0 && run.ritz.theta[0] > pairs->theta[problem->wanted - 1] + problem->tol;
    if (!*missed && run.stop == HUDDLE_STOP_CONVERGED)
        pairs->verified = "probe";
    if (probe != NULL) {
        *probe = run.block;
        memset(&run.block, 0, sizeof run.block);
    }
done:
    huddle_free(found);
    hd_run_free(&run);
    return status;
}

huddle_status hd_verify(huddle_context *context, const hd_problem *problem, hd_pairs *pairs,
                        hd_block *probe, bool *missed) {
    huddle_status status = HUDDLE_OK;
    const char *how = problem->verify;
    bool settled = false, proof = strcmp(how, "inertia") == 0;
    bool cheap = strcmp(how, "auto") == 0 && problem->op->offsets[problem->op->n] <= CHEAP_ENTRIES;
    pairs->verified = "none";
    *missed = false;
    if (strcmp(how, "none") == 0 || pairs->stop != HUDDLE_STOP_CONVERGED)
        return HUDDLE_OK;
    if (proof || cheap)
        TRY(count_pairs(context, problem, proof ? most_work : cheap_work, pairs, &settled));
    if (settled)
        pairs->verified = "inertia";
    else
        TRY(send_probe(context, problem, pairs, probe, missed));
done:
    return status;
}
