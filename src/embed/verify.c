/* Two ways to verify. The inertia of shift I - op, by Sylvester's law, counts the eigenvalues above
 * a shift: a proof, as far as a factorisation is affordable. A probe sends random vectors through
 * the filter in the orthogonal complement of the pairs: whatever was missed stands out. Why
 * residuals are not enough: docs/method.md, "Embedding F". */
#include "embed/verify.h"

#include "base/check.h"

#include <math.h>
#include <string.h>

/* Eigenvalues are not assumed to be known better than to this share of the spectrum's width. */
static const double min_error = 1e-9;

/* Multiplications that a factorisation may take: under "auto" some 20 ms, under "inertia" up to a
 * quarter of an hour. */
static const double cheap_work = 2e7, max_work = 1e12;

/* Beyond so many entries the ordering alone is no longer cheap. */
enum { CHEAP_ENTRIES = 30000 };

/* A probe that needs a higher degree costs more than the solve. */
enum { MAX_PROBE_DEGREE = 2000 };

/* ---- inertia ------------------------------------------------------------------------------- */

/* The statement that one count of eigenvalues is to prove. */
typedef struct hypothesis {
    int64_t expected; /* pairs above the shift */
    int64_t covered;  /* pairs that are proven if no more eigenvalues are above it */
    double shift;
    double room; /* the count must be right for a shift within this */
} hypothesis;

/* k Ritz values of orthonormal vectors lie within sqrt(k) times the largest residual of k different
 * eigenvalues (Kahan, 1967; Parlett, The Symmetric Eigenvalue Problem, 11.5). */
static double pair_error(const hd_embed_problem *problem, const hd_embed_pairs *pairs) {
    double error = sqrt((double)problem->request->n_wanted) * pairs->residual;
    return fmax(error, min_error * (problem->op->upper - problem->op->lower));
}

/* The hypothesis that the wanted pairs are all above a number a little under the last of them.
 * False if the next pair is too close for that. With an error of `error` in the Ritz values, at
 * least `n_wanted` eigenvalues lie above theta - error; the shift is half an error lower, which is
 * the room for the rounding of the factorisation. */
static bool hypothesise_all(const hd_embed_problem *problem, const hd_embed_pairs *pairs,
                            hypothesis *c) {
    int64_t n_wanted = problem->request->n_wanted;
    double error = pair_error(problem, pairs);
    double next = n_wanted < pairs->count ? pairs->theta[n_wanted] : -INFINITY;
    *c = (hypothesis){n_wanted, n_wanted, pairs->theta[n_wanted - 1] - 1.5 * error, .5 * error};
    return pairs->theta[n_wanted - 1] - next > 3 * error;
}

/* If c cuts a cluster of eigenvalues: the hypothesis that only the pairs before the cluster are
 * above a number a little over its first. That leaves nothing to be missed above the cluster; if it
 * is no wider than the error, the pairs in it are as good as any, and all are proven. */
static hypothesis hypothesise_before_cluster(const hd_embed_problem *problem,
                                             const hd_embed_pairs *pairs) {
    double error = pair_error(problem, pairs);
    const double *theta = pairs->theta;
    int64_t j = problem->request->n_wanted - 1;
    while (j > 0 && theta[j - 1] - theta[j] <= 3 * error)
        j--;
    bool narrow = theta[j] - theta[problem->request->n_wanted - 1] <= error;
    return (hypothesis){j, narrow ? problem->request->n_wanted : j, theta[j] + 1.5 * error,
                        .5 * error};
}

typedef enum answer { UNKNOWN, PROVEN, MORE } answer;

/* Counts the eigenvalues above the shift without the known ones, which are the largest. The count
 * proves nothing if the factorisation is too inaccurate, nor if it is smaller than the pairs
 * allow. */
static huddle_status check_hypothesis(huddle_context *context, const hd_embed_problem *problem,
                                      double work, const hypothesis *c, answer *found) {
    huddle_status status = HUDDLE_OK;
    hd_embed_inertia inertia;
    *found = UNKNOWN;
    TRY(hd_embed_count_above(context, problem->op, c->shift, work, &inertia));
    int64_t above = inertia.above - problem->op->n_known;
    if (inertia.affordable && inertia.error < c->room && above >= c->expected)
        *found = above == c->expected ? PROVEN : MORE;
done:
    return status;
}

/* Tries to prove the count, and sets pairs->proven. *missed if there certainly are eigenvalues that
 * have no pair. Where more are found than are above the last pair, that may be the next eigenvalue,
 * closer than its Ritz value: then the last pairs are treated as a cluster. */
static huddle_status count_pairs(huddle_context *context, const hd_embed_problem *problem,
                                 double work, hd_embed_pairs *pairs, bool *missed) {
    huddle_status status = HUDDLE_OK;
    hypothesis c;
    answer found = MORE;
    if (hypothesise_all(problem, pairs, &c))
        TRY(check_hypothesis(context, problem, work, &c, &found));
    if (found == MORE) {
        c = hypothesise_before_cluster(problem, pairs);
        TRY(check_hypothesis(context, problem, work, &c, &found));
        *missed = found == MORE;
    }
    if (found == PROVEN)
        pairs->proven = c.covered;
done:
    return status;
}

/* ---- probe --------------------------------------------------------------------------------- */

/* The smallest difference between eigenvalues and the smallest residual that a block of floats
 * resolves. Probes must stay in float, as hd_embed_block_orthogonalise() requires: a run becomes
 * double only if its goal, which is at least a tenth of its tolerance, is below float_floor of
 * chebyshev.c. */
static const double float_difference = 1e-6, float_residual = 1e-5;

static huddle_status round_vectors(const huddle_dense *vectors, float **rounded) {
    huddle_status status = HUDDLE_OK;
    int64_t cols = vectors->cols;
    ALLOC(*rounded, vectors->rows * cols);
    for (int64_t i = 0; i < vectors->rows; i++)
        for (int64_t k = 0; k < cols; k++)
            (*rounded)[i * cols + k] = (float)vectors->values[i * vectors->stride + k];
done:
    return status;
}

/* Degree of the filter: a missed eigenvector makes up about 1 / sqrt(n) of a random vector, and
 * should become ten times as large as the rest. The degree must suffice for a missed eigenvalue as
 * small as the last wanted one; larger ones grow faster. 0 if no filter of at most MAX_PROBE_DEGREE
 * can do that. */
static int64_t probe_degree(const hd_embed_problem *problem, const hd_embed_pairs *pairs) {
    double growth =
        hd_embed_growth(problem->op, pairs->edge, pairs->theta[problem->request->n_wanted - 1]);
    double degree = ceil(log(10 * sqrt((double)problem->op->slab.total)) / growth);
    return degree < MAX_PROBE_DEGREE ? (int64_t)degree : 0;
}

/* Filters random vectors by that degree, in several rounds where one would magnify the end of the
 * spectrum, relative to the last pair, beyond the range of floats. */
static huddle_status filter_probe(huddle_context *context, const hd_embed_problem *problem,
                                  double edge, int64_t degree, hd_embed_run *run) {
    static const double range = 50; /* as a logarithm */
    huddle_status status = HUDDLE_OK;
    double max_step = floor(range / hd_embed_growth(problem->op, edge, problem->op->upper));
    int64_t step = max_step < 4 ? 4 : max_step < (double)degree ? (int64_t)max_step : degree;
    TRY(hd_embed_run_begin(context, edge, step, run));
    for (int64_t done = step; done < degree; done += step)
        TRY(hd_embed_run_filter(context, edge, degree - done < step ? degree - done : step, run));
done:
    return status;
}

/* Whether the next pair is so close to the last wanted one that c cuts a cluster. */
static bool cuts_cluster(const hd_embed_problem *problem, const hd_embed_pairs *pairs) {
    hypothesis c;
    return pairs->cuts_cluster || !hypothesise_all(problem, pairs, &c);
}

/* Sends new random vectors through the filter, orthogonal to the pairs that were found. One pass
 * separates what lies well above the last pair from what lies below. In a cluster the two are
 * close, so there the first pair of the probe must converge. Without an edge (pairs of another
 * solver), the probe finds its interval by iterating itself. */
static huddle_status run_probe(huddle_context *context, const hd_embed_problem *problem,
                               hd_embed_pairs *pairs, hd_embed_block *probe, bool *missed) {
    huddle_status status = HUDDLE_OK;
    hd_embed_run run = {0};
    float *found = NULL;
    /* Another random stream than that of the solve, whose vectors may all lack the missed one. */
    uint64_t seed = problem->request->seed ^ 0x9e3779b97f4a7c15u;
    int64_t degree = isnan(pairs->edge) ? 0 : probe_degree(problem, pairs);
    double last = pairs->theta[problem->request->n_wanted - 1] +
                  fmax(problem->request->tol, float_difference);
    if (degree == 0 && !isnan(pairs->edge))
        goto done;
    if (pairs->rounded == NULL)
        TRY(round_vectors(&pairs->vectors, &found));
    TRY(hd_embed_run_new(problem->op, 1, 0, &run));
    run.found = found != NULL ? found : pairs->rounded;
    run.n_found = pairs->vectors.cols;
    run.done = .99; /* all but the verification */
    run.total = 1;
    run.found_stride = found != NULL ? run.n_found : pairs->rounded_stride;
    if (degree > 0) {
        TRY(hd_embed_block_randomise(context, problem->op, 0, 1, seed, &run.block));
        TRY(filter_probe(context, problem, pairs->edge, degree, &run));
    } else {
        TRY(hd_embed_run_begin_random(context, seed, &run));
    }
    if (degree == 0 || cuts_cluster(problem, pairs))
        TRY(hd_embed_run_iterate(context, NULL, fmax(problem->request->tol, float_residual),
                                 problem->request->max_iter, &run));
    pairs->n_products += run.n_products * run.block.width;
    /* A probe that has become dependent on the pairs shows nothing. No Ritz value exceeds the
     * largest eigenvalue of the complement, so that one above the last pair shows a missing pair
     * even if the probe has not converged. A run that did not iterate has the initial value of
     * stop, CONVERGED. */
    bool seen = run.ritz.rank > 0 && run.stop == HUDDLE_STOP_CONVERGED;
    if (run.ritz.rank > 0 && run.ritz.theta[0] > last)
        *missed = true;
    else if (seen && run.ritz.theta[0] <= last && !*missed)
        pairs->verified = "probe";
    if (probe != NULL) {
        *probe = run.block;
        memset(&run.block, 0, sizeof run.block);
    }
done:
    huddle_free(found);
    hd_embed_run_free(&run);
    return status;
}

/* Pairs that did not converge are not verified: residuals that large prove no count. A count that
 * is not a proof of all pairs is followed by a probe, which may still find what is missing. */
huddle_status hd_embed_verify(huddle_context *context, const hd_embed_problem *problem,
                              hd_embed_pairs *pairs, hd_embed_block *probe, bool *missed) {
    huddle_status status = HUDDLE_OK;
    const char *how = problem->verify;
    bool proof = strcmp(how, "inertia") == 0;
    /* A factorisation needs all rows in one process; slabs are left to the probe. */
    bool cheap = strcmp(how, "auto") == 0 && problem->op->halo.slabs == NULL &&
                 problem->op->offsets[problem->op->n] <= CHEAP_ENTRIES;
    pairs->verified = "none";
    pairs->proven = 0;
    *missed = false;
    if (strcmp(how, "none") == 0 || pairs->stop != HUDDLE_STOP_CONVERGED)
        return HUDDLE_OK;
    if (proof || cheap)
        TRY(count_pairs(context, problem, proof ? max_work : cheap_work, pairs, missed));
    if (pairs->proven == problem->request->n_wanted)
        pairs->verified = "inertia";
    else
        TRY(run_probe(context, problem, pairs, probe, missed));
done:
    return status;
}
