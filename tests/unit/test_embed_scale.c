/* embed: symmetric matrices of any size and place of the spectrum, against LAPACK. */
#include "base/blas.h"
#include "base/rng.h"
#include "huddle/embed.h"
#include "support/support.h"

#include <float.h>
#include <lapacke.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { N = 640, C = 7 };

/* A sparse symmetric matrix and its eigenpairs, the largest last. */
typedef struct known {
    huddle_csr matrix;
    double *values;  /* N */
    double *vectors; /* row k is the k-th vector */
    double half_width;
} known;

static huddle_csr to_csr(int64_t n, const double *full) {
    huddle_csr m;
    int64_t count = 0;
    for (int64_t i = 0; i < n * n; i++)
        count += full[i] != 0;
    assert_ok(huddle_csr_new(n, n, count, &m));
    count = 0;
    for (int64_t i = 0; i < n; i++) {
        for (int64_t j = 0; j < n; j++)
            if (full[i * n + j] != 0) {
                m.columns[count] = (int32_t)j;
                m.values[count++] = full[i * n + j];
            }
        m.offsets[i + 1] = count;
    }
    return m;
}

/* About eight normal entries a row, and `shift` on the diagonal. */
static known random_matrix(uint64_t seed, double shift) {
    known k;
    hd_rng rng = hd_rng_stream(seed, 0);
    double *full = calloc((size_t)N * N, sizeof *full);
    k.values = malloc(N * sizeof *k.values);
    for (int64_t i = 0; i < N; i++) {
        full[i * N + i] = shift;
        for (int e = 0; e < 4; e++) {
            int64_t j = hd_rng_below(&rng, N);
            if (j != i)
                full[i * N + j] = full[j * N + i] = hd_rng_normal(&rng);
        }
    }
    k.matrix = to_csr(N, full);
    hd_blas_enter();
    assert_int_equal(LAPACKE_dsyevd(LAPACK_COL_MAJOR, 'V', 'L', N, full, N, k.values), 0);
    hd_blas_leave();
    k.vectors = full;
    k.half_width = .5 * (k.values[N - 1] - k.values[0]);
    return k;
}

static void free_known(known *k) {
    huddle_csr_free(&k->matrix);
    free(k->values);
    free(k->vectors);
}

static huddle_csr times(const huddle_csr *m, double factor, double shift) {
    huddle_csr copy;
    assert_ok(huddle_csr_copy(m, &copy));
    for (int64_t i = 0; i < m->rows; i++)
        for (int64_t e = m->offsets[i]; e < m->offsets[i + 1]; e++)
            copy.values[e] = factor * (copy.values[e] + (copy.columns[e] == i ? shift : 0));
    return copy;
}

/* Each vector is LAPACK's, each value too; the residual is what it says. */
static void check_pairs(const known *k, const huddle_csr *matrix, double factor, double shift,
                        const huddle_embedding *e, const huddle_embed_info *info) {
    double worst = 0;
    for (int c = 0; c < C; c++) {
        double expected = factor * (k->values[N - 1 - c] + shift), product = 0, square = 0;
        const double *v = k->vectors + (N - 1 - c) * (int64_t)N;
        assert_true(fabs(e->eigenvalues[c] - expected) < 1e-6 * factor * k->half_width);
        for (int64_t i = 0; i < N; i++) {
            double residual = -e->eigenvalues[c] * e->vectors.values[i * C + c];
            for (int64_t at = matrix->offsets[i]; at < matrix->offsets[i + 1]; at++)
                residual += matrix->values[at] * e->vectors.values[matrix->columns[at] * C + c];
            square += residual / info->unit * (residual / info->unit);
            product += v[i] * e->vectors.values[i * C + c];
        }
        assert_close(fabs(product), 1, 1e-4);
        worst = fmax(worst, sqrt(square));
    }
    assert_close(info->unit / (factor * k->half_width), 1, .15);
    assert_true(info->residual <= 1e-4);
    assert_true(fabs(info->residual - worst) < .01 * worst + 1e-9);
}

static void any_constant_times_a_matrix_gives_the_same_vectors(void **state) {
    (void)state;
    static const double factors[] = {1, 1e-6, 1e-3, 1e3, 1e6, 1e-30, 1e30, 1e-290, 1e290};
    known k = random_matrix(3, 0);
    for (const char *const *solver = huddle_embed_solvers(); *solver != NULL; solver++) {
        double residual = NAN;
        for (size_t f = 0; f < sizeof factors / sizeof *factors; f++) {
            huddle_csr matrix = times(&k.matrix, factors[f], 0);
            huddle_embed_options options = huddle_embed_defaults();
            huddle_embed_info info;
            huddle_embedding e;
            options.n_components = C;
            options.embed_solver = *solver;
            assert_ok(
                huddle_embed_symmetric(NULL, &matrix, -INFINITY, INFINITY, &options, &e, &info));
            assert_int_equal(info.stop, HUDDLE_STOP_CONVERGED);
            assert_true(strcmp(info.verified, "none") != 0 && !info.cuts_cluster);
            check_pairs(&k, &matrix, factors[f], 0, &e, &info);
            residual = f == 0 ? info.residual : residual;
            assert_true(fabs(info.residual - residual) <= .05 * residual + 1e-12);
            assert_close(info.gap / factors[f], k.values[N - C] - k.values[N - C - 1], .01);
            huddle_embedding_free(&e);
            huddle_csr_free(&matrix);
        }
    }
    free_known(&k);
}

static void powers_of_two_change_no_bit(void **state) {
    (void)state;
    known k = random_matrix(4, .5);
    huddle_embed_options options = huddle_embed_defaults();
    huddle_embed_info first, info;
    huddle_embedding plain, e;
    options.n_components = C;
    options.embed_solver = "chebyshev";
    assert_ok(huddle_embed_symmetric(NULL, &k.matrix, -40, 40, &options, &plain, &first));
    for (int power = -500; power <= 500; power += 250) {
        huddle_csr matrix = times(&k.matrix, ldexp(1, power), 0);
        assert_ok(huddle_embed_symmetric(NULL, &matrix, -ldexp(40, power), ldexp(40, power),
                                         &options, &e, &info));
        assert_memory_equal(e.vectors.values, plain.vectors.values, N * C * sizeof(double));
        assert_true(info.residual == first.residual && info.n_products == first.n_products);
        assert_true(info.unit == ldexp(first.unit, power));
        for (int c = 0; c < C; c++)
            assert_true(e.eigenvalues[c] == ldexp(plain.eigenvalues[c], power));
        huddle_embedding_free(&e);
        huddle_csr_free(&matrix);
    }
    huddle_embedding_free(&plain);
    free_known(&k);
}

/* The wanted end at 0, near it and far from it, beside the width. */
static void a_shifted_spectrum_gives_the_same_vectors(void **state) {
    (void)state;
    known k = random_matrix(5, 1e-3); /* so that every diagonal entry is there */
    const double shifts[] = {-k.values[N - 1], -k.values[0], -50, 50, 1e4, -1e4, 1e6};
    for (size_t s = 0; s < sizeof shifts / sizeof *shifts; s++)
        for (double factor = 1e-6; factor < 1e7; factor *= 1e6) {
            huddle_csr matrix = times(&k.matrix, factor, shifts[s]);
            huddle_embed_options options = huddle_embed_defaults();
            huddle_embed_info info;
            huddle_embedding e;
            options.n_components = C;
            options.embed_solver = "chebyshev";
            assert_ok(
                huddle_embed_symmetric(NULL, &matrix, -INFINITY, INFINITY, &options, &e, &info));
            assert_int_equal(info.stop, HUDDLE_STOP_CONVERGED);
            check_pairs(&k, &matrix, factor, shifts[s], &e, &info);
            huddle_embedding_free(&e);
            huddle_csr_free(&matrix);
        }
    free_known(&k);
}

static void loose_bounds_do_no_harm_and_wrong_ones_are_refused(void **state) {
    (void)state;
    known k = random_matrix(6, 0);
    const double bounds[][2] = {
        {k.values[0], k.values[N - 1]}, {-1e9, 1e9}, {k.values[0], 1e6}, {-1e6, k.values[N - 1]}};
    huddle_embed_options options = huddle_embed_defaults();
    huddle_embed_info info;
    huddle_embedding e;
    options.n_components = C;
    options.embed_solver = "chebyshev";
    for (size_t b = 0; b < sizeof bounds / sizeof *bounds; b++) {
        assert_ok(huddle_embed_symmetric(NULL, &k.matrix, bounds[b][0], bounds[b][1], &options, &e,
                                         &info));
        assert_int_equal(info.stop, HUDDLE_STOP_CONVERGED);
        check_pairs(&k, &k.matrix, 1, 0, &e, &info);
        huddle_embedding_free(&e);
    }
    assert_refused(
        huddle_embed_symmetric(NULL, &k.matrix, -100, .9 * k.values[N - 1], &options, &e, &info),
        HUDDLE_INVALID, "beyond the bounds");
    assert_refused(
        huddle_embed_symmetric(NULL, &k.matrix, .9 * k.values[0], 100, &options, &e, &info),
        HUDDLE_INVALID, "beyond the bounds");
    assert_refused(huddle_embed_symmetric(NULL, &k.matrix, NAN, 100, &options, &e, &info),
                   HUDDLE_INVALID, "must be less than");
    free_known(&k);
}

/* Only the diagonal is not 0: the eigenvalues can be chosen. */
static huddle_csr diagonal(int64_t n, double (*value)(int64_t)) {
    huddle_csr m;
    assert_ok(huddle_csr_new(n, n, n, &m));
    for (int64_t i = 0; i < n; i++) {
        m.columns[i] = (int32_t)i;
        m.values[i] = value(i);
        m.offsets[i + 1] = i + 1;
    }
    return m;
}

static double zero(int64_t i) {
    (void)i;
    return 0;
}

static double seventh(int64_t i) {
    (void)i;
    return 1.0 / 7;
}

static double two_levels(int64_t i) {
    return i % 100 == 0 ? -3 : -5;
}

static double outlier(int64_t i) {
    return i == 300 ? 3 : 1e-3 * (double)i;
}

static double far_outlier(int64_t i) {
    return i == 300 ? 1e6 : 1e-3 * (double)i;
}

static double far_low_outlier(int64_t i) {
    return i == 300 ? -1e6 : 1e-3 * (double)i;
}

static double low_outlier(int64_t i) {
    return i == 300 ? -10 : 1e-3 * (double)i;
}

static void special_spectra_are_solved(void **state) {
    (void)state;
    const struct {
        double (*value)(int64_t);
        double expected[C];
    } cases[] = {{zero, {0}},
                 {seventh, {1. / 7, 1. / 7, 1. / 7, 1. / 7, 1. / 7, 1. / 7, 1. / 7}},
                 {two_levels, {-3, -3, -3, -3, -3, -3, -5}},
                 {outlier, {3, .599, .598, .597, .596, .595, .594}},
                 {low_outlier, {.599, .598, .597, .596, .595, .594, .593}}};
    for (size_t which = 0; which < sizeof cases / sizeof *cases; which++)
        for (const char *const *solver = huddle_embed_solvers(); *solver != NULL; solver++) {
            if (which < 3 && strcmp(*solver, "arpack") == 0)
                continue; /* Lanczos has nothing to go on */
            huddle_csr m = diagonal(600, cases[which].value);
            huddle_embed_options options = huddle_embed_defaults();
            huddle_embed_info info;
            huddle_embedding e;
            options.n_components = C;
            options.embed_solver = *solver;
            options.tol = 1e-10;
            assert_ok(huddle_embed_symmetric(NULL, &m, -INFINITY, INFINITY, &options, &e, &info));
            assert_true(info.stop == HUDDLE_STOP_CONVERGED && info.residual <= 1e-10);
            for (int c = 0; c < C; c++)
                assert_true(fabs(e.eigenvalues[c] - cases[which].expected[c]) <
                            1e-9 * info.unit + 1e-12);
            assert_true(info.cuts_cluster == (which < 3));
            huddle_embedding_free(&e);
            huddle_csr_free(&m);
        }
}

/* Where the wanted values are too close beside the width for the filter, it says so. */
static void what_cannot_be_resolved_is_not_called_converged(void **state) {
    (void)state;
    double (*const values[])(int64_t) = {far_outlier, far_low_outlier};
    for (int which = 0; which < 2; which++) {
        huddle_csr m = diagonal(600, values[which]);
        huddle_embed_options options = huddle_embed_defaults();
        huddle_embed_info info;
        huddle_embedding e;
        options.n_components = C;
        options.embed_solver = "chebyshev";
        options.tol = 1e-10;
        assert_ok(huddle_embed_symmetric(NULL, &m, -INFINITY, INFINITY, &options, &e, &info));
        bool right = fabs(e.eigenvalues[C - 1] - (which == 0 ? .594 : .593)) < 1e-4;
        assert_true(right || info.stop != HUDDLE_STOP_CONVERGED);
        assert_true(right || strcmp(info.verified, "none") == 0);
        huddle_embedding_free(&e);
        huddle_csr_free(&m);
    }
}

static double close_beside_the_width(int64_t i) {
    return i == 300 ? -1e3 : 1e-2 * (double)i;
}

/* Eigenvalues whose distance is below tol beside the width: "auto" does not leave it at that. */
static void auto_tells_close_eigenvalues_apart(void **state) {
    (void)state;
    for (int64_t n = 1000; n <= 4000;
         n += 3000) { /* with and without the dense solver to turn to */
        huddle_csr m = diagonal(n, close_beside_the_width);
        huddle_embed_options options = huddle_embed_defaults();
        huddle_embed_info info;
        huddle_embedding e;
        options.n_components = C;
        options.embed_solver = "chebyshev";
        assert_ok(huddle_embed_symmetric(NULL, &m, -INFINITY, INFINITY, &options, &e, &info));
        assert_true(info.cuts_cluster);
        huddle_embedding_free(&e);
        options.embed_solver = "auto";
        assert_ok(huddle_embed_symmetric(NULL, &m, -INFINITY, INFINITY, &options, &e, &info));
        assert_true(info.stop == HUDDLE_STOP_CONVERGED && !info.cuts_cluster);
        for (int c = 0; c < C; c++)
            assert_close(e.eigenvalues[c], 1e-2 * (double)(n - 1 - c), 1e-5);
        huddle_embedding_free(&e);
        huddle_csr_free(&m);
    }
}

static double far_apart(int64_t i) {
    return (double)(i * 37 % 60) - 20;
}

static void all_eigenvectors_can_be_had(void **state) {
    (void)state;
    huddle_csr m = diagonal(60, far_apart);
    for (const char *const *solver = huddle_embed_solvers(); *solver != NULL; solver++)
        for (int32_t c = 58; c <= 60; c++) {
            huddle_embed_options options = huddle_embed_defaults();
            huddle_embed_info info;
            huddle_embedding e;
            options.n_components = c;
            options.embed_solver = *solver;
            assert_ok(huddle_embed_symmetric(NULL, &m, -INFINITY, INFINITY, &options, &e, &info));
            for (int32_t k = 0; k < c; k++)
                assert_close(e.eigenvalues[k], 39 - k, 1e-12);
            assert_true(isnan(info.gap) == (c == 60));
            assert_int_equal(info.proven_pairs, c);
            huddle_embedding_free(&e);
        }
    huddle_csr_free(&m);
    m = diagonal(1, seventh);
    huddle_embed_options options = huddle_embed_defaults();
    huddle_embedding e;
    options.n_components = 1;
    assert_ok(huddle_embed_symmetric(NULL, &m, -INFINITY, INFINITY, &options, &e, NULL));
    assert_true(e.eigenvalues[0] == 1.0 / 7 && e.vectors.values[0] == 1);
    huddle_embedding_free(&e);
    m.values[0] = NAN;
    assert_refused(huddle_embed_symmetric(NULL, &m, -INFINITY, INFINITY, &options, &e, NULL),
                   HUDDLE_INVALID, "not a number");
    m.values[0] = INFINITY;
    assert_refused(huddle_embed_symmetric(NULL, &m, -INFINITY, INFINITY, &options, &e, NULL),
                   HUDDLE_INVALID, "");
    huddle_csr_free(&m);
}

/* A graph whose second eigenvalue is far below 1: the filter's end must not underflow. */
static void an_expander_is_embedded(void **state) {
    (void)state;
    enum { M = 900, HALF = 40 };
    hd_rng rng = hd_rng_stream(8, 0);
    double *full = calloc((size_t)M * M, sizeof *full), values[M];
    for (int64_t i = 0; i < M; i++)
        for (int e = 0; e < HALF; e++) {
            int64_t j = hd_rng_below(&rng, M);
            if (j != i)
                full[i * M + j] = full[j * M + i] = 1;
        }
    huddle_csr graph = to_csr(M, full);
    for (int64_t i = 0; i < M; i++)
        for (int64_t j = 0; j < M; j++)
            full[i * M + j] /= sqrt((double)(graph.offsets[i + 1] - graph.offsets[i])) *
                               sqrt((double)(graph.offsets[j + 1] - graph.offsets[j]));
    hd_blas_enter();
    assert_int_equal(LAPACKE_dsyev(LAPACK_ROW_MAJOR, 'N', 'L', M, full, M, values), 0);
    hd_blas_leave();
    huddle_embed_options options = huddle_embed_defaults();
    huddle_embed_info info;
    huddle_embedding e;
    options.embed_solver = "chebyshev";
    options.tol = 1e-5;
    for (int32_t c = 2; c <= 20; c += 6) {
        options.n_components = c;
        assert_ok(huddle_embed(NULL, &graph, &options, &e, &info));
        assert_int_equal(info.stop, HUDDLE_STOP_CONVERGED);
        assert_true(strcmp(info.verified, "none") != 0);
        for (int32_t k = 0; k < c; k++)
            assert_close(e.eigenvalues[k], 1 - values[M - 1 - k], 1e-7);
        huddle_embedding_free(&e);
    }
    huddle_csr_free(&graph);
    free(full);
}

static huddle_status embed_once(void *argument) {
    huddle_embed_options options = huddle_embed_defaults();
    huddle_embedding e = {0};
    options.n_components = C;
    options.embed_solver = "chebyshev";
    huddle_status status =
        huddle_embed_symmetric(NULL, argument, -INFINITY, INFINITY, &options, &e, NULL);
    huddle_embedding_free(&e);
    return status;
}

static void every_allocation_may_fail(void **state) {
    (void)state;
    known k = random_matrix(9, 0);
    test_each_allocation(embed_once, &k.matrix);
    free_known(&k);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(any_constant_times_a_matrix_gives_the_same_vectors),
        cmocka_unit_test(powers_of_two_change_no_bit),
        cmocka_unit_test(a_shifted_spectrum_gives_the_same_vectors),
        cmocka_unit_test(loose_bounds_do_no_harm_and_wrong_ones_are_refused),
        cmocka_unit_test(special_spectra_are_solved),
        cmocka_unit_test(what_cannot_be_resolved_is_not_called_converged),
        cmocka_unit_test(auto_tells_close_eigenvalues_apart),
        cmocka_unit_test(all_eigenvectors_can_be_had),
        cmocka_unit_test(an_expander_is_embedded),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
