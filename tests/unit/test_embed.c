/* embed: eigenpairs against LAPACK on graphs of every kind, by every solver; components, row rules,
 * bad input, limits, cancelling. */
#include "base/blas.h"
#include "base/check.h"
#include "base/rng.h"
#include "huddle/embed.h"
#include "support/support.h"

#include <lapacke.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- graphs -------------------------------------------------------------------------------- */

/* A graph in the making: weights as a full matrix. */
typedef struct sketch {
    int64_t n;
    double *w;
} sketch;

static sketch new_sketch(int64_t n) {
    return (sketch){n, calloc((size_t)(n * n), sizeof(double))};
}

static void join(sketch s, int64_t i, int64_t j, double weight) {
    s.w[i * s.n + j] = s.w[j * s.n + i] = weight;
}

static huddle_csr to_csr(sketch s) {
    huddle_csr graph;
    int64_t count = 0;
    for (int64_t e = 0; e < s.n * s.n; e++)
        count += s.w[e] != 0;
    assert_ok(huddle_csr_new(s.n, s.n, count, &graph));
    count = 0;
    for (int64_t i = 0; i < s.n; i++) {
        for (int64_t j = 0; j < s.n; j++)
            if (s.w[i * s.n + j] != 0) {
                graph.columns[count] = (int32_t)j;
                graph.values[count++] = s.w[i * s.n + j];
            }
        graph.offsets[i + 1] = count;
    }
    free(s.w);
    return graph;
}

/* Five nearest neighbours of random points of the unit square, vertices first .. last - 1. */
static void join_neighbours(sketch s, int64_t first, int64_t last, uint64_t seed) {
    int64_t n = last - first;
    double *p = malloc((size_t)(2 * n) * sizeof *p);
    hd_rng rng = hd_rng_stream(seed, 0);
    for (int64_t i = 0; i < 2 * n; i++)
        p[i] = hd_rng_uniform(&rng);
    for (int64_t i = 0; i < n; i++) {
        double reach = 0;
        for (int k = 0; k < 5; k++) {
            double nearest = INFINITY;
            int64_t who = -1;
            for (int64_t j = 0; j < n; j++) {
                double d = hypot(p[2 * i] - p[2 * j], p[2 * i + 1] - p[2 * j + 1]);
                if (j != i && d > reach && d < nearest) {
                    nearest = d;
                    who = j;
                }
            }
            if (who < 0)
                break;
            reach = nearest;
            join(s, first + i, first + who, exp(-nearest * nearest * (double)n));
        }
    }
    free(p);
}

static huddle_csr neighbour_graph(int64_t n, uint64_t seed) {
    sketch s = new_sketch(n);
    join_neighbours(s, 0, n, seed);
    return to_csr(s);
}

/* `parts` clouds in a row; neighbours in the row are joined by one edge of that weight. */
static huddle_csr chain_of_clouds(int64_t n, int64_t parts, double weight) {
    sketch s = new_sketch(n);
    for (int64_t p = 0; p < parts; p++) {
        int64_t first = p * n / parts, last = (p + 1) * n / parts;
        join_neighbours(s, first, last, 100 + (uint64_t)p);
        for (int64_t i = first; i + 1 < last; i++)
            if (s.w[i * n + i + 1] == 0)
                join(s, i, i + 1, .1);
        if (p > 0 && weight > 0)
            join(s, first - 1, first, weight);
    }
    return to_csr(s);
}

static huddle_csr path_graph(int64_t n) {
    sketch s = new_sketch(n);
    for (int64_t i = 0; i + 1 < n; i++)
        join(s, i, i + 1, 1);
    return to_csr(s);
}

static huddle_csr star_graph(int64_t n) {
    sketch s = new_sketch(n);
    for (int64_t i = 1; i < n; i++)
        join(s, 0, i, 1);
    return to_csr(s);
}

static huddle_csr complete_graph(int64_t n) {
    sketch s = new_sketch(n);
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < i; j++)
            join(s, i, j, 2);
    return to_csr(s);
}

static huddle_csr bipartite_graph(int64_t a, int64_t b) {
    sketch s = new_sketch(a + b);
    for (int64_t i = 0; i < a; i++)
        for (int64_t j = 0; j < b; j++)
            join(s, i, a + j, 1);
    return to_csr(s);
}

/* Weights from 1e-150 to 1e150 around a ring with chords. */
static huddle_csr wild_graph(int64_t n) {
    sketch s = new_sketch(n);
    hd_rng rng = hd_rng_stream(5, 5);
    for (int64_t i = 0; i < n; i++) {
        join(s, i, (i + 1) % n, pow(10, 300 * hd_rng_uniform(&rng) - 150));
        join(s, i, (i + 7) % n, pow(10, 10 * hd_rng_uniform(&rng) - 5));
    }
    return to_csr(s);
}

/* ---- the reference ------------------------------------------------------------------------- */

/* L_n as a full matrix, the row of a vertex without edges zero. */
static double *full_laplacian(const huddle_csr *graph) {
    int64_t n = graph->rows;
    double *l = calloc((size_t)(n * n), sizeof *l), *d = calloc((size_t)n, sizeof *d);
    for (int64_t i = 0; i < n; i++)
        for (int64_t e = graph->offsets[i]; e < graph->offsets[i + 1]; e++)
            d[i] += graph->values[e];
    for (int64_t i = 0; i < n; i++) {
        for (int64_t e = graph->offsets[i]; e < graph->offsets[i + 1]; e++) {
            int64_t j = graph->columns[e];
            if (graph->values[e] != 0)
                l[i * n + j] = -graph->values[e] / sqrt(d[i]) / sqrt(d[j]);
        }
        l[i * n + i] += d[i] > 0;
    }
    free(d);
    return l;
}

static double *reference_eigenvalues(const huddle_csr *graph) {
    double *l = full_laplacian(graph);
    double *values = malloc((size_t)graph->rows * sizeof *values);
    lapack_int n = (lapack_int)graph->rows;
    hd_blas_enter();
    assert_int_equal(LAPACKE_dsyev(LAPACK_ROW_MAJOR, 'N', 'L', n, l, n, values), 0);
    hd_blas_leave();
    free(l);
    return values;
}

/* Largest ||L_n v - lambda v||, recomputed, and the largest defect of V'V = I. */
static void recompute(const huddle_csr *graph, const huddle_embedding *e, double *residual,
                      double *defect) {
    int64_t n = graph->rows, c = e->vectors.cols;
    const double *v = e->vectors.values;
    double *l = full_laplacian(graph);
    *residual = *defect = 0;
    for (int64_t k = 0; k < c; k++) {
        double square = 0;
        for (int64_t i = 0; i < n; i++) {
            double sum = -e->eigenvalues[k] * v[i * c + k];
            for (int64_t j = 0; j < n; j++)
                sum += l[i * n + j] * v[j * c + k];
            square += sum * sum;
        }
        *residual = fmax(*residual, sqrt(square));
        for (int64_t m = 0; m <= k; m++) {
            double dot = m == k ? -1 : 0;
            for (int64_t i = 0; i < n; i++)
                dot += v[i * c + k] * v[i * c + m];
            *defect = fmax(*defect, fabs(dot));
        }
    }
    free(l);
}

static void check_signs(const huddle_dense *v) {
    for (int64_t k = 0; k < v->cols; k++) {
        double high = 0, low = 0;
        for (int64_t i = 0; i < v->rows; i++) {
            high = fmax(high, v->values[i * v->cols + k]);
            low = fmin(low, v->values[i * v->cols + k]);
        }
        assert_true(high >= -low * (1 - 1e-5));
    }
}

/* Embeds and compares everything with LAPACK. Eigenvalues are as accurate as residual^2 over the
 * distance to the rest of the spectrum, and never worse than the residual. */
static void check_embedding(const huddle_csr *graph, const huddle_embed_options *options,
                            double accuracy, huddle_embed_info *info) {
    huddle_embedding e;
    double residual, defect, *expected = reference_eigenvalues(graph);
    int64_t c = options->n_components;
    assert_ok(huddle_embed(NULL, graph, options, &e, info));
    assert_int_equal(e.vectors.rows, graph->rows);
    assert_int_equal(e.vectors.cols, c);
    assert_true(e.n_eigenvalues >= c);
    for (int64_t k = 0; k < c; k++)
        assert_close(e.eigenvalues[k], expected[k], accuracy);
    for (int64_t k = 1; k < e.n_eigenvalues; k++)
        assert_true(e.eigenvalues[k] >= e.eigenvalues[k - 1] - 1e-12);
    recompute(graph, &e, &residual, &defect);
    assert_true(residual <= options->tol || info->stop != HUDDLE_STOP_CONVERGED);
    assert_close(info->residual, residual, 1e-12);
    assert_true(defect < 1e-9);
    check_signs(&e.vectors);
    huddle_embedding_free(&e);
    free(expected);
}

static void check_all_solvers(huddle_csr graph, int32_t c, double accuracy) {
    for (const char *const *solver = huddle_embed_solvers(); *solver != NULL; solver++) {
        huddle_embed_options options = huddle_embed_defaults();
        huddle_embed_info info;
        options.n_components = c;
        options.solver = *solver;
        options.tol = strcmp(*solver, "arpack") == 0 ? 1e-6 : 1e-4;
        check_embedding(&graph, &options, accuracy, &info);
        assert_true(info.stop == HUDDLE_STOP_CONVERGED || info.stop == HUDDLE_STOP_EXACT);
    }
    huddle_csr_free(&graph);
}

/* ---- eigenpairs ---------------------------------------------------------------------------- */

static void neighbour_graphs_match_lapack(void **state) {
    (void)state;
    static const int64_t sizes[] = {60, 150, 400, 900};
    for (int i = 0; i < 4; i++)
        for (int32_t c = 2; c <= 12; c += 5)
            check_all_solvers(neighbour_graph(sizes[i], (uint64_t)i), c, 1e-5);
}

static void components_come_first_and_exactly(void **state) {
    (void)state;
    huddle_csr graph = chain_of_clouds(300, 3, 0);
    huddle_embed_options options = huddle_embed_defaults();
    huddle_embed_info info;
    huddle_embedding e;
    check_all_solvers(chain_of_clouds(300, 3, 0), 8, 1e-6);
    options.n_components = 5;
    options.solver = "chebyshev";
    assert_ok(huddle_embed(NULL, &graph, &options, &e, &info));
    assert_int_equal(info.components, 3);
    for (int64_t i = 0; i < 300; i++)
        for (int64_t k = 0; k < 3; k++)
            assert_true((e.vectors.values[i * 5 + k] > 0) == (i / 100 == k));
    for (int k = 0; k < 3; k++)
        assert_true(e.eigenvalues[k] == 0);
    assert_true(e.eigenvalues[3] > 0);
    huddle_embedding_free(&e);
    options.n_components = 3;
    assert_ok(huddle_embed(NULL, &graph, &options, &e, &info));
    assert_true(info.stop == HUDDLE_STOP_EXACT && isnan(info.gap) && !info.cuts_cluster);
    assert_string_equal(info.verified, "inertia");
    huddle_embedding_free(&e);
    options.n_components = 2;
    assert_ok(huddle_embed(NULL, &graph, &options, &e, &info));
    assert_true(info.stop == HUDDLE_STOP_EXACT && info.gap == 0 && info.cuts_cluster);
    for (int64_t i = 200; i < 300; i++)
        assert_true(e.rows.values[2 * i] == 0 && e.rows.values[2 * i + 1] == 0);
    huddle_embedding_free(&e);
    huddle_csr_free(&graph);
}

static void larger_components_come_first(void **state) {
    (void)state;
    sketch s = new_sketch(10);
    join(s, 0, 1, 1);
    join(s, 2, 3, 1);
    join(s, 3, 4, 1);
    join(s, 5, 6, 1);
    join(s, 6, 7, 1); /* 8 and 9 stay alone */
    huddle_csr graph = to_csr(s);
    huddle_embed_options options = huddle_embed_defaults();
    huddle_embedding e;
    static const int64_t first[] = {2, 5, 0, 8, 9};
    options.n_components = 5;
    assert_ok(huddle_embed(NULL, &graph, &options, &e, NULL));
    for (int64_t k = 0; k < 5; k++)
        assert_true(e.vectors.values[first[k] * 5 + k] > 0);
    assert_true(e.vectors.values[8 * 5 + 3] == 1);
    huddle_embedding_free(&e);
    huddle_csr_free(&graph);
}

static void nearly_disconnected_clusters_are_all_found(void **state) {
    (void)state;
    static const double weights[] = {1e-2, 1e-4, 1e-6};
    for (int i = 0; i < 3; i++) {
        huddle_csr graph = chain_of_clouds(800, 10, weights[i]);
        huddle_embed_options options = huddle_embed_defaults();
        huddle_embed_info info;
        options.n_components = 10;
        for (int chebyshev = 0; chebyshev < 2; chebyshev++) {
            options.solver = chebyshev ? "chebyshev" : "dense";
            check_embedding(&graph, &options, 1e-6, &info);
            assert_false(info.cuts_cluster);
            assert_true(info.gap > 1e-3);
        }
        huddle_csr_free(&graph);
    }
}

static void special_graphs_match_lapack(void **state) {
    (void)state;
    for (int32_t c = 1; c <= 6; c += 5) {
        check_all_solvers(path_graph(100), c, 1e-5);
        check_all_solvers(star_graph(100), c, 1e-6);
        check_all_solvers(complete_graph(100), c, 1e-6);
        check_all_solvers(bipartite_graph(30, 70), c, 1e-6);
    }
}

/* Dozens of eigenvalues equal but for rounding. A single vector may miss some of them, but must not
 * claim otherwise. */
static void weights_of_any_size_are_fine(void **state) {
    (void)state;
    huddle_csr graph = wild_graph(200);
    for (const char *const *solver = huddle_embed_solvers(); *solver != NULL; solver++) {
        huddle_embed_options options = huddle_embed_defaults();
        huddle_embed_info info;
        huddle_embedding e;
        options.n_components = 6;
        options.solver = *solver;
        assert_ok(huddle_embed(NULL, &graph, &options, &e, &info));
        assert_true(e.eigenvalues[5] < 1e-3 || strcmp(info.verified, "none") == 0);
        assert_true(info.residual < 2e-4);
        assert_true(info.cuts_cluster || strcmp(*solver, "arpack") == 0);
        huddle_embedding_free(&e);
    }
    huddle_csr_free(&graph);
}

static void isolated_vertices_are_components(void **state) {
    (void)state;
    sketch s = new_sketch(120);
    join_neighbours(s, 2, 119, 3);
    for (int64_t i = 2; i + 1 < 119; i++)
        if (s.w[i * 120 + i + 1] == 0)
            join(s, i, i + 1, .1);
    huddle_csr graph = to_csr(s);
    huddle_embed_options options = huddle_embed_defaults();
    huddle_embed_info info;
    options.n_components = 6;
    for (const char *const *solver = huddle_embed_solvers(); *solver != NULL; solver++) {
        options.solver = *solver;
        check_embedding(&graph, &options, 1e-5, &info);
        assert_int_equal(info.components, 4);
    }
    huddle_csr_free(&graph);
}

static void small_and_full_sizes_work(void **state) {
    (void)state;
    check_all_solvers(path_graph(1), 1, 1e-9);
    check_all_solvers(path_graph(2), 1, 1e-9);
    check_all_solvers(path_graph(2), 2, 1e-9);
    check_all_solvers(complete_graph(3), 3, 1e-9);
    check_all_solvers(star_graph(7), 7, 1e-9);
    check_all_solvers(neighbour_graph(80, 1), 80, 1e-9);
    check_all_solvers(neighbour_graph(80, 1), 79, 1e-9);
}

static void tight_tolerances_are_met_in_double(void **state) {
    (void)state;
    huddle_csr graph = neighbour_graph(400, 8);
    huddle_embed_options options = huddle_embed_defaults();
    huddle_embed_info info;
    options.solver = "chebyshev";
    options.n_components = 7;
    static const double tolerances[] = {1e-2, 1e-5, 1e-6, 1e-8, 1e-11};
    for (int i = 0; i < 5; i++) {
        options.tol = tolerances[i];
        check_embedding(&graph, &options, tolerances[i], &info);
        assert_int_equal(info.stop, HUDDLE_STOP_CONVERGED);
    }
    huddle_csr_free(&graph);
}

static void a_longer_embedding_begins_with_the_shorter(void **state) {
    (void)state;
    huddle_csr graph = neighbour_graph(500, 4);
    huddle_embed_options options = huddle_embed_defaults();
    huddle_embedding small, large;
    options.solver = "chebyshev";
    options.tol = 1e-8;
    options.n_components = 5;
    assert_ok(huddle_embed(NULL, &graph, &options, &small, NULL));
    options.n_components = 20;
    assert_ok(huddle_embed(NULL, &graph, &options, &large, NULL));
    for (int64_t i = 0; i < 500; i++)
        for (int64_t k = 0; k < 5; k++)
            assert_close(large.vectors.values[i * 20 + k], small.vectors.values[i * 5 + k], 1e-5);
    huddle_embedding_free(&small);
    huddle_embedding_free(&large);
    huddle_csr_free(&graph);
}

/* ---- outcomes ------------------------------------------------------------------------------ */

static void a_limit_is_an_outcome(void **state) {
    (void)state;
    huddle_csr graph = path_graph(900);
    huddle_embed_options options = huddle_embed_defaults();
    huddle_embed_info info;
    huddle_embedding e;
    double residual, defect;
    options.n_components = 6;
    options.tol = 1e-10;
    options.max_iter = 1;
    static const char *const iterative[] = {"chebyshev", "arpack"};
    for (int i = 0; i < 2; i++) {
        options.solver = iterative[i];
        assert_ok(huddle_embed(NULL, &graph, &options, &e, &info));
        assert_int_equal(info.stop, HUDDLE_STOP_MAX_ITER);
        assert_int_equal(info.n_iter, 1);
        assert_string_equal(info.solver, iterative[i]);
        recompute(&graph, &e, &residual, &defect);
        assert_close(info.residual, residual, 1e-12);
        assert_true(residual > 1e-10 && residual < .1 && defect < 1e-9);
        huddle_embedding_free(&e);
    }
    huddle_csr_free(&graph);
}

static void a_cut_cluster_is_reported(void **state) {
    (void)state;
    huddle_csr graph = chain_of_clouds(600, 10, 1e-7);
    huddle_embed_options options = huddle_embed_defaults();
    huddle_embed_info info;
    options.n_components = 5;
    options.solver = "chebyshev";
    check_embedding(&graph, &options, 1e-6, &info);
    assert_true(info.cuts_cluster && info.gap < 1e-6);
    huddle_csr_free(&graph);
}

static int cancel_at_once(void *user, const char *stage, double done, double total) {
    assert_string_equal(stage, "embed");
    assert_true(done >= 0 && total > 0);
    ++*(int *)user;
    return 1;
}

static void cancelling_is_honoured(void **state) {
    (void)state;
    huddle_csr graph = path_graph(300);
    huddle_embed_options options = huddle_embed_defaults();
    huddle_embedding e;
    huddle_context *context;
    int calls = 0;
    options.tol = 1e-9;
    for (const char *const *solver = huddle_embed_solvers(); *solver != NULL; solver++) {
        assert_ok(huddle_context_new(&context));
        huddle_context_set_progress(context, cancel_at_once, &calls);
        options.solver = *solver;
        assert_refused(huddle_embed(context, &graph, &options, &e, NULL), HUDDLE_CANCELLED,
                       "cancelled");
        assert_null(e.vectors.values);
        huddle_context_free(context);
    }
    assert_int_equal(calls, 3);
    huddle_csr_free(&graph);
}

static void threads_do_not_change_a_bit(void **state) {
    (void)state;
    huddle_csr graph = chain_of_clouds(1500, 6, 1e-2);
    huddle_embed_options options = huddle_embed_defaults();
    huddle_embedding alone, e;
    options.n_components = 40;
    options.solver = "chebyshev";
    assert_ok(huddle_embed(NULL, &graph, &options, &alone, NULL));
    for (int32_t threads = 2; threads <= 5; threads += 3) {
        huddle_context *context;
        assert_ok(huddle_context_new(&context));
        assert_ok(huddle_context_set_threads(context, threads));
        assert_ok(huddle_embed(context, &graph, &options, &e, NULL));
        assert_memory_equal(e.vectors.values, alone.vectors.values, 1500 * 40 * sizeof(double));
        huddle_embedding_free(&e);
        huddle_context_free(context);
    }
    huddle_embedding_free(&alone);
    huddle_csr_free(&graph);
}

static void every_instruction_set_works(void **state) {
    (void)state;
    static const char *const sets[] = {"base", "avx2", "avx512"};
    for (int i = 0; i < 3; i++)
        for (int32_t c = 8; c <= 60; c += 26) {
            huddle_csr graph = neighbour_graph(300, 2);
            huddle_embed_options options = huddle_embed_defaults();
            huddle_embed_info info;
            options.n_components = c;
            options.solver = "chebyshev";
            setenv("HUDDLE_ISA", sets[i], 1);
            check_embedding(&graph, &options, 1e-5, &info);
            unsetenv("HUDDLE_ISA");
            huddle_csr_free(&graph);
        }
}

/* ---- bad input ----------------------------------------------------------------------------- */

static void bad_graphs_are_refused(void **state) {
    (void)state;
    int64_t offsets[] = {0, 1, 2};
    int32_t columns[] = {1, 0};
    double values[] = {1, 1};
    huddle_csr graph = {2, 2, offsets, columns, values};
    huddle_embed_options options = huddle_embed_defaults();
    huddle_embedding e;
    options.n_components = 2;
    assert_ok(huddle_embed(NULL, &graph, &options, &e, NULL));
    huddle_embedding_free(&e);
    values[1] = 1.001;
    assert_refused(huddle_embed(NULL, &graph, &options, &e, NULL), HUDDLE_INVALID, "not symmetric");
    values[0] = values[1] = -1;
    assert_refused(huddle_embed(NULL, &graph, &options, &e, NULL), HUDDLE_INVALID, "negative");
    values[0] = values[1] = NAN;
    assert_refused(huddle_embed(NULL, &graph, &options, &e, NULL), HUDDLE_INVALID, "not a number");
    values[0] = values[1] = 1;
    graph.cols = 3;
    assert_refused(huddle_embed(NULL, &graph, &options, &e, NULL), HUDDLE_INVALID, "2 x 3");
    graph.cols = 2;
    columns[1] = 1;
    assert_refused(huddle_embed(NULL, &graph, &options, &e, NULL), HUDDLE_INVALID, "not symmetric");
    columns[1] = 0;
    options.n_components = 3;
    assert_refused(huddle_embed(NULL, &graph, &options, &e, NULL), HUDDLE_INVALID,
                   "n_components = 3 is more than the 2 vertices");
    options.n_components = 0;
    assert_refused(huddle_embed(NULL, &graph, &options, &e, NULL), HUDDLE_INVALID,
                   "n_components = 0");
    options = huddle_embed_defaults();
    options.solver = "abacus";
    assert_refused(huddle_embed(NULL, &graph, &options, &e, NULL), HUDDLE_INVALID, "abacus");
    graph = (huddle_csr){0, 0, offsets, columns, values};
    assert_refused(huddle_embed(NULL, &graph, NULL, &e, NULL), HUDDLE_INVALID, "n_components");
}

static void edges_of_weight_zero_join_nothing(void **state) {
    (void)state;
    int64_t offsets[] = {0, 2, 3, 5, 6};
    int32_t columns[] = {1, 2, 0, 0, 3, 2};
    double values[] = {1, 0, 1, 0, 3, 3};
    huddle_csr graph = {4, 4, offsets, columns, values};
    huddle_embed_options options = huddle_embed_defaults();
    huddle_embed_info info;
    huddle_embedding e;
    options.n_components = 3;
    assert_ok(huddle_embed(NULL, &graph, &options, &e, &info));
    assert_int_equal(info.components, 2);
    assert_close(e.eigenvalues[2], 2, 1e-12);
    huddle_embedding_free(&e);
}

/* ---- row rules and the number of clusters -------------------------------------------------- */

static void row_rules_do_what_they_say(void **state) {
    (void)state;
    double in[] = {3, 4, 7, 0, 0, 7, 1, -1, 7}, out[6], degrees[] = {4, 0, 1};
    huddle_dense v = {3, 3, 3, in}, f = {3, 2, 2, out};
    assert_ok(huddle_embed_rows(&v, NULL, "unit", &f));
    static const double unit[] = {.6, .8, 0, 0, .70710678118654752, -.70710678118654752};
    for (int i = 0; i < 6; i++)
        assert_close(out[i], unit[i], 1e-15);
    assert_ok(huddle_embed_rows(&v, NULL, "sym", &f));
    assert_true(out[0] == 3 && out[5] == -1);
    assert_ok(huddle_embed_rows(&v, degrees, "rw", &f));
    assert_true(out[0] == 1.5 && out[1] == 2 && out[2] == 0 && out[4] == 1);
    assert_refused(huddle_embed_rows(&v, NULL, "rw", &f), HUDDLE_INVALID, "degrees");
    assert_refused(huddle_embed_rows(&v, NULL, "odd", &f), HUDDLE_INVALID, "rows = odd");
    f.rows = 2;
    assert_refused(huddle_embed_rows(&v, NULL, "sym", &f), HUDDLE_INVALID, "2 x 2");
}

static huddle_spectrum spectrum_of(int64_t n, int32_t components, int32_t count,
                                   const double *eigenvalues, const double *extents) {
    return (huddle_spectrum){n, components, count, eigenvalues, count, extents};
}

static void the_eigengap_chooses(void **state) {
    (void)state;
    double lambda[] = {0, .01, .02, .3, .31, .5, .51, .52};
    huddle_embed_choice choice;
    huddle_spectrum s = spectrum_of(100, 1, 8, lambda, NULL);
    assert_ok(huddle_embed_choose(&s, 0, 0, &choice));
    assert_int_equal(choice.count, 5);
    assert_int_equal(choice.candidates[0], 3);
    assert_close(choice.scores[0], .28 / .3, 1e-12);
    assert_close(huddle_embed_gap(&s, 3), .28 / .3, 1e-12);
    assert_int_equal(choice.candidates[1], 2);
    assert_int_equal(choice.candidates[2], 5);
    assert_true(isnan(huddle_embed_gap(&s, 8)) && isnan(huddle_embed_gap(&s, 0)));
    assert_true(isnan(huddle_embed_gap(&s, 1))); /* one cluster has no gap to judge by */
    assert_ok(huddle_embed_choose(&s, 4, 7, &choice));
    assert_true(choice.count == 4 && choice.candidates[0] == 5);
    s.components = 4;
    assert_ok(huddle_embed_choose(&s, 0, 0, &choice));
    assert_int_equal(choice.candidates[0], 5);
    assert_int_equal(choice.count, 4);
    s = spectrum_of(15, 1, 8, lambda, NULL);
    assert_ok(huddle_embed_choose(&s, 0, 0, &choice));
    assert_int_equal(choice.count, 2);
    s.n = 8;
    assert_ok(huddle_embed_choose(&s, 0, 0, &choice));
    assert_true(choice.count == 1 && choice.candidates[0] == 2 && choice.scores[0] == 0);
    s = spectrum_of(1, 1, 1, lambda, NULL);
    assert_ok(huddle_embed_choose(&s, 0, 0, &choice));
    assert_int_equal(choice.candidates[0], 1);
    double tiny[] = {0, 1e-17, 1e-12, 1e-9, .4};
    s = spectrum_of(100, 1, 5, tiny, NULL);
    assert_ok(huddle_embed_choose(&s, 0, 0, &choice));
    assert_int_equal(choice.candidates[0], 4);
    s.n = 0;
    assert_refused(huddle_embed_choose(&s, 0, 0, &choice), HUDDLE_INVALID, "n = 0");
}

/* A clear gap further on counts for more than a wider one before it; without a clear one the widest
 * counts. */
static void the_last_clear_eigengap_chooses(void **state) {
    (void)state;
    double blobs[] = {0, 0, .001, .002, .02, .025, .03};
    huddle_spectrum s = spectrum_of(400, 2, 7, blobs, NULL);
    huddle_embed_choice choice;
    assert_ok(huddle_embed_choose(&s, 0, 0, &choice));
    assert_true(choice.candidates[0] == 4 && choice.candidates[1] == 2 && choice.n_clear == 2);
    assert_close(choice.scores[0], .9, 1e-12);
    assert_true(choice.scores[1] > .999);
    /* Two chains: 1, 4, 9 times a small number each. */
    double chains[] = {0, 0, .001, .0011, .004, .0044, .009};
    s = spectrum_of(400, 2, 7, chains, NULL);
    assert_ok(huddle_embed_choose(&s, 0, 0, &choice));
    assert_int_equal(choice.candidates[0], 2);
    double connected[] = {0, .001, .0035, .004, .013, .016, .017};
    s = spectrum_of(400, 1, 7, connected, NULL);
    assert_ok(huddle_embed_choose(&s, 0, 0, &choice));
    assert_true(choice.candidates[0] == 2 && choice.n_clear == 0);
}

/* A few points away from all others make an eigenvalue of 0, or nearly; that is no evidence. */
static void a_speck_does_not_decide_the_number_of_clusters(void **state) {
    (void)state;
    huddle_embed_choice choice;
    double lambda[] = {0, 0, .004, .006, .02, .022, .024};
    double extents[] = {380, 6.5, 250, 240, 100, 90, 80};
    huddle_spectrum s = spectrum_of(407, 2, 7, lambda, extents);
    assert_ok(huddle_embed_choose(&s, 0, 0, &choice));
    assert_int_equal(choice.candidates[0], 4); /* 3, and the speck */
    assert_int_equal(choice.small_components[0], 1);
    assert_close(choice.scores[0], .7, 1e-12);
    assert_true(isnan(huddle_embed_gap(&s, 2)));
    s.extents = NULL;
    assert_ok(huddle_embed_choose(&s, 0, 0, &choice));
    assert_true(choice.candidates[0] == 2 && choice.small_components[0] == 0);
    /* A speck that hangs by a thread; and one between the clusters' eigenvalues and the rest. */
    double thread[] = {0, 1e-4, .004, .006, .02, .022, .024};
    s = spectrum_of(407, 1, 7, thread, extents);
    assert_ok(huddle_embed_choose(&s, 0, 0, &choice));
    assert_true(choice.candidates[0] == 4 && choice.small_components[0] == 1);
    double late[] = {0, .004, .006, .012, .02, .022, .024};
    double late_extents[] = {380, 250, 240, 6.5, 100, 90, 80};
    s = spectrum_of(407, 1, 7, late, late_extents);
    assert_ok(huddle_embed_choose(&s, 0, 0, &choice));
    assert_true(choice.candidates[0] == 3 && choice.small_components[0] == 0);
    assert_close(choice.scores[0], .7, 1e-12);
    assert_true(isnan(huddle_embed_gap(&s, 4)));
}

/* A group that is large in itself or beside the mean cluster counts. */
static void small_clusters_are_not_small_components(void **state) {
    (void)state;
    huddle_embed_choice choice;
    double unequal[] = {0, 0, .002, .0023, .005, .006};
    double extents[] = {970, 18, 590, 490, 510, 400};
    huddle_spectrum s = spectrum_of(1020, 2, 6, unequal, extents);
    assert_ok(huddle_embed_choose(&s, 0, 0, &choice));
    assert_true(choice.candidates[0] == 2 && choice.small_components[0] == 0);
    double few[] = {0, 0, 0, 0, .2, .21};
    double of_ten[] = {9, 9, 9, 9, 8, 8};
    s = spectrum_of(40, 4, 6, few, of_ten);
    assert_ok(huddle_embed_choose(&s, 0, 0, &choice));
    assert_true(choice.candidates[0] == 4 && choice.small_components[0] == 0);
    /* Of many points, a group of 30 is a speck. */
    extents[1] = 30;
    s = spectrum_of(10000, 2, 6, unequal, extents);
    assert_ok(huddle_embed_choose(&s, 0, 0, &choice));
    assert_int_equal(choice.small_components[0], 1);
    assert_true(choice.candidates[0] > 2);
}

static void extents_count_vertices(void **state) {
    (void)state;
    double values[] = {.5, 0, 0, /**/ -.5, 3, 0, /**/ .5, 0, 0, /**/ .5, 4, 0}, extents[3];
    huddle_dense v = {.rows = 4, .cols = 3, .stride = 3, .values = values};
    assert_ok(huddle_embed_extents(&v, NULL, extents));
    assert_close(extents[0], 4, 1e-12);
    assert_close(extents[1], 625.0 / (81 + 256), 1e-12);
    assert_true(extents[2] == 0);
}

/* ---- any symmetric matrix ------------------------------------------------------------------ */

static void symmetric_matrices_give_their_largest_pairs(void **state) {
    (void)state;
    enum { N = 300, C = 6 };
    sketch s = new_sketch(N);
    double *full = malloc(sizeof(double) * N * N), values[N], bound = 0;
    hd_rng rng = hd_rng_stream(11, 0);
    for (int64_t i = 0; i < N; i++)
        for (int k = 0; k < 4; k++)
            join(s, i, hd_rng_below(&rng, N), hd_rng_normal(&rng) - .5);
    for (int64_t i = 0; i < N; i++) {
        double sum = 0;
        for (int64_t j = 0; j < N; j++)
            sum += fabs(s.w[i * N + j]);
        bound = fmax(bound, sum);
    }
    memcpy(full, s.w, sizeof(double) * N * N);
    huddle_csr matrix = to_csr(s);
    hd_blas_enter();
    assert_int_equal(LAPACKE_dsyev(LAPACK_ROW_MAJOR, 'N', 'L', N, full, N, values), 0);
    hd_blas_leave();
    for (const char *const *solver = huddle_embed_solvers(); *solver != NULL; solver++) {
        huddle_embed_options options = huddle_embed_defaults();
        huddle_embed_info info;
        huddle_embedding e;
        options.n_components = C;
        options.solver = *solver;
        options.rows = "rw";
        assert_ok(huddle_embed_symmetric(NULL, &matrix, -bound, bound, &options, &e, &info));
        for (int k = 0; k < C; k++)
            assert_close(e.eigenvalues[k], values[N - 1 - k], 1e-6);
        assert_true(info.residual < 2e-4 && info.components == 0 && e.degrees == NULL);
        assert_memory_equal(e.rows.values, e.vectors.values, N * C * sizeof(double));
        huddle_embedding_free(&e);
    }
    huddle_embedding e;
    assert_refused(huddle_embed_symmetric(NULL, &matrix, 1, 1, NULL, &e, NULL), HUDDLE_INVALID,
                   "[1, 1]");
    huddle_csr_free(&matrix);
    free(full);
}

/* ---- faults -------------------------------------------------------------------------------- */

static huddle_status embed_once(void *argument) {
    const huddle_embed_options *options = argument;
    huddle_csr graph = {0};
    huddle_embedding e = {0};
    int64_t n = 120;
    huddle_status status = huddle_csr_new(n, n, 4 * n, &graph);
    for (int64_t i = 0, at = 0; i < n && status == HUDDLE_OK; i++) {
        for (int64_t j = 0; j < n; j++) {
            int64_t apart = (j - i + n) % n;
            if (apart == 1 || apart == n - 1 || apart == 17 || apart == n - 17) {
                graph.columns[at] = (int32_t)j;
                graph.values[at++] = 1;
            }
        }
        graph.offsets[i + 1] = at;
    }
    if (status == HUDDLE_OK)
        status = huddle_embed(NULL, &graph, options, &e, NULL);
    huddle_embedding_free(&e);
    huddle_csr_free(&graph);
    return status;
}

static void every_allocation_may_fail(void **state) {
    (void)state;
    huddle_embed_options options = huddle_embed_defaults();
    for (const char *const *solver = huddle_embed_solvers(); *solver != NULL; solver++) {
        options.solver = *solver;
        options.n_components = 5;
        options.tol = 1e-4;
        test_each_allocation(embed_once, &options);
        options.n_components = 1;
        test_each_allocation(embed_once, &options);
    }
    options.solver = "chebyshev";
    options.n_components = 5;
    options.tol = 1e-9;
    test_each_allocation(embed_once, &options);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(neighbour_graphs_match_lapack),
        cmocka_unit_test(components_come_first_and_exactly),
        cmocka_unit_test(larger_components_come_first),
        cmocka_unit_test(nearly_disconnected_clusters_are_all_found),
        cmocka_unit_test(special_graphs_match_lapack),
        cmocka_unit_test(weights_of_any_size_are_fine),
        cmocka_unit_test(isolated_vertices_are_components),
        cmocka_unit_test(small_and_full_sizes_work),
        cmocka_unit_test(tight_tolerances_are_met_in_double),
        cmocka_unit_test(a_longer_embedding_begins_with_the_shorter),
        cmocka_unit_test(a_limit_is_an_outcome),
        cmocka_unit_test(a_cut_cluster_is_reported),
        cmocka_unit_test(cancelling_is_honoured),
        cmocka_unit_test(threads_do_not_change_a_bit),
        cmocka_unit_test(every_instruction_set_works),
        cmocka_unit_test(bad_graphs_are_refused),
        cmocka_unit_test(edges_of_weight_zero_join_nothing),
        cmocka_unit_test(row_rules_do_what_they_say),
        cmocka_unit_test(the_eigengap_chooses),
        cmocka_unit_test(the_last_clear_eigengap_chooses),
        cmocka_unit_test(a_speck_does_not_decide_the_number_of_clusters),
        cmocka_unit_test(small_clusters_are_not_small_components),
        cmocka_unit_test(extents_count_vertices),
        cmocka_unit_test(symmetric_matrices_give_their_largest_pairs),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
