/* The leaves of a balanced median tree: points that lie near each other, in cells of equal size.
 *
 * Every node is divided at the median of the column of largest variance, by (value, row number),
 * until its points fill one leaf. Clusters in many corners of the space would be cut through by any
 * column, of which each separates one cluster from all others only; there the node is divided along
 * a direction of large variance, in which the clusters lie apart. The number of points in the
 * lower half is a whole number of leaves, and of groups of leaves as long as there is more than
 * one: leaf l consists of places l * HD_GRAPH_LEAF .. of the order, group g of leaves g *
 * HD_GRAPH_LEAF_GROUP .., and only the last one of each is not full. Equal points are divided by
 * their row numbers, so that the smallest ones, which ties prefer, are together in one leaf.
 *
 * Leaves and groups have tight bounding boxes. Leaf is tested against leaf: one test decides about
 * HD_GRAPH_LEAF^2 pairs. */
#ifndef HUDDLE_SRC_GRAPH_LEAVES_H
#define HUDDLE_SRC_GRAPH_LEAVES_H

#include "base/context.h"
#include "graph/dense_rows.h"
#include "graph/distance_kernels.h"

enum { HD_GRAPH_LEAF_GROUP = HD_GRAPH_BOXES };

/* Boxes in panels of 16, low[panel][column][16]: one panel is compared at a time. */
typedef struct hd_graph_boxes {
    int64_t count, d;
    double *low, *high; /* padded with boxes at infinity */
} hd_graph_boxes;

typedef struct hd_graph_leaves {
    int64_t n, count, groups;
    int32_t *order;    /* n: row numbers, leaf by leaf */
    int32_t *smallest; /* count: the smallest row number of each leaf */
    hd_graph_boxes leaf_boxes, group_boxes;
    hd_isa isa;
} hd_graph_leaves;

/* A leaf and the squared distance between its box and another one. */
typedef struct hd_graph_near_leaf {
    double bound;
    int32_t leaf;
} hd_graph_near_leaf;

huddle_status hd_graph_leaves_new(huddle_context *context, const hd_graph_rows *rows,
                                  hd_graph_leaves *leaves);
void hd_graph_leaves_free(hd_graph_leaves *leaves);

/* The points of leaf l are places begin .. end - 1 of the order. */
static inline int64_t hd_graph_leaf_begin(int64_t l) {
    return l * HD_GRAPH_LEAF;
}
static inline int64_t hd_graph_leaf_end(const hd_graph_leaves *leaves, int64_t l) {
    return l + 1 < leaves->count ? (l + 1) * HD_GRAPH_LEAF : leaves->n;
}

/* Copies the box of leaf l to low and high. */
void hd_graph_leaves_box(const hd_graph_leaves *leaves, int64_t l, double *low, double *high);

/* All leaves whose box is within `limit`, a squared distance, of the given box, except leaf `own`,
 * by ascending leaf; returns their number. Distances are rounded (hd_graph_boxes_factor()). `found`
 * has room for all leaves. The second one: of the leaves of one group. */
int64_t hd_graph_leaves_near(const hd_graph_leaves *leaves, const double *low, const double *high,
                             double limit, int64_t own, hd_graph_near_leaf *found);
int64_t hd_graph_leaves_near_group(const hd_graph_leaves *leaves, const double *low,
                                   const double *high, int64_t group, double limit, int64_t own,
                                   hd_graph_near_leaf *found);

/* Squared distances between boxes, or between points and boxes, have a relative error of at most
 * (d + 3) 2^-53; so do those of the lists, which are summed in another order. A bound times this
 * factor never exceeds the distance of a pair. Its difference to 1 is several times as large as
 * necessary, which matters only for ties. */
double hd_graph_boxes_factor(int64_t d);

#endif
