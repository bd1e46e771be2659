/* Rows that are moved to other processes for a while, so that rows joined by edges of a graph are
 * on one process: sparse products then fetch few rows, and a component can be solved where it is
 * whole. Results are moved back, so that callers see the rows they gave. Without slabs rows stay
 * where they are, in another order.
 *
 *     TRY(hd_arrange_open(context, graph, owner, true, &a));
 *     TRY(hd_arrange_rows(&a, rows, row_size, moved));       n rows -> a.moved rows
 *     ... compute with &a.graph ...
 *     TRY(hd_arrange_back(&a, moved, row_size, rows));       a.moved rows -> n rows
 *     hd_arrange_close(&a); */
#ifndef HUDDLE_SRC_MATRIX_ARRANGE_H
#define HUDDLE_SRC_MATRIX_ARRANGE_H

#include "base/slabs.h"
#include "huddle/matrix.h"

typedef struct hd_arrangement {
    huddle_context *context;
    int64_t n, moved;     /* rows of this process before and after */
    huddle_csr graph;     /* moved rows, columns numbered as the rows now are over all processes */
    int64_t *sent, *came; /* rows to and from each process */
    int32_t *order;       /* n: the own rows by destination, then by number */
    int32_t *place;       /* moved: where the k-th row that came is now */
    int64_t *number;      /* moved: the number of each row before, among all processes */
    int32_t n_processes;
} hd_arrangement;

/* A process for each row that keeps joined rows together: that of the engine's partition(), or
 * rows stay. */
huddle_status hd_arrange_partition(huddle_context *context, const huddle_csr *graph,
                                   int32_t *owner);

/* Moves row i of the symmetric graph, whose columns are numbers among all rows, to process owner[i]
 * (NULL: hd_arrange_partition()). There rows are ordered along the edges, which keeps joined rows
 * near each other in memory; or, for whole components of the graph, they stay in the order of their
 * numbers, so that what is computed of a component does not depend on where that is done. */
huddle_status hd_arrange_open(huddle_context *context, const huddle_csr *graph,
                              const int32_t *owner, bool along_edges, hd_arrangement *arrangement);
void hd_arrange_close(hd_arrangement *arrangement);

huddle_status hd_arrange_rows(const hd_arrangement *arrangement, const void *rows, size_t row_size,
                              void *moved);
huddle_status hd_arrange_back(const hd_arrangement *arrangement, const void *moved, size_t row_size,
                              void *rows);

/* Data of the entries of a sparse matrix: those of moved row i are from offsets[i] to offsets[i +
 * 1] - 1 of `moved`, and go back to the same number of entries of its row, whose offsets are
 * rows_offsets. */
huddle_status hd_arrange_entries_back(const hd_arrangement *arrangement, const int64_t *offsets,
                                      const void *moved, size_t entry_size,
                                      const int64_t *rows_offsets, void *entries);

#endif
