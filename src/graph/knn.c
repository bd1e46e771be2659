/* The entry points of the neighbour search. */
#include "base/check.h"
#include "base/context.h"
#include "base/options.h"
#include "graph/check.h"
#include "graph/search.h"
#include "matrix/resident.h"

#include <math.h>
#include <string.h>

/* ---- options ------------------------------------------------------------------------------- */

static const char *const solvers[] = {"auto", "brute", "pcabound", "kdtree", NULL};
static const char *const metrics[] = {"euclidean", "cosine", NULL};

static const huddle_option table[] = {
    {.name = "knn_solver",
     .type = HUDDLE_OPTION_CHOICE,
     .offset = offsetof(huddle_knn_options, solver),
     .default_text = "auto",
     .choices = solvers,
     .help = "how neighbours are found; all ways are exact"},
    HD_INT(huddle_knn_options, n_neighbors, "5", 1, INT32_MAX, "neighbours of each point"),
    HD_CHOICE(huddle_knn_options, metric, "euclidean", metrics, "what distances are"),
    {0}};

const huddle_option *huddle_knn_options_table(void) {
    return table;
}

huddle_knn_options huddle_knn_defaults(void) {
    huddle_knn_options options = {0};
    huddle_options_default(table, &options);
    return options;
}

/* ---- solvers ------------------------------------------------------------------------------- */

/* Is it worth trying the tree, or the bound? The numbers are measured. Embeddings lie in tight
 * clusters, where trees do well in more dimensions. */
static bool suits_tree(const hd_search *s) {
    int64_t n = s->train->n, d = hd_rows_width(s->train);
    if (s->train->doubles != NULL)
        return n > 4000;
    return d <= 16 && (n > 20000 || s->query_group != NULL);
}

static bool suits_bound(const hd_search *s) {
    return s->self && s->train->n >= 3000 && hd_rows_width(s->train) > 32;
}

huddle_status hd_search_run(huddle_context *context, const char *name, hd_search *search,
                            const char **used) {
    huddle_status status = HUDDLE_OK;
    bool any = strcmp(name, "auto") == 0, gave_up = true;
    if (strcmp(name, "kdtree") == 0 || (any && suits_tree(search))) {
        gave_up = false;
        *used = "kdtree";
        TRY(hd_search_kdtree(context, search, any ? &gave_up : NULL));
    }
    if (gave_up && search->self &&
        (strcmp(name, "pcabound") == 0 || (any && suits_bound(search)))) {
        gave_up = false;
        *used = "pcabound";
        TRY(hd_search_pcabound(context, search, &gave_up));
    }
    if (gave_up) {
        *used = "brute";
        TRY(hd_search_brute(context, search));
    }
done:
    return status;
}

void hd_search_clear(hd_search *search, int64_t begin, int64_t end) {
    for (int64_t e = begin * search->k; e < end * search->k; e++) {
        search->distance2[e] = INFINITY;
        search->index[e] = INT32_MAX;
    }
}

/* ---- lists --------------------------------------------------------------------------------- */

huddle_status hd_neighbors_new(int64_t n, int32_t k, huddle_neighbors *out) {
    huddle_status status = HUDDLE_OK;
    *out = (huddle_neighbors){.n = n, .k = k};
    ALLOC(out->index, n * k);
    ALLOC(out->distance, n * k);
done:
    return status;
}

huddle_status huddle_neighbors_fetch(const huddle_neighbors *neighbors) {
    return hd_resident_fetch(neighbors->resident, neighbors->index != NULL, neighbors);
}

void huddle_neighbors_free(huddle_neighbors *neighbors) {
    huddle_free(neighbors->index);
    huddle_free(neighbors->distance);
    hd_resident_drop(&neighbors->resident);
    *neighbors = (huddle_neighbors){0};
}

/* From squared distances of rows multiplied by 2^exponent. */
static void finish(huddle_neighbors *out, bool cosine, int exponent) {
    for (int64_t e = 0; e < out->n * out->k; e++) {
        double distance2 = out->distance[e];
        out->distance[e] = cosine ? distance2 / 2 : sqrt(distance2);
    }
    for (int64_t e = 0; e < out->n * out->k && exponent != 0 && !cosine; e++)
        out->distance[e] = ldexp(out->distance[e], -exponent);
}

/* ---- a request ----------------------------------------------------------------------------- */

/* Points or doubles, among themselves or not, on their way to a solver. */
typedef struct request {
    huddle_context *context;
    huddle_knn_options options;
    bool cosine;
    int exponent; /* rows of doubles were multiplied by this power of two */
    huddle_neighbors *out;
    huddle_knn_info *info;
    double start;
} request;

static huddle_status open_request(huddle_context *context, const huddle_knn_options *options,
                                  huddle_neighbors *out, huddle_knn_info *info, request *r) {
    *r = (request){.context = context, .out = out, .info = info, .start = hd_seconds()};
    *out = (huddle_neighbors){0};
    if (info != NULL)
        *info = (huddle_knn_info){.solver = "brute", .recall = 1};
    r->options = options != NULL ? *options : huddle_knn_defaults();
    r->cosine = strcmp(r->options.metric, "cosine") == 0;
    return huddle_options_check(table, &r->options);
}

static void close_request(request *r, const hd_search *s, const char *used) {
    finish(r->out, r->cosine, r->exponent);
    if (r->info == NULL)
        return;
    *r->info = (huddle_knn_info){.solver = used,
                                 .recall = 1,
                                 .n_distances = (int64_t)atomic_load(&s->n_distances),
                                 .n_repeated = (int64_t)atomic_load(&s->n_repeated),
                                 .seconds = hd_seconds() - r->start};
}

static int32_t cut(int32_t k, int64_t most) {
    return k < most ? k : (int32_t)most;
}

/* Makes room for the lists and points the search at them. */
static huddle_status open_search(request *r, int64_t n, int32_t k, hd_search *s) {
    huddle_status status = hd_neighbors_new(n, k, r->out);
    s->k = k;
    s->seed = r->options.seed;
    s->index = r->out->index;
    s->distance2 = r->out->distance;
    return status;
}

static huddle_status search_rows(request *r, hd_rows *train, hd_rows *query) {
    huddle_status status = HUDDLE_OK;
    const char *used = NULL;
    hd_search s = {.train = train, .query = query, .self = query == train};
    if (train->doubles != NULL)
        TRY(hd_rows_rescale(train, query, &r->exponent));
    if (r->cosine) {
        TRY(hd_rows_normalise(r->context, train));
        if (query != train)
            TRY(hd_rows_normalise(r->context, query));
        train->zeros = query->zeros = train->zeros || query->zeros;
    }
    TRY(open_search(r, query->n, cut(r->options.n_neighbors, train->n - s.self), &s));
    if (s.k > 0)
        TRY(hd_search_run(r->context, r->options.solver, &s, &used));
    close_request(r, &s, used != NULL ? used : "brute");
done:
    if (status != HUDDLE_OK)
        huddle_neighbors_free(r->out);
    return status;
}

static huddle_status search_sparse(request *r, const huddle_points *train,
                                   const huddle_points *query) {
    huddle_status status = HUDDLE_OK;
    hd_search s = {.self = query == train};
    TRY(open_search(r, query->n, cut(r->options.n_neighbors, train->n - s.self), &s));
    if (s.k > 0)
        TRY(hd_search_sparse(r->context, train, query, r->cosine, &s));
    close_request(r, &s, "sparse");
done:
    if (status != HUDDLE_OK)
        huddle_neighbors_free(r->out);
    return status;
}

huddle_status hd_metric(const char *metric, bool *cosine) {
    *cosine = metric != NULL && strcmp(metric, "cosine") == 0;
    if (*cosine || metric == NULL || strcmp(metric, "euclidean") == 0)
        return HUDDLE_OK;
    return hd_fail(HUDDLE_INVALID, "metric = %s is not one of euclidean|cosine", metric);
}

huddle_status hd_dense_check(const huddle_dense *f) {
    if (f->rows < 1 || f->cols < 1 || f->rows > INT32_MAX || f->cols > INT32_MAX ||
        f->stride < f->cols || f->values == NULL)
        return hd_fail(HUDDLE_INVALID, "a matrix of %lld x %lld (stride %lld) holds no points",
                       (long long)f->rows, (long long)f->cols, (long long)f->stride);
    for (int64_t i = 0; i < f->rows; i++)
        for (int64_t j = 0; j < f->cols; j++) {
            double v = f->values[i * f->stride + j];
            if (!isfinite(v))
                return hd_fail(HUDDLE_INVALID, "row %lld, column %lld: the value is %s",
                               (long long)i + 1, (long long)j + 1,
                               isnan(v) ? "not a number" : "infinite");
        }
    return HUDDLE_OK;
}

/* ---- among themselves ---------------------------------------------------------------------- */

huddle_status huddle_graph_knn(huddle_context *context, const huddle_points *x,
                               const huddle_knn_options *options, huddle_neighbors *out,
                               huddle_knn_info *info) {
    huddle_status status = HUDDLE_OK;
    request r;
    hd_rows rows = {0};
    TRY(open_request(context, options, out, info, &r));
    TRY(huddle_points_check(context, x));
    if (x->offsets != NULL)
        return search_sparse(&r, x, x);
    rows = hd_rows_of_points(x);
    rows.shift = r.cosine ? x->shift : NULL;
    TRY(search_rows(&r, &rows, &rows));
done:
    hd_rows_free(&rows);
    return status;
}

huddle_status huddle_graph_knn_dense(huddle_context *context, const huddle_dense *f,
                                     const huddle_knn_options *options, huddle_neighbors *out,
                                     huddle_knn_info *info) {
    huddle_status status = HUDDLE_OK;
    request r;
    hd_rows rows = {0};
    TRY(open_request(context, options, out, info, &r));
    TRY(hd_dense_check(f));
    rows = hd_rows_of_dense(f);
    TRY(search_rows(&r, &rows, &rows));
done:
    hd_rows_free(&rows);
    return status;
}

/* ---- queries ------------------------------------------------------------------------------- */

static huddle_status check_pair(const huddle_points *train, const huddle_points *query) {
    if (train->d != query->d)
        return hd_fail(HUDDLE_INVALID,
                       "the new points have %lld features, the training points %lld",
                       (long long)query->d, (long long)train->d);
    if ((train->offsets == NULL) != (query->offsets == NULL))
        return hd_fail(HUDDLE_INVALID, "new points and training points must be both dense or both "
                                       "sparse");
    return HUDDLE_OK;
}

/* Euclidean distances see only how the queries' shift differs from the training points'. */
static huddle_status relative_shift(const huddle_points *train, const huddle_points *query,
                                    hd_rows *rows) {
    huddle_status status = HUDDLE_OK;
    if (train->shift == NULL && query->shift == NULL)
        return status;
    ALLOC(rows->owned_shift, train->d);
    for (int64_t j = 0; j < train->d; j++)
        rows->owned_shift[j] = (query->shift != NULL ? query->shift[j] : 0) -
                               (train->shift != NULL ? train->shift[j] : 0);
    rows->shift = rows->owned_shift;
done:
    return status;
}

huddle_status huddle_graph_query(huddle_context *context, const huddle_points *train,
                                 const huddle_points *query, const huddle_knn_options *options,
                                 huddle_neighbors *out, huddle_knn_info *info) {
    huddle_status status = HUDDLE_OK;
    request r;
    hd_rows rows = {0}, new_rows = {0};
    TRY(open_request(context, options, out, info, &r));
    TRY(huddle_points_check(context, train));
    TRY(huddle_points_check(context, query));
    TRY(check_pair(train, query));
    /* A copy: told apart from train even when the caller asks about the same points. */
    huddle_points others = *query;
    if (train->offsets != NULL)
        return search_sparse(&r, train, &others);
    rows = hd_rows_of_points(train);
    new_rows = hd_rows_of_points(&others);
    if (r.cosine) {
        rows.shift = train->shift;
        new_rows.shift = query->shift;
    } else {
        TRY(relative_shift(train, query, &new_rows));
    }
    TRY(search_rows(&r, &rows, &new_rows));
done:
    hd_rows_free(&rows);
    hd_rows_free(&new_rows);
    return status;
}

huddle_status huddle_graph_query_dense(huddle_context *context, const huddle_dense *train,
                                       const huddle_dense *query, const huddle_knn_options *options,
                                       huddle_neighbors *out, huddle_knn_info *info) {
    huddle_status status = HUDDLE_OK;
    request r;
    hd_rows rows = {0}, new_rows = {0};
    TRY(open_request(context, options, out, info, &r));
    TRY(hd_dense_check(train));
    TRY(hd_dense_check(query));
    if (train->cols != query->cols)
        FAIL(HUDDLE_INVALID, "the new rows have %lld columns, the training rows %lld",
             (long long)query->cols, (long long)train->cols);
    rows = hd_rows_of_dense(train);
    new_rows = hd_rows_of_dense(query);
    TRY(search_rows(&r, &rows, &new_rows));
done:
    hd_rows_free(&rows);
    hd_rows_free(&new_rows);
    return status;
}
