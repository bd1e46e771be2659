/* The preparation that is chosen without labels: the one whose own clusters have the largest
 * modularity, computed here from its definition. */
#include "base/rng.h"
#include "huddle/huddle.h"
#include "model/model.h"
#include "support/support.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { N = 240, D = 30, C = 4 };

/* Clusters are directions; the lengths of the rows, which say nothing, vary a hundredfold. */
static huddle_points make_directions(void) {
    huddle_points x;
    assert_ok(huddle_points_new(N, D, &x));
    for (int64_t i = 0; i < N; i++) {
        hd_rng rng = hd_rng_stream(11, (uint64_t)i);
        double length = exp(4.6 * hd_rng_uniform(&rng));
        for (int64_t j = 0; j < D; j++) {
            double value = (j % C == i % C ? 1 : 0.2) + 0.35 * hd_rng_normal(&rng);
            x.values[i * D + j] = (float)(length * value);
        }
    }
    return x;
}

static huddle_model *fit(const huddle_points *x, const char *prepare) {
    huddle_model *model;
    assert_ok(huddle_model_new("sc", &model));
    assert_ok(huddle_model_set_option(model, "n_clusters", "4"));
    assert_ok(huddle_model_set_option(model, "n_init", "5"));
    assert_ok(huddle_model_set_option(model, "seed", "3"));
    assert_ok(huddle_model_set_option(model, "prepare", prepare));
    assert_ok(huddle_model_set_option(model, "refine", "none"));
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

static void the_largest_modularity_is_chosen(void **state) {
    (void)state;
    huddle_points x = make_directions();
    huddle_model *chosen = fit(&x, "auto");
    const hd_fit *f = &chosen->fit;
    double best = -INFINITY, worst = INFINITY, none = NAN;
    char best_rule[32] = "", text[32];
    assert_true(f->prepared.trials.count >= 4);
    for (int32_t t = 0; t < f->prepared.trials.count; t++) {
        spell(&f->prepared.trials.items[t].rule, text);
        huddle_model *model = fit(&x, text);
        double value = modularity(&model->fit.graph.matrix, model->fit.clusters.labels);
        assert_close(f->prepared.trials.items[t].modularity, value, 1e-6);
        if (strcmp(text, "none") == 0)
            none = value;
        if (value > best) {
            best = value;
            strcpy(best_rule, text);
        }
        worst = fmin(worst, value);
        huddle_model_free(model);
    }
    spell(&f->prepared.preparation.rule, text);
    assert_string_equal(text, best_rule);
    /* The choice must matter, or any would pass. */
    assert_true(best > none + 0.01 && best > worst + 0.1);
    huddle_model_free(chosen);
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
        huddle_model *model = fit(&x, rules[r]);
        assert_ok(huddle_metrics_scores(NULL, N, truth, huddle_model_labels(model, NULL), &scores));
        ari[r] = scores.ari;
        huddle_model_free(model);
    }
    assert_true(ari[0] > 0.95);
    assert_true(ari[1] < 0.5);
    huddle_points_free(&x);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_largest_modularity_is_chosen),
        cmocka_unit_test(the_chosen_preparation_finds_what_the_worst_does_not),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
