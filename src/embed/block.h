/* A block of vectors: n rows of `width` numbers, width a multiple of 16, so that every row begins
 * on a cache line and every kernel runs on whole registers. Float for the filter, double for the
 * polish; the block says which, and the functions below serve both.
 *
 * There are two arrays. During a filter they are two successive terms of the recurrence; around a
 * Rayleigh-Ritz step they are X and the operator times X. */
#ifndef HUDDLE_SRC_EMBED_BLOCK_H
#define HUDDLE_SRC_EMBED_BLOCK_H

#include "base/cpu.h"
#include "base/parallel.h"
#include "embed/operator.h"

typedef struct hd_block {
    int64_t n;
    int64_t width;
    bool in_double;
    void *x, *y; /* float or double */
} hd_block;

/* Both arrays zero. */
huddle_status hd_block_new(int64_t n, int64_t width, bool in_double, hd_block *block);
void hd_block_free(hd_block *block);

/* The first multiple of 16 that is not less. */
int64_t hd_block_width(int64_t vectors);

/* Makes a float block one of doubles; only x is kept. */
huddle_status hd_block_widen(hd_block *block);

/* Adds `amplitude` times random numbers (uniform, mean 0, variance 1) to columns first .. width - 1
 * of x. Every row has a stream of its own. */
void hd_block_randomise(hd_block *block, int64_t first, double amplitude, uint64_t seed);

/* y = alpha op x + beta x + gamma y, and then, if `swap`, the two change names. */
huddle_status hd_block_product(huddle_context *context, const hd_operator *op, double alpha,
                               double beta, double gamma, bool swap, hd_block *block);

/* y = alpha y + beta x, and then the two change names. */
huddle_status hd_block_combine(huddle_context *context, double alpha, double beta, hd_block *block);

/* Removes the operator's null vectors from x, and from y too if `both`. */
huddle_status hd_block_deflate(huddle_context *context, const hd_operator *op, bool both,
                               hd_block *block);

/* Removes the parts along `count` orthonormal vectors (n x count) from x of a float block, and from
 * y too if `both`. */
huddle_status hd_block_orthogonalise(const float *vectors, int64_t count, bool both,
                                     hd_block *block);

/* Copies columns 0 .. count - 1 of a float block's x over the columns of x from `first` on. */
void hd_block_replace(const hd_block *from, int64_t count, int64_t first, hd_block *block);

/* Copies `count` rows of x (or y) from `first` on as doubles, width of them a row. */
void hd_block_load(const hd_block *block, bool from_y, int64_t first, int64_t count, double *rows);

/* Kernels, one for each instruction set: rows begin .. end - 1 of
 * z = alpha op x + beta x + gamma z. */
HD_SIMD_DECLARE(void, hd_product_float, const int64_t *offsets, const int32_t *columns,
                const float *values, int64_t begin, int64_t end, int64_t width, float alpha,
                float beta, float gamma, const float *x, float *z);
HD_SIMD_DECLARE(void, hd_product_double, const int64_t *offsets, const int32_t *columns,
                const double *values, int64_t begin, int64_t end, int64_t width, double alpha,
                double beta, double gamma, const double *x, double *z);

#endif
