/* The operations of the filter on a block of vectors: products, linear combinations, deflation.
 * Blocks are row-major, so that one entry of the sparse matrix serves all columns with contiguous
 * memory, and their width is a multiple of 16 numbers. */
#include "embed/vectors.h"

#include "base/blas.h"
#include "base/check.h"
#include "base/rng.h"

#include <cblas.h>
#include <string.h>

/* Work per chunk of a parallel loop: less is not worth waking a thread for (about 100 us). Chunk
 * sizes depend on the problem only, never on the number of threads: sums over chunks keep their
 * bits. */
enum { PRODUCT_WORK = 1 << 20, COMBINE_WORK = 1 << 20, DEFLATE_WORK = 1 << 18 };

/* Chunks of a deflation at most, so that their sums stay small compared with the block. */
enum { DEFLATE_CHUNKS = 64 };

/* Rows per chunk of loops that multiply matrices or deflate finished vectors. */
enum { PROJECT_ROWS = 1 << 16, CLEANING_ROWS = 1 << 16 };

huddle_status hd_embed_block_new(const hd_embed_operator *op, int64_t width, bool in_double,
                                 hd_embed_block *block) {
    huddle_status status = HUDDLE_OK;
    size_t size = in_double ? sizeof(double) : sizeof(float);
    int64_t rows = op->n + op->halo.ghosts;
    *block = (hd_embed_block){
        .n = op->n, .ghosts = op->halo.ghosts, .width = width, .in_double = in_double};
    block->x = hd_alloc_zero(rows * width, size);
    block->y = hd_alloc_zero(rows * width, size);
    if (block->x == NULL || block->y == NULL)
        FAIL(HUDDLE_NO_MEMORY, "no memory for two blocks of %lld x %lld numbers", (long long)rows,
             (long long)width);
done:
    if (status != HUDDLE_OK)
        hd_embed_block_free(block);
    return status;
}

void hd_embed_block_free(hd_embed_block *block) {
    FREE(block->x, block->y);
    memset(block, 0, sizeof *block);
}

huddle_status hd_embed_block_restore(hd_embed_block *block) {
    huddle_status status = HUDDLE_OK;
    size_t size = block->in_double ? sizeof(double) : sizeof(float);
    int64_t rows = block->n + block->ghosts;
    if (block->y != NULL)
        return status;
    block->y = hd_alloc_zero(rows * block->width, size);
    if (block->y == NULL)
        FAIL(HUDDLE_NO_MEMORY, "no memory for a block of %lld x %lld numbers", (long long)rows,
             (long long)block->width);
done:
    return status;
}

/* 16 floats are one register of AVX-512 and one cache line. */
int64_t hd_embed_block_width(int64_t vectors) {
    return (vectors + 15) / 16 * 16;
}

/* y is not converted: the next product computes it. */
huddle_status hd_embed_block_widen(const hd_embed_operator *op, hd_embed_block *block) {
    hd_embed_block wide;
    huddle_status status = hd_embed_block_new(op, block->width, true, &wide);
    if (status != HUDDLE_OK)
        return status;
    hd_embed_block_load(block, false, 0, block->n, wide.x);
    hd_embed_block_free(block);
    *block = wide;
    return HUDDLE_OK;
}

void hd_embed_block_load(const hd_embed_block *block, bool from_y, int64_t first, int64_t count,
                         double *rows) {
    const void *from = from_y ? block->y : block->x;
    int64_t skip = first * block->width, length = count * block->width;
    if (block->in_double)
        memcpy(rows, (const double *)from + skip, (size_t)length * sizeof *rows);
    else
        for (int64_t i = 0; i < length; i++)
            rows[i] = ((const float *)from)[skip + i];
}

/* Overwrites columns from `first` on by those of a probe, which is always in float. */
void hd_embed_block_replace(const hd_embed_block *from, int64_t count, int64_t first,
                            hd_embed_block *block) {
    const float *source = from->x;
    for (int64_t i = 0; i < block->n; i++)
        for (int64_t k = 0; k < count; k++) {
            float number = source[i * from->width + k];
            if (block->in_double)
                ((double *)block->x)[i * block->width + first + k] = number;
            else
                ((float *)block->x)[i * block->width + first + k] = number;
        }
}

/* x[place] += term, in the block's precision. */
static void add_to_entry(hd_embed_block *block, int64_t place, double term) {
    if (block->in_double)
        ((double *)block->x)[place] += term;
    else
        ((float *)block->x)[place] = (float)(((float *)block->x)[place] + term);
}

/* What the rows of a block are drawn from. */
typedef struct drawing {
    hd_embed_block *block;
    const hd_embed_operator *op;
    int64_t first; /* column */
    double scale;
    uint32_t key[2];
} drawing;

/* Eight numbers of 16 bits from each output of the generator: random directions need no more. The
 * counter contains column and row, so that every process draws what one process would draw. A
 * uniform number in [-1, 1] has variance 1/3, hence the root of 3. */
static huddle_status draw_rows(void *argument, hd_chunk chunk) {
    const drawing *d = argument;
    int64_t width = d->block->width;
    for (int64_t i = chunk.begin; i < chunk.end; i++)
        for (int64_t j = d->first / 8 * 8; j < width; j += 8) {
            uint64_t row =
                (uint64_t)(d->op->number != NULL ? d->op->number[i] : d->op->slab.first + i);
            uint32_t counter[4] = {(uint32_t)j, 0, (uint32_t)row, (uint32_t)(row >> 32)}, words[4];
            hd_philox(counter, d->key, words);
            for (int64_t k = 0; k < 8; k++) {
                double number = (double)(words[k / 2] >> (k % 2 * 16) & 0xffff) - 32767.5;
                if (j + k >= d->first)
                    add_to_entry(d->block, i * width + j + k, number * d->scale);
            }
        }
    return HUDDLE_OK;
}

huddle_status hd_embed_block_randomise(huddle_context *context, const hd_embed_operator *op,
                                       int64_t first, double amplitude, uint64_t seed,
                                       hd_embed_block *block) {
    drawing d = {.block = block,
                 .op = op,
                 .first = first,
                 .scale = amplitude * 1.7320508075688772 / 32767.5,
                 .key = {(uint32_t)seed, (uint32_t)(seed >> 32)}};
    return hd_parallel(context, NULL, block->n, HD_EMBED_LOOP_ROWS, draw_rows, &d);
}

/* ---- the product --------------------------------------------------------------------------- */

/* Arguments of the loops over rows: y = alpha op x + beta x + gamma y. */
typedef struct product {
    const hd_embed_operator *op;
    const hd_embed_block *block;
    double alpha, beta, gamma;
} product;

/* Each row of y depends on x only, so that chunks are independent and the result does not depend on
 * their number. The kernel is that of the best instruction set of this CPU. */
static huddle_status multiply_rows(void *argument, hd_chunk chunk) {
    static hd_embed_product_float_function *const in_float[] =
        HD_SIMD_TABLE(hd_embed_product_float);
    static hd_embed_product_double_function *const in_double[] =
        HD_SIMD_TABLE(hd_embed_product_double);
    const product *p = argument;
    const hd_embed_operator *op = p->op;
    const hd_embed_block *b = p->block;
    if (b->in_double)
        in_double[hd_cpu_isa()](op->offsets, op->columns, op->values, chunk.begin, chunk.end,
                                b->width - b->first, b->width, p->alpha, p->beta, p->gamma,
                                (const double *)b->x + b->first, (double *)b->y + b->first);
    else
        in_float[hd_cpu_isa()](op->offsets, op->columns, op->rounded, chunk.begin, chunk.end,
                               b->width - b->first, b->width, (float)p->alpha, (float)p->beta,
                               (float)p->gamma, (const float *)b->x + b->first,
                               (float *)b->y + b->first);
    return HUDDLE_OK;
}

/* The recurrence of the filter alternates between the two arrays; exchanging pointers saves a copy.
 */
static void swap_arrays(hd_embed_block *block) {
    void *x = block->x;
    block->x = block->y;
    block->y = x;
}

/* Rows of x that belong to other processes; without slabs there are none, and nothing happens. */
huddle_status hd_embed_block_fetch_ghosts(const hd_embed_operator *op,
                                          const hd_embed_block *block) {
    size_t size = block->in_double ? sizeof(double) : sizeof(float);
    return hd_halo_fetch(&op->halo, block->x, (size_t)block->width * size);
}

/* y = alpha op x + beta x + gamma y, one degree of the filter's recurrence in a single pass over
 * the matrix. */
huddle_status hd_embed_block_product(huddle_context *context, const hd_embed_operator *op,
                                     double alpha, double beta, double gamma, bool swap,
                                     hd_embed_block *block) {
    huddle_status status = HUDDLE_OK;
    product p = {op, block, alpha, beta, gamma};
    int64_t rows = op->n > 0 ? op->n : 1; /* a process may have none */
    int64_t per_row = (op->offsets[op->n] / rows + 2) * block->width;
    int64_t grain = PRODUCT_WORK / per_row + 1;
    TRY(hd_embed_block_fetch_ghosts(op, block));
    TRY(hd_parallel(context, NULL, op->n, grain, multiply_rows, &p));
    if (swap)
        swap_arrays(block);
done:
    return status;
}

/* y = alpha y + beta x: the first degree of the filter, whose product is known. */
static huddle_status combine_rows(void *argument, hd_chunk chunk) {
    const product *p = argument;
    const hd_embed_block *b = p->block;
    float alpha = (float)p->alpha, beta = (float)p->beta;
    for (int64_t row = chunk.begin; row < chunk.end; row++) {
        int64_t begin = row * b->width + b->first, end = (row + 1) * b->width;
        if (b->in_double)
            for (int64_t i = begin; i < end; i++)
                ((double *)b->y)[i] =
                    p->alpha * ((double *)b->y)[i] + p->beta * ((double *)b->x)[i];
        else
            for (int64_t i = begin; i < end; i++)
                ((float *)b->y)[i] = alpha * ((float *)b->y)[i] + beta * ((float *)b->x)[i];
    }
    return HUDDLE_OK;
}

/* Ends the first degree of the filter: afterwards x is the new term and y the one before it. */
huddle_status hd_embed_block_combine(huddle_context *context, double alpha, double beta,
                                     hd_embed_block *block) {
    product p = {NULL, block, alpha, beta, 0};
    huddle_status status =
        hd_parallel(context, NULL, block->n, COMBINE_WORK / block->width + 1, combine_rows, &p);
    swap_arrays(block);
    return status;
}

/* ---- deflation ----------------------------------------------------------------------------- */

/* x - v (v'x) for every known vector v. Their supports are disjoint, so that each row takes part in
 * one of them only, and all are removed in one pass. Without deflation the filter would magnify
 * them more than any wanted vector, since they have the largest eigenvalue. */
typedef struct deflation {
    const hd_embed_operator *op;
    void *numbers; /* rows of `stride`, of which the columns first .. end - 1 are deflated */
    bool in_double;
    int64_t stride, first, end;
    double *sums; /* chunks x n_known x end */
} deflation;

/* v'x of every known vector and column, for one chunk. Sums are in double also for floats: a known
 * vector has the largest eigenvalue and must be removed to the last digit. */
static huddle_status add_projections(void *argument, hd_chunk chunk) {
    const deflation *d = argument;
    double *sums = d->sums + chunk.index * d->op->n_known * d->end;
    for (int64_t i = chunk.begin; i < chunk.end; i++) {
        double *sum = sums + d->op->component[i] * d->end, entry = d->op->known[i];
        if (d->in_double)
            for (int64_t k = d->first; k < d->end; k++)
                sum[k] += entry * ((const double *)d->numbers)[i * d->stride + k];
        else
            for (int64_t k = d->first; k < d->end; k++)
                sum[k] += entry * ((const float *)d->numbers)[i * d->stride + k];
    }
    return HUDDLE_OK;
}

/* The product is formed in double and rounded once. */
static huddle_status subtract_projections(void *argument, hd_chunk chunk) {
    const deflation *d = argument;
    for (int64_t i = chunk.begin; i < chunk.end; i++) {
        const double *sum = d->sums + d->op->component[i] * d->end;
        double entry = d->op->known[i];
        if (d->in_double)
            for (int64_t k = d->first; k < d->end; k++)
                ((double *)d->numbers)[i * d->stride + k] -= entry * sum[k];
        else
            for (int64_t k = d->first; k < d->end; k++)
                ((float *)d->numbers)[i * d->stride + k] -= (float)(entry * sum[k]);
    }
    return HUDDLE_OK;
}

/* Partial sums of the chunks are added in order, so that the result does not depend on the number
 * of threads. */
static huddle_status deflate(huddle_context *context, int64_t grain, deflation *d) {
    huddle_status status = HUDDLE_OK;
    int64_t n = d->op->n, chunks = hd_chunks(n, grain), length = d->op->n_known * d->end;
    if (d->op->n_known == 0)
        return HUDDLE_OK;
    ALLOC_ZERO(d->sums, (chunks > 0 ? chunks : 1) * length);
    TRY(hd_parallel(context, NULL, n, grain, add_projections, d));
    for (int64_t chunk = 1; chunk < chunks; chunk++)
        for (int64_t k = 0; k < length; k++)
            d->sums[k] += d->sums[chunk * length + k];
    TRY(hd_reduce_sum(context, length, d->sums));
    TRY(hd_parallel(context, NULL, n, grain, subtract_projections, d));
done:
    huddle_free(d->sums);
    return status;
}

/* `both` deflates y too, which is the other term of a running recurrence. */
huddle_status hd_embed_block_deflate(huddle_context *context, const hd_embed_operator *op,
                                     bool both, hd_embed_block *block) {
    huddle_status status = HUDDLE_OK;
    int64_t grain = DEFLATE_WORK / block->width + op->n / DEFLATE_CHUNKS + 1;
    for (int pass = 0; pass < (both ? 2 : 1); pass++) {
        deflation d = {.op = op,
                       .numbers = pass == 0 ? block->x : block->y,
                       .in_double = block->in_double,
                       .stride = block->width,
                       .first = block->first,
                       .end = block->width};
        TRY(deflate(context, grain, &d));
    }
done:
    return status;
}

huddle_status hd_embed_deflate_vectors(huddle_context *context, const hd_embed_operator *op,
                                       huddle_dense *vectors) {
    deflation d = {.op = op,
                   .numbers = vectors->values,
                   .in_double = true,
                   .stride = vectors->stride,
                   .end = vectors->cols};
    return deflate(context, CLEANING_ROWS, &d);
}

/* Sums of floats over all processes; doubles hold them exactly. */
static huddle_status reduce_floats(huddle_context *context, int64_t count, float *sums) {
    huddle_status status = HUDDLE_OK;
    double *wide = NULL;
    if (hd_context_engine(context)->slabs == NULL)
        goto done;
    ALLOC(wide, count);
    for (int64_t k = 0; k < count; k++)
        wide[k] = sums[k];
    TRY(hd_reduce_sum(context, count, wide));
    for (int64_t k = 0; k < count; k++)
        sums[k] = (float)wide[k];
done:
    huddle_free(wide);
    return status;
}

/* What the two loops of an orthogonalisation share. */
typedef struct projection {
    const float *vectors; /* n x count, rows of `stride` */
    int64_t stride, count, width;
    float *numbers; /* n x width */
    float *sums;    /* chunks x count x width */
} projection;

/* Products of the vectors with the block, one chunk of rows. */
static huddle_status multiply_vectors(void *argument, hd_chunk chunk) {
    const projection *p = argument;
    blasint rows = (blasint)(chunk.end - chunk.begin), width = (blasint)p->width;
    cblas_sgemm(CblasRowMajor, CblasTrans, CblasNoTrans, (blasint)p->count, width, rows, 1,
                p->vectors + chunk.begin * p->stride, (blasint)p->stride,
                p->numbers + chunk.begin * p->width, width, 0,
                p->sums + chunk.index * p->count * p->width, width);
    return HUDDLE_OK;
}

static huddle_status subtract_vectors(void *argument, hd_chunk chunk) {
    const projection *p = argument;
    blasint rows = (blasint)(chunk.end - chunk.begin), width = (blasint)p->width;
    cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, rows, width, (blasint)p->count, -1,
                p->vectors + chunk.begin * p->stride, (blasint)p->stride, p->sums, width, 1,
                p->numbers + chunk.begin * p->width, width);
    return HUDDLE_OK;
}

/* Two products of classical Gram-Schmidt; the vectors are orthonormal. One pass is enough: what
 * rounding leaves of the vectors is removed again at the next deflation, before the filter has
 * magnified it. The block is in float. */
huddle_status hd_embed_block_orthogonalise(huddle_context *context, const float *vectors,
                                           int64_t stride, int64_t count, bool both,
                                           hd_embed_block *block) {
    huddle_status status = HUDDLE_OK;
    int64_t chunks = hd_chunks(block->n, PROJECT_ROWS), length = count * block->width;
    projection p = {.vectors = vectors, .stride = stride, .count = count, .width = block->width};
    hd_blas_enter();
    TRY(hd_blas_reserve(context));
    ALLOC_ZERO(p.sums, (chunks > 0 ? chunks : 1) * length);
    for (int pass = 0; pass < (both ? 2 : 1); pass++) {
        p.numbers = pass == 0 ? block->x : block->y;
        TRY(hd_parallel(context, NULL, block->n, PROJECT_ROWS, multiply_vectors, &p));
        for (int64_t chunk = 1; chunk < chunks; chunk++)
            for (int64_t k = 0; k < length; k++)
                p.sums[k] += p.sums[chunk * length + k];
        TRY(reduce_floats(context, length, p.sums));
        TRY(hd_parallel(context, NULL, block->n, PROJECT_ROWS, subtract_vectors, &p));
    }
done:
    hd_blas_leave();
    huddle_free(p.sums);
    return status;
}
