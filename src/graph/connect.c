/* Bridges between components: Boruvka's minimum spanning tree, whose vertices are the components
 * ("parts", because they grow from round to round). In every round each part except the largest
 * finds its nearest point outside and is joined to that point's part. The shortest edge that leaves
 * a part belongs to the minimum spanning tree, and a round leaves about half of the parts or fewer,
 * so that a few searches suffice. The largest part need not search, which saves most of the work:
 * its edges of the tree are found from their other ends, in this round or a later one. Edges are
 * ordered by (distance, smaller vertex, larger vertex), so the tree is unique.
 *
 * If rows are distributed over processes, vertices have their numbers among all rows in bridges,
 * and a process knows the parts of its own vertices; sizes, bridges and what is joined are the same
 * on all. */
#include "base/check.h"
#include "base/context.h"
#include "base/options.h"
#include "base/slabs.h"
#include "graph/bridges.h"
#include "graph/common.h"
#include "graph/layout.h"
#include "graph/split.h"
#include "matrix/labels.h"
#include "matrix/small.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char *const choices[] = {"auto", "true", "false", "small", NULL};

static const huddle_option table[] = {
    HD_CHOICE(huddle_connect_options, connect, "auto", choices,
              "whether components of the graph are joined by shortest bridges"),
    {0}};

const huddle_option *huddle_connect_options_table(void) {
    return table;
}

huddle_connect_options huddle_connect_defaults(void) {
    huddle_connect_options options = {.n_clusters = 1, .metric = "euclidean"};
    huddle_options_default(table, &options);
    return options;
}

typedef hd_graph_edge bridge;

/* Vertices of the parts that search in a round. */
typedef struct queries {
    int64_t count;
    bool *searching; /* of each part: whether it searches in this round */
    int32_t *target; /* of each part that searches: the part at the end of its best edge */
    int32_t *vertices, *group; /* and their parts */
} queries;

/* The parts of the graph while they are being joined. The arrays of a round are kept from one round
 * to the next. */
typedef struct parts {
    huddle_context *context;
    const huddle_points *points; /* what is searched: one of these two */
    const huddle_dense *distances;
    bool cosine;
    hd_graph_rows rows;           /* of dense points, once the CPU needs them */
    hd_graph_boruvka tree;        /* over them */
    hd_graph_bridges distributed; /* instead of these two if rows are distributed over processes */
    int64_t n;                    /* vertices of this process */
    const int64_t *copies;        /* points of each vertex, or NULL */
    int32_t *part;                /* of each vertex */
    int32_t count;                /* of the parts */
    int64_t *sizes;               /* of each part, in points */
    queries queries;
    bool squared;    /* distances of a round are squared, and under cosine of rows of norm 1 */
    bridge *best;    /* of each part */
    int32_t *merged; /* union-find of parts */
    bridge *bridges; /* all so far */
    int32_t n_bridges;
} parts;

/* Takes the edge from query i, which searched by itself, to b if it is the shortest of its part. */
static void offer_edge(parts *j, int64_t i, int32_t b, double distance) {
    int32_t a = j->queries.vertices[i];
    bridge found = {a < b ? a : b, a < b ? b : a, distance};
    bridge *best = &j->best[j->queries.group[i]];
    if (best->low < 0 || hd_graph_edge_is_shorter(found, *best))
        *best = found;
}

/* ---- shortest edges of the parts ------------------------------------------------------------- */

/* The search of the CPU for dense points, part against part in a tree over their rows, which the
 * first round builds. */
static huddle_status find_among_dense(parts *j) {
    huddle_status status = HUDDLE_OK;
    if (j->tree.rows == NULL) {
        TRY(hd_graph_rows_of_metric(j->context, j->points, j->cosine, &j->rows));
        TRY(hd_graph_boruvka_new(j->context, &j->rows, &j->tree));
    }
    TRY(hd_graph_boruvka_find(j->context, &j->tree, j->part, j->count, j->queries.searching,
                              j->best));
done:
    return status;
}

/* The same for sparse points, vertex by vertex. The search has no selection of rows, so that their
 * rows are copied. */
static huddle_status find_among_sparse(parts *j) {
    huddle_status status = HUDDLE_OK;
    huddle_points query = {0};
    int64_t *rows = NULL;
    hd_graph_search s = {.train_group = j->part, .query_group = j->queries.group, .k = 1};
    ALLOC(rows, j->queries.count);
    ALLOC(s.index, j->queries.count);
    ALLOC(s.distance2, j->queries.count);
    for (int64_t i = 0; i < j->queries.count; i++)
        rows[i] = j->queries.vertices[i];
    TRY(huddle_points_take(j->points, rows, j->queries.count, &query));
    TRY(hd_graph_search_sparse(j->context, j->points, &query, j->cosine, &s));
    for (int64_t i = 0; i < j->queries.count; i++)
        offer_edge(j, i, s.index[i], s.distance2[i]);
done:
    FREE(rows, s.index, s.distance2);
    huddle_points_free(&query);
    return status;
}

/* Asks the engine for the nearest vertex outside of every vertex, of which those that search are
 * used. The request has no selection of queries, so that the largest part is searched for too. */
static huddle_status try_engine(parts *j, bool *handled) {
    huddle_status status = HUDDLE_OK;
    huddle_neighbors lists = {0};
    huddle_knn_info info = {0};
    huddle_knn_options options = huddle_knn_defaults();
    options.n_neighbors = 1;
    options.metric = j->cosine ? "cosine" : "euclidean";
    hd_neighbor_request request = {.train = j->points, .options = &options, .part = j->part};
    TRY(hd_graph_try_engine(j->context, &request, &lists, &info, handled));
    if (!*handled)
        goto done;
    TRY(huddle_neighbors_fetch(&lists));
    for (int64_t i = 0; i < j->queries.count; i++) {
        int32_t v = j->queries.vertices[i];
        offer_edge(j, i, lists.index[v], lists.distance[v]);
    }
done:
    huddle_neighbors_free(&lists);
    return status;
}

/* Rows on several processes, whatever the engine computes. */
static huddle_status find_across(parts *j) {
    huddle_status status = HUDDLE_OK;
    j->squared = true;
    if (j->distributed.context == NULL)
        TRY(hd_graph_bridges_new(j->context, j->points, j->cosine, &j->distributed));
    TRY(hd_graph_bridges_find(&j->distributed, j->part, j->count, j->queries.searching,
                              j->queries.vertices, j->queries.count, j->best, j->queries.target));
done:
    return status;
}

/* The engine first; what it declines, the CPU does. */
static huddle_status find_among_points(parts *j) {
    huddle_status status = HUDDLE_OK;
    bool handled = false;
    if (hd_slabs_distributed(j->context))
        return find_across(j);
    TRY(try_engine(j, &handled));
    j->squared = !handled;
    if (handled)
        goto done;
    TRY(huddle_points_fetch(j->points));
    TRY(j->points->offsets == NULL ? find_among_dense(j) : find_among_sparse(j));
done:
    return status;
}

/* The first of several nearest vertices is kept: ties are broken by the smaller index. A round
 * reads one row of the matrix for every vertex that searches. */
static void find_in_matrix(parts *j) {
    for (int64_t i = 0; i < j->queries.count; i++) {
        const double *row = j->distances->values + j->queries.vertices[i] * j->distances->stride;
        int32_t nearest = -1;
        for (int32_t v = 0; v < j->n; v++)
            if (j->part[v] != j->queries.group[i] && (nearest < 0 || row[v] < row[nearest]))
                nearest = v;
        offer_edge(j, i, nearest, row[nearest]);
    }
}

/* ---- one round ----------------------------------------------------------------------------- */

/* Sizes count points, not vertices: a vertex may represent several equal points. */
static huddle_status count_sizes(parts *j) {
    huddle_status status = HUDDLE_OK;
    double *all = NULL;
    memset(j->sizes, 0, (size_t)j->count * sizeof *j->sizes);
    for (int64_t v = 0; v < j->n; v++)
        j->sizes[j->part[v]] += j->copies != NULL ? j->copies[v] : 1;
    if (!hd_slabs_distributed(j->context))
        return status;
    ALLOC(all, j->count);
    for (int32_t p = 0; p < j->count; p++)
        all[p] = (double)j->sizes[p]; /* exact below 2^53 */
    TRY(hd_reduce_sum(j->context, j->count, all));
    for (int32_t p = 0; p < j->count; p++)
        j->sizes[p] = (int64_t)all[p];
done:
    huddle_free(all);
    return status;
}

/* Finds the best bridge of every part that searches: those of fewer than `min_size` points, or all
 * except the largest if it is 0. The others have best.low = -1. */
static huddle_status find_best_bridges(parts *j, double min_size) {
    huddle_status status = HUDDLE_OK;
    int32_t largest = 0;
    /* The first one of the largest: the same on all processes. */
    for (int32_t p = 1; p < j->count; p++)
        largest = j->sizes[p] > j->sizes[largest] ? p : largest;
    for (int32_t p = 0; p < j->count; p++) {
        j->queries.searching[p] = min_size > 0 ? (double)j->sizes[p] < min_size : p != largest;
        j->best[p] = (bridge){-1, -1, INFINITY};
    }
    j->queries.count = 0;
    for (int64_t v = 0; v < j->n; v++)
        if (j->queries.searching[j->part[v]]) {
            j->queries.vertices[j->queries.count] = (int32_t)v;
            j->queries.group[j->queries.count++] = j->part[v];
        }
    if (j->distances != NULL)
        find_in_matrix(j);
    else
        TRY(find_among_points(j));
    for (int32_t p = 0; p < j->count && !hd_slabs_distributed(j->context); p++)
        if (j->best[p].low >= 0)
            j->queries.target[p] =
                j->part[j->part[j->best[p].low] == p ? j->best[p].high : j->best[p].low];
done:
    return status;
}

/* Joins the parts along their best bridges. Two parts may have chosen each other, and ties may
 * close a cycle: a bridge within a part that has grown already is left out. */
static huddle_status join_parts(parts *j) {
    for (int32_t p = 0; p < j->count; p++)
        j->merged[p] = p;
    for (int32_t p = 0; p < j->count; p++) {
        bridge b = j->best[p];
        if (b.low < 0)
            continue;
        if (hd_find_root(j->merged, p) == hd_find_root(j->merged, j->queries.target[p]))
            continue;
        hd_unite(j->merged, p, j->queries.target[p]);
        /* As the metric has it: rows of norm 1 have |x - y|^2 = 2 (1 - cos). Squares are compared
         * as they are; the root is taken only here, because it could make a tie of two different
         * distances. */
        if (j->squared)
            b.distance = j->cosine ? b.distance / 2 : sqrt(b.distance);
        j->bridges[j->n_bridges++] = b;
    }
    j->count = hd_graph_number_roots(j->merged, j->count);
    for (int64_t v = 0; v < j->n; v++)
        j->part[v] = j->merged[j->part[v]];
    return count_sizes(j);
}

/* Whether another round for small components is needed. */
static bool has_small_part(const parts *j, double min_size) {
    for (int32_t p = 0; p < j->count; p++)
        if ((double)j->sizes[p] < min_size)
            return true;
    return false;
}

/* The whole minimum spanning tree. Every round joins all parts but one to others, hence their
 * number falls. */
static huddle_status join_all(parts *j) {
    huddle_status status = HUDDLE_OK;
    while (j->count > 1) {
        TRY(find_best_bridges(j, 0));
        TRY(join_parts(j));
    }
done:
    return status;
}

/* All rounds that the choice of option connect asks for. "small" first joins small components only,
 * repeatedly, because two of them joined may still be small. "auto" and "small" then connect
 * everything if there are still more components than clusters: the first c null vectors of the
 * Laplacian would otherwise be an arbitrary choice. */
static huddle_status find_bridges(parts *j, const char *connect, int32_t n_clusters) {
    huddle_status status = HUDDLE_OK;
    int64_t total = 0;
    for (int32_t p = 0; p < j->count; p++)
        total += j->sizes[p];
    double min_size = HD_SMALL_SHARE * (double)total / n_clusters;
    bool small = strcmp(connect, "small") == 0;
    while (small && j->count > 1 && has_small_part(j, min_size)) {
        TRY(find_best_bridges(j, min_size));
        TRY(join_parts(j));
    }
    /* "true" connects everything; the others only if there are more components than clusters. */
    if (strcmp(connect, "true") != 0 && j->count <= n_clusters)
        return status;
    TRY(join_all(j));
done:
    return status;
}

/* ---- short bridges ------------------------------------------------------------------------- */

/* The median s_i of each component. A median, because the s_i at the edge of a cluster say little
 * about the distances inside: a few outliers of a dense cluster have large ones. */
static huddle_status find_typical_scales(const parts *j, const huddle_scale *scale,
                                         double *typical) {
    huddle_status status = HUDDLE_OK;
    int64_t *begin = NULL;
    int32_t *members = NULL;
    double *sorted = NULL;
    ALLOC(begin, j->count + 2);
    ALLOC(members, j->n);
    ALLOC(sorted, j->n);
    hd_list_members(j->n, j->part, j->count, begin, members);
    for (int64_t v = 0; v < j->n; v++)
        sorted[v] = scale->local[members[v]];
    for (int32_t p = 0; p < j->count; p++) {
        int64_t size = begin[p + 1] - begin[p];
        qsort(sorted + begin[p], (size_t)size, sizeof *sorted, hd_graph_by_value);
        typical[p] = sorted[begin[p] + size / 2]; /* the upper one of two */
    }
done:
    FREE(begin, members, sorted);
    return status;
}

/* Of the minimum spanning tree only its short bridges, each of which joins two components; all of
 * it if more components than clusters would remain, as without short bridges. Edges of a tree close
 * no cycle, so that every bridge that is kept reduces the number of components by one. */
static huddle_status find_short_bridges(parts *j, const huddle_scale *scale, double max_ratio,
                                        int32_t n_clusters) {
    huddle_status status = HUDDLE_OK;
    int32_t before = j->count, n_short = 0;
    int32_t *component = NULL; /* of each vertex, before any are joined */
    double *typical = NULL;
    TRY(hd_slabs_refuse(j->context, "joining components by short bridges"));
    ALLOC(component, j->n);
    ALLOC(typical, before);
    memcpy(component, j->part, (size_t)j->n * sizeof *component);
    TRY(find_typical_scales(j, scale, typical));
    TRY(join_all(j));
    for (int32_t b = 0; b < j->n_bridges; b++) {
        double limit = max_ratio * fmin(typical[component[j->bridges[b].low]],
                                        typical[component[j->bridges[b].high]]);
        if (j->bridges[b].distance > limit)
            continue;
        bridge found = j->bridges[b]; /* to the front; the order of the others does not matter */
        j->bridges[b] = j->bridges[n_short];
        j->bridges[n_short++] = found;
    }
    if (before - n_short <= n_clusters) {
        j->n_bridges = n_short;
        j->count = before - n_short;
    }
done:
    FREE(component, typical);
    return status;
}

/* ---- the whole ----------------------------------------------------------------------------- */

static huddle_status check_arguments(const huddle_connect_options *options,
                                     const huddle_scale *scale, const huddle_csr *graph, int64_t n,
                                     int64_t total) {
    huddle_status status = HUDDLE_OK;
    TRY(huddle_options_check(table, options));
    TRY(huddle_csr_check(graph));
    if (options->n_clusters < 1)
        FAIL(HUDDLE_INVALID, "n_clusters = %d is less than 1", options->n_clusters);
    if (!(options->max_ratio >= 0))
        FAIL(HUDDLE_INVALID, "max_ratio = %g is not a ratio of distances", options->max_ratio);
    if (graph->rows != n || graph->cols != total)
        FAIL(HUDDLE_INVALID, "a graph of %lld x %lld does not belong to %lld points",
             (long long)graph->rows, (long long)graph->cols, (long long)total);
    if (scale == NULL || scale->rule == NULL || (scale->local != NULL && scale->n != n))
        FAIL(HUDDLE_INVALID, "the scale is not that of this graph");
done:
    return status;
}

/* The number of parts only falls, and a tree has fewer edges than vertices: the arrays of the first
 * round are large enough for all. */
static huddle_status allocate_parts(parts *j) {
    huddle_status status = HUDDLE_OK;
    ALLOC(j->sizes, j->count);
    ALLOC(j->best, j->count);
    ALLOC(j->queries.target, j->count);
    ALLOC(j->queries.searching, j->count);
    ALLOC(j->merged, j->count);
    ALLOC(j->bridges, j->count);
    ALLOC(j->queries.vertices, j->n);
    ALLOC(j->queries.group, j->n);
    TRY(count_sizes(j));
done:
    return status;
}

static void free_parts(parts *j) {
    FREE(j->part, j->sizes, j->best, j->queries.target, j->queries.searching, j->merged, j->bridges,
         j->queries.vertices, j->queries.group);
    hd_graph_boruvka_free(&j->tree);
    hd_graph_bridges_free(&j->distributed);
    hd_graph_rows_free(&j->rows);
}

/* The steps that both public functions share: components, rounds, the new graph, info. */
static huddle_status connect_parts(parts *j, const huddle_connect_options *options,
                                   const huddle_scale *scale, huddle_csr *graph,
                                   huddle_connect_info *info) {
    huddle_status status = HUDDLE_OK;
    double start = hd_seconds();
    j->copies = options->copies;
    ALLOC(j->part, j->n);
    TRY(huddle_graph_components(j->context, graph, j->part, &j->count));
    int32_t before = j->count;
    if (strcmp(options->connect, "false") != 0 && before > 1) {
        TRY(allocate_parts(j));
        /* A ratio to the s_i, which selftune alone has. */
        bool is_short =
            options->max_ratio > 0 && scale->local != NULL && strcmp(options->connect, "auto") == 0;
        TRY(is_short ? find_short_bridges(j, scale, options->max_ratio, options->n_clusters)
                     : find_bridges(j, options->connect, options->n_clusters));
    }
    if (j->n_bridges > 0)
        TRY(hd_graph_bridges_add(j->context, j->bridges, j->n_bridges, scale, graph));
    if (info != NULL)
        *info = (huddle_connect_info){before, j->count, j->n_bridges, hd_seconds() - start};
done:
    return status;
}

huddle_status huddle_graph_connect(huddle_context *context, const huddle_points *x,
                                   const huddle_connect_options *options, const huddle_scale *scale,
                                   huddle_csr *graph, huddle_connect_info *info) {
    huddle_status status = HUDDLE_OK;
    huddle_connect_options chosen = options != NULL ? *options : huddle_connect_defaults();
    parts j = {.context = context, .points = x, .n = x->n};
    hd_slab slab;
    TRY(hd_graph_require_passing(context, "connecting the components of a graph"));
    if (x->offsets != NULL)
        TRY(hd_slabs_refuse(context, "connecting the components of sparse points"));
    if (x->n > 0 || !hd_slabs_distributed(context))
        TRY(huddle_points_check(context, x));
    TRY(hd_slab_locate(context, x->n, &slab));
    TRY(check_arguments(&chosen, scale, graph, x->n, slab.total));
    TRY(hd_graph_parse_metric(chosen.metric, &j.cosine));
    TRY(connect_parts(&j, &chosen, scale, graph, info));
done:
    free_parts(&j);
    return hd_agree(context, status);
}

huddle_status huddle_graph_connect_distances(huddle_context *context, const huddle_dense *distances,
                                             const huddle_connect_options *options,
                                             const huddle_scale *scale, huddle_csr *graph,
                                             huddle_connect_info *info) {
    huddle_status status = HUDDLE_OK;
    huddle_connect_options chosen = options != NULL ? *options : huddle_connect_defaults();
    parts j = {.context = context, .distances = distances, .n = distances->rows};
    TRY(hd_slabs_refuse(context, "connecting the components of a graph"));
    TRY(huddle_dense_fetch(distances));
    TRY(hd_graph_check_dense(distances));
    TRY(check_arguments(&chosen, scale, graph, distances->rows, distances->rows));
    if (distances->cols != distances->rows)
        FAIL(HUDDLE_INVALID, "the distances must be a square matrix, not %lld x %lld",
             (long long)distances->rows, (long long)distances->cols);
    TRY(connect_parts(&j, &chosen, scale, graph, info));
done:
    free_parts(&j);
    return hd_agree(context, status);
}
