/* New points in an embedding (docs/method.md, "New points"): each is placed by its neighbours among
 * the training points, without changing the embedding of these. */
#include "steps/place.h"

#include "base/check.h"
#include "base/parallel.h"
#include "matrix/insert.h"
#include "matrix/points.h"
#include "matrix/resident.h"
#include "steps/near.h"
#include "steps/prepare.h"
#include "steps/views.h"

#include <math.h>
#include <string.h>

enum { ROWS_PER_CHUNK = 256 };

/* A new row that is this near to its nearest training row, relative to its own length, is taken as
 * that row: preparing float values in another batch may change their last bits. Cosine distances
 * are differences of doubles near 1 and have a smaller error. */
static const double same_row = 1e-6, same_direction = 1e-12;

/* Lower bound of 1 - lambda, by which (15) divides. Eigenvectors with lambda near 1 do not describe
 * clusters, and a smaller divisor would only amplify rounding errors. */
static const double min_similarity = 1e-9;

/* New points follow the rule of the training points, so that a training row finds its own
 * neighbours. */
huddle_status hd_spectral_query_neighbors(huddle_context *context, const hd_fit *fit,
                                          const huddle_points *x, const huddle_knn_options *options,
                                          huddle_neighbors *neighbors) {
    const huddle_points *points = &fit->prepared.points;
    huddle_status status =
        fit->rows.nodes.n > 0
            ? huddle_graph_query_ties(context, points, x, options, neighbors, NULL)
            : huddle_graph_query(context, points, x, options, neighbors, NULL);
    return status == HUDDLE_OK ? huddle_neighbors_fetch(neighbors) : status;
}

/* What (15), Nystroem's extension of the eigenvectors to new rows, needs. */
typedef struct placing {
    const hd_fit *fit;
    const huddle_points *points; /* new ones, prepared */
    const huddle_knn_options *knn;
    const huddle_neighbors *neighbors;
    const char *row_rule;
    huddle_dense *rows;
    int64_t *same;
} placing;

double hd_spectral_same_distance(const huddle_points *x, int64_t i) {
    return same_row * sqrt(hd_points_square(x, i));
}

/* The neighbours are sorted by distance, so that only the first one can be equal. */
int64_t hd_spectral_same_row(const huddle_points *x, int64_t i, const huddle_knn_options *options,
                             const huddle_neighbors *neighbors) {
    double distance = neighbors->distance[i * neighbors->k];
    double max_distance =
        strcmp(options->metric, "cosine") == 0 ? same_direction : hd_spectral_same_distance(x, i);
    return distance <= max_distance ? neighbors->index[i * neighbors->k] : -1;
}

/* The factor (2) for an edge between a new point, which has one copy, and a vertex with m
 * copies. */
static double copies_factor(const hd_fit *fit, int64_t node) {
    return fit->rows.nodes.n > 0 ? (double)(1 + fit->rows.nodes.copies[node]) / 2 : 1;
}

/* The self-tuning scale of a new point: the distance to its last neighbour, as for training points.
 * If that is 0, the smallest scale of the graph, as in training; missing neighbours have distance
 * infinity. */
double hd_spectral_own_scale(const huddle_scale *scale, const double *distance, int32_t k) {
    double last = 0;
    for (int32_t j = 0; j < k; j++)
        if (isfinite(distance[j]))
            last = distance[j];
    return last > 0 ? last : scale->smallest;
}

/* Scales a row according to the option `rows`; `degree` is that of the new point. */
static void apply_row_rule(const char *rule, double degree, int64_t c, double *row) {
    double factor = 1;
    if (strcmp(rule, "unit") == 0) {
        double squares = 0;
        for (int64_t k = 0; k < c; k++)
            squares += row[k] * row[k];
        factor = squares > 0 ? 1 / sqrt(squares) : 1;
    } else if (strcmp(rule, "rw") == 0) {
        factor = degree > 0 ? 1 / sqrt(degree) : 1;
    }
    for (int64_t k = 0; k < c; k++)
        row[k] *= factor;
}

/* A weighted mean of the neighbours' eigenvector entries is an eigenvector entry times its
 * eigenvalue 1 - lambda of D^-1/2 A D^-1/2, hence the division. */
void hd_spectral_finish_row(const hd_fit *fit, const char *rule, double degree, int64_t columns,
                            double *row) {
    for (int64_t l = 0; l < columns; l++) {
        double similarity = 1 - fit->embedding.f.eigenvalues[l];
        double divisor = fabs(similarity) > min_similarity ? similarity : min_similarity;
        /* For `sym` the factor 1 / sqrt(d_x) matters; `unit` cancels it. */
        row[l] /= sqrt(degree) * divisor;
    }
    apply_row_rule(rule, degree, columns, row);
}

/* Equation (15) for one new row. */
static void place_row(const placing *p, int64_t i) {
    const hd_fit *fit = p->fit;
    const huddle_dense *vectors = &fit->embedding.f.vectors;
    int32_t k = p->neighbors->k;
    const int32_t *index = p->neighbors->index + i * k;
    const double *distance = p->neighbors->distance + i * k;
    double *row = p->rows->values + i * p->rows->stride;
    double scale = hd_spectral_own_scale(&fit->graph.scale, distance, k), degree = 0;
    p->same[i] = hd_spectral_same_row(p->points, i, p->knn, p->neighbors);
    for (int32_t j = 0; j < k && index[j] >= 0; j++) {
        double weight = copies_factor(fit, index[j]) *
                        huddle_graph_weight(&fit->graph.scale, index[j], scale, distance[j]);
        double other = fit->embedding.f.degrees[index[j]];
        double share = other > 0 ? weight / sqrt(other) : 0; /* a model of one point has no edges */
        degree += weight;
        for (int64_t l = 0; l < p->rows->cols; l++)
            row[l] += share * vectors->values[index[j] * vectors->stride + l];
    }
    hd_spectral_finish_row(fit, p->row_rule, degree, p->rows->cols, row);
}

static huddle_status place_rows(void *argument, hd_chunk chunk) {
    for (int64_t i = chunk.begin; i < chunk.end; i++)
        place_row(argument, i);
    return HUDDLE_OK;
}

/* Of training rows that new ones equal, their labels instead of their numbers, if the rows are
 * distributed: only here it is known which row of another process is meant. */
static void take_labels(const hd_step_near *near, int64_t n, int64_t *same) {
    for (int64_t i = 0; i < n && near->numbers != NULL; i++)
        same[i] = same[i] >= 0 ? near->view.clusters.labels[same[i]] : -1;
}

/* The same by the edges that a new point gets in the mean of several graphs. */
typedef struct placing_views {
    const hd_fit *fit;
    const huddle_csr *w;
    const char *row_rule;
    huddle_dense *rows;
} placing_views;

static huddle_status place_by_edges(void *argument, hd_chunk chunk) {
    const placing_views *p = argument;
    const hd_fit *fit = p->fit;
    const huddle_dense *vectors = &fit->embedding.f.vectors;
    for (int64_t i = chunk.begin; i < chunk.end; i++) {
        double *row = p->rows->values + i * p->rows->stride, degree = 0;
        for (int64_t e = p->w->offsets[i]; e < p->w->offsets[i + 1]; e++) {
            int32_t j = p->w->columns[e];
            double other = fit->embedding.f.degrees[j];
            double share = other > 0 ? p->w->values[e] / sqrt(other) : 0;
            degree += p->w->values[e];
            for (int64_t l = 0; l < p->rows->cols; l++)
                row[l] += share * vectors->values[j * vectors->stride + l];
        }
        hd_spectral_finish_row(fit, p->row_rule, degree, p->rows->cols, row);
    }
    return HUDDLE_OK;
}

static huddle_status place_views(huddle_context *context, const hd_fit *fit,
                                 const hd_spectral_options *options, const huddle_points *x,
                                 huddle_dense *rows, int64_t *same) {
    huddle_status status = HUDDLE_OK;
    huddle_csr w = {0};
    placing_views p = {fit, &w, options->embed.rows, rows};
    const double *eigenvalues = fit->embedding.f.eigenvalues;
    TRY(huddle_dense_fetch(&fit->embedding.f.vectors));
    TRY(hd_spectral_weigh_new_views(context, fit, &options->knn, x, &w, same));
    TRY(huddle_dense_new(x->n, fit->embedding.f.rows.cols, rows));
    TRY(hd_parallel(context, "predict", x->n, ROWS_PER_CHUNK, place_by_edges, &p));
    if (strcmp(p.row_rule, "commute") == 0)
        TRY(huddle_embed_commute_rows(rows, eigenvalues, rows));
done:
    huddle_csr_free(&w);
    return status;
}

/* Rows are placed independently of each other: the label of a point does not depend on its
 * batch. */
huddle_status hd_spectral_place(huddle_context *context, const hd_fit *fit, const void *given,
                                const huddle_points *x, huddle_dense *rows, int64_t *same) {
    huddle_status status = HUDDLE_OK;
    const hd_spectral_options *options = given;
    huddle_points owned = {0}, view;
    huddle_neighbors neighbors = {0};
    hd_step_near near = {0};
    placing p = {&near.view, &view, &options->knn, &neighbors, options->embed.rows, rows, same};
    const huddle_points *points = &fit->prepared.points;
    if (!hd_points_present(points) || !fit->embedding.present)
        FAIL(HUDDLE_UNSUPPORTED,
             "a model fitted to a given graph or embedding cannot label new points");
    if (fit->views.count > 0)
        return place_views(context, fit, options, x, rows, same);
    TRY(huddle_dense_fetch(&fit->embedding.f.vectors));
    TRY(hd_step_prepare_new(context, fit, x, &owned, &view));
    TRY(huddle_points_fetch(&view));
    TRY(hd_spectral_query_neighbors(context, fit, &view, &options->knn, &neighbors));
    TRY(hd_step_near_open(context, fit, true, &neighbors, &near));
    TRY(huddle_dense_new(x->n, fit->embedding.f.rows.cols, rows));
    TRY(hd_parallel(context, "predict", x->n, ROWS_PER_CHUNK, place_rows, &p));
    take_labels(&near, x->n, same);
    if (strcmp(p.row_rule, "commute") == 0)
        TRY(huddle_embed_commute_rows(rows, fit->embedding.f.eigenvalues, rows));
done:
    hd_step_near_close(&near);
    huddle_neighbors_free(&neighbors);
    huddle_points_free(&owned);
    return status;
}

/* Converts lists of neighbours to a sparse matrix with `columns` columns. hd_csr_insert() keeps the
 * columns of a row sorted: lists are ordered by distance, not by index. */
static huddle_status neighbor_matrix(const huddle_neighbors *neighbors, const double *values,
                                     int64_t columns, huddle_csr *w) {
    huddle_status status = HUDDLE_OK;
    int32_t k = neighbors->k;
    TRY(huddle_csr_new(neighbors->n, columns, neighbors->n * k, w));
    for (int64_t i = 0; i < neighbors->n; i++) {
        w->offsets[i + 1] = w->offsets[i];
        for (int64_t e = i * k; e < i * k + k && neighbors->index[e] >= 0; e++)
            hd_csr_insert(w, i, &w->offsets[i + 1], neighbors->index[e], values[e]);
    }
done:
    return status;
}

/* The weights w_j of (16), with the factor (2). */
huddle_status hd_spectral_weigh_new(const huddle_neighbors *neighbors, const huddle_scale *scale,
                                    const hd_fit *fit, huddle_csr *w) {
    huddle_status status = HUDDLE_OK;
    int32_t k = neighbors->k;
    double *weights = NULL;
    ALLOC(weights, neighbors->n * k);
    for (int64_t i = 0; i < neighbors->n; i++)
        for (int64_t e = i * k; e < i * k + k && neighbors->index[e] >= 0; e++)
            weights[e] =
                copies_factor(fit, neighbors->index[e]) *
                huddle_graph_weight(scale, neighbors->index[e],
                                    hd_spectral_own_scale(scale, neighbors->distance + i * k, k),
                                    neighbors->distance[e]);
    TRY(neighbor_matrix(neighbors, weights, fit->rows.n, w));
done:
    huddle_free(weights);
    return status;
}
