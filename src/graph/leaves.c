/* Building the tree level by level, and the tests of boxes. */
#include "graph/leaves.h"

#include "base/check.h"
#include "base/parallel.h"
#include "base/rng.h"
#include "graph/split.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    SAMPLE = 256,    /* rows by which a node is divided; any division gives valid bounds */
    POWER_STEPS = 3, /* of the iteration for the direction: a rough one is sufficient */
};

/* A direction is used if it separates the halves of a node so much better than the widest column:
 * boxes around slanted cells exclude less. Rows of an embedding of 100,000 points need 450 pairs a
 * point with 1.3, 1,100 with 2, and 35,000 without directions; points of 32 columns 1,190, 1,190
 * and 1,190, but 1,600 with 1 (sheets of bench/make_sheets.py). */
static const double min_gain = 1.3;

static hd_graph_box_bounds_function *const bounds_kernels[] = HD_SIMD_TABLE(hd_graph_box_bounds);

/* A node is a range of leaves. */
typedef struct node {
    int64_t begin, end;
} node;

/* What a worker needs for the node that it divides. */
typedef struct workspace {
    int64_t count;            /* rows of the sample */
    double *sample;           /* SAMPLE x d */
    double *mean, *direction; /* d */
    double keys[SAMPLE];
} workspace;

typedef struct builder {
    const hd_graph_rows *rows;
    hd_graph_leaves *leaves;
    int64_t d;
    double *keys;                 /* n: the coordinates by which nodes are divided */
    struct workspace *workspaces; /* one per worker */
    node *nodes, *children;       /* of this level and of the next */
    int64_t n_nodes;
} builder;

/* ---- order --------------------------------------------------------------------------------- */

/* Copies an evenly spaced sample of the node, less its mean, to scratch->sample. */
static void take_sample(const builder *b, int64_t begin, int64_t end, workspace *w) {
    int64_t d = b->d;
    w->count = end - begin < SAMPLE ? end - begin : SAMPLE;
    memset(w->mean, 0, (size_t)d * sizeof *w->mean);
    for (int64_t s = 0; s < w->count; s++) {
        double *row = w->sample + s * d;
        hd_graph_rows_read(b->rows, b->leaves->order[begin + s * (end - begin) / w->count], row);
        for (int64_t f = 0; f < d; f++)
            w->mean[f] += row[f];
    }
    for (int64_t f = 0; f < d; f++)
        w->mean[f] /= (double)w->count;
    for (int64_t s = 0; s < w->count; s++)
        for (int64_t f = 0; f < d; f++)
            w->sample[s * d + f] -= w->mean[f];
}

/* The column of largest variance over the sample. The sample is centred, so that sums of squares
 * compare as variances do. */
static int64_t widest_column(const builder *b, workspace *w) {
    double *sum = w->mean, largest = 0; /* the mean is not needed any more */
    int64_t widest = 0;
    memset(sum, 0, (size_t)b->d * sizeof *sum);
    for (int64_t s = 0; s < w->count; s++)
        for (int64_t f = 0; f < b->d; f++)
            sum[f] += w->sample[s * b->d + f] * w->sample[s * b->d + f];
    for (int64_t f = 0; f < b->d; f++)
        if (sum[f] > largest) {
            largest = sum[f];
            widest = f;
        }
    return widest;
}

/* A direction of large variance, by a few steps of the power iteration from a random start: where
 * many directions are equally wide, as between clusters in the corners of a simplex, it is a random
 * combination of them. Its stream is that of the place of the node, hence the same for any number
 * of threads. */
static void find_direction(const builder *b, int64_t begin, workspace *w) {
    hd_rng rng = hd_rng_stream(0, (uint64_t)begin);
    double *v = w->direction, *next = w->mean;
    for (int64_t f = 0; f < b->d; f++)
        v[f] = hd_rng_normal(&rng);
    for (int step = 0; step < POWER_STEPS; step++) {
        memset(next, 0, (size_t)b->d * sizeof *next);
        for (int64_t s = 0; s < w->count; s++) {
            const double *row = w->sample + s * b->d;
            double share = hd_graph_dot(row, v, b->d);
            for (int64_t f = 0; f < b->d; f++)
                next[f] += share * row[f];
        }
        double norm = sqrt(hd_graph_dot(next, next, b->d));
        for (int64_t f = 0; f < b->d; f++)
            v[f] = norm > 0 ? next[f] / norm : 0;
    }
}

/* How far apart the means of the two halves of the sample are, by the keys in w->keys. Nodes have
 * two leaves at least, so that no half of the sample is empty. */
static double measure_separation(workspace *w) {
    double low = 0, high = 0;
    int64_t half = w->count / 2;
    qsort(w->keys, (size_t)w->count, sizeof *w->keys, hd_graph_by_value);
    for (int64_t s = 0; s < w->count; s++)
        *(s < half ? &low : &high) += w->keys[s];
    return high / (double)(w->count - half) - low / (double)half;
}

/* Fills the keys of the node: coordinates of the widest column, or positions along a direction that
 * separates the halves better. The sample decides; all rows of the node are read only then, once.
 */
static void compute_keys(const builder *b, int64_t begin, int64_t end, workspace *w) {
    const int32_t *order = b->leaves->order;
    take_sample(b, begin, end, w);
    int64_t f = widest_column(b, w);
    find_direction(b, begin, w);
    for (int64_t s = 0; s < w->count; s++)
        w->keys[s] = w->sample[s * b->d + f];
    double column = measure_separation(w);
    for (int64_t s = 0; s < w->count; s++)
        w->keys[s] = hd_graph_dot(w->direction, w->sample + s * b->d, b->d);
    bool oblique = measure_separation(w) > min_gain * column;
    for (int64_t place = begin; place < end && !oblique; place++)
        b->keys[place] = hd_graph_rows_coordinate(b->rows, order[place], f);
    for (int64_t place = begin; place < end && oblique; place++) {
        hd_graph_rows_read(b->rows, order[place], w->mean);
        b->keys[place] = hd_graph_dot(w->direction, w->mean, b->d);
    }
}

/* Divides a node of at least two leaves; returns the first leaf of its upper half. */
static int64_t split_node(const builder *b, node at, workspace *w) {
    int64_t leaves = at.end - at.begin, half = leaves / 2;
    int64_t begin = at.begin * HD_GRAPH_LEAF, end = hd_graph_leaf_end(b->leaves, at.end - 1);
    /* Whole groups as long as there are several, so that the leaves of a group are near each other.
     * Rounded up, the half is still less than all. */
    if (leaves > HD_GRAPH_LEAF_GROUP)
        half = (half + HD_GRAPH_LEAF_GROUP - 1) / HD_GRAPH_LEAF_GROUP * HD_GRAPH_LEAF_GROUP;
    compute_keys(b, begin, end, w);
    hd_graph_split_at(b->keys, b->leaves->order, begin, end, (at.begin + half) * HD_GRAPH_LEAF);
    return at.begin + half;
}

/* Nodes of one level are independent: the tree does not depend on the number of threads. */
static huddle_status split_nodes(void *argument, hd_chunk chunk) {
    const builder *b = argument;
    for (int64_t i = chunk.begin; i < chunk.end; i++) {
        node at = b->nodes[i], none = {at.end, at.end};
        int64_t middle = at.end;
        if (at.end - at.begin > 1)
            middle = split_node(b, at, &b->workspaces[chunk.worker]);
        b->children[2 * i] = (node){at.begin, middle};
        b->children[2 * i + 1] = middle < at.end ? (node){middle, at.end} : none;
    }
    return HUDDLE_OK;
}

/* Level by level, until every node is one leaf. Nodes that are leaves already, or empty, are
 * dropped. */
static huddle_status order_points(huddle_context *context, builder *b) {
    huddle_status status = HUDDLE_OK;
    b->nodes[0] = (node){0, b->leaves->count};
    b->n_nodes = 1;
    while (b->n_nodes > 0) {
        TRY(hd_parallel(context, NULL, b->n_nodes, 1, split_nodes, b));
        int64_t kept = 0;
        for (int64_t i = 0; i < 2 * b->n_nodes; i++)
            if (b->children[i].end - b->children[i].begin > 1)
                b->nodes[kept++] = b->children[i];
        b->n_nodes = kept;
    }
done:
    return status;
}

/* ---- boxes --------------------------------------------------------------------------------- */

/* Padding boxes are at infinity. A caller without a limit has to stop at the count. */
static huddle_status new_boxes(int64_t count, int64_t d, hd_graph_boxes *boxes) {
    huddle_status status = HUDDLE_OK;
    int64_t size = hd_chunks(count, HD_GRAPH_BOXES) * HD_GRAPH_BOXES * d;
    *boxes = (hd_graph_boxes){.count = count, .d = d};
    ALLOC(boxes->low, size);
    ALLOC(boxes->high, size);
    for (int64_t e = 0; e < size; e++)
        boxes->low[e] = boxes->high[e] = INFINITY;
done:
    return status;
}

/* Where column f of box i is. */
static int64_t box_at(const hd_graph_boxes *boxes, int64_t i, int64_t f) {
    return (i / HD_GRAPH_BOXES * boxes->d + f) * HD_GRAPH_BOXES + i % HD_GRAPH_BOXES;
}

/* Sorts the points of the group's leaves by their row numbers, so that equal points come in the
 * order that ties prefer, and measures the boxes of the leaves and of the group. Minima and maxima
 * are not rounded: boxes are tight. */
static void measure_group(const builder *b, int64_t group, double *row) {
    hd_graph_leaves *t = b->leaves;
    int64_t end =
        (group + 1) * HD_GRAPH_LEAF_GROUP < t->count ? (group + 1) * HD_GRAPH_LEAF_GROUP : t->count;
    for (int64_t l = group * HD_GRAPH_LEAF_GROUP; l < end; l++) {
        int64_t begin = hd_graph_leaf_begin(l), size = hd_graph_leaf_end(t, l) - begin;
        qsort(t->order + begin, (size_t)size, sizeof *t->order, hd_graph_by_number);
        t->smallest[l] = t->order[begin];
        for (int64_t place = begin; place < begin + size; place++) {
            bool first = place == begin;
            hd_graph_rows_read(b->rows, t->order[place], row);
            for (int64_t f = 0; f < b->d; f++) {
                int64_t e = box_at(&t->leaf_boxes, l, f);
                t->leaf_boxes.low[e] = first ? row[f] : fmin(t->leaf_boxes.low[e], row[f]);
                t->leaf_boxes.high[e] = first ? row[f] : fmax(t->leaf_boxes.high[e], row[f]);
            }
        }
        for (int64_t f = 0; f < b->d; f++) {
            int64_t e = box_at(&t->leaf_boxes, l, f), g = box_at(&t->group_boxes, group, f);
            bool first = l == group * HD_GRAPH_LEAF_GROUP;
            double low = t->leaf_boxes.low[e], high = t->leaf_boxes.high[e];
            t->group_boxes.low[g] = first ? low : fmin(t->group_boxes.low[g], low);
            t->group_boxes.high[g] = first ? high : fmax(t->group_boxes.high[g], high);
        }
    }
}

static huddle_status measure_groups(void *argument, hd_chunk chunk) {
    const builder *b = argument;
    for (int64_t group = chunk.begin; group < chunk.end; group++)
        measure_group(b, group, b->workspaces[chunk.worker].mean);
    return HUDDLE_OK;
}

huddle_status hd_graph_leaves_new(huddle_context *context, const hd_graph_rows *rows,
                                  hd_graph_leaves *leaves) {
    huddle_status status = HUDDLE_OK;
    builder b = {.rows = rows, .leaves = leaves, .d = hd_graph_rows_width(rows)};
    *leaves = (hd_graph_leaves){.n = rows->n, .isa = rows->isa};
    leaves->count = hd_chunks(rows->n, HD_GRAPH_LEAF);
    leaves->groups = hd_chunks(leaves->count, HD_GRAPH_LEAF_GROUP);
    ALLOC(leaves->order, leaves->n);
    ALLOC(leaves->smallest, leaves->count);
    TRY(new_boxes(leaves->count, b.d, &leaves->leaf_boxes));
    TRY(new_boxes(leaves->groups, b.d, &leaves->group_boxes));
    ALLOC(b.keys, leaves->n);
    ALLOC_ZERO(b.workspaces, hd_workers(context));
    for (int32_t k = 0; k < hd_workers(context); k++) {
        ALLOC(b.workspaces[k].sample, SAMPLE * b.d);
        ALLOC(b.workspaces[k].mean, b.d);
        ALLOC(b.workspaces[k].direction, b.d);
    }
    ALLOC(b.nodes, leaves->count + 1);
    ALLOC(b.children, 2 * (leaves->count + 1));
    for (int64_t i = 0; i < leaves->n; i++)
        leaves->order[i] = (int32_t)i;
    TRY(order_points(context, &b));
    TRY(hd_parallel(context, NULL, leaves->groups, 1, measure_groups, &b));
done:
    huddle_free(b.keys);
    for (int32_t k = 0; b.workspaces != NULL && k < hd_workers(context); k++) {
        FREE(b.workspaces[k].sample, b.workspaces[k].mean, b.workspaces[k].direction);
    }
    FREE(b.workspaces, b.nodes, b.children);
    return status;
}

void hd_graph_leaves_free(hd_graph_leaves *leaves) {
    FREE(leaves->order, leaves->smallest, leaves->leaf_boxes.low, leaves->leaf_boxes.high,
         leaves->group_boxes.low, leaves->group_boxes.high);
    *leaves = (hd_graph_leaves){0};
}

/* ---- tests --------------------------------------------------------------------------------- */

void hd_graph_leaves_box(const hd_graph_leaves *leaves, int64_t l, double *low, double *high) {
    for (int64_t f = 0; f < leaves->leaf_boxes.d; f++) {
        int64_t e = box_at(&leaves->leaf_boxes, l, f);
        low[f] = leaves->leaf_boxes.low[e];
        high[f] = leaves->leaf_boxes.high[e];
    }
}

/* Bounds to the boxes of one panel. */
static void bound_panel(const hd_graph_leaves *t, const hd_graph_boxes *boxes, int64_t panel,
                        const double *low, const double *high, double *bounds) {
    int64_t at = panel * HD_GRAPH_BOXES * boxes->d;
    bounds_kernels[t->isa](low, high, boxes->low + at, boxes->high + at, boxes->d, bounds);
}

int64_t hd_graph_leaves_near_group(const hd_graph_leaves *t, const double *low, const double *high,
                                   int64_t group, double limit, int64_t own,
                                   hd_graph_near_leaf *found) {
    double bounds[HD_GRAPH_BOXES];
    int64_t n_found = 0, first = group * HD_GRAPH_LEAF_GROUP;
    bound_panel(t, &t->leaf_boxes, group, low, high, bounds);
    for (int64_t l = first; l < t->count && l < first + HD_GRAPH_LEAF_GROUP; l++)
        if (bounds[l - first] <= limit && l != own) /* equal: a tie */
            found[n_found++] = (hd_graph_near_leaf){bounds[l - first], (int32_t)l};
    return n_found;
}

/* The box of a group encloses those of its leaves: where it is beyond the limit, all of them are.
 * Groups are tested sixteen at a time, as leaves are. */
int64_t hd_graph_leaves_near(const hd_graph_leaves *t, const double *low, const double *high,
                             double limit, int64_t own, hd_graph_near_leaf *found) {
    double bounds[HD_GRAPH_BOXES];
    int64_t n_found = 0;
    for (int64_t group = 0; group < t->groups; group++) {
        if (group % HD_GRAPH_BOXES == 0)
            bound_panel(t, &t->group_boxes, group / HD_GRAPH_BOXES, low, high, bounds);
        if (bounds[group % HD_GRAPH_BOXES] <= limit)
            n_found += hd_graph_leaves_near_group(t, low, high, group, limit, own, found + n_found);
    }
    return n_found;
}

/* 8 (d + 8) 2^-52, for errors of (d + 3) 2^-53 in the bound and in the distance. */
double hd_graph_boxes_factor(int64_t d) {
    return 1 - 8 * (double)(d + 8) * DBL_EPSILON;
}
