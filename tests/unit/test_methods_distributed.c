/* methods: whole fits whose rows are distributed over processes (team.h) have the labels of one
 * process. */
#include "base/rng.h"
#include "engines/team.h"
#include "model/model.h"
#include "support/support.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { N = 420, WIDE = 14, MAX_OPTIONS = 8 };

/* Where the slabs begin: uneven ones, ones of fewer rows than neighbours, and empty ones. */
static const struct {
    int size;
    int64_t first[TEAM_MAX + 1];
} layouts[] = {{1, {0, N}}, {2, {0, 150, N}}, {3, {0, 0, 200, N}}, {4, {0, 3, 300, N, N}}};
enum { LAYOUTS = sizeof layouts / sizeof *layouts };

/* ---- points --------------------------------------------------------------------------------- */

/* Six clouds in many columns, of which all but four are noise. */
static huddle_points clouds(void) {
    huddle_points x;
    assert_ok(huddle_points_new(N, WIDE, &x));
    for (int64_t i = 0; i < N; i++) {
        hd_rng rng = hd_rng_stream(8, (uint64_t)i);
        for (int64_t j = 0; j < WIDE; j++)
            x.values[i * WIDE + j] =
                (float)((j < 4 ? 3.5 * cos((double)(5 * (i % 6) + j)) : 0) + hd_rng_normal(&rng));
    }
    return x;
}

/* Two arcs and a cloud in the plane. */
static huddle_points arcs(double noise) {
    huddle_points x;
    assert_ok(huddle_points_new(N, 2, &x));
    for (int64_t i = 0; i < N; i++) {
        hd_rng rng = hd_rng_stream(2, (uint64_t)i);
        double angle = hd_rng_uniform(&rng) * 3, radius = i % 3 == 0 ? .2 : (double)(i % 3) * 2;
        x.values[2 * i] = (float)(radius * cos(angle) + noise * hd_rng_normal(&rng));
        x.values[2 * i + 1] = (float)(radius * sin(angle) + noise * hd_rng_normal(&rng));
    }
    return x;
}

/* A table: two groups in one column, columns of units and a category. */
static huddle_points table_of_units(void) {
    huddle_points x;
    assert_ok(huddle_points_new(N, 6, &x));
    for (int64_t i = 0; i < N; i++) {
        hd_rng rng = hd_rng_stream(4, (uint64_t)i);
        double group = i % 3 == 0 ? 1 : -1;
        for (int64_t j = 0; j < 6; j++)
            x.values[i * 6 + j] =
                (float)((j == 5 ? (double)(i % 2)
                                : (hd_rng_normal(&rng) + 1.5 * group) * pow(30, (double)(j % 3))));
    }
    return x;
}

/* ---- fits ----------------------------------------------------------------------------------- */

typedef struct job {
    const huddle_points *x;
    const char *method;
    const char *options[2 * MAX_OPTIONS]; /* names and values */
    bool exact;                           /* medoids are to be the same rows */
    int layout;
    int32_t labels[N], predicted[N];
    int32_t n_clusters[TEAM_MAX];
    int64_t medoids[TEAM_MAX][16], n_changed[TEAM_MAX], total_size[TEAM_MAX];
    char from[TEAM_MAX][16], prepare[TEAM_MAX][32], reason[TEAM_MAX][16], kind[TEAM_MAX][16];
    double stability[TEAM_MAX];
    int32_t n_trials[TEAM_MAX];
} job;

static huddle_status make_model(const job *t, huddle_model **model) {
    huddle_status status = HUDDLE_OK;
    TRY(huddle_model_new(t->method, model));
    for (int k = 0; t->options[k] != NULL; k += 2)
        TRY(huddle_model_set_option(*model, t->options[k], t->options[k + 1]));
done:
    return status;
}

/* What is to be the same on all processes. */
static void keep_facts(const huddle_model *model, int64_t first, int rank, job *t) {
    const hd_fit *fit = &model->fit;
    const hd_fit_refined *refined = &fit->refined;
    t->n_clusters[rank] = fit->clusters.n_clusters;
    for (int32_t k = 0; k < fit->clusters.centres.rows && k < 16; k++)
        t->medoids[rank][k] = fit->clusters.medoids[k] < 0 ? -1 : first + fit->clusters.medoids[k];
    /* On one process the info counts again after a decision. */
    t->n_changed[rank] =
        fit->rows.elsewhere > 0 ? refined->info.n_changed : hd_fit_refined_changed(fit);
    t->total_size[rank] = 0;
    for (int32_t k = 0; k < fit->clusters.n_clusters && fit->clusters.all_sizes != NULL; k++)
        t->total_size[rank] += fit->clusters.all_sizes[k];
    snprintf(t->from[rank], 16, "%s", refined->from != NULL ? refined->from : "");
    snprintf(t->reason[rank], 16, "%s",
             refined->decision.reason != NULL ? refined->decision.reason : "");
    snprintf(t->prepare[rank], 32, "%s %d", fit->prepared.preparation.rule.name,
             (int)fit->prepared.preparation.rule.r);
    snprintf(t->kind[rank], 16, "%s",
             fit->prepared.table.kind != NULL ? fit->prepared.table.kind : "");
    t->stability[rank] = refined->decision.stability[HD_FIT_GRAPH];
    t->n_trials[rank] = fit->prepared.trials.count;
}

/* New points near the others, in another order: process r labels those that replace its rows. */
static huddle_status predict_new(huddle_context *context, const huddle_model *model, job *t,
                                 int64_t begin, int64_t end) {
    huddle_status status = HUDDLE_OK;
    huddle_points x = {0};
    int64_t d = t->x->d;
    TRY(huddle_points_new(end - begin, d, &x));
    for (int64_t i = begin; i < end; i++) {
        hd_rng rng = hd_rng_stream(77, (uint64_t)i);
        int64_t from = i * 13 % N; /* every fifth is a training point */
        for (int64_t j = 0; j < d; j++)
            x.values[(i - begin) * d + j] = t->x->values[from * t->x->stride + j] +
                                            (i % 5 == 0 ? 0 : (float)(.05 * hd_rng_normal(&rng)));
    }
    TRY(huddle_model_predict(context, model, &x, t->predicted + begin));
done:
    huddle_points_free(&x);
    return status;
}

static huddle_status fit_member(huddle_context *context, int rank, void *argument) {
    huddle_status status = HUDDLE_OK;
    job *t = argument;
    huddle_points own = team_points(t->x, layouts[t->layout].first, rank);
    huddle_model *model = NULL;
    int64_t first = layouts[t->layout].first[rank];
    char *info = NULL;
    TRY(make_model(t, &model));
    TRY(huddle_model_fit(context, model, &own));
    if (own.n > 0)
        memcpy(t->labels + first, huddle_model_labels(model, NULL),
               (size_t)own.n * sizeof *t->labels);
    keep_facts(model, first, rank, t);
    TRY(huddle_model_info_json(model, &info));
    TRY(predict_new(context, model, t, first, first + own.n));
done:
    huddle_free(info);
    huddle_model_free(model);
    return status;
}

/* Restarts of K-means that find the same clusters may differ in their numbers, and the rounding of
 * sums decides which is taken. */
static void compare_labels(const job *one, const job *t) {
    for (int64_t i = 0; i < N; i++)
        for (int64_t j = 0; j < N; j++) {
            assert_int_equal(t->labels[i] == t->labels[j], one->labels[i] == one->labels[j]);
            assert_int_equal(t->predicted[i] == t->labels[j], one->predicted[i] == one->labels[j]);
        }
}

/* Every medoid is on one process, where it is a row of its cluster. It is that of one process
 * unless rows of the embedding are nearly equal: which of them are equal to the last bit depends on
 * the processes. */
static void compare_medoids(const job *one, const job *t) {
    for (int32_t k = 0; k < one->n_clusters[0] && k < 16; k++) {
        int64_t expected = one->medoids[0][k], found = -1;
        for (int r = 0; r < layouts[t->layout].size && expected >= 0; r++)
            if (t->medoids[r][t->labels[expected]] >= 0) {
                assert_int_equal(found, -1);
                found = t->medoids[r][t->labels[expected]];
            }
        if (one->exact)
            assert_int_equal(found, expected);
        assert_true(expected < 0 || t->labels[found] == t->labels[expected]);
    }
}

/* Fits on one process and on teams; the results are the same. */
static void compare_fits(const job *what, job *one) {
    job *t = calloc(1, sizeof *t);
    huddle_model *model = NULL;
    *one = *what;
    assert_ok(make_model(one, &model));
    assert_ok(huddle_model_fit(NULL, model, one->x));
    memcpy(one->labels, huddle_model_labels(model, NULL), sizeof one->labels);
    keep_facts(model, 0, 0, one);
    assert_ok(predict_new(NULL, model, one, 0, N));
    for (int layout = 0; layout < LAYOUTS; layout++) {
        *t = *what;
        t->layout = layout;
        assert_ok(team_run(layouts[layout].size, &team_engine, fit_member, t));
        compare_labels(one, t);
        compare_medoids(one, t);
        for (int r = 0; r < layouts[layout].size; r++) {
            assert_int_equal(t->n_clusters[r], one->n_clusters[0]);
            assert_int_equal(t->n_changed[r], one->n_changed[0]);
            assert_int_equal(t->n_trials[r], one->n_trials[0]);
            assert_int_equal(t->total_size[r], N);
            assert_string_equal(t->from[r], one->from[0]);
            assert_string_equal(t->reason[r], one->reason[0]);
            assert_string_equal(t->prepare[r], one->prepare[0]);
            assert_string_equal(t->kind[r], one->kind[0]);
            if (!isnan(one->stability[0]))
                assert_close(t->stability[r], one->stability[0], 1e-12);
        }
    }
    huddle_model_free(model);
    free(t);
}

static void default_fits_are_those_of_one_process(void **state) {
    (void)state;
    static const char *const methods[] = {"kmeans", "sc", "ssc"};
    huddle_points x = clouds();
    job *one = calloc(1, sizeof *one);
    for (int k = 0; k < 3; k++) {
        job what = {.x = &x, .method = methods[k], .options = {"n_clusters", "6"}, .exact = k < 2};
        compare_fits(&what, one);
        if (k > 0) {
            assert_string_equal(one->from[0], "graph");
            assert_true(one->n_trials[0] > 0);
        }
    }
    free(one);
    huddle_points_free(&x);
}

/* Few columns: K-means and the graph are compared, by the cut or by samples. */
static void decisions_are_those_of_one_process(void **state) {
    (void)state;
    job *one = calloc(1, sizeof *one);
    bool by_stability = false, by_kmeans = false;
    for (int k = 0; k < 4; k++) {
        huddle_points x = k < 3 ? arcs(k == 0 ? .1 : k == 1 ? .5 : .9) : table_of_units();
        job what = {.x = &x, .method = k % 2 == 0 ? "ssc" : "sc", .options = {"n_clusters", "3"}};
        if (k == 3)
            what.options[1] = "2";
        compare_fits(&what, one);
        assert_true(one->reason[0][0] != '\0');
        by_stability = by_stability || strcmp(one->reason[0], "cut") != 0;
        by_kmeans = by_kmeans || strcmp(one->from[0], "kmeans") == 0;
        if (k == 3)
            assert_string_equal(one->kind[0], "units");
        huddle_points_free(&x);
    }
    assert_true(by_stability && by_kmeans); /* the cases that samples decide were among them */
    free(one);
}

static void numbers_of_clusters_are_those_of_one_process(void **state) {
    (void)state;
    huddle_points x = clouds();
    job *one = calloc(1, sizeof *one);
    static const char *const cases[][3] = {{"ssc", "auto", "auto"},
                                           {"sc", "4-7", "auto"},
                                           {"sc", "auto", "none"},
                                           {"ssc", "6", "none"},
                                           {"kmeans", "5-7", NULL}};
    for (int k = 0; k < 5; k++) {
        job what = {.x = &x, .method = cases[k][0], .options = {"n_clusters", cases[k][1]}};
        if (cases[k][2] != NULL) {
            what.options[2] = "refine";
            what.options[3] = cases[k][2];
            what.options[4] = "prepare";
            what.options[5] = "none";
        }
        compare_fits(&what, one);
    }
    free(one);
    huddle_points_free(&x);
}

/* ---- scores and files ----------------------------------------------------------------------- */

typedef struct file_job {
    job fit;
    const char *path;
    huddle_fit_scores scores[TEAM_MAX];
    huddle_status alone[TEAM_MAX]; /* of saving and predicting without the others */
    int32_t again[N];
} file_job;

static huddle_status save_member(huddle_context *context, int rank, void *argument) {
    huddle_status status = HUDDLE_OK;
    file_job *t = argument;
    huddle_points own = team_points(t->fit.x, layouts[t->fit.layout].first, rank);
    int64_t first = layouts[t->fit.layout].first[rank];
    huddle_model *model = NULL, *loaded = NULL;
    int32_t label;
    TRY(make_model(&t->fit, &model));
    TRY(huddle_model_fit(context, model, &own));
    memcpy(t->fit.labels + first, huddle_model_labels(model, NULL),
           (size_t)own.n * sizeof *t->fit.labels);
    TRY(huddle_model_score(context, model, &own));
    t->scores[rank] = *huddle_model_scores(model);
    huddle_points single = *t->fit.x;
    single.n = 1;
    t->alone[rank] = huddle_model_predict(NULL, model, &single, &label);
    if (t->alone[rank] == HUDDLE_UNSUPPORTED)
        t->alone[rank] = huddle_model_save(model, t->path);
    TRY(huddle_model_save_distributed(context, model, t->path));
    TRY(predict_new(context, model, &t->fit, first, first + own.n));
    /* Every process may load the file; it has all rows then. */
    TRY(huddle_model_load(t->path, &loaded));
    memcpy(t->again + first, t->fit.predicted + first, (size_t)own.n * sizeof *t->again);
    TRY(predict_new(context, loaded, &t->fit, first, first + own.n));
done:
    huddle_model_free(model);
    huddle_model_free(loaded);
    return status;
}

/* The file of several processes is that of one: it predicts alike, anywhere. */
static void models_of_several_processes_are_saved(void **state) {
    (void)state;
    huddle_points x = clouds();
    char path[] = "/tmp/huddle_rows_XXXXXX";
    int descriptor = mkstemp(path);
    assert_true(descriptor >= 0);
    file_job *t = calloc(1, sizeof *t);
    for (int k = 0; k < 3; k++)
        for (int layout = 0; layout < LAYOUTS; layout++) {
            huddle_model *one = NULL, *loaded = NULL;
            int64_t n;
            *t = (file_job){.path = path};
            t->fit = (job){.x = &x,
                           .method = k == 0 ? "sc" : "ssc",
                           .options = {"n_clusters", "6", "refine", k == 2 ? "none" : "auto"},
                           .layout = layout};
            assert_ok(make_model(&t->fit, &one));
            assert_ok(huddle_model_fit(NULL, one, &x));
            assert_ok(huddle_model_score(NULL, one, &x));
            assert_ok(team_run(layouts[layout].size, &team_engine, save_member, t));
            for (int r = 0; r < layouts[layout].size; r++) {
                assert_int_equal(t->alone[r],
                                 layouts[layout].size > 1 ? HUDDLE_UNSUPPORTED : HUDDLE_OK);
                assert_close(t->scores[r].ncut, huddle_model_scores(one)->ncut, 1e-9);
                assert_close(t->scores[r].silhouette, huddle_model_scores(one)->silhouette, 1e-6);
                assert_close(t->scores[r].stability, huddle_model_scores(one)->stability, 1e-6);
            }
            assert_memory_equal(t->again, t->fit.predicted, sizeof t->again);
            assert_ok(huddle_model_load(path, &loaded));
            assert_memory_equal(huddle_model_labels(loaded, &n), t->fit.labels,
                                sizeof t->fit.labels);
            assert_int_equal(n, N);
            assert_ok(predict_new(NULL, loaded, &t->fit, 0, N));
            assert_memory_equal(t->again, t->fit.predicted, sizeof t->again);
            huddle_model_free(one);
            huddle_model_free(loaded);
        }
    free(t);
    assert_int_equal(unlink(path), 0);
    huddle_points_free(&x);
}

/* ---- what is refused ------------------------------------------------------------------------ */

static void other_methods_are_refused_by_name(void **state) {
    (void)state;
    huddle_points x = clouds();
    job *t = calloc(1, sizeof *t);
    int refused = 0;
    for (const huddle_method_text *const *m = huddle_methods(); *m != NULL; m++) {
        *t = (job){.x = &x, .method = (*m)->name, .options = {"n_clusters", "6"}, .layout = 1};
        if (hd_method_find(t->method)->distributes)
            continue;
        char expected[128];
        snprintf(expected, sizeof expected,
                 "method %s needs all rows in one process; engine team runs kmeans, sc and ssc",
                 t->method);
        assert_refused(team_run(2, &team_engine, fit_member, t), HUDDLE_UNSUPPORTED, expected);
        refused++;
    }
    assert_true(refused >= 10);
    free(t);
    huddle_points_free(&x);
}

static huddle_status fit_with_little_memory(huddle_context *context, int rank, void *argument) {
    huddle_context_set_memory(context, rank == 1 ? 1 : (int64_t)1 << 40);
    return fit_member(context, rank, argument);
}

/* One process has too little memory: all refuse. */
static void too_little_memory_is_agreed_on(void **state) {
    (void)state;
    huddle_points x = clouds();
    job *t = calloc(1, sizeof *t);
    *t = (job){.x = &x, .method = "ssc", .options = {"n_clusters", "6"}, .layout = 1};
    assert_refused(team_run(2, &team_engine, fit_with_little_memory, t), HUDDLE_NO_MEMORY,
                   "the fit would need");
    free(t);
    huddle_points_free(&x);
}

static void a_bad_value_is_refused_by_all(void **state) {
    (void)state;
    huddle_points x = clouds();
    job *t = calloc(1, sizeof *t);
    x.values[(N - 1) * WIDE] = NAN;
    *t = (job){.x = &x, .method = "ssc", .options = {"n_clusters", "6"}, .layout = 1};
    assert_refused(team_run(2, &team_engine, fit_member, t), HUDDLE_INVALID, "not a number");
    free(t);
    huddle_points_free(&x);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(default_fits_are_those_of_one_process),
        cmocka_unit_test(decisions_are_those_of_one_process),
        cmocka_unit_test(numbers_of_clusters_are_those_of_one_process),
        cmocka_unit_test(models_of_several_processes_are_saved),
        cmocka_unit_test(other_methods_are_refused_by_name),
        cmocka_unit_test(too_little_memory_is_agreed_on),
        cmocka_unit_test(a_bad_value_is_refused_by_all),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
