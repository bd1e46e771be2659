/* max(A, A') by merging each row of A with the same row of its transpose, both of which have
 * ascending columns. Two points are adjacent if either is a neighbour of the other (docs/method.md,
 * "Graph A"). */
#include "graph/symmetrize.h"

#include "base/check.h"

/* Merges row i of a and of its transpose b into columns and values; only counts if columns is NULL.
 * Returns the number of entries. */
static int64_t merge_row(const huddle_csr *a, const huddle_csr *b, int64_t i, int32_t *columns,
                         double *values) {
    int64_t p = a->offsets[i], q = b->offsets[i], count = 0;
    while (p < a->offsets[i + 1] || q < b->offsets[i + 1]) {
        int32_t cp = p < a->offsets[i + 1] ? a->columns[p] : INT32_MAX;
        int32_t cq = q < b->offsets[i + 1] ? b->columns[q] : INT32_MAX;
        int32_t column = cp < cq ? cp : cq;
        double value = 0;
        if (cp == column)
            value = a->values[p++];
        if (cq == column) {
            value = value > b->values[q] ? value : b->values[q];
            q++;
        }
        /* Loops and explicit zeros are no edges. */
        if (column == i || value == 0)
            continue;
        if (columns != NULL) {
            columns[count] = column;
            values[count] = value;
        }
        count++;
    }
    return count;
}

huddle_status hd_graph_symmetrize(const huddle_csr *a, huddle_csr *graph) {
    huddle_status status = HUDDLE_OK;
    huddle_csr b = {0};
    int64_t entries = 0;
    *graph = (huddle_csr){0};
    TRY(huddle_csr_transpose(a, &b));
    /* Two passes: counting first needs no array that grows, and no more memory than the result. */
    for (int64_t i = 0; i < a->rows; i++)
        entries += merge_row(a, &b, i, NULL, NULL);
    TRY(huddle_csr_new(a->rows, a->rows, entries, graph));
    for (int64_t i = 0; i < a->rows; i++) {
        int64_t at = graph->offsets[i];
        graph->offsets[i + 1] = at + merge_row(a, &b, i, graph->columns + at, graph->values + at);
    }
done:
    huddle_csr_free(&b);
    return status;
}
