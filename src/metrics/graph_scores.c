/* Scores of a labelling on a weighted graph. */
#include "huddle/metrics.h"

#include "base/check.h"
#include "metrics/table.h"

/* What both scores are made of: for each cluster the weight that stays inside and the volume,
 * the sum of its vertices' degrees. An edge inside counts from both its ends. */
typedef struct volumes {
    int64_t n_clusters;
    double *inside, *volume;
    double total;
} volumes;

static huddle_status check_graph(const huddle_csr *graph, const int32_t *labels,
                                 const double *score) {
    if (graph == NULL || labels == NULL || score == NULL)
        return hd_fail(HUDDLE_INVALID,
                       "the graph, the labels or the place for the score is missing");
    huddle_status status = huddle_csr_check(graph);
    if (status != HUDDLE_OK)
        return status;
    if (graph->rows != graph->cols || graph->rows < 1)
        return hd_fail(HUDDLE_INVALID, "a matrix of %lld x %lld is not a graph",
                       (long long)graph->rows, (long long)graph->cols);
    for (int64_t i = 0; i < graph->rows; i++)
        for (int64_t e = graph->offsets[i]; e < graph->offsets[i + 1]; e++)
            if (graph->values[e] < 0)
                return hd_fail(HUDDLE_INVALID, "row %lld, column %d: the weight %g is negative",
                               (long long)i + 1, graph->columns[e] + 1, graph->values[e]);
    return HUDDLE_OK;
}

static huddle_status measure(const huddle_csr *graph, const int32_t *labels, volumes *m) {
    huddle_status status = HUDDLE_OK;
    int32_t *ranks = NULL;
    ALLOC(ranks, graph->rows);
    TRY(hd_metrics_rank_labels(graph->rows, labels, ranks, &m->n_clusters));
    ALLOC_ZERO(m->inside, m->n_clusters);
    ALLOC_ZERO(m->volume, m->n_clusters);
    for (int64_t i = 0; i < graph->rows; i++) {
        double degree = 0, stays = 0;
        for (int64_t e = graph->offsets[i]; e < graph->offsets[i + 1]; e++) {
            degree += graph->values[e];
            stays += ranks[graph->columns[e]] == ranks[i] ? graph->values[e] : 0;
        }
        m->volume[ranks[i]] += degree;
        m->inside[ranks[i]] += stays;
    }
    for (int64_t c = 0; c < m->n_clusters; c++)
        m->total += m->volume[c];
done:
    huddle_free(ranks);
    return status;
}

huddle_status huddle_metrics_ncut(const huddle_csr *graph, const int32_t *labels, double *ncut) {
    huddle_status status = HUDDLE_OK;
    volumes m = {0};
    TRY(check_graph(graph, labels, ncut));
    TRY(measure(graph, labels, &m));
    *ncut = 0;
    for (int64_t c = 0; c < m.n_clusters; c++)
        if (m.volume[c] > 0)
            *ncut += (m.volume[c] - m.inside[c]) / m.volume[c];
done:
    huddle_free(m.inside);
    huddle_free(m.volume);
    return status;
}

huddle_status huddle_metrics_modularity(const huddle_csr *graph, const int32_t *labels,
                                        double *modularity) {
    huddle_status status = HUDDLE_OK;
    volumes m = {0};
    TRY(check_graph(graph, labels, modularity));
    TRY(measure(graph, labels, &m));
    *modularity = 0;
    for (int64_t c = 0; c < m.n_clusters && m.total > 0; c++) {
        double share = m.volume[c] / m.total;
        *modularity += m.inside[c] / m.total - share * share;
    }
done:
    huddle_free(m.inside);
    huddle_free(m.volume);
    return status;
}
