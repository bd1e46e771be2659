/* A neighbour search by plain loops in double, as an engine might do it: every pair, no bounds, one
 * sort by insertion. For dense points and rows of doubles; sparse points are declined. */
#ifndef HUDDLE_TESTS_PLAIN_NEIGHBORS_H
#define HUDDLE_TESTS_PLAIN_NEIGHBORS_H

#include "base/check.h"
#include "base/engine.h"
#include "huddle/graph.h"

#include <math.h>
#include <string.h>

static inline double plain_value(const huddle_points *x, const huddle_dense *f, int64_t i,
                                 int64_t j) {
    if (x == NULL)
        return f->values[i * f->stride + j];
    return (double)x->values[i * x->stride + j] + (x->shift != NULL ? x->shift[j] : 0);
}

/* The distance between row i of the queries and row j of the training rows. */
static inline double plain_distance(const hd_neighbor_request *r, int64_t i, int64_t j) {
    const huddle_points *x = r->query != NULL ? r->query : r->train;
    const huddle_dense *f = r->query_rows != NULL ? r->query_rows : r->train_rows;
    int64_t d = x != NULL ? x->d : f->cols;
    double squares = 0, product = 0, norm = 0, other = 0;
    for (int64_t c = 0; c < d; c++) {
        double a = plain_value(x, f, i, c), b = plain_value(r->train, r->train_rows, j, c);
        squares += (a - b) * (a - b);
        product += a * b;
        norm += a * a;
        other += b * b;
    }
    if (strcmp(r->options->metric, "cosine") != 0)
        return sqrt(squares);
    if (norm == 0 || other == 0)
        return norm == other ? 0 : 1;
    return 1 - product / sqrt(norm * other);
}

static inline void plain_insert(int32_t k, int32_t *index, double *distance, int32_t name,
                                double value) {
    int32_t at = k;
    while (at > 0 && (index[at - 1] < 0 || value < distance[at - 1]))
        at--;
    for (int32_t c = k - 1; c > at; c--) {
        index[c] = index[c - 1];
        distance[c] = distance[c - 1];
    }
    if (at < k) {
        index[at] = name;
        distance[at] = value;
    }
}

static inline huddle_status plain_neighbors(const hd_neighbor_request *r, huddle_neighbors *out) {
    huddle_status status = HUDDLE_OK;
    bool self = r->query == NULL && r->query_rows == NULL;
    int64_t n = r->train != NULL ? r->train->n : r->train_rows->rows;
    int32_t k = r->options->n_neighbors;
    if (r->train != NULL && r->train->offsets != NULL)
        FAIL(HUDDLE_UNSUPPORTED, "plain loops take no sparse points");
    out->n = self ? n : r->query != NULL ? r->query->n : r->query_rows->rows;
    out->k = k;
    ALLOC(out->index, out->n * k);
    ALLOC(out->distance, out->n * k);
    for (int64_t i = 0; i < out->n; i++) {
        for (int32_t c = 0; c < k; c++) {
            out->index[i * k + c] = -1;
            out->distance[i * k + c] = INFINITY;
        }
        for (int64_t j = 0; j < n; j++)
            if (!(self && i == j) && (r->part == NULL || r->part[i] != r->part[j]))
                plain_insert(k, out->index + i * k, out->distance + i * k, (int32_t)j,
                             plain_distance(r, i, j));
    }
done:
    return status;
}

#endif
