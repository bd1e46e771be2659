/* Mixtures of Gaussians: against NumPy, and what EM promises. */
#include "base/rng.h"
#include "huddle/metrics.h"
#include "method_fits.h"
#include "model/model.h"
#include "steps/mixture.h"
#include "support/support.h"
#include "unit/zip_files.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const covariances[] = {"full", "tied", "diagonal", "spherical"};

static bool warns(const huddle_model *model, const char *part) {
    for (int64_t i = 0; i < model->fit.warnings.count; i++)
        if (strstr(model->fit.warnings.items[i].text, part) != NULL)
            return true;
    return false;
}

/* ---- against NumPy ------------------------------------------------------------------------- */

/* S = (B'B)^-1 of component k, by solving with each unit vector: B is a triangle at most. */
static void covariance_of(const hd_step_mixture *m, int32_t k, double *s) {
    int64_t d = m->d;
    bool full = strcmp(m->covariance, "full") == 0, tied = strcmp(m->covariance, "tied") == 0;
    for (int64_t j = 0; j < d; j++) {
        double *column = s + j * d; /* of B^-1, stored as a row */
        for (int64_t i = 0; i < d; i++) {
            double sum = i == j;
            if (full || tied) {
                const double *b = m->scales + (full ? k * d * d : 0);
                for (int64_t l = 0; l < i; l++)
                    sum -= b[i * d + l] * column[l];
                column[i] = sum / b[i * d + i];
            } else {
                column[i] = sum / m->scales[m->covariance[0] == 'd' ? k * d + i : k];
            }
        }
    }
    double *product = malloc((size_t)(d * d) * sizeof *product);
    for (int64_t i = 0; i < d; i++)
        for (int64_t j = 0; j < d; j++) {
            product[i * d + j] = 0;
            for (int64_t l = 0; l < d; l++)
                product[i * d + j] += s[l * d + i] * s[l * d + j];
        }
    memcpy(s, product, (size_t)(d * d) * sizeof *s);
    free(product);
}

typedef struct problem {
    int64_t n, d;
    int32_t c, rounds;
    double least;
    huddle_points points;
    int32_t *labels;
    const double *copies;
} problem;

static const double *read_problem(const double *at, problem *p) {
    *p = (problem){
        (int64_t)at[0], (int64_t)at[1], (int32_t)at[2], (int32_t)at[3], at[4], {0}, NULL, NULL};
    at += 5;
    assert_ok(huddle_points_from_double(NULL, p->n, p->d, at, p->d, 1, &p->points));
    at += p->n * p->d;
    p->labels = malloc((size_t)p->n * sizeof *p->labels);
    for (int64_t i = 0; i < p->n; i++)
        p->labels[i] = (int32_t)at[i];
    p->copies = at + p->n;
    return at + 2 * p->n;
}

static void check_all(const double *computed, const double **known, int64_t count, double tol) {
    for (int64_t i = 0; i < count; i++)
        assert_close(computed[i], (*known)[i], tol * (1 + fabs((*known)[i])));
    *known += count;
}

static const double *check_fit(const problem *p, const char *covariance, const double *at) {
    hd_step_mixture m = {0};
    huddle_alternation_info history = {0};
    hd_step_mixture_options options = {covariance, p->least, 0, p->rounds};
    double s[64];
    int32_t *labels = malloc((size_t)p->n * sizeof *labels);
    int64_t shift = p->points.shift != NULL;
    assert_int_equal(shift, 0); /* means are compared as stored */
    assert_ok(
        hd_step_mixture_fit(NULL, &p->points, p->copies, p->c, p->labels, &options, &m, &history));
    assert_int_equal(history.n_history, p->rounds + 1);
    check_all(history.objective, &at, p->rounds + 1, 1e-11);
    check_all(m.weights, &at, p->c, 1e-8);
    check_all(m.means, &at, p->c * p->d, 1e-8);
    for (int32_t k = 0; k < p->c; k++) {
        covariance_of(&m, k, s);
        check_all(s, &at, p->d * p->d, 1e-8);
    }
    assert_ok(hd_step_mixture_label(NULL, &p->points, &m, labels));
    for (int64_t i = 0; i < p->n; i++)
        assert_int_equal(labels[i], (int32_t)at[i]);
    free(labels);
    hd_step_mixture_free(&m);
    hd_fit_alternation_reset(&history);
    return at + p->n;
}

static void em_agrees_with_numpy(void **state) {
    (void)state;
    int64_t count;
    double *numbers = test_golden("mixture.txt", &count);
    const double *at = numbers + 1;
    for (int k = 0; k < (int)numbers[0]; k++) {
        problem p;
        at = read_problem(at, &p);
        for (int s = 0; s < 4; s++)
            at = check_fit(&p, covariances[s], at);
        huddle_points_free(&p.points);
        free(p.labels);
    }
    assert_ptr_equal(at, numbers + count);
    free(numbers);
}

/* ---- points -------------------------------------------------------------------------------- */

/* Two long clouds side by side in the first two columns, which K-means cuts across, and noise in
 * the others. */
static huddle_points stripes(int64_t n, int64_t d, double gap, int32_t *truth) {
    huddle_points x;
    assert_ok(huddle_points_new(n, d, &x));
    for (int64_t i = 0; i < n; i++) {
        hd_rng rng = hd_rng_stream(11, (uint64_t)i);
        for (int64_t j = 0; j < d; j++)
            x.values[i * d + j] = (float)hd_rng_normal(&rng);
        x.values[i * d] *= 6;
        x.values[i * d + 1] += (float)(i % 2 == 0 ? 0 : gap);
        if (truth != NULL)
            truth[i] = (int32_t)(i % 2);
    }
    return x;
}

static double accuracy(int64_t n, const int32_t *truth, const int32_t *labels) {
    huddle_scores scores;
    assert_ok(huddle_metrics_scores(NULL, n, truth, labels, &scores));
    return scores.acc;
}

/* ---- the likelihood ------------------------------------------------------------------------- */

/* Also where covariances are singular: few points for their features, rows that repeat, columns
 * that depend on others. Rounding then changes the distance of a row by as much as a number is
 * rounded times the condition of the covariance, 1 / floor, in each of the features. */
static void the_likelihood_never_falls(void **state) {
    (void)state;
    for (int t = 0; t < 24; t++) {
        enum { ROWS = 70, MOST = 12 };
        int32_t labels[ROWS], c = 2 + t % 5, d = 2 + (5 * t) % 11;
        double copies[ROWS], floor = t % 2 == 0 ? 1e-2 : 1e-8, most = 3 * ROWS * d;
        huddle_points x = stripes(ROWS, d, 3, NULL);
        hd_rng rng = hd_rng_stream(3, (uint64_t)t);
        for (int i = 0; i < ROWS; i++) {
            labels[i] = (int32_t)hd_rng_below(&rng, c);
            copies[i] = 1 + (double)hd_rng_below(&rng, 3);
            x.values[i * d + d - 1] = t % 3 == 0 ? 7 : x.values[i * d];
            if (i % 7 == 0)
                memcpy(x.values + i * d, x.values, (size_t)d * sizeof(float));
        }
        hd_step_mixture m = {0};
        huddle_alternation_info history = {0};
        hd_step_mixture_options options = {covariances[t % 4], floor, 0, 60};
        assert_ok(hd_step_mixture_fit(NULL, &x, copies, c, labels, &options, &m, &history));
        for (int r = 1; r < history.n_history; r++)
            assert_true(history.objective[r] >= history.objective[r - 1] -
                                                    1e-7 * fabs(history.objective[r - 1]) -
                                                    10 * DBL_EPSILON / floor * most);
        assert_true(history.objective[history.n_iter] > history.objective[0]);
        hd_step_mixture_free(&m);
        hd_fit_alternation_reset(&history);
        huddle_points_free(&x);
    }
}

/* With a component that never had rows: its weight stays 0 and nothing becomes infinite. */
static void a_component_without_rows_stays_empty(void **state) {
    (void)state;
    int32_t labels[40], found[40];
    huddle_points x = stripes(40, 3, 20, labels);
    for (int i = 0; i < 40; i++)
        labels[i] *= 2;
    for (int s = 0; s < 4; s++) {
        hd_step_mixture m = {0};
        huddle_alternation_info history = {0};
        hd_step_mixture_options options = {covariances[s], 1e-6, 1e-8, 50};
        assert_ok(hd_step_mixture_fit(NULL, &x, NULL, 3, labels, &options, &m, &history));
        assert_ok(hd_step_mixture_label(NULL, &x, &m, found));
        assert_true(m.weights[1] == 0);
        assert_close(m.weights[0] + m.weights[2], 1, 1e-12);
        assert_true(isfinite(history.objective[history.n_iter]));
        if (s == 0)
            assert_memory_equal(found, labels, sizeof labels);
        hd_step_mixture_free(&m);
        hd_fit_alternation_reset(&history);
    }
    huddle_points_free(&x);
}

/* Far from every component all densities are 0 as doubles, but not their logarithms. */
static void distant_points_belong_to_the_nearest_component(void **state) {
    (void)state;
    int32_t truth[80], labels[2];
    huddle_points x = stripes(80, 2, 30, truth), far;
    const char *options[] = {"covariance", "full", NULL};
    huddle_model *model = fit("mixture", &x, "2", options);
    assert_true(accuracy(80, truth, huddle_model_labels(model, NULL)) == 1);
    assert_ok(huddle_points_new(2, 2, &far));
    far.values[1] = -40;
    far.values[3] = 70;
    assert_ok(huddle_model_predict(NULL, model, &far, labels));
    assert_int_equal(labels[0], 0);
    assert_int_equal(labels[1], 1);
    huddle_model_free(model);
    huddle_points_free(&x);
    huddle_points_free(&far);
}

/* ---- the method ----------------------------------------------------------------------------- */

static void shapes_that_kmeans_cuts_are_found(void **state) {
    (void)state;
    enum { ROWS = 300 };
    int32_t truth[ROWS];
    huddle_points x = stripes(ROWS, 2, 8, truth);
    huddle_model *means = fit("kmeans", &x, "2", (const char *const[]){NULL});
    huddle_model *full = fit("mixture", &x, "2", (const char *const[]){"n_init", "20", NULL});
    assert_true(accuracy(ROWS, truth, huddle_model_labels(means, NULL)) < .95);
    assert_true(accuracy(ROWS, truth, huddle_model_labels(full, NULL)) > .99);
    assert_string_equal(full->fit.mixture.covariance, "full");
    huddle_model_free(means);
    huddle_model_free(full);
    huddle_points_free(&x);
}

/* 4 points for each feature and cluster: full; for each feature: tied; fewer: diagonal. */
static void auto_takes_the_covariance_that_the_points_allow(void **state) {
    (void)state;
    static const struct {
        int64_t n;
        int64_t d;
        const char *covariance;
    } cases[] = {{80, 10, "full"},
                 {79, 10, "tied"},
                 {40, 10, "tied"},
                 {39, 10, "diagonal"},
                 {40, 200, "diagonal"}};
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        huddle_points x = stripes(cases[k].n, cases[k].d, 20, NULL);
        huddle_model *model = fit("mixture", &x, "2", (const char *const[]){NULL});
        assert_string_equal(model->fit.mixture.covariance, cases[k].covariance);
        assert_true(model->fit.mixture.is_chosen);
        assert_int_equal(model->fit.warnings.count, 0);
        huddle_model_free(model);
        huddle_points_free(&x);
    }
}

static void singular_covariances_are_limited_and_reported(void **state) {
    (void)state;
    int32_t truth[40];
    huddle_points x = stripes(40, 30, 40, truth);
    huddle_model *model =
        fit("mixture", &x, "2", (const char *const[]){"covariance", "full", NULL});
    assert_true(
        warns(model, "covariance = full: a cluster has only 20 of the more than 30 points"));
    assert_true(accuracy(40, truth, huddle_model_labels(model, NULL)) == 1);
    assert_true(isfinite(model->fit.mixture.log_likelihood));
    assert_int_equal(model->fit.mixture.n_floored, 2);
    huddle_model_free(model);
    huddle_points_free(&x);
}

/* The BIC of a mixture with d + 1 + d (d + 1) / 2 ... parameters, counted by hand; the constant
 * column has none. */
static void the_criterion_counts_parameters(void **state) {
    (void)state;
    static const double counts[] = {1 + 2 * 3 + 2 * 6, 1 + 2 * 3 + 6, 1 + 2 * 3 + 2 * 3,
                                    1 + 2 * 3 + 2};
    huddle_points x = stripes(120, 4, 10, NULL);
    for (int i = 0; i < 120; i++)
        x.values[i * 4 + 3] = 5;
    for (int s = 0; s < 4; s++) {
        huddle_model *model =
            fit("mixture", &x, "2", (const char *const[]){"covariance", covariances[s], NULL});
        const hd_fit_mixture *m = &model->fit.mixture;
        assert_close(m->n_parameters, counts[s], 0);
        assert_close(m->bic, counts[s] * log(120) - 2 * m->log_likelihood,
                     1e-9 * fabs(m->log_likelihood));
        assert_close(model->fit.clusters.kmeans.inertia, -m->log_likelihood, 0);
        huddle_model_free(model);
    }
    huddle_points_free(&x);
}

/* Ranges and auto choose the number of the smallest BIC, and say what the others had. */
static void the_number_of_components_has_the_smallest_bic(void **state) {
    (void)state;
    static const char *const numbers[] = {"1-5", "auto"};
    huddle_points x = stripes(400, 2, 12, NULL);
    for (int k = 0; k < 2; k++) {
        char *json;
        const char *options[] = {"n_init", "10", NULL};
        huddle_model *model = fit("mixture", &x, numbers[k], options);
        const hd_fit_trials *trials = &model->fit.trials;
        assert_int_equal(model->fit.clusters.n_clusters, 2);
        assert_int_equal(trials->count, 5);
        for (int t = 0; t < trials->count; t++) {
            assert_int_equal(trials->items[t].n_clusters, t + 1);
            assert_true(trials->items[t].bic >= trials->items[1].bic);
        }
        assert_close(trials->items[1].bic, model->fit.mixture.bic, 1e-9);
        assert_ok(huddle_model_info_json(model, &json));
        assert_non_null(strstr(json, "\"chosen_by\": \"bic\""));
        huddle_free(json);
        if (k == 1) {
            assert_int_equal(trials->choice.count, 5);
            assert_int_equal(trials->choice.candidates[0], 2);
            for (int t = 1; t < 5; t++)
                assert_true(trials->choice.scores[t] >= trials->choice.scores[t - 1]);
        }
        huddle_model_free(model);
    }
    huddle_points_free(&x);
}

/* Copies count: the same likelihood as of a fit that sees every row, and equal labels. */
static void copies_are_weights(void **state) {
    (void)state;
    enum { ROWS = 90 };
    huddle_points x = stripes(ROWS, 3, 6, NULL);
    /* Every third row repeats the one before it, so that distinct rows are numbered otherwise. */
    for (int i = 2; i < ROWS; i += 3)
        memcpy(x.values + i * 3, x.values + (i - 1) * 3, 3 * sizeof(float));
    huddle_model *model =
        fit("mixture", &x, "2", (const char *const[]){"tol", "1e-10", "max_iter", "2000", NULL});
    const int32_t *labels = huddle_model_labels(model, NULL);
    for (int i = 2; i < ROWS; i += 3)
        assert_int_equal(labels[i], labels[i - 1]);
    hd_step_mixture m = {0};
    huddle_alternation_info history = {0};
    double variance = 0;
    for (int j = 0; j < 3; j++) {
        double sum = 0, squares = 0;
        for (int i = 0; i < ROWS; i++) {
            sum += x.values[i * 3 + j];
            squares += (double)x.values[i * 3 + j] * x.values[i * 3 + j];
        }
        variance += (squares - sum * sum / ROWS) / ROWS / 3;
    }
    hd_step_mixture_options options = {"full", 1e-6 * variance, 1e-10, 2000};
    assert_ok(hd_step_mixture_fit(NULL, &x, NULL, 2, labels, &options, &m, &history));
    assert_close(history.objective[history.n_iter], model->fit.mixture.log_likelihood, 1e-5);
    hd_step_mixture_free(&m);
    hd_fit_alternation_reset(&history);
    huddle_model_free(model);
    huddle_points_free(&x);
}

/* Units: another scale changes the likelihood by a constant, and no label. */
static void units_do_not_matter(void **state) {
    (void)state;
    int32_t truth[200];
    huddle_points x = stripes(200, 3, 5, truth);
    for (int i = 0; i < 200; i++) /* singular: the floor is a part of the variances too */
        x.values[i * 3 + 2] = x.values[i * 3 + 1];
    huddle_model *small = fit("mixture", &x, "2", (const char *const[]){NULL});
    for (int i = 0; i < 600; i++)
        x.values[i] = 1024 * x.values[i] + (i % 3 == 0 ? 4096 : 0);
    huddle_model *large = fit("mixture", &x, "2", (const char *const[]){NULL});
    assert_memory_equal(huddle_model_labels(small, NULL), huddle_model_labels(large, NULL),
                        sizeof truth);
    assert_close(small->fit.mixture.log_likelihood - large->fit.mixture.log_likelihood,
                 600 * log(1024), 1e-2);
    huddle_model_free(small);
    huddle_model_free(large);
    huddle_points_free(&x);
}

/* Sparse points are the dense ones with their zeros. */
static void sparse_points_are_clustered_as_dense_ones(void **state) {
    (void)state;
    enum { ROWS = 60, D = 3 };
    huddle_points x = stripes(ROWS, D, 9, NULL), sparse;
    int32_t labels[ROWS];
    assert_ok(huddle_points_new_sparse(ROWS, D, ROWS * D, &sparse));
    int64_t count = 0;
    for (int i = 0; i < ROWS; i++) {
        for (int j = 0; j < D; j++) {
            if (i % 3 == 0 && j == 0)
                x.values[i * D + j] = 0;
            if (x.values[i * D + j] == 0)
                continue;
            sparse.columns[count] = j;
            sparse.values[count++] = x.values[i * D + j];
        }
        sparse.offsets[i + 1] = count;
    }
    huddle_model *a = fit("mixture", &x, "2", (const char *const[]){NULL});
    huddle_model *b = fit("mixture", &sparse, "2", (const char *const[]){NULL});
    assert_memory_equal(huddle_model_labels(a, NULL), huddle_model_labels(b, NULL), sizeof labels);
    assert_close(a->fit.mixture.log_likelihood, b->fit.mixture.log_likelihood, 1e-6);
    assert_ok(huddle_model_predict(NULL, b, &sparse, labels));
    assert_memory_equal(huddle_model_labels(b, NULL), labels, sizeof labels);
    huddle_model_free(a);
    huddle_model_free(b);
    huddle_points_free(&x);
    huddle_points_free(&sparse);
}

/* Where EM moves the first rows, clusters get other numbers than the labels that it began with, and
 * every parameter must follow: the points of the fit have their labels by the stored parameters. */
static void components_have_the_numbers_of_their_clusters(void **state) {
    (void)state;
    enum { ROWS = 120 };
    static const char *const seeds[] = {"1", "2", "3", "4", "5", "6", "7", "8"};
    huddle_points x = stripes(ROWS, 3, 3, NULL);
    int32_t labels[ROWS];
    for (int t = 0; t < 8; t++) {
        const char *options[] = {
            "seed", seeds[t], "n_init", "1", "covariance", t % 2 == 0 ? "full" : "diagonal", NULL};
        huddle_model *model = fit("mixture", &x, "6", options);
        assert_ok(huddle_model_predict(NULL, model, &x, labels));
        assert_memory_equal(labels, huddle_model_labels(model, NULL), sizeof labels);
        huddle_model_free(model);
    }
    huddle_points_free(&x);
}

/* A saved model has the parameters bit by bit; a damaged one is refused. */
static void saved_parameters_are_those_of_the_fit(void **state) {
    (void)state;
    char path[512];
    huddle_points x = stripes(150, 3, 5, NULL);
    snprintf(path, sizeof path, "%s/mixture.huddle", test_directory());
    for (int s = 0; s < 4; s++) {
        huddle_model *loaded,
            *model =
                fit("mixture", &x, "3", (const char *const[]){"covariance", covariances[s], NULL});
        assert_ok(huddle_model_save(model, path));
        assert_ok(huddle_model_load(path, &loaded));
        const hd_fit_mixture *a = &model->fit.mixture, *b = &loaded->fit.mixture;
        assert_string_equal(b->covariance, covariances[s]);
        assert_memory_equal(a->weights, b->weights, 3 * sizeof *a->weights);
        assert_int_equal(a->scales.rows, b->scales.rows);
        assert_int_equal(a->scales.cols, b->scales.cols);
        assert_memory_equal(a->scales.values, b->scales.values,
                            (size_t)(a->scales.rows * a->scales.cols) * sizeof *a->weights);
        assert_true(a->bic == b->bic && a->n_floored == b->n_floored);
        loaded->fit.mixture.scales.rows--;
        assert_refused(hd_fit_check(&loaded->fit), HUDDLE_FORMAT, "rows of mixture_scales.npy");
        loaded->fit.mixture.scales.rows++;
        loaded->fit.mixture.scales.cols++;
        assert_refused(hd_fit_check(&loaded->fit), HUDDLE_FORMAT, "columns of mixture_scales.npy");
        loaded->fit.mixture.scales.cols--;
        assert_ok(hd_fit_check(&loaded->fit));
        huddle_model_free(model);
        huddle_model_free(loaded);
    }
    huddle_points_free(&x);
}

/* Files of Huddle 0.3, whose trials have a column less, and models of other methods, which have no
 * mixture, are still read. */
static void trials_without_bic_are_read(void **state) {
    (void)state;
    char path[512], old[520];
    huddle_points x = stripes(60, 2, 9, NULL);
    huddle_model *loaded, *model = fit("kmeans", &x, "2-4", (const char *const[]){NULL});
    hd_zip zip;
    hd_zip_writer copy = {0};
    enum { COLUMNS = sizeof(huddle_trial) / sizeof(double) };
    snprintf(path, sizeof path, "%s/range.huddle", test_directory());
    snprintf(old, sizeof old, "%s.old", path);
    assert_ok(huddle_model_save(model, path));
    assert_ok(zip_open(path, &zip));
    assert_ok(hd_zip_create(old, &copy));
    for (int64_t k = 0; k < zip.count; k++) {
        const hd_zip_entry *entry = &zip.entries[k];
        char *bytes;
        if (strcmp(entry->name, "trials.npy") == 0) {
            double table[3 * COLUMNS];
            assert_ok(hd_npy_read_to(&zip, entry, table, sizeof table));
            for (int t = 1; t < 3; t++)
                memmove(table + t * (COLUMNS - 1), table + t * COLUMNS,
                        (COLUMNS - 1) * sizeof *table);
            assert_ok(hd_npy_add(&copy, "trials", HD_ZIP_STORED, "<f8", 2,
                                 (int64_t[]){3, COLUMNS - 1}, table));
            continue;
        }
        assert_ok(hd_zip_read(&zip, entry, &bytes));
        assert_ok(hd_zip_add(&copy, entry->name, HD_ZIP_STORED, bytes, entry->size));
        huddle_free(bytes);
    }
    assert_ok(hd_zip_close(&copy, HUDDLE_OK));
    zip_close(&zip);
    assert_ok(huddle_model_load(old, &loaded));
    for (int t = 0; t < 3; t++) {
        assert_int_equal(loaded->fit.trials.items[t].n_clusters, t + 2);
        assert_true(loaded->fit.trials.items[t].silhouette ==
                    model->fit.trials.items[t].silhouette);
        assert_true(isnan(loaded->fit.trials.items[t].bic));
    }
    assert_null(loaded->fit.mixture.covariance);
    huddle_model_free(loaded);
    huddle_model_free(model);
    huddle_points_free(&x);
}

static void bad_options_are_refused(void **state) {
    (void)state;
    huddle_model *model;
    huddle_points wide;
    assert_ok(huddle_model_new("mixture", &model));
    assert_refused(huddle_model_set_option(model, "covariance", "round"), HUDDLE_INVALID,
                   "covariance");
    assert_refused(huddle_model_set_option(model, "floor", "0"), HUDDLE_INVALID, "floor");
    assert_refused(huddle_model_set_option(model, "max_iter", "0"), HUDDLE_INVALID, "max_iter");
    assert_refused(huddle_model_set_option(model, "tol", "-1"), HUDDLE_INVALID, "tol");
    assert_ok(huddle_points_new(4, 10001, &wide));
    wide.values[5] = 1;
    assert_ok(huddle_model_set_option(model, "n_clusters", "1"));
    assert_ok(huddle_model_set_option(model, "covariance", "tied"));
    assert_refused(huddle_model_fit(NULL, model, &wide), HUDDLE_UNSUPPORTED,
                   "covariance = tied: a matrix for 10001 features is too large");
    assert_ok(huddle_model_set_option(model, "covariance", "auto"));
    assert_ok(huddle_model_fit(NULL, model, &wide));
    huddle_points_free(&wide);
    huddle_model_free(model);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(em_agrees_with_numpy),
        cmocka_unit_test(the_likelihood_never_falls),
        cmocka_unit_test(a_component_without_rows_stays_empty),
        cmocka_unit_test(distant_points_belong_to_the_nearest_component),
        cmocka_unit_test(shapes_that_kmeans_cuts_are_found),
        cmocka_unit_test(auto_takes_the_covariance_that_the_points_allow),
        cmocka_unit_test(singular_covariances_are_limited_and_reported),
        cmocka_unit_test(the_criterion_counts_parameters),
        cmocka_unit_test(the_number_of_components_has_the_smallest_bic),
        cmocka_unit_test(copies_are_weights),
        cmocka_unit_test(units_do_not_matter),
        cmocka_unit_test(sparse_points_are_clustered_as_dense_ones),
        cmocka_unit_test(components_have_the_numbers_of_their_clusters),
        cmocka_unit_test(saved_parameters_are_those_of_the_fit),
        cmocka_unit_test(trials_without_bic_are_read),
        cmocka_unit_test(bad_options_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
