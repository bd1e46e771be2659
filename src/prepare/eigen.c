#include "prepare/eigen.h"

#include "base/check.h"

#include <lapacke.h>

huddle_status hd_eigen_dense(int64_t m, double *matrix, int64_t r, double *values,
                             double *vectors) {
    huddle_status status = HUDDLE_OK;
    double *z = NULL, *w = NULL, *work = NULL, size;
    lapack_int *support = NULL, *iwork = NULL, found, isize, failed, order = (lapack_int)m;
    lapack_int first = (lapack_int)(m - r + 1);
    ALLOC(z, m * r);
    ALLOC(w, m);
    ALLOC(support, 2 * r);
    failed = LAPACKE_dsyevr_work(LAPACK_COL_MAJOR, 'V', 'I', 'L', order, matrix, order, 0, 0, first,
                                 order, 0, &found, w, z, order, support, &size, -1, &isize, -1);
    if (failed == 0) {
        ALLOC(work, (int64_t)size);
        ALLOC(iwork, isize);
        failed = LAPACKE_dsyevr_work(LAPACK_COL_MAJOR, 'V', 'I', 'L', order, matrix, order, 0, 0,
                                     first, order, 0, &found, w, z, order, support, work,
                                     (lapack_int)size, iwork, isize);
    }
    if (failed != 0 || found != r)
        FAIL(HUDDLE_NUMERIC, "LAPACK's dsyevr failed on a matrix of %lld x %lld (info %d)",
             (long long)m, (long long)m, (int)failed);
    for (int64_t k = 0; k < r; k++) {
        values[k] = w[r - 1 - k];
        for (int64_t i = 0; i < m; i++)
            vectors[i * r + k] = z[(r - 1 - k) * m + i];
    }
done:
    huddle_free(z);
    huddle_free(w);
    huddle_free(work);
    huddle_free(support);
    huddle_free(iwork);
    return status;
}
