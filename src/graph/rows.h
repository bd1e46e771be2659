/* Rows as exact arithmetic sees them: coordinate j of row i is
 *
 *     (value + shift[j]) * scale[i]
 *
 * in double. Nothing is copied. Under the cosine metric scale is 1 / norm, and squared distances
 * are 2 (1 - cos); a row of zeros has scale 0 and points in a direction of its own, coordinate d.
 */
#ifndef HUDDLE_SRC_GRAPH_ROWS_H
#define HUDDLE_SRC_GRAPH_ROWS_H

#include "base/cpu.h"
#include "huddle/matrix.h"

typedef struct hd_rows {
    int64_t n, d, stride;
    const float *singles;  /* one of these two holds the values */
    const double *doubles; /* */
    const int32_t *pick;   /* row i is the pick[i]-th, or NULL: all in order */
    const double *shift;   /* or NULL */
    double *scale;         /* owned, or NULL */
    bool zeros;            /* some scale is 0: there are d + 1 coordinates */
    double *owned_shift;   /* behind shift, if it was made here */
    double *owned_values;  /* behind doubles, likewise */
    hd_isa isa;            /* of the kernels */
} hd_rows;

/* Views; x is dense. hd_rows_free() frees what was added to the view. */
hd_rows hd_rows_of_points(const huddle_points *x);
hd_rows hd_rows_of_dense(const huddle_dense *f);
void hd_rows_free(hd_rows *rows);

/* Floats of any size have squares in double, but doubles may not: where the largest is far from 1,
 * rows of doubles become copies, multiplied by 2^*exponent. query may be train. */
huddle_status hd_rows_rescale(hd_rows *train, hd_rows *query, int *exponent);

/* Makes the rows those of the cosine metric. */
huddle_status hd_rows_normalise(huddle_context *context, hd_rows *rows);

/* How many coordinates hd_rows_read() writes. */
int64_t hd_rows_width(const hd_rows *rows);
void hd_rows_read(const hd_rows *rows, int64_t i, double *coordinates);

/* Begins to bring row i into the cache. */
void hd_rows_fetch(const hd_rows *rows, int64_t i);

/* The squared distance of row i of a and row j of b: the last word on every pair. May stop early
 * and return something larger than limit once the distance must be. */
double hd_rows_distance2(const hd_rows *a, int64_t i, const hd_rows *b, int64_t j, double limit);

#endif
