/* kmeans: data that rounding, repetition or memory layout make difficult. */
#include "kmeans_points.h"

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
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
