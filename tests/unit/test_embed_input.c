/* embed: bad input, row rules, cancelling; the same bits for any number of threads. */
#include "base/check.h"
#include "embed_graphs.h"

static int cancel_at_once(void *user, const char *stage, double done, double total) {
    assert_string_equal(stage, "embed");
    assert_true(done >= 0 && total > 0);
    ++*(int *)user;
    return 1;
}

static void cancelling_is_honoured(void **state) {
    (void)state;
    huddle_csr graph = path_graph(300);
    huddle_embed_options options = huddle_embed_defaults();
    huddle_embedding e;
    huddle_context *context;
    int calls = 0;
    options.tol = 1e-9;
    for (const char *const *solver = huddle_embed_solvers(); *solver != NULL; solver++) {
        assert_ok(huddle_context_new(&context));
        huddle_context_set_progress(context, cancel_at_once, &calls);
        options.embed_solver = *solver;
        assert_refused(huddle_embed(context, &graph, &options, &e, NULL), HUDDLE_CANCELLED,
                       "cancelled");
        assert_null(e.vectors.values);
        huddle_context_free(context);
    }
    assert_int_equal(calls, 3);
    huddle_csr_free(&graph);
}

static void threads_do_not_change_a_bit(void **state) {
    (void)state;
    huddle_csr graph = chain_of_clouds(1500, 6, 1e-2);
    huddle_embed_options options = huddle_embed_defaults();
    huddle_embedding alone, e;
    options.n_components = 40;
    options.embed_solver = "chebyshev";
    assert_ok(huddle_embed(NULL, &graph, &options, &alone, NULL));
    for (int32_t threads = 2; threads <= 5; threads += 3) {
        huddle_context *context;
        assert_ok(huddle_context_new(&context));
        assert_ok(huddle_context_set_threads(context, threads));
        assert_ok(huddle_embed(context, &graph, &options, &e, NULL));
        assert_memory_equal(e.vectors.values, alone.vectors.values, 1500 * 40 * sizeof(double));
        huddle_embedding_free(&e);
        huddle_context_free(context);
    }
    huddle_embedding_free(&alone);
    huddle_csr_free(&graph);
}

static void bad_graphs_are_refused(void **state) {
    (void)state;
    int64_t offsets[] = {0, 1, 2};
    int32_t columns[] = {1, 0};
    double values[] = {1, 1};
    huddle_csr graph = {2, 2, offsets, columns, values};
    huddle_embed_options options = huddle_embed_defaults();
    huddle_embedding e;
    options.n_components = 2;
    assert_ok(huddle_embed(NULL, &graph, &options, &e, NULL));
    huddle_embedding_free(&e);
    values[1] = 1.001;
    assert_refused(huddle_embed(NULL, &graph, &options, &e, NULL), HUDDLE_INVALID, "not symmetric");
    values[0] = values[1] = -1;
    assert_refused(huddle_embed(NULL, &graph, &options, &e, NULL), HUDDLE_INVALID, "negative");
    values[0] = values[1] = NAN;
    assert_refused(huddle_embed(NULL, &graph, &options, &e, NULL), HUDDLE_INVALID, "not a number");
    values[0] = values[1] = 1;
    graph.cols = 3;
    assert_refused(huddle_embed(NULL, &graph, &options, &e, NULL), HUDDLE_INVALID, "2 x 3");
    graph.cols = 2;
    columns[1] = 1;
    assert_refused(huddle_embed(NULL, &graph, &options, &e, NULL), HUDDLE_INVALID, "not symmetric");
    columns[1] = 0;
    options.n_components = 3;
    assert_refused(huddle_embed(NULL, &graph, &options, &e, NULL), HUDDLE_INVALID,
                   "n_components = 3 is more than the 2 vertices");
    options.n_components = 0;
    assert_refused(huddle_embed(NULL, &graph, &options, &e, NULL), HUDDLE_INVALID,
                   "n_components = 0");
    options = huddle_embed_defaults();
    options.embed_solver = "abacus";
    assert_refused(huddle_embed(NULL, &graph, &options, &e, NULL), HUDDLE_INVALID, "abacus");
    graph = (huddle_csr){0, 0, offsets, columns, values};
    assert_refused(huddle_embed(NULL, &graph, NULL, &e, NULL), HUDDLE_INVALID, "n_components");
}

static void edges_of_weight_zero_join_nothing(void **state) {
    (void)state;
    int64_t offsets[] = {0, 2, 3, 5, 6};
    int32_t columns[] = {1, 2, 0, 0, 3, 2};
    double values[] = {1, 0, 1, 0, 3, 3};
    huddle_csr graph = {4, 4, offsets, columns, values};
    huddle_embed_options options = huddle_embed_defaults();
    huddle_embed_info info;
    huddle_embedding e;
    options.n_components = 3;
    assert_ok(huddle_embed(NULL, &graph, &options, &e, &info));
    assert_int_equal(info.components, 2);
    assert_close(e.eigenvalues[2], 2, 1e-12);
    huddle_embedding_free(&e);
}

static void row_rules_do_what_they_say(void **state) {
    (void)state;
    double in[] = {3, 4, 7, 0, 0, 7, 1, -1, 7}, out[6], degrees[] = {4, 0, 1};
    huddle_dense v = {3, 3, 3, in}, f = {3, 2, 2, out};
    assert_ok(huddle_embed_rows(&v, NULL, "unit", &f));
    static const double unit[] = {.6, .8, 0, 0, .70710678118654752, -.70710678118654752};
    for (int i = 0; i < 6; i++)
        assert_close(out[i], unit[i], 1e-15);
    assert_ok(huddle_embed_rows(&v, NULL, "sym", &f));
    assert_true(out[0] == 3 && out[5] == -1);
    assert_ok(huddle_embed_rows(&v, degrees, "rw", &f));
    assert_true(out[0] == 1.5 && out[1] == 2 && out[2] == 0 && out[4] == 1);
    assert_refused(huddle_embed_rows(&v, NULL, "rw", &f), HUDDLE_INVALID, "degrees");
    assert_refused(huddle_embed_rows(&v, NULL, "odd", &f), HUDDLE_INVALID, "rows = odd");
    assert_refused(huddle_embed_rows(&v, NULL, "commute", &f), HUDDLE_INVALID, "eigenvalues");
    f.rows = 2;
    assert_refused(huddle_embed_rows(&v, NULL, "sym", &f), HUDDLE_INVALID, "2 x 2");
}

/* Of three columns the second eigenvalue sets the floor, of two the first. */
static void commute_rows_divide_by_roots_of_eigenvalues(void **state) {
    (void)state;
    double in[] = {3, 4, 5, 0, 0, 0, 1, -1, 2}, out[9];
    static const double lambda[] = {0, .4, .9};
    huddle_dense v = {3, 3, 3, in}, f = {3, 3, 3, out};
    assert_ok(huddle_embed_commute_rows(&v, lambda, &f));
    for (int i = 0; i < 3; i += 2) {
        double scaled[] = {in[3 * i] / .2, in[3 * i + 1] / sqrt(.4), in[3 * i + 2] / sqrt(.9)};
        double norm = sqrt(scaled[0] * scaled[0] + scaled[1] * scaled[1] + scaled[2] * scaled[2]);
        for (int k = 0; k < 3; k++)
            assert_close(out[3 * i + k], scaled[k] / norm, 1e-15);
    }
    assert_true(out[3] == 0 && out[4] == 0 && out[5] == 0);
    /* Two columns, in place: the floor is then .1 * 1e-4, above the second eigenvalue only. */
    static const double small[] = {1e-4, 1e-6};
    f = (huddle_dense){3, 2, 3, in};
    assert_ok(huddle_embed_commute_rows(&f, small, &f));
    assert_close(in[0] / in[1], 3. / 4 * sqrt(1e-5 / 1e-4), 1e-15);
    assert_true(in[2] == 5);
    f.cols = 4;
    assert_refused(huddle_embed_commute_rows(&v, lambda, &f), HUDDLE_INVALID, "3 x 4");
}

/* As many components as half of the columns, and more: rows are finite and point along the column
 * of their component. */
static void commute_rows_of_components_do_not_overflow(void **state) {
    (void)state;
    double in[] = {.6, 0, .5, .1, 0, .6, -.5, .1}, out[8];
    static const double some[] = {0, 0, .5, .7}, all[] = {0, 0, 0, 0};
    huddle_dense v = {2, 4, 4, in}, f = {2, 4, 4, out};
    assert_ok(huddle_embed_commute_rows(&v, some, &f));
    assert_close(out[0], 1, 1e-6);
    assert_close(out[5], 1, 1e-6);
    assert_close(out[2] / out[0], .5 / .6 * sqrt(1e-7 / .5), 1e-12);
    assert_ok(huddle_embed_commute_rows(&v, all, &f));
    for (int k = 0; k < 4; k++)
        assert_close(out[k], in[k] / sqrt(.62), 1e-15);
}

static void commute_rows_are_for_graphs(void **state) {
    (void)state;
    int64_t offsets[] = {0, 1, 2};
    int32_t columns[] = {1, 0};
    double values[] = {1, 1};
    huddle_csr matrix = {2, 2, offsets, columns, values};
    huddle_embed_options options = huddle_embed_defaults();
    huddle_embedding e;
    options.n_components = 1;
    options.rows = "commute";
    assert_refused(huddle_embed_symmetric(NULL, &matrix, -1, 1, &options, &e, NULL), HUDDLE_INVALID,
                   "rows = commute");
}

static huddle_status embed_once(void *argument) {
    const huddle_embed_options *options = argument;
    huddle_csr graph = {0};
    huddle_embedding e = {0};
    int64_t n = 120;
    huddle_status status = huddle_csr_new(n, n, 4 * n, &graph);
    for (int64_t i = 0, at = 0; i < n && status == HUDDLE_OK; i++) {
        for (int64_t j = 0; j < n; j++) {
            int64_t apart = (j - i + n) % n;
            if (apart == 1 || apart == n - 1 || apart == 17 || apart == n - 17) {
                graph.columns[at] = (int32_t)j;
                graph.values[at++] = 1;
            }
        }
        graph.offsets[i + 1] = at;
    }
    if (status == HUDDLE_OK)
        status = huddle_embed(NULL, &graph, options, &e, NULL);
    huddle_embedding_free(&e);
    huddle_csr_free(&graph);
    return status;
}

static void every_allocation_may_fail(void **state) {
    (void)state;
    huddle_embed_options options = huddle_embed_defaults();
    for (const char *const *solver = huddle_embed_solvers(); *solver != NULL; solver++) {
        options.embed_solver = *solver;
        options.n_components = 5;
        options.tol = 1e-4;
        test_each_allocation(embed_once, &options);
        options.n_components = 1;
        test_each_allocation(embed_once, &options);
    }
    options.embed_solver = "chebyshev";
    options.n_components = 5;
    options.tol = 1e-9;
    options.rows = "commute";
    test_each_allocation(embed_once, &options);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cancelling_is_honoured),
        cmocka_unit_test(threads_do_not_change_a_bit),
        cmocka_unit_test(bad_graphs_are_refused),
        cmocka_unit_test(edges_of_weight_zero_join_nothing),
        cmocka_unit_test(row_rules_do_what_they_say),
        cmocka_unit_test(commute_rows_divide_by_roots_of_eigenvalues),
        cmocka_unit_test(commute_rows_of_components_do_not_overflow),
        cmocka_unit_test(commute_rows_are_for_graphs),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
