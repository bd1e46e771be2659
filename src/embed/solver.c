/* The choice of the solver, and the treatment of the vectors that an engine returns. */
#include "embed/solver.h"

#include "base/check.h"
#include "embed/verify.h"

#include <math.h>
#include <string.h>

/* "auto" takes LAPACK on the full matrix up to DENSE_ROWS, where it is as quick as the iteration
 * and proves the count (row "dense" of `./dev bench embed`), and up to DENSE_RETRY_ROWS, some
 * seconds of work, if the iteration did not separate the eigenvalues. */
enum { DENSE_ROWS = 500, DENSE_RETRY_ROWS = 3000 };

/* The tolerance of the second attempt, as a part of the first; and the smallest that is tried. */
static const double retry_factor = 1e-2, retry_floor = 1e-10;

/* ---- the table ----------------------------------------------------------------------------- */

typedef struct solver {
    const char *name;
    hd_embed_solve_function *solve;
    bool slabs; /* can work on rows that are distributed over processes */
} solver;

#define SOLVERS(SOLVER) SOLVER(dense, false) SOLVER(chebyshev, true) SOLVER(arpack, false)

#define ROW(name, slabs) {#name, hd_embed_solve_##name, slabs},
static const solver solvers[] = {SOLVERS(ROW)};
#undef ROW

#define NAME(name, slabs) #name,
const char *const hd_embed_solver_choices[] = {"auto", SOLVERS(NAME) NULL};
#undef NAME
const char *const *const hd_embed_solver_names = hd_embed_solver_choices + 1;

static const solver *find_solver(const char *name) {
    for (size_t k = 0; k < sizeof solvers / sizeof *solvers; k++)
        if (strcmp(solvers[k].name, name) == 0)
            return &solvers[k];
    return NULL;
}

huddle_status hd_embed_pairs_new(const hd_embed_problem *problem, int64_t count,
                                 hd_embed_pairs *pairs) {
    huddle_status status = HUDDLE_OK;
    int64_t known = problem->request->n_components;
    TRY(huddle_dense_new(problem->op->n, known + count, &pairs->storage));
    pairs->vectors = pairs->storage;
    pairs->vectors.values += known;
    pairs->vectors.cols = count;
done:
    return status;
}

void hd_embed_pairs_free(hd_embed_pairs *pairs) {
    huddle_dense_free(pairs->storage.values != NULL ? &pairs->storage : &pairs->vectors);
    huddle_free(pairs->theta);
    memset(pairs, 0, sizeof *pairs);
}

/* ---- the CPU ------------------------------------------------------------------------------- */

/* Where nearly all eigenvectors are wanted, the iterations have no room for other vectors than the
 * wanted ones, and only the dense solver serves. A block of more than half of the dimension leaves
 * the filter nothing to damp. */
static bool is_crowded(const hd_eigen_request *request, int32_t n_extra, int64_t total) {
    int64_t room = total - (request->component != NULL ? request->n_components : 0);
    return 2 * hd_embed_chebyshev_width(request->n_wanted, n_extra) > room;
}

bool hd_embed_needs_all_rows(const hd_embed_problem *problem, int64_t total) {
    return strcmp(problem->solver, "auto") == 0 && !problem->trial &&
           (total <= DENSE_ROWS ||
            (total <= DENSE_RETRY_ROWS && is_crowded(problem->request, problem->n_extra, total)));
}

/* "auto" is the Chebyshev solver except on small graphs. A solver that was chosen by name is
 * replaced only where it cannot work. */
static huddle_status solve_on_cpu(huddle_context *context, const hd_embed_problem *problem,
                                  hd_embed_pairs *pairs) {
    bool automatic = strcmp(problem->solver, "auto") == 0;
    bool whole = problem->op->halo.slabs == NULL;
    bool small = automatic && whole && !problem->trial && problem->op->n <= DENSE_ROWS;
    const char *name = automatic ? "chebyshev" : problem->solver;
    bool crowded = is_crowded(problem->request, problem->n_extra, problem->op->slab.total);
    const solver *s = find_solver(small || crowded ? "dense" : name);
    if (!s->slabs && !whole)
        return hd_fail(HUDDLE_UNSUPPORTED,
                       "%d eigenvectors of %lld rows need the solver %s, which needs all rows in "
                       "one process",
                       problem->request->n_wanted, (long long)problem->op->slab.total, s->name);
    hd_eigen_request all = *problem->request;
    hd_embed_problem exact = *problem;
    /* Only the iteration on a block can treat its vectors differently. */
    if (s->solve != hd_embed_solve_chebyshev) {
        all.n_wanted += problem->n_extra;
        exact.request = &all;
        exact.n_extra = 0;
    }
    return s->solve(context, &exact, pairs);
}

/* ---- an engine ----------------------------------------------------------------------------- */

/* Rayleigh-Ritz in double on whatever span a foreign solver found: the best pairs of that span and
 * their true residuals. There is no filter interval, hence no edge. */
huddle_status hd_embed_take_span(huddle_context *context, const hd_embed_problem *problem,
                                 const char *origin, const hd_embed_block *span,
                                 hd_embed_pairs *pairs) {
    huddle_status status = HUDDLE_OK;
    hd_embed_ritz ritz = {0};
    const hd_embed_operator *op = problem->op;
    int64_t n_wanted = problem->request->n_wanted;
    TRY(hd_embed_ritz_new(span->width, &ritz));
    TRY(hd_embed_ritz_exact(context, op, span, &ritz));
    if (ritz.rank < n_wanted)
        FAIL(HUDDLE_NUMERIC, "%s found %lld independent vectors where %lld were wanted", origin,
             (long long)ritz.rank, (long long)n_wanted);
    TRY(hd_embed_pairs_new(problem, n_wanted, pairs));
    TRY(hd_embed_ritz_vectors(context, op, span, &ritz, &pairs->vectors));
    pairs->count = n_wanted + (ritz.rank > n_wanted);
    ALLOC(pairs->theta, pairs->count);
    memcpy(pairs->theta, ritz.theta, (size_t)pairs->count * sizeof *pairs->theta);
    TRY(hd_embed_largest_residual(context, op, &pairs->vectors, pairs->theta, &pairs->residual));
    pairs->edge = NAN;
done:
    hd_embed_ritz_free(&ritz);
    return status;
}

/* The engine's vectors as a block in the operator's order. */
static huddle_status copy_span(const hd_embed_problem *problem, const huddle_dense *vectors,
                               hd_embed_block *span) {
    huddle_status status = HUDDLE_OK;
    int64_t n = problem->op->n, width = hd_embed_block_width(vectors->cols);
    TRY(hd_embed_block_new(problem->op, width, true, span));
    for (int64_t place = 0; place < n; place++) {
        int64_t row = problem->order != NULL ? problem->order[place] : place;
        memcpy((double *)span->x + place * width, vectors->values + row * vectors->stride,
               (size_t)vectors->cols * sizeof(double));
    }
done:
    return status;
}

/* Checks that the engine returned as many vectors as it reports, of the right length: they are read
 * without further checks. */
static huddle_status check_result(const hd_embed_problem *problem, const hd_eigen_result *result) {
    if (result->count >= problem->request->n_wanted && result->vectors != NULL &&
        result->vectors->rows == problem->op->n && result->vectors->cols == result->count &&
        result->vectors->values != NULL)
        return HUDDLE_OK;
    return hd_fail(HUDDLE_INTERNAL, "the engine returned %d eigenvectors where %d were wanted",
                   result->count, problem->request->n_wanted);
}

/* An engine's pairs are taken as a subspace only: values, orthonormal vectors, residuals and the
 * check that nothing was missed are computed here. So a faulty engine cannot pass unnoticed. The
 * cost is one product and one Rayleigh-Ritz step. */
static huddle_status solve_by_engine(huddle_context *context, const hd_embed_problem *problem,
                                     hd_embed_pairs *pairs) {
    huddle_status status = HUDDLE_OK;
    huddle_dense vectors = {0};
    hd_eigen_result result = {.vectors = &vectors};
    hd_embed_block span = {0};
    const hd_engine *engine = hd_context_engine(context);
    bool missed = false;
    TRY(engine->find_eigenpairs(context, problem->request, &result));
    TRY(huddle_dense_fetch(&vectors));
    TRY(check_result(problem, &result));
    TRY(copy_span(problem, &vectors, &span));
    TRY(hd_embed_take_span(context, problem, engine->text.name, &span, pairs));
    double tol = problem->request->tol;
    int64_t n_wanted = problem->request->n_wanted;
    /* The same criterion as for the CPU (chebyshev_solve.c). The residual is measured again: an
     * engine that reports convergence without reaching tol has stalled. */
    pairs->cuts_cluster =
        pairs->count > n_wanted && pairs->theta[n_wanted - 1] - pairs->theta[n_wanted] <= tol;
    pairs->stop = result.stop;
    if (result.stop == HUDDLE_STOP_CONVERGED && pairs->residual > tol)
        pairs->stop = HUDDLE_STOP_STALLED;
    pairs->n_iter = result.n_iter;
    pairs->n_products = result.n_products;
    pairs->solver = engine->text.name;
    TRY(hd_embed_verify(context, problem, pairs, NULL, &missed));
    if (missed)
        hd_warn(context, HUDDLE_WARNING_NOT_VERIFIED,
                "the engine %s missed eigenvectors; the solver chebyshev does not",
                engine->text.name);
done:
    huddle_free(result.values);
    huddle_dense_free(&vectors);
    hd_embed_block_free(&span);
    return status;
}

/* Named solvers are the CPU's own: only "auto" leaves the choice to the engine. */
huddle_status hd_embed_solve(huddle_context *context, const hd_embed_problem *problem,
                             hd_embed_pairs *pairs) {
    const hd_engine *engine = hd_context_engine(context);
    if (engine->find_eigenpairs != NULL && strcmp(problem->solver, "auto") == 0) {
        huddle_status status = solve_by_engine(context, problem, pairs);
        if (!hd_engine_declined(context, "find_eigenpairs", status))
            return status;
        hd_embed_pairs_free(pairs);
    }
    return solve_on_cpu(context, problem, pairs);
}

/* ---- matrices that are no Laplacians ------------------------------------------------------- */

/* The wanted eigenvalues of a Laplacian extend over a fair share of its spectrum. Those of
 * another matrix may be so close, compared with its width, that the tolerance does not separate
 * them. Then a tolerance smaller by retry_factor is tried, and after that LAPACK, if the matrix is
 * small enough; otherwise the answer is marked as cutting a cluster. */
huddle_status hd_embed_solve_any(huddle_context *context, const hd_embed_problem *problem,
                                 hd_embed_pairs *pairs) {
    huddle_status status = HUDDLE_OK;
    hd_eigen_request closer = *problem->request;
    hd_embed_problem again = *problem;
    again.request = &closer;
    closer.tol = fmin(closer.tol, fmax(retry_factor * closer.tol, retry_floor));
    TRY(hd_embed_solve(context, problem, pairs));
    if (strcmp(problem->solver, "auto") != 0 || strcmp(pairs->solver, "dense") == 0)
        goto done;
    if (pairs->stop == HUDDLE_STOP_CONVERGED && pairs->cuts_cluster) {
        hd_embed_pairs_free(pairs);
        TRY(hd_embed_solve(context, &again, pairs));
    }
    bool separated = pairs->stop == HUDDLE_STOP_CONVERGED && !pairs->cuts_cluster;
    bool whole = problem->op->halo.slabs == NULL;
    if (!separated && whole && problem->op->n <= DENSE_RETRY_ROWS) {
        hd_embed_pairs_free(pairs);
        TRY(hd_embed_solve_dense(context, problem, pairs));
    }
done:
    return status;
}
