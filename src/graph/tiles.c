/* The order in which tiles are computed. */
#include "graph/tiles.h"

#include "base/check.h"
#include "base/parallel.h"

#include <math.h>

/* Blocks of the tournament: at most 480 points, which with a few hundred features fit into the
 * second level of cache, and at least 16 blocks if there are enough points, so that eight threads
 * have work in every round. */
enum { MAX_BLOCK = 480, MIN_BLOCKS = 16 };

static const hd_graph_tile_function products[] = HD_SIMD_TABLE(hd_graph_tile_products);
static const hd_graph_tile_function differences[] = HD_SIMD_TABLE(hd_graph_tile_differences);

hd_graph_tile_function hd_graph_tiles_kernel(const hd_graph_packing *packing) {
    return (packing->differences ? differences : products)[packing->isa];
}

/* Where point i is in its panel. */
static const float *panel_point(const hd_graph_panels *x, int64_t i) {
    return x->values + i / HD_GRAPH_PANEL * HD_GRAPH_PANEL * x->d + i % HD_GRAPH_PANEL;
}

static hd_graph_tile new_tile(const hd_graph_tiles *tiles, float *out, uint64_t *hits) {
    int64_t d = tiles->rows->d;
    return (hd_graph_tile){.d = d, .panel = d * HD_GRAPH_PANEL, .out = out, .hits = hits};
}

/* Computes the tile at (row, column); returns whether it has hits. */
static int compute_tile(const hd_graph_tiles *tiles, hd_graph_tile *t, int64_t row,
                        int64_t column) {
    t->rows = panel_point(tiles->rows, row);
    t->row_base = tiles->rows->base + row;
    t->row_tau = tiles->tau + row;
    t->columns = panel_point(tiles->columns, column);
    t->column_base = tiles->columns->base + column;
    return tiles->kernel(t);
}

/* ---- rows against all columns -------------------------------------------------------------- */

/* The tau of columns in a sweep. A hit is within the larger tau of its row and its column, so that
 * -infinity leaves the decision to the row. */
#define NOWHERE8                                                                                   \
    -INFINITY, -INFINITY, -INFINITY, -INFINITY, -INFINITY, -INFINITY, -INFINITY, -INFINITY
static const float nowhere[HD_GRAPH_TILE_COLUMNS] = {NOWHERE8, NOWHERE8, NOWHERE8,
                                                     NOWHERE8, NOWHERE8, NOWHERE8};

/* Removes the lowest bit from the hits of a row and returns its column: ascending columns. */
static int next_column(uint64_t *hits) {
    int c = __builtin_ctzll(*hits);
    *hits &= *hits - 1;
    return c;
}

/* Drops hits in padding columns, and of `pairs` those that are not pairs i < j of which i is one of
 * the rows; prefetches the others, then reports them.
 *
 * The first mask removes padding columns. The second removes columns up to i, which exist only in
 * tiles on the diagonal; a shift by 64 would be undefined, so that a row beyond all columns is
 * handled apart. Prefetching a whole tile before its first report hides the latency of rows that
 * are scattered in memory. */
static void report_hits(const hd_graph_tiles *tiles, const hd_graph_tile *t, int64_t row,
                        int64_t column, bool pairs) {
    int64_t n = tiles->columns->n;
    for (int r = 0; r < HD_GRAPH_TILE_ROWS; r++) {
        int64_t i = row + r;
        if (column + HD_GRAPH_TILE_COLUMNS > n)
            t->hits[r] &= column < n ? ((uint64_t)1 << (n - column)) - 1 : 0;
        bool inside = i < tiles->rows->n;
        if (pairs && (column <= i || !inside))
            t->hits[r] &= inside && i - column < 63 ? ~(uint64_t)0 << (i - column + 1) : 0;
        for (uint64_t hits = t->hits[r]; hits != 0 && tiles->fetch != NULL;)
            tiles->fetch(tiles->argument, column + next_column(&hits));
    }
    for (int r = 0; r < HD_GRAPH_TILE_ROWS; r++)
        for (uint64_t hits = t->hits[r]; hits != 0;) {
            int c = next_column(&hits);
            tiles->hit(tiles->argument, row + r, column + c, t->out[r * HD_GRAPH_TILE_COLUMNS + c]);
        }
}

/* Columns are the outer loop: the panels of one tile of columns stay in the cache while all rows
 * pass. Every row therefore meets its columns in ascending order, on which compare_exactly() of
 * brute.c relies. */
void hd_graph_tiles_sweep(const hd_graph_tiles *tiles, int64_t begin, int64_t end) {
    float out[HD_GRAPH_TILE_ROWS * HD_GRAPH_TILE_COLUMNS];
    uint64_t hits[HD_GRAPH_TILE_ROWS];
    hd_graph_tile t = new_tile(tiles, out, hits);
    t.column_tau = nowhere;
    for (int64_t column = 0; column < tiles->columns->padded; column += HD_GRAPH_TILE_COLUMNS)
        for (int64_t row = begin; row < end; row += HD_GRAPH_TILE_ROWS)
            if (compute_tile(tiles, &t, row, column))
                report_hits(tiles, &t, row, column, false);
}

/* ---- all pairs once ------------------------------------------------------------------------ */

typedef struct tournament {
    const hd_graph_tiles *tiles;
    int64_t padded, block; /* columns, points of a block */
    int64_t blocks, round;
} tournament;

/* Compares the block that begins at `one` with the one that begins at `other`, which is later or
 * the same. In a block compared with itself, tiles entirely below the diagonal are left out: the
 * last column of a tile is column + 47, so that it contains a pair i < j only if row + 1 < column +
 * 48. */
static void compare_blocks(const tournament *m, int64_t one, int64_t other) {
    float out[HD_GRAPH_TILE_ROWS * HD_GRAPH_TILE_COLUMNS];
    uint64_t hits[HD_GRAPH_TILE_ROWS];
    hd_graph_tile t = new_tile(m->tiles, out, hits);
    int64_t rows = m->tiles->rows->padded, row_end = one + m->block < rows ? one + m->block : rows;
    int64_t column_end = other + m->block < m->padded ? other + m->block : m->padded;
    for (int64_t column = other; column < column_end; column += HD_GRAPH_TILE_COLUMNS) {
        t.column_tau = m->tiles->tau + column;
        for (int64_t row = one; row < row_end && row + 1 < column + HD_GRAPH_TILE_COLUMNS;
             row += HD_GRAPH_TILE_ROWS)
            if (compute_tile(m->tiles, &t, row, column))
                report_hits(m->tiles, &t, row, column, true);
    }
}

/* Round 0 compares every block with itself. The other rounds follow the circle method of
 * round-robin tournaments: the last block stays and the others rotate. `even` is the number of
 * blocks rounded up to an even number; the block that is paired with the added one pauses. Two
 * rotating blocks a and b meet in the round r with 2 r = a + b modulo `turn`; since turn is odd,
 * there is exactly one such round, and every pair of blocks is compared once. */
static huddle_status compare_round(void *argument, hd_chunk chunk) {
    const tournament *m = argument;
    int64_t even = m->blocks + m->blocks % 2, turn = even - 1;
    for (int64_t pair = chunk.begin; pair < chunk.end; pair++) {
        int64_t one = pair, other = pair;
        if (m->round > 0) {
            one = pair == 0 ? even - 1 : (m->round + pair) % turn;
            other = pair == 0 ? m->round % turn : (m->round - pair + turn) % turn;
        }
        if (one >= m->blocks || other >= m->blocks)
            continue;
        int64_t low = one < other ? one : other, high = one < other ? other : one;
        compare_blocks(m, low * m->block, high * m->block);
    }
    return HUDDLE_OK;
}

/* A multiple of the tile that depends on the number of points only, so that the order of
 * comparisons does not depend on the number of threads. */
static int64_t block_size(int64_t padded) {
    int64_t block = padded / MIN_BLOCKS / HD_GRAPH_TILE_COLUMNS * HD_GRAPH_TILE_COLUMNS;
    return block < HD_GRAPH_TILE_COLUMNS ? HD_GRAPH_TILE_COLUMNS
           : block > MAX_BLOCK           ? MAX_BLOCK
                                         : block;
}

/* One block compared with itself. */
void hd_graph_tiles_pairs(const hd_graph_tiles *tiles) {
    int64_t padded = tiles->columns->padded;
    tournament m = {.tiles = tiles, .padded = padded, .block = padded, .blocks = 1};
    compare_blocks(&m, 0, 0);
}

/* Round 0 alone, with blocks of that size. */
huddle_status hd_graph_tiles_blocks(huddle_context *context, const hd_graph_tiles *tiles,
                                    int64_t block) {
    tournament m = {.tiles = tiles, .padded = tiles->rows->padded, .block = block};
    m.blocks = hd_chunks(m.padded, block);
    return hd_parallel(context, NULL, m.blocks, 4, compare_round, &m);
}

/* A barrier after every round, where progress is reported and the caller may end the comparison.
 * Within a round a block belongs to one thread, hence each list receives its offers in the same
 * order for any number of threads, and so do all counts that depend on this order. */
huddle_status hd_graph_tiles_tournament(huddle_context *context, const hd_graph_tiles *tiles,
                                        hd_graph_continue_function may_continue, bool *stopped) {
    huddle_status status = HUDDLE_OK;
    tournament m = {.tiles = tiles, .padded = tiles->rows->padded};
    m.block = block_size(m.padded);
    m.blocks = hd_chunks(m.padded, m.block);
    int64_t even = m.blocks + m.blocks % 2;
    double pairs = 0, size = (double)m.block;
    for (m.round = 0; m.round < even; m.round++) {
        int64_t n_pairs = m.round == 0 ? m.blocks : even / 2;
        TRY(hd_parallel(context, NULL, n_pairs, 1, compare_round, &m));
        TRY(hd_progress(context, "graph", (double)m.round + 1, (double)even));
        pairs += (double)n_pairs * size * size * (m.round == 0 ? 0.5 : 1);
        if (may_continue != NULL && !may_continue(tiles->argument, pairs)) {
            *stopped = true;
            break;
        }
    }
done:
    return status;
}
