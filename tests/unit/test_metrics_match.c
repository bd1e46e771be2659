/* metrics: the largest sum of a one-to-one mapping, of a sparse table and of dense values, beside
 * all mappings of small tables and those of SciPy. */
#include "base/rng.h"
#include "huddle/metrics.h"
#include "metrics/table.h"
#include "support/support.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_SIDE = 60, MAX_CELLS = MAX_SIDE * MAX_SIDE };

typedef struct grid {
    int64_t rows, cols;
    int64_t cell[MAX_CELLS];
} grid;

/* ---- the two solvers ------------------------------------------------------------------------ */

/* The sum of the sparse matching, which is checked to be one-to-one and as large as possible. */
static int64_t sparse_sum(const grid *g) {
    static int64_t offsets[MAX_SIDE + 1], counts[MAX_CELLS];
    static int32_t columns[MAX_CELLS];
    int64_t cells = 0, matched = 0, sum = 0;
    int32_t row_of[MAX_SIDE];
    bool taken[MAX_SIDE] = {false};
    for (int64_t i = 0; i < g->rows; i++) {
        for (int64_t j = 0; j < g->cols; j++)
            if (g->cell[i * g->cols + j] > 0) {
                columns[cells] = (int32_t)j;
                counts[cells++] = g->cell[i * g->cols + j];
            }
        offsets[i + 1] = cells;
    }
    hd_metrics_table table = {
        .rows = g->rows, .cols = g->cols, .offsets = offsets, .columns = columns, .counts = counts};
    assert_ok(hd_metrics_table_match(&table, row_of));
    for (int64_t j = 0; j < g->cols; j++) {
        if (row_of[j] < 0)
            continue;
        assert_true(row_of[j] < g->rows && !taken[row_of[j]]);
        taken[row_of[j]] = true;
        matched++;
        sum += g->cell[row_of[j] * g->cols + j];
    }
    assert_int_equal(matched, g->rows < g->cols ? g->rows : g->cols);
    return sum;
}

/* Likewise of the dense assignment, with `offset` added to all values; those may be negative. */
static int64_t dense_sum(const grid *g, int64_t offset) {
    static double value[MAX_CELLS];
    int32_t column_of[MAX_SIDE];
    bool taken[MAX_SIDE] = {false};
    int64_t matched = 0, sum = 0;
    for (int64_t e = 0; e < g->rows * g->cols; e++)
        value[e] = (double)(g->cell[e] + offset);
    assert_ok(huddle_metrics_assign(g->rows, g->cols, value, column_of));
    for (int64_t i = 0; i < g->rows; i++) {
        if (column_of[i] < 0)
            continue;
        assert_true(column_of[i] < g->cols && !taken[column_of[i]]);
        taken[column_of[i]] = true;
        matched++;
        sum += g->cell[i * g->cols + column_of[i]];
    }
    assert_int_equal(matched, g->rows < g->cols ? g->rows : g->cols);
    return sum;
}

static void assert_sum(const grid *g, int64_t expected) {
    assert_int_equal(sparse_sum(g), expected);
    assert_int_equal(dense_sum(g, 0), expected);
    assert_int_equal(dense_sum(g, -50), expected); /* the same mappings are best */
}

/* ---- small tables: all mappings ------------------------------------------------------------- */

/* The best of rows i and later in the columns that are not taken. Cells are not negative, so that a
 * row left over loses nothing that a complete mapping would not. */
static int64_t best_from(const grid *g, int64_t i, unsigned taken) {
    if (i == g->rows)
        return 0;
    int64_t best = best_from(g, i + 1, taken);
    for (int64_t j = 0; j < g->cols; j++) {
        if ((taken >> j & 1) != 0)
            continue;
        int64_t sum = g->cell[i * g->cols + j] + best_from(g, i + 1, taken | 1u << j);
        best = sum > best ? sum : best;
    }
    return best;
}

static void small_tables_are_matched_as_by_trying_all(void **state) {
    (void)state;
    static const int64_t largest[] = {1, 2, 9, 1000, INT64_C(1) << 44};
    static grid g;
    hd_rng rng = hd_rng_stream(7, 0);
    for (int trial = 0; trial < 20000; trial++) {
        g.rows = 1 + hd_rng_below(&rng, 5);
        g.cols = 1 + hd_rng_below(&rng, 5);
        int64_t most = largest[trial % 5], zeros = trial / 5 % 4; /* of four cells */
        for (int64_t e = 0; e < g.rows * g.cols; e++)
            g.cell[e] = hd_rng_below(&rng, 4) < zeros ? 0 : hd_rng_below(&rng, most + 1);
        assert_sum(&g, best_from(&g, 0, 0));
    }
}

/* Rows that give up their columns: {5, 0, 0}, {7, 0, 0}, {0, 1, 1} is 7 + 1, not 5 + 1. */
static void a_class_may_stay_without_a_cluster(void **state) {
    (void)state;
    static const int32_t sizes[] = {5, 7, 2}, n = 14;
    int32_t truth[14], labels[14];
    huddle_scores scores;
    for (int32_t i = 0, k = 0; k < 3; k++)
        for (int32_t c = 0; c < sizes[k]; c++, i++) {
            truth[i] = k;
            labels[i] = i < 12 ? 0 : i - 11;
        }
    assert_ok(huddle_metrics_scores(NULL, n, truth, labels, &scores));
    assert_close(scores.acc, 8.0 / 14, 1e-15);
}

/* ---- tables of all kinds: SciPy ------------------------------------------------------------- */

/* SplitMix64, as in make_matching.py. */
static int64_t next_draw(uint64_t *state) {
    uint64_t z = *state += 0x9E3779B97F4A7C15;
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9;
    z = (z ^ z >> 27) * 0x94D049BB133111EB;
    return (int64_t)((z ^ z >> 31) >> 11);
}

/* fill() of make_matching.py. */
static int64_t make_cell(int kind, int64_t i, int64_t j, int64_t cols, int64_t seed, int64_t draw) {
    switch (kind) {
    case 0:
        return draw % 10 > 6 ? draw % 10 - 6 : 0;
    case 1:
        return draw % 101;
    case 2:
        return draw % (INT64_C(1) << 40);
    case 3:
        return (i + 1) * (j + 1) + draw % 3;
    case 4:
        return i % 3 == 0 || j % 4 == 1 ? 0 : draw % 5;
    case 5:
        return ((i * 7 + 3) % cols == j ? 900 : 0) + draw % 2;
    case 6:
        return seed % 3;
    case 7:
        return (i / 2 * 31 + j % 5 * 17 + seed) % 7;
    default:
        return j < 1 + cols / 4 ? draw % 12 : draw % 13 / 12;
    }
}

/* Thousands of tables, rectangular and degenerate ones among them; each is turned as well. */
static void tables_are_matched_as_by_scipy(void **state) {
    (void)state;
    static grid g, turned;
    int64_t count;
    double *numbers = test_golden("metrics_match.txt", &count);
    assert_int_equal(count, 1 + 5 * (int64_t)numbers[0]);
    assert_true(numbers[0] > 4000);
    for (const double *at = numbers + 1; at < numbers + count; at += 5) {
        uint64_t random = (uint64_t)at[3];
        g.rows = turned.cols = (int64_t)at[1];
        g.cols = turned.rows = (int64_t)at[2];
        for (int64_t i = 0; i < g.rows; i++)
            for (int64_t j = 0; j < g.cols; j++) {
                int64_t cell =
                    make_cell((int)at[0], i, j, g.cols, (int64_t)at[3], next_draw(&random));
                g.cell[i * g.cols + j] = turned.cell[j * g.rows + i] = cell;
            }
        assert_sum(&g, (int64_t)at[4]);
        assert_sum(&turned, (int64_t)at[4]);
    }
    free(numbers);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(small_tables_are_matched_as_by_trying_all),
        cmocka_unit_test(a_class_may_stay_without_a_cluster),
        cmocka_unit_test(tables_are_matched_as_by_scipy),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
