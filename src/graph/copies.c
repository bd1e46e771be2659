/* Neighbours with ties, and the weight of points that occur several times. */
#include "base/check.h"
#include "graph/check.h"
#include "huddle/graph.h"

#include <math.h>
#include <string.h>

enum { MOST_NEIGHBORS = 40 };

/* Distances between points of a grid are equal but for the rounding of single precision. */
static const double same_distance = 1 + 1e-5;

/* ---- ties ---------------------------------------------------------------------------------- */

/* A search with ties: `query` is NULL when the points are searched for among themselves. */
typedef struct tie_search {
    huddle_context *context;
    const huddle_points *train, *query;
    const huddle_knn_options *options;
    huddle_neighbors near;   /* k + 1 nearest */
    int64_t *tied, n_tied;   /* rows whose k-th nearest has equals beyond */
    huddle_neighbors around; /* of those rows, more */
} tie_search;

static huddle_status search(const tie_search *t, const huddle_points *query,
                            const huddle_knn_options *options, huddle_neighbors *lists,
                            huddle_knn_info *info) {
    return query == NULL ? huddle_graph_knn(t->context, t->train, options, lists, info)
                         : huddle_graph_query(t->context, t->train, query, options, lists, info);
}

/* How many of a list of `length` are as near as the k-th. */
static int32_t count_near(const double *distance, int32_t length, int32_t k) {
    int32_t count = k < length ? k : length;
    while (count > 0 && count < length && count < MOST_NEIGHBORS &&
           distance[count] <= distance[k - 1] * same_distance)
        count++;
    return count;
}

static huddle_status find_tied(tie_search *t) {
    huddle_status status = HUDDLE_OK;
    int32_t k = t->options->n_neighbors, length = t->near.k;
    ALLOC(t->tied, t->near.n);
    for (int64_t i = 0; i < t->near.n; i++)
        if (count_near(t->near.distance + i * length, length, k) > k)
            t->tied[t->n_tied++] = i;
done:
    return status;
}

/* Searches once more for the tied rows, which among themselves find themselves too. */
static huddle_status look_around(tie_search *t) {
    huddle_status status = HUDDLE_OK;
    huddle_points rows = {0};
    huddle_knn_options wide = *t->options;
    bool among = t->query == NULL;
    wide.n_neighbors = MOST_NEIGHBORS + among;
    TRY(huddle_points_take(among ? t->train : t->query, t->tied, t->n_tied, &rows));
    TRY(search(t, &rows, &wide, &t->around, NULL));
    if (!among)
        goto done;
    for (int64_t i = 0; i < t->n_tied; i++) {
        int32_t *index = t->around.index + i * t->around.k, kept = 0;
        double *distance = t->around.distance + i * t->around.k;
        for (int32_t c = 0; c < t->around.k; c++)
            if (index[c] != t->tied[i] && kept < t->around.k - 1) {
                index[kept] = index[c];
                distance[kept++] = distance[c];
            }
        for (; kept < t->around.k; kept++) {
            index[kept] = -1;
            distance[kept] = INFINITY;
        }
    }
done:
    huddle_points_free(&rows);
    return status;
}

/* The first k of every list, or for tied rows all that are as near. */
static huddle_status write_lists(const tie_search *t, huddle_neighbors *out) {
    huddle_status status = HUDDLE_OK;
    int32_t k = t->options->n_neighbors, longest = k;
    for (int64_t q = 0; q < t->n_tied; q++) {
        int32_t count = count_near(t->around.distance + q * t->around.k, t->around.k, k);
        longest = count > longest ? count : longest;
    }
    TRY(hd_neighbors_new(t->near.n, longest, out));
    for (int64_t i = 0, q = 0; i < out->n; i++) {
        bool tied = q < t->n_tied && t->tied[q] == i;
        const huddle_neighbors *from = tied ? &t->around : &t->near;
        int64_t row = tied ? q++ : i;
        int32_t count = tied ? count_near(from->distance + row * from->k, from->k, k) : k;
        for (int32_t c = 0; c < longest; c++) {
            out->index[i * longest + c] = c < count ? from->index[row * from->k + c] : -1;
            out->distance[i * longest + c] =
                c < count ? from->distance[row * from->k + c] : INFINITY;
        }
    }
done:
    return status;
}

static huddle_status run(tie_search *t, huddle_neighbors *out, huddle_knn_info *info) {
    huddle_status status = HUDDLE_OK;
    huddle_knn_options defaults = huddle_knn_defaults(), one_more;
    *out = (huddle_neighbors){0};
    if (t->options == NULL)
        t->options = &defaults;
    one_more = *t->options;
    one_more.n_neighbors += one_more.n_neighbors >= 1 && one_more.n_neighbors < INT32_MAX;
    TRY(search(t, t->query, &one_more, &t->near, info));
    if (t->near.k <= t->options->n_neighbors) { /* there are no more */
        *out = t->near;
        t->near = (huddle_neighbors){0};
        goto done;
    }
    TRY(find_tied(t));
    if (t->n_tied > 0)
        TRY(look_around(t));
    TRY(write_lists(t, out));
done:
    huddle_neighbors_free(&t->near);
    huddle_neighbors_free(&t->around);
    huddle_free(t->tied);
    return status;
}

huddle_status huddle_graph_knn_ties(huddle_context *context, const huddle_points *x,
                                    const huddle_knn_options *options, huddle_neighbors *out,
                                    huddle_knn_info *info) {
    tie_search t = {.context = context, .train = x, .options = options};
    return run(&t, out, info);
}

huddle_status huddle_graph_query_ties(huddle_context *context, const huddle_points *train,
                                      const huddle_points *query, const huddle_knn_options *options,
                                      huddle_neighbors *out, huddle_knn_info *info) {
    tie_search t = {.context = context, .train = train, .query = query, .options = options};
    return run(&t, out, info);
}

huddle_status huddle_graph_from_distances_ties(const huddle_dense *distances, int32_t n_neighbors,
                                               huddle_neighbors *out) {
    huddle_status status = HUDDLE_OK;
    huddle_neighbors wide = {0};
    huddle_knn_options options = {.n_neighbors = n_neighbors};
    *out = (huddle_neighbors){0};
    TRY(huddle_graph_from_distances_dense(
        distances, n_neighbors >= 1 && n_neighbors < MOST_NEIGHBORS ? MOST_NEIGHBORS : n_neighbors,
        &wide));
    if (wide.k <= n_neighbors) {
        *out = wide;
        wide = (huddle_neighbors){0};
        goto done;
    }
    tie_search t = {.options = &options, .near = wide, .around = wide, .n_tied = wide.n};
    ALLOC(t.tied, wide.n);
    for (int64_t i = 0; i < wide.n; i++)
        t.tied[i] = i;
    status = write_lists(&t, out);
    huddle_free(t.tied);
done:
    huddle_neighbors_free(&wide);
    return status;
}

/* ---- copies -------------------------------------------------------------------------------- */

static double loop_weight(int64_t copies, int32_t n_neighbors) {
    int64_t others = copies - 1 < n_neighbors ? copies - 1 : n_neighbors;
    return (double)copies * (double)others;
}

/* Row i of the graph with its loop, from entry `at` on; returns its end. */
static int64_t write_row(const huddle_csr *graph, const int64_t *copies, int32_t n_neighbors,
                         int64_t i, huddle_csr *weighed, int64_t at) {
    double loop = loop_weight(copies[i], n_neighbors);
    int64_t e = graph->offsets[i], end = graph->offsets[i + 1];
    while (e < end || loop > 0) {
        bool own = loop > 0 && (e == end || graph->columns[e] >= i);
        int32_t j = own ? (int32_t)i : graph->columns[e];
        weighed->columns[at] = j;
        weighed->values[at++] = own ? loop : graph->values[e] * (double)(copies[i] + copies[j]) / 2;
        if (own)
            loop = 0;
        e += !own || (e < end && graph->columns[e] == i);
    }
    return at;
}

huddle_status huddle_graph_weigh_copies(const int64_t *copies, int32_t n_neighbors,
                                        huddle_csr *graph) {
    huddle_status status = HUDDLE_OK;
    huddle_csr weighed = {0};
    int64_t n = graph->rows, loops = 0;
    TRY(huddle_csr_check(graph));
    if (graph->cols != n)
        FAIL(HUDDLE_INVALID, "a matrix of %lld x %lld is not a graph", (long long)n,
             (long long)graph->cols);
    for (int64_t i = 0; i < n; i++) {
        if (copies[i] < 1)
            FAIL(HUDDLE_INVALID, "point %lld: %lld copies", (long long)i + 1, (long long)copies[i]);
        loops += loop_weight(copies[i], n_neighbors) > 0;
    }
    TRY(huddle_csr_new(n, n, graph->offsets[n] + loops, &weighed));
    for (int64_t i = 0; i < n; i++)
        weighed.offsets[i + 1] =
            write_row(graph, copies, n_neighbors, i, &weighed, weighed.offsets[i]);
    huddle_csr_free(graph);
    *graph = weighed;
    weighed = (huddle_csr){0};
done:
    huddle_csr_free(&weighed);
    return status;
}
