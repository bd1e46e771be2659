/* graph: weights, and what is made from known matrices. */
#include "base/context.h"
#include "base/rng.h"
#include "graph/common.h"
#include "unit/graph_helpers.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const rules[] = {"selftune", "mean", "knn", "global", "binary"};

/* ---- weights --------------------------------------------------------------------------------- */

static void weights_match_numpy(void **state) {
    (void)state;
    int64_t count;
    double *golden = test_golden("graph_weights.txt", &count);
    int64_t n = (int64_t)golden[0], d = (int64_t)golden[1];
    assert_int_equal(count, 3 + n * d + 5 * n * n);
    huddle_points x = points_of(golden + 3, n, d);
    huddle_neighbors lists = neighbors_of(&x, (int32_t)golden[2]);
    for (int r = 0; r < 5; r++) {
        const double *expected = golden + 3 + n * d + r * n * n;
        huddle_weight_options options = huddle_weight_defaults();
        huddle_csr graph;
        huddle_scale scale;
        options.scale = rules[r];
        assert_ok(huddle_graph_mean_distance(NULL, &x, "euclidean", 0, &options.mean_distance));
        assert_ok(huddle_graph_weigh(NULL, &lists, &options, &graph, &scale));
        check_symmetric(&graph);
        for (int64_t e = 0; e < n * n; e++)
            assert_close(entry(&graph, e / n, e % n), expected[e], 1e-6);
        assert_string_equal(scale.rule, rules[r]);
        /* The scale gives an edge its weight again. */
        for (int64_t i = 0; i < n; i++) {
            int32_t j = lists.index[i * lists.k];
            double s = scale.local != NULL ? scale.local[j] : 0;
            assert_close(huddle_graph_weight(&scale, i, s, lists.distance[i * lists.k]),
                         entry(&graph, i, j), 1e-14);
        }
        huddle_csr_free(&graph);
        huddle_scale_free(&scale);
    }
    huddle_neighbors_free(&lists);
    huddle_points_free(&x);
    free(golden);
}

/* The number replaces every rule; exponents have the bound of all weights. */
static void a_given_delta_is_that_of_all_edges(void **state) {
    (void)state;
    static const double deltas[] = {1e-3, .4, 3.5};
    int64_t count;
    double *golden = test_golden("graph_weights.txt", &count);
    huddle_points x = points_of(golden + 3, (int64_t)golden[0], (int64_t)golden[1]);
    huddle_neighbors lists = neighbors_of(&x, (int32_t)golden[2]);
    for (int k = 0; k < 3 * 5; k++) {
        huddle_weight_options options = {rules[k % 5], 1, deltas[k / 5]};
        huddle_csr graph;
        huddle_scale scale;
        assert_ok(huddle_graph_weigh(NULL, &lists, &options, &graph, &scale));
        check_symmetric(&graph);
        assert_string_equal(scale.rule, "delta");
        assert_true(scale.local == NULL);
        for (int64_t e = 0; e < lists.n * lists.k; e++) {
            double ratio = lists.distance[e] / deltas[k / 5];
            double expected = exp(fmax(-ratio * ratio, -20));
            assert_close(entry(&graph, e / lists.k, lists.index[e]), expected, 1e-12);
            assert_close(huddle_graph_weight(&scale, 0, 0, lists.distance[e]), expected, 1e-12);
        }
        huddle_csr_free(&graph);
        huddle_scale_free(&scale);
    }
    huddle_weight_options options = {rules[0], 1, 0};
    huddle_csr graph;
    assert_refused(huddle_graph_weigh(NULL, &lists, &options, &graph, NULL), HUDDLE_INVALID,
                   "delta = 0");
    huddle_neighbors_free(&lists);
    huddle_points_free(&x);
    free(golden);
}

static void duplicates_weigh_one_and_far_points_do_not_vanish(void **state) {
    (void)state;
    double values[] = {0, 0, 0, 0, 0, 0, 1, 1e-3, 2e-3, 1e6};
    huddle_points x = points_of(values, 10, 1);
    huddle_neighbors lists = neighbors_of(&x, 2);
    for (int r = 0; r < 5; r++) {
        huddle_weight_options options = {rules[r], 1, HUDDLE_AUTO};
        huddle_csr graph;
        huddle_scale scale;
        assert_ok(huddle_graph_weigh(NULL, &lists, &options, &graph, &scale));
        check_symmetric(&graph);
        assert_true(entry(&graph, 0, 1) == 1);
        for (int64_t e = 0; e < graph.offsets[10]; e++)
            assert_true(graph.values[e] >= exp(-20) && graph.values[e] <= 1);
        if (r == 0) {
            assert_true(scale.smallest > 0 && scale.local[0] == scale.smallest);
            assert_close(scale.smallest, 1e-3, 1e-6);
        }
        huddle_csr_free(&graph);
        huddle_scale_free(&scale);
    }
    huddle_neighbors_free(&lists);
    huddle_points_free(&x);
}

static void constant_points_weigh_one(void **state) {
    (void)state;
    double values[8] = {3, 3, 3, 3, 3, 3, 3, 3};
    huddle_points x = points_of(values, 8, 1);
    huddle_neighbors lists = neighbors_of(&x, 3);
    for (int r = 0; r < 5; r++) {
        huddle_weight_options options = {rules[r], 0, HUDDLE_AUTO};
        huddle_csr graph;
        huddle_scale scale;
        assert_ok(huddle_graph_weigh(NULL, &lists, &options, &graph, &scale));
        for (int64_t e = 0; e < graph.offsets[8]; e++)
            assert_true(graph.values[e] == 1);
        /* Without any positive distance a bridge gets the least weight there is. */
        double s = scale.local != NULL ? scale.local[1] : 0;
        double expected = r == 4 ? 1 : exp(-20);
        assert_close(huddle_graph_weight(&scale, 0, s, 1), expected, 1e-15);
        huddle_csr_free(&graph);
        huddle_scale_free(&scale);
    }
    huddle_neighbors_free(&lists);
    huddle_points_free(&x);
}

static void mean_distances_agree(void **state) {
    (void)state;
    enum { N = 3000, D = 1000 };
    huddle_points x, few;
    huddle_dense f;
    double exact = 0, sampled, again, dense;
    hd_rng rng = hd_rng_stream(2, 2);
    assert_ok(huddle_points_new(N, D, &x));
    for (int64_t e = 0; e < N * D; e++)
        x.values[e] = (float)hd_rng_normal(&rng);
    /* 4.5e6 pairs of 1000 features are sampled; a normal pair is sqrt(2 D) apart. */
    assert_ok(huddle_graph_mean_distance(NULL, &x, NULL, 1, &sampled));
    assert_ok(huddle_graph_mean_distance(NULL, &x, NULL, 1, &again));
    assert_true(sampled == again);
    assert_close(sampled, sqrt(2.0 * D), 1e-3);
    few = x;
    few.n = 40;
    few.d = 5;
    assert_ok(huddle_dense_new(40, 5, &f));
    for (int64_t i = 0; i < 40; i++)
        for (int64_t j = 0; j < 5; j++)
            f.values[i * 5 + j] = (double)x.values[i * D + j];
    assert_ok(huddle_graph_mean_distance(NULL, &few, "euclidean", 0, &exact));
    assert_ok(huddle_graph_mean_distance_dense(NULL, &f, 0, &dense));
    assert_close(exact, dense, 1e-12);
    double plain = 0, cosine = 0, cosines;
    for (int64_t i = 0; i < 40; i++)
        for (int64_t j = 0; j < i; j++) {
            const double *a = f.values + i * 5, *b = f.values + j * 5;
            double square = 0, product = 0, aa = 0, bb = 0;
            for (int k = 0; k < 5; k++) {
                square += (a[k] - b[k]) * (a[k] - b[k]);
                product += a[k] * b[k];
                aa += a[k] * a[k];
                bb += b[k] * b[k];
            }
            plain += sqrt(square) / (40 * 39 / 2);
            cosine += (1 - product / sqrt(aa * bb)) / (40 * 39 / 2);
        }
    assert_close(exact, plain, 1e-6);
    assert_ok(huddle_graph_mean_distance(NULL, &few, "cosine", 0, &cosines));
    assert_close(cosines, cosine, 1e-6);
    assert_refused(huddle_graph_mean_distance(NULL, &few, "taxi", 0, &exact), HUDDLE_INVALID,
                   "metric = taxi");
    huddle_dense_free(&f);
    huddle_points_free(&x);
}
/* ---- known matrices -------------------------------------------------------------------------- */

/* Both directions of an edge differ by rounding at most; the larger weight makes them equal. */
static void the_larger_weight_is_that_of_both_directions(void **state) {
    (void)state;
    int64_t offsets[] = {0, 2, 3, 4};
    int32_t columns[] = {1, 2, 0, 0};
    double values[] = {2, 7, 3, 5};
    huddle_csr a = {.rows = 3, .cols = 3, .offsets = offsets, .columns = columns, .values = values};
    huddle_csr graph;
    assert_ok(hd_graph_symmetrize(NULL, &a, &graph));
    check_symmetric(&graph);
    assert_true(entry(&graph, 0, 1) == 3 && entry(&graph, 0, 2) == 7);
    huddle_csr_free(&graph);
}

static void affinities_become_symmetric(void **state) {
    (void)state;
    double values[] = {9, 1, 0, 0, 3, .5, 0, 0, 0, 0, 0, .25, 2, 0, 0, 1};
    huddle_dense dense = {4, 4, 4, values};
    huddle_csr graph, sparse, again;
    assert_ok(huddle_graph_from_affinity_dense(NULL, &dense, &graph));
    check_symmetric(&graph);
    assert_true(entry(&graph, 0, 1) == 2 && entry(&graph, 0, 3) == 1); /* (A + A')/2 */
    assert_true(entry(&graph, 2, 3) == .125 && entry(&graph, 1, 2) == 0 && graph.offsets[4] == 6);
    assert_ok(huddle_csr_new(4, 4, 16, &sparse));
    for (int64_t e = 0; e < 16; e++) {
        sparse.offsets[e / 4 + 1] = e + 1;
        sparse.columns[e] = (int32_t)(e % 4);
        sparse.values[e] = values[e];
    }
    assert_ok(huddle_graph_from_affinity(NULL, &sparse, &again));
    assert_int_equal(again.offsets[4], 6);
    assert_memory_equal(again.values, graph.values, 6 * sizeof *graph.values);
    sparse.values[6] = -1;
    huddle_csr_free(&again);
    assert_refused(huddle_graph_from_affinity(NULL, &sparse, &again), HUDDLE_INVALID,
                   "row 2, column 3: -1 is negative");
    values[9] = NAN;
    huddle_csr_free(&graph);
    assert_refused(huddle_graph_from_affinity_dense(NULL, &dense, &graph), HUDDLE_INVALID,
                   "row 3, column 2: the value is not a number");
    dense.cols = 3;
    assert_refused(huddle_graph_from_affinity_dense(NULL, &dense, &graph), HUDDLE_INVALID, "4 x 3");
    huddle_csr_free(&sparse);
}

static void distances_become_lists(void **state) {
    (void)state;
    double values[] = {0, 2, 1, 1, 2, 0, 0, 5, 1, 0, 0, 4, 1, 5, 4, 0}, mean;
    static const int32_t expected[] = {2, 3, 2, 0, 1, 0, 0, 2};
    huddle_dense dense = {4, 4, 4, values};
    huddle_csr sparse;
    huddle_neighbors out;
    assert_ok(huddle_graph_from_distances_dense(NULL, &dense, 2, &out));
    assert_memory_equal(out.index, expected, sizeof expected);
    assert_ok(huddle_graph_mean_of_distances(NULL, &dense, &mean));
    assert_close(mean, 13.0 / 6, 1e-15);
    huddle_neighbors_free(&out);
    /* Sparse: only what is stored, duplicates at explicit 0, short lists. */
    assert_ok(huddle_csr_new(4, 4, 5, &sparse));
    memcpy(sparse.offsets, ((int64_t[]){0, 3, 4, 5, 5}), 5 * sizeof(int64_t));
    memcpy(sparse.columns, ((int32_t[]){0, 1, 2, 2, 1}), 5 * sizeof(int32_t));
    memcpy(sparse.values, ((double[]){0, 2, 1, 0, 0}), 5 * sizeof(double));
    assert_ok(huddle_graph_from_distances(NULL, &sparse, 2, &out));
    static const int32_t stored[] = {2, 1, 2, -1, 1, -1, -1, -1};
    assert_memory_equal(out.index, stored, sizeof stored);
    assert_true(isinf(out.distance[7]) && out.distance[2] == 0);
    for (int r = 0; r < 5; r++) {
        huddle_weight_options options = {rules[r], 1, HUDDLE_AUTO};
        huddle_csr graph;
        assert_ok(huddle_graph_weigh(NULL, &out, &options, &graph, NULL));
        check_symmetric(&graph);
        assert_int_equal(graph.offsets[4], 6);
        huddle_csr_free(&graph);
    }
    huddle_neighbors_free(&out);
    sparse.values[1] = -2;
    assert_refused(huddle_graph_from_distances(NULL, &sparse, 2, &out), HUDDLE_INVALID,
                   "row 1, column 2: -2 is negative");
    assert_refused(huddle_graph_from_distances_dense(NULL, &dense, 0, &out), HUDDLE_INVALID,
                   "n_neighbors = 0");
    huddle_csr_free(&sparse);
}

static void impossible_lists_are_refused(void **state) {
    (void)state;
    int32_t index[] = {1, 1};
    double distance[] = {1, 1};
    huddle_neighbors lists = {2, 1, index, distance};
    huddle_csr graph;
    assert_refused(huddle_graph_weigh(NULL, &lists, NULL, &graph, NULL), HUDDLE_INVALID,
                   "point 2: its neighbour 2");
    index[1] = 0;
    distance[0] = -1;
    assert_refused(huddle_graph_weigh(NULL, &lists, NULL, &graph, NULL), HUDDLE_INVALID,
                   "-1 is not a distance");
    huddle_weight_options options = {"global", -1, HUDDLE_AUTO};
    distance[0] = 1;
    assert_refused(huddle_graph_weigh(NULL, &lists, &options, &graph, NULL), HUDDLE_INVALID,
                   "mean_distance = -1");
}
int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(weights_match_numpy),
        cmocka_unit_test(a_given_delta_is_that_of_all_edges),
        cmocka_unit_test(duplicates_weigh_one_and_far_points_do_not_vanish),
        cmocka_unit_test(constant_points_weigh_one),
        cmocka_unit_test(mean_distances_agree),
        cmocka_unit_test(the_larger_weight_is_that_of_both_directions),
        cmocka_unit_test(affinities_become_symmetric),
        cmocka_unit_test(distances_become_lists),
        cmocka_unit_test(impossible_lists_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
