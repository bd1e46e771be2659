/* Shortest edges across processes. Every process finds those between its own rows. The shortest of
 * all processes bounds what is left to find: the rows of the parts that search then travel round
 * the ring (ring.h), and each process looks among its rows for a shorter edge of their parts. */
#include "graph/bridges.h"

#include "base/check.h"
#include "graph/ring.h"
#include "matrix/insert.h"

#include <math.h>
#include <string.h>

enum {
    CELLS_MIN_ROWS = 4000, /* as in distributed.c */
    MAX_WIDTH = 64,        /* likewise */
};

/* One round. */
typedef struct bridge_round {
    hd_graph_bridges *b;
    const int32_t *part, *query;
    hd_graph_edge *best;
    int32_t *target;
} bridge_round;

/* ---- the rows ------------------------------------------------------------------------------ */

/* A single row has no edges among the own rows. Queries of other processes are answered by boxes
 * where these exclude much, otherwise by tiles over all own rows. */
static huddle_status build_indices(hd_graph_bridges *b, double reach) {
    huddle_status status = HUDDLE_OK;
    if (b->n > 1)
        TRY(hd_graph_boruvka_new(b->context, &b->rows, &b->tree));
    b->by_cells = b->n > CELLS_MIN_ROWS && hd_graph_rows_width(&b->rows) <= MAX_WIDTH;
    if (b->by_cells)
        TRY(hd_graph_cells_new(b->context, &b->rows, 0, reach, &b->cells));
    else if (b->n > 0)
        TRY(hd_graph_sweep_new(b->context, &b->rows, false, 0, reach, &b->sweep));
done:
    return status;
}

huddle_status hd_graph_bridges_new(huddle_context *context, const huddle_points *points,
                                   bool cosine, hd_graph_bridges *bridges) {
    huddle_status status = HUDDLE_OK;
    hd_slab slab;
    double reach, zeros;
    *bridges = (hd_graph_bridges){.context = context, .n = points->n};
    TRY(huddle_points_fetch(points));
    TRY(hd_slab_locate(context, points->n, &slab));
    bridges->first = slab.first;
    ALLOC(bridges->ids, points->n);
    for (int64_t i = 0; i < points->n; i++)
        bridges->ids[i] = (int32_t)(slab.first + i);
    TRY(hd_graph_rows_of_metric(context, points, cosine, &bridges->rows));
    /* A row of zeros anywhere gives all rows one more coordinate (dense_rows.h). */
    zeros = bridges->rows.zeros;
    TRY(hd_reduce_max(context, 1, &zeros));
    bridges->rows.zeros = zeros > 0;
    /* Over all processes: rows of others are packed with the same scale as the own ones. */
    TRY(hd_graph_rows_reach(context, &bridges->rows, &bridges->rows, &reach));
    /* For all rounds: the parts change, the rows do not. */
    TRY_ALONE(context, build_indices(bridges, reach));
done:
    return status;
}

void hd_graph_bridges_free(hd_graph_bridges *bridges) {
    huddle_free(bridges->ids);
    hd_graph_boruvka_free(&bridges->tree);
    hd_graph_cells_free(&bridges->cells);
    hd_graph_sweep_free(&bridges->sweep);
    hd_graph_rows_free(&bridges->rows);
    *bridges = (hd_graph_bridges){0};
}

/* ---- the shortest of all processes --------------------------------------------------------- */

/* Keeps values[p] where the edge is among those that are still possible, and takes the smallest. A
 * minimum is one of the numbers, bit for bit, so that a test for equality finds its owners. */
static huddle_status reduce_possible(huddle_context *context, int32_t n, bool *possible,
                                     const double *own, double *values) {
    huddle_status status = HUDDLE_OK;
    for (int32_t p = 0; p < n; p++)
        values[p] = possible[p] ? own[p] : INFINITY;
    TRY(hd_reduce_min(context, n, values));
    for (int32_t p = 0; p < n; p++)
        possible[p] = possible[p] && own[p] == values[p];
done:
    return status;
}

/* By distance, then by the smaller vertex, then by the larger one, as hd_graph_edge_is_shorter().
 * Each reduction is among the processes whose keys so far are the smallest, which makes four minima
 * of numbers the minimum of the edges. Numbers of rows and parts are exact in double, and all that
 * know an edge of a part know the same target. */
static huddle_status reduce_best(huddle_context *context, int32_t n, hd_graph_edge *best,
                                 int32_t *target) {
    enum { KEYS = 4 };
    huddle_status status = HUDDLE_OK;
    double *own = NULL, *least = NULL;
    bool *possible = NULL;
    ALLOC(own, KEYS * n);
    ALLOC(least, KEYS * n);
    ALLOC(possible, n);
    for (int32_t p = 0; p < n; p++) {
        possible[p] = best[p].low >= 0;
        own[p] = best[p].distance;
        own[n + p] = best[p].low;
        own[2 * n + p] = best[p].high;
        own[3 * n + p] = target[p];
    }
    for (int key = 0; key < KEYS; key++)
        TRY(reduce_possible(context, n, possible, own + key * n, least + key * n));
    for (int32_t p = 0; p < n; p++) {
        best[p] = (hd_graph_edge){-1, -1, INFINITY};
        if (!isfinite(least[n + p]))
            continue;
        best[p] = (hd_graph_edge){(int32_t)least[n + p], (int32_t)least[2 * n + p], least[p]};
        target[p] = (int32_t)least[3 * n + p];
    }
done:
    FREE(own, least, possible);
    return status;
}

/* ---- the ring ------------------------------------------------------------------------------ */

/* Parts, numbers and rows of the queries, each from a multiple of eight bytes on. Rows may be
 * doubles. */
static int64_t head_size(int64_t count) {
    return (2 * count * (int64_t)sizeof(int32_t) + 7) / 8 * 8;
}

static int64_t measure_queries(const void *argument, int64_t begin, int64_t end) {
    const bridge_round *r = argument;
    return head_size(end - begin) + hd_graph_rows_measure(&r->b->rows, end - begin);
}

static void pack_queries(const void *argument, int64_t begin, int64_t end, char *bytes) {
    const bridge_round *r = argument;
    int64_t count = end - begin;
    int32_t *head = (int32_t *)bytes;
    for (int64_t i = 0; i < count; i++) {
        head[i] = r->part[r->query[begin + i]];
        head[count + i] = r->b->ids[r->query[begin + i]];
    }
    hd_graph_rows_pack(&r->b->rows, r->query, begin, end, bytes + head_size(count));
}

/* Enters an edge from a vertex of part p to own row j. */
static void offer_edge(bridge_round *r, int32_t p, int32_t vertex, int64_t j, double distance2) {
    int32_t id = r->b->ids[j];
    hd_graph_edge found = {vertex < id ? vertex : id, vertex < id ? id : vertex, distance2};
    if (r->best[p].low >= 0 && !hd_graph_edge_is_shorter(found, r->best[p]))
        return;
    r->best[p] = found;
    r->target[p] = r->part[j];
}

/* Looks for shorter edges to the own rows. A shorter edge that this process knows of the part takes
 * the place of what the query brought. The index INT32_MAX lets in an edge of the same length, and
 * offer_edge() decides between the two. Of rows at equal distance the list keeps the smallest
 * number, which makes the smallest edge of that vertex. */
static huddle_status compare_queries(void *argument, const hd_graph_block *block) {
    huddle_status status = HUDDLE_OK;
    bridge_round *r = argument;
    hd_graph_bridges *b = r->b;
    const int32_t *group = (const int32_t *)block->bytes, *vertex = group + block->n;
    hd_graph_rows rows = {0};
    hd_graph_search s = {.train = &b->rows,
                         .query = &rows,
                         .train_group = r->part,
                         .query_group = group,
                         .k = 1,
                         .index = block->index,
                         .distance2 = block->distance2,
                         .ids = b->ids};
    if (b->n == 0)
        return status;
    for (int64_t i = 0; i < block->n; i++)
        if (r->best[group[i]].distance < block->distance2[i]) {
            block->distance2[i] = r->best[group[i]].distance;
            block->index[i] = INT32_MAX;
        }
    TRY(hd_graph_rows_unpack(b->context, &b->rows, block->n, block->bytes + head_size(block->n),
                             &rows));
    TRY(b->by_cells ? hd_graph_cells_continue(b->context, &b->cells, &s)
                    : hd_graph_sweep_continue(b->context, &b->sweep, &s));
    for (int64_t i = 0; i < block->n; i++) {
        /* Any other number: no own row has improved what the query brought. */
        int64_t j = (int64_t)block->index[i] - b->first;
        if (j >= 0 && j < b->n)
            offer_edge(r, group[i], vertex[i], j, block->distance2[i]);
    }
done:
    hd_graph_rows_free(&rows);
    return status;
}

/* ---- the search ---------------------------------------------------------------------------- */

/* The shortest edges between own rows. The tree numbers these from 0; what leaves this function has
 * the numbers of all rows. */
static huddle_status find_own(bridge_round *r, int32_t n_parts, const bool *searching) {
    huddle_status status = HUDDLE_OK;
    hd_graph_bridges *b = r->b;
    if (b->n > 1)
        TRY(hd_graph_boruvka_find(b->context, &b->tree, r->part, n_parts, searching, r->best));
    for (int32_t p = 0; p < n_parts; p++) {
        hd_graph_edge found = r->best[p];
        if (b->n < 2 || found.low < 0) {
            r->best[p] = (hd_graph_edge){-1, -1, INFINITY};
            continue;
        }
        r->target[p] = r->part[r->part[found.low] == p ? found.high : found.low];
        r->best[p].low = b->ids[found.low];
        r->best[p].high = b->ids[found.high];
    }
done:
    return status;
}

huddle_status hd_graph_bridges_find(hd_graph_bridges *bridges, const int32_t *part, int32_t n_parts,
                                    const bool *searching, const int32_t *query, int64_t count,
                                    hd_graph_edge *best, int32_t *target) {
    huddle_status status = HUDDLE_OK;
    huddle_context *context = bridges->context;
    bridge_round r = {bridges, part, query, best, target};
    hd_graph_ring ring = {.n = count,
                          .k = 1,
                          .measure = measure_queries,
                          .pack = pack_queries,
                          .compare = compare_queries,
                          .argument = &r};
    TRY_ALONE(context, find_own(&r, n_parts, searching));
    TRY(reduce_best(context, n_parts, best, target));
    /* The list of a query, of one entry, begins with the shortest edge of its part: what is longer
     * does not matter. What is found is kept where it is found. */
    ALLOC(ring.index, count);
    ALLOC(ring.distance2, count);
    for (int64_t i = 0; i < count; i++) {
        ring.distance2[i] = best[part[query[i]]].distance;
        ring.index[i] = INT32_MAX;
    }
    TRY(hd_graph_ring_run(context, &ring));
    /* What the ring found for a part may be on any process. */
    TRY(reduce_best(context, n_parts, best, target));
done:
    FREE(ring.index, ring.distance2);
    return status;
}

/* ---- the graph with its bridges ------------------------------------------------------------ */

/* Bridges to be added to a graph. */
typedef struct addition {
    huddle_context *context;
    int64_t n, first; /* own rows, and the number of the first */
    const hd_graph_edge *bridges;
    int32_t n_bridges;
} addition;

/* The weights of the bridges, as huddle_graph_weigh() computes those of the lists: equation (1),
 * which is symmetric in the two vertices. The scales of both ends may be on other processes. A
 * scale is on one process and 0 on the others, so that the sum is exact. */
static huddle_status weigh_bridges(const addition *j, const huddle_scale *scale, double *weights) {
    huddle_status status = HUDDLE_OK;
    huddle_scale low = *scale;
    double *local = NULL;
    int32_t n = j->n_bridges;
    ALLOC_ZERO(local, 2 * (int64_t)n);
    for (int32_t b = 0; b < n && scale->local != NULL; b++) {
        int64_t ends[] = {j->bridges[b].low - j->first, j->bridges[b].high - j->first};
        for (int end = 0; end < 2; end++)
            if (ends[end] >= 0 && ends[end] < j->n)
                local[end * n + b] = scale->local[ends[end]];
    }
    TRY(hd_reduce_sum(j->context, 2 * (int64_t)n, local));
    low.local = scale->local != NULL ? local : NULL;
    for (int32_t b = 0; b < n; b++)
        weights[b] = huddle_graph_weight(&low, b, local[n + b], j->bridges[b].distance);
done:
    huddle_free(local);
    return status;
}

/* The own ends of bridge b: 0 to 2 of them, and the vertices at the other ends. */
static int own_ends(const addition *j, hd_graph_edge b, int64_t rows[2], int32_t others[2]) {
    int count = 0;
    for (int end = 0; end < 2; end++) {
        int64_t row = (end == 0 ? b.low : b.high) - j->first;
        if (row < 0 || row >= j->n)
            continue;
        rows[count] = row;
        others[count++] = end == 0 ? b.high : b.low;
    }
    return count;
}

/* Offsets count the bridges of each vertex first; the second loop turns the counts into offsets
 * while it copies the rows. An edge is entered in the rows of both ends, which keeps the graph
 * symmetric. There is room for two entries a bridge, although ends may be on other processes. */
huddle_status hd_graph_bridges_add(huddle_context *context, const hd_graph_edge *bridges,
                                   int32_t count, const huddle_scale *scale, huddle_csr *graph) {
    huddle_status status = HUDDLE_OK;
    huddle_csr larger = {0};
    int64_t *ends = NULL, rows[2], n = graph->rows;
    int32_t others[2];
    double *weights = NULL;
    hd_slab slab;
    TRY(huddle_csr_fetch(graph));
    TRY(huddle_csr_check(graph));
    TRY(hd_slab_locate(context, n, &slab));
    addition j = {context, n, slab.first, bridges, count};
    ALLOC(weights, count);
    TRY(weigh_bridges(&j, scale, weights));
    TRY(huddle_csr_new(n, graph->cols, graph->offsets[n] + 2 * (int64_t)count, &larger));
    ALLOC(ends, n);
    for (int32_t b = 0; b < count; b++)
        for (int e = own_ends(&j, bridges[b], rows, others) - 1; e >= 0; e--)
            larger.offsets[rows[e] + 1]++;
    for (int64_t v = 0; v < n; v++) {
        int64_t from = graph->offsets[v], size = graph->offsets[v + 1] - from;
        int64_t to = larger.offsets[v];
        memcpy(larger.columns + to, graph->columns + from, (size_t)size * sizeof *larger.columns);
        memcpy(larger.values + to, graph->values + from, (size_t)size * sizeof *larger.values);
        ends[v] = to + size;
        larger.offsets[v + 1] += to + size; /* the bridges of v are counted there */
    }
    for (int32_t b = 0; b < count; b++)
        for (int e = own_ends(&j, bridges[b], rows, others) - 1; e >= 0; e--)
            hd_csr_insert(&larger, rows[e], &ends[rows[e]], others[e], weights[b]);
    huddle_csr_free(graph); /* with the copy that an engine may keep */
    *graph = larger;
    larger = (huddle_csr){0};
done:
    FREE(weights, ends);
    huddle_csr_free(&larger);
    return status;
}
