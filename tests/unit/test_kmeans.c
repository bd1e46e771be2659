/* kmeans: answers. Golden runs of scikit-learn from the same centres, labels against a plain
 * search in double, and the shapes of data that break careless code. */
#include "base/context.h"
#include "base/rng.h"
#include "huddle/kmeans.h"
#include "kmeans/restart.h"
#include "support/support.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- helpers ------------------------------------------------------------------------------- */

/* groups well apart: row i belongs to group i % groups. */
static huddle_points make_groups(int64_t n, int64_t d, int groups, double apart, uint64_t seed) {
    huddle_points x;
    assert_ok(huddle_points_new(n, d, &x));
    for (int64_t i = 0; i < n; i++) {
        hd_rng centre = hd_rng_stream(seed, (uint64_t)(i % groups));
        hd_rng noise = hd_rng_stream(seed + 1, (uint64_t)i);
        for (int64_t j = 0; j < d; j++)
            x.values[i * d + j] = (float)(apart * hd_rng_normal(&centre) + hd_rng_normal(&noise));
    }
    return x;
}

static double plain_distance(const huddle_points *x, int64_t i, const double *centre) {
    double sum = 0;
    for (int64_t j = 0; j < x->d; j++) {
        double t =
            (double)x->values[i * x->stride + j] + (x->shift != NULL ? x->shift[j] : 0) - centre[j];
        sum += t * t;
    }
    return sum;
}

/* Labels must be those of a plain search; a hair's breadth of rounding is allowed. */
static void check_nearest(const huddle_points *x, const huddle_dense *centres,
                          const int32_t *labels) {
    for (int64_t i = 0; i < x->n; i++) {
        double own = plain_distance(x, i, centres->values + labels[i] * centres->stride);
        for (int64_t k = 0; k < centres->rows; k++) {
            double other = plain_distance(x, i, centres->values + k * centres->stride);
            assert_true(own <= other * (1 + 1e-12) + 1e-300);
            if (other == own)
                assert_true(labels[i] <= k);
        }
    }
}

static double plain_inertia(const huddle_points *x, const double *weights,
                            const huddle_kmeans_result *result) {
    double sum = 0;
    for (int64_t i = 0; i < x->n; i++)
        sum += (weights != NULL ? weights[i] : 1) *
               plain_distance(x, i,
                              result->centres.values + result->labels[i] * result->centres.stride);
    return sum;
}

/* The same points as sparse rows. */
static huddle_points to_sparse(const huddle_points *x) {
    huddle_points y;
    assert_ok(huddle_points_new_sparse(x->n, x->d, x->n * x->d, &y));
    int64_t e = 0;
    for (int64_t i = 0; i < x->n; i++) {
        for (int64_t j = 0; j < x->d; j++)
            if (x->values[i * x->stride + j] != 0) {
                y.columns[e] = (int32_t)j;
                y.values[e++] = x->values[i * x->stride + j];
            }
        y.offsets[i + 1] = e;
    }
    return y;
}

static huddle_kmeans_options with_clusters(int32_t c) {
    huddle_kmeans_options options = huddle_kmeans_defaults();
    options.n_clusters = c;
    options.n_init = 10;
    return options;
}

/* Runs and checks what must hold of every answer. */
static void check_run(const huddle_points *x, const double *weights,
                      const huddle_kmeans_options *options, huddle_kmeans_info *out) {
    huddle_kmeans_result result;
    huddle_kmeans_info info;
    assert_ok(huddle_kmeans(NULL, x, weights, options, &result, &info));
    check_nearest(x, &result.centres, result.labels);
    assert_close(info.inertia, plain_inertia(x, weights, &result), 1e-9);
    assert_true(info.inertia == info.inertias[info.best]);
    for (int32_t r = 0; r < info.n_restarts; r++)
        assert_true(info.inertias[r] > info.inertia ||
                    (info.inertias[r] == info.inertia && r >= info.best));
    if (out != NULL) {
        *out = info;
        out->inertias = NULL;
    }
    huddle_kmeans_info_free(&info);
    huddle_kmeans_result_free(&result);
}

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

/* ---- awkward data ---------------------------------------------------------------------------- */

static void every_row_its_own_cluster(void **state) {
    (void)state;
    huddle_points x = make_groups(80, 3, 80, 1, 2);
    huddle_kmeans_options options = with_clusters(80);
    huddle_kmeans_info info;
    check_run(&x, NULL, &options, &info);
    assert_true(info.inertia == 0 && info.n_distinct == 80);
    options.init = "sample";
    check_run(&x, NULL, &options, &info);
    assert_true(info.inertia == 0);
    huddle_points_free(&x);
}

static void few_distinct_rows_are_reported(void **state) {
    (void)state;
    enum { N = 1000, DISTINCT = 3 };
    static const float signs[] = {0.0f, -0.0f};
    huddle_points x;
    assert_ok(huddle_points_new(N, 4, &x));
    for (int64_t i = 0; i < N; i++) {
        x.values[i * 4] = (float)(i % DISTINCT);
        x.values[i * 4 + 2] = signs[i % 2];
    }
    huddle_points y = to_sparse(&x);
    for (int sparse = 0; sparse < 2; sparse++)
        for (int32_t c = 1; c <= 6; c++) {
            huddle_kmeans_options options = with_clusters(c);
            huddle_kmeans_result result;
            huddle_kmeans_info info;
            assert_ok(huddle_kmeans(NULL, sparse ? &y : &x, NULL, &options, &result, &info));
            assert_int_equal(info.n_distinct, c < DISTINCT ? c : DISTINCT);
            assert_true(c < DISTINCT || info.inertia == 0);
            assert_true(c <= DISTINCT || info.stop == HUDDLE_STOP_EXACT);
            for (int64_t i = 0; i < N; i++)
                assert_true(result.labels[i] >= 0 && result.labels[i] < info.n_distinct);
            check_nearest(&x, &result.centres, result.labels);
            huddle_kmeans_info_free(&info);
            huddle_kmeans_result_free(&result);
        }
    huddle_points_free(&x);
    huddle_points_free(&y);
}

static void copies_of_a_row_do_not_hide_others(void **state) {
    (void)state;
    enum { N = 5000 };
    huddle_points x;
    assert_ok(huddle_points_new(N, 2, &x));
    for (int64_t i = N - 4; i < N; i++)
        x.values[2 * i] = (float)(i - N + 5);
    for (int sample = 0; sample < 2; sample++) {
        huddle_kmeans_options options = with_clusters(5);
        huddle_kmeans_info info;
        options.init = sample ? "sample" : "k-means++";
        options.n_init = 2;
        check_run(&x, NULL, &options, &info);
        assert_true(info.inertia == 0 && info.n_distinct == 5);
    }
    huddle_points_free(&x);
}

static void sizes_of_numbers_do_not_matter(void **state) {
    (void)state;
    static const float scales[] = {1, 0x1p120f, 0x1p-120f, 0x1p-140f};
    int32_t first[400];
    for (size_t s = 0; s < sizeof scales / sizeof *scales; s++) {
        huddle_points x = make_groups(400, 3, 5, 20, 8);
        huddle_kmeans_options options = with_clusters(5);
        huddle_kmeans_result result;
        for (int64_t e = 0; e < 1200; e++)
            x.values[e] *= scales[s];
        assert_ok(huddle_kmeans(NULL, &x, NULL, &options, &result, NULL));
        if (s == 0)
            memcpy(first, result.labels, sizeof first);
        for (int64_t i = 5; i < x.n; i++)
            assert_int_equal(result.labels[i], result.labels[i % 5]);
        if (s < 3)
            assert_memory_equal(first, result.labels, sizeof first);
        huddle_kmeans_result_free(&result);
        huddle_points_free(&x);
    }
}

static void extreme_values_are_clustered(void **state) {
    (void)state;
    float values[] = {-FLT_MAX, FLT_MAX, -FLT_MAX / 2, 0, 1, FLT_MAX};
    huddle_points x = {.n = 6, .d = 1, .stride = 1, .values = values};
    huddle_kmeans_options options = with_clusters(3);
    huddle_kmeans_result result;
    assert_ok(huddle_kmeans(NULL, &x, NULL, &options, &result, NULL));
    assert_int_equal(result.labels[1], result.labels[5]);
    assert_int_equal(result.labels[3], result.labels[4]);
    assert_int_equal(result.labels[0], result.labels[2]);
    huddle_kmeans_result_free(&result);
}

/* A far outlier takes float's digits from everything else; doubles must decide. */
static void an_outlier_does_not_blur_the_rest(void **state) {
    (void)state;
    huddle_points x = make_groups(600, 2, 4, 20, 9);
    x.values[0] = 1e9f;
    huddle_kmeans_options options = with_clusters(5);
    huddle_kmeans_result result;
    assert_ok(huddle_kmeans(NULL, &x, NULL, &options, &result, NULL));
    for (int64_t i = 5; i < x.n; i++)
        assert_int_equal(result.labels[i], result.labels[i % 4 == 0 ? 4 : i % 4]);
    check_nearest(&x, &result.centres, result.labels);
    huddle_kmeans_result_free(&result);
    huddle_points_free(&x);
}

static void the_shift_comes_back(void **state) {
    (void)state;
    enum { N = 300, D = 2 };
    double values[N * D];
    hd_rng rng = hd_rng_stream(4, 4);
    for (int e = 0; e < N * D; e++)
        values[e] = 1e9 + 10 * (e / D % 3) + 0.5 * hd_rng_normal(&rng);
    huddle_points x;
    assert_ok(huddle_points_from_double(NULL, N, D, values, D, 1, &x));
    assert_non_null(x.shift);
    huddle_kmeans_options options = with_clusters(3);
    huddle_kmeans_result result, again;
    huddle_kmeans_info info;
    int32_t labels[N];
    assert_ok(huddle_kmeans(NULL, &x, NULL, &options, &result, &info));
    for (int i = 0; i < N; i++) {
        double *centre = result.centres.values + result.labels[i] * D;
        assert_true(fabs(centre[0] - (1e9 + 10 * (i % 3))) < 1);
    }
    assert_ok(huddle_kmeans_assign(NULL, &x, &result.centres, labels));
    assert_memory_equal(labels, result.labels, sizeof labels);
    options.start = &result.centres;
    huddle_kmeans_info_free(&info);
    assert_ok(huddle_kmeans(NULL, &x, NULL, &options, &again, &info));
    assert_int_equal(info.n_iter, 1);
    assert_memory_equal(again.labels, result.labels, sizeof labels);
    huddle_kmeans_info_free(&info);
    huddle_kmeans_result_free(&again);
    huddle_kmeans_result_free(&result);
    huddle_points_free(&x);
}

static void rows_may_stand_apart_in_memory(void **state) {
    (void)state;
    huddle_points x = make_groups(200, 5, 4, 2, 6), wide;
    assert_ok(huddle_points_new(200, 9, &wide));
    for (int64_t i = 0; i < 200; i++)
        for (int64_t j = 0; j < 9; j++)
            wide.values[i * 9 + j] = j < 5 ? x.values[i * 5 + j] : 1e30f;
    wide.d = 5;
    huddle_kmeans_options options = with_clusters(6);
    huddle_kmeans_result a, b;
    assert_ok(huddle_kmeans(NULL, &x, NULL, &options, &a, NULL));
    assert_ok(huddle_kmeans(NULL, &wide, NULL, &options, &b, NULL));
    assert_memory_equal(a.labels, b.labels, 200 * sizeof *a.labels);
    huddle_kmeans_result_free(&a);
    huddle_kmeans_result_free(&b);
    huddle_points_free(&x);
    huddle_points_free(&wide);
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
    REFUSED(init = "random", "init = random is not one of k-means++|sample");
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

/* Sparse rows of large norm that differ by little: products of the norms cannot tell which centre
 * is nearest, differences can. The same rows stored dense are compared by differences. */
static void sparse_rows_of_large_norm_find_their_centre(void **state) {
    (void)state;
    enum { N = 300, D = 40, K = 6 };
    huddle_points dense, rows;
    huddle_dense centres;
    hd_rng rng = hd_rng_stream(4, 0);
    int32_t labels[N], expected[N];
    assert_ok(huddle_points_new(N, D, &dense));
    assert_ok(huddle_points_new_sparse(N, D, N * D, &rows));
    assert_ok(huddle_dense_new(K, D, &centres));
    for (int64_t k = 0; k < K; k++)
        for (int64_t j = 0; j < D; j++)
            centres.values[k * D + j] = j == 0 ? 0x1p20 : 0.01 * hd_rng_normal(&rng);
    for (int64_t i = 0, at = 0; i < N; i++) {
        dense.values[i * D] = 0x1p20f;
        for (int64_t j = 1; j < D; j++)
            dense.values[i * D + j] =
                i % 3 > 0 && (i + j) % 4 > 0 ? 0 : (float)(0.01 * hd_rng_normal(&rng));
        for (int64_t j = 0; j < D; j++) {
            if (dense.values[i * D + j] == 0)
                continue;
            rows.columns[at] = (int32_t)j;
            rows.values[at++] = dense.values[i * D + j];
        }
        rows.offsets[i + 1] = at;
    }
    assert_ok(huddle_kmeans_assign(NULL, &dense, &centres, expected));
    assert_ok(huddle_kmeans_assign(NULL, &rows, &centres, labels));
    assert_memory_equal(labels, expected, sizeof labels);
    huddle_points_free(&dense);
    huddle_points_free(&rows);
    huddle_dense_free(&centres);
}

/* The same centres, labels and iterations, and the inertia times a square, at any size. */
static void any_scale_gives_the_same_clusters(void **state) {
    (void)state;
    enum { N = 400, D = 5 };
    static const int exponents[] = {0, -140, -100, -73, 73, 100, 124};
    huddle_kmeans_options options = huddle_kmeans_defaults();
    huddle_kmeans_result first = {0};
    huddle_kmeans_info first_info = {0};
    options.n_clusters = 7;
    for (size_t e = 0; e < sizeof exponents / sizeof *exponents; e++) {
        huddle_points x;
        huddle_kmeans_result result;
        huddle_kmeans_info info;
        hd_rng rng = hd_rng_stream(6, 0);
        assert_ok(huddle_points_new(N, D, &x));
        for (int64_t i = 0; i < N * D; i++)
            x.values[i] = (float)ldexp((double)hd_rng_below(&rng, 255) - 128, exponents[e] - 8);
        assert_ok(huddle_kmeans(NULL, &x, NULL, &options, &result, &info));
        if (e == 0) {
            first = result;
            first_info = info;
        } else {
            assert_memory_equal(result.labels, first.labels, N * sizeof *result.labels);
            assert_int_equal(info.n_iter, first_info.n_iter);
            assert_true(info.inertia == ldexp(first_info.inertia, 2 * exponents[e]));
            huddle_kmeans_result_free(&result);
            huddle_kmeans_info_free(&info);
        }
        huddle_points_free(&x);
    }
    huddle_kmeans_result_free(&first);
    huddle_kmeans_info_free(&first_info);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(agrees_with_scikit_learn),
        cmocka_unit_test(labels_are_the_nearest_centres),
        cmocka_unit_test(groups_are_found),
        cmocka_unit_test(weights_stand_for_repeated_rows),
        cmocka_unit_test(a_heavy_row_draws_its_centre),
        cmocka_unit_test(every_row_its_own_cluster),
        cmocka_unit_test(few_distinct_rows_are_reported),
        cmocka_unit_test(copies_of_a_row_do_not_hide_others),
        cmocka_unit_test(sizes_of_numbers_do_not_matter),
        cmocka_unit_test(extreme_values_are_clustered),
        cmocka_unit_test(an_outlier_does_not_blur_the_rest),
        cmocka_unit_test(the_shift_comes_back),
        cmocka_unit_test(sparse_rows_of_large_norm_find_their_centre),
        cmocka_unit_test(any_scale_gives_the_same_clusters),
        cmocka_unit_test(rows_may_stand_apart_in_memory),
        cmocka_unit_test(ties_go_to_the_smaller_index),
        cmocka_unit_test(close_calls_are_decided_in_double),
        cmocka_unit_test(misfits_are_refused),
        cmocka_unit_test(defaults_come_from_the_table),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
