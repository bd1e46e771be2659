/* ARPACK's implicitly restarted Lanczos iteration (Lehoucq, Sorensen and Yang, 1998), for
 * comparison. It works on one vector at a time and can miss copies of multiple eigenvalues. */
#include "base/check.h"
#include "base/rng.h"
#include "embed/verify.h"

#include <arpack/arpack.h>
#include <pthread.h>
#include <string.h>

/* ARPACK keeps its state between calls in static variables: one solve at a time. */
static pthread_mutex_t arpack_lock = PTHREAD_MUTEX_INITIALIZER;

typedef struct lanczos {
    const hd_embed_operator *op;
    int64_t basis; /* vectors kept */
    double *residual, *v, *workd, *workl, *sums;
    a_int iparam[11], ipntr[11];
} lanczos;

/* At least 20 vectors and twice the wanted number, as ARPACK's guide recommends, but no more than
 * the dimension of the space that the known vectors leave. */
static huddle_status new_lanczos(const hd_embed_operator *op, int64_t n_wanted, lanczos *l) {
    huddle_status status = HUDDLE_OK;
    int64_t n = op->n, limit = n - op->n_known;
    l->op = op;
    l->basis = 2 * n_wanted + 1 < 20 ? 20 : 2 * n_wanted + 1;
    if (l->basis > limit)
        l->basis = limit;
    ALLOC(l->residual, n);
    ALLOC(l->v, n * l->basis);
    ALLOC_ZERO(l->workd, 3 * n);
    ALLOC_ZERO(l->workl, l->basis * (l->basis + 8));
    ALLOC(l->sums, op->n_known + 1);
done:
    return status;
}

/* Removes the known vectors from one vector. Their supports are disjoint: each row belongs to
 * one. */
static void remove_known(const lanczos *l, double *x) {
    const hd_embed_operator *op = l->op;
    if (op->n_known == 0)
        return;
    memset(l->sums, 0, (size_t)op->n_known * sizeof *l->sums);
    for (int64_t i = 0; i < op->n; i++)
        l->sums[op->component[i]] += op->known[i] * x[i];
    for (int64_t i = 0; i < op->n; i++)
        x[i] -= op->known[i] * l->sums[op->component[i]];
}

/* ARPACK's reverse communication: it asks for products until it has converged. "LA" asks for the
 * largest algebraic eigenvalues of N, the smallest of the Laplacian (3). iparam[0] = 1 selects
 * exact shifts, iparam[2] limits the iterations, iparam[6] = 1 selects the ordinary
 * eigenproblem. */
static huddle_status run_arpack(huddle_context *context, const hd_embed_problem *problem,
                                lanczos *l, hd_embed_pairs *pairs) {
    huddle_status status = HUDDLE_OK;
    a_int ido = 0, answer = 1, n = (a_int)l->op->n, n_wanted = (a_int)problem->request->n_wanted;
    a_int basis = (a_int)l->basis, lworkl = (a_int)(l->basis * (l->basis + 8));
    l->iparam[0] = 1;
    l->iparam[2] = problem->request->max_iter < 1 ? 1 : problem->request->max_iter;
    l->iparam[6] = 1;
    for (;;) {
        dsaupd_c(&ido, "I", n, "LA", n_wanted, problem->request->tol, l->residual, basis, l->v, n,
                 l->iparam, l->ipntr, l->workd, l->workl, lworkl, &answer);
        if (ido != 1 && ido != -1)
            break;
        double *product = l->workd + l->ipntr[1] - 1;
        hd_embed_multiply_vector(l->op, l->workd + l->ipntr[0] - 1, product);
        /* Not only the start is deflated: rounding errors would bring the known vectors back, and
         * they have the largest eigenvalue. */
        remove_known(l, product);
        /* The number of products is not known; the reported share only ever grows. */
        double done = (double)++pairs->n_products;
        TRY(hd_progress(context, "embed", done, done + (double)l->basis));
    }
    if (answer < 0 || answer > 1)
        FAIL(HUDDLE_NUMERIC, "ARPACK failed (dsaupd: %d)", (int)answer);
    pairs->stop = answer == 1 ? HUDDLE_STOP_MAX_ITER : HUDDLE_STOP_CONVERGED;
    pairs->n_iter = (int32_t)l->iparam[2] < problem->request->max_iter ? (int32_t)l->iparam[2]
                                                                       : problem->request->max_iter;
done:
    return status;
}

/* ARPACK's basis as a block. Whatever ARPACK reports of its own progress, the basis contains the
 * pairs, and a Rayleigh-Ritz step takes the best of them. A column that deflation reduces to
 * rounding errors stays zero; the Rayleigh-Ritz step drops it. */
static huddle_status copy_basis(const lanczos *l, hd_embed_block *block) {
    huddle_status status = HUDDLE_OK;
    int64_t n = l->op->n;
    TRY(hd_embed_block_new(l->op, hd_embed_block_width(l->basis), true, block));
    for (int64_t k = 0; k < l->basis; k++) {
        double *column = l->v + k * n, square = 0;
        /* Where Lanczos breaks down, ARPACK continues with a random vector, which may contain known
         * ones. */
        remove_known(l, column);
        for (int64_t i = 0; i < n; i++)
            square += column[i] * column[i];
        for (int64_t i = 0; i < n && square > 1e-16; i++)
            ((double *)block->x)[i * block->width + k] = column[i];
    }
done:
    return status;
}

/* The pairs are verified like those of any other solver, because small residuals do not show that a
 * copy of a multiple eigenvalue was missed. */
huddle_status hd_embed_solve_arpack(huddle_context *context, const hd_embed_problem *problem,
                                    hd_embed_pairs *pairs) {
    huddle_status status = HUDDLE_OK;
    lanczos l = {0};
    hd_embed_block basis = {0};
    hd_rng rng = hd_rng_stream(problem->request->seed, 0);
    bool missed = false;
    /* Held for the whole solve: the calls of one iteration must not mix with those of another. */
    pthread_mutex_lock(&arpack_lock);
    TRY(new_lanczos(problem->op, problem->request->n_wanted, &l));
    for (int64_t i = 0; i < problem->op->n; i++)
        l.residual[i] = hd_rng_uniform(&rng) - .5;
    remove_known(&l, l.residual);
    TRY(run_arpack(context, problem, &l, pairs));
    TRY(copy_basis(&l, &basis));
    TRY(hd_embed_take_span(context, problem, "ARPACK", &basis, pairs));
    pairs->solver = "arpack";
    TRY(hd_embed_verify(context, problem, pairs, NULL, &missed));
    if (missed)
        hd_warn(context, HUDDLE_WARNING_NOT_VERIFIED,
                "ARPACK missed eigenvectors; the solver chebyshev does not");
done:
    pthread_mutex_unlock(&arpack_lock);
    hd_embed_block_free(&basis);
    FREE(l.residual, l.v, l.workd, l.workl, l.sums);
    return status;
}
