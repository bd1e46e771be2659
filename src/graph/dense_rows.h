/* A view of rows whose distances are computed in double. Coordinate j of row i is
 *
 *     (value + shift[j]) * scale[i]
 *
 * and nothing is copied. Under the cosine metric scale is 1 / norm, and squared distances are
 * 2 (1 - cos). A row of zeros then has scale 0 and a direction of its own, coordinate d: its
 * distance from every other row is sqrt(2), that is 1 - cos = 1. */
#ifndef HUDDLE_SRC_GRAPH_DENSE_ROWS_H
#define HUDDLE_SRC_GRAPH_DENSE_ROWS_H

#include "base/cpu.h"
#include "huddle/matrix.h"

typedef struct hd_graph_rows {
    int64_t n, d, stride;
    const float *singles; /* the values: one of these two */
    const double *doubles;
    const int32_t *pick;  /* row i is the pick[i]-th, or NULL: all in order */
    const double *shift;  /* or NULL */
    double *scale;        /* owned, or NULL */
    bool zeros;           /* some scale is 0: there are d + 1 coordinates */
    double *owned_shift;  /* what shift points to, if it was allocated for this view */
    double *owned_values; /* what doubles points to, likewise */
    hd_isa isa;           /* of the kernels */
} hd_graph_rows;

/* Views; x is dense. hd_graph_rows_free() frees what was added to the view. */
hd_graph_rows hd_graph_rows_of_points(const huddle_points *x);
hd_graph_rows hd_graph_rows_of_dense(const huddle_dense *f);
void hd_graph_rows_free(hd_graph_rows *rows);

/* Squares of floats fit into double, but squares of doubles may overflow or vanish: if the largest
 * value of all processes is far from 1, rows of doubles are copied and multiplied by 2^*exponent.
 * query may be train. */
huddle_status hd_graph_rows_rescale(huddle_context *context, hd_graph_rows *train,
                                    hd_graph_rows *query, int *exponent);

/* The largest absolute coordinate in the rows of all processes, or 1 if all are 0. query may be
 * train. */
huddle_status hd_graph_rows_reach(huddle_context *context, const hd_graph_rows *train,
                                  const hd_graph_rows *query, double *reach);

/* The power of two that brings numbers up to `largest` into [-1, 1] without changing any digit,
 * where no square overflows. */
double hd_graph_unit_scale(double largest);

/* The points as the metric sees them: cosine distances need their shift, and rows of norm 1. */
huddle_status hd_graph_rows_of_metric(huddle_context *context, const huddle_points *x, bool cosine,
                                      hd_graph_rows *rows);

/* Sets scale and zeros for the cosine metric, of the rows of this process. */
huddle_status hd_graph_rows_normalise(huddle_context *context, hd_graph_rows *rows);

/* The number of coordinates that hd_graph_rows_read() writes. */
int64_t hd_graph_rows_width(const hd_graph_rows *rows);
void hd_graph_rows_read(const hd_graph_rows *rows, int64_t i, double *coordinates);

/* Reads all rows, `stride` apart. */
huddle_status hd_graph_rows_read_all(huddle_context *context, const hd_graph_rows *rows,
                                     int64_t stride, double *coordinates);

/* Coordinate f alone of row i. */
double hd_graph_rows_coordinate(const hd_graph_rows *rows, int64_t i, int64_t f);

/* Prefetches row i into the cache. */
void hd_graph_rows_prefetch(const hd_graph_rows *rows, int64_t i);

/* For shorter rows the kernels of distance.simd.c would mostly add up their registers. All
 * solvers use this sum for such rows, so that they find the same bits. */
enum { HD_GRAPH_SHORT_ROW = 16 };

static inline double hd_graph_short_square(const double *differences, int64_t d) {
    double lanes[8] = {0};
    for (int64_t j = 0; j < d; j++)
        lanes[j % 8] += differences[j] * differences[j];
    return ((lanes[0] + lanes[4]) + (lanes[2] + lanes[6])) +
           ((lanes[1] + lanes[5]) + (lanes[3] + lanes[7]));
}

/* Whether distances to these rows are computed by hd_graph_short_square(). */
bool hd_graph_rows_short(const hd_graph_rows *rows);

/* The squared distance of row i of a and row j of b: the number that all solvers put into their
 * lists. May stop early and return any number above limit if the distance is above it. */
double hd_graph_rows_distance2(const hd_graph_rows *a, int64_t i, const hd_graph_rows *b, int64_t j,
                               double limit);

#endif
