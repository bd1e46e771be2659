/* Distances of single pairs of points. */
#include "steps/pairs.h"

#include <math.h>
#include <string.h>

/* Sums of products of two rows, and of their squared differences, which are accurate where aa - 2
 * ab + bb would cancel. Without `shifted` the values are as stored: the shift cancels in
 * differences. */
typedef struct products {
    double aa, ab, bb, difference;
} products;

/* In double precision: distances between neighbours are small differences of the stored floats. */
static products dense_products(const huddle_points *x, int64_t a, int64_t b, bool shifted) {
    products p = {0};
    const float *u = x->values + a * x->stride, *v = x->values + b * x->stride;
    for (int64_t j = 0; j < x->d; j++) {
        double shift = shifted && x->shift != NULL ? x->shift[j] : 0;
        double s = (double)u[j] + shift, t = (double)v[j] + shift;
        p.aa += s * s;
        p.ab += s * t;
        p.bb += t * t;
        p.difference += (s - t) * (s - t);
    }
    return p;
}

/* Merges two rows with ascending columns; INT32_MAX marks the end of a row. */
static products sparse_products(const huddle_points *x, int64_t a, int64_t b) {
    products p = {0};
    int64_t e = x->offsets[a], f = x->offsets[b];
    while (e < x->offsets[a + 1] || f < x->offsets[b + 1]) {
        int32_t left = e < x->offsets[a + 1] ? x->columns[e] : INT32_MAX;
        int32_t right = f < x->offsets[b + 1] ? x->columns[f] : INT32_MAX;
        double s = left <= right ? (double)x->values[e++] : 0;
        double t = right <= left ? (double)x->values[f++] : 0;
        p.aa += s * s;
        p.ab += s * t;
        p.bb += t * t;
        p.difference += (s - t) * (s - t);
    }
    return p;
}

/* The cosine is that of the rows with the shift added back. */
double hd_step_pair_distance(const huddle_points *x, const char *metric, int64_t a, int64_t b) {
    bool cosine = strcmp(metric, "cosine") == 0;
    products p = x->offsets != NULL ? sparse_products(x, a, b) : dense_products(x, a, b, cosine);
    if (!cosine)
        return sqrt(p.difference);
    if (p.aa == 0 || p.bb == 0)
        return p.aa == p.bb ? 0 : 1;
    return fmax(1 - p.ab / sqrt(p.aa * p.bb), 0);
}
