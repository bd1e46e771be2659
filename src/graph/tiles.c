#include "graph/tiles.h"

#include "base/check.h"
#include "base/parallel.h"

#include <math.h>

enum { MOST_ROWS = 480, FEWEST_BLOCKS = 16 };

static const hd_graph_tile_function products[] = HD_SIMD_TABLE(hd_graph_tile_products);
static const hd_graph_tile_function differences[] = HD_SIMD_TABLE(hd_graph_tile_differences);

hd_graph_tile_function hd_graph_tiles_kernel(const hd_graph_packing *packing) {
    return (packing->differences ? differences : products)[packing->isa];
}

static const float *point(const hd_graph_panels *x, int64_t i) {
    return x->values + i / HD_GRAPH_PANEL * HD_GRAPH_PANEL * x->d + i % HD_GRAPH_PANEL;
}

static hd_graph_tile new_tile(const hd_graph_tiles *tiles, float *out, uint64_t *hits) {
    int64_t d = tiles->rows->d;
    return (hd_graph_tile){.d = d, .panel = d * HD_GRAPH_PANEL, .out = out, .hits = hits};
}

static int run(const hd_graph_tiles *tiles, hd_graph_tile *t, int64_t row, int64_t column) {
    t->rows = point(tiles->rows, row);
    t->row_base = tiles->rows->base + row;
    t->row_tau = tiles->tau + row;
    t->columns = point(tiles->columns, column);
    t->column_base = tiles->columns->base + column;
    return tiles->kernel(t);
}

/* ---- rows against all columns -------------------------------------------------------------- */

#define NOWHERE8                                                                                   \
    -INFINITY, -INFINITY, -INFINITY, -INFINITY, -INFINITY, -INFINITY, -INFINITY, -INFINITY
static const float nowhere[HD_GRAPH_TILE_COLUMNS] = {NOWHERE8, NOWHERE8, NOWHERE8,
                                                     NOWHERE8, NOWHERE8, NOWHERE8};

/* Takes the lowest bit off a row's hits and returns its column. */
static int next_column(uint64_t *hits) {
    int c = __builtin_ctzll(*hits);
    *hits &= *hits - 1;
    return c;
}

static void tell_rows(const hd_graph_tiles *tiles, const hd_graph_tile *t, int64_t row,
                      int64_t column) {
    for (int r = 0; r < HD_GRAPH_TILE_ROWS; r++)
        for (uint64_t hits = t->hits[r]; hits != 0;) {
            int c = next_column(&hits);
            if (column + c < tiles->columns->n)
                tiles->hit(tiles->argument, row + r, column + c,
                           t->out[r * HD_GRAPH_TILE_COLUMNS + c]);
        }
}

void hd_graph_tiles_sweep(const hd_graph_tiles *tiles, int64_t begin, int64_t end) {
    float out[HD_GRAPH_TILE_ROWS * HD_GRAPH_TILE_COLUMNS];
    uint64_t hits[HD_GRAPH_TILE_ROWS];
    hd_graph_tile t = new_tile(tiles, out, hits);
    t.column_tau = nowhere;
    for (int64_t column = 0; column < tiles->columns->padded; column += HD_GRAPH_TILE_COLUMNS)
        for (int64_t row = begin; row < end; row += HD_GRAPH_TILE_ROWS)
            if (run(tiles, &t, row, column))
                tell_rows(tiles, &t, row, column);
}

/* ---- all pairs once ------------------------------------------------------------------------ */

typedef struct tournament {
    const hd_graph_tiles *tiles;
    int64_t padded, block; /* points, points of a block */
    int64_t blocks, round;
} tournament;

/* Drops what is not a pair i < j of points, announces the rest, then tells of it. */
static void tell_pairs(const hd_graph_tiles *tiles, const hd_graph_tile *t, int64_t row,
                       int64_t column) {
    int64_t n = tiles->rows->n;
    for (int r = 0; r < HD_GRAPH_TILE_ROWS; r++) {
        int64_t i = row + r;
        if (column + HD_GRAPH_TILE_COLUMNS > n)
            t->hits[r] &= column < n ? ((uint64_t)1 << (n - column)) - 1 : 0;
        if (column <= i)
            t->hits[r] &= i - column < 63 ? ~(uint64_t)0 << (i - column + 1) : 0;
        for (uint64_t hits = t->hits[r]; hits != 0 && tiles->fetch != NULL;)
            tiles->fetch(tiles->argument, column + next_column(&hits));
    }
    for (int r = 0; r < HD_GRAPH_TILE_ROWS; r++)
        for (uint64_t hits = t->hits[r]; hits != 0;) {
            int c = next_column(&hits);
            tiles->hit(tiles->argument, row + r, column + c, t->out[r * HD_GRAPH_TILE_COLUMNS + c]);
        }
}

/* The points from `one` on against those from `other` on, which come later or are the same. */
static void meet(const tournament *m, int64_t one, int64_t other) {
    float out[HD_GRAPH_TILE_ROWS * HD_GRAPH_TILE_COLUMNS];
    uint64_t hits[HD_GRAPH_TILE_ROWS];
    hd_graph_tile t = new_tile(m->tiles, out, hits);
    int64_t row_end = one + m->block < m->padded ? one + m->block : m->padded;
    int64_t column_end = other + m->block < m->padded ? other + m->block : m->padded;
    for (int64_t column = other; column < column_end; column += HD_GRAPH_TILE_COLUMNS) {
        t.column_tau = m->tiles->tau + column;
        for (int64_t row = one; row < row_end && row + 1 < column + HD_GRAPH_TILE_COLUMNS;
             row += HD_GRAPH_TILE_ROWS)
            if (run(m->tiles, &t, row, column))
                tell_pairs(m->tiles, &t, row, column);
    }
}

/* Round 0 matches every block with itself. In round r > 0 of the circle method the last block
 * stays and the others turn; `even` is the number of blocks made even, and whoever meets the added
 * one rests. */
static huddle_status play(void *argument, hd_chunk chunk) {
    const tournament *m = argument;
    int64_t even = m->blocks + m->blocks % 2, turn = even - 1;
    for (int64_t table = chunk.begin; table < chunk.end; table++) {
        int64_t one = table, other = table;
        if (m->round > 0) {
            one = table == 0 ? even - 1 : (m->round + table) % turn;
            other = table == 0 ? m->round % turn : (m->round - table + turn) % turn;
        }
        if (one >= m->blocks || other >= m->blocks)
            continue;
        int64_t low = one < other ? one : other, high = one < other ? other : one;
        meet(m, low * m->block, high * m->block);
    }
    return HUDDLE_OK;
}

static int64_t block_size(int64_t padded) {
    int64_t block = padded / FEWEST_BLOCKS / HD_GRAPH_TILE_COLUMNS * HD_GRAPH_TILE_COLUMNS;
    return block < HD_GRAPH_TILE_COLUMNS ? HD_GRAPH_TILE_COLUMNS
           : block > MOST_ROWS           ? MOST_ROWS
                                         : block;
}

/* Round 0 alone, with blocks of that size. */
huddle_status hd_graph_tiles_blocks(huddle_context *context, const hd_graph_tiles *tiles,
                                    int64_t block) {
    tournament m = {.tiles = tiles, .padded = tiles->rows->padded, .block = block};
    m.blocks = hd_chunks(m.padded, block);
    return hd_parallel(context, NULL, m.blocks, 4, play, &m);
}

huddle_status hd_graph_tiles_tournament(huddle_context *context, const hd_graph_tiles *tiles,
                                        hd_graph_continue_function go_on, bool *stopped) {
    huddle_status status = HUDDLE_OK;
    tournament m = {.tiles = tiles, .padded = tiles->rows->padded};
    m.block = block_size(m.padded);
    m.blocks = hd_chunks(m.padded, m.block);
    int64_t even = m.blocks + m.blocks % 2;
    double pairs = 0, size = (double)m.block;
    for (m.round = 0; m.round < even; m.round++) {
        int64_t tables = m.round == 0 ? m.blocks : even / 2;
        TRY(hd_parallel(context, NULL, tables, 1, play, &m));
        TRY(hd_progress(context, "graph", (double)m.round + 1, (double)even));
        pairs += (double)tables * size * size * (m.round == 0 ? 0.5 : 1);
        if (go_on != NULL && !go_on(tiles->argument, pairs)) {
            *stopped = true;
            break;
        }
    }
done:
    return status;
}
