/* Connected components of a graph, by breadth-first search of the own rows. Under an engine with
 * slabs, components that continue on other processes are then joined: each carries the smallest
 * number of its rows, and takes over smaller ones from its neighbours until nothing changes. */
#include "base/check.h"
#include "base/context.h"
#include "embed/operator.h"
#include "matrix/labels.h"

#include <stdlib.h>
#include <string.h>

/* Vertices between two looks at whether to cancel: some milliseconds. */
enum { CANCEL_ROWS = 1 << 14 };

/* ---- one process --------------------------------------------------------------------------- */

/* Visits every own row, component by component, breadth first: `order` is both the queue and the
 * result. Components are numbered by their first vertex. Columns of other processes are ignored.
 * Breadth-first order also places neighbours near each other, which makes the products of the
 * solvers faster on large graphs. */
static huddle_status number_components(huddle_context *context, const huddle_csr *graph,
                                       int64_t first, int32_t *component, int32_t *order,
                                       int64_t *count) {
    huddle_status status = HUDDLE_OK;
    int64_t found = 0, tail = 0, n = graph->rows;
    memset(component, -1, (size_t)n * sizeof *component);
    for (int64_t root = 0; root < n; root++) {
        if (component[root] >= 0)
            continue;
        int64_t head = tail;
        component[root] = (int32_t)found;
        order[tail++] = (int32_t)root;
        for (; head < tail; head++) {
            int32_t i = order[head];
            if (head % CANCEL_ROWS == 0)
                TRY(hd_check_cancel(context));
            for (int64_t e = graph->offsets[i]; e < graph->offsets[i + 1]; e++) {
                int64_t j = graph->columns[e] - first;
                if (graph->values[e] == 0 || j < 0 || j >= n || component[j] >= 0)
                    continue;
                component[j] = (int32_t)found;
                order[tail++] = (int32_t)j;
            }
        }
        found++;
    }
    *count = found;
done:
    return status;
}

typedef struct ranked {
    double size;
    int32_t name;
} ranked;

static int larger_first(const void *left, const void *right) {
    const ranked *a = left, *b = right;
    if (a->size != b->size)
        return a->size > b->size ? -1 : 1;
    return a->name < b->name ? -1 : a->name > b->name;
}

/* Renumbers components by falling size, ties by the first vertex. The null vectors of the largest
 * components come first if there are more components than vectors. */
static huddle_status rank_components(huddle_context *context, int64_t n, int64_t count,
                                     int32_t *component) {
    huddle_status status = HUDDLE_OK;
    ranked *ranks = NULL;
    double *sizes = NULL;
    int32_t *rank = NULL;
    ALLOC(ranks, count);
    ALLOC_ZERO(sizes, count);
    ALLOC(rank, count);
    for (int64_t i = 0; i < n; i++)
        sizes[component[i]]++;
    TRY(hd_reduce_sum(context, count, sizes));
    for (int64_t k = 0; k < count; k++)
        ranks[k] = (ranked){sizes[k], (int32_t)k};
    qsort(ranks, (size_t)count, sizeof *ranks, larger_first);
    for (int64_t k = 0; k < count; k++)
        rank[ranks[k].name] = (int32_t)k;
    for (int64_t i = 0; i < n; i++)
        component[i] = rank[component[i]];
done:
    FREE(ranks, sizes, rank);
    return status;
}

/* ---- several processes --------------------------------------------------------------------- */

/* Joins the components of the own rows with those of other processes; component is renumbered by
 * the first vertex. In a round every component takes the smallest number among its neighbours. All
 * its rows adopt it at once, so that a number crosses a whole process per round. */
static huddle_status join_components(huddle_context *context, const huddle_csr *graph,
                                     int64_t first, int32_t *component, int64_t *count) {
    huddle_status status = HUDDLE_OK;
    int64_t n = graph->rows, entries = graph->offsets[n], changed = 1;
    int32_t *columns = NULL;  /* of the graph, local */
    int32_t *root = NULL;     /* the smallest row of a row's component, as known so far */
    int32_t *smallest = NULL; /* the same for each component of the own rows */
    hd_halo halo = {0};
    ALLOC(columns, entries);
    memcpy(columns, graph->columns, (size_t)entries * sizeof *columns);
    TRY(hd_halo_open(context, n, entries, columns, &halo));
    ALLOC(root, n + halo.ghosts);
    ALLOC(smallest, *count);
    /* Backwards, so that the smallest row of each component is written last. */
    for (int64_t i = n - 1; i >= 0; i--)
        smallest[component[i]] = (int32_t)(first + i);
    while (changed > 0) {
        changed = 0;
        for (int64_t i = 0; i < n; i++)
            root[i] = smallest[component[i]];
        TRY(hd_halo_fetch(&halo, root, sizeof *root));
        for (int64_t i = 0; i < n; i++)
            for (int64_t e = graph->offsets[i]; e < graph->offsets[i + 1]; e++) {
                int32_t other = root[columns[e]], *own = &smallest[component[i]];
                if (graph->values[e] != 0 && other < *own) {
                    *own = other;
                    changed++;
                }
            }
        TRY(hd_reduce_count(context, &changed));
    }
    TRY(hd_rank_labels(context, n, root, component, count, NULL));
done:
    hd_halo_close(&halo);
    FREE(columns, root, smallest);
    return status;
}

huddle_status hd_embed_find_components(huddle_context *context, const huddle_csr *graph,
                                       hd_slab slab, int32_t *component, int32_t *order,
                                       int64_t *count) {
    huddle_status status = HUDDLE_OK;
    TRY(number_components(context, graph, slab.first, component, order, count));
    if (hd_context_engine(context)->slabs != NULL)
        TRY(join_components(context, graph, slab.first, component, count));
    TRY(rank_components(context, graph->rows, *count, component));
done:
    return status;
}
