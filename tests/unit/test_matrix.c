/* matrix: the containers, their checks, conversion from double, taking rows, transposing. */
#include "matrix/insert.h"
#include "support/support.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- making -------------------------------------------------------------------------------- */

static void containers_begin_as_zeros(void **state) {
    (void)state;
    huddle_points points, sparse;
    huddle_dense dense;
    huddle_csr csr;
    assert_ok(huddle_points_new(3, 2, &points));
    assert_ok(huddle_points_new_sparse(3, 2, 4, &sparse));
    assert_ok(huddle_dense_new(2, 5, &dense));
    assert_ok(huddle_csr_new(4, 4, 6, &csr));
    assert_true(points.stride == 2 && dense.stride == 5 && points.shift == NULL);
    for (int k = 0; k < 6; k++)
        assert_true(points.values[k] == 0 && csr.values[k] == 0);
    assert_true(sparse.offsets[3] == 0 && csr.offsets[4] == 0);
    huddle_points_free(&points);
    huddle_points_free(&sparse);
    huddle_dense_free(&dense);
    huddle_csr_free(&csr);
    assert_true(points.values == NULL && points.n == 0 && csr.offsets == NULL);
    huddle_points_free(&points); /* freeing twice is harmless */
}

static void impossible_sizes_are_refused(void **state) {
    (void)state;
    huddle_points points;
    huddle_dense dense;
    huddle_csr csr;
    assert_refused(huddle_points_new(-1, 2, &points), HUDDLE_INVALID, "-1 x 2");
    assert_refused(huddle_points_new(1, (int64_t)INT32_MAX + 1, &points), HUDDLE_INVALID,
                   "1 x 2147483648");
    assert_refused(huddle_points_new(INT64_MAX / 8, 100, &points), HUDDLE_NO_MEMORY,
                   "does not fit");
    assert_refused(huddle_points_new(INT64_MAX / 1600 + 1, 100, &points), HUDDLE_NO_MEMORY,
                   "does not fit");
    assert_refused(huddle_points_new_sparse(2, 2, -1, &points), HUDDLE_INVALID, "non-zeros: -1");
    assert_refused(huddle_csr_new(2, 2, -5, &csr), HUDDLE_INVALID, "non-zeros: -5");
    assert_refused(huddle_dense_new(2, -2, &dense), HUDDLE_INVALID, "2 x -2");
    assert_null(points.values);
}

/* ---- checking ------------------------------------------------------------------------------ */

static void dense_points_are_checked(void **state) {
    (void)state;
    float values[6] = {1, 2, 3, 4, 5, 6};
    huddle_points x = {.n = 2, .d = 3, .stride = 3, .values = values}, odd = x;
    assert_ok(huddle_points_check(NULL, &x));
    odd.n = 0;
    assert_refused(huddle_points_check(NULL, &odd), HUDDLE_INVALID, "0 points of 3 features");
    odd = x;
    odd.stride = 2;
    assert_refused(huddle_points_check(NULL, &odd), HUDDLE_INVALID, "stride = 2");
    odd = x;
    odd.values = NULL;
    assert_refused(huddle_points_check(NULL, &odd), HUDDLE_INVALID, "no values");
    values[4] = NAN;
    assert_refused(huddle_points_check(NULL, &x), HUDDLE_INVALID,
                   "row 2, column 2: the value is not a number");
    values[4] = -INFINITY;
    assert_refused(huddle_points_check(NULL, &x), HUDDLE_INVALID,
                   "row 2, column 2: the value is infinite");
    values[4] = -3e38f; /* large is not infinite */
    values[3] = -3e38f;
    assert_ok(huddle_points_check(NULL, &x));
}

static void gaps_between_rows_are_not_looked_at(void **state) {
    (void)state;
    float values[] = {1, 2, NAN, 3, 4};
    huddle_points x = {.n = 2, .d = 2, .stride = 3, .values = values};
    assert_ok(huddle_points_check(NULL, &x));
}

static void sparse_points_are_checked(void **state) {
    (void)state;
    float values[4] = {1, 2, 3, 4};
    int32_t columns[4] = {0, 2, 1, 2};
    int64_t offsets[4] = {0, 2, 2, 4};
    double shift[3] = {0};
    huddle_points x = {.n = 3, .d = 3, .values = values, .offsets = offsets, .columns = columns};
    assert_ok(huddle_points_check(NULL, &x));
    columns[3] = 1;
    assert_refused(huddle_points_check(NULL, &x), HUDDLE_INVALID,
                   "row 3: column 2 is out of order");
    columns[3] = 3;
    assert_refused(huddle_points_check(NULL, &x), HUDDLE_INVALID, "row 3: column 4");
    columns[3] = 2;
    columns[0] = -1;
    assert_refused(huddle_points_check(NULL, &x), HUDDLE_INVALID, "row 1: column 0");
    columns[0] = 0;
    offsets[1] = 1000000000; /* must not be followed */
    assert_refused(huddle_points_check(NULL, &x), HUDDLE_INVALID, "row 2: offsets go backwards");
    offsets[1] = 2;
    offsets[0] = 1;
    assert_refused(huddle_points_check(NULL, &x), HUDDLE_INVALID, "first offset");
    offsets[0] = 0;
    values[2] = NAN;
    assert_refused(huddle_points_check(NULL, &x), HUDDLE_INVALID, "row 3, column 2");
    values[2] = 3;
    x.shift = shift;
    assert_refused(huddle_points_check(NULL, &x), HUDDLE_INVALID, "shift");
    x.shift = NULL;
    x.columns = NULL;
    assert_refused(huddle_points_check(NULL, &x), HUDDLE_INVALID, "no columns");
}

static void graphs_are_checked(void **state) {
    (void)state;
    double values[3] = {1, 2, 3};
    int32_t columns[3] = {1, 0, 1};
    int64_t offsets[3] = {0, 1, 3};
    huddle_csr a = {2, 2, offsets, columns, values};
    assert_ok(huddle_csr_check(&a));
    columns[2] = 0;
    assert_refused(huddle_csr_check(&a), HUDDLE_INVALID, "row 2: column 1 is out of order");
    columns[2] = 1;
    values[0] = NAN;
    assert_refused(huddle_csr_check(&a), HUDDLE_INVALID, "row 1, column 2");
    values[0] = 1;
    offsets[1] = 1000000000;
    assert_refused(huddle_csr_check(&a), HUDDLE_INVALID, "row 2: offsets go backwards");
    offsets[1] = 1;
    a.values = NULL;
    assert_refused(huddle_csr_check(&a), HUDDLE_INVALID, "no values");
    a.offsets = NULL;
    assert_refused(huddle_csr_check(&a), HUDDLE_INVALID, "invalid sizes");
}

/* ---- from double --------------------------------------------------------------------------- */

static void doubles_in_any_layout_become_points(void **state) {
    (void)state;
    static const double rows[] = {1, 2, 3, 4, 5, 6}, columns[] = {1, 4, 2, 5, 3, 6};
    huddle_points a, b;
    assert_ok(huddle_points_from_double(NULL, 2, 3, rows, 3, 1, &a));
    assert_ok(huddle_points_from_double(NULL, 2, 3, columns, 1, 2, &b));
    for (int k = 0; k < 6; k++)
        assert_true(a.values[k] == (float)(k + 1) && b.values[k] == a.values[k]);
    assert_null(a.shift);
    huddle_points_free(&a);
    huddle_points_free(&b);
}

static void columns_that_float_would_ruin_are_shifted(void **state) {
    (void)state;
    enum { N = 10000 };
    double *values = malloc(3 * N * sizeof *values);
    huddle_context *context;
    huddle_points x, y;
    for (int64_t i = 0; i < N; i++) {
        values[3 * i] = 1.7e9 + 0.001 * (double)(i % 997); /* a time stamp */
        values[3 * i + 1] = sin((double)i);
        values[3 * i + 2] = 1.7e9; /* constant: nothing to save */
    }
    assert_ok(huddle_context_new(&context));
    assert_ok(huddle_context_set_threads(context, 4));
    assert_ok(huddle_points_from_double(NULL, N, 3, values, 3, 1, &x));
    assert_ok(huddle_points_from_double(context, N, 3, values, 3, 1, &y));
    assert_non_null(x.shift);
    assert_true(x.shift[1] == 0 && x.shift[2] == 0);
    for (int64_t i = 0; i < N; i++)
        assert_close((double)x.values[3 * i] + x.shift[0], values[3 * i], 1e-15);
    assert_memory_equal(x.values, y.values, 3 * N * sizeof *x.values);
    assert_memory_equal(x.shift, y.shift, 3 * sizeof *x.shift);
    huddle_points_free(&x);
    huddle_points_free(&y);
    huddle_context_free(context);
    free(values);
}

/* A time stamp alone, and one among others, with the shift of those it will be compared with. */
static void a_single_row_keeps_its_digits(void **state) {
    (void)state;
    static const double row[3] = {1700000000.123, 0.1, 2};
    static const double rows[6] = {1700000000.123, 0.1, 2, 5, 7, 2};
    static const double shift[3] = {1700000001, 0, 0};
    huddle_points x, y, z, none;
    assert_ok(huddle_points_from_double(NULL, 1, 3, row, 3, 1, &x));
    for (int j = 0; j < 3; j++)
        assert_true((double)x.values[j] + (x.shift != NULL ? x.shift[j] : 0) == row[j]);
    assert_true(x.shift[2] == 0);
    assert_ok(huddle_points_from_double_shifted(NULL, 2, 3, rows, 3, 1, shift, &y));
    assert_true(y.values[0] == (float)(row[0] - shift[0]) && y.values[1] == 0.1f);
    assert_memory_equal(y.shift, shift, sizeof shift);
    assert_ok(huddle_points_rebase(NULL, &x, shift, &z));
    assert_memory_equal(z.values, y.values, 3 * sizeof *z.values);
    assert_memory_equal(z.shift, shift, sizeof shift);
    assert_ok(huddle_points_rebase(NULL, &x, NULL, &none));
    assert_true(none.shift == NULL && none.values[0] == (float)row[0]);
    huddle_points_free(&x);
    huddle_points_free(&y);
    huddle_points_free(&z);
    huddle_points_free(&none);
}

static void a_shift_that_leaves_float_is_refused(void **state) {
    (void)state;
    static const double row[2] = {1, 3e38}, shift[2] = {0, -3e38};
    huddle_points x, y;
    assert_refused(huddle_points_from_double_shifted(NULL, 1, 2, row, 2, 1, shift, &x),
                   HUDDLE_INVALID, "row 1, column 2: 3e+38 is beyond single precision");
    assert_ok(huddle_points_from_double_shifted(NULL, 1, 2, row, 2, 1, NULL, &x));
    assert_refused(huddle_points_rebase(NULL, &x, shift, &y), HUDDLE_INVALID,
                   "row 1, column 2: 6e+38 is beyond single precision");
    huddle_points_free(&x);
}

static void doubles_without_a_float_are_named(void **state) {
    (void)state;
    double values[6] = {1, 2, 3, 4, 5, 6};
    huddle_points x;
    values[3] = NAN;
    assert_refused(huddle_points_from_double(NULL, 3, 2, values, 2, 1, &x), HUDDLE_INVALID,
                   "row 2, column 2: the value is not a number");
    values[3] = INFINITY;
    assert_refused(huddle_points_from_double(NULL, 3, 2, values, 2, 1, &x), HUDDLE_INVALID,
                   "row 2, column 2: the value is infinite");
    values[3] = 1e39;
    assert_refused(huddle_points_from_double(NULL, 3, 2, values, 2, 1, &x), HUDDLE_INVALID,
                   "row 2, column 2: 1e+39 is beyond single precision");
    assert_null(x.values);
    assert_refused(huddle_points_from_double(NULL, -3, 2, values, 2, 1, &x), HUDDLE_INVALID,
                   "-3 x 2");
}

/* ---- copies, rows, transposes -------------------------------------------------------------- */

static huddle_csr small_csr(void) {
    static const int32_t columns[] = {1, 3, 0, 1, 2};
    static const int64_t offsets[] = {0, 2, 2, 5};
    huddle_csr a;
    assert_ok(huddle_csr_new(3, 4, 5, &a));
    memcpy(a.offsets, offsets, sizeof offsets);
    memcpy(a.columns, columns, sizeof columns);
    for (int k = 0; k < 5; k++)
        a.values[k] = k + 1;
    return a;
}

static void transposing_twice_gives_the_matrix(void **state) {
    (void)state;
    static const int64_t offsets[] = {0, 1, 3, 4, 5};
    static const int32_t columns[] = {2, 0, 2, 2, 0};
    static const double values[] = {3, 1, 4, 5, 2};
    huddle_csr a = small_csr(), t, back;
    assert_ok(huddle_csr_transpose(&a, &t));
    assert_true(t.rows == 4 && t.cols == 3);
    assert_memory_equal(t.offsets, offsets, sizeof offsets);
    assert_memory_equal(t.columns, columns, sizeof columns);
    assert_memory_equal(t.values, values, sizeof values);
    assert_ok(huddle_csr_check(&t));
    assert_ok(huddle_csr_transpose(&t, &back));
    assert_memory_equal(back.offsets, a.offsets, 4 * sizeof *a.offsets);
    assert_memory_equal(back.columns, a.columns, 5 * sizeof *a.columns);
    assert_memory_equal(back.values, a.values, 5 * sizeof *a.values);
    huddle_csr_free(&a);
    huddle_csr_free(&t);
    huddle_csr_free(&back);
}

static void count_warning(void *user, huddle_log_level level, huddle_warning_code code,
                          const char *text) {
    (void)level;
    *(int *)user += code == HUDDLE_WARNING_INPUT && strstr(text, "row 1, column 2 is 3") != NULL;
}

/* Clears the text when a warning contains it. */
static void find_text(void *user, huddle_log_level level, huddle_warning_code code,
                      const char *text) {
    const char **wanted = user;
    (void)level;
    if (code == HUDDLE_WARNING_INPUT && *wanted != NULL && strstr(text, *wanted) != NULL)
        *wanted = NULL;
}

static void graphs_become_symmetric(void **state) {
    (void)state;
    /* 5 on the diagonal, 3 and 1 in both directions, 4 in one. */
    int64_t offsets[] = {0, 3, 4, 4};
    int32_t columns[] = {0, 1, 2, 0};
    double values[] = {5, 3, 4, 1};
    static const int64_t expected_offsets[] = {0, 3, 4, 5};
    static const int32_t expected_columns[] = {0, 1, 2, 0, 0};
    static const double expected[] = {5, 2, 2, 2, 2};
    huddle_csr matrix = {3, 3, offsets, columns, values, NULL}, part, again;
    huddle_context *context = NULL;
    int warnings = 0;
    assert_ok(huddle_context_new(&context));
    huddle_context_set_log(context, count_warning, &warnings);
    assert_ok(huddle_csr_symmetric_part(context, &matrix, &part));
    assert_int_equal(warnings, 1);
    assert_memory_equal(part.offsets, expected_offsets, sizeof expected_offsets);
    assert_memory_equal(part.columns, expected_columns, sizeof expected_columns);
    assert_memory_equal(part.values, expected, sizeof expected);
    assert_ok(huddle_csr_symmetric_part(context, &part, &again));
    assert_null(again.offsets); /* it is symmetric */
    part.values[1] *= 1 + 1e-10;
    assert_ok(huddle_csr_symmetric_part(context, &part, &again));
    assert_null(again.offsets);
    part.values[1] *= 1 + 1e-8;
    assert_ok(huddle_csr_symmetric_part(context, &part, &again));
    assert_non_null(again.offsets);
    huddle_csr_free(&again);
    part.values[1] = part.values[3] = 1.5e308; /* the sum of both would be infinite */
    part.values[2] = 1;
    assert_ok(huddle_csr_symmetric_part(context, &part, &again));
    assert_true(again.values[1] == 1.5e308);
    huddle_csr_free(&again);
    huddle_csr_free(&part);
    /* A zero that is stored in one direction only. */
    int64_t zero_offsets[] = {0, 0, 1, 3};
    int32_t zero_columns[] = {2, 0, 1};
    double zero_values[] = {7, 0, 7};
    huddle_csr with_zero = {3, 3, zero_offsets, zero_columns, zero_values, NULL};
    assert_ok(huddle_csr_symmetric_part(context, &with_zero, &part));
    assert_null(part.offsets);
    /* An entry before the one that is looked for: (3, 1) where (3, 2) matches (2, 3). */
    const char *before = "row 3, column 1 is 2, row 1, column 3 is 0)";
    double before_values[] = {1, 2, 1};
    with_zero.values = before_values;
    huddle_context_set_log(context, find_text, &before);
    assert_ok(huddle_csr_symmetric_part(context, &with_zero, &part));
    assert_null(before);
    huddle_csr_free(&part);
    matrix.cols = 4;
    assert_refused(huddle_csr_symmetric_part(context, &matrix, &part), HUDDLE_INVALID,
                   "3 x 4 is not a graph");
    huddle_context_free(context);
}

static void rows_are_taken_from_both_kinds(void **state) {
    (void)state;
    static const int64_t index[] = {2, 0, 2}, wrong[] = {0, 3};
    float dense[] = {1, 2, 9, 3, 4, 9, 5, 6, 9}, values[] = {1, 2, 3};
    double shift[] = {10, 20};
    int32_t columns[] = {0, 1, 1};
    int64_t offsets[] = {0, 2, 2, 3};
    huddle_points x = {.n = 3, .d = 2, .stride = 3, .values = dense, .shift = shift}, y;
    huddle_points s = {.n = 3, .d = 2, .values = values, .offsets = offsets, .columns = columns};
    assert_ok(huddle_points_take(&x, index, 3, &y));
    static const float expected[] = {5, 6, 1, 2, 5, 6};
    assert_memory_equal(y.values, expected, sizeof expected);
    assert_memory_equal(y.shift, shift, sizeof shift);
    huddle_points_free(&y);
    assert_ok(huddle_points_take(&s, index, 3, &y));
    static const float sparse[] = {3, 1, 2, 3};
    static const int64_t places[] = {0, 1, 3, 4};
    assert_memory_equal(y.values, sparse, sizeof sparse);
    assert_memory_equal(y.offsets, places, sizeof places);
    assert_ok(huddle_points_check(NULL, &y));
    huddle_points_free(&y);
    assert_refused(huddle_points_take(&x, wrong, 2, &y), HUDDLE_INVALID, "no row 4 among 3 points");
}

static void copies_own_their_arrays(void **state) {
    (void)state;
    float values[] = {1, 2, 9, 3, 4, 9};
    double shift[] = {10, 20}, numbers[] = {1, 2, 0, 3, 4, 0};
    huddle_points x = {.n = 2, .d = 2, .stride = 3, .values = values, .shift = shift}, y;
    huddle_dense m = {2, 2, 3, numbers}, c;
    huddle_csr a = small_csr(), b;
    assert_ok(huddle_points_copy(&x, &y));
    assert_ok(huddle_dense_copy(&m, &c));
    assert_ok(huddle_csr_copy(&a, &b));
    assert_true(y.stride == 2 && y.values[2] == 3 && y.shift[1] == 20 && y.shift != shift);
    assert_true(c.stride == 2 && c.values[3] == 4);
    assert_memory_equal(b.columns, a.columns, 5 * sizeof *a.columns);
    huddle_points_free(&y);
    huddle_dense_free(&c);
    huddle_csr_free(&a);
    huddle_csr_free(&b);
}

static huddle_status use_all(void *argument) {
    static const double values[] = {1e9, 1e9 + 1, 1e9 + 2};
    static const int64_t index[] = {1};
    const huddle_csr *a = argument;
    huddle_points x = {0}, y = {0}, z = {0};
    huddle_csr t = {0}, c = {0};
    huddle_dense d = {0};
    huddle_status status = huddle_points_from_double(NULL, 3, 1, values, 1, 1, &x);
    if (status == HUDDLE_OK)
        status = huddle_points_take(&x, index, 1, &y);
    if (status == HUDDLE_OK)
        status = huddle_points_copy(&x, &z);
    if (status == HUDDLE_OK)
        status = huddle_csr_transpose(a, &t);
    if (status == HUDDLE_OK)
        status = huddle_csr_copy(a, &c);
    if (status == HUDDLE_OK)
        status = huddle_dense_new(2, 2, &d);
    huddle_points_free(&x);
    huddle_points_free(&y);
    huddle_points_free(&z);
    huddle_csr_free(&t);
    huddle_csr_free(&c);
    huddle_dense_free(&d);
    return status;
}

static void every_allocation_may_fail(void **state) {
    (void)state;
    huddle_csr a = small_csr();
    test_each_allocation(use_all, &a);
    huddle_csr_free(&a);
}

/* Into a row between two others, which stay as they are. */
static void entries_are_inserted_by_column(void **state) {
    (void)state;
    static const int32_t given[] = {4, 7, 1, 9, 0, 5}, sorted[] = {0, 1, 4, 5, 7, 9};
    huddle_csr a;
    int64_t end = 1;
    assert_ok(huddle_csr_new(3, 10, 8, &a));
    a.offsets[1] = 1;
    a.offsets[2] = 7;
    a.offsets[3] = 8;
    a.columns[0] = a.columns[7] = 8;
    a.values[0] = a.values[7] = -1;
    for (int k = 0; k < 6; k++)
        hd_csr_insert(&a, 1, &end, given[k], 10 + given[k]);
    assert_int_equal(end, 7);
    for (int k = 0; k < 6; k++) {
        assert_int_equal(a.columns[1 + k], sorted[k]);
        assert_true(a.values[1 + k] == 10 + sorted[k]);
    }
    assert_true(a.columns[0] == 8 && a.columns[7] == 8 && a.values[0] == -1 && a.values[7] == -1);
    huddle_csr_free(&a);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(containers_begin_as_zeros),
        cmocka_unit_test(impossible_sizes_are_refused),
        cmocka_unit_test(dense_points_are_checked),
        cmocka_unit_test(gaps_between_rows_are_not_looked_at),
        cmocka_unit_test(sparse_points_are_checked),
        cmocka_unit_test(graphs_are_checked),
        cmocka_unit_test(doubles_in_any_layout_become_points),
        cmocka_unit_test(columns_that_float_would_ruin_are_shifted),
        cmocka_unit_test(a_single_row_keeps_its_digits),
        cmocka_unit_test(a_shift_that_leaves_float_is_refused),
        cmocka_unit_test(doubles_without_a_float_are_named),
        cmocka_unit_test(transposing_twice_gives_the_matrix),
        cmocka_unit_test(graphs_become_symmetric),
        cmocka_unit_test(rows_are_taken_from_both_kinds),
        cmocka_unit_test(copies_own_their_arrays),
        cmocka_unit_test(entries_are_inserted_by_column),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
