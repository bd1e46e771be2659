/* methods: tables of columns in different units, and the choice between the labels of the graph and
 * those of K-means. */
#include "base/rng.h"
#include "decide/labels.h"
#include "decide/table.h"
#include "huddle/huddle.h"
#include "method_fits.h"
#include "model/model.h"
#include "support/support.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { N = 300, C = 3, WIDE = 12, NEW = 200 };

static const char *const methods[] = {"sc", "ssc", "ncut", "llc", "ldmgi", "sec", "selftune-sc"};
enum { N_METHODS = sizeof methods / sizeof *methods };

/* ---- data ---------------------------------------------------------------------------------- */

/* Normal clouds in d dimensions, class i % C, `distance` apart; column 0 is noise. */
static huddle_points clouds(int64_t n, int64_t d, double distance, double noise, uint64_t seed) {
    huddle_points x;
    assert_ok(huddle_points_new(n, d, &x));
    for (int64_t i = 0; i < n; i++) {
        hd_rng rng = hd_rng_stream(seed, (uint64_t)i);
        for (int64_t j = 0; j < d; j++) {
            double centre = j > 0 && j % C == i % C ? distance : 0;
            x.values[i * d + j] = (float)((j == 0 ? noise : 1) * hd_rng_normal(&rng) + centre);
        }
    }
    return x;
}

/* A table: the first column dominates all distances and says nothing. */
static huddle_points table(int64_t n, uint64_t seed) {
    return clouds(n, 7, 3, 1000, seed);
}

/* A few values in each of four overlapping clouds of the plane, where the graph has no gaps. */
static huddle_points overlapping(int64_t n, uint64_t seed) {
    huddle_points x;
    assert_ok(huddle_points_new(n, 2, &x));
    for (int64_t i = 0; i < n; i++) {
        hd_rng rng = hd_rng_stream(seed, (uint64_t)i);
        x.values[2 * i] = (float)(3 * (double)(i % 2) + hd_rng_normal(&rng));
        x.values[2 * i + 1] = (float)(3 * (double)(i / 2 % 2) + hd_rng_normal(&rng));
    }
    return x;
}

/* Two rings, one around the other. */
static huddle_points rings(int64_t n) {
    huddle_points x;
    assert_ok(huddle_points_new(n, 2, &x));
    for (int64_t i = 0; i < n; i++) {
        hd_rng rng = hd_rng_stream(4, (uint64_t)i);
        double angle = 6.28318530718 * hd_rng_uniform(&rng);
        double radius = 1 + 1.5 * (double)(i % 2) + .05 * hd_rng_normal(&rng);
        x.values[2 * i] = (float)(radius * cos(angle));
        x.values[2 * i + 1] = (float)(radius * sin(angle));
    }
    return x;
}

#define OPTIONS(...)                                                                               \
    (const char *const[]) {                                                                        \
        __VA_ARGS__, NULL                                                                          \
    }
static const char *const defaults[] = {NULL};

static double ari(const huddle_model *model, int64_t n, int32_t classes) {
    huddle_scores scores;
    int32_t truth[4 * N];
    for (int64_t i = 0; i < n; i++)
        truth[i] = (int32_t)(i % classes);
    assert_ok(huddle_metrics_scores(NULL, n, truth, huddle_model_labels(model, NULL), &scores));
    return scores.ari;
}

/* Whether the info of a fit contains a text. */
static bool reports(const huddle_model *model, const char *text) {
    char *json;
    assert_ok(huddle_model_info_json(model, &json));
    bool found = strstr(json, text) != NULL;
    huddle_free(json);
    return found;
}

/* ---- is it a table? ------------------------------------------------------------------------ */

static const char *kind_of(const huddle_points *x) {
    hd_fit_table found;
    assert_ok(hd_decide_table(NULL, x, &found));
    return found.kind;
}

static void scale_column(huddle_points *x, int64_t j, double factor) {
    for (int64_t i = 0; i < x->n; i++)
        x->values[i * x->stride + j] = (float)(factor * (double)x->values[i * x->stride + j]);
}

/* Ten times the deviation of the others, and no less, makes a column one of another unit. */
static void one_column_of_another_unit_makes_a_table(void **state) {
    (void)state;
    huddle_points x = clouds(N, WIDE, 0, 1, 1);
    hd_fit_table found;
    assert_null(kind_of(&x));
    scale_column(&x, 5, 7);
    assert_null(kind_of(&x));
    scale_column(&x, 5, 2);
    assert_ok(hd_decide_table(NULL, &x, &found));
    assert_string_equal(found.kind, "units");
    assert_int_equal(found.n_columns, WIDE);
    assert_int_equal(found.n_categories, 0);
    assert_in_range((int64_t)(100 * found.n_effective), 105, 120); /* (207 / 196)^2 */
    /* A constant column does not count, and nor does the mean. */
    for (int64_t i = 0; i < N; i++) {
        x.values[i * WIDE + 3] = 5;
        x.values[i * WIDE + 4] += 20000;
    }
    assert_ok(hd_decide_table(NULL, &x, &found));
    assert_string_equal(found.kind, "units");
    assert_int_equal(found.n_columns, WIDE - 1);
    huddle_points_free(&x);
}

/* Half of the columns in another unit leave many effective columns: 6 of 12, above the share. */
static void many_effective_columns_are_no_table(void **state) {
    (void)state;
    huddle_points x = clouds(N, WIDE, 0, 1, 1);
    for (int64_t j = 0; j < WIDE; j += 2)
        scale_column(&x, j, 20);
    assert_null(kind_of(&x));
    for (int64_t j = 4; j < WIDE; j += 2) /* 2 of 12 */
        scale_column(&x, j, .05);
    assert_string_equal(kind_of(&x), "units");
    huddle_points_free(&x);
    /* 12 of 48 are within the share, but more than 10. */
    x = clouds(N, 48, 0, 1, 1);
    for (int64_t j = 0; j < 48; j += 4)
        scale_column(&x, j, 20);
    assert_null(kind_of(&x));
    huddle_points_free(&x);
}

/* Grey levels: many columns at the border hardly vary, others do. */
static void counts_and_grey_levels_are_no_table(void **state) {
    (void)state;
    huddle_points x = clouds(N, WIDE, 0, 1, 1), shifted;
    for (int64_t e = 0; e < N * WIDE; e++)
        x.values[e] = (float)floor(fabs((double)x.values[e]) * (e % WIDE == 6 ? 100 : 2));
    assert_null(kind_of(&x));
    /* Values as the library stores them where means are large are no integers any more. */
    double shift[WIDE];
    for (int64_t j = 0; j < WIDE; j++)
        shift[j] = .3 + (double)j;
    assert_ok(huddle_points_rebase(NULL, &x, shift, &shifted));
    assert_null(kind_of(&shifted));
    huddle_points_free(&shifted);
    x.values[7] = .5F; /* one value of a measurement */
    assert_string_equal(kind_of(&x), "units");
    x.values[7] = 1;
    for (int64_t i = 0; i < N; i++) /* integers that do not begin at 0 */
        x.values[i * WIDE] += 3;
    assert_string_equal(kind_of(&x), "units");
    huddle_points_free(&x);
}

/* Shares, unit rows, and principal components, whose variances descend. */
static void normalised_rows_and_components_are_no_table(void **state) {
    (void)state;
    huddle_points x = clouds(N, WIDE, 0, 1, 1);
    for (int power = 1; power <= 2; power++) {
        huddle_points y;
        assert_ok(huddle_points_copy(&x, &y));
        scale_column(&y, 5, 100);
        assert_string_equal(kind_of(&y), "units");
        for (int64_t i = 0; i < N; i++) {
            double sum = 0;
            for (int64_t j = 0; j < WIDE; j++)
                sum += pow(fabs((double)y.values[i * WIDE + j]), power);
            for (int64_t j = 0; j < WIDE; j++)
                y.values[i * WIDE + j] =
                    (float)((double)y.values[i * WIDE + j] / pow(sum, 1. / power));
        }
        assert_null(kind_of(&y));
        huddle_points_free(&y);
    }
    for (int64_t j = 0; j < WIDE; j++)
        scale_column(&x, j, 64 * pow(.5, (double)(j ^ 1))); /* not strictly descending */
    assert_null(kind_of(&x));
    scale_column(&x, 9, 10000);
    assert_string_equal(kind_of(&x), "units");
    huddle_points_free(&x);
}

/* A column of categories beside measurements of about the same deviation. */
static void categories_beside_measurements_make_a_table(void **state) {
    (void)state;
    huddle_points x = clouds(N, WIDE, 0, 1, 1);
    hd_fit_table found;
    for (int64_t i = 0; i < N; i++)
        x.values[i * WIDE + 3] = (float)(i % 3);
    assert_null(kind_of(&x)); /* one of twelve is less than a tenth */
    for (int64_t i = 0; i < N; i++)
        x.values[i * WIDE + 8] = i % 25 == 0 ? 2 : 1;
    assert_null(kind_of(&x)); /* a value in 4 % of the rows is an exception, not a category */
    for (int64_t i = 0; i < N; i++)
        x.values[i * WIDE + 8] = i % 15 == 0 ? 2 : 1;
    assert_ok(hd_decide_table(NULL, &x, &found));
    assert_string_equal(found.kind, "categories");
    assert_int_equal(found.n_categories, 2);
    for (int64_t i = 0; i < N; i++) /* six values are too many */
        x.values[i * WIDE + 8] = (float)(i % 6);
    assert_null(kind_of(&x));
    huddle_points_free(&x);
}

static void sparse_points_are_never_a_table(void **state) {
    (void)state;
    huddle_points x = table(N, 1), y;
    assert_string_equal(kind_of(&x), "units");
    assert_ok(huddle_points_new_sparse(N, x.d, N * x.d, &y));
    for (int64_t e = 0; e < N * x.d; e++) {
        y.columns[e] = (int32_t)(e % x.d);
        y.values[e] = x.values[e];
        y.offsets[e / x.d + 1] = e + 1;
    }
    assert_null(kind_of(&y));
    huddle_model *model = fit("sc", &y, "3", defaults);
    assert_false(reports(model, "\"decision\""));
    huddle_model_free(model);
    huddle_points_free(&x);
    huddle_points_free(&y);
}

/* ---- preparation --------------------------------------------------------------------------- */

/* The groups that one column hides are found; without refinement nothing changes. */
static void a_table_is_standardised_and_limited(void **state) {
    (void)state;
    huddle_points x = table(N, 1);
    for (int m = 0; m < N_METHODS; m++) {
        huddle_model *model = fit(methods[m], &x, "3", defaults),
                     *none = fit(methods[m], &x, "3", OPTIONS("refine", "none")),
                     *graph = fit(methods[m], &x, "3", OPTIONS("refine", "graph"));
        const hd_fit_prepared *p = &model->fit.prepared;
        assert_string_equal(p->preparation.rule.name, "clip");
        assert_int_equal(p->trials.count, 0);
        assert_true(ari(model, N, C) > .9);
        assert_true(reports(model, "\"decision\": \"7 columns of different units: standardised"));
        assert_true(reports(model, "\"n_effective\""));
        assert_false(reports(model, "of the variance")); /* the warning */
        assert_true(ari(none, N, C) < .2);
        assert_false(reports(none, "\"decision\""));
        assert_true(reports(none, "of the variance"));
        assert_string_equal(graph->fit.prepared.preparation.rule.name, "clip");
        assert_null(graph->fit.refined.decision.reason);
        assert_string_equal(graph->fit.refined.from, "graph");
        huddle_model_free(model);
        huddle_model_free(none);
        huddle_model_free(graph);
    }
    huddle_points_free(&x);
}

/* A preparation that the user has chosen is used; what the labels should be is still a question. */
static void a_chosen_preparation_is_used(void **state) {
    (void)state;
    static const char *const rules[] = {"none", "standard", "clip", "ranks"};
    huddle_points x = table(N, 1);
    for (int r = 0; r < 4; r++) {
        huddle_model *model = fit("sc", &x, "3", OPTIONS("prepare", rules[r]));
        assert_string_equal(model->fit.prepared.preparation.rule.name, rules[r]);
        assert_false(model->fit.prepared.table.is_scaled);
        assert_non_null(model->fit.refined.decision.reason);
        assert_true(reports(model, "\"decision\": \"7 columns of different units; "));
        huddle_model_free(model);
    }
    /* Cosines are not asked about: K-means does not know them. */
    huddle_model *model = fit("sc", &x, "3", OPTIONS("metric", "cosine"));
    assert_string_equal(model->fit.prepared.preparation.rule.name, "none");
    assert_false(reports(model, "\"decision\""));
    huddle_model_free(model);
    huddle_points_free(&x);
}

/* Columns of one unit: few are asked about, many not. */
static void points_of_one_unit_are_not_scaled(void **state) {
    (void)state;
    huddle_points few = clouds(N, 4, 4, 1, 1), many = clouds(N, 10, 1, 1, 1);
    huddle_model *a = fit("sc", &few, "3", defaults), *b = fit("sc", &many, "3", defaults);
    assert_string_equal(a->fit.prepared.preparation.rule.name, "none");
    assert_non_null(a->fit.refined.decision.reason);
    assert_false(reports(a, "columns of different units"));
    assert_true(b->fit.prepared.trials.count > 0);
    assert_null(b->fit.refined.decision.reason);
    assert_false(reports(b, "\"decision\""));
    huddle_model_free(a);
    huddle_model_free(b);
    huddle_points_free(&few);
    huddle_points_free(&many);
}

/* A range and auto: scaled, and decided once, at the number that was chosen. */
static void numbers_of_clusters_are_chosen_on_the_scaled_table(void **state) {
    (void)state;
    huddle_points x = clouds(N, 7, 6, 1000, 1);
    static const char *const numbers[] = {"2-5", "auto"};
    for (int k = 0; k < 2; k++) {
        huddle_model *model = fit("sc", &x, numbers[k], defaults);
        assert_string_equal(model->fit.prepared.preparation.rule.name, "clip");
        assert_int_equal(model->fit.clusters.n_clusters, 3);
        assert_non_null(model->fit.refined.decision.reason);
        assert_true(ari(model, N, C) > .95);
        huddle_model_free(model);
    }
    huddle_points_free(&x);
}

/* ---- the rule ------------------------------------------------------------------------------ */

static int choose(double j_kmeans, double j_graph, double kmeans, double graph, double commute,
                  const char *reason) {
    hd_fit_decision d = {.kmeans = {.divergence = j_kmeans},
                         .graph = {.divergence = j_graph},
                         .stability = {kmeans, graph, commute}};
    int choice = hd_decide_labelling(&d);
    assert_string_equal(d.reason, reason);
    return choice;
}

static void the_more_stable_labels_are_used(void **state) {
    (void)state;
    assert_int_equal(choose(1, 1, .9, .8, .95, "stability"), HD_FIT_KMEANS);
    assert_int_equal(choose(1, 1, .8, .9, .95, "stability"), HD_FIT_GRAPH);
    assert_int_equal(choose(1, 1, .9, .9, .95, "stability"), HD_FIT_GRAPH);
    /* A larger divergence on the graph makes up for .1. */
    assert_int_equal(choose(1.11, 1, .85, .9, 0, "divergence"), HD_FIT_KMEANS);
    assert_int_equal(choose(1.09, 1, .85, .9, 0, "stability"), HD_FIT_GRAPH);
    assert_int_equal(choose(1.11, 1, .79, .9, 0, "stability"), HD_FIT_GRAPH);
    assert_int_equal(choose(1.11, 1, .95, .9, 0, "stability"), HD_FIT_KMEANS);
    /* Commute rows if both are unstable. */
    assert_int_equal(choose(1, 1, .4, .45, .46, "commute"), HD_FIT_COMMUTE);
    assert_int_equal(choose(1, 1, .4, .45, .44, "stability"), HD_FIT_GRAPH);
    assert_int_equal(choose(1, 1, .51, .45, .6, "stability"), HD_FIT_KMEANS);
    assert_int_equal(choose(1, 1, .45, .51, .6, "stability"), HD_FIT_GRAPH);
}

static void a_smaller_cut_decides_without_samples(void **state) {
    (void)state;
    hd_fit_table none = {0}, units = {.kind = "units"};
    hd_fit_decision d = {.kmeans = {.divergence = 1, .ncut = .2},
                         .graph = {.divergence = .51, .ncut = .09}};
    assert_true(hd_decide_is_clear(&none, &d));
    assert_false(hd_decide_is_clear(&units, &d));
    d.graph.divergence = .49;
    assert_false(hd_decide_is_clear(&none, &d));
    d.graph.divergence = 1.1;
    d.graph.ncut = .11;
    assert_false(hd_decide_is_clear(&none, &d));
}

/* ---- labels -------------------------------------------------------------------------------- */

static void rings_keep_the_labels_of_the_graph(void **state) {
    (void)state;
    huddle_points x = rings(N);
    for (int m = 0; m < N_METHODS; m++) {
        huddle_model *model = fit(methods[m], &x, "2", defaults);
        assert_string_equal(model->fit.refined.from, "graph");
        assert_string_equal(model->fit.refined.decision.reason, "cut");
        assert_true(isnan(model->fit.refined.decision.stability[HD_FIT_KMEANS]));
        assert_close(ari(model, N, 2), 1, 1e-9);
        assert_true(reports(model, "\"decision\": \"the graph has no edges between its clusters") ||
                    reports(model, "\"decision\": \"the labels of the graph are clearly better"));
        huddle_model_free(model);
    }
    huddle_points_free(&x);
}

/* The labels, numbered as those of the graph, the centres and the medoids are those of K-means. */
static void overlapping_clouds_get_the_labels_of_kmeans(void **state) {
    (void)state;
    enum { FOUR = 4 };
    huddle_points x = overlapping(2 * N, 1);
    huddle_model *model = fit("sc", &x, "4", OPTIONS("n_init", "20")),
                 *graph = fit("sc", &x, "4", OPTIONS("n_init", "20", "refine", "graph")),
                 *kmeans = fit("kmeans", &x, "4", OPTIONS("n_init", "20"));
    const hd_fit *f = &model->fit;
    const hd_fit_decision *d = &f->refined.decision;
    huddle_scores scores;
    int64_t same = 0;
    assert_string_equal(f->refined.from, "kmeans");
    assert_true(d->stability[HD_FIT_KMEANS] > d->stability[HD_FIT_GRAPH]);
    assert_true(d->stability[HD_FIT_KMEANS] <= 1);
    assert_ok(huddle_metrics_scores(NULL, 2 * N, kmeans->fit.clusters.labels, f->clusters.labels,
                                    &scores));
    assert_close(scores.ari, 1, 1e-12);
    for (int64_t i = 0; i < 2 * N; i++)
        same += f->clusters.labels[i] == graph->fit.clusters.labels[i];
    assert_true(same > 2 * N * 7 / 10);
    assert_true(hd_fit_refined_changed(f) < 2 * N * 3 / 10);
    for (int32_t k = 0; k < FOUR; k++) {
        /* Which of the clusters of K-means this is: its medoid and its centre are the same. */
        int64_t medoid = f->clusters.medoids[k];
        int32_t own = kmeans->fit.clusters.labels[medoid];
        assert_int_equal(f->clusters.labels[medoid], k);
        assert_int_equal(medoid, kmeans->fit.clusters.medoids[own]);
        for (int j = 0; j < 2; j++)
            assert_close(f->refined.centres.values[2 * k + j],
                         kmeans->fit.clusters.centres.values[2 * own + j], 1e-9);
    }
    assert_true(reports(model, "K-means is more stable than the graph (0."));
    assert_true(reports(model, "\"from\": \"kmeans\""));
    huddle_model_free(model);
    huddle_model_free(graph);
    huddle_model_free(kmeans);
    huddle_points_free(&x);
}

/* Rows keep their labels; new points get that of the nearest centre; a file changes nothing. */
static void new_points_get_the_nearest_centre(void **state) {
    (void)state;
    huddle_points x = overlapping(2 * N, 1), y = overlapping(NEW, 3);
    char path[256];
    int32_t labels[2 * N], again[2 * N];
    snprintf(path, sizeof path, "%s/kmeans.huddle", test_directory());
    huddle_model *model = fit("sc", &x, "4", defaults), *loaded;
    assert_string_equal(model->fit.refined.from, "kmeans");
    assert_ok(huddle_model_predict(NULL, model, &x, labels));
    assert_memory_equal(labels, model->fit.clusters.labels, 2 * N * sizeof *labels);
    assert_ok(huddle_model_predict(NULL, model, &y, labels));
    for (int64_t i = 0; i < NEW; i++) {
        const double *centres = model->fit.refined.centres.values;
        int32_t nearest = 0;
        double least = INFINITY;
        for (int32_t k = 0; k < 4; k++) {
            double distance = hypot((double)y.values[2 * i] - centres[2 * k],
                                    (double)y.values[2 * i + 1] - centres[2 * k + 1]);
            if (distance < least) {
                least = distance;
                nearest = k;
            }
        }
        assert_int_equal(labels[i], nearest);
    }
    assert_ok(huddle_model_save(model, path));
    assert_ok(huddle_model_load(path, &loaded));
    assert_ok(huddle_model_predict(NULL, loaded, &y, again));
    assert_memory_equal(labels, again, NEW * sizeof *labels);
    char saved[512], read[512];
    hd_fit_describe_decision(&model->fit, saved, sizeof saved);
    hd_fit_describe_decision(&loaded->fit, read, sizeof read);
    assert_true(strlen(saved) > 40);
    assert_string_equal(saved, read);
    assert_memory_equal(model->fit.refined.decision.stability,
                        loaded->fit.refined.decision.stability,
                        sizeof model->fit.refined.decision.stability);
    huddle_model_free(loaded);
    /* Labels that are not those of the graph come from a decision. */
    model->fit.refined.decision.reason = NULL;
    assert_refused(hd_fit_check(&model->fit), HUDDLE_FORMAT, "does not agree");
    model->fit.refined.decision.reason = "commute";
    assert_refused(hd_fit_check(&model->fit), HUDDLE_FORMAT, "does not agree");
    huddle_model_free(model);
    huddle_points_free(&x);
    huddle_points_free(&y);
}

/* Rows that occur several times are merged: K-means counts the copies. */
static void copies_count_and_have_equal_labels(void **state) {
    (void)state;
    huddle_points x = overlapping(2 * N, 5);
    for (int64_t i = 0; i < 2 * N; i++) /* of six rows the first occurs three times */
        if (i % 6 >= 4)
            memmove(x.values + 2 * i, x.values + 2 * (i - i % 6), 2 * sizeof *x.values);
    huddle_model *model = fit("sc", &x, "4", OPTIONS("n_init", "20")),
                 *kmeans = fit("kmeans", &x, "4", OPTIONS("n_init", "20"));
    const int32_t *labels = huddle_model_labels(model, NULL);
    huddle_scores scores;
    assert_true(model->fit.rows.nodes.n > 0);
    assert_non_null(model->fit.refined.decision.reason);
    assert_string_equal(model->fit.refined.from, "kmeans");
    assert_ok(huddle_metrics_scores(NULL, 2 * N, kmeans->fit.clusters.labels, labels, &scores));
    assert_close(scores.ari, 1, 1e-12);
    for (int64_t i = 0; i < 2 * N; i++)
        if (i % 6 >= 4)
            assert_int_equal(labels[i], labels[i - i % 6]);
    huddle_model_free(model);
    huddle_model_free(kmeans);
    huddle_points_free(&x);
}

/* The samples are the same on any number of threads, also where they are drawn from some rows. */
static void threads_do_not_change_the_decision(void **state) {
    (void)state;
    enum { MANY = 2600 };
    static const int64_t sizes[] = {2 * N, MANY};
    for (int s = 0; s < 2; s++) {
        huddle_points x = overlapping(sizes[s], 1);
        huddle_model *models[2];
        for (int t = 0; t < 2; t++) {
            huddle_context *context;
            assert_ok(huddle_context_new(&context));
            assert_ok(huddle_context_set_threads(context, 1 + 2 * t));
            assert_ok(huddle_model_new("sc", &models[t]));
            assert_ok(huddle_model_set_option(models[t], "n_clusters", "4"));
            assert_ok(huddle_model_set_option(models[t], "n_init", "5"));
            assert_ok(huddle_model_fit(context, models[t], &x));
            huddle_context_free(context);
        }
        const hd_fit *a = &models[0]->fit, *b = &models[1]->fit;
        assert_memory_equal(a->clusters.labels, b->clusters.labels, (size_t)x.n * sizeof(int32_t));
        assert_memory_equal(a->refined.decision.stability, b->refined.decision.stability,
                            sizeof a->refined.decision.stability);
        assert_true(a->refined.decision.stability[HD_FIT_GRAPH] > .2);
        huddle_model_free(models[0]);
        huddle_model_free(models[1]);
        huddle_points_free(&x);
    }
}

/* Fewer rows than two per cluster in a sample, or fewer distinct ones than clusters. */
static void too_few_rows_are_not_compared(void **state) {
    (void)state;
    huddle_points x = overlapping(9, 2);
    huddle_model *model = fit("sc", &x, "4", defaults);
    assert_null(model->fit.refined.decision.reason);
    huddle_model_free(model);
    model = fit("sc", &x, "3", defaults);
    assert_non_null(model->fit.refined.decision.reason);
    huddle_model_free(model);
    huddle_points_free(&x);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_column_of_another_unit_makes_a_table),
        cmocka_unit_test(many_effective_columns_are_no_table),
        cmocka_unit_test(counts_and_grey_levels_are_no_table),
        cmocka_unit_test(normalised_rows_and_components_are_no_table),
        cmocka_unit_test(categories_beside_measurements_make_a_table),
        cmocka_unit_test(sparse_points_are_never_a_table),
        cmocka_unit_test(a_table_is_standardised_and_limited),
        cmocka_unit_test(a_chosen_preparation_is_used),
        cmocka_unit_test(points_of_one_unit_are_not_scaled),
        cmocka_unit_test(numbers_of_clusters_are_chosen_on_the_scaled_table),
        cmocka_unit_test(the_more_stable_labels_are_used),
        cmocka_unit_test(a_smaller_cut_decides_without_samples),
        cmocka_unit_test(rings_keep_the_labels_of_the_graph),
        cmocka_unit_test(overlapping_clouds_get_the_labels_of_kmeans),
        cmocka_unit_test(new_points_get_the_nearest_centre),
        cmocka_unit_test(copies_count_and_have_equal_labels),
        cmocka_unit_test(threads_do_not_change_the_decision),
        cmocka_unit_test(too_few_rows_are_not_compared),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
