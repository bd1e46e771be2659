/* shrink: large problems component by component, in the directions in which their rows differ. The
 * examples are small; hd_shrink_split() is called on them directly. */
#include "shrink/part.h"
#include "shrink/split.h"
#include "shrink_problems.h"

#include "base/memory.h"

enum { N = 360, C = 12, CLUSTERS = 3 };

/* Clouds without edges between them, in `flat` of C directions that no axis is parallel to, and
 * `noise` in all of them. */
static example flat_clouds(int64_t flat, double noise, uint64_t seed) {
    example x = clouds(N, flat, CLUSTERS, 4, true, seed);
    hd_rng rng = hd_rng_stream(seed, 2);
    huddle_dense f;
    double turn[C * C];
    for (int64_t k = 0; k < flat * C; k++)
        turn[k] = hd_rng_normal(&rng) / sqrt((double)C);
    assert_ok(huddle_dense_new(N, C, &f));
    for (int64_t v = 0; v < N; v++)
        for (int64_t q = 0; q < C; q++) {
            f.values[v * C + q] = 3 + noise * hd_rng_normal(&rng);
            for (int64_t r = 0; r < flat; r++)
                f.values[v * C + q] += x.f.values[v * flat + r] * turn[r * C + q];
        }
    huddle_dense_free(&x.f);
    x.f = f;
    return x;
}

/* What huddle_shrink() does with a large problem. */
static huddle_status split(huddle_context *context, const example *x, huddle_shrink_options o,
                           huddle_shrunk *out, huddle_shrink_info *info) {
    hd_shrink_edges edges = {0};
    hd_shrink_solve s = {.options = o, .info = info};
    memset(info, 0, sizeof *info);
    memset(out, 0, sizeof *out);
    assert_ok(hd_shrink_edges_read(context, &x->w, &edges));
    s.input = (hd_shrink_input){.context = context,
                                .f = &x->f,
                                .w = &x->w,
                                .edges = &edges,
                                .weights = o.weights,
                                .gamma = o.gamma,
                                .squared = strcmp(o.loss, "l2") == 0};
    huddle_status status = hd_shrink_split(&s, out);
    hd_shrink_edges_free(&edges);
    if (status != HUDDLE_OK) {
        huddle_shrunk_free(out);
        huddle_shrink_info_free(info);
    }
    return status;
}

static huddle_shrink_options with(const char *loss, double gamma) {
    huddle_shrink_options o = huddle_shrink_defaults();
    o.loss = loss;
    o.gamma = gamma;
    return o;
}

/* ---- the answer ---------------------------------------------------------------------------- */

/* Bounds and objectives of both ways enclose the same optimum, and the objective is that of G. */
static void components_one_by_one_reach_the_optimum_of_the_whole(void **state) {
    (void)state;
    double weights[N];
    for (int64_t v = 0; v < N; v++)
        weights[v] = .5 + (double)(v % 4);
    for (int trial = 0; trial < 12; trial++) {
        example x = flat_clouds(trial % 3 == 2 ? C : 3, trial % 2 ? 1e-7 : 0, (uint64_t)trial);
        huddle_shrink_options o =
            with(trial % 4 == 3 ? "l2" : "l21", (const double[]){.02, .3, 5}[trial / 4]);
        huddle_shrunk whole, parts;
        huddle_shrink_info tight, info;
        double objective;
        o.weights = trial % 3 == 1 ? weights : NULL;
        o.gap = 1e-8;
        assert_ok(huddle_shrink(NULL, &x.f, &x.w, &o, &whole, &tight));
        o.gap = 1e-4;
        assert_ok(split(NULL, &x, o, &parts, &info));
        assert_ok(huddle_shrink_certificate(NULL, &x.f, &x.w, o.weights, o.gamma, o.loss, &parts.g,
                                            NULL, &objective, NULL));
        assert_close(info.objective, objective, 1e-14);
        assert_true(info.gap <= o.gap && info.stop <= HUDDLE_STOP_EXACT);
        assert_true(info.dual <= tight.objective * (1 + 1e-9));
        assert_true(tight.dual <= info.objective * (1 + 1e-9));
        assert_int_equal(info.n_components, CLUSTERS);
        assert_true(info.n_groups >= CLUSTERS && info.n_groups == parts.n_groups);
        assert_int_equal(parts.group[0], 0);
        huddle_shrunk_free(&whole);
        huddle_shrunk_free(&parts);
        huddle_shrink_info_free(&tight);
        huddle_shrink_info_free(&info);
        example_free(&x);
    }
}

/* Rows of one group are equal to the last bit after turning back, and those of different components
 * are never of one group. */
static void groups_are_single_points(void **state) {
    (void)state;
    example x = flat_clouds(3, 0, 5);
    huddle_shrunk out;
    huddle_shrink_info info;
    assert_ok(split(NULL, &x, with("l21", 1.5), &out, &info));
    assert_true(info.snapped && out.n_groups < N);
    for (int64_t v = 0; v < N; v++)
        for (int64_t u = 0; u < v; u++)
            if (out.group[u] == out.group[v]) {
                assert_int_equal(u % CLUSTERS, v % CLUSTERS);
                assert_memory_equal(out.g.values + u * C, out.g.values + v * C, C * sizeof(double));
            }
    huddle_shrunk_free(&out);
    huddle_shrink_info_free(&info);
    example_free(&x);
}

/* A component whose rows are equal but for 1e-9 leaves its share of the gap of the others, and is
 * moved to its mean without a solve. */
static void a_component_of_almost_equal_rows_needs_no_solve(void **state) {
    (void)state;
    example x = flat_clouds(3, 0, 6);
    huddle_shrunk out;
    huddle_shrink_info info;
    for (int64_t v = 0; v < N; v += CLUSTERS)
        for (int64_t q = 0; q < C; q++)
            x.f.values[v * C + q] = 1 + 1e-9 * (double)((v + 3 * q) % 7);
    assert_ok(split(NULL, &x, with("l21", .3), &out, &info));
    assert_true(info.gap <= 1e-4);
    for (int64_t v = 0; v < N; v += CLUSTERS) {
        assert_int_equal(out.group[v], 0);
        assert_memory_equal(out.g.values, out.g.values + v * C, C * sizeof(double));
    }
    huddle_shrunk_free(&out);
    huddle_shrink_info_free(&info);
    example_free(&x);
}

/* History and counts are those of all components. */
static void the_history_is_that_of_all_components(void **state) {
    (void)state;
    example x = flat_clouds(C, 0, 7);
    huddle_shrunk out;
    huddle_shrink_info info;
    assert_ok(split(NULL, &x, with("l21", .3), &out, &info));
    assert_true(info.n_history > 0 && info.n_iter >= info.n_history && info.n_solves > 0);
    for (int32_t k = 1; k < info.n_history; k++) {
        assert_true(info.history_objective[k] <= info.history_objective[k - 1]);
        assert_true(info.history_dual[k] >= info.history_dual[k - 1]);
        assert_true(info.history_seconds[k] >= info.history_seconds[k - 1]);
    }
    /* Snapping alone may raise the last objective, within the gap. */
    assert_close(info.history_objective[info.n_history - 1], info.objective, 1e-3);
    assert_close(info.history_dual[info.n_history - 1], info.dual, 1e-9);
    huddle_shrunk_free(&out);
    huddle_shrink_info_free(&info);
    example_free(&x);
}

/* ---- directions ---------------------------------------------------------------------------- */

static void few_directions_are_kept_of_flat_rows(void **state) {
    (void)state;
    example x = flat_clouds(3, 1e-9, 8);
    hd_shrink_input input = {.f = &x.f, .w = &x.w, .gamma = 1};
    int32_t rows[N], local[N];
    double cost[C + 1];
    huddle_dense turned = {0}, back;
    for (int32_t v = 0; v < N; v++)
        rows[v] = local[v] = v;
    hd_shrink_part part = {.whole = &input, .rows = rows, .local = local, .n = N};
    assert_ok(hd_shrink_part_open(&part, true));
    assert_ok(hd_shrink_part_costs(&part, NULL, cost));
    assert_close(cost[0], part.collapsed, 1e-9); /* without any direction, rows are at their mean */
    hd_shrink_part_reduce(&part, cost, 1e-9 * part.collapsed);
    assert_int_equal(part.kept, 4); /* 3, as a whole vector of four */
    assert_ok(hd_shrink_part_rows(&part, &x.f, &turned));
    assert_ok(huddle_dense_new(N, C, &back));
    hd_shrink_part_return(&part, &turned, &back);
    assert_true(largest_difference(&back, &x.f) <= 1e-8);
    /* Rows that have not moved cost their length in the other eight directions. */
    double moving = cost[4];
    assert_ok(hd_shrink_part_costs(&part, &turned, cost));
    assert_true(cost[4] > 1e-9 && cost[4] < 1e-6 * part.collapsed && cost[4] > 1e3 * moving);
    assert_true(cost[C] == 0);
    /* The bound falls by rounding only. */
    assert_true(hd_shrink_part_bound(&part, 1) < 1 && hd_shrink_part_bound(&part, 1) > 1 - 1e-9);
    hd_shrink_part_reduce(&part, cost, -1);
    assert_int_equal(part.kept, C);
    assert_true(hd_shrink_part_bound(&part, 1) == 1);
    huddle_dense_free(&turned);
    huddle_dense_free(&back);
    hd_shrink_part_close(&part);
    example_free(&x);
}

/* ---- threads, cancelling, memory ----------------------------------------------------------- */

static void threads_do_not_change_a_bit(void **state) {
    (void)state;
    example x = flat_clouds(4, 1e-8, 9);
    huddle_shrunk first = {0}, out;
    huddle_shrink_info one = {0}, info;
    for (int k = 0; k < 4; k++) {
        huddle_context *context;
        assert_ok(huddle_context_new(&context));
        assert_ok(huddle_context_set_threads(context, (const int32_t[]){1, 2, 3, 8}[k]));
        assert_ok(split(context, &x, with("l21", .4), &out, &info));
        huddle_context_free(context);
        if (k == 0) {
            first = out;
            one = info;
            continue;
        }
        assert_memory_equal(out.g.values, first.g.values, N * C * sizeof(double));
        assert_memory_equal(out.group, first.group, N * sizeof *out.group);
        assert_true(info.objective == one.objective && info.dual == one.dual);
        assert_int_equal(info.n_solves, one.n_solves);
        huddle_shrunk_free(&out);
        huddle_shrink_info_free(&info);
    }
    huddle_shrunk_free(&first);
    huddle_shrink_info_free(&one);
    example_free(&x);
}

static void components_can_be_cancelled(void **state) {
    (void)state;
    example x = flat_clouds(3, 0, 10);
    huddle_context *context;
    huddle_shrunk out;
    huddle_shrink_info info;
    assert_ok(huddle_context_new(&context));
    huddle_context_cancel(context);
    assert_int_equal(split(context, &x, with("l21", .4), &out, &info), HUDDLE_CANCELLED);
    huddle_context_free(context);
    example_free(&x);
}

/* Every request fails once: an error and no leak, never a crash. */
static void running_out_of_memory_is_reported(void **state) {
    (void)state;
    example x = flat_clouds(3, 0, 11);
    huddle_shrunk out;
    huddle_shrink_info info;
    hd_memory_fail_at(0);
    assert_ok(split(NULL, &x, with("l21", .4), &out, &info));
    int64_t requests = hd_memory_fail_at(0);
    huddle_shrunk_free(&out);
    huddle_shrink_info_free(&info);
    for (int64_t k = 20; k < requests; k += 1 + requests / 60) {
        hd_memory_fail_at(k);
        huddle_status status = split(NULL, &x, with("l21", .4), &out, &info);
        hd_memory_fail_at(0);
        assert_true(status == HUDDLE_NO_MEMORY || status == HUDDLE_OK);
        if (status == HUDDLE_OK) {
            huddle_shrunk_free(&out);
            huddle_shrink_info_free(&info);
        }
    }
    example_free(&x);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(components_one_by_one_reach_the_optimum_of_the_whole),
        cmocka_unit_test(groups_are_single_points),
        cmocka_unit_test(a_component_of_almost_equal_rows_needs_no_solve),
        cmocka_unit_test(the_history_is_that_of_all_components),
        cmocka_unit_test(few_directions_are_kept_of_flat_rows),
        cmocka_unit_test(threads_do_not_change_a_bit),
        cmocka_unit_test(components_can_be_cancelled),
        cmocka_unit_test(running_out_of_memory_is_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
