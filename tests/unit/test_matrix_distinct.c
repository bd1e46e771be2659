/* matrix: which rows are equal. */
#include "base/memory.h"
#include "base/rng.h"
#include "huddle/matrix.h"
#include "support/support.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Checks `distinct` against comparing every row with every earlier one. */
static void check_against_all_pairs(const huddle_distinct *distinct, int64_t n,
                                    bool (*equal)(const void *, int64_t, int64_t), const void *x) {
    int64_t count = 0, *number = malloc((size_t)n * sizeof *number);
    int64_t *copies = calloc((size_t)n, sizeof *copies);
    for (int64_t i = 0; i < n; i++) {
        int64_t j = 0;
        while (j < i && !equal(x, i, j))
            j++;
        number[i] = j < i ? number[j] : count++;
        copies[number[i]]++;
        if (j == i && distinct->first != NULL)
            assert_int_equal(distinct->first[number[i]], i);
        if (distinct->of != NULL)
            assert_int_equal(distinct->of[i], number[i]);
    }
    assert_int_equal(distinct->n, n);
    assert_int_equal(distinct->count, count);
    assert_true((distinct->of == NULL) == (count == n));
    for (int64_t k = 0; k < count && distinct->copies != NULL; k++)
        assert_int_equal(distinct->copies[k], copies[k]);
    free(number);
    free(copies);
}

static double value(const huddle_points *x, int64_t i, int64_t j) {
    if (x->offsets == NULL)
        return (double)x->values[i * x->stride + j];
    for (int64_t e = x->offsets[i]; e < x->offsets[i + 1]; e++)
        if (x->columns[e] == j)
            return (double)x->values[e];
    return 0;
}

static bool equal_points(const void *x, int64_t a, int64_t b) {
    const huddle_points *points = x;
    for (int64_t j = 0; j < points->d; j++)
        if (value(points, a, j) != value(points, b, j))
            return false;
    return true;
}

static bool equal_dense(const void *x, int64_t a, int64_t b) {
    const huddle_dense *m = x;
    for (int64_t j = 0; j < m->cols; j++)
        if (m->values[a * m->stride + j] != m->values[b * m->stride + j])
            return false;
    return true;
}

static huddle_context *four_threads(void) {
    huddle_context *context;
    assert_ok(huddle_context_new(&context));
    assert_ok(huddle_context_set_threads(context, 4));
    return context;
}

/* Few values, so that there are copies; zeros of both signs; more columns than a lane holds. */
static void dense_rows_are_those_of_comparing_all_pairs(void **state) {
    (void)state;
    huddle_context *context = four_threads();
    for (int64_t d = 1; d <= 21; d += 4)
        for (int32_t values = 2; values <= 6; values += 2) {
            huddle_points x;
            huddle_distinct distinct;
            hd_rng rng = hd_rng_stream(3, (uint64_t)d);
            assert_ok(huddle_points_new(600, d, &x));
            for (int64_t i = 0; i < 600; i++)
                for (int64_t j = 0; j < d; j++) {
                    bool varies = j == d - 1 || j == d / 2;
                    int64_t drawn = varies ? hd_rng_below(&rng, values) : 1;
                    x.values[i * d + j] = drawn == 0 && i % 2 ? -0.0f : (float)drawn / 3;
                }
            assert_ok(huddle_points_distinct(context, &x, &distinct));
            check_against_all_pairs(&distinct, 600, equal_points, &x);
            huddle_distinct_free(&distinct);
            huddle_points_free(&x);
        }
    huddle_context_free(context);
}

/* Columns of padding between rows are not looked at. */
static void a_stride_and_a_shift_change_nothing(void **state) {
    (void)state;
    float values[] = {1, 2, 9, 1, 2, 8, 1, 3, 9};
    double shift[] = {1e9, 0};
    huddle_points x = {3, 2, 3, values, NULL, NULL, shift};
    huddle_distinct distinct;
    assert_ok(huddle_points_distinct(NULL, &x, &distinct));
    assert_int_equal(distinct.count, 2);
    assert_int_equal(distinct.of[1], 0);
    assert_int_equal(distinct.of[2], 1);
    huddle_distinct_free(&distinct);
}

static void zeros_stored_in_sparse_rows_count_for_nothing(void **state) {
    (void)state;
    huddle_points x;
    huddle_distinct distinct;
    hd_rng rng = hd_rng_stream(4, 0);
    assert_ok(huddle_points_new_sparse(400, 5, 2000, &x));
    int64_t at = 0;
    for (int64_t i = 0; i < 400; i++) {
        for (int32_t j = 0; j < 5; j++)
            if (hd_rng_below(&rng, 2) == 0) {
                x.columns[at] = j;
                x.values[at++] = (float)(hd_rng_below(&rng, 3) - 1);
            }
        x.offsets[i + 1] = at;
    }
    assert_ok(huddle_points_distinct(NULL, &x, &distinct));
    check_against_all_pairs(&distinct, 400, equal_points, &x);
    assert_true(distinct.count < 243 && distinct.count > 100);
    huddle_distinct_free(&distinct);
    huddle_points_free(&x);
}

/* Zeros of both signs here too. */
static void rows_of_doubles_are_those_of_comparing_all_pairs(void **state) {
    (void)state;
    huddle_dense x;
    huddle_distinct distinct;
    hd_rng rng = hd_rng_stream(5, 0);
    assert_ok(huddle_dense_new(500, 3, &x));
    for (int64_t e = 0; e < 1500; e++)
        x.values[e] = (double)(hd_rng_below(&rng, 5) - 2) * (e % 2 ? -0.1 : 0.1);
    assert_ok(huddle_dense_distinct(NULL, &x, &distinct));
    check_against_all_pairs(&distinct, 500, equal_dense, &x);
    huddle_distinct_free(&distinct);
    huddle_dense_free(&x);
}

static void rows_that_all_differ_need_no_arrays(void **state) {
    (void)state;
    huddle_points x;
    huddle_distinct distinct;
    assert_ok(huddle_points_new(1000, 1, &x));
    for (int i = 0; i < 1000; i++)
        x.values[i] = (float)i;
    assert_ok(huddle_points_distinct(NULL, &x, &distinct));
    assert_int_equal(distinct.count, 1000);
    assert_null(distinct.of);
    assert_null(distinct.first);
    assert_null(distinct.copies);
    huddle_distinct_free(&distinct);
    huddle_points_free(&x);
}

/* The hash of distinct.c, to make different rows of equal hash. */
static uint64_t mix(uint64_t hash, uint64_t bits) {
    hash = (hash ^ bits) * 0x9E3779B97F4A7C15u;
    return hash ^ hash >> 29;
}

static uint64_t bits_of(double value) {
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

/* The second number of the second row makes up for the difference in the first. */
static void rows_of_equal_hash_are_compared(void **state) {
    (void)state;
    huddle_dense x;
    huddle_distinct distinct;
    assert_ok(huddle_dense_new(3, 2, &x));
    double first = 1.5, second = 2.5, last = 0;
    for (double other = 3; !isfinite(last) || last == 0; other++) {
        uint64_t bits = bits_of(second) ^ mix(1, bits_of(first)) ^ mix(1, bits_of(other));
        memcpy(&last, &bits, sizeof last);
        x.values[2] = other;
    }
    x.values[0] = x.values[4] = first;
    x.values[1] = x.values[5] = second;
    x.values[3] = last;
    assert_true(mix(mix(1, bits_of(first)), bits_of(second)) ==
                mix(mix(1, bits_of(x.values[2])), bits_of(last)));
    assert_ok(huddle_dense_distinct(NULL, &x, &distinct));
    check_against_all_pairs(&distinct, 3, equal_dense, &x);
    assert_int_equal(distinct.count, 2);
    huddle_distinct_free(&distinct);
    huddle_dense_free(&x);
}

/* The same with two entries, whose columns are part of the hash. */
static void sparse_rows_of_equal_hash_are_compared(void **state) {
    (void)state;
    int64_t offsets[] = {0, 2, 4, 6};
    int32_t columns[] = {0, 5, 0, 0, 0, 5};
    float values[] = {1, 2, 0, 0, 1, 2};
    uint32_t one, two, other;
    memcpy(&one, &values[0], sizeof one);
    memcpy(&two, &values[1], sizeof two);
    huddle_points x = {3, INT32_MAX, 0, values, offsets, columns, NULL};
    huddle_distinct distinct;
    for (int k = 3; k < 1000; k++) {
        values[2] = (float)k;
        memcpy(&other, &values[2], sizeof other);
        uint64_t bits = ((uint64_t)5 << 32 | two) ^ mix(1, one) ^ mix(1, other);
        uint32_t low = (uint32_t)bits;
        memcpy(&values[3], &low, sizeof low);
        columns[3] = (int32_t)(bits >> 32);
        if (columns[3] > 0 && columns[3] < INT32_MAX && isfinite(values[3]) && values[3] != 0)
            break;
    }
    assert_true(columns[3] > 0 && isfinite(values[3]));
    assert_ok(huddle_points_distinct(NULL, &x, &distinct));
    assert_int_equal(distinct.count, 2);
    assert_int_equal(distinct.of[2], 0);
    huddle_distinct_free(&distinct);
}

/* Rows are equal if they are in both; without equal rows in one no two are. */
static void matrices_are_joined(void **state) {
    (void)state;
    float a[] = {1, 1, 2, 1, 2, 1}, b[] = {5, 5, 5, 6, 5, 6}, c[] = {1, 2, 3, 4, 5, 6};
    float *values[] = {a, b, c};
    huddle_distinct parts[3], joined;
    for (int v = 0; v < 3; v++) {
        huddle_points x = {6, 1, 1, values[v], NULL, NULL, NULL};
        assert_ok(huddle_points_distinct(NULL, &x, &parts[v]));
    }
    assert_ok(huddle_distinct_join(NULL, 2, parts, &joined));
    static const int32_t of[] = {0, 0, 1, 2, 1, 2};
    static const int64_t first[] = {0, 2, 3}, copies[] = {2, 2, 2};
    assert_int_equal(joined.n, 6);
    assert_int_equal(joined.count, 3);
    assert_memory_equal(joined.of, of, sizeof of);
    assert_memory_equal(joined.first, first, sizeof first);
    assert_memory_equal(joined.copies, copies, sizeof copies);
    huddle_distinct_free(&joined);
    assert_ok(huddle_distinct_join(NULL, 3, parts, &joined));
    assert_int_equal(joined.n, 6);
    assert_int_equal(joined.count, 6);
    assert_null(joined.of);
    for (int v = 0; v < 3; v++)
        huddle_distinct_free(&parts[v]);
}

static huddle_status find(void *argument) {
    huddle_distinct distinct;
    huddle_status status = huddle_points_distinct(NULL, argument, &distinct);
    huddle_distinct_free(&distinct);
    return status;
}

static void every_allocation_may_fail(void **state) {
    (void)state;
    float values[] = {1, 2, 1, 3};
    huddle_points x = {4, 1, 1, values, NULL, NULL, NULL};
    test_each_allocation(find, &x);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(dense_rows_are_those_of_comparing_all_pairs),
        cmocka_unit_test(a_stride_and_a_shift_change_nothing),
        cmocka_unit_test(zeros_stored_in_sparse_rows_count_for_nothing),
        cmocka_unit_test(rows_of_doubles_are_those_of_comparing_all_pairs),
        cmocka_unit_test(rows_that_all_differ_need_no_arrays),
        cmocka_unit_test(rows_of_equal_hash_are_compared),
        cmocka_unit_test(sparse_rows_of_equal_hash_are_compared),
        cmocka_unit_test(matrices_are_joined),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
