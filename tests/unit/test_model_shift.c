/* model: new points far from the origin, such as time stamps, one at a time and together. */
#include "base/rng.h"
#include "huddle/huddle.h"
#include "model/model.h"
#include "support/support.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { N = 120, D = 4, C = 3 };

static const char *const rules[] = {"none", "standard", "clip", "ranks", "center-columns", "pca:2"};
enum { N_RULES = sizeof rules / sizeof *rules };

/* Three heaps, each column scaled and then moved away from the origin. */
typedef struct place {
    const char *name;
    double factor[D], offset[D];
} place;

static const place places[] = {
    {"near the origin", {1, 1, 1, 1}, {0, 0, 0, 0}},
    {"a time stamp at 1e9", {1, 1, 1, 1}, {1e9, 0, 0, 0}},
    {"time stamps at 1e12", {1, 100, 1, 1}, {1e12, -1e12, 0, 0}},
    {"mixed scales", {1e-3, 1e3, 1, 1}, {1e6, 1e12, 0, 52.1}},
};
enum { N_PLACES = sizeof places / sizeof *places };

static void make_rows(const place *where, double *values) {
    static const double heaps[C][D] = {{6, 0, 0, 3}, {0, 7, -2, -3}, {-5, -6, 4, 0}};
    hd_rng rng = hd_rng_stream(11, 0);
    for (int64_t i = 0; i < N; i++)
        for (int64_t j = 0; j < D; j++)
            values[i * D + j] =
                where->offset[j] + where->factor[j] * (heaps[i % C][j] + hd_rng_normal(&rng));
}

static huddle_model *fit_rows(const char *method, const char *rule, const double *values) {
    huddle_model *model;
    huddle_points x;
    assert_ok(huddle_points_from_double(NULL, N, D, values, D, 1, &x));
    assert_ok(huddle_model_new(method, &model));
    assert_ok(huddle_model_set_option(model, "n_clusters", "3"));
    assert_ok(huddle_model_set_option(model, "prepare", rule));
    assert_ok(huddle_model_fit(NULL, model, &x));
    huddle_points_free(&x);
    return model;
}

/* Labels of rows first, first + step, ...: converted with the model's shift, or with their own. */
static void predict_rows(const huddle_model *model, const double *values, int64_t first,
                         int64_t step, bool shifted, int32_t *labels) {
    int64_t count = (N - first + step - 1) / step;
    huddle_points x;
    if (shifted)
        assert_ok(huddle_points_from_double_shifted(NULL, count, D, values + first * D, step * D, 1,
                                                    huddle_model_shift(model, NULL), &x));
    else
        assert_ok(huddle_points_from_double(NULL, count, D, values + first * D, step * D, 1, &x));
    assert_ok(huddle_model_predict(NULL, model, &x, labels));
    huddle_points_free(&x);
}

static void compare(const char *what, const char *method, const char *rule, const place *where,
                    int64_t i, int32_t label, int32_t expected) {
    if (label != expected)
        fail_msg("%s, prepare %s, %s: row %lld %s has label %d, not %d", method, rule, where->name,
                 (long long)i, what, label, expected);
}

static void check_method(const char *method, const char *rule, const place *where,
                         const double *values) {
    huddle_model *model = fit_rows(method, rule, values);
    const int32_t *fitted = huddle_model_labels(model, NULL);
    int32_t labels[N], some[N], one[N];
    predict_rows(model, values, 0, 1, true, labels);
    predict_rows(model, values, 1, 4, true, some);
    for (int64_t i = 0; i < N; i++)
        compare("in a batch", method, rule, where, i, labels[i], fitted[i]);
    for (int64_t i = 1; i < N; i += 4)
        compare("in a smaller batch", method, rule, where, i, some[i / 4], fitted[i]);
    for (int64_t i = 0; i < N; i += 7) {
        predict_rows(model, values, i, N, true, one);
        compare("alone", method, rule, where, i, one[0], fitted[i]);
        predict_rows(model, values, i, N, false, one);
        compare("alone, with its own shift,", method, rule, where, i, one[0], fitted[i]);
    }
    huddle_model_free(model);
}

static void single_rows_far_from_the_origin_are_labelled_as_in_a_batch(void **state) {
    (void)state;
    double values[N * D];
    for (int p = 0; p < N_PLACES; p++) {
        make_rows(&places[p], values);
        for (const huddle_method_text *const *m = huddle_methods(); *m != NULL; m++)
            for (int r = 0; r < N_RULES; r++)
                check_method((*m)->name, rules[r], &places[p], values);
    }
}

/* Rows that are not training rows: what is beside them in the batch must not matter, even an
 * outlier that takes the batch's own digits away. */
static void new_rows_do_not_depend_on_the_batch(void **state) {
    (void)state;
    double values[N * D], fresh[N * D];
    make_rows(&places[1], values);
    for (const huddle_method_text *const *m = huddle_methods(); *m != NULL; m++) {
        huddle_model *model = fit_rows((*m)->name, "none", values);
        int32_t labels[N], one[N];
        for (int64_t e = 0; e < N * D; e++)
            fresh[e] = (values[e] + values[(e + C * D) % (N * D)]) / 2;
        fresh[(N - 1) * D] = 1;
        predict_rows(model, fresh, 0, 1, true, labels);
        for (int64_t i = 0; i < N; i += 7) {
            predict_rows(model, fresh, i, N, true, one);
            compare("alone", (*m)->name, "none", &places[1], i, one[0], labels[i]);
            predict_rows(model, fresh, i, N, false, one);
            compare("alone, with its own shift,", (*m)->name, "none", &places[1], i, one[0],
                    labels[i]);
        }
        huddle_model_free(model);
    }
}

static void a_loaded_model_keeps_its_shift(void **state) {
    (void)state;
    double values[N * D];
    char path[512];
    int64_t d;
    huddle_model *loaded;
    make_rows(&places[1], values);
    snprintf(path, sizeof path, "%s/shifted.model", test_directory());
    huddle_model *model = fit_rows("kmeans", "standard", values);
    assert_ok(huddle_model_save(model, path));
    assert_ok(huddle_model_load(path, &loaded));
    const double *shift = huddle_model_shift(loaded, &d);
    assert_true(shift != NULL && d == D);
    assert_memory_equal(shift, huddle_model_shift(model, NULL), D * sizeof *shift);
    int32_t one[N];
    predict_rows(loaded, values, 17, N, true, one);
    assert_int_equal(one[0], huddle_model_labels(model, NULL)[17]);
    huddle_model_free(model);
    huddle_model_free(loaded);
    make_rows(&places[0], values);
    model = fit_rows("kmeans", "none", values);
    assert_null(huddle_model_shift(model, &d));
    assert_int_equal(d, D);
    huddle_model_free(model);
}

/* Not a number, not finite, or not that of the points beside it. */
static void impossible_shifts_are_refused(void **state) {
    (void)state;
    static const double wrong[] = {NAN, INFINITY, -INFINITY, 1e300, 0};
    static const char *const prepared[] = {"none", "standard"};
    double values[N * D];
    char path[512];
    make_rows(&places[1], values);
    snprintf(path, sizeof path, "%s/crafted.model", test_directory());
    for (int p = 0; p < 2; p++)
        for (size_t k = 0; k < (p == 0 ? sizeof wrong / sizeof *wrong : 3); k++) {
            huddle_model *model = fit_rows("sc", prepared[p], values), *loaded;
            assert_ok(huddle_model_save(model, path));
            assert_ok(huddle_model_load(path, &loaded));
            loaded->fit.prepared.shift[0] = wrong[k];
            assert_ok(huddle_model_save(loaded, path));
            huddle_model_free(loaded);
            assert_refused(huddle_model_load(path, &loaded), HUDDLE_FORMAT, "crafted.model: ");
            huddle_model_free(model);
        }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(single_rows_far_from_the_origin_are_labelled_as_in_a_batch),
        cmocka_unit_test(new_rows_do_not_depend_on_the_batch),
        cmocka_unit_test(a_loaded_model_keeps_its_shift),
        cmocka_unit_test(impossible_shifts_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
