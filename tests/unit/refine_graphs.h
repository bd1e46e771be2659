/* Small graphs for the tests of refine, as dense matrices and as the sparse ones of the stage, and
 * the scores of a labelling from the dense matrix by plain loops. */
#ifndef HUDDLE_TESTS_REFINE_GRAPHS_H
#define HUDDLE_TESTS_REFINE_GRAPHS_H

#include "base/rng.h"
#include "huddle/refine.h"
#include "support/support.h"

#include <math.h>
#include <string.h>

enum { MOST = 320 };

typedef struct dense_graph {
    int64_t n;
    double w[MOST][MOST];
} dense_graph;

enum {
    UNIT_WEIGHTS = 1, /* all weights 1; else random integers */
    LOOPS = 2,
    ISOLATED = 4, /* the last three vertices have no edges */
    PARTS = 8,    /* four components */
    EXACT = 16    /* the total weight is a power of two, so that shares and their sums are exact */
};

/* A random graph of n vertices. EXACT adds a loop to vertex 0. */
static inline dense_graph random_graph(int64_t n, double density, int kind, uint64_t seed) {
    dense_graph g = {.n = n};
    hd_rng rng = hd_rng_stream(seed, 77);
    int64_t end = kind & ISOLATED ? n - 3 : n;
    double total = 0, power = 1;
    for (int64_t i = 0; i < end; i++)
        for (int64_t j = i; j < end; j++) {
            bool edge = i == j ? (kind & LOOPS && hd_rng_below(&rng, 3) == 0)
                               : hd_rng_uniform(&rng) < density;
            if (kind & PARTS && i % 4 != j % 4)
                edge = false;
            double weight = kind & UNIT_WEIGHTS ? 1 : (double)(1 + hd_rng_below(&rng, 20));
            if (edge)
                g.w[i][j] = g.w[j][i] = weight;
        }
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < n; j++)
            total += g.w[i][j];
    while (power < total)
        power *= 2;
    if (kind & EXACT)
        g.w[0][0] += power - total;
    return g;
}

static inline huddle_csr sparse_graph(const dense_graph *g) {
    huddle_csr graph;
    int64_t at = 0;
    assert_ok(huddle_csr_new(g->n, g->n, g->n * g->n, &graph));
    for (int64_t i = 0; i < g->n; i++) {
        for (int64_t j = 0; j < g->n; j++)
            if (g->w[i][j] != 0) {
                graph.columns[at] = (int32_t)j;
                graph.values[at++] = g->w[i][j];
            }
        graph.offsets[i + 1] = at;
    }
    return graph;
}

/* k groups of `size` vertices, all joined within a group with weight `inside`, and each vertex to
 * the one of the same place in the next group with weight `between`. */
static inline dense_graph ring_of_groups(int64_t k, int64_t size, double inside, double between) {
    dense_graph g = {.n = k * size};
    for (int64_t i = 0; i < g.n; i++) {
        for (int64_t j = i / size * size; j < (i / size + 1) * size; j++)
            g.w[i][j] = i == j ? 0 : inside;
        int64_t next = (i + size) % g.n;
        if (k > 1)
            g.w[i][next] = g.w[next][i] = between;
    }
    return g;
}

static inline double xlogx(double x) {
    return x > 0 ? x * log(x) : 0;
}

/* The objectives by their definitions. */
static inline double slow_objective(const dense_graph *g, const int32_t *labels, const char *name) {
    double v[MOST] = {0}, d[MOST] = {0}, total = 0, q = 0, f = 0, s = 0, cut = 0, map = 0;
    for (int64_t i = 0; i < g->n; i++)
        for (int64_t j = 0; j < g->n; j++) {
            total += g->w[i][j];
            v[labels[i]] += g->w[i][j];
            d[labels[i]] += labels[i] == labels[j] ? g->w[i][j] : 0;
        }
    for (int k = 0; k < MOST && total > 0; k++) {
        double out = (v[k] - d[k]) / total, share = v[k] / total;
        q += out;
        f += d[k] / total;
        s += share * share;
        cut += v[k] > 0 ? (v[k] - d[k]) / v[k] : 0;
        map += xlogx(out + share) - 2 * xlogx(out);
    }
    return strcmp(name, "map") == 0 ? map + xlogx(q) : strcmp(name, "ncut") == 0 ? cut : 1 - f + s;
}

#endif
