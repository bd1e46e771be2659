/* Points and models that the tests of models share. */
#ifndef HUDDLE_TESTS_MODEL_FITS_H
#define HUDDLE_TESTS_MODEL_FITS_H

#include "base/rng.h"
#include "huddle/huddle.h"
#include "support/support.h"

#include <math.h>

enum { N = 300, C = 3 };

/* Three noisy arcs in the plane. */
static inline huddle_points arcs(double noise, uint64_t seed) {
    huddle_points x;
    assert_ok(huddle_points_new(N, 2, &x));
    for (int64_t i = 0; i < N; i++) {
        hd_rng rng = hd_rng_stream(seed, (uint64_t)i);
        double radius = 1.0 + (double)(i % C),
               angle = 0.02 * (double)(i / C) * (4 - (double)(i % C));
        x.values[2 * i] = (float)(radius * cos(angle) + noise * hd_rng_normal(&rng));
        x.values[2 * i + 1] = (float)(radius * sin(angle) + noise * hd_rng_normal(&rng));
    }
    return x;
}

static inline huddle_model *fitted(const char *method, const huddle_points *x) {
    huddle_model *model;
    assert_ok(huddle_model_new(method, &model));
    assert_ok(huddle_model_set_option(model, "n_clusters", "3"));
    assert_ok(huddle_model_set_option(model, "n_init", "5"));
    assert_ok(huddle_model_fit(NULL, model, x));
    return model;
}

static inline huddle_csr as_csr(const huddle_array *view) {
    assert_int_equal(view->type, HUDDLE_ARRAY_CSR);
    return (huddle_csr){view->rows, view->cols, (int64_t *)(uintptr_t)view->offsets,
                        (int32_t *)(uintptr_t)view->columns, (double *)(uintptr_t)view->values};
}

static inline void same_labels(const huddle_model *a, const huddle_model *b) {
    int64_t n, m;
    const int32_t *x = huddle_model_labels(a, &n), *y = huddle_model_labels(b, &m);
    assert_int_equal(n, m);
    assert_memory_equal(x, y, (size_t)n * sizeof *x);
}

#endif
