/* Medoids: for each cluster the row that is shown to users as a typical point, the nearest to its
 * centre. Ties are resolved by the smaller index.
 *
 * Shrinking fuses points: all rows of a group are equally near the centre of their cluster. Among
 * rows that K-means cannot distinguish the medoid is the row nearest the mean of the group in the
 * original points or, if there are no points, the row with the largest degree in the graph. */
#include "steps/medoids.h"

#include "base/check.h"
#include "base/slabs.h"

#include <math.h>
#include <string.h>

/* ---- the nearest row ----------------------------------------------------------------------- */

/* Two reductions: the smallest distance, then the smallest row number among those that attain it.
 * Row numbers are below 2^53 and exact as doubles. */
huddle_status hd_step_reduce_medoids(huddle_context *context, int64_t n, double *distances,
                                     hd_fit_clusters *clusters) {
    huddle_status status = HUDDLE_OK;
    int64_t c = clusters->centres.rows;
    double *least = NULL, *row = NULL;
    hd_slab slab;
    if (hd_context_engine(context)->slabs == NULL)
        return status;
    TRY(hd_slab_locate(context, n, &slab));
    ALLOC(least, c);
    ALLOC(row, c);
    memcpy(least, distances, (size_t)c * sizeof *least);
    TRY(hd_reduce_min(context, c, least));
    for (int64_t k = 0; k < c; k++) {
        int64_t medoid = clusters->medoids[k];
        row[k] = medoid >= 0 && distances[k] == least[k] ? (double)(slab.first + medoid) : INFINITY;
    }
    memcpy(least, row, (size_t)c * sizeof *least);
    TRY(hd_reduce_min(context, c, least));
    for (int64_t k = 0; k < c; k++)
        if (row[k] != least[k] || row[k] == INFINITY)
            clusters->medoids[k] = -1;
done:
    FREE(least, row);
    return status;
}

/* Sequential, because the result must not depend on the number of threads and the loop is cheap
 * compared with K-means. */
huddle_status hd_step_find_medoids(huddle_context *context, int64_t n, hd_step_distance *distance,
                                   const void *of, hd_fit_clusters *clusters) {
    huddle_status status = HUDDLE_OK;
    int64_t c = clusters->centres.rows;
    double *best = NULL;
    huddle_free(clusters->medoids);
    clusters->medoids = NULL;
    ALLOC(best, c);
    ALLOC(clusters->medoids, c);
    for (int64_t k = 0; k < c; k++) {
        best[k] = INFINITY;
        /* Remains -1 for an empty cluster. */
        clusters->medoids[k] = -1;
    }
    for (int64_t i = 0; i < n; i++) {
        int32_t k = clusters->labels[i];
        double from_centre = distance(of, i, k);
        if (from_centre < best[k]) {
            best[k] = from_centre;
            clusters->medoids[k] = i;
        }
    }
    TRY(hd_step_reduce_medoids(context, n, best, clusters));
done:
    huddle_free(best);
    return status;
}

/* ---- of points ----------------------------------------------------------------------------- */

/* Adds row i of x, as stored, times the number of its copies. */
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
double hd_step_distance_to(const huddle_points *x, int64_t i, const double *centre,
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

huddle_status hd_step_cluster_means(huddle_context *context, const hd_fit_rows *rows,
                                    const int32_t *labels, const bool *counts,
                                    const huddle_points *x, int64_t c, double **means) {
    huddle_status status = HUDDLE_OK;
    int64_t d = x->d;
    double *sums = NULL;
    ALLOC_ZERO(sums, c * (d + 1));
    for (int64_t i = 0; i < rows->n; i++) {
        if (counts != NULL && !counts[i])
            continue;
        double copies = (double)hd_fit_rows_copies(rows, i);
        add_row(x, hd_fit_rows_point(rows, x, i), copies, sums + labels[i] * d);
        sums[c * d + labels[i]] += copies;
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

/* Only sparse points use the norms, and these have no shift. */
huddle_status hd_step_stored_centres(const huddle_points *points, const huddle_dense *centres,
                                     double **stored, double **norms) {
    huddle_status status = HUDDLE_OK;
    int64_t c = centres->rows, d = centres->cols;
    ALLOC(*stored, c * d);
    ALLOC_ZERO(*norms, c);
    for (int64_t k = 0; k < c; k++)
        for (int64_t j = 0; j < d; j++) {
            double value = centres->values[k * centres->stride + j];
            (*stored)[k * d + j] = value - (points->shift != NULL ? points->shift[j] : 0);
            (*norms)[k] += value * value;
        }
done:
    return status;
}

/* Rows as points, and the centres in their values. */
typedef struct centred_points {
    const huddle_points *points;
    const int32_t *of; /* row i is point of[i]; NULL: point i */
    double *centres, *norms;
} centred_points;

static double distance_of_point(const void *of, int64_t row, int32_t cluster) {
    const centred_points *p = of;
    return hd_step_distance_to(p->points, p->of != NULL ? p->of[row] : row,
                               p->centres + cluster * p->points->d, p->norms[cluster]);
}

huddle_status hd_step_medoids_of_points(huddle_context *context, const huddle_points *points,
                                        const int32_t *of, int64_t n, hd_fit_clusters *clusters) {
    huddle_status status = HUDDLE_OK;
    centred_points p = {.points = points, .of = of};
    TRY(huddle_points_fetch(points));
    TRY(huddle_dense_fetch(&clusters->centres));
    TRY(hd_step_stored_centres(points, &clusters->centres, &p.centres, &p.norms));
    TRY(hd_step_find_medoids(context, n, distance_of_point, &p, clusters));
done:
    FREE(p.centres, p.norms);
    return status;
}

/* ---- of rows of a matrix ------------------------------------------------------------------- */

/* The process that has a medoid gives its row; the others take part in the maximum. */
huddle_status hd_step_mark_medoids(huddle_context *context, const huddle_dense *matrix,
                                   hd_fit_clusters *clusters) {
    huddle_status status = HUDDLE_OK;
    int64_t d = matrix->cols, c = clusters->centres.rows;
    double *medoids = NULL;
    ALLOC(medoids, c * d);
    for (int64_t k = 0; k < c; k++)
        for (int64_t j = 0; j < d; j++)
            medoids[k * d + j] = clusters->medoids[k] >= 0
                                     ? matrix->values[clusters->medoids[k] * matrix->stride + j]
                                     : -INFINITY;
    TRY(hd_reduce_max(context, c * d, medoids));
    if (clusters->is_medoid_row == NULL)
        ALLOC(clusters->is_medoid_row, matrix->rows);
    for (int64_t i = 0; i < matrix->rows; i++) {
        const double *row = matrix->values + i * matrix->stride;
        const double *medoid = medoids + clusters->labels[i] * d;
        bool equal = true;
        for (int64_t j = 0; j < d && equal; j++)
            equal = row[j] == medoid[j];
        clusters->is_medoid_row[i] = equal;
    }
done:
    huddle_free(medoids);
    return status;
}

/* Mean of the rows of each cluster, with their copies. */
static huddle_status cluster_means(huddle_context *context, const hd_fit_rows *rows,
                                   const huddle_dense *matrix, const hd_fit_clusters *clusters,
                                   huddle_dense *means) {
    huddle_status status = HUDDLE_OK;
    int64_t d = matrix->cols;
    double *total = NULL;
    TRY(huddle_dense_new(clusters->centres.rows, d, means));
    ALLOC_ZERO(total, means->rows);
    for (int64_t i = 0; i < rows->n; i++) {
        int32_t k = clusters->labels[i];
        double copies = (double)hd_fit_rows_copies(rows, i);
        total[k] += copies;
        for (int64_t j = 0; j < d; j++)
            means->values[k * d + j] += copies * matrix->values[i * matrix->stride + j];
    }
    TRY(hd_reduce_sum(context, means->rows * d, means->values));
    TRY(hd_reduce_sum(context, means->rows, total));
    for (int64_t k = 0; k < means->rows; k++)
        for (int64_t j = 0; j < d && total[k] > 0; j++)
            means->values[k * d + j] /= total[k];
done:
    huddle_free(total);
    return status;
}

/* Rows of a matrix and the means of their clusters. */
typedef struct centred_rows {
    const huddle_dense *matrix;
    huddle_dense means;
} centred_rows;

static double distance_of_row(const void *of, int64_t row, int32_t cluster) {
    const centred_rows *r = of;
    const double *a = r->matrix->values + row * r->matrix->stride;
    const double *b = r->means.values + cluster * r->matrix->cols;
    double square = 0;
    for (int64_t j = 0; j < r->matrix->cols; j++)
        square += (a[j] - b[j]) * (a[j] - b[j]);
    return square;
}

huddle_status hd_step_medoids_of_rows(huddle_context *context, const hd_fit_rows *rows,
                                      const huddle_dense *matrix, hd_fit_clusters *clusters) {
    huddle_status status = HUDDLE_OK;
    centred_rows r = {.matrix = matrix};
    TRY(huddle_dense_fetch(matrix));
    TRY(cluster_means(context, rows, matrix, clusters, &r.means));
    TRY(hd_step_find_medoids(context, rows->n, distance_of_row, &r, clusters));
    TRY(hd_step_mark_medoids(context, matrix, clusters));
done:
    huddle_dense_free(&r.means);
    return status;
}

/* ---- among equal rows ---------------------------------------------------------------------- */

/* What tied rows, those that are as near to their centre as its medoid, are compared by: points and
 * the means of the tied rows of each cluster, or a graph. */
typedef struct tied_measure {
    const huddle_points *points;
    const huddle_csr *graph;
    const hd_fit *fit;
    double *means;
} tied_measure;

/* How far a tied row is from being the medoid of its cluster. Without points a central row is one
 * that is strongly connected. The norm of the mean would add the same constant to all distances of
 * sparse rows, so 0 is passed for it. */
static double distance_of_tied(const void *of, int64_t row, int32_t cluster) {
    const tied_measure *m = of;
    double degree = 0;
    if (!m->fit->clusters.is_medoid_row[row])
        return INFINITY;
    if (m->points != NULL)
        return hd_step_distance_to(m->points, hd_fit_rows_point(&m->fit->rows, m->points, row),
                                   m->means + cluster * m->points->d, 0);
    for (int64_t e = m->graph->offsets[row]; e < m->graph->offsets[row + 1]; e++)
        degree += m->graph->values[e];
    return -degree;
}

/* Called once, for the final clusters; trials do not need medoids. */
huddle_status hd_step_choose_medoids(huddle_context *context, const huddle_points *points,
                                     const huddle_csr *graph, hd_fit *fit) {
    huddle_status status = HUDDLE_OK;
    tied_measure m = {points, graph, fit, NULL};
    hd_fit_clusters *clusters = &fit->clusters;
    if (clusters->is_medoid_row == NULL || (points == NULL && graph == NULL))
        return status;
    TRY(points != NULL ? huddle_points_fetch(points) : huddle_csr_fetch(graph));
    if (points != NULL)
        TRY(hd_step_cluster_means(context, &fit->rows, clusters->labels, clusters->is_medoid_row,
                                  points, clusters->centres.rows, &m.means));
    TRY(hd_step_find_medoids(context, fit->rows.n, distance_of_tied, &m, clusters));
done:
    huddle_free(m.means);
    return status;
}
