/* methods: labels that are refined on the graph, what becomes of the fit, and new points. */
#include "base/memory.h"
#include "base/rng.h"
#include "huddle/huddle.h"
#include "model/model.h"
#include "refined_fits.h"
#include "steps/refine.h"
#include "support/support.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool has_array(huddle_model *model, const char *name) {
    for (const char *const *array = huddle_model_arrays(model); *array != NULL; array++)
        if (strcmp(*array, name) == 0)
            return true;
    return false;
}

/* ---- the labels ---------------------------------------------------------------------------- */

static void without_refinement_nothing_is_left_of_it(void **state) {
    (void)state;
    huddle_points x = clouds(N, 1);
    for (int m = 0; m < N_METHODS; m++) {
        huddle_model *none = fit_with(methods[m], &x, "none");
        char *json;
        assert_false(none->fit.refined.present);
        assert_null(huddle_model_refine_info(none));
        assert_false(has_array(none, "unrefined_labels"));
        assert_int_equal(none->fit.embedding.f.vectors.cols, C);
        assert_ok(huddle_model_info_json(none, &json));
        assert_null(strstr(json, "\"refine\": {"));
        huddle_free(json);
        huddle_model_free(none);
    }
    huddle_points_free(&x);
}

/* The labels are those that the stage returns for the starts of the contract, and the method's own
 * are those without refinement. The eigenvectors of both fits agree to the tolerance only. */
static void labels_are_those_of_the_stage(void **state) {
    (void)state;
    huddle_points x = clouds(N, 1);
    int64_t changed = 0;
    for (int m = 0; m < N_METHODS; m++) {
        huddle_model *none = fit(methods[m], &x, OPTIONS("refine", "none", "tol", "1e-9")),
                     *model = fit(methods[m], &x, OPTIONS("refine", "graph", "tol", "1e-9"));
        const hd_fit *f = &model->fit;
        const huddle_refine_info *info = huddle_model_refine_info(model);
        huddle_graph_scores scores;
        assert_non_null(info);
        assert_memory_equal(f->refined.own, none->fit.clusters.labels, N * sizeof(int32_t));
        assert_true(has_array(model, "unrefined_labels"));
        assert_int_equal(info->n_changed, hd_fit_refined_changed(f));
        changed += info->n_changed;
        /* The scores of the chosen trial are those of the labels. */
        assert_ok(huddle_metrics_graph_scores(NULL, &f->graph.matrix, f->clusters.labels, &scores));
        assert_close(info->trials[info->best].scores.map, scores.map, 1e-9);
        assert_close(info->trials[info->best].scores.ncut, scores.ncut, 1e-9);
        /* The method's own labels come first, for ssc those of F, then the other starts. */
        int32_t n_own = strcmp(methods[m], "ssc") == 0 ? 2 : 1;
        static const char *const first[] = {"embedding", "embedding", "rotation",
                                            "embedding", "embedding", "embedding"};
        assert_true(info->n_changed < N / 2); /* clusters keep their numbers */
        assert_string_equal(info->trials[0].name, first[m]);
        assert_string_equal(info->trials[n_own].name, "commute");
        assert_int_equal(info->n_trials, n_own + 5);
        huddle_model_free(none);
        huddle_model_free(model);
    }
    assert_true(changed > 0);
    huddle_points_free(&x);
}

/* The whole of sc's refinement by public functions. */
static void the_starts_of_sc_are_its_labels_and_commute_rows(void **state) {
    (void)state;
    huddle_points x = clouds(N, 1), rows;
    huddle_model *model = fit_with("sc", &x, "graph");
    const hd_fit *f = &model->fit;
    huddle_dense commute = {0};
    huddle_kmeans_options kmeans = huddle_kmeans_defaults();
    huddle_kmeans_result result = {0};
    huddle_refine_options options = huddle_refine_defaults();
    int32_t labels[N];
    assert_int_equal(f->embedding.f.vectors.cols, 2 * C);
    assert_int_equal(f->embedding.f.rows.cols, C);
    assert_ok(huddle_dense_new(N, 2 * C, &commute));
    assert_ok(
        huddle_embed_commute_rows(&f->embedding.f.vectors, f->embedding.f.eigenvalues, &commute));
    assert_ok(huddle_points_from_double(NULL, N, 2 * C, commute.values, commute.stride, 1, &rows));
    kmeans.n_clusters = options.n_clusters = C;
    kmeans.n_init = 3;
    assert_ok(huddle_kmeans(NULL, &rows, NULL, &kmeans, &result, NULL));
    const huddle_refine_start starts[] = {{"embedding", f->refined.own},
                                          {"commute", result.labels}};
    assert_ok(huddle_refine(NULL, &f->graph.matrix, 2, starts, &options, labels, NULL));
    assert_memory_equal(labels, f->clusters.labels, sizeof labels);
    huddle_kmeans_result_free(&result);
    huddle_dense_free(&commute);
    huddle_points_free(&rows);
    huddle_model_free(model);
    huddle_points_free(&x);
}

/* The numbers of a range share one embedding and one tree. */
static void a_range_is_refined_at_every_number(void **state) {
    (void)state;
    huddle_points x = clouds(N, 1);
    huddle_model *range = fit("sc", &x, OPTIONS("n_clusters", "2-6", "refine", "graph"));
    const hd_fit *f = &range->fit;
    assert_int_equal(f->trials.count, 5);
    assert_null(f->refined.tree.first);
    for (int32_t t = 0; t < f->trials.count; t++) {
        char text[16];
        snprintf(text, sizeof text, "%d", t + 2);
        huddle_model *one = fit("sc", &x, OPTIONS("n_clusters", text, "refine", "graph"));
        int64_t same = 0;
        for (int64_t i = 0; i < N; i++)
            same += f->trials.labels[i * f->trials.count + t] == one->fit.clusters.labels[i];
        assert_true(same >= N * 97 / 100);
        huddle_model_free(one);
    }
    huddle_model_free(range);
    huddle_points_free(&x);
}

/* The gap that is reported, and that may cause a warning, is the one after the last cluster, not
 * the one after the last vector. */
static void the_gap_is_that_of_the_number_of_clusters(void **state) {
    (void)state;
    huddle_points x = clouds(N, 1);
    huddle_model *none = fit("sc", &x, OPTIONS("refine", "none", "tol", "1e-9")),
                 *model = fit("sc", &x, OPTIONS("refine", "auto", "tol", "1e-9"));
    const huddle_embed_info *a = huddle_model_embed_info(none), *b = huddle_model_embed_info(model);
    assert_true(fabs(a->gap - b->gap) < 1e-6 * a->gap);
    assert_int_equal(a->cuts_cluster, b->cuts_cluster);
    huddle_model_free(none);
    huddle_model_free(model);
    huddle_points_free(&x);
}

/* Rows that are equal in x but were not merged have equal labels after the refinement too. Two rows
 * of different clusters are declared equal here, as if the preparation had separated them. */
static void equal_rows_have_equal_labels(void **state) {
    (void)state;
    huddle_points x = clouds(N, 1);
    huddle_model *model = fit("sc", &x, OPTIONS("refine", "graph"));
    hd_fit *f = &model->fit;
    int64_t other = 1;
    while (f->clusters.labels[other] == f->clusters.labels[0])
        other++;
    huddle_distinct *equal = &f->rows.equal;
    huddle_distinct_free(equal);
    *equal = (huddle_distinct){.n = N, .count = N - 1};
    equal->of = hd_alloc(N, sizeof *equal->of);
    equal->first = hd_alloc(N - 1, sizeof *equal->first);
    equal->copies = hd_alloc(N - 1, sizeof *equal->copies);
    for (int64_t i = 0; i < N; i++)
        equal->of[i] = (int32_t)(i == other ? 0 : i - (i > other));
    for (int64_t k = 0; k < N - 1; k++) {
        equal->first[k] = k + (k >= other);
        equal->copies[k] = k == 0 ? 2 : 1;
    }
    memcpy(f->clusters.labels, f->refined.own, N * sizeof(int32_t));
    const huddle_refine_start own = {"embedding", f->clusters.labels};
    assert_ok(hd_step_refine(NULL, model->fitted_options, &f->embedding, 1, &own,
                             &f->embedding.f.rows, f));
    assert_int_equal(f->clusters.labels[0], f->clusters.labels[other]);
    huddle_model_free(model);
    huddle_points_free(&x);
}

/* K-means leaves clusters empty if there are fewer distinct rows; refinement does too. */
static void empty_clusters_stay_empty(void **state) {
    (void)state;
    huddle_points x;
    assert_ok(huddle_points_new(60, 2, &x));
    for (int64_t i = 0; i < 60; i++) {
        x.values[2 * i] = (float)(i % 3);
        x.values[2 * i + 1] = (float)((i % 3) * (i % 3));
    }
    for (int m = 0; m < N_METHODS; m++) {
        huddle_model *model = fit(methods[m], &x, OPTIONS("refine", "graph"));
        const int32_t *labels = huddle_model_labels(model, NULL);
        for (int64_t i = 0; i < 60; i++) {
            assert_in_range(labels[i], 0, 2);
            assert_int_equal(labels[i], labels[i % 3]);
        }
        huddle_model_free(model);
    }
    huddle_points_free(&x);
}

/* Labels 0, 2 and 3 of four: 1 stays empty, and a start with fewer clusters is left out. */
static void names_of_clusters_are_kept(void **state) {
    (void)state;
    huddle_points x = clouds(N, 1);
    huddle_model *model = fit("sc", &x, OPTIONS("n_clusters", "3", "refine", "graph"));
    const hd_fit *f = &model->fit;
    int32_t own[N], fewer[N], labels[N];
    huddle_refine_info info;
    for (int64_t i = 0; i < N; i++) {
        own[i] = f->refined.own[i] == 0 ? 0 : f->refined.own[i] + 1;
        fewer[i] = own[i] == 3 ? 2 : own[i];
    }
    const huddle_refine_start starts[] = {{"own", own}, {"fewer", fewer}};
    assert_ok(hd_step_refine_labels(NULL, model->fitted_options, C, &f->rows, &f->graph.matrix,
                                    &f->embedding, NULL, 2, starts, labels, &info));
    assert_string_equal(info.trials[1].name, "commute");
    for (int64_t i = 0; i < N; i++) {
        int32_t k = f->clusters.labels[i];
        assert_int_equal(labels[i], k == 0 ? 0 : k + 1);
    }
    /* One cluster leaves nothing to refine. */
    memset(own, 0, sizeof own);
    assert_ok(hd_step_refine_labels(NULL, model->fitted_options, C, &f->rows, &f->graph.matrix,
                                    &f->embedding, NULL, 1, starts, labels, &info));
    assert_int_equal(info.n_trials, 0);
    assert_memory_equal(labels, own, sizeof own);
    huddle_model_free(model);
    huddle_points_free(&x);
}

/* Stability is that of the K-means step, which is repeated; the refinement is not. */
static void stability_is_that_of_the_own_labels(void **state) {
    (void)state;
    huddle_points x = clouds(N, 1);
    int64_t changed = 0;
    for (int m = 0; m < 2; m++) {
        huddle_model *none = fit(methods[m], &x, OPTIONS("refine", "none", "tol", "1e-9")),
                     *model = fit(methods[m], &x, OPTIONS("refine", "graph", "tol", "1e-9"));
        assert_ok(huddle_model_score(NULL, none, &x));
        assert_ok(huddle_model_score(NULL, model, &x));
        assert_close(huddle_model_scores(model)->stability, huddle_model_scores(none)->stability,
                     1e-9);
        changed += hd_fit_refined_changed(&model->fit);
        huddle_model_free(none);
        huddle_model_free(model);
    }
    assert_true(changed > 0); /* else any labels would do */
    huddle_points_free(&x);
}

/* ---- medoids ------------------------------------------------------------------------------- */

/* The medoid of a cluster belongs to it, and none of its rows is nearer the mean of the rows. */
static void medoids_are_those_of_the_refined_clusters(void **state) {
    (void)state;
    huddle_points x = clouds(N, 1);
    for (int m = 0; m < N_METHODS; m++) {
        huddle_model *model = fit_with(methods[m], &x, "graph");
        const hd_fit *f = &model->fit;
        bool shrunk = f->shrunk.present && !f->shrunk.labels_from_embedding;
        const huddle_dense *rows = shrunk ? &f->shrunk.g.g : &f->embedding.f.rows;
        huddle_dense unit;
        assert_ok(huddle_dense_new(N, rows->cols, &unit));
        assert_ok(huddle_embed_rows(rows, NULL, shrunk ? "sym" : "unit", &unit));
        for (int32_t k = 0; k < C; k++) {
            double mean[C] = {0}, count = 0, own = 0;
            int64_t medoid = f->clusters.medoids[k];
            assert_in_range(medoid, 0, N - 1);
            assert_int_equal(f->clusters.labels[medoid], k);
            for (int64_t i = 0; i < N; i++)
                for (int64_t j = 0; f->clusters.labels[i] == k && j < C; j++)
                    mean[j] += unit.values[i * C + j], count += j == 0;
            for (int64_t j = 0; j < C; j++)
                own += pow(unit.values[medoid * C + j] - mean[j] / count, 2);
            for (int64_t i = 0; i < N; i++) {
                double other = 0;
                for (int64_t j = 0; j < C; j++)
                    other += pow(unit.values[i * C + j] - mean[j] / count, 2);
                if (f->clusters.labels[i] == k)
                    assert_true(other >= own - 1e-9);
            }
        }
        huddle_dense_free(&unit);
        huddle_model_free(model);
    }
    huddle_points_free(&x);
}

/* A file with a label out of range would lead out of arrays of n_clusters elements. */
static void damaged_labels_are_refused(void **state) {
    (void)state;
    huddle_points x = clouds(N, 1);
    huddle_model *model = fit_with("sc", &x, "graph");
    hd_fit_refined *refined = &model->fit.refined;
    assert_ok(hd_fit_check(&model->fit));
    refined->own[7] = C;
    assert_refused(hd_fit_check(&model->fit), HUDDLE_FORMAT, "row 8 had label 4");
    refined->own[7] = -1;
    assert_refused(hd_fit_check(&model->fit), HUDDLE_FORMAT, "row 8 had label -1");
    refined->own[7] = 0;
    refined->info.best = refined->info.n_trials;
    assert_refused(hd_fit_check(&model->fit), HUDDLE_FORMAT, "does not agree");
    refined->info.best = 0;
    model->fit.graph.present = false;
    assert_refused(hd_fit_check(&model->fit), HUDDLE_FORMAT, "graph_offsets");
    huddle_model_free(model);
    huddle_points_free(&x);
}

/* ---- where there is nothing to refine ------------------------------------------------------ */

static void an_embedding_cannot_be_refined(void **state) {
    (void)state;
    huddle_points x = clouds(N, 1);
    huddle_model *source = fit_with("sc", &x, "none"), *model;
    huddle_array view;
    char *json;
    assert_ok(huddle_model_array(source, "embedding", &view));
    huddle_dense f = {view.rows, view.cols, view.stride, (double *)(uintptr_t)view.values};
    for (int m = 0; m < N_METHODS; m++) {
        if (strcmp(methods[m], "llc") == 0 || strcmp(methods[m], "ldmgi") == 0)
            continue; /* they take points only */
        assert_ok(huddle_model_new(methods[m], &model));
        assert_ok(huddle_model_set_option(model, "n_clusters", "4"));
        assert_ok(huddle_model_set_embedding(model, &f));
        assert_ok(huddle_model_fit(NULL, model, NULL));
        assert_null(huddle_model_refine_info(model));
        assert_ok(huddle_model_info_json(model, &json));
        assert_non_null(strstr(json, "\"skipped\": \"an embedding was given\""));
        huddle_free(json);
        assert_ok(huddle_model_set_option(model, "refine", "graph"));
        assert_refused(huddle_model_fit(NULL, model, NULL), HUDDLE_INVALID, "needs a graph");
        huddle_model_free(model);
    }
    huddle_model_free(source);
    huddle_points_free(&x);
}

/* A given graph is refined, but has no points among which a new one could have neighbours. */
static void a_graph_is_refined_but_does_not_predict(void **state) {
    (void)state;
    huddle_points x = clouds(N, 1);
    huddle_model *source = fit_with("sc", &x, "graph"), *model;
    int32_t labels[N];
    assert_ok(huddle_model_new("sc", &model));
    assert_ok(huddle_model_set_option(model, "n_clusters", "4"));
    assert_ok(huddle_model_set_option(model, "n_init", "3"));
    assert_ok(huddle_model_set_graph(model, &source->fit.graph.matrix));
    assert_ok(huddle_model_fit(NULL, model, NULL));
    assert_non_null(huddle_model_refine_info(model));
    assert_memory_equal(huddle_model_labels(model, NULL), huddle_model_labels(source, NULL),
                        N * sizeof(int32_t));
    assert_refused(huddle_model_predict(NULL, model, &x, labels), HUDDLE_UNSUPPORTED,
                   "cannot label new points");
    huddle_model_free(model);
    huddle_model_free(source);
    huddle_points_free(&x);
}

/* Fits that share a cache have the results of fits that do not. */
static void shared_results_are_those_of_single_fits(void **state) {
    (void)state;
    static const char *const values[] = {"none", "graph", "none", "auto"};
    huddle_points x = clouds(N, 1);
    huddle_cache *cache;
    assert_ok(huddle_cache_new(&cache));
    for (int k = 0; k < 4; k++) {
        huddle_model *alone = fit_with("ssc", &x, values[k]), *shared;
        assert_ok(huddle_model_new("ssc", &shared));
        huddle_model_set_cache(shared, cache);
        assert_ok(huddle_model_set_option(shared, "n_clusters", "4"));
        assert_ok(huddle_model_set_option(shared, "n_init", "3"));
        assert_ok(huddle_model_set_option(shared, "refine", values[k]));
        assert_ok(huddle_model_fit(NULL, shared, &x));
        assert_memory_equal(huddle_model_labels(alone, NULL), huddle_model_labels(shared, NULL),
                            N * sizeof(int32_t));
        assert_int_equal(alone->fit.embedding.f.vectors.cols, shared->fit.embedding.f.vectors.cols);
        huddle_model_free(alone);
        huddle_model_free(shared);
    }
    huddle_cache_free(cache);
    huddle_points_free(&x);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(without_refinement_nothing_is_left_of_it),
        cmocka_unit_test(labels_are_those_of_the_stage),
        cmocka_unit_test(the_starts_of_sc_are_its_labels_and_commute_rows),
        cmocka_unit_test(a_range_is_refined_at_every_number),
        cmocka_unit_test(the_gap_is_that_of_the_number_of_clusters),
        cmocka_unit_test(equal_rows_have_equal_labels),
        cmocka_unit_test(empty_clusters_stay_empty),
        cmocka_unit_test(names_of_clusters_are_kept),
        cmocka_unit_test(stability_is_that_of_the_own_labels),
        cmocka_unit_test(medoids_are_those_of_the_refined_clusters),
        cmocka_unit_test(damaged_labels_are_refused),
        cmocka_unit_test(an_embedding_cannot_be_refined),
        cmocka_unit_test(a_graph_is_refined_but_does_not_predict),
        cmocka_unit_test(shared_results_are_those_of_single_fits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
