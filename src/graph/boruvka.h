/* The shortest edges that leave the parts of a partition: one round of Boruvka's algorithm on dense
 * points.
 *
 * The points are the leaves of a balanced tree with a box for every node. Each leaf that contains
 * points of a searching part descends the tree, nearest node first. Two bounds exclude nodes: all
 * points of a node may belong to the only part that searches, and the distance between the boxes
 * may exceed the shortest edge that the *part* has found so far, not the point. A part of a
 * thousand points therefore has one bound, which its points near other parts make small at once;
 * all others then find nothing near enough to look at.
 *
 * Boxes and first distances are of at most 32 coordinates, a projection whose distances never
 * exceed the true ones (projection.h), in float. What they do not exclude is compared in double, as
 * by all searches, so that the edges do not depend on the tree: of equal distances the smaller
 * vertices win. */
#ifndef HUDDLE_SRC_GRAPH_BORUVKA_H
#define HUDDLE_SRC_GRAPH_BORUVKA_H

#include "base/context.h"
#include "graph/dense_rows.h"

/* An edge; low = -1: none. */
typedef struct hd_graph_edge {
    int32_t low, high;
    double distance; /* squared, in a search */
} hd_graph_edge;

/* The order of edges that makes the minimum spanning tree unique: (distance, low, high). */
bool hd_graph_edge_is_shorter(hd_graph_edge a, hd_graph_edge b);

typedef struct hd_graph_boruvka {
    const hd_graph_rows *rows;
    int64_t leaves, nodes, m; /* m: coordinates */
    int32_t *order;           /* rows, leaf by leaf */
    int32_t *first, *last;    /* leaves of each node: first .. last - 1 */
    float *low, *high;        /* nodes x m: boxes */
    float *values;            /* [leaf][coordinate][HD_GRAPH_BORUVKA_LEAF] */
    double scale;             /* values are scale * coordinates */
    double error;             /* by how much a distance of values can exceed the true one */
    int32_t *node_part;       /* the only part in a node, or -1; of the current round */
} hd_graph_boruvka;

/* Builds the tree over rows, which must exist as long as it does. The caller frees it, also on
 * failure. */
huddle_status hd_graph_boruvka_new(huddle_context *context, const hd_graph_rows *rows,
                                   hd_graph_boruvka *tree);
void hd_graph_boruvka_free(hd_graph_boruvka *tree);

/* best[p] becomes the shortest edge from part p to another part, for every p of the n_parts with
 * searching[p]; the others have none. part is that of each row. */
huddle_status hd_graph_boruvka_find(huddle_context *context, hd_graph_boruvka *tree,
                                    const int32_t *part, int32_t n_parts, const bool *searching,
                                    hd_graph_edge *best);

#endif
