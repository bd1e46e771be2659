/* One component of a large problem (split.h): its rows in the directions in which they differ, and
 * its part of the graph. */
#ifndef HUDDLE_SRC_SHRINK_PART_H
#define HUDDLE_SRC_SHRINK_PART_H

#include "shrink/problem.h"

typedef struct hd_shrink_part {
    const hd_shrink_input *whole;
    const int32_t *rows;  /* n: the caller's rows of the component, ascending */
    const int32_t *local; /* of every row of the caller: its number within its component */
    int64_t n;
    double mass;       /* sum of the weights m_i */
    double *mean;      /* c: weighted mean of the rows */
    double collapsed;  /* the objective if all rows are moved to their mean */
    double lost;       /* bounds by how much rounding can lower the bound of the rotated rows */
    double *direction; /* c x c: orthonormal columns, or NULL: all columns as they are */
    int64_t kept;
} hd_shrink_part;

/* Sums over the rows, and, with `rotate`, the principal directions. */
huddle_status hd_shrink_part_open(hd_shrink_part *part, bool rotate);
void hd_shrink_part_close(hd_shrink_part *part);

/* cost[r], r = 0 .. c: by how much the objective grows if all rows share one point outside of the
 * first r directions. `rows` are a solution in the directions kept: cost[kept] is then exact, and
 * beyond it the rows are taken to move no farther. NULL: rows that all move to their mean. */
huddle_status hd_shrink_part_costs(const hd_shrink_part *part, const huddle_dense *rows,
                                   double *cost);

/* Keeps the fewest directions of at most this cost, rounded up to a multiple of four (width.h); all
 * columns, unrotated, unless that saves a quarter of them. A negative cost keeps all. */
void hd_shrink_part_reduce(hd_shrink_part *part, const double *cost, double allowed);

/* A bound of the component from one of its rows in the directions kept: rounding allowed for. */
double hd_shrink_part_bound(const hd_shrink_part *part, double dual);

/* The rows of a matrix of the caller's (F, or a start) in the directions kept. */
huddle_status hd_shrink_part_rows(const hd_shrink_part *part, const huddle_dense *from,
                                  huddle_dense *rows);

/* The graph and the weights (NULL if there are none) of the component. */
huddle_status hd_shrink_part_graph(const hd_shrink_part *part, huddle_csr *w, double **weights);

/* Writes rows of the component, in the directions kept, into the caller's G. rows NULL: the mean,
 * for all of them. */
void hd_shrink_part_return(const hd_shrink_part *part, const huddle_dense *rows, huddle_dense *g);

#endif
