/* metrics: scores against known classes, beside scikit-learn and SciPy. */
#include "base/rng.h"
#include "huddle/metrics.h"
#include "support/support.h"

#include <math.h>
#include <stdlib.h>

/* Reads whole numbers on from a golden file's. */
static int32_t *take_labels(const double **at, int64_t n) {
    int32_t *labels = malloc((size_t)n * sizeof *labels);
    for (int64_t i = 0; i < n; i++)
        labels[i] = (int32_t) * (*at)++;
    return labels;
}

static void scores_agree_with_scikit_learn(void **state) {
    (void)state;
    int64_t count;
    double *numbers = test_golden("metrics_scores.txt", &count);
    const double *at = numbers;
    int64_t cases = (int64_t)*at++;
    assert_true(cases > 15);
    for (int64_t k = 0; k < cases; k++) {
        int64_t n = (int64_t)*at++;
        int32_t *truth = take_labels(&at, n), *labels = take_labels(&at, n);
        huddle_scores scores, again;
        assert_ok(huddle_metrics_scores(NULL, n, truth, labels, &scores));
        assert_close(scores.acc, at[0], 1e-12);
        assert_close(scores.nmi, at[1], 1e-12);
        assert_close(scores.ari, at[2], 1e-12);
        assert_close(scores.purity, at[3], 1e-12);
        assert_ok(huddle_metrics_scores(NULL, n, labels, truth, &again));
        assert_close(again.acc, scores.acc, 0);
        assert_close(again.nmi, scores.nmi, 1e-14);
        assert_close(again.ari, scores.ari, 1e-14);
        at += 4;
        free(truth);
        free(labels);
    }
    assert_int_equal(at - numbers, count);
    free(numbers);
}

static void a_perfect_labelling_scores_exactly_one(void **state) {
    (void)state;
    enum { N = 1000 };
    int32_t truth[N], labels[N];
    for (int32_t i = 0; i < N; i++) {
        truth[i] = i % 7;
        labels[i] = 100 - 3 * (i % 7);
    }
    huddle_scores scores;
    assert_ok(huddle_metrics_scores(NULL, N, truth, labels, &scores));
    assert_true(scores.acc == 1 && scores.nmi == 1 && scores.ari == 1 && scores.purity == 1);
}

static void the_confusion_table_counts_and_matches(void **state) {
    (void)state;
    static const int32_t truth[] = {5, 5, 5, -1, -1, 9, 9, 9, 9};
    static const int32_t labels[] = {2, 2, 0, 0, 0, 7, 7, 3, 7};
    static const int64_t counts[] = {2, 0, 0, 0, 1, 2, 0, 0, 0, 0, 1, 3};
    static const int32_t classes[] = {-1, 5, 9}, clusters[] = {0, 2, 3, 7}, match[] = {0, 1, -1, 2};
    huddle_confusion table;
    assert_ok(huddle_metrics_confusion(NULL, 9, truth, labels, &table));
    assert_int_equal(table.n_classes, 3);
    assert_int_equal(table.n_clusters, 4);
    assert_memory_equal(table.counts, counts, sizeof counts);
    assert_memory_equal(table.classes, classes, sizeof classes);
    assert_memory_equal(table.clusters, clusters, sizeof clusters);
    assert_memory_equal(table.match, match, sizeof match);
    huddle_confusion_free(&table);
    assert_null(table.counts);
}

/* Every class and every cluster is matched as far as the smaller side reaches, also where the
 * common count is 0. */
static void a_match_is_full(void **state) {
    (void)state;
    static const int32_t truth[] = {0, 1, 2, 3, 3}, labels[] = {0, 0, 0, 1, 2};
    for (int turned = 0; turned < 2; turned++) {
        huddle_confusion table;
        int matched = 0, seen[4] = {0};
        assert_ok(huddle_metrics_confusion(NULL, 5, turned ? labels : truth,
                                           turned ? truth : labels, &table));
        for (int64_t j = 0; j < table.n_clusters; j++)
            if (table.match[j] >= 0) {
                matched++;
                assert_int_equal(seen[table.match[j]]++, 0);
            }
        assert_int_equal(matched, 3);
        huddle_confusion_free(&table);
    }
}

static void assignments_agree_with_scipy(void **state) {
    (void)state;
    int64_t count;
    double *numbers = test_golden("metrics_assign.txt", &count);
    const double *at = numbers;
    for (int64_t cases = (int64_t)*at++; cases > 0; cases--) {
        int64_t rows = (int64_t)at[0], cols = (int64_t)at[1], matched = 0;
        const double *value = at + 2;
        int32_t column_of[64];
        int taken[64] = {0};
        double sum = 0;
        assert_ok(huddle_metrics_assign(rows, cols, value, column_of));
        for (int64_t i = 0; i < rows; i++)
            if (column_of[i] >= 0) {
                matched++;
                assert_int_equal(taken[column_of[i]]++, 0);
                sum += value[i * cols + column_of[i]];
            }
        assert_int_equal(matched, rows < cols ? rows : cols);
        assert_close(sum, value[rows * cols], 1e-12);
        at = value + rows * cols + 1;
    }
    assert_int_equal(at - numbers, count);
    free(numbers);
}

/* The sparse matching of the scores against the dense assignment of the same table. */
static void both_matchings_agree(void **state) {
    (void)state;
    enum { N = 4000 };
    static int32_t truth[N], labels[N];
    hd_rng rng = hd_rng_stream(11, 0);
    for (int64_t classes = 1; classes <= 300; classes = classes * 3 + 1) {
        huddle_confusion table;
        huddle_scores scores;
        double *value, sum = 0;
        int32_t *column_of;
        for (int64_t i = 0; i < N; i++) {
            truth[i] = (int32_t)hd_rng_below(&rng, classes);
            labels[i] = hd_rng_below(&rng, 3) == 0 ? truth[i] : (int32_t)hd_rng_below(&rng, 90);
        }
        assert_ok(huddle_metrics_scores(NULL, N, truth, labels, &scores));
        assert_ok(huddle_metrics_confusion(NULL, N, truth, labels, &table));
        int64_t cells = table.n_classes * table.n_clusters;
        value = malloc((size_t)cells * sizeof *value);
        column_of = malloc((size_t)table.n_classes * sizeof *column_of);
        for (int64_t e = 0; e < cells; e++)
            value[e] = (double)table.counts[e];
        assert_ok(huddle_metrics_assign(table.n_classes, table.n_clusters, value, column_of));
        for (int64_t i = 0; i < table.n_classes; i++)
            sum += column_of[i] < 0 ? 0 : value[i * table.n_clusters + column_of[i]];
        assert_close(scores.acc, sum / N, 1e-15);
        free(value);
        free(column_of);
        huddle_confusion_free(&table);
    }
}

/* Thousands of classes and clusters, and as many clusters as points, take seconds at most. */
/* Clusters take the numbers of the classes that they share most points with, and all points of a
 * cluster the same. */
static void clusters_are_renumbered_by_a_model(void **state) {
    (void)state;
    static const int32_t model[] = {5, 5, 5, -2, -2, 8, 8, 8, 8};
    int32_t labels[] = {0, 0, 1, 1, 1, 2, 2, 0, 2}, more[] = {0, 1, 2, 3, 3, 3, 3, 3, 3};
    static const int32_t expected[] = {5, 5, -2, -2, -2, 8, 8, 5, 8};
    assert_ok(huddle_metrics_renumber(NULL, 9, model, labels));
    assert_memory_equal(labels, expected, sizeof expected);
    assert_refused(huddle_metrics_renumber(NULL, 9, model, more), HUDDLE_INVALID,
                   "4 clusters cannot be numbered by 3 classes");
}

static void thousands_of_clusters_are_fine(void **state) {
    (void)state;
    enum { N = 100000, CLASSES = 4000 };
    int32_t *truth = malloc(N * sizeof *truth), *labels = malloc(N * sizeof *labels);
    hd_rng rng = hd_rng_stream(5, 0);
    huddle_scores scores;
    for (int32_t i = 0; i < N; i++) {
        truth[i] = (int32_t)hd_rng_below(&rng, CLASSES);
        labels[i] = hd_rng_below(&rng, 2) == 0 ? truth[i] : (int32_t)hd_rng_below(&rng, CLASSES);
    }
    assert_ok(huddle_metrics_scores(NULL, N, truth, labels, &scores));
    assert_true(scores.acc > 0.49 && scores.acc < 0.52);
    for (int32_t i = 0; i < N; i++)
        labels[i] = i;
    assert_ok(huddle_metrics_scores(NULL, N, truth, labels, &scores));
    assert_close(scores.acc, (double)CLASSES / N, 1e-15);
    assert_true(scores.purity == 1);
    free(truth);
    free(labels);
}

static void bad_input_is_refused(void **state) {
    (void)state;
    static const int32_t labels[] = {0, 1};
    static const double value[] = {1, NAN}, infinite[] = {INFINITY};
    huddle_scores scores;
    huddle_confusion table;
    int32_t column_of[2];
    assert_refused(huddle_metrics_scores(NULL, 0, labels, labels, &scores), HUDDLE_INVALID,
                   "n = 0");
    assert_refused(huddle_metrics_scores(NULL, -3, labels, labels, &scores), HUDDLE_INVALID,
                   "n = -3");
    assert_refused(huddle_metrics_scores(NULL, 2, NULL, labels, &scores), HUDDLE_INVALID,
                   "missing");
    assert_refused(huddle_metrics_scores(NULL, 2, labels, NULL, &scores), HUDDLE_INVALID,
                   "missing");
    assert_refused(huddle_metrics_scores(NULL, 2, labels, labels, NULL), HUDDLE_INVALID,
                   "no place");
    assert_refused(huddle_metrics_confusion(NULL, 0, labels, labels, &table), HUDDLE_INVALID,
                   "n = 0");
    assert_refused(huddle_metrics_confusion(NULL, 2, labels, labels, NULL), HUDDLE_INVALID,
                   "no place");
    assert_refused(huddle_metrics_assign(0, 2, value, column_of), HUDDLE_INVALID, "0 rows");
    assert_refused(huddle_metrics_assign(1, 2, value, column_of), HUDDLE_INVALID,
                   "row 1, column 2: the value is not a number");
    assert_refused(huddle_metrics_assign(1, 1, infinite, column_of), HUDDLE_INVALID, "infinite");
    assert_refused(huddle_metrics_assign(1, 2, NULL, column_of), HUDDLE_INVALID, "no values");
}

static huddle_status use_all(void *argument) {
    static const int32_t truth[] = {0, 0, 1, 1, 2, 3}, labels[] = {4, 4, 1, 4, 2, 2};
    static const double value[] = {1, 2, 3, 4, 5, 6};
    huddle_scores scores;
    huddle_confusion table = {0};
    int32_t column_of[3];
    (void)argument;
    huddle_status status = huddle_metrics_scores(NULL, 6, truth, labels, &scores);
    if (status == HUDDLE_OK)
        status = huddle_metrics_confusion(NULL, 6, truth, labels, &table);
    huddle_confusion_free(&table);
    return status == HUDDLE_OK ? huddle_metrics_assign(3, 2, value, column_of) : status;
}

static void every_allocation_may_fail(void **state) {
    (void)state;
    test_each_allocation(use_all, NULL);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(scores_agree_with_scikit_learn),
        cmocka_unit_test(a_perfect_labelling_scores_exactly_one),
        cmocka_unit_test(the_confusion_table_counts_and_matches),
        cmocka_unit_test(a_match_is_full),
        cmocka_unit_test(assignments_agree_with_scipy),
        cmocka_unit_test(both_matchings_agree),
        cmocka_unit_test(clusters_are_renumbered_by_a_model),
        cmocka_unit_test(thousands_of_clusters_are_fine),
        cmocka_unit_test(bad_input_is_refused),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
