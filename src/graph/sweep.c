/* Every query is compared with all points by tiles, in float; what the bound on rounding (panels.h)
 * does not exclude, given the k-th distance so far, is compared in double and enters the list. The
 * lists have begun, so that few pairs are compared twice. */
#include "graph/sweep.h"

#include "base/check.h"
#include "base/parallel.h"
#include "graph/tiles.h"

#include <math.h>

enum { GROUPS_PER_CHUNK = 12 /* of the rows of a tile */ };

typedef struct continuing {
    hd_graph_search *search;
    hd_graph_packing packing; /* with the position error of both sets */
    hd_graph_panels queries;
    hd_graph_tiles tiles;
} continuing;

huddle_status hd_graph_sweep_new(huddle_context *context, const hd_graph_rows *train, bool project,
                                 uint64_t seed, double reach, hd_graph_sweep *sweep) {
    huddle_status status = HUDDLE_OK;
    int64_t width = hd_graph_rows_width(train);
    hd_graph_rows y = *train;
    *sweep = (hd_graph_sweep){.train = train};
    if (project) {
        TRY(hd_graph_projection_new(context, train, hd_graph_projection_count(train->n, width),
                                    seed, &sweep->projection));
        y = hd_graph_rows_of_dense(&sweep->projection.y);
        /* A projection is not longer than the row, which is centred first: with coordinates of at
         * most `reach`, row and centre have norms of at most sqrt(width) reach each. */
        reach *= 2 * sqrt((double)width);
    }
    TRY(hd_graph_packing_new(context, &y, NULL, &sweep->packing));
    /* Queries that come later must fit too: the scale is not that of these points alone. Product
     * form is the faster kernel for projections (pcabound.c). */
    sweep->packing.scale = hd_graph_packing_scale(reach);
    sweep->packing.differences = sweep->packing.differences && !project;
    TRY(hd_graph_panels_new(context, &y, &sweep->packing, &sweep->panels));
    huddle_dense_free(&sweep->projection.y); /* the panels contain all that is needed */
done:
    return status;
}

void hd_graph_sweep_free(hd_graph_sweep *sweep) {
    hd_graph_projection_free(&sweep->projection);
    hd_graph_packing_free(&sweep->packing);
    hd_graph_panels_free(&sweep->panels);
}

/* The largest value of the kernel that matters for query i. */
static void set_tau(continuing *c, int64_t i) {
    double kth2 = hd_graph_search_last(c->search, i);
    c->tiles.tau[i] = hd_graph_packing_tau(&c->packing, c->queries.norm[i], kth2);
}

/* An earlier hit of the tile may have lowered tau since the kernel ran. */
static void compare_in_full(void *argument, int64_t i, int64_t j, float value) {
    continuing *c = argument;
    if (value <= c->tiles.tau[i] && hd_graph_search_admits(c->search, i, j) &&
        hd_graph_search_compare(c->search, i, j))
        set_tau(c, i);
}

/* A chunk has 96 queries. Their lists belong to one thread, and no lock is needed. */
static huddle_status sweep_queries(void *argument, hd_chunk chunk) {
    const continuing *c = argument;
    hd_graph_tiles_sweep(&c->tiles, chunk.begin * HD_GRAPH_TILE_ROWS,
                         chunk.end * HD_GRAPH_TILE_ROWS);
    return HUDDLE_OK;
}

huddle_status hd_graph_sweep_continue(huddle_context *context, const hd_graph_sweep *sweep,
                                      hd_graph_search *search) {
    huddle_status status = HUDDLE_OK;
    continuing c = {.search = search, .packing = sweep->packing};
    hd_graph_rows rows = *search->query;
    huddle_dense y = {0};
    if (sweep->projection.p > 0) {
        double error;
        TRY(hd_graph_projection_apply(context, &sweep->projection, search->query, &y, &error));
        rows = hd_graph_rows_of_dense(&y);
        /* One bound serves both points of a pair, hence the larger error. */
        c.packing.position_error = fmax(error, sweep->projection.position_error) * c.packing.scale;
    }
    TRY(hd_graph_panels_new(context, &rows, &c.packing, &c.queries));
    c.tiles = (hd_graph_tiles){.rows = &c.queries,
                               .columns = &sweep->panels,
                               .kernel = hd_graph_tiles_kernel(&c.packing),
                               .hit = compare_in_full,
                               .argument = &c};
    ALLOC(c.tiles.tau, c.queries.padded);
    /* Rounding can make a value negative, but not -infinity: padding has no hits. */
    for (int64_t i = 0; i < c.queries.padded; i++)
        if (i < c.queries.n)
            set_tau(&c, i);
        else
            c.tiles.tau[i] = -INFINITY;
    TRY(hd_parallel(context, NULL, c.queries.padded / HD_GRAPH_TILE_ROWS, GROUPS_PER_CHUNK,
                    sweep_queries, &c));
done:
    huddle_free(c.tiles.tau);
    hd_graph_panels_free(&c.queries);
    huddle_dense_free(&y);
    return status;
}
