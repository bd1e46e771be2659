/* The Gram matrix of centred points, in squares of SIDE x SIDE. Each square on or above the
 * diagonal is one piece of work; when there are few squares the summed side is cut into segments
 * too, whose parts are added in order. */
#include "prepare/centred.h"

#include "base/check.h"
#include "base/parallel.h"

#include <cblas.h>
#include <string.h>

enum { SIDE = 128, DEPTH = 512, PIECES = 64 };

typedef struct squares {
    const hd_prepare_centred *c;
    bool by_columns;
    int64_t m, depth;           /* sides of the result, and of the sum */
    int64_t blocks, n_segments; /* squares along a side; parts of the sum */
    int64_t segment;            /* length of a part */
    double *parts;              /* SIDE x SIDE for each piece of work */
    double *tiles;              /* two a worker */
} squares;

static int64_t least(int64_t a, int64_t b) {
    return a < b ? a : b;
}

/* The pair (I, J), I <= J, of square number k: row by row through the upper triangle. */
static void square_of(const squares *s, int64_t k, int64_t *i, int64_t *j) {
    int64_t row = 0, length = s->blocks;
    while (k >= length) {
        k -= length--;
        row++;
    }
    *i = row;
    *j = row + k;
}

/* Block I of the result's side, entries s0 .. s1 - 1 of the sum. By columns the tile is (s1 - s0)
 * x SIDE, by rows SIDE x (s1 - s0). */
static void load(const squares *s, int64_t block, int64_t s0, int64_t s1, double *tile) {
    int64_t begin = block * SIDE, end = least(begin + SIDE, s->m);
    if (s->by_columns)
        hd_prepare_centred_tile(s->c, s0, s1, begin, end, tile, SIDE);
    else
        hd_prepare_centred_tile(s->c, begin, end, s0, s1, tile, DEPTH);
}

static huddle_status sum_piece(void *argument, hd_chunk chunk) {
    const squares *s = argument;
    int64_t i, j, part = chunk.index % s->n_segments;
    square_of(s, chunk.index / s->n_segments, &i, &j);
    double *left = s->tiles + (int64_t)chunk.worker * 2 * SIDE * DEPTH;
    double *right = i == j ? left : left + (int64_t)SIDE * DEPTH;
    double *out = s->parts + chunk.index * SIDE * SIDE;
    int rows = (int)least(SIDE, s->m - i * SIDE), cols = (int)least(SIDE, s->m - j * SIDE);
    int64_t end = least((part + 1) * s->segment, s->depth);
    memset(out, 0, sizeof *out * SIDE * SIDE);
    for (int64_t s0 = part * s->segment; s0 < end; s0 += DEPTH) {
        int64_t s1 = least(s0 + DEPTH, end);
        load(s, i, s0, s1, left);
        if (i != j)
            load(s, j, s0, s1, right);
        if (s->by_columns)
            cblas_dgemm(CblasRowMajor, CblasTrans, CblasNoTrans, rows, cols, (int)(s1 - s0), 1,
                        left, SIDE, right, SIDE, 1, out, SIDE);
        else
            cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasTrans, rows, cols, (int)(s1 - s0), 1,
                        left, DEPTH, right, DEPTH, 1, out, SIDE);
    }
    return HUDDLE_OK;
}

static void collect(const squares *s, double *gram) {
    int64_t n_squares = s->blocks * (s->blocks + 1) / 2;
    for (int64_t k = 0; k < n_squares; k++) {
        int64_t i, j;
        square_of(s, k, &i, &j);
        int64_t rows = least(SIDE, s->m - i * SIDE), cols = least(SIDE, s->m - j * SIDE);
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

static huddle_status dense_gram(huddle_context *context, const hd_prepare_centred *c,
                                bool by_columns, double *gram) {
    huddle_status status = HUDDLE_OK;
    int64_t n = c->x->n, d = c->x->d;
    squares s = {.c = c, .by_columns = by_columns, .m = by_columns ? d : n};
    s.depth = by_columns ? n : d;
    s.blocks = hd_chunks(s.m, SIDE);
    int64_t n_squares = s.blocks * (s.blocks + 1) / 2;
    int64_t wanted = least(hd_chunks(PIECES, n_squares), hd_chunks(s.depth, 2 * DEPTH));
    s.segment = hd_chunks(hd_chunks(s.depth, wanted), DEPTH) * DEPTH;
    s.n_segments = hd_chunks(s.depth, s.segment);
    ALLOC(s.parts, n_squares * s.n_segments * SIDE * SIDE);
    ALLOC(s.tiles, (int64_t)2 * SIDE * DEPTH * hd_workers(context));
    TRY(hd_parallel(context, "prepare", n_squares * s.n_segments, 1, sum_piece, &s));
    collect(&s, gram);
done:
    huddle_free(s.parts);
    huddle_free(s.tiles);
    return status;
}

/* Column by column: products with pieces of the identity. */
static huddle_status sparse_gram(huddle_context *context, const hd_prepare_centred *c,
                                 bool by_columns, double *gram) {
    huddle_status status = HUDDLE_OK;
    int64_t n = c->x->n, d = c->x->d, m = by_columns ? d : n;
    double *identity = NULL, *half = NULL;
    ALLOC(identity, m * HD_PREPARE_TILE_ROWS);
    ALLOC(half, (by_columns ? n : d) * HD_PREPARE_TILE_ROWS);
    for (int64_t first = 0; first < m; first += HD_PREPARE_TILE_ROWS) {
        int64_t b = least(HD_PREPARE_TILE_ROWS, m - first);
        memset(identity, 0, (size_t)(m * b) * sizeof *identity);
        for (int64_t k = 0; k < b; k++)
            identity[(first + k) * b + k] = 1;
        TRY(by_columns ? hd_prepare_centred_times(context, c, identity, b, b, half, b)
                       : hd_prepare_centred_times_transpose(context, c, identity, b, b, half, b));
        TRY(by_columns ? hd_prepare_centred_times_transpose(context, c, half, b, b, gram + first, m)
                       : hd_prepare_centred_times(context, c, half, b, b, gram + first, m));
        TRY(hd_progress(context, "prepare", (double)(first + b), (double)m));
    }
done:
    huddle_free(identity);
    huddle_free(half);
    return status;
}

huddle_status hd_prepare_centred_gram(huddle_context *context, const hd_prepare_centred *c,
                                      bool by_columns, double *gram) {
    return c->x->offsets == NULL ? dense_gram(context, c, by_columns, gram)
                                 : sparse_gram(context, c, by_columns, gram);
}
