/* Problems that the tests of the shrink stage share. */
#ifndef HUDDLE_TESTS_SHRINK_PROBLEMS_H
#define HUDDLE_TESTS_SHRINK_PROBLEMS_H

#include "base/rng.h"
#include "huddle/shrink.h"
#include "support/support.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct example {
    huddle_dense f;
    huddle_csr w;
} example;

static inline void example_free(example *x) {
    huddle_dense_free(&x->f);
    huddle_csr_free(&x->w);
}

/* A graph from m edges i[e], j[e], weight[e]. */
static inline huddle_csr graph_of(int64_t n, int64_t m, const int32_t *i, const int32_t *j,
                                  const double *weight) {
    huddle_csr w;
    double *full = calloc((size_t)(n * n), sizeof *full);
    bool *present = calloc((size_t)(n * n), sizeof *present);
    int64_t count = 0;
    for (int64_t e = 0; e < m; e++) {
        full[i[e] * n + j[e]] = full[j[e] * n + i[e]] = weight[e];
        present[i[e] * n + j[e]] = present[j[e] * n + i[e]] = true;
    }
    for (int64_t k = 0; k < n * n; k++)
        count += present[k];
    assert_ok(huddle_csr_new(n, n, count, &w));
    count = 0;
    for (int64_t k = 0; k < n * n; k++) {
        if (present[k]) {
            w.columns[count] = (int32_t)(k % n);
            w.values[count++] = full[k];
        }
        w.offsets[k / n + 1] = count;
    }
    free(present);
    free(full);
    return w;
}

/* `clusters` clouds of n / clusters points in c dimensions, each point joined to `k` random others,
 * mostly of its own cloud (all, if apart). */
static inline example clouds(int64_t n, int64_t c, int32_t clusters, int32_t k, bool apart,
                             uint64_t seed) {
    example x;
    hd_rng rng = hd_rng_stream(seed, 1);
    int64_t m = n * k;
    int32_t *i = malloc((size_t)m * sizeof *i), *j = malloc((size_t)m * sizeof *j);
    double *weight = malloc((size_t)m * sizeof *weight);
    assert_ok(huddle_dense_new(n, c, &x.f));
    for (int64_t v = 0; v < n; v++)
        for (int64_t q = 0; q < c; q++)
            x.f.values[v * c + q] =
                hd_rng_normal(&rng) +
                (q == v % clusters || c == 1 ? 4. * (double)(v % clusters + 1) : 0);
    for (int64_t e = 0; e < m; e++) {
        i[e] = (int32_t)(e / k);
        do {
            j[e] = (int32_t)hd_rng_below(&rng, n);
        } while (j[e] == i[e] ||
                 ((apart || hd_rng_uniform(&rng) < .95) && j[e] % clusters != i[e] % clusters));
        weight[e] = .1 + hd_rng_uniform(&rng);
    }
    x.w = graph_of(n, m, i, j, weight);
    free(weight);
    free(j);
    free(i);
    return x;
}

/* A copy of m, to be changed. */
static inline huddle_dense copy_dense(const huddle_dense *m) {
    huddle_dense copy;
    assert_ok(huddle_dense_new(m->rows, m->cols, &copy));
    for (int64_t v = 0; v < m->rows; v++)
        memcpy(copy.values + v * m->cols, m->values + v * m->stride,
               (size_t)m->cols * sizeof(double));
    return copy;
}

static inline double largest_difference(const huddle_dense *a, const huddle_dense *b) {
    double most = 0;
    for (int64_t v = 0; v < a->rows; v++)
        for (int64_t q = 0; q < a->cols; q++)
            most = fmax(most, fabs(a->values[v * a->stride + q] - b->values[v * b->stride + q]));
    return most;
}

/* Shrinks and checks what must hold of every answer. The caller frees. */
static inline void shrink_checked(huddle_context *context, const example *x,
                                  const huddle_shrink_options *options, huddle_shrunk *out,
                                  huddle_shrink_info *info) {
    huddle_shrink_options o = *options;
    double objective, dual;
    o.keep_dual = true;
    assert_ok(huddle_shrink(context, &x->f, &x->w, &o, out, info));
    assert_ok(huddle_shrink_certificate(context, &x->f, &x->w, NULL, info->gamma, o.loss, &out->g,
                                        &out->z, &objective, &dual));
    assert_close(info->objective, objective, 1e-12);
    assert_close(info->dual, dual, 1e-12);
    assert_true(info->gap >= 0);
    assert_true(dual <= objective * (1 + 1e-12) + 1e-12);
    assert_true(out->n_groups >= info->n_components && out->n_groups <= x->f.rows);
    assert_int_equal(out->n_groups, info->n_groups);
    for (int64_t v = 0; v < x->f.rows; v++)
        assert_true(out->group[v] >= 0 && out->group[v] < out->n_groups);
    /* The best so far, but for the objectives of "published", which are as they are. */
    double rounding = strcmp(o.solver, "published") == 0 ? 1e-11 : 0;
    for (int32_t k = 1; k < info->n_history; k++)
        assert_true(info->history_objective[k] <= info->history_objective[k - 1] * (1 + rounding) &&
                    info->history_dual[k] >= info->history_dual[k - 1]);
}

/* Solves A X = B in place of B by Gaussian elimination with pivots; both are overwritten. */
static inline void eliminate(int64_t n, int64_t c, double *a, double *b) {
    for (int64_t k = 0; k < n; k++) {
        int64_t pivot = k;
        for (int64_t i = k + 1; i < n; i++)
            pivot = fabs(a[i * n + k]) > fabs(a[pivot * n + k]) ? i : pivot;
        for (int64_t j = 0; j < n + c; j++) {
            double *x = j < n ? &a[k * n + j] : &b[k * c + j - n];
            double *y = j < n ? &a[pivot * n + j] : &b[pivot * c + j - n], swap = *x;
            *x = *y;
            *y = swap;
        }
        for (int64_t i = 0; i < n; i++) {
            double factor = i == k ? 0 : a[i * n + k] / a[k * n + k];
            for (int64_t j = k; j < n; j++)
                a[i * n + j] -= factor * a[k * n + j];
            for (int64_t j = 0; j < c; j++)
                b[i * c + j] -= factor * b[k * c + j];
        }
    }
    for (int64_t k = 0; k < n * c; k++)
        b[k] /= a[k / c * n + k / c];
}

#endif
