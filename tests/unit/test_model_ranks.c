/* model: preparations of tables, ranks and clip, in model files. */
#include "base/rng.h"
#include "model/model.h"
#include "prepared_fits.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { N = 90, D = 3, C = 3 };

/* Three groups, the last feature with a few huge values. */
static huddle_points make_table(uint64_t seed) {
    huddle_points x;
    assert_ok(huddle_points_new(N, D, &x));
    for (int64_t i = 0; i < N; i++) {
        hd_rng rng = hd_rng_stream(seed, (uint64_t)i);
        for (int64_t j = 0; j < D; j++)
            x.values[i * D + j] = (float)(3 * (double)(i % C * (j + 1) % C) + hd_rng_normal(&rng));
        if (i % 17 == 0)
            x.values[i * D + 2] *= 1e12f;
    }
    return x;
}

static void a_loaded_model_predicts_alike(void **state) {
    (void)state;
    static const char *const methods[] = {"kmeans", "sc", "pca-sc", "lsc"};
    huddle_points x = make_table(1), fresh = make_table(2);
    char path[512];
    snprintf(path, sizeof path, "%s/ranks.model", test_directory());
    for (int m = 0; m < 8; m++) {
        const char *rule = m < 4 ? "ranks" : "clip";
        huddle_model *model = fit_prepared(methods[m % 4], rule, &x), *loaded;
        int32_t before[N], after[N];
        char *json;
        assert_ok(huddle_model_save(model, path));
        assert_ok(huddle_model_load(path, &loaded));
        assert_ok(huddle_model_predict(NULL, model, &fresh, before));
        assert_ok(huddle_model_predict(NULL, loaded, &fresh, after));
        assert_memory_equal(before, after, sizeof before);
        assert_ok(huddle_model_predict(NULL, loaded, &x, after));
        assert_memory_equal(after, huddle_model_labels(model, NULL), sizeof after);
        assert_ok(huddle_model_info_json(loaded, &json));
        assert_non_null(strstr(json, rule));
        huddle_free(json);
        huddle_model_free(model);
        huddle_model_free(loaded);
    }
    huddle_points_free(&x);
    huddle_points_free(&fresh);
}

static void swap_knots(huddle_preparation *p) {
    p->knots.values[2] = p->knots.values[0];
}

static void spoil_value(huddle_preparation *p) {
    p->knots.values[4] = NAN;
}

/* The first column is empty, and the second one ascends although it has the knots of both. */
static void empty_column(huddle_preparation *p) {
    for (int64_t k = 0; k < p->knots.rows; k++)
        p->knots.values[2 * k] = (double)k;
    p->knot_offsets[1] = 0;
}

static void move_offset(huddle_preparation *p) {
    p->knot_offsets[0] = 1;
}

static void go_beyond_the_knots(huddle_preparation *p) {
    p->knot_offsets[1] = p->knots.rows + 1;
}

static void leave_knots_over(huddle_preparation *p) {
    p->knot_offsets[D]--;
}

static void drop_offsets(huddle_preparation *p) {
    huddle_free(p->knot_offsets);
    p->knot_offsets = NULL;
}

static void drop_knots(huddle_preparation *p) {
    huddle_dense_free(&p->knots);
}

static void halve_knots(huddle_preparation *p) {
    p->knots.cols = p->knots.stride = 1;
}

static void widen_output(huddle_preparation *p) {
    p->d_out = D + 1;
}

/* Knots that are out of order, not there, or not those of the columns. */
static void impossible_knots_are_refused(void **state) {
    (void)state;
    void (*const changes[])(huddle_preparation *) = {
        swap_knots,       spoil_value,  empty_column, move_offset, go_beyond_the_knots,
        leave_knots_over, drop_offsets, drop_knots,   halve_knots, widen_output};
    huddle_points x = make_table(1);
    char path[512];
    snprintf(path, sizeof path, "%s/crafted.model", test_directory());
    for (size_t k = 0; k < sizeof changes / sizeof *changes; k++) {
        huddle_model *model = fit_prepared("kmeans", "ranks", &x), *loaded;
        changes[k](&model->fit.prepared.preparation);
        assert_ok(huddle_model_save(model, path));
        if (huddle_model_load(path, &loaded) != HUDDLE_FORMAT)
            fail_msg("change %d was not refused", (int)k);
        huddle_model_free(model);
    }
    huddle_points_free(&x);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_loaded_model_predicts_alike),
        cmocka_unit_test(impossible_knots_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
