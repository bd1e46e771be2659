/* shrink: the ends of gamma, the path, labels from it, new points, the published iteration. */
#include "huddle/path.h"
#include "shrink/irls.h"
#include "shrink_problems.h"

/* ---- the ends ------------------------------------------------------------------------------ */

static void g_is_f_up_to_gamma_fit(void **state) {
    (void)state;
    for (uint64_t seed = 0; seed < 5; seed++) {
        example x = clouds(60, 3, 3, 4, seed % 2 == 1, seed);
        double fit, up, at_f, unused;
        assert_ok(huddle_shrink_ends(NULL, &x.f, &x.w, NULL, "l21", &fit, &up));
        assert_true(fit > 0 && up > fit && !isinf(up));
        for (int side = 0; side < 2; side++) {
            huddle_shrink_options o = huddle_shrink_defaults();
            huddle_shrunk out;
            huddle_shrink_info info;
            o.gamma = (side ? 1.01 : .99) * fit;
            o.gap = 1e-9;
            shrink_checked(NULL, &x, &o, &out, &info);
            assert_ok(huddle_shrink_certificate(NULL, &x.f, &x.w, NULL, o.gamma, "l21", &x.f, NULL,
                                                &at_f, &unused));
            if (side == 0) {
                assert_int_equal(info.stop, HUDDLE_STOP_EXACT);
                assert_true(largest_difference(&out.g, &x.f) == 0);
            } else {
                assert_true(info.objective < at_f);
                assert_true(largest_difference(&out.g, &x.f) > 0);
            }
            huddle_shrunk_free(&out);
            huddle_shrink_info_free(&info);
        }
        example_free(&x);
    }
}

static void components_are_points_beyond_gamma_up(void **state) {
    (void)state;
    for (uint64_t seed = 0; seed < 5; seed++)
        for (int loss = 0; loss < 2; loss++) {
            example x = clouds(60, 3, 3, 4, seed % 2 == 1, seed);
            huddle_shrink_options o = huddle_shrink_defaults();
            huddle_shrunk out;
            huddle_shrink_info info;
            double fit, up;
            o.loss = loss ? "l2" : "l21";
            assert_ok(huddle_shrink_ends(NULL, &x.f, &x.w, NULL, o.loss, &fit, &up));
            o.gamma = 1.01 * up;
            shrink_checked(NULL, &x, &o, &out, &info);
            assert_int_equal(info.stop, HUDDLE_STOP_EXACT);
            assert_int_equal(info.n_groups, info.n_components);
            assert_true(info.gap < 1e-8);
            huddle_shrunk_free(&out);
            huddle_shrink_info_free(&info);
            example_free(&x);
        }
}

/* A square grid whose rows are their places. */
static example grid(int32_t side) {
    example x;
    int32_t n = side * side;
    int64_t count = 0;
    assert_ok(huddle_dense_new(n, 2, &x.f));
    assert_ok(huddle_csr_new(n, n, 4 * (int64_t)side * (side - 1), &x.w));
    x.w.offsets[0] = 0;
    for (int32_t v = 0; v < n; v++) {
        bool exists[] = {v >= side, v % side > 0, v % side + 1 < side, v + side < n};
        int32_t step[] = {-side, -1, 1, side};
        x.f.values[2 * v] = v % side;
        x.f.values[2 * v + 1] = v / side;
        for (int k = 0; k < 4; k++)
            if (exists[k]) {
                x.w.columns[count] = v + step[k];
                x.w.values[count++] = 1;
            }
        x.w.offsets[v + 1] = count;
    }
    return x;
}

static void check_collapse_without_systems(int32_t side, double gamma) {
    example x = grid(side);
    huddle_shrink_options o = huddle_shrink_defaults();
    huddle_shrunk out;
    huddle_shrink_info info;
    o.gamma = gamma;
    shrink_checked(NULL, &x, &o, &out, &info);
    assert_int_equal(info.stop, HUDDLE_STOP_EXACT);
    assert_int_equal(info.n_groups, 1);
    assert_int_equal(info.n_solves, 0);
    assert_true(info.gap < 1e-8);
    huddle_shrunk_free(&out);
    huddle_shrink_info_free(&info);
    example_free(&x);
}

/* Far beyond gamma_up no linear system is needed: every vertex can pass its force on. On a large
 * block this must not fail by the rounding of sums over all of its edges. */
static void a_clear_collapse_needs_no_linear_system(void **state) {
    (void)state;
    check_collapse_without_systems(8, 1e6);
    check_collapse_without_systems(140, 1e6);
}

/* Passing on alone overloads the edges near the first vertex; after a few conjugate gradient steps
 * it does not. The exact potentials have a ratio of 1 at a gamma of about half the side. */
static void a_large_block_is_relaxed_before_it_is_factorised(void **state) {
    (void)state;
    check_collapse_without_systems(240, 480);
}

static void ends_exist_in_strange_cases(void **state) {
    (void)state;
    static const int32_t i[] = {0, 1}, j[] = {1, 2};
    static const double one[] = {1, 1}, tiny[] = {1, 1e-254};
    double fit, up;
    example x = {.w = graph_of(3, 0, i, j, one)};
    assert_ok(huddle_dense_new(3, 1, &x.f));
    x.f.values[1] = 2;
    assert_ok(huddle_shrink_ends(NULL, &x.f, &x.w, NULL, "l21", &fit, &up));
    assert_true(isinf(fit) && up == 0);
    huddle_csr_free(&x.w);
    x.w = graph_of(3, 2, i, j, one);
    assert_ok(huddle_shrink_ends(NULL, &x.f, &x.w, NULL, "l21", &fit, &up));
    assert_close(fit, .5, 1e-12);
    assert_close(up, .5, 1e-9);
    huddle_csr_free(&x.w);
    x.w = graph_of(3, 2, i, j, tiny);
    assert_ok(huddle_shrink_ends(NULL, &x.f, &x.w, NULL, "l21", &fit, &up));
    assert_true(isinf(up));
    huddle_csr_free(&x.w);
    /* Equal rows on an edge: the edge gives no force. */
    x.w = graph_of(3, 2, i, j, one);
    x.f.values[1] = 0;
    x.f.values[2] = 5;
    assert_ok(huddle_shrink_ends(NULL, &x.f, &x.w, NULL, "l21", &fit, &up));
    assert_close(fit, 1, 1e-12);
    assert_refused(huddle_shrink_ends(NULL, &x.f, &x.w, NULL, "l3", &fit, &up), HUDDLE_INVALID,
                   "l3");
    example_free(&x);
}

/* ---- the path ------------------------------------------------------------------------------ */

static void the_path_runs_from_fit_to_collapse(void **state) {
    (void)state;
    for (int loss = 0; loss < 2; loss++) {
        example x = clouds(90, 3, 3, 4, false, 3);
        huddle_path_options o = huddle_path_defaults();
        huddle_path path;
        o.n_gamma = 12;
        o.shrink.loss = loss ? "l2" : "l21";
        o.shrink.n_clusters = 3;
        o.keep_shrunk = true;
        assert_ok(huddle_shrink_path(NULL, &x.f, &x.w, &o, &path));
        assert_int_equal(path.n_levels, 12);
        if (loss == 0)
            assert_int_equal(path.levels[0].n_groups, 90);
        assert_int_equal(path.levels[11].n_groups, 1);
        for (int32_t l = 0; l < 12; l++) {
            double objective, unused;
            assert_true(path.levels[l].gap <= 1e-4);
            assert_true(l == 0 || path.levels[l].gamma > path.levels[l - 1].gamma);
            assert_ok(huddle_shrink_certificate(NULL, &x.f, &x.w, NULL, path.levels[l].gamma,
                                                o.shrink.loss, &path.shrunk[l], NULL, &objective,
                                                &unused));
            assert_close(objective, path.levels[l].objective, 1e-12);
        }
        assert_int_equal(path.n_fusions, 89);
        assert_int_equal(path.fusions[88].size, 90);
        huddle_path_free(&path);
        example_free(&x);
    }
}

/* fused-at from its definition. */
static double fused_at(const huddle_path *path, int64_t i, int64_t j) {
    double gamma = INFINITY;
    for (int32_t l = path->n_levels - 1; l >= 0; l--) {
        if (path->groups[l * path->n + i] != path->groups[l * path->n + j])
            break;
        gamma = path->levels[l].gamma;
    }
    return gamma;
}

/* and from the tree: the first fusion that holds both. */
static double joined_at(const huddle_path *path, int64_t i, int64_t j) {
    int64_t tree[2] = {i, j};
    for (int64_t k = 0; k < path->n_fusions; k++) {
        for (int q = 0; q < 2; q++)
            if (path->fusions[k].a == tree[q] || path->fusions[k].b == tree[q])
                tree[q] = path->n + k;
        if (tree[0] == tree[1])
            return path->fusions[k].gamma;
    }
    return INFINITY;
}

static void the_tree_says_from_where_rows_stay_together(void **state) {
    (void)state;
    static const double gammas[] = {.2, .5, .8, 1.2, 2, 3, 5};
    example x = clouds(70, 2, 3, 3, true, 4);
    huddle_path_options o = huddle_path_defaults();
    huddle_path path;
    o.n_gamma = 7;
    o.gammas = gammas;
    assert_ok(huddle_shrink_path(NULL, &x.f, &x.w, &o, &path));
    assert_true(path.levels[2].gamma == .8);
    for (int64_t i = 0; i < 70; i++)
        for (int64_t j = 0; j < i; j++)
            assert_true(fused_at(&path, i, j) == joined_at(&path, i, j));
    huddle_path_free(&path);
    example_free(&x);
}

/* Groups that split again: made by hand. */
static void labels_come_from_the_coarsest_level_that_has_them(void **state) {
    (void)state;
    int32_t groups[3 * 8] = {0, 0, 0, 0, 1, 1, 1, 2, 0, 0, 0, 1,
                             2, 2, 3, 3, 0, 0, 0, 0, 0, 0, 0, 0};
    huddle_path_level levels[3] = {{.gamma = 1}, {.gamma = 2}, {.gamma = 3}};
    huddle_path path = {.n = 8, .n_levels = 3, .levels = levels, .groups = groups};
    double rows[] = {0, 0, 0, .4, 1, 1, 2, 2};
    huddle_dense x = {8, 1, 1, rows};
    int32_t labels[8];
    huddle_path_choice choice;
    assert_ok(huddle_path_labels(NULL, &path, &x, 3, labels, &choice));
    assert_int_equal(choice.level, 1);
    assert_true(choice.gamma == 2);
    static const int32_t three[] = {0, 0, 0, 0, 1, 1, 2, 2};
    assert_memory_equal(labels, three, sizeof three);
    assert_ok(huddle_path_labels(NULL, &path, &x, 2, labels, &choice));
    static const int32_t two[] = {0, 0, 0, 0, 1, 1, 1, 1};
    assert_int_equal(choice.level, 1);
    assert_memory_equal(labels, two, sizeof two);
    assert_ok(huddle_path_labels(NULL, &path, &x, 5, labels, &choice));
    assert_int_equal(choice.level, -1);
    assert_int_equal(choice.n_found, 3);
    assert_refused(huddle_path_labels(NULL, &path, &x, 9, labels, &choice), HUDDLE_INVALID,
                   "n_clusters = 9");
}

static void clusters_are_numbered_by_their_first_member(void **state) {
    (void)state;
    int32_t groups[8] = {0, 0, 1, 1, 2, 2, 2, 2};
    huddle_path_level level = {.gamma = 1};
    huddle_path path = {.n = 8, .n_levels = 1, .levels = &level, .groups = groups};
    double rows[] = {1, 1, 0, 0, 5, 5, 5, 5};
    huddle_dense x = {8, 1, 1, rows};
    int32_t labels[8];
    assert_ok(huddle_path_labels(NULL, &path, &x, 3, labels, NULL));
    assert_memory_equal(labels, groups, sizeof labels); /* the largest is not the first */
}

static void a_finer_level_with_more_groups_is_not_taken(void **state) {
    (void)state;
    int32_t groups[3 * 8] = {0, 0, 1, 1, 2, 2, 3, 3, 0, 0, 0, 0,
                             1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0};
    huddle_path_level levels[3] = {{.gamma = 1}, {.gamma = 2}, {.gamma = 3}};
    huddle_path path = {.n = 8, .n_levels = 3, .levels = levels, .groups = groups};
    double rows[] = {0, 0, 1, 1, 5, 5, 6, 6};
    huddle_dense x = {8, 1, 1, rows};
    int32_t labels[8];
    huddle_path_choice choice;
    assert_ok(huddle_path_labels(NULL, &path, &x, 2, labels, &choice));
    assert_int_equal(choice.level, 1);
    assert_int_equal(choice.n_found, 2);
    assert_memory_equal(labels, groups + 8, sizeof labels);
}

static void labels_of_clouds_are_the_clouds(void **state) {
    (void)state;
    example x = clouds(150, 3, 3, 5, false, 6);
    huddle_path_options o = huddle_path_defaults();
    huddle_path path;
    int32_t labels[150];
    huddle_path_choice choice;
    for (int64_t v = 0; v < 150; v++)
        x.f.values[3 * v + v % 3] += 20;
    assert_ok(huddle_shrink_path(NULL, &x.f, &x.w, &o, &path));
    assert_ok(huddle_path_labels(NULL, &path, &x.f, 3, labels, &choice));
    assert_true(choice.level >= 0);
    for (int64_t v = 0; v < 150; v++)
        assert_int_equal(labels[v], labels[v % 3]);
    huddle_path_free(&path);
    example_free(&x);
}

static void bad_grids_are_refused(void **state) {
    (void)state;
    static const double gammas[] = {1, 1};
    example x = clouds(10, 2, 2, 2, false, 1);
    huddle_path_options o = huddle_path_defaults();
    huddle_path path;
    o.n_gamma = 2;
    o.gammas = gammas;
    assert_refused(huddle_shrink_path(NULL, &x.f, &x.w, &o, &path), HUDDLE_INVALID, "ascend");
    example_free(&x);
}

static huddle_status path_once(void *argument) {
    const example *x = argument;
    huddle_path_options o = huddle_path_defaults();
    huddle_path path;
    int32_t labels[30];
    o.n_gamma = 3;
    o.keep_shrunk = true;
    huddle_status status = huddle_shrink_path(NULL, &x->f, &x->w, &o, &path);
    if (status == HUDDLE_OK)
        status = huddle_path_labels(NULL, &path, &x->f, 2, labels, NULL);
    huddle_path_free(&path);
    return status;
}

static void every_allocation_may_fail(void **state) {
    (void)state;
    example x = clouds(30, 2, 2, 3, false, 2);
    test_each_allocation(path_once, &x);
    example_free(&x);
}

/* ---- new points ---------------------------------------------------------------------------- */

static double point_cost(const example *x, const huddle_dense *f, const huddle_csr *w, int64_t row,
                         const double *g, double gamma, bool squared) {
    double cost = 0, sum = 0;
    for (int64_t k = 0; k < 2; k++)
        sum += pow(g[k] - f->values[2 * row + k], 2);
    cost = squared ? sum : sqrt(sum);
    for (int64_t e = w->offsets[row]; e < w->offsets[row + 1]; e++)
        cost +=
            gamma * w->values[e] *
            hypot(g[0] - x->f.values[2 * w->columns[e]], g[1] - x->f.values[2 * w->columns[e] + 1]);
    return cost;
}

static void new_points_are_optimal(void **state) {
    (void)state;
    example x = clouds(50, 2, 2, 2, false, 7);
    huddle_dense f, g;
    huddle_csr w;
    hd_rng rng = hd_rng_stream(5, 5);
    assert_ok(huddle_dense_new(40, 2, &f));
    assert_ok(huddle_dense_new(40, 2, &g));
    assert_ok(huddle_csr_new(40, 50, 200, &w));
    for (int64_t i = 0; i < 40; i++) {
        f.values[2 * i] = 6 * hd_rng_uniform(&rng);
        f.values[2 * i + 1] = 6 * hd_rng_uniform(&rng);
        w.offsets[i + 1] = 5 * (i + 1);
        for (int64_t k = 0; k < 5; k++) {
            w.columns[5 * i + k] = (int32_t)(10 * k + hd_rng_below(&rng, 10));
            w.values[5 * i + k] = hd_rng_uniform(&rng);
        }
    }
    static const double gammas[] = {0, .1, .5, 2, 1000};
    for (int setting = 0; setting < 10; setting++) {
        double gamma = gammas[setting / 2];
        bool squared = setting % 2 == 1;
        assert_ok(huddle_shrink_points(NULL, &f, &w, &x.f, gamma, squared ? "l2" : "l21", &g));
        for (int64_t i = 0; i < 40; i++) {
            double best = point_cost(&x, &f, &w, i, g.values + 2 * i, gamma, squared);
            for (int trial = 0; trial < 200; trial++) {
                double size = pow(10, -trial % 8), other[2];
                other[0] = g.values[2 * i] + size * hd_rng_normal(&rng);
                other[1] = g.values[2 * i + 1] + size * hd_rng_normal(&rng);
                assert_true(point_cost(&x, &f, &w, i, other, gamma, squared) >=
                            best * (1 - 1e-10) - 1e-14);
            }
            if (gamma == 0)
                assert_memory_equal(g.values + 2 * i, f.values + 2 * i, 2 * sizeof(double));
        }
    }
    w.values[3] = -1;
    assert_refused(huddle_shrink_points(NULL, &f, &w, &x.f, 1, "l21", &g), HUDDLE_INVALID,
                   "negative");
    huddle_csr_free(&w);
    huddle_dense_free(&g);
    huddle_dense_free(&f);
    example_free(&x);
}

/* ---- without acceleration ------------------------------------------------------------------- */

static void whole_steps_never_raise_the_smoothed_objective(void **state) {
    (void)state;
    for (int squared = 0; squared < 2; squared++)
        for (uint64_t seed = 0; seed < 4; seed++) {
            example x = clouds(80, 3, 3, 4, false, seed);
            hd_shrink_edges edges;
            hd_shrink_problem problem;
            hd_shrink_arrays arrays;
            hd_shrink_block *blocks;
            void *solver;
            assert_ok(hd_shrink_edges_read(NULL, &x.w, &edges));
            hd_shrink_input input = {
                .f = &x.f, .w = &x.w, .edges = &edges, .gamma = 2, .squared = squared};
            assert_ok(hd_shrink_problem_new(&input, true, 1e-9, &problem));
            assert_ok(hd_shrink_arrays_new(&problem, true, &arrays));
            assert_ok(hd_shrink_blocks_new(NULL, &problem, &arrays, "auto", 0, &blocks));
            assert_ok(hd_shrink_reweighted.open(&problem, &arrays, &solver));
            for (int64_t k = 0; k < problem.n_blocks; k++) {
                const double *smooth = &((hd_shrink_irls_state *)solver)->blocks[k].smooth;
                double before = INFINITY;
                assert_ok(hd_shrink_block_open_linear(&blocks[k]));
                blocks[k].progress.target = 1e-7 * blocks[k].point.primal;
                for (int step = 0; step < 100; step++) {
                    assert_ok(hd_shrink_reweighted.step(solver, &blocks[k]));
                    assert_true(*smooth <= before * (1 + 1e-12));
                    before = *smooth;
                }
            }
            hd_shrink_reweighted.close(solver);
            hd_shrink_blocks_free(blocks, problem.n_blocks);
            hd_shrink_arrays_free(&arrays);
            hd_shrink_problem_free(&problem);
            hd_shrink_edges_free(&edges);
            example_free(&x);
        }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(g_is_f_up_to_gamma_fit),
        cmocka_unit_test(components_are_points_beyond_gamma_up),
        cmocka_unit_test(a_clear_collapse_needs_no_linear_system),
        cmocka_unit_test(a_large_block_is_relaxed_before_it_is_factorised),
        cmocka_unit_test(ends_exist_in_strange_cases),
        cmocka_unit_test(the_path_runs_from_fit_to_collapse),
        cmocka_unit_test(the_tree_says_from_where_rows_stay_together),
        cmocka_unit_test(labels_come_from_the_coarsest_level_that_has_them),
        cmocka_unit_test(clusters_are_numbered_by_their_first_member),
        cmocka_unit_test(a_finer_level_with_more_groups_is_not_taken),
        cmocka_unit_test(labels_of_clouds_are_the_clouds),
        cmocka_unit_test(bad_grids_are_refused),
        cmocka_unit_test(every_allocation_may_fail),
        cmocka_unit_test(new_points_are_optimal),
        cmocka_unit_test(whole_steps_never_raise_the_smoothed_objective),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
