/* The public functions of the neighbour search. Each states a request; hd_graph_find_neighbors()
 * checks it and finds the lists, and hd_agree() makes all processes return the same status. */
#include "base/check.h"
#include "base/options.h"
#include "base/slabs.h"
#include "graph/common.h"
#include "graph/search.h"
#include "matrix/resident.h"

#include <math.h>
#include <string.h>

/* ---- options ------------------------------------------------------------------------------- */

static const char *const metrics[] = {"euclidean", "cosine", NULL};

static const huddle_option table[] = {
    HD_CHOICE(huddle_knn_options, knn_solver, "auto", hd_graph_solver_names,
              "algorithm of the neighbour search; all but approximate are exact"),
    HD_INT(huddle_knn_options, n_neighbors, "5", 1, INT32_MAX, "number of neighbours per point"),
    HD_CHOICE(huddle_knn_options, metric, "euclidean", metrics, "distance between points"),
    HD_REAL(huddle_knn_options, recall, "0.995", 0, 1,
            "share of true neighbours that an approximate search must find; 1: search exactly"),
    {0}};

const huddle_option *huddle_knn_options_table(void) {
    return table;
}

huddle_knn_options huddle_knn_defaults(void) {
    huddle_knn_options options = {0};
    huddle_options_default(table, &options);
    return options;
}

/* Also for a metric that no table has checked: huddle_connect_options.metric is not in one. */
huddle_status hd_graph_parse_metric(const char *metric, bool *cosine) {
    *cosine = metric != NULL && strcmp(metric, "cosine") == 0;
    if (*cosine || metric == NULL || strcmp(metric, "euclidean") == 0)
        return HUDDLE_OK;
    return hd_fail(HUDDLE_INVALID, "metric = %s: expected one of euclidean|cosine", metric);
}

/* ---- containers ---------------------------------------------------------------------------- */

huddle_status hd_graph_neighbors_new(int64_t n, int32_t k, huddle_neighbors *out) {
    huddle_status status = HUDDLE_OK;
    *out = (huddle_neighbors){.n = n, .k = k};
    ALLOC(out->index, n * k);
    ALLOC(out->distance, n * k);
done:
    return status;
}

huddle_status huddle_neighbors_fetch(const huddle_neighbors *neighbors) {
    return hd_resident_fetch(neighbors->resident, neighbors, offsetof(huddle_neighbors, index));
}

void huddle_neighbors_free(huddle_neighbors *neighbors) {
    FREE(neighbors->index, neighbors->distance);
    hd_resident_release(&neighbors->resident); /* an engine's copy */
    *neighbors = (huddle_neighbors){0};
}

/* A NaN has no place in the order of a list, and differences of infinite values may be NaN: both
 * are refused here, so that no solver has to test for them. Lists hold int32_t numbers of rows. */
huddle_status hd_graph_check_dense(const huddle_dense *f) {
    bool resident = hd_dense_away(f); /* made by the engine that holds it */
    if (f->rows < 1 || f->cols < 1 || f->rows > INT32_MAX || f->cols > INT32_MAX ||
        (!resident && (f->stride < f->cols || f->values == NULL)))
        return hd_fail(HUDDLE_INVALID, "a matrix of %lld x %lld (stride %lld) contains no points",
                       (long long)f->rows, (long long)f->cols, (long long)f->stride);
    for (int64_t i = 0; i < f->rows && !resident; i++)
        for (int64_t j = 0; j < f->cols; j++) {
            double v = f->values[i * f->stride + j];
            if (!isfinite(v))
                return hd_fail(HUDDLE_INVALID, "row %lld, column %lld: the value is %s",
                               (long long)i + 1, (long long)j + 1,
                               isnan(v) ? "not a number" : "infinite");
        }
    return HUDDLE_OK;
}

/* ---- searches ------------------------------------------------------------------------------ */

/* Without queries a search is one of the rows among themselves, each without itself. */
huddle_status huddle_graph_knn(huddle_context *context, const huddle_points *x,
                               const huddle_knn_options *options, huddle_neighbors *out,
                               huddle_knn_info *info) {
    hd_neighbor_request request = {.train = x, .options = options};
    return hd_agree(context, hd_graph_find_neighbors(context, &request, out, info));
}

huddle_status huddle_graph_knn_dense(huddle_context *context, const huddle_dense *f,
                                     const huddle_knn_options *options, huddle_neighbors *out,
                                     huddle_knn_info *info) {
    hd_neighbor_request request = {.train_rows = f, .options = options};
    return hd_agree(context, hd_graph_find_neighbors(context, &request, out, info));
}

huddle_status huddle_graph_query(huddle_context *context, const huddle_points *train,
                                 const huddle_points *query, const huddle_knn_options *options,
                                 huddle_neighbors *out, huddle_knn_info *info) {
    hd_neighbor_request request = {.train = train, .query = query, .options = options};
    return hd_agree(context, hd_graph_find_neighbors(context, &request, out, info));
}

huddle_status huddle_graph_query_dense(huddle_context *context, const huddle_dense *train,
                                       const huddle_dense *query, const huddle_knn_options *options,
                                       huddle_neighbors *out, huddle_knn_info *info) {
    hd_neighbor_request request = {.train_rows = train, .query_rows = query, .options = options};
    return hd_agree(context, hd_graph_find_neighbors(context, &request, out, info));
}
