/* The l1-norm graph: NumPy, its own definition, and the cases at the edges. */
#include "base/machine.h"
#include "clouds.h"
#include "embedding_fits.h"
#include "golden_matrices.h"
#include "shrink/linear.h"
#include "steps/l1_rows.h"
#include "steps/place.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- steps against l1sc.txt ------------------------------------------------------------------ */

enum { STEPS = 12, NEAR = 5, PROBLEMS = 6 };

/* A problem of l1sc.txt. */
typedef struct golden {
    int64_t n, c;
    double epsilon;
    const double *copies, *graph, *start, *objective, *rows, *near, *weights, *place;
} golden;

/* The next problem; *at moves behind it. */
static golden next_problem(const double **at) {
    const double *p = *at;
    golden g = {.n = (int64_t)p[0], .c = (int64_t)p[1], .epsilon = p[2], .copies = p + 3};
    g.graph = g.copies + g.n;
    g.start = g.graph + g.n * g.n;
    g.objective = g.start + g.n * g.c;
    g.rows = g.objective + STEPS + 1;
    g.near = g.rows + g.n * g.c;
    g.weights = g.near + NEAR;
    g.place = g.weights + NEAR;
    *at = g.place + g.c;
    return g;
}

static void each_problem(void (*check)(const golden *g)) {
    int64_t count;
    double *numbers = test_golden("l1sc.txt", &count);
    const double *at = numbers;
    for (int k = 0; k < PROBLEMS; k++) {
        golden g = next_problem(&at);
        check(&g);
    }
    assert_int_equal(at - numbers, count);
    free(numbers);
}

static double product(const double *mass, const huddle_dense *a, int64_t k, const huddle_dense *b,
                      int64_t l) {
    double sum = 0;
    for (int64_t i = 0; i < a->rows; i++)
        sum += (mass != NULL ? mass[i] : 1) * a->values[i * a->stride + k] *
               b->values[i * b->stride + l];
    return sum;
}

static void assert_orthonormal(const double *mass, const huddle_dense *q, double tolerance) {
    for (int64_t k = 0; k < q->cols; k++)
        for (int64_t l = 0; l <= k; l++)
            assert_close(product(mass, q, k, q, l), k == l, tolerance);
}

/* The columns span what those of b span, both orthonormal: Q = B B'M Q. */
static void assert_same_span(const double *mass, const huddle_dense *q, const huddle_dense *b,
                             double tolerance) {
    for (int64_t k = 0; k < q->cols; k++)
        for (int64_t i = 0; i < q->rows; i++) {
            double sum = 0;
            for (int64_t l = 0; l < b->cols; l++)
                sum += b->values[i * b->stride + l] * product(mass, b, l, q, k);
            assert_close(q->values[i * q->stride + k], sum, tolerance);
        }
}

/* J(Q) from its definition. */
static double objective(const huddle_csr *w, const huddle_dense *q, double eps) {
    double sum = 0;
    for (int64_t i = 0; i < w->rows; i++)
        for (int64_t e = w->offsets[i]; e < w->offsets[i + 1]; e++) {
            double square = eps * eps;
            for (int64_t k = 0; k < q->cols; k++) {
                double gap =
                    q->values[i * q->stride + k] - q->values[w->columns[e] * q->stride + k];
                square += gap * gap;
            }
            sum += w->columns[e] != i ? w->values[e] * sqrt(square) / 2 : 0;
        }
    return sum;
}

/* A single column has its minimum without a step; elsewhere iteration ends early only where
 * rounding decides. */
static void check_steps(const golden *g) {
    huddle_csr graph = golden_sparse(g->n, g->graph);
    huddle_dense expected = golden_dense(g->n, g->c, g->rows);
    for (const char *const *solver = hd_shrink_linear_names; *solver != NULL; solver++) {
        huddle_dense q = golden_dense(g->n, g->c, g->start);
        huddle_alternation_info history = {0};
        const hd_step_l1_rows problem = {&graph, g->copies, g->epsilon, 0, STEPS, 7, *solver};
        assert_ok(hd_step_l1_rows_minimise(NULL, &problem, &q, &history));
        assert_int_equal(history.n_iter, history.n_history - 1);
        for (int t = 0; t < history.n_history; t++)
            assert_close(history.objective[t], g->objective[t], 1e-7 * g->objective[t]);
        assert_close(history.objective[history.n_iter], g->objective[STEPS],
                     1e-7 * g->objective[STEPS]);
        assert_int_equal(history.n_history == STEPS + 1, history.stop == HUDDLE_STOP_MAX_ITER);
        assert_int_equal(g->c == 1, history.stop == HUDDLE_STOP_EXACT);
        assert_orthonormal(g->copies, &q, 1e-9);
        assert_same_span(g->copies, &q, &expected, 1e-4);
        huddle_dense_free(&q);
        hd_fit_alternation_reset(&history);
    }
    huddle_csr_free(&graph);
    huddle_dense_free(&expected);
}

static void steps_are_those_of_numpy(void **state) {
    (void)state;
    each_problem(check_steps);
}

static void check_place(const golden *g) {
    huddle_dense q = golden_dense(g->n, g->c, g->rows);
    double row[8], scratch[8], points = 0;
    int32_t columns[NEAR];
    for (int64_t i = 0; i < g->n; i++)
        points += g->copies[i];
    for (int j = 0; j < NEAR; j++)
        columns[j] = (int32_t)g->near[j];
    double eps = hd_step_l1_rows_eps(g->epsilon, g->c, points);
    assert_close(eps, g->epsilon * sqrt(2 * (double)g->c / points), 1e-15);
    hd_step_l1_rows_place(&q, eps, NEAR, columns, g->weights, row, scratch);
    for (int64_t k = 0; k < g->c; k++)
        assert_close(row[k], g->place[k], 1e-4 * sqrt((double)g->c / points));
    hd_step_l1_rows_place(&q, eps, 0, columns, g->weights, row, scratch);
    for (int64_t k = 0; k < g->c; k++)
        assert_true(row[k] == 0);
    huddle_dense_free(&q);
}

static void new_rows_are_medians(void **state) {
    (void)state;
    each_problem(check_place);
}

/* Rows with copies give what all rows give: those of a group, joined by edges, coincide. The
 * residuals of eigenvectors are 1e-6. */
static void check_copies(const golden *g) {
    int64_t of[256], n = 0, pairs = 0;
    for (int64_t i = 0; i < g->n; i++)
        for (int64_t m = 0; m < (int64_t)g->copies[i]; m++)
            of[n++] = i;
    double *w = calloc((size_t)(n * n), sizeof *w);
    double eps = hd_step_l1_rows_eps(g->epsilon, g->c, (double)n);
    huddle_dense q;
    huddle_alternation_info history = {0};
    assert_ok(huddle_dense_new(n, g->c, &q));
    for (int64_t a = 0; a < n; a++) {
        for (int64_t b = 0; b < n; b++) {
            bool equal = of[a] == of[b];
            pairs += equal && a < b;
            w[a * n + b] =
                equal ? a != b
                      : g->graph[of[a] * g->n + of[b]] / (g->copies[of[a]] * g->copies[of[b]]);
        }
        memcpy(q.values + a * q.stride, g->start + of[a] * g->c, (size_t)g->c * sizeof *w);
    }
    huddle_csr graph = golden_sparse(n, w);
    const hd_step_l1_rows problem = {&graph, NULL, g->epsilon, 0, STEPS, 7, "auto"};
    assert_ok(hd_step_l1_rows_minimise(NULL, &problem, &q, &history));
    for (int t = 0; t < history.n_history; t++)
        assert_close(history.objective[t] - eps * (double)pairs, g->objective[t],
                     2e-5 * g->objective[t]);
    free(w);
    huddle_csr_free(&graph);
    huddle_dense_free(&q);
    hd_fit_alternation_reset(&history);
}

static void copies_count_as_rows(void **state) {
    (void)state;
    each_problem(check_copies);
}

/* ---- graphs in several components ------------------------------------------------------------ */

enum { CLIQUES = 4, VERTICES = 2 + 3 + 4 + 5 };

/* Cliques of 3, 2, 5 and 4 vertices, in this order, without edges between them. */
static huddle_csr make_cliques(int32_t *clique) {
    static const int sizes[CLIQUES] = {3, 2, 5, 4};
    double w[VERTICES * VERTICES];
    int64_t n = 0;
    for (int32_t g = 0; g < CLIQUES; g++)
        for (int i = 0; i < sizes[g]; i++)
            clique[n++] = g;
    for (int64_t i = 0; i < VERTICES; i++)
        for (int64_t j = 0; j < VERTICES; j++)
            w[i * VERTICES + j] = i != j && clique[i] == clique[j] ? 1 + (double)(i + j) / 9 : 0;
    return golden_sparse(VERTICES, w);
}

/* As many columns as components, or fewer: indicators of the largest. One more: the rows of three
 * components still coincide. */
static void components_need_no_step(void **state) {
    (void)state;
    static const int largest[CLIQUES] = {2, 3, 0, 1}, sizes[CLIQUES] = {3, 2, 5, 4};
    int32_t clique[VERTICES];
    huddle_csr graph = make_cliques(clique);
    for (int64_t c = 1; c <= CLIQUES + 1; c++) {
        huddle_dense q;
        huddle_alternation_info history = {0};
        const hd_step_l1_rows problem = {&graph, NULL, 1e-3, 0, 50, 7, "auto"};
        assert_ok(huddle_dense_new(VERTICES, c, &q));
        for (int64_t e = 0; e < VERTICES * c; e++)
            q.values[e] = sin((double)e);
        assert_ok(hd_step_l1_rows_minimise(NULL, &problem, &q, &history));
        assert_orthonormal(NULL, &q, 1e-9);
        assert_int_equal(c <= CLIQUES, history.stop == HUDDLE_STOP_EXACT);
        assert_close(history.objective[history.n_iter],
                     objective(&graph, &q, hd_step_l1_rows_eps(1e-3, c, VERTICES)), 1e-9);
        for (int64_t i = 0; i < VERTICES && c <= CLIQUES; i++)
            for (int64_t k = 0; k < c; k++)
                assert_close(q.values[i * q.stride + k],
                             clique[i] == largest[k] ? 1 / sqrt(sizes[clique[i]]) : 0, 1e-15);
        huddle_dense_free(&q);
        hd_fit_alternation_reset(&history);
    }
    huddle_csr_free(&graph);
}

/* ---- the method ------------------------------------------------------------------------------ */

/* Whatever the smoothing, with and without equal rows: the objective is that of the graph and the
 * rows that the fit has, it never rises, and the columns are orthonormal over all points. */
static void the_objective_falls_and_the_constraint_holds(void **state) {
    (void)state;
    static const char *const smoothings[] = {"1e-6", "1e-3", ".1", "1"};
    for (int t = 0; t < 8; t++) {
        int64_t c = 2 + t % 3, n = 120;
        const char clusters[] = {(char)('0' + c), '\0'};
        huddle_points x = clouds(n, 4, c, 2.5, t < 4 ? 1 : 6, (uint64_t)t);
        huddle_model *model =
            fit("l1sc", &x, clusters,
                (const char *const[]){"prepare", "none", "epsilon", smoothings[t % 4], "connect",
                                      "true", NULL});
        const hd_fit *f = &model->fit;
        const huddle_alternation_info *a = &f->clusters.alternation;
        double *mass = NULL, eps = hd_step_l1_rows_eps(atof(smoothings[t % 4]), c, (double)n);
        assert_ok(hd_fit_rows_weights(&f->rows, &mass));
        assert_int_equal(mass == NULL, t < 4);
        assert_true(a->n_history > 1);
        for (int32_t k = 1; k < a->n_history; k++)
            assert_true(a->objective[k] <= a->objective[k - 1]);
        double last = a->objective[a->n_iter];
        assert_close(last, objective(&f->graph.matrix, &f->embedding.f.rows, eps), 1e-9 * last);
        assert_orthonormal(mass, &f->embedding.f.rows, 1e-8);
        assert_int_equal(f->embedding.f.rows.cols, c);
        huddle_free(mass);
        huddle_model_free(model);
        huddle_points_free(&x);
    }
}

/* Also in several components, from a file, of a range, and points that are new. */
static void separate_clouds_are_found(void **state) {
    (void)state;
    enum { ROWS = 120 };
    for (int t = 0; t < 6; t++) {
        int32_t labels[ROWS], again[ROWS], loaded[ROWS];
        huddle_points x = clouds(ROWS, 6, 4, .3, t < 4 ? 1 : 5, (uint64_t)t % 3);
        huddle_points y = clouds(ROWS, 6, 4, .4, 1, (uint64_t)t % 3);
        const char *path = test_path_of("l1sc.npz");
        huddle_model *model = fit("l1sc", &x,
                                  t == 1   ? "2-5"
                                  : t == 3 ? "auto"
                                           : "4",
                                  (const char *const[]){"prepare", "none", "connect",
                                                        t % 2 == 0 ? "false" : "true", NULL});
        memcpy(labels, huddle_model_labels(model, NULL), sizeof labels);
        assert_close(cloud_accuracy(ROWS, 4, labels), 1, 0);
        assert_ok(huddle_model_predict(NULL, model, &x, again));
        assert_memory_equal(labels, again, sizeof labels);
        assert_ok(huddle_model_predict(NULL, model, &y, again));
        assert_close(cloud_accuracy(ROWS, 4, again), 1, 0);
        assert_ok(huddle_model_save(model, path));
        huddle_model_free(model);
        assert_ok(huddle_model_load(path, &model));
        assert_ok(huddle_model_predict(NULL, model, &y, loaded));
        assert_memory_equal(again, loaded, sizeof loaded);
        huddle_model_free(model);
        huddle_points_free(&x);
        huddle_points_free(&y);
    }
}

static bool warns_of_steps(const huddle_model *model) {
    for (int64_t i = 0; i < model->fit.warnings.count; i++)
        if (strstr(model->fit.warnings.items[i].text, "the objective still falls after") != NULL)
            return true;
    return false;
}

/* The first step has the distances between the rows of the random-walk Laplacian, scaled to the
 * size of Q: with so much smoothing that the scale matters. */
static void the_first_step_has_the_distances_of_sc(void **state) {
    (void)state;
    for (int copies = 1; copies < 7; copies += 5) {
        huddle_points x = clouds(120, 4, 3, 2.5, copies, 3);
        huddle_model *model =
            fit("l1sc", &x, "3",
                (const char *const[]){"prepare", "none", "connect", "true", "epsilon", ".3",
                                      "step_max_iter", "0", NULL});
        const hd_fit *f = &model->fit;
        const huddle_dense *v = &f->embedding.f.vectors;
        huddle_dense q;
        huddle_alternation_info history = {0};
        double *mass = NULL, sum = 0;
        assert_ok(hd_fit_rows_weights(&f->rows, &mass));
        assert_ok(huddle_dense_new(v->rows, 3, &q));
        for (int64_t e = 0; e < v->rows * 3; e++) {
            q.values[e] =
                v->values[e / 3 * v->stride + e % 3] / sqrt(f->embedding.f.degrees[e / 3]);
            sum += (mass != NULL ? mass[e / 3] : 1) * q.values[e] * q.values[e];
        }
        for (int64_t e = 0; e < v->rows * 3; e++)
            q.values[e] *= sqrt(3 / sum);
        const hd_step_l1_rows problem = {&f->graph.matrix, mass, .3, 0, 0, 7, "auto"};
        assert_ok(hd_step_l1_rows_minimise(NULL, &problem, &q, &history));
        assert_int_equal(f->clusters.alternation.n_history, 1);
        assert_false(warns_of_steps(model)); /* no more were asked for */
        assert_close(f->clusters.alternation.objective[0], history.objective[0],
                     1e-6 * history.objective[0]);
        huddle_free(mass);
        huddle_dense_free(&q);
        hd_fit_alternation_reset(&history);
        huddle_model_free(model);
        huddle_points_free(&x);
    }
}

/* Steps end when they hardly matter, sooner with a larger tolerance. */
static void steps_end_by_the_tolerance(void **state) {
    (void)state;
    static const char *const tolerances[] = {".1", "1e-3", "1e-6"};
    huddle_points x = clouds(120, 4, 3, 2.5, 1, 3);
    int32_t before = 0;
    for (int t = 0; t < 3; t++) {
        huddle_model *model = fit("l1sc", &x, "3",
                                  (const char *const[]){"prepare", "none", "connect", "true",
                                                        "step_tol", tolerances[t], NULL});
        const huddle_alternation_info *a = &model->fit.clusters.alternation;
        double tol = atof(tolerances[t]);
        assert_int_equal(a->stop, HUDDLE_STOP_CONVERGED);
        assert_false(warns_of_steps(model));
        assert_true(a->n_iter > before);
        for (int32_t k = 1; k < a->n_iter; k++)
            assert_true(a->objective[k - 1] - a->objective[k] > tol * a->objective[k - 1]);
        double last = a->objective[a->n_iter - 1];
        assert_true(last - a->objective[a->n_iter] <= tol * last);
        before = a->n_iter;
        huddle_model_free(model);
    }
    huddle_model *model = fit("l1sc", &x, "3",
                              (const char *const[]){"prepare", "none", "connect", "true",
                                                    "step_tol", "0", "step_max_iter", "1", NULL});
    assert_true(warns_of_steps(model));
    huddle_model_free(model);
    huddle_points_free(&x);
}

/* The row of a new point is the best for it: the gradient of its terms is 0. */
static void new_rows_follow_the_graph(void **state) {
    (void)state;
    enum { ROWS = 90, NEW = 7 };
    for (int copies = 1; copies < 7; copies += 5) {
        huddle_points x = clouds(ROWS, 3, 3, 2, copies, 5), y = clouds(NEW, 3, 3, 2.2, 1, 5);
        huddle_model *model = fit(
            "l1sc", &x, "3",
            (const char *const[]){"prepare", "none", "scale", "binary", "epsilon", "0.2", NULL});
        const hd_fit *f = &model->fit;
        const huddle_dense *q = &f->embedding.f.rows;
        double eps = hd_step_l1_rows_eps(.2, 3, ROWS);
        huddle_dense rows = {0};
        huddle_neighbors to = {0};
        huddle_csr w = {0};
        huddle_knn_options knn = huddle_knn_defaults();
        assert_ok(huddle_model_transform(NULL, model, &y, &rows));
        assert_ok(hd_spectral_query_neighbors(NULL, f, &y, &knn, &to));
        assert_ok(hd_spectral_weigh_new(&to, &f->graph.scale, f, &w));
        for (int64_t i = 0; i < NEW; i++)
            for (int64_t k = 0; k < 3; k++) {
                double slope = 0, total = 0;
                for (int64_t e = w.offsets[i]; e < w.offsets[i + 1]; e++) {
                    const double *other = q->values + w.columns[e] * q->stride;
                    double square = eps * eps;
                    for (int64_t l = 0; l < 3; l++)
                        square += (rows.values[i * rows.stride + l] - other[l]) *
                                  (rows.values[i * rows.stride + l] - other[l]);
                    slope +=
                        w.values[e] * (rows.values[i * rows.stride + k] - other[k]) / sqrt(square);
                    total += w.values[e];
                }
                assert_close(slope / total, 0, 2e-3);
            }
        huddle_dense_free(&rows);
        huddle_neighbors_free(&to);
        huddle_csr_free(&w);
        huddle_model_free(model);
        huddle_points_free(&x);
        huddle_points_free(&y);
    }
}

/* Also with as many columns as points, or one less. */
static void degenerate_points_are_clustered(void **state) {
    (void)state;
    static const char *const numbers[] = {"1", "2", "29", "30"};
    huddle_points x = clouds(30, 3, 5, 2, 1, 3);
    check_degenerate_points("l1sc", 4);
    for (int k = 0; k < 4; k++) {
        huddle_model *model = fit("l1sc", &x, numbers[k], (const char *const[]){NULL});
        assert_int_equal(model->fit.embedding.f.rows.cols, atoi(numbers[k]));
        assert_orthonormal(NULL, &model->fit.embedding.f.rows, 1e-8);
        huddle_model_free(model);
    }
    huddle_points_free(&x);
}

/* By their number, not by the memory that so many would need. */
static void too_many_points_are_refused(void **state) {
    (void)state;
    huddle_points x;
    huddle_model *model;
    huddle_context *context;
    assert_ok(huddle_points_new(20001, 1, &x));
    for (int64_t i = 0; i < x.n; i++)
        x.values[i * x.stride] = (float)i;
    assert_ok(huddle_model_new("l1sc", &model));
    assert_ok(huddle_model_set_option(model, "n_clusters", "3"));
    assert_refused(huddle_model_fit(NULL, model, &x), HUDDLE_UNSUPPORTED,
                   "at most 20000 points, not 20001");
    assert_ok(huddle_context_new(&context));
    assert_ok(huddle_context_set_memory(context, hd_machine_private("") + (64 << 20)));
    assert_refused(huddle_model_fit(context, model, &x), HUDDLE_UNSUPPORTED,
                   "at most 20000 points, not 20001");
    huddle_context_free(context);
    huddle_model_free(model);
    huddle_points_free(&x);
}

typedef struct few_steps {
    hd_step_l1_rows problem;
    huddle_dense q;
} few_steps;

static huddle_status run_few_steps(void *argument) {
    few_steps *few = argument;
    huddle_alternation_info history = {0};
    huddle_status status = hd_step_l1_rows_minimise(NULL, &few->problem, &few->q, &history);
    hd_fit_alternation_reset(&history);
    return status;
}

static void every_allocation_may_fail(void **state) {
    (void)state;
    int64_t count;
    double *numbers = test_golden("l1sc.txt", &count);
    const double *at = numbers;
    golden g = next_problem(&at);
    huddle_csr graph = golden_sparse(g.n, g.graph);
    few_steps few = {{&graph, g.copies, g.epsilon, 0, 1, 7, "approximate"},
                     golden_dense(g.n, g.c, g.start)};
    test_each_allocation(run_few_steps, &few);
    huddle_csr_free(&graph);
    huddle_dense_free(&few.q);
    free(numbers);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(steps_are_those_of_numpy),
        cmocka_unit_test(new_rows_are_medians),
        cmocka_unit_test(copies_count_as_rows),
        cmocka_unit_test(every_allocation_may_fail),
        cmocka_unit_test(components_need_no_step),
        cmocka_unit_test(the_objective_falls_and_the_constraint_holds),
        cmocka_unit_test(separate_clouds_are_found),
        cmocka_unit_test(the_first_step_has_the_distances_of_sc),
        cmocka_unit_test(steps_end_by_the_tolerance),
        cmocka_unit_test(new_rows_follow_the_graph),
        cmocka_unit_test(degenerate_points_are_clustered),
        cmocka_unit_test(too_many_points_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
