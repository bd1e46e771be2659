/* Labels may be any integers, so that an array indexed by label is not possible: they are sorted,
 * which takes linear time. */
#include "matrix/labels.h"

#include "base/check.h"
#include "matrix/collect.h"

#include <math.h>
#include <string.h>

/* ---- sorting ------------------------------------------------------------------------------- */

/* Radix sort by bytes, from the lowest. A byte that all keys have in common is only counted, so the
 * usual small labels take two passes. The sorted keys end up in `keys`. Each pass is stable, which
 * makes the order by all bytes correct. */
void hd_sort_keys(int64_t n, uint64_t *keys, uint64_t *spare) {
    uint64_t *from = keys, *to = spare;
    if (n == 0) /* a process without rows */
        return;
    for (int shift = 0; shift < 64; shift += 8) {
        int64_t places[257] = {0};
        for (int64_t k = 0; k < n; k++)
            places[(from[k] >> shift & 255) + 1]++;
        /* All keys have this byte in common. */
        if (places[(from[0] >> shift & 255) + 1] == n)
            continue;
        for (int b = 0; b < 256; b++)
            places[b + 1] += places[b];
        for (int64_t k = 0; k < n; k++)
            to[places[from[k] >> shift & 255]++] = from[k];
        uint64_t *swap = from;
        from = to;
        to = swap;
    }
    if (from != keys)
        memcpy(keys, from, (size_t)n * sizeof *keys);
}

/* Leaves the distinct keys, sorted, at the front; returns how many. */
static int64_t distinct_keys(int64_t n, uint64_t *keys, uint64_t *spare) {
    int64_t count = 0;
    hd_sort_keys(n, keys, spare);
    for (int64_t k = 0; k < n; k++)
        if (count == 0 || keys[count - 1] != keys[k])
            keys[count++] = keys[k];
    return count;
}

/* The place of a key that is there, by bisection. */
static int64_t find_key(const uint64_t *sorted, int64_t count, uint64_t key) {
    int64_t low = 0, high = count - 1;
    while (low < high) {
        int64_t middle = low + (high - low) / 2;
        if (sorted[middle] < key)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Every process gets the distinct labels of all, so that ranks mean the same everywhere. */
huddle_status hd_rank_labels(huddle_context *context, int64_t n, const int32_t *labels,
                             int32_t *ranks, int64_t *count, int32_t **names) {
    huddle_status status = HUDDLE_OK;
    uint64_t *own = NULL, *spare = NULL;
    void *all = NULL;
    ALLOC(own, n);
    ALLOC(spare, n);
    for (int64_t k = 0; k < n; k++)
        own[k] = hd_label_key(labels[k]);
    *count = distinct_keys(n, own, spare);
    if (hd_slabs_distributed(context)) {
        TRY(hd_collect_rows(context, HD_EVERYWHERE, *count, own, sizeof *own, count, &all));
        huddle_free(spare);
        ALLOC(spare, *count);
        *count = distinct_keys(*count, all, spare);
    }
    const uint64_t *keys = all != NULL ? all : own;
    for (int64_t k = 0; k < n; k++)
        ranks[k] = (int32_t)find_key(keys, *count, hd_label_key(labels[k]));
    if (names != NULL)
        ALLOC(*names, *count);
    for (int64_t k = 0; names != NULL && k < *count; k++)
        (*names)[k] = hd_key_label((uint32_t)keys[k]);
done:
    FREE(own, spare, all);
    return status;
}

/* A counting sort. Sizes are counted two places ahead: their sums are then one place ahead of the
 * beginnings, and have become these when all members are in their places. */
void hd_list_members(int64_t n, const int32_t *labels, int64_t n_labels, int64_t *begin,
                     int32_t *members) {
    memset(begin, 0, (size_t)(n_labels + 2) * sizeof *begin);
    for (int64_t i = 0; i < n; i++)
        begin[labels[i] + 2]++;
    for (int64_t k = 0; k < n_labels; k++)
        begin[k + 2] += begin[k + 1];
    for (int64_t i = 0; i < n; i++)
        members[begin[labels[i] + 1]++] = (int32_t)i;
}

/* Backwards, so that the first row is the one that remains. */
huddle_status hd_find_first_rows(huddle_context *context, int64_t n, const int32_t *labels,
                                 int64_t n_labels, double *first) {
    huddle_status status = HUDDLE_OK;
    hd_slab slab;
    TRY(hd_slab_locate(context, n, &slab));
    for (int64_t k = 0; k < n_labels; k++)
        first[k] = INFINITY;
    for (int64_t i = n - 1; i >= 0; i--)
        first[labels[i]] = (double)(slab.first + i);
    TRY(hd_reduce_min(context, n_labels, first));
done:
    return status;
}
