/* Bridges between components: Boruvka's minimum spanning tree. In every round each part but the
 * largest finds its nearest point outside; the largest need not ask, its own nearest comes from
 * the other side or later. Edges are ordered by (distance, smaller vertex, larger vertex), so the
 * tree is unique. */
#include "base/check.h"
#include "base/context.h"
#include "base/options.h"
#include "graph/check.h"
#include "graph/search.h"

#include <math.h>
#include <string.h>

/* A component smaller than this share of the mean cluster is a speck. */
static const double speck_share = 0.3;

static const char *const choices[] = {"auto", "true", "false", "specks", NULL};

static const huddle_option table[] = {
    HD_CHOICE(huddle_connect_options, connect, "auto", choices,
              "whether components are joined by their shortest bridges"),
    {0}};

const huddle_option *huddle_connect_options_table(void) {
    return table;
}

huddle_connect_options huddle_connect_defaults(void) {
    huddle_connect_options options = {.n_clusters = 1, .metric = "euclidean"};
    huddle_options_default(table, &options);
    return options;
}

typedef struct bridge {
    int32_t low, high; /* vertices */
    double distance;
} bridge;

typedef struct joining joining;

/* For each of `count` vertices the nearest vertex of another part, and its distance. */
typedef huddle_status (*nearest_function)(joining *j, const int32_t *names, int64_t count,
                                          int32_t *nearest, double *distance);

struct joining {
    huddle_context *context;
    nearest_function find;
    const huddle_points *points; /* what find looks at: one of these two */
    const huddle_dense *distances;
    bool cosine;
    hd_rows rows;
    int64_t n;
    const int64_t *copies; /* points of each vertex, or NULL */
    int32_t *part;         /* of each vertex */
    int32_t parts;         /* how many there are */
    int64_t *sizes;        /* of each part, in points */
    int32_t *names;        /* vertices that ask in this round */
    int32_t *nearest;      /* and what they found */
    double *distance;
    int32_t *group;  /* parts of the asking vertices */
    bridge *best;    /* of each part */
    int32_t *merged; /* union-find of parts */
    bridge *bridges; /* all so far */
    int32_t n_bridges;
};

/* ---- nearest outside ----------------------------------------------------------------------- */

static huddle_status find_dense(joining *j, const int32_t *names, int64_t count, int32_t *nearest,
                                double *distance) {
    huddle_status status = HUDDLE_OK;
    const char *used;
    hd_rows asking = hd_rows_of_points(j->points);
    asking.n = count;
    asking.pick = names;
    asking.shift = j->rows.shift;
    hd_search s = {.train = &j->rows,
                   .query = &asking,
                   .train_group = j->part,
                   .query_group = j->group,
                   .k = 1,
                   .index = nearest,
                   .distance2 = distance};
    if (j->cosine)
        TRY(hd_rows_normalise(j->context, &asking));
    asking.zeros = j->rows.zeros;
    TRY(hd_search_run(j->context, "auto", &s, &used));
done:
    hd_rows_free(&asking);
    return status;
}

static huddle_status find_sparse(joining *j, const int32_t *names, int64_t count, int32_t *nearest,
                                 double *distance) {
    huddle_status status = HUDDLE_OK;
    huddle_points asking = {0};
    int64_t *rows = NULL;
    hd_search s = {.train_group = j->part,
                   .query_group = j->group,
                   .k = 1,
                   .index = nearest,
                   .distance2 = distance};
    ALLOC(rows, count);
    for (int64_t i = 0; i < count; i++)
        rows[i] = names[i];
    TRY(huddle_points_take(j->points, rows, count, &asking));
    TRY(hd_search_sparse(j->context, j->points, &asking, j->cosine, &s));
done:
    huddle_free(rows);
    huddle_points_free(&asking);
    return status;
}

static huddle_status find_distances(joining *j, const int32_t *names, int64_t count,
                                    int32_t *nearest, double *distance) {
    for (int64_t i = 0; i < count; i++) {
        const double *row = j->distances->values + names[i] * j->distances->stride;
        nearest[i] = -1;
        for (int32_t v = 0; v < j->n; v++)
            if (j->part[v] != j->group[i] && (nearest[i] < 0 || row[v] < row[nearest[i]]))
                nearest[i] = v;
        distance[i] = row[nearest[i]];
    }
    return HUDDLE_OK;
}

/* ---- one round ----------------------------------------------------------------------------- */

static bool shorter(bridge a, bridge b) {
    if (a.distance != b.distance)
        return a.distance < b.distance;
    return a.low != b.low ? a.low < b.low : a.high < b.high;
}

static void count_sizes(joining *j) {
    memset(j->sizes, 0, (size_t)j->parts * sizeof *j->sizes);
    for (int64_t v = 0; v < j->n; v++)
        j->sizes[j->part[v]] += j->copies != NULL ? j->copies[v] : 1;
}

/* The best bridge of every part that asks: those below `least` points, or all but the largest if
 * least is 0. Parts that do not ask have best.low = -1. */
static huddle_status ask(joining *j, double least) {
    huddle_status status = HUDDLE_OK;
    int64_t count = 0;
    int32_t largest = 0;
    for (int32_t p = 1; p < j->parts; p++)
        largest = j->sizes[p] > j->sizes[largest] ? p : largest;
    for (int64_t v = 0; v < j->n; v++) {
        int32_t p = j->part[v];
        if (least > 0 ? (double)j->sizes[p] >= least : p == largest)
            continue;
        j->names[count] = (int32_t)v;
        j->group[count++] = p;
    }
    for (int32_t p = 0; p < j->parts; p++)
        j->best[p] = (bridge){-1, -1, INFINITY};
    TRY(j->find(j, j->names, count, j->nearest, j->distance));
    for (int64_t i = 0; i < count; i++) {
        int32_t a = j->names[i], b = j->nearest[i];
        bridge found = {a < b ? a : b, a < b ? b : a, j->distance[i]};
        if (j->best[j->group[i]].low < 0 || shorter(found, j->best[j->group[i]]))
            j->best[j->group[i]] = found;
    }
done:
    return status;
}

static void build(joining *j) {
    for (int32_t p = 0; p < j->parts; p++)
        j->merged[p] = p;
    for (int32_t p = 0; p < j->parts; p++) {
        bridge b = j->best[p];
        if (b.low < 0)
            continue;
        int32_t one = j->part[b.low], other = j->part[b.high];
        if (hd_find_root(j->merged, one) == hd_find_root(j->merged, other))
            continue;
        hd_unite(j->merged, one, other);
        j->bridges[j->n_bridges++] = b;
    }
    j->parts = hd_number_roots(j->merged, j->parts);
    for (int64_t v = 0; v < j->n; v++)
        j->part[v] = j->merged[j->part[v]];
    count_sizes(j);
}

static bool has_speck(const joining *j, double least) {
    for (int32_t p = 0; p < j->parts; p++)
        if ((double)j->sizes[p] < least)
            return true;
    return false;
}

static huddle_status join(joining *j, const char *connect, int32_t n_clusters) {
    huddle_status status = HUDDLE_OK;
    int64_t total = 0;
    for (int32_t p = 0; p < j->parts; p++)
        total += j->sizes[p];
    double least = speck_share * (double)total / n_clusters;
    bool specks = strcmp(connect, "specks") == 0;
    while (specks && j->parts > 1 && has_speck(j, least)) {
        TRY(ask(j, least));
        build(j);
    }
    if (strcmp(connect, "true") != 0 && j->parts <= n_clusters)
        return status;
    while (j->parts > 1) {
        TRY(ask(j, 0));
        build(j);
    }
done:
    return status;
}

/* ---- the graph with its bridges ------------------------------------------------------------ */

static double bridge_weight(const huddle_scale *scale, bridge b) {
    double s = scale->local != NULL ? scale->local[b.high] : 0;
    return huddle_graph_weight(scale, b.low, s, b.distance);
}

static void put(huddle_csr *graph, int64_t *ends, int32_t row, int32_t column, double value) {
    int64_t at = ends[row]++;
    for (; at > graph->offsets[row] && graph->columns[at - 1] > column; at--) {
        graph->columns[at] = graph->columns[at - 1];
        graph->values[at] = graph->values[at - 1];
    }
    graph->columns[at] = column;
    graph->values[at] = value;
}

static huddle_status add_bridges(const joining *j, const huddle_scale *scale, huddle_csr *graph) {
    huddle_status status = HUDDLE_OK;
    huddle_csr larger = {0};
    int64_t *ends = NULL;
    TRY(huddle_csr_new(j->n, j->n, graph->offsets[j->n] + 2 * (int64_t)j->n_bridges, &larger));
    ALLOC(ends, j->n);
    for (int32_t b = 0; b < j->n_bridges; b++) {
        larger.offsets[j->bridges[b].low + 1]++;
        larger.offsets[j->bridges[b].high + 1]++;
    }
    for (int64_t v = 0; v < j->n; v++) {
        int64_t from = graph->offsets[v], size = graph->offsets[v + 1] - from;
        int64_t to = larger.offsets[v];
        memcpy(larger.columns + to, graph->columns + from, (size_t)size * sizeof *larger.columns);
        memcpy(larger.values + to, graph->values + from, (size_t)size * sizeof *larger.values);
        ends[v] = to + size;
        larger.offsets[v + 1] += to + size;
    }
    for (int32_t b = 0; b < j->n_bridges; b++) {
        double weight = bridge_weight(scale, j->bridges[b]);
        put(&larger, ends, j->bridges[b].low, j->bridges[b].high, weight);
        put(&larger, ends, j->bridges[b].high, j->bridges[b].low, weight);
    }
    huddle_csr_free(graph);
    *graph = larger;
    larger = (huddle_csr){0};
done:
    huddle_free(ends);
    huddle_csr_free(&larger);
    return status;
}

/* ---- the whole ----------------------------------------------------------------------------- */

static huddle_status check(const huddle_connect_options *options, const huddle_scale *scale,
                           const huddle_csr *graph, int64_t n) {
    huddle_status status = HUDDLE_OK;
    TRY(huddle_options_check(table, options));
    TRY(huddle_csr_check(graph));
    if (options->n_clusters < 1)
        FAIL(HUDDLE_INVALID, "n_clusters = %d is less than 1", options->n_clusters);
    if (graph->rows != n || graph->cols != n)
        FAIL(HUDDLE_INVALID, "a graph of %lld x %lld does not belong to %lld points",
             (long long)graph->rows, (long long)graph->cols, (long long)n);
    if (scale == NULL || scale->rule == NULL || (scale->local != NULL && scale->n != n))
        FAIL(HUDDLE_INVALID, "the scale is not that of this graph");
done:
    return status;
}

static huddle_status allocate(joining *j) {
    huddle_status status = HUDDLE_OK;
    ALLOC(j->sizes, j->parts);
    ALLOC(j->best, j->parts);
    ALLOC(j->merged, j->parts);
    ALLOC(j->bridges, j->parts);
    ALLOC(j->names, j->n);
    ALLOC(j->nearest, j->n);
    ALLOC(j->distance, j->n);
    ALLOC(j->group, j->n);
    count_sizes(j);
done:
    return status;
}

static void release(joining *j) {
    huddle_free(j->part);
    huddle_free(j->sizes);
    huddle_free(j->best);
    huddle_free(j->merged);
    huddle_free(j->bridges);
    huddle_free(j->names);
    huddle_free(j->nearest);
    huddle_free(j->distance);
    huddle_free(j->group);
    hd_rows_free(&j->rows);
}

/* Found distances are squared when they come from points. */
static void take_roots(joining *j) {
    for (int32_t b = 0; b < j->n_bridges && j->points != NULL; b++) {
        double *distance = &j->bridges[b].distance;
        *distance = j->cosine ? *distance / 2 : sqrt(*distance);
    }
}

static huddle_status connect(joining *j, const huddle_connect_options *options,
                             const huddle_scale *scale, huddle_csr *graph,
                             huddle_connect_info *info) {
    huddle_status status = HUDDLE_OK;
    double start = hd_seconds();
    j->copies = options->copies;
    ALLOC(j->part, j->n);
    TRY(huddle_graph_components(graph, j->part, &j->parts));
    int32_t before = j->parts;
    if (strcmp(options->connect, "false") != 0 && before > 1) {
        TRY(allocate(j));
        TRY(join(j, options->connect, options->n_clusters));
    }
    take_roots(j);
    if (j->n_bridges > 0) {
        TRY(add_bridges(j, scale, graph));
        hd_log(j->context, "the graph has %d components; %d bridges leave %d", before, j->n_bridges,
               j->parts);
    }
    if (info != NULL)
        *info = (huddle_connect_info){before, j->parts, j->n_bridges, hd_seconds() - start};
done:
    return status;
}

huddle_status huddle_graph_connect(huddle_context *context, const huddle_points *x,
                                   const huddle_connect_options *options, const huddle_scale *scale,
                                   huddle_csr *graph, huddle_connect_info *info) {
    huddle_status status = HUDDLE_OK;
    huddle_connect_options chosen = options != NULL ? *options : huddle_connect_defaults();
    joining j = {.context = context, .points = x, .n = x->n, .find = find_sparse};
    TRY(huddle_points_check(context, x));
    TRY(check(&chosen, scale, graph, x->n));
    TRY(hd_metric(chosen.metric, &j.cosine));
    if (x->offsets == NULL) {
        j.find = find_dense;
        j.rows = hd_rows_of_points(x);
        j.rows.shift = j.cosine ? x->shift : NULL;
        if (j.cosine)
            TRY(hd_rows_normalise(context, &j.rows));
    }
    TRY(connect(&j, &chosen, scale, graph, info));
done:
    release(&j);
    return status;
}

huddle_status huddle_graph_connect_distances(huddle_context *context, const huddle_dense *distances,
                                             const huddle_connect_options *options,
                                             const huddle_scale *scale, huddle_csr *graph,
                                             huddle_connect_info *info) {
    huddle_status status = HUDDLE_OK;
    huddle_connect_options chosen = options != NULL ? *options : huddle_connect_defaults();
    joining j = {
        .context = context, .distances = distances, .n = distances->rows, .find = find_distances};
    TRY(hd_dense_check(distances));
    TRY(check(&chosen, scale, graph, distances->rows));
    if (distances->cols != distances->rows)
        FAIL(HUDDLE_INVALID, "the distances must be a square matrix, not %lld x %lld",
             (long long)distances->rows, (long long)distances->cols);
    TRY(connect(&j, &chosen, scale, graph, info));
done:
    release(&j);
    return status;
}
