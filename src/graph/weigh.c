/* Weights from distances. */
#include "base/check.h"
#include "base/options.h"
#include "graph/union.h"
#include "huddle/graph.h"

#include <math.h>
#include <string.h>

/* Exponents stop here: exp(-20) is 2e-9. */
static const double least_exponent = -20;

static const char *const rules[] = {"selftune", "mean", "knn", "global", "binary", NULL};

static const huddle_option table[] = {
    HD_CHOICE(huddle_weight_options, scale, "selftune", rules, "how distances become weights"),
    {0}};

const huddle_option *huddle_weight_options_table(void) {
    return table;
}

huddle_weight_options huddle_weight_defaults(void) {
    huddle_weight_options options = {0};
    huddle_options_default(table, &options);
    return options;
}

/* ---- the scale ----------------------------------------------------------------------------- */

static bool is(const huddle_scale *scale, const char *rule) {
    return strcmp(scale->rule, rule) == 0;
}

/* s_i, zeros replaced by the smallest that is not. */
static huddle_status measure_local(const huddle_neighbors *x, huddle_scale *scale) {
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
    scale->smallest = isfinite(smallest) ? smallest : 0;
    for (int64_t i = 0; i < x->n; i++)
        if (scale->local[i] == 0)
            scale->local[i] = scale->smallest;
done:
    return status;
}

static void measure_lists(const huddle_neighbors *x, huddle_scale *scale) {
    double sum = 0, squares = 0;
    int64_t count = 0;
    for (int64_t e = 0; e < x->n * x->k; e++) {
        if (x->index[e] < 0)
            continue;
        sum += x->distance[e];
        squares += x->distance[e] * x->distance[e];
        count++;
    }
    if (count == 0)
        return;
    double mean = sum / (double)count;
    scale->delta2 = is(scale, "mean") ? mean * mean : squares / (double)count;
}

static huddle_status measure(const huddle_neighbors *x, const huddle_weight_options *options,
                             huddle_scale *scale) {
    /* The table's own text outlives the caller's. */
    for (const char *const *rule = rules; *rule != NULL; rule++)
        if (strcmp(*rule, options->scale) == 0)
            scale->rule = *rule;
    if (is(scale, "selftune"))
        return measure_local(x, scale);
    if (is(scale, "mean") || is(scale, "knn"))
        measure_lists(x, scale);
    if (is(scale, "global")) {
        if (!(options->mean_distance >= 0) || !isfinite(options->mean_distance))
            return hd_fail(HUDDLE_INVALID, "mean_distance = %g is not a mean of distances",
                           options->mean_distance);
        scale->delta2 = 2 * options->mean_distance * options->mean_distance;
    }
    return HUDDLE_OK;
}

double huddle_graph_weight(const huddle_scale *scale, int64_t i, double s, double distance) {
    double delta2 = scale->delta2;
    if (distance == 0 || is(scale, "binary"))
        return 1;
    if (is(scale, "selftune") && scale->local != NULL)
        delta2 = scale->local[i] * (s > 0 ? s : scale->smallest);
    /* A ratio first: squares of tiny distances vanish. */
    double ratio = distance / sqrt(delta2), exponent = -ratio * ratio;
    return exp(exponent > least_exponent ? exponent : least_exponent);
}

void huddle_scale_free(huddle_scale *scale) {
    huddle_free(scale->local);
    *scale = (huddle_scale){0};
}

/* ---- the graph ----------------------------------------------------------------------------- */

static huddle_status check_lists(const huddle_neighbors *x) {
    if (x->n < 1 || x->n > INT32_MAX || x->k < 0)
        return hd_fail(HUDDLE_INVALID, "%lld lists of %d neighbours are not a graph",
                       (long long)x->n, x->k);
    for (int64_t e = 0; e < x->n * x->k; e++) {
        int64_t i = e / x->k;
        if (x->index[e] < -1 || x->index[e] >= x->n || x->index[e] == i)
            return hd_fail(HUDDLE_INVALID, "point %lld: its neighbour %d is not another point",
                           (long long)i + 1, x->index[e] + 1);
        if (x->index[e] >= 0 && !(x->distance[e] >= 0 && isfinite(x->distance[e])))
            return hd_fail(HUDDLE_INVALID, "point %lld: %g is not a distance", (long long)i + 1,
                           x->distance[e]);
    }
    return HUDDLE_OK;
}

/* Row i of the directed graph, by ascending column; returns its end. */
static int64_t write_row(const huddle_neighbors *x, const huddle_scale *scale, int64_t i,
                         huddle_csr *a) {
    int64_t begin = a->offsets[i], end = begin;
    for (int32_t c = 0; c < x->k && x->index[i * x->k + c] >= 0; c++) {
        int32_t j = x->index[i * x->k + c];
        double s = scale->local != NULL ? scale->local[j] : 0;
        double weight = huddle_graph_weight(scale, i, s, x->distance[i * x->k + c]);
        int64_t at = end++;
        for (; at > begin && a->columns[at - 1] > j; at--) {
            a->columns[at] = a->columns[at - 1];
            a->values[at] = a->values[at - 1];
        }
        a->columns[at] = j;
        a->values[at] = weight;
    }
    return end;
}

huddle_status huddle_graph_weigh(huddle_context *context, const huddle_neighbors *neighbors,
                                 const huddle_weight_options *options, huddle_csr *graph,
                                 huddle_scale *scale) {
    huddle_status status = HUDDLE_OK;
    huddle_weight_options chosen = options != NULL ? *options : huddle_weight_defaults();
    huddle_scale measured = {.rule = "binary"};
    huddle_csr directed = {0};
    (void)context;
    *graph = (huddle_csr){0};
    if (scale != NULL)
        *scale = (huddle_scale){0};
    TRY(huddle_options_check(table, &chosen));
    TRY(check_lists(neighbors));
    TRY(measure(neighbors, &chosen, &measured));
    TRY(huddle_csr_new(neighbors->n, neighbors->n, neighbors->n * neighbors->k, &directed));
    for (int64_t i = 0; i < neighbors->n; i++)
        directed.offsets[i + 1] = write_row(neighbors, &measured, i, &directed);
    TRY(hd_graph_union(&directed, graph));
    if (scale != NULL) {
        *scale = measured;
        measured.local = NULL;
    }
done:
    huddle_csr_free(&directed);
    huddle_scale_free(&measured);
    if (status != HUDDLE_OK)
        huddle_csr_free(graph);
    return status;
}
