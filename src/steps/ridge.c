/* Ridge regression of several numbers per point on the points, with an intercept. Both forms of the
 * normal equations have the same solution,
 *
 *     (X'X + gamma I)^-1 X' = X' (X X' + gamma I)^-1,
 *
 * so that the smaller matrix is factorised. */
#include "steps/ridge.h"

#include "base/check.h"
#include "base/context.h"
#include "prepare/pca.h"

#include <cblas.h>
#include <lapacke.h>
#include <math.h>
#include <string.h>

/* gamma = auto as a share of the total scatter; and the share below which it would be lost in the
 * rounding of the Gram matrix. */
static const double auto_share = 1e-4, min_share = 1e-12;

void hd_step_ridge_free(hd_step_ridge *ridge) {
    hd_prepare_centred_free(&ridge->centred);
    FREE(ridge->mean, ridge->factor);
    memset(ridge, 0, sizeof *ridge);
}

int64_t hd_step_ridge_half(const hd_step_ridge *ridge) {
    return ridge->by_columns ? ridge->centred.x->d : ridge->centred.x->n;
}

/* Centring on the means of the columns; returns the total scatter, the trace of X'X. */
static huddle_status centre_points(huddle_context *context, const huddle_points *x,
                                   hd_step_ridge *ridge, double *scatter) {
    huddle_status status = HUDDLE_OK;
    double *variances = NULL;
    *scatter = 0;
    ALLOC(ridge->mean, x->d);
    ALLOC(variances, x->d);
    TRY(hd_prepare_column_moments(context, x, ridge->mean, variances));
    for (int64_t j = 0; j < x->d; j++)
        *scatter += (double)x->n * variances[j];
    ridge->centred.x = x;
    ridge->centred.offset = ridge->mean;
    TRY(hd_prepare_centred_transpose(&ridge->centred));
done:
    huddle_free(variances);
    return status;
}

huddle_status hd_step_ridge_new(huddle_context *context, const huddle_points *x, double gamma,
                                hd_step_ridge *ridge) {
    huddle_status status = HUDDLE_OK;
    double scatter;
    ridge->by_columns = x->d <= x->n;
    ridge->m = ridge->by_columns ? x->d : x->n;
    if (ridge->m > HD_STEP_RIDGE_MOST)
        FAIL(HUDDLE_UNSUPPORTED,
             "a linear regression on %lld points with %lld features needs a matrix of %lld x %lld; "
             "one side must be at most %d",
             (long long)x->n, (long long)x->d, (long long)ridge->m, (long long)ridge->m,
             HD_STEP_RIDGE_MOST);
    TRY(huddle_points_fetch(x));
    TRY(centre_points(context, x, ridge, &scatter));
    scatter = scatter > 0 ? scatter : 1;
    ridge->gamma = fmax(gamma == HUDDLE_AUTO ? auto_share * scatter : gamma, min_share * scatter);
    ALLOC(ridge->factor, ridge->m * ridge->m);
    TRY(hd_prepare_centred_gram(context, &ridge->centred, ridge->by_columns, ridge->factor));
    for (int64_t k = 0; k < ridge->m; k++)
        ridge->factor[k * ridge->m + k] += ridge->gamma;
    TRY(hd_check_cancel(context));
    /* The upper triangle by columns is the lower one by rows. */
    if (LAPACKE_dpotrf(LAPACK_COL_MAJOR, 'U', (lapack_int)ridge->m, ridge->factor,
                       (lapack_int)ridge->m) != 0)
        FAIL(HUDDLE_NUMERIC, "gamma = %g is too small beside a scatter of %g", ridge->gamma,
             scatter);
done:
    return status;
}

/* b (m x cols) becomes the solution of the system with the factorised matrix. */
static void solve_in_place(const hd_step_ridge *ridge, int64_t cols, double *b) {
    int m = (int)ridge->m, k = (int)cols;
    cblas_dtrsm(CblasRowMajor, CblasLeft, CblasLower, CblasNoTrans, CblasNonUnit, m, k, 1,
                ridge->factor, m, b, k);
    cblas_dtrsm(CblasRowMajor, CblasLeft, CblasLower, CblasTrans, CblasNonUnit, m, k, 1,
                ridge->factor, m, b, k);
}

/* Copies v less the means of its columns, which X' would take out only up to rounding. */
static void centre_columns(int64_t n, const double *v, int64_t b, int64_t ldv, double *out,
                           int64_t ldo) {
    for (int64_t k = 0; k < b; k++) {
        double mean = 0;
        for (int64_t i = 0; i < n; i++)
            mean += v[i * ldv + k];
        mean /= (double)n;
        for (int64_t i = 0; i < n; i++)
            out[i * ldo + k] = v[i * ldv + k] - mean;
    }
}

/* For n < d, X X' (X X' + gamma I)^-1 is I - gamma (X X' + gamma I)^-1 on centred vectors: no
 * product with the points is needed. */
huddle_status hd_step_ridge_project(huddle_context *context, const hd_step_ridge *ridge,
                                    const double *v, int64_t b, int64_t ldv, double *half,
                                    double *out, int64_t ldo) {
    huddle_status status = HUDDLE_OK;
    int64_t n = ridge->centred.x->n;
    centre_columns(n, v, b, ldv, out, ldo);
    if (ridge->by_columns) {
        TRY(hd_prepare_centred_times_transpose(context, &ridge->centred, out, b, ldo, half, b));
        solve_in_place(ridge, b, half);
        TRY(hd_prepare_centred_times(context, &ridge->centred, half, b, b, out, ldo));
        return status;
    }
    for (int64_t i = 0; i < n; i++)
        memcpy(half + i * b, out + i * ldo, (size_t)b * sizeof *half);
    solve_in_place(ridge, b, half);
    for (int64_t i = 0; i < n; i++)
        for (int64_t k = 0; k < b; k++)
            out[i * ldo + k] -= ridge->gamma * half[i * b + k];
done:
    return status;
}

huddle_status hd_step_ridge_fit(huddle_context *context, const hd_step_ridge *ridge,
                                const huddle_dense *f, huddle_dense *map) {
    huddle_status status = HUDDLE_OK;
    const huddle_points *x = ridge->centred.x;
    int64_t n = x->n, d = x->d, c = f->cols;
    double *centred = NULL, *weights = NULL;
    ALLOC(centred, n * c);
    ALLOC(weights, d * c);
    TRY(huddle_dense_new(d + 1, c + 1, map));
    centre_columns(n, f->values, c, f->stride, centred, c);
    if (!ridge->by_columns)
        solve_in_place(ridge, c, centred);
    TRY(hd_prepare_centred_times_transpose(context, &ridge->centred, centred, c, c, weights, c));
    if (ridge->by_columns)
        solve_in_place(ridge, c, weights);
    for (int64_t j = 0; j < d; j++) {
        memcpy(map->values + j * map->stride, weights + j * c, (size_t)c * sizeof *weights);
        map->values[j * map->stride + c] = ridge->mean[j] + (x->shift != NULL ? x->shift[j] : 0);
    }
    for (int64_t i = 0; i < n; i++)
        for (int64_t k = 0; k < c; k++)
            map->values[d * map->stride + k] += f->values[i * f->stride + k] / (double)n;
done:
    FREE(centred, weights);
    return status;
}

huddle_status hd_step_ridge_apply(huddle_context *context, const huddle_dense *map,
                                  const huddle_points *x, const huddle_dense *rows) {
    huddle_status status = HUDDLE_OK;
    int64_t d = map->rows - 1;
    double *offset = NULL;
    hd_prepare_centred centred = {.x = x};
    TRY(huddle_points_fetch(x));
    ALLOC(offset, d);
    for (int64_t j = 0; j < d; j++)
        offset[j] =
            map->values[j * map->stride + map->cols - 1] - (x->shift != NULL ? x->shift[j] : 0);
    centred.offset = offset;
    TRY(hd_prepare_centred_times(context, &centred, map->values, rows->cols, map->stride,
                                 rows->values, rows->stride));
    for (int64_t i = 0; i < rows->rows; i++)
        for (int64_t k = 0; k < rows->cols; k++)
            rows->values[i * rows->stride + k] += map->values[d * map->stride + k];
done:
    hd_prepare_centred_free(&centred);
    huddle_free(offset);
    return status;
}
