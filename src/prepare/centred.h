/* The matrix X - 1 o' of points less a row vector, usually their mean, without storing it. Dense
 * points are converted to centred doubles one tile at a time; sparse points stay as they are, and o
 * is subtracted from the products. All matrices are row-major with a leading dimension.
 *
 * If rows are distributed over processes, X has the rows of this process, and a matrix with one row
 * per column of X is the same on all processes: sums over rows go through the reduction. */
#ifndef HUDDLE_SRC_PREPARE_CENTRED_H
#define HUDDLE_SRC_PREPARE_CENTRED_H

#include "base/cpu.h"
#include "huddle/matrix.h"

typedef struct hd_prepare_centred {
    const huddle_points *x;
    const double *offset; /* d */
    /* Sparse points by columns, for products with the transpose: made by
     * hd_prepare_centred_transpose(). */
    int64_t *column_offsets;
    int32_t *column_rows;
    float *column_values;
} hd_prepare_centred;

/* Needed once before hd_prepare_centred_times_transpose() on sparse points; does nothing for dense.
 */
huddle_status hd_prepare_centred_transpose(hd_prepare_centred *centred);
void hd_prepare_centred_free(hd_prepare_centred *centred);

/* to[(i - r0) * ld + j - c0] = x_ij - o_j for rows r0 .. r1 - 1, columns c0 .. c1 - 1; dense. */
void hd_prepare_centred_tile(const hd_prepare_centred *centred, int64_t r0, int64_t r1, int64_t c0,
                             int64_t c1, double *to, int64_t ld);

/* A tile is 256 kB of doubles, which stays in the second level of cache beside the other operand.
 */
enum { HD_PREPARE_TILE_ROWS = 64, HD_PREPARE_TILE_DEPTH = 512 };

/* Rows begin .. end - 1, at most HD_PREPARE_TILE_ROWS of them, of (X - 1 o') v into out, whose
 * first row is row `begin`. base = o'v (b numbers; sparse only). tile has room for
 * HD_PREPARE_TILE_ROWS * HD_PREPARE_TILE_DEPTH. */
void hd_prepare_centred_times_rows(const hd_prepare_centred *centred, int64_t begin, int64_t end,
                                   const double *v, int64_t b, int64_t ldv, const double *base,
                                   double *out, int64_t ldo, double *tile);

/* The kernel of products with sparse points, one version per instruction set (base/cpu.h):
 * out (b numbers) += sum over e < count of values[e] * v[index[e]], rows of v being ldv apart. */
HD_SIMD_DECLARE(void, hd_prepare_gather, int64_t count, const int32_t *index, const float *values,
                const double *v, int64_t b, int64_t ldv, double *out);

/* base = o'v */
void hd_prepare_centred_base(const hd_prepare_centred *centred, const double *v, int64_t b,
                             int64_t ldv, double *base);

/* out (n x b) = (X - 1 o') v (d x b), and out (d x b) = (X - 1 o')' v (n x b). */
huddle_status hd_prepare_centred_times(huddle_context *context, const hd_prepare_centred *centred,
                                       const double *v, int64_t b, int64_t ldv, double *out,
                                       int64_t ldo);
huddle_status hd_prepare_centred_times_transpose(huddle_context *context,
                                                 const hd_prepare_centred *centred, const double *v,
                                                 int64_t b, int64_t ldv, double *out, int64_t ldo);

/* out (m x b) = (X - 1 o')'(X - 1 o') v if by_columns (m = d), otherwise (X - 1 o')(X - 1 o')' v;
 * half has room for the product in between, with one row per row of X or per column. */
huddle_status hd_prepare_centred_times_both(huddle_context *context,
                                            const hd_prepare_centred *centred, bool by_columns,
                                            const double *v, int64_t b, int64_t ldv, double *half,
                                            double *out, int64_t ldo);

/* gram (m x m) = (X - 1 o')'(X - 1 o') if by_columns (m = d), otherwise (X - 1 o')(X - 1 o')',
 * which needs all rows on one process. */
huddle_status hd_prepare_centred_gram(huddle_context *context, const hd_prepare_centred *centred,
                                      bool by_columns, double *gram);

#endif
