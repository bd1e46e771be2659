/* One-to-one mappings of rows to columns. */
#ifndef HUDDLE_SRC_METRICS_MATCH_H
#define HUDDLE_SRC_METRICS_MATCH_H

#include "huddle/matrix.h"
#include "metrics/table.h"

/* The mapping with the largest sum of the values of matched cells: col_of[i] for each row,
 * row_of[j] for each column, -1 for those without one; min(rows, cols) are matched. Either may be
 * NULL. Cells that are not stored are 0. complete: every cell is stored, and values may be
 * negative; otherwise they are positive. */
huddle_status hd_metrics_match(const huddle_csr *cells, bool complete, int32_t *col_of,
                               int32_t *row_of);

#endif
