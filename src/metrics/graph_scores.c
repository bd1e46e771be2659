/* Scores of a labelling on a weighted graph: normalised cut (20), modularity (21), and those of
 * docs/method.md, "Refinement". */
#include "huddle/metrics.h"

#include "base/check.h"
#include "base/parallel.h"
#include "base/slabs.h"
#include "matrix/labels.h"

#include <math.h>
#include <string.h>

/* Rows of a chunk. */
enum { CHUNK_ROWS = 1 << 12 };

/* The sum of the edges inside a cluster may exceed its volume by this share: another order. */
static const double largest_rounding = 1e-9;

/* What the scores are computed from: for each cluster the weight of the edges inside it and its
 * volume, the sum of the degrees of its vertices. An edge inside counts once from each end. Loops,
 * of merged points, are inside. */
typedef struct volumes {
    int64_t n_clusters;
    int32_t *ranks; /* the clusters of the own rows, then of those of other processes */
    int32_t *local; /* columns as places in ranks; NULL: the graph's own */
    double *degree; /* of each row */
    double *inside, *volume;
    double total;
    bool by_engine; /* then degree is NULL, and these are known if asked for: */
    double entropy, information;
} volumes;

static void volumes_free(volumes *m) {
    FREE(m->ranks, m->local, m->degree, m->inside, m->volume);
}

static huddle_status check_rows(void *argument, hd_chunk chunk) {
    const huddle_csr *graph = *(const huddle_csr **)argument;
    for (int64_t i = chunk.begin; i < chunk.end; i++)
        for (int64_t e = graph->offsets[i]; e < graph->offsets[i + 1]; e++)
            if (graph->values[e] < 0)
                return hd_fail(HUDDLE_INVALID, "row %lld, column %d: the weight %g is negative",
                               (long long)i + 1, graph->columns[e] + 1, graph->values[e]);
    return HUDDLE_OK;
}

/* Negative weights would make volumes and cuts meaningless. */
static huddle_status check_graph(huddle_context *context, const huddle_csr *graph,
                                 const int32_t *labels, const void *score) {
    huddle_status status = HUDDLE_OK;
    hd_slab slab;
    if (graph == NULL || labels == NULL || score == NULL)
        FAIL(HUDDLE_INVALID, "the graph, the labels or the place for the score is missing");
    TRY(huddle_csr_fetch(graph));
    TRY(huddle_csr_check(graph));
    TRY(hd_slab_locate(context, graph->rows, &slab));
    if (slab.total != graph->cols || slab.total < 1)
        FAIL(HUDDLE_INVALID, "a matrix of %lld x %lld is not a graph", (long long)slab.total,
             (long long)graph->cols);
    TRY(hd_parallel(context, NULL, graph->rows, CHUNK_ROWS, check_rows, &graph));
done:
    return status;
}

/* Labels are replaced by ranks because they may be any integers. */
static huddle_status rank_vertices(huddle_context *context, const huddle_csr *graph,
                                   const int32_t *labels, volumes *m) {
    huddle_status status = HUDDLE_OK;
    hd_halo halo = {0};
    int64_t n = graph->rows, entries = graph->offsets[n];
    if (hd_context_engine(context)->slabs != NULL) {
        ALLOC(m->local, entries);
        if (entries > 0)
            memcpy(m->local, graph->columns, (size_t)entries * sizeof *m->local);
        TRY(hd_halo_open(context, n, entries, m->local, &halo));
    }
    ALLOC(m->ranks, n + halo.ghosts);
    TRY(hd_rank_labels(context, n, labels, m->ranks, &m->n_clusters, NULL));
    TRY(hd_halo_fetch(&halo, m->ranks, sizeof *m->ranks));
done:
    hd_halo_close(&halo);
    return status;
}

/* The rows of a chunk: their degrees, and the weight of their edges inside clusters. */
typedef struct row_sums {
    const huddle_csr *graph;
    const volumes *m;
    double *within; /* of each row */
} row_sums;

static const int32_t *local_columns(const huddle_csr *graph, const volumes *m) {
    return m->local != NULL ? m->local : graph->columns;
}

static huddle_status sum_rows(void *argument, hd_chunk chunk) {
    const row_sums *s = argument;
    const huddle_csr *graph = s->graph;
    const int32_t *ranks = s->m->ranks, *columns = local_columns(graph, s->m);
    for (int64_t i = chunk.begin; i < chunk.end; i++) {
        double degree = 0, within = 0;
        for (int64_t e = graph->offsets[i]; e < graph->offsets[i + 1]; e++) {
            degree += graph->values[e];
            within += ranks[columns[e]] == ranks[i] ? graph->values[e] : 0;
        }
        s->m->degree[i] = degree;
        s->within[i] = within;
    }
    return HUDDLE_OK;
}

/* Asks the engine for the sums. */
static huddle_status sum_by_engine(huddle_context *context, const huddle_csr *graph, bool all,
                                   volumes *m) {
    const hd_engine *engine = hd_context_engine(context);
    hd_score_request request = {graph, m->ranks, m->n_clusters, all};
    hd_score_result result = {.inside = m->inside, .volume = m->volume};
    if (engine->score_graph == NULL || engine->slabs != NULL)
        return HUDDLE_OK;
    huddle_status status = engine->score_graph(context, &request, &result);
    if (status != HUDDLE_OK) {
        memset(m->inside, 0, (size_t)m->n_clusters * sizeof *m->inside);
        memset(m->volume, 0, (size_t)m->n_clusters * sizeof *m->volume);
        return hd_engine_declined(context, "score_graph", status) ? HUDDLE_OK : status;
    }
    for (int64_t c = 0; c < m->n_clusters; c++)
        if (!(m->inside[c] >= 0 && m->inside[c] <= (1 + largest_rounding) * m->volume[c]) ||
            !isfinite(m->volume[c]))
            return hd_fail(HUDDLE_INTERNAL,
                           "the engine %s returned a weight of %g inside a cluster of volume %g",
                           engine->text.name, m->inside[c], m->volume[c]);
    if (all && !(isfinite(result.entropy) && isfinite(result.information)))
        return hd_fail(HUDDLE_INTERNAL, "the engine %s returned a score that is not finite",
                       engine->text.name);
    m->by_engine = true;
    m->entropy = result.entropy;
    m->information = result.information;
    return HUDDLE_OK;
}

/* One pass over the edges of this process, in parallel; then sums over its rows, in their order. */
static huddle_status sum_on_cpu(huddle_context *context, const huddle_csr *graph, volumes *m) {
    huddle_status status = HUDDLE_OK;
    row_sums s = {.graph = graph, .m = m};
    ALLOC(m->degree, graph->rows);
    ALLOC(s.within, graph->rows);
    TRY(hd_parallel(context, NULL, graph->rows, CHUNK_ROWS, sum_rows, &s));
    for (int64_t i = 0; i < graph->rows; i++) {
        m->volume[m->ranks[i]] += m->degree[i];
        m->inside[m->ranks[i]] += s.within[i];
    }
done:
    huddle_free(s.within);
    return status;
}

/* The volumes of all processes. all: with what other scores need. */
static huddle_status add_volumes(huddle_context *context, const huddle_csr *graph,
                                 const int32_t *labels, bool all, volumes *m) {
    huddle_status status = HUDDLE_OK;
    TRY(rank_vertices(context, graph, labels, m));
    ALLOC_ZERO(m->inside, m->n_clusters);
    ALLOC_ZERO(m->volume, m->n_clusters);
    TRY(sum_by_engine(context, graph, all, m));
    if (!m->by_engine)
        TRY(sum_on_cpu(context, graph, m));
    TRY(hd_reduce_sum(context, m->n_clusters, m->volume));
    TRY(hd_reduce_sum(context, m->n_clusters, m->inside));
    /* The total from the reduced volumes, so that every process has the same bits. */
    for (int64_t c = 0; c < m->n_clusters; c++)
        m->total += m->volume[c];
done:
    return status;
}

/* Equation (20), with cut = volume - inside. A cluster of isolated vertices has no volume and
 * nothing to cut. */
static double ncut_of(const volumes *m) {
    double ncut = 0;
    for (int64_t c = 0; c < m->n_clusters; c++)
        if (m->volume[c] > 0)
            ncut += (m->volume[c] - m->inside[c]) / m->volume[c];
    return ncut;
}

/* Equation (21): the share of the weight inside clusters, less what a random graph with the same
 * degrees would have (Newman and Girvan, Physical Review E 2004). */
static double modularity_of(const volumes *m) {
    double modularity = 0;
    for (int64_t c = 0; c < m->n_clusters && m->total > 0; c++) {
        double share = m->volume[c] / m->total;
        modularity += m->inside[c] / m->total - share * share;
    }
    return modularity;
}

static huddle_status score_graph(huddle_context *context, const huddle_csr *graph,
                                 const int32_t *labels, double (*score_of)(const volumes *m),
                                 double *score) {
    huddle_status status = HUDDLE_OK;
    volumes m = {0};
    TRY(check_graph(context, graph, labels, score));
    TRY(add_volumes(context, graph, labels, false, &m));
    *score = score_of(&m);
done:
    volumes_free(&m);
    return hd_agree(context, status);
}

huddle_status huddle_metrics_ncut(huddle_context *context, const huddle_csr *graph,
                                  const int32_t *labels, double *ncut) {
    return score_graph(context, graph, labels, ncut_of, ncut);
}

huddle_status huddle_metrics_modularity(huddle_context *context, const huddle_csr *graph,
                                        const int32_t *labels, double *modularity) {
    return score_graph(context, graph, labels, modularity_of, modularity);
}

/* ---- all scores ---------------------------------------------------------------------------- */

/* x ln x, 0 at 0. */
static double h(double x) {
    return x > 0 ? x * log(x) : 0;
}

/* x ln(x / y), 0 at 0. */
static double divergence(double x, double y) {
    return x > 0 && y > 0 ? x * log(x / y) : 0;
}

/* f, s, J (22) and L (24), which depend on the volumes alone. 1 - f and 1 - s are sums of their
 * own: as differences they would lose the digits of clusters with hardly an edge between them. */
static void score_volumes(const volumes *m, huddle_graph_scores *scores) {
    double leaving = 0, uneven = 0;
    for (int64_t c = 0; c < m->n_clusters && m->total > 0; c++) {
        double v = m->volume[c] / m->total, d = m->inside[c] / m->total;
        double q = m->volume[c] > m->inside[c] ? (m->volume[c] - m->inside[c]) / m->total : 0;
        scores->inside += d;
        scores->expected += v * v;
        leaving += q;
        uneven += v * (1 - v);
        scores->map += h(q + v) - 2 * h(q);
    }
    scores->map += h(leaving);
    scores->divergence = divergence(scores->inside, scores->expected) + divergence(leaving, uneven);
    scores->modularity = modularity_of(m);
    scores->ncut = ncut_of(m);
}

/* H of (25). */
static huddle_status add_entropy(huddle_context *context, const huddle_csr *graph, const volumes *m,
                                 double *entropy) {
    double sum = 0;
    for (int64_t i = 0; i < graph->rows && m->total > 0; i++)
        sum -= h(m->degree[i] / m->total);
    *entropy = sum;
    return hd_reduce_sum(context, 1, entropy);
}

/* What row c of the table M adds to MI; the row is cleared. */
static double take_row(const volumes *m, int64_t c, double *row) {
    double sum = 0;
    for (int64_t k = 0; k < m->n_clusters; k++) {
        double between = m->volume[c] / m->total * (m->volume[k] / m->total);
        sum += divergence(row[k] / m->total, between);
        row[k] = 0;
    }
    return sum;
}

/* The table M of weight between clusters, one row at a time, because all of it may not fit. */
typedef struct table_rows {
    const huddle_csr *graph;
    const volumes *m;
    int64_t *begin;   /* n_clusters + 2, and */
    int32_t *members; /* the rows of each cluster: hd_list_members() */
    double *rows;     /* workers x n_clusters, 0 between uses */
    double *values;   /* n_clusters: what each row adds to MI */
} table_rows;

static void fill_row(const table_rows *t, int64_t c, double *row) {
    const huddle_csr *graph = t->graph;
    const int32_t *columns = local_columns(graph, t->m);
    for (int64_t k = t->begin[c]; k < t->begin[c + 1]; k++)
        for (int64_t e = graph->offsets[t->members[k]]; e < graph->offsets[t->members[k] + 1]; e++)
            row[t->m->ranks[columns[e]]] += graph->values[e];
}

static huddle_status take_rows(void *argument, hd_chunk chunk) {
    const table_rows *t = argument;
    double *row = t->rows + chunk.worker * t->m->n_clusters;
    for (int64_t c = chunk.begin; c < chunk.end; c++) {
        fill_row(t, c, row);
        t->values[c] = take_row(t->m, c, row);
    }
    return HUDDLE_OK;
}

/* The same if rows are distributed over processes: a row of the table is the sum over all of them,
 * which exchange as many rows at a time as make a block. */
static huddle_status take_distributed_rows(huddle_context *context, const table_rows *t) {
    huddle_status status = HUDDLE_OK;
    enum { BLOCK_CELLS = 1 << 16 };
    int64_t c = t->m->n_clusters, height = BLOCK_CELLS / c > 1 ? BLOCK_CELLS / c : 1;
    double *block = NULL;
    height = height < c ? height : c;
    ALLOC_ZERO(block, height * c);
    for (int64_t first = 0; first < c; first += height) {
        int64_t count = c - first < height ? c - first : height;
        for (int64_t k = 0; k < count; k++)
            fill_row(t, first + k, block + k * c);
        TRY(hd_reduce_sum(context, count * c, block));
        for (int64_t k = 0; k < count; k++)
            t->values[first + k] = take_row(t->m, first + k, block + k * c);
    }
done:
    huddle_free(block);
    return status;
}

/* MI (23). */
static huddle_status add_information(huddle_context *context, const huddle_csr *graph,
                                     const volumes *m, double *information) {
    huddle_status status = HUDDLE_OK;
    table_rows t = {.graph = graph, .m = m};
    if (!(m->total > 0))
        return status;
    ALLOC(t.members, graph->rows);
    ALLOC(t.begin, m->n_clusters + 2);
    ALLOC_ZERO(t.rows, hd_workers(context) * m->n_clusters);
    ALLOC_ZERO(t.values, m->n_clusters);
    hd_list_members(graph->rows, m->ranks, m->n_clusters, t.begin, t.members);
    TRY(hd_slabs_distributed(context)
            ? take_distributed_rows(context, &t)
            : hd_parallel(context, NULL, m->n_clusters, 1, take_rows, &t));
    for (int64_t c = 0; c < m->n_clusters; c++)
        *information += t.values[c];
done:
    FREE(t.members, t.begin, t.rows, t.values);
    return status;
}

huddle_status huddle_metrics_graph_scores(huddle_context *context, const huddle_csr *graph,
                                          const int32_t *labels, huddle_graph_scores *scores) {
    huddle_status status = HUDDLE_OK;
    volumes m = {0};
    TRY(check_graph(context, graph, labels, scores));
    memset(scores, 0, sizeof *scores);
    TRY(add_volumes(context, graph, labels, true, &m));
    score_volumes(&m, scores);
    scores->entropy = m.entropy;
    scores->information = m.information;
    if (m.by_engine)
        goto done;
    TRY(add_entropy(context, graph, &m, &scores->entropy));
    TRY(add_information(context, graph, &m, &scores->information));
done:
    volumes_free(&m);
    return hd_agree(context, status);
}
