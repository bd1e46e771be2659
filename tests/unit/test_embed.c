/* embed: eigenpairs against LAPACK on graphs of every kind, by every solver; components. */
#include "base/blas.h"
#include "base/check.h"
#include "embed_graphs.h"

#include <lapacke.h>

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
        options.embed_solver = *solver;
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
    options.embed_solver = "chebyshev";
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
            options.embed_solver = chebyshev ? "chebyshev" : "dense";
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
        options.embed_solver = *solver;
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
        options.embed_solver = *solver;
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
    options.embed_solver = "chebyshev";
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
    options.embed_solver = "chebyshev";
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

static void a_limit_is_an_outcome(void **state) {
    (void)state;
    huddle_csr graph = path_graph(900);
    huddle_embed_options options = huddle_embed_defaults();
    huddle_embed_info info;
    huddle_embedding e;
    double residual, defect;
    options.n_components = 6;
    options.tol = 1e-10;
    options.embed_max_iter = 1;
    static const char *const iterative[] = {"chebyshev", "arpack"};
    for (int i = 0; i < 2; i++) {
        options.embed_solver = iterative[i];
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
    options.embed_solver = "chebyshev";
    check_embedding(&graph, &options, 1e-6, &info);
    assert_true(info.cuts_cluster && info.gap < 1e-6);
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
            options.embed_solver = "chebyshev";
            setenv("HUDDLE_ISA", sets[i], 1);
            check_embedding(&graph, &options, 1e-5, &info);
            unsetenv("HUDDLE_ISA");
            huddle_csr_free(&graph);
        }
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
        options.embed_solver = *solver;
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
                   "lower = 1 must be less than upper = 1");
    huddle_csr_free(&matrix);
    free(full);
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
        cmocka_unit_test(every_instruction_set_works),
        cmocka_unit_test(symmetric_matrices_give_their_largest_pairs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
