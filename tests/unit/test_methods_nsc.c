/* Nonnegative spectral clustering against NumPy and its own definition. */
#include "base/rng.h"
#include "golden_matrices.h"
#include "huddle/metrics.h"
#include "model/model.h"
#include "nsc_fits.h"
#include "steps/nonnegative.h"
#include "support/support.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- the updates against nsc.txt ------------------------------------------------------------- */

enum { N = 30, D = 4, UPDATES = 20, PROBLEMS = 3 };

/* A problem of nsc.txt. */
typedef struct golden {
    int64_t c;
    double mu, ridge, xi;
    const double *points, *copies, *graph, *hat, *components, *start, *one, *many, *objective;
} golden;

/* The next problem; *at moves behind it. */
static golden next_problem(const double **at) {
    const double *p = *at;
    golden g = {.c = (int64_t)p[0], .mu = p[1], .ridge = p[2], .xi = p[3], .points = p + 4};
    g.copies = g.points + N * D;
    g.graph = g.copies + N;
    g.hat = g.graph + N * N;
    g.components = g.hat + N * N;
    g.start = g.components + N * D;
    g.one = g.start + N * g.c;
    g.many = g.one + N * g.c;
    g.objective = g.many + N * g.c;
    *at = g.objective + UPDATES + 1;
    return g;
}

static void for_each_problem(void (*check)(const golden *g)) {
    int64_t count;
    double *numbers = test_golden("nsc.txt", &count);
    const double *at = numbers;
    for (int k = 0; k < PROBLEMS; k++) {
        golden g = next_problem(&at);
        check(&g);
    }
    assert_int_equal(at - numbers, count);
    free(numbers);
}

/* F after so many updates of a problem. */
static huddle_dense minimise(const golden *g, int32_t updates, huddle_alternation_info *history) {
    huddle_csr graph = golden_sparse(N, g->graph);
    huddle_dense z = golden_dense(N, D, g->components), f = golden_dense(N, g->c, g->start);
    const hd_step_nonnegative problem = {&graph, &z, g->copies, g->mu, g->xi, 0, updates};
    assert_ok(hd_step_nonnegative_minimise(NULL, &problem, &f, history));
    huddle_csr_free(&graph);
    huddle_dense_free(&z);
    return f;
}

static void check_updates(const golden *g) {
    huddle_alternation_info history = {0};
    huddle_dense f = minimise(g, 1, &history);
    for (int64_t e = 0; e < N * g->c; e++)
        assert_close(f.values[e], g->one[e], 1e-9);
    huddle_dense_free(&f);
    f = minimise(g, UPDATES, &history);
    for (int64_t e = 0; e < N * g->c; e++)
        assert_close(f.values[e], g->many[e], 1e-8);
    assert_int_equal(history.n_history, UPDATES + 1);
    assert_int_equal(history.n_iter, UPDATES);
    assert_int_equal(history.stop, HUDDLE_STOP_MAX_ITER);
    for (int t = 0; t <= UPDATES; t++)
        assert_close(history.objective[t], g->objective[t], 1e-9);
    huddle_dense_free(&f);
    hd_fit_alternation_reset(&history);
}

static void updates_are_those_of_numpy(void **state) {
    (void)state;
    for_each_problem(check_updates);
}

/* sum_ik of the gradient of J / 2 at F, by the dense matrices: entry (i, k). */
static double gradient(const golden *g, const huddle_dense *f, int64_t i, int64_t k) {
    double degree[N] = {0}, sum = f->values[i * g->c + k];
    for (int64_t e = 0; e < N * N; e++)
        degree[e / N] += g->graph[e];
    for (int64_t j = 0; j < N; j++) {
        double root = sqrt(degree[i] * degree[j]), gram = 0;
        double s = root > 0 ? g->graph[i * N + j] / root : 0;
        for (int64_t l = 0; l < g->c; l++)
            gram += f->values[i * g->c + l] * f->values[j * g->c + l];
        sum +=
            (g->mu * g->hat[i * N + j] - s + g->xi * (gram - (i == j))) * f->values[j * g->c + k];
    }
    return sum;
}

/* The conditions of Karush, Kuhn and Tucker: positive entries have gradient 0, others none below.
 */
static void check_end(const golden *g) {
    huddle_alternation_info history = {0};
    huddle_dense f = minimise(g, 200000, &history);
    for (int t = 1; t < history.n_history; t++)
        assert_true(history.objective[t] < history.objective[t - 1]);
    assert_int_equal(history.stop, HUDDLE_STOP_CONVERGED);
    for (int64_t i = 0; i < N; i++)
        for (int64_t k = 0; k < g->c; k++) {
            double slope = gradient(g, &f, i, k), entry = f.values[i * g->c + k];
            assert_true(entry >= 0);
            assert_true(slope > -1e-4);
            assert_true(fabs(slope) * entry < 1e-5);
        }
    huddle_dense_free(&f);
    hd_fit_alternation_reset(&history);
}

static void updates_end_at_a_stationary_point(void **state) {
    (void)state;
    for_each_problem(check_end);
}

/* Rows with copies give the minimiser of all rows: those of a group are equal there. */
static void check_copies(const golden *g) {
    int64_t of[N * 5], n = 0;
    for (int64_t i = 0; i < N; i++)
        for (int64_t m = 0; m < (int64_t)g->copies[i]; m++)
            of[n++] = i;
    double *w = malloc((size_t)(n * n) * sizeof *w);
    huddle_dense z, f;
    huddle_alternation_info history = {0}, all = {0};
    assert_ok(huddle_dense_new(n, D, &z));
    assert_ok(huddle_dense_new(n, g->c, &f));
    for (int64_t a = 0; a < n; a++) {
        double m = g->copies[of[a]];
        for (int64_t b = 0; b < n; b++)
            w[a * n + b] = g->graph[of[a] * N + of[b]] / (m * g->copies[of[b]]);
        for (int64_t k = 0; k < D; k++)
            z.values[a * D + k] = g->components[of[a] * D + k] / sqrt(m);
        for (int64_t k = 0; k < g->c; k++)
            f.values[a * g->c + k] = g->start[of[a] * g->c + k] / sqrt(m);
    }
    huddle_csr graph = golden_sparse(n, w);
    const hd_step_nonnegative problem = {&graph, &z, NULL, g->mu, g->xi, 0, UPDATES};
    assert_ok(hd_step_nonnegative_minimise(NULL, &problem, &f, &all));
    huddle_dense few = minimise(g, UPDATES, &history);
    for (int64_t a = 0; a < n; a++)
        for (int64_t k = 0; k < g->c; k++)
            assert_close(f.values[a * g->c + k] * sqrt(g->copies[of[a]]),
                         few.values[of[a] * g->c + k], 1e-10);
    for (int t = 0; t <= UPDATES; t++)
        assert_close(all.objective[t], history.objective[t], 1e-10);
    free(w);
    huddle_csr_free(&graph);
    huddle_dense_free(&z);
    huddle_dense_free(&f);
    huddle_dense_free(&few);
    hd_fit_alternation_reset(&history);
    hd_fit_alternation_reset(&all);
}

static void copies_count_as_rows(void **state) {
    (void)state;
    for_each_problem(check_copies);
}

/* ---- the method ------------------------------------------------------------------------------ */

/* J of a fit without merged rows, with the hat matrix of nsc.txt instead of components. */
static double dense_objective(const golden *g, const hd_fit *fit) {
    golden own = *g;
    double *w = calloc(N * N, sizeof *w), value = 0;
    const huddle_csr *a = &fit->graph.matrix;
    const huddle_dense *f = &fit->embedding.f.rows;
    for (int64_t i = 0; i < N; i++)
        for (int64_t e = a->offsets[i]; e < a->offsets[i + 1]; e++)
            w[i * N + a->columns[e]] = a->values[e];
    own.graph = w;
    own.xi = 0; /* then the gradient is that of the quadratic terms */
    for (int64_t i = 0; i < N; i++)
        for (int64_t k = 0; k < g->c; k++)
            value += f->values[i * g->c + k] * gradient(&own, f, i, k);
    for (int64_t k = 0; k < g->c; k++)
        for (int64_t l = 0; l < g->c; l++) {
            double product = -(double)(k == l);
            for (int64_t i = 0; i < N; i++)
                product += f->values[i * g->c + k] * f->values[i * g->c + l];
            value += g->xi / 2 * product * product;
        }
    free(w);
    return value;
}

/* Of problem 1, whose points have no copies: components, weights and penalty are as given. */
static void check_fit(const golden *g) {
    huddle_points x;
    char mu[32], ridge[32], xi[32], c[8];
    if (g->xi != 20)
        return;
    snprintf(mu, sizeof mu, "%.17g", g->mu);
    snprintf(ridge, sizeof ridge, "%.17g", g->ridge);
    snprintf(xi, sizeof xi, "%.17g", g->xi);
    snprintf(c, sizeof c, "%d", (int)g->c);
    assert_ok(huddle_points_from_double(NULL, N, D, g->points, D, 1, &x));
    huddle_model *model =
        fit(&x, c,
            (const char *const[]){"discrimination", mu, "ridge", ridge, "orthogonality", xi, NULL});
    const huddle_alternation_info *a = &model->fit.clusters.alternation;
    assert_close(a->objective[a->n_history - 1], dense_objective(g, &model->fit), 1e-5);
    huddle_model_free(model);
    model = fit(
        &x, c,
        (const char *const[]){"discrimination", mu, "ridge", ridge, "update_max_iter", "0", NULL});
    a = &model->fit.clusters.alternation;
    assert_int_equal(a->n_history, 1);
    golden own = *g;
    own.xi = 10 * (1 + g->mu); /* the default */
    assert_close(a->objective[0], dense_objective(&own, &model->fit), 1e-5);
    huddle_model_free(model);
    huddle_points_free(&x);
}

static void the_objective_is_that_of_ridge_regression(void **state) {
    (void)state;
    for_each_problem(check_fit);
}

/* Whatever the weights: it falls in every step, F is nonnegative and nearly orthonormal, and the
 * labels are its largest entries. */
static void the_objective_falls_and_constraints_hold(void **state) {
    (void)state;
    static const char *const weights[] = {"0", ".1", "1", "5"}, *const ridges[] = {"auto", "1e-6"};
    for (int t = 0; t < 16; t++) {
        huddle_points x = clouds(150, 5 + t, 3 + t % 3, 2.5, 1, (uint64_t)t);
        const char c[] = {(char)('3' + t % 3), '\0'};
        huddle_model *model = fit(&x, c,
                                  (const char *const[]){"discrimination", weights[t % 4], "ridge",
                                                        ridges[t / 4 % 2], NULL});
        const huddle_alternation_info *a = &model->fit.clusters.alternation;
        const huddle_dense *f = &model->fit.embedding.f.rows;
        assert_true(a->n_history > 2);
        for (int32_t k = 1; k < a->n_history; k++)
            assert_true(a->objective[k] < a->objective[k - 1]);
        assert_int_equal(f->cols, 3 + t % 3);
        for (int64_t k = 0; k < f->cols; k++)
            for (int64_t l = 0; l <= k; l++) {
                double product = 0;
                for (int64_t i = 0; i < 150; i++)
                    product += f->values[i * f->cols + k] * f->values[i * f->cols + l];
                assert_true(fabs(product - (k == l)) < .1);
            }
        for (int64_t i = 0; i < 150; i++)
            for (int64_t k = 0; k < f->cols; k++) {
                assert_true(f->values[i * f->cols + k] >= 0);
                assert_true(f->values[i * f->cols + k] <=
                            f->values[i * f->cols + model->fit.clusters.labels[i]]);
            }
        huddle_model_free(model);
        huddle_points_free(&x);
    }
}

static void separate_clouds_are_found(void **state) {
    (void)state;
    static const char *const weights[] = {"0", "1", "100"}, *const connects[] = {"false", "true"};
    for (int t = 0; t < 6; t++) {
        huddle_points x = clouds(120, 6, 4, .3, 1, (uint64_t)t);
        huddle_model *model = fit(&x, "4",
                                  (const char *const[]){"discrimination", weights[t % 3], "connect",
                                                        connects[t / 3], NULL});
        assert_close(cloud_accuracy(120, 4, huddle_model_labels(model, NULL)), 1, 0);
        huddle_model_free(model);
        huddle_points_free(&x);
    }
}

/* Column k of the regression of a fit at a point, by its coefficients, the means of the points and
 * of F. */
static double regression(const hd_fit *fit, const float *point, int64_t k) {
    const huddle_dense *map = &fit->embedding.linear_map;
    int64_t d = map->rows - 1, means = map->cols - 1;
    double value = map->values[d * map->stride + k];
    for (int64_t j = 0; j < d; j++)
        value += ((double)point[j] - map->values[j * map->stride + means]) *
                 map->values[j * map->stride + k];
    return value;
}

/* The squared error of the regression of a fit, ridge included: tr F'R F. */
static double unexplained(const huddle_points *x, const hd_fit *fit, double ridge) {
    const huddle_dense *f = &fit->embedding.f.rows, *w = &fit->embedding.linear_map;
    int64_t c = f->cols, d = x->d;
    double sum = 0;
    for (int64_t i = 0; i < x->n; i++)
        for (int64_t k = 0; k < c; k++) {
            double error = f->values[i * c + k] - regression(fit, x->values + i * d, k);
            sum += error * error;
        }
    for (int64_t j = 0; j < d; j++)
        for (int64_t k = 0; k < c; k++)
            sum += ridge * w->values[j * w->stride + k] * w->values[j * w->stride + k];
    return sum;
}

/* Of overlapping clouds: the larger the weight, the nearer F is to a linear function. */
static void the_discriminative_term_makes_f_linear(void **state) {
    (void)state;
    for (uint64_t seed = 0; seed < 4; seed++) {
        huddle_points x = clouds(200, 10, 4, 3, 1, seed);
        static const char *const weights[] = {"1e-6", ".5", "5"};
        double last = INFINITY;
        for (int t = 0; t < 3; t++) {
            huddle_model *model = fit(&x, "4",
                                      (const char *const[]){"discrimination", weights[t], "ridge",
                                                            "30", "orthogonality", "50", NULL});
            double error = unexplained(&x, &model->fit, 30);
            assert_true(error < .98 * last);
            last = error;
            huddle_model_free(model);
        }
        huddle_points_free(&x);
    }
}

/* The term belongs to the regression only. */
static void without_the_term_there_is_no_regression(void **state) {
    (void)state;
    huddle_points x = clouds(60, 3, 2, .4, 1, 1);
    huddle_model *model = fit(&x, "2", (const char *const[]){"discrimination", "0", NULL});
    assert_null(model->fit.embedding.linear_map.values);
    huddle_model_free(model);
    huddle_points_free(&x);
}

/* ---- new points ------------------------------------------------------------------------------ */

/* The regression of F: the coefficients solve the normal equations, checked by their residual. */
static void check_regression(const huddle_points *x, const hd_fit *fit, double ridge) {
    const huddle_dense *f = &fit->embedding.f.rows, *w = &fit->embedding.linear_map;
    int64_t n = x->n, d = x->d, c = f->cols;
    double *error = malloc((size_t)(n * c) * sizeof *error);
    assert_int_equal(w->rows, d + 1);
    for (int64_t i = 0; i < n; i++)
        for (int64_t k = 0; k < c; k++)
            error[i * c + k] = f->values[hd_fit_rows_node(&fit->rows, i) * c + k] -
                               regression(fit, x->values + i * d, k);
    /* X'(F - X W - 1 b') = ridge W, and the residuals of each column add up to 0. */
    for (int64_t k = 0; k < c; k++)
        for (int64_t j = 0; j <= d; j++) {
            double sum = 0;
            for (int64_t i = 0; i < n; i++)
                sum += error[i * c + k] * (j < d ? (double)x->values[i * d + j] : 1);
            assert_close(sum, j < d ? ridge * w->values[j * w->stride + k] : 0, 1e-5);
        }
    free(error);
}

/* With copies that are merged, and without. */
static void the_regression_solves_the_normal_equations(void **state) {
    (void)state;
    for (int copies = 0; copies < 2; copies++) {
        huddle_points x = clouds(120, 5, 3, 1, 1, 4);
        for (int64_t i = 60; copies && i < 120; i++)
            memcpy(x.values + i * 5, x.values + i % 30 * 5, 5 * sizeof *x.values);
        huddle_model *model =
            fit(&x, "3", (const char *const[]){"ridge", "7", "discrimination", ".5", NULL});
        assert_true((model->fit.rows.nodes.n > 0) == copies);
        check_regression(&x, &model->fit, 7);
        huddle_model_free(model);
        huddle_points_free(&x);
    }
}

/* The row of a new point by its definition: neighbours in brute force, the regression added. */
static int32_t expected_label(const hd_fit *fit, const huddle_points *x, const float *point,
                              double mu) {
    enum { K = 5 };
    const huddle_dense *f = &fit->embedding.f.rows;
    int64_t c = f->cols, d = x->d, nearest[K];
    double distance[K], weight[K], degree = 0, row[8] = {0};
    for (int k = 0; k < K; k++) {
        distance[k] = INFINITY;
        for (int64_t i = 0; i < x->n; i++) {
            double square = 0;
            bool taken = false;
            for (int64_t j = 0; j < d; j++)
                square += pow((double)(point[j] - x->values[i * d + j]), 2);
            for (int l = 0; l < k; l++)
                taken = taken || nearest[l] == i;
            if (!taken && sqrt(square) < distance[k]) {
                distance[k] = sqrt(square);
                nearest[k] = i;
            }
        }
    }
    for (int k = 0; k < K; k++) {
        weight[k] = exp(-distance[k] * distance[k] /
                        (distance[K - 1] * fit->graph.scale.local[nearest[k]]));
        degree += weight[k];
    }
    for (int64_t l = 0; l < c; l++) {
        for (int k = 0; k < K; k++)
            row[l] += weight[k] / sqrt(degree * fit->embedding.f.degrees[nearest[k]]) *
                      f->values[nearest[k] * c + l];
        row[l] += mu * regression(fit, point, l);
    }
    int32_t largest = 0;
    for (int32_t l = 1; l < c; l++)
        largest = row[l] > row[largest] ? l : largest;
    return largest;
}

static void new_points_minimise_their_terms(void **state) {
    (void)state;
    huddle_points x = clouds(150, 4, 3, 1.8, 1, 2), fresh;
    static const char *const weights[] = {"1", "20"};
    int32_t labels[300], others = 0;
    assert_ok(huddle_points_new(300, 4, &fresh));
    for (int64_t e = 0; e < 1200; e++) {
        hd_rng rng = hd_rng_stream(77, (uint64_t)e);
        fresh.values[e] = (float)(4 * hd_rng_normal(&rng));
    }
    for (int t = 0; t < 2; t++) {
        huddle_model *model =
            fit(&x, "3", (const char *const[]){"discrimination", weights[t], NULL});
        assert_ok(huddle_model_predict(NULL, model, &fresh, labels));
        for (int64_t i = 0; i < 300; i++) {
            assert_int_equal(
                labels[i], expected_label(&model->fit, &x, fresh.values + i * 4, t == 0 ? 1 : 20));
            others += labels[i] != expected_label(&model->fit, &x, fresh.values + i * 4, 0);
        }
        huddle_model_free(model);
    }
    assert_true(others > 5); /* the regression decides some of them */
    huddle_points_free(&x);
    huddle_points_free(&fresh);
}

/* Sparse points give what the same dense points give. */
static void sparse_points_are_the_same(void **state) {
    (void)state;
    huddle_points x = clouds(90, 6, 3, .8, 1, 3), y;
    int32_t a[90], b[90];
    for (int64_t e = 0; e < 540; e++)
        x.values[e] = e % 5 == 0 ? 0 : x.values[e];
    assert_ok(huddle_points_new_sparse(90, 6, 540, &y));
    for (int64_t e = 0; e < 540; e++) {
        y.columns[e] = (int32_t)(e % 6);
        y.values[e] = x.values[e];
        y.offsets[e / 6 + 1] = e + 1;
    }
    huddle_model *one = fit(&x, "3", (const char *const[]){NULL});
    huddle_model *two = fit(&y, "3", (const char *const[]){NULL});
    assert_memory_equal(huddle_model_labels(one, NULL), huddle_model_labels(two, NULL), sizeof a);
    for (int64_t e = 0; e < 540; e++)
        x.values[e] = y.values[e] = e % 5 == 0 ? 0 : x.values[e] + .25F;
    assert_ok(huddle_model_predict(NULL, one, &x, a));
    assert_ok(huddle_model_predict(NULL, two, &y, b));
    assert_memory_equal(a, b, sizeof a);
    huddle_model_free(one);
    huddle_model_free(two);
    huddle_points_free(&x);
    huddle_points_free(&y);
}

/* ---- files ----------------------------------------------------------------------------------- */

/* A file whose regression has another size is refused. */
static void a_damaged_regression_is_refused(void **state) {
    (void)state;
    huddle_points x = clouds(60, 4, 3, .5, 1, 1);
    huddle_model *model = fit(&x, "3", (const char *const[]){NULL}), *loaded;
    huddle_dense *map = &model->fit.embedding.linear_map;
    const char *path = test_path_of("nsc.huddle");
    map->rows--;
    assert_ok(huddle_model_save(model, path));
    assert_refused(huddle_model_load(path, &loaded), HUDDLE_FORMAT, "rows of linear_map.npy");
    map->rows++;
    map->cols--;
    map->stride--;
    assert_ok(huddle_model_save(model, path));
    assert_refused(huddle_model_load(path, &loaded), HUDDLE_FORMAT, "columns of linear_map.npy");
    huddle_model_free(model);
    huddle_points_free(&x);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(updates_are_those_of_numpy),
        cmocka_unit_test(updates_end_at_a_stationary_point),
        cmocka_unit_test(copies_count_as_rows),
        cmocka_unit_test(the_objective_is_that_of_ridge_regression),
        cmocka_unit_test(the_objective_falls_and_constraints_hold),
        cmocka_unit_test(separate_clouds_are_found),
        cmocka_unit_test(the_discriminative_term_makes_f_linear),
        cmocka_unit_test(without_the_term_there_is_no_regression),
        cmocka_unit_test(the_regression_solves_the_normal_equations),
        cmocka_unit_test(new_points_minimise_their_terms),
        cmocka_unit_test(sparse_points_are_the_same),
        cmocka_unit_test(a_damaged_regression_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
