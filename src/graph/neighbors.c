/* One neighbour search from request to lists. The engine of the context is asked first; if it has
 * no neighbour search, or declines this request, the solvers of the CPU do it. */
#include "base/check.h"
#include "base/context.h"
#include "base/slabs.h"
#include "graph/common.h"
#include "graph/layout.h"
#include "graph/search.h"
#include "matrix/resident.h"

#include <math.h>

/* ---- checks -------------------------------------------------------------------------------- */

/* Whether resident points are sparse is known only after they were fetched. */
static huddle_status check_kinds(const huddle_points *train, const huddle_points *query) {
    if (train->n > 0 && query->n > 0 && !hd_points_away(train) && !hd_points_away(query) &&
        (train->offsets == NULL) != (query->offsets == NULL))
        return hd_fail(HUDDLE_INVALID, "new points and training points must be both dense or both "
                                       "sparse");
    return HUDDLE_OK;
}

/* A process may have no rows, if others have. */
static bool is_absent(const huddle_context *context, int64_t n) {
    return n == 0 && hd_slabs_distributed(context);
}

/* Points or dense rows, for training and, if they are not NULL, as queries. */
static huddle_status check_data(huddle_context *context, const hd_neighbor_request *r) {
    huddle_status status = HUDDLE_OK;
    const huddle_points *points[] = {r->train, r->query};
    const huddle_dense *rows[] = {r->train_rows, r->query_rows};
    for (int k = 0; k < 2; k++) {
        if (points[k] != NULL && !is_absent(context, points[k]->n))
            TRY(huddle_points_check(context, points[k]));
        if (rows[k] != NULL && !is_absent(context, rows[k]->rows))
            TRY(hd_graph_check_dense(rows[k]));
    }
    if (r->train != NULL && r->query != NULL) {
        if (r->train->d != r->query->d && r->train->n > 0 && r->query->n > 0)
            FAIL(HUDDLE_INVALID, "the new points have %lld features, the training points %lld",
                 (long long)r->query->d, (long long)r->train->d);
        TRY(check_kinds(r->train, r->query));
    }
    if (r->train_rows != NULL && r->query_rows != NULL &&
        r->train_rows->cols != r->query_rows->cols && r->train_rows->rows > 0 &&
        r->query_rows->rows > 0)
        FAIL(HUDDLE_INVALID, "the new rows have %lld columns, the training rows %lld",
             (long long)r->query_rows->cols, (long long)r->train_rows->cols);
done:
    return status;
}

/* The number of lists of the answer. */
static int64_t count_queries(const hd_neighbor_request *r) {
    if (r->train_rows != NULL)
        return (r->query_rows != NULL ? r->query_rows : r->train_rows)->rows;
    return (r->query != NULL ? r->query : r->train)->n;
}

/* Limits n_neighbors to the rows that exist, on all processes, without the row itself. Clipping
 * instead of failing lets small data be clustered with default options. */
static huddle_status limit_neighbors(huddle_context *context, const hd_neighbor_request *r,
                                     huddle_knn_options *options) {
    huddle_status status = HUDDLE_OK;
    hd_slab slab;
    bool self = r->query == NULL && r->query_rows == NULL;
    TRY(hd_slab_locate(context, r->train_rows != NULL ? r->train_rows->rows : r->train->n, &slab));
    if (slab.total < 1 || slab.total > INT32_MAX)
        FAIL(HUDDLE_INVALID, "%lld rows are not a data set", (long long)slab.total);
    if (options->n_neighbors > slab.total - self)
        options->n_neighbors = (int32_t)(slab.total - self);
done:
    return status;
}

/* ---- the engine ---------------------------------------------------------------------------- */

/* Asks the engine first. An engine may decline with HUDDLE_UNSUPPORTED, which is not an error: the
 * CPU takes over. An answer of the wrong size would make later stages read beyond its arrays, so it
 * is an error of the engine. */
huddle_status hd_graph_try_engine(huddle_context *context, const hd_neighbor_request *request,
                                  huddle_neighbors *out, huddle_knn_info *info, bool *handled) {
    const hd_engine *engine = hd_context_engine(context);
    int32_t k = request->options->n_neighbors;
    *handled = false;
    if (engine->find_neighbors == NULL)
        return HUDDLE_OK;
    info->solver = engine->text.name;
    huddle_status status = engine->find_neighbors(context, request, out, info);
    if (hd_engine_declined(context, "find_neighbors", status)) {
        huddle_neighbors_free(out);
        return HUDDLE_OK;
    }
    if (status == HUDDLE_OK && (out->n != count_queries(request) || out->k != k))
        status = hd_fail(HUDDLE_INTERNAL,
                         "the engine %s returned %lld lists of %d neighbours instead of %lld of %d",
                         engine->text.name, (long long)out->n, out->k,
                         (long long)count_queries(request), k);
    *handled = status == HUDDLE_OK;
    return status;
}

/* ---- the CPU ------------------------------------------------------------------------------- */

/* The state of a search on the CPU. */
typedef struct host_search {
    huddle_context *context;
    const hd_neighbor_request *request;
    bool cosine;
    int exponent; /* rows of doubles were multiplied by this power of two */
    huddle_neighbors *out;
    huddle_knn_info *info;
} host_search;

/* Allocates the lists. Squared distances are stored in the place of the distances until
 * close_lists(): solvers compare squares, and the root could make a tie of two different squares.
 * An exact search has recall 1, with an interval of no width; only the approximate solver replaces
 * these numbers. */
static huddle_status open_lists(host_search *h, int64_t n, hd_graph_search *s) {
    huddle_status status = hd_graph_neighbors_new(n, h->request->options->n_neighbors, h->out);
    s->k = h->out->k;
    s->seed = h->request->options->seed;
    s->cost_limit = hd_graph_cost_limit;
    s->recall_target = h->request->options->recall;
    s->recall = (hd_graph_recall){1, 1, 1};
    s->index = h->out->index;
    s->distance2 = h->out->distance;
    return status;
}

/* From squared distances of rows multiplied by 2^exponent to distances. Rows of norm 1 have |x -
 * y|^2 = 2 (1 - cos), and 1 - cos is the distance of the cosine metric; it does not depend on the
 * scale of the rows. The root comes before the power of two is removed: the square of the true
 * distance may overflow, the distance does not. */
static void close_lists(host_search *h, const hd_graph_search *s) {
    huddle_neighbors *out = h->out;
    for (int64_t e = 0; e < out->n * out->k; e++)
        out->distance[e] = h->cosine ? out->distance[e] / 2 : sqrt(out->distance[e]);
    for (int64_t e = 0; e < out->n * out->k && h->exponent != 0 && !h->cosine; e++)
        out->distance[e] = ldexp(out->distance[e], -h->exponent);
    h->info->recall = s->recall.share;
    h->info->recall_low = s->recall.low;
    h->info->recall_high = s->recall.high;
    h->info->n_rounds = s->n_rounds;
    h->info->n_distances = (int64_t)atomic_load(&s->n_distances);
    h->info->n_repeated = (int64_t)atomic_load(&s->n_repeated);
}

/* All processes must have rows of one width; one without rows takes that of the others. The number
 * travels as a double, which is exact up to 2^53. */
static huddle_status agree_on_width(host_search *h, int64_t n, int64_t *d) {
    huddle_status status = HUDDLE_OK;
    double width = n > 0 ? (double)*d : 0;
    TRY(hd_reduce_max(h->context, 1, &width));
    if (n > 0 && (double)*d != width)
        FAIL(HUDDLE_INVALID, "this process has rows of %lld columns, another one of %lld",
             (long long)*d, (long long)width);
    *d = (int64_t)width;
done:
    return status;
}

/* Dense rows: rescaled or normalised as the type and the metric require, then the chosen solver.
 * Squares of floats cannot overflow in double, so that only rows of doubles are rescaled. */
static huddle_status search_rows(host_search *h, hd_graph_rows *train, hd_graph_rows *query) {
    huddle_status status = HUDDLE_OK;
    hd_graph_search s = {.train = train, .query = query, .self = query == train};
    /* One process holds all rows, even if the engine could distribute them. */
    bool whole = hd_slabs_count(h->context) == 1;
    huddle_status (*run)(huddle_context *, const char *, hd_graph_search *, const char **) =
        whole ? hd_graph_search_run : hd_graph_search_distributed;
    if (hd_slabs_distributed(h->context)) {
        TRY(agree_on_width(h, train->n, &train->d));
        if (query->n == 0)
            query->d = train->d;
    }
    if (train->doubles != NULL)
        TRY(hd_graph_rows_rescale(h->context, train, query, &h->exponent));
    if (h->cosine) {
        TRY(hd_graph_rows_normalise(h->context, train));
        if (query != train)
            TRY(hd_graph_rows_normalise(h->context, query));
        /* The additional coordinate of rows of zeros must exist on both sides, or on none. */
        double zeros = train->zeros || query->zeros;
        TRY(hd_reduce_max(h->context, 1, &zeros));
        train->zeros = query->zeros = zeros > 0;
    }
    TRY(open_lists(h, query->n, &s));
    if (s.k > 0)
        TRY(run(h->context, h->request->options->knn_solver, &s, &h->info->solver));
    close_lists(h, &s);
done:
    return status;
}

static huddle_status search_sparse(host_search *h) {
    huddle_status status = HUDDLE_OK;
    const huddle_points *train = h->request->train;
    /* A copy of the struct, because a search is one of points among themselves if both pointers are
     * equal, and a caller may pass the training points as new points too. */
    huddle_points others = h->request->query != NULL ? *h->request->query : *train;
    const huddle_points *query = h->request->query != NULL ? &others : train;
    hd_graph_search s = {.self = query == train};
    h->info->solver = "sparse";
    TRY(open_lists(h, query->n, &s));
    if (s.k > 0)
        TRY(hd_slabs_count(h->context) == 1
                ? hd_graph_search_sparse(h->context, train, query, h->cosine, &s)
                : hd_graph_search_sparse_distributed(h->context, train, query, h->cosine, &s));
    close_lists(h, &s);
done:
    return status;
}

/* Euclidean distances depend only on how the queries' shift differs from the training points'. Both
 * are the same on all processes, even on one without rows. With stored values x and y of a query
 * and a training point, and shifts s and t, (x + s) - (y + t) = (x + (s - t)) - y: the training
 * points keep their stored values. Shifts may be much larger than the values, and cancel here
 * before they meet them. */
static huddle_status relative_shift(const huddle_points *train, const huddle_points *query,
                                    hd_graph_rows *rows) {
    huddle_status status = HUDDLE_OK;
    int64_t d = train->n > 0 ? train->d : query->d;
    if (train->shift == NULL && query->shift == NULL)
        return status;
    ALLOC(rows->owned_shift, d);
    for (int64_t j = 0; j < d; j++)
        rows->owned_shift[j] = (query->shift != NULL ? query->shift[j] : 0) -
                               (train->shift != NULL ? train->shift[j] : 0);
    rows->shift = rows->owned_shift;
done:
    return status;
}

/* Points, fetched from an engine if necessary. A shift (huddle/matrix.h) is a constant that was
 * subtracted from every point of a container: it cancels in Euclidean distances between points of
 * one container, and only the difference of two shifts matters between two; the cosine needs the
 * true values. */
static huddle_status search_points(host_search *h) {
    huddle_status status = HUDDLE_OK;
    const huddle_points *train = h->request->train, *query = h->request->query;
    hd_graph_rows rows = {0}, new_rows = {0};
    TRY(huddle_points_fetch(train));
    if (query != NULL) {
        TRY(huddle_points_fetch(query));
        TRY(check_kinds(train, query));
    }
    /* The kind is agreed on before the first exchange: the searches of dense and of sparse rows
     * exchange different records, and a process without rows has to join the right one. */
    double sparse = train->n > 0 && train->offsets != NULL;
    TRY(hd_reduce_max(h->context, 1, &sparse));
    if (sparse > 0 && train->n > 0 && train->offsets == NULL)
        FAIL(HUDDLE_INVALID, "another process has sparse points");
    if (sparse > 0) {
        TRY(search_sparse(h));
        goto done;
    }
    rows = hd_graph_rows_of_points(train);
    rows.shift = h->cosine ? train->shift : NULL;
    if (query != NULL) {
        new_rows = hd_graph_rows_of_points(query);
        if (h->cosine)
            new_rows.shift = query->shift;
        else
            TRY(relative_shift(train, query, &new_rows));
    }
    TRY(search_rows(h, &rows, query != NULL ? &new_rows : &rows));
done:
    hd_graph_rows_free(&rows);
    hd_graph_rows_free(&new_rows);
    return status;
}

static huddle_status search_dense(host_search *h) {
    huddle_status status = HUDDLE_OK;
    const huddle_dense *train = h->request->train_rows, *query = h->request->query_rows;
    hd_graph_rows rows = {0}, new_rows = {0};
    TRY(huddle_dense_fetch(train));
    rows = hd_graph_rows_of_dense(train);
    if (query != NULL) {
        TRY(huddle_dense_fetch(query));
        new_rows = hd_graph_rows_of_dense(query);
    }
    TRY(search_rows(h, &rows, query != NULL ? &new_rows : &rows));
done:
    hd_graph_rows_free(&rows);
    hd_graph_rows_free(&new_rows);
    return status;
}

/* ---- both ---------------------------------------------------------------------------------- */

/* The checks come first, so that an engine gets valid requests only; with k = 0 there is nothing to
 * ask for. The time that is reported includes the checks. */
huddle_status hd_graph_find_neighbors(huddle_context *context, const hd_neighbor_request *request,
                                      huddle_neighbors *out, huddle_knn_info *info) {
    huddle_status status = HUDDLE_OK;
    double start = hd_seconds();
    bool handled = false;
    hd_neighbor_request r = *request;
    huddle_knn_info result = {.solver = "brute", .recall = 1, .recall_low = 1, .recall_high = 1};
    huddle_knn_options options = r.options != NULL ? *r.options : huddle_knn_defaults();
    host_search h = {.context = context, .request = &r, .out = out, .info = &result};
    *out = (huddle_neighbors){0};
    if (info != NULL)
        *info = result;
    r.options = &options;
    TRY(huddle_options_check(huddle_knn_options_table(), &options));
    TRY(hd_graph_parse_metric(options.metric, &h.cosine));
    TRY(check_data(context, &r));
    TRY(limit_neighbors(context, &r, &options));
    if (options.n_neighbors > 0)
        TRY(hd_graph_try_engine(context, &r, out, &result, &handled));
    if (!handled) {
        TRY(hd_graph_require_passing(context, "the CPU's neighbour search"));
        /* An engine that declined has left its name here. */
        result.solver = "brute";
        TRY(r.train_rows != NULL ? search_dense(&h) : search_points(&h));
    }
    result.seconds = hd_seconds() - start;
    if (info != NULL)
        *info = result;
done:
    if (status != HUDDLE_OK)
        huddle_neighbors_free(out);
    return status;
}
