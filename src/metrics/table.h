/* The contingency table of two labellings. It is sparse, because it has at most n cells that are
 * not 0, whereas thousands of classes times thousands of clusters are many more. */
#ifndef HUDDLE_SRC_METRICS_TABLE_H
#define HUDDLE_SRC_METRICS_TABLE_H

#include "huddle/base.h"

/* Row i is the i-th smallest class, column j the j-th smallest cluster. The cells of row i are
 * offsets[i] .. offsets[i + 1] - 1, columns ascending, counts positive. All numbers are those of
 * the points of all processes. */
typedef struct hd_metrics_table {
    int64_t n, rows, cols;
    int64_t *offsets;
    int32_t *columns;
    int64_t *counts;
    int64_t *row_sums, *col_sums;
    int32_t *classes, *clusters; /* the labels of rows and columns */
} hd_metrics_table;

huddle_status hd_metrics_table_new(huddle_context *context, int64_t n, const int32_t *truth,
                                   const int32_t *labels, hd_metrics_table *table);
void hd_metrics_table_free(hd_metrics_table *table);

/* Best one-to-one mapping: row_of[j] for each column j so that the sum of the matched counts is
 * largest. Exactly min(rows, cols) columns are matched, the others are -1. */
huddle_status hd_metrics_table_match(const hd_metrics_table *table, int32_t *row_of);

#endif
