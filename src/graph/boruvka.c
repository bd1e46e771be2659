/* The tree, and a round of searches in it (boruvka.h). */
#include "graph/boruvka.h"

#include "base/check.h"
#include "base/parallel.h"
#include "graph/distance_kernels.h"
#include "graph/projection.h"
#include "graph/split.h"

#include <float.h>
#include <math.h>
#include <stdatomic.h>
#include <string.h>

enum {
    LEAF = HD_GRAPH_BORUVKA_LEAF,
    MAX_COORDINATES = 32, /* of the projection: more cost more than they exclude */
    PLAIN_WIDTH = 8,      /* rows of so few coordinates need no projection */
    SAMPLE = 256,         /* points of a node from which its widest column is estimated */
    SUBTREES = 64,        /* about so many are built side by side */
    LEAVES_PER_CHUNK = 4,
    DEPTH = 64 /* of the tree at most: 2^31 points have 25 levels */
};

/* Vertices are numbers of rows, not places in the tree: both parts of an edge, all threads and all
 * processes decide ties alike. */
bool hd_graph_edge_is_shorter(hd_graph_edge a, hd_graph_edge b) {
    if (a.distance != b.distance)
        return a.distance < b.distance;
    return a.low != b.low ? a.low < b.low : a.high < b.high;
}

/* ---- coordinates --------------------------------------------------------------------------- */

/* Arguments of the loops that build the tree. */
typedef struct building {
    hd_graph_boruvka *tree;
    huddle_dense y;        /* n x m */
    double position_error; /* of y */
    double *keys;          /* n: coordinates along which a node is divided */
    double *centre;        /* m */
    int32_t *subtrees;     /* nodes that are built side by side */
    int64_t n_subtrees;
} building;

/* The principal directions come first: boxes are small in them, and sums of distances grow fast. */
static huddle_status find_coordinates(huddle_context *context, building *b) {
    huddle_status status = HUDDLE_OK;
    const hd_graph_rows *rows = b->tree->rows;
    int64_t width = hd_graph_rows_width(rows);
    if (width <= PLAIN_WIDTH) {
        TRY(huddle_dense_new(rows->n, width, &b->y));
        TRY(hd_graph_rows_read_all(context, rows, b->y.stride, b->y.values));
    } else {
        hd_graph_projection projection = {0};
        int64_t p = (width < MAX_COORDINATES ? width : MAX_COORDINATES) - 1; /* and rho */
        status = hd_graph_projection_new(context, rows, p, 0, &projection);
        b->y = projection.y;
        b->position_error = projection.position_error;
        projection.y = (huddle_dense){0};
        hd_graph_projection_free(&projection);
        TRY(status);
    }
    b->tree->m = b->y.cols;
done:
    return status;
}

/* Centre and scale of the values, and the error of their distances: each point is off by the error
 * of its coordinates, and by rounding to float, at most u = 2^-24 times its norm, which is at most
 * 1 after scaling. Twice that covers the subtraction of the centre, in double. */
static huddle_status find_scale(building *b) {
    huddle_status status = HUDDLE_OK;
    hd_graph_boruvka *tree = b->tree;
    int64_t m = tree->m, n = b->y.rows;
    double square = 0, *high = NULL;
    ALLOC(b->centre, m);
    ALLOC(high, m);
    for (int64_t f = 0; f < m; f++)
        b->centre[f] = high[f] = b->y.values[f];
    for (int64_t i = 0; i < n; i++)
        for (int64_t f = 0; f < m; f++) {
            double value = b->y.values[i * b->y.stride + f];
            b->centre[f] = fmin(b->centre[f], value);
            high[f] = fmax(high[f], value);
        }
    for (int64_t f = 0; f < m; f++) {
        double half = .5 * (high[f] - b->centre[f]);
        b->centre[f] += half;
        square += half * half; /* of half the diagonal: no norm is larger */
    }
    tree->scale = hd_graph_unit_scale(sqrt(square));
    tree->error = 2 * (b->position_error * tree->scale + 2 * (double)FLT_EPSILON);
done:
    huddle_free(high);
    return status;
}

/* ---- the tree ------------------------------------------------------------------------------ */

/* A node of l leaves has 2 l - 1 nodes, itself first, then those of its lower half. */
static int64_t middle_leaf(const hd_graph_boruvka *tree, int64_t node) {
    return tree->first[node] + (tree->last[node] - tree->first[node]) / 2;
}

static int64_t upper_child(const hd_graph_boruvka *tree, int64_t node) {
    /* The node itself, and 2 h - 1 nodes of a lower half of h leaves. */
    return node + 2 * (middle_leaf(tree, node) - tree->first[node]);
}

static int64_t begin_of(int64_t leaf) {
    return leaf * LEAF;
}

static int64_t end_of(const hd_graph_boruvka *tree, int64_t leaf) {
    int64_t end = (leaf + 1) * LEAF;
    return end < tree->rows->n ? end : tree->rows->n;
}

/* The column of largest variance, from evenly spaced points of the node. A poor choice, such as by
 * cancellation far from the centre, makes boxes larger, not wrong. */
static int64_t widest_column(const building *b, int64_t begin, int64_t end) {
    int64_t m = b->tree->m, count = end - begin < SAMPLE ? end - begin : SAMPLE, widest = 0;
    double sums[MAX_COORDINATES] = {0}, squares[MAX_COORDINATES] = {0}, largest = -1;
    for (int64_t s = 0; s < count; s++) {
        int64_t i = b->tree->order[begin + s * (end - begin) / count];
        for (int64_t f = 0; f < m; f++) {
            double value = b->y.values[i * b->y.stride + f] - b->centre[f];
            sums[f] += value;
            squares[f] += value * value;
        }
    }
    for (int64_t f = 0; f < m; f++) {
        double variance = squares[f] - sums[f] * sums[f] / (double)count;
        if (variance > largest) {
            largest = variance;
            widest = f;
        }
    }
    return widest;
}

/* Divides a node's points and leaves among its two children. The lower one gets full leaves, so
 * that only the last leaf of the tree is not full. */
static void split_node(const building *b, int64_t node) {
    hd_graph_boruvka *tree = b->tree;
    int64_t middle = middle_leaf(tree, node), lower = node + 1, upper = upper_child(tree, node);
    int64_t begin = begin_of(tree->first[node]), end = end_of(tree, tree->last[node] - 1);
    int64_t column = widest_column(b, begin, end);
    for (int64_t place = begin; place < end; place++)
        b->keys[place] = b->y.values[tree->order[place] * b->y.stride + column];
    hd_graph_split_at(b->keys, tree->order, begin, end, begin_of(middle));
    tree->first[lower] = tree->first[node];
    tree->last[lower] = tree->first[upper] = (int32_t)middle;
    tree->last[upper] = tree->last[node];
}

/* Splits the nodes below `node`, down to single leaves or, for the upper part of the tree, down to
 * nodes of at most `limit` leaves, which are collected. */
static void split_below(building *b, int64_t node, int64_t limit, bool collect) {
    int64_t stack[DEPTH], depth = 0;
    stack[depth++] = node;
    while (depth > 0) {
        int64_t at = stack[--depth], leaves = b->tree->last[at] - b->tree->first[at];
        if (leaves <= limit) {
            if (collect)
                b->subtrees[b->n_subtrees++] = (int32_t)at;
            continue;
        }
        split_node(b, at);
        stack[depth++] = upper_child(b->tree, at);
        stack[depth++] = at + 1;
    }
}

static huddle_status split_subtrees(void *argument, hd_chunk chunk) {
    building *b = argument;
    for (int64_t s = chunk.begin; s < chunk.end; s++)
        split_below(b, b->subtrees[s], 1, false);
    return HUDDLE_OK;
}

/* Values and boxes of leaves. Places beyond the last point are at infinity. Their sums are
 * infinite, and no limit is above FLT_MAX. */
static huddle_status pack_leaves(void *argument, hd_chunk chunk) {
    const building *b = argument;
    hd_graph_boruvka *tree = b->tree;
    for (int64_t leaf = chunk.begin; leaf < chunk.end; leaf++) {
        float *values = tree->values + leaf * tree->m * LEAF;
        int64_t begin = begin_of(leaf), count = end_of(tree, leaf) - begin;
        for (int64_t f = 0; f < tree->m; f++)
            for (int64_t l = 0; l < LEAF; l++) {
                int64_t i = tree->order[begin + (l < count ? l : 0)];
                double value = b->y.values[i * b->y.stride + f] - b->centre[f];
                values[f * LEAF + l] = l < count ? (float)(tree->scale * value) : INFINITY;
            }
    }
    return HUDDLE_OK;
}

/* Boxes of all nodes: children have larger numbers than their parent. They enclose the rounded
 * values, which the kernel compares, without any rounding of their own. */
static void find_boxes(hd_graph_boruvka *tree) {
    int64_t m = tree->m;
    for (int64_t node = tree->nodes - 1; node >= 0; node--) {
        float *low = tree->low + node * m, *high = tree->high + node * m;
        int64_t leaf = tree->first[node], count = end_of(tree, leaf) - begin_of(leaf);
        bool single = tree->last[node] - leaf == 1;
        const float *values = tree->values + leaf * m * LEAF;
        int64_t lower = node + 1, upper = single ? 0 : upper_child(tree, node);
        for (int64_t f = 0; f < m; f++) {
            low[f] = single ? values[f * LEAF]
                            : fminf(tree->low[lower * m + f], tree->low[upper * m + f]);
            high[f] = single ? values[f * LEAF]
                             : fmaxf(tree->high[lower * m + f], tree->high[upper * m + f]);
            for (int64_t l = 1; single && l < count; l++) {
                low[f] = fminf(low[f], values[f * LEAF + l]);
                high[f] = fmaxf(high[f], values[f * LEAF + l]);
            }
        }
    }
}

static huddle_status build_tree(huddle_context *context, building *b) {
    huddle_status status = HUDDLE_OK;
    hd_graph_boruvka *tree = b->tree;
    int64_t n = tree->rows->n, limit = tree->leaves / SUBTREES + 1;
    ALLOC(b->keys, n);
    ALLOC(b->subtrees, tree->leaves);
    for (int64_t i = 0; i < n; i++)
        tree->order[i] = (int32_t)i;
    tree->first[0] = 0;
    tree->last[0] = (int32_t)tree->leaves;
    /* One thread divides the upper levels, each of which takes a pass over all points; the subtrees
     * share none. */
    split_below(b, 0, limit, true);
    TRY(hd_parallel(context, NULL, b->n_subtrees, 1, split_subtrees, b));
    TRY(hd_parallel(context, NULL, tree->leaves, LEAVES_PER_CHUNK, pack_leaves, b));
    find_boxes(tree);
done:
    return status;
}

huddle_status hd_graph_boruvka_new(huddle_context *context, const hd_graph_rows *rows,
                                   hd_graph_boruvka *tree) {
    huddle_status status = HUDDLE_OK;
    building b = {.tree = tree};
    *tree = (hd_graph_boruvka){.rows = rows, .leaves = (rows->n + LEAF - 1) / LEAF};
    tree->nodes = 2 * tree->leaves - 1;
    TRY(find_coordinates(context, &b));
    TRY(find_scale(&b));
    ALLOC(tree->order, rows->n);
    ALLOC(tree->first, tree->nodes);
    ALLOC(tree->last, tree->nodes);
    ALLOC(tree->node_part, tree->nodes);
    ALLOC(tree->low, tree->nodes * tree->m);
    ALLOC(tree->high, tree->nodes * tree->m);
    ALLOC(tree->values, tree->leaves * tree->m * LEAF);
    TRY(build_tree(context, &b));
done:
    huddle_dense_free(&b.y);
    FREE(b.keys, b.centre, b.subtrees);
    return status;
}

void hd_graph_boruvka_free(hd_graph_boruvka *tree) {
    FREE(tree->order, tree->first, tree->last, tree->node_part, tree->low, tree->high,
         tree->values);
    memset(tree, 0, sizeof *tree);
}

/* ---- one round ----------------------------------------------------------------------------- */

/* A round of all leaves. bounds[p] is the bit pattern of the shortest distance of part p so far, by
 * any thread: distances are not negative, so that the patterns have their order. Each worker keeps
 * its own edges; which edge is the shortest in the end does not depend on the order in which they
 * were found, because a bound only excludes what is longer. */
typedef struct search_round {
    const hd_graph_boruvka *tree;
    const int32_t *part;
    int32_t n_parts;
    const bool *searching;
    hd_graph_edge *best; /* workers x n_parts */
    atomic_ullong *bounds;
    bool greedy; /* only the nearest leaf of each: for the first bounds */
} search_round;

/* The search of one leaf. */
typedef struct walk {
    const search_round *r;
    hd_graph_edge *best;     /* of this worker */
    int64_t leaf, count;     /* and its points */
    int32_t parts[LEAF];     /* searching parts of the leaf, each once */
    float part_limits[LEAF]; /* the largest value of a pair that serves each of them */
    int32_t place[LEAF];     /* of each point: its part among them, -1 if it does not search */
    int32_t n_parts;         /* of them */
    int32_t only;            /* if all points belong to one part, that part; else -1 */
    float q[LEAF][MAX_COORDINATES];
    const float *low, *high; /* its box */
    double limit;            /* the largest of its parts */
} walk;

static double bound_of(const search_round *r, int32_t part) {
    unsigned long long bits = atomic_load_explicit(&r->bounds[part], memory_order_relaxed);
    double bound;
    memcpy(&bound, &bits, sizeof bound);
    return bound;
}

/* Without locks: the exchange fails only if another thread has changed the bound, and ends when
 * that is not above. Nothing else is read because of a bound, so that relaxed order is sufficient.
 */
static void lower_bound(const search_round *r, int32_t part, double distance) {
    unsigned long long bits, before = atomic_load_explicit(&r->bounds[part], memory_order_relaxed);
    memcpy(&bits, &distance, sizeof bits);
    while (bits < before &&
           !atomic_compare_exchange_weak_explicit(&r->bounds[part], &before, bits,
                                                  memory_order_relaxed, memory_order_relaxed))
        ;
}

/* The largest squared distance of values that a pair can have whose true squared distance is at
 * most `bound`: `error` for the positions, and (m + 3) u for the sum of the kernel, doubled. */
static double value_limit(const hd_graph_boruvka *tree, double bound) {
    if (!isfinite(bound))
        return (double)FLT_MAX; /* no edge yet */
    double distance = sqrt(bound) * tree->scale + tree->error;
    double limit = distance * distance * (1 + (double)(tree->m + 3) * (double)FLT_EPSILON);
    return fmin(limit, (double)FLT_MAX);
}

/* The squared distance between the boxes of the leaf and of a node. Differences of floats are
 * rounded in double, by much less than value_limit() allows. */
static double box_distance(const walk *w, int64_t node) {
    int64_t m = w->r->tree->m;
    const float *low = w->r->tree->low + node * m, *high = w->r->tree->high + node * m;
    double sum = 0;
    for (int64_t f = 0; f < m; f++) {
        double below = (double)w->low[f] - (double)high[f];
        double above = (double)low[f] - (double)w->high[f];
        double apart = below > above ? below : above;
        apart = apart > 0 ? apart : 0; /* fmax() is a call */
        sum += apart * apart;
    }
    return sum;
}

/* The limits of the parts of a leaf, from their bounds as they are now, and the largest. A float
 * limit is rounded up. */
static void find_limits(walk *w) {
    w->limit = 0;
    for (int64_t k = 0; k < w->n_parts; k++) {
        double limit = value_limit(w->r->tree, bound_of(w->r, w->parts[k]));
        double above = limit * (1 + (double)FLT_EPSILON);
        w->part_limits[k] = above < (double)FLT_MAX ? (float)above : FLT_MAX;
        w->limit = limit > w->limit ? limit : w->limit;
    }
}

/* A pair whose values do not exclude it, compared in double. The edge serves both parts. One that
 * is as long as the bound is compared too: the order of edges decides between equal lengths. */
static void compare_rows(const walk *w, int32_t i, int32_t j) {
    const search_round *r = w->r;
    int32_t own = r->part[i], other = r->part[j];
    double bound = bound_of(r, own);
    double distance = hd_graph_rows_distance2(r->tree->rows, i, r->tree->rows, j, bound);
    if (distance > bound)
        return;
    hd_graph_edge edge = {i < j ? i : j, i < j ? j : i, distance};
    const int32_t ends[] = {own, other};
    for (int e = 0; e < 2; e++)
        if (r->searching[ends[e]] && hd_graph_edge_is_shorter(edge, w->best[ends[e]])) {
            w->best[ends[e]] = edge;
            lower_bound(r, ends[e], distance);
        }
}

/* Every searching point of the leaf against all points of another, which is a node by itself.
 * Limits are renewed after a leaf only: one that is out of date is too large, which costs
 * comparisons but excludes no edge. */
static void compare_leaves(walk *w, int64_t node) {
    static hd_graph_boruvka_near_function *const kernels[] = HD_SIMD_TABLE(hd_graph_boruvka_near);
    const search_round *r = w->r;
    const hd_graph_boruvka *tree = r->tree;
    int64_t other = tree->first[node];
    const float *values = tree->values + other * tree->m * LEAF;
    const int32_t *rows = tree->order + begin_of(other), *own = tree->order + begin_of(w->leaf);
    for (int64_t k = 0; k < w->count; k++) {
        if (w->place[k] < 0 || tree->node_part[node] == w->parts[w->place[k]])
            continue;
        int32_t part = w->parts[w->place[k]];
        uint64_t near =
            kernels[tree->rows->isa](w->q[k], values, tree->m, w->part_limits[w->place[k]]);
        for (; near != 0; near &= near - 1) {
            int32_t j = rows[__builtin_ctzll(near)];
            if (r->part[j] != part)
                compare_rows(w, own[k], j);
        }
    }
    find_limits(w);
}

/* Whether a node contains no point of another part than the only one of the leaf. */
static bool is_own(const walk *w, int64_t node) {
    return w->only >= 0 && w->r->tree->node_part[node] == w->only;
}

/* A node on the stack of a walk, with the distance of its box. */
typedef struct visit {
    int64_t node;
    double distance;
} visit;

/* Descends the tree, nearest child first; a greedy walk ends at the first leaf. Near nodes make the
 * bounds small before far ones are tested. */
static void walk_tree(walk *w) {
    const hd_graph_boruvka *tree = w->r->tree;
    visit stack[DEPTH];
    int depth = 0;
    if (!is_own(w, 0))
        stack[depth++] = (visit){0, 0};
    while (depth > 0) {
        visit at = stack[--depth];
        /* The limit may have fallen since the node was put on the stack. The distance of two boxes
         * is at most that of any values in them, so that no pair within value_limit() is lost; a
         * pair as long as the bound may still win by its vertices. */
        if (at.distance > w->limit)
            continue;
        if (tree->last[at.node] - tree->first[at.node] == 1) {
            compare_leaves(w, at.node);
            if (w->r->greedy)
                return;
            continue;
        }
        int64_t upper = upper_child(tree, at.node);
        visit children[] = {{at.node + 1, box_distance(w, at.node + 1)},
                            {upper, box_distance(w, upper)}};
        int near = children[1].distance < children[0].distance;
        if (!is_own(w, children[!near].node))
            stack[depth++] = children[!near];
        if (!is_own(w, children[near].node))
            stack[depth++] = children[near];
    }
}

/* The node of a leaf, from the root. */
static int64_t find_node(const hd_graph_boruvka *tree, int64_t leaf) {
    int64_t node = 0;
    while (tree->last[node] - tree->first[node] > 1)
        node = leaf < middle_leaf(tree, node) ? node + 1 : upper_child(tree, node);
    return node;
}

/* Sets up the walk of a leaf; false if none of its points searches. */
static bool begin_walk(const search_round *r, int64_t leaf, walk *w) {
    const hd_graph_boruvka *tree = r->tree;
    const float *values = tree->values + leaf * tree->m * LEAF;
    int64_t node = find_node(tree, leaf);
    w->leaf = leaf;
    w->count = end_of(tree, leaf) - begin_of(leaf);
    w->only = tree->node_part[node];
    w->low = tree->low + node * tree->m;
    w->high = tree->high + node * tree->m;
    w->n_parts = 0;
    for (int64_t k = 0; k < w->count; k++) {
        int32_t part = r->part[tree->order[begin_of(leaf) + k]];
        int32_t known = 0;
        w->place[k] = -1;
        if (!r->searching[part])
            continue;
        while (known < w->n_parts && w->parts[known] != part)
            known++;
        if (known == w->n_parts)
            w->parts[w->n_parts++] = part;
        w->place[k] = known;
        for (int64_t f = 0; f < tree->m; f++)
            w->q[k][f] = values[f * LEAF + k];
    }
    find_limits(w);
    return w->n_parts > 0;
}

static huddle_status search_leaves(void *argument, hd_chunk chunk) {
    const search_round *r = argument;
    walk w = {.r = r, .best = r->best + (int64_t)chunk.worker * r->n_parts};
    for (int64_t leaf = chunk.begin; leaf < chunk.end; leaf++)
        if (begin_walk(r, leaf, &w))
            walk_tree(&w);
    return HUDDLE_OK;
}

/* The only part of each node; -1 if there are several. Children have larger numbers. */
static void find_node_parts(const int32_t *part, hd_graph_boruvka *tree) {
    for (int64_t node = tree->nodes - 1; node >= 0; node--) {
        int64_t leaf = tree->first[node];
        if (tree->last[node] - leaf > 1) {
            int32_t lower = tree->node_part[node + 1];
            tree->node_part[node] = tree->node_part[upper_child(tree, node)] == lower ? lower : -1;
            continue;
        }
        int32_t only = part[tree->order[begin_of(leaf)]];
        for (int64_t place = begin_of(leaf) + 1; place < end_of(tree, leaf); place++)
            if (part[tree->order[place]] != only)
                only = -1;
        tree->node_part[node] = only;
    }
}

/* First the nearest leaf of each leaf alone, which gives every part a good bound, then all. */
huddle_status hd_graph_boruvka_find(huddle_context *context, hd_graph_boruvka *tree,
                                    const int32_t *part, int32_t n_parts, const bool *searching,
                                    hd_graph_edge *best) {
    huddle_status status = HUDDLE_OK;
    search_round r = {.tree = tree, .part = part, .n_parts = n_parts, .searching = searching};
    const hd_graph_edge none = {-1, -1, INFINITY};
    int64_t workers = hd_workers(context);
    ALLOC(r.best, workers * n_parts);
    ALLOC(r.bounds, n_parts);
    for (int64_t k = 0; k < workers * n_parts; k++)
        r.best[k] = none;
    for (int32_t p = 0; p < n_parts; p++) {
        /* All bits set are above every pattern: the first bound is stored. */
        atomic_init(&r.bounds[p], ~0ull);
        lower_bound(&r, p, INFINITY);
    }
    find_node_parts(part, tree);
    for (int pass = 0; pass < 2; pass++) {
        r.greedy = pass == 0;
        TRY(hd_parallel(context, "graph", tree->leaves, LEAVES_PER_CHUNK, search_leaves, &r));
    }
    for (int32_t p = 0; p < n_parts; p++) {
        best[p] = none;
        /* The order of edges is strict: who has found an edge does not matter. */
        for (int64_t w = 0; w < workers; w++)
            if (hd_graph_edge_is_shorter(r.best[w * n_parts + p], best[p]))
                best[p] = r.best[w * n_parts + p];
    }
done:
    huddle_free(r.best);
    huddle_free((void *)r.bounds);
    return status;
}
