/* ARPACK's implicitly restarted Lanczos iteration, for comparison. */
#include "base/check.h"
#include "base/rng.h"
#include "embed/verify.h"

#include <arpack/arpack.h>
#include <math.h>
#include <pthread.h>
#include <string.h>

/* ARPACK keeps its state between calls in variables of its own: one at a time. */
static pthread_mutex_t arpack_lock = PTHREAD_MUTEX_INITIALIZER;

typedef struct lanczos {
    const hd_operator *op;
    int64_t basis; /* vectors kept */
    double *residual, *v, *workd, *workl, *sums;
    a_int iparam[11], ipntr[11];
} lanczos;

static huddle_status new_lanczos(const hd_operator *op, int64_t wanted, lanczos *l) {
    huddle_status status = HUDDLE_OK;
    int64_t n = op->n, most = n - op->n_null;
    l->op = op;
    l->basis = 2 * wanted + 1 < 20 ? 20 : 2 * wanted + 1;
    if (l->basis > most)
        l->basis = most;
    ALLOC(l->residual, n);
    ALLOC(l->v, n * l->basis);
    ALLOC_ZERO(l->workd, 3 * n);
    ALLOC_ZERO(l->workl, l->basis * (l->basis + 8));
    ALLOC(l->sums, op->n_null + 1);
done:
    return status;
}

static void free_lanczos(lanczos *l) {
    huddle_free(l->residual);
    huddle_free(l->v);
    huddle_free(l->workd);
    huddle_free(l->workl);
    huddle_free(l->sums);
}

/* Removes the null vectors from one vector. */
static void deflate(const lanczos *l, double *x) {
    const hd_operator *op = l->op;
    if (op->n_null == 0)
        return;
    memset(l->sums, 0, (size_t)op->n_null * sizeof *l->sums);
    for (int64_t i = 0; i < op->n; i++)
        l->sums[op->component[i]] += op->null[i] * x[i];
    for (int64_t i = 0; i < op->n; i++)
        x[i] -= op->null[i] * l->sums[op->component[i]];
}

static void multiply(const lanczos *l, const double *x, double *y) {
    const hd_operator *op = l->op;
    for (int64_t i = 0; i < op->n; i++) {
        double sum = 0;
        for (int64_t e = op->offsets[i]; e < op->offsets[i + 1]; e++)
            sum += op->values[e] * x[op->columns[e]];
        y[i] = sum;
    }
    deflate(l, y);
}

/* The conversation with ARPACK: it asks for products until it is content. */
static huddle_status converse(huddle_context *context, const hd_problem *problem, lanczos *l,
                              hd_pairs *pairs) {
    huddle_status status = HUDDLE_OK;
    a_int ido = 0, answer = 1, n = (a_int)l->op->n, wanted = (a_int)problem->wanted;
    a_int basis = (a_int)l->basis, lworkl = (a_int)(l->basis * (l->basis + 8));
    l->iparam[0] = 1;
    l->iparam[2] = problem->max_iter < 1 ? 1 : problem->max_iter;
    l->iparam[6] = 1;
    for (;;) {
        dsaupd_c(&ido, "I", n, "LA", wanted, problem->tol, l->residual, basis, l->v, n, l->iparam,
                 l->ipntr, l->workd, l->workl, lworkl, &answer);
        if (ido != 1 && ido != -1)
            break;
        multiply(l, l->workd + l->ipntr[0] - 1, l->workd + l->ipntr[1] - 1);
        /* How many there will be is not known; the share done only ever grows. */
        double done = (double)++pairs->n_products;
        TRY(hd_progress(context, "embed", done, done + (double)l->basis));
    }
    if (answer < 0 || answer > 1)
        FAIL(HUDDLE_NUMERIC, "ARPACK could not go on (dsaupd: %d)", (int)answer);
    pairs->stop = answer == 1 ? HUDDLE_STOP_MAX_ITER : HUDDLE_STOP_CONVERGED;
    pairs->n_iter =
        (int32_t)l->iparam[2] < problem->max_iter ? (int32_t)l->iparam[2] : problem->max_iter;
done:
    return status;
}

/* Whatever ARPACK says of its own progress, its basis holds the pairs. */
static huddle_status take_pairs(huddle_context *context, const hd_problem *problem,
                                const lanczos *l, hd_pairs *pairs) {
    huddle_status status = HUDDLE_OK;
    hd_block block = {0};
    hd_ritz ritz = {0};
    int64_t n = l->op->n;
    TRY(hd_block_new(n, hd_block_width(l->basis), true, &block));
    TRY(hd_ritz_new(block.width, &ritz));
    for (int64_t k = 0; k < l->basis; k++) {
        double *column = l->v + k * n, square = 0;
        /* Where Lanczos breaks down, ARPACK goes on from a vector of its own, perhaps a null one.
         */
        deflate(l, column);
        for (int64_t i = 0; i < n; i++)
            square += column[i] * column[i];
        for (int64_t i = 0; i < n && square > 1e-16; i++)
            ((double *)block.x)[i * block.width + k] = column[i];
    }
    TRY(hd_ritz_exact(context, l->op, &block, &ritz));
    if (ritz.rank < problem->wanted)
        FAIL(HUDDLE_NUMERIC, "ARPACK found %lld independent vectors where %lld were wanted",
             (long long)ritz.rank, (long long)problem->wanted);
    TRY(hd_ritz_vectors(context, l->op, &block, &ritz, problem->wanted, &pairs->vectors));
    pairs->count = problem->wanted + (ritz.rank > problem->wanted);
    ALLOC(pairs->theta, pairs->count);
    memcpy(pairs->theta, ritz.theta, (size_t)pairs->count * sizeof *pairs->theta);
    TRY(hd_largest_residual(context, l->op, &pairs->vectors, pairs->theta, &pairs->residual));
    pairs->edge = NAN;
done:
    hd_block_free(&block);
    hd_ritz_free(&ritz);
    return status;
}

huddle_status hd_solve_arpack(huddle_context *context, const hd_problem *problem, hd_pairs *pairs) {
    huddle_status status = HUDDLE_OK;
    lanczos l = {0};
    hd_rng rng = hd_rng_stream(problem->seed, 0);
    bool missed = false;
    pthread_mutex_lock(&arpack_lock);
    TRY(new_lanczos(problem->op, problem->wanted, &l));
    for (int64_t i = 0; i < problem->op->n; i++)
        l.residual[i] = hd_rng_uniform(&rng) - .5;
    deflate(&l, l.residual);
    TRY(converse(context, problem, &l, pairs));
    TRY(take_pairs(context, problem, &l, pairs));
    pairs->solver = "arpack";
    TRY(hd_verify(context, problem, pairs, NULL, &missed));
    if (missed)
        hd_warn(context, HUDDLE_WARNING_NOT_VERIFIED,
                "ARPACK missed eigenvectors; the solver chebyshev does not");
done:
    pthread_mutex_unlock(&arpack_lock);
    free_lanczos(&l);
    return status;
}
