/* graph: what holds for every neighbour search: the same bits for any number of threads and any
 * instruction set, golden lists, refusals, cancelling, failing allocations. */
#include "unit/graph_brute.h"

#include <stdio.h>

static void threads_and_instruction_sets_agree(void **state) {
    (void)state;
    static const char *const isas[] = {"base", "avx2", "avx512"};
    for (int64_t d = 6; d <= 70; d += 64)
        for (int s = 1; s < N_SOLVERS; s++) {
            huddle_points x = clustered_points(1300, d, 5, 1);
            huddle_knn_options options = huddle_knn_defaults();
            huddle_neighbors first, again;
            options.knn_solver = solvers[s];
            setenv("HUDDLE_ISA", "base", 1);
            assert_ok(huddle_graph_knn(NULL, &x, &options, &first, NULL));
            for (int32_t t = 0; t < 3; t++) {
                huddle_context *context;
                assert_ok(huddle_context_new(&context));
                assert_ok(huddle_context_set_threads(context, 1 + 2 * t));
                setenv("HUDDLE_ISA", isas[t], 1);
                options.seed = (uint64_t)t;
                assert_ok(huddle_graph_knn(context, &x, &options, &again, NULL));
                assert_memory_equal(first.index, again.index,
                                    (size_t)(x.n * 5) * sizeof *again.index);
                for (int64_t e = 0; e < x.n * 5; e++)
                    assert_close(again.distance[e], first.distance[e], 1e-14);
                huddle_neighbors_free(&again);
                assert_ok(huddle_context_set_threads(context, 4 - t));
                huddle_neighbors more;
                assert_ok(huddle_graph_knn(context, &x, &options, &again, NULL));
                assert_ok(huddle_graph_knn(context, &x, &options, &more, NULL));
                assert_memory_equal(more.distance, again.distance,
                                    (size_t)(x.n * 5) * sizeof *again.distance);
                huddle_neighbors_free(&again);
                huddle_neighbors_free(&more);
                huddle_context_free(context);
            }
            unsetenv("HUDDLE_ISA");
            huddle_neighbors_free(&first);
            huddle_points_free(&x);
        }
}

static void matches_scikit_learn(void **state) {
    (void)state;
    int64_t count;
    double *golden = test_golden("graph_knn.txt", &count);
    int64_t n = (int64_t)golden[0], d = (int64_t)golden[1], k = (int64_t)golden[2];
    const double *at = golden + 3 + n * d;
    huddle_points x;
    assert_int_equal(count, 3 + n * d + 4 * n * k);
    assert_ok(huddle_points_from_double(NULL, n, d, golden + 3, d, 1, &x));
    for (int metric = 0; metric < 2; metric++) {
        huddle_knn_options options = huddle_knn_defaults();
        huddle_neighbors out;
        options.n_neighbors = (int32_t)k;
        options.metric = metric ? "cosine" : "euclidean";
        assert_ok(huddle_graph_knn(NULL, &x, &options, &out, NULL));
        for (int64_t e = 0; e < n * k; e++) {
            assert_int_equal(out.index[e], (int32_t)at[e]);
            assert_close(out.distance[e], at[n * k + e], 1e-6);
        }
        at += 2 * n * k;
        huddle_neighbors_free(&out);
    }
    huddle_points_free(&x);
    free(golden);
}

static void bad_input_is_named(void **state) {
    (void)state;
    huddle_points x = normal_points(20, 4, 0), y = normal_points(5, 3, 0);
    huddle_points s = sparse_points(20, 4, 0);
    huddle_dense f = {.rows = 2, .cols = 2, .stride = 2, .values = (double[]){0, 1, INFINITY, 2}};
    huddle_knn_options options = huddle_knn_defaults();
    huddle_neighbors out;
    options.n_neighbors = 0;
    assert_refused(huddle_graph_knn(NULL, &x, &options, &out, NULL), HUDDLE_INVALID,
                   "n_neighbors = 0");
    options.n_neighbors = 5;
    options.metric = "manhattan";
    assert_refused(huddle_graph_knn(NULL, &x, &options, &out, NULL), HUDDLE_INVALID,
                   "metric = manhattan");
    options.metric = "cosine";
    options.knn_solver = "magic";
    assert_refused(huddle_graph_knn(NULL, &x, &options, &out, NULL), HUDDLE_INVALID,
                   "knn_solver = magic");
    x.values[6] = NAN;
    assert_refused(huddle_graph_knn(NULL, &x, NULL, &out, NULL), HUDDLE_INVALID,
                   "row 2, column 3: the value is not a number");
    x.values[6] = 0;
    assert_refused(huddle_graph_query(NULL, &x, &y, NULL, &out, NULL), HUDDLE_INVALID,
                   "the new points have 3 features, the training points 4");
    assert_refused(huddle_graph_query(NULL, &x, &s, NULL, &out, NULL), HUDDLE_INVALID,
                   "both dense or both sparse");
    assert_refused(huddle_graph_knn_dense(NULL, &f, NULL, &out, NULL), HUDDLE_INVALID,
                   "row 2, column 1: the value is infinite");
    huddle_points_free(&x);
    huddle_points_free(&y);
    huddle_points_free(&s);
}

static int cancel_at_once(void *user, const char *stage, double done, double total) {
    (void)user, (void)done, (void)total;
    assert_string_equal(stage, "graph");
    return 1;
}

static void searches_can_be_cancelled(void **state) {
    (void)state;
    huddle_points x = normal_points(1500, 60, 0);
    for (int s = 1; s < N_SOLVERS; s++) {
        huddle_context *context;
        huddle_knn_options options = huddle_knn_defaults();
        huddle_neighbors out;
        options.knn_solver = solvers[s];
        assert_ok(huddle_context_new(&context));
        huddle_context_set_progress(context, cancel_at_once, NULL);
        assert_refused(huddle_graph_knn(context, &x, &options, &out, NULL), HUDDLE_CANCELLED,
                       "cancelled");
        huddle_context_free(context);
    }
    huddle_points_free(&x);
}

typedef struct attempt {
    huddle_points *x;
    huddle_dense *f;
    const char *solver, *metric;
} attempt;

static huddle_status try_all(void *argument) {
    const attempt *a = argument;
    huddle_knn_options options = huddle_knn_defaults();
    huddle_neighbors out;
    options.knn_solver = a->solver;
    options.metric = a->metric;
    huddle_status status = huddle_graph_knn(NULL, a->x, &options, &out, NULL);
    huddle_neighbors_free(&out);
    if (status == HUDDLE_OK) {
        status = huddle_graph_query(NULL, a->x, a->x, &options, &out, NULL);
        huddle_neighbors_free(&out);
    }
    if (status == HUDDLE_OK) {
        status = huddle_graph_knn_dense(NULL, a->f, &options, &out, NULL);
        huddle_neighbors_free(&out);
    }
    return status;
}

static void every_allocation_may_fail(void **state) {
    (void)state;
    huddle_points dense = normal_points(120, 30, 0), few = sparse_points(50, 20, 1);
    huddle_dense f;
    assert_ok(huddle_dense_new(120, 3, &f));
    for (int64_t e = 0; e < 360; e++)
        f.values[e] = (double)(e * e % 31);
    for (int s = 1; s < N_SOLVERS; s++)
        for (int cosine = 0; cosine < 2; cosine++)
            test_each_allocation(
                try_all, &(attempt){&dense, &f, solvers[s], cosine ? "cosine" : "euclidean"});
    test_each_allocation(try_all, &(attempt){&few, &f, "auto", "cosine"});
    huddle_dense_free(&f);
    huddle_points_free(&dense);
    huddle_points_free(&few);
}

/* The choices of the option are "auto" and the solvers, in the same order: the exact ones, of which
 * the others here are tested, and "approximate". */
static void the_option_offers_every_solver(void **state) {
    (void)state;
    const char *const *choices = huddle_knn_options_table()[0].choices;
    const char *const *names = huddle_graph_knn_solvers();
    int exact = 0;
    assert_string_equal(choices[0], "auto");
    for (int s = 0; s < N_SOLVERS; s++) {
        assert_string_equal(choices[s + 1], names[s]);
        if (strcmp(names[s], "approximate") != 0)
            assert_string_equal(names[s], solvers[++exact]);
    }
    assert_int_equal(exact, N_SOLVERS - 1);
    assert_true(names[N_SOLVERS] == NULL && choices[N_SOLVERS + 1] == NULL);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(threads_and_instruction_sets_agree),
        cmocka_unit_test(matches_scikit_learn),
        cmocka_unit_test(the_option_offers_every_solver),
        cmocka_unit_test(bad_input_is_named),
        cmocka_unit_test(searches_can_be_cancelled),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
