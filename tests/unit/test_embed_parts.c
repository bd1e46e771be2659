/* embed: the parts of the solvers against eigenvalues that LAPACK finds of the whole matrix, or
 * that are known. */
#include "base/memory.h"
#include "base/rng.h"
#include "embed/chebyshev.h"
#include "embed/memory.h"
#include "embed/vectors.h"
#include "embed_graphs.h"
#include "huddle/embed.h"
#include "support/support.h"

#include <lapacke.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { N = 120, C = 6 };

/* ---- matrices ------------------------------------------------------------------------------- */

/* The entries of a full symmetric matrix that are not 0. */
static huddle_csr make_sparse(const double *a, int64_t n) {
    huddle_csr sparse;
    int64_t count = 0;
    assert_ok(huddle_csr_new(n, n, n * n, &sparse));
    for (int64_t i = 0; i < n; i++) {
        for (int32_t j = 0; j < n; j++)
            if (a[i * n + j] != 0) {
                sparse.columns[count] = j;
                sparse.values[count++] = a[i * n + j];
            }
        sparse.offsets[i + 1] = count;
    }
    return sparse;
}

/* A random graph of two components of different size, with loops and an isolated vertex. */
static void fill_graph(double *a) {
    hd_rng rng = hd_rng_stream(1, 0);
    memset(a, 0, sizeof(double) * N * N);
    for (int i = 0; i < N - 1; i++)
        for (int j = 0; j <= i; j++)
            if ((i < 50) == (j < 50) && (j == i - 1 || hd_rng_below(&rng, 12) == 0))
                a[i * N + j] = a[j * N + i] = .2 + hd_rng_uniform(&rng);
}

/* Eigenvalues ascending; a is overwritten. */
static void find_eigenvalues(int n, double *a, double *values) {
    assert_int_equal(LAPACKE_dsyev(LAPACK_ROW_MAJOR, 'N', 'L', n, a, n, values), 0);
}

/* ---- products ------------------------------------------------------------------------------- */

enum { FEW = 9, MAX_WIDTH = 416 };

/* z = alpha A x + beta x + gamma z in columns 0 .. width - 1, by definition. */
static void multiply_slowly(const huddle_csr *a, int64_t width, double alpha, double beta,
                            double gamma, const double *x, double *z) {
    for (int64_t i = 0; i < a->rows; i++)
        for (int64_t k = 0; k < width; k++) {
            double sum = 0;
            for (int64_t e = a->offsets[i]; e < a->offsets[i + 1]; e++)
                sum += a->values[e] * x[a->columns[e] * MAX_WIDTH + k];
            z[i * MAX_WIDTH + k] =
                alpha * sum + beta * x[i * MAX_WIDTH + k] + gamma * z[i * MAX_WIDTH + k];
        }
}

/* 13 registers are one more than a strip has, for doubles of any instruction set at width 208. */
static void products_of_all_widths(void **state) {
    (void)state;
    static void (*const in_float[])(const int64_t *, const int32_t *, const float *, int64_t,
                                    int64_t, int64_t, int64_t, float, float, float, const float *,
                                    float *) = HD_SIMD_TABLE(hd_embed_product_float);
    static void (*const in_double[])(
        const int64_t *, const int32_t *, const double *, int64_t, int64_t, int64_t, int64_t,
        double, double, double, const double *, double *) = HD_SIMD_TABLE(hd_embed_product_double);
    static const int64_t widths[] = {16, 48, 112, 208, MAX_WIDTH};
    static _Alignas(64) double x[FEW * MAX_WIDTH], before[FEW * MAX_WIDTH], z[FEW * MAX_WIDTH],
        wanted[FEW * MAX_WIDTH];
    static _Alignas(64) float x_float[FEW * MAX_WIDTH], z_float[FEW * MAX_WIDTH];
    double full[FEW * FEW];
    float values[FEW * FEW];
    hd_rng rng = hd_rng_stream(5, 0);
    for (int e = 0; e < FEW * FEW; e++)
        full[e] = e / FEW == 4 || hd_rng_below(&rng, 3) == 0 ? 0 : (float)hd_rng_normal(&rng);
    for (int e = 0; e < FEW * MAX_WIDTH; e++) {
        x[e] = x_float[e] = (float)hd_rng_normal(&rng);
        before[e] = (float)hd_rng_normal(&rng);
    }
    huddle_csr a = make_sparse(full, FEW);
    for (int64_t e = 0; e < a.offsets[FEW]; e++)
        values[e] = (float)a.values[e];
    for (hd_isa isa = HD_ISA_BASE; isa <= hd_cpu_isa(); isa++)
        for (size_t w = 0; w < sizeof widths / sizeof *widths; w++) {
            memcpy(z, before, sizeof z);
            memcpy(wanted, before, sizeof wanted);
            for (int e = 0; e < FEW * MAX_WIDTH; e++)
                z_float[e] = (float)before[e];
            in_double[isa](a.offsets, a.columns, a.values, 0, FEW, widths[w], MAX_WIDTH, 2, .5, -3,
                           x, z);
            in_float[isa](a.offsets, a.columns, values, 0, FEW, widths[w], MAX_WIDTH, 2, .5f, -3,
                          x_float, z_float);
            multiply_slowly(&a, widths[w], 2, .5, -3, x, wanted);
            for (int e = 0; e < FEW * MAX_WIDTH; e++) {
                assert_true(fabs(z[e] - wanted[e]) <= 1e-13);
                assert_true(fabs((double)z_float[e] - wanted[e]) <= 1e-4);
            }
        }
    huddle_csr_free(&a);
}

/* ---- solvers -------------------------------------------------------------------------------- */

/* |N v - (1 - lambda) v| of column k. */
static double residual(const double *a, const double *degrees, const huddle_embedding *e, int k) {
    double sum = 0;
    for (int i = 0; i < N; i++) {
        double di = degrees[i] > 0 ? degrees[i] : 1;
        double row = -(1 - e->eigenvalues[k]) * e->vectors.values[i * e->vectors.stride + k];
        for (int j = 0; j < N; j++)
            row += a[i * N + j] / sqrt(di * (degrees[j] > 0 ? degrees[j] : 1)) *
                   e->vectors.values[j * e->vectors.stride + k];
        row += degrees[i] == 0 ? e->vectors.values[i * e->vectors.stride + k] : 0; /* its own */
        sum += row * row;
    }
    return sqrt(sum);
}

static void every_solver_finds_the_eigenvalues(void **state) {
    (void)state;
    static const char *const solvers[] = {"dense", "chebyshev", "arpack"};
    static double a[N * N], full[N * N];
    double degrees[N] = {0}, values[N];
    fill_graph(a);
    for (int e = 0; e < N * N; e++)
        degrees[e / N] += a[e];
    for (int e = 0; e < N * N; e++) /* the Laplacian I - N; 0 for the isolated vertex */
        full[e] = (e / N == e % N && degrees[e / N] > 0) -
                  (a[e] != 0 ? a[e] / sqrt(degrees[e / N] * degrees[e % N]) : 0);
    find_eigenvalues(N, full, values);
    huddle_csr graph = make_sparse(a, N);
    for (int s = 0; s < 3; s++) {
        huddle_embed_options options = huddle_embed_defaults();
        huddle_embedding e;
        huddle_embed_info info;
        options.n_components = C;
        options.embed_solver = solvers[s];
        options.tol = 1e-9;
        assert_ok(huddle_embed(NULL, &graph, &options, &e, &info));
        assert_int_equal(info.components, 3);
        assert_string_equal(info.solver, solvers[s]);
        assert_true(info.stop == HUDDLE_STOP_CONVERGED && info.residual < 1e-8);
        assert_true(info.n_iter >= 1 && info.n_iter <= options.embed_max_iter);
        assert_close(info.gap, values[C] - values[C - 1], 1e-6);
        assert_false(info.cuts_cluster);
        for (int k = 0; k < C; k++) {
            assert_close(e.eigenvalues[k], values[k], 1e-9);
            assert_true(residual(a, degrees, &e, k) < 1e-7);
        }
        for (int i = 0; i < N; i++)
            assert_close(e.degrees[i], degrees[i], 1e-13);
        for (int k = 0; k < C; k++)
            for (int l = 0; l < C; l++) {
                double product = 0;
                for (int i = 0; i < N; i++)
                    product += e.vectors.values[i * e.vectors.stride + k] *
                               e.vectors.values[i * e.vectors.stride + l];
                assert_close(product, k == l, 1e-8);
            }
        huddle_embedding_free(&e);
    }
    huddle_csr_free(&graph);
}

/* The largest component comes first; known vectors have norm 1, and are roots of degrees. */
static void components_are_numbered_by_size(void **state) {
    (void)state;
    static double a[N * N];
    hd_embed_laplacian laplacian;
    double squares[3] = {0};
    fill_graph(a);
    huddle_csr graph = make_sparse(a, N);
    assert_ok(hd_embed_laplacian_new(NULL, &graph, &laplacian));
    assert_int_equal(laplacian.n_components, 3);
    for (int i = 0; i < N; i++) {
        assert_int_equal(laplacian.component[i], i < 50 ? 1 : i < N - 1 ? 0 : 2);
        squares[laplacian.component[i]] += laplacian.known[i] * laplacian.known[i];
        assert_close(laplacian.scale[i],
                     laplacian.degrees[i] > 0 ? 1 / sqrt(laplacian.degrees[i]) : 1, 1e-14);
        int first = i < 50 ? 0 : i < N - 1 ? 50 : i; /* of its component */
        assert_close(laplacian.known[i] * laplacian.scale[i],
                     laplacian.known[first] * laplacian.scale[first], 1e-14);
    }
    for (int k = 0; k < 3; k++)
        assert_close(squares[k], 1, 1e-14);
    hd_embed_laplacian_free(&laplacian);
    huddle_csr_free(&graph);
}

/* ---- a torus, whose eigenvalues are known ---------------------------------------------------- */

static huddle_csr make_torus(int a, int b, double across) {
    huddle_csr graph;
    int64_t n = (int64_t)a * b;
    assert_ok(huddle_csr_new(n, n, 4 * n, &graph));
    for (int64_t i = 0; i < n; i++) {
        int64_t r = i / b, c = i % b;
        int32_t columns[] = {(int32_t)((r + 1) % a * b + c), (int32_t)((r + a - 1) % a * b + c),
                             (int32_t)(r * b + (c + 1) % b), (int32_t)(r * b + (c + b - 1) % b)};
        double values[] = {1, 1, across, across};
        for (int p = 0; p < 4; p++) { /* by ascending column */
            int64_t at = 4 * i;
            for (int q = 0; q < 4; q++)
                at += columns[q] < columns[p];
            graph.columns[at] = columns[p];
            graph.values[at] = values[p];
        }
        graph.offsets[i + 1] = 4 * (i + 1);
    }
    return graph;
}

static int ascending(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Eigenvalues of the Laplacian, ascending. */
static double *torus_values(int a, int b, double across) {
    double *values = malloc(sizeof *values * (size_t)(a * b)), turn = 2 * acos(-1);
    for (int e = 0; e < a * b; e++)
        values[e] = 1 - (cos(turn * (e / b) / a) + across * cos(turn * (e % b) / b)) / (1 + across);
    qsort(values, (size_t)(a * b), sizeof *values, ascending);
    return values;
}

/* After the first filter, vectors from a coarser graph are far nearer to eigenvectors than random
 * ones: the Ritz values show it. */
static void the_start_from_a_coarser_graph_is_good(void **state) {
    (void)state;
    enum { A = 75, B = 40, WANTED = 10 };
    huddle_csr graph = make_torus(A, B, .7);
    double *values = torus_values(A, B, .7), error[2] = {0, 0};
    hd_embed_laplacian laplacian;
    hd_embed_operator op;
    assert_ok(hd_embed_laplacian_new(NULL, &graph, &laplacian));
    for (int64_t i = 0; i < A * B; i++) {
        assert_close(laplacian.degrees[i], 3.4, 1e-14);
        assert_close(laplacian.known[i], 1 / sqrt(A * B), 1e-14);
    }
    hd_eigen_request request = request_of(&graph, &laplacian);
    assert_ok(hd_embed_operator_new(NULL, &request, laplacian.order, NULL, &op));
    for (int coarse = 0; coarse < 2; coarse++) {
        hd_embed_run run;
        assert_ok(hd_embed_run_new(&op, WANTED, 0, &run));
        assert_ok(coarse ? hd_embed_run_start(NULL, 1, &run)
                         : hd_embed_run_begin_random(NULL, 1, &run));
        assert_int_equal(run.smooth_start, coarse);
        for (int k = 0; k < WANTED; k++) {
            assert_true(1 - run.ritz.theta[k] > values[k + 1] - 1e-6); /* never beyond */
            error[coarse] = fmax(error[coarse], 1 - run.ritz.theta[k] - values[k + 1]);
        }
        hd_embed_run_free(&run);
    }
    assert_true(error[1] < 2e-3 && error[1] < error[0] / 5);
    hd_embed_operator_free(&op);
    hd_embed_laplacian_free(&laplacian);
    free(values);
    huddle_csr_free(&graph);
}

/* Equal eigenvalues that n_components separates are reported, and how many products it took. */
static void eigenvalues_of_a_torus(void **state) {
    (void)state;
    enum { A = 30, B = 30 };
    static const char *const solvers[] = {"dense", "chebyshev"};
    huddle_csr graph = make_torus(A, B, 1);
    double *values = torus_values(A, B, 1);
    for (int s = 0; s < 2; s++)
        for (int32_t c = 4; c <= 5; c++) { /* values 1 .. 4 are equal */
            huddle_embed_options options = huddle_embed_defaults();
            huddle_embedding e;
            huddle_embed_info info;
            options.n_components = c;
            options.embed_solver = solvers[s];
            options.tol = 1e-6;
            assert_ok(huddle_embed(NULL, &graph, &options, &e, &info));
            assert_int_equal(info.cuts_cluster, c == 4);
            assert_close(info.gap, values[c] - values[c - 1], 1e-4);
            for (int k = 0; k < c; k++)
                assert_close(e.eigenvalues[k], values[k], 1e-8);
            assert_true(e.n_eigenvalues > c);
            /* More than one for each vector, and less than if each round had degree 1000. */
            if (s > 0)
                assert_true(info.n_products > c && info.n_products < 16 * 1000 * info.n_iter);
            huddle_embedding_free(&e);
        }
    free(values);
    huddle_csr_free(&graph);
}

/* Vectors after the exact ones are there, and roughly right. */
static void approximate_vectors_follow(void **state) {
    (void)state;
    enum { A = 40, B = 30, ALL = 14, EXACT = 5 };
    huddle_csr graph = make_torus(A, B, .8);
    double *values = torus_values(A, B, .8);
    huddle_embed_options options = huddle_embed_defaults();
    huddle_embedding e;
    huddle_embed_info info;
    options.n_components = ALL;
    options.n_exact = EXACT;
    options.embed_solver = "chebyshev";
    assert_ok(huddle_embed(NULL, &graph, &options, &e, &info));
    for (int k = 0; k < ALL; k++) {
        double square = 0;
        assert_close(e.eigenvalues[k], values[k], k < EXACT ? 1e-6 : .3 * values[k]);
        for (int64_t i = 0; i < A * B; i++)
            square += pow(e.vectors.values[i * e.vectors.stride + k], 2);
        assert_close(square, 1, 1e-6);
    }
    /* Every round multiplies all columns of the block, of which there are at least 16. */
    assert_true(info.n_products >= 16 * 8);
    assert_int_equal(info.n_products % 16, 0);
    huddle_embedding_free(&e);
    free(values);
    huddle_csr_free(&graph);
}

/* By the library's own counter of bytes. */
static void memory_is_as_predicted(void **state) {
    (void)state;
    static const int32_t settings[][3] = {{30, 0, 0}, {60, 20, 20}, {8, 0, 0}};
    huddle_csr graph = make_torus(150, 60, .7);
    for (int s = 0; s < 3; s++) {
        huddle_embed_options options = huddle_embed_defaults();
        huddle_embedding e;
        options.n_components = settings[s][0];
        options.n_exact = settings[s][1];
        options.n_rows = settings[s][2];
        options.verify = "none";
        int64_t before = hd_memory_live();
        (void)hd_memory_take_peak();
        assert_ok(huddle_embed(NULL, &graph, &options, &e, NULL));
        double used = (double)(hd_memory_take_peak() - before);
        double predicted = (double)hd_embed_predict_memory(9000, 36000, &options);
        assert_true(used < 1.1 * predicted && used > .7 * predicted);
        huddle_embedding_free(&e);
    }
    huddle_csr_free(&graph);
}

/* ---- the ends of a spectrum ------------------------------------------------------------------ */

static void check_spectrum(double *a, int64_t n, double accuracy) {
    huddle_csr matrix = make_sparse(a, n);
    double *values = malloc(sizeof *values * (size_t)n);
    hd_embed_spectrum spectrum;
    hd_embed_operator op = {.n = n,
                            .slab = {0, n},
                            .offsets = matrix.offsets,
                            .columns = matrix.columns,
                            .values = matrix.values};
    double discs[2] = {INFINITY, -INFINITY};
    for (int64_t i = 0; i < n; i++) {
        double radius = -fabs(a[i * n + i]);
        for (int64_t j = 0; j < n; j++)
            radius += fabs(a[i * n + j]);
        discs[0] = fmin(discs[0], a[i * n + i] - radius);
        discs[1] = fmax(discs[1], a[i * n + i] + radius);
    }
    find_eigenvalues((int)n, a, values);
    double low = values[0], high = values[n - 1], width = high - low;
    assert_ok(hd_embed_estimate_spectrum(NULL, &op, -INFINITY, INFINITY, &spectrum));
    assert_true(spectrum.min_ritz > low - 1e-9 * width && spectrum.max_ritz < high + 1e-9 * width);
    assert_true(spectrum.min_ritz < low + accuracy * width);
    assert_true(spectrum.max_ritz > high - accuracy * width);
    assert_true(spectrum.lower <= low + 1e-9 * width && spectrum.lower > low - .2 * width);
    assert_true(spectrum.upper > high - accuracy * width && spectrum.upper < high + .1 * width);
    assert_true(spectrum.lower >= discs[0] - 1e-12 && spectrum.upper <= discs[1] + 1e-12);
    /* Bounds that the caller knows are used. */
    assert_ok(hd_embed_estimate_spectrum(NULL, &op, low, high, &spectrum));
    assert_true(spectrum.lower >= low - 1e-9 * width && spectrum.upper <= high + 1e-9 * width);
    free(values);
    huddle_csr_free(&matrix);
}

/* A ring of 1000: 40 steps of Lanczos do not reach the ends, -2 and 2; the lower one must not be
 * too high. */
static void the_lower_end_is_safe(void **state) {
    (void)state;
    huddle_csr ring = make_torus(1000, 1, 0);
    hd_embed_spectrum spectrum;
    hd_embed_operator op = {.n = 1000,
                            .slab = {0, 1000},
                            .offsets = ring.offsets,
                            .columns = ring.columns,
                            .values = ring.values};
    assert_ok(hd_embed_estimate_spectrum(NULL, &op, -INFINITY, INFINITY, &spectrum));
    assert_true(spectrum.min_ritz > -2 && spectrum.min_ritz < -1.9);
    assert_close(spectrum.lower, -2, 1e-12);
    assert_true(spectrum.upper <= 2 && spectrum.upper > 1.9);
    huddle_csr_free(&ring);
}

static void ends_of_spectra_are_estimated(void **state) {
    (void)state;
    static double a[N * N];
    hd_rng rng = hd_rng_stream(2, 0);
    memset(a, 0, sizeof a);
    for (int i = 0; i < N; i++)
        for (int j = 0; j <= i; j++)
            a[i * N + j] = a[j * N + i] =
                hd_rng_below(&rng, 9) == 0 || i == j ? 3 + hd_rng_normal(&rng) : 0;
    check_spectrum(a, N, .02);
    memset(a, 0, sizeof a);
    for (int i = 0; i < 30; i++) /* fewer rows than steps: exact */
        for (int j = 0; j <= i; j++)
            a[i * 30 + j] = a[j * 30 + i] = hd_rng_normal(&rng);
    check_spectrum(a, 30, 1e-6);
    memset(a, 0, sizeof a);
    for (int i = 0; i < 20; i++) /* a diagonal: the discs are points */
        a[i * 20 + i] = i % 4 - 7;
    check_spectrum(a, 20, 1e-9);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(products_of_all_widths),
        cmocka_unit_test(every_solver_finds_the_eigenvalues),
        cmocka_unit_test(components_are_numbered_by_size),
        cmocka_unit_test(the_start_from_a_coarser_graph_is_good),
        cmocka_unit_test(eigenvalues_of_a_torus),
        cmocka_unit_test(approximate_vectors_follow),
        cmocka_unit_test(memory_is_as_predicted),
        cmocka_unit_test(ends_of_spectra_are_estimated),
        cmocka_unit_test(the_lower_end_is_safe),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
