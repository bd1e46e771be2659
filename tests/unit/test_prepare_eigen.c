/* prepare: the iterative eigensolver of the PCA beside LAPACK. */
#include "base/blas.h"
#include "base/rng.h"
#include "prepare/eigen.h"
#include "support/support.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct matrix {
    int64_t m;
    double *values;
} matrix;

static huddle_status times(huddle_context *context, void *self, const double *v, int64_t b,
                           int64_t ldv, double *out, int64_t ldo) {
    const matrix *a = self;
    (void)context;
    for (int64_t i = 0; i < a->m; i++)
        for (int64_t k = 0; k < b; k++) {
            double sum = 0;
            for (int64_t j = 0; j < a->m; j++)
                sum += a->values[i * a->m + j] * v[j * ldv + k];
            out[i * ldo + k] = sum;
        }
    return HUDDLE_OK;
}

/* Q diag(spectrum) Q' with Q a product of random reflections. */
static matrix with_spectrum(int64_t m, const double *spectrum) {
    matrix a = {m, calloc((size_t)(m * m), sizeof(double))};
    double *u = malloc((size_t)m * sizeof *u), *au = malloc((size_t)m * sizeof *au);
    hd_rng rng = hd_rng_stream(4, 0);
    for (int64_t i = 0; i < m; i++)
        a.values[i * m + i] = spectrum[i];
    for (int reflection = 0; reflection < 6; reflection++) {
        double square = 0, uau = 0;
        for (int64_t i = 0; i < m; i++) {
            u[i] = hd_rng_normal(&rng);
            square += u[i] * u[i];
        }
        for (int64_t i = 0; i < m; i++)
            u[i] *= sqrt(2 / square);
        times(NULL, &a, u, 1, 1, au, 1);
        for (int64_t i = 0; i < m; i++)
            uau += u[i] * au[i];
        for (int64_t i = 0; i < m; i++)
            for (int64_t j = 0; j < m; j++)
                a.values[i * m + j] += uau * u[i] * u[j] - u[i] * au[j] - au[i] * u[j];
    }
    free(u);
    free(au);
    return a;
}

/* Orthonormal vectors with small residuals for the leading eigenvalues. */
static void check_pairs(const matrix *a, int64_t r, const double *spectrum, const double *values,
                        const double *vectors) {
    double *image = malloc((size_t)(a->m * r) * sizeof *image);
    times(NULL, (void *)a, vectors, r, r, image, r);
    for (int64_t k = 0; k < r; k++) {
        double residual = 0;
        assert_close(values[k], spectrum[k], 1e-11 * fmax(1, spectrum[0]));
        for (int64_t i = 0; i < a->m; i++)
            residual += pow(image[i * r + k] - values[k] * vectors[i * r + k], 2);
        assert_true(sqrt(residual) <= 1e-6 * values[k] + 1e-12 * spectrum[0]);
        for (int64_t l = 0; l <= k; l++) {
            double product = 0;
            for (int64_t i = 0; i < a->m; i++)
                product += vectors[i * r + k] * vectors[i * r + l];
            assert_close(product, k == l, 1e-11);
        }
    }
    free(image);
}

static void check_spectrum(int64_t m, int64_t r, const double *spectrum) {
    matrix a = with_spectrum(m, spectrum);
    hd_prepare_operator product = {m, times, &a};
    double *values = malloc((size_t)r * sizeof *values);
    double *vectors = malloc((size_t)(m * r) * sizeof *vectors);
    bool converged;
    assert_ok(hd_prepare_eigen_krylov(NULL, &product, r, false, 1, values, vectors, &converged));
    assert_true(converged);
    check_pairs(&a, r, spectrum, values, vectors);
    double *copy = malloc((size_t)(m * m) * sizeof *copy);
    memcpy(copy, a.values, (size_t)(m * m) * sizeof *copy);
    assert_ok(hd_prepare_eigen_dense(m, copy, r, values, vectors));
    check_pairs(&a, r, spectrum, values, vectors);
    free(copy);
    free(values);
    free(vectors);
    free(a.values);
}

enum { M = 300 };

static void falling_spectra_are_solved(void **state) {
    (void)state;
    double spectrum[M];
    for (int64_t i = 0; i < M; i++)
        spectrum[i] = 1000.0 / (double)((i + 1) * (i + 1));
    check_spectrum(M, 5, spectrum);
    check_spectrum(M, 40, spectrum);
    for (int64_t i = 0; i < M; i++)
        spectrum[i] = 2 - (double)i / M; /* hardly any gap */
    check_spectrum(M, 12, spectrum);
}

static void repeated_eigenvalues_are_solved(void **state) {
    (void)state;
    double spectrum[M];
    for (int64_t i = 0; i < M; i++)
        spectrum[i] = i < 30 ? 7 : 1;
    check_spectrum(M, 20, spectrum);
    for (int64_t i = 0; i < M; i++)
        spectrum[i] = 3;
    check_spectrum(M, 4, spectrum);
}

static void low_rank_ends_early(void **state) {
    (void)state;
    double spectrum[M] = {9, 4, 1, 1e-4};
    check_spectrum(M, 3, spectrum);
    check_spectrum(M, 10, spectrum);
    memset(spectrum, 0, sizeof spectrum);
    check_spectrum(M, 2, spectrum);
}

static void small_matrices_are_solved(void **state) {
    (void)state;
    static const double spectrum[] = {5, 4, 3, 2, 1};
    for (int64_t m = 1; m <= 5; m++)
        for (int64_t r = 1; r <= m; r++)
            check_spectrum(m, r, spectrum);
}

/* A rough solution: orthonormal vectors whose values are nearly those of the largest eigenvalues.
 */
static void check_rough(int64_t r, const double *spectrum, double tolerance) {
    matrix a = with_spectrum(M, spectrum);
    hd_prepare_operator product = {M, times, &a};
    double *values = malloc((size_t)r * sizeof *values);
    double *vectors = malloc((size_t)(M * r) * sizeof *vectors);
    bool converged;
    assert_ok(hd_prepare_eigen_krylov(NULL, &product, r, true, 1, values, vectors, &converged));
    assert_true(converged);
    for (int64_t k = 0; k < r; k++) {
        assert_close(values[k], spectrum[k], tolerance * spectrum[k] + 1e-12 * spectrum[0]);
        for (int64_t l = 0; l <= k; l++) {
            double inner = 0;
            for (int64_t i = 0; i < M; i++)
                inner += vectors[i * r + k] * vectors[i * r + l];
            assert_close(inner, k == l, 1e-11);
        }
    }
    free(values);
    free(vectors);
    free(a.values);
}

/* With wide gaps, with hardly any, and with a rank below the number of vectors wanted, where a
 * narrow block finds all that there is and is continued at random. */
static void rough_solutions_are_close(void **state) {
    (void)state;
    double spectrum[M];
    for (int64_t i = 0; i < M; i++)
        spectrum[i] = 1000.0 / (double)((i + 1) * (i + 1));
    check_rough(5, spectrum, 1e-6);
    check_rough(40, spectrum, 1e-3);
    for (int64_t i = 0; i < M; i++)
        spectrum[i] = 2 - (double)i / M;
    check_rough(40, spectrum, .03);
    memset(spectrum, 0, sizeof spectrum);
    spectrum[0] = 9;
    spectrum[1] = 4;
    spectrum[2] = 1;
    check_rough(40, spectrum, 1e-11);
}

/* Before anything is allocated: two matrices would take 34 GB. */
static void large_matrices_are_refused(void **state) {
    (void)state;
    assert_refused(hd_prepare_eigen_dense(46001, NULL, 1, NULL, NULL), HUDDLE_UNSUPPORTED,
                   "1 components of a matrix of size 46001 are too many to compute");
}

static huddle_status solve(void *argument) {
    const hd_prepare_operator *product = argument;
    double values[3], vectors[3 * 40];
    bool converged;
    return hd_prepare_eigen_krylov(NULL, product, 3, false, 1, values, vectors, &converged);
}

static void every_allocation_may_fail(void **state) {
    (void)state;
    double spectrum[40];
    for (int64_t i = 0; i < 40; i++)
        spectrum[i] = 40.0 - (double)i;
    matrix a = with_spectrum(40, spectrum);
    hd_prepare_operator product = {40, times, &a};
    test_each_allocation(solve, &product);
    free(a.values);
}

int main(void) {
    hd_blas_enter(); /* as the callers of the solver do */
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(falling_spectra_are_solved),
        cmocka_unit_test(repeated_eigenvalues_are_solved),
        cmocka_unit_test(low_rank_ends_early),
        cmocka_unit_test(small_matrices_are_solved),
        cmocka_unit_test(rough_solutions_are_close),
        cmocka_unit_test(large_matrices_are_refused),
        cmocka_unit_test(every_allocation_may_fail),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    hd_blas_leave();
    return failed;
}
