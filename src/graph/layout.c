/* The layout of distributed rows. */
#include "graph/layout.h"

#include "base/check.h"
#include "base/context.h"

#include <string.h>

/* Without slabs there is nothing to pass on; with them, start_pass() tells whether the engine can.
 */
huddle_status hd_graph_require_passing(const huddle_context *context, const char *what) {
    const hd_engine_slabs *slabs = hd_context_engine(context)->slabs;
    return slabs == NULL || slabs->start_pass != NULL ? HUDDLE_OK : hd_slabs_refuse(context, what);
}

huddle_status hd_graph_layout_new(huddle_context *context, int64_t n, hd_graph_layout *layout) {
    huddle_status status = HUDDLE_OK;
    double *counts = NULL;
    *layout = (hd_graph_layout){
        .context = context, .count = hd_slabs_count(context), .rank = hd_slabs_rank(context)};
    ALLOC_ZERO(counts, layout->count);
    ALLOC(layout->offsets, layout->count + 1);
    /* Every process adds its count to zeros, which is exact below 2^53. */
    counts[layout->rank] = (double)n;
    TRY(hd_reduce_sum(context, layout->count, counts));
    layout->offsets[0] = 0;
    for (int32_t r = 0; r < layout->count; r++)
        layout->offsets[r + 1] = layout->offsets[r] + (int64_t)counts[r];
done:
    huddle_free(counts);
    return status;
}

void hd_graph_layout_free(hd_graph_layout *layout) {
    huddle_free(layout->offsets);
    *layout = (hd_graph_layout){0};
}

/* The last process whose rows begin at or before the row; empty ones before it are passed over. It
 * is always one of low .. high. The middle is rounded up, so that low = middle leaves fewer of
 * them. */
int32_t hd_graph_layout_owner(const hd_graph_layout *layout, int64_t row) {
    int32_t low = 0, high = layout->count - 1;
    while (low < high) {
        int32_t middle = low + (high - low + 1) / 2;
        if (layout->offsets[middle] <= row)
            low = middle;
        else
            high = middle - 1;
    }
    return low;
}

/* Engines count bytes; sizes are whole records, so that the division has no remainder. */
huddle_status hd_graph_exchange_records(huddle_context *context, const int64_t *sent,
                                        const void *records, int64_t size, int64_t *received_from,
                                        void **received) {
    huddle_status status = HUDDLE_OK;
    int32_t count = hd_slabs_count(context);
    int64_t *bytes = NULL, *received_bytes = NULL;
    ALLOC(bytes, count);
    ALLOC(received_bytes, count);
    for (int32_t r = 0; r < count; r++)
        bytes[r] = sent[r] * size;
    TRY(hd_slabs_exchange(context, bytes, records, received_bytes, received));
    for (int32_t r = 0; r < count && received_from != NULL; r++)
        received_from[r] = received_bytes[r] / size;
done:
    FREE(bytes, received_bytes);
    return status;
}

/* A counting sort by owner, which keeps the order of the records of each. Owners are searched for
 * twice, in log2 of the number of processes, which saves an array of them. Records may have any
 * alignment, so that numbers are copied out of them. */
huddle_status hd_graph_layout_send(const hd_graph_layout *layout, int64_t count,
                                   const void *records, size_t size, void **received,
                                   int64_t *n_received) {
    huddle_status status = HUDDLE_OK;
    int64_t *counts = NULL, *received_counts = NULL, *next = NULL, total = 0;
    char *sorted = NULL;
    const char *from = records;
    int32_t row;
    *received = NULL;
    *n_received = 0;
    ALLOC_ZERO(counts, layout->count);
    ALLOC(received_counts, layout->count);
    ALLOC(next, layout->count);
    ALLOC(sorted, count * (int64_t)size);
    for (int64_t e = 0; e < count; e++) {
        memcpy(&row, from + (size_t)e * size, sizeof row);
        counts[hd_graph_layout_owner(layout, row)]++;
    }
    for (int32_t r = 0; r < layout->count; r++) {
        next[r] = total; /* the place of its next record */
        total += counts[r];
    }
    for (int64_t e = 0; e < count; e++) {
        memcpy(&row, from + (size_t)e * size, sizeof row);
        int64_t place = next[hd_graph_layout_owner(layout, row)]++;
        memcpy(sorted + (size_t)place * size, from + (size_t)e * size, size);
    }
    /* Records for own rows are exchanged too: all arrive in the order of the processes. */
    TRY(hd_graph_exchange_records(layout->context, counts, sorted, (int64_t)size, received_counts,
                                  received));
    for (int32_t r = 0; r < layout->count; r++)
        *n_received += received_counts[r];
done:
    FREE(counts, received_counts, next, sorted);
    return status;
}
