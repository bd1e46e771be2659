/* Brute force in double, the truth that neighbour lists are compared with, and points to search. */
#ifndef HUDDLE_TESTS_GRAPH_BRUTE_H
#define HUDDLE_TESTS_GRAPH_BRUTE_H

#include "base/rng.h"
#include "huddle/graph.h"
#include "support/support.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char *const solvers[] = {"auto", "brute", "pcabound", "kdtree", "cells"};
enum { N_SOLVERS = 5 };

/* ---- brute force in double ------------------------------------------------------------------ */

static inline double coordinate(const huddle_points *x, int64_t i, int64_t j) {
    if (x->offsets == NULL)
        return (double)x->values[i * x->stride + j] + (x->shift != NULL ? x->shift[j] : 0);
    for (int64_t e = x->offsets[i]; e < x->offsets[i + 1]; e++)
        if (x->columns[e] == j)
            return (double)x->values[e];
    return 0;
}

static inline double norm(const huddle_points *x, int64_t i) {
    double sum = 0;
    for (int64_t j = 0; j < x->d; j++)
        sum += coordinate(x, i, j) * coordinate(x, i, j);
    return sqrt(sum);
}

static inline double true_distance(const huddle_points *a, int64_t i, const huddle_points *b,
                                   int64_t j, bool cosine) {
    double s = 1, t = 1, sum = 0;
    if (cosine) {
        s = norm(a, i);
        t = norm(b, j);
        if (s == 0 || t == 0)
            return s == t ? 0 : 1;
    }
    for (int64_t f = 0; f < a->d; f++) {
        double difference = coordinate(a, i, f) / s - coordinate(b, j, f) / t;
        sum += difference * difference;
    }
    return cosine ? sum / 2 : sqrt(sum);
}

typedef struct pair {
    double distance;
    int32_t index;
} pair;

static inline int compare_pairs(const void *a, const void *b) {
    const pair *p = a, *q = b;
    if (p->distance != q->distance)
        return p->distance < q->distance ? -1 : 1;
    return (p->index > q->index) - (p->index < q->index);
}

/* Fails unless list i of out is that of brute force: distances to 1e-5 of the true ones, each
 * index at the distance it claims, and the very same indices if `ties` says that distances are
 * exact. */
static inline void check_list(const huddle_points *train, const huddle_points *query, int64_t i,
                              bool cosine, bool ties, const huddle_neighbors *out) {
    bool self = train == query;
    pair *all = malloc((size_t)train->n * sizeof *all);
    int64_t count = 0;
    for (int64_t j = 0; j < train->n; j++)
        if (!self || j != i)
            all[count++] = (pair){true_distance(query, i, train, j, cosine), (int32_t)j};
    qsort(all, (size_t)count, sizeof *all, compare_pairs);
    for (int32_t c = 0; c < out->k; c++) {
        int32_t index = out->index[i * out->k + c];
        double distance = out->distance[i * out->k + c];
        assert_true(index >= 0 && index < train->n && !(self && index == i));
        if (fabs(distance - all[c].distance) > 1e-9 * (1e-3 + all[c].distance))
            fail_msg("point %lld, neighbour %d: %.12g, brute force %.12g", (long long)i, c,
                     distance, all[c].distance);
        if (fabs(distance - true_distance(query, i, train, index, cosine)) >
            1e-9 * distance + 1e-15)
            fail_msg("point %lld: neighbour %d is not at %.12g", (long long)i, index, distance);
        if (ties && index != all[c].index)
            fail_msg("point %lld, neighbour %d: index %d, brute force %d", (long long)i, c, index,
                     all[c].index);
    }
    free(all);
}

static inline void check_lists(const huddle_points *train, const huddle_points *query, bool cosine,
                               bool ties, const huddle_neighbors *out) {
    assert_int_equal(out->n, query->n);
    /* A prime step: lists of every place in a tile and a block are among those checked. */
    int64_t step = query->n > 60 ? 13 : 1;
    for (int64_t i = 0; i < query->n; i += step)
        check_list(train, query, i, cosine, ties, out);
}

static inline void check_knn(const huddle_points *x, int32_t k, bool cosine, bool ties) {
    for (int s = 0; s < N_SOLVERS; s++) {
        huddle_knn_options options = huddle_knn_defaults();
        huddle_neighbors out;
        huddle_knn_info info;
        options.knn_solver = solvers[s];
        options.n_neighbors = k;
        options.metric = cosine ? "cosine" : "euclidean";
        assert_ok(huddle_graph_knn(NULL, x, &options, &out, &info));
        assert_int_equal(out.k, k < x->n ? k : x->n - 1);
        assert_true(info.recall == 1 && info.solver != NULL);
        check_lists(x, x, cosine, ties, &out);
        huddle_neighbors_free(&out);
    }
}

/* ---- data ------------------------------------------------------------------------------------ */

static inline huddle_points normal_points(int64_t n, int64_t d, uint64_t seed) {
    huddle_points x;
    hd_rng rng = hd_rng_stream(seed, 0);
    assert_ok(huddle_points_new(n, d, &x));
    for (int64_t e = 0; e < n * d; e++)
        x.values[e] = (float)hd_rng_normal(&rng);
    return x;
}

/* `clusters` tight heaps far apart. */
static inline huddle_points clustered_points(int64_t n, int64_t d, int64_t clusters, double width) {
    huddle_points x = normal_points(n, d, 5), centres = normal_points(clusters, d, 6);
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < d; j++)
            x.values[i * d + j] = (float)(width * (double)x.values[i * d + j] +
                                          10 * (double)centres.values[i % clusters * d + j]);
    huddle_points_free(&centres);
    return x;
}

static inline huddle_points whole_points(int64_t n, int64_t d, int64_t values, float step) {
    huddle_points x;
    hd_rng rng = hd_rng_stream(9, 0);
    assert_ok(huddle_points_new(n, d, &x));
    for (int64_t e = 0; e < n * d; e++)
        x.values[e] = step * (float)hd_rng_below(&rng, values);
    return x;
}

/* A third of the entries, the rest zero; some rows empty. */
static inline huddle_points sparse_points(int64_t n, int64_t d, uint64_t seed) {
    huddle_points x;
    hd_rng rng = hd_rng_stream(seed, 0);
    int64_t at = 0;
    assert_ok(huddle_points_new_sparse(n, d, n * d, &x));
    for (int64_t i = 0; i < n; i++) {
        for (int64_t j = 0; j < d && i % 17 != 3; j++)
            if (hd_rng_below(&rng, 3) == 0) {
                x.columns[at] = (int32_t)j;
                x.values[at++] = (float)hd_rng_normal(&rng);
            }
        x.offsets[i + 1] = at;
    }
    return x;
}

#endif
