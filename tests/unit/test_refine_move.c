/* refine: moves of single vertices, compared with the objective computed from scratch. */
#include "unit/refine_graphs.h"

static const char *const objectives[] = {"map", "modularity", "ncut"};
static const int kinds[] = {0, UNIT_WEIGHTS, LOOPS, LOOPS | ISOLATED | PARTS, UNIT_WEIGHTS | PARTS};
enum { OBJECTIVES = 3, KINDS = sizeof kinds / sizeof *kinds, CLUSTERS = 5 };

static huddle_refine_options move_options(const char *objective, int32_t max_sweeps) {
    huddle_refine_options options = huddle_refine_defaults();
    options.n_clusters = CLUSTERS;
    options.objective = objective;
    options.max_sweeps = max_sweeps;
    return options;
}

static void fill_labels(const dense_graph *g, uint64_t seed, int32_t *labels) {
    hd_rng rng = hd_rng_stream(seed, 5);
    for (int64_t i = 0; i < g->n; i++)
        labels[i] = i < CLUSTERS ? (int32_t)i : (int32_t)hd_rng_below(&rng, CLUSTERS);
}

static int64_t count_members(const dense_graph *g, const int32_t *labels, int32_t cluster) {
    int64_t count = 0;
    for (int64_t i = 0; i < g->n; i++)
        count += labels[i] == cluster;
    return count;
}

/* The lowest objective after one move of one vertex to the cluster of a neighbour. */
static double lowest_after_a_move(const dense_graph *g, int32_t *labels, const char *objective) {
    double lowest = INFINITY;
    for (int64_t i = 0; i < g->n; i++) {
        int32_t own = labels[i];
        if (count_members(g, labels, own) == 1)
            continue;
        for (int64_t j = 0; j < g->n; j++)
            if (g->w[i][j] > 0 && labels[j] != own) {
                labels[i] = labels[j];
                lowest = fmin(lowest, slow_objective(g, labels, objective));
                labels[i] = own;
            }
    }
    return lowest;
}

/* Each sweep lowers the objective, until no single move does. */
static void moves_end_in_a_local_optimum(void **state) {
    (void)state;
    for (int o = 0; o < OBJECTIVES; o++)
        for (int k = 0; k < KINDS; k++)
            for (uint64_t seed = 0; seed < 6; seed++) {
                dense_graph g = random_graph(45, .12, kinds[k], seed);
                huddle_csr graph = sparse_graph(&g);
                int32_t labels[MOST], n_sweeps = 0;
                fill_labels(&g, seed, labels);
                double begin = slow_objective(&g, labels, objectives[o]), before = begin;
                for (int32_t limit = 0; limit <= 200; limit++) {
                    huddle_refine_options options = move_options(objectives[o], limit);
                    fill_labels(&g, seed, labels);
                    assert_ok(huddle_refine_move(NULL, &graph, &options, labels, &n_sweeps));
                    double now = slow_objective(&g, labels, objectives[o]);
                    assert_true(now <= before + 1e-12 && n_sweeps <= limit);
                    before = now;
                    if (n_sweeps < limit)
                        break;
                }
                assert_true(n_sweeps > 1 && n_sweeps < 200);
                assert_true(before < begin - 1e-3);
                assert_true(lowest_after_a_move(&g, labels, objectives[o]) > before - 1e-10);
                for (int32_t c = 0; c < CLUSTERS; c++)
                    assert_true(count_members(&g, labels, c) > 0);
                huddle_csr_free(&graph);
            }
}

/* A single vertex stays in its cluster although it would rather leave. */
static void no_cluster_becomes_empty(void **state) {
    (void)state;
    dense_graph g = ring_of_groups(4, 5, 1, .1);
    huddle_csr graph = sparse_graph(&g);
    for (int o = 0; o < OBJECTIVES; o++) {
        huddle_refine_options options = move_options(objectives[o], 50);
        int32_t labels[20];
        for (int32_t i = 0; i < 20; i++)
            labels[i] = i / 5;
        labels[7] = 4;
        assert_ok(huddle_refine_move(NULL, &graph, &options, labels, NULL));
        for (int32_t c = 0; c < CLUSTERS; c++)
            assert_true(count_members(&g, labels, c) > 0);
    }
    huddle_csr_free(&graph);
}

/* Groups with a few wrong labels are found again. */
static void wrong_labels_are_corrected(void **state) {
    (void)state;
    dense_graph g = ring_of_groups(5, 8, 1, .2);
    huddle_csr graph = sparse_graph(&g);
    for (int o = 0; o < OBJECTIVES; o++) {
        huddle_refine_options options = move_options(objectives[o], 30);
        int32_t labels[40];
        for (int32_t i = 0; i < 40; i++)
            labels[i] = i % 8 < 2 ? (i / 8 + 1) % 5 : i / 8;
        assert_ok(huddle_refine_move(NULL, &graph, &options, labels, NULL));
        for (int32_t i = 0; i < 40; i++)
            assert_int_equal(labels[i], i / 8);
    }
    huddle_csr_free(&graph);
}

/* Loops much heavier than the edges, as of merged points: they move with their vertex, and count
 * once where an edge inside a cluster counts twice. */
static void loops_count_once(void **state) {
    (void)state;
    for (int o = 0; o < OBJECTIVES; o++)
        for (uint64_t seed = 0; seed < 20; seed++) {
            dense_graph g = random_graph(30, .15, 0, seed);
            hd_rng rng = hd_rng_stream(seed, 9);
            for (int64_t i = 0; i < g.n; i++)
                g.w[i][i] = (double)hd_rng_below(&rng, 200);
            huddle_csr graph = sparse_graph(&g);
            huddle_refine_options options = move_options(objectives[o], 100);
            int32_t labels[MOST];
            fill_labels(&g, seed, labels);
            assert_ok(huddle_refine_move(NULL, &graph, &options, labels, NULL));
            assert_true(lowest_after_a_move(&g, labels, objectives[o]) >
                        slow_objective(&g, labels, objectives[o]) - 1e-10);
            huddle_csr_free(&graph);
        }
}

/* Weights of any unit give the same labels: shares are what counts. */
static void the_unit_of_weights_does_not_matter(void **state) {
    (void)state;
    dense_graph g = random_graph(60, .1, LOOPS, 4);
    huddle_csr graph = sparse_graph(&g);
    huddle_refine_options options = move_options("map", 30);
    int32_t labels[MOST], scaled[MOST];
    fill_labels(&g, 1, labels);
    fill_labels(&g, 1, scaled);
    assert_ok(huddle_refine_move(NULL, &graph, &options, labels, NULL));
    for (int64_t e = 0; e < graph.offsets[g.n]; e++)
        graph.values[e] *= 0x1p-300;
    assert_ok(huddle_refine_move(NULL, &graph, &options, scaled, NULL));
    assert_memory_equal(labels, scaled, (size_t)g.n * sizeof *labels);
    huddle_csr_free(&graph);
}

static void bad_labels_are_refused(void **state) {
    (void)state;
    dense_graph g = ring_of_groups(2, 3, 1, .2);
    huddle_csr graph = sparse_graph(&g);
    huddle_refine_options options = move_options("map", 5);
    int32_t labels[6] = {0, 1, 2, 3, 4, 5};
    assert_refused(huddle_refine_move(NULL, &graph, &options, labels, NULL), HUDDLE_INVALID,
                   "vertex 6 has the label 5, not one of 0 to 4");
    labels[5] = -1;
    assert_refused(huddle_refine_move(NULL, &graph, &options, labels, NULL), HUDDLE_INVALID,
                   "vertex 6 has the label -1");
    options.n_clusters = 7;
    assert_refused(huddle_refine_move(NULL, &graph, &options, labels, NULL), HUDDLE_INVALID,
                   "n_clusters = 7 is outside [1, 6]");
    assert_refused(huddle_refine_move(NULL, &graph, &options, NULL, NULL), HUDDLE_INVALID,
                   "missing");
    options.n_clusters = HUDDLE_AUTO;
    labels[5] = INT32_MAX;
    assert_refused(huddle_refine_move(NULL, &graph, &options, labels, NULL), HUDDLE_INVALID,
                   "n_clusters = 2147483647 is outside [1, 6]");
    labels[5] = 3;
    assert_ok(huddle_refine_move(NULL, &graph, &options, labels, NULL));
    huddle_csr_free(&graph);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(moves_end_in_a_local_optimum),
        cmocka_unit_test(no_cluster_becomes_empty),
        cmocka_unit_test(wrong_labels_are_corrected),
        cmocka_unit_test(loops_count_once),
        cmocka_unit_test(the_unit_of_weights_does_not_matter),
        cmocka_unit_test(bad_labels_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
