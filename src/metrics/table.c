#include "metrics/table.h"

#include "base/check.h"

#include <string.h>

/* ---- sorting ------------------------------------------------------------------------------- */

/* An integer's order kept as an unsigned one's. */
static uint32_t lift(int32_t label) {
    return (uint32_t)label ^ 0x80000000u;
}

static int32_t lower(uint32_t key) {
    return (int32_t)(key ^ 0x80000000u);
}

/* Radix sort by bytes, from the lowest. A byte that all keys share costs one look, so the usual
 * small labels take two passes. The sorted keys end in `keys`. */
static void sort_keys(int64_t n, uint64_t *keys, uint64_t *spare) {
    uint64_t *from = keys, *to = spare;
    for (int shift = 0; shift < 64; shift += 8) {
        int64_t places[257] = {0};
        for (int64_t k = 0; k < n; k++)
            places[(from[k] >> shift & 255) + 1]++;
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
    sort_keys(n, keys, spare);
    for (int64_t k = 0; k < n; k++)
        if (count == 0 || keys[count - 1] != keys[k])
            keys[count++] = keys[k];
    return count;
}

static int64_t find(const uint64_t *sorted, int64_t count, uint64_t key) {
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

huddle_status hd_metrics_rank_labels(int64_t n, const int32_t *labels, int32_t *ranks,
                                     int64_t *count) {
    huddle_status status = HUDDLE_OK;
    uint64_t *keys = NULL, *spare = NULL;
    ALLOC(keys, n);
    ALLOC(spare, n);
    for (int64_t k = 0; k < n; k++)
        keys[k] = lift(labels[k]);
    *count = distinct_keys(n, keys, spare);
    for (int64_t k = 0; k < n; k++)
        ranks[k] = (int32_t)find(keys, *count, lift(labels[k]));
done:
    huddle_free(keys);
    huddle_free(spare);
    return status;
}

/* ---- counting ------------------------------------------------------------------------------ */

/* Runs of equal pairs become cells, runs of equal classes rows. The columns hold the clusters'
 * labels until they are numbered. */
static void count_pairs(int64_t n, const uint64_t *pairs, hd_metrics_table *table,
                        uint64_t *found) {
    int64_t cell = -1, row = -1;
    for (int64_t k = 0; k < n; k++) {
        if (k == 0 || pairs[k] != pairs[k - 1]) {
            cell++;
            table->counts[cell] = 0;
            found[cell] = (uint32_t)pairs[k];
        }
        if (k == 0 || pairs[k] >> 32 != pairs[k - 1] >> 32) {
            row++;
            table->offsets[row] = cell;
            table->classes[row] = lower((uint32_t)(pairs[k] >> 32));
            table->row_sums[row] = 0;
        }
        table->counts[cell]++;
        table->row_sums[row]++;
    }
    table->rows = row + 1;
    table->offsets[table->rows] = cell + 1;
}

static int64_t count_runs(int64_t n, const uint64_t *pairs, int shift) {
    int64_t runs = 1;
    for (int64_t k = 1; k < n; k++)
        runs += pairs[k] >> shift != pairs[k - 1] >> shift;
    return runs;
}

static huddle_status number_columns(hd_metrics_table *table, uint64_t *found, uint64_t *spare) {
    huddle_status status = HUDDLE_OK;
    uint64_t *names = NULL;
    int64_t cells = table->offsets[table->rows];
    ALLOC(names, cells);
    memcpy(names, found, (size_t)cells * sizeof *names);
    table->cols = distinct_keys(cells, names, spare);
    ALLOC(table->clusters, table->cols);
    ALLOC_ZERO(table->col_sums, table->cols);
    for (int64_t j = 0; j < table->cols; j++)
        table->clusters[j] = lower((uint32_t)names[j]);
    for (int64_t e = 0; e < cells; e++) {
        int64_t j = find(names, table->cols, found[e]);
        table->columns[e] = (int32_t)j;
        table->col_sums[j] += table->counts[e];
    }
done:
    huddle_free(names);
    return status;
}

huddle_status hd_metrics_table_new(int64_t n, const int32_t *truth, const int32_t *labels,
                                   hd_metrics_table *table) {
    huddle_status status = HUDDLE_OK;
    uint64_t *pairs = NULL, *spare = NULL, *found = NULL;
    memset(table, 0, sizeof *table);
    if (truth == NULL || labels == NULL)
        FAIL(HUDDLE_INVALID, "a labelling is missing");
    if (n < 1 || n > INT32_MAX)
        FAIL(HUDDLE_INVALID, "n = %lld labels cannot be scored", (long long)n);
    ALLOC(pairs, n);
    ALLOC(spare, n);
    for (int64_t k = 0; k < n; k++)
        pairs[k] = (uint64_t)lift(truth[k]) << 32 | lift(labels[k]);
    sort_keys(n, pairs, spare);
    int64_t cells = count_runs(n, pairs, 0), rows = count_runs(n, pairs, 32);
    ALLOC(found, cells);
    ALLOC(table->counts, cells);
    ALLOC(table->columns, cells);
    ALLOC(table->offsets, rows + 1);
    ALLOC(table->classes, rows);
    ALLOC(table->row_sums, rows);
    table->n = n;
    count_pairs(n, pairs, table, found);
    TRY(number_columns(table, found, spare));
done:
    huddle_free(pairs);
    huddle_free(spare);
    huddle_free(found);
    if (status != HUDDLE_OK)
        hd_metrics_table_free(table);
    return status;
}

void hd_metrics_table_free(hd_metrics_table *table) {
    huddle_free(table->offsets);
    huddle_free(table->columns);
    huddle_free(table->counts);
    huddle_free(table->row_sums);
    huddle_free(table->col_sums);
    huddle_free(table->classes);
    huddle_free(table->clusters);
    memset(table, 0, sizeof *table);
}
