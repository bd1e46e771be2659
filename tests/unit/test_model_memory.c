/* model: the memory of a fit is predicted, limited and reported; the times of its stages add up. */
#include "base/machine.h"
#include "base/rng.h"
#include "huddle/huddle.h"
#include "support/support.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Clusters of normal points around random centres, so that the graph has edges between them. */
static huddle_points clusters(int64_t n, int64_t d, int64_t c) {
    huddle_points x;
    assert_ok(huddle_points_new(n, d, &x));
    for (int64_t i = 0; i < n; i++) {
        hd_rng rng = hd_rng_stream(1, (uint64_t)i), centre = hd_rng_stream(2, (uint64_t)(i % c));
        for (int64_t j = 0; j < d; j++)
            x.values[i * d + j] = (float)(2 * hd_rng_normal(&centre) + hd_rng_normal(&rng));
    }
    return x;
}

static huddle_model *new_model(const char *method, int c) {
    huddle_model *model;
    char text[16];
    snprintf(text, sizeof text, "%d", c);
    assert_ok(huddle_model_new(method, &model));
    assert_ok(huddle_model_set_option(model, "n_clusters", text));
    assert_ok(huddle_model_set_option(model, "n_init", "2"));
    return model;
}

/* The number of a member of an object of the info, both by name. */
static double member(const char *info, const char *object, const char *name) {
    char key[64];
    snprintf(key, sizeof key, "\"%s\": {", object);
    const char *at = strstr(info, key);
    assert_non_null(at);
    snprintf(key, sizeof key, "\"%s\":", name);
    at = strstr(at, key);
    assert_non_null(at);
    return strtod(at + strlen(key), NULL);
}

typedef struct memory_case {
    const char *method, *option, *value;
    int n, d, c;
    const char *epochs; /* of methods that have them; the memory does not depend on them */
} memory_case;

static void check_prediction(const memory_case *fit, int32_t n_threads) {
    huddle_points x = clusters(fit->n, fit->d, fit->c);
    huddle_model *model = new_model(fit->method, fit->c);
    huddle_context *context;
    char *info;
    assert_ok(huddle_context_new(&context));
    assert_ok(huddle_context_set_threads(context, n_threads));
    assert_ok(huddle_model_set_option(model, fit->option, fit->value));
    if (fit->epochs != NULL)
        assert_ok(huddle_model_set_option(model, "epochs", fit->epochs));
    huddle_model_borrow_points(model, true);
    assert_ok(huddle_model_fit(context, model, &x));
    assert_ok(huddle_model_info_json(model, &info));
    double predicted = member(info, "memory", "predicted") - member(info, "memory", "base");
    double arrays = member(info, "memory", "arrays");
    /* Threads that wait for a CPU have no arrays yet, so that several may need less than predicted.
     */
    if (predicted < .7 * arrays || (n_threads == 1 && predicted > 1.6 * arrays))
        fail_msg("%s of %d x %d, %d clusters, %s = %s, %d threads: %.0f predicted, %.0f measured",
                 fit->method, fit->n, fit->d, fit->c, fit->option, fit->value, (int)n_threads,
                 predicted, arrays);
    huddle_free(info);
    huddle_model_free(model);
    huddle_context_free(context);
    huddle_points_free(&x);
}

/* Predictions and measured peaks of arrays, for methods, rows, features and clusters. */
static void predictions_are_near_the_peak(void **state) {
    (void)state;
    skip_unless_memory_is_measured();
    static const memory_case cases[] = {{"ssc", "prepare", "none", 3000, 8, 20},
                                        {"ssc", "prepare", "none", 6000, 4, 5},
                                        {"ssc", "prepare", "unit", 2000, 64, 10},
                                        {"ssc", "solver", "pdhg", 3000, 8, 20},
                                        {"ssc", "refine", "none", 3000, 16, 12},
                                        {"sc", "prepare", "none", 6000, 8, 20},
                                        {"sc", "refine", "none", 6000, 8, 20},
                                        {"sc", "prepare", "none", 3000, 100, 6},
                                        {"ncut", "prepare", "none", 5000, 8, 10},
                                        {"selftune-sc", "prepare", "none", 4000, 8, 8},
                                        {"kmeans", "prepare", "none", 20000, 8, 8},
                                        {"graphencoder", "layers", "300,1500", 300, 8, 5, "2"},
                                        {"graphencoder", "layers", "200,50", 3000, 8, 5, "2"}};
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++)
        for (int32_t n_threads = 1; n_threads <= 2; n_threads++)
            check_prediction(&cases[k], n_threads);
}

/* What a fit of ssc would need beside what the process has. */
static int64_t predicted_need(const huddle_points *x) {
    huddle_model *model = new_model("ssc", 10);
    char *info;
    assert_ok(huddle_model_set_option(model, "prepare", "none"));
    assert_ok(huddle_model_fit(NULL, model, x));
    assert_ok(huddle_model_info_json(model, &info));
    int64_t need = (int64_t)(member(info, "memory", "predicted") - member(info, "memory", "base"));
    assert_non_null(strstr(info, "\"leaner\": []"));
    huddle_free(info);
    huddle_model_free(model);
    return need;
}

static char last_log[512];

static void keep_log(void *user, huddle_log_level level, huddle_warning_code code,
                     const char *text) {
    (void)user;
    (void)level;
    (void)code;
    if (strstr(text, "to save memory") != NULL)
        snprintf(last_log, sizeof last_log, "%s", text);
}

static void limits_make_fits_leaner_or_refuse_them(void **state) {
    (void)state;
    skip_unless_memory_is_measured();
    huddle_points x = clusters(3000, 8, 10);
    huddle_context *context;
    int64_t need = predicted_need(&x);
    char *info;
    assert_ok(huddle_context_new(&context));
    huddle_context_set_log(context, keep_log, NULL);
    assert_int_equal(huddle_context_memory(context), HUDDLE_AUTO);
    assert_refused(huddle_context_set_memory(context, 0), HUDDLE_INVALID, "memory = 0");
    /* In between: the fit changes to a leaner solver and stays within the limit. */
    huddle_model *model = new_model("ssc", 10);
    assert_ok(huddle_model_set_option(model, "prepare", "none"));
    assert_ok(huddle_context_set_memory(context, hd_machine_private("") + 8 * need / 10));
    assert_ok(huddle_model_fit(context, model, &x));
    assert_non_null(strstr(last_log, "to save memory, the shrink step is solved by pdhg"));
    assert_ok(huddle_model_info_json(model, &info));
    assert_non_null(strstr(info, "without linear systems"));
    assert_true(member(info, "memory", "predicted") <= member(info, "memory", "limit"));
    huddle_free(info);
    /* A choice of the user is not changed. */
    assert_ok(huddle_model_set_option(model, "solver", "newton"));
    assert_refused(huddle_model_fit(context, model, &x), HUDDLE_NO_MEMORY, "in stage shrink");
    /* Too little for anything: refused, and the model is as it was. */
    assert_ok(huddle_model_set_option(model, "solver", "auto"));
    assert_ok(huddle_context_set_memory(context, 1 << 20));
    assert_refused(huddle_model_fit(context, model, &x), HUDDLE_NO_MEMORY, "it may use");
    assert_non_null(huddle_model_labels(model, NULL));
    huddle_model_free(model);
    huddle_context_free(context);
    huddle_points_free(&x);
}

static void models_can_borrow_their_points(void **state) {
    (void)state;
    huddle_points x = clusters(500, 4, 3);
    huddle_array array;
    for (int borrow = 0; borrow < 2; borrow++) {
        huddle_model *model = new_model("sc", 3);
        assert_ok(huddle_model_set_option(model, "prepare", "none"));
        huddle_model_borrow_points(model, borrow);
        assert_ok(huddle_model_fit(NULL, model, &x));
        assert_ok(huddle_model_array(model, "points", &array));
        assert_int_equal(array.values == x.values, borrow);
        huddle_model_free(model);
    }
    assert_close(x.values[0], x.values[0], 0); /* they are still there */
    huddle_points_free(&x);
}

/* The share of a fit's time that is in no stage. */
static double unnamed_share(const char *method, const huddle_points *x) {
    huddle_model *model = new_model(method, 10);
    char *info;
    assert_ok(huddle_model_fit(NULL, model, x));
    assert_ok(huddle_model_info_json(model, &info));
    double total = member(info, "seconds", "total"), other = member(info, "seconds", "other");
    double check = member(info, "seconds", "check");
    assert_true(check > 0 && check < total);
    huddle_free(info);
    huddle_model_free(model);
    return (other - .001) / total;
}

/* Every stage is named: what is in none of them is a small share of the time, unless the process
 * had to wait for a CPU just there, which does not happen every time. */
static void times_of_stages_add_up(void **state) {
    (void)state;
    enum { ATTEMPTS = 10 };
    static const char *const methods[] = {"ssc", "sc", "ncut", "kmeans", "lsc", "pca-kmeans", NULL};
    huddle_points x = clusters(4000, 8, 10);
    for (int k = 0; methods[k] != NULL; k++) {
        double share = unnamed_share(methods[k], &x);
        for (int attempt = 1; attempt < ATTEMPTS && share > .05; attempt++)
            share = unnamed_share(methods[k], &x);
        if (share > .05)
            fail_msg("%s: %g of the time is in no stage", methods[k], share);
    }
    huddle_points_free(&x);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(predictions_are_near_the_peak),
        cmocka_unit_test(limits_make_fits_leaner_or_refuse_them),
        cmocka_unit_test(models_can_borrow_their_points),
        cmocka_unit_test(times_of_stages_add_up),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
