/* graph: weights, components, bridges, and what is made from known matrices. */
#include "base/context.h"
#include "base/rng.h"
#include "huddle/graph.h"
#include "support/support.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const rules[] = {"selftune", "mean", "knn", "global", "binary"};

static huddle_points points_of(const double *values, int64_t n, int64_t d) {
    huddle_points x;
    assert_ok(huddle_points_from_double(NULL, n, d, values, d, 1, &x));
    return x;
}

static huddle_neighbors neighbors_of(const huddle_points *x, int32_t k) {
    huddle_knn_options options = huddle_knn_defaults();
    huddle_neighbors out;
    options.n_neighbors = k;
    assert_ok(huddle_graph_knn(NULL, x, &options, &out, NULL));
    return out;
}

static double entry(const huddle_csr *a, int64_t i, int64_t j) {
    for (int64_t e = a->offsets[i]; e < a->offsets[i + 1]; e++)
        if (a->columns[e] == j)
            return a->values[e];
    return 0;
}

static void check_symmetric(const huddle_csr *a) {
    assert_ok(huddle_csr_check(a));
    for (int64_t i = 0; i < a->rows; i++)
        for (int64_t e = a->offsets[i]; e < a->offsets[i + 1]; e++) {
            assert_int_not_equal(a->columns[e], i);
            assert_true(a->values[e] > 0);
            assert_true(entry(a, a->columns[e], i) == a->values[e]);
        }
}

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

static void duplicates_weigh_one_and_far_points_do_not_vanish(void **state) {
    (void)state;
    double values[] = {0, 0, 0, 0, 0, 0, 1, 1e-3, 2e-3, 1e6};
    huddle_points x = points_of(values, 10, 1);
    huddle_neighbors lists = neighbors_of(&x, 2);
    for (int r = 0; r < 5; r++) {
        huddle_weight_options options = {rules[r], 1};
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
        huddle_weight_options options = {rules[r], 0};
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

/* ---- components ------------------------------------------------------------------------------ */

static huddle_csr graph_of(int64_t n, const int32_t (*edges)[2], int64_t count) {
    huddle_csr graph;
    huddle_dense full;
    assert_ok(huddle_dense_new(n, n, &full));
    for (int64_t e = 0; e < count; e++)
        full.values[edges[e][0] * n + edges[e][1]] = 1;
    assert_ok(huddle_graph_from_affinity_dense(NULL, &full, &graph));
    huddle_dense_free(&full);
    return graph;
}

static void components_are_numbered_by_their_smallest_vertex(void **state) {
    (void)state;
    static const int32_t edges[][2] = {{7, 2}, {2, 5}, {9, 0}, {3, 8}, {8, 4}, {4, 3}};
    static const int32_t expected[] = {0, 1, 2, 3, 3, 2, 4, 2, 3, 0};
    huddle_csr graph = graph_of(10, edges, 6);
    int32_t component[10], count;
    assert_ok(huddle_graph_components(NULL, &graph, component, &count));
    assert_int_equal(count, 5);
    assert_memory_equal(component, expected, sizeof expected);
    graph.cols = 11;
    assert_refused(huddle_graph_components(NULL, &graph, component, &count), HUDDLE_INVALID,
                   "10 x 11");
    huddle_csr_free(&graph);
}

/* ---- bridges --------------------------------------------------------------------------------- */

static int compare_edges(const void *a, const void *b) {
    return memcmp(a, b, 2 * sizeof(int32_t)) == 0 ? 0
           : ((const int32_t *)a)[0] != ((const int32_t *)b)[0]
               ? ((const int32_t *)a)[0] - ((const int32_t *)b)[0]
               : ((const int32_t *)a)[1] - ((const int32_t *)b)[1];
}

/* Edges of `after` that `before` lacks, sorted. */
static int64_t new_edges(const huddle_csr *before, const huddle_csr *after, int32_t (*edges)[2]) {
    int64_t count = 0;
    for (int32_t i = 0; i < after->rows; i++)
        for (int64_t e = after->offsets[i]; e < after->offsets[i + 1]; e++)
            if (after->columns[e] > i && entry(before, i, after->columns[e]) == 0) {
                edges[count][0] = i;
                edges[count++][1] = after->columns[e];
            }
    qsort(edges, (size_t)count, sizeof *edges, compare_edges);
    return count;
}

typedef struct clumps {
    huddle_points x;
    huddle_neighbors lists;
    huddle_csr graph;
    huddle_scale scale;
    const double *bridges;
    int32_t components;
    double *golden;
} clumps;

static clumps read_clumps(void) {
    clumps c;
    int64_t count;
    c.golden = test_golden("graph_bridges.txt", &count);
    int64_t n = (int64_t)c.golden[0], d = (int64_t)c.golden[1];
    c.x = points_of(c.golden + 4, n, d);
    c.lists = neighbors_of(&c.x, (int32_t)c.golden[2]);
    c.components = (int32_t)c.golden[3];
    c.bridges = c.golden + 4 + n * d;
    assert_int_equal(count, 4 + n * d + 2 * (c.components - 1));
    assert_ok(huddle_graph_weigh(NULL, &c.lists, NULL, &c.graph, &c.scale));
    return c;
}

static void free_clumps(clumps *c) {
    huddle_points_free(&c->x);
    huddle_neighbors_free(&c->lists);
    huddle_csr_free(&c->graph);
    huddle_scale_free(&c->scale);
    free(c->golden);
}

static huddle_csr copy_graph(const huddle_csr *a) {
    huddle_csr b;
    int64_t size = a->offsets[a->rows];
    assert_ok(huddle_csr_new(a->rows, a->cols, size, &b));
    memcpy(b.offsets, a->offsets, (size_t)(a->rows + 1) * sizeof *b.offsets);
    memcpy(b.columns, a->columns, (size_t)size * sizeof *b.columns);
    memcpy(b.values, a->values, (size_t)size * sizeof *b.values);
    return b;
}

static void check_bridges(const clumps *c, const huddle_csr *joined) {
    int32_t edges[64][2], part[1000], count;
    assert_int_equal(new_edges(&c->graph, joined, edges), c->components - 1);
    check_symmetric(joined);
    for (int32_t b = 0; b < c->components - 1; b++) {
        assert_int_equal(edges[b][0], (int32_t)c->bridges[2 * b]);
        assert_int_equal(edges[b][1], (int32_t)c->bridges[2 * b + 1]);
    }
    assert_ok(huddle_graph_components(NULL, joined, part, &count));
    assert_int_equal(count, 1);
}

static void bridges_are_a_minimum_spanning_tree(void **state) {
    (void)state;
    clumps c = read_clumps();
    huddle_connect_options options = huddle_connect_defaults();
    huddle_connect_info info;
    huddle_csr joined = copy_graph(&c.graph);
    options.connect = "true";
    assert_ok(huddle_graph_connect(NULL, &c.x, &options, &c.scale, &joined, &info));
    assert_int_equal(info.before, c.components);
    assert_int_equal(info.after, 1);
    assert_int_equal(info.bridges, c.components - 1);
    check_bridges(&c, &joined);
    huddle_csr_free(&joined);
    /* The same from the matrix of distances. */
    huddle_dense all;
    assert_ok(huddle_dense_new(c.x.n, c.x.n, &all));
    for (int64_t i = 0; i < c.x.n; i++)
        for (int64_t j = 0; j < c.x.n; j++) {
            double sum = 0;
            for (int64_t f = 0; f < c.x.d; f++)
                sum +=
                    pow((double)c.x.values[i * c.x.d + f] - (double)c.x.values[j * c.x.d + f], 2);
            all.values[i * c.x.n + j] = sqrt(sum);
        }
    joined = copy_graph(&c.graph);
    assert_ok(huddle_graph_connect_distances(NULL, &all, &options, &c.scale, &joined, &info));
    check_bridges(&c, &joined);
    huddle_csr_free(&joined);
    huddle_dense_free(&all);
    free_clumps(&c);
}

/* The same points as sparse rows, and in many more dimensions: every search finds the tree. */
static void every_kind_of_points_gets_the_same_bridges(void **state) {
    (void)state;
    clumps c = read_clumps();
    huddle_connect_options options = huddle_connect_defaults();
    int64_t n = c.x.n, d = c.x.d;
    huddle_points sparse, wide;
    assert_ok(huddle_points_new_sparse(n, d, n * d, &sparse));
    assert_ok(huddle_points_new(n, 50, &wide));
    for (int64_t i = 0; i < n; i++) {
        sparse.offsets[i + 1] = (i + 1) * d;
        for (int64_t f = 0; f < d; f++) {
            sparse.columns[i * d + f] = (int32_t)f;
            sparse.values[i * d + f] = wide.values[i * 50 + 11 * f] = c.x.values[i * d + f];
        }
    }
    huddle_csr joined = copy_graph(&c.graph);
    assert_ok(huddle_graph_connect(NULL, &sparse, &options, &c.scale, &joined, NULL));
    check_bridges(&c, &joined);
    huddle_csr_free(&joined);
    joined = copy_graph(&c.graph);
    assert_ok(huddle_graph_connect(NULL, &wide, &options, &c.scale, &joined, NULL));
    check_bridges(&c, &joined);
    huddle_csr_free(&joined);
    huddle_points_free(&sparse);
    huddle_points_free(&wide);
    free_clumps(&c);
}

static void connect_does_what_it_is_told(void **state) {
    (void)state;
    clumps c = read_clumps();
    static const struct {
        const char *connect;
        int32_t n_clusters, after;
    } cases[] = {{"false", 1, 5}, {"auto", 5, 5},   {"auto", 4, 1},  {"auto", 9, 5},
                 {"true", 9, 1},  {"small", 64, 5}, {"small", 2, 2}, {"small", 1, 1}};
    assert_int_equal(c.components, 5);
    for (size_t t = 0; t < sizeof cases / sizeof *cases; t++) {
        huddle_connect_options options = huddle_connect_defaults();
        huddle_connect_info info;
        huddle_csr joined = copy_graph(&c.graph);
        options.connect = cases[t].connect;
        options.n_clusters = cases[t].n_clusters;
        assert_ok(huddle_graph_connect(NULL, &c.x, &options, &c.scale, &joined, &info));
        if (strcmp(cases[t].connect, "small") != 0 || cases[t].n_clusters != 2)
            assert_int_equal(info.after, cases[t].after);
        else
            assert_true(info.after <= 2);
        assert_int_equal(info.bridges, info.before - info.after);
        huddle_csr_free(&joined);
    }
    free_clumps(&c);
}

/* Two pairs of directions; lengths must not matter. */
static void bridges_have_the_distance_of_their_metric(void **state) {
    (void)state;
    const double values[] = {1, 0, 20, 4, 0, 1, 0.5, 3};
    huddle_points x = points_of(values, 4, 2);
    for (int cosine = 0; cosine < 2; cosine++) {
        int64_t offsets[] = {0, 1, 2, 3, 4};
        int32_t columns[] = {1, 0, 3, 2};
        double weights[] = {1, 1, 1, 1};
        huddle_csr given = {4, 4, offsets, columns, weights}, graph = copy_graph(&given);
        huddle_scale scale = {.rule = "mean", .delta2 = cosine ? 0.3 : 2};
        huddle_connect_options options = huddle_connect_defaults();
        huddle_connect_info info;
        options.connect = "true";
        options.metric = cosine ? "cosine" : "euclidean";
        assert_ok(huddle_graph_connect(NULL, &x, &options, &scale, &graph, &info));
        assert_int_equal(info.bridges, 1);
        /* By angle rows 2 and 4 are the nearest across, by distance rows 1 and 3. */
        int i = cosine ? 1 : 0, j = cosine ? 3 : 2;
        double distance = cosine ? 1 - (20 * 0.5 + 4 * 3) / sqrt(416 * 9.25) : sqrt(2);
        double found = 0;
        for (int64_t e = graph.offsets[i]; e < graph.offsets[i + 1]; e++)
            found += graph.columns[e] == j ? graph.values[e] : 0;
        assert_close(found, exp(-distance * distance / scale.delta2), 1e-6);
        huddle_csr_free(&graph);
    }
    huddle_points_free(&x);
}

static void small_components_join_their_nearest(void **state) {
    (void)state;
    /* Two lines of 40 and a pair between them, nearer to the second. */
    double values[82 * 2] = {0};
    for (int i = 0; i < 40; i++) {
        values[2 * i] = i;
        values[2 * (i + 40)] = i;
        values[2 * (i + 40) + 1] = 100;
    }
    values[160] = 3;
    values[161] = 60;
    values[162] = 3.5;
    values[163] = 60;
    huddle_points x = points_of(values, 82, 2);
    huddle_neighbors lists = neighbors_of(&x, 1);
    huddle_connect_options options = huddle_connect_defaults();
    huddle_csr graph;
    huddle_scale scale;
    huddle_connect_info info;
    int32_t part[82], count;
    assert_ok(huddle_graph_weigh(NULL, &lists, NULL, &graph, &scale));
    options.connect = "small";
    options.n_clusters = 2;
    assert_ok(huddle_graph_connect(NULL, &x, &options, &scale, &graph, &info));
    assert_int_equal(info.after, 2);
    assert_ok(huddle_graph_components(NULL, &graph, part, &count));
    assert_int_equal(part[80], part[40]);
    assert_int_equal(part[0], 0);
    assert_true(entry(&graph, 43, 80) > 0);
    huddle_neighbors_free(&lists);
    huddle_points_free(&x);
    huddle_csr_free(&graph);
    huddle_scale_free(&scale);
}

static void connect_refuses_what_does_not_fit(void **state) {
    (void)state;
    clumps c = read_clumps();
    huddle_connect_options options = huddle_connect_defaults();
    huddle_points fewer = c.x;
    fewer.n--;
    assert_refused(huddle_graph_connect(NULL, &fewer, NULL, &c.scale, &c.graph, NULL),
                   HUDDLE_INVALID, "does not belong");
    assert_refused(huddle_graph_connect(NULL, &c.x, NULL, NULL, &c.graph, NULL), HUDDLE_INVALID,
                   "scale");
    options.n_clusters = 0;
    assert_refused(huddle_graph_connect(NULL, &c.x, &options, &c.scale, &c.graph, NULL),
                   HUDDLE_INVALID, "n_clusters = 0");
    options.n_clusters = 1;
    options.connect = "maybe";
    assert_refused(huddle_graph_connect(NULL, &c.x, &options, &c.scale, &c.graph, NULL),
                   HUDDLE_INVALID, "connect = maybe");
    free_clumps(&c);
}

static void count_lines(void *user, huddle_log_level level, huddle_warning_code code,
                        const char *text) {
    assert_int_equal(code, HUDDLE_WARNING_NONE);
    assert_non_null(strstr(text, "5 components"));
    *(int *)user += level == HUDDLE_LOG_INFO;
}

static void bridges_are_announced(void **state) {
    (void)state;
    clumps c = read_clumps();
    huddle_context *context;
    int lines = 0;
    assert_ok(huddle_context_new(&context));
    huddle_context_set_log(context, count_lines, &lines);
    assert_ok(huddle_graph_connect(context, &c.x, NULL, &c.scale, &c.graph, NULL));
    assert_int_equal(lines, 1);
    huddle_context_free(context);
    free_clumps(&c);
}

/* ---- known matrices -------------------------------------------------------------------------- */

static void affinities_become_symmetric(void **state) {
    (void)state;
    double values[] = {9, 1, 0, 0, 3, .5, 0, 0, 0, 0, 0, .25, 2, 0, 0, 1};
    huddle_dense dense = {4, 4, 4, values};
    huddle_csr graph, sparse, again;
    assert_ok(huddle_graph_from_affinity_dense(NULL, &dense, &graph));
    check_symmetric(&graph);
    assert_true(entry(&graph, 0, 1) == 3 && entry(&graph, 0, 3) == 2);
    assert_true(entry(&graph, 2, 3) == .25 && graph.offsets[4] == 6);
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
        huddle_weight_options options = {rules[r], 1};
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
    huddle_weight_options options = {"global", -1};
    distance[0] = 1;
    assert_refused(huddle_graph_weigh(NULL, &lists, &options, &graph, NULL), HUDDLE_INVALID,
                   "mean_distance = -1");
}

/* ---- allocations ----------------------------------------------------------------------------- */

static huddle_status try_all(void *argument) {
    const clumps *c = argument;
    huddle_status status;
    huddle_csr graph = {0};
    huddle_scale scale = {0};
    huddle_connect_options options = huddle_connect_defaults();
    huddle_dense all = {0};
    huddle_neighbors lists = {0};
    double mean;
    status = huddle_graph_weigh(NULL, &c->lists, NULL, &graph, &scale);
    for (int cosine = 0; cosine < 2 && status == HUDDLE_OK; cosine++) {
        options.metric = cosine ? "cosine" : "euclidean";
        status = huddle_graph_connect(NULL, &c->x, &options, &scale, &graph, NULL);
        if (status == HUDDLE_OK)
            status = huddle_graph_mean_distance(NULL, &c->x, options.metric, 0, &mean);
    }
    huddle_csr_free(&graph);
    if (status == HUDDLE_OK)
        status = huddle_dense_new(20, 20, &all);
    if (status == HUDDLE_OK)
        status = huddle_graph_from_distances_dense(NULL, &all, 3, &lists);
    if (status == HUDDLE_OK)
        status = huddle_graph_from_affinity_dense(NULL, &all, &graph);
    huddle_csr_free(&graph);
    huddle_dense_free(&all);
    huddle_neighbors_free(&lists);
    huddle_scale_free(&scale);
    return status;
}

static void every_allocation_may_fail(void **state) {
    (void)state;
    clumps c = read_clumps();
    test_each_allocation(try_all, &c);
    free_clumps(&c);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(weights_match_numpy),
        cmocka_unit_test(duplicates_weigh_one_and_far_points_do_not_vanish),
        cmocka_unit_test(constant_points_weigh_one),
        cmocka_unit_test(mean_distances_agree),
        cmocka_unit_test(components_are_numbered_by_their_smallest_vertex),
        cmocka_unit_test(bridges_are_a_minimum_spanning_tree),
        cmocka_unit_test(every_kind_of_points_gets_the_same_bridges),
        cmocka_unit_test(connect_does_what_it_is_told),
        cmocka_unit_test(bridges_have_the_distance_of_their_metric),
        cmocka_unit_test(small_components_join_their_nearest),
        cmocka_unit_test(connect_refuses_what_does_not_fit),
        cmocka_unit_test(bridges_are_announced),
        cmocka_unit_test(affinities_become_symmetric),
        cmocka_unit_test(distances_become_lists),
        cmocka_unit_test(impossible_lists_are_refused),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
