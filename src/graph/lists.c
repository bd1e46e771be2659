/* The lists of the approximate search. */
#include "base/check.h"
#include "graph/approximate.h"

#include <float.h>
#include <math.h>
#include <sched.h>
#include <string.h>

/* An empty entry has the largest float as its value and a position that no point has. Bits of
 * floats that are not negative are in the order of the floats, so that entries are in that of
 * (value, position). */
static uint64_t make_entry(float value, int64_t position, bool is_new) {
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return (uint64_t)bits << 32 | (uint64_t)position << 1 | is_new;
}

static uint64_t empty_entry(void) {
    return make_entry(FLT_MAX, INT32_MAX, false);
}

huddle_status hd_graph_lists_new(int64_t n, int32_t k, hd_graph_lists *lists) {
    huddle_status status = HUDDLE_OK;
    *lists = (hd_graph_lists){.n = n, .k = k};
    ALLOC(lists->entries, n * k);
    ALLOC(lists->tau, n);
    ALLOC(lists->locked, n);
    for (int64_t e = 0; e < n * k; e++)
        lists->entries[e] = empty_entry();
    for (int64_t i = 0; i < n; i++) {
        /* Not infinity, the distance of padding, which must not be a hit. */
        atomic_init(&lists->tau[i], FLT_MAX);
        atomic_flag_clear(&lists->locked[i]);
    }
done:
    return status;
}

void hd_graph_lists_free(hd_graph_lists *lists) {
    huddle_free(lists->entries);
    huddle_free((void *)lists->tau);
    huddle_free((void *)lists->locked);
    *lists = (hd_graph_lists){0};
}

huddle_status hd_graph_lists_extend(hd_graph_lists *lists, int32_t k) {
    huddle_status status = HUDDLE_OK;
    uint64_t *entries = NULL;
    if (k <= lists->k)
        return status;
    ALLOC(entries, lists->n * k);
    for (int64_t i = 0; i < lists->n; i++) {
        /* Entries keep their marks, so that pairs of old ones are not compared again. */
        memcpy(entries + i * k, lists->entries + i * lists->k, (size_t)lists->k * sizeof *entries);
        for (int32_t c = lists->k; c < k; c++)
            entries[i * k + c] = empty_entry();
        atomic_store_explicit(&lists->tau[i], FLT_MAX, memory_order_relaxed); /* not full */
    }
    huddle_free(lists->entries);
    lists->entries = entries;
    lists->k = k;
done:
    return status;
}

/* An entry that is there already has the same value, because the value of a pair always has the
 * same bits; it may differ in whether it is new. tau is read without the lock: one that is out of
 * date is too large and lets an offer through, which is refused here. */
bool hd_graph_lists_insert(hd_graph_lists *lists, int64_t i, float value, int64_t position) {
    uint64_t *list = lists->entries + i * lists->k;
    uint64_t entry = make_entry(value, position, true);
    int32_t at = lists->k;
    while (at > 0 && list[at - 1] > entry)
        at--;
    /* The new mark is the lowest bit, so that an old entry of the same position is right before. */
    if (at == lists->k || (at > 0 && list[at - 1] >> 1 == entry >> 1))
        return false;
    memmove(list + at + 1, list + at, (size_t)(lists->k - 1 - at) * sizeof *list);
    list[at] = entry;
    atomic_store_explicit(&lists->tau[i], hd_graph_entry_value(list[lists->k - 1]),
                          memory_order_relaxed);
    return true;
}

/* A lock is held for some ten nanoseconds; a thread that finds it taken for longer waits for one
 * that was interrupted. */
void hd_graph_lists_offer(hd_graph_lists *lists, int64_t i, float value, int64_t position) {
    enum { SPINS = 100 };
    for (int spins = 0; atomic_flag_test_and_set_explicit(&lists->locked[i], memory_order_acquire);
         spins++)
        if (spins >= SPINS)
            sched_yield();
    hd_graph_lists_insert(lists, i, value, position);
    atomic_flag_clear_explicit(&lists->locked[i], memory_order_release);
}

/* Padding has a tau of -infinity. If the rows are other points than the columns, they alone have
 * lists, and a tau each. */
void hd_graph_lists_compare(hd_graph_list_pairs *pairs, const hd_graph_ordered_points *points,
                            const hd_graph_panels *rows, const hd_graph_panels *columns,
                            hd_graph_hit_function hit) {
    const hd_graph_panels *all = pairs->rows == pairs->columns ? columns : rows;
    _Atomic float *tau = pairs->lists->tau;
    hd_graph_tiles tiles = {.rows = rows,
                            .columns = columns,
                            .kernel = points->kernel,
                            .tau = pairs->tau,
                            .hit = hit,
                            .argument = pairs};
    for (int64_t i = 0; i < all->padded; i++)
        pairs->tau[i] = i < all->n
                            ? atomic_load_explicit(&tau[pairs->rows[i]], memory_order_relaxed)
                            : -INFINITY;
    if (all == columns)
        hd_graph_tiles_pairs(&tiles);
    else
        hd_graph_tiles_sweep(&tiles, 0, rows->padded);
}

/* There are more entries than neighbours to be found, because distances in double may have another
 * order than those of float. */
void hd_graph_lists_verify(const hd_graph_lists *lists, int64_t list,
                           const hd_graph_ordered_points *points, int64_t i,
                           const hd_graph_search *s) {
    for (int32_t c = 0; c < lists->k; c++) {
        int32_t position = hd_graph_entry_position(lists->entries[list * lists->k + c]);
        /* Empty entries are the largest, hence the last. */
        if (position >= points->n)
            break;
        hd_graph_search_compare(s, i, points->order[position]);
    }
}
