/* graph: components and the bridges between them. */
#include "base/context.h"
#include "base/rng.h"
#include "unit/graph_helpers.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- components ------------------------------------------------------------------------------ */

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

/* On a line: 7 points at distance 10, 20 points at distance 1 after a gap of 30, and 20 more after
 * a gap of 3.5. With two neighbours s_i is 10 or 1, and twice as much at the ends of the three
 * pieces. The short bridge is the second of the tree. */
static void short_bridges_join_pieces_of_a_line(void **state) {
    (void)state;
    enum { SIZE = 47 };
    static const struct {
        const char *connect;
        double max_ratio;
        int32_t n_clusters, after;
    } cases[] = {
        {"auto", 0, 9, 3},   {"auto", 4, 9, 2},  {"auto", 3.4, 9, 3},
        {"auto", 3.6, 9, 2}, {"auto", 2, 9, 3},  /* not the s_i of the ends */
        {"auto", 4, 2, 2},   {"auto", 29, 9, 2}, /* the dense side counts */
        {"auto", 31, 9, 1},  {"auto", 4, 1, 1},  /* more components than clusters */
        {"false", 4, 9, 3},  {"true", 4, 9, 1},
    };
    double values[SIZE] = {0};
    for (int i = 1; i < SIZE; i++)
        values[i] = values[i - 1] + (i < 7 ? 10 : i == 7 ? 30 : i == 27 ? 3.5 : 1);
    huddle_points x = points_of(values, SIZE, 1);
    huddle_neighbors lists = neighbors_of(&x, 2);
    huddle_weight_options weight = huddle_weight_defaults();
    for (size_t t = 0; t <= sizeof cases / sizeof *cases; t++) {
        bool local = t < sizeof cases / sizeof *cases; /* without s_i no bridge is short */
        huddle_connect_options options = huddle_connect_defaults();
        huddle_connect_info info;
        huddle_csr graph;
        huddle_scale scale;
        int32_t part[SIZE], count;
        weight.scale = local ? "selftune" : "mean";
        options.connect = local ? cases[t].connect : "auto";
        options.max_ratio = local ? cases[t].max_ratio : 4;
        options.n_clusters = local ? cases[t].n_clusters : 9;
        assert_ok(huddle_graph_weigh(NULL, &lists, &weight, &graph, &scale));
        assert_ok(huddle_graph_connect(NULL, &x, &options, &scale, &graph, &info));
        assert_int_equal(info.before, 3);
        assert_int_equal(info.after, local ? cases[t].after : 3);
        assert_int_equal(info.bridges, info.before - info.after);
        assert_ok(huddle_graph_components(NULL, &graph, part, &count));
        assert_int_equal(count, info.after);
        assert_int_equal(part[7] == part[46], info.after < 3);
        huddle_csr_free(&graph);
        huddle_scale_free(&scale);
    }
    huddle_neighbors_free(&lists);
    huddle_points_free(&x);
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
    options.max_ratio = -1;
    assert_refused(huddle_graph_connect(NULL, &c.x, &options, &c.scale, &c.graph, NULL),
                   HUDDLE_INVALID, "max_ratio = -1");
    options.max_ratio = 0;
    options.connect = "maybe";
    assert_refused(huddle_graph_connect(NULL, &c.x, &options, &c.scale, &c.graph, NULL),
                   HUDDLE_INVALID, "connect = maybe");
    free_clumps(&c);
}

static void count_lines(void *user, huddle_log_level level, huddle_warning_code code,
                        const char *text) {
    (void)level, (void)code, (void)text;
    *(int *)user += 1;
}

/* The caller decides whether bridges are worth a warning: the stage itself logs nothing. */
static void bridges_are_reported_in_info(void **state) {
    (void)state;
    clumps c = read_clumps();
    huddle_context *context;
    huddle_connect_info info;
    int lines = 0;
    assert_ok(huddle_context_new(&context));
    huddle_context_set_log(context, count_lines, &lines);
    assert_ok(huddle_graph_connect(context, &c.x, NULL, &c.scale, &c.graph, &info));
    assert_int_equal(lines, 0);
    assert_int_equal(info.before, 5);
    assert_int_equal(info.before - info.after, info.bridges);
    assert_true(info.bridges > 0);
    huddle_context_free(context);
    free_clumps(&c);
}
/* ---- the tree of the parts ------------------------------------------------------------------- */

/* Points of `d` whole-numbered coordinates, so that many distances are equal, in parts of different
 * sizes: one large one, middling ones and single vertices. range: of the coordinates.
 */
typedef struct crowd {
    huddle_points x;
    huddle_csr graph;
    int32_t *part;
} crowd;

static crowd new_crowd(int64_t n, int64_t d, int32_t range, uint64_t seed) {
    crowd c;
    hd_rng rng = hd_rng_stream(seed, 0);
    int32_t(*edges)[2] = malloc((size_t)n * sizeof *edges);
    int64_t count = 0;
    c.part = malloc((size_t)n * sizeof *c.part);
    assert_ok(huddle_points_new(n, d, &c.x));
    for (int64_t i = 0; i < n * d; i++)
        c.x.values[i] = (float)hd_rng_below(&rng, range);
    for (int32_t i = 0; i < n; i++) {
        /* Half of the vertices in part 0, a third in ten others, the rest alone. */
        int64_t kind = hd_rng_below(&rng, 6);
        int32_t first = kind < 3 ? 0 : kind < 5 ? 1 + (int32_t)hd_rng_below(&rng, 10) : i;
        if (first != i && first < n && i > 10) {
            edges[count][0] = first;
            edges[count++][1] = i;
        }
    }
    c.graph = graph_of(n, (const int32_t(*)[2])edges, count);
    free(edges);
    return c;
}

static void free_crowd(crowd *c) {
    huddle_points_free(&c->x);
    huddle_csr_free(&c->graph);
    free(c->part);
}

static double square_between(const huddle_points *x, int64_t i, int64_t j) {
    double sum = 0;
    for (int64_t f = 0; f < x->d; f++) {
        double difference = (double)x->values[i * x->d + f] - (double)x->values[j * x->d + f];
        sum += difference * difference;
    }
    return sum;
}

/* Kruskal in its simplest form: the shortest edge between two parts, n - 1 times. Whole numbers
 * have exact squares, so that ties are ties. */
static int64_t span_by_brute_force(crowd *c, int32_t (*edges)[2]) {
    int32_t count;
    int64_t found = 0, n = c->x.n;
    assert_ok(huddle_graph_components(NULL, &c->graph, c->part, &count));
    for (; found < count - 1; found++) {
        double least = INFINITY;
        for (int32_t i = 0; i < n; i++)
            for (int32_t j = i + 1; j < n; j++) {
                if (c->part[i] == c->part[j])
                    continue;
                double square = square_between(&c->x, i, j);
                if (square < least) { /* (i, j) ascends, hence the first of equals */
                    least = square;
                    edges[found][0] = i;
                    edges[found][1] = j;
                }
            }
        int32_t from = c->part[edges[found][1]], to = c->part[edges[found][0]];
        for (int64_t v = 0; v < n; v++)
            c->part[v] = c->part[v] == from ? to : c->part[v];
    }
    qsort(edges, (size_t)found, sizeof *edges, compare_edges);
    return found;
}

/* Parts of 150 points each in regions of their own, so that whole nodes of the tree belong to one
 * part. */
static crowd new_regions(int64_t d) {
    enum { REGIONS = 6, EACH = 150 };
    crowd c;
    hd_rng rng = hd_rng_stream(7, (uint64_t)d);
    static int32_t edges[REGIONS * EACH][2];
    int64_t count = 0;
    c.part = malloc(REGIONS * EACH * sizeof *c.part);
    assert_ok(huddle_points_new(REGIONS * EACH, d, &c.x));
    for (int32_t i = 0; i < REGIONS * EACH; i++) {
        int32_t region = i % REGIONS;
        for (int64_t f = 0; f < d; f++)
            c.x.values[i * d + f] = (float)(hd_rng_below(&rng, 9) + (f == 0 ? 12 * region : 0));
        if (i >= REGIONS) {
            edges[count][0] = region;
            edges[count++][1] = i;
        }
    }
    c.graph = graph_of(REGIONS * EACH, (const int32_t(*)[2])edges, count);
    return c;
}

static void whole_nodes_of_a_part_are_skipped(void **state) {
    (void)state;
    for (int64_t d = 1; d < 12; d += 5) {
        crowd c = new_regions(d);
        int32_t expected[8][2], edges[8][2];
        huddle_connect_options options = huddle_connect_defaults();
        huddle_scale scale = {.rule = "binary"};
        huddle_csr joined = copy_graph(&c.graph);
        options.connect = "true";
        assert_int_equal(span_by_brute_force(&c, expected), 5);
        assert_ok(huddle_graph_connect(NULL, &c.x, &options, &scale, &joined, NULL));
        assert_int_equal(new_edges(&c.graph, &joined, edges), 5);
        assert_memory_equal(edges, expected, 5 * sizeof *edges);
        huddle_csr_free(&joined);
        free_crowd(&c);
    }
}

static void parts_find_the_tree_of_brute_force(void **state) {
    (void)state;
    static const struct {
        int64_t n, d;
        int32_t range;
    } cases[] = {{40, 1, 50}, {300, 2, 30}, {330, 8, 3}, {330, 9, 4}, {300, 33, 3}, {200, 70, 9}};
    static const int32_t threads[] = {1, 2, 3, 8};
    for (int k = 0; k < 6; k++) {
        crowd c = new_crowd(cases[k].n, cases[k].d, cases[k].range, (uint64_t)k);
        int32_t expected[400][2], edges[400][2];
        int64_t count = span_by_brute_force(&c, expected);
        assert_true(count > 10);
        for (int t = 0; t < 4; t++) {
            huddle_context *context;
            huddle_connect_options options = huddle_connect_defaults();
            huddle_scale scale = {.rule = "binary"};
            huddle_csr joined = copy_graph(&c.graph);
            options.connect = "true";
            assert_ok(huddle_context_new(&context));
            assert_ok(huddle_context_set_threads(context, threads[t]));
            assert_ok(huddle_graph_connect(context, &c.x, &options, &scale, &joined, NULL));
            assert_int_equal(new_edges(&c.graph, &joined, edges), count);
            assert_memory_equal(edges, expected, (size_t)count * sizeof *edges);
            huddle_csr_free(&joined);
            huddle_context_free(context);
        }
        free_crowd(&c);
    }
}

static int cancel_at_once(void *user, const char *stage, double done, double total) {
    (void)stage, (void)done, (void)total;
    ++*(int *)user;
    return 1;
}

static void bridges_can_be_cancelled(void **state) {
    (void)state;
    crowd c = new_crowd(300, 9, 4, 3);
    huddle_context *context;
    huddle_connect_options options = huddle_connect_defaults();
    huddle_scale scale = {.rule = "binary"};
    int calls = 0;
    options.connect = "true";
    assert_ok(huddle_context_new(&context));
    huddle_context_set_progress(context, cancel_at_once, &calls);
    assert_refused(huddle_graph_connect(context, &c.x, &options, &scale, &c.graph, NULL),
                   HUDDLE_CANCELLED, "cancelled");
    assert_true(calls > 0);
    huddle_context_free(context);
    free_crowd(&c);
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
        options.max_ratio = cosine ? 0 : 2;
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
        cmocka_unit_test(components_are_numbered_by_their_smallest_vertex),
        cmocka_unit_test(bridges_are_a_minimum_spanning_tree),
        cmocka_unit_test(every_kind_of_points_gets_the_same_bridges),
        cmocka_unit_test(connect_does_what_it_is_told),
        cmocka_unit_test(bridges_have_the_distance_of_their_metric),
        cmocka_unit_test(small_components_join_their_nearest),
        cmocka_unit_test(short_bridges_join_pieces_of_a_line),
        cmocka_unit_test(connect_refuses_what_does_not_fit),
        cmocka_unit_test(bridges_are_reported_in_info),
        cmocka_unit_test(parts_find_the_tree_of_brute_force),
        cmocka_unit_test(whole_nodes_of_a_part_are_skipped),
        cmocka_unit_test(bridges_can_be_cancelled),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
