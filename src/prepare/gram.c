/* The Gram matrix of centred points, in squares of SIDE x SIDE. Each square on or above the
 * diagonal is one piece of work; when there are few squares, the dimension that is summed over is
 * divided into segments too, whose partial sums are added in order. Only half of the matrix is
 * computed. */
#include "prepare/centred.h"

#include "base/check.h"
#include "base/parallel.h"
#include "base/slabs.h"

#include <cblas.h>
#include <math.h>
#include <string.h>

/* Tiles of 512 kB stay in the second level of cache; PIECES of work keep up to that many threads
 * busy. */
enum { SIDE = 128, DEPTH = 512, PIECES = 64 };

typedef struct squares {
    const hd_prepare_centred *c;
    bool by_columns;
    int64_t m, depth;           /* size of the result, and length of the sums */
    int64_t blocks, n_segments; /* squares along a side; parts of the sum */
    int64_t segment;            /* length of a part */
    double *parts;              /* SIDE x SIDE for each piece of work */
    double *tiles;              /* two per worker */
} squares;

static int64_t minimum(int64_t a, int64_t b) {
    return a < b ? a : b;
}

/* The pair (I, J), I <= J, of square number k: row by row through the upper triangle. Linear in the
 * number of rows of squares, which is small next to the work of a square. */
static void square_of(const squares *s, int64_t k, int64_t *i, int64_t *j) {
    int64_t row = 0, length = s->blocks;
    while (k >= length) {
        k -= length--;
        row++;
    }
    *i = row;
    *j = row + k;
}

/* The points of one side of a square, entries s0 .. s1 - 1 of the sum. By columns the tile is (s1 -
 * s0) x SIDE, by rows SIDE x (s1 - s0). */
static void load_tile(const squares *s, int64_t block, int64_t s0, int64_t s1, double *tile) {
    int64_t begin = block * SIDE, end = minimum(begin + SIDE, s->m);
    if (s->by_columns)
        hd_prepare_centred_tile(s->c, s0, s1, begin, end, tile, SIDE);
    else
        hd_prepare_centred_tile(s->c, begin, end, s0, s1, tile, DEPTH);
}

/* One square over one segment of the sum. On the diagonal both sides are the same tile. Each piece
 * has a place of its own for its result, so that the threads need no locks. */
static huddle_status sum_piece(void *argument, hd_chunk chunk) {
    const squares *s = argument;
    int64_t i, j, part = chunk.index % s->n_segments;
    square_of(s, chunk.index / s->n_segments, &i, &j);
    double *left = s->tiles + (int64_t)chunk.worker * 2 * SIDE * DEPTH;
    double *right = i == j ? left : left + (int64_t)SIDE * DEPTH;
    double *out = s->parts + chunk.index * SIDE * SIDE;
    int rows = (int)minimum(SIDE, s->m - i * SIDE), cols = (int)minimum(SIDE, s->m - j * SIDE);
    int64_t end = minimum((part + 1) * s->segment, s->depth);
    memset(out, 0, sizeof *out * SIDE * SIDE);
    for (int64_t s0 = part * s->segment; s0 < end; s0 += DEPTH) {
        int64_t s1 = minimum(s0 + DEPTH, end);
        load_tile(s, i, s0, s1, left);
        if (i != j)
            load_tile(s, j, s0, s1, right);
        if (s->by_columns)
            cblas_dgemm(CblasRowMajor, CblasTrans, CblasNoTrans, rows, cols, (int)(s1 - s0), 1,
                        left, SIDE, right, SIDE, 1, out, SIDE);
        else
            cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasTrans, rows, cols, (int)(s1 - s0), 1,
                        left, DEPTH, right, DEPTH, 1, out, SIDE);
    }
    return HUDDLE_OK;
}

/* Adds the segments of every square in their order, and writes it and its mirror image: the matrix
 * is symmetric to the last bit. */
static void collect_squares(const squares *s, double *gram) {
    int64_t n_squares = s->blocks * (s->blocks + 1) / 2;
    for (int64_t k = 0; k < n_squares; k++) {
        int64_t i, j;
        square_of(s, k, &i, &j);
        int64_t rows = minimum(SIDE, s->m - i * SIDE), cols = minimum(SIDE, s->m - j * SIDE);
        for (int64_t a = 0; a < rows; a++)
            for (int64_t b = 0; b < cols; b++) {
                double sum = 0;
                for (int64_t part = 0; part < s->n_segments; part++)
                    sum += s->parts[((k * s->n_segments + part) * SIDE + a) * SIDE + b];
                gram[(i * SIDE + a) * s->m + j * SIDE + b] = sum;
                gram[(j * SIDE + b) * s->m + i * SIDE + a] = sum;
            }
    }
}

/* Segments are a multiple of DEPTH and depend on the sizes only, so that the sums have the same
 * bits for any number of threads. There are as many as give about PIECES pieces of work, but a
 * segment has at least about two tiles. */
static huddle_status dense_gram(huddle_context *context, const hd_prepare_centred *c,
                                bool by_columns, double *gram) {
    huddle_status status = HUDDLE_OK;
    int64_t n = c->x->n, d = c->x->d;
    squares s = {.c = c, .by_columns = by_columns, .m = by_columns ? d : n};
    s.depth = by_columns ? n : d;
    s.blocks = hd_chunks(s.m, SIDE);
    int64_t n_squares = s.blocks * (s.blocks + 1) / 2;
    int64_t max_segments = minimum(hd_chunks(PIECES, n_squares), hd_chunks(s.depth, 2 * DEPTH));
    s.segment = hd_chunks(hd_chunks(s.depth, max_segments), DEPTH) * DEPTH;
    s.n_segments = hd_chunks(s.depth, s.segment);
    ALLOC(s.parts, n_squares * s.n_segments * SIDE * SIDE);
    ALLOC(s.tiles, (int64_t)2 * SIDE * DEPTH * hd_workers(context));
    TRY(hd_parallel(context, "prepare", n_squares * s.n_segments, 1, sum_piece, &s));
    collect_squares(&s, gram);
    TRY(hd_reduce_sum(context, s.m * s.m, gram));
done:
    FREE(s.parts, s.tiles);
    return status;
}

/* Sparse points: products with blocks of columns of the identity, by the functions that subtract
 * the centre without making the points dense. */
static huddle_status sparse_gram(huddle_context *context, const hd_prepare_centred *c,
                                 bool by_columns, double *gram) {
    huddle_status status = HUDDLE_OK;
    int64_t n = c->x->n, d = c->x->d, m = by_columns ? d : n;
    double *identity = NULL, *half = NULL;
    ALLOC(identity, m * HD_PREPARE_TILE_ROWS);
    ALLOC(half, (by_columns ? n : d) * HD_PREPARE_TILE_ROWS);
    for (int64_t first = 0; first < m; first += HD_PREPARE_TILE_ROWS) {
        int64_t b = minimum(HD_PREPARE_TILE_ROWS, m - first);
        memset(identity, 0, (size_t)(m * b) * sizeof *identity);
        for (int64_t k = 0; k < b; k++)
            identity[(first + k) * b + k] = 1;
        TRY(hd_prepare_centred_times_both(context, c, by_columns, identity, b, b, half,
                                          gram + first, m));
        TRY(hd_progress(context, "prepare", (double)(first + b), (double)m));
    }
done:
    FREE(identity, half);
    return status;
}

/* Asks the engine. Its matrix is made symmetric to the last bit, by its upper triangle. */
static huddle_status gram_by_engine(huddle_context *context, const hd_prepare_centred *c,
                                    bool by_columns, double *gram, bool *handled) {
    const hd_engine *engine = hd_context_engine(context);
    hd_gram_request request = {c->x, c->offset, by_columns};
    int64_t m = by_columns ? c->x->d : c->x->n;
    *handled = false;
    if (engine->find_gram == NULL || engine->slabs != NULL)
        return HUDDLE_OK;
    huddle_status status = engine->find_gram(context, &request, gram);
    if (status != HUDDLE_OK)
        return hd_engine_declined(context, "find_gram", status) ? HUDDLE_OK : status;
    for (int64_t i = 0; i < m; i++)
        for (int64_t j = i; j < m; j++) {
            double value = gram[i * m + j];
            if (!isfinite(value) || (i == j && value < 0))
                return hd_fail(HUDDLE_INTERNAL,
                               "the engine %s returned %g as the product of %s %lld and %lld",
                               engine->text.name, value, by_columns ? "columns" : "rows",
                               (long long)i + 1, (long long)j + 1);
            gram[j * m + i] = value;
        }
    *handled = true;
    return HUDDLE_OK;
}

/* Products of rows of different processes would need all rows on one process. */
huddle_status hd_prepare_centred_gram(huddle_context *context, const hd_prepare_centred *c,
                                      bool by_columns, double *gram) {
    huddle_status status =
        by_columns ? HUDDLE_OK : hd_slabs_refuse(context, "the products of rows");
    bool handled = false;
    if (status == HUDDLE_OK)
        status = gram_by_engine(context, c, by_columns, gram, &handled);
    if (status != HUDDLE_OK || handled)
        return status;
    return c->x->offsets == NULL ? dense_gram(context, c, by_columns, gram)
                                 : sparse_gram(context, c, by_columns, gram);
}
