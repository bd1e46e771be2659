/* LAPACK on the full matrix: for small graphs, for nearly all eigenvectors, and as a reference. */
#include "base/blas.h"
#include "base/check.h"
#include "embed/rayleigh.h"
#include "embed/solver.h"

#include <lapacke.h>
#include <math.h>
#include <string.h>

/* Eigenvalues nearer than this share of the spectrum's width count as equal. */
static const double equal_eigenvalues = 1e-10;

/* Eigenvalues beyond the wanted ones that are reported, for the eigengap rule. */
enum { EXTRA = 20 };

/* LAPACKE reports memory by codes of its own; every other failure is numerical. */
huddle_status hd_embed_check_lapack(int answer, int64_t n) {
    if (answer == 0)
        return HUDDLE_OK;
    if (answer == LAPACK_WORK_MEMORY_ERROR || answer == LAPACK_TRANSPOSE_MEMORY_ERROR)
        return hd_fail(HUDDLE_NO_MEMORY, "no memory for a dense eigenproblem of size %lld",
                       (long long)n);
    return hd_fail(HUDDLE_NUMERIC, "LAPACK could not solve a dense eigenproblem of size %lld (%d)",
                   (long long)n, answer);
}

/* The operator as a full matrix, the known vectors moved below its spectrum: op - t v v' lowers
 * their eigenvalue, at most `upper`, by t. Twice the width and 1 more is enough for any bounds; the
 * other eigenpairs do not change, because v is an eigenvector. */
static void fill_matrix(const hd_embed_operator *op, double *a) {
    double shift = 2 * (op->upper - op->lower) + 1;
    memset(a, 0, (size_t)(op->n * op->n) * sizeof *a);
    for (int64_t i = 0; i < op->n; i++)
        for (int64_t e = op->offsets[i]; e < op->offsets[i + 1]; e++)
            a[i * op->n + op->columns[e]] = op->values[e];
    if (op->n_known == 0)
        return;
    for (int64_t i = 0; i < op->n; i++)
        for (int64_t j = 0; j < op->n; j++)
            if (op->component[i] == op->component[j])
                a[i * op->n + j] -= shift * op->known[i] * op->known[j];
}

/* Whether there are as many eigenvalues as asked for, finite and in ascending order. The
 * comparisons are written so that NaN fails them. */
static bool is_complete(int64_t found, int64_t count, const double *values) {
    if (found != count || !isfinite(values[0]) || !isfinite(values[count - 1]))
        return false;
    for (int64_t k = 1; k < count; k++)
        if (!(values[k - 1] <= values[k]))
            return false;
    return true;
}

/* All eigenpairs by divide and conquer, of which the last are copied. a holds the operator. Slower,
 * but it always returns all of them. */
static huddle_status solve_all(int64_t n, int64_t count, double *a, double *values, double *z) {
    huddle_status status = HUDDLE_OK;
    lapack_int size = (lapack_int)n;
    TRY(hd_embed_check_lapack(LAPACKE_dsyevd(LAPACK_COL_MAJOR, 'V', 'L', size, a, size, values),
                              n));
    memmove(values, values + n - count, (size_t)count * sizeof *values);
    memcpy(z, a + (n - count) * n, (size_t)(n * count) * sizeof *z);
    if (!is_complete(count, count, values))
        FAIL(HUDDLE_NUMERIC, "LAPACK returned eigenvalues that are not in order, of a size of %lld",
             (long long)n);
done:
    return status;
}

/* The `count` largest eigenvalues of op, ascending, and their vectors in the rows of z. dsyevr can
 * return too few where many eigenvalues are equal; then dsyevd is used, on a new copy, since dsyevr
 * destroys a. An answer at or below LAPACK_WORK_MEMORY_ERROR is a lack of memory, which dsyevd
 * would meet as well. values has n elements. */
static huddle_status solve_largest(const hd_embed_operator *op, int64_t count, double *a,
                                   double *values, double *z) {
    huddle_status status = HUDDLE_OK;
    lapack_int found = 0, size = (lapack_int)op->n, *support = NULL;
    ALLOC(support, 2 * op->n);
    fill_matrix(op, a);
    int answer =
        LAPACKE_dsyevr(LAPACK_COL_MAJOR, 'V', 'I', 'L', size, a, size, 0, 0,
                       (lapack_int)(op->n - count + 1), size, 0, &found, values, z, size, support);
    if (answer <= LAPACK_WORK_MEMORY_ERROR)
        TRY(hd_embed_check_lapack(answer, op->n));
    if (answer != 0 || !is_complete(found, count, values)) {
        fill_matrix(op, a);
        TRY(solve_all(op->n, count, a, values, z));
    }
done:
    huddle_free(support);
    return status;
}

/* All eigenvalues are computed with small backward error, so that none can be missed and the count
 * needs no further proof. */
huddle_status hd_embed_solve_dense(huddle_context *context, const hd_embed_problem *problem,
                                   hd_embed_pairs *pairs) {
    huddle_status status = HUDDLE_OK;
    const hd_embed_operator *op = problem->op;
    double *a = NULL, *values = NULL, *z = NULL;
    int64_t n = op->n, n_wanted = problem->request->n_wanted, limit = n - op->n_known;
    int64_t count = n_wanted + EXTRA < limit ? n_wanted + EXTRA : limit;
    hd_blas_enter();
    TRY(hd_blas_reserve(context));
    TRY(hd_progress(context, "embed", 0, 1));
    ALLOC(a, n * n);
    ALLOC(values, n);
    ALLOC(z, n * count);
    ALLOC(pairs->theta, count);
    TRY(hd_embed_pairs_new(problem, n_wanted, pairs));
    TRY(solve_largest(op, count, a, values, z));
    for (int64_t k = 0; k < count; k++)
        pairs->theta[k] = values[count - 1 - k];
    for (int64_t i = 0; i < n; i++)
        for (int64_t k = 0; k < n_wanted; k++)
            pairs->vectors.values[i * pairs->vectors.stride + k] = z[(count - 1 - k) * n + i];
    TRY(hd_embed_largest_residual(context, op, &pairs->vectors, pairs->theta, &pairs->residual));
    pairs->count = count;
    pairs->stop = HUDDLE_STOP_CONVERGED;
    pairs->n_iter = 1;
    /* LAPACK separates eigenvalues to rounding error, so that only equal ones count as a
     * cluster. */
    pairs->cuts_cluster = count > n_wanted && pairs->theta[n_wanted - 1] - pairs->theta[n_wanted] <
                                                  equal_eigenvalues * (op->upper - op->lower);
    pairs->verified = "inertia";
    pairs->proven = n_wanted;
    pairs->solver = "dense";
    TRY(hd_progress(context, "embed", 1, 1));
done:
    hd_blas_leave();
    FREE(a, values, z);
    return status;
}
