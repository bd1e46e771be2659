/* shrink: the published iteration and the printed algorithm, against NumPy (make_published.py) and
 * by what is known of them. */
#include "base/context.h"
#include "base/memory.h"
#include "huddle/path.h"
#include "shrink/published.h"
#include "shrink_problems.h"

static huddle_shrink_options options_of(const char *solver, double gamma, const char *loss) {
    huddle_shrink_options o = huddle_shrink_defaults();
    o.solver = solver;
    o.gamma = gamma;
    o.loss = loss;
    return o;
}

/* So many steps, whatever the objective does. */
static huddle_shrink_options steps_of(const char *solver, double gamma, const char *loss,
                                      int32_t steps) {
    huddle_shrink_options o = options_of(solver, gamma, loss);
    o.shrink_tol = 0;
    o.shrink_max_iter = steps;
    return o;
}

/* By how much the objective rises at most in a step, relative to itself. */
static double largest_rise(const huddle_shrink_info *info) {
    double most = 0;
    for (int32_t k = 1; k < info->n_history; k++)
        most = fmax(most, info->history_objective[k] / info->history_objective[k - 1] - 1);
    return most;
}

/* ---- against NumPy ------------------------------------------------------------------------- */

typedef struct golden_case {
    example x;
    bool is_printed, is_squared, is_weighted;
    double gamma, epsilon;
    int32_t steps;
    const double *weights, *start, *end, *objective;
} golden_case;

static int64_t read_case(const double *numbers, golden_case *k) {
    int64_t n = (int64_t)numbers[0], c = (int64_t)numbers[1], m = (int64_t)numbers[2];
    int32_t i[400], j[400];
    double weight[400];
    k->is_printed = numbers[3] != 0;
    k->is_squared = numbers[4] != 0;
    k->is_weighted = numbers[5] != 0;
    k->gamma = numbers[6];
    k->epsilon = numbers[7];
    k->steps = (int32_t)numbers[8];
    k->weights = numbers + 9;
    const double *f = k->weights + (k->is_weighted ? n : 0), *edge = f + 3 * n * c;
    k->start = f + n * c;
    k->end = k->start + n * c;
    assert_ok(huddle_dense_new(n, c, &k->x.f));
    memcpy(k->x.f.values, f, (size_t)(n * c) * sizeof *f);
    for (int64_t e = 0; e < m; e++, edge += 3) {
        i[e] = (int32_t)edge[0];
        j[e] = (int32_t)edge[1];
        weight[e] = edge[2];
    }
    k->x.w = graph_of(n, m, i, j, weight);
    k->objective = edge;
    return edge + k->steps - numbers;
}

static void check_case(const golden_case *k, const char *linear) {
    huddle_shrunk out;
    huddle_shrink_info info;
    huddle_dense start = k->x.f;
    huddle_shrink_options o = steps_of(k->is_printed ? "printed" : "published", k->gamma,
                                       k->is_squared ? "l2" : "l21", k->steps);
    start.values = (double *)k->start; /* only read */
    o.start = &start;
    o.shrink_epsilon = k->epsilon;
    o.weights = k->is_weighted ? k->weights : NULL;
    o.linear_solver = linear;
    assert_ok(huddle_shrink(NULL, &k->x.f, &k->x.w, &o, &out, &info));
    assert_int_equal(info.n_iter, k->steps);
    assert_int_equal(info.n_history, k->steps);
    for (int32_t step = 0; step < k->steps; step++)
        assert_close(info.history_objective[step], k->objective[step], 1e-8);
    for (int64_t v = 0; v < start.rows * start.cols; v++)
        assert_true(fabs(out.g.values[v] - k->end[v]) <= 1e-7);
    assert_close(info.objective, k->objective[k->steps - 1], 1e-8);
    huddle_shrunk_free(&out);
    huddle_shrink_info_free(&info);
}

static void steps_are_those_of_numpy(void **state) {
    (void)state;
    int64_t count, cases = 0;
    double *numbers = test_golden("published.txt", &count);
    for (int64_t at = 0; at < count; cases++) {
        golden_case k = {0};
        at += read_case(numbers + at, &k);
        check_case(&k, "auto");
        check_case(&k, "approximate");
        example_free(&k.x);
    }
    assert_int_equal(cases, 16);
    free(numbers);
}

/* ---- what the iteration does --------------------------------------------------------------- */

/* Over unordered pairs, the objective falls in every step, up to what epsilon and rounding add. */
static void published_never_raises_the_objective(void **state) {
    (void)state;
    static const double gammas[] = {.05, .5, 1, 4, 100};
    for (int trial = 0; trial < 40; trial++) {
        example x =
            clouds(60 + 10 * (trial % 5), 1 + trial % 4, 3, 4, trial % 3 == 0, (uint64_t)trial);
        huddle_shrunk out;
        huddle_shrink_info info;
        huddle_shrink_options o =
            steps_of("published", gammas[trial % 5], trial % 2 ? "l2" : "l21", 120);
        o.linear_solver = trial % 7 == 0 ? "approximate" : "auto";
        o.seed = (uint64_t)trial;
        shrink_checked(NULL, &x, &o, &out, &info);
        assert_int_equal(info.n_history, 120);
        assert_true(largest_rise(&info) <= 1e-11);
        assert_true(info.history_objective[119] < info.history_objective[0]);
        huddle_shrunk_free(&out);
        huddle_shrink_info_free(&info);
        example_free(&x);
    }
}

/* From any start it comes to the optimum, which the certificate of another solver proves. */
static void published_reaches_the_optimum(void **state) {
    (void)state;
    for (int trial = 0; trial < 6; trial++) {
        example x = clouds(80, 2, 3, 4, false, (uint64_t)trial);
        huddle_shrunk out;
        huddle_shrink_info info, best;
        huddle_shrink_options o = options_of("auto", 1, trial % 2 ? "l2" : "l21");
        o.gap = 1e-9;
        shrink_checked(NULL, &x, &o, &out, &best);
        huddle_shrunk_free(&out);
        o = steps_of("published", 1, o.loss, 3000);
        o.seed = 7;
        shrink_checked(NULL, &x, &o, &out, &info);
        assert_close(info.objective, best.objective, 1e-5);
        assert_true(info.objective >= best.dual * (1 - 1e-12));
        assert_true(info.gap <= 1e-3);
        huddle_shrunk_free(&out);
        huddle_shrink_info_free(&info);
        huddle_shrink_info_free(&best);
        example_free(&x);
    }
}

/* The objective of the printed algorithm is recorded as it is: it rises. */
static void printed_raises_the_objective(void **state) {
    (void)state;
    int rising = 0;
    for (int trial = 0; trial < 10; trial++) {
        example x = clouds(60, 2, 3, 4, false, (uint64_t)trial);
        huddle_shrunk out;
        huddle_shrink_info info;
        huddle_shrink_options o = steps_of("printed", 1, "l21", 30);
        assert_ok(huddle_shrink(NULL, &x.f, &x.w, &o, &out, &info));
        rising += largest_rise(&info) > .01;
        assert_close(info.objective, info.history_objective[29], 1e-12);
        assert_string_equal(info.solver, "printed");
        assert_string_equal(info.linear_solver, "none");
        huddle_shrunk_free(&out);
        huddle_shrink_info_free(&info);
        example_free(&x);
    }
    assert_true(rising >= 8);
}

/* With G_0 = F every row has a weight of 1 / epsilon, and stays. */
static void both_stay_at_f_if_they_start_there(void **state) {
    (void)state;
    static const char *const solvers[] = {"published", "printed"};
    for (int k = 0; k < 2; k++) {
        example x = clouds(60, 2, 3, 4, false, 3);
        huddle_shrunk out;
        huddle_shrink_info info;
        huddle_shrink_options o = options_of(solvers[k], 1, "l21");
        o.shrink_start = "embedding";
        assert_ok(huddle_shrink(NULL, &x.f, &x.w, &o, &out, &info));
        assert_int_equal(info.n_iter, 1);
        assert_int_equal(info.stop, HUDDLE_STOP_STALLED);
        assert_true(largest_difference(&out.g, &x.f) <= 1e-9);
        assert_true(info.gap > .1);
        huddle_shrunk_free(&out);
        huddle_shrink_info_free(&info);
        example_free(&x);
    }
}

/* ---- nothing else -------------------------------------------------------------------------- */

static void nothing_is_snapped_fixed_or_solved_in_closed_form(void **state) {
    (void)state;
    static const double gammas[] = {0, 1e-3, 1, 1e3};
    for (int k = 0; k < 4; k++) {
        example x = clouds(60, 2, 3, 4, true, 3);
        huddle_shrunk out;
        huddle_shrink_info info;
        huddle_shrink_options o = options_of("published", gammas[k], "l21");
        assert_true(o.snap);
        shrink_checked(NULL, &x, &o, &out, &info);
        assert_false(info.snapped);
        assert_int_equal(info.n_fixed, 0);
        assert_int_equal(info.n_components, 3);
        assert_int_equal(info.n_solves, info.n_iter);
        assert_int_equal(info.n_history, info.n_iter);
        assert_string_equal(info.solver, "published");
        /* The bound is that of the end: no step looks at it. */
        for (int32_t step = 0; step + 1 < info.n_history; step++)
            assert_true(info.history_dual[step] == 0);
        assert_true(info.history_dual[info.n_history - 1] == info.dual);
        if (k == 3) /* each of the components has become one point */
            assert_int_equal(info.n_groups, 3);
        if (k == 0)
            assert_true(largest_difference(&out.g, &x.f) <= 1e-12);
        huddle_shrunk_free(&out);
        huddle_shrink_info_free(&info);
        example_free(&x);
    }
}

/* The number of sets that remain of n if the ends of some edges are united: by marking, since the
 * graphs are small. */
static int32_t count_groups(const example *x, const bool *fused) {
    int64_t n = x->f.rows;
    int32_t count = 0;
    int64_t *set = malloc((size_t)n * sizeof *set);
    for (int64_t v = 0; v < n; v++)
        set[v] = v;
    for (int64_t v = 0, e = 0; v < n; v++)
        for (int64_t at = x->w.offsets[v]; at < x->w.offsets[v + 1]; at++) {
            int64_t u = x->w.columns[at], old = u > v ? set[u] : 0;
            if (u > v && fused[e++])
                for (int64_t k = 0; k < n; k++)
                    set[k] = set[k] == old ? set[v] : set[k];
        }
    for (int64_t v = 0; v < n; v++)
        count += set[v] == v;
    free(set);
    return count;
}

/* An edge has fused if its dual is slack and closing it costs less than a twentieth of the gap, or
 * of the gap that counts as none. */
static void groups_are_joined_by_slack_and_short_edges(void **state) {
    (void)state;
    enum { MOST = 1000 };
    static const int32_t steps[] = {3, 12, 60, 300};
    int between = 0;
    for (int trial = 0; trial < 8; trial++) {
        example x = clouds(60, 2, 3, 4, false, (uint64_t)trial);
        huddle_shrunk out;
        huddle_shrink_info info;
        double gamma = trial % 2 ? 1 : 4, cost[60];
        bool fused[MOST];
        huddle_shrink_options o = steps_of("published", gamma, "l21", steps[trial / 2]);
        shrink_checked(NULL, &x, &o, &out, &info);
        o.keep_dual = true;
        huddle_shrunk_free(&out);
        huddle_shrink_info_free(&info);
        assert_ok(huddle_shrink(NULL, &x.f, &x.w, &o, &out, &info));
        double open = fmax(o.gap * info.objective, info.objective - info.dual);
        for (int64_t v = 0; v < 60; v++) {
            cost[v] = 1;
            for (int64_t at = x.w.offsets[v]; at < x.w.offsets[v + 1]; at++)
                cost[v] += gamma * x.w.values[at];
        }
        for (int64_t v = 0, e = 0; v < 60; v++)
            for (int64_t at = x.w.offsets[v]; at < x.w.offsets[v + 1]; at++) {
                int64_t u = x.w.columns[at];
                const double *a = out.g.values + 2 * v, *b = out.g.values + 2 * u;
                const double *z = out.z.values + 2 * e;
                if (u <= v)
                    continue;
                double closing = fmin(cost[u], cost[v]) * hypot(a[0] - b[0], a[1] - b[1]);
                bool is_slack = hypot(z[0], z[1]) < .99 * gamma * x.w.values[at];
                between += is_slack && closing > 1e-4 * open && closing <= .05 * open;
                assert_true(e < MOST);
                fused[e++] = is_slack && closing <= .05 * open;
            }
        assert_int_equal(out.n_groups, count_groups(&x, fused));
        huddle_shrunk_free(&out);
        huddle_shrink_info_free(&info);
        example_free(&x);
    }
    assert_true(between > 0);
}

static int n_warnings;

static void count_warnings(void *user, huddle_log_level level, huddle_warning_code code,
                           const char *text) {
    (void)user, (void)code, (void)text;
    n_warnings += level == HUDDLE_LOG_WARNING;
}

static void the_change_of_the_objective_ends_the_iteration(void **state) {
    (void)state;
    static const double tolerances[] = {1e-2, 1e-4, 1e-7};
    example x = clouds(80, 2, 3, 4, false, 1);
    int32_t before = 0;
    for (int k = 0; k < 3; k++) {
        huddle_shrunk out;
        huddle_shrink_info info;
        huddle_shrink_options o = options_of("published", 1, "l21");
        o.shrink_tol = tolerances[k];
        o.gap = 1e-12;
        assert_ok(huddle_shrink(NULL, &x.f, &x.w, &o, &out, &info));
        const double *h = info.history_objective;
        int32_t n = info.n_history;
        assert_int_equal(info.stop, HUDDLE_STOP_STALLED);
        assert_true(n > before && n < 1000);
        assert_true(h[n - 2] - h[n - 1] <= tolerances[k] * h[n - 1]);
        assert_true(h[n - 3] - h[n - 2] > tolerances[k] * h[n - 2]);
        before = n;
        huddle_shrunk_free(&out);
        huddle_shrink_info_free(&info);
    }
    example_free(&x);
}

/* The stop that was asked for, by the change or by the number of steps, is no reason to warn. */
static void only_an_unexpected_end_is_warned_of(void **state) {
    (void)state;
    static const double tolerances[] = {1e-4, 0, 1e-9};
    static const int32_t steps[] = {HUDDLE_AUTO, 5, 5}, warnings[] = {0, 0, 1};
    example x = clouds(80, 2, 3, 4, false, 1);
    huddle_context *context;
    assert_ok(huddle_context_new(&context));
    huddle_context_set_log(context, count_warnings, NULL);
    for (int k = 0; k < 3; k++) {
        huddle_shrunk out;
        huddle_shrink_info info;
        huddle_shrink_options o = options_of("published", 1, "l21");
        o.shrink_tol = tolerances[k];
        o.shrink_max_iter = steps[k];
        o.gap = 1e-12;
        n_warnings = 0;
        assert_ok(huddle_shrink(context, &x.f, &x.w, &o, &out, &info));
        assert_int_equal(n_warnings, warnings[k]);
        assert_int_equal(info.stop, k == 0 ? HUDDLE_STOP_STALLED : HUDDLE_STOP_MAX_ITER);
        huddle_shrunk_free(&out);
        huddle_shrink_info_free(&info);
    }
    huddle_context_free(context);
    example_free(&x);
}

/* Every level of a path begins at a start of its own: from the level before, whose rows are at F or
 * have fused, it would not get away. */
static void a_path_of_it_reaches_the_optima(void **state) {
    (void)state;
    static const double gammas[] = {.05, .3, 1};
    example x = clouds(80, 2, 3, 4, false, 4);
    huddle_path published, best;
    huddle_path_options o = huddle_path_defaults();
    o.n_gamma = 3;
    o.gammas = gammas;
    o.shrink.gap = 1e-7;
    assert_ok(huddle_shrink_path(NULL, &x.f, &x.w, &o, &best));
    o.shrink.solver = "published";
    o.shrink.shrink_tol = 1e-9;
    assert_ok(huddle_shrink_path(NULL, &x.f, &x.w, &o, &published));
    for (int l = 0; l < 3; l++)
        assert_close(published.levels[l].objective, best.levels[l].objective, 1e-4);
    huddle_path_free(&published);
    huddle_path_free(&best);
    example_free(&x);
}

/* ---- weights, seeds, threads --------------------------------------------------------------- */

/* A row of weight m is m equal rows that start together. */
static void weighted_rows_are_repeated_rows(void **state) {
    (void)state;
    enum { N = 12, COPIES = 2 };
    example x = clouds(N, 2, 2, 3, false, 5);
    double weights[N], full[N * N] = {0}, gamma = .7;
    huddle_dense twice, start, start_twice;
    huddle_csr both;
    huddle_shrunk one, two;
    huddle_shrink_info info, info_two;
    int32_t i[N * N * 2], j[N * N * 2];
    double w[N * N * 2];
    int64_t m = 0;
    hd_rng rng = hd_rng_stream(8, 1);
    assert_ok(huddle_dense_new(COPIES * N, 2, &twice));
    assert_ok(huddle_dense_new(COPIES * N, 2, &start_twice));
    assert_ok(huddle_dense_new(N, 2, &start));
    for (int64_t v = 0; v < N; v++)
        for (int64_t e = x.w.offsets[v]; e < x.w.offsets[v + 1]; e++)
            full[v * N + x.w.columns[e]] = x.w.values[e];
    for (int64_t v = 0; v < N; v++) {
        weights[v] = COPIES;
        for (int64_t q = 0; q < 2; q++) {
            start.values[2 * v + q] = hd_rng_normal(&rng);
            for (int64_t copy = 0; copy < COPIES; copy++) {
                twice.values[2 * (copy * N + v) + q] = x.f.values[2 * v + q];
                start_twice.values[2 * (copy * N + v) + q] = start.values[2 * v + q];
            }
        }
        /* Half of the weight between copies of the same number: the sum is that of the edge. */
        for (int64_t u = v + 1; u < N; u++)
            for (int64_t copy = 0; copy < COPIES && full[v * N + u] > 0; copy++, m++) {
                i[m] = (int32_t)(copy * N + v);
                j[m] = (int32_t)(copy * N + u);
                w[m] = full[v * N + u] / COPIES;
            }
    }
    both = graph_of(COPIES * N, m, i, j, w);
    huddle_shrink_options o = steps_of("published", gamma, "l21", 20);
    o.start = &start;
    o.weights = weights;
    assert_ok(huddle_shrink(NULL, &x.f, &x.w, &o, &one, &info));
    o.start = &start_twice;
    o.weights = NULL;
    assert_ok(huddle_shrink(NULL, &twice, &both, &o, &two, &info_two));
    for (int64_t v = 0; v < COPIES * N; v++)
        for (int64_t q = 0; q < 2; q++)
            assert_true(fabs(two.g.values[2 * v + q] - one.g.values[2 * (v % N) + q]) < 1e-8);
    assert_close(info_two.objective, info.objective, 1e-8);
    huddle_shrunk_free(&one);
    huddle_shrunk_free(&two);
    huddle_shrink_info_free(&info);
    huddle_shrink_info_free(&info_two);
    huddle_dense_free(&twice);
    huddle_dense_free(&start);
    huddle_dense_free(&start_twice);
    huddle_csr_free(&both);
    example_free(&x);
}

static void the_seed_decides_the_start_and_threads_nothing(void **state) {
    (void)state;
    example x = clouds(70, 3, 3, 4, false, 2);
    huddle_context *context;
    huddle_shrunk out[3];
    huddle_shrink_info info[3];
    huddle_shrink_options o = steps_of("published", 1, "l21", 10);
    assert_ok(huddle_context_new(&context));
    assert_ok(huddle_context_set_threads(context, 4));
    for (int k = 0; k < 3; k++) {
        o.seed = k == 2;
        assert_ok(huddle_shrink(k == 1 ? context : NULL, &x.f, &x.w, &o, &out[k], &info[k]));
    }
    assert_true(largest_difference(&out[0].g, &out[1].g) == 0);
    assert_true(largest_difference(&out[0].g, &out[2].g) > 1e-6);
    for (int k = 0; k < 3; k++) {
        huddle_shrunk_free(&out[k]);
        huddle_shrink_info_free(&info[k]);
    }
    huddle_context_free(context);
    example_free(&x);
}

/* ---- strange cases, refusals --------------------------------------------------------------- */

static void strange_problems_are_solved(void **state) {
    (void)state;
    static const char *const solvers[] = {"published", "printed"};
    static const int32_t ends[2][2] = {{0, 1}, {1, 2}};
    static const double weight[] = {1, 2};
    for (int trial = 0; trial < 2 * 2 * 2; trial++) {
        int64_t n = trial / 2 % 2 ? 1 : 4;
        int64_t m = n == 1 || trial / 4 ? 0 : 2;
        example x;
        huddle_shrunk out;
        huddle_shrink_info info;
        assert_ok(huddle_dense_new(n, 1, &x.f)); /* all rows equal */
        x.w = graph_of(n, m, ends[0], ends[1], weight);
        huddle_shrink_options o = options_of(solvers[trial % 2], 1, "l21");
        if (trial % 2 == 0 || m == 0) { /* W~ of equal rows makes the printed matrix singular */
            assert_ok(huddle_shrink(NULL, &x.f, &x.w, &o, &out, &info));
            assert_true(largest_difference(&out.g, &x.f) <= 1e-9);
            huddle_shrunk_free(&out);
            huddle_shrink_info_free(&info);
        }
        example_free(&x);
    }
}

static void limits_are_named(void **state) {
    (void)state;
    example x = clouds(HD_SHRINK_PRINTED_ROWS / 100, 1, 2, 2, false, 1);
    huddle_shrunk out;
    huddle_shrink_options o = options_of("printed", 1, "l21");
    huddle_dense many;
    huddle_csr none;
    assert_ok(huddle_dense_new(HD_SHRINK_PRINTED_ROWS + 1, 1, &many));
    assert_ok(huddle_csr_new(many.rows, many.rows, 0, &none));
    assert_refused(huddle_shrink(NULL, &many, &none, &o, &out, NULL), HUDDLE_UNSUPPORTED,
                   "takes at most 5000 rows, not 5001");
    o.shrink_start = "nowhere";
    assert_refused(huddle_shrink(NULL, &x.f, &x.w, &o, &out, NULL), HUDDLE_INVALID, "shrink_start");
    o = options_of("published", 1, "l21");
    o.shrink_epsilon = 0;
    assert_refused(huddle_shrink(NULL, &x.f, &x.w, &o, &out, NULL), HUDDLE_INVALID,
                   "shrink_epsilon");
    o = options_of("published", 1, "l21");
    o.shrink_tol = -1;
    assert_refused(huddle_shrink(NULL, &x.f, &x.w, &o, &out, NULL), HUDDLE_INVALID, "shrink_tol");
    huddle_dense_free(&many);
    huddle_csr_free(&none);
    example_free(&x);
}

static huddle_status shrink_once(void *argument) {
    const example *x = argument;
    huddle_shrunk out = {0};
    huddle_shrink_info info = {0};
    huddle_shrink_options o = steps_of("published", 1, "l21", 3);
    huddle_status status = huddle_shrink(NULL, &x->f, &x->w, &o, &out, &info);
    huddle_shrunk_free(&out);
    huddle_shrink_info_free(&info);
    o.solver = "printed";
    if (status == HUDDLE_OK)
        status = huddle_shrink(NULL, &x->f, &x->w, &o, &out, &info);
    huddle_shrunk_free(&out);
    huddle_shrink_info_free(&info);
    return status;
}

static void every_allocation_may_fail(void **state) {
    (void)state;
    example x = clouds(30, 2, 2, 3, false, 2);
    test_each_allocation(shrink_once, &x);
    example_free(&x);
}

static int cancel(void *user, const char *stage, double done, double total) {
    (void)user, (void)stage, (void)done, (void)total;
    return 1;
}

static void it_can_be_cancelled(void **state) {
    (void)state;
    example x = clouds(30, 2, 2, 3, false, 2);
    huddle_context *context;
    huddle_shrunk out;
    huddle_shrink_options o = options_of("published", 1, "l21");
    assert_ok(huddle_context_new(&context));
    huddle_context_set_progress(context, cancel, NULL);
    assert_int_equal(huddle_shrink(context, &x.f, &x.w, &o, &out, NULL), HUDDLE_CANCELLED);
    huddle_context_free(context);
    example_free(&x);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(steps_are_those_of_numpy),
        cmocka_unit_test(published_never_raises_the_objective),
        cmocka_unit_test(published_reaches_the_optimum),
        cmocka_unit_test(printed_raises_the_objective),
        cmocka_unit_test(both_stay_at_f_if_they_start_there),
        cmocka_unit_test(nothing_is_snapped_fixed_or_solved_in_closed_form),
        cmocka_unit_test(groups_are_joined_by_slack_and_short_edges),
        cmocka_unit_test(the_change_of_the_objective_ends_the_iteration),
        cmocka_unit_test(only_an_unexpected_end_is_warned_of),
        cmocka_unit_test(a_path_of_it_reaches_the_optima),
        cmocka_unit_test(weighted_rows_are_repeated_rows),
        cmocka_unit_test(the_seed_decides_the_start_and_threads_nothing),
        cmocka_unit_test(strange_problems_are_solved),
        cmocka_unit_test(limits_are_named),
        cmocka_unit_test(every_allocation_may_fail),
        cmocka_unit_test(it_can_be_cancelled),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
