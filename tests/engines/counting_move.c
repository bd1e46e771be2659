/* Moves of vertices: each to the cluster of a neighbour at which the whole objective, computed anew
 * from the volumes of all clusters, is lowest. */
#include "engines/counting.h"

#include "base/check.h"

#include <math.h>
#include <string.h>

typedef struct clusters {
    const hd_move_request *request;
    int32_t *labels;
    double *inside, *volume; /* shares */
    int64_t *members;
} clusters;

static double x_log_x(double x) {
    return x > 0 ? x * log(x) : 0;
}

/* L, 1 - Q or the normalised cut of docs/method.md. */
static double objective(const clusters *s) {
    const char *name = s->request->objective;
    double f = 0, sum = 0;
    for (int64_t k = 0; k < s->request->n_clusters; k++) {
        double v = s->volume[k], q = v > s->inside[k] ? v - s->inside[k] : 0;
        f += s->inside[k];
        if (strcmp(name, "map") == 0)
            sum += x_log_x(q + v) - 2 * x_log_x(q);
        else if (strcmp(name, "modularity") == 0)
            sum += v * v;
        else
            sum += v > 0 ? q / v : 0;
    }
    return sum + (strcmp(name, "map") == 0          ? x_log_x(1 - f)
                  : strcmp(name, "modularity") == 0 ? 1 - f
                                                    : 0);
}

/* Moves a vertex, and with it its edges into or out of clusters. */
static void move_to(clusters *s, int64_t i, int32_t to) {
    const huddle_csr *graph = s->request->graph;
    int32_t from = s->labels[i];
    for (int64_t e = graph->offsets[i]; e < graph->offsets[i + 1]; e++) {
        double share = graph->values[e] * s->request->unit;
        int32_t other = s->labels[graph->columns[e]];
        bool is_loop = graph->columns[e] == i;
        s->inside[from] -= is_loop ? share : other == from ? 2 * share : 0;
        s->inside[to] += is_loop ? share : other == to ? 2 * share : 0;
    }
    s->volume[from] -= s->request->degree[i];
    s->volume[to] += s->request->degree[i];
    s->members[from]--;
    s->members[to]++;
    s->labels[i] = to;
}

/* Tries the clusters of all neighbours; true if the vertex stays in another than before. */
static bool visit(clusters *s, int64_t i) {
    const huddle_csr *graph = s->request->graph;
    int32_t before = s->labels[i], best = before;
    double lowest = objective(s) - 1e-12;
    if (s->members[before] == 1)
        return false;
    for (int64_t e = graph->offsets[i]; e < graph->offsets[i + 1]; e++) {
        int32_t to = s->labels[graph->columns[e]];
        if (to == s->labels[i] || graph->values[e] <= 0)
            continue;
        move_to(s, i, to);
        double value = objective(s);
        move_to(s, i, before);
        if (value < lowest) {
            lowest = value;
            best = to;
        }
    }
    if (best != before)
        move_to(s, i, best);
    return best != before;
}

static huddle_status open_clusters(clusters *s, int32_t *labels) {
    huddle_status status = HUDDLE_OK;
    const huddle_csr *graph = s->request->graph;
    int64_t c = s->request->n_clusters;
    s->labels = labels;
    ALLOC_ZERO(s->inside, c);
    ALLOC_ZERO(s->volume, c);
    ALLOC_ZERO(s->members, c);
    for (int64_t i = 0; i < graph->rows; i++) {
        s->volume[labels[i]] += s->request->degree[i];
        s->members[labels[i]]++;
        for (int64_t e = graph->offsets[i]; e < graph->offsets[i + 1]; e++)
            if (labels[graph->columns[e]] == labels[i])
                s->inside[labels[i]] += graph->values[e] * s->request->unit;
    }
done:
    return status;
}

/* Out of range, or, with two clusters, exchanged for one that is worse: every other vertex. */
static void spoil(const hd_move_request *request, int32_t *labels) {
    if (request->n_clusters != 2)
        labels[0] = (int32_t)request->n_clusters;
    for (int64_t i = 0; i < request->graph->rows && request->n_clusters == 2; i++)
        labels[i] = (int32_t)(i % 2);
}

huddle_status counting_move_vertices(huddle_context *context, const hd_move_request *request,
                                     int32_t *labels, int32_t *n_sweeps) {
    huddle_status status = HUDDLE_OK;
    clusters s = {.request = request};
    bool moved = true;
    TRY(counting_enter(context, COUNTING_MOVE));
    TRY(huddle_csr_fetch(request->graph));
    TRY(open_clusters(&s, labels));
    for (*n_sweeps = 0; moved && *n_sweeps < request->max_sweeps; ++*n_sweeps) {
        moved = false;
        for (int64_t i = 0; i < request->graph->rows; i++)
            moved = visit(&s, i) || moved;
    }
    if (counting_spoils(context, COUNTING_MOVE))
        spoil(request, labels);
done:
    FREE(s.inside, s.volume, s.members);
    return status;
}
