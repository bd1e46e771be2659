/* A block of vectors: n rows of `width` numbers, width a multiple of 16, so that every row begins
 * on a cache line and every kernel works on whole registers. It contains floats for the filter or
 * doubles for the last digits; the functions below serve both.
 *
 * There are two arrays. During a filter they are two successive terms of the recurrence; around a
 * Rayleigh-Ritz step they are X and the operator times X. Both have room for the ghost rows of the
 * operator, which a product fetches. */
#ifndef HUDDLE_SRC_EMBED_VECTORS_H
#define HUDDLE_SRC_EMBED_VECTORS_H

#include "base/cpu.h"
#include "base/parallel.h"
#include "embed/operator.h"

typedef struct hd_embed_block {
    int64_t n;      /* own rows */
    int64_t ghosts; /* rows of other processes that follow them */
    int64_t width;
    int64_t first; /* columns before it are left as they are: a multiple of 16 */
    bool in_double;
    void *x, *y; /* float or double */
} hd_embed_block;

/* A block for vectors of the operator; both arrays are zero, and `first` too. */
huddle_status hd_embed_block_new(const hd_embed_operator *op, int64_t width, bool in_double,
                                 hd_embed_block *block);
void hd_embed_block_free(hd_embed_block *block);

/* Allocates y again, zero, after the caller has freed it to save memory. */
huddle_status hd_embed_block_restore(hd_embed_block *block);

/* The number of vectors rounded up to a multiple of 16. */
int64_t hd_embed_block_width(int64_t vectors);

/* Converts a block of floats to doubles; only x is kept. */
huddle_status hd_embed_block_widen(const hd_embed_operator *op, hd_embed_block *block);

/* Adds `amplitude` times random numbers (uniform, mean 0, variance 1) to columns first .. width - 1
 * of x. They depend on the seed, the column and the row's number (op->number). */
huddle_status hd_embed_block_randomise(huddle_context *context, const hd_embed_operator *op,
                                       int64_t first, double amplitude, uint64_t seed,
                                       hd_embed_block *block);

/* y = alpha op x + beta x + gamma y, and then, if `swap`, x and y are exchanged. This function, the
 * next and the deflation work on the columns from block->first on; arrays are exchanged as a whole,
 * so that the columns before it are in their own array again after an even number of exchanges. */
huddle_status hd_embed_block_product(huddle_context *context, const hd_embed_operator *op,
                                     double alpha, double beta, double gamma, bool swap,
                                     hd_embed_block *block);

/* y = alpha y + beta x, and then x and y are exchanged. */
huddle_status hd_embed_block_combine(huddle_context *context, double alpha, double beta,
                                     hd_embed_block *block);

/* Removes the operator's known vectors from x, and from y too if `both`. */
huddle_status hd_embed_block_deflate(huddle_context *context, const hd_embed_operator *op,
                                     bool both, hd_embed_block *block);

/* The same for finished vectors: a block is orthogonal to the known vectors only up to the rounding
 * errors of its own precision. */
huddle_status hd_embed_deflate_vectors(huddle_context *context, const hd_embed_operator *op,
                                       huddle_dense *vectors);

/* Removes the parts along `count` orthonormal vectors, the first columns of an array with `stride`
 * columns, from x of a float block, and from y too if `both`. */
huddle_status hd_embed_block_orthogonalise(huddle_context *context, const float *vectors,
                                           int64_t stride, int64_t count, bool both,
                                           hd_embed_block *block);

/* Copies columns 0 .. count - 1 of a float block's x over the columns of x from `first` on. */
void hd_embed_block_replace(const hd_embed_block *from, int64_t count, int64_t first,
                            hd_embed_block *block);

/* Copies `count` rows of x (or y) from `first` on as doubles. */
void hd_embed_block_load(const hd_embed_block *block, bool from_y, int64_t first, int64_t count,
                         double *rows);

/* Fetches the ghost rows of x. Nothing to do if this process holds all rows. */
huddle_status hd_embed_block_fetch_ghosts(const hd_embed_operator *op, const hd_embed_block *block);

/* Kernels, one for each instruction set: rows begin .. end - 1 of
 * z = alpha op x + beta x + gamma z, `width` columns of arrays with `stride` columns. */
HD_SIMD_DECLARE(void, hd_embed_product_float, const int64_t *offsets, const int32_t *columns,
                const float *values, int64_t begin, int64_t end, int64_t width, int64_t stride,
                float alpha, float beta, float gamma, const float *x, float *z);
HD_SIMD_DECLARE(void, hd_embed_product_double, const int64_t *offsets, const int32_t *columns,
                const double *values, int64_t begin, int64_t end, int64_t width, int64_t stride,
                double alpha, double beta, double gamma, const double *x, double *z);

#endif
