/* The weight of points that occur several times (docs/method.md, "Duplicate points"): the factor
 * (2) for edges between different points, and a loop that represents the edges between the copies
 * of one point. */
#include "base/check.h"
#include "base/slabs.h"
#include "huddle/graph.h"

#include <string.h>

/* The total weight of the edges between the m copies of a point. Each copy would have weight 1,
 * that of distance 0, to its nearest copies, at most n_neighbors of them. */
static double loop_weight(int64_t copies, int32_t n_neighbors) {
    int64_t others = copies - 1 < n_neighbors ? copies - 1 : n_neighbors;
    return (double)copies * (double)others;
}

typedef struct weighing {
    const huddle_csr *graph;
    const int32_t *columns; /* the graph's, as places in copies */
    const int64_t *copies;  /* of this process's rows, then of those that they refer to */
    int64_t first;          /* the number of this process's first row */
    int32_t n_neighbors;
    hd_halo halo; /* what is behind columns and copies if rows are on other processes */
    int32_t *local_columns;
    int64_t *fetched_copies;
} weighing;

/* Gets the copies of the rows that this process's rows refer to. On one process the arrays are used
 * as they are. Otherwise the columns are renumbered so that the numbers of copies of remote rows
 * follow those of the own rows in one array. */
static huddle_status fetch_copies(huddle_context *context, const int64_t *copies, weighing *w) {
    huddle_status status = HUDDLE_OK;
    int64_t n = w->graph->rows, entries = w->graph->offsets[n];
    w->columns = w->graph->columns;
    w->copies = copies;
    if (hd_context_engine(context)->slabs == NULL)
        return status;
    ALLOC(w->local_columns, entries);
    memcpy(w->local_columns, w->graph->columns, (size_t)entries * sizeof *w->local_columns);
    TRY(hd_halo_open(context, n, entries, w->local_columns, &w->halo));
    ALLOC(w->fetched_copies, n + w->halo.ghosts);
    memcpy(w->fetched_copies, copies, (size_t)n * sizeof *copies);
    TRY(hd_halo_fetch(&w->halo, w->fetched_copies, sizeof *copies));
    w->columns = w->local_columns;
    w->copies = w->fetched_copies;
done:
    return status;
}

/* Writes row i of the graph with its loop, from entry `at` on; returns its end. The loop takes the
 * place of a diagonal entry. Columns stay ascending. Row j multiplies the weight of the edge {i, j}
 * by the same factor, so that the graph stays symmetric. */
static int64_t write_row(const weighing *w, int64_t i, huddle_csr *weighed, int64_t at) {
    const huddle_csr *graph = w->graph;
    double loop = loop_weight(w->copies[i], w->n_neighbors);
    int64_t e = graph->offsets[i], end = graph->offsets[i + 1], diagonal = w->first + i;
    while (e < end || loop > 0) {
        bool own = loop > 0 && (e == end || graph->columns[e] >= diagonal);
        if (own) {
            weighed->columns[at] = (int32_t)diagonal;
            weighed->values[at++] = loop;
            loop = 0;
            e += e < end && graph->columns[e] == diagonal;
            continue;
        }
        int64_t both = w->copies[i] + w->copies[w->columns[e]];
        weighed->columns[at] = graph->columns[e];
        weighed->values[at++] = graph->values[e] * (double)both / 2; /* (2) */
        e++;
    }
    return at;
}

huddle_status huddle_graph_weigh_copies(huddle_context *context, const int64_t *copies,
                                        int32_t n_neighbors, huddle_csr *graph) {
    huddle_status status = HUDDLE_OK;
    huddle_csr weighed = {0};
    weighing w = {.graph = graph, .n_neighbors = n_neighbors};
    hd_slab slab;
    int64_t n = graph->rows, loops = 0;
    TRY(huddle_csr_fetch(graph));
    TRY(huddle_csr_check(graph));
    TRY(hd_slab_locate(context, n, &slab));
    if (graph->cols != slab.total)
        FAIL(HUDDLE_INVALID, "a matrix of %lld x %lld is not a graph", (long long)n,
             (long long)graph->cols);
    for (int64_t i = 0; i < n; i++) {
        if (copies[i] < 1)
            FAIL(HUDDLE_INVALID, "point %lld: %lld copies", (long long)i + 1, (long long)copies[i]);
        loops += loop_weight(copies[i], n_neighbors) > 0;
    }
    w.first = slab.first;
    TRY(fetch_copies(context, copies, &w));
    TRY(huddle_csr_new(n, slab.total, graph->offsets[n] + loops, &weighed));
    for (int64_t i = 0; i < n; i++)
        weighed.offsets[i + 1] = write_row(&w, i, &weighed, weighed.offsets[i]);
    huddle_csr_free(graph); /* with the copy that an engine may keep */
    *graph = weighed;
    weighed = (huddle_csr){0};
done:
    hd_halo_close(&w.halo);
    FREE(w.local_columns, w.fetched_copies);
    huddle_csr_free(&weighed);
    return hd_agree(context, status);
}
