/* Labels of every restart, which experiments average over. */
#include "support/support.h"

#include "huddle/io.h"
#include "huddle/metrics.h"
#include "huddle/model.h"

#include <math.h>
#include <string.h>

static huddle_data points_of(const char *source, int64_t n) {
    huddle_data data = {0};
    huddle_read_options options = {.n = n, .noise = HUDDLE_AUTO};
    assert_ok(huddle_data_read(NULL, source, &options, &data));
    return data;
}

static huddle_model *fitted(const char *method, const huddle_data *data, bool keep) {
    huddle_model *model = NULL;
    assert_ok(huddle_model_new(method, &model));
    assert_ok(huddle_model_set_option(model, "n_clusters", "3"));
    assert_ok(huddle_model_set_option(model, "n_init", "7"));
    huddle_model_keep_starts(model, keep);
    assert_ok(huddle_model_fit(NULL, model, &data->points));
    return model;
}

/* One of the starts is the one that won. */
static void starts_hold_the_winner(void **state) {
    (void)state;
    static const char *const methods[] = {"kmeans", "sc", "ssc", "pca-kmeans", "llc", "spls", NULL};
    huddle_data data = points_of("blobs", 120);
    for (int m = 0; methods[m] != NULL; m++) {
        huddle_model *model = fitted(methods[m], &data, true);
        const int32_t *labels = huddle_model_labels(model, NULL);
        huddle_array starts, unrefined;
        bool found = false;
        assert_ok(huddle_model_array(model, "start_labels", &starts));
        assert_int_equal(starts.type, HUDDLE_ARRAY_I32);
        assert_int_equal(starts.cols, 120);
        assert_true(starts.rows == 7 || starts.rows == 1);
        if (huddle_model_array(model, "unrefined_labels", &unrefined) == HUDDLE_OK)
            labels = unrefined.values;
        for (int64_t r = 0; r < starts.rows; r++) {
            const int32_t *row = (const int32_t *)starts.values + r * starts.stride;
            found |= memcmp(row, labels, 120 * sizeof *labels) == 0;
            for (int64_t i = 0; i < 120; i++)
                assert_in_range(row[i], 0, 2);
        }
        assert_true(found);
        huddle_model_free(model);
    }
    huddle_data_free(&data);
}

static void starts_are_kept_only_on_request(void **state) {
    (void)state;
    huddle_data data = points_of("blobs", 60);
    huddle_model *plain = fitted("kmeans", &data, false), *keeping = fitted("kmeans", &data, true);
    huddle_array view;
    assert_refused(huddle_model_array(plain, "start_labels", &view), HUDDLE_INVALID,
                   "no array named");
    assert_memory_equal(huddle_model_labels(plain, NULL), huddle_model_labels(keeping, NULL),
                        60 * sizeof(int32_t));
    huddle_model_free(plain);
    huddle_model_free(keeping);
    huddle_data_free(&data);
}

/* Equal points are clustered as one, and every start labels all of them. */
static void equal_points_share_their_start_labels(void **state) {
    (void)state;
    huddle_data data = points_of("blobs", 80);
    for (int64_t i = 40; i < 80; i++)
        memcpy(data.points.values + i * data.points.stride,
               data.points.values + (i - 40) * data.points.stride,
               (size_t)data.points.d * sizeof(float));
    huddle_model *model = fitted("ssc", &data, true);
    huddle_array starts;
    assert_ok(huddle_model_array(model, "start_labels", &starts));
    for (int64_t r = 0; r < starts.rows; r++) {
        const int32_t *row = (const int32_t *)starts.values + r * starts.stride;
        int same = 0;
        for (int64_t i = 40; i < 80; i++)
            same += row[i] == row[i - 40];
        assert_true(same >= 36);
    }
    huddle_model_free(model);
    huddle_data_free(&data);
}

/* ---- lda-kmeans ----------------------------------------------------------------------------- */

/* The largest trace of the alternation. */
static double best_trace(const huddle_model *model) {
    const huddle_alternation_info *info = huddle_model_alternation_info(model);
    double best = 0;
    assert_non_null(info);
    for (int32_t k = 0; k < info->n_history; k++)
        best = fmax(best, info->objective[k]);
    return best;
}

static huddle_model *fitted_lda(const huddle_data *data, const char *alternate, const char *n_init,
                                const char *ridge) {
    huddle_model *model = NULL;
    assert_ok(huddle_model_new("lda-kmeans", &model));
    assert_ok(huddle_model_set_option(model, "n_clusters", "10"));
    assert_ok(huddle_model_set_option(model, "dim", "12"));
    assert_ok(huddle_model_set_option(model, "init", "sample"));
    assert_ok(huddle_model_set_option(model, "n_init", n_init));
    assert_ok(huddle_model_set_option(model, "alternate", alternate));
    assert_ok(huddle_model_set_option(model, "ridge", ridge));
    huddle_model_keep_starts(model, true);
    assert_ok(huddle_model_fit(NULL, model, &data->points));
    return model;
}

/* The share of 200 points in the same clusters: the last K-means, on X P as new points are mapped,
 * may move one that rounding decides. */
static double agreement(const int32_t *a, const int32_t *b) {
    huddle_scores scores;
    assert_ok(huddle_metrics_scores(NULL, 200, a, b, &scores));
    return scores.acc;
}

/* Every restart of K-means is continued: the first one as if it were alone, and the largest trace
 * of all is that of the labels. */
static void every_restart_can_alternate(void **state) {
    (void)state;
    huddle_read_options some = {.per_class = 20};
    huddle_data data = {0};
    huddle_array starts;
    bool found = false;
    assert_ok(huddle_data_read(NULL, "digits", &some, &data));
    huddle_model *all = fitted_lda(&data, "all", "9", "1e-3"),
                 *best = fitted_lda(&data, "best", "9", "1e-3"),
                 *first = fitted_lda(&data, "best", "1", "1e-3");
    assert_ok(huddle_model_array(all, "start_labels", &starts));
    assert_int_equal(starts.rows, 9);
    for (int64_t r = 0; r < 9; r++)
        found |= agreement((const int32_t *)starts.values + r * starts.stride,
                           huddle_model_labels(all, NULL)) > 0.97;
    assert_true(found);
    assert_true(agreement(starts.values, huddle_model_labels(first, NULL)) > 0.97);
    assert_true(best_trace(all) >= best_trace(best) * (1 - 1e-9));
    assert_true(best_trace(all) >= best_trace(first) * (1 - 1e-9));
    assert_true(best_trace(all) > best_trace(first) || best_trace(all) > best_trace(best));
    huddle_model_free(all);
    huddle_model_free(best);
    huddle_model_free(first);
    huddle_data_free(&data);
}

/* A ridge of a million mean eigenvalues divides the trace by about as much. */
static void the_ridge_is_relative_to_the_scatter(void **state) {
    (void)state;
    huddle_read_options some = {.per_class = 20};
    huddle_data data = {0};
    assert_ok(huddle_data_read(NULL, "digits", &some, &data));
    huddle_model *large = fitted_lda(&data, "best", "3", "1e6"),
                 *larger = fitted_lda(&data, "best", "3", "1e7"),
                 *none = fitted_lda(&data, "best", "3", "0");
    assert_close(best_trace(large) / best_trace(larger), 10, 1e-2);
    assert_true(best_trace(large) < 1e-4);
    assert_true(best_trace(none) > 5 && best_trace(none) <= 9 + 1e-9);
    huddle_model_free(large);
    huddle_model_free(larger);
    huddle_model_free(none);
    huddle_data_free(&data);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(starts_hold_the_winner),
        cmocka_unit_test(starts_are_kept_only_on_request),
        cmocka_unit_test(equal_points_share_their_start_labels),
        cmocka_unit_test(every_restart_can_alternate),
        cmocka_unit_test(the_ridge_is_relative_to_the_scatter),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
