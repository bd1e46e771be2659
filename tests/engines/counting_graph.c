/* Neighbours by comparing all pairs, weights by their definition (huddle/graph.h). */
#include "engines/counting.h"

#include "base/check.h"

#include <math.h>
#include <string.h>

/* ---- neighbours ------------------------------------------------------------------------------ */

/* All rows of one side as doubles. */
typedef struct rows {
    int64_t n, d;
    double *values;
} rows;

static huddle_status rows_of_points(huddle_context *context, const huddle_points *x, rows *out) {
    huddle_status status = HUDDLE_OK;
    huddle_points points;
    TRY(counting_points(context, x, &points));
    *out = (rows){points.n, points.d, NULL};
    ALLOC(out->values, out->n * out->d);
    for (int64_t i = 0; i < out->n; i++)
        counting_row(&points, i, out->values + i * out->d);
done:
    return status;
}

static huddle_status rows_of_dense(huddle_context *context, const huddle_dense *x, rows *out) {
    huddle_status status = HUDDLE_OK;
    huddle_dense f;
    TRY(counting_dense(context, x, &f));
    *out = (rows){f.rows, f.cols, NULL};
    ALLOC(out->values, out->n * out->d);
    for (int64_t i = 0; i < out->n; i++)
        memcpy(out->values + i * out->d, f.values + i * f.stride, (size_t)f.cols * sizeof(double));
done:
    return status;
}

static double norm(const double *a, int64_t d) {
    double square = 0;
    for (int64_t k = 0; k < d; k++)
        square += a[k] * a[k];
    return sqrt(square);
}

/* 1 - cos as half the squared distance of the unit vectors, which is exact for equal rows. */
static double cosine_distance(const double *a, const double *b, int64_t d) {
    double length_a = norm(a, d), length_b = norm(b, d), square = 0;
    if (length_a == 0 || length_b == 0)
        return length_a == length_b ? 0 : 1;
    for (int64_t k = 0; k < d; k++) {
        double difference = a[k] / length_a - b[k] / length_b;
        square += difference * difference;
    }
    return square / 2;
}

/* Inserts a candidate into the ascending list of one row; indices arrive in ascending order, so
 * that equal distances stay in their order. */
static void insert_candidate(int32_t j, double distance, int32_t k, int32_t *index, double *list) {
    int32_t at = k;
    while (at > 0 && distance < list[at - 1])
        at--;
    for (int32_t c = k - 1; c > at; c--) {
        index[c] = index[c - 1];
        list[c] = list[c - 1];
    }
    if (at < k) {
        index[at] = j;
        list[at] = distance;
    }
}

static void search_all_pairs(const hd_neighbor_request *request, const rows *train,
                             const rows *query, huddle_neighbors *out) {
    bool self = train == query, cosine = strcmp(request->options->metric, "cosine") == 0;
    for (int64_t i = 0; i < query->n; i++) {
        const double *a = query->values + i * query->d;
        for (int32_t c = 0; c < out->k; c++) {
            out->index[i * out->k + c] = -1;
            out->distance[i * out->k + c] = INFINITY;
        }
        for (int64_t j = 0; j < train->n; j++) {
            const double *b = train->values + j * train->d;
            if (self && i == j)
                continue;
            if (request->part != NULL && request->part[i] == request->part[j])
                continue;
            double distance =
                cosine ? cosine_distance(a, b, train->d) : counting_distance(a, b, train->d);
            insert_candidate((int32_t)j, distance, out->k, out->index + i * out->k,
                             out->distance + i * out->k);
        }
    }
}

static counting_stage kind_of_search(const hd_neighbor_request *request) {
    if (request->part != NULL)
        return COUNTING_BRIDGES;
    if (request->train_rows != NULL)
        return request->query_rows != NULL ? COUNTING_ROW_QUERIES : COUNTING_ROW_NEIGHBORS;
    return request->query != NULL ? COUNTING_QUERIES : COUNTING_NEIGHBORS;
}

huddle_status counting_find_neighbors(huddle_context *context, const hd_neighbor_request *request,
                                      huddle_neighbors *out, huddle_knn_info *info) {
    huddle_status status = HUDDLE_OK;
    rows train = {0}, other = {0};
    const rows *query = &train;
    TRY(counting_enter(context, kind_of_search(request)));
    if (request->train_rows != NULL)
        TRY(rows_of_dense(context, request->train_rows, &train));
    else
        TRY(rows_of_points(context, request->train, &train));
    if (request->query_rows != NULL)
        TRY(rows_of_dense(context, request->query_rows, &other));
    else if (request->query != NULL)
        TRY(rows_of_points(context, request->query, &other));
    if (other.values != NULL)
        query = &other;
    out->n = query->n;
    out->k = request->options->n_neighbors;
    ALLOC(out->index, out->n * out->k);
    ALLOC(out->distance, out->n * out->k);
    search_all_pairs(request, &train, query, out);
    if (info != NULL) {
        info->recall = 1;
        info->n_distances = train.n * query->n;
    }
    TRY(counting_keep_neighbors(context, out));
done:
    huddle_free(train.values);
    huddle_free(other.values);
    return status;
}

/* ---- weights --------------------------------------------------------------------------------- */

/* The distance to the last neighbour of row i, 0 for an empty list. */
static double last_distance(const huddle_neighbors *x, int64_t i) {
    double last = 0;
    for (int32_t c = 0; c < x->k; c++)
        if (x->index[i * x->k + c] >= 0)
            last = x->distance[i * x->k + c];
    return last;
}

static huddle_status set_local_scales(const huddle_neighbors *x, huddle_scale *scale) {
    huddle_status status = HUDDLE_OK;
    ALLOC(scale->local, x->n);
    scale->n = x->n;
    for (int64_t i = 0; i < x->n; i++) {
        double s = last_distance(x, i);
        scale->local[i] = s;
        if (s > 0 && (scale->smallest == 0 || s < scale->smallest))
            scale->smallest = s;
    }
    for (int64_t i = 0; i < x->n; i++)
        if (scale->local[i] == 0)
            scale->local[i] = scale->smallest;
done:
    return status;
}

static huddle_status set_scale(const huddle_neighbors *x, const huddle_weight_options *options,
                               huddle_scale *scale) {
    double sum = 0, squares = 0;
    int64_t count = 0;
    for (int64_t e = 0; e < x->n * x->k; e++)
        if (x->index[e] >= 0) {
            sum += x->distance[e];
            squares += x->distance[e] * x->distance[e];
            count++;
        }
    if (options->delta != HUDDLE_AUTO) {
        *scale = (huddle_scale){.rule = "delta", .delta2 = options->delta * options->delta};
        return HUDDLE_OK;
    }
    *scale = (huddle_scale){.rule = options->scale};
    if (strcmp(options->scale, "selftune") == 0)
        return set_local_scales(x, scale);
    if (strcmp(options->scale, "mean") == 0 && count > 0)
        scale->delta2 = (sum / (double)count) * (sum / (double)count);
    if (strcmp(options->scale, "knn") == 0 && count > 0)
        scale->delta2 = squares / (double)count;
    if (strcmp(options->scale, "global") == 0)
        scale->delta2 = 2 * options->mean_distance * options->mean_distance;
    return HUDDLE_OK;
}

static double weigh_edge(const huddle_scale *scale, int64_t i, int64_t j, double distance) {
    double delta2 = scale->local != NULL ? scale->local[i] * scale->local[j] : scale->delta2;
    if (distance == 0 || strcmp(scale->rule, "binary") == 0)
        return 1;
    return exp(fmax(-distance * distance / delta2, -20));
}

/* From a full matrix, in which -1 is no edge. */
static huddle_status make_csr(const double *full, int64_t n, huddle_csr *graph) {
    huddle_status status = HUDDLE_OK;
    int64_t count = 0;
    for (int64_t e = 0; e < n * n; e++)
        count += full[e] >= 0;
    TRY(huddle_csr_new(n, n, count, graph));
    count = 0;
    for (int64_t i = 0; i < n; i++) {
        for (int64_t j = 0; j < n; j++)
            if (full[i * n + j] >= 0) {
                graph->columns[count] = (int32_t)j;
                graph->values[count++] = full[i * n + j];
            }
        graph->offsets[i + 1] = count;
    }
done:
    return status;
}

huddle_status counting_weigh(huddle_context *context, const huddle_neighbors *neighbors,
                             const huddle_weight_options *options, huddle_csr *graph,
                             huddle_scale *scale) {
    huddle_status status = HUDDLE_OK;
    huddle_neighbors x;
    double *full = NULL;
    TRY(counting_enter(context, COUNTING_WEIGH));
    TRY(counting_neighbors(context, neighbors, &x));
    TRY(set_scale(&x, options, scale));
    ALLOC(full, x.n * x.n);
    for (int64_t e = 0; e < x.n * x.n; e++)
        full[e] = -1;
    for (int64_t i = 0; i < x.n; i++)
        for (int32_t c = 0; c < x.k; c++) {
            int64_t j = x.index[i * x.k + c];
            if (j >= 0)
                full[i * x.n + j] = full[j * x.n + i] =
                    weigh_edge(scale, i, j, x.distance[i * x.k + c]);
        }
    TRY(make_csr(full, x.n, graph));
    TRY(counting_keep_csr(context, graph));
done:
    huddle_free(full);
    return status;
}

/* Numbers of vertices flow along the edges until none changes: a component has that of its first
 * vertex. */
huddle_status counting_find_components(huddle_context *context, const huddle_csr *graph,
                                       int32_t *component, int32_t *count) {
    huddle_status status = HUDDLE_OK;
    huddle_csr a;
    bool changed = true;
    TRY(counting_enter(context, COUNTING_COMPONENTS));
    TRY(counting_csr(context, graph, &a));
    for (int64_t i = 0; i < a.rows; i++)
        component[i] = (int32_t)i;
    while (changed) {
        changed = false;
        for (int64_t i = 0; i < a.rows; i++)
            for (int64_t e = a.offsets[i]; e < a.offsets[i + 1]; e++) {
                int32_t other = component[a.columns[e]];
                if (a.values[e] == 0 || other >= component[i])
                    continue;
                component[i] = other;
                changed = true;
            }
    }
    *count = 0;
    for (int64_t i = 0; i < a.rows; i++)
        component[i] = component[i] == i ? (*count)++ : component[component[i]];
done:
    return status;
}
