/* Points and fits that the tests of refined labels share. */
#ifndef HUDDLE_TESTS_REFINED_FITS_H
#define HUDDLE_TESTS_REFINED_FITS_H

#include "base/rng.h"
#include "huddle/huddle.h"
#include "support/support.h"

#include <string.h>

enum { N = 240, C = 4 };

static const char *const methods[] = {"sc", "ssc", "ncut", "llc", "ldmgi", "selftune-sc"};
enum { N_METHODS = sizeof methods / sizeof *methods };

/* Clouds of different sizes that overlap: K-means on an embedding does not find their borders. */
static inline huddle_points clouds(int64_t n, uint64_t seed) {
    static const double centre[C][2] = {{0, 0}, {3, .5}, {.5, 3}, {3.5, 4}};
    huddle_points x;
    assert_ok(huddle_points_new(n, 2, &x));
    for (int64_t i = 0; i < n; i++) {
        hd_rng rng = hd_rng_stream(seed, (uint64_t)i);
        int64_t k = i % 7 < 3 ? 0 : i % C;
        for (int64_t j = 0; j < 2; j++)
            x.values[2 * i + j] = (float)(centre[k][j] + .9 * hd_rng_normal(&rng));
    }
    return x;
}

/* The same with 1 to 9 copies of every third row, so that rows are merged. */
static inline huddle_points clouds_with_copies(void) {
    huddle_points x = clouds(N, 3);
    for (int64_t i = 0; i < N; i++) {
        int64_t from = i % 3 == 0 ? i : i / 27 * 27;
        memmove(x.values + 2 * i, x.values + 2 * from, 2 * sizeof *x.values);
    }
    return x;
}

/* options: names and values, which a method need not have; ends with NULL. */
static inline huddle_model *fit(const char *method, const huddle_points *x,
                                const char *const *options) {
    huddle_model *model;
    assert_ok(huddle_model_new(method, &model));
    assert_ok(huddle_model_set_option(model, "n_clusters", "4"));
    assert_ok(huddle_model_set_option(model, "n_init", "3"));
    for (; *options != NULL; options += 2)
        assert_ok(huddle_model_set_option(model, options[0], options[1]));
    assert_ok(huddle_model_fit(NULL, model, x));
    return model;
}

#define OPTIONS(...)                                                                               \
    (const char *const[]) {                                                                        \
        __VA_ARGS__, NULL                                                                          \
    }

static inline huddle_model *fit_with(const char *method, const huddle_points *x,
                                     const char *refine) {
    return fit(method, x, OPTIONS("refine", refine));
}

#endif
