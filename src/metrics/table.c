/* Contingency tables by sorting pairs of labels. Labels may be any integers, not only consecutive
 * ones, so that an array indexed by label is not possible; sorting takes linear time and needs no
 * hash table. */
#include "metrics/table.h"

#include "base/check.h"
#include "base/slabs.h"
#include "matrix/labels.h"

#include <string.h>

/* ---- counting ------------------------------------------------------------------------------ */

/* Runs of equal pairs become cells, runs of equal classes rows. The columns are the clusters'
 * labels until they are numbered. The class is in the upper half of a pair, so that the order is by
 * class, then by cluster. */
static void count_pairs(int64_t n, const uint64_t *pairs, hd_metrics_table *table) {
    int64_t cell = -1, row = -1;
    for (int64_t k = 0; k < n; k++) {
        if (k == 0 || pairs[k] != pairs[k - 1]) {
            cell++;
            table->counts[cell] = 0;
            table->columns[cell] = hd_key_label((uint32_t)pairs[k]);
        }
        if (k == 0 || pairs[k] >> 32 != pairs[k - 1] >> 32) {
            row++;
            table->offsets[row] = cell;
            table->classes[row] = hd_key_label((uint32_t)(pairs[k] >> 32));
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

/* The table of this process's points: a class and a cluster are packed into one 64-bit key, so that
 * one sort orders the cells by rows and columns. Columns of a row stay ascending when labels become
 * ranks, which are ordered as labels are. */
static huddle_status count_own_points(int64_t n, const int32_t *truth, const int32_t *labels,
                                      hd_metrics_table *table) {
    huddle_status status = HUDDLE_OK;
    uint64_t *pairs = NULL, *spare = NULL;
    ALLOC(pairs, n);
    ALLOC(spare, n);
    for (int64_t k = 0; k < n; k++)
        pairs[k] = (uint64_t)hd_label_key(truth[k]) << 32 | hd_label_key(labels[k]);
    hd_sort_keys(n, pairs, spare);
    int64_t cells = count_runs(n, pairs, 0), rows = count_runs(n, pairs, 32);
    ALLOC(table->counts, cells);
    ALLOC(table->columns, cells);
    ALLOC(table->offsets, rows + 1);
    ALLOC(table->classes, rows);
    ALLOC(table->row_sums, rows);
    table->n = n;
    count_pairs(n, pairs, table);
    TRY(hd_rank_labels(NULL, cells, table->columns, table->columns, &table->cols,
                       &table->clusters));
    ALLOC_ZERO(table->col_sums, table->cols);
    for (int64_t e = 0; e < cells; e++)
        table->col_sums[table->columns[e]] += table->counts[e];
done:
    FREE(pairs, spare);
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
    TRY(hd_rank_labels(context, n, truth, classes, &rows, &all->classes));
    TRY(hd_rank_labels(context, n, labels, clusters, &all->cols, &all->clusters));
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
