/* The unordered edges of a symmetric graph, and connected components under some of them.
 *
 * Where rows are distributed over processes (base/slabs.h), a process holds the edges of its own
 * rows. Edges between two own rows come first; then those to rows of other processes, from the own
 * row to the other, which are stored by both processes and therefore count half in sums. Rows of
 * other processes are numbered n .. n + ghosts - 1. */
#ifndef HUDDLE_SRC_SHRINK_EDGES_H
#define HUDDLE_SRC_SHRINK_EDGES_H

#include "base/slabs.h"
#include "base/union.h"
#include "huddle/matrix.h"

#include <math.h>

/* Edge e joins i[e] < j[e]. Edges come in the order in which W stores its upper triangle. */
typedef struct hd_shrink_edges {
    int64_t count;
    int64_t own; /* edges 0 .. own - 1 join rows of this process; own = count on one process */
    int32_t *i, *j;
    double *weight;
    int32_t *at;  /* for each stored entry of W its edge, -1 on the diagonal; NULL under slabs */
    hd_halo halo; /* halo.slabs is NULL on one process */
} hd_shrink_edges;

/* Reads W (rows of this process; columns are numbered over all), checking that it is square,
 * symmetric, finite and not negative. Symmetry between processes is not checked. */
huddle_status hd_shrink_edges_read(huddle_context *context, const huddle_csr *w,
                                   hd_shrink_edges *edges);
void hd_shrink_edges_free(hd_shrink_edges *edges);

/* 1, or 1/2 for an edge that another process counts as well. */
static inline double hd_shrink_edge_share(const hd_shrink_edges *edges, int64_t e) {
    return e < edges->own ? 1 : .5;
}

/* Numbers the sets of a union-find forest over n own rows and the ghosts of the halo by their first
 * row, over all processes. label: n numbers; it may be the forest itself. count: sets in all.
 * Across processes the smallest row number travels along the halo until nothing changes: the number
 * of rounds grows with the number of processes that a set passes through. */
huddle_status hd_shrink_label_sets(huddle_context *context, const hd_halo *halo, int64_t n,
                                   int32_t *parent, int32_t *label, int32_t *count);

/* The connected components under edges of positive weight, numbered as above; n labels. */
huddle_status hd_shrink_components(huddle_context *context, const hd_shrink_edges *edges, int64_t n,
                                   int32_t *component, int32_t *count);

/* Numbers 0 .. count - 1 in place of the names in `label` (n of them, each in 0 .. n - 1), in
 * the order of first appearance. */
huddle_status hd_shrink_number_by_first(int32_t *label, int64_t n, int32_t *count);

/* The same for n rows of each process: label is the number, among all rows, of the first row with
 * the name of each. */
huddle_status hd_shrink_number_first_rows(huddle_context *context, int64_t n, int32_t *label,
                                          int32_t *count);

/* The rows of a matrix with those of other processes behind them. On one process this refers to
 * the matrix itself and copies nothing. */
typedef struct hd_shrink_rows {
    const double *values;
    int64_t stride;
    double *copy; /* owned, or NULL */
} hd_shrink_rows;

huddle_status hd_shrink_rows_open(const hd_halo *halo, const huddle_dense *matrix,
                                  hd_shrink_rows *rows);
void hd_shrink_rows_close(hd_shrink_rows *rows);

/* mean[q] = the mean of the rows of x in group q, with their weights (NULL: 1 each), for `count`
 * groups; mean: count x cols, zero. place, if not NULL, gives the number of a group here, negative
 * for one that is left out. The first `shared` groups extend over all processes; rows are added in
 * their order. */
huddle_status hd_shrink_find_means(huddle_context *context, const huddle_dense *x,
                                   const double *weights, const int32_t *group,
                                   const int32_t *place, int64_t count, int64_t shared,
                                   double *mean);

static inline double hd_shrink_row_weight(const double *weights, int64_t i) {
    return weights != NULL ? weights[i] : 1;
}

/* The squared distance of two rows, from their differences: 0 if they are equal. */
static inline double hd_shrink_distance2(const double *a, const double *b, int64_t c) {
    double sum = 0;
    for (int64_t k = 0; k < c; k++)
        sum += (a[k] - b[k]) * (a[k] - b[k]);
    return sum;
}

static inline double hd_shrink_norm(const double *v, int64_t c) {
    double sum = 0;
    for (int64_t k = 0; k < c; k++)
        sum += v[k] * v[k];
    return sqrt(sum);
}

/* HUDDLE_INVALID, naming the place, unless f is a finite n x c matrix with n = rows, c >= 1. */
huddle_status hd_shrink_check_rows(const huddle_dense *f, const char *name, int64_t rows);

#endif
