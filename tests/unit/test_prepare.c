/* prepare: every rule beside NumPy, points with a shift, sparse points, hard cases. */
#include "base/context.h"
#include "base/rng.h"
#include "huddle/prepare.h"
#include "support/support.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static huddle_prepare_options options_of(const char *rule) {
    huddle_prepare_options options = huddle_prepare_defaults();
    assert_ok(huddle_options_set(huddle_prepare_options_table(), &options, "prepare", rule));
    return options;
}

static huddle_points random_points(int64_t n, int64_t d, uint64_t seed) {
    huddle_points x;
    hd_rng rng = hd_rng_stream(seed, 0);
    assert_ok(huddle_points_new(n, d, &x));
    for (int64_t e = 0; e < n * d; e++)
        x.values[e] = (float)(hd_rng_normal(&rng) * (double)(1 + e % d) + 1);
    return x;
}

static huddle_points prepared(huddle_context *context, const huddle_points *x, const char *rule,
                              huddle_prepare_info *info) {
    huddle_prepare_options options = options_of(rule);
    huddle_preparation p;
    huddle_points y;
    assert_ok(huddle_prepare_fit(context, x, &options, &p, NULL));
    assert_ok(huddle_prepare_apply(context, &p, x, &y, info));
    huddle_preparation_free(&p);
    return y;
}

static void assert_points_close(const huddle_points *a, const huddle_points *b, double tolerance) {
    assert_int_equal(a->n, b->n);
    assert_int_equal(a->d, b->d);
    for (int64_t i = 0; i < a->n; i++)
        for (int64_t j = 0; j < a->d; j++)
            assert_close((double)a->values[i * a->stride + j], (double)b->values[i * b->stride + j],
                         tolerance);
}

/* ---- beside NumPy -------------------------------------------------------------------------- */

static void compare(const huddle_preparation *p, const huddle_points *x, const double *expected) {
    huddle_points y;
    assert_ok(huddle_prepare_apply(NULL, p, x, &y, NULL));
    assert_int_equal(y.d, p->d_out);
    for (int64_t e = 0; e < y.n * y.d; e++)
        assert_close((double)y.values[e], expected[e], 2e-6);
    huddle_points_free(&y);
}

static const double *check_case(const double *at) {
    static const char *const rules[] = {"none",        "standard",       "unit",
                                        "center-rows", "center-columns", "pca:%d",
                                        "whiten:%d",   "ranks",          "clip"};
    char rule[32];
    int64_t n = (int64_t)at[2], d = (int64_t)at[3];
    huddle_points x, new;
    huddle_preparation p;
    huddle_prepare_info info;
    const char *pattern = rules[(int)at[0]];
    if (strchr(pattern, '%') != NULL)
        snprintf(rule, sizeof rule, strncmp(pattern, "pca", 3) == 0 ? "pca:%d" : "whiten:%d",
                 (int)at[1]);
    else
        snprintf(rule, sizeof rule, "%s", pattern);
    huddle_prepare_options options = options_of(rule);
    assert_ok(huddle_points_from_double(NULL, n, d, at + 4, d, 1, &x));
    at += 4 + n * d;
    assert_ok(huddle_prepare_fit(NULL, &x, &options, &p, &info));
    assert_int_equal(p.rule.r, (int)at[0]);
    assert_int_equal(p.d_out, (int64_t)at[1]);
    assert_close(info.variance_kept, at[2], 1e-9);
    compare(&p, &x, at + 3);
    at += 3 + n * p.d_out;
    assert_ok(huddle_points_from_double(NULL, 2, d, at, d, 1, &new));
    compare(&p, &new, at + 2 * d);
    at += 2 * d + 2 * p.d_out;
    huddle_points_free(&x);
    huddle_points_free(&new);
    huddle_preparation_free(&p);
    return at;
}

static void rules_agree_with_numpy(void **state) {
    (void)state;
    int64_t count, cases = 0;
    double *numbers = test_golden("prepare.txt", &count);
    for (const double *at = numbers; at < numbers + count; cases++)
        at = check_case(at);
    assert_true(cases >= 90);
    free(numbers);
}

/* ---- shift --------------------------------------------------------------------------------- */

/* Two columns far from 0 beside their deviation, as time stamps are: stored less their mean. */
static void far_columns(int64_t n, double *values) {
    hd_rng rng = hd_rng_stream(3, 0);
    for (int64_t i = 0; i < n; i++) {
        values[i * 3] = 1e6 + hd_rng_normal(&rng);
        values[i * 3 + 1] = hd_rng_normal(&rng);
        values[i * 3 + 2] = -3e5 + 0.1 * hd_rng_normal(&rng);
    }
}

static void unit_rows_use_the_true_values(void **state) {
    (void)state;
    enum { N = 20 };
    double values[N * 3];
    huddle_points x;
    far_columns(N, values);
    assert_ok(huddle_points_from_double(NULL, N, 3, values, 3, 1, &x));
    assert_non_null(x.shift);
    huddle_points y = prepared(NULL, &x, "unit", NULL);
    assert_null(y.shift);
    for (int64_t i = 0; i < N; i++) {
        const double *v = values + 3 * i;
        double length = sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
        for (int64_t j = 0; j < 3; j++)
            assert_close((double)y.values[3 * i + j], v[j] / length, 1e-7);
    }
    huddle_points_free(&x);
    huddle_points_free(&y);
}

static void a_shift_does_not_disturb_the_others(void **state) {
    (void)state;
    enum { N = 40 };
    static const char *const rules[] = {"standard", "center-columns", "pca:2", "whiten:3"};
    double values[N * 3], near[N * 3];
    huddle_points x, z;
    far_columns(N, values);
    for (int64_t i = 0; i < N; i++) { /* the same points moved to the origin */
        near[i * 3] = values[i * 3] - 1e6;
        near[i * 3 + 1] = values[i * 3 + 1];
        near[i * 3 + 2] = values[i * 3 + 2] + 3e5;
    }
    assert_ok(huddle_points_from_double(NULL, N, 3, values, 3, 1, &x));
    assert_ok(huddle_points_from_double(NULL, N, 3, near, 3, 1, &z));
    assert_true(x.shift != NULL && z.shift == NULL);
    for (size_t k = 0; k < sizeof rules / sizeof *rules; k++) {
        huddle_points a = prepared(NULL, &x, rules[k], NULL);
        huddle_points b = prepared(NULL, &z, rules[k], NULL);
        assert_points_close(&a, &b, 1e-5);
        assert_null(a.shift);
        huddle_points_free(&a);
        huddle_points_free(&b);
    }
    huddle_points_free(&x);
    huddle_points_free(&z);
}

static void none_puts_new_points_beside_the_training_points(void **state) {
    (void)state;
    enum { N = 20 };
    double values[N * 3];
    huddle_points x, one, y;
    huddle_preparation p;
    far_columns(N, values);
    assert_ok(huddle_points_from_double(NULL, N, 3, values, 3, 1, &x));
    assert_ok(huddle_points_from_double(NULL, 2, 3, values + 12, 3, 1, &one));
    assert_ok(huddle_prepare_fit(NULL, &x, NULL, &p, NULL));
    assert_ok(huddle_prepare_apply(NULL, &p, &one, &y, NULL));
    assert_memory_equal(y.shift, x.shift, 3 * sizeof *y.shift);
    for (int64_t j = 0; j < 6; j++)
        assert_close((double)y.values[j], (double)x.values[12 + j], 1e-6);
    huddle_points_free(&y);
    assert_ok(huddle_prepare_apply(NULL, &p, &x, &y, NULL));
    assert_memory_equal(y.values, x.values, N * 3 * sizeof *y.values);
    huddle_points_free(&x);
    huddle_points_free(&one);
    huddle_points_free(&y);
    huddle_preparation_free(&p);
}

/* ---- sparse -------------------------------------------------------------------------------- */

/* Three values in ten, the same in a sparse and a dense container. */
static void both_kinds(int64_t n, int64_t d, huddle_points *sparse, huddle_points *dense) {
    hd_rng rng = hd_rng_stream(17, 0);
    int64_t place = 0;
    assert_ok(huddle_points_new(n, d, dense));
    assert_ok(huddle_points_new_sparse(n, d, n * d, sparse));
    for (int64_t i = 0; i < n; i++) {
        for (int64_t j = 0; j < d; j++)
            if (hd_rng_uniform(&rng) < 0.3 && i != 1) {
                float value = (float)(hd_rng_normal(&rng) * (1 + 40.0 / (double)(1 + j)) + 1);
                dense->values[i * d + j] = value;
                sparse->columns[place] = (int32_t)j;
                sparse->values[place++] = value;
            }
        sparse->offsets[i + 1] = place;
    }
}

/* The larger shapes reach the iterative solver, from either side. */
static void sparse_points_project_as_dense_ones(void **state) {
    (void)state;
    static const int64_t shapes[][2] = {{30, 12}, {12, 30}, {620, 540}, {540, 620}};
    for (size_t k = 0; k < sizeof shapes / sizeof *shapes; k++) {
        huddle_points sparse, dense;
        both_kinds(shapes[k][0], shapes[k][1], &sparse, &dense);
        huddle_points a = prepared(NULL, &sparse, "pca:4", NULL);
        huddle_points b = prepared(NULL, &dense, "pca:4", NULL);
        assert_points_close(&a, &b, 1e-5);
        huddle_points_free(&a);
        huddle_points_free(&b);
        a = prepared(NULL, &sparse, "whiten:3", NULL);
        b = prepared(NULL, &dense, "whiten:3", NULL);
        assert_points_close(&a, &b, 1e-5);
        huddle_points_free(&a);
        huddle_points_free(&b);
        huddle_points_free(&sparse);
        huddle_points_free(&dense);
    }
}

static void none_and_unit_keep_points_sparse(void **state) {
    (void)state;
    huddle_points sparse, dense;
    huddle_prepare_info info;
    both_kinds(20, 8, &sparse, &dense);
    huddle_points a = prepared(NULL, &sparse, "unit", &info);
    huddle_points b = prepared(NULL, &dense, "unit", NULL);
    int64_t empty = 0;
    for (int64_t i = 0; i < 20; i++)
        empty += sparse.offsets[i] == sparse.offsets[i + 1];
    assert_true(empty >= 1);
    assert_int_equal(info.zero_rows, empty);
    assert_memory_equal(a.offsets, sparse.offsets, 21 * sizeof *a.offsets);
    for (int64_t i = 0; i < 20; i++)
        for (int64_t e = a.offsets[i]; e < a.offsets[i + 1]; e++)
            assert_true(a.values[e] == b.values[i * 8 + a.columns[e]]);
    huddle_points_free(&a);
    a = prepared(NULL, &sparse, "none", NULL);
    assert_memory_equal(a.values, sparse.values, (size_t)sparse.offsets[20] * sizeof(float));
    huddle_points_free(&a);
    huddle_points_free(&b);
    huddle_points_free(&sparse);
    huddle_points_free(&dense);
}

/* ---- promises ------------------------------------------------------------------------------ */

static void any_thread_count_gives_the_same_bits(void **state) {
    (void)state;
    static const char *const rules[] = {"standard",       "clip",  "ranks",    "unit",
                                        "center-columns", "pca:7", "whiten:20"};
    static const int64_t shapes[][2] = {{700, 150}, {150, 700}, {5000, 6}};
    huddle_context *context;
    assert_ok(huddle_context_new(&context));
    assert_ok(huddle_context_set_threads(context, 5));
    for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s++) {
        huddle_points x = random_points(shapes[s][0], shapes[s][1], s);
        for (size_t k = 0; k < sizeof rules / sizeof *rules; k++) {
            huddle_points a = prepared(NULL, &x, rules[k], NULL);
            huddle_points b = prepared(context, &x, rules[k], NULL);
            assert_memory_equal(a.values, b.values, (size_t)(a.n * a.d) * sizeof(float));
            huddle_points_free(&a);
            huddle_points_free(&b);
        }
        huddle_points_free(&x);
    }
    huddle_context_free(context);
}

static void whitened_components_have_variance_one(void **state) {
    (void)state;
    huddle_points x = random_points(200, 9, 5);
    huddle_prepare_options options = options_of("whiten:5");
    huddle_preparation p;
    assert_ok(huddle_prepare_fit(NULL, &x, &options, &p, NULL));
    for (int64_t k = 0; k < 5; k++) {
        double sum = 0, squares = 0;
        for (int64_t i = 0; i < 200; i++) {
            double y = 0;
            for (int64_t j = 0; j < 9; j++)
                y += ((double)x.values[i * 9 + j] - p.centre[j]) * p.projection.values[j * 5 + k];
            sum += y;
            squares += y * y;
        }
        assert_close(sum / 200, 0, 1e-10);
        assert_close(squares / 200, 1, 1e-10);
    }
    huddle_points_free(&x);
    huddle_preparation_free(&p);
}

/* Large values, and rows that stand apart in memory. */
static void strides_and_large_values_are_fine(void **state) {
    (void)state;
    huddle_points x = random_points(50, 12, 8);
    huddle_points wide = {.n = 50, .d = 5, .stride = 12, .values = x.values}, y, z;
    huddle_points tight;
    assert_ok(huddle_points_new(50, 5, &tight));
    for (int64_t i = 0; i < 50; i++)
        for (int64_t j = 0; j < 5; j++)
            tight.values[i * 5 + j] = x.values[i * 12 + j] *= 1e37f / 64;
    y = prepared(NULL, &wide, "whiten:3", NULL);
    z = prepared(NULL, &tight, "whiten:3", NULL);
    assert_points_close(&y, &z, 0);
    for (int64_t e = 0; e < 150; e++)
        assert_true(isfinite(y.values[e]));
    huddle_points_free(&x);
    huddle_points_free(&tight);
    huddle_points_free(&y);
    huddle_points_free(&z);
}

static void rows_of_rounding_stay_zero(void **state) {
    (void)state;
    static const char *const rules[] = {"center-columns", "pca:2", "whiten:3"};
    enum { N = 31, D = 3 };
    huddle_points x = random_points(N, D, 2);
    for (int64_t j = 0; j < D; j++) { /* the last row is the mean of the others, as pairs */
        for (int64_t i = 0; i + 1 < N; i += 2) {
            x.values[i * D + j] = 0.1f + (float)(i % 16) / 8 * (float)(j + 1);
            x.values[(i + 1) * D + j] = 0.1f - (float)(i % 16) / 8 * (float)(j + 1);
        }
        x.values[(N - 1) * D + j] = 0.1f;
    }
    for (size_t k = 0; k < sizeof rules / sizeof *rules; k++) {
        huddle_points y = prepared(NULL, &x, rules[k], NULL);
        for (int64_t i = 0; i < N; i++) {
            double square = 0;
            for (int64_t j = 0; j < y.d; j++)
                square += (double)y.values[i * y.d + j] * (double)y.values[i * y.d + j];
            assert_true(square == 0 || fabs(square - 1) < 1e-5);
        }
        huddle_points_free(&y);
    }
    huddle_points_free(&x);
}

static void keep_line(void *user, huddle_log_level level, huddle_warning_code code,
                      const char *text) {
    (void)level;
    assert_int_not_equal(code, HUDDLE_WARNING_NONE);
    snprintf(user, 200, "%s", text);
}

static void clipping_is_said(void **state) {
    (void)state;
    char line[200] = "";
    huddle_context *context;
    huddle_points x = random_points(10, 4, 1);
    assert_ok(huddle_context_new(&context));
    huddle_context_set_log(context, keep_line, line);
    huddle_points y = prepared(context, &x, "pca:40", NULL);
    assert_int_equal(y.d, 4);
    assert_string_equal(line, "prepare: pca:40 is clipped to pca:4, the rank of the points");
    huddle_points_free(&y);
    memset(x.values, 0, 40 * sizeof *x.values);
    y = prepared(context, &x, "whiten:40", NULL);
    assert_int_equal(y.d, 1);
    assert_non_null(strstr(line, "all points are equal"));
    huddle_points_free(&y);
    huddle_points_free(&x);
    huddle_context_free(context);
}

static void bad_input_is_refused(void **state) {
    (void)state;
    huddle_points x = random_points(6, 3, 1), other = random_points(6, 4, 1), sparse, dense, y;
    huddle_points nothing = {0};
    huddle_preparation p, unfitted = {0};
    huddle_prepare_options options = huddle_prepare_defaults(), odd = options;
    const huddle_option *table = huddle_prepare_options_table();
    both_kinds(6, 3, &sparse, &dense);
    assert_string_equal(options.prepare.name, "none");
    assert_refused(huddle_options_set(table, &options, "prepare", "pca:0"), HUDDLE_INVALID,
                   "prepare = pca:0: expected one of auto|none|standard|clip|ranks|unit");
    odd.prepare.name = "squared";
    assert_refused(huddle_prepare_fit(NULL, &x, &odd, &p, NULL), HUDDLE_INVALID, "squared");
    assert_refused(huddle_prepare_fit(NULL, &nothing, NULL, &p, NULL), HUDDLE_INVALID, "0 points");
    assert_refused(huddle_prepare_fit(NULL, NULL, NULL, &p, NULL), HUDDLE_INVALID, "no points");
    options = options_of("standard");
    assert_refused(huddle_prepare_fit(NULL, &sparse, &options, &p, NULL), HUDDLE_INVALID,
                   "prepare = standard would make sparse points dense");
    assert_refused(huddle_prepare_apply(NULL, &unfitted, &x, &y, NULL), HUDDLE_INVALID,
                   "not fitted");
    assert_ok(huddle_prepare_fit(NULL, &x, &options, &p, NULL));
    assert_refused(huddle_prepare_apply(NULL, &p, &other, &y, NULL), HUDDLE_INVALID,
                   "the points have 4 features, those of the preparation had 3");
    assert_refused(huddle_prepare_apply(NULL, &p, &sparse, &y, NULL), HUDDLE_INVALID, "dense");
    other.values[5] = NAN;
    assert_refused(huddle_prepare_fit(NULL, &other, NULL, &unfitted, NULL), HUDDLE_INVALID,
                   "row 2, column 2");
    huddle_preparation_free(&p);
    huddle_points_free(&x);
    huddle_points_free(&other);
    huddle_points_free(&sparse);
    huddle_points_free(&dense);
}

static void cancelling_is_honoured(void **state) {
    (void)state;
    huddle_context *context;
    huddle_points x = random_points(600, 40, 1), y;
    huddle_preparation p;
    huddle_prepare_options options = options_of("pca:5");
    assert_ok(huddle_context_new(&context));
    assert_ok(huddle_prepare_fit(context, &x, &options, &p, NULL));
    huddle_context_cancel(context);
    assert_refused(huddle_prepare_apply(context, &p, &x, &y, NULL), HUDDLE_CANCELLED, "cancelled");
    huddle_preparation_free(&p);
    assert_refused(huddle_prepare_fit(context, &x, &options, &p, NULL), HUDDLE_CANCELLED,
                   "cancelled");
    huddle_points_free(&x);
    huddle_context_free(context);
}

/* ---- allocations --------------------------------------------------------------------------- */

typedef struct job {
    const huddle_points *x;
    const char *rule;
} job;

static huddle_status fit_and_apply(void *argument) {
    const job *j = argument;
    huddle_prepare_options options = options_of(j->rule);
    huddle_preparation p = {0};
    huddle_points y = {0};
    huddle_status status = huddle_prepare_fit(NULL, j->x, &options, &p, NULL);
    if (status == HUDDLE_OK)
        status = huddle_prepare_apply(NULL, &p, j->x, &y, NULL);
    huddle_points_free(&y);
    huddle_preparation_free(&p);
    return status;
}

static void every_allocation_may_fail(void **state) {
    (void)state;
    static const char *const rules[] = {"none",        "standard",       "unit",
                                        "center-rows", "center-columns", "pca:3",
                                        "whiten:3",    "ranks",          "clip"};
    huddle_points x = random_points(12, 5, 1), wide = random_points(5, 12, 1), sparse, dense;
    double far[60];
    huddle_points shifted;
    both_kinds(530, 510, &sparse, &dense);
    far_columns(20, far);
    assert_ok(huddle_points_from_double(NULL, 20, 3, far, 3, 1, &shifted));
    for (size_t k = 0; k < sizeof rules / sizeof *rules; k++) {
        test_each_allocation(fit_and_apply, &(job){&x, rules[k]});
        test_each_allocation(fit_and_apply, &(job){&wide, rules[k]});
        test_each_allocation(fit_and_apply, &(job){&shifted, rules[k]});
    }
    sparse.n = 40; /* small, for the direct way */
    test_each_allocation(fit_and_apply, &(job){&sparse, "unit"});
    test_each_allocation(fit_and_apply, &(job){&sparse, "pca:2"});
    huddle_points_free(&x);
    huddle_points_free(&wide);
    huddle_points_free(&shifted);
    huddle_points_free(&sparse);
    huddle_points_free(&dense);
}

/* Everything but none ends near 1, so the prepared points are the same floats at any size. */
static void any_scale_is_prepared_alike(void **state) {
    (void)state;
    static const char *const rules[] = {"standard",    "clip",           "ranks", "unit",
                                        "center-rows", "center-columns", "pca:3", "whiten:3"};
    static const int exponents[] = {-135, -100, -73, 73, 100, 121};
    for (size_t r = 0; r < sizeof rules / sizeof *rules; r++)
        for (size_t e = 0; e < sizeof exponents / sizeof *exponents; e++) {
            huddle_points x = random_points(80, 6, 7), scaled;
            for (int64_t i = 0; i < 80 * 6; i++)
                x.values[i] = rintf(64 * x.values[i]) / 64;
            assert_ok(huddle_points_copy(&x, &scaled));
            for (int64_t i = 0; i < 80 * 6; i++)
                scaled.values[i] = ldexpf(x.values[i], exponents[e]);
            huddle_points y = prepared(NULL, &x, rules[r], NULL);
            huddle_points z = prepared(NULL, &scaled, rules[r], NULL);
            assert_points_close(&y, &z, 1e-6);
            huddle_points_free(&x);
            huddle_points_free(&scaled);
            huddle_points_free(&y);
            huddle_points_free(&z);
        }
}

/* Finite points whose image is not: the sentence does not call them infinite. */
static void an_image_beyond_float_is_named(void **state) {
    (void)state;
    huddle_points x = random_points(5, 2, 1), y;
    huddle_prepare_options options = options_of("standard");
    huddle_preparation p;
    assert_ok(huddle_prepare_fit(NULL, &x, &options, &p, NULL));
    p.scale[1] = 1e10;
    x.values[3 * 2 + 1] = 3e38f;
    assert_refused(huddle_prepare_apply(NULL, &p, &x, &y, NULL), HUDDLE_INVALID,
                   "row 4: prepare = standard gives 3e+48, which is beyond single precision");
    huddle_preparation_free(&p);
    huddle_points_free(&x);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rules_agree_with_numpy),
        cmocka_unit_test(unit_rows_use_the_true_values),
        cmocka_unit_test(a_shift_does_not_disturb_the_others),
        cmocka_unit_test(none_puts_new_points_beside_the_training_points),
        cmocka_unit_test(sparse_points_project_as_dense_ones),
        cmocka_unit_test(none_and_unit_keep_points_sparse),
        cmocka_unit_test(any_thread_count_gives_the_same_bits),
        cmocka_unit_test(whitened_components_have_variance_one),
        cmocka_unit_test(strides_and_large_values_are_fine),
        cmocka_unit_test(rows_of_rounding_stay_zero),
        cmocka_unit_test(any_scale_is_prepared_alike),
        cmocka_unit_test(an_image_beyond_float_is_named),
        cmocka_unit_test(clipping_is_said),
        cmocka_unit_test(bad_input_is_refused),
        cmocka_unit_test(cancelling_is_honoured),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
