/* LAPACK in three steps: reduction to tridiagonal form, all eigenvectors of that by divide and
 * conquer, and the transformation of only the wanted ones back. That is as fast as dsyevr for a few
 * eigenvectors, which returns too few of them when many eigenvalues are equal. */
#include "prepare/eigen.h"

#include "base/check.h"

#include <lapacke.h>
#include <string.h>

/* All eigenvalues, ascending, and the vectors of the largest, which are the last columns of z: *r
 * of them or, if *r is negative, those whose eigenvalues are above the limit. The input is
 * symmetric, so that row-major and column-major agree. One workspace serves all steps: it has the
 * sizes that LAPACK documents for dstedc with vectors, and at least 64 columns for the blocked
 * routines dsytrd and dormtr. Transforming r vectors back costs r / m of what all would. */
static huddle_status decompose(int64_t m, double *matrix, double limit, int64_t *r,
                               double *diagonal, double *z) {
    enum { MAX_SIZE = 46000, BLOCK = 64 }; /* the square, a work size, must fit in a lapack_int */
    huddle_status status = HUDDLE_OK;
    double *beside = NULL, *factors = NULL, *work = NULL;
    lapack_int *iwork = NULL, size = (lapack_int)m, info;
    int64_t n_work = 1 + 4 * m + m * m, n_iwork = 3 + 5 * m;
    n_work = n_work > BLOCK * m ? n_work : BLOCK * m;
    if (m > MAX_SIZE)
        FAIL(HUDDLE_UNSUPPORTED, "a matrix of size %lld is too large to decompose", (long long)m);
    ALLOC(beside, m);
    ALLOC(factors, m);
    ALLOC(work, n_work);
    ALLOC(iwork, n_iwork);
    info = LAPACKE_dsytrd_work(LAPACK_COL_MAJOR, 'L', size, matrix, size, diagonal, beside, factors,
                               work, (lapack_int)n_work);
    if (info == 0)
        info = LAPACKE_dstedc_work(LAPACK_COL_MAJOR, 'I', size, diagonal, beside, z, size, work,
                                   (lapack_int)n_work, iwork, (lapack_int)n_iwork);
    if (*r < 0)
        for (*r = 0; info == 0 && *r < m && diagonal[m - 1 - *r] > limit;)
            ++*r;
    if (info == 0 && *r > 0)
        info = LAPACKE_dormtr_work(LAPACK_COL_MAJOR, 'L', 'L', 'N', size, (lapack_int)*r, matrix,
                                   size, factors, z + (m - *r) * m, size, work, (lapack_int)n_work);
    if (info != 0)
        FAIL(HUDDLE_NUMERIC, "LAPACK could not decompose a matrix of %lld x %lld (info %d)",
             (long long)m, (long long)m, (int)info);
done:
    FREE(beside, factors, work, iwork);
    return status;
}

/* LAPACK returns ascending eigenvalues; ours descend. */
huddle_status hd_prepare_eigen_dense(int64_t m, double *matrix, int64_t r, double *values,
                                     double *vectors) {
    huddle_status status = HUDDLE_OK;
    double *diagonal = NULL, *z = NULL;
    ALLOC(diagonal, m);
    ALLOC(z, m * m);
    TRY(decompose(m, matrix, 0, &r, diagonal, z));
    for (int64_t k = 0; k < r; k++) {
        values[k] = diagonal[m - 1 - k];
        for (int64_t i = 0; i < m; i++)
            vectors[i * r + k] = z[(m - 1 - k) * m + i];
    }
done:
    FREE(diagonal, z);
    return status;
}

huddle_status hd_prepare_eigen_above(int64_t m, double *matrix, double limit, double *values,
                                     double *vectors, int64_t *r) {
    *r = -1;
    huddle_status status = decompose(m, matrix, limit, r, values, vectors);
    if (status != HUDDLE_OK)
        return status;
    memmove(values, values + (m - *r), (size_t)*r * sizeof *values);
    memmove(vectors, vectors + (m - *r) * m, (size_t)(*r * m) * sizeof *vectors);
    return HUDDLE_OK;
}
