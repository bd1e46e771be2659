/* Neighbour lists with ties: every row as near as the k-th neighbour is a neighbour too.
 *
 * The k + 1 nearest show which lists have a tie beyond their k-th place. Only those rows are
 * searched again, for as many neighbours as a list may have.
 *
 * On grids and rounded data, choosing some of the tied rows by their index would be arbitrary
 * (docs/method.md, "Duplicate points"). */
#include "base/check.h"
#include "base/slabs.h"
#include "graph/common.h"

#include <math.h>
#include <string.h>

enum {
    MAX_NEIGHBORS = 40, /* no list is longer, however many rows are tied: rounded data can tie
                           thousands */
    MANY = 32,          /* an exact search for more than n / MANY rows costs too much if one for all
                           rows did */
};

/* Distances between points of a grid are equal except for the rounding of single precision, 2^-24
 * per coordinate; this leaves a margin of two orders. */
static const double same_distance = 1 + 1e-5;

/* A search with ties: `query` is NULL when the points are searched for among themselves. */
typedef struct tie_search {
    huddle_context *context;
    const huddle_points *train, *query;
    const huddle_knn_options *options;
    huddle_neighbors near;   /* k + 1 nearest */
    int64_t *tied, n_tied;   /* rows whose k-th neighbour has equals beyond */
    huddle_neighbors around; /* the longer lists of those rows */
} tie_search;

static huddle_status search_neighbors(const tie_search *t, const huddle_points *query,
                                      const huddle_knn_options *options, huddle_neighbors *lists,
                                      huddle_knn_info *info) {
    hd_neighbor_request request = {.train = t->train, .query = query, .options = options};
    huddle_status status = hd_graph_find_neighbors(t->context, &request, lists, info);
    return status == HUDDLE_OK ? huddle_neighbors_fetch(lists) : status;
}

/* How many entries of a list of `length` are as near as the k-th: at least k, at most
 * MAX_NEIGHBORS. */
static int32_t count_near(const double *distance, int32_t length, int32_t k) {
    int32_t count = k < length ? k : length;
    while (count > 0 && count < length && count < MAX_NEIGHBORS &&
           distance[count] <= distance[k - 1] * same_distance)
        count++;
    return count;
}

/* Lists whose (k + 1)-th neighbour is as near as the k-th: there may be more of them. */
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

/* Removes row `own` from a list of k, which ends with an empty place then. */
static void remove_own_row(int64_t own, int32_t k, int32_t *index, double *distance) {
    int32_t kept = 0;
    for (int32_t c = 0; c < k; c++)
        if (index[c] != own && kept < k - 1) {
            index[kept] = index[c];
            distance[kept++] = distance[c];
        }
    for (; kept < k; kept++) {
        index[kept] = -1;
        distance[kept] = INFINITY;
    }
}

/* Searches once more for the tied rows, as new points. Training points then find themselves, hence
 * one more neighbour, and the point itself is removed. The search is collective: a process without
 * tied rows takes part with one row, whose result is ignored. */
static huddle_status search_tied(tie_search *t) {
    huddle_status status = HUDDLE_OK;
    huddle_points rows = {0};
    huddle_knn_options wide = *t->options;
    bool among = t->query == NULL;
    hd_slab slab;
    /* A process without tied rows takes part in the search with its first row, if it has any. */
    int64_t none = 0, has_rows = (among ? t->train : t->query)->n > 0;
    wide.n_neighbors = MAX_NEIGHBORS + among;
    TRY(hd_slab_locate(t->context, t->train->n, &slab));
    TRY(huddle_points_take(among ? t->train : t->query, t->n_tied > 0 ? t->tied : &none,
                           t->n_tied > 0 ? t->n_tied : has_rows, &rows));
    TRY(search_neighbors(t, &rows, &wide, &t->around, NULL));
    for (int64_t i = 0; i < t->n_tied && among; i++)
        remove_own_row(slab.first + t->tied[i], t->around.k, t->around.index + i * t->around.k,
                       t->around.distance + i * t->around.k);
done:
    huddle_points_free(&rows);
    return status;
}

/* Where the first search was approximate and many rows are tied, the second is approximate too: one
 * for all rows, of which those that are tied are kept. */
static huddle_status search_all(tie_search *t) {
    huddle_status status = HUDDLE_OK;
    huddle_knn_options wide = *t->options;
    wide.n_neighbors = MAX_NEIGHBORS;
    TRY(search_neighbors(t, NULL, &wide, &t->around, NULL));
    /* Rows only move to the front, since they are in ascending order. */
    int64_t k = t->around.k;
    for (int64_t q = 0; q < t->n_tied; q++) {
        memmove(t->around.index + q * k, t->around.index + t->tied[q] * k,
                (size_t)k * sizeof *t->around.index);
        memmove(t->around.distance + q * k, t->around.distance + t->tied[q] * k,
                (size_t)k * sizeof *t->around.distance);
    }
done:
    return status;
}

/* The first k of every list, or for tied rows all that are as near. All processes use the length of
 * the longest list; shorter lists end with empty places. */
static huddle_status write_lists(const tie_search *t, huddle_neighbors *out) {
    huddle_status status = HUDDLE_OK;
    int32_t k = t->options->n_neighbors, longest = k;
    for (int64_t q = 0; q < t->n_tied; q++) {
        int32_t count = count_near(t->around.distance + q * t->around.k, t->around.k, k);
        longest = count > longest ? count : longest;
    }
    /* The longest list of any process. */
    double common = longest;
    TRY(hd_reduce_max(t->context, 1, &common));
    longest = (int32_t)common;
    TRY(hd_graph_neighbors_new(t->near.n, longest, out));
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

/* Whether any row is tied must be decided by all processes together, because the second search is
 * collective. */
static huddle_status search_with_ties(tie_search *t, huddle_neighbors *out, huddle_knn_info *info) {
    huddle_status status = HUDDLE_OK;
    huddle_knn_options defaults = huddle_knn_defaults(), one_more;
    huddle_knn_info first;
    *out = (huddle_neighbors){0};
    if (t->options == NULL)
        t->options = &defaults;
    one_more = *t->options;
    one_more.n_neighbors += one_more.n_neighbors >= 1 && one_more.n_neighbors < INT32_MAX;
    status = search_neighbors(t, t->query, &one_more, &t->near, &first);
    if (info != NULL)
        *info = first;
    TRY(status);
    if (t->near.k <= t->options->n_neighbors) { /* every other row is in the list already */
        *out = t->near;
        t->near = (huddle_neighbors){0};
        goto done;
    }
    TRY(find_tied(t));
    int64_t all_tied = t->n_tied, all = t->near.n;
    TRY(hd_reduce_count(t->context, &all_tied));
    TRY(hd_reduce_count(t->context, &all));
    bool approximate = strcmp(first.solver, "approximate") == 0;
    if (approximate && all_tied > all / MANY)
        TRY(search_all(t));
    else if (all_tied > 0)
        TRY(search_tied(t));
    TRY(write_lists(t, out));
done:
    huddle_neighbors_free(&t->near);
    huddle_neighbors_free(&t->around);
    huddle_free(t->tied);
    if (status != HUDDLE_OK)
        huddle_neighbors_free(out);
    return status;
}

huddle_status huddle_graph_knn_ties(huddle_context *context, const huddle_points *x,
                                    const huddle_knn_options *options, huddle_neighbors *out,
                                    huddle_knn_info *info) {
    tie_search t = {.context = context, .train = x, .options = options};
    return hd_agree(context, search_with_ties(&t, out, info));
}

huddle_status huddle_graph_query_ties(huddle_context *context, const huddle_points *train,
                                      const huddle_points *query, const huddle_knn_options *options,
                                      huddle_neighbors *out, huddle_knn_info *info) {
    tie_search t = {.context = context, .train = train, .query = query, .options = options};
    return hd_agree(context, search_with_ties(&t, out, info));
}

/* Lists from a matrix of distances. Here long lists cost nothing extra, so that the second search
 * is saved and all rows are treated as tied. `near` and `around` are then the same lists, which
 * `wide` owns. */
huddle_status huddle_graph_from_distances_ties(huddle_context *context,
                                               const huddle_dense *distances, int32_t n_neighbors,
                                               huddle_neighbors *out) {
    huddle_status status = HUDDLE_OK;
    huddle_neighbors wide = {0};
    huddle_knn_options options = {.n_neighbors = n_neighbors};
    int64_t *tied = NULL;
    *out = (huddle_neighbors){0};
    TRY(huddle_graph_from_distances_dense(
        context, distances,
        n_neighbors >= 1 && n_neighbors < MAX_NEIGHBORS ? MAX_NEIGHBORS : n_neighbors, &wide));
    if (wide.k <= n_neighbors) {
        *out = wide;
        wide = (huddle_neighbors){0};
        goto done;
    }
    ALLOC(tied, wide.n);
    for (int64_t i = 0; i < wide.n; i++)
        tied[i] = i;
    tie_search t = {.context = context,
                    .options = &options,
                    .near = wide,
                    .around = wide,
                    .tied = tied,
                    .n_tied = wide.n};
    TRY(write_lists(&t, out));
done:
    huddle_free(tied);
    huddle_neighbors_free(&wide);
    return hd_agree(context, status);
}
