/* Contingency tables by sorting pairs of labels. Labels may be any integers, not only consecutive
 * ones, so that an array indexed by label is not possible; sorting takes linear time and needs no
 * hash table. */
#include "metrics/table.h"

#include "base/check.h"
#include "matrix/collect.h"
#include "matrix/labels.h"

#include <stdlib.h>
#include <string.h>

/* A cell whose row and column are not known yet. The key of the class is in the upper half of its
 * key, so that the order is by class, then by cluster. */
typedef struct cell {
    uint64_t key;
    int64_t count;
} cell;

/* The cells of this process's points, in order: a class and a cluster are packed into one 64-bit
 * key, so that one sort orders them. */
static huddle_status count_points(int64_t n, const int32_t *truth, const int32_t *labels,
                                  cell **cells, int64_t *count) {
    huddle_status status = HUDDLE_OK;
    uint64_t *pairs = NULL, *spare = NULL;
    ALLOC(pairs, n);
    ALLOC(spare, n);
    for (int64_t k = 0; k < n; k++)
        pairs[k] = (uint64_t)hd_label_key(truth[k]) << 32 | hd_label_key(labels[k]);
    hd_sort_keys(n, pairs, spare);
    *count = 0;
    /* Counted first: there are usually far fewer cells than pairs. */
    for (int64_t k = 0; k < n; k++)
        *count += k == 0 || pairs[k] != pairs[k - 1];
    ALLOC_ZERO(*cells, *count);
    for (int64_t k = 0, at = -1; k < n; k++) {
        at += k == 0 || pairs[k] != pairs[k - 1];
        (*cells)[at].key = pairs[k];
        (*cells)[at].count++;
    }
done:
    FREE(pairs, spare);
    return status;
}

static int by_key(const void *a, const void *b) {
    uint64_t x = ((const cell *)a)->key, y = ((const cell *)b)->key;
    return (x > y) - (x < y);
}

/* Adds up the cells of all processes, in which a key occurs once for each process that has such
 * points. Returns how many are left. */
static int64_t merge_cells(int64_t n, cell *cells) {
    int64_t count = 0;
    qsort(cells, (size_t)n, sizeof *cells, by_key);
    for (int64_t k = 0; k < n; k++)
        if (count > 0 && cells[count - 1].key == cells[k].key)
            cells[count - 1].count += cells[k].count;
        else
            cells[count++] = cells[k];
    return count;
}

/* Runs of equal classes become rows. Columns of a row stay ascending when clusters are replaced by
 * their ranks, which are ordered as labels are. */
static huddle_status fill_table(int64_t count, const cell *cells, hd_metrics_table *table) {
    huddle_status status = HUDDLE_OK;
    int64_t rows = 0;
    for (int64_t e = 0; e < count; e++)
        rows += e == 0 || cells[e].key >> 32 != cells[e - 1].key >> 32;
    ALLOC(table->counts, count);
    ALLOC(table->columns, count);
    ALLOC(table->offsets, rows + 1);
    ALLOC(table->classes, rows);
    ALLOC_ZERO(table->row_sums, rows);
    for (int64_t e = 0, row = -1; e < count; e++) {
        if (e == 0 || cells[e].key >> 32 != cells[e - 1].key >> 32) {
            table->offsets[++row] = e;
            table->classes[row] = hd_key_label((uint32_t)(cells[e].key >> 32));
        }
        table->columns[e] = hd_key_label((uint32_t)cells[e].key);
        table->counts[e] = cells[e].count;
        table->row_sums[row] += cells[e].count;
        table->n += cells[e].count;
    }
    table->rows = rows;
    table->offsets[rows] = count;
    TRY(hd_rank_labels(NULL, count, table->columns, table->columns, &table->cols,
                       &table->clusters));
    ALLOC_ZERO(table->col_sums, table->cols);
    for (int64_t e = 0; e < count; e++)
        table->col_sums[table->columns[e]] += table->counts[e];
done:
    return status;
}

/* Processes exchange cells, which are few beside points: memory is proportional to those that are
 * not 0. All sort the same cells, so that rows and columns mean the same everywhere; the cells of
 * one process are in order already. */
huddle_status hd_metrics_table_new(huddle_context *context, int64_t n, const int32_t *truth,
                                   const int32_t *labels, hd_metrics_table *table) {
    huddle_status status = HUDDLE_OK;
    bool distributed = hd_slabs_distributed(context);
    cell *own = NULL;
    void *all = NULL;
    int64_t n_own, count;
    memset(table, 0, sizeof *table);
    if (truth == NULL || labels == NULL)
        FAIL(HUDDLE_INVALID, "a labelling is missing");
    /* Of several processes some may have no points. */
    if (n < !distributed || n > INT32_MAX)
        FAIL(HUDDLE_INVALID, "n = %lld labels cannot be scored", (long long)n);
    TRY(count_points(n, truth, labels, &own, &n_own));
    if (!distributed) {
        TRY(fill_table(n_own, own, table));
        goto done;
    }
    TRY(hd_collect_rows(context, HD_EVERYWHERE, n_own, own, sizeof *own, &count, &all));
    TRY(fill_table(merge_cells(count, all), all, table));
    if (table->n < 1 || table->n > INT32_MAX)
        FAIL(HUDDLE_INVALID, "n = %lld labels cannot be scored", (long long)table->n);
done:
    FREE(own, all);
    if (status != HUDDLE_OK)
        hd_metrics_table_free(table);
    return status;
}

void hd_metrics_table_free(hd_metrics_table *table) {
    FREE(table->offsets, table->columns, table->counts, table->row_sums, table->col_sums,
         table->classes, table->clusters);
    memset(table, 0, sizeof *table);
}
