/* model: points of any size that float holds are clustered as points near 1 are. */
#include "base/rng.h"
#include "prepared_fits.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { N = 150, C = 3 };

static const char *const rules[] = {"none", "standard", "clip",     "ranks",
                                    "unit", "pca:2",    "whiten:2", "auto"};
enum { N_RULES = sizeof rules / sizeof *rules };

/* Three heaps of values below 16 with few digits, so that powers of two lose none of them. */
static huddle_points heaps(int64_t d, int exponent) {
    huddle_points x;
    hd_rng rng = hd_rng_stream(3, 0);
    assert_ok(huddle_points_new(N, d, &x));
    for (int64_t i = 0; i < N; i++)
        for (int64_t j = 0; j < d; j++) {
            double v = 4 * sin((double)(i % C * d + j)) + hd_rng_normal(&rng);
            x.values[i * d + j] = (float)ldexp(rint(1024 * v), exponent - 10);
            assert_true(isfinite(x.values[i * d + j]));
        }
    return x;
}

/* The largest values here are beyond a third of what float holds. */
static void finite_points_are_never_called_infinite(void **state) {
    (void)state;
    static const int exponents[] = {-110, -73, 73, 124};
    for (int64_t d = 4; d <= 40; d += 36)
        for (const huddle_method_text *const *m = huddle_methods(); *m != NULL; m++)
            for (int r = 0; r < N_RULES; r++) {
                huddle_points plain = heaps(d, 0);
                huddle_model *expected = fit_prepared((*m)->name, rules[r], &plain);
                for (size_t e = 0; e < sizeof exponents / sizeof *exponents; e++) {
                    huddle_points x = heaps(d, exponents[e]);
                    huddle_model *model = fit_prepared((*m)->name, rules[r], &x);
                    const int32_t *labels = huddle_model_labels(model, NULL);
                    int32_t predicted[N];
                    char *json;
                    assert_ok(huddle_model_score(NULL, model, &x));
                    assert_ok(huddle_model_predict(NULL, model, &x, predicted));
                    assert_ok(huddle_model_info_json(model, &json));
                    if (memcmp(labels, huddle_model_labels(expected, NULL), N * sizeof *labels) ||
                        memcmp(labels, predicted, sizeof predicted))
                        fail_msg("%s, prepare %s, %lld features, 2^%d: other labels", (*m)->name,
                                 rules[r], (long long)d, exponents[e]);
                    huddle_free(json);
                    huddle_model_free(model);
                    huddle_points_free(&x);
                }
                huddle_model_free(expected);
                huddle_points_free(&plain);
            }
}

/* Corners of the cube of all floats: even differences are beyond float. */
static void the_largest_floats_are_points(void **state) {
    (void)state;
    enum { COPIES = 12, D = 6, POINTS = 3 * COPIES };
    for (const huddle_method_text *const *m = huddle_methods(); *m != NULL; m++) {
        huddle_points x;
        hd_rng rng = hd_rng_stream(5, 0);
        assert_ok(huddle_points_new(POINTS, D, &x));
        for (int64_t i = 0; i < POINTS; i++)
            for (int64_t j = 0; j < D; j++)
                x.values[i * D + j] = (float)((j % 3 == i % 3 ? 1.0 : -1.0) * (double)FLT_MAX *
                                              (1 - 0.1 * hd_rng_uniform(&rng)));
        huddle_model *model = fit_prepared((*m)->name, "none", &x);
        const int32_t *labels = huddle_model_labels(model, NULL);
        for (int64_t i = 0; i < POINTS; i++)
            if (labels[i] != labels[i % 3] || labels[i] == labels[(i + 1) % 3])
                fail_msg("%s: point %lld is not with its corner", (*m)->name, (long long)i);
        huddle_model_free(model);
        huddle_points_free(&x);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(finite_points_are_never_called_infinite),
        cmocka_unit_test(the_largest_floats_are_points),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
