/* The points of the leaves packed for the tile kernels, each leaf relative to its own centre.
 *
 * Rows of an embedding may be a million times nearer to each other than to the origin, so that
 * floats of their coordinates could not tell them apart. Relative to the centre of a leaf they can.
 * In a comparison of leaf a with leaf b, the rows of a are packed relative to the centre of b,
 * where the points of b are packed already; if rows of a are far from that centre, as those of a
 * tight leaf are from one that extends over two clusters, both are packed relative to the centre of
 * a.
 *
 * Rounding, with u = 2^-24: packing moves a row by at most u times its norm |x|, and a point at a
 * distance of at most r from it by at most u (|x| + r). Such a pair therefore has a packed distance
 * of at most r + u (2 |x| + r), and the kernel of differences adds a relative error of (d + 4) u to
 * its square (panels.h). */
#ifndef HUDDLE_SRC_GRAPH_LEAF_POINTS_H
#define HUDDLE_SRC_GRAPH_LEAF_POINTS_H

#include "graph/leaves.h"

typedef struct hd_graph_leaf_points {
    const hd_graph_rows *rows;
    const hd_graph_leaves *leaves;
    int64_t d;
    double scale;    /* a power of two: packed = scale * (coordinate - centre) */
    float *values;   /* [leaf][panel][column][16] */
    double *centres; /* leaves x d */
    double *radius;  /* leaves: the largest norm of a packed point */
    float *base;     /* 2 x HD_GRAPH_LEAF: what the kernel adds to the distances of a full leaf, and
                        of the last one, where it is infinity for padding */
} hd_graph_leaf_points;

/* No coordinate of these points, nor of others that they are compared with, exceeds `reach`; 0:
 * they are compared with each other only. */
huddle_status hd_graph_leaf_points_new(huddle_context *context, const hd_graph_rows *rows,
                                       const hd_graph_leaves *leaves, double reach,
                                       hd_graph_leaf_points *points);
void hd_graph_leaf_points_free(hd_graph_leaf_points *points);

/* Packs point r of a leaf whose rows, in double, are at `row`; returns its norm. */
double hd_graph_leaf_pack(const hd_graph_leaf_points *points, const double *row,
                          const double *centre, int64_t r, float *panels);

/* Packs all points of leaf l relative to a centre; returns the largest norm. `row` has room for d.
 */
double hd_graph_leaf_repack(const hd_graph_leaf_points *points, int64_t l, const double *centre,
                            double *row, float *panels);

/* The packed points of leaf l, its centre, and the base of its points. */
float *hd_graph_leaf_values(const hd_graph_leaf_points *points, int64_t l);
const double *hd_graph_leaf_centre(const hd_graph_leaf_points *points, int64_t l);
float *hd_graph_leaf_base(const hd_graph_leaf_points *points, int64_t l);

/* By how much packing can change the distance between a row of that norm and a point that is at
 * most `distance` away. */
double hd_graph_leaf_error(double norm, double distance);

/* The largest value that the kernel can compute for such a pair, rounded up. Norm and distance are
 * in packed units. */
float hd_graph_leaf_limit(const hd_graph_leaf_points *points, double norm, double distance);

#endif
