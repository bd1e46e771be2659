/* Contingency tables by sorting pairs of labels. Labels may be any integers, not only consecutive
 * ones, so that an array indexed by label is not possible; sorting takes linear time and needs no
 * hash table. */
#include "metrics/table.h"

#include "base/check.h"
#include "base/slabs.h"

#include <math.h>
#include <string.h>

/* ---- sorting ------------------------------------------------------------------------------- */

/* Maps int32_t to uint32_t so that the order is kept: flipping the sign bit puts negative numbers
 * below the others. */
static uint32_t key_of(int32_t label) {
    return (uint32_t)label ^ 0x80000000u;
}

static int32_t label_of(uint32_t key) {
    return (int32_t)(key ^ 0x80000000u);
}

/* Radix sort by bytes, from the lowest. A byte that all keys have in common is only counted, so the
 * usual small labels take two passes. The sorted keys end up in `keys`. Each pass is stable, which
 * makes the order by all bytes correct. */
static void sort_keys(int64_t n, uint64_t *keys, uint64_t *spare) {
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
    sort_keys(n, keys, spare);
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

/* ---- labels of all processes ---------------------------------------------------------------- */

/* Consecutive labels that are exchanged at a time. */
enum { WINDOW = 1024 };

/* The distinct keys of all processes from the sorted distinct keys of this one. The smallest key
 * that is still missing begins a window; the processes then mark which keys of the window they
 * have. Usual labels, 0 .. c - 1, take one step per 1024. A double represents every 32-bit key
 * exactly. */
static huddle_status unite_keys(huddle_context *context, const uint64_t *own, int64_t n_own,
                                uint64_t **keys, int64_t *count) {
    huddle_status status = HUDDLE_OK;
    int64_t capacity = 0, at = 0;
    double present[WINDOW];
    *count = 0;
    for (;;) {
        double first = at < n_own ? (double)own[at] : INFINITY;
        TRY(hd_reduce_min(context, 1, &first));
        if (!isfinite(first))
            break;
        uint64_t begin = (uint64_t)first;
        memset(present, 0, sizeof present);
        for (; at < n_own && own[at] - begin < WINDOW; at++)
            present[own[at] - begin] = 1;
        TRY(hd_reduce_max(context, WINDOW, present));
        if (!hd_grow(keys, &capacity, *count + WINDOW, sizeof **keys))
            FAIL(HUDDLE_NO_MEMORY, "no memory for %lld labels", (long long)(*count + WINDOW));
        for (int64_t k = 0; k < WINDOW; k++)
            if (present[k] > 0)
                (*keys)[(*count)++] = begin + (uint64_t)k;
    }
done:
    return status;
}

/* Labels of all processes are needed for ranks that mean the same everywhere. */
huddle_status hd_metrics_rank_labels(huddle_context *context, int64_t n, const int32_t *labels,
                                     int32_t *ranks, int64_t *count, int32_t **names) {
    huddle_status status = HUDDLE_OK;
    uint64_t *keys = NULL, *spare = NULL;
    ALLOC(keys, n);
    ALLOC(spare, n);
    for (int64_t k = 0; k < n; k++)
        keys[k] = key_of(labels[k]);
    *count = distinct_keys(n, keys, spare);
    if (hd_context_engine(context)->slabs != NULL) {
        /* The own keys become the input of the union, and the array of all keys takes their
         * place. */
        huddle_free(spare);
        spare = keys;
        keys = NULL;
        TRY(unite_keys(context, spare, *count, &keys, count));
    }
    for (int64_t k = 0; k < n; k++)
        ranks[k] = (int32_t)find_key(keys, *count, key_of(labels[k]));
    if (names != NULL)
        ALLOC(*names, *count);
    for (int64_t k = 0; names != NULL && k < *count; k++)
        (*names)[k] = label_of((uint32_t)keys[k]);
done:
    FREE(keys, spare);
    return status;
}

/* ---- counting ------------------------------------------------------------------------------ */

/* Runs of equal pairs become cells, runs of equal classes rows. The columns hold the clusters'
 * labels until they are numbered. The class is in the upper half of a pair, so that the order is by
 * class, then by cluster. */
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
            table->classes[row] = label_of((uint32_t)(pairs[k] >> 32));
            table->row_sums[row] = 0;
        }
        table->counts[cell]++;
        table->row_sums[row]++;
    }
    table->rows = row + 1;
    table->offsets[table->rows] = cell + 1;
}

/* The number of distinct values of sorted pairs, by all bits (shift 0) or by their classes (shift
 * 32). */
static int64_t count_runs(int64_t n, const uint64_t *pairs, int shift) {
    int64_t runs = n > 0;
    for (int64_t k = 1; k < n; k++)
        runs += pairs[k] >> shift != pairs[k - 1] >> shift;
    return runs;
}

/* Ranks the clusters that occur, and replaces labels by ranks. Columns of a row stay ascending,
 * because ranks are ordered as labels are. */
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
        table->clusters[j] = label_of((uint32_t)names[j]);
    for (int64_t e = 0; e < cells; e++) {
        int64_t j = find_key(names, table->cols, found[e]);
        table->columns[e] = (int32_t)j;
        table->col_sums[j] += table->counts[e];
    }
done:
    huddle_free(names);
    return status;
}

/* Allocates a table of these sizes, without columns' sums and labels. */
static huddle_status allocate_table(int64_t rows, int64_t cells, hd_metrics_table *table) {
    huddle_status status = HUDDLE_OK;
    ALLOC(table->counts, cells);
    ALLOC(table->columns, cells);
    ALLOC(table->offsets, rows + 1);
    ALLOC(table->classes, rows);
    ALLOC(table->row_sums, rows);
done:
    return status;
}

/* The table of this process's points: a class and a cluster are packed into one 64-bit key, so that
 * one sort orders the cells by rows and columns. */
static huddle_status count_own_points(int64_t n, const int32_t *truth, const int32_t *labels,
                                      hd_metrics_table *table) {
    huddle_status status = HUDDLE_OK;
    uint64_t *pairs = NULL, *spare = NULL, *found = NULL;
    ALLOC(pairs, n);
    ALLOC(spare, n);
    for (int64_t k = 0; k < n; k++)
        pairs[k] = (uint64_t)key_of(truth[k]) << 32 | key_of(labels[k]);
    sort_keys(n, pairs, spare);
    int64_t cells = count_runs(n, pairs, 0), rows = count_runs(n, pairs, 32);
    ALLOC(found, cells);
    TRY(allocate_table(rows, cells, table));
    table->n = n;
    count_pairs(n, pairs, table, found);
    TRY(number_columns(table, found, spare));
done:
    FREE(pairs, spare, found);
    return status;
}

/* ---- the table of all processes ------------------------------------------------------------- */

/* Adds row i of the table of all processes, row `own_row` of this process's table, which may have
 * no point of the class; every process takes part in the reduction of every row. The labels of its
 * table are numbers of rows and columns. `line` has one count per column. */
static huddle_status add_row(huddle_context *context, const hd_metrics_table *own, int64_t own_row,
                             double *line, hd_metrics_table *all, int64_t *capacity) {
    huddle_status status = HUDDLE_OK;
    int64_t i = all->rows, at = all->offsets[i];
    bool have = own_row < own->rows && own->classes[own_row] == i;
    memset(line, 0, (size_t)all->cols * sizeof *line);
    for (int64_t e = own->offsets[own_row]; have && e < own->offsets[own_row + 1]; e++)
        line[own->clusters[own->columns[e]]] = (double)own->counts[e];
    TRY(hd_reduce_sum(context, all->cols, line));
    if (!hd_grow(&all->counts, &capacity[0], at + all->cols, sizeof *all->counts) ||
        !hd_grow(&all->columns, &capacity[1], at + all->cols, sizeof *all->columns))
        FAIL(HUDDLE_NO_MEMORY, "no memory for %lld cells", (long long)(at + all->cols));
    all->row_sums[i] = 0;
    for (int64_t j = 0; j < all->cols; j++) {
        if (line[j] == 0)
            continue;
        all->columns[at] = (int32_t)j;
        all->counts[at++] = (int64_t)line[j];
        all->row_sums[i] += (int64_t)line[j];
        all->col_sums[j] += (int64_t)line[j];
    }
    all->n += all->row_sums[i];
    all->offsets[++all->rows] = at;
done:
    return status;
}

/* Adds the tables of all processes, one class at a time. Memory is then proportional to the cells
 * that are not 0, and doubles represent the counts exactly. Labels are replaced by their ranks
 * among those of all processes, which are the rows and columns of the table. */
static huddle_status add_tables(huddle_context *context, int64_t n, const int32_t *truth,
                                const int32_t *labels, hd_metrics_table *all) {
    huddle_status status = HUDDLE_OK;
    hd_metrics_table own = {0};
    int64_t rows = 0, capacity[2] = {0};
    int32_t *classes = NULL, *clusters = NULL;
    double *line = NULL;
    ALLOC(classes, n);
    ALLOC(clusters, n);
    TRY(hd_metrics_rank_labels(context, n, truth, classes, &rows, &all->classes));
    TRY(hd_metrics_rank_labels(context, n, labels, clusters, &all->cols, &all->clusters));
    TRY(count_own_points(n, classes, clusters, &own));
    ALLOC_ZERO(all->offsets, rows + 1);
    ALLOC(all->row_sums, rows);
    ALLOC_ZERO(all->col_sums, all->cols);
    ALLOC(line, all->cols);
    for (int64_t i = 0, k = 0; i < rows; i++) {
        TRY(add_row(context, &own, k, line, all, capacity));
        k += k < own.rows && own.classes[k] == i;
    }
    if (all->n < 1 || all->n > INT32_MAX)
        FAIL(HUDDLE_INVALID, "n = %lld labels cannot be scored", (long long)all->n);
done:
    hd_metrics_table_free(&own);
    FREE(classes, clusters, line);
    return status;
}

/* On one process the table of its points is the result; otherwise the tables of all processes are
 * added. */
huddle_status hd_metrics_table_new(huddle_context *context, int64_t n, const int32_t *truth,
                                   const int32_t *labels, hd_metrics_table *table) {
    huddle_status status = HUDDLE_OK;
    memset(table, 0, sizeof *table);
    if (truth == NULL || labels == NULL)
        FAIL(HUDDLE_INVALID, "a labelling is missing");
    /* Of several processes some may have no points. */
    if (n < !hd_slabs_distributed(context) || n > INT32_MAX)
        FAIL(HUDDLE_INVALID, "n = %lld labels cannot be scored", (long long)n);
    TRY(hd_slabs_distributed(context) ? add_tables(context, n, truth, labels, table)
                                      : count_own_points(n, truth, labels, table));
done:
    if (status != HUDDLE_OK)
        hd_metrics_table_free(table);
    return status;
}

void hd_metrics_table_free(hd_metrics_table *table) {
    FREE(table->offsets, table->columns, table->counts, table->row_sums, table->col_sums,
         table->classes, table->clusters);
    memset(table, 0, sizeof *table);
}
