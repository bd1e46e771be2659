/* Nonnegative spectral clustering of few, equal and too many points. */
#include "nsc_fits.h"

/* As many clusters as points, one cluster, equal points, a constant column. */
static void degenerate_points_are_clustered(void **state) {
    (void)state;
    huddle_points x = clouds(6, 3, 6, .1, 1, 1);
    huddle_model *model = fit(&x, "6", (const char *const[]){NULL});
    for (int32_t i = 0; i < 6; i++)
        assert_int_equal(huddle_model_labels(model, NULL)[i], i);
    huddle_model_free(model);
    model = fit(&x, "1", (const char *const[]){NULL});
    for (int32_t i = 0; i < 6; i++)
        assert_int_equal(huddle_model_labels(model, NULL)[i], 0);
    huddle_model_free(model);
    for (int e = 0; e < 18; e++)
        x.values[e] = 2;
    model = fit(&x, "3", (const char *const[]){NULL});
    for (int32_t i = 0; i < 6; i++)
        assert_int_equal(huddle_model_labels(model, NULL)[i], 0);
    huddle_model_free(model);
    huddle_points_free(&x);
    x = clouds(80, 4, 2, .2, 1, 5);
    for (int64_t i = 0; i < 80; i++)
        x.values[i * 4 + 1] = 1e6F;
    model = fit(&x, "2", (const char *const[]){NULL});
    assert_close(cloud_accuracy(80, 2, huddle_model_labels(model, NULL)), 1, 0);
    huddle_model_free(model);
    huddle_points_free(&x);
}

/* Nothing as large as both sides of the points is decomposed; without the term nothing at all. */
static void large_decompositions_are_refused(void **state) {
    (void)state;
    enum { SIDE = 6001 };
    huddle_points x;
    huddle_model *model;
    assert_ok(huddle_points_new_sparse(SIDE, SIDE, 3 * SIDE, &x));
    for (int64_t i = 0; i < SIDE; i++) {
        int64_t group = i * 3 / SIDE * (SIDE / 3);
        for (int64_t k = 0; k < 3; k++) {
            x.columns[3 * i + k] = (int32_t)(group + k * 600 + i % (k == 0 ? 3 : 500));
            x.values[3 * i + k] = 1 + (float)(i % 7) / 8;
        }
        x.offsets[i + 1] = 3 * i + 3;
    }
    assert_ok(huddle_model_new("nsc", &model));
    assert_ok(huddle_model_set_option(model, "prepare", "none"));
    assert_ok(huddle_model_set_option(model, "n_clusters", "3"));
    assert_refused(huddle_model_fit(NULL, model, &x), HUDDLE_UNSUPPORTED,
                   "a matrix of 6001 x 6001, the rows or features of the points; at most 6000");
    assert_ok(huddle_model_set_option(model, "discrimination", "0"));
    assert_ok(huddle_model_fit(NULL, model, &x));
    huddle_model_free(model);
    huddle_points_free(&x);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(degenerate_points_are_clustered),
        cmocka_unit_test(large_decompositions_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
