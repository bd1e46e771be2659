/* Graph A (docs/method.md, "Graph A"), from points or from a matrix of distances or
 * similarities. */
#include "steps/graph.h"

#include "base/check.h"
#include "matrix/symmetric.h"
#include "steps/merge.h"

#include <string.h>

/* Short bridges (huddle/graph.h) are at most this many times as long as the typical distance to the
 * last neighbour. Gaps between points that are evenly distributed along a curve reach about 3 times
 * that distance; from 4 on the result depends little on the number, but clusters that nearly touch
 * are joined (bench/clusters.py of 0.2.0). */
static const double short_ratio = 4;

/* The smallest number of a range is the strictest: the graph is connected if any number of the
 * range is below the number of components. With auto it is the largest number that could be chosen,
 * because components are candidates for clusters then and must not be joined prematurely. */
int32_t hd_spectral_connect_clusters(huddle_range n_clusters, const hd_fit_rows *rows) {
    if (n_clusters.first != HUDDLE_AUTO)
        return n_clusters.first;
    int32_t max_clusters = huddle_embed_max_clusters(hd_fit_rows_everywhere(rows));
    return max_clusters < 2 ? 2 : max_clusters;
}

/* Whether components are joined by short bridges before the number of clusters is chosen. Not
 * without refinement: bridges are not of the published method. */
bool hd_spectral_joins_pieces(const hd_spectral_options *options, huddle_range n_clusters) {
    return n_clusters.first == HUDDLE_AUTO && hd_spectral_refines(options) &&
           strcmp(options->connect.connect, "auto") == 0;
}

huddle_connect_options hd_spectral_connect_options(const hd_spectral_options *options,
                                                   huddle_range n_clusters,
                                                   const hd_fit_rows *rows) {
    huddle_connect_options connect = options->connect;
    connect.n_clusters = hd_spectral_connect_clusters(n_clusters, rows);
    connect.metric = options->knn.metric;
    connect.copies = rows->nodes.copies;
    connect.max_ratio = hd_spectral_joins_pieces(options, n_clusters) ? short_ratio : 0;
    return connect;
}

/* With more components than clusters, c of the q null vectors are an arbitrary choice
 * (docs/method.md, "Components"), so that the user should know in either case. */
void hd_spectral_warn_components(huddle_context *context, const huddle_connect_info *info,
                                 int32_t n_clusters) {
    if (info->bridges > 0)
        hd_warn(
            context, HUDDLE_WARNING_COMPONENTS,
            "the graph had %d components for %d clusters; joined by %d shortest bridges into %d",
            info->before, n_clusters, info->bridges, info->after);
    else if (info->after > n_clusters)
        hd_warn(context, HUDDLE_WARNING_COMPONENTS,
                "the graph has %d components for %d clusters and was not joined", info->after,
                n_clusters);
}

/* Short bridges are part of the choice of a number, not a departure to warn of. */
void hd_spectral_warn_graph(huddle_context *context, const hd_spectral_options *options,
                            huddle_range n_clusters, const hd_fit *fit) {
    const huddle_connect_info *info = &fit->graph.connect;
    int32_t limit = hd_spectral_connect_clusters(n_clusters, &fit->rows);
    if (info->before > limit || !hd_spectral_joins_pieces(options, n_clusters))
        hd_spectral_warn_components(context, info, limit);
}

/* ---- of points ----------------------------------------------------------------------------- */

/* Merged rows usually lie on a grid, where many rows are at the same distance as the k-th
 * neighbour; all of them are neighbours (docs/method.md, "Duplicate points"). */
huddle_status hd_spectral_weigh_points(huddle_context *context, const hd_fit *fit,
                                       const huddle_knn_options *knn,
                                       const huddle_weight_options *options, hd_fit_graph *graph) {
    huddle_status status = HUDDLE_OK;
    const huddle_points *points = &fit->prepared.points;
    huddle_neighbors neighbors = {0};
    huddle_weight_options weight = *options;
    TRY(fit->rows.nodes.n > 0 ? huddle_graph_knn_ties(context, points, knn, &neighbors, &graph->knn)
                              : huddle_graph_knn(context, points, knn, &neighbors, &graph->knn));
    /* Only this rule needs distances between points that are not neighbours. */
    if (strcmp(weight.scale, "global") == 0)
        TRY(huddle_graph_mean_distance(context, points, knn->metric, knn->seed,
                                       &weight.mean_distance));
    TRY(huddle_graph_weigh(context, &neighbors, &weight, &graph->matrix, &graph->scale));
done:
    huddle_neighbors_free(&neighbors); /* before the next stage needs memory */
    return status;
}

huddle_status hd_spectral_connect_graph(huddle_context *context, const hd_spectral_options *options,
                                        huddle_range n_clusters, hd_fit *fit) {
    huddle_status status = HUDDLE_OK;
    hd_fit_graph *graph = &fit->graph;
    huddle_connect_options connect = hd_spectral_connect_options(options, n_clusters, &fit->rows);
    TRY_STAGE(context, HD_STAGE_CONNECT,
              huddle_graph_connect(context, &fit->prepared.points, &connect, &graph->scale,
                                   &graph->matrix, &graph->connect));
    if (fit->rows.nodes.n > 0)
        TRY(huddle_graph_weigh_copies(context, fit->rows.nodes.copies, options->knn.n_neighbors,
                                      &graph->matrix));
    graph->present = true;
done:
    return status;
}

/* Steps in fixed order: the scale is estimated from the lists of neighbours alone, bridges use that
 * scale, and multiplicities (2) are applied last, to neighbours and bridges alike. */
huddle_status hd_spectral_make_graph(huddle_context *context, const hd_spectral_options *options,
                                     huddle_range n_clusters, hd_fit *fit) {
    huddle_status status = HUDDLE_OK;
    hd_fit_graph *graph = &fit->graph;
    huddle_knn_options knn = options->knn;
    double begin = hd_seconds();
    hd_fit_graph_free(graph);
    knn.seed = options->common.seed;
    TRY_STAGE(context, HD_STAGE_GRAPH,
              hd_spectral_weigh_points(context, fit, &knn, &options->weight, graph));
    TRY(hd_spectral_connect_graph(context, options, n_clusters, fit));
    graph->seconds = hd_seconds() - begin;
done:
    return status;
}

/* ---- of a matrix --------------------------------------------------------------------------- */

/* Represents x, or the given graph, as a sparse square matrix; owned is to be freed. The shift of
 * dense points is added back: here values are distances or similarities, not coordinates. */
static huddle_status square_matrix(const hd_step_job *job, huddle_csr *owned, huddle_csr *matrix) {
    huddle_status status = HUDDLE_OK;
    const huddle_points *x = job->x;
    if (job->graph != NULL) {
        *matrix = *job->graph;
        return status;
    }
    if (x->n != x->d)
        FAIL(HUDDLE_INVALID, "a matrix between %lld points must be square, not %lld x %lld",
             (long long)x->n, (long long)x->n, (long long)x->d);
    bool sparse = x->offsets != NULL;
    TRY(huddle_csr_new(x->n, x->n, sparse ? x->offsets[x->n] : x->n * x->n, owned));
    for (int64_t i = 0; i < x->n; i++) {
        int64_t from = sparse ? x->offsets[i] : i * x->stride;
        int64_t count = sparse ? x->offsets[i + 1] - from : x->n;
        owned->offsets[i + 1] = owned->offsets[i] + count;
        for (int64_t e = 0; e < count; e++) {
            int32_t column = sparse ? x->columns[from + e] : (int32_t)e;
            double shift = x->shift != NULL ? x->shift[column] : 0;
            owned->columns[owned->offsets[i] + e] = column;
            owned->values[owned->offsets[i] + e] = (double)x->values[from + e] + shift;
        }
    }
    *matrix = *owned;
done:
    return status;
}

/* Converts to a dense matrix; HUDDLE_INVALID if distances are missing. Entries that are not stored
 * would otherwise become distances of 0, and points without a distance the nearest neighbours. */
static huddle_status dense_distances(const huddle_csr *matrix, huddle_dense *distances) {
    huddle_status status = HUDDLE_OK;
    int64_t others = matrix->rows - 1;
    TRY(huddle_dense_new(matrix->rows, matrix->cols, distances));
    for (int64_t i = 0; i < matrix->rows; i++) {
        int64_t count = 0;
        for (int64_t e = matrix->offsets[i]; e < matrix->offsets[i + 1]; e++) {
            distances->values[i * distances->stride + matrix->columns[e]] = matrix->values[e];
            count += matrix->columns[e] != i;
        }
        if (count < others)
            FAIL(HUDDLE_INVALID,
                 "affinity = distances needs all of them, but row %lld has only %lld of %lld; "
                 "precomputed_nearest_neighbors takes some",
                 (long long)i + 1, (long long)count, (long long)others);
    }
done:
    return status;
}

/* Whether all rows found equal are copies. Equal rows of distances are not sufficient: two points
 * can be equally far from all others without being at distance 0 from each other. */
static bool are_copies(const huddle_dense *distances, const huddle_distinct *distinct) {
    for (int64_t i = 0; i < distinct->n && distinct->of != NULL; i++) {
        int64_t first = distinct->first[distinct->of[i]];
        if (distances->values[i * distances->stride + first] != 0 ||
            distances->values[first * distances->stride + i] != 0)
            return false;
    }
    return distinct->of != NULL;
}

/* hd_step_merge() for points that are known by their distances only: keeps the rows and columns of
 * the first of equal points. rows->equal is set even if nothing is merged, so that equal points get
 * equal labels. */
static huddle_status merge_distances(huddle_context *context, int32_t n_neighbors,
                                     huddle_dense *distances, hd_fit_rows *rows) {
    huddle_status status = HUDDLE_OK;
    huddle_distinct distinct = {0};
    huddle_dense fewer = {0};
    TRY(huddle_dense_distinct(context, distances, &distinct));
    if (!are_copies(distances, &distinct))
        goto done;
    huddle_distinct_free(&rows->equal);
    /* x is a matrix here, so its equal rows were not determined by a preparation. */
    rows->equal = distinct;
    memset(&distinct, 0, sizeof distinct);
    if (!hd_step_copies_matter(&rows->equal, n_neighbors))
        goto done;
    const huddle_distinct *equal = &rows->equal;
    TRY(huddle_dense_new(equal->count, equal->count, &fewer));
    for (int64_t i = 0; i < equal->count; i++)
        for (int64_t j = 0; j < equal->count; j++)
            fewer.values[i * fewer.stride + j] =
                distances->values[equal->first[i] * distances->stride + equal->first[j]];
    huddle_dense_free(distances);
    *distances = fewer;
    TRY(hd_fit_copy_distinct(equal, &rows->nodes));
    rows->n = equal->count;
done:
    huddle_distinct_free(&distinct);
    return status;
}

/* As hd_spectral_make_graph(), with the given distances instead of a neighbour search. */
static huddle_status graph_of_all_distances(huddle_context *context, const huddle_csr *matrix,
                                            const hd_spectral_options *options,
                                            huddle_range n_clusters, hd_fit_rows *rows,
                                            hd_fit_graph *graph) {
    huddle_status status = HUDDLE_OK;
    huddle_csr average = {0};
    huddle_dense distances = {0};
    huddle_neighbors neighbors = {0};
    huddle_weight_options weight = options->weight;
    huddle_connect_options connect;
    int32_t n_neighbors = options->knn.n_neighbors;
    TRY(dense_distances(matrix, &distances)); /* refuses a matrix of which a half is stored */
    TRY(hd_csr_make_symmetric(context, "the distances are", matrix, &average));
    if (average.offsets != NULL) {
        huddle_dense_free(&distances);
        TRY(dense_distances(&average, &distances));
    }
    if (!hd_step_keeps_copies(options))
        TRY(merge_distances(context, n_neighbors, &distances, rows));
    TRY(rows->nodes.n > 0
            ? huddle_graph_from_distances_ties(context, &distances, n_neighbors, &neighbors)
            : huddle_graph_from_distances_dense(context, &distances, n_neighbors, &neighbors));
    TRY(huddle_graph_mean_of_distances(context, &distances, &weight.mean_distance));
    TRY(huddle_graph_weigh(context, &neighbors, &weight, &graph->matrix, &graph->scale));
    connect = hd_spectral_connect_options(options, n_clusters, rows);
    TRY(huddle_graph_connect_distances(context, &distances, &connect, &graph->scale, &graph->matrix,
                                       &graph->connect));
    if (rows->nodes.n > 0)
        TRY(huddle_graph_weigh_copies(context, rows->nodes.copies, n_neighbors, &graph->matrix));
done:
    huddle_csr_free(&average);
    huddle_neighbors_free(&neighbors);
    huddle_dense_free(&distances);
    return status;
}

/* Entries that are not stored are unknown, as in scikit-learn's precomputed_nearest_neighbors.
 * There are no bridges: distances between components are not among the stored ones. */
static huddle_status graph_of_some_distances(huddle_context *context, const huddle_csr *matrix,
                                             const hd_spectral_options *options,
                                             hd_fit_graph *graph) {
    huddle_status status = HUDDLE_OK;
    huddle_neighbors neighbors = {0};
    if (options->weight.delta == HUDDLE_AUTO && strcmp(options->weight.scale, "global") == 0)
        FAIL(HUDDLE_INVALID, "scale = global needs all distances, not those to neighbours only");
    TRY(huddle_graph_from_distances(context, matrix, options->knn.n_neighbors, &neighbors));
    TRY(huddle_graph_weigh(context, &neighbors, &options->weight, &graph->matrix, &graph->scale));
done:
    huddle_neighbors_free(&neighbors);
    return status;
}

/* Without all distances no bridges can be found, but the components are counted for the warning. */
static huddle_status count_components(huddle_context *context, hd_fit_graph *graph) {
    huddle_status status = HUDDLE_OK;
    int32_t *component = NULL;
    ALLOC(component, graph->matrix.rows);
    TRY(huddle_graph_components(context, &graph->matrix, component, &graph->connect.before));
    graph->connect.after = graph->connect.before;
done:
    huddle_free(component);
    return status;
}

/* Similarities and distances to neighbours have no bridges and no merging: both need distances
 * between arbitrary pairs of points. */
huddle_status hd_spectral_make_matrix_graph(huddle_context *context, const hd_step_job *job,
                                            const hd_spectral_options *options,
                                            huddle_range n_clusters, hd_fit *fit) {
    huddle_status status = HUDDLE_OK;
    hd_fit_graph *graph = &fit->graph;
    huddle_csr owned = {0}, matrix = {0};
    double begin = hd_seconds();
    hd_stage before = hd_stage_enter(context, HD_STAGE_GRAPH);
    TRY(square_matrix(job, &owned, &matrix));
    /* No neighbour search takes place that could be inexact. */
    graph->knn.recall = graph->knn.recall_low = graph->knn.recall_high = 1;
    if (strcmp(options->affinity, "distances") == 0) {
        TRY(graph_of_all_distances(context, &matrix, options, n_clusters, &fit->rows, graph));
    } else {
        if (strcmp(options->affinity, "precomputed_nearest_neighbors") == 0)
            TRY(graph_of_some_distances(context, &matrix, options, graph));
        else
            TRY(huddle_graph_from_affinity(context, &matrix, &graph->matrix));
        TRY(count_components(context, graph));
    }
    graph->present = true;
    graph->seconds = hd_seconds() - begin;
    hd_stage_leave(context, before);
done:
    huddle_csr_free(&owned);
    return status;
}
