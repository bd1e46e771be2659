/* Rows of all processes on one of them, or on all: for samples and for what is small enough to be
 * in one place. Rows are in the order of the processes, which is that of their numbers. Without
 * slabs the results are copies. */
#ifndef HUDDLE_SRC_MATRIX_COLLECT_H
#define HUDDLE_SRC_MATRIX_COLLECT_H

#include "base/slabs.h"
#include "huddle/matrix.h"

/* n rows of row_size bytes of each process; *all, freed by huddle_free(), has *total of them on
 * process `to` and is NULL on the others, and after a failure. */
huddle_status hd_collect_rows(huddle_context *context, int32_t to, int64_t n, const void *rows,
                              size_t row_size, int64_t *total, void **all);

/* The rows of x with the numbers index[0 .. count - 1] among those of all processes, ascending;
 * NULL: all rows. y is empty (all zero) on the processes that do not get them. */
huddle_status hd_collect_points(huddle_context *context, const huddle_points *x,
                                const int64_t *index, int64_t count, int32_t to, huddle_points *y);

/* A sparse matrix whose rows are distributed; columns are not renumbered. */
huddle_status hd_collect_csr(huddle_context *context, const huddle_csr *matrix, int32_t to,
                             huddle_csr *whole);

/* The way back: `all`, on process `from`, has the rows of all processes; every one gets its n. */
huddle_status hd_scatter_rows(huddle_context *context, int32_t from, const void *all, int64_t n,
                              size_t row_size, void *rows);

#endif
