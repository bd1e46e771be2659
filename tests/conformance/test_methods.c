/* The promises every method keeps, tried on each that is registered. */
#include "huddle/huddle.h"
#include "promises.h"
#include "support/support.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { N = 240 };

static huddle_model *new_model(const char *method) {
    huddle_model *model;
    assert_ok(huddle_model_new(method, &model));
    assert_ok(huddle_model_set_option(model, "n_clusters", "4"));
    if (huddle_option_find(huddle_model_options(model), "n_init") != NULL)
        assert_ok(huddle_model_set_option(model, "n_init", "4"));
    return model;
}

static int32_t *fit_labels(const char *method, const huddle_points *x, int32_t threads,
                           const char *seed) {
    huddle_context *context;
    huddle_model *model = new_model(method);
    int64_t n;
    assert_ok(huddle_context_new(&context));
    assert_ok(huddle_context_set_threads(context, threads));
    assert_ok(huddle_model_set_option(model, "seed", seed));
    assert_ok(huddle_model_fit(context, model, x));
    const int32_t *labels = huddle_model_labels(model, &n);
    assert_int_equal(n, x->n);
    int32_t *copy = malloc((size_t)n * sizeof *copy);
    memcpy(copy, labels, (size_t)n * sizeof *copy);
    huddle_model_free(model);
    huddle_context_free(context);
    return copy;
}

/* ---- the promises -------------------------------------------------------------------------- */

static void labels_are_valid_and_find_the_clouds(const char *method) {
    huddle_points x = new_clouds(N);
    int32_t *labels = fit_labels(method, &x, 2, "0"), truth[N];
    huddle_scores scores;
    for (int i = 0; i < N; i++) {
        assert_in_range(labels[i], 0, N_CLOUDS - 1);
        truth[i] = (i % 100 == 7 ? i - 4 : i) % N_CLOUDS;
    }
    assert_ok(huddle_metrics_scores(NULL, N, truth, labels, &scores));
    assert_true(scores.acc > 0.98);
    free(labels);
    huddle_points_free(&x);
}

static void labels_do_not_depend_on_threads(const char *method) {
    huddle_points x = new_clouds(N);
    int32_t *one = fit_labels(method, &x, 1, "3");
    for (int32_t threads = 1; threads <= 5; threads += 2) {
        int32_t *more = fit_labels(method, &x, threads, "3");
        assert_memory_equal(one, more, N * sizeof *one);
        free(more);
    }
    free(one);
    huddle_points_free(&x);
}

static void small_data_are_clustered_or_refused(const char *method) {
    for (int64_t n = 1; n <= 6; n++) {
        huddle_points x = new_clouds(n);
        huddle_model *model = new_model(method);
        huddle_status status = huddle_model_fit(NULL, model, &x);
        if (n < N_CLOUDS)
            assert_true(status == HUDDLE_INVALID);
        else
            assert_ok(status);
        assert_ok(huddle_model_set_option(model, "n_clusters", "1"));
        assert_ok(huddle_model_fit(NULL, model, &x));
        for (int64_t i = 0; i < n; i++)
            assert_int_equal(huddle_model_labels(model, NULL)[i], 0);
        huddle_model_free(model);
        huddle_points_free(&x);
    }
}

static void equal_points_are_clustered(const char *method) {
    huddle_points x;
    assert_ok(huddle_points_new(30, 3, &x));
    for (int i = 0; i < 90; i++)
        x.values[i] = 1;
    huddle_model *model = new_model(method);
    assert_ok(huddle_model_fit(NULL, model, &x));
    for (int i = 0; i < 30; i++)
        assert_in_range(huddle_model_labels(model, NULL)[i], 0, N_CLOUDS - 1);
    huddle_model_free(model);
    huddle_points_free(&x);
}

static void bad_input_is_refused(const char *method) {
    huddle_points x = new_clouds(N);
    huddle_model *model = new_model(method);
    assert_refused(huddle_model_set_option(model, "n_clusters", "0"), HUDDLE_INVALID,
                   "n_clusters = 0");
    assert_refused(huddle_model_set_option(model, "colour", "red"), HUDDLE_INVALID, "colour");
    assert_refused(huddle_model_fit(NULL, model, NULL), HUDDLE_INVALID, "no points");
    assert_ok(huddle_model_set_option(model, "n_clusters", "1000"));
    assert_refused(huddle_model_fit(NULL, model, &x), HUDDLE_INVALID,
                   "n_clusters = 1000 is outside [1, 240]");
    assert_ok(huddle_model_set_option(model, "n_clusters", "4"));
    x.values[7 * CLOUD_FEATURES + 2] = NAN;
    assert_refused(huddle_model_fit(NULL, model, &x), HUDDLE_INVALID,
                   "row 8, column 3: the value is not a number");
    assert_null(huddle_model_labels(model, NULL));
    huddle_model_free(model);
    huddle_points_free(&x);
}

static int cancel_at_once(void *user, const char *stage, double done, double total) {
    (void)stage, (void)done, (void)total;
    ++*(int *)user;
    return 1;
}

static void cancel_is_honoured(const char *method) {
    huddle_points x = new_clouds(N);
    huddle_context *context;
    huddle_model *model = new_model(method);
    int calls = 0;
    assert_ok(huddle_context_new(&context));
    huddle_context_set_progress(context, cancel_at_once, &calls);
    assert_refused(huddle_model_fit(context, model, &x), HUDDLE_CANCELLED, "cancelled");
    assert_true(calls > 0);
    huddle_context_resume(context);
    huddle_context_set_progress(context, NULL, NULL);
    assert_ok(huddle_model_fit(context, model, &x));
    huddle_model_free(model);
    huddle_context_free(context);
    huddle_points_free(&x);
}

static void training_points_keep_their_labels(const char *method) {
    huddle_points x = new_clouds(N);
    int32_t again[N];
    huddle_model *model = new_model(method);
    assert_ok(huddle_model_fit(NULL, model, &x));
    assert_ok(huddle_model_predict(NULL, model, &x, again));
    assert_memory_equal(again, huddle_model_labels(model, NULL), sizeof again);
    huddle_model_free(model);
    huddle_points_free(&x);
}

static void a_saved_model_is_the_same(const char *method) {
    huddle_points x = new_clouds(N), fresh = new_clouds(2 * N);
    int32_t before[2 * N], after[2 * N];
    char path[256], *info, *info_again;
    huddle_model *model = new_model(method), *loaded;
    snprintf(path, sizeof path, "%s/%s.huddle", test_directory(), method);
    assert_ok(huddle_model_set_option(model, "prepare", "standard"));
    assert_ok(huddle_model_fit(NULL, model, &x));
    assert_ok(huddle_model_save(model, path));
    assert_ok(huddle_model_load(path, &loaded));
    assert_string_equal(huddle_model_method(loaded), method);
    assert_ok(huddle_model_predict(NULL, model, &fresh, before));
    assert_ok(huddle_model_predict(NULL, loaded, &fresh, after));
    assert_memory_equal(before, after, sizeof before);
    assert_ok(huddle_model_info_json(model, &info));
    assert_ok(huddle_model_info_json(loaded, &info_again));
    assert_string_equal(strstr(info, "\"prepare\": {"), strstr(info_again, "\"prepare\": {"));
    assert_non_null(strstr(info_again, "\"prepare\": \"standard\""));
    huddle_free(info);
    huddle_free(info_again);
    huddle_model_free(model);
    huddle_model_free(loaded);
    huddle_points_free(&x);
    huddle_points_free(&fresh);
}

static void option_names_are_unique_and_defaults_fit(const char *method) {
    huddle_model *model;
    assert_ok(huddle_model_new(method, &model));
    const huddle_option *table = huddle_model_options(model);
    for (const huddle_option *o = table; o->type != HUDDLE_OPTION_END; o++) {
        char text[128], again[128];
        assert_ptr_equal(huddle_option_find(table, o->name), o);
        assert_non_null(o->help);
        assert_ok(huddle_model_get_option(model, o->name, text, sizeof text));
        assert_ok(huddle_model_set_option(model, o->name, o->default_text));
        assert_ok(huddle_model_get_option(model, o->name, again, sizeof again));
        assert_string_equal(text, again);
    }
    huddle_model_free(model);
}

static void a_range_of_clusters_is_tried(const char *method) {
    huddle_points x = new_clouds(N);
    huddle_model *model = new_model(method);
    huddle_array labels;
    char *info;
    assert_ok(huddle_model_set_option(model, "n_clusters", "2-6"));
    assert_ok(huddle_model_fit(NULL, model, &x));
    assert_ok(huddle_model_array(model, "range_labels", &labels));
    assert_int_equal(labels.rows, N);
    assert_int_equal(labels.cols, 5);
    for (int t = 0; t < 5; t++)
        for (int i = 0; i < N; i++)
            assert_in_range(((const int32_t *)labels.values)[i * 5 + t], 0, t + 1);
    assert_ok(huddle_model_info_json(model, &info));
    assert_non_null(strstr(info, "\"range\""));
    assert_non_null(strstr(info, "\"n_clusters\": 4,\n  \"method\""));
    huddle_free(info);
    huddle_model_free(model);
    huddle_points_free(&x);
}

static void the_number_of_clusters_is_found(const char *method) {
    huddle_points x = new_clouds(N);
    huddle_model *model = new_model(method);
    assert_ok(huddle_model_set_option(model, "n_clusters", "auto"));
    assert_ok(huddle_model_fit(NULL, model, &x));
    int32_t most = 0;
    for (int i = 0; i < N; i++)
        most =
            huddle_model_labels(model, NULL)[i] > most ? huddle_model_labels(model, NULL)[i] : most;
    assert_int_equal(most, N_CLOUDS - 1);
    huddle_model_free(model);
    huddle_points_free(&x);
}

/* ---- every promise for every method -------------------------------------------------------- */

PROMISE(labels_are_valid_and_find_the_clouds)
PROMISE(labels_do_not_depend_on_threads)
PROMISE(small_data_are_clustered_or_refused)
PROMISE(equal_points_are_clustered)
PROMISE(bad_input_is_refused)
PROMISE(cancel_is_honoured)
PROMISE(training_points_keep_their_labels)
PROMISE(a_saved_model_is_the_same)
PROMISE(option_names_are_unique_and_defaults_fit)
PROMISE(a_range_of_clusters_is_tried)
PROMISE(the_number_of_clusters_is_found)

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_labels_are_valid_and_find_the_clouds),
        cmocka_unit_test(all_labels_do_not_depend_on_threads),
        cmocka_unit_test(all_small_data_are_clustered_or_refused),
        cmocka_unit_test(all_equal_points_are_clustered),
        cmocka_unit_test(all_bad_input_is_refused),
        cmocka_unit_test(all_cancel_is_honoured),
        cmocka_unit_test(all_training_points_keep_their_labels),
        cmocka_unit_test(all_a_saved_model_is_the_same),
        cmocka_unit_test(all_option_names_are_unique_and_defaults_fit),
        cmocka_unit_test(all_a_range_of_clusters_is_tried),
        cmocka_unit_test(all_the_number_of_clusters_is_found),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
