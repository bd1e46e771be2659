/* Connected components by union-find. Edges of weight 0 do not connect. Components are numbered by
 * their smallest vertex, so that the numbers do not depend on the order of the edges. */
#include "base/check.h"
#include "base/slabs.h"
#include "graph/common.h"

/* A root is the smallest member of its set (base/union.h), so its number is known before any other
 * member is reached. */
int32_t hd_graph_number_roots(int32_t *parent, int64_t n) {
    int32_t count = 0;
    for (int64_t v = 0; v < n; v++)
        parent[v] = hd_find_root(parent, (int32_t)v);
    for (int64_t v = 0; v < n; v++)
        parent[v] = parent[v] == v ? count++ : parent[parent[v]];
    return count;
}

static huddle_status find_components(huddle_context *context, const huddle_csr *graph,
                                     int32_t *component, int32_t *count) {
    huddle_status status = HUDDLE_OK;
    *count = 0;
    TRY(hd_slabs_refuse(context, "finding the components of a graph"));
    if (graph->rows != graph->cols || graph->rows > INT32_MAX)
        FAIL(HUDDLE_INVALID, "a matrix of %lld x %lld is not a graph", (long long)graph->rows,
             (long long)graph->cols);
    TRY(huddle_csr_fetch(graph));
    for (int64_t v = 0; v < graph->rows; v++)
        component[v] = (int32_t)v;
    for (int64_t v = 0; v < graph->rows; v++)
        for (int64_t e = graph->offsets[v]; e < graph->offsets[v + 1]; e++)
            if (graph->values[e] != 0)
                hd_unite(component, (int32_t)v, graph->columns[e]);
    *count = hd_graph_number_roots(component, graph->rows);
done:
    return status;
}

huddle_status huddle_graph_components(huddle_context *context, const huddle_csr *graph,
                                      int32_t *component, int32_t *count) {
    return hd_agree(context, find_components(context, graph, component, count));
}
