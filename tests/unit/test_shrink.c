/* shrink: optima, certificate, closed forms, invariances, bad input. */
#include "base/memory.h"
#include "shrink/block.h"
#include "shrink_problems.h"

static const char *const every_solver[] = {"auto", "irls", "newton", "pdhg", "reweighted"};
enum { N_SOLVERS = sizeof every_solver / sizeof *every_solver };

static huddle_shrink_options with(double gamma, const char *loss, const char *solver, double gap) {
    huddle_shrink_options o = huddle_shrink_defaults();
    o.gamma = gamma;
    o.loss = loss;
    o.solver = solver;
    o.gap = gap;
    return o;
}

/* Gap and objective alone. */
static huddle_shrink_info solve(const example *x, huddle_shrink_options o) {
    huddle_shrunk out;
    huddle_shrink_info info;
    shrink_checked(NULL, x, &o, &out, &info);
    huddle_shrunk_free(&out);
    huddle_shrink_info copy = info;
    huddle_shrink_info_free(&info);
    return copy;
}

/* ---- against the conic solver -------------------------------------------------------------- */

static int64_t read_golden(const double *numbers, example *x, bool *squared, double *gamma,
                           double *optimum) {
    int64_t n = (int64_t)numbers[0], c = (int64_t)numbers[1], m = (int64_t)numbers[2];
    int32_t i[200], j[200];
    double weight[200];
    const double *f = numbers + 6, *edge = f + n * c;
    *squared = numbers[3] != 0;
    *gamma = numbers[4];
    *optimum = numbers[5];
    assert_ok(huddle_dense_new(n, c, &x->f));
    memcpy(x->f.values, f, (size_t)(n * c) * sizeof *f);
    for (int64_t e = 0; e < m; e++, edge += 3) {
        i[e] = (int32_t)edge[0];
        j[e] = (int32_t)edge[1];
        weight[e] = edge[2];
    }
    x->w = graph_of(n, m, i, j, weight);
    return edge - numbers;
}

static void optima_are_those_of_a_conic_solver(void **state) {
    (void)state;
    int64_t count, problems = 0;
    double *numbers = test_golden("shrink.txt", &count);
    for (int64_t at = 0; at < count; problems++) {
        example x;
        bool squared;
        double gamma, optimum;
        at += read_golden(numbers + at, &x, &squared, &gamma, &optimum);
        for (int s = 0; s < N_SOLVERS; s++)
            for (int approximate = 0; approximate < 2; approximate++) {
                double gap = strcmp(every_solver[s], "reweighted") == 0 ? 1e-5 : 1e-6;
                huddle_shrink_options o = with(gamma, squared ? "l2" : "l21", every_solver[s], gap);
                o.linear_solver = approximate ? "approximate" : "auto";
                huddle_shrink_info info = solve(&x, o);
                assert_true(info.stop == HUDDLE_STOP_CONVERGED || info.stop == HUDDLE_STOP_EXACT);
                assert_true(info.gap <= gap);
                assert_true(info.dual <= optimum * (1 + 2e-7) + 1e-12);
                assert_true(info.objective >= optimum * (1 - 2e-7) - 1e-12);
                assert_close(info.objective, optimum, 1.01 * gap + 2e-7);
            }
        example_free(&x);
    }
    assert_int_equal(problems, 60);
    free(numbers);
}

/* Mistakes in a step do not change optima, which are proven; they cost iterations. The bounds are
 * about 1.2 times what is needed. (irls may need twice as many with another factorisation.) */
static void iterations_are_few(void **state) {
    (void)state;
    static const struct {
        const char *solver, *loss;
        int32_t most;
    } cases[] = {{"newton", "l21", 1030}, {"newton", "l2", 1250}};
    int64_t count;
    double *numbers = test_golden("shrink.txt", &count);
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        int32_t n_iter = 0;
        for (int64_t at = 0; at < count;) {
            example x;
            bool squared;
            double gamma, optimum;
            at += read_golden(numbers + at, &x, &squared, &gamma, &optimum);
            huddle_shrink_options o = with(gamma, cases[k].loss, cases[k].solver, 1e-7);
            o.linear_solver = "approximate"; /* in every build */
            n_iter += solve(&x, o).n_iter;
            example_free(&x);
        }
        if (n_iter > cases[k].most)
            fail_msg("%s, %s: %d iterations", cases[k].solver, cases[k].loss, n_iter);
    }
    free(numbers);
}

static void solvers_agree_within_their_gaps(void **state) {
    (void)state;
    static const double gammas[] = {.3, 2, 15};
    for (int k = 0; k < 6; k++) {
        example x = clouds(150, 3, 3, 4, k % 2 == 1, (uint64_t)k);
        const char *loss = k < 3 ? "l21" : "l2";
        double lowest = INFINITY, highest = 0;
        for (int s = 0; s < N_SOLVERS; s++) {
            huddle_shrink_info info = solve(&x, with(gammas[k % 3], loss, every_solver[s], 1e-5));
            assert_true(info.gap <= 1e-5);
            lowest = fmin(lowest, info.objective);
            highest = fmax(highest, info.dual);
        }
        assert_true(highest <= lowest * (1 + 1e-12));
        example_free(&x);
    }
}

/* ---- the certificate ----------------------------------------------------------------------- */

static void any_dual_point_gives_a_lower_bound(void **state) {
    (void)state;
    example x = clouds(60, 2, 3, 3, false, 5);
    int64_t m = (x.w.offsets[60]) / 2;
    hd_rng rng = hd_rng_stream(3, 3);
    for (int loss = 0; loss < 2; loss++) {
        const char *name = loss ? "l2" : "l21";
        huddle_shrink_info best = solve(&x, with(3, name, "auto", 1e-6));
        huddle_dense z;
        assert_ok(huddle_dense_new(m, 2, &z));
        for (int trial = 0; trial < 50; trial++) {
            double objective, dual, size = pow(10, trial % 5 - 2);
            for (int64_t k = 0; k < 2 * m; k++)
                z.values[k] = size * hd_rng_normal(&rng);
            assert_ok(huddle_shrink_certificate(NULL, &x.f, &x.w, NULL, 3, name, &x.f, &z,
                                                &objective, &dual));
            assert_true(dual >= 0 && dual <= best.objective);
            assert_true(objective >= best.dual);
        }
        huddle_dense_free(&z);
    }
    example_free(&x);
}

/* Two points at distance 1 and an edge of gamma w = 0.1: whatever pulls harder than that is no dual
 * point, and the optimum is 0.1 for l21 and 0.1 - 0.1^2 / 2 for l2. */
static void dual_points_outside_their_balls_are_clipped(void **state) {
    (void)state;
    double f[] = {0, 1}, pull[1];
    huddle_dense rows = {2, 1, 1, f}, z = {1, 1, 1, pull};
    huddle_csr w = graph_of(2, 1, (int32_t[]){0}, (int32_t[]){1}, (double[]){0.05});
    for (int loss = 0; loss < 2; loss++) {
        const char *name = loss ? "l2" : "l21";
        double optimum = loss ? 0.1 - 0.005 : 0.1, objective, dual, best = -INFINITY;
        for (int trial = -20; trial <= 20; trial++) {
            pull[0] = 0.05 * trial;
            assert_ok(huddle_shrink_certificate(NULL, &rows, &w, NULL, 2, name, &rows, &z,
                                                &objective, &dual));
            assert_close(objective, 0.1, 1e-12);
            best = fmax(best, dual);
        }
        assert_close(best, optimum, 1e-12);
    }
    huddle_csr_free(&w);
}

static void the_limit_is_an_outcome(void **state) {
    (void)state;
    example x = clouds(120, 2, 3, 4, false, 8);
    for (int s = 0; s < N_SOLVERS; s++) {
        huddle_shrink_options o = with(1, "l21", every_solver[s], 1e-8);
        o.shrink_max_iter = 3;
        huddle_shrink_info info = solve(&x, o);
        assert_int_equal(info.stop, HUDDLE_STOP_MAX_ITER);
        assert_int_equal(info.n_iter, 3);
        assert_true(info.gap > 1e-8);
    }
    example_free(&x);
}

/* ---- closed forms and extremes ------------------------------------------------------------- */

static void nothing_moves_at_gamma_zero(void **state) {
    (void)state;
    example x = clouds(30, 2, 2, 3, false, 1);
    for (int loss = 0; loss < 2; loss++) {
        huddle_shrink_options o = with(0, loss ? "l2" : "l21", "auto", 1e-4);
        huddle_shrunk out;
        huddle_shrink_info info;
        shrink_checked(NULL, &x, &o, &out, &info);
        assert_int_equal(info.stop, HUDDLE_STOP_EXACT);
        assert_true(info.objective == 0 && info.gap == 0);
        assert_int_equal(info.n_groups, 30);
        assert_true(largest_difference(&out.g, &x.f) == 0);
        huddle_shrunk_free(&out);
        huddle_shrink_info_free(&info);
    }
    example_free(&x);
}

static void light_vertices_do_not_move(void **state) {
    (void)state;
    example x = clouds(100, 3, 2, 3, false, 2);
    huddle_shrink_options o = with(.6, "l21", "auto", 1e-6);
    huddle_shrunk out;
    huddle_shrink_info info;
    shrink_checked(NULL, &x, &o, &out, &info);
    int64_t light = 0;
    for (int64_t v = 0; v < 100; v++) {
        double degree = 0;
        for (int64_t e = x.w.offsets[v]; e < x.w.offsets[v + 1]; e++)
            degree += o.gamma * x.w.values[e];
        if (degree >= 1)
            continue;
        light++;
        assert_memory_equal(out.g.values + 3 * v, x.f.values + 3 * v, 3 * sizeof(double));
    }
    assert_true(light > 0 && light < 100);
    assert_int_equal(info.n_fixed, light);
    huddle_shrunk_free(&out);
    huddle_shrink_info_free(&info);
    example_free(&x);
}

static void small_and_strange_problems_are_solved(void **state) {
    (void)state;
    static const int32_t i[] = {0, 1, 3}, j[] = {1, 2, 4};
    static const double usual[] = {1, .5, 2}, tiny[] = {1e-254, 1, 1e-300}, zero[] = {0, 1, 0};
    const double *weights[] = {usual, tiny, zero};
    static const double gammas[] = {1e-6, .9, 1, 1.1, 30, 1e6, 1e9};
    for (int k = 0; k < 3; k++)
        for (int g = 0; g < 7; g++)
            for (int equal = 0; equal < 3; equal++)
                for (int loss = 0; loss < 2; loss++)
                    for (int s = 0; s < N_SOLVERS; s++) {
                        /* Vertex 5 is a component of its own. */
                        example x = {.w = graph_of(6, 3, i, j, weights[k])};
                        assert_ok(huddle_dense_new(6, 1 + equal % 2, &x.f));
                        for (int64_t v = 0; v < 6 * x.f.cols; v++)
                            x.f.values[v] = equal == 2 ? 7 : (double)((v * v) % 5) / 3;
                        if (equal == 1)
                            memcpy(x.f.values, x.f.values + 2, 2 * sizeof(double));
                        huddle_shrink_info info =
                            solve(&x, with(gammas[g], loss ? "l2" : "l21", every_solver[s], 1e-4));
                        assert_true(info.gap <= 1e-4);
                        example_free(&x);
                    }
}

static void one_vertex_and_two(void **state) {
    (void)state;
    static const int32_t i[] = {0}, j[] = {1};
    static const double weight[] = {1};
    example x = {.w = graph_of(1, 0, i, j, weight)};
    assert_ok(huddle_dense_new(1, 1, &x.f));
    x.f.values[0] = 3;
    assert_true(solve(&x, with(5, "l21", "auto", 1e-4)).objective == 0);
    example_free(&x);
    x.w = graph_of(2, 1, i, j, weight);
    assert_ok(huddle_dense_new(2, 1, &x.f));
    x.f.values[0] = 3;
    assert_close(solve(&x, with(.5, "l21", "auto", 1e-4)).objective, 1.5, 1e-12);
    assert_close(solve(&x, with(5, "l21", "auto", 1e-4)).objective, 3, 1e-9);
    assert_close(solve(&x, with(100, "l2", "auto", 1e-6)).objective, 4.5, 1e-6);
    example_free(&x);
}

static void an_edge_of_weight_nothing_still_counts(void **state) {
    (void)state;
    static const int32_t i[] = {0, 1}, j[] = {1, 2};
    static const double weight[] = {1e-10, 1};
    example x = {.w = graph_of(3, 2, i, j, weight)};
    assert_ok(huddle_dense_new(3, 1, &x.f));
    x.f.values[0] = 1e8;
    x.f.values[2] = 1;
    huddle_shrink_info info = solve(&x, with(2, "l21", "auto", 1e-4));
    assert_close(info.objective, 1 + 2e-10 * 1e8, 1e-6);
    assert_true(info.gap <= 1e-4);
    example_free(&x);
}

/* ---- invariances --------------------------------------------------------------------------- */

static void scaling_and_turning_f_scale_the_objective(void **state) {
    (void)state;
    example x = clouds(80, 2, 2, 3, false, 4);
    double objective = solve(&x, with(8, "l21", "auto", 1e-6)).objective;
    static const double factors[] = {1e-150, 1e-9, 1e-3, 7, 1e12, 1e140};
    for (int k = 0; k < 6; k++) {
        example y = {.f = copy_dense(&x.f), .w = x.w};
        for (int64_t v = 0; v < 80; v++) {
            double a = factors[k] * x.f.values[2 * v], b = factors[k] * x.f.values[2 * v + 1];
            y.f.values[2 * v] = .6 * a - .8 * b;
            y.f.values[2 * v + 1] = .8 * a + .6 * b;
        }
        huddle_shrink_info info = solve(&y, with(8, "l21", "auto", 1e-6));
        assert_true(info.gap <= 1e-6);
        assert_close(info.objective / factors[k], objective, 2e-6);
        huddle_dense_free(&y.f);
    }
    example_free(&x);
}

static void the_order_of_vertices_does_not_matter(void **state) {
    (void)state;
    example x = clouds(60, 2, 3, 3, false, 6), y;
    int32_t order[60], i[1000], j[1000];
    double weight[1000];
    hd_rng rng = hd_rng_stream(1, 1);
    int64_t m = 0;
    for (int32_t v = 0; v < 60; v++)
        order[v] = v;
    for (int32_t v = 59; v > 0; v--) {
        int32_t u = (int32_t)hd_rng_below(&rng, v + 1), swap = order[u];
        order[u] = order[v];
        order[v] = swap;
    }
    assert_ok(huddle_dense_new(60, 2, &y.f));
    for (int32_t v = 0; v < 60; v++) {
        memcpy(y.f.values + 2 * order[v], x.f.values + 2 * v, 2 * sizeof(double));
        for (int64_t e = x.w.offsets[v]; e < x.w.offsets[v + 1]; e++, m++) {
            i[m] = order[v];
            j[m] = order[x.w.columns[e]];
            weight[m] = x.w.values[e];
        }
    }
    y.w = graph_of(60, m, i, j, weight);
    huddle_shrink_info a = solve(&x, with(6, "l21", "auto", 1e-6));
    huddle_shrink_info b = solve(&y, with(6, "l21", "auto", 1e-6));
    assert_close(a.objective, b.objective, 2e-6);
    example_free(&x);
    example_free(&y);
}

static void components_are_solved_on_their_own(void **state) {
    (void)state;
    example x = clouds(90, 3, 3, 4, true, 9);
    huddle_shrink_info info = solve(&x, with(30, "l21", "auto", 1e-5));
    assert_int_equal(info.n_components, 3);
    assert_true(info.n_groups >= 3);
    example_free(&x);
}

static void bits_do_not_depend_on_threads(void **state) {
    (void)state;
    example x = clouds(1200, 3, 3, 9, false, 10);
    for (int s = 0; s < N_SOLVERS; s++)
        for (int approximate = 0; approximate < 2; approximate++) {
            huddle_shrink_options o = with(20, "l21", every_solver[s], 1e-4);
            huddle_shrunk alone;
            o.linear_solver = approximate ? "approximate" : "auto";
            o.shrink_max_iter = 30;
            assert_ok(huddle_shrink(NULL, &x.f, &x.w, &o, &alone, NULL));
            for (int32_t threads = 2; threads <= 5; threads += 3) {
                huddle_context *context;
                huddle_shrunk out;
                assert_ok(huddle_context_new(&context));
                assert_ok(huddle_context_set_threads(context, threads));
                assert_ok(huddle_shrink(context, &x.f, &x.w, &o, &out, NULL));
                assert_memory_equal(out.g.values, alone.g.values, 1200 * 3 * sizeof(double));
                huddle_shrunk_free(&out);
                huddle_context_free(context);
            }
            huddle_shrunk_free(&alone);
        }
    example_free(&x);
}

/* ---- groups and warm start ----------------------------------------------------------------- */

static void snapped_groups_are_points(void **state) {
    (void)state;
    example x = clouds(200, 3, 3, 5, false, 11);
    huddle_shrink_options o = with(25, "l21", "auto", 1e-5);
    huddle_shrunk out;
    huddle_shrink_info info;
    shrink_checked(NULL, &x, &o, &out, &info);
    assert_true(info.snapped);
    assert_true(out.n_groups < 100);
    for (int64_t v = 0; v < 200; v++)
        for (int64_t u = 0; u < v; u++)
            if (out.group[u] == out.group[v])
                assert_memory_equal(out.g.values + 3 * u, out.g.values + 3 * v, 3 * sizeof(double));
    huddle_shrunk_free(&out);
    huddle_shrink_info_free(&info);
    example_free(&x);
}

/* Two rows that hardly differ stand between four that hold them. The edge between the two pulls
 * with all its force and yet does not move them; beside them is a problem whose gap leaves room to
 * close that edge for nothing. */
static void rows_held_apart_are_no_group(void **state) {
    (void)state;
    enum { CHAIN = 30, ALL = CHAIN + 6, EDGES = CHAIN - 1 + 9 };
    static const double cross[6][2] = {{0, 0}, {0, 1e-12}, {1, 0}, {-1, 0}, {0, 1}, {0, -1}};
    int32_t i[EDGES], j[EDGES];
    double weight[EDGES];
    example x;
    hd_rng rng = hd_rng_stream(4, 4);
    assert_ok(huddle_dense_new(ALL, 2, &x.f));
    for (int v = 0; v < CHAIN; v++) {
        x.f.values[2 * v] = hd_rng_normal(&rng);
        x.f.values[2 * v + 1] = hd_rng_normal(&rng);
        i[v] = v;
        j[v] = v + 1;
        weight[v] = 1;
    }
    memcpy(x.f.values + 2 * CHAIN, cross, sizeof cross);
    i[CHAIN - 1] = CHAIN;
    j[CHAIN - 1] = CHAIN + 1;
    weight[CHAIN - 1] = 0.1;
    for (int e = 0; e < 8; e++) {
        i[CHAIN + e] = CHAIN + e % 2;
        j[CHAIN + e] = CHAIN + 2 + e / 2;
        weight[CHAIN + e] = 0.3;
    }
    x.w = graph_of(ALL, EDGES, i, j, weight);
    huddle_shrink_options o = with(1, "l21", "auto", 1e-2);
    huddle_shrunk out;
    huddle_shrink_info info;
    assert_ok(huddle_shrink(NULL, &x.f, &x.w, &o, &out, &info));
    assert_true(info.objective - info.dual > 1e-9);
    assert_int_not_equal(out.group[CHAIN], out.group[CHAIN + 1]);
    assert_memory_equal(out.g.values + CHAIN * out.g.stride, cross, 4 * sizeof(double));
    huddle_shrunk_free(&out);
    huddle_shrink_info_free(&info);
    example_free(&x);
}

static void a_good_start_saves_iterations(void **state) {
    (void)state;
    example x = clouds(200, 3, 3, 5, false, 12);
    huddle_shrink_options o = with(1.5, "l21", "irls", 1e-6);
    huddle_shrunk first, second;
    huddle_shrink_info cold, warm;
    shrink_checked(NULL, &x, &o, &first, &cold);
    o.start = &first.g;
    shrink_checked(NULL, &x, &o, &second, &warm);
    assert_true(warm.n_iter < cold.n_iter);
    assert_true(warm.gap <= 1e-6);
    huddle_shrunk_free(&first);
    huddle_shrunk_free(&second);
    huddle_shrink_info_free(&cold);
    huddle_shrink_info_free(&warm);
    example_free(&x);
}

/* ---- refusals, cancelling, memory ---------------------------------------------------------- */

static void bad_input_is_refused(void **state) {
    (void)state;
    example x = clouds(20, 2, 2, 3, false, 13);
    huddle_shrunk out;
    huddle_shrink_options o = huddle_shrink_defaults();
    o.gamma = -3;
    assert_refused(huddle_shrink(NULL, &x.f, &x.w, &o, &out, NULL), HUDDLE_INVALID, "gamma = -3");
    o = huddle_shrink_defaults();
    o.solver = "magic";
    assert_refused(huddle_shrink(NULL, &x.f, &x.w, &o, &out, NULL), HUDDLE_INVALID, "solver");
    huddle_dense f = x.f;
    f.rows = 19;
    assert_refused(huddle_shrink(NULL, &f, &x.w, NULL, &out, NULL), HUDDLE_INVALID,
                   "f has 19 rows where 20 are needed");
    x.f.values[5] = NAN;
    assert_refused(huddle_shrink(NULL, &x.f, &x.w, NULL, &out, NULL), HUDDLE_INVALID,
                   "row 3, column 2");
    x.f.values[5] = 0;
    x.w.values[0] += 1;
    assert_refused(huddle_shrink(NULL, &x.f, &x.w, NULL, &out, NULL), HUDDLE_INVALID,
                   "not symmetric: row 1");
    x.w.values[0] = -1;
    assert_refused(huddle_shrink(NULL, &x.f, &x.w, NULL, &out, NULL), HUDDLE_INVALID,
                   "negative weight -1");
    example_free(&x);
}

static int stop_at_once(void *user, const char *stage, double done, double total) {
    (void)done, (void)total;
    assert_string_equal(stage, "shrink");
    ++*(int *)user;
    return 1;
}

static void a_solve_can_be_cancelled(void **state) {
    (void)state;
    example x = clouds(300, 2, 3, 4, false, 14);
    for (int s = 0; s < N_SOLVERS; s++) {
        huddle_context *context;
        huddle_shrunk out;
        huddle_shrink_options o = with(1, "l21", every_solver[s], 1e-9);
        int reports = 0;
        assert_ok(huddle_context_new(&context));
        huddle_context_set_progress(context, stop_at_once, &reports);
        assert_refused(huddle_shrink(context, &x.f, &x.w, &o, &out, NULL), HUDDLE_CANCELLED,
                       "cancel");
        assert_true(reports == 1);
        huddle_context_free(context);
    }
    example_free(&x);
}

typedef struct attempt {
    const example *x;
    huddle_shrink_options options;
} attempt;

static huddle_status shrink_once(void *argument) {
    const attempt *a = argument;
    huddle_shrunk out;
    huddle_shrink_info info;
    huddle_status status = huddle_shrink(NULL, &a->x->f, &a->x->w, &a->options, &out, &info);
    if (status == HUDDLE_OK) {
        huddle_shrunk_free(&out);
        huddle_shrink_info_free(&info);
    }
    return status;
}

static void every_allocation_may_fail(void **state) {
    (void)state;
    example x = clouds(40, 2, 2, 3, false, 15);
    for (int s = 0; s < N_SOLVERS; s++)
        for (int approximate = 0; approximate < 2; approximate++) {
            attempt a = {&x, with(2, "l21", every_solver[s], 1e-3)};
            a.options.linear_solver = approximate ? "approximate" : "auto";
            test_each_allocation(shrink_once, &a);
        }
    example_free(&x);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(iterations_are_few),
        cmocka_unit_test(optima_are_those_of_a_conic_solver),
        cmocka_unit_test(solvers_agree_within_their_gaps),
        cmocka_unit_test(any_dual_point_gives_a_lower_bound),
        cmocka_unit_test(dual_points_outside_their_balls_are_clipped),
        cmocka_unit_test(the_limit_is_an_outcome),
        cmocka_unit_test(nothing_moves_at_gamma_zero),
        cmocka_unit_test(light_vertices_do_not_move),
        cmocka_unit_test(small_and_strange_problems_are_solved),
        cmocka_unit_test(one_vertex_and_two),
        cmocka_unit_test(an_edge_of_weight_nothing_still_counts),
        cmocka_unit_test(scaling_and_turning_f_scale_the_objective),
        cmocka_unit_test(the_order_of_vertices_does_not_matter),
        cmocka_unit_test(components_are_solved_on_their_own),
        cmocka_unit_test(bits_do_not_depend_on_threads),
        cmocka_unit_test(snapped_groups_are_points),
        cmocka_unit_test(rows_held_apart_are_no_group),
        cmocka_unit_test(a_good_start_saves_iterations),
        cmocka_unit_test(bad_input_is_refused),
        cmocka_unit_test(a_solve_can_be_cancelled),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
