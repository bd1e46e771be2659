/* All pairs, by tiles.
 *
 * Points among themselves meet once a pair: blocks of points are matched as in a tournament, so
 * that in every round no block plays twice and the lists of both sides can be written without
 * locks. Queries meet all training points chunk by chunk.
 *
 * The kernel's distances are rounded. Each list keeps a few candidates more than needed; their
 * distances are computed again in double, and a list stands if no point outside it can be nearer
 * than its k-th even with the worst rounding. Otherwise every point within that bound is looked
 * at in double. */
#include "base/check.h"
#include "base/parallel.h"
#include "graph/panels.h"
#include "graph/search.h"

#include <float.h>
#include <math.h>
#include <string.h>

enum { SPARE = 3, MOST_ROWS = 480, FEWEST_BLOCKS = 16, QUERIES_PER_CHUNK = 96 };

static const hd_tile_function tile_products[] = HD_SIMD_TABLE(hd_tile_products);
static const hd_tile_function tile_differences[] = HD_SIMD_TABLE(hd_tile_differences);

typedef struct brute {
    hd_search *search;
    hd_packing packing;
    hd_panels train, own;   /* own: the queries' panels, if they are not the training points */
    const hd_panels *query; /* &train or &own */
    hd_tile_function kernel;
    bool exact;
    int32_t k;        /* length of the lists: search->k and a few spare */
    float *distance2; /* query->padded x k: candidates, in packed units */
    int32_t *index;
    float *tau;    /* query->padded: the last of each list; -1 beyond n */
    int64_t block; /* points of a block of the tournament */
    int64_t blocks, round;
    bool *doubtful; /* queries whose list does not stand */
    double *limits; /* of doubtful queries, in packed units */
} brute;

/* ---- candidates ---------------------------------------------------------------------------- */

static void offer(brute *b, int64_t i, float value, int64_t j) {
    float *distance2 = b->distance2 + i * b->k;
    int32_t *index = b->index + i * b->k, at = b->k - 1, name = (int32_t)j;
    if (value > distance2[at] || (value == distance2[at] && name >= index[at]))
        return;
    for (; at > 0 &&
           (value < distance2[at - 1] || (value == distance2[at - 1] && name < index[at - 1]));
         at--) {
        distance2[at] = distance2[at - 1];
        index[at] = index[at - 1];
    }
    distance2[at] = value;
    index[at] = name;
    b->tau[i] = distance2[b->k - 1];
}

static const float *panel_row(const hd_panels *x, int64_t i) {
    return x->values + i / HD_PANEL * HD_PANEL * x->d + i % HD_PANEL;
}

static hd_tile new_tile(const brute *b, float *out) {
    return (hd_tile){.d = b->packing.d, .panel = b->packing.d * HD_PANEL, .out = out};
}

static unsigned run_tile(const brute *b, hd_tile *t, int64_t row, int64_t column) {
    t->rows = panel_row(b->query, row);
    t->row_base = b->query->base + row;
    t->row_tau = b->tau + row;
    t->columns = panel_row(&b->train, column);
    t->column_base = b->train.base + column;
    return b->kernel(t);
}

/* Offers what a tile found to the lists on both sides, each pair once. */
static void offer_pairs(brute *b, const hd_tile *t, unsigned hits, int64_t row, int64_t column) {
    for (int r = 0; r < HD_TILE_ROWS; r++) {
        if ((hits >> r & 1) == 0)
            continue;
        int64_t i = row + r;
        const float *values = t->out + r * HD_TILE_COLUMNS;
        for (int c = 0; c < HD_TILE_COLUMNS; c++) {
            int64_t j = column + c;
            bool near_i = values[c] <= b->tau[i], near_j = values[c] <= b->tau[j];
            if ((!near_i && !near_j) || j <= i || j >= b->train.n)
                continue;
            if (near_i)
                offer(b, i, values[c], j);
            if (near_j)
                offer(b, j, values[c], i);
        }
    }
}

static void meet(brute *b, int64_t one, int64_t other) {
    float out[HD_TILE_ROWS * HD_TILE_COLUMNS];
    hd_tile t = new_tile(b, out);
    int64_t padded = b->train.padded;
    int64_t row_end = one + b->block < padded ? one + b->block : padded;
    int64_t column_end = other + b->block < padded ? other + b->block : padded;
    for (int64_t column = other; column < column_end; column += HD_TILE_COLUMNS) {
        t.column_tau = b->tau + column;
        for (int64_t row = one; row < row_end; row += HD_TILE_ROWS) {
            if (column + HD_TILE_COLUMNS <= row + 1)
                break;
            unsigned hits = run_tile(b, &t, row, column);
            if (hits != 0)
                offer_pairs(b, &t, hits, row, column);
        }
    }
}

/* Round 0 matches every block with itself. In round r > 0 of the circle method block m - 1 stays
 * and the others turn: m is the number of blocks made even, and whoever meets the added one rests.
 */
static huddle_status play(void *argument, hd_chunk chunk) {
    brute *b = argument;
    for (int64_t table = chunk.begin; table < chunk.end; table++) {
        int64_t m = b->blocks + b->blocks % 2, turn = m - 1, one = table, other = table;
        if (b->round > 0) {
            one = table == 0 ? m - 1 : (b->round + table) % turn;
            other = table == 0 ? b->round % turn : (b->round - table + turn) % turn;
        }
        if (one >= b->blocks || other >= b->blocks)
            continue;
        int64_t low = one < other ? one : other, high = one < other ? other : one;
        meet(b, low * b->block, high * b->block);
    }
    return HUDDLE_OK;
}

static huddle_status play_all(huddle_context *context, brute *b) {
    huddle_status status = HUDDLE_OK;
    int64_t m = b->blocks + b->blocks % 2;
    for (b->round = 0; b->round < m; b->round++) {
        int64_t tables = b->round == 0 ? b->blocks : m / 2;
        TRY(hd_parallel(context, NULL, tables, 1, play, b));
        TRY(hd_progress(context, "graph", (double)b->round + 1, (double)m));
    }
done:
    return status;
}

/* ---- queries ------------------------------------------------------------------------------- */

static const float nowhere[HD_TILE_COLUMNS] = {
    -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1,
    -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1};

/* What to do with a value not above its row's tau. */
typedef void (*hit_function)(brute *b, int64_t i, float value, int64_t j);

static void offer_query(brute *b, int64_t i, float value, int64_t j) {
    if (!hd_search_skips(b->search, i, j))
        offer(b, i, value, j);
}

static void compare_rows(brute *b, int64_t begin, int64_t end, hit_function hit) {
    float out[HD_TILE_ROWS * HD_TILE_COLUMNS];
    hd_tile t = new_tile(b, out);
    t.column_tau = nowhere;
    for (int64_t column = 0; column < b->train.padded; column += HD_TILE_COLUMNS)
        for (int64_t row = begin; row < end; row += HD_TILE_ROWS) {
            unsigned hits = run_tile(b, &t, row, column);
            for (int r = 0; r < HD_TILE_ROWS && hits >> r != 0; r++)
                for (int c = 0; c < HD_TILE_COLUMNS && (hits >> r & 1) != 0; c++) {
                    float value = out[r * HD_TILE_COLUMNS + c];
                    if (value <= b->tau[row + r] && column + c < b->train.n)
                        hit(b, row + r, value, column + c);
                }
        }
}

static huddle_status compare_queries(void *argument, hd_chunk chunk) {
    brute *b = argument;
    compare_rows(b, chunk.begin * HD_TILE_ROWS, chunk.end * HD_TILE_ROWS, offer_query);
    return HUDDLE_OK;
}

/* ---- the last word ------------------------------------------------------------------------- */

/* Computes the candidates' distances in double and decides whether the list stands. */
static void settle_query(brute *b, int64_t i) {
    hd_search *s = b->search;
    double *distance2 = s->distance2 + i * s->k;
    int32_t *index = s->index + i * s->k;
    const int32_t *candidates = b->index + i * b->k;
    for (int32_t c = 0; c < b->k && candidates[c] != INT32_MAX; c++) {
        double value = hd_rows_distance2(s->query, i, s->train, candidates[c], distance2[s->k - 1]);
        hd_list_insert(distance2, index, s->k, value, candidates[c]);
    }
    double limit = hd_packing_limit(&b->packing, b->query->norm[i], distance2[s->k - 1]);
    b->doubtful[i] = !b->exact && !((double)b->tau[i] > limit);
    b->limits[i] = limit;
}

static huddle_status settle_queries(void *argument, hd_chunk chunk) {
    brute *b = argument;
    hd_search_clear(b->search, chunk.begin, chunk.end);
    for (int64_t i = chunk.begin; i < chunk.end; i++)
        settle_query(b, i);
    atomic_fetch_add(&b->search->n_distances, (chunk.end - chunk.begin) * b->k);
    return HUDDLE_OK;
}

/* Looks at a pair in double. Pairs come by ascending j, so once a list is full of zeros nothing
 * can enter it. */
static void look_closely(brute *b, int64_t i, float value, int64_t j) {
    (void)value;
    hd_search *s = b->search;
    double *distance2 = s->distance2 + i * s->k;
    if (distance2[s->k - 1] == 0 || hd_search_skips(s, i, j))
        return;
    double exact = hd_rows_distance2(s->query, i, s->train, j, distance2[s->k - 1]);
    hd_list_insert(distance2, s->index + i * s->k, s->k, exact, (int32_t)j);
}

static huddle_status repeat_queries(void *argument, hd_chunk chunk) {
    brute *b = argument;
    int64_t doubtful = 0;
    /* Tiles hold eight rows, doubtful or not: those that are not ask for nothing. */
    for (int64_t group = chunk.begin; group < chunk.end; group++) {
        int64_t begin = group * HD_TILE_ROWS, end = begin + HD_TILE_ROWS, here = 0;
        for (int64_t i = begin; i < end; i++) {
            bool again = i < b->query->n && b->doubtful[i];
            b->tau[i] = again ? nextafterf((float)b->limits[i], INFINITY) : -1;
            if (again)
                hd_search_clear(b->search, i, i + 1);
            here += again;
        }
        if (here > 0)
            compare_rows(b, begin, end, look_closely);
        doubtful += here;
    }
    atomic_fetch_add(&b->search->n_repeated, doubtful);
    return HUDDLE_OK;
}

/* ---- the solver ---------------------------------------------------------------------------- */

static huddle_status prepare(huddle_context *context, brute *b) {
    huddle_status status = HUDDLE_OK;
    hd_search *s = b->search;
    const hd_rows *others = s->query == s->train ? NULL : s->query;
    TRY(hd_packing_new(context, s->train, others, &b->packing));
    TRY(hd_panels_new(context, s->train, &b->packing, &b->train));
    b->query = &b->train;
    if (others != NULL) {
        TRY(hd_panels_new(context, others, &b->packing, &b->own));
        b->query = &b->own;
    }
    b->exact = hd_panels_exact(&b->packing, &b->train, b->query);
    b->kernel = (b->packing.differences ? tile_differences : tile_products)[hd_cpu_isa()];
    b->k = s->k < INT32_MAX - SPARE ? s->k + SPARE : s->k;
    if (b->k > s->train->n)
        b->k = (int32_t)s->train->n;
    int64_t padded = b->query->padded;
    ALLOC(b->distance2, padded * b->k);
    ALLOC(b->index, padded * b->k);
    ALLOC(b->tau, padded);
    ALLOC(b->doubtful, b->query->n);
    ALLOC(b->limits, b->query->n);
    for (int64_t e = 0; e < padded * b->k; e++) {
        b->distance2[e] = FLT_MAX;
        b->index[e] = INT32_MAX;
    }
    for (int64_t i = 0; i < padded; i++)
        b->tau[i] = i < b->query->n ? FLT_MAX : -1;
done:
    return status;
}

static int64_t block_size(int64_t padded) {
    int64_t block = padded / FEWEST_BLOCKS / HD_TILE_COLUMNS * HD_TILE_COLUMNS;
    return block < HD_TILE_COLUMNS ? HD_TILE_COLUMNS : block > MOST_ROWS ? MOST_ROWS : block;
}

static void release(brute *b) {
    hd_packing_free(&b->packing);
    hd_panels_free(&b->train);
    hd_panels_free(&b->own);
    huddle_free(b->distance2);
    huddle_free(b->index);
    huddle_free(b->tau);
    huddle_free(b->doubtful);
    huddle_free(b->limits);
}

huddle_status hd_search_brute(huddle_context *context, hd_search *search) {
    huddle_status status = HUDDLE_OK;
    brute b = {.search = search};
    enum { GROUPS = QUERIES_PER_CHUNK / HD_TILE_ROWS };
    TRY(prepare(context, &b));
    int64_t groups = b.query->padded / HD_TILE_ROWS;
    if (search->self) {
        b.block = block_size(b.train.padded);
        b.blocks = hd_chunks(b.train.padded, b.block);
        TRY(play_all(context, &b));
    } else {
        TRY(hd_parallel(context, "graph", groups, GROUPS, compare_queries, &b));
    }
    TRY(hd_parallel(context, NULL, b.query->n, QUERIES_PER_CHUNK, settle_queries, &b));
    TRY(hd_parallel(context, NULL, groups, GROUPS, repeat_queries, &b));
done:
    release(&b);
    return status;
}
