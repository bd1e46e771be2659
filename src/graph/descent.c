/* Neighbour descent (Dong, Moses and Li, Efficient k-nearest neighbor graph construction for
 * generic similarity measures, WWW 2011): neighbours of a point are likely to be neighbours of each
 * other, so they are offered to each other's lists, until few entries change.
 *
 * In a round each point has up to MAX_NEW new and, up to COLUMNS in all, old candidates, from its
 * own list and from the lists that it is in; one tile kernel compares the new ones with all. Pairs
 * of old candidates were compared in a round before. Of more candidates, a hash that depends on the
 * round and the pair chooses, so that the choice is random and independent of all orders. Points
 * are handled in blocks: candidates of a block are chosen while no list changes. */
#include "base/check.h"
#include "base/parallel.h"
#include "graph/approximate.h"

#include <math.h>
#include <string.h>

enum {
    MAX_NEW = 24, /* new candidates of a point, a multiple of the rows of a tile */
    COLUMNS = HD_GRAPH_TILE_COLUMNS, /* candidates in all: what one tile compares */
    BLOCK = 1 << 16,                 /* points */
    POINTS_PER_CHUNK = 256,
};

/* The descent has converged when fewer entries per list changed in a round. */
static const double few_changes = 0.01;

typedef struct descent {
    const hd_graph_ordered_points *points;
    hd_graph_lists *lists;
    uint64_t salt;          /* of the hash: seed and round */
    atomic_llong *offsets;  /* n + 1: where the reverse list of each point begins */
    uint32_t *reverse;      /* twice the point whose list it is, plus 1 if the entry is new */
    int64_t first;          /* of the block */
    int32_t *candidates;    /* block x COLUMNS: new ones, then old ones */
    uint8_t *n_new, *n_all; /* block */
    float *panels;          /* workers x COLUMNS x d */
    atomic_llong changed;
} descent;

/* ---- reverse lists ------------------------------------------------------------------------- */

static huddle_status count_reverse(void *argument, hd_chunk chunk) {
    descent *s = argument;
    const hd_graph_lists *l = s->lists;
    for (int64_t e = chunk.begin * l->k; e < chunk.end * l->k; e++) {
        int32_t position = hd_graph_entry_position(l->entries[e]);
        if (position < l->n)
            atomic_fetch_add_explicit(&s->offsets[position], 1, memory_order_relaxed);
    }
    return HUDDLE_OK;
}

/* The order within a reverse list depends on the threads; it is only read as a set. */
static huddle_status fill_reverse(void *argument, hd_chunk chunk) {
    descent *s = argument;
    const hd_graph_lists *l = s->lists;
    for (int64_t i = chunk.begin; i < chunk.end; i++)
        for (int32_t c = 0; c < l->k; c++) {
            uint64_t entry = l->entries[i * l->k + c];
            int32_t position = hd_graph_entry_position(entry);
            if (position >= l->n)
                continue;
            long long at =
                atomic_fetch_sub_explicit(&s->offsets[position], 1, memory_order_relaxed) - 1;
            s->reverse[at] = (uint32_t)i << 1 | (uint32_t)(entry & 1);
        }
    return HUDDLE_OK;
}

/* Counts, then adds up, then fills from the back: offsets end where they belong. */
static huddle_status make_reverse(huddle_context *context, descent *s) {
    huddle_status status = HUDDLE_OK;
    int64_t n = s->lists->n;
    long long total = 0;
    for (int64_t i = 0; i <= n; i++)
        atomic_store_explicit(&s->offsets[i], 0, memory_order_relaxed);
    TRY(hd_parallel(context, NULL, n, POINTS_PER_CHUNK, count_reverse, s));
    for (int64_t i = 0; i <= n; i++) {
        total += atomic_load_explicit(&s->offsets[i], memory_order_relaxed);
        atomic_store_explicit(&s->offsets[i], total, memory_order_relaxed);
    }
    TRY(hd_parallel(context, NULL, n, POINTS_PER_CHUNK, fill_reverse, s));
done:
    return status;
}

/* ---- candidates ---------------------------------------------------------------------------- */

/* A bounded set of candidates: those of smallest hash, sorted by (hash, position). */
typedef struct choice {
    uint64_t keys[COLUMNS];
    int count, limit;
} choice;

/* A hash of the pair, the same for both of its points (the finaliser of MurmurHash3). */
static uint64_t hash_pair(uint64_t salt, int64_t i, int64_t j) {
    uint64_t low = (uint64_t)(i < j ? i : j), high = (uint64_t)(i < j ? j : i);
    uint64_t h = (low << 32 | high) ^ salt;
    h = (h ^ h >> 33) * 0xff51afd7ed558ccdull;
    h = (h ^ h >> 33) * 0xc4ceb9fe1a85ec53ull;
    return h ^ h >> 33;
}

/* A candidate that is in both lists of a pair is offered twice, and kept once. */
static void add_candidate(choice *c, uint64_t hash, int64_t position) {
    uint64_t key = (hash & ~(uint64_t)UINT32_MAX) | (uint64_t)position;
    int at = c->count;
    while (at > 0 && c->keys[at - 1] > key)
        at--;
    if (at == c->limit || (at > 0 && c->keys[at - 1] == key))
        return;
    if (c->count < c->limit)
        c->count++;
    memmove(c->keys + at + 1, c->keys + at, (size_t)(c->count - 1 - at) * sizeof key);
    c->keys[at] = key;
}

static bool is_chosen(const choice *c, int64_t position) {
    for (int k = 0; k < c->count; k++)
        if ((int64_t)(c->keys[k] & UINT32_MAX) == position)
            return true;
    return false;
}

/* The candidates of point i; entries of its own list that are among the new ones become old. */
static void choose_candidates(const descent *s, int64_t i) {
    const hd_graph_lists *l = s->lists;
    uint64_t *list = l->entries + i * l->k;
    int64_t at = i - s->first;
    choice fresh = {.limit = MAX_NEW}, old = {.limit = COLUMNS};
    long long end = atomic_load_explicit(&s->offsets[i + 1], memory_order_relaxed);
    for (int32_t c = 0; c < l->k; c++) {
        int32_t position = hd_graph_entry_position(list[c]);
        if (position < l->n)
            add_candidate(list[c] & 1 ? &fresh : &old, hash_pair(s->salt, i, position), position);
    }
    for (long long e = atomic_load_explicit(&s->offsets[i], memory_order_relaxed); e < end; e++) {
        int64_t position = s->reverse[e] >> 1;
        add_candidate(s->reverse[e] & 1 ? &fresh : &old, hash_pair(s->salt, i, position), position);
    }
    int32_t *to = s->candidates + at * COLUMNS;
    int count = 0;
    for (int c = 0; c < fresh.count; c++)
        to[count++] = (int32_t)(fresh.keys[c] & UINT32_MAX);
    s->n_new[at] = (uint8_t)count;
    for (int c = 0; c < old.count && count < COLUMNS && fresh.count > 0; c++) {
        int32_t position = (int32_t)(old.keys[c] & UINT32_MAX);
        if (!is_chosen(&fresh, position))
            to[count++] = position;
    }
    s->n_all[at] = (uint8_t)count;
    for (int32_t c = 0; c < l->k; c++)
        if (list[c] & 1 && is_chosen(&fresh, hd_graph_entry_position(list[c])))
            list[c] &= ~(uint64_t)1;
}

static huddle_status choose_block(void *argument, hd_chunk chunk) {
    descent *s = argument;
    for (int64_t i = chunk.begin; i < chunk.end; i++)
        choose_candidates(s, s->first + i);
    return HUDDLE_OK;
}

/* ---- comparisons --------------------------------------------------------------------------- */

/* Offers a pair to both of its lists. */
static void offer_pair(void *argument, int64_t i, int64_t j, float value) {
    const hd_graph_list_pairs *p = argument;
    if (value <= p->tau[i])
        hd_graph_lists_offer(p->lists, p->rows[i], value, p->rows[j]);
    if (value <= p->tau[j])
        hd_graph_lists_offer(p->lists, p->rows[j], value, p->rows[i]);
}

/* Compares the new candidates of a point with all of them, which are the columns of one tile; the
 * new ones are its rows. Padding columns are at infinity, and hits need a tau that is not. */
static void compare_candidates(const descent *s, int64_t at, float *values) {
    float base[COLUMNS], tau[COLUMNS];
    const int32_t *candidates = s->candidates + at * COLUMNS;
    hd_graph_list_pairs pairs = {s->lists, candidates, candidates, tau};
    hd_graph_panels all =
        hd_graph_ordered_points_pack(s->points, candidates, s->n_all[at], values, base);
    hd_graph_panels fresh = all;
    fresh.n = s->n_new[at];
    fresh.padded = hd_chunks(fresh.n, HD_GRAPH_TILE_ROWS) * HD_GRAPH_TILE_ROWS;
    hd_graph_lists_compare(&pairs, s->points, &fresh, &all, offer_pair);
}

static huddle_status compare_block(void *argument, hd_chunk chunk) {
    const descent *s = argument;
    float *panels = s->panels + chunk.worker * COLUMNS * s->points->d;
    for (int64_t at = chunk.begin; at < chunk.end; at++)
        if (s->n_new[at] > 0 && s->n_all[at] > 1)
            compare_candidates(s, at, panels);
    return HUDDLE_OK;
}

/* ---- rounds -------------------------------------------------------------------------------- */

static huddle_status count_new(void *argument, hd_chunk chunk) {
    descent *s = argument;
    long long changed = 0;
    for (int64_t e = chunk.begin * s->lists->k; e < chunk.end * s->lists->k; e++)
        changed += (long long)(s->lists->entries[e] & 1);
    atomic_fetch_add(&s->changed, changed);
    return HUDDLE_OK;
}

static huddle_status run_round(huddle_context *context, descent *s) {
    huddle_status status = HUDDLE_OK;
    int64_t n = s->points->n;
    TRY(make_reverse(context, s));
    for (s->first = 0; s->first < n; s->first += BLOCK) {
        int64_t size = n - s->first < BLOCK ? n - s->first : BLOCK;
        TRY(hd_parallel(context, NULL, size, POINTS_PER_CHUNK, choose_block, s));
        TRY(hd_parallel(context, NULL, size, POINTS_PER_CHUNK, compare_block, s));
    }
    atomic_store(&s->changed, 0);
    TRY(hd_parallel(context, NULL, n, POINTS_PER_CHUNK, count_new, s));
done:
    return status;
}

huddle_status hd_graph_descend(huddle_context *context, const hd_graph_ordered_points *points,
                               uint64_t seed, int32_t round, hd_graph_lists *lists,
                               bool *converged) {
    huddle_status status = HUDDLE_OK;
    descent s = {.points = points, .lists = lists};
    int64_t n = points->n, block = n < BLOCK ? n : BLOCK;
    s.salt = seed ^ ((uint64_t)round + 1) * 0x9e3779b97f4a7c15ull;
    ALLOC(s.offsets, n + 1);
    ALLOC(s.reverse, n * lists->k);
    ALLOC(s.candidates, block * COLUMNS);
    ALLOC(s.n_new, block);
    ALLOC(s.n_all, block);
    /* Cleared: the kernel reads all columns. */
    ALLOC_ZERO(s.panels, hd_workers(context) * COLUMNS * points->d);
    TRY(run_round(context, &s));
    *converged = (double)atomic_load(&s.changed) < few_changes * (double)n;
done:
    huddle_free((void *)s.offsets);
    FREE(s.reverse, s.candidates, s.n_new, s.n_all, s.panels);
    return status;
}
