#include "base/check.h"
#include "graph/check.h"

int32_t hd_number_roots(int32_t *parent, int64_t n) {
    int32_t count = 0;
    for (int64_t v = 0; v < n; v++)
        parent[v] = hd_find_root(parent, (int32_t)v);
    for (int64_t v = 0; v < n; v++)
        parent[v] = parent[v] == v ? count++ : parent[parent[v]];
    return count;
}

huddle_status huddle_graph_components(const huddle_csr *graph, int32_t *component, int32_t *count) {
    *count = 0;
    if (graph->rows != graph->cols || graph->rows > INT32_MAX)
        return hd_fail(HUDDLE_INVALID, "a matrix of %lld x %lld is not a graph",
                       (long long)graph->rows, (long long)graph->cols);
    for (int64_t v = 0; v < graph->rows; v++)
        component[v] = (int32_t)v;
    for (int64_t v = 0; v < graph->rows; v++)
        for (int64_t e = graph->offsets[v]; e < graph->offsets[v + 1]; e++)
            if (graph->values[e] != 0)
                hd_unite(component, (int32_t)v, graph->columns[e]);
    *count = hd_number_roots(component, graph->rows);
    return HUDDLE_OK;
}
