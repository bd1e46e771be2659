/* LAPACK in three steps: reduction to tridiagonal form, all eigenvectors of that by divide and
 * conquer, and the transformation of only the wanted ones back. That is as fast as dsyevr for a few
 * eigenvectors, which returns too few of them when many eigenvalues are equal. */
#include "prepare/eigen.h"

#include "base/check.h"

#include <lapacke.h>
#include <string.h>

/* The sizes that LAPACK documents for dstedc with vectors, and at least 64 columns for the blocked
 * routines dsytrd and dormtr: one workspace serves all steps. */
static int64_t count_work(int64_t m) {
    enum { BLOCK = 64 };
    int64_t size = 1 + 4 * m + m * m;
    return size > BLOCK * m ? size : BLOCK * m;
}

static int64_t count_integers(int64_t m) {
    return 3 + 5 * m;
}

int64_t hd_prepare_eigen_room(int64_t m) {
    return 2 * m + count_work(m) + count_integers(m); /* an integer is no larger than a number */
}

/* All eigenvalues, ascending, and the vectors of the largest, which are the last columns of z: *r
 * of them or, if *r is negative, those whose eigenvalues are above the limit. The input is
 * symmetric, so that row-major and column-major agree. Transforming r vectors back costs r / m of
 * what all would. */
static huddle_status decompose(int64_t m, double *matrix, double limit, int64_t *r,
                               double *diagonal, double *z, double *room) {
    double *beside = room, *factors = beside + m, *work = factors + m;
    lapack_int *iwork = (lapack_int *)(void *)(work + count_work(m));
    lapack_int size = (lapack_int)m, n_work = (lapack_int)count_work(m), info;
    info = LAPACKE_dsytrd_work(LAPACK_COL_MAJOR, 'L', size, matrix, size, diagonal, beside, factors,
                               work, n_work);
    if (info == 0)
        info = LAPACKE_dstedc_work(LAPACK_COL_MAJOR, 'I', size, diagonal, beside, z, size, work,
                                   n_work, iwork, (lapack_int)count_integers(m));
    if (*r < 0)
        for (*r = 0; info == 0 && *r < m && diagonal[m - 1 - *r] > limit;)
            ++*r;
    if (info == 0 && *r > 0)
        info = LAPACKE_dormtr_work(LAPACK_COL_MAJOR, 'L', 'L', 'N', size, (lapack_int)*r, matrix,
                                   size, factors, z + (m - *r) * m, size, work, n_work);
    if (info != 0)
        return hd_fail(HUDDLE_NUMERIC,
                       "LAPACK could not decompose a matrix of %lld x %lld (info %d)", (long long)m,
                       (long long)m, (int)info);
    return HUDDLE_OK;
}

/* LAPACK returns ascending eigenvalues; ours descend. The size is checked before anything is
 * allocated. */
huddle_status hd_prepare_eigen_dense(int64_t m, double *matrix, int64_t r, double *values,
                                     double *vectors) {
    enum { MAX_SIZE = 46000 }; /* the square, a work size, must fit in a lapack_int */
    huddle_status status = HUDDLE_OK;
    double *diagonal = NULL, *z = NULL, *room = NULL;
    if (m > MAX_SIZE)
        FAIL(HUDDLE_UNSUPPORTED, "%lld components of a matrix of size %lld are too many to compute",
             (long long)r, (long long)m);
    ALLOC(diagonal, m);
    ALLOC(z, m * m);
    ALLOC(room, hd_prepare_eigen_room(m));
    TRY(decompose(m, matrix, 0, &r, diagonal, z, room));
    for (int64_t k = 0; k < r; k++) {
        values[k] = diagonal[m - 1 - k];
        for (int64_t i = 0; i < m; i++)
            vectors[i * r + k] = z[(m - 1 - k) * m + i];
    }
done:
    FREE(diagonal, z, room);
    return status;
}

huddle_status hd_prepare_eigen_above(int64_t m, double *matrix, double limit, double *values,
                                     double *vectors, double *room, int64_t *r) {
    *r = -1;
    huddle_status status = decompose(m, matrix, limit, r, values, vectors, room);
    if (status != HUDDLE_OK)
        return status;
    memmove(values, values + (m - *r), (size_t)*r * sizeof *values);
    memmove(vectors, vectors + (m - *r) * m, (size_t)(*r * m) * sizeof *vectors);
    return HUDDLE_OK;
}
