/* Laplacian-regularised L1 graph: its codes against NumPy and the conditions of optimality, its
 * graph, and points for which it is known what it should find. */
#include "base/rng.h"
#include "huddle/metrics.h"
#include "method_fits.h"
#include "model/model.h"
#include "steps/l1_codes.h"
#include "support/support.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { K = 5 };

/* ---- NumPy --------------------------------------------------------------------------------- */

/* The cases of make_l1graph.py, in their order. */
typedef struct golden_case {
    int64_t n, d;
    const char *dictionary, *lambda, *beta, *laplacians;
} golden_case;

static const golden_case cases[] = {{24, 6, "8", "0.05", "0.3", "1"},
                                    {30, 10, "29", "0.2", "1", "1"},
                                    {28, 12, "10", "0.1", "0", "1"},
                                    {26, 8, "12", "0.1", "0.2", "3"}};
enum { N_CASES = sizeof cases / sizeof *cases };

static huddle_model *fit_exactly(const huddle_points *x, const golden_case *c) {
    return fit("l1graph", x, "3",
               (const char *const[]){"prepare", "none", "connect", "false", "dictionary",
                                     c->dictionary, "sparsity", c->lambda, "beta", c->beta,
                                     "laplacians", c->laplacians, "codes_tol", "1e-12",
                                     "codes_max_iter", "2000", NULL});
}

static double entry(const huddle_csr *m, int64_t i, int64_t j) {
    for (int64_t e = m->offsets[i]; e < m->offsets[i + 1]; e++)
        if (m->columns[e] == j)
            return m->values[e];
    return 0;
}

static void graphs_and_objectives_are_numpys(void **state) {
    (void)state;
    int64_t count, at = 0;
    double *numbers = test_golden("l1graph.txt", &count);
    for (int k = 0; k < N_CASES; k++) {
        int64_t n = cases[k].n, d = cases[k].d;
        const double *a = numbers + at + 1, *values = a + n * n;
        huddle_points x;
        assert_ok(huddle_points_from_double(NULL, n, d, values, d, 1, &x));
        huddle_model *model = fit_exactly(&x, &cases[k]);
        const huddle_alternation_info *passes = &model->fit.clusters.alternation;
        for (int64_t i = 0; i < n; i++)
            for (int64_t j = 0; j < n; j++)
                assert_close(entry(&model->fit.graph.matrix, i, j),
                             (fabs(a[i * n + j]) + fabs(a[j * n + i])) / 2, 2e-6);
        if (strcmp(cases[k].beta, "0") != 0)
            assert_close(passes->objective[passes->n_history - 1], numbers[at], 1e-9);
        huddle_model_free(model);
        huddle_points_free(&x);
        at += 1 + n * n + n * d;
    }
    assert_int_equal(at, count);
    free(numbers);
}

/* ---- the conditions of optimality ---------------------------------------------------------- */

enum { N = 48, D = 12, M = 20 };

static huddle_points random_points(uint64_t seed, int64_t n, int64_t d, double mean) {
    huddle_points x;
    assert_ok(huddle_points_new(n, d, &x));
    for (int64_t i = 0; i < n; i++) {
        hd_rng rng = hd_rng_stream(seed, (uint64_t)i);
        for (int64_t j = 0; j < d; j++)
            x.values[i * x.stride + j] = (float)(mean + hd_rng_normal(&rng));
    }
    return x;
}

/* Points, their neighbour graph, dictionaries. */
typedef struct setting {
    huddle_points x;
    huddle_csr weights, codes;
} setting;

static setting make_setting(huddle_points x, int32_t m) {
    setting s = {.x = x};
    huddle_neighbors lists = {0};
    huddle_knn_options knn = huddle_knn_defaults();
    huddle_weight_options weight = huddle_weight_defaults();
    knn.n_neighbors = K;
    assert_ok(huddle_graph_knn(NULL, &s.x, &knn, &lists, NULL));
    assert_ok(huddle_graph_weigh(NULL, &lists, &weight, &s.weights, NULL));
    huddle_neighbors_free(&lists);
    knn.n_neighbors = m;
    assert_ok(huddle_graph_knn(NULL, &s.x, &knn, &lists, NULL));
    assert_ok(hd_step_l1_dictionaries(&lists, m, x.n, &s.codes));
    huddle_neighbors_free(&lists);
    return s;
}

static void free_setting(setting *s) {
    huddle_points_free(&s->x);
    huddle_csr_free(&s->weights);
    huddle_csr_free(&s->codes);
}

static hd_step_l1_problem problem_of(const setting *s, double lambda, double beta) {
    return (hd_step_l1_problem){.points = &s->x,
                                .weights = &s->weights,
                                .lambda = lambda,
                                .beta = beta,
                                .tol = 1e-12,
                                .max_passes = 3000};
}

static double value(const huddle_points *x, int64_t i, int64_t j) {
    double shift = x->shift != NULL ? x->shift[j] : 0;
    if (x->offsets == NULL)
        return (double)x->values[i * x->stride + j] + shift;
    for (int64_t e = x->offsets[i]; e < x->offsets[i + 1]; e++)
        if (x->columns[e] == j)
            return (double)x->values[e];
    return 0;
}

/* The points divided by their norms, dense. */
static double *unit_rows(const huddle_points *x) {
    double *u = calloc((size_t)(x->n * x->d), sizeof *u);
    for (int64_t i = 0; i < x->n; i++) {
        double square = 0;
        for (int64_t j = 0; j < x->d; j++)
            square += value(x, i, j) * value(x, i, j);
        for (int64_t j = 0; j < x->d && square > 0; j++)
            u[i * x->d + j] = value(x, i, j) / sqrt(square);
    }
    return u;
}

static void find_residual(const huddle_csr *codes, const double *u, int64_t d, int64_t i,
                          double *residual) {
    memcpy(residual, u + i * d, (size_t)d * sizeof *residual);
    for (int64_t e = codes->offsets[i]; e < codes->offsets[i + 1]; e++)
        for (int64_t j = 0; j < d; j++)
            residual[j] -= codes->values[e] * u[codes->columns[e] * d + j];
}

/* The objective from its definition; *violation: how far the subgradient of any entry is from 0. A
 * small gap allows more of it where an entry is nearly 0. */
static double check_optimality(const setting *s, const hd_step_l1_problem *p, double *violation) {
    const huddle_csr *codes = &s->codes, *w = p->weights;
    int64_t d = s->x.d;
    double *u = unit_rows(&s->x), *residual = malloc((size_t)d * sizeof *residual), sum = 0;
    *violation = 0;
    for (int64_t i = 0; i < s->x.n; i++) {
        find_residual(codes, u, d, i, residual);
        for (int64_t j = 0; j < d; j++)
            sum += residual[j] * residual[j];
        for (int64_t f = w->offsets[i]; f < w->offsets[i + 1]; f++)
            for (int64_t k = 0; k < s->x.n && w->columns[f] < i; k++)
                sum += p->beta * w->values[f] *
                       pow(entry(codes, i, k) - entry(codes, w->columns[f], k), 2);
        for (int64_t e = codes->offsets[i]; e < codes->offsets[i + 1]; e++) {
            int64_t k = codes->columns[e];
            double gradient = 0, a = codes->values[e];
            assert_true(k != i);
            sum += p->lambda * fabs(a);
            for (int64_t j = 0; j < d; j++)
                gradient -= 2 * residual[j] * u[k * d + j];
            for (int64_t f = w->offsets[i]; f < w->offsets[i + 1]; f++)
                gradient += 2 * p->beta * w->values[f] * (a - entry(codes, w->columns[f], k));
            double away = a != 0 ? fabs(gradient + copysign(p->lambda, a))
                                 : fmax(fabs(gradient) - p->lambda, 0);
            *violation = fmax(*violation, away);
        }
    }
    free(u);
    free(residual);
    return sum;
}

static void check_passes(const huddle_alternation_info *passes) {
    for (int32_t p = 1; p < passes->n_history; p++)
        assert_true(passes->objective[p] <= passes->objective[p - 1] * (1 + 1e-13));
}

static void codes_are_optimal_and_the_objective_never_rises(void **state) {
    (void)state;
    static const double lambdas[] = {.01, .1, .5}, betas[] = {.05, 1, 20};
    for (int l = 0; l < 3; l++)
        for (int b = 0; b < 3; b++) {
            setting s = make_setting(random_points((uint64_t)(7 + l), N, D, .5 * b), M);
            hd_step_l1_problem p = problem_of(&s, lambdas[l], betas[b]);
            huddle_alternation_info passes = {0};
            double violation;
            assert_ok(hd_step_l1_couple(NULL, &p, &s.codes, &passes));
            assert_int_equal(passes.stop, HUDDLE_STOP_CONVERGED);
            assert_true(passes.n_history > 2);
            check_passes(&passes);
            double objective = check_optimality(&s, &p, &violation);
            assert_close(passes.objective[passes.n_history - 1], objective, 1e-10);
            assert_true(violation < 1e-4);
            hd_fit_alternation_reset(&passes);
            free_setting(&s);
        }
}

/* Without coupling every code is a lasso; with many alike columns, where descent alone is slow. */
static void codes_on_their_own_are_optimal(void **state) {
    (void)state;
    for (uint64_t seed = 0; seed < 4; seed++) {
        setting s = make_setting(random_points(seed, N, D, seed < 2 ? 0 : 4), N - 1);
        hd_step_l1_problem p = problem_of(&s, .02, 0);
        double violation;
        assert_ok(hd_step_l1_encode(NULL, &p, &s.x, &s.codes));
        check_optimality(&s, &p, &violation);
        assert_true(violation < 1e-4);
        free_setting(&s);
    }
}

/* Passes end when they are told to, and what they have by then is not worse than before. */
static void passes_are_limited(void **state) {
    (void)state;
    setting s = make_setting(random_points(3, N, D, 1), M);
    hd_step_l1_problem p = problem_of(&s, .05, 5);
    huddle_alternation_info passes = {0};
    p.max_passes = 2;
    assert_ok(hd_step_l1_couple(NULL, &p, &s.codes, &passes));
    assert_int_equal(passes.stop, HUDDLE_STOP_MAX_ITER);
    assert_int_equal(passes.n_history, 3);
    check_passes(&passes);
    hd_fit_alternation_reset(&passes);
    free_setting(&s);
}

/* ---- kinds of points ----------------------------------------------------------------------- */

/* A third of the values are 0. */
static huddle_points thinned_points(bool sparse) {
    huddle_points dense = random_points(5, N, D, 1), x;
    int64_t count = 0;
    for (int64_t i = 0; i < N * D; i++)
        if (i % 3 == 0)
            dense.values[i] = 0;
    if (!sparse)
        return dense;
    assert_ok(huddle_points_new_sparse(N, D, N * D, &x));
    for (int64_t i = 0; i < N; i++) {
        for (int64_t j = 0; j < D; j++)
            if (dense.values[i * D + j] != 0) {
                x.columns[count] = (int32_t)j;
                x.values[count++] = dense.values[i * D + j];
            }
        x.offsets[i + 1] = count;
    }
    huddle_points_free(&dense);
    return x;
}

static void assert_same_codes(const huddle_csr *a, const huddle_csr *b, double tolerance) {
    for (int64_t i = 0; i < a->rows; i++)
        for (int64_t j = 0; j < a->cols; j++)
            assert_close(entry(a, i, j), entry(b, i, j), tolerance);
}

static void sparse_points_have_the_codes_of_dense_ones(void **state) {
    (void)state;
    setting s[2];
    for (int k = 0; k < 2; k++) {
        huddle_alternation_info passes = {0};
        s[k] = make_setting(thinned_points(k == 1), M);
        hd_step_l1_problem p = problem_of(&s[k], .1, .5);
        assert_ok(hd_step_l1_couple(NULL, &p, &s[k].codes, &passes));
        hd_fit_alternation_reset(&passes);
    }
    assert_same_codes(&s[0].codes, &s[1].codes, 1e-9);
    free_setting(&s[0]);
    free_setting(&s[1]);
}

/* The shift belongs to the values: norms and products need it. */
static void shifted_points_have_the_codes_of_their_values(void **state) {
    (void)state;
    setting s[2];
    for (int k = 0; k < 2; k++) {
        huddle_points x = random_points(6, N, D, k == 0 ? 2 : 0);
        if (k == 1)
            x.shift = hd_alloc_zero(D, sizeof *x.shift);
        for (int64_t i = 0; i < N * D; i++) /* the same values to the last bit */
            x.values[i] = (float)(round((double)x.values[i] * 64) / 64);
        for (int64_t j = 0; j < D && k == 1; j++)
            x.shift[j] = 2;
        huddle_alternation_info passes = {0};
        s[k] = make_setting(x, M);
        hd_step_l1_problem p = problem_of(&s[k], .1, .5);
        assert_ok(hd_step_l1_couple(NULL, &p, &s[k].codes, &passes));
        hd_fit_alternation_reset(&passes);
    }
    assert_same_codes(&s[0].codes, &s[1].codes, 1e-9);
    free_setting(&s[0]);
    free_setting(&s[1]);
}

/* ---- the method ---------------------------------------------------------------------------- */

enum { SPACES = 3, EACH = 24, AMBIENT = 9, ALL = SPACES * EACH };

/* Points of three planes through the origin, which cross there: not clusters of anything that
 * compares distances. */
static huddle_points planes(uint64_t seed) {
    huddle_points x;
    assert_ok(huddle_points_new(ALL, AMBIENT, &x));
    for (int64_t i = 0; i < ALL; i++) {
        hd_rng plane = hd_rng_stream(1, (uint64_t)(i % SPACES));
        hd_rng rng = hd_rng_stream(seed, (uint64_t)i);
        double first = hd_rng_normal(&rng), second = hd_rng_normal(&rng);
        for (int64_t j = 0; j < AMBIENT; j++) {
            double u = hd_rng_normal(&plane), v = hd_rng_normal(&plane);
            x.values[i * AMBIENT + j] = (float)(first * u + second * v);
        }
    }
    return x;
}

static double plane_accuracy(const int32_t *labels) {
    int32_t truth[ALL];
    huddle_scores scores;
    for (int32_t i = 0; i < ALL; i++)
        truth[i] = i % SPACES;
    assert_ok(huddle_metrics_scores(NULL, ALL, truth, labels, &scores));
    return scores.acc;
}

static void planes_are_found(void **state) {
    (void)state;
    static const char *const options[] = {"prepare",  "none", "dictionary", "200",
                                          "sparsity", "0.01", NULL};
    huddle_points x = planes(2), fresh = planes(3);
    int32_t labels[ALL];
    huddle_model *model = fit("l1graph", &x, "3", options);
    huddle_model *other = fit("kmeans", &x, "3", (const char *const[]){NULL});
    assert_true(plane_accuracy(model->fit.clusters.labels) == 1);
    assert_true(plane_accuracy(other->fit.clusters.labels) < .8);
    assert_ok(huddle_model_predict(NULL, model, &fresh, labels));
    assert_true(plane_accuracy(labels) == 1);
    huddle_model_free(model);
    huddle_model_free(other);
    huddle_points_free(&x);
    huddle_points_free(&fresh);
}

/* (15) with the sizes of the code as weights, from its definition. */
static void rows_of_new_points_follow_their_codes(void **state) {
    (void)state;
    static const char *const rules[] = {"sym", "rw"};
    huddle_points x = planes(2), fresh = planes(3);
    for (int r = 0; r < 2; r++) {
        huddle_model *model =
            fit("l1graph", &x, "3",
                (const char *const[]){"prepare", "none", "dictionary", "200", "sparsity", "0.05",
                                      "rows", rules[r], "codes_tol", "1e-10", NULL});
        const huddle_embedding *e = &model->fit.embedding.f;
        huddle_neighbors lists = {0};
        huddle_knn_options knn = huddle_knn_defaults();
        huddle_csr codes = {0};
        huddle_dense rows = {0};
        int64_t same[ALL];
        hd_step_l1_problem p = {.points = &x, .lambda = .05, .tol = 1e-10};
        knn.n_neighbors = 200;
        assert_ok(huddle_graph_query(NULL, &x, &fresh, &knn, &lists, NULL));
        assert_ok(hd_step_l1_dictionaries(&lists, 200, ALL, &codes));
        assert_ok(hd_step_l1_encode(NULL, &p, &fresh, &codes));
        assert_ok(model->method->place(NULL, &model->fit, model->options, &fresh, &rows, same));
        for (int64_t i = 0; i < ALL; i++)
            for (int64_t l = 0; l < 3; l++) {
                double degree = 0, sum = 0;
                for (int64_t k = 0; k < ALL; k++) {
                    double size = fabs(entry(&codes, i, k));
                    degree += size;
                    sum +=
                        size / sqrt(e->degrees[k]) * e->vectors.values[k * e->vectors.stride + l];
                }
                sum /= sqrt(degree) * (1 - e->eigenvalues[l]) * (r == 1 ? sqrt(degree) : 1);
                assert_int_equal(same[i], -1);
                assert_close(rows.values[i * rows.stride + l], sum, 1e-6);
            }
        huddle_neighbors_free(&lists);
        huddle_csr_free(&codes);
        huddle_dense_free(&rows);
        huddle_model_free(model);
    }
    huddle_points_free(&x);
    huddle_points_free(&fresh);
}

static void new_points_are_placed_by_every_rule(void **state) {
    (void)state;
    static const char *const rules[] = {"unit", "sym", "rw", "commute"};
    huddle_points x = planes(2), fresh = planes(3);
    int32_t labels[ALL];
    for (int r = 0; r < 4; r++) {
        huddle_model *model =
            fit("l1graph", &x, "3",
                (const char *const[]){"prepare", "none", "dictionary", "200", "sparsity", "0.01",
                                      "rows", rules[r], NULL});
        assert_ok(huddle_model_predict(NULL, model, &fresh, labels));
        assert_true(plane_accuracy(labels) == 1);
        huddle_model_free(model);
    }
    huddle_points_free(&x);
    huddle_points_free(&fresh);
}

/* Codes that are all 0 leave a graph of bridges only, and new points their nearest one. */
static void a_large_lambda_leaves_bridges(void **state) {
    (void)state;
    huddle_points x = planes(2), fresh = planes(3);
    int32_t labels[ALL];
    huddle_model *model =
        fit("l1graph", &x, "3", (const char *const[]){"prepare", "none", "sparsity", "10", NULL});
    assert_int_equal(model->fit.graph.connect.before, ALL);
    assert_int_equal(model->fit.graph.matrix.offsets[ALL], 2 * (ALL - 1));
    assert_ok(huddle_model_predict(NULL, model, &fresh, labels));
    for (int i = 0; i < ALL; i++)
        assert_in_range(labels[i], 0, 2);
    huddle_model_free(model);
    huddle_points_free(&x);
    huddle_points_free(&fresh);
}

/* Rows of zeros have no direction; they get labels all the same. Few copies are not merged. */
static void zeros_and_copies_have_labels(void **state) {
    (void)state;
    huddle_points x = planes(2);
    memset(x.values + 5 * AMBIENT, 0, AMBIENT * sizeof *x.values);
    memcpy(x.values + 30 * AMBIENT, x.values + 31 * AMBIENT, AMBIENT * sizeof *x.values);
    huddle_model *model = fit("l1graph", &x, "3", (const char *const[]){"prepare", "none", NULL});
    const int32_t *labels = model->fit.clusters.labels;
    for (int i = 0; i < ALL; i++)
        assert_in_range(labels[i], 0, 2);
    assert_int_equal(labels[30], labels[31]);
    huddle_model_free(model);
    huddle_points_free(&x);
}

static void bits_do_not_depend_on_threads(void **state) {
    (void)state;
    huddle_points x = random_points(8, 80, D, 1);
    huddle_csr one = {0};
    for (int32_t threads = 1; threads <= 5; threads += 2) {
        huddle_context *context;
        huddle_model *model;
        assert_ok(huddle_context_new(&context));
        assert_ok(huddle_context_set_threads(context, threads));
        assert_ok(huddle_model_new("l1graph", &model));
        assert_ok(huddle_model_set_option(model, "n_clusters", "3"));
        assert_ok(huddle_model_set_option(model, "laplacians", "2"));
        assert_ok(huddle_model_fit(context, model, &x));
        const huddle_csr *graph = &model->fit.graph.matrix;
        if (threads == 1)
            assert_ok(huddle_csr_copy(graph, &one));
        assert_int_equal(graph->offsets[80], one.offsets[80]);
        assert_memory_equal(graph->columns, one.columns, (size_t)one.offsets[80] * 4);
        assert_memory_equal(graph->values, one.values, (size_t)one.offsets[80] * 8);
        huddle_model_free(model);
        huddle_context_free(context);
    }
    huddle_csr_free(&one);
    huddle_points_free(&x);
}

static void many_points_are_refused(void **state) {
    (void)state;
    huddle_points x;
    huddle_model *model;
    assert_ok(huddle_points_new(20001, 1, &x));
    assert_ok(huddle_model_new("l1graph", &model));
    assert_ok(huddle_model_set_option(model, "n_clusters", "2"));
    assert_refused(huddle_model_fit(NULL, model, &x), HUDDLE_UNSUPPORTED,
                   "l1graph is for at most 20000 points, not 20001");
    assert_refused(huddle_model_set_option(model, "dictionary", "0"), HUDDLE_INVALID,
                   "dictionary = 0");
    assert_refused(huddle_model_set_option(model, "sparsity", "0"), HUDDLE_INVALID, "sparsity = 0");
    assert_refused(huddle_model_set_option(model, "beta", "-1"), HUDDLE_INVALID, "beta = -1");
    huddle_model_free(model);
    huddle_points_free(&x);
}

/* Every thread has the products of the points of a dictionary, twice. */
static void memory_of_threads_is_predicted(void **state) {
    (void)state;
    enum { SIDE = 200 };
    double predicted[2];
    huddle_points x;
    assert_ok(huddle_points_new(SIDE + 1, 2, &x));
    for (int i = 0; i <= SIDE; i++) {
        x.values[2 * i] = (float)(i % 2 + 1);
        x.values[2 * i + 1] = (float)i / SIDE;
    }
    for (int t = 0; t < 2; t++) {
        huddle_context *context;
        huddle_model *model;
        assert_ok(huddle_context_new(&context));
        assert_ok(huddle_context_set_threads(context, t == 0 ? 1 : 4));
        assert_ok(huddle_model_new("l1graph", &model));
        assert_ok(huddle_model_set_option(model, "n_clusters", "2"));
        assert_ok(huddle_model_set_option(model, "dictionary", "1000"));
        assert_ok(huddle_model_fit(context, model, &x));
        predicted[t] = (double)model->fit.memory.stages[HD_STAGE_GRAPH];
        huddle_model_free(model);
        huddle_context_free(context);
    }
    assert_in_range((int64_t)(predicted[1] - predicted[0]), 3 * 2 * SIDE * SIDE * 8,
                    3 * 3 * SIDE * SIDE * 8);
    huddle_points_free(&x);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(graphs_and_objectives_are_numpys),
        cmocka_unit_test(codes_are_optimal_and_the_objective_never_rises),
        cmocka_unit_test(codes_on_their_own_are_optimal),
        cmocka_unit_test(passes_are_limited),
        cmocka_unit_test(sparse_points_have_the_codes_of_dense_ones),
        cmocka_unit_test(shifted_points_have_the_codes_of_their_values),
        cmocka_unit_test(planes_are_found),
        cmocka_unit_test(rows_of_new_points_follow_their_codes),
        cmocka_unit_test(new_points_are_placed_by_every_rule),
        cmocka_unit_test(a_large_lambda_leaves_bridges),
        cmocka_unit_test(zeros_and_copies_have_labels),
        cmocka_unit_test(bits_do_not_depend_on_threads),
        cmocka_unit_test(memory_of_threads_is_predicted),
        cmocka_unit_test(many_points_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
