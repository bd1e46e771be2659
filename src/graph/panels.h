/* Points packed for the tile kernels: centred, scaled by a power of two so that no coordinate
 * exceeds 1, rounded to float, values[panel][feature][16]. The last tile is filled up with points
 * at infinity.
 *
 * What rounding does to a squared distance is bounded here. u = 2^-24 is half a unit in the last
 * place, |x| the norm of a packed point, d the number of features. Packing moves each point by at
 * most u |x|. The product form adds d products (error at most d u |x_i| |x_j|, doubled), two
 * rounded norms and two sums: all together at most (d + 5) u (|x_i|^2 + |x_j|^2). Differences
 * err relative to the distance itself, by (d + 3) u. Whole numbers small enough for float make
 * no error at all. */
#ifndef HUDDLE_SRC_GRAPH_PANELS_H
#define HUDDLE_SRC_GRAPH_PANELS_H

#include "graph/dense_rows.h"
#include "graph/distance_kernels.h"

/* What points that will be compared with each other share. */
typedef struct hd_graph_packing {
    int64_t d;        /* features */
    double *centre;   /* d */
    double scale;     /* packed = scale * (coordinate - centre) */
    bool whole;       /* coordinates and centre are whole numbers */
    bool differences; /* which kernel: differences up to 32 features, products above */
    hd_isa isa;       /* of the kernels */
    double blur;      /* how far off the coordinates already were, in packed units; 0 */
} hd_graph_packing;

typedef struct hd_graph_panels {
    int64_t n, padded; /* padded: a multiple of the tile's columns */
    int64_t d;
    float *values;
    float *base;    /* padded: squared norm (product form) or 0; infinity beyond n */
    double *norm;   /* n: norm of each packed point */
    double largest; /* of norm */
} hd_graph_panels;

/* Surveys train and, if not NULL, query. */
huddle_status hd_graph_packing_new(huddle_context *context, const hd_graph_rows *train,
                                   const hd_graph_rows *query, hd_graph_packing *packing);
void hd_graph_packing_free(hd_graph_packing *packing);

huddle_status hd_graph_panels_new(huddle_context *context, const hd_graph_rows *rows,
                                  const hd_graph_packing *packing, hd_graph_panels *panels);
void hd_graph_panels_free(hd_graph_panels *panels);

/* True if the kernel makes no rounding error between these points. */
bool hd_graph_panels_exact(const hd_graph_packing *packing, const hd_graph_panels *train,
                           const hd_graph_panels *query);

/* The largest squared distance, in packed units, that the kernel can show for a pair whose true
 * squared distance is at most distance2 (in true units), one of the two being at `norm`. */
double hd_graph_packing_limit(const hd_graph_packing *packing, double norm, double distance2);

#endif
