/* Medoids among rows that K-means cannot distinguish.
 *
 * Shrinking fuses points: all rows of a group are equally near the centre of their cluster. The
 * medoid, which is shown to users as a typical point, is then the row nearest the mean of the group
 * in the original points or, if there are no points, the row with the largest degree in the graph.
 * Ties are resolved by the smaller index. */
#include "methods/method.h"

#include "base/check.h"

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

/* Adds a row, as stored, times the number of its copies. */
static void add_row(const huddle_points *x, int64_t i, double copies, double *sum) {
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
        add_row(x, hd_fit_rows_point(of, x, rows[r]), copies, mean);
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

/* Called once, for the final clusters; trials do not need medoids. */
huddle_status hd_fit_choose_medoids(const huddle_points *points, const huddle_csr *graph,
                                    hd_fit *fit) {
    huddle_status status = HUDDLE_OK;
    hd_fit_clusters *clusters = &fit->clusters;
    tied_rows tied = {0};
    double *mean = NULL;
    if (clusters->is_medoid_row == NULL || (points == NULL && graph == NULL))
        return status;
    TRY(points != NULL ? huddle_points_fetch(points) : huddle_csr_fetch(graph));
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
