/* Exact search among dense rows on several processes: the index stays, the queries travel.
 *
 * Rows of few columns, and rows of embeddings, are first moved to the process of their region
 * (regions.h), where most of their neighbours are. Every process searches among its own rows with
 * the solver that suits them, and keeps its index. The queries then travel round the ring (ring.h)
 * with their lists, and every process continues the lists with its rows; boxes, or bounds of
 * projections, exclude nearly all of them. Lists are ordered by distance and number over all rows
 * and contain the distances of all solvers, so that they are those of one process. */
#include "graph/spread.h"

#include "base/check.h"
#include "base/slabs.h"
#include "graph/cells.h"
#include "graph/regions.h"
#include "graph/ring.h"
#include "graph/sweep.h"

#include <math.h>
#include <string.h>

enum {
    MOVE_MIN_ROWS = 20000,  /* of all processes, below which moving does not pay */
    CELLS_MIN_ROWS = 4000,  /* of a process */
    MAX_WIDTH = 64,         /* of points: beyond, boxes exclude too little */
    PROJECT_MIN_ROWS = 200, /* of a process: fewer are compared in all columns, */
    BOUND_MIN_ROWS =
        3000, /* as are more of them if "pcabound" gave up; between, it was not tried */
};

typedef struct spread {
    huddle_context *context;
    hd_graph_search *asked; /* what the caller wants */
    const char *name;
    const char *used;
    hd_graph_regions regions;
    hd_graph_moved moved_train, moved_query;
    const hd_graph_rows *train, *query; /* the rows that this process answers for */
    int32_t *owned_names;
    int32_t *index;    /* lists of these queries: the caller's, or those that are moved back */
    double *distance2; /* likewise */
    hd_graph_search own;
    bool by_cells;
    hd_graph_cells cells;
    hd_graph_sweep sweep;
    hd_graph_leaves query_leaves; /* of queries that are other points than the training rows */
} spread;

/* ---- rows ---------------------------------------------------------------------------------- */

/* The largest absolute coordinate. */
static huddle_status measure_reach(spread *p, double *reach) {
    huddle_status status = HUDDLE_OK;
    const hd_graph_rows *both[] = {p->asked->train, p->asked->query};
    int64_t width = hd_graph_rows_width(p->asked->train);
    double *row = NULL;
    *reach = 0;
    ALLOC(row, width);
    for (int b = 0; b < (p->asked->self ? 1 : 2); b++)
        for (int64_t i = 0; i < both[b]->n; i++) {
            hd_graph_rows_read(both[b], i, row);
            for (int64_t j = 0; j < width; j++)
                *reach = fmax(*reach, fabs(row[j]));
        }
    TRY(hd_reduce_max(p->context, 1, reach));
    if (*reach == 0)
        *reach = 1; /* all rows are zeros */
done:
    huddle_free(row);
    return status;
}

/* Whether boxes exclude most pairs of such rows. */
static bool is_boxed(const spread *p) {
    const hd_graph_rows *train = p->asked->train;
    bool by_name = strcmp(p->name, "brute") == 0 || strcmp(p->name, "pcabound") == 0;
    return !by_name && (train->doubles != NULL || hd_graph_rows_width(train) <= MAX_WIDTH);
}

/* Moves the rows to their regions if that pays. */
static huddle_status settle_rows(spread *p) {
    huddle_status status = HUDDLE_OK;
    hd_graph_search *s = p->asked;
    hd_slab slab;
    p->train = s->train;
    p->query = s->query;
    p->index = s->index;
    p->distance2 = s->distance2;
    TRY(hd_slab_locate(p->context, s->train->n, &slab));
    if (slab.total >= MOVE_MIN_ROWS && is_boxed(p) && hd_slabs_count(p->context) > 1) {
        TRY(hd_graph_regions_new(p->context, s->train, &p->regions));
        TRY(hd_graph_move_rows(&p->regions, s->train, &p->moved_train));
        if (p->moved_train.balanced && !s->self)
            TRY(hd_graph_move_rows(&p->regions, s->query, &p->moved_query));
    }
    if (p->moved_train.balanced) {
        p->train = p->query = &p->moved_train.rows;
        p->own.names = p->moved_train.number;
    } else {
        ALLOC(p->owned_names, s->train->n);
        for (int64_t i = 0; i < s->train->n; i++)
            p->owned_names[i] = (int32_t)(slab.first + i);
        p->own.names = p->owned_names;
    }
    if (p->moved_query.balanced)
        p->query = &p->moved_query.rows;
    else if (!s->self)
        p->query = s->query;
    if (p->query != s->query) {
        p->index = NULL;
        p->distance2 = NULL;
        ALLOC(p->index, p->query->n * s->k);
        ALLOC(p->distance2, p->query->n * s->k);
    }
done:
    return status;
}

/* ---- the own rows -------------------------------------------------------------------------- */

/* Lists of the own rows by the solver that suits them; its numbers become names. */
static huddle_status search_own(spread *p) {
    huddle_status status = HUDDLE_OK;
    hd_graph_search *own = &p->own;
    const int32_t *names = own->names;
    own->names = NULL;
    own->cells = &p->cells;
    TRY(hd_graph_search_run(p->context, p->name, own, &p->used));
    for (int64_t e = 0; e < own->query->n * own->k; e++)
        if (own->index[e] != INT32_MAX)
            own->index[e] = names[own->index[e]];
done:
    own->names = names;
    own->cells = NULL;
    return status;
}

/* Continues lists with the rows of this process. */
static huddle_status continue_lists(spread *p, hd_graph_search *search) {
    return p->by_cells ? hd_graph_cells_continue(p->context, &p->cells, search)
                       : hd_graph_sweep_continue(p->context, &p->sweep, search);
}

/* Whether projections are compared instead of points. */
static bool is_projected(const spread *p) {
    const hd_graph_rows *train = p->train;
    if (strcmp(p->name, "brute") == 0)
        return false;
    return strcmp(p->used, "pcabound") == 0 ||
           (hd_graph_rows_width(train) > MAX_WIDTH && train->n >= PROJECT_MIN_ROWS &&
            train->n < BOUND_MIN_ROWS);
}

/* The lists of the own queries, and the index for those that come. Queries that are other points
 * than the training rows begin with empty lists where an index exists that continues them well; so
 * do those of a process with so few rows that not all lists can be filled. */
static huddle_status begin_lists(spread *p) {
    huddle_status status = HUDDLE_OK;
    hd_graph_search *own = &p->own;
    bool few = p->train->n - own->self<own->k, many = p->train->n> CELLS_MIN_ROWS;
    hd_graph_search_clear(own, 0, p->query->n);
    p->used = "brute";
    if (p->train->n == 0)
        return status;
    p->by_cells = is_boxed(p) && many && !few;
    bool searched = !few && (own->self || !p->by_cells);
    if (searched && p->query->n > 0) {
        TRY(search_own(p));
        /* A solver that compares all pairs found the boxes useless. */
        p->by_cells =
            p->by_cells && (strcmp(p->used, "cells") == 0 || strcmp(p->used, "kdtree") == 0);
    }
    if (p->by_cells && p->cells.train == NULL)
        TRY(hd_graph_cells_new(p->context, p->train, own->seed, own->reach, &p->cells));
    if (!p->by_cells)
        TRY(hd_graph_sweep_new(p->context, p->train, is_projected(p), own->seed, own->reach,
                               &p->sweep));
    if (p->by_cells && !own->self && p->query->n > 0)
        TRY(hd_graph_leaves_new(p->context, p->query, &p->query_leaves));
    if (p->by_cells)
        own->order = own->self ? p->cells.leaves.order : p->query_leaves.order;
    if (!searched && p->query->n > 0)
        TRY(continue_lists(p, own));
    if (!searched && p->by_cells)
        p->used = "cells";
done:
    return status;
}

/* ---- the ring ------------------------------------------------------------------------------ */

/* Queries travel in the order of the leaves, in which consecutive ones are near each other. */
static int64_t measure_queries(const void *argument, int64_t begin, int64_t end) {
    return hd_graph_rows_measure(((const spread *)argument)->query, end - begin);
}

static void pack_queries(const void *argument, int64_t begin, int64_t end, char *bytes) {
    const spread *p = argument;
    hd_graph_rows_pack(p->query, p->own.order, begin, end, bytes);
}

static void lend_lists(const void *argument, int64_t begin, int64_t end, hd_graph_block *block) {
    const spread *p = argument;
    const int32_t *order = p->own.order;
    int64_t k = p->own.k;
    for (int64_t i = begin; i < end; i++) {
        int64_t from = (order != NULL ? order[i] : i) * k, to = (i - begin) * k;
        memcpy(block->index + to, p->index + from, (size_t)k * sizeof *block->index);
        memcpy(block->distance2 + to, p->distance2 + from, (size_t)k * sizeof *block->distance2);
    }
}

static void take_lists(void *argument, int64_t begin, int64_t end, const hd_graph_block *block) {
    const spread *p = argument;
    const int32_t *order = p->own.order;
    int64_t k = p->own.k;
    for (int64_t i = begin; i < end; i++) {
        int64_t to = (order != NULL ? order[i] : i) * k, from = (i - begin) * k;
        memcpy(p->index + to, block->index + from, (size_t)k * sizeof *block->index);
        memcpy(p->distance2 + to, block->distance2 + from, (size_t)k * sizeof *block->distance2);
    }
}

static huddle_status compare_queries(void *argument, const hd_graph_block *block) {
    huddle_status status = HUDDLE_OK;
    spread *p = argument;
    hd_graph_rows rows = {0};
    hd_graph_search s = {.train = p->train,
                         .query = &rows,
                         .k = p->own.k,
                         .index = block->index,
                         .distance2 = block->distance2,
                         .names = p->own.names};
    if (p->train->n == 0)
        return status;
    TRY(hd_graph_rows_unpack(p->context, p->query, block->n, block->bytes, &rows));
    TRY(continue_lists(p, &s));
    atomic_fetch_add(&p->own.n_distances, atomic_load(&s.n_distances));
done:
    hd_graph_rows_free(&rows);
    return status;
}

/* ---- the search ---------------------------------------------------------------------------- */

static void free_search(spread *p) {
    if (p->index != p->asked->index)
        huddle_free(p->index);
    if (p->distance2 != p->asked->distance2)
        huddle_free(p->distance2);
    huddle_free(p->owned_names);
    hd_graph_regions_free(&p->regions);
    hd_graph_moved_free(&p->moved_train);
    hd_graph_moved_free(&p->moved_query);
    hd_graph_cells_free(&p->cells);
    hd_graph_sweep_free(&p->sweep);
    hd_graph_leaves_free(&p->query_leaves);
}

huddle_status hd_graph_search_spread(huddle_context *context, const char *name,
                                     hd_graph_search *search, const char **used) {
    huddle_status status = HUDDLE_OK;
    spread p = {.context = context, .asked = search, .name = name};
    hd_graph_ring ring = {.measure = measure_queries,
                          .pack = pack_queries,
                          .lend = lend_lists,
                          .take = take_lists,
                          .compare = compare_queries,
                          .argument = &p};
    TRY(measure_reach(&p, &p.own.reach));
    TRY(settle_rows(&p));
    p.own.train = p.train;
    p.own.query = p.query;
    p.own.self = search->self;
    p.own.k = ring.k = search->k;
    p.own.seed = search->seed;
    p.own.recall_target = 1;
    p.own.index = p.index;
    p.own.distance2 = p.distance2;
    hd_alone before = hd_alone_begin(context);
    status = begin_lists(&p);
    hd_alone_end(context, before);
    TRY(status);
    ring.n = p.query->n;
    ring.unit = HD_GRAPH_LEAF;
    TRY(hd_graph_ring_run(context, &ring));
    if (p.query != search->query)
        TRY(hd_graph_move_back(search->self ? &p.moved_train : &p.moved_query, search->k, p.index,
                               p.distance2, search->index, search->distance2));
    atomic_fetch_add(&search->n_distances, atomic_load(&p.own.n_distances));
    *used = p.used;
done:
    free_search(&p);
    return status;
}
