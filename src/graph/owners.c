/* Rows and the processes that hold them. */
#include "graph/owners.h"

#include "base/check.h"
#include "base/context.h"

#include <string.h>

huddle_status hd_graph_require_passing(const huddle_context *context, const char *what) {
    const hd_engine_slabs *slabs = hd_context_engine(context)->slabs;
    return slabs == NULL || slabs->start_pass != NULL ? HUDDLE_OK : hd_slabs_refuse(context, what);
}

huddle_status hd_graph_owners_new(huddle_context *context, int64_t n, hd_graph_owners *owners) {
    huddle_status status = HUDDLE_OK;
    double *counts = NULL;
    *owners = (hd_graph_owners){
        .context = context, .count = hd_slabs_count(context), .rank = hd_slabs_rank(context)};
    ALLOC_ZERO(counts, owners->count);
    ALLOC(owners->begins, owners->count + 1);
    counts[owners->rank] = (double)n;
    TRY(hd_reduce_sum(context, owners->count, counts));
    owners->begins[0] = 0;
    for (int32_t r = 0; r < owners->count; r++)
        owners->begins[r + 1] = owners->begins[r] + (int64_t)counts[r];
done:
    huddle_free(counts);
    return status;
}

void hd_graph_owners_free(hd_graph_owners *owners) {
    huddle_free(owners->begins);
    *owners = (hd_graph_owners){0};
}

/* The last process whose rows begin at or before the row; empty ones before it are passed over. */
int32_t hd_graph_owner_of(const hd_graph_owners *owners, int64_t row) {
    int32_t low = 0, high = owners->count - 1;
    while (low < high) {
        int32_t middle = low + (high - low + 1) / 2;
        if (owners->begins[middle] <= row)
            low = middle;
        else
            high = middle - 1;
    }
    return low;
}

/* A counting sort by owner, which keeps the order of the records of each. */
huddle_status hd_graph_owners_send(const hd_graph_owners *owners, int64_t count,
                                   const void *records, size_t size, void **received,
                                   int64_t *n_received) {
    huddle_status status = HUDDLE_OK;
    int64_t *sizes = NULL, *came = NULL, *next = NULL, total = 0;
    char *sorted = NULL;
    const char *from = records;
    int32_t row;
    *received = NULL;
    *n_received = 0;
    ALLOC_ZERO(sizes, owners->count);
    ALLOC(came, owners->count);
    ALLOC(next, owners->count);
    ALLOC(sorted, count * (int64_t)size);
    for (int64_t e = 0; e < count; e++) {
        memcpy(&row, from + (size_t)e * size, sizeof row);
        sizes[hd_graph_owner_of(owners, row)] += (int64_t)size;
    }
    for (int32_t r = 0; r < owners->count; r++) {
        next[r] = total;
        total += sizes[r];
    }
    for (int64_t e = 0; e < count; e++) {
        memcpy(&row, from + (size_t)e * size, sizeof row);
        int32_t owner = hd_graph_owner_of(owners, row);
        memcpy(sorted + next[owner], from + (size_t)e * size, size);
        next[owner] += (int64_t)size;
    }
    TRY(hd_slabs_exchange(owners->context, sizes, sorted, came, received));
    for (int32_t r = 0; r < owners->count; r++)
        *n_received += came[r] / (int64_t)size;
done:
    huddle_free(sizes);
    huddle_free(came);
    huddle_free(next);
    huddle_free(sorted);
    return status;
}
