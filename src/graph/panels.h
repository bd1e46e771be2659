/* Points packed for the tile kernels: centred, scaled by a power of two so that no coordinate
 * exceeds 1, rounded to float, values[panel][feature][16]. The last tile is padded with points at
 * infinity.
 *
 * The effect of rounding on a squared distance is bounded here, by the usual model of
 * floating-point arithmetic (Higham, Accuracy and Stability of Numerical Algorithms, 2002,
 * section 3.1). Let u = 2^-24 be the unit roundoff, |x| the norm of a packed point, d the number of
 * features. Packing moves each point by at most u |x|. The product form adds d products (error at
 * most d u |x_i| |x_j|, doubled), two rounded norms and two sums: in total at most (d + 5) u
 * (|x_i|^2 + |x_j|^2). Differences have an error of at most (d + 3) u relative to the distance
 * itself. Integers that are small enough for float cause no error at all. */
#ifndef HUDDLE_SRC_GRAPH_PANELS_H
#define HUDDLE_SRC_GRAPH_PANELS_H

#include "graph/dense_rows.h"
#include "graph/distance_kernels.h"

/* How points that are compared with each other are packed. */
typedef struct hd_graph_packing {
    int64_t d;             /* features */
    double *centre;        /* d */
    double scale;          /* packed = scale * (coordinate - centre) */
    bool whole;            /* coordinates and centre are whole numbers */
    bool differences;      /* which kernel: differences for few features, products for more */
    hd_isa isa;            /* of the kernels */
    double position_error; /* error of the coordinates before packing, in packed units; usually 0 */
} hd_graph_packing;

typedef struct hd_graph_panels {
    int64_t n, padded; /* padded: a multiple of the tile's columns */
    int64_t d;
    float *values;
    float *base;    /* padded: squared norm (product form) or 0; infinity beyond n */
    double *norm;   /* n: norm of each packed point */
    double largest; /* of norm */
} hd_graph_panels;

/* Determines centre and scale from train and, if not NULL, query. */
huddle_status hd_graph_packing_new(huddle_context *context, const hd_graph_rows *train,
                                   const hd_graph_rows *query, hd_graph_packing *packing);
/* The power of two that brings points whose coordinates do not exceed `reach` near each other, so
 * that no square of a difference overflows; packing->scale for points that others join later. */
double hd_graph_packing_scale(double reach);
void hd_graph_packing_free(hd_graph_packing *packing);

huddle_status hd_graph_panels_new(huddle_context *context, const hd_graph_rows *rows,
                                  const hd_graph_packing *packing, hd_graph_panels *panels);
void hd_graph_panels_free(hd_graph_panels *panels);

/* True if the kernel makes no rounding error between these points. */
bool hd_graph_panels_exact(const hd_graph_packing *packing, const hd_graph_panels *train,
                           const hd_graph_panels *query);

/* The largest squared distance, in packed units, that the kernel can compute for a pair whose true
 * squared distance is at most distance2 (in true units), if one of the two has norm `norm`. */
double hd_graph_packing_limit(const hd_graph_packing *packing, double norm, double distance2);

/* The same as a float, rounded up; the k-th distance of a list that is not full, infinity, excludes
 * nothing. */
float hd_graph_packing_tau(const hd_graph_packing *packing, double norm, double distance2);

#endif
