/* Scores of a labelling on a weighted graph: normalised cut (20) and modularity (21) of
 * docs/method.md. */
#include "huddle/metrics.h"

#include "base/check.h"
#include "base/slabs.h"
#include "metrics/table.h"

#include <string.h>

/* What both scores are computed from: for each cluster the weight of the edges inside it and its
 * volume, the sum of the degrees of its vertices. An edge inside counts once from each end. Loops,
 * of merged points, are inside. */
typedef struct volumes {
    int64_t n_clusters;
    double *inside, *volume;
    double total;
} volumes;

/* Negative weights would make volumes and cuts meaningless. */
static huddle_status check_graph(huddle_context *context, const huddle_csr *graph,
                                 const int32_t *labels, const double *score) {
    huddle_status status = HUDDLE_OK;
    hd_slab slab;
    if (graph == NULL || labels == NULL || score == NULL)
        FAIL(HUDDLE_INVALID, "the graph, the labels or the place for the score is missing");
    TRY(huddle_csr_fetch(graph));
    TRY(huddle_csr_check(graph));
    TRY(hd_slab_locate(context, graph->rows, &slab));
    if (slab.total != graph->cols || graph->rows < 1)
        FAIL(HUDDLE_INVALID, "a matrix of %lld x %lld is not a graph", (long long)slab.total,
             (long long)graph->cols);
    for (int64_t i = 0; i < graph->rows; i++)
        for (int64_t e = graph->offsets[i]; e < graph->offsets[i + 1]; e++)
            if (graph->values[e] < 0)
                FAIL(HUDDLE_INVALID, "row %lld, column %d: the weight %g is negative",
                     (long long)i + 1, graph->columns[e] + 1, graph->values[e]);
done:
    return status;
}

/* The ranks of the labels, followed by those of the rows of other processes that the graph refers
 * to, and the columns as places in that array: the graph's own, or *local if there are such
 * processes. Labels are replaced by ranks because they may be any integers. */
static huddle_status rank_vertices(huddle_context *context, const huddle_csr *graph,
                                   const int32_t *labels, int32_t **ranks, int32_t **local,
                                   int64_t *n_clusters) {
    huddle_status status = HUDDLE_OK;
    hd_halo halo = {0};
    int64_t n = graph->rows, entries = graph->offsets[n];
    if (hd_context_engine(context)->slabs != NULL) {
        ALLOC(*local, entries);
        memcpy(*local, graph->columns, (size_t)entries * sizeof **local);
        TRY(hd_halo_open(context, n, entries, *local, &halo));
    }
    ALLOC(*ranks, n + halo.ghosts);
    TRY(hd_metrics_rank_labels(context, n, labels, *ranks, n_clusters));
    TRY(hd_halo_fetch(&halo, *ranks, sizeof **ranks));
done:
    hd_halo_close(&halo);
    return status;
}

/* One pass over the edges of this process, then the sums of all. */
static huddle_status add_volumes(huddle_context *context, const huddle_csr *graph,
                                 const int32_t *labels, volumes *m) {
    huddle_status status = HUDDLE_OK;
    int32_t *ranks = NULL, *local = NULL;
    TRY(rank_vertices(context, graph, labels, &ranks, &local, &m->n_clusters));
    const int32_t *columns = local != NULL ? local : graph->columns;
    ALLOC_ZERO(m->inside, m->n_clusters);
    ALLOC_ZERO(m->volume, m->n_clusters);
    for (int64_t i = 0; i < graph->rows; i++) {
        double degree = 0, within = 0;
        for (int64_t e = graph->offsets[i]; e < graph->offsets[i + 1]; e++) {
            degree += graph->values[e];
            within += ranks[columns[e]] == ranks[i] ? graph->values[e] : 0;
        }
        m->volume[ranks[i]] += degree;
        m->inside[ranks[i]] += within;
    }
    TRY(hd_reduce_sum(context, m->n_clusters, m->volume));
    TRY(hd_reduce_sum(context, m->n_clusters, m->inside));
    /* The total from the reduced volumes, so that every process has the same bits. */
    for (int64_t c = 0; c < m->n_clusters; c++)
        m->total += m->volume[c];
done:
    huddle_free(ranks);
    huddle_free(local);
    return status;
}

/* Equation (20), with cut = volume - inside. A cluster of isolated vertices has no volume and
 * nothing to cut. */
huddle_status huddle_metrics_ncut(huddle_context *context, const huddle_csr *graph,
                                  const int32_t *labels, double *ncut) {
    huddle_status status = HUDDLE_OK;
    volumes m = {0};
    TRY(check_graph(context, graph, labels, ncut));
    TRY(add_volumes(context, graph, labels, &m));
    *ncut = 0;
    for (int64_t c = 0; c < m.n_clusters; c++)
        if (m.volume[c] > 0)
            *ncut += (m.volume[c] - m.inside[c]) / m.volume[c];
done:
    huddle_free(m.inside);
    huddle_free(m.volume);
    return hd_agree(context, status);
}

/* Equation (21): the share of the weight inside clusters, less what a random graph with the same
 * degrees would have (Newman and Girvan, Physical Review E 2004). */
huddle_status huddle_metrics_modularity(huddle_context *context, const huddle_csr *graph,
                                        const int32_t *labels, double *modularity) {
    huddle_status status = HUDDLE_OK;
    volumes m = {0};
    TRY(check_graph(context, graph, labels, modularity));
    TRY(add_volumes(context, graph, labels, &m));
    *modularity = 0;
    for (int64_t c = 0; c < m.n_clusters && m.total > 0; c++) {
        double share = m.volume[c] / m.total;
        *modularity += m.inside[c] / m.total - share * share;
    }
done:
    huddle_free(m.inside);
    huddle_free(m.volume);
    return hd_agree(context, status);
}
