/* methods: the rotation of ncut, on rows whose best rotation is known or where rounding could
 * choose one. */
#include "base/rng.h"
#include "huddle/metrics.h"
#include "steps/rotation.h"
#include "support/support.h"

#include <math.h>
#include <string.h>

enum { N = 400, C = 20, STARTS = 8 };

/* Two orthogonal matrices: the discrete cosine transform, and a reflection, whose rows are equally
 * far from many axes. */
typedef enum basis { COSINE, REFLECTION } basis;

static double entry(basis kind, int64_t k, int64_t j) {
    if (kind == REFLECTION)
        return (k == j) - 2.0 / C;
    return sqrt((k == 0 ? 1.0 : 2.0) / C) * cos(acos(-1) * ((double)j + .5) * (double)k / C);
}

/* Rows near the first ones of an orthogonal matrix, with `noise` in every direction, scaled to norm
 * 1. */
static huddle_dense noisy_axes(basis kind, int64_t clusters, double noise, uint64_t seed) {
    huddle_dense rows;
    hd_rng rng = hd_rng_stream(seed, 0);
    assert_ok(huddle_dense_new(N, C, &rows));
    for (int64_t i = 0; i < N; i++) {
        double *row = rows.values + i * rows.stride, square = 0;
        for (int64_t j = 0; j < C; j++) {
            row[j] = entry(kind, i % clusters, j) + noise * hd_rng_normal(&rng);
            square += row[j] * row[j];
        }
        for (int64_t j = 0; j < C; j++)
            row[j] /= sqrt(square);
    }
    return rows;
}

/* Changes rows as another order of summation would. */
static void round_differently(huddle_dense *rows, uint64_t seed) {
    hd_rng rng = hd_rng_stream(99, seed);
    for (int64_t e = 0; e < N * C; e++)
        rows->values[e] *= 1 + 1e-13 * hd_rng_normal(&rng);
}

static void assert_rotation(const huddle_dense *rotation) {
    for (int64_t a = 0; a < C; a++)
        for (int64_t b = 0; b <= a; b++) {
            double product = 0;
            for (int64_t j = 0; j < C; j++)
                product += rotation->values[j * C + a] * rotation->values[j * C + b];
            assert_close(product, a == b, 1e-9);
        }
}

static double agreement(const int32_t *a, const int32_t *b) {
    huddle_scores scores;
    assert_ok(huddle_metrics_scores(NULL, N, a, b, &scores));
    return scores.ari;
}

/* Each start by itself: rows that differ by rounding have the same labels. */
static void rounding_does_not_choose_the_start(void **state) {
    (void)state;
    for (uint64_t seed = 0; seed < STARTS; seed++) {
        huddle_dense rows = noisy_axes(COSINE, C, .2, seed), first = {0}, second = {0};
        int32_t before[N], after[N];
        assert_ok(hd_step_rotation_find(NULL, &rows, 1, 0, before, &first, NULL, NULL));
        round_differently(&rows, seed);
        assert_ok(hd_step_rotation_find(NULL, &rows, 1, 0, after, &second, NULL, NULL));
        assert_rotation(&first);
        assert_close(agreement(before, after), 1, 1e-12);
        huddle_dense_free(&rows);
        huddle_dense_free(&first);
        huddle_dense_free(&second);
    }
}

/* One start finds clusters that are clear, however many there are. */
static void clear_clusters_are_found_from_any_row(void **state) {
    (void)state;
    huddle_dense rows = noisy_axes(COSINE, C, .12, 1), rotation = {0};
    int32_t labels[N], truth[N];
    for (int64_t i = 0; i < N; i++)
        truth[i] = (int32_t)(i % C);
    assert_ok(hd_step_rotation_find(NULL, &rows, 1, 0, labels, &rotation, NULL, NULL));
    assert_close(agreement(truth, labels), 1, 1e-12);
    huddle_dense_free(&rotation);
    huddle_dense_free(&rows);
}

/* Fewer directions than columns, and rows of zeros, the first one among them: what the rows do not
 * determine is not left to rounding either. */
static void check_few_directions(basis kind) {
    huddle_dense rows = noisy_axes(kind, C, 0, 1), rotation = {0}, again = {0};
    int32_t labels[N];
    for (int64_t i = 3; i < N; i++)
        memcpy(rows.values + i * C, rows.values + i % 3 * C, C * sizeof *rows.values);
    for (int64_t i = 0; i < 3; i++)
        memset(rows.values + i * C, 0, C * sizeof *rows.values);
    assert_ok(hd_step_rotation_find(NULL, &rows, 2, 0, labels, &rotation, NULL, NULL));
    assert_rotation(&rotation);
    for (int64_t i = 6; i < N; i++)
        assert_int_equal(labels[i], labels[i - 3]);
    assert_true(labels[3] != labels[4] && labels[4] != labels[5] && labels[5] != labels[3]);
    round_differently(&rows, 0);
    assert_ok(hd_step_rotation_find(NULL, &rows, 2, 0, labels, &again, NULL, NULL));
    for (int64_t e = 0; e < C * C; e++)
        assert_close(again.values[e], rotation.values[e], 1e-6);
    huddle_dense_free(&again);
    huddle_dense_free(&rotation);
    huddle_dense_free(&rows);
}

static void rows_of_few_directions_are_rotated(void **state) {
    (void)state;
    check_few_directions(COSINE);
    check_few_directions(REFLECTION);
}

/* Axes without rows are determined too: where they are decides which rows come to them later. */
static void rounding_does_not_choose_empty_axes(void **state) {
    (void)state;
    for (uint64_t seed = 0; seed < STARTS; seed++) {
        huddle_dense rows = noisy_axes(COSINE, C / 2, .1, seed), first = {0}, second = {0};
        int32_t before[N], after[N], sizes[C] = {0}, empty = 0;
        assert_ok(hd_step_rotation_find(NULL, &rows, 1, 0, before, &first, NULL, NULL));
        round_differently(&rows, seed);
        assert_ok(hd_step_rotation_find(NULL, &rows, 1, 0, after, &second, NULL, NULL));
        assert_memory_equal(before, after, sizeof before);
        for (int64_t i = 0; i < N; i++)
            sizes[before[i]]++;
        for (int64_t k = 0; k < C; k++)
            empty += sizes[k] == 0;
        assert_true(empty > 0);
        for (int64_t e = 0; e < C * C; e++)
            assert_true(fabs(second.values[e] - first.values[e]) <= 1e-6);
        huddle_dense_free(&rows);
        huddle_dense_free(&first);
        huddle_dense_free(&second);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rounding_does_not_choose_the_start),
        cmocka_unit_test(clear_clusters_are_found_from_any_row),
        cmocka_unit_test(rows_of_few_directions_are_rotated),
        cmocka_unit_test(rounding_does_not_choose_empty_axes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
