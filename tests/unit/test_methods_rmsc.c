/* Robust multi-view spectral clustering: the decomposition against NumPy and against what defines
 * it, views of noise, and the cases at the edges. */
#include "base/blas.h"
#include "base/rng.h"
#include "clouds.h"
#include "golden_matrices.h"
#include "method_fits.h"
#include "model/model.h"
#include "prepare/eigen.h"
#include "steps/chain.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 40, WORK = 80 * MOST, MANY_ROUNDS = 400 };

/* ---- NumPy --------------------------------------------------------------------------------- */

/* ||P||_* + lambda sum_v ||P_v - P||_1. */
static double objective_of(const hd_step_chain *chain, int32_t count) {
    int64_t n = chain->n, rank;
    double q[MOST * MOST], gram[MOST * MOST], vectors[MOST * MOST], values[MOST], work[WORK],
        objective;
    hd_step_chain_room room = {gram, vectors, values, work};
    assert_ok(hd_step_chain_threshold(NULL, n, chain->p, 1e-7, &room, q, &rank, &objective));
    for (int32_t v = 0; v < count; v++)
        objective += chain->sparsity * chain->deviation[v] * (double)n;
    return objective;
}

static void check_graph(const hd_step_chain *chain, const double *pi, const double *expected) {
    huddle_csr graph;
    int64_t n = chain->n;
    double dense[MOST * MOST] = {0};
    assert_ok(hd_step_chain_graph(chain, pi, 1, &graph));
    for (int64_t i = 0; i < n; i++)
        for (int64_t e = graph.offsets[i]; e < graph.offsets[i + 1]; e++) {
            assert_true(e == graph.offsets[i] || graph.columns[e] > graph.columns[e - 1]);
            assert_true(graph.values[e] > 0);
            dense[i * n + graph.columns[e]] = graph.values[e];
        }
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < n; j++) {
            assert_close(dense[i * n + j], expected[i * n + j], 1e-5);
            assert_true(dense[i * n + j] == dense[j * n + i]);
        }
    huddle_csr_free(&graph);
}

static const double *check_problem(const double *at) {
    int64_t n = (int64_t)at[0];
    int32_t count = (int32_t)at[1];
    hd_step_chain_options options = {HUDDLE_AUTO, at[3], at[4], 1e-14, (int32_t)at[5]};
    huddle_csr transitions[HD_FIT_MAX_VIEWS];
    hd_step_chain chain = {0};
    huddle_alternation_info rounds = {0};
    double factor = at[2], start[MOST], pi[MOST];
    at += 6;
    for (int32_t v = 0; v < count; v++, at += n * n) {
        huddle_csr graph = golden_sparse(n, at);
        assert_ok(hd_step_chain_transitions(&graph, &transitions[v]));
        huddle_csr_free(&graph);
    }
    options.sparsity = factor * hd_step_chain_auto(count, transitions);
    assert_ok(hd_step_chain_find(NULL, count, transitions, &options, &chain, &rounds));
    assert_close(chain.sparsity, at[0], 1e-9);
    assert_int_equal(chain.rank, (int64_t)at[1]);
    assert_close(chain.nuclear, at[2], 1e-7);
    assert_int_equal(rounds.n_iter, options.max_iter);
    assert_close(rounds.objective[rounds.n_iter], at[3], 1e-7);
    assert_close(objective_of(&chain, count), at[4], 1e-5);
    at += 5;
    for (int32_t v = 0; v < count; v++)
        assert_close(chain.deviation[v], *at++, 1e-7);
    for (int64_t e = 0; e < n * n; e++)
        assert_close(chain.p[e], *at++, 1e-7);
    for (int64_t i = 0; i < n; i++)
        start[i] = 1 / (double)n;
    assert_ok(hd_step_chain_stationary(&chain, start, pi));
    for (int64_t i = 0; i < n; i++)
        assert_close(pi[i], at[i], 1e-5);
    check_graph(&chain, pi, at + n);
    hd_step_chain_free(&chain);
    hd_fit_alternation_reset(&rounds);
    for (int32_t v = 0; v < count; v++)
        huddle_csr_free(&transitions[v]);
    return at + n + n * n;
}

static void chains_are_those_of_numpy(void **state) {
    (void)state;
    int64_t count;
    double *numbers = test_golden("rmsc.txt", &count);
    const double *at = numbers;
    for (int k = 0; k < 5; k++)
        at = check_problem(at);
    assert_true(at == numbers + count);
    free(numbers);
}

/* ---- singular values ----------------------------------------------------------------------- */

/* The norm of r r', and so the square of that of r, by powers. */
static double largest_singular_value(int64_t n, const double *r) {
    double u[MOST], w[MOST], norm = 0;
    for (int64_t i = 0; i < n; i++)
        u[i] = 1 + .1 * (double)i;
    for (int round = 0; round < 500; round++) {
        memset(w, 0, sizeof w);
        for (int64_t i = 0; i < n; i++) {
            double product = 0;
            for (int64_t j = 0; j < n; j++)
                product += r[i * n + j] * u[j];
            for (int64_t j = 0; j < n; j++)
                w[j] += r[i * n + j] * product;
        }
        norm = 0;
        for (int64_t j = 0; j < n; j++)
            norm += w[j] * w[j];
        norm = sqrt(norm);
        for (int64_t j = 0; j < n; j++)
            u[j] = norm > 0 ? w[j] / norm : 0;
    }
    return sqrt(norm);
}

/* Q is the minimum if and only if (X - Q) / limit has no singular value above 1 and the product
 * ||Q||_* with Q. */
static void thresholded_matrices_are_optimal(void **state) {
    (void)state;
    assert_true(hd_prepare_eigen_room(MOST) <= WORK);
    static const double limits[] = {1e-3, .3, 2, 5, 1e3};
    double x[MOST * MOST], q[MOST * MOST], gram[MOST * MOST], vectors[MOST * MOST], values[MOST],
        work[WORK];
    hd_step_chain_room room = {gram, vectors, values, work};
    for (int t = 0; t < 15; t++) {
        int64_t n = 1 + t * 37 % MOST, rank, order = 1 + t % 4 * 10;
        double limit = limits[t % 5], product = 0, sum;
        hd_rng rng = hd_rng_stream(3, (uint64_t)t);
        double left[MOST][MOST], right[MOST][MOST];
        for (int64_t i = 0; i < n; i++)
            for (int64_t k = 0; k < order && k < MOST; k++) {
                left[i][k] = hd_rng_normal(&rng);
                right[i][k] = hd_rng_normal(&rng);
            }
        for (int64_t e = 0; e < n * n; e++) {
            x[e] = 0;
            for (int64_t k = 0; k < order && k < MOST; k++)
                x[e] += left[e / n][k] * right[e % n][k] / 5;
        }
        assert_ok(hd_step_chain_threshold(NULL, n, x, limit, &room, q, &rank, &sum));
        assert_true(rank <= (order < n ? order : n));
        for (int64_t e = 0; e < n * n; e++) {
            x[e] = (x[e] - q[e]) / limit;
            product += x[e] * q[e];
        }
        assert_close(product, sum, 1e-8);
        assert_true(largest_singular_value(n, x) < 1 + 1e-6);
    }
}

/* All, some and none of the eigenvalues of a diagonal matrix. */
static void eigenpairs_above_a_limit_are_all_of_them(void **state) {
    (void)state;
    enum { N = 7 };
    for (int t = 0; t < 9; t++) {
        double matrix[N * N] = {0}, values[N], vectors[N * N], work[WORK], limit = t - .5;
        int64_t r, expected = t < N ? N - t : 0;
        for (int i = 0; i < N; i++)
            matrix[i * N + i] = (i * 3) % N; /* 0 .. 6 */
        hd_blas_enter();
        assert_ok(hd_prepare_eigen_above(N, matrix, limit, values, vectors, work, &r));
        hd_blas_leave();
        assert_int_equal(r, expected);
        for (int64_t k = 0; k < r; k++) {
            assert_close(values[k], (double)(t + k), 1e-12);
            for (int i = 0; i < N; i++)
                assert_close(fabs(vectors[k * N + i]), (i * 3) % N == t + k, 1e-12);
        }
    }
}

/* ---- the decomposition --------------------------------------------------------------------- */

/* Groups of points that are joined in every graph, and edges at random, different in each. */
static huddle_csr random_transitions(int64_t n, int64_t groups, uint64_t seed) {
    double a[MOST * MOST] = {0};
    hd_rng rng = hd_rng_stream(seed, 0);
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < i; j++)
            if (hd_rng_uniform(&rng) < (i % groups == j % groups ? .7 : .1))
                a[i * n + j] = a[j * n + i] = .2 + hd_rng_uniform(&rng);
    huddle_csr graph = golden_sparse(n, a), transitions;
    assert_ok(hd_step_chain_transitions(&graph, &transitions));
    huddle_csr_free(&graph);
    return transitions;
}

/* Rows are distributions, the violations become as small as was asked for, and no convex
 * combination with another chain is better than the one found with a penalty that stays. */
static void chains_are_feasible_and_nearly_optimal(void **state) {
    (void)state;
    for (int32_t count = 1; count <= 3; count += 2)
        for (int grows = 0; grows < 2; grows++) {
            hd_step_chain_options options = {HUDDLE_AUTO, 20, grows ? 1.05 : 1, 1e-9, 20000};
            huddle_csr transitions[3];
            hd_step_chain chain = {0}, other = {0};
            huddle_alternation_info rounds = {0};
            int64_t n = 30;
            for (int32_t v = 0; v < count; v++)
                transitions[v] = random_transitions(n, 3, 10 + (uint64_t)v);
            options.sparsity = 2 * hd_step_chain_auto(count, transitions);
            assert_ok(hd_step_chain_find(NULL, count, transitions, &options, &chain, &rounds));
            assert_int_equal(rounds.stop, HUDDLE_STOP_CONVERGED);
            assert_true(rounds.objective[rounds.n_iter] <= 1e-9);
            assert_true(rounds.objective[rounds.n_iter - 1] > 1e-9);
            for (int64_t i = 0; i < n; i++) {
                double sum = 0;
                for (int64_t j = 0; j < n; j++) {
                    assert_true(chain.p[i * n + j] >= 0);
                    sum += chain.p[i * n + j];
                }
                assert_close(sum, 1, 1e-12);
            }
            double best = objective_of(&chain, count);
            hd_step_chain blend = chain;
            blend.p = calloc((size_t)(n * n), sizeof *blend.p);
            for (int t = 0; t < 4 && !grows; t++) {
                options.sparsity = chain.sparsity * pow(2, t - 1.5);
                options.max_iter = 50;
                assert_ok(hd_step_chain_find(NULL, count, transitions, &options, &other, &rounds));
                for (int64_t e = 0; e < n * n; e++)
                    blend.p[e] = .99 * chain.p[e] + .01 * other.p[e];
                for (int32_t v = 0; v < count; v++) {
                    blend.deviation[v] = 0;
                    for (int64_t i = 0; i < n; i++) {
                        double row[MOST] = {0};
                        for (int64_t e = transitions[v].offsets[i];
                             e < transitions[v].offsets[i + 1]; e++)
                            row[transitions[v].columns[e]] = transitions[v].values[e];
                        for (int64_t j = 0; j < n; j++)
                            blend.deviation[v] += fabs(row[j] - blend.p[i * n + j]) / (double)n;
                    }
                }
                assert_true(objective_of(&blend, count) >= best - 1e-6);
                hd_step_chain_free(&other);
            }
            free(blend.p);
            hd_step_chain_free(&chain);
            hd_fit_alternation_reset(&rounds);
            for (int32_t v = 0; v < count; v++)
                huddle_csr_free(&transitions[v]);
        }
}

/* A large weight of the errors leaves a view as it is, a small one a chain of rank 1. */
static void the_weight_of_errors_decides_the_rank(void **state) {
    (void)state;
    const int64_t n = 30;
    huddle_csr transitions = random_transitions(n, 3, 1);
    for (int small = 0; small < 2; small++) {
        hd_step_chain_options options = {small ? 1e-3 : 10, 1, 1.1, 1e-7, MANY_ROUNDS};
        hd_step_chain chain = {0};
        huddle_alternation_info rounds = {0};
        assert_ok(hd_step_chain_find(NULL, 1, &transitions, &options, &chain, &rounds));
        assert_int_equal(rounds.stop, HUDDLE_STOP_CONVERGED);
        if (small)
            assert_int_equal(chain.rank, 1);
        else
            assert_close(chain.deviation[0], 0, 1e-4);
        hd_step_chain_free(&chain);
        hd_fit_alternation_reset(&rounds);
    }
    huddle_csr_free(&transitions);
}

/* ---- the distribution ---------------------------------------------------------------------- */

/* Two classes that are not joined share the start; a state that is left for good keeps next to
 * nothing, but something. */
static void distributions_of_reducible_chains_are_shared(void **state) {
    (void)state;
    double p[] = {.5, .5, 0, 0, 0, .25, .75, 0, 0, 0,  0, 0, 0,
                  1,  0,  0, 0, 1, 0,   0,   0, 0, .5, 0, .5};
    const double start[] = {.1, .2, .3, .2, .2};
    const double expected[] = {.1, .2, .35, .35, 0};
    const hd_step_chain chain = {.n = 5, .p = p};
    double pi[5];
    assert_ok(hd_step_chain_stationary(&chain, start, pi));
    for (int i = 0; i < 5; i++)
        assert_close(pi[i], expected[i], 1e-5);
    assert_true(pi[4] > 0);
}

/* A vertex without edges stays where it is. */
static void transitions_are_distributions(void **state) {
    (void)state;
    const double a[] = {0, 1, 3, 0, 1, 0, 0, 0, 3, 0, 0, 0, 0, 0, 0, 0};
    const double expected[] = {0, .25, .75, 0, 1, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 1};
    huddle_csr graph = golden_sparse(4, a), transitions;
    assert_ok(hd_step_chain_transitions(&graph, &transitions));
    for (int64_t i = 0; i < 4; i++)
        for (int64_t e = transitions.offsets[i]; e < transitions.offsets[i + 1]; e++)
            assert_close(transitions.values[e], expected[i * 4 + transitions.columns[e]], 1e-15);
    assert_int_equal(transitions.offsets[4], 5);
    huddle_csr_free(&graph);
    huddle_csr_free(&transitions);
}

/* ---- views --------------------------------------------------------------------------------- */

enum { CLOUDS = 3, EACH = 30, ROWS = CLOUDS * EACH, VIEWS = 4 };

/* Three clouds, `apart` or in one place; a point occurs `copies` times. */
static huddle_points make_clouds(double apart, int copies, uint64_t seed) {
    huddle_points x;
    assert_ok(huddle_points_new(ROWS, 3, &x));
    for (int64_t i = 0; i < ROWS; i++) {
        hd_rng rng = hd_rng_stream(seed, (uint64_t)(i / CLOUDS / copies * CLOUDS + i % CLOUDS));
        for (int64_t j = 0; j < 3; j++)
            x.values[i * x.stride + j] =
                (float)(hd_rng_normal(&rng) + (j == i % CLOUDS ? apart : 0));
    }
    return x;
}

static void free_points(int32_t count, huddle_points *x) {
    for (int32_t v = 0; v < count; v++)
        huddle_points_free(&x[v]);
}

/* options: names and values, ended by NULL. */
static huddle_model *fit_views(const char *method, int32_t count, const huddle_points *x,
                               const char *n_clusters, huddle_cache *cache,
                               const char *const *options) {
    huddle_model *model;
    assert_ok(huddle_model_new(method, &model));
    huddle_model_set_cache(model, cache);
    assert_ok(huddle_model_set_option(model, "n_clusters", n_clusters));
    assert_ok(huddle_model_set_option(model, "prepare", "none"));
    for (; *options != NULL; options += 2)
        assert_ok(huddle_model_set_option(model, options[0], options[1]));
    assert_ok(huddle_model_fit_views(NULL, model, count, x));
    return model;
}

static const char *const plain[] = {NULL};
static const char *const mean_graph[] = {"refine", "none", "view_weights", "equal", NULL};

/* Two views see the clouds, one is noise: with it the labels are as good as without. */
static void a_view_of_noise_is_tolerated(void **state) {
    (void)state;
    double ours = 0;
    for (uint64_t seed = 0; seed < 6; seed++) {
        huddle_points x[] = {make_clouds(3, 1, 100 + seed), make_clouds(3, 1, 200 + seed),
                             make_clouds(0, 1, 300 + seed)};
        huddle_model *model = fit_views("rmsc", 3, x, "3", NULL, plain);
        const huddle_alternation_info *rounds = huddle_model_alternation_info(model);
        ours += cloud_accuracy(ROWS, CLOUDS, huddle_model_labels(model, NULL)) / 6;
        assert_int_equal(rounds->stop, HUDDLE_STOP_CONVERGED);
        assert_true(rounds->objective[rounds->n_iter] <= 1e-5);
        huddle_model_free(model);
        free_points(3, x);
    }
    assert_true(ours > .97);
}

/* With one view and errors that cost much, the chain is the view's, and its graph is that of sc. */
static void one_view_without_errors_is_spectral_clustering(void **state) {
    (void)state;
    for (int copies = 1; copies <= 15; copies += 14) {
        huddle_points x = make_clouds(3, copies, 5), y = make_clouds(3, 1, 6);
        huddle_model *model = fit("rmsc", &x, "3",
                                  (const char *const[]){"prepare", "none", "sparsity", "100",
                                                        "rows", "sym", "chain_tol", "1e-10", NULL});
        huddle_model *sc =
            fit("sc", &x, "3",
                (const char *const[]){"prepare", "none", "refine", "none", "rows", "sym", NULL});
        huddle_dense rows = {0}, others = {0};
        int64_t n = model->fit.rows.n;
        assert_true(copies == 1 ? n == ROWS : n < ROWS / 2);
        for (int64_t i = 0; i < n; i++)
            assert_close(model->fit.embedding.f.degrees[i], sc->fit.embedding.f.degrees[i], 1e-3);
        for (int k = 0; k < 3; k++)
            assert_close(model->fit.embedding.f.eigenvalues[k], sc->fit.embedding.f.eigenvalues[k],
                         1e-4);
        assert_memory_equal(huddle_model_labels(model, NULL), huddle_model_labels(sc, NULL),
                            ROWS * sizeof(int32_t));
        assert_ok(huddle_model_transform(NULL, model, &y, &rows));
        assert_ok(huddle_model_transform(NULL, sc, &y, &others));
        for (int64_t i = 0; i < y.n; i++)
            for (int64_t k = 0; k < 3; k++)
                assert_close(fabs(rows.values[i * rows.stride + k]),
                             fabs(others.values[i * others.stride + k]), 1e-2);
        huddle_dense_free(&rows);
        huddle_dense_free(&others);
        huddle_model_free(model);
        huddle_model_free(sc);
        huddle_points_free(&x);
        huddle_points_free(&y);
    }
}

/* A chain may stay where it is, whether rows are merged or not; its graph has its components. */
static void edges_and_components_are_those_of_the_chain(void **state) {
    (void)state;
    for (int copies = 1; copies <= 15; copies += 14) {
        huddle_points x = make_clouds(60, copies, 5);
        huddle_model *model = fit_views("rmsc", 1, &x, "3", NULL,
                                        (const char *const[]){"sparsity", "0.03", "connect",
                                                              "false", "n_neighbors", "4", NULL});
        const huddle_csr *graph = &model->fit.graph.matrix;
        int64_t edges = 0;
        int32_t component[ROWS], components;
        char *info, expected[32];
        for (int64_t i = 0; i < graph->rows; i++)
            for (int64_t e = graph->offsets[i]; e < graph->offsets[i + 1]; e++)
                edges += graph->columns[e] > i;
        assert_true(graph->offsets[graph->rows] > 2 * edges);
        assert_ok(huddle_graph_components(NULL, graph, component, &components));
        assert_true(copies > 1 || components < model->fit.graph.connect.before);
        assert_ok(huddle_model_info_json(model, &info));
        snprintf(expected, sizeof expected, "\"edges\": %lld,", (long long)edges);
        assert_non_null(strstr(info, expected));
        assert_int_equal(model->fit.graph.connect.after, components);
        huddle_free(info);
        huddle_model_free(model);
        huddle_points_free(&x);
    }
}

/* With several views, merged or not: training rows keep their labels, also after saving, and new
 * points join their clouds. */
static void new_points_join_the_clusters(void **state) {
    (void)state;
    for (int copies = 1; copies <= 15; copies += 14) {
        huddle_points x[] = {make_clouds(5, copies, 7), make_clouds(5, copies, 8)};
        huddle_points y[] = {make_clouds(5, 1, 17), make_clouds(5, 1, 18)};
        huddle_model *model = fit_views("rmsc", 2, x, "3", NULL, plain), *loaded;
        int32_t labels[ROWS];
        assert_true(cloud_accuracy(ROWS, CLOUDS, huddle_model_labels(model, NULL)) == 1);
        for (int32_t v = 0; v < 2; v++) {
            assert_null(model->fit.views.items[v].graph.matrix.offsets);
            assert_close(model->fit.views.items[v].weight, .5, 1e-15);
        }
        assert_ok(huddle_model_save(model, test_path_of("rmsc.model")));
        assert_ok(huddle_model_load(test_path_of("rmsc.model"), &loaded));
        for (int k = 0; k < 2; k++) {
            huddle_model *from = k == 0 ? model : loaded;
            assert_ok(huddle_model_predict_views(NULL, from, 2, x, labels));
            assert_memory_equal(labels, huddle_model_labels(model, NULL), sizeof labels);
            assert_ok(huddle_model_predict_views(NULL, from, 2, y, labels));
            assert_true(cloud_accuracy(ROWS, CLOUDS, labels) > .95);
        }
        huddle_model_free(model);
        huddle_model_free(loaded);
        free_points(2, x);
        free_points(2, y);
    }
}

/* Graphs that another fit left in a cache: sc has the mean of the views there, rmsc the views. */
static void shared_graphs_are_not_confused(void **state) {
    (void)state;
    huddle_points x[] = {make_clouds(3, 1, 1), make_clouds(3, 1, 2)};
    for (int first = 0; first < 2; first++) {
        huddle_cache *cache;
        assert_ok(huddle_cache_new(&cache));
        for (int t = 0; t < 4; t++) {
            bool is_sc = t % 2 == first;
            const char *method = is_sc ? "sc" : "rmsc";
            huddle_model *alone = fit_views(method, 2, x, "3", NULL, is_sc ? mean_graph : plain);
            huddle_model *shared = fit_views(method, 2, x, "3", cache, is_sc ? mean_graph : plain);
            assert_memory_equal(alone->fit.embedding.f.degrees, shared->fit.embedding.f.degrees,
                                ROWS * sizeof(double));
            huddle_model_free(alone);
            huddle_model_free(shared);
        }
        huddle_cache_free(cache);
    }
    free_points(2, x);
}

/* ---- the edges ----------------------------------------------------------------------------- */

/* One cluster, as many as points, columns that say nothing, two points, all points equal; views of
 * which one is constant; a graph that is not connected. */
static void degenerate_points_are_clustered(void **state) {
    (void)state;
    static const char *const numbers[] = {"1", "2", "30"};
    huddle_points x[2];
    for (int v = 0; v < 2; v++)
        assert_ok(huddle_points_new(30, 4, &x[v]));
    for (int64_t i = 0; i < 30; i++)
        x[0].values[i * x[0].stride] = (float)(i * i); /* the others stay 0 */
    for (int k = 0; k < 3; k++)
        for (int32_t count = 1; count <= 2; count++) {
            huddle_model *model = fit_views("rmsc", count, x, numbers[k], NULL, plain);
            assert_int_equal(model->fit.clusters.n_clusters, atoi(numbers[k]));
            const huddle_dense *vectors = &model->fit.embedding.f.vectors;
            for (int64_t e = 0; e < vectors->rows * vectors->cols; e++)
                assert_true(isfinite(vectors->values[e]));
            huddle_model_free(model);
        }
    for (int64_t i = 0; i < 30; i++)
        x[0].values[i * x[0].stride] = (float)(i % 3 * 1000) + (float)i / 100;
    huddle_model *model =
        fit_views("rmsc", 1, x, "3", NULL,
                  (const char *const[]){"connect", "false", "n_neighbors", "4", NULL});
    for (int64_t i = 0; i < 30; i++)
        assert_int_equal(huddle_model_labels(model, NULL)[i], i % 3);
    huddle_model_free(model);
    for (int64_t i = 0; i < 30; i++)
        x[0].values[i * x[0].stride] = 7;
    huddle_model_free(fit_views("rmsc", 1, x, "2", NULL, plain));
    x[0].n = 2;
    x[0].values[0] = 1;
    huddle_model_free(fit_views("rmsc", 1, x, "2", NULL, plain));
    free_points(2, x);
}

/* Three groups of ten rows that are not joined, one of which has each point twice: as states of a
 * chain that is the view's its rows count as often as those of the others. */
static void groups_have_the_shares_of_their_rows(void **state) {
    (void)state;
    huddle_points x;
    double first = 0, total = 0;
    assert_ok(huddle_points_new(30, 1, &x));
    for (int64_t i = 0; i < 30; i++) {
        double place = i % 3 == 0 ? (double)(i / 6) : (double)i * .7;
        x.values[i * x.stride] = (float)((double)(i % 3) * 1000 + place);
    }
    huddle_model *model =
        fit_views("rmsc", 1, &x, "3", NULL,
                  (const char *const[]){"connect", "false", "n_neighbors", "4", "sparsity", "100",
                                        "chain_tol", "1e-9", NULL});
    const hd_fit *made = &model->fit;
    assert_int_equal(made->rows.n, 25);
    for (int64_t i = 0; i < made->rows.n; i++) {
        total += made->embedding.f.degrees[i];
        first += made->prepared.points.values[i] < 500 ? made->embedding.f.degrees[i] : 0;
    }
    assert_close(first / total, 1. / 3, 1e-4);
    huddle_model_free(model);
    huddle_points_free(&x);
}

static bool warns(const huddle_model *model, const char *part) {
    for (int64_t i = 0; i < model->fit.warnings.count; i++)
        if (strstr(model->fit.warnings.items[i].text, part) != NULL)
            return true;
    return false;
}

static void limits_are_explained(void **state) {
    (void)state;
    huddle_points x;
    huddle_model *model;
    assert_ok(huddle_points_new(5001, 1, &x));
    assert_ok(huddle_model_new("rmsc", &model));
    assert_ok(huddle_model_set_option(model, "n_clusters", "2"));
    assert_refused(huddle_model_fit(NULL, model, &x), HUDDLE_UNSUPPORTED,
                   "5000 points, not 5001, for which it would decompose matrices of 5001 x 5001");
    assert_refused(huddle_model_set_option(model, "sparsity", "0"), HUDDLE_INVALID, "sparsity");
    assert_refused(huddle_model_set_option(model, "penalty", "0"), HUDDLE_INVALID, "penalty");
    assert_refused(huddle_model_set_option(model, "penalty_growth", "0.9"), HUDDLE_INVALID,
                   "penalty_growth");
    huddle_model_free(model);
    huddle_points_free(&x);
    x = make_clouds(3, 1, 4);
    model = fit("rmsc", &x, "3", (const char *const[]){"chain_max_iter", "3", NULL});
    assert_int_equal(huddle_model_alternation_info(model)->stop, HUDDLE_STOP_MAX_ITER);
    assert_int_equal(huddle_model_alternation_info(model)->n_iter, 3);
    assert_true(warns(model, "after 3 rounds, more than chain_tol"));
    huddle_model_free(model);
    huddle_points_free(&x);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(chains_are_those_of_numpy),
        cmocka_unit_test(thresholded_matrices_are_optimal),
        cmocka_unit_test(eigenpairs_above_a_limit_are_all_of_them),
        cmocka_unit_test(chains_are_feasible_and_nearly_optimal),
        cmocka_unit_test(the_weight_of_errors_decides_the_rank),
        cmocka_unit_test(distributions_of_reducible_chains_are_shared),
        cmocka_unit_test(transitions_are_distributions),
        cmocka_unit_test(a_view_of_noise_is_tolerated),
        cmocka_unit_test(one_view_without_errors_is_spectral_clustering),
        cmocka_unit_test(edges_and_components_are_those_of_the_chain),
        cmocka_unit_test(new_points_join_the_clusters),
        cmocka_unit_test(shared_graphs_are_not_confused),
        cmocka_unit_test(degenerate_points_are_clustered),
        cmocka_unit_test(groups_have_the_shares_of_their_rows),
        cmocka_unit_test(limits_are_explained),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
