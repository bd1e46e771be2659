/* kmeans: answers. Golden runs of scikit-learn from the same centres, labels against a plain
 * search in double, and the shapes of data that break careless code. */
#include "kmeans_points.h"

/* ---- scikit-learn ---------------------------------------------------------------------------- */

typedef struct golden {
    huddle_points x;
    huddle_dense start, centres;
    double *weights;
    const double *labels;
    huddle_kmeans_options options;
    int32_t n_iter;
    double inertia;
} golden;

/* Reads the next case; returns what follows it. */
static double *read_case(double *at, golden *g) {
    int64_t n = (int64_t)at[0], d = (int64_t)at[1], c = (int64_t)at[2];
    bool weighted = at[3] != 0;
    g->options = with_clusters((int32_t)c);
    g->options.max_iter = (int32_t)at[4];
    g->options.tol = at[5];
    at += 6;
    assert_ok(huddle_points_new(n, d, &g->x));
    for (int64_t i = 0; i < n * d; i++)
        g->x.values[i] = (float)*at++;
    g->weights = weighted ? at : NULL;
    at += weighted ? n : 0;
    g->start = (huddle_dense){c, d, d, at};
    at += c * d;
    g->n_iter = (int32_t)*at++;
    g->inertia = *at++;
    g->labels = at;
    at += n;
    g->centres = (huddle_dense){c, d, d, at};
    return at + c * d;
}

static void compare_with_golden(const golden *g, const huddle_points *x) {
    huddle_kmeans_options options = g->options;
    huddle_kmeans_result result;
    huddle_kmeans_info info;
    options.start = &g->start;
    assert_ok(huddle_kmeans(NULL, x, g->weights, &options, &result, &info));
    assert_int_equal(info.n_restarts, 1);
    assert_int_equal(info.n_iter, g->n_iter);
    assert_close(info.inertia, g->inertia, 1e-9);
    for (int64_t i = 0; i < x->n; i++)
        assert_int_equal(result.labels[i], (int32_t)g->labels[i]);
    for (int64_t e = 0; e < g->centres.rows * x->d; e++)
        assert_close(result.centres.values[e], g->centres.values[e], 1e-9);
    huddle_kmeans_info_free(&info);
    huddle_kmeans_result_free(&result);
}

static void agrees_with_scikit_learn(void **state) {
    (void)state;
    int64_t count;
    double *numbers = test_golden("kmeans.txt", &count), *at = numbers;
    int cases = 0;
    for (golden g; at < numbers + count; cases++) {
        at = read_case(at, &g);
        huddle_points sparse = to_sparse(&g.x);
        compare_with_golden(&g, &g.x);
        compare_with_golden(&g, &sparse);
        huddle_points_free(&sparse);
        huddle_points_free(&g.x);
    }
    assert_int_equal(cases, 16);
    free(numbers);
}

/* ---- any data -------------------------------------------------------------------------------- */

static void labels_are_the_nearest_centres(void **state) {
    (void)state;
    static const struct {
        int64_t n, d;
        int32_t c;
    } sizes[] = {{1, 1, 1},     {2, 1, 2},      {33, 3, 5},   {700, 2, 13},   {3000, 5, 40},
                 {500, 31, 17}, {260, 130, 33}, {90, 300, 9}, {1500, 40, 100}};
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
        huddle_points x = make_groups(sizes[s].n, sizes[s].d, 7, 1.5, s);
        huddle_kmeans_options options = with_clusters(sizes[s].c);
        options.n_init = 3;
        check_run(&x, NULL, &options, NULL);
        options.init = "sample";
        options.max_iter = 2;
        check_run(&x, NULL, &options, NULL);
        huddle_points_free(&x);
    }
}

static void groups_are_found(void **state) {
    (void)state;
    for (int sparse = 0; sparse < 2; sparse++)
        for (int sample = 0; sample < 2; sample++) {
            huddle_points x = make_groups(900, 6, 9, 30, 5), y = to_sparse(&x);
            huddle_kmeans_options options = with_clusters(9);
            huddle_kmeans_result result;
            options.init = sample ? "sample" : "k-means++";
            options.n_init = sample ? 100 : 5;
            assert_ok(huddle_kmeans(NULL, sparse ? &y : &x, NULL, &options, &result, NULL));
            for (int64_t i = 9; i < x.n; i++)
                assert_int_equal(result.labels[i], result.labels[i % 9]);
            huddle_kmeans_result_free(&result);
            huddle_points_free(&x);
            huddle_points_free(&y);
        }
}

static void weights_stand_for_repeated_rows(void **state) {
    (void)state;
    enum { N = 120, D = 3, C = 6 };
    huddle_points x = make_groups(N, D, 4, 2, 11), y;
    double weights[N];
    int64_t index[4 * N], count = 0;
    for (int64_t i = 0; i < N; i++) {
        weights[i] = (double)(1 + i % 4);
        for (int64_t r = 0; r <= i % 4; r++)
            index[count++] = i;
    }
    assert_ok(huddle_points_take(&x, index, count, &y));
    double values[C * D];
    for (int e = 0; e < C * D; e++)
        values[e] = (double)x.values[e];
    huddle_dense start = {C, D, D, values};
    huddle_kmeans_options options = with_clusters(C);
    options.start = &start;
    options.tol = 0;
    huddle_kmeans_result a, b;
    huddle_kmeans_info info_a, info_b;
    assert_ok(huddle_kmeans(NULL, &x, weights, &options, &a, &info_a));
    assert_ok(huddle_kmeans(NULL, &y, NULL, &options, &b, &info_b));
    assert_int_equal(info_a.n_iter, info_b.n_iter);
    assert_close(info_a.inertia, info_b.inertia, 1e-12);
    for (int64_t e = 0; e < count; e++)
        assert_int_equal(a.labels[index[e]], b.labels[e]);
    huddle_kmeans_info_free(&info_a);
    huddle_kmeans_info_free(&info_b);
    huddle_kmeans_result_free(&a);
    huddle_kmeans_result_free(&b);
    huddle_points_free(&x);
    huddle_points_free(&y);
}

static void a_heavy_row_draws_its_centre(void **state) {
    (void)state;
    huddle_points x = make_groups(50, 2, 1, 1, 3);
    double weights[50];
    for (int i = 0; i < 50; i++)
        weights[i] = i == 17 ? 1e9 : 1;
    huddle_kmeans_options options = with_clusters(1);
    huddle_kmeans_result result;
    assert_ok(huddle_kmeans(NULL, &x, weights, &options, &result, NULL));
    assert_close(result.centres.values[0], (double)x.values[34], 1e-6);
    huddle_kmeans_result_free(&result);
    huddle_points_free(&x);
}

/* ---- assignment ------------------------------------------------------------------------------ */

static void ties_go_to_the_smaller_index(void **state) {
    (void)state;
    float values[] = {0, 0, 1, 0, 2, 0, 3, 0, 4, 0};
    double centres[] = {4, 0, 0, 0, 4, 0, 0, 0};
    static const int32_t expected[] = {1, 1, 0, 0, 0};
    int32_t labels[5];
    huddle_points x = {.n = 5, .d = 2, .stride = 2, .values = values};
    huddle_dense m = {4, 2, 2, centres};
    assert_ok(huddle_kmeans_assign(NULL, &x, &m, labels));
    assert_memory_equal(labels, expected, sizeof labels);
    huddle_points y = to_sparse(&x);
    assert_ok(huddle_kmeans_assign(NULL, &y, &m, labels));
    assert_memory_equal(labels, expected, sizeof labels);
    huddle_points_free(&y);
}

/* Centres a millionth apart, far from the points' mean: float cannot tell, the answer must. */
static void close_calls_are_decided_in_double(void **state) {
    (void)state;
    enum { N = 500, D = 20 };
    huddle_points x = make_groups(N, D, 3, 5, 12);
    double centres[3 * D];
    for (int e = 0; e < 3 * D; e++)
        centres[e] = 40 + (e % 7) * 1e-6 + (e / D) * 1e-7;
    huddle_dense m = {3, D, D, centres};
    int32_t labels[N];
    assert_ok(huddle_kmeans_assign(NULL, &x, &m, labels));
    check_nearest(&x, &m, labels);
    huddle_points_free(&x);
}

/* ---- refusals -------------------------------------------------------------------------------- */

static void misfits_are_refused(void **state) {
    (void)state;
    huddle_points x = make_groups(10, 2, 2, 1, 1);
    huddle_kmeans_result result;
    huddle_kmeans_options good = with_clusters(3), o;
    double weights[10] = {1, 1, 1, 0, 1, 1, 1, 1, 1, 1}, values[6] = {0};
    huddle_dense start = {3, 2, 2, values};
    int32_t labels[10];
#define REFUSED(change, part)                                                                      \
    o = good;                                                                                      \
    o.change;                                                                                      \
    assert_refused(huddle_kmeans(NULL, &x, NULL, &o, &result, NULL), HUDDLE_INVALID, part);        \
    assert_null(result.labels)
    REFUSED(n_clusters = 11, "n_clusters = 11 is outside [1, 10]");
    REFUSED(n_clusters = 0, "n_clusters = 0");
    REFUSED(n_init = 0, "n_init = 0");
    REFUSED(max_iter = 0, "max_iter = 0");
    REFUSED(tol = -1, "tol = -1");
    REFUSED(tol = NAN, "tol = nan");
    REFUSED(init = "random", "init = random: expected one of k-means++|sample");
    start.rows = 2;
    REFUSED(start = &start, "2 starting centres for n_clusters = 3");
    start = (huddle_dense){3, 1, 1, values};
    REFUSED(start = &start, "centres of 3 x 1 do not fit points of 2 features");
    start = (huddle_dense){3, 2, 2, values};
    values[3] = INFINITY;
    REFUSED(start = &start, "centre 2, column 2: inf");
    assert_refused(huddle_kmeans_assign(NULL, &x, &start, labels), HUDDLE_INVALID, "centre 2");
    assert_refused(huddle_kmeans(NULL, &x, weights, &good, &result, NULL), HUDDLE_INVALID,
                   "the weight of row 4 is 0");
    x.values[3] = NAN;
    assert_refused(huddle_kmeans(NULL, &x, NULL, &good, &result, NULL), HUDDLE_INVALID,
                   "row 2, column 2: the value is not a number");
    huddle_points_free(&x);
}

static void defaults_come_from_the_table(void **state) {
    (void)state;
    huddle_kmeans_options o = huddle_kmeans_defaults();
    assert_true(o.n_clusters == 8 && o.n_init == 50 && o.max_iter == 300 && o.tol == 1e-4);
    assert_string_equal(o.init, "k-means++");
    assert_true(o.seed == 0 && o.start == NULL);
    assert_ok(huddle_options_set(huddle_kmeans_options_table(), &o, "init", "sample"));
    assert_string_equal(o.init, "sample");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(agrees_with_scikit_learn),
        cmocka_unit_test(labels_are_the_nearest_centres),
        cmocka_unit_test(groups_are_found),
        cmocka_unit_test(weights_stand_for_repeated_rows),
        cmocka_unit_test(a_heavy_row_draws_its_centre),
        cmocka_unit_test(ties_go_to_the_smaller_index),
        cmocka_unit_test(close_calls_are_decided_in_double),
        cmocka_unit_test(misfits_are_refused),
        cmocka_unit_test(defaults_come_from_the_table),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
