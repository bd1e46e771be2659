/* Graphs for the tests of the embedding, and problems whose pairs LAPACK found. */
#ifndef HUDDLE_TESTS_EMBED_GRAPHS_H
#define HUDDLE_TESTS_EMBED_GRAPHS_H

#include "base/rng.h"
#include "embed/verify.h"
#include "support/support.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A graph under construction: its weights as a full matrix. */
typedef struct sketch {
    int64_t n;
    double *w;
} sketch;

static inline sketch new_sketch(int64_t n) {
    return (sketch){n, calloc((size_t)(n * n), sizeof(double))};
}

static inline void join(sketch s, int64_t i, int64_t j, double weight) {
    s.w[i * s.n + j] = s.w[j * s.n + i] = weight;
}

/* The finished graph; frees the sketch. */
static inline huddle_csr to_csr(sketch s) {
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
static inline void join_neighbours(sketch s, int64_t first, int64_t last, uint64_t seed) {
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

static inline huddle_csr neighbour_graph(int64_t n, uint64_t seed) {
    sketch s = new_sketch(n);
    join_neighbours(s, 0, n, seed);
    return to_csr(s);
}

/* `parts` clouds in a row; neighbours in the row are joined by one edge of that weight. */
static inline huddle_csr chain_of_clouds(int64_t n, int64_t parts, double weight) {
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

static inline huddle_csr path_graph(int64_t n) {
    sketch s = new_sketch(n);
    for (int64_t i = 0; i + 1 < n; i++)
        join(s, i, i + 1, 1);
    return to_csr(s);
}

static inline huddle_csr star_graph(int64_t n) {
    sketch s = new_sketch(n);
    for (int64_t i = 1; i < n; i++)
        join(s, 0, i, 1);
    return to_csr(s);
}

static inline huddle_csr complete_graph(int64_t n) {
    sketch s = new_sketch(n);
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < i; j++)
            join(s, i, j, 2);
    return to_csr(s);
}

static inline huddle_csr bipartite_graph(int64_t a, int64_t b) {
    sketch s = new_sketch(a + b);
    for (int64_t i = 0; i < a; i++)
        for (int64_t j = 0; j < b; j++)
            join(s, i, a + j, 1);
    return to_csr(s);
}

/* Weights from 1e-150 to 1e150 around a ring with chords. */
static inline huddle_csr wild_graph(int64_t n) {
    sketch s = new_sketch(n);
    hd_rng rng = hd_rng_stream(5, 5);
    for (int64_t i = 0; i < n; i++) {
        join(s, i, (i + 1) % n, pow(10, 300 * hd_rng_uniform(&rng) - 150));
        join(s, i, (i + 7) % n, pow(10, 10 * hd_rng_uniform(&rng) - 5));
    }
    return to_csr(s);
}

/* The request for eigenvectors of a Laplacian, of which those of its components are known. */
static inline hd_eigen_request request_of(const huddle_csr *graph,
                                          const hd_embed_laplacian *laplacian) {
    return (hd_eigen_request){.matrix = graph,
                              .scale = laplacian->scale,
                              .lower = -1,
                              .upper = 1,
                              .component = laplacian->component,
                              .known = laplacian->known,
                              .n_components = (int32_t)laplacian->n_components};
}

/* A graph's operator, and its first pairs by LAPACK. */
typedef struct solved {
    huddle_csr graph;
    hd_embed_laplacian laplacian;
    hd_eigen_request request;
    hd_embed_operator op;
    hd_embed_problem problem;
    hd_embed_pairs pairs;
} solved;

/* Takes over the graph. The problem refers to the struct, which must not be moved. */
static inline void solve_graph(huddle_csr graph, int32_t wanted, solved *s) {
    memset(s, 0, sizeof *s);
    s->graph = graph;
    assert_ok(hd_embed_laplacian_new(NULL, &s->graph, &s->laplacian));
    s->request = request_of(&s->graph, &s->laplacian);
    s->request.n_wanted = wanted;
    s->request.max_iter = 100;
    s->request.tol = 1e-4;
    assert_ok(hd_embed_operator_new(NULL, &s->request, s->laplacian.order, NULL, &s->op));
    s->problem = (hd_embed_problem){&s->request, &s->op, s->laplacian.order, "auto", "auto"};
    assert_ok(hd_embed_solve_dense(NULL, &s->problem, &s->pairs));
    s->pairs.edge = s->pairs.theta[s->pairs.count - 1];
}

static inline void free_solved(solved *s) {
    hd_embed_pairs_free(&s->pairs);
    hd_embed_operator_free(&s->op);
    hd_embed_laplacian_free(&s->laplacian);
    huddle_csr_free(&s->graph);
}

#endif
