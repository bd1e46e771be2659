/* A view of sparse rows, scaled as the metric requires. */
#ifndef HUDDLE_SRC_GRAPH_SPARSE_ROWS_H
#define HUDDLE_SRC_GRAPH_SPARSE_ROWS_H

#include "huddle/matrix.h"

typedef struct hd_graph_sparse_rows {
    const huddle_points *x;
    double *scale; /* n: 1, or 1 / norm under cosine, where a row of zeros has 0 */
    double *norm2; /* n: of the scaled rows */
} hd_graph_sparse_rows;

huddle_status hd_graph_sparse_rows_new(const huddle_points *x, bool cosine,
                                       hd_graph_sparse_rows *rows);
void hd_graph_sparse_rows_free(hd_graph_sparse_rows *rows);

/* The squared distance by differences in double. */
double hd_graph_sparse_distance2(const hd_graph_sparse_rows *a, int64_t i,
                                 const hd_graph_sparse_rows *b, int64_t j);

#endif
