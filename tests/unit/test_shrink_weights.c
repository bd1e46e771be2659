/* shrink: rows with weights. A row of weight m is m equal rows that stay together. */
#include "huddle/path.h"
#include "shrink_problems.h"

static const char *const every_solver[] = {"auto", "irls", "newton", "pdhg", "reweighted"};
enum { N_SOLVERS = sizeof every_solver / sizeof *every_solver };
static const char *const losses[] = {"l21", "l2"};

enum { MOST_COPIES = 4 };

/* Weights 1 .. MOST_COPIES of the rows. */
static double *weights_of(int64_t n) {
    double *weights = malloc((size_t)n * sizeof *weights);
    for (int64_t v = 0; v < n; v++)
        weights[v] = (double)(1 + (7 * v + v / 3) % MOST_COPIES);
    return weights;
}

/* The same problem with the rows repeated: row v is followed by its copies, which hang on it by
 * edges that are too heavy to give way, heavier than all edges of the row together. */
static example repeat(const example *x, const double *weights) {
    int64_t n = x->f.rows, c = x->f.cols, total = 0, m = 0;
    int32_t i[20000], j[20000], first[1000];
    double weight[20000];
    example y;
    for (int64_t v = 0; v < n; v++) {
        first[v] = (int32_t)total;
        total += (int64_t)weights[v];
    }
    assert_ok(huddle_dense_new(total, c, &y.f));
    for (int64_t v = 0; v < n; v++) {
        double degree = 0;
        for (int64_t e = x->w.offsets[v]; e < x->w.offsets[v + 1]; e++) {
            degree += x->w.values[e];
            if (x->w.columns[e] < v)
                continue;
            i[m] = first[v];
            j[m] = first[x->w.columns[e]];
            weight[m++] = x->w.values[e];
        }
        for (int64_t k = 0; k < (int64_t)weights[v]; k++) {
            memcpy(y.f.values + (first[v] + k) * c, x->f.values + v * c,
                   (size_t)c * sizeof(double));
            if (k == 0)
                continue;
            i[m] = first[v];
            j[m] = (int32_t)(first[v] + k);
            weight[m++] = 2 * degree;
        }
    }
    assert_true(m < 20000 && n <= 1000);
    y.w = graph_of(total, m, i, j, weight);
    return y;
}

/* The definition, with nothing of the library. */
static double objective_of(const example *x, const double *weights, double gamma, bool squared,
                           const huddle_dense *g) {
    int64_t c = x->f.cols;
    double loss = 0, pull = 0;
    for (int64_t v = 0; v < x->f.rows; v++) {
        double held = 0;
        for (int64_t k = 0; k < c; k++)
            held += pow(g->values[v * c + k] - x->f.values[v * c + k], 2);
        loss += weights[v] * (squared ? held : sqrt(held));
        for (int64_t e = x->w.offsets[v]; e < x->w.offsets[v + 1]; e++) {
            double apart = 0;
            for (int64_t k = 0; k < c; k++)
                apart += pow(g->values[v * c + k] - g->values[x->w.columns[e] * c + k], 2);
            pull += x->w.values[e] * sqrt(apart) / 2;
        }
    }
    return loss + gamma * pull;
}

/* Solves with weights and checks the certificate from its definition. */
static void solve_weighted(const example *x, const double *weights, huddle_shrink_options o,
                           huddle_shrunk *out, huddle_shrink_info *info) {
    double objective, dual;
    bool squared = strcmp(o.loss, "l2") == 0;
    o.weights = weights;
    o.keep_dual = true;
    assert_ok(huddle_shrink(NULL, &x->f, &x->w, &o, out, info));
    assert_ok(huddle_shrink_certificate(NULL, &x->f, &x->w, weights, info->gamma, o.loss, &out->g,
                                        &out->z, &objective, &dual));
    assert_close(info->objective, objective, 1e-12);
    assert_close(info->dual, dual, 1e-12);
    assert_close(info->objective, objective_of(x, weights, info->gamma, squared, &out->g), 1e-12);
    assert_true(info->gap <= o.gap && dual <= objective * (1 + 1e-12));
}

static void a_weighted_row_is_as_many_rows_that_stay_together(void **state) {
    (void)state;
    static const double gammas[] = {.05, .5, 3, 40};
    for (int k = 0; k < 3; k++) {
        example x = clouds(k == 2 ? 120 : 24, 2 + k, 3, 3, k == 1, (uint64_t)k);
        double *weights = weights_of(x.f.rows);
        example all = repeat(&x, weights);
        for (int g = 0; g < 4; g++)
            for (int l = 0; l < 2; l++)
                for (int s = 0; s < (k == 2 ? 1 : N_SOLVERS); s++) {
                    huddle_shrink_options o = huddle_shrink_defaults();
                    huddle_shrunk out, repeated;
                    huddle_shrink_info info, whole;
                    o.gamma = gammas[g];
                    o.loss = losses[l];
                    o.solver = every_solver[s];
                    o.gap = strcmp(o.solver, "pdhg") == 0 || strcmp(o.solver, "reweighted") == 0
                                ? 1e-4
                                : 1e-7;
                    solve_weighted(&x, weights, o, &out, &info);
                    o.solver = "auto";
                    shrink_checked(NULL, &all, &o, &repeated, &whole);
                    /* Neither can be below the other's bound. */
                    assert_true(info.objective >= whole.dual * (1 - 1e-9));
                    assert_true(whole.objective >= info.dual * (1 - 1e-9));
                    if (l == 1) /* strictly convex: one solution */
                        for (int64_t v = 0, row = 0; v < x.f.rows; row += (int64_t)weights[v++])
                            for (int64_t q = 0; q < x.f.cols; q++)
                                assert_true(fabs(out.g.values[v * x.f.cols + q] -
                                                 repeated.g.values[row * x.f.cols + q]) < .05);
                    huddle_shrunk_free(&out);
                    huddle_shrunk_free(&repeated);
                    huddle_shrink_info_free(&info);
                    huddle_shrink_info_free(&whole);
                }
        example_free(&all);
        free(weights);
        example_free(&x);
    }
}

/* Both ends of gamma, weighted and with the rows repeated, where copies hang on their row. */
static void the_ends_of_gamma_are_those_of_the_repeated_rows(void **state) {
    (void)state;
    for (int l = 0; l < 2; l++) {
        example x = clouds(30, 2, 2, 4, false, 8);
        double *weights = weights_of(30), fit, up, fit_all, up_all;
        example all = repeat(&x, weights);
        huddle_shrink_options o = huddle_shrink_defaults();
        huddle_shrunk out;
        huddle_shrink_info info;
        o.loss = losses[l];
        assert_ok(huddle_shrink_ends(NULL, &x.f, &x.w, weights, o.loss, &fit, &up));
        assert_ok(huddle_shrink_ends(NULL, &all.f, &all.w, NULL, o.loss, &fit_all, &up_all));
        assert_close(fit, fit_all, 1e-12);
        assert_close(up, up_all, 1e-6);
        o.gamma = 1.0001 * up;
        solve_weighted(&x, weights, o, &out, &info);
        assert_int_equal(info.n_groups, 1);
        /* The weighted mean, or where the weighted unit vectors balance. */
        double force[2] = {0}, total = 0;
        for (int64_t v = 0; v < 30; v++) {
            double d0 = out.g.values[2 * v] - x.f.values[2 * v];
            double d1 = out.g.values[2 * v + 1] - x.f.values[2 * v + 1];
            double length = l == 1 ? 1 : sqrt(d0 * d0 + d1 * d1);
            force[0] += weights[v] * d0 / length;
            force[1] += weights[v] * d1 / length;
            total += weights[v];
        }
        assert_true(hypot(force[0], force[1]) < 1e-6 * total);
        huddle_shrunk_free(&out);
        huddle_shrink_info_free(&info);
        if (l == 0)
            for (int beyond = 0; beyond < 2; beyond++) {
                o.gamma = (beyond ? 1.02 : .9999) * fit;
                o.gap = 1e-9;
                solve_weighted(&x, weights, o, &out, &info);
                assert_true((largest_difference(&out.g, &x.f) > 0) == beyond);
                huddle_shrunk_free(&out);
                huddle_shrink_info_free(&info);
            }
        example_free(&all);
        free(weights);
        example_free(&x);
    }
}

static void weights_of_one_change_no_bit(void **state) {
    (void)state;
    example x = clouds(200, 3, 3, 4, false, 9);
    double ones[200];
    for (int v = 0; v < 200; v++)
        ones[v] = 1;
    for (int l = 0; l < 2; l++)
        for (int s = 0; s < 3; s++) {
            huddle_shrink_options o = huddle_shrink_defaults();
            huddle_shrunk out, weighted;
            huddle_shrink_info info;
            o.loss = losses[l];
            o.solver = every_solver[s];
            assert_ok(huddle_shrink(NULL, &x.f, &x.w, &o, &out, NULL));
            o.weights = ones;
            assert_ok(huddle_shrink(NULL, &x.f, &x.w, &o, &weighted, &info));
            assert_true(info.gamma == 200 / 3.);
            assert_memory_equal(out.g.values, weighted.g.values, 600 * sizeof(double));
            huddle_shrunk_free(&out);
            huddle_shrunk_free(&weighted);
            huddle_shrink_info_free(&info);
        }
    example_free(&x);
}

static void gamma_auto_counts_the_weights(void **state) {
    (void)state;
    example x = clouds(20, 2, 2, 3, false, 10);
    double *weights = weights_of(20), total = 0;
    huddle_shrink_options o = huddle_shrink_defaults();
    huddle_shrunk out;
    huddle_shrink_info info;
    for (int v = 0; v < 20; v++)
        total += weights[v];
    solve_weighted(&x, weights, o, &out, &info);
    assert_true(info.gamma == total / 2);
    huddle_shrunk_free(&out);
    huddle_shrink_info_free(&info);
    free(weights);
    example_free(&x);
}

static void a_path_takes_weights(void **state) {
    (void)state;
    example x = clouds(24, 2, 3, 3, false, 11);
    double *weights = weights_of(24);
    example all = repeat(&x, weights);
    huddle_path_options o = huddle_path_defaults();
    huddle_path path, repeated;
    o.n_gamma = 6;
    o.shrink.weights = weights;
    assert_ok(huddle_shrink_path(NULL, &x.f, &x.w, &o, &path));
    o.shrink.weights = NULL;
    assert_ok(huddle_shrink_path(NULL, &all.f, &all.w, &o, &repeated));
    for (int k = 0; k < 6; k++) {
        assert_close(path.levels[k].gamma, repeated.levels[k].gamma, 1e-6);
        assert_close(path.levels[k].objective, repeated.levels[k].objective, 3e-4);
    }
    huddle_path_free(&path);
    huddle_path_free(&repeated);
    example_free(&all);
    free(weights);
    example_free(&x);
}

static void weights_that_are_none_are_refused(void **state) {
    (void)state;
    static const double bad[] = {0, -1, NAN, INFINITY};
    example x = clouds(6, 2, 2, 2, false, 12);
    double weights[6] = {1, 1, 1, 1, 1, 1}, objective, fit, up;
    huddle_shrink_options o = huddle_shrink_defaults();
    huddle_shrunk out;
    o.weights = weights;
    for (int k = 0; k < 4; k++) {
        weights[4] = bad[k];
        assert_refused(huddle_shrink(NULL, &x.f, &x.w, &o, &out, NULL), HUDDLE_INVALID, "row 5");
        assert_refused(huddle_shrink_certificate(NULL, &x.f, &x.w, weights, 1, "l2", &x.f, NULL,
                                                 &objective, NULL),
                       HUDDLE_INVALID, "row 5");
        assert_refused(huddle_shrink_ends(NULL, &x.f, &x.w, weights, "l21", &fit, &up),
                       HUDDLE_INVALID, "row 5");
    }
    example_free(&x);
}

static huddle_status shrink_once(void *argument) {
    const example *x = argument;
    double weights[6] = {1, 2, 3, 1, 2, 3}, fit, up;
    huddle_shrink_options o = huddle_shrink_defaults();
    huddle_shrunk out = {0};
    o.weights = weights;
    huddle_status status = huddle_shrink_ends(NULL, &x->f, &x->w, weights, "l21", &fit, &up);
    if (status == HUDDLE_OK)
        status = huddle_shrink(NULL, &x->f, &x->w, &o, &out, NULL);
    huddle_shrunk_free(&out);
    return status;
}

static void every_allocation_may_fail(void **state) {
    (void)state;
    example x = clouds(6, 2, 2, 2, false, 12);
    test_each_allocation(shrink_once, &x);
    example_free(&x);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_weighted_row_is_as_many_rows_that_stay_together),
        cmocka_unit_test(the_ends_of_gamma_are_those_of_the_repeated_rows),
        cmocka_unit_test(weights_of_one_change_no_bit),
        cmocka_unit_test(gamma_auto_counts_the_weights),
        cmocka_unit_test(a_path_takes_weights),
        cmocka_unit_test(weights_that_are_none_are_refused),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
