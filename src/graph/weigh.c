/* From neighbour lists to a weighted graph: the scale delta of equation (1) in docs/method.md from
 * the lists, the weights of the directed graph, and the symmetric graph of both directions. */
#include "base/check.h"
#include "base/context.h"
#include "base/options.h"
#include "base/parallel.h"
#include "base/slabs.h"
#include "graph/common.h"
#include "graph/layout.h"
#include "matrix/insert.h"

#include <math.h>
#include <string.h>

/* Smaller exponents are raised to this one: exp(-20) is 2e-9. Lighter edges change no label, but
 * they make the systems of the later stages singular (huddle/graph.h). */
static const double min_exponent = -20;

/* Lists of a chunk. */
enum { LIST_ROWS = 1 << 12 };

/* What a scale can have. A delta that is a number of the caller's is no rule of the option. */
static const char *const rules[] = {"delta", "selftune", "mean", "knn", "global", "binary", NULL};

/* The smallest and the largest number whose square is a double of full precision. */
static const huddle_option table[] = {
    HD_CHOICE(huddle_weight_options, scale, "selftune", rules + 1,
              "how weights are computed from distances"),
    HD_REAL_AUTO(huddle_weight_options, delta, "auto", 1e-150, 1e150,
                 "weights are exp(-d^2 / delta^2) with this number for all edges; auto: by scale"),
    {0}};

const char *const *huddle_graph_scale_rules(void) {
    return rules;
}

const huddle_option *huddle_weight_options_table(void) {
    return table;
}

huddle_weight_options huddle_weight_defaults(void) {
    huddle_weight_options options = {0};
    huddle_options_default(table, &options);
    return options;
}

/* ---- the scale ----------------------------------------------------------------------------- */

/* A model file may lack the rule. */
static bool has_rule(const huddle_scale *scale, const char *rule) {
    return scale->rule != NULL && strcmp(scale->rule, rule) == 0;
}

/* Rule selftune (Zelnik-Manor and Perona, NIPS 2004): s_i, the last distance of list i; lists may
 * have empty places at the end. Zeros, of points with many duplicates, are replaced by the smallest
 * s that is not 0: a scale of 0 would give the smallest possible weight to every neighbour at a
 * positive distance. */
static huddle_status set_local_scales(huddle_context *context, const huddle_neighbors *x,
                                      huddle_scale *scale) {
    huddle_status status = HUDDLE_OK;
    double smallest = INFINITY;
    ALLOC_ZERO(scale->local, x->n);
    scale->n = x->n;
    for (int64_t i = 0; i < x->n; i++) {
        for (int32_t c = 0; c < x->k && x->index[i * x->k + c] >= 0; c++)
            scale->local[i] = x->distance[i * x->k + c];
        if (scale->local[i] > 0)
            smallest = fmin(smallest, scale->local[i]);
    }
    /* Of all processes: the weights must not depend on where the rows are. */
    TRY(hd_reduce_min(context, 1, &smallest));
    scale->smallest = isfinite(smallest) ? smallest : 0;
    for (int64_t i = 0; i < x->n; i++)
        if (scale->local[i] == 0)
            scale->local[i] = scale->smallest;
done:
    return status;
}

/* Rules mean and knn: one delta for all edges, from all entries of the lists. delta is the mean
 * distance, or delta^2 the mean squared distance. */
static huddle_status set_common_scale(huddle_context *context, const huddle_neighbors *x,
                                      huddle_scale *scale) {
    huddle_status status = HUDDLE_OK;
    double sums[2] = {0}; /* of distances and of their squares */
    int64_t count = 0;
    for (int64_t e = 0; e < x->n * x->k; e++) {
        if (x->index[e] < 0)
            continue;
        sums[0] += x->distance[e];
        sums[1] += x->distance[e] * x->distance[e];
        count++;
    }
    TRY(hd_reduce_sum(context, 2, sums));
    TRY(hd_reduce_count(context, &count));
    if (count == 0)
        goto done;
    double mean = sums[0] / (double)count;
    scale->delta2 = has_rule(scale, "mean") ? mean * mean : sums[1] / (double)count;
done:
    return status;
}

/* The scale is kept with the graph: bridges (connect.c) and edges of new points are weighed by it
 * later. */
huddle_status hd_graph_measure_scale(huddle_context *context, const huddle_neighbors *neighbors,
                                     const huddle_weight_options *options, huddle_scale *scale) {
    *scale = (huddle_scale){.rule = "binary"};
    if (options->delta != HUDDLE_AUTO) {
        *scale = (huddle_scale){.rule = rules[0], .delta2 = options->delta * options->delta};
        return HUDDLE_OK;
    }
    /* The table's own text outlives the caller's. */
    for (const char *const *rule = rules; *rule != NULL; rule++)
        if (strcmp(*rule, options->scale) == 0)
            scale->rule = *rule;
    if (has_rule(scale, "selftune"))
        return set_local_scales(context, neighbors, scale);
    if (has_rule(scale, "mean") || has_rule(scale, "knn"))
        return set_common_scale(context, neighbors, scale);
    if (has_rule(scale, "global")) {
        if (!(options->mean_distance >= 0) || !isfinite(options->mean_distance))
            return hd_fail(HUDDLE_INVALID, "mean_distance = %g is not a mean of distances",
                           options->mean_distance);
        /* exp(-d^2 / (2 sigma^2)) with sigma the mean distance of all pairs. */
        scale->delta2 = 2 * options->mean_distance * options->mean_distance;
    }
    return HUDDLE_OK;
}

/* Equation (1); s is the local scale of the other point. Distance 0 is handled first, because with
 * delta = 0 the exponent would be 0 / 0. At a positive distance it is -infinity then, and the
 * weight the smallest one. */
double huddle_graph_weight(const huddle_scale *scale, int64_t i, double s, double distance) {
    double delta2 = scale->delta2;
    if (distance == 0 || has_rule(scale, "binary"))
        return 1;
    if (has_rule(scale, "selftune") && scale->local != NULL)
        delta2 = scale->local[i] * (s > 0 ? s : scale->smallest);
    /* The ratio first: squares of tiny distances would underflow. */
    double ratio = distance / sqrt(delta2), exponent = -ratio * ratio;
    return exp(exponent > min_exponent ? exponent : min_exponent);
}

void huddle_scale_free(huddle_scale *scale) {
    huddle_free(scale->local);
    *scale = (huddle_scale){0};
}

/* ---- the graph ----------------------------------------------------------------------------- */

/* Lists on their way to a graph. */
typedef struct weighing {
    const huddle_neighbors *lists;
    const huddle_scale *scale;
    huddle_csr *directed;
    hd_slab slab;         /* where the lists are among those of all processes */
    const int32_t *place; /* of each neighbour in `local` */
    const double *local;  /* scale->local of the own rows, then of those of other processes */
    hd_halo halo;         /* what is behind these two if rows are on other processes */
    int32_t *owned_place;
    double *owned_local;
} weighing;

/* Lists may come from the caller: indices and distances are checked before they are used. A list
 * without itself and with finite distances is all that the rest relies on. */
static huddle_status check_lists(void *argument, hd_chunk chunk) {
    const weighing *w = argument;
    const huddle_neighbors *x = w->lists;
    for (int64_t i = chunk.begin; i < chunk.end; i++)
        for (int64_t e = i * x->k; e < (i + 1) * x->k; e++) {
            int64_t point = w->slab.first + i;
            if (x->index[e] < -1 || x->index[e] >= w->slab.total || x->index[e] == point)
                return hd_fail(HUDDLE_INVALID, "point %lld: its neighbour %d is not another point",
                               (long long)point + 1, x->index[e] + 1);
            if (x->index[e] >= 0 && !(x->distance[e] >= 0 && isfinite(x->distance[e])))
                return hd_fail(HUDDLE_INVALID, "point %lld: %g is not a distance",
                               (long long)point + 1, x->distance[e]);
        }
    return HUDDLE_OK;
}

/* The neighbours of point i: lists end at the first empty place. */
static int64_t list_length(const huddle_neighbors *x, int64_t i) {
    int32_t c = 0;
    while (c < x->k && x->index[i * x->k + c] >= 0)
        c++;
    return c;
}

/* Writes row i of the directed graph, sorted by column while it is written (lists are short). Lists
 * are sorted by distance, rows of a sparse matrix by column. Merging with the transpose relies on
 * that order. */
static void write_row(const weighing *w, int64_t i) {
    const huddle_neighbors *x = w->lists;
    huddle_csr *a = w->directed;
    int64_t end = a->offsets[i];
    for (int32_t c = 0; c < x->k && x->index[i * x->k + c] >= 0; c++) {
        int32_t j = x->index[i * x->k + c];
        double s = w->local != NULL ? w->local[w->place[i * x->k + c]] : 0;
        hd_csr_insert(a, i, &end, j,
                      huddle_graph_weight(w->scale, i, s, x->distance[i * x->k + c]));
    }
}

static huddle_status write_rows(void *argument, hd_chunk chunk) {
    const weighing *w = argument;
    for (int64_t i = chunk.begin; i < chunk.end; i++)
        write_row(w, i);
    return HUDDLE_OK;
}

/* Gets the scales of the neighbours, which may be on other processes. Empty places of the lists,
 * which are not read, are replaced by a row that is here. */
static huddle_status fetch_scales(huddle_context *context, weighing *w) {
    huddle_status status = HUDDLE_OK;
    const huddle_neighbors *x = w->lists;
    int64_t entries = x->n * x->k;
    w->place = x->index;
    w->local = w->scale->local;
    if (!hd_slabs_distributed(context) || w->local == NULL)
        return status;
    ALLOC(w->owned_place, entries);
    for (int64_t e = 0; e < entries; e++)
        w->owned_place[e] = x->index[e] >= 0 ? x->index[e] : (int32_t)w->slab.first;
    TRY(hd_halo_open(context, x->n, entries, w->owned_place, &w->halo));
    ALLOC(w->owned_local, x->n + w->halo.ghosts);
    memcpy(w->owned_local, w->local, (size_t)x->n * sizeof *w->owned_local);
    TRY(hd_halo_fetch(&w->halo, w->owned_local, sizeof *w->owned_local));
    w->place = w->owned_place;
    w->local = w->owned_local;
done:
    return status;
}

/* Asks the engine. *handled is false if it has no such function or declines. */
static huddle_status try_engine(huddle_context *context, const huddle_neighbors *neighbors,
                                const huddle_weight_options *options, huddle_csr *graph,
                                huddle_scale *scale, bool *handled) {
    const hd_engine *engine = hd_context_engine(context);
    *handled = false;
    if (engine->weigh == NULL)
        return HUDDLE_OK;
    huddle_status status = engine->weigh(context, neighbors, options, graph, scale);
    *handled = status == HUDDLE_OK;
    if (!hd_engine_declined(context, "weigh", status))
        return status;
    huddle_csr_free(graph);
    huddle_scale_free(scale);
    return HUDDLE_OK;
}

/* The directed graph of the lists, then both directions. Where i and j are neighbours of each
 * other, both entries have the same bits, since distance and scale are symmetric; the larger of the
 * two matters only for lists from asymmetric distances. The directed graph has room for full lists;
 * what short ones leave unused is at its end. */
static huddle_status weigh_lists(huddle_context *context, const huddle_neighbors *neighbors,
                                 const huddle_weight_options *options, huddle_csr *graph,
                                 huddle_scale *scale) {
    huddle_status status = HUDDLE_OK;
    huddle_csr directed = {0};
    weighing w = {.lists = neighbors, .scale = scale, .directed = &directed};
    TRY(hd_graph_require_passing(context, "making a graph from neighbour lists"));
    TRY(huddle_neighbors_fetch(neighbors));
    TRY(hd_slab_locate(context, neighbors->n, &w.slab));
    TRY(hd_parallel(context, NULL, neighbors->n, LIST_ROWS, check_lists, &w));
    TRY(hd_graph_measure_scale(context, neighbors, options, scale));
    TRY(fetch_scales(context, &w));
    TRY(huddle_csr_new(neighbors->n, w.slab.total, neighbors->n * neighbors->k, &directed));
    for (int64_t i = 0; i < neighbors->n; i++)
        directed.offsets[i + 1] = directed.offsets[i] + list_length(neighbors, i);
    TRY(hd_parallel(context, NULL, neighbors->n, LIST_ROWS, write_rows, &w));
    TRY(hd_graph_symmetrize(context, &directed, graph));
done:
    hd_halo_close(&w.halo);
    FREE(w.owned_place, w.owned_local);
    huddle_csr_free(&directed);
    return status;
}

/* The measured scale is returned only if the caller asked for it. */
huddle_status huddle_graph_weigh(huddle_context *context, const huddle_neighbors *neighbors,
                                 const huddle_weight_options *options, huddle_csr *graph,
                                 huddle_scale *scale) {
    huddle_status status = HUDDLE_OK;
    huddle_weight_options chosen = options != NULL ? *options : huddle_weight_defaults();
    huddle_scale measured = {0};
    bool handled = false;
    *graph = (huddle_csr){0};
    if (scale != NULL)
        *scale = (huddle_scale){0};
    TRY(huddle_options_check(table, &chosen));
    /* A process may have no rows, if others have. */
    if (neighbors->n < !hd_slabs_distributed(context) || neighbors->n > INT32_MAX ||
        neighbors->k < 0)
        FAIL(HUDDLE_INVALID, "%lld lists of %d neighbours are not a graph", (long long)neighbors->n,
             neighbors->k);
    TRY(try_engine(context, neighbors, &chosen, graph, &measured, &handled));
    if (!handled)
        TRY(weigh_lists(context, neighbors, &chosen, graph, &measured));
    if (scale != NULL) {
        *scale = measured;
        measured.local = NULL;
    }
done:
    huddle_scale_free(&measured);
    if (status != HUDDLE_OK)
        huddle_csr_free(graph);
    return hd_agree(context, status);
}
