/* The arrays of a merged fit with a row for each row of x. */
#include "model/model.h"

#include "base/check.h"

#include <pthread.h>
#include <string.h>

/* Arrays are made when they are first asked for: most never are. */
struct hd_all_rows {
    pthread_mutex_t lock;
    int32_t *labels; /* always there */
    int32_t *groups, *starts;
    huddle_points points;
    huddle_dense embedding, shrunk;
    huddle_csr graph, shrink_graph;
};

void hd_all_rows_free(hd_all_rows *all) {
    if (all == NULL)
        return;
    huddle_free(all->labels);
    huddle_free(all->groups);
    huddle_free(all->starts);
    huddle_points_free(&all->points);
    huddle_dense_free(&all->embedding);
    huddle_dense_free(&all->shrunk);
    huddle_csr_free(&all->graph);
    huddle_csr_free(&all->shrink_graph);
    pthread_mutex_destroy(&all->lock);
    huddle_free(all);
}

static huddle_status spread_ints(const hd_fit *fit, int64_t times, const int32_t *from,
                                 int32_t **to) {
    huddle_status status = HUDDLE_OK;
    int64_t n = hd_fit_rows(fit);
    if (*to != NULL)
        return status;
    ALLOC(*to, times * n);
    for (int64_t r = 0; r < times; r++)
        for (int64_t i = 0; i < n; i++)
            (*to)[r * n + i] = from[r * fit->n + hd_fit_node(fit, i)];
done:
    return status;
}

huddle_status hd_all_rows_new(const hd_fit *fit, hd_all_rows **all) {
    huddle_status status = HUDDLE_OK;
    hd_all_rows *made = NULL;
    *all = NULL;
    if (fit->nodes.n == 0)
        return status;
    ALLOC_ZERO(made, 1);
    pthread_mutex_init(&made->lock, NULL);
    TRY(spread_ints(fit, 1, fit->labels, &made->labels));
    *all = made;
    made = NULL;
done:
    hd_all_rows_free(made);
    return status;
}

const int32_t *hd_all_rows_labels(const hd_all_rows *all) {
    return all->labels;
}

/* ---- matrices ------------------------------------------------------------------------------ */

static huddle_status spread_dense(const hd_fit *fit, const huddle_dense *from, huddle_dense *to) {
    huddle_status status = HUDDLE_OK;
    if (to->values != NULL)
        return status;
    TRY(huddle_dense_new(hd_fit_rows(fit), from->cols, to));
    for (int64_t i = 0; i < to->rows; i++)
        memcpy(to->values + i * to->stride, from->values + hd_fit_node(fit, i) * from->stride,
               (size_t)from->cols * sizeof *to->values);
done:
    return status;
}

static huddle_status spread_points(const hd_fit *fit, huddle_points *to) {
    huddle_status status = HUDDLE_OK;
    int64_t *index = NULL, n = hd_fit_rows(fit);
    if (to->values != NULL)
        return status;
    ALLOC(index, n);
    for (int64_t i = 0; i < n; i++)
        index[i] = hd_fit_node(fit, i);
    TRY(huddle_points_take(&fit->points, index, n, to));
done:
    huddle_free(index);
    return status;
}

/* ---- graphs -------------------------------------------------------------------------------- */

static void put(huddle_csr *graph, int64_t *ends, int64_t row, int64_t column, double value) {
    int64_t at = ends[row]++;
    for (; at > graph->offsets[row] && graph->columns[at - 1] > column; at--) {
        graph->columns[at] = graph->columns[at - 1];
        graph->values[at] = graph->values[at - 1];
    }
    graph->columns[at] = (int32_t)column;
    graph->values[at] = value;
}

/* In A a node's entry on the diagonal is shared out among the edges to its copies, each of which
 * counts from both ends: volumes and cuts are those of the merged graph. In W an edge to a copy is
 * twice as heavy as what could ever pull at one of the m copies, all edges of the node together
 * over m: so a copy stays with its node at any gamma, and the shrink problem of all rows has the
 * objective and the optimum of the weighted one that was solved. */
static double copy_weight(const hd_fit *fit, const huddle_csr *graph, int64_t node, bool shrink) {
    double sum = 0, loop = 0, m = (double)fit->nodes.copies[node];
    for (int64_t e = graph->offsets[node]; e < graph->offsets[node + 1]; e++) {
        sum += graph->columns[e] != node ? graph->values[e] : 0;
        loop += graph->columns[e] == node ? graph->values[e] : 0;
    }
    double weight = shrink ? 2 * sum / m : loop / (2 * (m - 1));
    return weight > 0 ? weight : 1;
}

/* The first row of each node has its edges, every other one an edge to that. */
static huddle_status spread_graph(const hd_fit *fit, const huddle_csr *from, bool shrink,
                                  huddle_csr *to) {
    huddle_status status = HUDDLE_OK;
    const huddle_distinct *nodes = &fit->nodes;
    huddle_csr made = {0};
    int64_t *ends = NULL, n = nodes->n;
    if (to->offsets != NULL)
        return status;
    TRY(huddle_csr_new(n, n, from->offsets[fit->n] + 2 * (n - nodes->count), &made));
    ALLOC(ends, n);
    for (int64_t i = 0; i < n; i++) {
        int32_t v = nodes->of[i];
        int64_t size = 1;
        if (nodes->first[v] == i) {
            size = nodes->copies[v] - 1;
            for (int64_t e = from->offsets[v]; e < from->offsets[v + 1]; e++)
                size += from->columns[e] != v;
        }
        ends[i] = made.offsets[i];
        made.offsets[i + 1] = made.offsets[i] + size;
    }
    for (int64_t v = 0; v < nodes->count; v++)
        for (int64_t e = from->offsets[v]; e < from->offsets[v + 1]; e++)
            if (from->columns[e] != v)
                put(&made, ends, nodes->first[v], nodes->first[from->columns[e]], from->values[e]);
    for (int64_t i = 0; i < n; i++) {
        int64_t v = nodes->of[i], first = nodes->first[v];
        if (first == i)
            continue;
        double weight = copy_weight(fit, from, v, shrink);
        put(&made, ends, first, i, weight);
        put(&made, ends, i, first, weight);
    }
    *to = made;
    made = (huddle_csr){0};
done:
    huddle_csr_free(&made);
    huddle_free(ends);
    return status;
}

/* ---- by name ------------------------------------------------------------------------------- */

static huddle_status spread(const hd_fit *fit, const char *name, hd_all_rows *all) {
    if (strcmp(name, "points") == 0)
        return spread_points(fit, &all->points);
    if (strcmp(name, "graph") == 0)
        return spread_graph(fit, &fit->graph, false, &all->graph);
    if (strcmp(name, "embedding") == 0)
        return spread_dense(fit, &fit->embedding.rows, &all->embedding);
    if (strcmp(name, "shrink_graph") == 0)
        return spread_graph(fit, &fit->shrink_graph, true, &all->shrink_graph);
    if (strcmp(name, "shrunk") == 0)
        return spread_dense(fit, &fit->shrunk.g, &all->shrunk);
    if (strcmp(name, "groups") == 0)
        return spread_ints(fit, 1, fit->shrunk.group, &all->groups);
    if (strcmp(name, "start_labels") == 0)
        return spread_ints(fit, fit->kmeans_info.n_restarts, fit->kmeans_info.start_labels,
                           &all->starts);
    return HUDDLE_OK;
}

huddle_status hd_all_rows_get(const hd_fit *fit, hd_all_rows *all, const char *name,
                              huddle_array *view) {
    pthread_mutex_lock(&all->lock);
    huddle_status status = spread(fit, name, all);
    pthread_mutex_unlock(&all->lock);
    if (status != HUDDLE_OK)
        return status;
    hd_fit rows = {.n = hd_fit_rows(fit)};
    rows.points = all->points;
    rows.graph = all->graph;
    rows.embedding.rows = all->embedding;
    rows.shrink_graph = all->shrink_graph;
    rows.shrunk = (huddle_shrunk){.g = all->shrunk, .group = all->groups};
    rows.labels = all->labels;
    rows.kmeans_info.start_labels = all->starts;
    rows.kmeans_info.n_restarts = fit->kmeans_info.n_restarts;
    *view = hd_array_view(&rows, name);
    return status;
}
