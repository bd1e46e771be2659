/* prepare: ranks with ties and outliers, knots of long columns, shifts, sparse points, rounding
 * errors. */
#include "base/rng.h"
#include "huddle/prepare.h"
#include "support/support.h"

#include <math.h>

static huddle_preparation fitted(const char *rule, const huddle_points *x) {
    huddle_prepare_options options = huddle_prepare_defaults();
    huddle_preparation p;
    assert_ok(huddle_options_set(huddle_prepare_options_table(), &options, "prepare", rule));
    assert_ok(huddle_prepare_fit(NULL, x, &options, &p, NULL));
    return p;
}

static huddle_points applied(const huddle_preparation *p, const huddle_points *x) {
    huddle_points y;
    assert_ok(huddle_prepare_apply(NULL, p, x, &y, NULL));
    assert_null(y.shift);
    return y;
}

static void equal_values_share_their_mean_rank(void **state) {
    (void)state;
    float values[] = {3, 7, 1, 7, 3, 7, 2, 7, 3, 7}, fresh[] = {2.5f, 8, -10, 7, 99, 7, 1.25f, 6};
    static const double ranks[] = {.8, 0, .2, 0, .8, 0, .4, 0, .8, 0};
    static const double interpolated[] = {.6, 0, .2, 0, .8, 0, .25, 0};
    huddle_points x = {.n = 5, .d = 2, .stride = 2, .values = values};
    huddle_points z = {.n = 4, .d = 2, .stride = 2, .values = fresh};
    huddle_preparation p = fitted("ranks", &x);
    huddle_points y = applied(&p, &x), w = applied(&p, &z);
    assert_int_equal(p.knots.rows, 4); /* 1, 2, 3 and 7 */
    for (int e = 0; e < 10; e++)
        assert_close((double)y.values[e], ranks[e], 1e-7);
    for (int e = 0; e < 8; e++)
        assert_close((double)w.values[e], interpolated[e], 1e-7);
    huddle_preparation_free(&p);
    huddle_points_free(&y);
    huddle_points_free(&w);
}

/* Only the order matters: not how far the largest value is, nor a monotone function. */
static void outliers_are_as_far_as_their_rank(void **state) {
    (void)state;
    enum { N = 50 };
    huddle_points x, stretched;
    hd_rng rng = hd_rng_stream(1, 0);
    assert_ok(huddle_points_new(N, 1, &x));
    assert_ok(huddle_points_new(N, 1, &stretched));
    for (int i = 0; i < N; i++) {
        x.values[i] = (float)hd_rng_normal(&rng);
        stretched.values[i] = (float)exp(20 * (double)x.values[i]);
    }
    huddle_preparation p = fitted("ranks", &x), q = fitted("ranks", &stretched);
    huddle_points y = applied(&p, &x), z = applied(&q, &stretched);
    assert_memory_equal(y.values, z.values, N * sizeof *y.values);
    huddle_preparation_free(&p);
    huddle_preparation_free(&q);
    huddle_points_free(&x);
    huddle_points_free(&stretched);
    huddle_points_free(&y);
    huddle_points_free(&z);
}

/* The number of training values below, and of equal ones. */
static void count_values(const huddle_points *x, int64_t j, float value, double *below,
                         double *equal) {
    *below = *equal = 0;
    for (int64_t i = 0; i < x->n; i++) {
        *below += x->values[i * x->d + j] < value;
        *equal += x->values[i * x->d + j] == value;
    }
}

/* Different values, half of them 0, and steps of very different widths. */
static huddle_points long_columns(int64_t n) {
    huddle_points x;
    assert_ok(huddle_points_new(n, 3, &x));
    for (int64_t i = 0; i < n; i++) {
        hd_rng rng = hd_rng_stream(2, (uint64_t)i);
        float value = (float)hd_rng_normal(&rng);
        x.values[3 * i] = value;
        x.values[3 * i + 1] = i % 2 == 0 ? 0 : value;
        x.values[3 * i + 2] = i % 3 == 0 ? rintf(4 * value) : expf(9 * value);
    }
    return x;
}

static void long_columns_keep_few_knots(void **state) {
    (void)state;
    huddle_points x = long_columns(30000);
    huddle_preparation p = fitted("ranks", &x);
    huddle_points y = applied(&p, &x);
    for (int64_t j = 0; j < 3; j++) {
        int64_t count = p.knot_offsets[j + 1] - p.knot_offsets[j];
        assert_true(count > 500 && count <= 2048);
        for (int64_t i = 0; i < x.n; i += 97) {
            double below, equal, rank = (double)y.values[3 * i + j];
            count_values(&x, j, x.values[3 * i + j], &below, &equal);
            assert_close(rank, (below + (equal + 1) / 2) / (double)x.n, 1. / 1023 + 1e-7);
        }
    }
    /* Half of the values are 0. The others are never drawn towards the rank of these, about .5. */
    for (int64_t i = 1; i < x.n; i += 2)
        assert_true(fabs((double)y.values[3 * i + 1] - .5) > .25 - .01 - 1. / 1023);
    huddle_preparation_free(&p);
    huddle_points_free(&x);
    huddle_points_free(&y);
}

/* The limit is inclusive: one distinct value more, and half of them are enough. */
static void columns_of_2048_values_keep_all(void **state) {
    (void)state;
    static const int64_t sizes[] = {2048, 2049};
    for (int s = 0; s < 2; s++) {
        huddle_points x;
        assert_ok(huddle_points_new(sizes[s], 1, &x));
        for (int64_t i = 0; i < x.n; i++)
            x.values[i] = (float)(i * 7 % x.n);
        huddle_preparation p = fitted("ranks", &x);
        if (s == 0)
            assert_int_equal(p.knots.rows, 2048);
        else
            assert_true(p.knots.rows < 1100);
        huddle_preparation_free(&p);
        huddle_points_free(&x);
    }
}

/* Values far from 0 beside their deviation are stored less their mean. Their ranks are those of the
 * true values, for points of any shift. */
static void shifts_do_not_change_ranks(void **state) {
    (void)state;
    enum { N = 40 };
    double values[N];
    huddle_points x, fresh, plain;
    hd_rng rng = hd_rng_stream(3, 0);
    assert_ok(huddle_points_new(N, 1, &plain));
    for (int i = 0; i < N; i++) {
        double value = hd_rng_normal(&rng);
        plain.values[i] = (float)value;
        values[i] = 1e9 + (double)plain.values[i];
    }
    assert_ok(huddle_points_from_double(NULL, N, 1, values, 1, 1, &x));
    assert_ok(huddle_points_from_double(NULL, N / 4, 1, values, 1, 1, &fresh));
    assert_non_null(x.shift);
    assert_true(x.shift[0] != fresh.shift[0]);
    huddle_preparation p = fitted("ranks", &x), q = fitted("ranks", &plain);
    huddle_points y = applied(&p, &x), z = applied(&p, &fresh), w = applied(&q, &plain);
    for (int i = 0; i < N; i++)
        assert_close((double)y.values[i], (double)w.values[i], 1e-7);
    for (int i = 0; i < N / 4; i++) /* 1e9 leaves 1e-7 of the values */
        assert_close((double)z.values[i], (double)w.values[i], 1e-4);
    huddle_preparation_free(&p);
    huddle_preparation_free(&q);
    huddle_points_free(&x);
    huddle_points_free(&fresh);
    huddle_points_free(&plain);
    huddle_points_free(&y);
    huddle_points_free(&z);
    huddle_points_free(&w);
}

static void sparse_points_are_refused(void **state) {
    (void)state;
    huddle_points sparse, dense, y;
    huddle_prepare_options options = huddle_prepare_defaults();
    huddle_preparation p;
    assert_ok(huddle_points_new_sparse(4, 2, 0, &sparse));
    assert_ok(huddle_points_new(4, 2, &dense));
    options.prepare.name = "ranks";
    assert_refused(huddle_prepare_fit(NULL, &sparse, &options, &p, NULL), HUDDLE_INVALID,
                   "prepare = ranks would make sparse points dense");
    p = fitted("ranks", &dense);
    assert_refused(huddle_prepare_apply(NULL, &p, &sparse, &y, NULL), HUDDLE_INVALID,
                   "prepare = ranks would make sparse points dense");
    huddle_preparation_free(&p);
    huddle_points_free(&sparse);
    huddle_points_free(&dense);
}

/* Doubles that differ by rounding errors only are equal, in a column of nothing else and beside
 * other values. Small differences that are no rounding errors count. */
static void rounding_errors_are_no_differences(void **state) {
    (void)state;
    enum { N = 40, D = 3 };
    double values[N * D];
    huddle_points x;
    for (int i = 0; i < N; i++) {
        values[D * i] = i % 2 == 0 ? 1e5 * (.1 + .2) : 1e5 * .3;
        values[D * i + 1] = 1e5 + 1e-8 * i;
        values[D * i + 2] = i % 4 == 0 ? 1e5 * .3 + 1e-8 : values[D * i];
    }
    assert_ok(huddle_points_from_double(NULL, N, D, values, D, 1, &x));
    assert_true(x.values[D] != x.values[2 * D]);
    assert_true(x.values[D + 2] != x.values[2 * D + 2]);
    huddle_preparation p = fitted("standard", &x);
    assert_true(p.scale[0] == 0 && p.scale[1] > 0 && p.scale[2] > 0);
    huddle_preparation_free(&p);
    p = fitted("ranks", &x);
    huddle_points y = applied(&p, &x);
    for (int i = 0; i < N; i++) {
        assert_true(y.values[D * i] == 0);
        assert_close((double)y.values[D * i + 1], (i + 1) / (double)N, 1e-7);
        assert_close((double)y.values[D * i + 2], i % 4 == 0 ? .8875 : .3875, 1e-2);
    }
    huddle_preparation_free(&p);
    huddle_points_free(&x);
    huddle_points_free(&y);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equal_values_share_their_mean_rank),
        cmocka_unit_test(outliers_are_as_far_as_their_rank),
        cmocka_unit_test(long_columns_keep_few_knots),
        cmocka_unit_test(columns_of_2048_values_keep_all),
        cmocka_unit_test(shifts_do_not_change_ranks),
        cmocka_unit_test(sparse_points_are_refused),
        cmocka_unit_test(rounding_errors_are_no_differences),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
