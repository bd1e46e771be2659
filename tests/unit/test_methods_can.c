/* Clustering with adaptive neighbours: against NumPy, and what its two steps promise. */
#include "base/rng.h"
#include "huddle/metrics.h"
#include "method_fits.h"
#include "model/model.h"
#include "steps/can.h"
#include "support/support.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static bool warns(const huddle_model *model, const char *part) {
    for (int64_t i = 0; i < model->fit.warnings.count; i++)
        if (strstr(model->fit.warnings.items[i].text, part) != NULL)
            return true;
    return false;
}

static double accuracy(int64_t n, const int32_t *truth, const int32_t *labels) {
    huddle_scores scores;
    assert_ok(huddle_metrics_scores(NULL, n, truth, labels, &scores));
    return scores.acc;
}

/* ---- projection ---------------------------------------------------------------------------- */

/* Optimal if and only if d_j + 2 gamma s_j is the same number wherever s_j > 0, and not smaller
 * elsewhere. */
static void rows_are_projected_onto_the_simplex(void **state) {
    (void)state;
    enum { M = 12 };
    for (int t = 0; t < 60; t++) {
        hd_rng rng = hd_rng_stream(2, (uint64_t)t);
        double d[M], order[M], s[M], sum = 0, level = INFINITY, gamma = pow(10, t % 7 - 4);
        for (int j = 0; j < M; j++)
            d[j] = t % 3 == 0 ? (double)hd_rng_below(&rng, 4) : 1e3 + hd_rng_uniform(&rng);
        hd_step_can_project(M, d, gamma, order, s);
        for (int j = 0; j < M; j++) {
            assert_true(s[j] >= 0);
            sum += s[j];
            level = s[j] > 0 ? fmin(level, d[j] + 2 * gamma * s[j]) : level;
        }
        assert_close(sum, 1, 1e-12);
        for (int j = 0; j < M; j++) {
            double own = d[j] + 2 * gamma * s[j];
            assert_true(own >= level - 1e-9);
            assert_true(s[j] == 0 || own <= level + 1e-9);
        }
    }
}

/* ---- against NumPy ------------------------------------------------------------------------- */

static const double *check_problem(const double *at) {
    int64_t n = (int64_t)at[0], d = (int64_t)at[1];
    hd_step_can_options options = {(int32_t)at[2], (int32_t)at[3], (int32_t)at[4], 0,
                                   "dense",        INT64_MAX};
    hd_step_can can = {0};
    huddle_points points;
    at += 5;
    assert_ok(huddle_points_from_double(NULL, n, d, at, d, 1, &points));
    at += n * d;
    assert_ok(hd_step_can_run(NULL, &points, &options, &can));
    assert_int_equal(can.n_components, (int32_t)at[0]);
    assert_int_equal(can.n_neighbors, (int32_t)at[1]);
    assert_int_equal(can.n_iter, (int32_t)at[2]);
    assert_close(can.lambda, at[3], 1e-9 * at[3]);
    assert_close(can.objective, at[4], 1e-6 * at[4]);
    at += 5;
    for (int64_t i = 0; i < n; i++)
        assert_int_equal(can.component[i], (int32_t)at[i]);
    at += n;
    double *dense = calloc((size_t)(n * n), sizeof *dense);
    for (int64_t i = 0; i < n; i++)
        for (int64_t e = can.s.offsets[i]; e < can.s.offsets[i + 1]; e++)
            dense[i * n + can.s.columns[e]] = can.s.values[e];
    for (int64_t i = 0; i < n * n; i++)
        assert_close(dense[i], at[i], 1e-6);
    free(dense);
    hd_step_can_free(&can);
    huddle_points_free(&points);
    return at + n * n;
}

static void graphs_agree_with_numpy(void **state) {
    (void)state;
    int64_t count;
    double *numbers = test_golden("can.txt", &count);
    const double *at = numbers + 1;
    for (int k = 0; k < (int)numbers[0]; k++)
        at = check_problem(at);
    assert_ptr_equal(at, numbers + count);
    free(numbers);
}

/* ---- points -------------------------------------------------------------------------------- */

/* c clouds on a circle. */
static huddle_points clouds(int64_t n, int32_t c, double radius, int32_t *truth) {
    huddle_points x;
    assert_ok(huddle_points_new(n, 3, &x));
    for (int64_t i = 0; i < n; i++) {
        hd_rng rng = hd_rng_stream(21, (uint64_t)i);
        double angle = 2 * 3.14159265358979 * (double)(i % c) / c;
        x.values[i * 3] = (float)(radius * cos(angle) + hd_rng_normal(&rng));
        x.values[i * 3 + 1] = (float)(radius * sin(angle) + hd_rng_normal(&rng));
        x.values[i * 3 + 2] = (float)hd_rng_normal(&rng);
        if (truth != NULL)
            truth[i] = (int32_t)(i % c);
    }
    return x;
}

/* Without rounds, every row has its k nearest points, and no other. */
static void gamma_gives_k_neighbours(void **state) {
    (void)state;
    enum { ROWS = 80 };
    huddle_points x = clouds(ROWS, 1, 0, NULL);
    for (int32_t k = 3; k <= ROWS; k += 11) {
        hd_step_can_options options = {2, k, 1, 0, "auto", INT64_MAX};
        hd_step_can can = {0};
        options.max_iter = 0;
        assert_ok(hd_step_can_run(NULL, &x, &options, &can));
        assert_int_equal(can.n_neighbors, k < ROWS - 2 ? k : ROWS - 2);
        for (int64_t i = 0; i < ROWS; i++) {
            double sum = 0;
            assert_int_equal(can.s.offsets[i + 1] - can.s.offsets[i], can.n_neighbors);
            for (int64_t e = can.s.offsets[i]; e < can.s.offsets[i + 1]; e++)
                sum += can.s.values[e];
            assert_close(sum, 1, 1e-12);
        }
        hd_step_can_free(&can);
    }
    huddle_points_free(&x);
}

/* ---- the method ----------------------------------------------------------------------------- */

static void clusters_are_components(void **state) {
    (void)state;
    enum { ROWS = 240 };
    int32_t truth[ROWS];
    for (int32_t c = 2; c <= 8; c += 3) {
        char number[8] = {(char)('0' + c), 0};
        huddle_points x = clouds(ROWS, c, 4.0 * c, truth);
        huddle_model *model = fit("can", &x, number, (const char *const[]){NULL});
        assert_true(accuracy(ROWS, truth, huddle_model_labels(model, NULL)) == 1);
        assert_int_equal(model->fit.clusters.kmeans.stop, HUDDLE_STOP_CONVERGED);
        assert_false(warns(model, "K-means"));
        huddle_model_free(model);
        huddle_points_free(&x);
    }
}

/* Clouds that touch, so that the graph of the points is connected. */
static void touching_clouds_are_divided(void **state) {
    (void)state;
    enum { ROWS = 300 };
    int32_t truth[ROWS];
    huddle_points x = clouds(ROWS, 3, 3.2, truth);
    huddle_model *model = fit("can", &x, "3", (const char *const[]){NULL});
    assert_true(accuracy(ROWS, truth, huddle_model_labels(model, NULL)) > .95);
    assert_true(model->fit.clusters.kmeans.n_iter > 1);
    /* Also where a border point has more neighbours on the other side. */
    assert_ok(huddle_model_predict(NULL, model, &x, truth));
    assert_memory_equal(truth, huddle_model_labels(model, NULL), sizeof truth);
    /* Whatever the points around it have. */
    model->fit.clusters.labels[5] = (model->fit.clusters.labels[5] + 1) % 3;
    assert_ok(huddle_model_predict(NULL, model, &x, truth));
    assert_int_equal(truth[5], model->fit.clusters.labels[5]);
    assert_int_equal(model->fit.clusters.kmeans.stop, HUDDLE_STOP_CONVERGED);
    huddle_model_free(model);
    huddle_points_free(&x);
}

/* Six separate clouds and two clusters: more neighbours join some of them. */
static void too_many_components_are_joined(void **state) {
    (void)state;
    enum { ROWS = 120 };
    int32_t truth[ROWS];
    huddle_points x = clouds(ROWS, 6, 60, truth);
    huddle_model *model = fit("can", &x, "2", (const char *const[]){NULL});
    const int32_t *labels = huddle_model_labels(model, NULL);
    int32_t most = 0;
    for (int i = 0; i < ROWS; i++) {
        most = labels[i] > most ? labels[i] : most;
        assert_int_equal(labels[i], labels[truth[i]]); /* no cloud is divided */
    }
    assert_int_equal(most, 1);
    huddle_model_free(model);
    huddle_points_free(&x);
}

/* As long as the lists, of twice as many candidates, are not too long. */
static void neighbours_are_doubled(void **state) {
    (void)state;
    huddle_points x = clouds(120, 6, 60, NULL);
    hd_step_can_options options = {2, 7, 50, 0, "auto", 120 * 56};
    hd_step_can can = {0};
    assert_ok(hd_step_can_run(NULL, &x, &options, &can));
    assert_int_equal(can.n_neighbors, 28);
    hd_step_can_free(&can);
    options.max_entries--;
    assert_refused(hd_step_can_run(NULL, &x, &options, &can), HUDDLE_UNSUPPORTED,
                   "with 14 neighbours of each of 120 points the graph has 6 components, more than "
                   "2 clusters");
    hd_step_can_free(&can);
    huddle_points_free(&x);
}

static void too_few_rounds_end_with_kmeans(void **state) {
    (void)state;
    enum { ROWS = 300 };
    int32_t truth[ROWS];
    huddle_points x = clouds(ROWS, 3, 3.2, truth);
    huddle_model *model = fit("can", &x, "3", (const char *const[]){"max_iter", "1", NULL});
    assert_true(warns(model, "the graph has 1 components after 1 rounds, not 3"));
    assert_true(accuracy(ROWS, truth, huddle_model_labels(model, NULL)) > .9);
    assert_int_equal(model->fit.clusters.kmeans.stop, HUDDLE_STOP_MAX_ITER);
    huddle_model_free(model);
    huddle_points_free(&x);
}

/* Many copies are one point; few keep their own, with equal labels. Centres are means of all. */
static void copies_have_equal_labels(void **state) {
    (void)state;
    enum { ROWS = 90 };
    for (int many = 0; many < 2; many++) {
        huddle_points x = clouds(ROWS, 3, 9, NULL);
        for (int i = 30; i < (many ? 75 : 33); i++)
            memcpy(x.values + i * 3, x.values + i % 3 * 3, 3 * sizeof(float));
        huddle_model *model = fit("can", &x, "3", (const char *const[]){NULL});
        const int32_t *labels = huddle_model_labels(model, NULL);
        for (int i = 0; i < ROWS; i++)
            assert_int_equal(labels[i], i % 3);
        assert_int_equal(model->fit.rows.nodes.n, many ? ROWS : 0);
        double mean = 0;
        for (int i = 0; i < ROWS; i += 3)
            mean += (double)x.values[i * 3] / (ROWS / 3);
        assert_close(model->fit.clusters.centres.values[0], mean, 1e-5);
        mean = 0;
        for (int i = 1; i < ROWS; i += 3)
            mean += (double)x.values[i * 3] / (ROWS / 3);
        assert_close(model->fit.clusters.centres.values[3], mean, 1e-5);
        huddle_model_free(model);
        huddle_points_free(&x);
    }
}

/* New points get the label of the points around them, weighted by nearness: three far ones do not
 * outvote two near ones. */
static void new_points_are_labelled_by_their_neighbours(void **state) {
    (void)state;
    enum { ROWS = 120 };
    int32_t truth[2 * ROWS], labels[2 * ROWS];
    huddle_points x = clouds(ROWS, 4, 12, truth), y = clouds(2 * ROWS, 4, 12, truth);
    huddle_model *model = fit("can", &x, "4", (const char *const[]){NULL});
    assert_ok(huddle_model_predict(NULL, model, &y, labels));
    assert_memory_equal(labels, truth, sizeof labels);
    huddle_model_free(model);
    huddle_points_free(&x);
    huddle_points_free(&y);

    static const float line[] = {0, .1f, .2f, .3f, 5, 5.1f, 5.2f, 5.3f, 5.4f, 5.5f};
    assert_ok(huddle_points_new(10, 1, &x));
    assert_ok(huddle_points_new(1, 1, &y));
    memcpy(x.values, line, sizeof line);
    y.values[0] = 1.2f;
    model = fit("can", &x, "2", (const char *const[]){"n_neighbors", "9", NULL});
    assert_ok(huddle_model_predict(NULL, model, &y, labels));
    assert_int_equal(labels[0], huddle_model_labels(model, NULL)[0]);
    assert_int_not_equal(labels[0], huddle_model_labels(model, NULL)[9]);
    y.values[0] = 2.64f; /* the nearest is on the left, but most are on the right */
    assert_ok(huddle_model_predict(NULL, model, &y, labels));
    assert_int_equal(labels[0], huddle_model_labels(model, NULL)[9]);
    huddle_model_free(model);
    huddle_points_free(&x);
    huddle_points_free(&y);
}

static void degenerate_points_are_clustered(void **state) {
    (void)state;
    huddle_points x = clouds(7, 7, 5, NULL), grid;
    huddle_model *model = fit("can", &x, "7", (const char *const[]){NULL});
    for (int i = 0; i < 7; i++)
        assert_int_equal(huddle_model_labels(model, NULL)[i], i);
    huddle_model_free(model);
    model = fit("can", &x, "6", (const char *const[]){NULL});
    for (int i = 0; i < 7; i++)
        assert_in_range(huddle_model_labels(model, NULL)[i], 0, 5);
    huddle_model_free(model);
    model = fit("can", &x, "1", (const char *const[]){NULL});
    for (int i = 0; i < 7; i++)
        assert_int_equal(huddle_model_labels(model, NULL)[i], 0);
    huddle_model_free(model);
    huddle_points_free(&x);
    /* All neighbours equally far: gamma would be 0. */
    assert_ok(huddle_points_new(64, 2, &grid));
    for (int i = 0; i < 64; i++) {
        grid.values[2 * i] = (float)(i % 8);
        grid.values[2 * i + 1] = (float)(i / 8);
    }
    model = fit("can", &grid, "3", (const char *const[]){"n_neighbors", "2", NULL});
    for (int i = 0; i < 64; i++)
        assert_in_range(huddle_model_labels(model, NULL)[i], 0, 2);
    huddle_model_free(model);
    huddle_points_free(&grid);
}

static void bad_options_and_many_points_are_refused(void **state) {
    (void)state;
    huddle_model *model;
    huddle_points x;
    assert_ok(huddle_model_new("can", &model));
    assert_refused(huddle_model_set_option(model, "n_neighbors", "0"), HUDDLE_INVALID,
                   "n_neighbors");
    assert_refused(huddle_model_set_option(model, "max_iter", "0"), HUDDLE_INVALID, "max_iter");
    assert_ok(huddle_points_new(20001, 1, &x));
    x.values[7] = 1;
    assert_ok(huddle_model_set_option(model, "n_clusters", "2"));
    assert_refused(huddle_model_fit(NULL, model, &x), HUDDLE_UNSUPPORTED,
                   "method can is limited to 20000 points, not 20001");
    huddle_points_free(&x);
    huddle_model_free(model);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_are_projected_onto_the_simplex),
        cmocka_unit_test(graphs_agree_with_numpy),
        cmocka_unit_test(gamma_gives_k_neighbours),
        cmocka_unit_test(clusters_are_components),
        cmocka_unit_test(touching_clouds_are_divided),
        cmocka_unit_test(too_many_components_are_joined),
        cmocka_unit_test(neighbours_are_doubled),
        cmocka_unit_test(too_few_rounds_end_with_kmeans),
        cmocka_unit_test(copies_have_equal_labels),
        cmocka_unit_test(new_points_are_labelled_by_their_neighbours),
        cmocka_unit_test(degenerate_points_are_clustered),
        cmocka_unit_test(bad_options_and_many_points_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
