/* Rayleigh-Ritz steps: among all vectors in the span of a block, the Ritz vectors and values are
 * the best approximations of eigenpairs. The Gram matrices X'X and X' op X are summed in double
 * whatever the block contains: their rounding errors limit the orthogonality of the Ritz vectors
 * and thereby the residual that can be reached (Stewart, Matrix Algorithms II, 2001, chapter 4). */
#include "embed/rayleigh.h"

#include "base/blas.h"
#include "base/check.h"
#include "embed/solver.h"

#include <cblas.h>
#include <lapacke.h>
#include <math.h>
#include <string.h>

/* Rows that are worked on at once, in a worker's scratch space: two strips of doubles fit in the
 * second-level cache. */
enum { STRIP = 256 };

/* Multiplications per chunk, and chunks at most, since each keeps two Gram matrices. */
enum { GRAM_WORK = 1 << 22, RESIDUAL_WORK = 1 << 17, MAX_CHUNKS = 256 };

/* Finished vectors that get their ghost rows at once. */
enum { GHOST_COLUMNS = 8 };

/* Columns of norm 1 that are dependent to this part are dropped: the eigenvalues of a Gram matrix
 * in double are not accurate below about width * 1e-16, and noise must not become a Ritz vector. */
static const double dependent = 1e-11;

huddle_status hd_embed_ritz_new(int64_t width, hd_embed_ritz *ritz) {
    huddle_status status = HUDDLE_OK;
    *ritz = (hd_embed_ritz){.width = width};
    ALLOC_ZERO(ritz->theta, width);
    ALLOC_ZERO(ritz->residual, width);
    ALLOC_ZERO(ritz->rotation, width * width);
done:
    if (status != HUDDLE_OK)
        hd_embed_ritz_free(ritz);
    return status;
}

void hd_embed_ritz_free(hd_embed_ritz *ritz) {
    FREE(ritz->theta, ritz->residual, ritz->rotation);
    memset(ritz, 0, sizeof *ritz);
}

/* What the loops over rows share. */
typedef struct step {
    const hd_embed_operator *op; /* NULL: the products are in the block's y */
    const hd_embed_block *block;
    const hd_embed_ritz *ritz;
    double *scratch;   /* for each worker, two strips */
    double *partial;   /* for each chunk: two Gram matrices, or squared residuals */
    float *rotation;   /* as floats, for a block of floats */
    huddle_dense *out; /* hd_embed_ritz_vectors() */
    int64_t grain;
} step;

/* Depends on the sizes only: chunks, and with them the rounding of the sums, are the same for any
 * number of threads. */
static int64_t row_grain(int64_t n, int64_t width) {
    int64_t grain = GRAM_WORK / (width * width) + n / MAX_CHUNKS + 1;
    return grain < STRIP ? STRIP : grain;
}

int64_t hd_embed_ritz_memory(int64_t n, int64_t width) {
    return hd_chunks(n, row_grain(n, width)) * 2 * width * width * (int64_t)sizeof(double);
}

/* Scratch memory for the loops of one step. */
static huddle_status new_step(huddle_context *context, const hd_embed_block *block,
                              const hd_embed_ritz *ritz, step *s) {
    huddle_status status = HUDDLE_OK;
    int64_t width = block->width;
    *s = (step){.block = block, .ritz = ritz, .grain = row_grain(block->n, width)};
    ALLOC(s->scratch, hd_workers(context) * 2 * STRIP * width);
    int64_t chunks = hd_chunks(block->n, s->grain);
    ALLOC_ZERO(s->partial, (chunks > 0 ? chunks : 1) * 2 * width * width);
    ALLOC(s->rotation, width * width);
done:
    return status;
}

static void free_step(step *s) {
    FREE(s->scratch, s->partial, s->rotation);
}

/* Adds up the chunks' parts in their order, which makes the sums independent of the number of
 * threads, and then those of all processes. */
static huddle_status add_chunks(huddle_context *context, const step *s, int64_t length) {
    int64_t chunks = hd_chunks(s->block->n, s->grain);
    int64_t stride = 2 * s->block->width * s->block->width;
    for (int64_t chunk = 1; chunk < chunks; chunk++)
        for (int64_t k = 0; k < length; k++)
            s->partial[k] += s->partial[chunk * stride + k];
    return hd_reduce_sum(context, length, s->partial);
}

/* ---- Gram matrices ------------------------------------------------------------------------- */

/* Rows of op x, from the block's x. This is used only at the end of a solve, so that it is written
 * for accuracy: values and sums are doubles whatever the block contains. */
static void multiply_strip(const hd_embed_operator *op, const hd_embed_block *block, int64_t first,
                           int64_t count, double *rows) {
    int64_t width = block->width;
    for (int64_t i = 0; i < count; i++) {
        double *row = rows + i * width;
        memset(row, 0, (size_t)width * sizeof *row);
        for (int64_t e = op->offsets[first + i]; e < op->offsets[first + i + 1]; e++) {
            double value = op->values[e];
            int64_t from = op->columns[e] * width;
            if (block->in_double)
                for (int64_t k = 0; k < width; k++)
                    row[k] += value * ((const double *)block->x)[from + k];
            else
                for (int64_t k = 0; k < width; k++)
                    row[k] += value * ((const float *)block->x)[from + k];
        }
    }
}

/* X'X and X'(op X) of one chunk, strip by strip: a strip is converted to double once and then used
 * for both products. */
static huddle_status add_grams(void *argument, hd_chunk chunk) {
    const step *s = argument;
    int64_t width = s->block->width;
    blasint b = (blasint)width;
    double *x = s->scratch + chunk.worker * 2 * STRIP * width, *y = x + STRIP * width;
    double *gram = s->partial + chunk.index * 2 * width * width;
    for (int64_t first = chunk.begin; first < chunk.end; first += STRIP) {
        int64_t count = chunk.end - first < STRIP ? chunk.end - first : STRIP;
        hd_embed_block_load(s->block, false, first, count, x);
        if (s->op != NULL)
            multiply_strip(s->op, s->block, first, count, y);
        else
            hd_embed_block_load(s->block, true, first, count, y);
        cblas_dgemm(CblasRowMajor, CblasTrans, CblasNoTrans, b, b, (blasint)count, 1, x, b, x, b, 1,
                    gram, b);
        cblas_dgemm(CblasRowMajor, CblasTrans, CblasNoTrans, b, b, (blasint)count, 1, x, b, y, b, 1,
                    gram + width * width, b);
    }
    return HUDDLE_OK;
}

/* ---- the small eigenproblem ---------------------------------------------------------------- */

/* Eigenvalues ascending; row k of a becomes the k-th eigenvector. */
static huddle_status solve_symmetric(int64_t n, double *a, double *values) {
    return hd_embed_check_lapack(
        LAPACKE_dsyevd(LAPACK_COL_MAJOR, 'V', 'L', (lapack_int)n, a, (lapack_int)n, values), n);
}

/* A basis (width x rank) with basis' gram basis = I, from the eigenvectors of the Gram matrix,
 * whose columns are scaled to norm 1 first. The k-th basis vector overwrites row k of gram; the
 * last `rank` rows are valid. Eigenvectors of the Gram matrix reveal the rank, unlike a Cholesky
 * factorisation, which fails where columns are dependent. Scaling to norm 1 makes the threshold
 * relative to each column: filtered columns differ by orders of magnitude. */
static huddle_status orthonormal_basis(int64_t width, double *gram, double *scale, double *values,
                                       int64_t *rank) {
    for (int64_t i = 0; i < width; i++) {
        double square = gram[i * width + i];
        scale[i] = square > 0 ? 1 / sqrt(square) : 0;
    }
    for (int64_t i = 0; i < width; i++)
        for (int64_t j = 0; j < width; j++)
            gram[i * width + j] *= scale[i] * scale[j];
    huddle_status status = solve_symmetric(width, gram, values);
    *rank = 0;
    for (int64_t k = width - 1; k >= 0 && status == HUDDLE_OK && values[k] > dependent;
         k--, ++*rank)
        for (int64_t i = 0; i < width; i++)
            gram[k * width + i] *= scale[i] / sqrt(values[k]);
    return status;
}

/* From the Gram matrices X'X and X'opX: Ritz values, and the rotation that makes Ritz vectors. With
 * B'(X'X)B = I the pencil becomes the ordinary eigenproblem of B'(X'opX)B, and the rotation is B
 * times its eigenvectors. X'opX is symmetric but for rounding errors, which are averaged out. */
static huddle_status solve_small(double *gram, double *product, hd_embed_ritz *ritz) {
    huddle_status status = HUDDLE_OK;
    double *scale = NULL, *values = NULL, *half = NULL, *small = NULL;
    int64_t width = ritz->width, rank = 0;
    blasint b = (blasint)width;
    ALLOC(scale, width);
    ALLOC(values, width);
    ALLOC(half, width * width);
    ALLOC(small, width * width);
    TRY(orthonormal_basis(width, gram, scale, values, &rank));
    blasint r = (blasint)rank;
    const double *basis = gram + (width - rank) * width; /* rank rows */
    memset(ritz->rotation, 0, (size_t)(width * width) * sizeof *ritz->rotation);
    ritz->rank = rank;
    if (rank == 0)
        goto done;
    for (int64_t i = 0; i < width; i++)
        for (int64_t j = 0; j < i; j++)
            product[i * width + j] = product[j * width + i] =
                .5 * (product[i * width + j] + product[j * width + i]);
    cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, r, b, b, 1, basis, b, product, b, 0,
                half, b);
    cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasTrans, r, r, b, 1, half, b, basis, b, 0, small,
                r);
    /* LAPACK returns ascending eigenvalues; Ritz pairs are in descending order. */
    TRY(solve_symmetric(rank, small, values));
    cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, r, b, r, 1, small, r, basis, b, 0, half,
                b);
    for (int64_t k = 0; k < rank; k++) {
        ritz->theta[k] = values[rank - 1 - k];
        for (int64_t i = 0; i < width; i++)
            ritz->rotation[i * width + k] = half[(rank - 1 - k) * width + i];
    }
    for (int64_t k = rank; k < width; k++)
        ritz->theta[k] = -INFINITY;
done:
    FREE(scale, values, half, small);
    return status;
}

/* Ritz values and rotation of a block, by one pass over it for the Gram matrices and a small
 * eigenproblem that every process solves alike. op: products are computed in double; NULL: they are
 * in the block's y. */
static huddle_status find_ritz(huddle_context *context, const hd_embed_operator *op,
                               const hd_embed_block *block, hd_embed_ritz *ritz, step *s) {
    huddle_status status = HUDDLE_OK;
    int64_t width = block->width;
    TRY(hd_blas_reserve(context));
    TRY(new_step(context, block, ritz, s));
    s->op = op;
    if (op != NULL)
        TRY(hd_embed_block_fetch_ghosts(op, block));
    TRY(hd_parallel(context, NULL, block->n, s->grain, add_grams, s));
    TRY(add_chunks(context, s, 2 * width * width));
    TRY(solve_small(s->partial, s->partial + width * width, ritz));
done:
    return status;
}

/* ---- rotation and residuals ---------------------------------------------------------------- */

/* `count` rows from `first` on times the rotation, in the block's own precision, by way of scratch
 * memory: a product cannot overwrite its operand. */
static void rotate_strip(const step *s, void *numbers, int64_t first, int64_t count,
                         void *scratch) {
    blasint b = (blasint)s->block->width, rows = (blasint)count;
    int64_t skip = first * s->block->width, length = count * s->block->width;
    if (s->block->in_double) {
        double *place = (double *)numbers + skip;
        cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, rows, b, b, 1, place, b,
                    s->ritz->rotation, b, 0, scratch, b);
        memcpy(place, scratch, (size_t)length * sizeof *place);
    } else {
        float *place = (float *)numbers + skip;
        cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, rows, b, b, 1, place, b, s->rotation,
                    b, 0, scratch, b);
        memcpy(place, scratch, (size_t)length * sizeof *place);
    }
}

/* Squared residuals of the Ritz pairs, from op x as rotated: no further product is needed.
 * Differences are formed in double. For a block of floats they contain the rounding of y, of the
 * order of 1e-7, which is below any tolerance that is pursued in float. */
static void add_residuals(const step *s, int64_t first, int64_t count, double *squares) {
    int64_t width = s->block->width;
    const double *theta = s->ritz->theta;
    for (int64_t i = first; i < first + count; i++)
        for (int64_t k = 0; k < s->ritz->rank; k++) {
            int64_t at = i * width + k;
            double difference = s->block->in_double
                                    ? ((const double *)s->block->y)[at] -
                                          theta[k] * ((const double *)s->block->x)[at]
                                    : ((const float *)s->block->y)[at] -
                                          theta[k] * ((const float *)s->block->x)[at];
            squares[k] += difference * difference;
        }
}

/* Rotates x and y and adds up the residuals while the rows are in cache. Rotating y as well keeps y
 * = op x without another product. */
static huddle_status rotate_rows(void *argument, hd_chunk chunk) {
    const step *s = argument;
    int64_t width = s->block->width;
    double *scratch = s->scratch + chunk.worker * 2 * STRIP * width;
    double *squares = s->partial + chunk.index * 2 * width * width;
    memset(squares, 0, (size_t)width * sizeof *squares);
    for (int64_t first = chunk.begin; first < chunk.end; first += STRIP) {
        int64_t count = chunk.end - first < STRIP ? chunk.end - first : STRIP;
        rotate_strip(s, s->block->x, first, count, scratch);
        rotate_strip(s, s->block->y, first, count, scratch);
        add_residuals(s, first, count, squares);
    }
    return HUDDLE_OK;
}

/* Two passes over the block: for the Gram matrices, and for rotation and residuals. */
huddle_status hd_embed_rayleigh_ritz(huddle_context *context, hd_embed_block *block,
                                     hd_embed_ritz *ritz) {
    huddle_status status = HUDDLE_OK;
    step s = {0};
    int64_t width = block->width;
    hd_blas_enter();
    TRY(find_ritz(context, NULL, block, ritz, &s));
    for (int64_t i = 0; i < width * width; i++)
        s.rotation[i] = (float)ritz->rotation[i];
    /* A process without rows has no chunk that would overwrite the Gram matrix. */
    memset(s.partial, 0, (size_t)width * sizeof *s.partial);
    TRY(hd_parallel(context, NULL, block->n, s.grain, rotate_rows, &s));
    TRY(add_chunks(context, &s, width));
    for (int64_t k = 0; k < width; k++)
        ritz->residual[k] = k < ritz->rank ? sqrt(s.partial[k]) : INFINITY;
done:
    free_step(&s);
    hd_blas_leave();
    return status;
}

/* ---- the exact step at the end ------------------------------------------------------------- */

/* The products are recomputed in double from the operator's doubles: y of a float block contains
 * the rounding errors of the filter's arithmetic, which would limit the accuracy of the
 * eigenvalues. */
huddle_status hd_embed_ritz_exact(huddle_context *context, const hd_embed_operator *op,
                                  const hd_embed_block *block, hd_embed_ritz *ritz) {
    step s = {0};
    hd_blas_enter();
    huddle_status status = find_ritz(context, op, block, ritz, &s);
    free_step(&s);
    hd_blas_leave();
    return status;
}

/* Rows of the Ritz vectors in double, without changing the block. */
static huddle_status write_ritz_rows(void *argument, hd_chunk chunk) {
    const step *s = argument;
    blasint b = (blasint)s->block->width;
    double *rows = s->scratch + chunk.worker * 2 * STRIP * s->block->width;
    for (int64_t first = chunk.begin; first < chunk.end; first += STRIP) {
        int64_t count = chunk.end - first < STRIP ? chunk.end - first : STRIP;
        hd_embed_block_load(s->block, false, first, count, rows);
        cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, (blasint)count,
                    (blasint)s->out->cols, b, 1, rows, b, s->ritz->rotation, b, 0,
                    s->out->values + first * s->out->stride, (blasint)s->out->stride);
    }
    return HUDDLE_OK;
}

/* The first Ritz vectors in double, X times the rotation; the block stays as it is, in case
 * the search continues. */
huddle_status hd_embed_ritz_vectors(huddle_context *context, const hd_embed_operator *op,
                                    const hd_embed_block *block, const hd_embed_ritz *ritz,
                                    huddle_dense *vectors) {
    huddle_status status = HUDDLE_OK;
    step s = {0};
    hd_blas_enter();
    TRY(new_step(context, block, ritz, &s));
    s.out = vectors;
    TRY(hd_parallel(context, NULL, block->n, s.grain, write_ritz_rows, &s));
    TRY(hd_embed_deflate_vectors(context, op, vectors));
done:
    free_step(&s);
    hd_blas_leave();
    return status;
}

/* ---- residuals of finished vectors --------------------------------------------------------- */

typedef struct residuals {
    const hd_embed_operator *op;
    const huddle_dense *vectors; /* with the ghost rows of the operator */
    const double *theta;
    double *squares; /* chunks x columns */
    double *rows;    /* workers x columns */
} residuals;

/* Squares of op v - theta v, one chunk of rows. */
static huddle_status square_residuals(void *argument, hd_chunk chunk) {
    const residuals *r = argument;
    const huddle_dense *v = r->vectors;
    double *squares = r->squares + chunk.index * v->cols, *row = r->rows + chunk.worker * v->cols;
    for (int64_t i = chunk.begin; i < chunk.end; i++) {
        for (int64_t k = 0; k < v->cols; k++)
            row[k] = -r->theta[k] * v->values[i * v->stride + k];
        for (int64_t e = r->op->offsets[i]; e < r->op->offsets[i + 1]; e++)
            for (int64_t k = 0; k < v->cols; k++)
                row[k] += r->op->values[e] * v->values[r->op->columns[e] * v->stride + k];
        for (int64_t k = 0; k < v->cols; k++)
            squares[k] += row[k] * row[k];
    }
    return HUDDLE_OK;
}

/* Squared residuals of all columns, added up over the chunks of this process. */
static huddle_status add_squares(huddle_context *context, residuals *r, double *sums) {
    huddle_status status = HUDDLE_OK;
    int64_t n = r->op->n, cols = r->vectors->cols;
    int64_t grain = RESIDUAL_WORK / (cols + 1) + n / MAX_CHUNKS + 1, chunks = hd_chunks(n, grain);
    ALLOC_ZERO(r->squares, (chunks + 1) * cols);
    ALLOC(r->rows, hd_workers(context) * cols);
    TRY(hd_parallel(context, NULL, n, grain, square_residuals, r));
    for (int64_t chunk = 0; chunk < chunks; chunk++)
        for (int64_t k = 0; k < cols; k++)
            sums[k] += r->squares[chunk * cols + k];
done:
    FREE(r->squares, r->rows);
    return status;
}

/* The same with the ghost rows that the operator refers to, for a few columns at a time: a copy of
 * all vectors with their ghosts would be the largest array of the solve. */
static huddle_status add_squares_with_ghosts(huddle_context *context, const residuals *all,
                                             double *sums) {
    huddle_status status = HUDDLE_OK;
    huddle_dense some = {0};
    const hd_embed_operator *op = all->op;
    const huddle_dense *v = all->vectors;
    for (int64_t first = 0; first < v->cols; first += GHOST_COLUMNS) {
        int64_t count = v->cols - first < GHOST_COLUMNS ? v->cols - first : GHOST_COLUMNS;
        residuals r = {.op = op, .vectors = &some, .theta = all->theta + first};
        TRY(huddle_dense_new(op->n + op->halo.ghosts, count, &some));
        for (int64_t i = 0; i < op->n; i++)
            memcpy(some.values + i * some.stride, v->values + i * v->stride + first,
                   (size_t)count * sizeof *some.values);
        TRY(hd_halo_fetch(&op->halo, some.values, (size_t)some.stride * sizeof *some.values));
        TRY(add_squares(context, &r, sums + first));
        huddle_dense_free(&some);
    }
done:
    huddle_dense_free(&some);
    return status;
}

/* The largest |op v - theta v| of finished pairs, from the vectors that are returned and the matrix
 * in double: the number that is reported, whichever solver found the pairs. */
huddle_status hd_embed_largest_residual(huddle_context *context, const hd_embed_operator *op,
                                        const huddle_dense *vectors, const double *theta,
                                        double *residual) {
    huddle_status status = HUDDLE_OK;
    double *sums = NULL;
    residuals r = {.op = op, .vectors = vectors, .theta = theta};
    ALLOC_ZERO(sums, vectors->cols);
    if (op->halo.slabs == NULL)
        TRY(add_squares(context, &r, sums));
    else
        TRY(add_squares_with_ghosts(context, &r, sums));
    TRY(hd_reduce_sum(context, vectors->cols, sums));
    *residual = 0;
    for (int64_t k = 0; k < vectors->cols; k++)
        *residual = fmax(*residual, sqrt(sums[k]));
done:
    huddle_free(sums);
    return status;
}
