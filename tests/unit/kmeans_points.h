/* Points for the tests of K-means, and checks by plain loops. */
#ifndef HUDDLE_TESTS_KMEANS_POINTS_H
#define HUDDLE_TESTS_KMEANS_POINTS_H

#include "base/context.h"
#include "base/rng.h"
#include "huddle/kmeans.h"
#include "kmeans/restart.h"
#include "support/support.h"
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* groups well apart: row i belongs to group i % groups. */
static inline huddle_points make_groups(int64_t n, int64_t d, int groups, double apart,
                                        uint64_t seed) {
    huddle_points x;
    assert_ok(huddle_points_new(n, d, &x));
    for (int64_t i = 0; i < n; i++) {
        hd_rng centre = hd_rng_stream(seed, (uint64_t)(i % groups));
        hd_rng noise = hd_rng_stream(seed + 1, (uint64_t)i);
        for (int64_t j = 0; j < d; j++)
            x.values[i * d + j] = (float)(apart * hd_rng_normal(&centre) + hd_rng_normal(&noise));
    }
    return x;
}

static inline double plain_distance(const huddle_points *x, int64_t i, const double *centre) {
    double sum = 0;
    for (int64_t j = 0; j < x->d; j++) {
        double t =
            (double)x->values[i * x->stride + j] + (x->shift != NULL ? x->shift[j] : 0) - centre[j];
        sum += t * t;
    }
    return sum;
}

/* Labels must be those of a plain search; a hair's breadth of rounding is allowed. */
static inline void check_nearest(const huddle_points *x, const huddle_dense *centres,
                                 const int32_t *labels) {
    for (int64_t i = 0; i < x->n; i++) {
        double own = plain_distance(x, i, centres->values + labels[i] * centres->stride);
        for (int64_t k = 0; k < centres->rows; k++) {
            double other = plain_distance(x, i, centres->values + k * centres->stride);
            assert_true(own <= other * (1 + 1e-12) + 1e-300);
            if (other == own)
                assert_true(labels[i] <= k);
        }
    }
}

static inline double plain_inertia(const huddle_points *x, const double *weights,
                                   const huddle_kmeans_result *result) {
    double sum = 0;
    for (int64_t i = 0; i < x->n; i++)
        sum += (weights != NULL ? weights[i] : 1) *
               plain_distance(x, i,
                              result->centres.values + result->labels[i] * result->centres.stride);
    return sum;
}

/* The same points as sparse rows. */
static inline huddle_points to_sparse(const huddle_points *x) {
    huddle_points y;
    assert_ok(huddle_points_new_sparse(x->n, x->d, x->n * x->d, &y));
    int64_t e = 0;
    for (int64_t i = 0; i < x->n; i++) {
        for (int64_t j = 0; j < x->d; j++)
            if (x->values[i * x->stride + j] != 0) {
                y.columns[e] = (int32_t)j;
                y.values[e++] = x->values[i * x->stride + j];
            }
        y.offsets[i + 1] = e;
    }
    return y;
}

static inline huddle_kmeans_options with_clusters(int32_t c) {
    huddle_kmeans_options options = huddle_kmeans_defaults();
    options.n_clusters = c;
    options.n_init = 10;
    return options;
}

/* Runs and checks what must hold of every answer. */
static inline void check_run(const huddle_points *x, const double *weights,
                             const huddle_kmeans_options *options, huddle_kmeans_info *out) {
    huddle_kmeans_result result;
    huddle_kmeans_info info;
    assert_ok(huddle_kmeans(NULL, x, weights, options, &result, &info));
    check_nearest(x, &result.centres, result.labels);
    assert_close(info.inertia, plain_inertia(x, weights, &result), 1e-9);
    assert_true(info.inertia == info.inertias[info.best]);
    for (int32_t r = 0; r < info.n_restarts; r++)
        assert_true(info.inertias[r] > info.inertia ||
                    (info.inertias[r] == info.inertia && r >= info.best));
    if (out != NULL) {
        *out = info;
        out->inertias = NULL;
    }
    huddle_kmeans_info_free(&info);
    huddle_kmeans_result_free(&result);
}

#endif
