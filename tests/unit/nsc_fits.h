/* Points and fitted models for the tests of nsc. */
#ifndef HUDDLE_TESTS_NSC_FITS_H
#define HUDDLE_TESTS_NSC_FITS_H

#include "base/rng.h"
#include "huddle/metrics.h"
#include "model/model.h"
#include "support/support.h"

#include <stdlib.h>

/* c clouds in d dimensions; `spread` of each relative to the distances between them. */
static huddle_points clouds(int64_t n, int64_t d, int64_t c, double spread, uint64_t seed) {
    huddle_points x;
    assert_ok(huddle_points_new(n, d, &x));
    for (int64_t i = 0; i < n; i++) {
        hd_rng place = hd_rng_stream(seed, (uint64_t)(i % c)),
               noise = hd_rng_stream(seed + 9, (uint64_t)i);
        for (int64_t j = 0; j < d; j++)
            x.values[i * d + j] =
                (float)(3 * hd_rng_normal(&place) + spread * hd_rng_normal(&noise));
    }
    return x;
}

/* A fitted model; options is a list of names and values that ends with NULL. */
static huddle_model *fit(const huddle_points *x, const char *n_clusters,
                         const char *const *options) {
    huddle_model *model;
    assert_ok(huddle_model_new("nsc", &model));
    assert_ok(huddle_model_set_option(model, "prepare", "none"));
    assert_ok(huddle_model_set_option(model, "n_clusters", n_clusters));
    for (; *options != NULL; options += 2)
        assert_ok(huddle_model_set_option(model, options[0], options[1]));
    assert_ok(huddle_model_fit(NULL, model, x));
    return model;
}

/* How well labels agree with i % c. */
static double accuracy(const huddle_model *model, int64_t n, int64_t c) {
    int32_t *truth = malloc((size_t)n * sizeof *truth);
    huddle_scores scores;
    for (int64_t i = 0; i < n; i++)
        truth[i] = (int32_t)(i % c);
    assert_ok(huddle_metrics_scores(NULL, n, truth, huddle_model_labels(model, NULL), &scores));
    free(truth);
    return scores.acc;
}

#endif
