/* Connected components by union-find. Edges of weight 0 do not connect. Components are numbered by
 * their smallest vertex, so that the numbers do not depend on the order of the edges.
 *
 * Rows that are distributed over processes: each process joins its own rows first. The sets that
 * this leaves carry a label, a vertex of their component, and a round lowers it in three ways, as
 * in FastSV (Zhang, Azad and Hu, SIAM PP 2020): a set takes the smallest label beside it; it offers
 * that to the set of the vertex that was its label; and it takes the label of its label. Rounds are
 * few even if components are long, unlike those of passing on the smallest number along edges. */
#include "base/check.h"
#include "base/context.h"
#include "base/slabs.h"
#include "graph/common.h"
#include "graph/layout.h"
#include "matrix/labels.h"
#include "matrix/resident.h"

#include <string.h>

/* A root is the smallest member of its set (base/union.h), so its number is known before any other
 * member is reached. The first loop points every member at its root, because the second one
 * replaces roots by numbers, along which nothing can be searched any more. */
int32_t hd_graph_number_roots(int32_t *parent, int64_t n) {
    int32_t count = 0;
    for (int64_t v = 0; v < n; v++)
        parent[v] = hd_find_root(parent, (int32_t)v);
    for (int64_t v = 0; v < n; v++)
        parent[v] = parent[v] == v ? count++ : parent[parent[v]];
    return count;
}

/* Joins the rows of this process, the first of all columns; returns the number of sets. */
static int32_t join_rows(const huddle_csr *graph, const int32_t *columns, int32_t *set) {
    for (int64_t v = 0; v < graph->rows; v++)
        set[v] = (int32_t)v;
    for (int64_t v = 0; v < graph->rows; v++)
        for (int64_t e = graph->offsets[v]; e < graph->offsets[v + 1]; e++)
            if (graph->values[e] != 0 && columns[e] < graph->rows) /* an own row */
                hd_unite(set, (int32_t)v, columns[e]);
    return hd_graph_number_roots(set, graph->rows);
}

/* ---- rows on several processes ------------------------------------------------------------- */

typedef struct distributed_sets {
    huddle_context *context;
    const huddle_csr *graph;
    hd_graph_layout layout;
    int64_t first;    /* the number of this process's first row */
    int32_t *columns; /* of the graph: own rows, then those of other processes */
    hd_halo halo;
    int32_t *set;    /* of each own row */
    int32_t count;   /* of the sets of this process */
    int32_t *label;  /* of each set: a vertex of its component */
    int32_t *lower;  /* of each set: its next label */
    int32_t *labels; /* own rows, then others */
} distributed_sets;

/* Joins the rows of this process. A set begins with its smallest vertex as its label. */
static huddle_status begin_sets(distributed_sets *s) {
    huddle_status status = HUDDLE_OK;
    const huddle_csr *graph = s->graph;
    int64_t n = graph->rows, entries = graph->offsets[n];
    ALLOC(s->columns, entries);
    memcpy(s->columns, graph->columns, (size_t)entries * sizeof *s->columns);
    TRY(hd_halo_open(s->context, n, entries, s->columns, &s->halo));
    ALLOC(s->set, n);
    ALLOC(s->labels, n + s->halo.ghosts);
    s->count = join_rows(graph, s->columns, s->set);
    ALLOC(s->label, s->count);
    ALLOC(s->lower, s->count);
    /* Downwards: the smallest vertex of a set is written last. */
    for (int64_t v = n - 1; v >= 0; v--)
        s->label[s->set[v]] = (int32_t)(s->first + v);
done:
    return status;
}

/* The smallest label beside each set, offered to the set of the vertex that is its label. */
static huddle_status lower_labels(distributed_sets *s) {
    huddle_status status = HUDDLE_OK;
    int64_t n = s->graph->rows, offers = 0, n_received = 0;
    int32_t(*offer)[2] = NULL;
    void *received = NULL;
    ALLOC(offer, s->count);
    for (int64_t v = 0; v < n; v++)
        s->labels[v] = s->label[s->set[v]];
    TRY(hd_halo_fetch(&s->halo, s->labels, sizeof *s->labels));
    memcpy(s->lower, s->label, (size_t)s->count * sizeof *s->lower);
    for (int64_t v = 0; v < n; v++)
        for (int64_t e = s->graph->offsets[v]; e < s->graph->offsets[v + 1]; e++)
            if (s->graph->values[e] != 0 && s->labels[s->columns[e]] < s->lower[s->set[v]])
                s->lower[s->set[v]] = s->labels[s->columns[e]];
    for (int32_t k = 0; k < s->count; k++)
        if (s->lower[k] < s->label[k]) {
            offer[offers][0] = s->label[k];
            offer[offers++][1] = s->lower[k];
        }
    TRY(hd_graph_layout_send(&s->layout, offers, offer, sizeof *offer, &received, &n_received));
    for (int64_t e = 0; e < n_received; e++) {
        const int32_t *pair = (const int32_t *)received + 2 * e;
        /* A minimum: the order in which offers arrive does not matter. */
        int32_t k = s->set[pair[0] - s->first];
        s->lower[k] = pair[1] < s->lower[k] ? pair[1] : s->lower[k];
    }
done:
    FREE(offer, received);
    return status;
}

/* One round; each label gives way to that of the set of its vertex, which may be on another
 * process. *changed counts the labels of all processes that became lower. A label is a vertex of
 * the component and not above any vertex of its set, hence labels only fall. When none does, sets
 * beside each other have equal labels, and the set of the smallest vertex has that one. */
static huddle_status run_round(distributed_sets *s, int64_t *changed) {
    huddle_status status = HUDDLE_OK;
    int64_t n = s->graph->rows;
    int32_t *ask = NULL, *lower = NULL;
    hd_halo halo = {0};
    TRY(lower_labels(s));
    ALLOC(ask, s->count);
    memcpy(ask, s->lower, (size_t)s->count * sizeof *ask);
    TRY(hd_halo_open(s->context, n, s->count, ask, &halo));
    ALLOC(lower, n + halo.ghosts);
    for (int64_t v = 0; v < n; v++)
        lower[v] = s->lower[s->set[v]];
    TRY(hd_halo_fetch(&halo, lower, sizeof *lower));
    *changed = 0;
    for (int32_t k = 0; k < s->count; k++) {
        *changed += lower[ask[k]] < s->label[k];
        s->label[k] = lower[ask[k]];
    }
    TRY(hd_reduce_count(s->context, changed));
done:
    hd_halo_close(&halo);
    FREE(ask, lower);
    return status;
}

/* In the end labels are the smallest vertices of their components. */
static huddle_status join_distributed_rows(huddle_context *context, const huddle_csr *graph,
                                           int64_t first, int32_t *component, int32_t *count) {
    huddle_status status = HUDDLE_OK;
    distributed_sets s = {.context = context, .graph = graph, .first = first};
    int64_t changed = 1, n_components;
    TRY(hd_graph_layout_new(context, graph->rows, &s.layout));
    TRY(begin_sets(&s));
    while (changed > 0)
        TRY(run_round(&s, &changed));
    for (int64_t v = 0; v < graph->rows; v++)
        component[v] = s.label[s.set[v]];
    TRY(hd_rank_labels(context, graph->rows, component, component, &n_components, NULL));
    *count = (int32_t)n_components;
done:
    hd_graph_layout_free(&s.layout);
    hd_halo_close(&s.halo);
    FREE(s.columns, s.set, s.label, s.lower, s.labels);
    return status;
}

/* ---- an engine ----------------------------------------------------------------------------- */

/* The numbers are indices later, and their order decides which components come first. */
static huddle_status check_numbers(const char *engine, int64_t n, const int32_t *component,
                                   int32_t count) {
    int32_t seen = 0;
    for (int64_t v = 0; v < n; v++) {
        if (component[v] < 0 || component[v] > seen)
            return hd_fail(HUDDLE_INTERNAL,
                           "the engine %s returned component %d of vertex %lld after %d others",
                           engine, component[v], (long long)v + 1, seen);
        seen += component[v] == seen;
    }
    if (seen != count)
        return hd_fail(HUDDLE_INTERNAL, "the engine %s returned %d components, of which %d exist",
                       engine, count, seen);
    return HUDDLE_OK;
}

/* A graph in the memory of the engine need not be fetched if the engine finds its components. One
 * that it does not have is not sent there for them: the transfer would take longer than the search.
 */
static huddle_status ask_engine(huddle_context *context, const huddle_csr *graph,
                                int32_t *component, int32_t *count, bool *handled) {
    const hd_engine *engine = hd_context_engine(context);
    *handled = false;
    if (engine->find_components == NULL || hd_resident_own(context, graph->resident) == NULL)
        return HUDDLE_OK;
    huddle_status status = engine->find_components(context, graph, component, count);
    if (hd_engine_declined(context, "find_components", status))
        return HUDDLE_OK;
    if (status == HUDDLE_OK)
        status = check_numbers(engine->text.name, graph->rows, component, *count);
    *handled = status == HUDDLE_OK;
    return status;
}

/* ---- all ----------------------------------------------------------------------------------- */

static huddle_status find_components(huddle_context *context, const huddle_csr *graph,
                                     int32_t *component, int32_t *count) {
    huddle_status status = HUDDLE_OK;
    hd_slab slab;
    bool handled;
    *count = 0;
    TRY(hd_graph_require_passing(context, "finding the components of a graph"));
    TRY(hd_slab_locate(context, graph->rows, &slab));
    if (slab.total != graph->cols || slab.total > INT32_MAX)
        FAIL(HUDDLE_INVALID, "a matrix of %lld x %lld is not a graph", (long long)graph->rows,
             (long long)graph->cols);
    TRY(ask_engine(context, graph, component, count, &handled));
    if (handled)
        goto done;
    TRY(huddle_csr_fetch(graph));
    if (hd_slabs_distributed(context))
        TRY(join_distributed_rows(context, graph, slab.first, component, count));
    else
        *count = join_rows(graph, graph->columns, component);
done:
    return status;
}

huddle_status huddle_graph_components(huddle_context *context, const huddle_csr *graph,
                                      int32_t *component, int32_t *count) {
    return hd_agree(context, find_components(context, graph, component, count));
}
