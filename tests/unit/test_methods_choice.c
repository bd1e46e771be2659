/* Choices without labels: the preparation whose own clusters have the largest score, computed here
 * from its definition, and the number of clusters. */
#include "base/rng.h"
#include "decide/count.h"
#include "huddle/huddle.h"
#include "model/model.h"
#include "support/support.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { N = 240, D = 30, C = 4 };

/* Clusters are directions; the lengths of the rows, which say nothing, vary by a factor of
 * exp(spread). */
static huddle_points make_rays(double spread) {
    huddle_points x;
    assert_ok(huddle_points_new(N, D, &x));
    for (int64_t i = 0; i < N; i++) {
        hd_rng rng = hd_rng_stream(11, (uint64_t)i);
        double length = exp(spread * hd_rng_uniform(&rng));
        for (int64_t j = 0; j < D; j++) {
            double value = (j % C == i % C ? 1 : 0.2) + 0.35 * hd_rng_normal(&rng);
            x.values[i * D + j] = (float)(length * value);
        }
    }
    return x;
}

static huddle_points make_directions(void) {
    return make_rays(4.6);
}

/* Many clusters, more points than the first round has, and too few features for projections. */
enum { MANY = 2800, FEW_FEATURES = 12, MANY_CLUSTERS = 20 };

/* Directions again: each cluster has two of the features, and its rows vary a thousandfold in
 * length. */
static huddle_points make_pairs(void) {
    huddle_points x;
    assert_ok(huddle_points_new(MANY, FEW_FEATURES, &x));
    for (int64_t i = 0; i < MANY; i++) {
        hd_rng rng = hd_rng_stream(12, (uint64_t)i);
        double length = exp(6.9 * hd_rng_uniform(&rng));
        int64_t cluster = i % MANY_CLUSTERS, first = cluster % FEW_FEATURES,
                second = (first + 1 + cluster / FEW_FEATURES * 3) % FEW_FEATURES;
        for (int64_t j = 0; j < FEW_FEATURES; j++) {
            double value = (j == first || j == second ? 1 : 0) + 0.3 * hd_rng_normal(&rng);
            x.values[i * FEW_FEATURES + j] = (float)(length * value);
        }
    }
    return x;
}

/* Options that differ between the tests. */
typedef struct setting {
    const char *prepare, *refine, *metric, *n_clusters;
} setting;

static huddle_model *fit(const huddle_points *x, setting with) {
    huddle_model *model;
    assert_ok(huddle_model_new("sc", &model));
    assert_ok(huddle_model_set_option(model, "n_clusters", with.n_clusters));
    assert_ok(huddle_model_set_option(model, "n_init", "5"));
    assert_ok(huddle_model_set_option(model, "seed", "3"));
    assert_ok(huddle_model_set_option(model, "prepare", with.prepare));
    assert_ok(huddle_model_set_option(model, "refine", with.refine));
    assert_ok(huddle_model_set_option(model, "metric", with.metric));
    assert_ok(huddle_model_fit(NULL, model, x));
    return model;
}

/* Newman: 1/2m sum_ij (a_ij - d_i d_j / 2m) [labels equal]. */
static double modularity(const huddle_csr *graph, const int32_t *labels) {
    double *a = calloc(N * N, sizeof *a), degree[N] = {0}, total = 0, sum = 0;
    for (int64_t i = 0; i < N; i++)
        for (int64_t e = graph->offsets[i]; e < graph->offsets[i + 1]; e++) {
            a[i * N + graph->columns[e]] = graph->values[e];
            degree[i] += graph->values[e];
            total += graph->values[e];
        }
    for (int64_t i = 0; i < N; i++)
        for (int64_t j = 0; j < N; j++)
            if (labels[i] == labels[j])
                sum += a[i * N + j] - degree[i] * degree[j] / total;
    free(a);
    return sum / total;
}

static void spell(const huddle_rule *rule, char text[32]) {
    size_t length = strlen(rule->name);
    if (rule->r > 0)
        snprintf(text, 32, "%.*s%d", (int)length - 1, rule->name, rule->r);
    else
        snprintf(text, 32, "%s", rule->name);
}

/* J of the definition: f ln(f / s) + (1 - f) ln((1 - f) / (1 - s)). */
static double divergence(const huddle_csr *graph, const int32_t *labels) {
    double volume[C] = {0}, inside = 0, total = 0, s = 0;
    for (int64_t i = 0; i < N; i++)
        for (int64_t e = graph->offsets[i]; e < graph->offsets[i + 1]; e++) {
            volume[labels[i]] += graph->values[e];
            total += graph->values[e];
            inside += labels[i] == labels[graph->columns[e]] ? graph->values[e] : 0;
        }
    for (int k = 0; k < C; k++)
        s += volume[k] / total * (volume[k] / total);
    double f = inside / total;
    return f * log(f / s) + (f < 1 ? (1 - f) * log((1 - f) / (1 - s)) : 0);
}

/* Fits each preparation that was tried on its own and compares the scores. */
static void check_choice(const huddle_points *x, setting with, bool refined) {
    huddle_model *chosen = fit(x, with);
    const hd_fit_prepare_trials *trials = &chosen->fit.prepared.trials;
    double best = -INFINITY, worst = INFINITY, none = NAN;
    char best_rule[32] = "", text[32];
    assert_true(trials->count >= 4);
    assert_int_equal(trials->score,
                     refined ? HUDDLE_PREPARE_BY_DIVERGENCE : HUDDLE_PREPARE_BY_MODULARITY);
    for (int32_t t = 0; t < trials->count; t++) {
        spell(&trials->items[t].rule, text);
        setting own = {text, with.refine, with.metric, with.n_clusters};
        huddle_model *model = fit(x, own);
        const huddle_csr *graph = &model->fit.graph.matrix;
        const int32_t *labels = model->fit.clusters.labels;
        double value = refined ? divergence(graph, labels) : modularity(graph, labels);
        assert_close(refined ? trials->items[t].divergence : trials->items[t].modularity, value,
                     1e-6);
        if (strcmp(text, "none") == 0)
            none = value;
        if (value > best) {
            best = value;
            strcpy(best_rule, text);
        }
        worst = fmin(worst, value);
        huddle_model_free(model);
    }
    spell(&chosen->fit.prepared.preparation.rule, text);
    assert_string_equal(text, best_rule);
    /* The choice must matter, or any would pass. */
    assert_true(best > worst + 0.1);
    assert_true(strcmp(with.metric, "cosine") == 0 || best > none + 0.01);
    huddle_model_free(chosen);
}

static void the_largest_modularity_is_chosen(void **state) {
    (void)state;
    huddle_points x = make_directions();
    check_choice(&x, (setting){"auto", "none", "euclidean", "4"}, false);
    huddle_points_free(&x);
}

static void the_largest_divergence_of_refined_labels_is_chosen(void **state) {
    (void)state;
    huddle_points x = make_directions();
    check_choice(&x, (setting){"auto", "auto", "euclidean", "4"}, true);
    check_choice(&x, (setting){"auto", "graph", "cosine", "3"}, true);
    huddle_points_free(&x);
}

/* Directions are separate for cosine distances, and only if four clusters are asked for. */
static void separate_points_are_not_prepared(void **state) {
    (void)state;
    huddle_points x = make_directions();
    static const char *const refine[] = {"auto", "graph", "auto", "none"};
    static const char *const n_clusters[] = {"4", "4", "5", "4"};
    for (int k = 0; k < 4; k++) {
        huddle_model *model = fit(&x, (setting){"auto", refine[k], "cosine", n_clusters[k]});
        const hd_fit_prepared *prepared = &model->fit.prepared;
        char *json;
        assert_int_equal(prepared->trials.separate, k < 2);
        assert_int_equal(prepared->trials.count == 0, k < 2);
        assert_ok(huddle_model_info_json(model, &json));
        assert_int_equal(strstr(json, "\"separate\": true") != NULL, k < 2);
        if (k < 2)
            assert_string_equal(prepared->preparation.rule.name, "none");
        huddle_free(json);
        huddle_model_free(model);
    }
    huddle_points_free(&x);
}

/* Labels that are not refined are judged by their modularity, which does notice. */
static void only_for_refined_labels_separate_points_are_not_prepared(void **state) {
    (void)state;
    huddle_points x = make_rays(0);
    static const char *const refine[] = {"auto", "none"};
    for (int k = 0; k < 2; k++) {
        huddle_model *model = fit(&x, (setting){"auto", refine[k], "euclidean", "4"});
        assert_int_equal(model->fit.prepared.trials.separate, k == 0);
        assert_int_equal(model->fit.prepared.trials.count == 0, k == 0);
        huddle_model_free(model);
    }
    huddle_points_free(&x);
}

static void the_chosen_preparation_finds_what_the_worst_does_not(void **state) {
    (void)state;
    huddle_points x = make_directions();
    int32_t truth[N];
    huddle_scores scores;
    double ari[2];
    static const char *const rules[] = {"auto", "whiten:20"};
    for (int32_t i = 0; i < N; i++)
        truth[i] = i % C;
    for (int r = 0; r < 2; r++) {
        huddle_model *model = fit(&x, (setting){rules[r], "none", "euclidean", "4"});
        assert_ok(huddle_metrics_scores(NULL, N, truth, huddle_model_labels(model, NULL), &scores));
        ari[r] = scores.ari;
        huddle_model_free(model);
    }
    assert_true(ari[0] > 0.95);
    assert_true(ari[1] < 0.5);
    huddle_points_free(&x);
}

static void the_smallest_of_nearly_equal_modularities_is_chosen(void **state) {
    (void)state;
    static const double cases[][5] = {{.5, .7, .704, .706, .69},   /* 0.7 is too far from 0.706 */
                                      {.5, .702, .704, .706, .69}, /* within 0.005 */
                                      {.9, .6, .5, .4, .3}};
    static const int32_t expected[] = {2, 1, 0};
    for (int k = 0; k < 3; k++) {
        huddle_trial trials[5] = {0};
        for (int t = 0; t < 5; t++)
            trials[t] = (huddle_trial){.n_clusters = t + 2, .modularity = cases[k][t]};
        assert_int_equal(hd_decide_smallest(5, trials), expected[k]);
    }
}

/* Eigengaps that are clear decide, except those of unbalanced components of many features. */
static void unbalanced_components_are_no_evidence(void **state) {
    (void)state;
    float value = 0;
    huddle_trial trial = {.n_clusters = 2, .modularity = .2};
    hd_fit fit = {.rows.n = 100, /* at most 20 clusters */
                  .prepared.points = {.n = 1, .d = 20, .values = &value},
                  .graph.connect = {.before = 2, .after = 2},
                  .embedding.info.components = 2,
                  .trials = {.items = &trial, .count = 1}};
    huddle_embed_choice choice = {.count = 1, .candidates = {2}, .n_clear = 1};
    assert_true(hd_decide_by_modularity(&fit, &choice));
    trial.modularity = .45; /* two thirds and a third */
    assert_false(hd_decide_by_modularity(&fit, &choice));
    trial.modularity = .2;
    fit.embedding.info.components = 1; /* joined by a short bridge: no other evidence */
    assert_true(hd_decide_by_modularity(&fit, &choice));
    fit.graph.connect.before = 21; /* joined altogether */
    assert_false(hd_decide_by_modularity(&fit, &choice));
    fit.graph.connect.before = 1; /* a gap of a connected graph */
    assert_false(hd_decide_by_modularity(&fit, &choice));
    choice.n_clear = 0;
    assert_true(hd_decide_by_modularity(&fit, &choice));
    fit.prepared.points.d = 2; /* a plane */
    assert_false(hd_decide_by_modularity(&fit, &choice));
    fit.prepared.points = (huddle_points){0}; /* a given graph */
    assert_true(hd_decide_by_modularity(&fit, &choice));
}

/* The stability of a number is measured on samples, which have fewer points than a range may have
 * clusters; such numbers have none. */
static void ranges_end_at_the_number_of_points(void **state) {
    static const char *const ranges[] = {"2-10", "9-10"};
    (void)state;
    for (int r = 0; r < 2; r++) {
        huddle_points x = make_directions();
        x.n = 10;
        huddle_model *model = fit(&x, (setting){"none", "graph", "euclidean", ranges[r]});
        const hd_fit_trials *trials = &model->fit.trials;
        int measured = 0;
        assert_int_equal(trials->count, r == 0 ? 9 : 2);
        for (int32_t t = 0; t < trials->count; t++) {
            measured += !isnan(trials->items[t].stability);
            if (trials->items[t].n_clusters > 4) /* half a sample of 8 points */
                assert_true(isnan(trials->items[t].stability));
        }
        assert_int_equal(measured, r == 0 ? 3 : 0);
        huddle_model_free(model);
        huddle_points_free(&x);
    }
}

/* The scores of the preparations of one fit, alone or with a cache. */
static huddle_model *fit_cached(const huddle_points *x, huddle_cache *cache, const char *option,
                                const char *value) {
    huddle_model *model;
    assert_ok(huddle_model_new("sc", &model));
    huddle_model_set_cache(model, cache);
    assert_ok(huddle_model_set_option(model, "n_clusters", "4"));
    assert_ok(huddle_model_set_option(model, "n_init", "1"));
    assert_ok(huddle_model_set_option(model, "embed_solver", "chebyshev"));
    assert_ok(huddle_model_set_option(model, option, value));
    assert_ok(huddle_model_fit(NULL, model, x));
    return model;
}

/* Each of these options changes the labels by which preparations are compared: a fit must not take
 * the choice of a fit with another value from the cache. */
static void shared_choices_have_equal_options(void **state) {
    (void)state;
    static const char *const options[][2] = {{"rows", "unit"},         {"rows", "sym"},
                                             {"kmeans_max_iter", "1"}, {"init", "sample"},
                                             {"embed_max_iter", "0"},  {"tol", "1e-12"}};
    enum { COUNT = sizeof options / sizeof *options };
    huddle_points x = make_directions();
    huddle_cache *cache;
    double first = 0;
    int n_different = 0;
    assert_ok(huddle_cache_new(&cache));
    for (int k = 0; k < COUNT; k++) {
        huddle_model *alone = fit_cached(&x, NULL, options[k][0], options[k][1]),
                     *shared = fit_cached(&x, cache, options[k][0], options[k][1]);
        const hd_fit_prepare_trials *a = &alone->fit.prepared.trials,
                                    *b = &shared->fit.prepared.trials;
        double sum = 0;
        assert_int_equal(a->count, b->count);
        for (int32_t t = 0; t < a->count; t++) {
            assert_true(a->items[t].divergence == b->items[t].divergence);
            sum += a->items[t].divergence;
        }
        n_different += k > 0 && sum != first;
        first = k == 0 ? sum : first;
        huddle_model_free(alone);
        huddle_model_free(shared);
    }
    assert_true(n_different >= 2); /* else the comparison would show nothing */
    huddle_cache_free(cache);
    huddle_points_free(&x);
}

/* With many clusters merging alone rules candidates out on the points of the first round; the
 * others are evaluated on all points. What was ruled out is worse in a fit of its own. */
static void candidates_far_from_the_best_are_ruled_out(void **state) {
    (void)state;
    huddle_points x = make_pairs();
    huddle_model *chosen = fit(&x, (setting){"auto", "graph", "euclidean", "20"});
    const hd_fit_prepare_trials *trials = &chosen->fit.prepared.trials;
    int32_t n_out = 0;
    assert_int_equal(trials->count, 4);
    assert_string_equal(trials->items[0].rule.name, chosen->fit.prepared.preparation.rule.name);
    for (int32_t t = 0; t < trials->count; t++) {
        bool out = trials->items[t].n < MANY;
        setting own = {trials->items[t].rule.name, "graph", "euclidean", "20"};
        huddle_model *model = fit(&x, own);
        const huddle_refine_info *info = &model->fit.refined.info;
        double value = info->trials[info->best].scores.divergence;
        n_out += out;
        assert_true(t == 0 || out ||
                    trials->items[t].divergence <= trials->items[t - 1].divergence);
        assert_true(out ? n_out > 0 && value < 0.95 * trials->items[0].divergence
                        : n_out == 0 && fabs(value - trials->items[t].divergence) < 0.02 * value);
        huddle_model_free(model);
    }
    assert_true(n_out >= 1 && n_out <= 3);
    huddle_model_free(chosen);
    huddle_points_free(&x);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_largest_modularity_is_chosen),
        cmocka_unit_test(the_largest_divergence_of_refined_labels_is_chosen),
        cmocka_unit_test(candidates_far_from_the_best_are_ruled_out),
        cmocka_unit_test(separate_points_are_not_prepared),
        cmocka_unit_test(only_for_refined_labels_separate_points_are_not_prepared),
        cmocka_unit_test(the_chosen_preparation_finds_what_the_worst_does_not),
        cmocka_unit_test(the_smallest_of_nearly_equal_modularities_is_chosen),
        cmocka_unit_test(unbalanced_components_are_no_evidence),
        cmocka_unit_test(ranges_end_at_the_number_of_points),
        cmocka_unit_test(shared_choices_have_equal_options),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
