/* model: what is given instead of points, ranges, sharing, new points. */
#include "model/model.h"
#include "unit/model_fits.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- given graphs, distances, embeddings --------------------------------------------------- */

static void a_given_graph_gives_the_same_labels(void **state) {
    (void)state;
    static const char *const methods[] = {"sc", "ssc"};
    for (int m = 0; m < 2; m++) {
        huddle_points x = arcs(0.03, 1);
        huddle_model *first = fitted(methods[m], &x), *second;
        huddle_array view;
        assert_ok(huddle_model_array(first, "graph", &view));
        huddle_csr graph = as_csr(&view);
        assert_ok(huddle_model_new(methods[m], &second));
        assert_ok(huddle_model_set_option(second, "n_clusters", "3"));
        assert_ok(huddle_model_set_option(second, "n_init", "5"));
        assert_ok(huddle_model_set_graph(second, &graph));
        assert_ok(huddle_model_fit(NULL, second, NULL));
        same_labels(first, second);
        int32_t label;
        huddle_points one = {.n = 1, .d = 2, .stride = 2, .values = x.values};
        assert_refused(huddle_model_predict(NULL, second, &one, &label), HUDDLE_UNSUPPORTED,
                       "given graph");
        huddle_model_free(first);
        huddle_model_free(second);
        huddle_points_free(&x);
    }
}

static void a_given_embedding_gives_the_same_labels(void **state) {
    (void)state;
    huddle_points x = arcs(0.03, 1);
    huddle_model *first = fitted("ssc", &x), *second;
    huddle_array view;
    assert_ok(huddle_model_array(first, "embedding", &view));
    huddle_dense f = {view.rows, view.cols, view.stride, (double *)(uintptr_t)view.values};
    assert_ok(huddle_model_new("ssc", &second));
    assert_ok(huddle_model_set_option(second, "n_init", "5"));
    assert_ok(huddle_model_set_embedding(second, &f));
    assert_ok(huddle_model_fit(NULL, second, NULL));
    same_labels(first, second);
    huddle_model_free(first);
    huddle_model_free(second);
    huddle_points_free(&x);
}

static void precomputed_distances_give_the_same_labels(void **state) {
    (void)state;
    huddle_points x = arcs(0.03, 1), distances;
    huddle_model *first = fitted("ssc", &x), *second;
    assert_ok(huddle_points_new(N, N, &distances));
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++)
            distances.values[i * N + j] = hypotf(x.values[2 * i] - x.values[2 * j],
                                                 x.values[2 * i + 1] - x.values[2 * j + 1]);
    assert_ok(huddle_model_new("ssc", &second));
    assert_ok(huddle_model_set_option(second, "n_clusters", "3"));
    assert_ok(huddle_model_set_option(second, "n_init", "5"));
    assert_ok(huddle_model_set_option(second, "affinity", "distances"));
    assert_ok(huddle_model_fit(NULL, second, &distances));
    /* The distances are rounded, so clusters may be numbered otherwise. */
    huddle_scores scores;
    assert_ok(huddle_metrics_scores(NULL, N, huddle_model_labels(first, NULL),
                                    huddle_model_labels(second, NULL), &scores));
    assert_true(scores.acc > 0.99);
    assert_ok(huddle_model_set_option(second, "affinity", "precomputed"));
    assert_refused(huddle_model_fit(NULL, second, &x), HUDDLE_INVALID, "must be square");
    huddle_model_free(first);
    huddle_model_free(second);
    huddle_points_free(&x);
    huddle_points_free(&distances);
}

/* Missing distances are not zeros. */
static void all_distances_must_be_there(void **state) {
    (void)state;
    int64_t offsets[] = {0, 2, 4, 5};
    int32_t columns[] = {1, 2, 0, 2, 1};
    double values[] = {1, 2, 1, 3, 3};
    huddle_csr distances = {3, 3, offsets, columns, values};
    huddle_model *model;
    assert_ok(huddle_model_new("sc", &model));
    assert_ok(huddle_model_set_option(model, "affinity", "distances"));
    assert_ok(huddle_model_set_graph(model, &distances));
    assert_refused(huddle_model_fit(NULL, model, NULL), HUDDLE_INVALID, "row 3 has only 1 of 2");
    huddle_model_free(model);
}

/* An embedding of four clouds, each around a corner. */
static huddle_dense four_clouds(void) {
    huddle_dense f;
    assert_ok(huddle_dense_new(40, 4, &f));
    for (int64_t i = 0; i < f.rows; i++) {
        hd_rng rng = hd_rng_stream(4, (uint64_t)i);
        for (int64_t k = 0; k < f.cols; k++)
            f.values[i * f.stride + k] = (i % 4 == k ? 1 : 0) + 0.01 * hd_rng_normal(&rng);
    }
    return f;
}

static void a_range_over_a_given_embedding_goes_by_silhouettes(void **state) {
    (void)state;
    static const char *const methods[] = {"sc", "ssc"};
    huddle_dense f = four_clouds();
    for (int m = 0; m < 2; m++) {
        huddle_model *model;
        char *json;
        assert_ok(huddle_model_new(methods[m], &model));
        assert_ok(huddle_model_set_option(model, "n_clusters", "2-6"));
        assert_ok(huddle_model_set_embedding(model, &f));
        assert_ok(huddle_model_fit(NULL, model, NULL));
        assert_ok(huddle_model_info_json(model, &json));
        assert_non_null(strstr(json, "\"n_clusters\": 4,"));
        assert_non_null(strstr(json, "\"sizes\": [\n    10,\n    10,\n    10,\n    10\n"));
        assert_non_null(strstr(json, "\"warnings\": []")); /* 5 and 6 are too many, but not taken */
        huddle_free(json);
        huddle_model_free(model);
    }
    huddle_dense_free(&f);
}

/* Three triangles: the eigenvalue after the last number of the range must be known. */
static void a_range_sees_the_gap_at_its_end(void **state) {
    (void)state;
    static const char *const methods[] = {"sc", "ssc", "ncut"};
    int64_t offsets[10];
    int32_t columns[18];
    double values[18];
    huddle_csr graph = {9, 9, offsets, columns, values};
    offsets[0] = 0;
    for (int32_t i = 0, at = 0; i < 9; i++) {
        for (int32_t j = i / 3 * 3; j < i / 3 * 3 + 3; j++)
            if (j != i) {
                columns[at] = j;
                values[at++] = 1;
            }
        offsets[i + 1] = at;
    }
    for (int m = 0; m < 3; m++) {
        huddle_model *model;
        assert_ok(huddle_model_new(methods[m], &model));
        assert_ok(huddle_model_set_option(model, "n_clusters", "2-3"));
        assert_ok(huddle_model_set_graph(model, &graph));
        assert_ok(huddle_model_fit(NULL, model, NULL));
        assert_int_equal(model->fit.clusters.n_clusters, 3);
        assert_true(model->fit.trials.items[1].eigengap > 0.9);
        huddle_model_free(model);
    }
}

static void guarded_labels_keep_their_starts(void **state) {
    (void)state;
    huddle_dense f = four_clouds();
    huddle_model *model;
    huddle_array view;
    char *json;
    assert_ok(huddle_model_new("ssc", &model));
    assert_ok(huddle_model_set_option(model, "n_clusters", "6")); /* shrinking leaves four rows */
    assert_ok(huddle_model_set_option(model, "n_init", "7"));
    assert_ok(huddle_model_set_embedding(model, &f));
    huddle_model_keep_starts(model, true);
    assert_ok(huddle_model_fit(NULL, model, NULL));
    assert_ok(huddle_model_info_json(model, &json));
    assert_non_null(strstr(json, "\"guarded\": true"));
    assert_non_null(strstr(json, "the labels are those of the embedding"));
    assert_non_null(strstr(json, "\"warning_codes\": [\n    \"guarded\"\n  ]"));
    assert_null(strstr(json, " empty")); /* true of what was not kept */
    assert_ok(huddle_model_array(model, "start_labels", &view));
    assert_int_equal(view.rows, 7);
    assert_int_equal(view.cols, 40);
    huddle_free(json);
    huddle_model_free(model);
    huddle_dense_free(&f);
}

static void kmeans_has_no_use_for_a_graph(void **state) {
    (void)state;
    int64_t offsets[] = {0, 0};
    huddle_csr graph = {.rows = 1, .cols = 1, .offsets = offsets};
    huddle_model *model;
    assert_ok(huddle_model_new("kmeans", &model));
    assert_refused(huddle_model_set_graph(model, &graph), HUDDLE_UNSUPPORTED, "kmeans");
    huddle_model_free(model);
    assert_refused(huddle_model_new("kmean", &model), HUDDLE_INVALID, "did you mean 'kmeans'?");
}

/* ---- limits of gamma ----------------------------------------------------------------------- */

static void tiny_gamma_gives_the_labels_of_sc(void **state) {
    (void)state;
    huddle_points x = arcs(0.08, 2);
    huddle_model *sc = fitted("sc", &x), *ssc;
    assert_ok(huddle_model_new("ssc", &ssc));
    assert_ok(huddle_model_set_option(ssc, "n_clusters", "3"));
    assert_ok(huddle_model_set_option(ssc, "n_init", "5"));
    assert_ok(huddle_model_set_option(ssc, "gamma", "1e-6"));
    assert_ok(huddle_model_fit(NULL, ssc, &x));
    same_labels(sc, ssc);
    huddle_model_free(sc);
    huddle_model_free(ssc);
    huddle_points_free(&x);
}

static void an_iteration_limit_is_a_warning(void **state) {
    (void)state;
    huddle_points x = arcs(0.3, 2);
    huddle_model *model;
    char *json;
    assert_ok(huddle_model_new("ssc", &model));
    assert_ok(huddle_model_set_option(model, "n_clusters", "3"));
    assert_ok(huddle_model_set_option(model, "n_init", "2"));
    assert_ok(huddle_model_set_option(model, "gap", "1e-12"));
    assert_ok(huddle_model_set_option(model, "shrink_max_iter", "2"));
    assert_ok(huddle_model_fit(NULL, model, &x));
    assert_ok(huddle_model_info_json(model, &json));
    assert_non_null(strstr(json, "\"stop\": \"max_iter\""));
    assert_non_null(strstr(json, "the shrinking stopped (max_iter)"));
    huddle_free(json);
    huddle_model_free(model);
    huddle_points_free(&x);
}

/* ---- new points ---------------------------------------------------------------------------- */

static void jittered_points_keep_their_labels(void **state) {
    (void)state;
    static const char *const methods[] = {"kmeans", "sc", "ssc"};
    for (int m = 0; m < 3; m++) {
        huddle_points x = arcs(0.03, 1);
        huddle_model *model = fitted(methods[m], &x);
        int32_t labels[N];
        int same = 0;
        hd_rng rng = hd_rng_stream(9, 0);
        for (int i = 0; i < 2 * N; i++)
            x.values[i] += (float)(0.005 * hd_rng_normal(&rng));
        assert_ok(huddle_model_predict(NULL, model, &x, labels));
        for (int i = 0; i < N; i++)
            same += labels[i] == huddle_model_labels(model, NULL)[i];
        assert_true(same >= 0.98 * N);
        huddle_points wrong = {.n = N, .d = 1, .stride = 2, .values = x.values};
        assert_refused(huddle_model_predict(NULL, model, &wrong, labels), HUDDLE_INVALID,
                       "the points have 1 features, the model was fitted to 2");
        huddle_model_free(model);
        huddle_points_free(&x);
    }
}

static void a_model_of_one_point_knows_one_label(void **state) {
    (void)state;
    float values[] = {1, 2, 3, 4, 5, 6};
    huddle_points one = {.n = 1, .d = 2, .stride = 2, .values = values};
    huddle_points three = {.n = 3, .d = 2, .stride = 2, .values = values};
    for (const huddle_method_text *const *text = huddle_methods(); *text != NULL; text++) {
        huddle_model *model;
        int32_t labels[3] = {-1, -1, -1};
        assert_ok(huddle_model_new((*text)->name, &model));
        assert_ok(huddle_model_fit(NULL, model, &one));
        assert_ok(huddle_model_predict(NULL, model, &three, labels));
        for (int i = 0; i < 3; i++)
            assert_int_equal(labels[i], 0);
        huddle_model_free(model);
    }
}

static void options_set_after_a_fit_are_for_the_next(void **state) {
    (void)state;
    char path[256], *before, *after;
    huddle_points x = arcs(0.1, 1);
    huddle_model *model = fitted("ssc", &x), *loaded;
    int32_t labels[2][N];
    for (int i = 0; i < 2 * N; i++)
        x.values[i] += 0.05F;
    assert_ok(huddle_model_info_json(model, &before));
    assert_ok(huddle_model_predict(NULL, model, &x, labels[0]));
    assert_ok(huddle_model_set_option(model, "rows", "sym"));
    assert_ok(huddle_model_set_option(model, "n_neighbors", "1"));
    assert_ok(huddle_model_predict(NULL, model, &x, labels[1]));
    assert_memory_equal(labels[0], labels[1], sizeof labels[0]);
    snprintf(path, sizeof path, "%s/options.huddle", test_directory());
    assert_ok(huddle_model_save(model, path));
    assert_ok(huddle_model_load(path, &loaded));
    assert_ok(huddle_model_predict(NULL, loaded, &x, labels[1]));
    assert_memory_equal(labels[0], labels[1], sizeof labels[0]);
    assert_ok(huddle_model_info_json(loaded, &after));
    assert_non_null(strstr(before, "\"rows\": \"unit\""));
    assert_non_null(strstr(after, "\"rows\": \"unit\""));
    huddle_free(before);
    huddle_free(after);
    huddle_model_free(loaded);
    huddle_model_free(model);
    huddle_points_free(&x);
}

/* ---- scores ------------------------------------------------------------------------------- */

static void what_needs_points_stays_unknown_without_them(void **state) {
    (void)state;
    huddle_points x = arcs(0.03, 1);
    huddle_model *model = fitted("kmeans", &x);
    char *json;
    assert_ok(huddle_model_score(NULL, model, NULL));
    assert_ok(huddle_model_info_json(model, &json));
    assert_non_null(strstr(json, "\"silhouette\": null"));
    assert_non_null(strstr(json, "\"stability\": null"));
    huddle_free(json);
    x.values[3] = NAN;
    assert_refused(huddle_model_score(NULL, model, &x), HUDDLE_INVALID, "row 2, column 2");
    huddle_model_free(model);
    huddle_points_free(&x);
}

static void a_loaded_model_reports_its_scores(void **state) {
    (void)state;
    char path[256], *json;
    huddle_points x = arcs(0.03, 1);
    huddle_model *model = fitted("sc", &x), *loaded;
    snprintf(path, sizeof path, "%s/scored.huddle", test_directory());
    assert_ok(huddle_model_save(model, path));
    assert_ok(huddle_model_load(path, &loaded));
    assert_ok(huddle_model_score(NULL, loaded, &x));
    assert_ok(huddle_model_info_json(loaded, &json));
    assert_non_null(strstr(json, "\"silhouette\": 0."));
    assert_non_null(strstr(json, "\"method\": \"sc\""));
    huddle_free(json);
    huddle_model_free(model);
    huddle_model_free(loaded);
    huddle_points_free(&x);
}

/* ---- sharing ------------------------------------------------------------------------------- */

static void models_share_graph_and_embedding(void **state) {
    (void)state;
    static const char *const gammas[] = {"auto", "1", "50"};
    huddle_points x = arcs(0.05, 3);
    huddle_cache *cache;
    int64_t hits, misses;
    assert_ok(huddle_cache_new(&cache));
    for (int g = 0; g < 3; g++) {
        huddle_model *model[2];
        for (int shared = 0; shared < 2; shared++) {
            assert_ok(huddle_model_new("ssc", &model[shared]));
            assert_ok(huddle_model_set_option(model[shared], "n_clusters", "3"));
            assert_ok(huddle_model_set_option(model[shared], "n_init", "3"));
            assert_ok(huddle_model_set_option(model[shared], "gamma", gammas[g]));
            if (shared)
                huddle_model_set_cache(model[shared], cache);
            assert_ok(huddle_model_fit(NULL, model[shared], &x));
        }
        same_labels(model[0], model[1]);
        huddle_model_free(model[0]);
        huddle_model_free(model[1]);
    }
    huddle_cache_counts(cache, &hits, &misses);
    assert_int_equal(misses, 3); /* A, F, W */
    assert_int_equal(hits, 6);
    huddle_cache_free(cache);
    huddle_points_free(&x);
}

/* A preparation that was chosen for another model of the same points is reported in full. */
static void shared_preparations_report_their_trials(void **state) {
    (void)state;
    huddle_points x;
    huddle_cache *cache;
    char *json[2], *trials[2];
    assert_ok(huddle_points_new(60, 12, &x));
    for (int64_t i = 0; i < 60 * 12; i++) {
        hd_rng rng = hd_rng_stream(8, (uint64_t)i);
        x.values[i] = (float)(hd_rng_normal(&rng) + 5 * (double)(i / 12 % 3 == i % 3));
    }
    assert_ok(huddle_cache_new(&cache));
    for (int k = 0; k < 2; k++) {
        huddle_model *model;
        assert_ok(huddle_model_new("sc", &model));
        assert_ok(huddle_model_set_option(model, "n_clusters", "4"));
        huddle_model_set_cache(model, cache);
        assert_ok(huddle_model_fit(NULL, model, &x));
        assert_ok(huddle_model_info_json(model, &json[k]));
        trials[k] = strstr(json[k], "\"tried\"");
        assert_non_null(trials[k]);
        trials[k][strcspn(trials[k], "]")] = '\0';
        huddle_model_free(model);
    }
    assert_string_equal(trials[0], trials[1]);
    huddle_free(json[0]);
    huddle_free(json[1]);
    huddle_cache_free(cache);
    huddle_points_free(&x);
}

static void arrays_are_named(void **state) {
    (void)state;
    huddle_points x = arcs(0.03, 1);
    huddle_model *model;
    huddle_array view;
    assert_ok(huddle_model_new("ssc", &model));
    assert_refused(huddle_model_array(model, "labels", &view), HUDDLE_INVALID, "none yet");
    huddle_model_free(model);
    model = fitted("ssc", &x);
    for (const char *const *name = huddle_model_arrays(model); *name != NULL; name++)
        assert_ok(huddle_model_array(model, *name, &view));
    assert_ok(huddle_model_array(model, "shrunk", &view));
    assert_int_equal(view.rows, N);
    assert_int_equal(view.cols, C);
    assert_refused(huddle_model_array(model, "range_labels", &view), HUDDLE_INVALID,
                   "no array named 'range_labels'; there are points, graph");
    huddle_model_free(model);
    huddle_points_free(&x);
}

static void a_model_outlives_its_points(void **state) {
    (void)state;
    huddle_points x = arcs(0.03, 1), same = arcs(0.03, 1);
    huddle_model *model = fitted("ssc", &x);
    int32_t labels[N];
    memset(x.values, 0x7f, 2 * N * sizeof *x.values);
    huddle_points_free(&x);
    assert_ok(huddle_model_predict(NULL, model, &same, labels));
    assert_memory_equal(labels, huddle_model_labels(model, NULL), sizeof labels);
    huddle_model_free(model);
    huddle_points_free(&same);
}

static void a_failed_fit_leaves_the_last_one(void **state) {
    (void)state;
    huddle_points x = arcs(0.03, 1);
    huddle_model *model = fitted("sc", &x);
    assert_ok(huddle_model_set_option(model, "n_clusters", "301"));
    assert_refused(huddle_model_fit(NULL, model, &x), HUDDLE_INVALID, "[1, 300]");
    assert_non_null(huddle_model_labels(model, NULL));
    huddle_model_free(model);
    huddle_points_free(&x);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_given_graph_gives_the_same_labels),
        cmocka_unit_test(a_given_embedding_gives_the_same_labels),
        cmocka_unit_test(precomputed_distances_give_the_same_labels),
        cmocka_unit_test(all_distances_must_be_there),
        cmocka_unit_test(a_range_over_a_given_embedding_goes_by_silhouettes),
        cmocka_unit_test(a_range_sees_the_gap_at_its_end),
        cmocka_unit_test(guarded_labels_keep_their_starts),
        cmocka_unit_test(kmeans_has_no_use_for_a_graph),
        cmocka_unit_test(tiny_gamma_gives_the_labels_of_sc),
        cmocka_unit_test(an_iteration_limit_is_a_warning),
        cmocka_unit_test(jittered_points_keep_their_labels),
        cmocka_unit_test(a_model_of_one_point_knows_one_label),
        cmocka_unit_test(options_set_after_a_fit_are_for_the_next),
        cmocka_unit_test(what_needs_points_stays_unknown_without_them),
        cmocka_unit_test(a_loaded_model_reports_its_scores),
        cmocka_unit_test(models_share_graph_and_embedding),
        cmocka_unit_test(shared_preparations_report_their_trials),
        cmocka_unit_test(arrays_are_named),
        cmocka_unit_test(a_model_outlives_its_points),
        cmocka_unit_test(a_failed_fit_leaves_the_last_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
