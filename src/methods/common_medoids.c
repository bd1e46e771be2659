/* Medoids among rows that K-means cannot distinguish.
 *
 * Shrinking fuses points: all rows of a group are equally near the centre of their cluster. The
 * medoid, which is shown to users as a typical point, is then the row nearest the mean of the group
 * in the original points or, if there are no points, the row with the largest degree in the graph.
 * Ties are resolved by the smaller index. */
#include "methods/method.h"

#include "base/check.h"
#include "base/slabs.h"

#include <math.h>
#include <string.h>

/* The rows of each cluster that are as near to its centre as its medoid, in ascending order: those
 * of cluster k are rows[offsets[k]] .. rows[offsets[k + 1] - 1]. */
typedef struct tied_rows {
    int64_t *offsets, *rows;
} tied_rows;

static void tied_free(tied_rows *tied) {
    huddle_free(tied->offsets);
    huddle_free(tied->rows);
}

/* A counting sort by cluster. offsets has two leading places instead of one: the last pass advances
 * offsets[k + 1] from the begin of cluster k to its end, which leaves the usual offsets. */
static huddle_status list_tied(const hd_fit_clusters *clusters, int64_t n, tied_rows *tied) {
    huddle_status status = HUDDLE_OK;
    int64_t c = clusters->centres.rows;
    ALLOC_ZERO(tied->offsets, c + 2);
    ALLOC(tied->rows, n);
    for (int64_t i = 0; i < n; i++)
        if (clusters->is_medoid_row[i])
            tied->offsets[clusters->labels[i] + 2]++;
    for (int64_t k = 1; k <= c; k++)
        tied->offsets[k + 1] += tied->offsets[k];
    for (int64_t i = 0; i < n; i++)
        if (clusters->is_medoid_row[i])
            tied->rows[tied->offsets[clusters->labels[i] + 1]++] = i;
done:
    return status;
}

void hd_fit_add_row(const huddle_points *x, int64_t i, double copies, double *sum) {
    if (x->offsets == NULL) {
        for (int64_t j = 0; j < x->d; j++)
            sum[j] += copies * (double)x->values[i * x->stride + j];
        return;
    }
    for (int64_t e = x->offsets[i]; e < x->offsets[i + 1]; e++)
        sum[x->columns[e]] += copies * (double)x->values[e];
}

/* Sparse rows are compared in time proportional to their nonzeros. */
double hd_fit_distance_to(const huddle_points *x, int64_t i, const double *centre,
                          double centre_norm) {
    double square = 0;
    if (x->offsets == NULL) {
        for (int64_t j = 0; j < x->d; j++) {
            double difference = (double)x->values[i * x->stride + j] - centre[j];
            square += difference * difference;
        }
        return square;
    }
    /* ||x - m||^2 = ||m||^2 + sum over the non-zeros of x of x (x - 2 m) */
    square = centre_norm;
    for (int64_t e = x->offsets[i]; e < x->offsets[i + 1]; e++) {
        double value = (double)x->values[e];
        square += value * (value - 2 * centre[x->columns[e]]);
    }
    return square;
}

/* The row nearest the mean of `count` rows and their copies; mean is space for d numbers. The shift
 * of a column is the same for all rows and cancels. The norm of the mean would add the same
 * constant to all distances of sparse rows, so 0 is passed for it. */
static int64_t most_central(const hd_fit_rows *of, const huddle_points *x, const int64_t *rows,
                            int64_t count, double *mean) {
    int64_t best = rows[0];
    double smallest = INFINITY, total = 0;
    memset(mean, 0, (size_t)x->d * sizeof *mean);
    for (int64_t r = 0; r < count; r++) {
        double copies = (double)hd_fit_rows_copies(of, rows[r]);
        hd_fit_add_row(x, hd_fit_rows_point(of, x, rows[r]), copies, mean);
        total += copies;
    }
    for (int64_t j = 0; j < x->d; j++)
        mean[j] /= total;
    for (int64_t r = 0; r < count; r++) {
        double distance = hd_fit_distance_to(x, hd_fit_rows_point(of, x, rows[r]), mean, 0);
        if (distance < smallest) {
            smallest = distance;
            best = rows[r];
        }
    }
    return best;
}

/* The row that is most strongly connected, a central one in the graph. */
static int64_t largest_degree(const huddle_csr *graph, const int64_t *rows, int64_t count) {
    int64_t best = rows[0];
    double largest = -INFINITY;
    for (int64_t r = 0; r < count; r++) {
        double degree = 0;
        for (int64_t e = graph->offsets[rows[r]]; e < graph->offsets[rows[r] + 1]; e++)
            degree += graph->values[e];
        if (degree > largest) {
            largest = degree;
            best = rows[r];
        }
    }
    return best;
}

/* ---- rows on several processes ------------------------------------------------------------- */

/* The means of the tied rows of all processes; c x d. */
static huddle_status mean_of_tied(huddle_context *context, const huddle_points *x,
                                  const hd_fit *fit, double **means) {
    huddle_status status = HUDDLE_OK;
    const hd_fit_clusters *clusters = &fit->clusters;
    int64_t c = clusters->centres.rows, d = x->d;
    double *sums = NULL;
    ALLOC_ZERO(sums, c * (d + 1));
    for (int64_t i = 0; i < fit->rows.n; i++)
        if (clusters->is_medoid_row[i]) {
            double copies = (double)hd_fit_rows_copies(&fit->rows, i);
            hd_fit_add_row(x, hd_fit_rows_point(&fit->rows, x, i), copies,
                           sums + clusters->labels[i] * d);
            sums[c * d + clusters->labels[i]] += copies;
        }
    TRY(hd_reduce_sum(context, c * (d + 1), sums));
    for (int64_t k = 0; k < c; k++)
        for (int64_t j = 0; j < d && sums[c * d + k] > 0; j++)
            sums[k * d + j] /= sums[c * d + k];
    *means = sums;
    sums = NULL;
done:
    huddle_free(sums);
    return status;
}

/* How far tied row i is from being the medoid of its cluster. */
static double measure_row(const huddle_points *points, const huddle_csr *graph, const hd_fit *fit,
                          const double *means, int64_t i) {
    double degree = 0;
    if (points != NULL)
        return hd_fit_distance_to(points, hd_fit_rows_point(&fit->rows, points, i),
                                  means + fit->clusters.labels[i] * points->d, 0);
    for (int64_t e = graph->offsets[i]; e < graph->offsets[i + 1]; e++)
        degree += graph->values[e];
    return -degree;
}

static huddle_status choose_spread(huddle_context *context, const huddle_points *points,
                                   const huddle_csr *graph, hd_fit *fit) {
    huddle_status status = HUDDLE_OK;
    hd_fit_clusters *clusters = &fit->clusters;
    int64_t c = clusters->centres.rows;
    double *means = NULL, *best = NULL;
    if (points != NULL)
        TRY(mean_of_tied(context, points, fit, &means));
    ALLOC(best, c);
    for (int64_t k = 0; k < c; k++) {
        best[k] = INFINITY;
        clusters->medoids[k] = -1;
    }
    for (int64_t i = 0; i < fit->rows.n; i++) {
        int32_t k = clusters->labels[i];
        if (!clusters->is_medoid_row[i])
            continue;
        double distance = measure_row(points, graph, fit, means, i);
        if (distance < best[k]) {
            best[k] = distance;
            clusters->medoids[k] = i;
        }
    }
    TRY(hd_fit_reduce_medoids(context, fit->rows.n, best, clusters));
done:
    huddle_free(means);
    huddle_free(best);
    return status;
}

/* Called once, for the final clusters; trials do not need medoids. */
huddle_status hd_fit_choose_medoids(huddle_context *context, const huddle_points *points,
                                    const huddle_csr *graph, hd_fit *fit) {
    huddle_status status = HUDDLE_OK;
    hd_fit_clusters *clusters = &fit->clusters;
    tied_rows tied = {0};
    double *mean = NULL;
    if (clusters->is_medoid_row == NULL || (points == NULL && graph == NULL))
        return status;
    TRY(points != NULL ? huddle_points_fetch(points) : huddle_csr_fetch(graph));
    if (hd_slabs_spread(context))
        return choose_spread(context, points, graph, fit);
    TRY(list_tied(clusters, fit->rows.n, &tied));
    if (points != NULL)
        ALLOC(mean, points->d);
    for (int64_t k = 0; k < clusters->centres.rows; k++) {
        const int64_t *rows = tied.rows + tied.offsets[k];
        int64_t count = tied.offsets[k + 1] - tied.offsets[k];
        if (count > 1)
            clusters->medoids[k] = points != NULL
                                       ? most_central(&fit->rows, points, rows, count, mean)
                                       : largest_degree(graph, rows, count);
    }
done:
    tied_free(&tied);
    huddle_free(mean);
    return status;
}
