/* Scores of a labelling against known classes, all computed from the contingency table: ACC (17),
 * NMI (18), purity (19) of docs/method.md, and the adjusted Rand index. Counts are integers, so
 * that the scores do not depend on the order of the points. */
#include "huddle/metrics.h"

#include "base/check.h"
#include "base/slabs.h"
#include "matrix/labels.h"
#include "metrics/table.h"

#include <math.h>
#include <string.h>

/* H in (18). Groups that do not occur are not in the table, so that p > 0. */
static double entropy(int64_t n, int64_t count, const int64_t *sums) {
    double h = 0;
    for (int64_t i = 0; i < count; i++) {
        double p = (double)sums[i] / (double)n;
        h -= p * log(p);
    }
    return h;
}

/* I in (18), the sum of p_ij log(p_ij / (p_i p_j)); rounding could make it negative. */
static double mutual_information(const hd_metrics_table *t) {
    double n = (double)t->n, information = 0;
    for (int64_t i = 0; i < t->rows; i++)
        for (int64_t e = t->offsets[i]; e < t->offsets[i + 1]; e++) {
            double count = (double)t->counts[e];
            double expected = (double)t->row_sums[i] * ((double)t->col_sums[t->columns[e]] / n);
            information += count / n * log(count / expected);
        }
    return fmax(information, 0);
}

/* The exceptions come first: equal partitions give exactly 1, and a labelling with one group has no
 * information (its entropy, a divisor in (18), is 0). */
static double normalised_information(const hd_metrics_table *t) {
    int64_t cells = t->offsets[t->rows];
    if (cells == t->rows && cells == t->cols) /* the same partition: 1 without rounding */
        return 1;
    if (t->rows == 1 || t->cols == 1)
        return 0;
    double h = entropy(t->n, t->rows, t->row_sums) * entropy(t->n, t->cols, t->col_sums);
    return fmin(mutual_information(t) / sqrt(h), 1);
}

/* The number of ordered pairs of points in the same group, each point paired with itself
 * included. */
static double sum_of_squares(int64_t count, const int64_t *numbers) {
    int64_t sum = 0; /* exact: at most n^2 < 2^62 */
    for (int64_t i = 0; i < count; i++)
        sum += numbers[i] * numbers[i];
    return (double)sum;
}

/* Hubert and Arabie (Journal of Classification 1985), from the four counts of ordered pairs of
 * points: in the same group of both labellings, of one of them, of none. `both` first includes the
 * n pairs of a point with itself. If no pair is together in only one labelling, the partitions are
 * equal; the quotient could be 0 / 0. */
static double adjusted_rand(const hd_metrics_table *t) {
    double n = (double)t->n, both = sum_of_squares(t->offsets[t->rows], t->counts);
    double classes = sum_of_squares(t->rows, t->row_sums) - both;
    double clusters = sum_of_squares(t->cols, t->col_sums) - both;
    double neither = n * n - classes - clusters - both;
    both -= n;
    if (classes == 0 && clusters == 0)
        return 1;
    return 2 * (both * neither - classes * clusters) /
           ((both + classes) * (classes + neither) + (both + clusters) * (clusters + neither));
}

/* Equation (19): the share of points in the largest class of their cluster. */
static huddle_status measure_purity(const hd_metrics_table *t, double *share) {
    huddle_status status = HUDDLE_OK;
    int64_t *largest = NULL, sum = 0;
    ALLOC_ZERO(largest, t->cols);
    for (int64_t e = 0; e < t->offsets[t->rows]; e++)
        if (t->counts[e] > largest[t->columns[e]])
            largest[t->columns[e]] = t->counts[e];
    for (int64_t j = 0; j < t->cols; j++)
        sum += largest[j];
    *share = (double)sum / (double)t->n;
done:
    huddle_free(largest);
    return status;
}

/* Equation (17): the share of points on the matched cells. */
static huddle_status measure_accuracy(const hd_metrics_table *t, double *share) {
    huddle_status status = HUDDLE_OK;
    int32_t *row_of = NULL;
    int64_t matched = 0;
    ALLOC(row_of, t->cols);
    TRY(hd_metrics_table_match(t, row_of));
    for (int64_t i = 0; i < t->rows; i++)
        for (int64_t e = t->offsets[i]; e < t->offsets[i + 1]; e++)
            matched += row_of[t->columns[e]] == i ? t->counts[e] : 0;
    *share = (double)matched / (double)t->n;
done:
    huddle_free(row_of);
    return status;
}

/* All scores from one table: the labels are read once. */
huddle_status huddle_metrics_scores(huddle_context *context, int64_t n, const int32_t *truth,
                                    const int32_t *labels, huddle_scores *scores) {
    huddle_status status = HUDDLE_OK;
    hd_metrics_table table = {0};
    if (scores == NULL)
        FAIL(HUDDLE_INVALID, "there is no place for the scores");
    TRY(hd_metrics_table_new(context, n, truth, labels, &table));
    TRY(measure_accuracy(&table, &scores->acc));
    TRY(measure_purity(&table, &scores->purity));
    scores->nmi = normalised_information(&table);
    scores->ari = adjusted_rand(&table);
done:
    hd_metrics_table_free(&table);
    return hd_agree(context, status);
}

/* The dense table with the mapping of clusters to classes that ACC uses. */
huddle_status huddle_metrics_confusion(huddle_context *context, int64_t n, const int32_t *truth,
                                       const int32_t *labels, huddle_confusion *confusion) {
    huddle_status status = HUDDLE_OK;
    hd_metrics_table t = {0};
    if (confusion == NULL)
        return hd_agree(context,
                        hd_fail(HUDDLE_INVALID, "there is no place for the confusion table"));
    memset(confusion, 0, sizeof *confusion);
    TRY(hd_metrics_table_new(context, n, truth, labels, &t));
    confusion->n_classes = t.rows;
    confusion->n_clusters = t.cols;
    ALLOC_ZERO(confusion->counts, t.rows * t.cols);
    ALLOC(confusion->match, t.cols);
    TRY(hd_metrics_table_match(&t, confusion->match));
    for (int64_t i = 0; i < t.rows; i++)
        for (int64_t e = t.offsets[i]; e < t.offsets[i + 1]; e++)
            confusion->counts[i * t.cols + t.columns[e]] = t.counts[e];
    confusion->classes = t.classes;
    confusion->clusters = t.clusters;
    t.classes = t.clusters = NULL;
done:
    hd_metrics_table_free(&t);
    if (status != HUDDLE_OK)
        huddle_confusion_free(confusion);
    return hd_agree(context, status);
}

void huddle_confusion_free(huddle_confusion *confusion) {
    FREE(confusion->counts, confusion->classes, confusion->clusters, confusion->match);
    memset(confusion, 0, sizeof *confusion);
}

/* The clusters of this process's points are renumbered by a mapping that depends on all points. */
huddle_status huddle_metrics_renumber(huddle_context *context, int64_t n, const int32_t *reference,
                                      int32_t *labels) {
    huddle_status status = HUDDLE_OK;
    hd_metrics_table table = {0};
    int32_t *row_of = NULL, *ranks = NULL;
    int64_t count;
    TRY(hd_metrics_table_new(context, n, reference, labels, &table));
    if (table.cols > table.rows)
        FAIL(HUDDLE_INVALID, "%lld clusters cannot be numbered by %lld classes",
             (long long)table.cols, (long long)table.rows);
    ALLOC(row_of, table.cols);
    ALLOC(ranks, n);
    TRY(hd_metrics_table_match(&table, row_of));
    TRY(hd_rank_labels(context, n, labels, ranks, &count, NULL));
    for (int64_t i = 0; i < n; i++)
        labels[i] = table.classes[row_of[ranks[i]]];
done:
    hd_metrics_table_free(&table);
    FREE(row_of, ranks);
    return hd_agree(context, status);
}
