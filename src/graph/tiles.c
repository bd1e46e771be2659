#include "graph/tiles.h"

#include "base/check.h"
#include "base/parallel.h"

enum { MOST_ROWS = 480, FEWEST_BLOCKS = 16 };

static const hd_tile_function products[] = HD_SIMD_TABLE(hd_tile_products);
static const hd_tile_function differences[] = HD_SIMD_TABLE(hd_tile_differences);

hd_tile_function hd_tiles_kernel(const hd_packing *packing) {
    return (packing->differences ? differences : products)[hd_cpu_isa()];
}

static const float *point(const hd_panels *x, int64_t i) {
    return x->values + i / HD_PANEL * HD_PANEL * x->d + i % HD_PANEL;
}

static hd_tile new_tile(const hd_tiles *tiles, float *out) {
    return (hd_tile){.d = tiles->rows->d, .panel = tiles->rows->d * HD_PANEL, .out = out};
}

static unsigned run(const hd_tiles *tiles, hd_tile *t, int64_t row, int64_t column) {
    t->rows = point(tiles->rows, row);
    t->row_base = tiles->rows->base + row;
    t->row_tau = tiles->tau + row;
    t->columns = point(tiles->columns, column);
    t->column_base = tiles->columns->base + column;
    return tiles->kernel(t);
}

/* ---- rows against all columns -------------------------------------------------------------- */

static const float nowhere[HD_TILE_COLUMNS] = {
    -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1,
    -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1};

void hd_tiles_sweep(const hd_tiles *tiles, int64_t begin, int64_t end) {
    float out[HD_TILE_ROWS * HD_TILE_COLUMNS];
    hd_tile t = new_tile(tiles, out);
    t.column_tau = nowhere;
    for (int64_t column = 0; column < tiles->columns->padded; column += HD_TILE_COLUMNS)
        for (int64_t row = begin; row < end; row += HD_TILE_ROWS) {
            unsigned hits = run(tiles, &t, row, column);
            for (int r = 0; r < HD_TILE_ROWS && hits >> r != 0; r++)
                for (int c = 0; c < HD_TILE_COLUMNS && (hits >> r & 1) != 0; c++) {
                    float value = out[r * HD_TILE_COLUMNS + c];
                    if (value <= tiles->tau[row + r] && column + c < tiles->columns->n)
                        tiles->hit(tiles->argument, row + r, column + c, value);
                }
        }
}

/* ---- all pairs once ------------------------------------------------------------------------ */

typedef struct tournament {
    const hd_tiles *tiles;
    int64_t padded, block; /* points, points of a block */
    int64_t blocks, round;
} tournament;

static void tell(const hd_tiles *tiles, const hd_tile *t, unsigned hits, int64_t row,
                 int64_t column) {
    const float *tau = tiles->tau;
    for (int r = 0; r < HD_TILE_ROWS; r++) {
        if ((hits >> r & 1) == 0)
            continue;
        int64_t i = row + r;
        const float *values = t->out + r * HD_TILE_COLUMNS;
        for (int c = 0; c < HD_TILE_COLUMNS; c++) {
            int64_t j = column + c;
            if ((values[c] <= tau[i] || values[c] <= tau[j]) && j > i && j < tiles->rows->n)
                tiles->hit(tiles->argument, i, j, values[c]);
        }
    }
}

/* The points from `one` on against those from `other` on, which come later or are the same. */
static void meet(const tournament *m, int64_t one, int64_t other) {
    float out[HD_TILE_ROWS * HD_TILE_COLUMNS];
    hd_tile t = new_tile(m->tiles, out);
    int64_t row_end = one + m->block < m->padded ? one + m->block : m->padded;
    int64_t column_end = other + m->block < m->padded ? other + m->block : m->padded;
    for (int64_t column = other; column < column_end; column += HD_TILE_COLUMNS) {
        t.column_tau = m->tiles->tau + column;
        for (int64_t row = one; row < row_end && row + 1 < column + HD_TILE_COLUMNS;
             row += HD_TILE_ROWS) {
            unsigned hits = run(m->tiles, &t, row, column);
            if (hits != 0)
                tell(m->tiles, &t, hits, row, column);
        }
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
    int64_t block = padded / FEWEST_BLOCKS / HD_TILE_COLUMNS * HD_TILE_COLUMNS;
    return block < HD_TILE_COLUMNS ? HD_TILE_COLUMNS : block > MOST_ROWS ? MOST_ROWS : block;
}

huddle_status hd_tiles_tournament(huddle_context *context, const hd_tiles *tiles,
                                  hd_go_on_function go_on, bool *stopped) {
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
