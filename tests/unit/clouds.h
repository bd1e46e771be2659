/* Clouds of points whose clusters are known: point i belongs to cloud i % c. */
#ifndef HUDDLE_TESTS_CLOUDS_H
#define HUDDLE_TESTS_CLOUDS_H

#include "base/rng.h"
#include "huddle/matrix.h"
#include "huddle/metrics.h"
#include "support/support.h"

#include <stdlib.h>

/* c clouds in d dimensions; `spread` of each relative to the distances between them. A point occurs
 * `copies` times. */
static inline huddle_points clouds(int64_t n, int64_t d, int64_t c, double spread, int copies,
                                   uint64_t seed) {
    huddle_points x;
    assert_ok(huddle_points_new(n, d, &x));
    for (int64_t i = 0; i < n; i++) {
        hd_rng place = hd_rng_stream(seed, (uint64_t)(i % c));
        hd_rng noise = hd_rng_stream(seed + 9, (uint64_t)(i / c / copies * c + i % c));
        for (int64_t j = 0; j < d; j++)
            x.values[i * x.stride + j] =
                (float)(3 * hd_rng_normal(&place) + spread * hd_rng_normal(&noise));
    }
    return x;
}

/* c clouds on the axes of d dimensions, at the distance `apart` from 0. */
static inline huddle_points clouds_on_axes(int64_t n, int64_t d, int64_t c, double apart,
                                           int copies) {
    huddle_points x;
    assert_ok(huddle_points_new(n, d, &x));
    for (int64_t i = 0; i < n; i++) {
        hd_rng rng = hd_rng_stream(9, (uint64_t)(i / c / copies * c + i % c));
        for (int64_t j = 0; j < d; j++)
            x.values[i * x.stride + j] =
                (float)(.3 * hd_rng_normal(&rng) + (j == i % c ? apart : 0));
    }
    return x;
}

/* How well labels agree with the clouds. */
static inline double cloud_accuracy(int64_t n, int64_t c, const int32_t *labels) {
    int32_t *truth = malloc((size_t)n * sizeof *truth);
    huddle_scores scores;
    for (int64_t i = 0; i < n; i++)
        truth[i] = (int32_t)(i % c);
    assert_ok(huddle_metrics_scores(NULL, n, truth, labels, &scores));
    free(truth);
    return scores.acc;
}

#endif
