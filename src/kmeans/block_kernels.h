/* The inner loops of K-means, compiled for each instruction set.
 *
 * Dense rows are processed in blocks of HD_KMEANS_BLOCK, column by column: a panel holds up to
 * HD_KMEANS_PANEL columns of a block, panel[j * HD_KMEANS_BLOCK + r] being column j of row r. One
 * vector register then holds the same column of several rows, a sum over the columns stays within
 * its lane, and its bits do not depend on the width of the register. Panels are scaled by a power
 * of two and centred, which keeps float's digits for the differences between points.
 *
 * Centres are stored in tiles of k' centres, whose values of column j are side by side
 * (hd_kmeans_tile). */
#ifndef HUDDLE_SRC_KMEANS_KERNELS_H
#define HUDDLE_SRC_KMEANS_KERNELS_H

#include "base/cpu.h"

#include <stdint.h>

/* Rows of a block, columns of a panel (16 KB, half of the first-level cache), centres of a tile
 * (their sums fill the vector registers), floats of the widest register, rows that are prefetched,
 * doubles that sparse products take at a time. */
enum {
    HD_KMEANS_BLOCK = 32,
    HD_KMEANS_PANEL = 128,
    HD_KMEANS_TILE = 8,
    HD_KMEANS_WIDEST = 16,
    HD_KMEANS_AHEAD = 4,
    HD_KMEANS_DOUBLES = 8
};

/* What is known of the rows of a block after they were compared with all centres. */
typedef struct hd_kmeans_near {
    _Alignas(64) float norm[HD_KMEANS_BLOCK]; /* in: squared norms of the scaled, centred rows */
    int32_t label[HD_KMEANS_BLOCK];  /* nearest centre, the smaller index if float does not separate
                                        two */
    int32_t unsure[HD_KMEANS_BLOCK]; /* not 0: rounding may have chosen the label */
    float upper[HD_KMEANS_BLOCK];    /* at least the distance to it, scaled */
    float lower[HD_KMEANS_BLOCK];    /* at most the distance to any other centre, scaled */
} hd_kmeans_near;

/* Bounds of rounding errors: of a score, dot * |x| + score; of a squared norm, norm * |x|^2. */
typedef struct hd_kmeans_error {
    float dot, score, norm;
} hd_kmeans_error;

/* How far the centres moved, scaled: each; all but `mover` at most `second`, that one `largest`. */
typedef struct hd_kmeans_moves {
    const float *move, *gap; /* gap: half-way from each centre to the nearest other */
    int32_t mover;
    float largest, second;
} hd_kmeans_moves;

/* scores[k * HD_KMEANS_BLOCK + r] += product, or squared distance, of centre k and row r over the
 * panel's columns, which are columns first .. first + width - 1 of d. */
typedef void hd_kmeans_scores_function(const float *panel, int64_t first, int64_t width, int64_t d,
                                       const float *tiles, int32_t c, float *scores);

typedef struct hd_kmeans_kernels {
    /* The panel of `width` columns of HD_KMEANS_BLOCK rows: row[j] * scale - origin[j]. If ahead is
     * not NULL, that many values from there on are prefetched. */
    void (*pack)(const float *const *rows, const float *ahead, int64_t width, float scale,
                 const float *origin, float *panel);
    hd_kmeans_scores_function *products, *distances;

    /* scores[k * HD_KMEANS_BLOCK + r] = product of centre k and row r, scaled and centred as in a
     * panel: for long rows, which are best read where they are. Row k of centres is at k * stride,
     * a multiple of HD_KMEANS_WIDEST, filled up with 0 as is origin. The HD_KMEANS_BLOCK rows are
     * followed by HD_KMEANS_AHEAD more that may be needed next. */
    void (*multiply)(const float *const *rows, int64_t d, float scale, const float *origin,
                     const float *centres, int64_t stride, int32_t c, float *scores);

    /* The squared norm of a row, scaled and centred. */
    float (*norm)(const float *row, int64_t d, float scale, const float *origin);

    /* Nearest centres and bounds from scores of products; half[k] is half the squared norm of
     * centre k, so that half[k] - product orders centres as the distance does. */
    void (*choose)(const float *scores, const float *half, int32_t c, hd_kmeans_error error,
                   hd_kmeans_near *near);

    /* Loosens the bounds of n <= HD_KMEANS_BLOCK rows by the moves of the centres. open[r] is 1
     * where the label may have to change, 0 where it is safe. Returns how many may. */
    int32_t (*loosen)(int32_t n, const int32_t *label, const hd_kmeans_moves *moves, float *upper,
                      float *lower, int32_t *open);

    /* open[r] = 1 where reach[label[r]] < 4.01 square[r], 0 elsewhere; returns how many. (4 by the
     * triangle inequality, the rest for rounding.) */
    int32_t (*reach)(int32_t n, const int32_t *label, const float *reach, const float *square,
                     int32_t *open);

    /* Sum over the block of weight[r] times what distance[r] is below before[r]. */
    float (*gain)(const float *distance, const float *before, const float *weight);

    /* products[k] = product of a sparse row and centre k, added up in the order of the row. Column
     * j of the centres is at columns + j * stride, a multiple of HD_KMEANS_DOUBLES; what follows
     * the centres is computed too. */
    void (*sparse)(const float *values, const int32_t *index, int64_t count, const double *columns,
                   int64_t stride, double *products);

    /* sum[j] += weight * row[j]. */
    void (*add)(const float *row, int64_t d, double weight, double *sum);

    /* For t = row - pivot: sum += t, square += t * t, largest = max(largest, |t|), column-wise. */
    void (*moments)(const float *row, const float *pivot, int64_t d, double *sum, double *square,
                    float *largest);
} hd_kmeans_kernels;

extern const hd_kmeans_kernels hd_kmeans_kernels_base;
#if defined(__x86_64__)
extern const hd_kmeans_kernels hd_kmeans_kernels_avx2, hd_kmeans_kernels_avx512;
#endif

/* Centres in a full tile: c is cut into equal tiles of at most HD_KMEANS_TILE. */
static inline int32_t hd_kmeans_tile(int32_t c) {
    int32_t tiles = (c + HD_KMEANS_TILE - 1) / HD_KMEANS_TILE;
    return (c + tiles - 1) / tiles;
}

#endif
