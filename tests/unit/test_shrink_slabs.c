/* shrink: with an engine, on two equal slabs (mirror.h), and on rows that are distributed over
 * several processes (team.h), against the answer of one process. The teams here cannot move rows,
 * so that all members solve everything together; test_shrink_distributed.c has those that can. */
#include "engines/mirror.h"
#include "engines/team.h"
#include "huddle/path.h"
#include "shrink/linear.h"
#include "shrink_problems.h"
#include "shrink_team.h"

enum { N = 240, C = 3, TEAM = 3 };

/* Clouds whose rows are in breadth-first order, as one process would renumber them. */
static example ordered_clouds(uint64_t seed) {
    example x = clouds(N, C, 3, 4, false, seed), y;
    int32_t order[N], number[N], done = 0, count = 0;
    memset(number, -1, sizeof number);
    number[0] = count;
    order[count++] = 0;
    for (; done < count; done++)
        for (int64_t e = x.w.offsets[order[done]]; e < x.w.offsets[order[done] + 1]; e++)
            if (number[x.w.columns[e]] < 0) {
                number[x.w.columns[e]] = count;
                order[count++] = x.w.columns[e];
            }
    assert_int_equal(count, N);
    int64_t m = 0, entries = x.w.offsets[N];
    int32_t *i = malloc((size_t)entries * sizeof *i), *j = malloc((size_t)entries * sizeof *j);
    assert_ok(huddle_dense_new(N, C, &y.f));
    for (int64_t v = 0; v < N; v++) {
        memcpy(y.f.values + v * C, x.f.values + order[v] * C, C * sizeof(double));
        for (int64_t e = x.w.offsets[v]; e < x.w.offsets[v + 1]; e++, m++) {
            i[m] = number[v];
            j[m] = number[x.w.columns[e]];
        }
    }
    for (int64_t e = 0; e < entries; e++) /* equal weights: no row is light enough to be fixed */
        x.w.values[e] = 1;
    y.w = graph_of(N, m, i, j, x.w.values);
    free(i);
    free(j);
    example_free(&x);
    return y;
}

static huddle_shrink_options options_for(const char *solver, const char *loss) {
    huddle_shrink_options o = huddle_shrink_defaults();
    o.solver = solver;
    o.loss = loss;
    o.gamma = .4;
    o.gap = 1e-6;
    o.keep_dual = true;
    return o;
}

/* ---- two equal slabs ----------------------------------------------------------------------- */

/* The mirror without the hook that would move rows, which it cannot do. */
static huddle_context *still_mirror(void) {
    static hd_engine_slabs slabs;
    static hd_engine engine;
    huddle_context *context = NULL;
    slabs = mirror_slabs;
    slabs.exchange = NULL;
    engine = mirror_engine;
    engine.slabs = &slabs;
    assert_ok(huddle_context_new(&context));
    assert_ok(hd_context_use_engine(context, &engine, ""));
    return context;
}

/* Without snapping: groups depend on what an edge may cost beside the gap of all rows, which is
 * twice as large on two slabs. The gap decides the number of steps, so that G would differ by far
 * more than rounding if a sum were not doubled. */
static void two_equal_slabs_give_g_of_one_and_twice_its_numbers(void **state) {
    (void)state;
    static const char *const solvers[] = {"auto", "irls", "reweighted", "pdhg"};
    static const char *const linear[] = {"auto", "approximate"};
    huddle_context *context = still_mirror();
    double weights[N];
    for (int64_t v = 0; v < N; v++)
        weights[v] = .85 + .15 * (double)(v % 3);
    for (int trial = 0; trial < 4 * 2 * 2 * 2; trial++) {
        example x = ordered_clouds((uint64_t)trial / 8);
        huddle_shrink_options o = options_for(solvers[trial % 4], trial / 4 % 2 ? "l2" : "l21");
        huddle_shrunk one, two;
        huddle_shrink_info single, twice;
        o.linear_solver = linear[trial / 8 % 2];
        o.snap = false;
        o.weights = trial / 16 == 1 ? weights : NULL;
        if (trial % 4 >= 1)
            o.gap = 1e-4;
        assert_ok(huddle_shrink(NULL, &x.f, &x.w, &o, &one, &single));
        assert_int_equal(single.n_fixed, 0);
        x.w.cols = 2 * N;
        assert_ok(huddle_shrink(context, &x.f, &x.w, &o, &two, &twice));
        assert_int_equal(mirror_counts_of(context)->open_halos, 0);
        assert_true(largest_difference(&one.g, &two.g) <= 1e-9);
        assert_close(twice.objective, 2 * single.objective, 1e-12);
        assert_close(twice.dual, 2 * single.dual, 1e-9);
        assert_int_equal(twice.n_iter, single.n_iter);
        assert_int_equal(twice.n_components, 2 * single.n_components);
        assert_int_equal(twice.stop, single.stop);
        double objective, dual;
        assert_ok(huddle_shrink_certificate(context, &x.f, &x.w, o.weights, o.gamma, o.loss, &two.g,
                                            &two.z, &objective, &dual));
        assert_close(objective, twice.objective, 1e-14);
        assert_close(dual, twice.dual, 1e-14);
        huddle_shrunk_free(&one);
        huddle_shrunk_free(&two);
        huddle_shrink_info_free(&single);
        huddle_shrink_info_free(&twice);
        example_free(&x);
    }
    assert_true(mirror_counts_of(context)->agreements > 0);
    huddle_context_free(context);
}

static void gamma_auto_counts_the_rows_of_all_processes(void **state) {
    (void)state;
    huddle_context *context = still_mirror();
    example x = ordered_clouds(7);
    huddle_shrink_options o = options_for("auto", "l21");
    huddle_shrunk out;
    huddle_shrink_info info;
    o.gamma = HUDDLE_AUTO;
    o.n_clusters = 4;
    o.gap = 1e-2;
    x.w.cols = 2 * N;
    assert_ok(huddle_shrink(context, &x.f, &x.w, &o, &out, &info));
    assert_true(info.gamma == 2. * N / 4);
    huddle_shrunk_free(&out);
    huddle_shrink_info_free(&info);
    example_free(&x);
    huddle_context_free(context);
}

static void what_needs_all_rows_is_refused(void **state) {
    (void)state;
    huddle_context *context = still_mirror();
    example x = ordered_clouds(0);
    double fit, up;
    huddle_path path;
    x.w.cols = 2 * N;
    assert_refused(huddle_shrink_ends(context, &x.f, &x.w, NULL, "l21", &fit, &up),
                   HUDDLE_UNSUPPORTED, "one process");
    assert_refused(huddle_shrink_path(context, &x.f, &x.w, NULL, &path), HUDDLE_UNSUPPORTED,
                   "one process");
    example_free(&x);
    huddle_context_free(context);
}

/* ---- rows that are distributed over processes ---------------------------------------------------
 */

/* A team that cannot move rows. */
static hd_engine still_engine(void) {
    static hd_engine_slabs slabs;
    hd_engine engine = team_engine;
    slabs = team_slabs;
    slabs.exchange = NULL;
    engine.slabs = &slabs;
    return engine;
}

/* What the members of a team share: the whole problem, and room for their parts of the answer. */
typedef struct shared {
    const example *x;
    huddle_shrink_options options;
    huddle_dense g;
    int32_t group[N];
    huddle_shrink_info info[TEAM];
    double objective[TEAM], dual[TEAM];
} shared;

static void cut(int rank, int64_t *begin, int64_t *end) {
    static const int64_t cuts[TEAM + 1] = {0, 50, 170, N};
    *begin = cuts[rank];
    *end = cuts[rank + 1];
}

static huddle_status shrink_slab(huddle_context *context, int rank, void *argument) {
    huddle_status status = HUDDLE_OK;
    shared *all = argument;
    example part = {0};
    huddle_shrunk out = {0};
    huddle_shrink_options o = all->options;
    int64_t begin, end;
    cut(rank, &begin, &end);
    if (o.weights != NULL)
        o.weights += begin;
    TRY(take_slab(all->x, begin, end, &part));
    TRY(huddle_shrink(context, &part.f, &part.w, &o, &out, &all->info[rank]));
    TRY(huddle_shrink_certificate(context, &part.f, &part.w, o.weights, o.gamma, o.loss, &out.g,
                                  &out.z, &all->objective[rank], &all->dual[rank]));
    memcpy(all->g.values + begin * C, out.g.values, (size_t)((end - begin) * C) * sizeof(double));
    memcpy(all->group + begin, out.group, (size_t)(end - begin) * sizeof(int32_t));
done:
    huddle_shrunk_free(&out);
    example_free(&part);
    return status;
}

/* Solves on one process, with that solver, and on a team, and compares; returns the team's number
 * of solves. */
static int64_t compare_with_team(const hd_engine *engine, const example *x, const char *solver,
                                 const huddle_shrink_options *options) {
    huddle_shrink_options own = *options;
    shared all = {.x = x, .options = *options};
    huddle_shrunk one;
    huddle_shrink_info single;
    double objective;
    int64_t n_solves;
    assert_ok(huddle_dense_new(N, C, &all.g));
    own.solver = solver;
    assert_ok(huddle_shrink(NULL, &x->f, &x->w, &own, &one, &single));
    assert_ok(team_run(TEAM, engine, shrink_slab, &all));
    n_solves = all.info[0].n_solves;
    assert_ok(huddle_shrink_certificate(NULL, &x->f, &x->w, options->weights, options->gamma,
                                        options->loss, &all.g, NULL, &objective, NULL));
    for (int r = 0; r < TEAM; r++) {
        const huddle_shrink_info *info = &all.info[r];
        assert_int_equal(info->stop, HUDDLE_STOP_CONVERGED);
        assert_true(info->objective == all.info[0].objective && info->dual == all.info[0].dual);
        assert_int_equal(info->n_groups, all.info[0].n_groups);
        assert_int_equal(info->n_components, single.n_components);
        assert_close(info->objective, objective, 1e-12);
        assert_close(info->objective, all.objective[r], 1e-14);
        assert_close(info->dual, all.dual[r], 1e-14);
        /* Both are within their gap of one optimum, and a bound is below every objective. */
        assert_true(fabs(objective - single.objective) <= options->gap * objective);
        assert_true(info->dual <= single.objective && single.dual <= objective);
    }
    /* Several components have a smoothing each on one process, and one in a team; and the solution
     * of "l21" need not be unique. */
    if (single.n_components == 1 && (strcmp(solver, "pdhg") == 0 || strcmp(own.loss, "l2") == 0))
        assert_memory_equal(all.group, one.group, sizeof all.group);
    for (int r = 0; r < TEAM; r++)
        huddle_shrink_info_free(&all.info[r]);
    huddle_shrunk_free(&one);
    huddle_shrink_info_free(&single);
    huddle_dense_free(&all.g);
    return n_solves;
}

static void a_team_agrees_with_one_process(void **state) {
    (void)state;
    hd_engine engine = still_engine();
    double weights[N];
    for (int64_t v = 0; v < N; v++)
        weights[v] = 1 + .25 * (double)(v % 4);
    for (int trial = 0; trial < 8; trial++) {
        /* Several components in half of the trials; neighbours are in all slabs. */
        example x = clouds(N, C, 3, 4, trial % 2 == 1, (uint64_t)trial);
        huddle_shrink_options o = options_for("auto", trial / 2 % 2 ? "l2" : "l21");
        o.weights = trial / 4 ? weights : NULL;
        assert_int_equal(compare_with_team(&engine, &x, "pdhg", &o), 0);
        example_free(&x);
    }
}

/* ---- an engine's linear solver ------------------------------------------------------------- */

static void a_linear_solver_of_the_engine_serves_all_processes(void **state) {
    (void)state;
    static const char *const solvers[] = {"auto", "irls", "reweighted"};
    hd_engine engine = still_engine();
    engine.linear_solver = &team_linear_solver;
    for (int trial = 0; trial < 6; trial++) {
        example x = clouds(N, C, 3, 4, trial % 2 == 1, (uint64_t)trial);
        huddle_shrink_options o = options_for(solvers[trial % 3], trial / 3 ? "l2" : "l21");
        if (trial % 3 == 2)
            o.gap = 1e-4;
        assert_true(compare_with_team(&engine, &x, o.solver, &o) > 0);
        example_free(&x);
    }
}

static void linear_solvers_of_one_process_are_refused_across_processes(void **state) {
    (void)state;
    example x = clouds(N, C, 3, 4, false, 1);
    shared all = {.x = &x, .options = options_for("irls", "l21")};
    hd_engine engine = still_engine();
    assert_ok(huddle_dense_new(N, C, &all.g));
    assert_refused(team_run(TEAM, &engine, shrink_slab, &all), HUDDLE_UNSUPPORTED, "pdhg");
    huddle_dense_free(&all.g);
    example_free(&x);
}

static void the_published_iteration_is_refused_across_processes(void **state) {
    (void)state;
    static const char *const solvers[] = {"published", "printed"};
    example x = clouds(N, C, 3, 4, false, 1);
    hd_engine engine = still_engine();
    for (int k = 0; k < 2; k++) {
        shared all = {.x = &x, .options = options_for(solvers[k], "l21")};
        assert_ok(huddle_dense_new(N, C, &all.g));
        assert_refused(team_run(TEAM, &engine, shrink_slab, &all), HUDDLE_UNSUPPORTED,
                       "needs all rows in one process");
        huddle_dense_free(&all.g);
    }
    example_free(&x);
}

/* An engine with a direct solver, which declines every graph, and after it an iterative one. */
static huddle_status decline(huddle_context *context, const hd_shrink_linear_graph *graph,
                             void **state) {
    (void)context, (void)graph, (void)state;
    return hd_fail(HUDDLE_UNSUPPORTED, "no memory for a factor");
}

static void the_next_solver_of_the_engine_is_tried_and_names_choose_kinds(void **state) {
    (void)state;
    static const hd_shrink_linear_solver declining = {
        .name = "direct", .is_direct = true, .analyse = decline, .next = &team_linear_solver};
    static const char *const names[] = {"auto", "approximate"};
    hd_engine engine = still_engine();
    example x = clouds(N, C, 3, 4, false, 1);
    engine.linear_solver = &declining;
    for (int trial = 0; trial < 2; trial++) {
        huddle_shrink_options o = options_for("irls", "l2");
        o.linear_solver = names[trial];
        assert_true(compare_with_team(&engine, &x, "irls", &o) > 0);
    }
    /* Without an iterative solver there is none to take that name. */
    hd_shrink_linear_solver direct = team_linear_solver;
    direct.is_direct = true;
    engine.linear_solver = &direct;
    shared all = {.x = &x, .options = options_for("irls", "l21")};
    all.options.linear_solver = "approximate";
    assert_ok(huddle_dense_new(N, C, &all.g));
    assert_refused(team_run(TEAM, &engine, shrink_slab, &all), HUDDLE_UNSUPPORTED, "pdhg");
    huddle_dense_free(&all.g);
    example_free(&x);
}

/* On one process too, "auto" is the engine's solver. */
static void auto_is_the_linear_solver_of_the_engine(void **state) {
    (void)state;
    static const hd_engine engine = {.text = {"linear", "a linear solver"},
                                     .linear_solver = &team_linear_solver};
    huddle_context *context = NULL;
    example x = clouds(N, C, 3, 4, false, 1);
    huddle_shrink_options o = options_for("irls", "l21");
    huddle_shrunk out;
    huddle_shrink_info info;
    assert_ok(huddle_context_new(&context));
    assert_ok(hd_context_use_engine(context, &engine, ""));
    shrink_checked(context, &x, &o, &out, &info);
    assert_string_equal(info.linear_solver, "team");
    assert_int_equal(info.stop, HUDDLE_STOP_CONVERGED);
    huddle_shrunk_free(&out);
    huddle_shrink_info_free(&info);
    o.linear_solver = "approximate";
    shrink_checked(context, &x, &o, &out, &info);
    assert_string_equal(info.linear_solver, "approximate");
    huddle_shrunk_free(&out);
    huddle_shrink_info_free(&info);
    example_free(&x);
    huddle_context_free(context);
}

/* ---- an engine that solves the whole problem ----------------------------------------------- */

/* Answers with what one process finds, or badly, or not at all. */
static int engine_calls;
static enum { GOOD, FORGED, DECLINED, WRONG_SHAPE } engine_mood;

static huddle_status engine_shrink(huddle_context *context, const hd_shrink_request *request,
                                   hd_shrink_result *result) {
    huddle_status status = HUDDLE_OK;
    huddle_shrunk out = {0};
    huddle_shrink_info info = {0};
    (void)context;
    engine_calls++;
    if (engine_mood == DECLINED)
        FAIL(HUDDLE_UNSUPPORTED, "not today");
    if (engine_mood == WRONG_SHAPE) {
        TRY(huddle_dense_new(1, 1, result->g));
        TRY(huddle_dense_new(1, 1, result->z));
        goto done;
    }
    huddle_shrink_options o = options_for("newton", request->squared ? "l2" : "l21");
    o.gamma = request->gamma;
    o.gap = request->gap;
    o.weights = request->weights;
    o.start = request->start;
    o.snap = false;
    TRY(huddle_shrink(NULL, request->f, request->w, &o, &out, &info));
    *result->g = out.g;
    *result->z = out.z;
    out.g = out.z = (huddle_dense){0};
    result->n_iter = info.n_iter;
    result->n_solves = info.n_solves;
    for (int64_t k = 0; k < N * C && engine_mood == FORGED; k++)
        result->g->values[k] *= 1.1;
done:
    huddle_shrunk_free(&out);
    huddle_shrink_info_free(&info);
    return status;
}

static const hd_engine whole_engine = {.text = {"whole", "solves the whole problem"},
                                       .shrink = engine_shrink};

static void an_engine_solves_and_the_stage_certifies(void **state) {
    (void)state;
    huddle_context *context = NULL;
    assert_ok(huddle_context_new(&context));
    assert_ok(hd_context_use_engine(context, &whole_engine, ""));
    for (int squared = 0; squared < 2; squared++) {
        example x = clouds(N, C, 3, 4, false, 5);
        huddle_shrink_options o = options_for("auto", squared ? "l2" : "l21");
        huddle_shrunk one, other;
        huddle_shrink_info single, info;
        assert_ok(huddle_shrink(NULL, &x.f, &x.w, &o, &one, &single));
        engine_mood = GOOD;
        engine_calls = 0;
        shrink_checked(context, &x, &o, &other, &info);
        assert_true(engine_calls > 0);
        assert_string_equal(info.solver, "whole");
        assert_int_equal(info.stop, HUDDLE_STOP_CONVERGED);
        assert_true(info.n_iter > 0 && info.n_history > 0 && info.snapped == single.snapped);
        assert_int_equal(info.n_groups, single.n_groups);
        assert_memory_equal(one.group, other.group, N * sizeof *one.group);
        assert_true(largest_difference(&one.g, &other.g) <= 1e-9);
        huddle_shrunk_free(&other);
        huddle_shrink_info_free(&info);
        /* A wrong G is not certified. */
        engine_mood = FORGED;
        shrink_checked(context, &x, &o, &other, &info);
        assert_true(info.gap > 1e-3 && info.stop == HUDDLE_STOP_STALLED);
        huddle_shrunk_free(&other);
        huddle_shrink_info_free(&info);
        /* A solver by name is not the engine's; what the engine declines the CPU solves. */
        engine_mood = DECLINED;
        engine_calls = 0;
        o.solver = "irls";
        shrink_checked(context, &x, &o, &other, &info);
        assert_int_equal(engine_calls, 0);
        huddle_shrunk_free(&other);
        huddle_shrink_info_free(&info);
        o.solver = "auto";
        shrink_checked(context, &x, &o, &other, &info);
        assert_string_equal(info.solver, "newton");
        assert_memory_equal(one.g.values, other.g.values, N * C * sizeof(double));
        huddle_shrunk_free(&other);
        huddle_shrink_info_free(&info);
        engine_mood = WRONG_SHAPE;
        assert_refused(huddle_shrink(context, &x.f, &x.w, &o, &other, NULL), HUDDLE_INTERNAL,
                       "whole");
        huddle_shrunk_free(&one);
        huddle_shrink_info_free(&single);
        example_free(&x);
    }
    huddle_context_free(context);
}

/* ---- new rows ------------------------------------------------------------------------------ */

/* Rows of F as new rows, their neighbours as anchors, some of which other members hold. */
static huddle_status shrink_new_rows(huddle_context *context, int rank, void *argument) {
    huddle_status status = HUDDLE_OK;
    shared *all = argument;
    example part = {0};
    huddle_dense g = {0};
    int64_t begin, end;
    cut(rank, &begin, &end);
    TRY(take_slab(all->x, begin, end, &part));
    TRY(huddle_dense_new(end - begin, C, &g));
    TRY(huddle_shrink_points(context, &part.f, &part.w, &part.f, all->options.gamma,
                             all->options.loss, &g));
    memcpy(all->g.values + begin * C, g.values, (size_t)((end - begin) * C) * sizeof(double));
done:
    huddle_dense_free(&g);
    example_free(&part);
    return status;
}

static void new_rows_find_anchors_of_other_processes(void **state) {
    (void)state;
    for (int squared = 0; squared < 2; squared++) {
        example x = clouds(N, C, 3, 4, false, 3);
        shared all = {.x = &x, .options = options_for("auto", squared ? "l2" : "l21")};
        huddle_dense g;
        all.options.gamma = .3;
        assert_ok(huddle_dense_new(N, C, &all.g));
        assert_ok(huddle_dense_new(N, C, &g));
        assert_ok(huddle_shrink_points(NULL, &x.f, &x.w, &x.f, .3, all.options.loss, &g));
        assert_ok(team_run(TEAM, &team_engine, shrink_new_rows, &all));
        assert_memory_equal(g.values, all.g.values, N * C * sizeof(double));
        huddle_dense_free(&g);
        huddle_dense_free(&all.g);
        example_free(&x);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(two_equal_slabs_give_g_of_one_and_twice_its_numbers),
        cmocka_unit_test(gamma_auto_counts_the_rows_of_all_processes),
        cmocka_unit_test(what_needs_all_rows_is_refused),
        cmocka_unit_test(a_team_agrees_with_one_process),
        cmocka_unit_test(a_linear_solver_of_the_engine_serves_all_processes),
        cmocka_unit_test(linear_solvers_of_one_process_are_refused_across_processes),
        cmocka_unit_test(the_published_iteration_is_refused_across_processes),
        cmocka_unit_test(the_next_solver_of_the_engine_is_tried_and_names_choose_kinds),
        cmocka_unit_test(auto_is_the_linear_solver_of_the_engine),
        cmocka_unit_test(an_engine_solves_and_the_stage_certifies),
        cmocka_unit_test(new_rows_find_anchors_of_other_processes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
