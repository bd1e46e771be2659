/* LAPACK in three steps: reduction to tridiagonal form, all eigenvectors of that by divide and
 * conquer, and the transformation of only the wanted ones back. That is as fast as dsyevr for a few
 * eigenvectors, which returns too few of them when many eigenvalues are equal. */
#include "prepare/eigen.h"

#include "base/check.h"

#include <lapacke.h>

typedef struct workspace {
    double *diagonal, *beside, *factors; /* m each */
    double *z;                           /* m x m */
    double *work;
    lapack_int *iwork;
    int64_t work_size, iwork_size;
} workspace;

/* The sizes that LAPACK documents for dstedc with vectors, and at least 64 columns for the blocked
 * routines dsytrd and dormtr. One workspace serves all three. */
static huddle_status allocate_workspace(int64_t m, workspace *s) {
    enum { BLOCK = 64 };
    huddle_status status = HUDDLE_OK;
    s->work_size = 1 + 4 * m + m * m;
    s->work_size = s->work_size > BLOCK * m ? s->work_size : BLOCK * m;
    s->iwork_size = 3 + 5 * m;
    ALLOC(s->diagonal, m);
    ALLOC(s->beside, m);
    ALLOC(s->factors, m);
    ALLOC(s->z, m * m);
    ALLOC(s->work, s->work_size);
    ALLOC(s->iwork, s->iwork_size);
done:
    return status;
}

/* Eigenvalues ascending in diagonal, the vectors of the r largest in the last columns of z.
 * Transforming r vectors back costs r / m of what all would. */
static lapack_int decompose_matrix(lapack_int m, lapack_int r, double *matrix, const workspace *s) {
    lapack_int size = (lapack_int)s->work_size;
    lapack_int info = LAPACKE_dsytrd_work(LAPACK_COL_MAJOR, 'L', m, matrix, m, s->diagonal,
                                          s->beside, s->factors, s->work, size);
    if (info == 0)
        info = LAPACKE_dstedc_work(LAPACK_COL_MAJOR, 'I', m, s->diagonal, s->beside, s->z, m,
                                   s->work, size, s->iwork, (lapack_int)s->iwork_size);
    if (info == 0)
        info = LAPACKE_dormtr_work(LAPACK_COL_MAJOR, 'L', 'L', 'N', m, r, matrix, m, s->factors,
                                   s->z + (int64_t)(m - r) * m, m, s->work, size);
    return info;
}

/* The input is symmetric, so that row-major and column-major agree. LAPACK returns ascending
 * eigenvalues; ours descend. */
huddle_status hd_prepare_eigen_dense(int64_t m, double *matrix, int64_t r, double *values,
                                     double *vectors) {
    enum { MAX_SIZE = 46000 }; /* its square, the work size, must fit in a lapack_int */
    huddle_status status = HUDDLE_OK;
    workspace s = {0};
    if (m > MAX_SIZE)
        FAIL(HUDDLE_UNSUPPORTED, "%lld components of a matrix of size %lld are too many to compute",
             (long long)r, (long long)m);
    TRY(allocate_workspace(m, &s));
    lapack_int info = decompose_matrix((lapack_int)m, (lapack_int)r, matrix, &s);
    if (info != 0)
        FAIL(HUDDLE_NUMERIC, "LAPACK could not decompose a matrix of %lld x %lld (info %d)",
             (long long)m, (long long)m, (int)info);
    for (int64_t k = 0; k < r; k++) {
        values[k] = s.diagonal[m - 1 - k];
        for (int64_t i = 0; i < m; i++)
            vectors[i * r + k] = s.z[(m - 1 - k) * m + i];
    }
done:
    FREE(s.diagonal, s.beside, s.factors, s.z, s.work, s.iwork);
    return status;
}
