/* The points of the leaves packed for the tile kernels, each leaf relative to its own centre.
 *
 * Points of an embedding may be a million times nearer to each other than to the origin, so that
 * floats of their coordinates could not tell them apart. Relative to the centre of their leaf they
 * can: the differences between a row of leaf a and the points of leaf b are those between the row
 * plus (centre of a - centre of b) and the packed points of b.
 *
 * Rounding, with u = 2^-24, |x| the norm of a packed row, R_b the largest norm in leaf b and t the
 * scaled difference of the centres: packing moves the row by at most u |x| and the point by u R_b;
 * t is rounded, by u |t|, and so is its sum with the row, by u (|x| + |t|). The distance of a pair
 * therefore changes by at most e = u (2 R_a + 2 |t| + R_b), and the kernel of differences adds a
 * relative error of (d + 4) u to its square (panels.h). */
#ifndef HUDDLE_SRC_GRAPH_LEAF_POINTS_H
#define HUDDLE_SRC_GRAPH_LEAF_POINTS_H

#include "graph/leaves.h"

typedef struct hd_graph_leaf_points {
    int64_t d;
    double scale;     /* a power of two: packed = scale * (coordinate - centre) */
    float *values;    /* [leaf][panel][column][16] */
    double *centres;  /* leaves x d */
    double *radius;   /* leaves: the largest norm of a packed point */
    float *base;      /* 2 x HD_GRAPH_LEAF: what the kernel adds to the distances of a full leaf, and
                         of the last one, where it is infinity for padding */
    int64_t n_leaves;
} hd_graph_leaf_points;

/* Row of leaf a against those of leaf b: t, and e as above. */
typedef struct hd_graph_leaf_pair {
    float *shift; /* d: t */
    double error; /* e */
} hd_graph_leaf_pair;

huddle_status hd_graph_leaf_points_new(huddle_context *context, const hd_graph_rows *rows,
                                       const hd_graph_leaves *leaves, hd_graph_leaf_points *points);
void hd_graph_leaf_points_free(hd_graph_leaf_points *points);

/* Sets error and the d values of pair->shift. */
void hd_graph_leaf_pair_set(const hd_graph_leaf_points *points, int64_t a, int64_t b,
                            hd_graph_leaf_pair *pair);

/* The largest value that the kernel can compute for a pair of points of these leaves at a distance
 * of at most `distance` (in true units), rounded up. */
float hd_graph_leaf_pair_limit(const hd_graph_leaf_points *points, const hd_graph_leaf_pair *pair,
                               double distance);

/* Copies the rows `active` (`count` numbers within leaf a) to panels, shifted. */
void hd_graph_leaf_pair_rows(const hd_graph_leaf_points *points, const hd_graph_leaf_pair *pair,
                             int64_t a, const int32_t *active, int64_t count, float *panels);

/* Points of leaf l from column c, a multiple of 48, as the kernel takes them. */
const float *hd_graph_leaf_columns(const hd_graph_leaf_points *points, int64_t l, int64_t c);
const float *hd_graph_leaf_base(const hd_graph_leaf_points *points, int64_t l);

#endif
