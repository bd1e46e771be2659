/* Every method on the counting engine: the labels are the CPU's, and the counters show that each
 * stage the method uses went through the seam. */
#include "base/context.h"
#include "engines/counting.h"
#include "huddle/huddle.h"
#include "model/model.h"
#include "support/support.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { N = 96, N_NEW = 24, D = 4, C = 3 };

static const char *const modes[] = {"", "resident"};

/* ---- fits ------------------------------------------------------------------------------------ */

/* Options that are set where a method has them. Landmarks are drawn: where K-means would put 20 of
 * them in three clouds depends on its random starts, which are not the same on both engines. Nor
 * are those of EM, which has several maxima unless the covariances have few parameters. A
 * dictionary of more points than a cloud has codes the one around the origin by the others. */
static void set_options(huddle_model *model) {
    static const char *const options[][2] = {{"n_clusters", "3"},     {"n_init", "3"},
                                             {"connect", "true"},     {"prepare", "none"},
                                             {"landmarks", "random"}, {"n_landmarks", "20"},
                                             {"dictionary", "10"},    {"covariance", "spherical"}};
    for (size_t k = 0; k < sizeof options / sizeof *options; k++)
        if (huddle_option_find(huddle_model_options(model), options[k][0]) != NULL)
            assert_ok(huddle_model_set_option(model, options[k][0], options[k][1]));
}

/* `refine` is ignored by methods without this option. */
static huddle_model *fit_refined(huddle_context *context, const char *method, const char *refine,
                                 const huddle_points *x) {
    huddle_model *model;
    assert_ok(huddle_model_new(method, &model));
    set_options(model);
    if (huddle_option_find(huddle_model_options(model), "refine") != NULL)
        assert_ok(huddle_model_set_option(model, "refine", refine));
    assert_ok(huddle_model_fit(context, model, x));
    return model;
}

static huddle_model *fit_model(huddle_context *context, const char *method,
                               const huddle_points *x) {
    return fit_refined(context, method, "auto", x);
}

static bool has_array(huddle_model *model, const char *name) {
    for (const char *const *array = huddle_model_arrays(model); *array != NULL; array++)
        if (strcmp(*array, name) == 0)
            return true;
    return false;
}

/* ---- what a method must ask of the engine ---------------------------------------------------- */

/* At least one call of each; queries of either kind count when predicting. A method that is not in
 * the list is checked by its results alone. */
typedef struct expectation {
    const char *method;
    counting_stage fit[6]; /* ends with N_COUNTING_STAGES */
    counting_stage predict[4];
    const char *own; /* a name below under which the method reports work of its own, or NULL */
} expectation;

#define END N_COUNTING_STAGES

static const expectation expectations[] = {
    {"bipartite",
     {COUNTING_NEIGHBORS, COUNTING_WEIGH, COUNTING_CLUSTER_ROWS, END},
     {COUNTING_QUERIES, END}},
    {"diskmeans", {COUNTING_CLUSTER_ROWS, END}, {COUNTING_ASSIGN_ROWS, END}},
    {"graphencoder",
     {COUNTING_NEIGHBORS, COUNTING_WEIGH, COUNTING_CLUSTER_ROWS, END},
     {COUNTING_QUERIES, END}},
    {"kmeans", {COUNTING_CLUSTER_ROWS, END}, {COUNTING_ASSIGN_ROWS, END}},
    {"l1graph",
     {COUNTING_NEIGHBORS, COUNTING_WEIGH, COUNTING_EIGENPAIRS, COUNTING_CLUSTER_ROWS, END},
     {COUNTING_QUERIES, END}},
    {"l1sc",
     {COUNTING_NEIGHBORS, COUNTING_WEIGH, COUNTING_EIGENPAIRS, COUNTING_CLUSTER_ROWS, END},
     {COUNTING_QUERIES, END}},
    {"lda-kmeans", {COUNTING_CLUSTER_ROWS, END}, {COUNTING_ASSIGN_ROWS, END}},
    {"lda-sc",
     {COUNTING_NEIGHBORS, COUNTING_WEIGH, COUNTING_EIGENPAIRS, COUNTING_CLUSTER_ROWS, END},
     {COUNTING_QUERIES, END}},
    {"ldmgi",
     {COUNTING_NEIGHBORS, COUNTING_EIGENPAIRS, COUNTING_CLUSTER_ROWS, END},
     {COUNTING_QUERIES, END}},
    {"llc",
     {COUNTING_NEIGHBORS, COUNTING_EIGENPAIRS, COUNTING_CLUSTER_ROWS, END},
     {COUNTING_QUERIES, END}},
    {"lsc", {COUNTING_QUERIES, COUNTING_CLUSTER_ROWS, END}, {COUNTING_QUERIES, END}, "embed"},
    {"mixture", {COUNTING_CLUSTER_ROWS, END}, {END}},
    {"ncut",
     {COUNTING_NEIGHBORS, COUNTING_WEIGH, COUNTING_EIGENPAIRS, END},
     {COUNTING_QUERIES, END}},
    {"nsc",
     {COUNTING_NEIGHBORS, COUNTING_WEIGH, COUNTING_EIGENPAIRS, COUNTING_CLUSTER_ROWS, END},
     {COUNTING_QUERIES, END}},
    {"pca-kmeans", {COUNTING_CLUSTER_ROWS, END}, {COUNTING_ASSIGN_ROWS, END}},
    {"pca-sc",
     {COUNTING_NEIGHBORS, COUNTING_WEIGH, COUNTING_EIGENPAIRS, COUNTING_CLUSTER_ROWS, END},
     {COUNTING_QUERIES, END}},
    {"rmsc",
     {COUNTING_NEIGHBORS, COUNTING_WEIGH, COUNTING_EIGENPAIRS, COUNTING_CLUSTER_ROWS, END},
     {COUNTING_QUERIES, END}},
    {"sc",
     {COUNTING_NEIGHBORS, COUNTING_WEIGH, COUNTING_EIGENPAIRS, COUNTING_CLUSTER_ROWS, END},
     {COUNTING_QUERIES, END}},
    {"sec",
     {COUNTING_NEIGHBORS, COUNTING_WEIGH, COUNTING_CLUSTER_ROWS, END},
     {COUNTING_QUERIES, END}},
    {"selftune-sc",
     {COUNTING_NEIGHBORS, COUNTING_WEIGH, COUNTING_EIGENPAIRS, COUNTING_CLUSTER_ROWS, END},
     {COUNTING_QUERIES, END}},
    {"spls", {COUNTING_NEIGHBORS, COUNTING_SHRINK, COUNTING_CLUSTER_ROWS, END}, {END}},
    {"ssc",
     {COUNTING_NEIGHBORS, COUNTING_ROW_NEIGHBORS, COUNTING_WEIGH, COUNTING_EIGENPAIRS,
      COUNTING_SHRINK, END},
     {COUNTING_QUERIES, COUNTING_ROW_QUERIES, COUNTING_SHRINK_POINTS, END}},
};

static void check_calls(const huddle_context *context, const char *method, const char *when,
                        const counting_stage *stages) {
    for (int k = 0; stages[k] != END; k++)
        if (counting_calls(context, stages[k]) == 0)
            fail_msg("%s, %s: %s was not asked of the engine", method, when,
                     counting_stage_name(stages[k]));
}

static const expectation *expectation_of(const char *method) {
    for (size_t k = 0; k < sizeof expectations / sizeof *expectations; k++)
        if (strcmp(expectations[k].method, method) == 0)
            return &expectations[k];
    return NULL;
}

/* The CPU's solvers report their progress under these names, and the engine's functions report
 * none: a report shows that a solver of the CPU ran. */
typedef struct cpu_work {
    const char *own;  /* not to be noted, or NULL */
    const char *seen; /* the last name that was reported, or NULL */
} cpu_work;

static int note_cpu_work(void *user, const char *stage, double done, double total) {
    static const char *const names[] = {"graph", "embed", "shrink", "kmeans"};
    cpu_work *work = user;
    (void)done, (void)total;
    for (size_t k = 0; k < sizeof names / sizeof *names; k++)
        if (strcmp(stage, names[k]) == 0 && (work->own == NULL || strcmp(stage, work->own) != 0))
            work->seen = names[k];
    return 0;
}

/* ---- methods --------------------------------------------------------------------------------- */

/* Equal up to the numbers of the clusters. */
static void check_same_partition(const char *method, const char *what, const int32_t *a,
                                 const int32_t *b, int64_t n) {
    int64_t differing = 0;
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < i; j++)
            differing += (a[i] == a[j]) != (b[i] == b[j]);
    if (differing > 0)
        fail_msg("%s: the %s differ in %lld pairs", method, what, (long long)differing);
}

static void check_same_eigenvalues(huddle_model *a, huddle_model *b) {
    huddle_array x, y;
    if (!has_array(b, "eigenvalues"))
        return;
    assert_ok(huddle_model_array(a, "eigenvalues", &x));
    assert_ok(huddle_model_array(b, "eigenvalues", &y));
    for (int64_t k = 0; k < C; k++)
        assert_close(((const double *)x.values)[k], ((const double *)y.values)[k], 1e-8);
}

static void check_method(const char *method, const char *mode, const char *refine) {
    huddle_context *context = counting_context(mode), *cpu;
    huddle_points x = counting_clouds(N, D, 1), y = counting_clouds(N_NEW, D, 2);
    const expectation *expected = expectation_of(method);
    cpu_work work = {expected != NULL ? expected->own : NULL, NULL};
    int32_t labels[N + N_NEW], known[N + N_NEW];
    char *json = NULL;
    assert_ok(huddle_context_new(&cpu));
    huddle_context_set_progress(context, note_cpu_work, &work);
    huddle_model *b = fit_refined(cpu, method, refine, &x),
                 *a = fit_refined(context, method, refine, &x);
    /* Refined labels are predicted by votes of neighbours, whatever the method; those of K-means by
     * its centres. */
    static const counting_stage votes[] = {COUNTING_QUERIES, END},
                                centres[] = {COUNTING_ASSIGN_ROWS, END};
    bool by_centres = a->fit.refined.centres.values != NULL;
    bool refined = huddle_model_refine_info(a) != NULL;
    check_same_partition(method, "labels", huddle_model_labels(a, NULL),
                         huddle_model_labels(b, NULL), N);
    check_same_eigenvalues(a, b);
    if (expected != NULL)
        check_calls(context, method, "fit", expected->fit);
    counting_forget(counting_state_of(context));
    /* Old points and new ones together: their labels must agree in name too. */
    assert_ok(huddle_model_predict(context, a, &x, labels));
    assert_ok(huddle_model_predict(context, a, &y, labels + N));
    assert_ok(huddle_model_predict(cpu, b, &x, known));
    assert_ok(huddle_model_predict(cpu, b, &y, known + N));
    check_same_partition(method, "predicted labels", labels, known, N + N_NEW);
    if (expected != NULL)
        check_calls(context, method, "predict",
                    by_centres ? centres
                    : refined  ? votes
                               : expected->predict);
    if (work.seen != NULL)
        fail_msg("%s: the CPU's %s ran", method, work.seen);
    huddle_context_set_progress(context, NULL, NULL);
    assert_ok(huddle_model_score(context, a, &x));
    assert_int_equal(atomic_load(&counting_state_of(context)->stale), 0);
    assert_ok(huddle_model_info_json(a, &json));
    huddle_free(json);
    huddle_model_free(a);
    huddle_model_free(b);
    huddle_context_free(context);
    huddle_context_free(cpu);
    huddle_points_free(&x);
    huddle_points_free(&y);
}

static void methods_agree_with_the_cpu(void **state) {
    (void)state;
    for (const huddle_method_text *const *method = huddle_methods(); *method != NULL; method++)
        for (size_t m = 0; m < 2; m++) {
            check_method((*method)->name, modes[m], "none");
            check_method((*method)->name, modes[m], "auto");
        }
}

/* A model outlives the context that fitted it: the engine stays open until nobody has a copy in its
 * memory, arrays can be fetched from there, the model predicts without it and can be saved. */
static void models_outlive_their_context(void **state) {
    (void)state;
    char path[512];
    snprintf(path, sizeof path, "%s/model.huddle", test_directory());
    for (const huddle_method_text *const *method = huddle_methods(); *method != NULL; method++) {
        huddle_context *context = counting_context("resident");
        huddle_points x = counting_clouds(N, D, 1);
        huddle_model *model = fit_model(context, (*method)->name, &x), *loaded;
        int32_t labels[N], again[N];
        huddle_context_free(context);
        for (const char *const *name = huddle_model_arrays(model); *name != NULL; name++) {
            huddle_array view;
            assert_ok(huddle_model_array(model, *name, &view));
            assert_non_null(view.values);
        }
        assert_ok(huddle_model_predict(NULL, model, &x, labels));
        assert_ok(huddle_model_save(model, path));
        assert_ok(huddle_model_load(path, &loaded));
        assert_ok(huddle_model_predict(NULL, loaded, &x, again));
        assert_memory_equal(labels, again, sizeof labels);
        huddle_model_free(loaded);
        huddle_model_free(model);
        huddle_points_free(&x);
        assert_int_equal(counting_open_engines(), 0);
    }
}

/* A cache keeps copies on the host of what the engine computed, and the fit that filled it keeps
 * its own. A leak of either shows under the address sanitizer. */
static void caches_copy_what_engines_keep(void **state) {
    (void)state;
    huddle_context *context = counting_context("resident");
    huddle_cache *cache;
    huddle_points x = counting_clouds(N, D, 1);
    huddle_model *models[2];
    int64_t hits, misses;
    assert_ok(huddle_cache_new(&cache));
    for (int k = 0; k < 2; k++) {
        assert_ok(huddle_model_new("ssc", &models[k]));
        set_options(models[k]);
        huddle_model_set_cache(models[k], cache);
        assert_ok(huddle_model_fit(context, models[k], &x));
    }
    huddle_cache_counts(cache, &hits, &misses);
    assert_true(hits > 0 && misses > 0);
    assert_memory_equal(huddle_model_labels(models[0], NULL), huddle_model_labels(models[1], NULL),
                        N * sizeof(int32_t));
    huddle_cache_free(cache);
    huddle_context_free(context);
    for (int k = 0; k < 2; k++)
        huddle_model_free(models[k]);
    huddle_points_free(&x);
}

/* ---- engines that do not answer -------------------------------------------------------------- */

/* An engine that declines everything leaves the CPU's results, bit for bit. */
static void a_declining_engine_changes_nothing(void **state) {
    (void)state;
    for (const huddle_method_text *const *method = huddle_methods(); *method != NULL; method++) {
        huddle_context *context = counting_context("decline"), *cpu;
        huddle_points x = counting_clouds(N, D, 3);
        assert_ok(huddle_context_new(&cpu));
        huddle_model *a = fit_model(context, (*method)->name, &x);
        huddle_model *b = fit_model(cpu, (*method)->name, &x);
        int32_t one[N], two[N];
        counting_check_same_bits((*method)->name, a, b);
        assert_ok(huddle_model_predict(context, a, &x, one));
        assert_ok(huddle_model_predict(cpu, b, &x, two));
        assert_memory_equal(one, two, sizeof one);
        huddle_model_free(a);
        huddle_model_free(b);
        huddle_points_free(&x);
        huddle_context_free(context);
        huddle_context_free(cpu);
    }
}

/* Any other failure of an engine is the failure of the call, with its message. */
static void a_failing_engine_is_reported(void **state) {
    (void)state;
    static const counting_stage stages[] = {COUNTING_NEIGHBORS,  COUNTING_WEIGH,
                                            COUNTING_EIGENPAIRS, COUNTING_ROW_NEIGHBORS,
                                            COUNTING_SHRINK,     COUNTING_CLUSTER_ROWS};
    for (size_t k = 0; k < sizeof stages / sizeof *stages; k++) {
        char options[64], message[96];
        snprintf(options, sizeof options, "fail:%s", counting_stage_name(stages[k]));
        snprintf(message, sizeof message, "the device has no memory for %s",
                 counting_stage_name(stages[k]));
        huddle_context *context = counting_context(options);
        huddle_points x = counting_clouds(N, D, 4);
        huddle_model *model;
        assert_ok(huddle_model_new(stages[k] == COUNTING_CLUSTER_ROWS ? "kmeans" : "ssc", &model));
        set_options(model);
        assert_refused(huddle_model_fit(context, model, &x), HUDDLE_NO_MEMORY, message);
        assert_null(huddle_model_labels(model, NULL));
        huddle_model_free(model);
        huddle_points_free(&x);
        huddle_context_free(context);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(methods_agree_with_the_cpu),
        cmocka_unit_test(models_outlive_their_context),
        cmocka_unit_test(caches_copy_what_engines_keep),
        cmocka_unit_test(a_declining_engine_changes_nothing),
        cmocka_unit_test(a_failing_engine_is_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
