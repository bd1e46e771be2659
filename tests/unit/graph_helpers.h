/* What the tests of graph share: small graphs and what must be true of every graph. */
#ifndef HUDDLE_TESTS_GRAPH_HELPERS_H
#define HUDDLE_TESTS_GRAPH_HELPERS_H

#include "huddle/graph.h"
#include "support/support.h"

static inline huddle_points points_of(const double *values, int64_t n, int64_t d) {
    huddle_points x;
    assert_ok(huddle_points_from_double(NULL, n, d, values, d, 1, &x));
    return x;
}

static inline huddle_neighbors neighbors_of(const huddle_points *x, int32_t k) {
    huddle_knn_options options = huddle_knn_defaults();
    huddle_neighbors out;
    options.n_neighbors = k;
    assert_ok(huddle_graph_knn(NULL, x, &options, &out, NULL));
    return out;
}

static inline double entry(const huddle_csr *a, int64_t i, int64_t j) {
    for (int64_t e = a->offsets[i]; e < a->offsets[i + 1]; e++)
        if (a->columns[e] == j)
            return a->values[e];
    return 0;
}

static inline void check_symmetric(const huddle_csr *a) {
    assert_ok(huddle_csr_check(a));
    for (int64_t i = 0; i < a->rows; i++)
        for (int64_t e = a->offsets[i]; e < a->offsets[i + 1]; e++) {
            assert_int_not_equal(a->columns[e], i);
            assert_true(a->values[e] > 0);
            assert_true(entry(a, a->columns[e], i) == a->values[e]);
        }
}
static inline huddle_csr graph_of(int64_t n, const int32_t (*edges)[2], int64_t count) {
    huddle_csr graph;
    huddle_dense full;
    assert_ok(huddle_dense_new(n, n, &full));
    for (int64_t e = 0; e < count; e++)
        full.values[edges[e][0] * n + edges[e][1]] = 1;
    assert_ok(huddle_graph_from_affinity_dense(NULL, &full, &graph));
    huddle_dense_free(&full);
    return graph;
}

#endif
