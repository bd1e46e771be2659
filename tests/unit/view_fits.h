/* Two views of the same points, and models of them. */
#ifndef HUDDLE_TESTS_VIEW_FITS_H
#define HUDDLE_TESTS_VIEW_FITS_H

#include "base/rng.h"
#include "huddle/huddle.h"
#include "model/model.h"
#include "support/support.h"

#include <stdlib.h>

enum { N = 240, C = 4, D0 = 4, D1 = 6 };

/* Clusters i % 4 at the corners of a square, which overlap in each view, but not at the same
 * points.
 */
static inline void make_views(int64_t n, uint64_t seed, huddle_points views[2]) {
    static const int64_t d[] = {D0, D1};
    for (int v = 0; v < 2; v++) {
        assert_ok(huddle_points_new(n, d[v], &views[v]));
        for (int64_t i = 0; i < n; i++) {
            hd_rng rng = hd_rng_stream(seed + (uint64_t)v, (uint64_t)i);
            for (int64_t j = 0; j < d[v]; j++)
                views[v].values[i * d[v] + j] =
                    (float)((j < 2 ? 3.2 * (double)(i % C >> j & 1) : 0) + hd_rng_normal(&rng));
        }
    }
}

static inline void free_views(huddle_points *views, int count) {
    for (int v = 0; v < count; v++)
        huddle_points_free(&views[v]);
}

static inline huddle_model *new_model(const char *method, const char *weights) {
    huddle_model *model;
    assert_ok(huddle_model_new(method, &model));
    assert_ok(huddle_model_set_option(model, "n_clusters", "4"));
    assert_ok(huddle_model_set_option(model, "n_init", "5"));
    assert_ok(huddle_model_set_option(model, "prepare", "none"));
    if (weights != NULL)
        assert_ok(huddle_model_set_option(model, "view_weights", weights));
    return model;
}

static inline huddle_model *fitted(const char *method, const char *weights,
                                   const huddle_points *views) {
    huddle_model *model = new_model(method, weights);
    assert_ok(huddle_model_fit_views(NULL, model, 2, views));
    return model;
}

static inline double entry(const huddle_csr *m, int64_t i, int64_t j) {
    for (int64_t e = m->offsets[i]; e < m->offsets[i + 1]; e++)
        if (m->columns[e] == j)
            return m->values[e];
    return 0;
}

static inline double accuracy_of(int64_t n, const int32_t *labels) {
    huddle_scores scores;
    int32_t truth[N];
    for (int i = 0; i < n; i++)
        truth[i] = i % C;
    assert_ok(huddle_metrics_scores(NULL, n, truth, labels, &scores));
    return scores.acc;
}

/* Row i of n is row i % distinct. */
static inline huddle_points repeated(const huddle_points *x, int64_t distinct, int64_t n) {
    huddle_points y;
    int64_t *index = malloc((size_t)n * sizeof *index);
    for (int64_t i = 0; i < n; i++)
        index[i] = i % distinct;
    assert_ok(huddle_points_take(x, index, n, &y));
    free(index);
    return y;
}

#endif
