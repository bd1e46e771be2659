/* max(A, A') by merging each row of A with the same row of its transpose, both of which have
 * ascending columns. Two points are adjacent if either is a neighbour of the other (docs/method.md,
 * "Graph A"). If rows are distributed over processes, every entry is sent to the process that holds
 * the row of its column. */
#include "base/check.h"
#include "base/parallel.h"
#include "graph/common.h"
#include "graph/layout.h"

#include <string.h>

/* Rows of a chunk when rows are merged, and columns of a block when the matrix is transposed: the
 * entries of 2^17 rows of a neighbour graph, about 15 MB, stay in the third-level cache. */
enum { MERGE_ROWS = 1 << 12, BLOCK_COLUMNS = 1 << 17 };

typedef struct symmetry {
    const huddle_csr *a;
    int64_t first; /* the number of the first row */
    huddle_csr transpose;
    int32_t *counts; /* entries of each row of the result */
    huddle_csr *graph;
} symmetry;

/* ---- the transpose ------------------------------------------------------------------------- */

/* Counts the entries of the columns of a block. Each block reads all columns of the matrix, which
 * are contiguous, but writes to its own part of the arrays only: blocks can run in parallel, and
 * what they write at random stays in the cache. The result does not depend on the blocks. The price
 * is one pass over the columns for every 2^17 rows. A column before the block wraps to a large
 * unsigned number, so that one comparison tests both ends. */
static huddle_status count_block(void *argument, hd_chunk block) {
    symmetry *s = argument;
    int64_t *offsets = s->transpose.offsets, entries = s->a->offsets[s->a->rows];
    const int32_t *columns = s->a->columns;
    int32_t begin = (int32_t)block.begin, width = (int32_t)(block.end - block.begin);
    for (int64_t e = 0; e < entries; e++)
        if ((uint32_t)(columns[e] - begin) < (uint32_t)width)
            offsets[columns[e] + 1]++;
    return HUDDLE_OK;
}

/* Places the entries of a block, in the order of the rows. next is where the next entry of each
 * column of the block goes. Columns of the transpose therefore ascend, which merge_row() relies on.
 */
static huddle_status place_block(void *argument, hd_chunk block) {
    huddle_status status = HUDDLE_OK;
    symmetry *s = argument;
    const huddle_csr *a = s->a;
    huddle_csr *t = &s->transpose;
    int32_t begin = (int32_t)block.begin, width = (int32_t)(block.end - block.begin);
    int64_t *next = NULL;
    ALLOC(next, width);
    memcpy(next, t->offsets + begin, (size_t)width * sizeof *next);
    for (int64_t i = 0; i < a->rows; i++)
        for (int64_t e = a->offsets[i]; e < a->offsets[i + 1]; e++) {
            int32_t j = a->columns[e] - begin;
            if ((uint32_t)j >= (uint32_t)width)
                continue;
            int64_t place = next[j]++;
            t->columns[place] = (int32_t)i;
            t->values[place] = a->values[e];
        }
done:
    huddle_free(next);
    return status;
}

static huddle_status transpose(huddle_context *context, symmetry *s) {
    huddle_status status = HUDDLE_OK;
    int64_t n = s->a->rows;
    TRY(huddle_csr_new(n, n, s->a->offsets[n], &s->transpose));
    TRY(hd_parallel(context, NULL, n, BLOCK_COLUMNS, count_block, s));
    for (int64_t j = 0; j < n; j++)
        s->transpose.offsets[j + 1] += s->transpose.offsets[j];
    TRY(hd_parallel(context, NULL, n, BLOCK_COLUMNS, place_block, s));
done:
    return status;
}

/* An entry on its way to the process that holds its column. */
typedef struct entry {
    int32_t column, row;
    double value;
} entry;

/* The transpose of a matrix whose rows are distributed. Entries arrive in the order of the
 * processes and of their rows, so that the columns of the transpose ascend. */
static huddle_status transpose_distributed(huddle_context *context, symmetry *s) {
    huddle_status status = HUDDLE_OK;
    const huddle_csr *a = s->a;
    int64_t n = a->rows, count = 0, *next = NULL;
    hd_graph_layout layout = {0};
    entry *sent = NULL;
    void *received = NULL;
    TRY(hd_graph_layout_new(context, n, &layout));
    ALLOC(sent, a->offsets[n]);
    for (int64_t i = 0; i < n; i++)
        for (int64_t e = a->offsets[i]; e < a->offsets[i + 1]; e++)
            sent[e] = (entry){a->columns[e], (int32_t)(s->first + i), a->values[e]};
    TRY(hd_graph_layout_send(&layout, a->offsets[n], sent, sizeof *sent, &received, &count));
    huddle_free(sent);
    sent = NULL;
    const entry *entries = received;
    TRY(huddle_csr_new(n, a->cols, count, &s->transpose));
    for (int64_t e = 0; e < count; e++)
        s->transpose.offsets[entries[e].column - s->first + 1]++;
    for (int64_t i = 0; i < n; i++)
        s->transpose.offsets[i + 1] += s->transpose.offsets[i];
    ALLOC(next, n);
    memcpy(next, s->transpose.offsets, (size_t)n * sizeof *next);
    for (int64_t e = 0; e < count; e++) {
        int64_t place = next[entries[e].column - s->first]++;
        s->transpose.columns[place] = entries[e].row;
        s->transpose.values[place] = entries[e].value;
    }
done:
    hd_graph_layout_free(&layout);
    FREE(sent, received, next);
    return status;
}

/* ---- both directions ----------------------------------------------------------------------- */

/* Merges row i of a and of its transpose b into columns and values; only counts if columns is NULL.
 * Returns the number of entries. A row that has ended continues with a column that no matrix has.
 * An absent entry counts as 0, which no weight is below. */
static int64_t merge_row(const symmetry *s, int64_t i, int32_t *columns, double *values) {
    const huddle_csr *a = s->a, *b = &s->transpose;
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
        if (column == s->first + i || value == 0)
            continue;
        if (columns != NULL) {
            columns[count] = column;
            values[count] = value;
        }
        count++;
    }
    return count;
}

static huddle_status count_rows(void *argument, hd_chunk chunk) {
    symmetry *s = argument;
    for (int64_t i = chunk.begin; i < chunk.end; i++)
        s->counts[i] = (int32_t)merge_row(s, i, NULL, NULL);
    return HUDDLE_OK;
}

static huddle_status merge_rows(void *argument, hd_chunk chunk) {
    symmetry *s = argument;
    for (int64_t i = chunk.begin; i < chunk.end; i++) {
        int64_t at = s->graph->offsets[i];
        merge_row(s, i, s->graph->columns + at, s->graph->values + at);
    }
    return HUDDLE_OK;
}

/* Two passes: counting first needs no array that grows, and rows can then be written in parallel.
 * Otherwise there would have to be room for the entries of both matrices, up to half of which are
 * the same edges. */
huddle_status hd_graph_symmetrize(huddle_context *context, const huddle_csr *a, huddle_csr *graph) {
    huddle_status status = HUDDLE_OK;
    symmetry s = {.a = a, .graph = graph};
    int64_t entries = 0;
    *graph = (huddle_csr){0};
    hd_slab slab;
    TRY(huddle_csr_fetch(a));
    TRY(hd_slab_locate(context, a->rows, &slab));
    s.first = slab.first;
    TRY(hd_slabs_distributed(context) ? transpose_distributed(context, &s)
                                      : transpose(context, &s));
    ALLOC(s.counts, a->rows);
    TRY(hd_parallel(context, NULL, a->rows, MERGE_ROWS, count_rows, &s));
    for (int64_t i = 0; i < a->rows; i++)
        entries += s.counts[i];
    TRY(huddle_csr_new(a->rows, slab.total, entries, graph));
    for (int64_t i = 0; i < a->rows; i++)
        graph->offsets[i + 1] = graph->offsets[i] + s.counts[i];
    TRY(hd_parallel(context, NULL, a->rows, MERGE_ROWS, merge_rows, &s));
done:
    huddle_free(s.counts);
    huddle_csr_free(&s.transpose);
    if (status != HUDDLE_OK)
        huddle_csr_free(graph);
    return status;
}
