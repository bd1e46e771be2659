/* Sparse matrices as files hold them, in any order, made into rows with ascending columns. */
#ifndef HUDDLE_SRC_IO_SPARSE_H
#define HUDDLE_SRC_IO_SPARSE_H

#include "huddle/matrix.h"

/* Entry e is values[e] at (rows[e], columns[e]); repeated entries are added up. HUDDLE_FORMAT if
 * an index is outside. */
huddle_status hd_io_csr_from_entries(int64_t n_rows, int64_t n_columns, int64_t count,
                                     const int64_t *rows, const int64_t *columns,
                                     const double *values, huddle_csr *matrix);

/* Compressed lines: line k holds entries offsets[k] .. offsets[k + 1] - 1 at positions[e].
 * Lines are rows, or columns if by_columns. */
typedef struct hd_io_lines {
    int64_t rows, cols;
    bool by_columns;
    int64_t count;            /* entries there are */
    const int64_t *offsets;   /* lines + 1 */
    const int64_t *positions; /* count */
    const double *values;     /* count */
} hd_io_lines;

huddle_status hd_io_csr_from_lines(const hd_io_lines *lines, huddle_csr *matrix);

/* Sparse points from a matrix's rows, or from its columns. The values before rounding are in
 * *exact, which the caller frees, unless exact is NULL. */
huddle_status hd_io_points_from_csr(const huddle_csr *matrix, bool in_columns,
                                    huddle_points *points, double **exact);

/* Adds the rows of `more` below those of points, which may be empty. */
huddle_status hd_io_points_append(huddle_points *points, const huddle_points *more);

#endif
