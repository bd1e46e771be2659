/* The largest eigenpairs of an operator that is not a sparse matrix: block Krylov subspaces
 * (prepare/krylov.c) of the operator, and where these do not converge, as of a graph whose largest
 * eigenvalues are close to each other, of a Chebyshev polynomial of it. The polynomial is at most 1
 * below `cut`, beyond which the wanted eigenvalues are, and grows quickly above it (Zhou, Saad,
 * Tiago and Chelikowsky, Journal of Computational Physics 2006). Eigenvalues and residuals are
 * those of the operator in any case, by a Rayleigh-Ritz step. */
#include "steps/filtered.h"

#include "base/blas.h"
#include "base/check.h"
#include "base/context.h"

#include <cblas.h>
#include <lapacke.h>
#include <math.h>
#include <string.h>

/* Vectors beyond the wanted ones, whose eigenvalues place the cut; rounds with a filter; its
 * largest degree, and the growth at the largest eigenvalue: with more the smaller ones would be
 * lost in its rounding. */
enum { EXTRA = 8, MAX_PASSES = 6, MAX_DEGREE = 200 };
static const double max_growth = 1e7;

/* Residuals are not asked to be below this share of half the spectrum. */
static const double least_tol = 1e-10;

/* Entries whose magnitudes differ by less count as equal. */
static const double equal_entries = 1e-6;

/* ---- the filter ---------------------------------------------------------------------------- */

typedef struct filter {
    const hd_prepare_operator *a;
    double cut;
    int degree;
    int64_t n_products;
} filter;

/* next = 2 (2 A / cut - I) now - before; at the beginning, without before, half of that. */
static huddle_status next_polynomial(huddle_context *context, const filter *f, int64_t b,
                                     const double *now, const double *before, double *next) {
    huddle_status status = f->a->times(context, f->a->self, now, b, b, next, b);
    double factor = before != NULL ? 2 : 1;
    for (int64_t e = 0; e < f->a->m * b && status == HUDDLE_OK; e++)
        next[e] = factor * (2 / f->cut * next[e] - now[e]) - (before != NULL ? before[e] : 0);
    return status;
}

/* out = (T(A) + I) v, T the Chebyshev polynomial: positive semidefinite. */
static huddle_status times_filter(huddle_context *context, void *self, const double *v, int64_t b,
                                  int64_t ldv, double *out, int64_t ldo) {
    huddle_status status = HUDDLE_OK;
    filter *f = self;
    int64_t n = f->a->m;
    double *before = NULL, *now = NULL, *next = NULL;
    ALLOC(before, n * b);
    ALLOC(now, n * b);
    ALLOC(next, n * b);
    for (int64_t i = 0; i < n; i++)
        memcpy(before + i * b, v + i * ldv, (size_t)b * sizeof *v);
    TRY(next_polynomial(context, f, b, before, NULL, now));
    for (int k = 2; k <= f->degree; k++) {
        TRY(hd_check_cancel(context));
        TRY(next_polynomial(context, f, b, now, before, next));
        double *free_one = before;
        before = now;
        now = next;
        next = free_one;
    }
    f->n_products += f->degree * b;
    for (int64_t i = 0; i < n; i++)
        for (int64_t k = 0; k < b; k++)
            out[i * ldo + k] = now[i * b + k] + v[i * ldv + k];
done:
    FREE(before, now, next);
    return status;
}

/* The cut is below the wanted eigenvalues: Ritz values are never above the eigenvalues that they
 * approximate. The polynomial grows as cosh(degree acosh(2 theta / cut - 1)). */
static void choose_filter(const double *values, int64_t r, filter *f) {
    f->cut = fmax(values[r - 1], 1e-3 * values[0]);
    double rate = acosh(fmax(2 * values[0] / f->cut - 1, 1 + 1e-12));
    double degree = floor(acosh(max_growth) / rate);
    f->degree = degree > MAX_DEGREE ? MAX_DEGREE : degree < 2 ? 2 : (int)degree;
}

/* ---- Rayleigh-Ritz ------------------------------------------------------------------------- */

/* The pairs of a in the span of the orthonormal columns of v (n x r), largest first, in place.
 * *residual is the largest of the first c. */
static huddle_status rayleigh_ritz(huddle_context *context, const hd_prepare_operator *a, int64_t r,
                                   int64_t c, double *v, double *values, double *residual) {
    huddle_status status = HUDDLE_OK;
    int64_t n = a->m;
    int k = (int)r;
    double *image = NULL, *h = NULL, *rotated = NULL;
    ALLOC(image, n * r);
    ALLOC(rotated, n * r);
    ALLOC(h, r * r);
    TRY(a->times(context, a->self, v, r, r, image, r));
    cblas_dgemm(CblasRowMajor, CblasTrans, CblasNoTrans, k, k, (int)n, -1, v, k, image, k, 0, h, k);
    /* Of -H, so that LAPACK's ascending order is descending. By columns: eigenvector j in row j. */
    if (LAPACKE_dsyevd(LAPACK_COL_MAJOR, 'V', 'L', k, h, k, values) != 0)
        FAIL(HUDDLE_NUMERIC, "LAPACK's dsyevd failed on %d Ritz values", k);
    for (int64_t j = 0; j < r; j++)
        values[j] = -values[j];
    cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasTrans, (int)n, k, k, 1, image, k, h, k, 0,
                rotated, k);
    memcpy(image, rotated, (size_t)(n * r) * sizeof *image);
    cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasTrans, (int)n, k, k, 1, v, k, h, k, 0, rotated,
                k);
    memcpy(v, rotated, (size_t)(n * r) * sizeof *v);
    *residual = 0;
    for (int64_t j = 0; j < c; j++) {
        double sum = 0;
        for (int64_t i = 0; i < n; i++) {
            double away = image[i * r + j] - values[j] * v[i * r + j];
            sum += away * away;
        }
        *residual = fmax(*residual, sqrt(sum));
    }
done:
    FREE(image, h, rotated);
    return status;
}

/* ---- pairs --------------------------------------------------------------------------------- */

/* The residual that is small enough for these eigenvalues. */
static double wanted_residual(const double *values, int64_t r, int64_t c, double half, double tol) {
    double wanted = tol * half;
    if (r > c)
        wanted = fmin(wanted, .1 * (values[c - 1] - values[c]));
    return fmax(wanted, least_tol * half);
}

/* The first entry of the largest magnitude becomes positive, as in every embedding. It is searched
 * forwards: of a loop backwards that keeps the last one found, GCC 12 makes wrong code. */
void hd_step_set_sign(huddle_dense *vectors, int64_t column) {
    double largest = 0, sign;
    int64_t first = 0;
    for (int64_t i = 0; i < vectors->rows; i++)
        largest = fmax(largest, fabs(vectors->values[i * vectors->stride + column]));
    while (fabs(vectors->values[first * vectors->stride + column]) < (1 - equal_entries) * largest)
        first++;
    sign = vectors->values[first * vectors->stride + column] < 0 ? -1 : 1;
    for (int64_t i = 0; i < vectors->rows; i++)
        vectors->values[i * vectors->stride + column] *= sign;
}

/* Copies the wanted pairs of r. */
static huddle_status copy_pairs(int64_t n, int64_t r, int64_t c, const double *v,
                                const double *values, huddle_embedding *out) {
    huddle_status status = HUDDLE_OK;
    out->n_eigenvalues = (int32_t)(r > c ? c + 1 : c);
    ALLOC(out->eigenvalues, out->n_eigenvalues);
    memcpy(out->eigenvalues, values, (size_t)out->n_eigenvalues * sizeof *values);
    TRY(huddle_dense_new(n, c, &out->vectors));
    for (int64_t i = 0; i < n; i++)
        memcpy(out->vectors.values + i * out->vectors.stride, v + i * r, (size_t)c * sizeof *v);
    for (int64_t k = 0; k < c; k++)
        hd_step_set_sign(&out->vectors, k);
done:
    return status;
}

/* The operator itself first: it is enough where the eigenvalues decay. Each filter has the Ritz
 * values of the round before. */
huddle_status hd_step_filtered_pairs(huddle_context *context, const hd_prepare_operator *a,
                                     double upper, int64_t c, double tol, uint64_t seed,
                                     huddle_embedding *out, huddle_embed_info *info) {
    huddle_status status = HUDDLE_OK;
    int64_t n = a->m, r = c + EXTRA < n ? c + EXTRA : n;
    filter f = {.a = a};
    const hd_prepare_operator filtered = {n, times_filter, &f};
    double *v = NULL, *values = NULL, half = upper / 2, begin = hd_seconds();
    double residual = 0, wanted;
    bool converged;
    memset(info, 0, sizeof *info);
    hd_blas_enter();
    ALLOC(v, n * r);
    ALLOC(values, r);
    TRY(hd_prepare_eigen_krylov(context, a, r, false, seed, values, v, &converged));
    info->stop = HUDDLE_STOP_CONVERGED;
    for (info->n_iter = 1;; info->n_iter++) {
        TRY(rayleigh_ritz(context, a, r, c, v, values, &residual));
        wanted = wanted_residual(values, r, c, half, tol);
        if (residual <= wanted || info->n_iter > MAX_PASSES)
            break;
        choose_filter(values, r, &f);
        hd_log(context, "the residual is %.2g: filter of degree %d", residual / half, f.degree);
        TRY(hd_prepare_eigen_krylov(context, &filtered, r, false, seed, values, v, &converged));
    }
    if (residual > tol * half)
        info->stop = HUDDLE_STOP_MAX_ITER;
    info->n_products = f.n_products;
    info->residual = residual / half;
    info->unit = half;
    info->gap = r > c ? values[c - 1] - values[c] : NAN;
    info->cuts_cluster = r > c && info->gap <= fmax(residual, least_tol * half);
    info->verified = "none";
    info->solver = "krylov";
    TRY(copy_pairs(n, r, c, v, values, out));
    info->seconds = hd_seconds() - begin;
done:
    hd_blas_leave();
    FREE(v, values);
    return status;
}
