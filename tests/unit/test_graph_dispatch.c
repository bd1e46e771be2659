/* graph: which solver "auto" chooses, by predicted costs, and what happens where the one that was
 * asked for does not apply. */
#include "unit/graph_brute.h"

#include "graph/search.h"

/* Runs a search of points among themselves with that limit; returns the name of the solver. */
static const char *run_within(const hd_graph_rows *rows, const char *name, int32_t k, double limit,
                              double recall) {
    const char *used = NULL;
    hd_graph_search s = {.train = rows, .query = rows, .self = true, .k = k};
    s.cost_limit = limit;
    s.recall_target = recall;
    s.index = malloc((size_t)(rows->n * k) * sizeof *s.index);
    s.distance2 = malloc((size_t)(rows->n * k) * sizeof *s.distance2);
    assert_ok(hd_graph_search_run(NULL, name, &s, &used));
    assert_true((s.recall.low == 1) == (strcmp(used, "approximate") != 0));
    free(s.index);
    free(s.distance2);
    return used;
}

static bool is_exact(const char *name) {
    return strcmp(name, "approximate") != 0;
}

/* From 40,000 points on, an approximate search is predicted to be faster than brute force. */
static void the_cost_decides(void **state) {
    (void)state;
    huddle_points x = clustered_points(41000, 3, 40, 1), small = clustered_points(3000, 3, 40, 1);
    hd_graph_rows rows = hd_graph_rows_of_points(&x), few = hd_graph_rows_of_points(&small);
    assert_true(is_exact(run_within(&rows, "auto", 2, INFINITY, 0.5)));
    assert_true(is_exact(run_within(&rows, "auto", 2, 1e12, 0.5)));
    assert_string_equal(run_within(&rows, "auto", 2, 1e3, 0.5), "approximate");
    assert_true(is_exact(run_within(&few, "auto", 2, 1e3, 0.5)));
    /* No limit for exact targets, nor for exact solvers that were chosen by name. */
    assert_true(is_exact(run_within(&rows, "auto", 2, 1e3, 1)));
    assert_true(is_exact(run_within(&rows, "approximate", 2, 1e3, 1)));
    assert_string_equal(run_within(&rows, "kdtree", 2, 1e3, 0.5), "kdtree");
    assert_string_equal(run_within(&few, "brute", 2, 1e3, 0.5), "brute");
    assert_string_equal(run_within(&few, "approximate", 2, 1e3, 0.5), "approximate");
    /* Lists of a third of the points. */
    assert_string_equal(run_within(&few, "approximate", 1000, 1e3, 0.5), "brute");
    huddle_points_free(&x);
    huddle_points_free(&small);
}

/* Runs one solver on its own; returns whether it gave up, and how many distances it computed. */
static bool gives_up(huddle_status (*run)(huddle_context *, hd_graph_search *, bool *),
                     const hd_graph_rows *rows, double limit, int64_t *n_distances) {
    bool gave_up = false;
    hd_graph_search s = {.train = rows, .query = rows, .self = true, .k = 5, .cost_limit = limit};
    s.index = malloc((size_t)(rows->n * 5) * sizeof *s.index);
    s.distance2 = malloc((size_t)(rows->n * 5) * sizeof *s.distance2);
    assert_ok(run(NULL, &s, &gave_up));
    *n_distances = (int64_t)atomic_load(&s.n_distances);
    free(s.index);
    free(s.distance2);
    return gave_up;
}

/* Points on lines between 50 centres, with a little noise: a projection shows nearly all. */
static huddle_points line_points(int64_t n, int64_t d) {
    huddle_points x, centres = normal_points(50, d, 6);
    hd_rng rng = hd_rng_stream(7, 0);
    assert_ok(huddle_points_new(n, d, &x));
    for (int64_t i = 0; i < n; i++) {
        const float *a = centres.values + hd_rng_below(&rng, 50) * d;
        const float *b = centres.values + hd_rng_below(&rng, 50) * d;
        double t = hd_rng_uniform(&rng);
        for (int64_t j = 0; j < d; j++)
            x.values[i * d + j] =
                (float)(t * (double)a[j] + (1 - t) * (double)b[j] + 0.1 * hd_rng_uniform(&rng));
    }
    huddle_points_free(&centres);
    return x;
}

/* The bound compares 32 coordinates of each pair here, and the length of the rest; the full
 * distances come on top. */
static void the_bound_predicts_its_cost(void **state) {
    (void)state;
    huddle_points x = line_points(4000, 64);
    hd_graph_rows rows = hd_graph_rows_of_points(&x);
    double pairs = 4000.0 * 4000 / 2, tiles = pairs * 33;
    int64_t all, some;
    assert_false(gives_up(hd_graph_search_pcabound, &rows, INFINITY, &all));
    assert_true(gives_up(hd_graph_search_pcabound, &rows, 0.99 * tiles, &some));
    assert_int_equal(some, 0);
    double whole = tiles + 30.0 * 64 * (double)(all + 4000 * 100);
    assert_true(gives_up(hd_graph_search_pcabound, &rows, 1.01 * tiles, &some));
    assert_true(some > 0 && some < all);
    assert_false(gives_up(hd_graph_search_pcabound, &rows, 20 * whole, &some));
    assert_int_equal(some, all);
    huddle_points_free(&x);
}

/* A query of the tree needs some hundred distances, each about as long as 32 of brute force. */
static void the_tree_predicts_its_cost(void **state) {
    (void)state;
    huddle_points x = clustered_points(30000, 4, 10, 1);
    hd_graph_rows rows = hd_graph_rows_of_points(&x);
    int64_t all, some;
    assert_false(gives_up(hd_graph_search_kdtree, &rows, INFINITY, &all));
    double cost = 32.0 * 4 * ((double)all + 30000 * 128);
    assert_true(gives_up(hd_graph_search_kdtree, &rows, 0.5 * cost, &some));
    assert_true(some < all / 100);
    assert_false(gives_up(hd_graph_search_kdtree, &rows, 2 * cost, &some));
    huddle_points_free(&x);
}

/* Rows of doubles, new points and sparse points are searched exactly. */
static void other_rows_are_searched_exactly(void **state) {
    (void)state;
    huddle_points x = normal_points(3000, 10, 1), y = normal_points(300, 10, 2);
    huddle_points sparse = sparse_points(300, 20, 1);
    huddle_dense f;
    huddle_neighbors out;
    huddle_knn_info info;
    huddle_knn_options options = huddle_knn_defaults();
    options.knn_solver = "approximate";
    assert_ok(huddle_dense_new(3000, 3, &f));
    for (int64_t e = 0; e < 9000; e++)
        f.values[e] = (double)(e * e % 3001);
    assert_ok(huddle_graph_query(NULL, &x, &y, &options, &out, &info));
    assert_true(is_exact(info.solver) && info.recall_low == 1);
    check_lists(&x, &y, false, false, &out);
    huddle_neighbors_free(&out);
    assert_ok(huddle_graph_knn_dense(NULL, &f, &options, &out, &info));
    assert_true(is_exact(info.solver) && info.recall_low == 1);
    huddle_neighbors_free(&out);
    assert_ok(huddle_graph_knn(NULL, &sparse, &options, &out, &info));
    assert_string_equal(info.solver, "sparse");
    assert_true(info.recall == 1 && info.recall_low == 1 && info.recall_high == 1);
    huddle_neighbors_free(&out);
    huddle_dense_free(&f);
    huddle_points_free(&x);
    huddle_points_free(&y);
    huddle_points_free(&sparse);
}

/* The points of a cubic grid: with k = 5, the sixth neighbour of an inner point is as near. */
static huddle_points grid_points(int64_t side) {
    huddle_points x;
    assert_ok(huddle_points_new(side * side * side, 3, &x));
    for (int64_t i = 0; i < x.n; i++) {
        x.values[3 * i] = (float)(i % side);
        x.values[3 * i + 1] = (float)(i / side % side);
        x.values[3 * i + 2] = (float)(i / side / side);
    }
    return x;
}

/* Nearly all lists have ties, so that the second search is approximate too. */
static void ties_of_approximate_lists_are_found(void **state) {
    (void)state;
    huddle_points x = grid_points(16);
    huddle_knn_options options = huddle_knn_defaults();
    huddle_neighbors out, exact;
    huddle_knn_info info;
    int64_t equal = 0;
    assert_ok(huddle_graph_knn_ties(NULL, &x, &options, &exact, &info));
    options.knn_solver = "approximate";
    assert_ok(huddle_graph_knn_ties(NULL, &x, &options, &out, &info));
    assert_string_equal(info.solver, "approximate");
    assert_int_equal(out.n, x.n);
    assert_int_equal(out.k, exact.k);
    for (int64_t i = 0; i < x.n; i++) {
        bool same = memcmp(out.index + i * out.k, exact.index + i * out.k,
                           (size_t)out.k * sizeof *out.index) == 0;
        equal += same;
        for (int32_t c = 0; c < out.k && same; c++)
            assert_true(out.distance[i * out.k + c] == exact.distance[i * out.k + c]);
    }
    assert_true(equal >= x.n * 99 / 100);
    huddle_neighbors_free(&out);
    huddle_neighbors_free(&exact);
    huddle_points_free(&x);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_cost_decides),
        cmocka_unit_test(the_bound_predicts_its_cost),
        cmocka_unit_test(the_tree_predicts_its_cost),
        cmocka_unit_test(other_rows_are_searched_exactly),
        cmocka_unit_test(ties_of_approximate_lists_are_found),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
