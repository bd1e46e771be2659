/* Random hyperplane trees (Dasgupta and Freund, Random projection trees and low dimensional
 * manifolds, STOC 2008) with large leaves: all pairs within a leaf are compared by tiles.
 *
 * A node is split at the median along the line through two of its points, chosen at random. Sizes
 * follow from the number of leaves alone, hence equal points cannot make a tree deep, and the nodes
 * of a level are known before it is split. */
#include "base/check.h"
#include "base/parallel.h"
#include "base/rng.h"
#include "graph/approximate.h"

#include <string.h>

enum {
    SUBTREE = 8192, /* points of a node that one thread finishes alone: with 32 features
                       they fit into the second level of cache */
    MAX_DEPTH = 40, /* more than a balanced tree over 2^31 points has levels */
    KEYS_PER_CHUNK = 2048,
    DIRECTION_TRIES = 4,   /* pairs of points, until one has two different points */
    MEDIAN_OF_MANY = 4096, /* from this size on, the pivot is the median of PIVOTS keys */
    PIVOTS = 33,
};

typedef float (*product_function)(const float *, const float *, int64_t);
static const product_function products[] = HD_SIMD_TABLE(hd_graph_product);

/* Leaves begin .. end - 1; the root has number 1, the children of node m are 2 m and 2 m + 1. */
typedef struct node {
    int64_t begin, end;
    uint64_t number;
} node;

typedef struct growth {
    hd_graph_forest *forest;
    uint64_t tree;
    product_function product;
    node *nodes; /* of the level */
    int64_t n_nodes;
    int64_t first; /* point of the node whose keys are computed */
} growth;

/* ---- splits -------------------------------------------------------------------------------- */

static int64_t middle_leaf(node m) {
    return m.begin + (m.end - m.begin) / 2;
}

/* Direction and threshold of the node, which no other node has the middle of. */
static float *route_of(const hd_graph_forest *f, node m) {
    return f->routes + middle_leaf(m) * (f->points->d + 1);
}

/* The line through two random points of the node, by tree and node number only. */
static void choose_direction(const growth *g, node m, float *direction) {
    const hd_graph_forest *f = g->forest;
    const hd_graph_ordered_points *x = f->points;
    hd_rng rng = hd_rng_stream(f->seed, (g->tree + 1) << 40 ^ m.number);
    int64_t begin = hd_graph_forest_begin(f, m.begin),
            size = hd_graph_forest_begin(f, m.end) - begin;
    float scale = (float)x->packing.scale;
    bool found = false;
    for (int t = 0; t < DIRECTION_TRIES && !found; t++) {
        const float *a = hd_graph_ordered_row(x, f->order[begin + hd_rng_below(&rng, size)]);
        const float *b = hd_graph_ordered_row(x, f->order[begin + hd_rng_below(&rng, size)]);
        for (int64_t j = 0; j < x->d; j++) {
            /* Scaled twice: once for this row and once for those that are multiplied by it. */
            direction[j] = scale * (scale * a[j] - scale * b[j]);
            found = found || direction[j] != 0;
        }
    }
    if (f->routes != NULL)
        memcpy(route_of(f, m), direction, (size_t)x->d * sizeof *direction);
}

/* The side of each point as an integer in the order of the sides, followed by its position, which
 * makes the order strict. */
static void compute_keys(const growth *g, const float *direction, int64_t begin, int64_t end) {
    const hd_graph_forest *f = g->forest;
    const hd_graph_ordered_points *x = f->points;
    enum { AHEAD = 8, LINE = 16 };
    for (int64_t p = begin; p < end; p++) {
        uint32_t bits;
        if (p + AHEAD < end) {
            const float *next = hd_graph_ordered_row(x, f->order[p + AHEAD]);
            for (int64_t j = 0; j < x->d; j += LINE)
                __builtin_prefetch(next + j);
        }
        float side = g->product(direction, hd_graph_ordered_row(x, f->order[p]), x->d);
        memcpy(&bits, &side, sizeof bits);
        bits = bits >> 31 ? ~bits : bits | 0x80000000u;
        f->keys[p] = (uint64_t)bits << 32 | (uint32_t)f->order[p];
    }
}

static void sort_few(uint64_t *keys, int count) {
    for (int i = 1; i < count; i++) {
        uint64_t key = keys[i];
        int at = i;
        for (; at > 0 && keys[at - 1] > key; at--)
            keys[at] = keys[at - 1];
        keys[at] = key;
    }
}

/* The median of evenly spaced keys. */
static uint64_t choose_pivot(const uint64_t *keys, int64_t low, int64_t high) {
    uint64_t some[PIVOTS];
    int count = high - low > MEDIAN_OF_MANY ? PIVOTS : 3;
    for (int s = 0; s < count; s++)
        some[s] = keys[low + s * (high - low) / (count - 1)];
    sort_few(some, count);
    return some[count / 2];
}

/* Moves the `middle` smallest of the keys to the front: quickselect (Hoare). */
static void select_keys(uint64_t *keys, int64_t size, int64_t middle) {
    int64_t low = 0, high = size - 1;
    while (low < high) {
        uint64_t pivot = choose_pivot(keys, low, high);
        int64_t p = low, q = high;
        while (p <= q) {
            while (keys[p] < pivot)
                p++;
            while (keys[q] > pivot)
                q--;
            if (p <= q) {
                uint64_t key = keys[p];
                keys[p++] = keys[q];
                keys[q--] = key;
            }
        }
        if (middle <= q)
            high = q;
        else if (middle >= p)
            low = p;
        else
            break;
    }
}

/* The side that compute_keys() put into a key. */
static float side_of(uint64_t key) {
    uint32_t bits = (uint32_t)(key >> 32);
    float side;
    bits = bits >> 31 ? bits & 0x7fffffffu : ~bits;
    memcpy(&side, &bits, sizeof side);
    return side;
}

/* Orders the points of a node whose keys are known: those of its first half first. */
static void divide_node(const growth *g, node m) {
    const hd_graph_forest *f = g->forest;
    int64_t begin = hd_graph_forest_begin(f, m.begin), end = hd_graph_forest_begin(f, m.end);
    select_keys(f->keys + begin, end - begin, hd_graph_forest_begin(f, middle_leaf(m)) - begin);
    for (int64_t p = begin; p < end; p++)
        f->order[p] = (int32_t)(f->keys[p] & UINT32_MAX);
    /* The smallest key of the second half is in its place. */
    if (f->routes != NULL)
        route_of(f, m)[f->points->d] = side_of(f->keys[hd_graph_forest_begin(f, middle_leaf(m))]);
}

/* ---- growth -------------------------------------------------------------------------------- */

static node left_child(node m) {
    return (node){m.begin, middle_leaf(m), 2 * m.number};
}

static node right_child(node m) {
    return (node){middle_leaf(m), m.end, 2 * m.number + 1};
}

/* Splits the subtree down to its leaves, one half after the other, while its points are in the
 * cache. */
static void grow_subtree(const growth *g, node root, float *direction) {
    const hd_graph_forest *f = g->forest;
    node stack[MAX_DEPTH];
    int waiting = 0;
    for (node m = root;;) {
        if (m.end - m.begin > 1) {
            choose_direction(g, m, direction);
            compute_keys(g, direction, hd_graph_forest_begin(f, m.begin),
                         hd_graph_forest_begin(f, m.end));
            divide_node(g, m);
            stack[waiting++] = right_child(m);
            m = left_child(m);
        } else if (waiting > 0) {
            m = stack[--waiting];
        } else {
            break;
        }
    }
}

static huddle_status grow_subtrees(void *argument, hd_chunk chunk) {
    const growth *g = argument;
    float *direction = g->forest->directions + chunk.worker * g->forest->points->d;
    for (int64_t m = chunk.begin; m < chunk.end; m++)
        grow_subtree(g, g->nodes[m], direction);
    return HUDDLE_OK;
}

/* Keys of one large node by all threads. */
static huddle_status compute_chunk(void *argument, hd_chunk chunk) {
    const growth *g = argument;
    compute_keys(g, g->forest->directions, g->first + chunk.begin, g->first + chunk.end);
    return HUDDLE_OK;
}

static huddle_status divide_nodes(void *argument, hd_chunk chunk) {
    const growth *g = argument;
    for (int64_t m = chunk.begin; m < chunk.end; m++)
        divide_node(g, g->nodes[m]);
    return HUDDLE_OK;
}

/* Splits all nodes of a level, and lists those of the next in `nodes`, which has room for them. */
static huddle_status split_level(huddle_context *context, growth *g) {
    huddle_status status = HUDDLE_OK;
    for (int64_t m = 0; m < g->n_nodes; m++) {
        int64_t end = hd_graph_forest_begin(g->forest, g->nodes[m].end);
        g->first = hd_graph_forest_begin(g->forest, g->nodes[m].begin);
        choose_direction(g, g->nodes[m], g->forest->directions);
        TRY(hd_parallel(context, NULL, end - g->first, KEYS_PER_CHUNK, compute_chunk, g));
    }
    TRY(hd_parallel(context, NULL, g->n_nodes, 1, divide_nodes, g));
    for (int64_t m = g->n_nodes - 1; m >= 0; m--) {
        node parent = g->nodes[m];
        g->nodes[2 * m] = left_child(parent);
        g->nodes[2 * m + 1] = right_child(parent);
    }
    g->n_nodes *= 2;
done:
    return status;
}

/* Every tree begins with the order of the points: it depends on its number only. */
huddle_status hd_graph_forest_grow(huddle_context *context, hd_graph_forest *forest, int64_t tree) {
    huddle_status status = HUDDLE_OK;
    const hd_graph_ordered_points *x = forest->points;
    growth g = {.forest = forest, .tree = (uint64_t)tree};
    g.product = products[x->packing.isa];
    for (int64_t p = 0; p < x->n; p++)
        forest->order[p] = (int32_t)p;
    ALLOC(g.nodes, 2 * forest->leaves);
    g.nodes[0] = (node){0, forest->leaves, 1};
    g.n_nodes = 1;
    /* All nodes of a level have about the same size, the first one included. */
    while (hd_graph_forest_begin(forest, g.nodes[0].end) > SUBTREE && g.nodes[0].end > 1)
        TRY(split_level(context, &g));
    TRY(hd_parallel(context, NULL, g.n_nodes, 1, grow_subtrees, &g));
done:
    huddle_free(g.nodes);
    return status;
}

int64_t hd_graph_forest_find(const hd_graph_forest *forest, const float *routes, const float *row) {
    const hd_graph_ordered_points *x = forest->points;
    node m = {0, forest->leaves, 1};
    while (m.end - m.begin > 1) {
        const float *route = routes + middle_leaf(m) * (x->d + 1);
        float side = products[x->packing.isa](route, row, x->d);
        m = side < route[x->d] ? left_child(m) : right_child(m);
    }
    return m.begin;
}

huddle_status hd_graph_forest_new(huddle_context *context, const hd_graph_ordered_points *points,
                                  int64_t leaf, uint64_t seed, hd_graph_forest *forest) {
    huddle_status status = HUDDLE_OK;
    int64_t tile = HD_GRAPH_TILE_COLUMNS;
    *forest = (hd_graph_forest){.points = points, .seed = seed};
    forest->leaves = (points->n + leaf - 1) / leaf;
    forest->capacity = (leaf + tile - 1) / tile * tile;
    ALLOC(forest->order, points->n);
    ALLOC(forest->keys, points->n);
    ALLOC(forest->directions, hd_workers(context) * points->d);
done:
    return status;
}

void hd_graph_forest_free(hd_graph_forest *forest) {
    FREE(forest->order, forest->keys, forest->directions);
    *forest = (hd_graph_forest){0};
}

/* ---- leaves -------------------------------------------------------------------------------- */

typedef struct joining {
    const hd_graph_forest *forest;
    hd_graph_lists *lists;
    float *panels;     /* workers x capacity x d */
    float *base, *tau; /* workers x capacity */
} joining;

/* No lock: a point is in one leaf of a tree. */
static void insert_pair(void *argument, int64_t i, int64_t j, float value) {
    const hd_graph_list_pairs *l = argument;
    int32_t p = l->rows[i], q = l->rows[j];
    if (value <= l->tau[i] && hd_graph_lists_insert(l->lists, p, value, q))
        l->tau[i] = atomic_load_explicit(&l->lists->tau[p], memory_order_relaxed);
    if (value <= l->tau[j] && hd_graph_lists_insert(l->lists, q, value, p))
        l->tau[j] = atomic_load_explicit(&l->lists->tau[q], memory_order_relaxed);
}

static huddle_status join_leaves(void *argument, hd_chunk chunk) {
    const joining *g = argument;
    const hd_graph_forest *f = g->forest;
    const hd_graph_ordered_points *x = f->points;
    for (int64_t leaf = chunk.begin; leaf < chunk.end; leaf++) {
        int64_t begin = hd_graph_forest_begin(f, leaf),
                size = hd_graph_forest_begin(f, leaf + 1) - begin;
        int64_t at = chunk.worker * f->capacity;
        const int32_t *positions = f->order + begin;
        hd_graph_list_pairs pairs = {g->lists, positions, positions, g->tau + at};
        hd_graph_panels panels =
            hd_graph_ordered_points_pack(x, positions, size, g->panels + at * x->d, g->base + at);
        hd_graph_lists_compare(&pairs, x, &panels, &panels, insert_pair);
    }
    return HUDDLE_OK;
}

huddle_status hd_graph_forest_join(huddle_context *context, const hd_graph_forest *forest,
                                   hd_graph_lists *lists) {
    huddle_status status = HUDDLE_OK;
    joining g = {.forest = forest, .lists = lists};
    int64_t room = hd_workers(context) * forest->capacity;
    /* Cleared, because panels beyond the points are read by the tiles, where infinity is added to
     * whatever they contain. */
    ALLOC_ZERO(g.panels, room * forest->points->d);
    ALLOC(g.base, room);
    ALLOC(g.tau, room);
    TRY(hd_parallel(context, NULL, forest->leaves, 1, join_leaves, &g));
done:
    FREE(g.panels, g.base, g.tau);
    return status;
}
