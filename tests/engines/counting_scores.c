/* Scores of labels on a graph, and silhouettes, by their definitions; and the memory of stages. */
#include "engines/counting.h"

#include "base/check.h"

#include <math.h>
#include <string.h>

static double x_log_x(double x) {
    return x > 0 ? x * log(x) : 0;
}

/* H and MI from the volumes and the c x c weights between clusters. */
static void add_scores(const hd_score_request *request, const double *between,
                       hd_score_result *result) {
    const huddle_csr *graph = request->graph;
    int64_t c = request->n_clusters;
    double total = 0;
    result->entropy = result->information = 0;
    for (int64_t k = 0; k < c; k++)
        total += result->volume[k];
    for (int64_t i = 0; i < graph->rows && total > 0; i++) {
        double degree = 0;
        for (int64_t e = graph->offsets[i]; e < graph->offsets[i + 1]; e++)
            degree += graph->values[e];
        result->entropy -= x_log_x(degree / total);
    }
    for (int64_t k = 0; k < c; k++)
        for (int64_t l = 0; l < c; l++) {
            double share = between[k * c + l] / total;
            double expected = result->volume[k] / total * (result->volume[l] / total);
            if (share > 0 && expected > 0)
                result->information += share * log(share / expected);
        }
}

huddle_status counting_score_graph(huddle_context *context, const hd_score_request *request,
                                   hd_score_result *result) {
    huddle_status status = HUDDLE_OK;
    const huddle_csr *graph = request->graph;
    int64_t c = request->n_clusters;
    double *between = NULL;
    TRY(counting_enter(context, COUNTING_SCORES));
    TRY(huddle_csr_fetch(graph));
    ALLOC_ZERO(between, c * c);
    for (int64_t i = 0; i < graph->rows; i++)
        for (int64_t e = graph->offsets[i]; e < graph->offsets[i + 1]; e++)
            between[request->labels[i] * c + request->labels[graph->columns[e]]] +=
                graph->values[e];
    for (int64_t k = 0; k < c; k++) {
        result->inside[k] = between[k * c + k];
        result->volume[k] = 0;
        for (int64_t l = 0; l < c; l++)
            result->volume[k] += between[k * c + l];
    }
    if (request->all)
        add_scores(request, between, result);
    if (counting_spoils(context, COUNTING_SCORES))
        result->inside[0] = 2 * result->volume[0] + 1;
done:
    huddle_free(between);
    return status;
}

/* ---- silhouettes ----------------------------------------------------------------------------- */

/* Of point i, from the sums of its distances to the points of each cluster. */
static double silhouette_of(const hd_silhouette_request *request, int64_t i, const double *sums,
                            const int64_t *sizes) {
    int32_t own = request->labels[i];
    double a = sums[own] / (double)(sizes[own] - 1), b = INFINITY;
    if (sizes[own] == 1)
        return 0;
    for (int64_t k = 0; k < request->n_clusters; k++)
        if (k != own && sums[k] / (double)sizes[k] < b)
            b = sums[k] / (double)sizes[k];
    double larger = a > b ? a : b;
    return larger > 0 ? (b - a) / larger : 0;
}

huddle_status counting_find_silhouettes(huddle_context *context,
                                        const hd_silhouette_request *request, double *silhouettes) {
    huddle_status status = HUDDLE_OK;
    const huddle_points *x = request->x;
    double *rows = NULL, *sums = NULL;
    int64_t *sizes = NULL;
    TRY(counting_enter(context, COUNTING_SILHOUETTES));
    TRY(huddle_points_fetch(x));
    ALLOC(rows, x->n * x->d);
    ALLOC(sums, request->n_clusters);
    ALLOC_ZERO(sizes, request->n_clusters);
    for (int64_t i = 0; i < x->n; i++) {
        counting_row(x, i, rows + i * x->d);
        sizes[request->labels[i]]++;
    }
    for (int64_t i = 0; i < x->n; i++) {
        memset(sums, 0, (size_t)request->n_clusters * sizeof *sums);
        for (int64_t j = 0; j < x->n; j++)
            sums[request->labels[j]] += counting_distance(rows + i * x->d, rows + j * x->d, x->d);
        silhouettes[i] = silhouette_of(request, i, sums, sizes);
    }
    if (counting_spoils(context, COUNTING_SILHOUETTES))
        silhouettes[x->n - 1] = 1.5;
done:
    FREE(rows, sums, sizes);
    return status;
}

/* ---- memory ---------------------------------------------------------------------------------- */

huddle_status counting_predict_memory(huddle_context *context, const hd_memory_request *request,
                                      hd_memory_answer *answer) {
    huddle_status status = counting_enter(context, COUNTING_MEMORY);
    *answer = (hd_memory_answer){request->n * request->n, counting_state_of(context)->memory};
    return status;
}
