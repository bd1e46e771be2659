/* The kernels of the neighbour search, one version per instruction set (base/cpu.h). */
#ifndef HUDDLE_SRC_GRAPH_DISTANCE_KERNELS_H
#define HUDDLE_SRC_GRAPH_DISTANCE_KERNELS_H

#include "base/cpu.h"

#include <stdint.h>

/* Points are packed in panels of 16, values[panel][feature][16], and compared in tiles of 8 rows
 * by 48 columns: with AVX-512 the 24 sums of a tile fill 24 of the 32 registers, which leaves
 * enough for the operands. */
enum { HD_GRAPH_PANEL = 16, HD_GRAPH_TILE_ROWS = 8, HD_GRAPH_TILE_COLUMNS = 48 };

/* One tile. rows points to the first of 8 consecutive rows inside a panel, columns to the first of
 * three panels; a panel is `panel` floats long. */
typedef struct hd_graph_tile {
    const float *rows, *columns;
    int64_t d, panel;
    const float *row_base, *column_base; /* added to every distance */
    const float *row_tau, *column_tau;
    float *out;     /* 8 x 48 */
    uint64_t *hits; /* 8: bit c of row r is set if (r, c) is a hit */
} hd_graph_tile;

/* Squared distances of a tile in single precision: base_i + base_j - 2 <x_i, x_j> or
 * base_i + base_j + |x_i - x_j|^2. A hit is a distance not above the larger of its row's and its
 * column's tau. Returns whether there are any; if so, out contains the distances of the hits. */
HD_SIMD_DECLARE(int, hd_graph_tile_products, const hd_graph_tile *tile);
HD_SIMD_DECLARE(int, hd_graph_tile_differences, const hd_graph_tile *tile);
typedef int (*hd_graph_tile_function)(const hd_graph_tile *tile);

/* |a - b|^2 in double; may stop and return more than limit. */
HD_SIMD_DECLARE(double, hd_graph_distance2_floats, const float *a, const float *b, int64_t d,
                double limit);
HD_SIMD_DECLARE(double, hd_graph_distance2_doubles, const double *a, const double *b, int64_t d,
                double limit);

/* |a - b|^2 in float; may stop and return more than limit. */
HD_SIMD_DECLARE(float, hd_graph_distance2_rough, const float *a, const float *b, int64_t d,
                float limit);

/* <a, b> in float. */
HD_SIMD_DECLARE(float, hd_graph_product, const float *a, const float *b, int64_t d);

/* For the kd-tree: squared distances from q to eight points, panel[feature][8], and to a box. */
enum { HD_GRAPH_LEAF_LANES = 8 };
HD_SIMD_DECLARE(void, hd_graph_leaf_distances, const double *q, const double *panel, int64_t d,
                double out[HD_GRAPH_LEAF_LANES]);
HD_SIMD_DECLARE(double, hd_graph_box_distance, const double *q, const double *low,
                const double *high, int64_t d);

/* For leaves.h: squared distances from a box to 16 others, lows[column][16], and from the points of
 * a leaf, points[column][HD_GRAPH_LEAF], to a box. The leaf is a multiple of the tile's columns:
 * fewer points make tighter boxes, more of them fewer tests (`./dev bench graph`). */
enum { HD_GRAPH_BOXES = 16, HD_GRAPH_LEAF = 2 * HD_GRAPH_TILE_COLUMNS };
HD_SIMD_DECLARE(void, hd_graph_box_bounds, const double *low, const double *high,
                const double *lows, const double *highs, int64_t d, double out[HD_GRAPH_BOXES]);
HD_SIMD_DECLARE(void, hd_graph_leaf_bounds, const double *points, const double *low,
                const double *high, int64_t d, double out[HD_GRAPH_LEAF]);

/* For bridges: which of the points of a leaf, leaf[coordinate][64], are not farther from q than
 * `limit`, a squared distance in float. */
enum { HD_GRAPH_BORUVKA_LEAF = 64 };
HD_SIMD_DECLARE(uint64_t, hd_graph_boruvka_near, const float *q, const float *leaf, int64_t d,
                float limit);

/* For sparse points: bit j is set unless scores[j] + norm rest[j] < least. A sum that is not a
 * number (0 times an infinite norm) excludes nothing. */
enum { HD_GRAPH_SPARSE_GROUP = 64 }; /* rows whose bounds are compared together */
HD_SIMD_DECLARE(uint64_t, hd_graph_sparse_possible, const double *scores, const float *rest,
                double norm, double least);

#endif
