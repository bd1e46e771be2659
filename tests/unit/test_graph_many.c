/* graph: lists of so many points that their graph is made in several blocks. */
#include "huddle/graph.h"
#include "support/support.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Vertices of more than two blocks of the transpose (symmetrize.c). */
enum { N = 300000, K = 3 };

/* Far neighbours of i, which nobody else has: (i + step) mod N. Every third list is one shorter. */
static huddle_neighbors make_lists(void) {
    static const int64_t steps[K] = {7, 140001, 299000};
    huddle_neighbors lists = {.n = N, .k = K};
    lists.index = malloc(sizeof *lists.index * N * K);
    lists.distance = malloc(sizeof *lists.distance * N * K);
    assert_true(lists.index != NULL && lists.distance != NULL);
    for (int64_t i = 0; i < N; i++)
        for (int64_t c = 0; c < K; c++) {
            bool empty = c == K - 1 && i % 3 == 0;
            lists.index[i * K + c] = empty ? -1 : (int32_t)((i + steps[c]) % N);
            lists.distance[i * K + c] = 1 + (double)(i % 11) / 20 + (double)c / 10;
        }
    return lists;
}

static void free_lists(huddle_neighbors *lists) {
    free(lists->index);
    free(lists->distance);
}

/* The weight of edge (i, j), or -1. */
static double find_weight(const huddle_csr *graph, int64_t i, int32_t j) {
    for (int64_t e = graph->offsets[i]; e < graph->offsets[i + 1]; e++)
        if (graph->columns[e] == j)
            return graph->values[e];
    return -1;
}

static void both_directions_are_there(void **state) {
    (void)state;
    huddle_neighbors lists = make_lists();
    huddle_weight_options options = huddle_weight_defaults();
    huddle_csr graph;
    huddle_scale scale;
    int64_t edges = 0;
    options.scale = "mean";
    assert_ok(huddle_graph_weigh(NULL, &lists, &options, &graph, &scale));
    assert_ok(huddle_csr_check(&graph));
    for (int64_t e = 0; e < N * K; e++) {
        int32_t i = (int32_t)(e / K), j = lists.index[e];
        if (j < 0)
            continue;
        double ratio = lists.distance[e] / sqrt(scale.delta2), weight = exp(-ratio * ratio);
        assert_close(find_weight(&graph, i, j), weight, 1e-12);
        assert_true(find_weight(&graph, j, i) == find_weight(&graph, i, j));
        edges++;
    }
    assert_int_equal(graph.offsets[N], 2 * edges);
    huddle_csr_free(&graph);
    huddle_scale_free(&scale);
    free_lists(&lists);
}

static void threads_do_not_matter(void **state) {
    (void)state;
    static const int32_t threads[] = {1, 2, 3, 8};
    huddle_neighbors lists = make_lists();
    huddle_csr graphs[2];
    for (int t = 0; t < 4; t++) {
        huddle_context *context;
        huddle_csr *graph = &graphs[t > 0];
        assert_ok(huddle_context_new(&context));
        assert_ok(huddle_context_set_threads(context, threads[t]));
        assert_ok(huddle_graph_weigh(context, &lists, NULL, graph, NULL));
        if (t > 0) {
            size_t entries = (size_t)graph->offsets[N];
            assert_memory_equal(graph->offsets, graphs[0].offsets, (N + 1) * sizeof(int64_t));
            assert_memory_equal(graph->columns, graphs[0].columns, entries * sizeof(int32_t));
            assert_memory_equal(graph->values, graphs[0].values, entries * sizeof(double));
            huddle_csr_free(graph);
        }
        huddle_context_free(context);
    }
    huddle_csr_free(&graphs[0]);
    free_lists(&lists);
}

/* The first of several bad lists is named, on any number of threads. */
static void first_bad_list_is_named(void **state) {
    (void)state;
    huddle_neighbors lists = make_lists();
    huddle_context *context;
    huddle_csr graph;
    assert_ok(huddle_context_new(&context));
    assert_ok(huddle_context_set_threads(context, 3));
    lists.index[K * 250000] = N;
    lists.distance[K * 9000 + 1] = NAN;
    assert_refused(huddle_graph_weigh(context, &lists, NULL, &graph, NULL), HUDDLE_INVALID,
                   "point 9001");
    huddle_context_free(context);
    free_lists(&lists);
}

static huddle_status weigh(void *argument) {
    huddle_csr graph;
    huddle_status status = huddle_graph_weigh(NULL, argument, NULL, &graph, NULL);
    huddle_csr_free(&graph);
    return status;
}

static void each_allocation_may_fail(void **state) {
    (void)state;
    huddle_neighbors lists = make_lists();
    test_each_allocation(weigh, &lists);
    free_lists(&lists);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(both_directions_are_there),
        cmocka_unit_test(threads_do_not_matter),
        cmocka_unit_test(first_bad_list_is_named),
        cmocka_unit_test(each_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
