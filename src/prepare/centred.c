/* Products with centred points: all that the PCA needs of the data. Sparse points are never centred
 * explicitly, which would make them dense; (X - 1 o') v = X v - 1 (o'v). */
#include "prepare/centred.h"

#include "base/check.h"
#include "base/parallel.h"
#include "base/slabs.h"

#include <cblas.h>
#include <string.h>

/* With columns at hand, products with the transpose gather like those with X: no two threads write
 * to the same row of the result. */
huddle_status hd_prepare_centred_transpose(hd_prepare_centred *c) {
    huddle_status status = HUDDLE_OK;
    const huddle_points *x = c->x;
    if (x->offsets == NULL || c->column_offsets != NULL)
        return status;
    int64_t nonzeros = x->offsets[x->n];
    ALLOC_ZERO(c->column_offsets, x->d + 1);
    ALLOC(c->column_rows, nonzeros);
    ALLOC(c->column_values, nonzeros);
    for (int64_t e = 0; e < nonzeros; e++)
        c->column_offsets[x->columns[e] + 1]++;
    for (int64_t j = 0; j < x->d; j++)
        c->column_offsets[j + 1] += c->column_offsets[j];
    /* A counting sort, in which rows of a column stay ascending. Placing an entry advances the
     * offset of its column; in the end each offset is the end of its column, which is where the
     * next one begins. */
    for (int64_t i = 0; i < x->n; i++)
        for (int64_t e = x->offsets[i]; e < x->offsets[i + 1]; e++) {
            int64_t place = c->column_offsets[x->columns[e]]++;
            c->column_rows[place] = (int32_t)i;
            c->column_values[place] = x->values[e];
        }
    memmove(c->column_offsets + 1, c->column_offsets, (size_t)x->d * sizeof *c->column_offsets);
    c->column_offsets[0] = 0;
done:
    return status;
}

void hd_prepare_centred_free(hd_prepare_centred *c) {
    FREE(c->column_offsets, c->column_rows, c->column_values);
    memset(c, 0, sizeof *c);
}

/* Subtracting in double, before any product, avoids the cancellation of X'X - n o o' for data far
 * from the origin. */
void hd_prepare_centred_tile(const hd_prepare_centred *c, int64_t r0, int64_t r1, int64_t c0,
                             int64_t c1, double *to, int64_t ld) {
    const double *offset = c->offset + c0;
    for (int64_t i = r0; i < r1; i++) {
        const float *from = c->x->values + i * c->x->stride + c0;
        double *row = to + (i - r0) * ld;
        for (int64_t j = 0; j < c1 - c0; j++)
            row[j] = (double)from[j] - offset[j];
    }
}

static int64_t minimum(int64_t a, int64_t b) {
    return a < b ? a : b;
}

/* ---- (X - 1 o') v --------------------------------------------------------------------------- */

/* For sparse points, this is subtracted from every row of the product X v. */
void hd_prepare_centred_base(const hd_prepare_centred *c, const double *v, int64_t b, int64_t ldv,
                             double *base) {
    memset(base, 0, (size_t)b * sizeof *base);
    for (int64_t j = 0; j < c->x->d; j++)
        for (int64_t k = 0; k < b; k++)
            base[k] += c->offset[j] * v[j * ldv + k];
}

static hd_prepare_gather_function *const gathers[] = HD_SIMD_TABLE(hd_prepare_gather);

/* out = sum over entries e of values[e] * v[index[e]], less scale * base. Used for rows of X (base
 * = o'v, scale = 1) and, with the transpose, for its columns (base = 1'v, scale = o_j). */
static void gather_row(hd_prepare_gather_function *gather, int64_t begin, int64_t end,
                       const int32_t *index, const float *values, const double *v, int64_t b,
                       int64_t ldv, double scale, const double *base, double *out) {
    for (int64_t k = 0; k < b; k++)
        out[k] = -scale * base[k];
    gather(end - begin, index + begin, values + begin, v, b, ldv, out);
}

/* Sparse rows gather rows of v; dense rows are converted in tiles of HD_PREPARE_TILE_DEPTH columns
 * and multiplied by BLAS. The first tile overwrites out, the others add to it, in ascending order
 * of columns for every row. */
void hd_prepare_centred_times_rows(const hd_prepare_centred *c, int64_t begin, int64_t end,
                                   const double *v, int64_t b, int64_t ldv, const double *base,
                                   double *out, int64_t ldo, double *tile) {
    const huddle_points *x = c->x;
    if (x->offsets != NULL) {
        hd_prepare_gather_function *gather = gathers[hd_cpu_isa()];
        for (int64_t i = begin; i < end; i++)
            gather_row(gather, x->offsets[i], x->offsets[i + 1], x->columns, x->values, v, b, ldv,
                       1, base, out + (i - begin) * ldo);
        return;
    }
    for (int64_t c0 = 0; c0 < x->d; c0 += HD_PREPARE_TILE_DEPTH) {
        int64_t depth = minimum(HD_PREPARE_TILE_DEPTH, x->d - c0);
        hd_prepare_centred_tile(c, begin, end, c0, c0 + depth, tile, HD_PREPARE_TILE_DEPTH);
        cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, (int)(end - begin), (int)b,
                    (int)depth, 1, tile, HD_PREPARE_TILE_DEPTH, v + c0 * ldv, (int)ldv,
                    c0 == 0 ? 0 : 1, out, (int)ldo);
    }
}

typedef struct product {
    const hd_prepare_centred *c;
    const double *v;
    double *out;
    int64_t b, ldv, ldo;
    double *base;  /* o'v, or the column sums of v */
    double *tiles; /* one per worker */
} product;

static huddle_status multiply_chunk(void *argument, hd_chunk chunk) {
    const product *p = argument;
    hd_prepare_centred_times_rows(
        p->c, chunk.begin, chunk.end, p->v, p->b, p->ldv, p->base, p->out + chunk.begin * p->ldo,
        p->ldo, p->tiles + (int64_t)chunk.worker * HD_PREPARE_TILE_ROWS * HD_PREPARE_TILE_DEPTH);
    return HUDDLE_OK;
}

/* Chunks of rows: each row of the result depends on one row of X. Nothing is reduced, since every
 * process computes its own rows. */
huddle_status hd_prepare_centred_times(huddle_context *context, const hd_prepare_centred *c,
                                       const double *v, int64_t b, int64_t ldv, double *out,
                                       int64_t ldo) {
    huddle_status status = HUDDLE_OK;
    product p = {c, v, out, b, ldv, ldo, NULL, NULL};
    ALLOC(p.base, b);
    ALLOC(p.tiles, (int64_t)HD_PREPARE_TILE_ROWS * HD_PREPARE_TILE_DEPTH * hd_workers(context));
    hd_prepare_centred_base(c, v, b, ldv, p.base);
    TRY(hd_parallel(context, NULL, c->x->n, HD_PREPARE_TILE_ROWS, multiply_chunk, &p));
done:
    FREE(p.base, p.tiles);
    return status;
}

/* ---- (X - 1 o')' v -------------------------------------------------------------------------- */

/* A chunk of columns of X, over the rows of this process. Rows are added in order, tile by tile,
 * whatever the number of threads. */
static huddle_status transpose_chunk(void *argument, hd_chunk chunk) {
    const product *p = argument;
    const hd_prepare_centred *c = p->c;
    int64_t width = chunk.end - chunk.begin, n = c->x->n;
    if (c->x->offsets != NULL) {
        hd_prepare_gather_function *gather = gathers[hd_cpu_isa()];
        for (int64_t j = chunk.begin; j < chunk.end; j++)
            gather_row(gather, c->column_offsets[j], c->column_offsets[j + 1], c->column_rows,
                       c->column_values, p->v, p->b, p->ldv, c->offset[j], p->base,
                       p->out + j * p->ldo);
        return HUDDLE_OK;
    }
    double *tile = p->tiles + (int64_t)chunk.worker * HD_PREPARE_TILE_ROWS * HD_PREPARE_TILE_DEPTH;
    for (int64_t r0 = 0; r0 < n; r0 += HD_PREPARE_TILE_DEPTH) {
        int64_t depth = minimum(HD_PREPARE_TILE_DEPTH, n - r0);
        hd_prepare_centred_tile(c, r0, r0 + depth, chunk.begin, chunk.end, tile,
                                HD_PREPARE_TILE_ROWS);
        cblas_dgemm(CblasRowMajor, CblasTrans, CblasNoTrans, (int)width, (int)p->b, (int)depth, 1,
                    tile, HD_PREPARE_TILE_ROWS, p->v + r0 * p->ldv, (int)p->ldv, r0 == 0 ? 0 : 1,
                    p->out + chunk.begin * p->ldo, (int)p->ldo);
    }
    return HUDDLE_OK;
}

/* Adds a product over the processes. The rows of out may be apart, so a copy is reduced; on one
 * process there is nothing to do. The product with the transpose is a sum over rows, which are
 * distributed over the processes. */
static huddle_status reduce_product(huddle_context *context, const product *p) {
    huddle_status status = HUDDLE_OK;
    double *packed = NULL;
    int64_t d = p->c->x->d;
    size_t row = (size_t)p->b * sizeof *packed;
    if (hd_context_engine(context)->slabs == NULL)
        return status;
    ALLOC(packed, d * p->b);
    for (int64_t j = 0; j < d; j++)
        memcpy(packed + j * p->b, p->out + j * p->ldo, row);
    TRY(hd_reduce_sum(context, d * p->b, packed));
    for (int64_t j = 0; j < d; j++)
        memcpy(p->out + j * p->ldo, packed + j * p->b, row);
done:
    huddle_free(packed);
    return status;
}

/* Chunks of columns of X, each over all rows: no two of them write to the same place. For sparse
 * points base has the column sums of v, because (X - 1 o')'v = X'v - o (1'v). */
huddle_status hd_prepare_centred_times_transpose(huddle_context *context,
                                                 const hd_prepare_centred *c, const double *v,
                                                 int64_t b, int64_t ldv, double *out, int64_t ldo) {
    huddle_status status = HUDDLE_OK;
    product p = {c, v, out, b, ldv, ldo, NULL, NULL};
    ALLOC_ZERO(p.base, b);
    ALLOC(p.tiles, (int64_t)HD_PREPARE_TILE_ROWS * HD_PREPARE_TILE_DEPTH * hd_workers(context));
    for (int64_t i = 0; i < c->x->n; i++)
        for (int64_t k = 0; k < b; k++)
            p.base[k] += v[i * ldv + k];
    TRY(hd_parallel(context, NULL, c->x->d, HD_PREPARE_TILE_ROWS, transpose_chunk, &p));
    TRY(reduce_product(context, &p));
done:
    FREE(p.base, p.tiles);
    return status;
}

huddle_status hd_prepare_centred_times_both(huddle_context *context, const hd_prepare_centred *c,
                                            bool by_columns, const double *v, int64_t b,
                                            int64_t ldv, double *half, double *out, int64_t ldo) {
    huddle_status status =
        (by_columns ? hd_prepare_centred_times
                    : hd_prepare_centred_times_transpose)(context, c, v, b, ldv, half, b);
    if (status != HUDDLE_OK)
        return status;
    return (by_columns ? hd_prepare_centred_times_transpose
                       : hd_prepare_centred_times)(context, c, half, b, b, out, ldo);
}
