/* Search among dense rows on several processes: the index stays, the queries travel.
 *
 * Rows of few columns, and rows of embeddings, are first moved to the process of their region
 * (regions.h), where most of their neighbours are. Every process searches among its own rows with
 * the solver that suits them, and keeps its index. The queries then travel round the ring (ring.h)
 * with their lists, and every process continues the lists with its rows; boxes, or bounds of
 * projections, exclude nearly all of them. Lists are ordered by distance and number over all rows
 * and contain the distances of all solvers, so that they are those of one process.
 *
 * If that costs too much, the search is approximate, as on one process: every process searches
 * among its own rows approximately and keeps trees and lists, in which the queries that come look
 * for neighbours (approximate_queries.c). The recall is estimated over all rows. */
#include "base/check.h"
#include "base/parallel.h"
#include "base/slabs.h"
#include "graph/approximate.h"
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
        3000,             /* as are more of them if "pcabound" gave up; between, it was not tried */
    BOUND_MIN_WIDTH = 33, /* columns from which bounds of projections may pay */
    APPROXIMATE_MIN_ROWS = 1200, /* of a process: fewer are searched exactly in any case */
    NEAR_PER_CHUNK = 1024,
};

/* Distances from regions are compared with so much less of themselves, because they are rounded. */
static const double region_slack = 1e-6;

typedef struct distributed_search {
    huddle_context *context;
    hd_graph_search *asked; /* what the caller wants */
    const char *name;
    const char *used;
    hd_graph_regions regions;
    hd_graph_moved moved_train, moved_query;
    int64_t total; /* training rows of all processes */
    int32_t *own_ids;
    hd_graph_search own; /* of the rows that this process answers for; its lists are the caller's,
                            or those that are moved back */
    bool by_cells;
    hd_graph_cells cells;
    hd_graph_sweep sweep;
    hd_graph_leaves query_leaves; /* of queries that are other points than the training rows */
    bool approximate;
    hd_graph_approximation approximation; /* of the own rows, if there are enough of them */
    hd_graph_sample sample;
} distributed_search;

/* ---- rows ---------------------------------------------------------------------------------- */

/* Whether boxes exclude most pairs of such rows. */
static bool is_boxed(const distributed_search *p) {
    const hd_graph_rows *train = p->asked->train;
    bool by_name = strcmp(p->name, "brute") == 0 || strcmp(p->name, "pcabound") == 0;
    return !by_name && (train->doubles != NULL || hd_graph_rows_width(train) <= MAX_WIDTH);
}

/* Whether the search may be approximate, by what one process would decide without a trial: it was
 * asked for, or comparing all pairs costs too much. The measure is brute force, n^2 / 2 pairs of
 * all columns. As on one process, lists of more than a quarter of the points leave nothing to
 * approximate. */
static huddle_status allow_approximate(distributed_search *p) {
    huddle_status status = HUDDLE_OK;
    const hd_graph_search *s = p->asked;
    double doubles = s->train->n > 0 && s->train->doubles != NULL;
    double n = (double)p->total, pairs = n * n / 2;
    bool automatic = strcmp(p->name, "auto") == 0, named = strcmp(p->name, "approximate") == 0;
    TRY(hd_reduce_max(p->context, 1, &doubles));
    p->approximate = s->self && s->recall_target < 1 && doubles == 0 && s->k <= p->total / 4;
    automatic = automatic && hd_graph_approximation_pays(p->total, 0) &&
                hd_graph_search_exceeds(s, pairs * (double)hd_graph_rows_width(s->train));
    p->approximate = p->approximate && (named || automatic);
done:
    return status;
}

/* Moves the rows to their regions if that pays. `first` is the number of the first own row. */
static huddle_status settle_rows(distributed_search *p, int64_t first) {
    huddle_status status = HUDDLE_OK;
    hd_graph_search *s = p->asked, *own = &p->own;
    own->train = s->train;
    own->query = s->query;
    own->index = s->index;
    own->distance2 = s->distance2;
    if (p->total >= MOVE_MIN_ROWS && (is_boxed(p) || p->approximate) &&
        hd_slabs_count(p->context) > 1) {
        TRY(hd_graph_regions_new(p->context, s->train, &p->regions));
        TRY(hd_graph_move_rows(&p->regions, s->train, &p->moved_train));
        if (p->moved_train.balanced && !s->self)
            TRY(hd_graph_move_rows(&p->regions, s->query, &p->moved_query));
    }
    if (p->moved_train.balanced) {
        own->train = &p->moved_train.rows;
        own->ids = p->moved_train.number;
    } else {
        ALLOC(p->own_ids, s->train->n);
        for (int64_t i = 0; i < s->train->n; i++)
            p->own_ids[i] = (int32_t)(first + i);
        own->ids = p->own_ids;
    }
    if (s->self)
        own->query = own->train;
    else if (p->moved_query.balanced)
        own->query = &p->moved_query.rows;
    if (own->query != s->query) {
        own->index = NULL;
        own->distance2 = NULL;
        ALLOC(own->index, own->query->n * s->k);
        ALLOC(own->distance2, own->query->n * s->k);
    }
done:
    return status;
}

/* ---- the own rows -------------------------------------------------------------------------- */

/* Which queries may have a neighbour in the region of this process that is nearer than their last
 * one so far. */
typedef struct nearness {
    const distributed_search *p;
    const hd_graph_search *search;
    bool *near;
    double *rows; /* workers x width */
} nearness;

/* The slack covers the rounding of the bound and of the coordinates, of which it is a difference.
 * The condition is negated, so that what is not a number keeps the query. */
static huddle_status mark_near(void *argument, hd_chunk chunk) {
    const nearness *m = argument;
    const hd_graph_regions *regions = &m->p->regions;
    double *row = m->rows + chunk.worker * regions->width;
    for (int64_t i = chunk.begin; i < chunk.end; i++) {
        double kth = sqrt(hd_graph_search_last(m->search, i));
        hd_graph_rows_read(m->search->query, i, row);
        double beyond = hd_graph_regions_distance(regions, row);
        m->near[i] = !(beyond - region_slack * (beyond + m->p->own.reach) > kth);
    }
    return HUDDLE_OK;
}

static huddle_status continue_near(distributed_search *p, hd_graph_search *search) {
    huddle_status status = HUDDLE_OK;
    nearness m = {.p = p, .search = search};
    if (p->moved_train.balanced) {
        ALLOC(m.near, search->query->n);
        ALLOC(m.rows, hd_workers(p->context) * p->regions.width);
        TRY(hd_parallel(p->context, NULL, search->query->n, NEAR_PER_CHUNK, mark_near, &m));
    }
    TRY(hd_graph_approximation_continue(p->context, &p->approximation, m.near, search));
done:
    FREE(m.near, m.rows);
    return status;
}

/* Continues lists with the rows of this process. */
static huddle_status continue_lists(distributed_search *p, hd_graph_search *search) {
    if (p->approximation.points.n > 0)
        return continue_near(p, search);
    return p->by_cells ? hd_graph_cells_continue(p->context, &p->cells, search)
                       : hd_graph_sweep_continue(p->context, &p->sweep, search);
}

/* Whether projections are compared instead of points. */
static bool is_projected(const distributed_search *p) {
    const hd_graph_rows *train = p->own.train;
    if (strcmp(p->name, "brute") == 0)
        return false;
    return strcmp(p->used, "pcabound") == 0 ||
           (hd_graph_rows_width(train) > MAX_WIDTH && train->n >= PROJECT_MIN_ROWS &&
            train->n < BOUND_MIN_ROWS);
}

/* The lists of the own queries, and the index for those that come. Queries that are other points
 * than the training rows begin with empty lists where an index exists that continues them well; so
 * do those of a process with so few rows that not all lists can be filled. */
static huddle_status begin_lists(distributed_search *p) {
    huddle_status status = HUDDLE_OK;
    hd_graph_search *own = &p->own;
    const hd_graph_rows *train = own->train, *query = own->query;
    bool few = train->n - own->self < own->k, begun = p->used != NULL;
    if (!begun) {
        hd_graph_search_clear(own, 0, query->n);
        p->used = "brute";
    }
    if (train->n == 0)
        return status;
    p->by_cells = is_boxed(p) && train->n > CELLS_MIN_ROWS && !few;
    bool searched = !few && (own->self || !p->by_cells);
    if (searched && query->n > 0) {
        if (!begun)
            TRY(hd_graph_search_run(p->context, p->name, own, &p->used));
        /* A solver that compares all pairs found the boxes useless. */
        p->by_cells =
            p->by_cells && (strcmp(p->used, "cells") == 0 || strcmp(p->used, "kdtree") == 0);
    }
    if (p->by_cells && p->cells.train == NULL)
        TRY(hd_graph_cells_new(p->context, train, own->seed, own->reach, &p->cells));
    if (!p->by_cells)
        TRY(hd_graph_sweep_new(p->context, train, is_projected(p), own->seed, own->reach,
                               &p->sweep));
    if (p->by_cells && !own->self && query->n > 0)
        TRY(hd_graph_leaves_new(p->context, query, &p->query_leaves));
    if (p->by_cells)
        own->order = own->self ? p->cells.leaves.order : p->query_leaves.order;
    if (!searched && query->n > 0)
        TRY(continue_lists(p, own));
    if (!searched && p->by_cells)
        p->used = "cells";
done:
    return status;
}

static void free_index(distributed_search *p) {
    hd_graph_cells_free(&p->cells);
    hd_graph_sweep_free(&p->sweep);
    hd_graph_leaves_free(&p->query_leaves);
    hd_graph_approximation_free(&p->approximation);
    p->own.order = NULL; /* it was that of one of them */
}

/* ---- the ring ------------------------------------------------------------------------------ */

/* Queries travel in the order of the leaves, in which consecutive ones are near each other. Cells
 * search consecutive ones together, as a leaf whose box is small then. */
static int64_t measure_queries(const void *argument, int64_t begin, int64_t end) {
    return hd_graph_rows_measure(((const distributed_search *)argument)->own.query, end - begin);
}

static void pack_queries(const void *argument, int64_t begin, int64_t end, char *bytes) {
    const distributed_search *p = argument;
    hd_graph_rows_pack(p->own.query, p->own.order, begin, end, bytes);
}

static huddle_status compare_queries(void *argument, const hd_graph_block *block) {
    huddle_status status = HUDDLE_OK;
    distributed_search *p = argument;
    hd_graph_rows rows = {0};
    hd_graph_search s = {.train = p->own.train,
                         .query = &rows,
                         .k = p->own.k,
                         .index = block->index,
                         .distance2 = block->distance2,
                         .ids = p->own.ids};
    if (p->own.train->n == 0)
        return status;
    TRY(hd_graph_rows_unpack(p->context, p->own.query, block->n, block->bytes, &rows));
    TRY(continue_lists(p, &s));
    atomic_fetch_add(&p->own.n_distances, atomic_load(&s.n_distances));
done:
    hd_graph_rows_free(&rows);
    return status;
}

/* ---- exact or approximate ------------------------------------------------------------------ */

/* Tries bounds of projections on the own rows, if comparing all projections is within the limit.
 * What follows from the own rows, which may use their share of it, is roughly proportional to their
 * number. The lists are kept if it succeeds. A pair costs one multiply-add for each direction and
 * one for the norm of the rest. */
static huddle_status try_bound(distributed_search *p, bool *gave_up) {
    huddle_status status = HUDDLE_OK;
    hd_graph_search *own = &p->own;
    int64_t width = hd_graph_rows_width(p->own.train);
    double total = (double)p->total, each = (double)hd_graph_projection_count(p->total, width) + 1;
    *gave_up = hd_graph_search_exceeds(p->asked, total * total / 2 * each);
    if (*gave_up || p->own.train->n < BOUND_MIN_ROWS)
        return status;
    own->cost_limit = p->asked->cost_limit * (double)p->own.train->n / total;
    TRY(hd_graph_search_pcabound(p->context, own, gave_up));
    if (!*gave_up)
        p->used = "pcabound";
done:
    return status;
}

/* "auto" searches approximately if no exact solver is expected to keep to the limit: boxes, by the
 * cost among the own rows of all processes, then bounds of projections. Where there are no boxes,
 * the costs of all processes add up to that of brute force. */
static huddle_status decide(distributed_search *p) {
    huddle_status status = HUDDLE_OK;
    hd_graph_search *own = &p->own;
    int64_t width = hd_graph_rows_width(p->own.train);
    double gave_up, cost = (double)p->own.train->n * (double)p->total / 2 * (double)width;
    bool refused = false;
    if (!p->approximate || strcmp(p->name, "auto") != 0)
        return status;
    if (is_boxed(p) && p->own.train->n > CELLS_MIN_ROWS)
        TRY_ALONE(p->context, hd_graph_cells_predict(p->context, own, &cost));
    TRY(hd_reduce_sum(p->context, 1, &cost));
    p->approximate = hd_graph_search_exceeds(p->asked, cost);
    if (!p->approximate || width < BOUND_MIN_WIDTH)
        goto done;
    TRY_ALONE(p->context, try_bound(p, &refused));
    /* One process that gives up decides for all: the search is exact or approximate as a whole. */
    gave_up = refused;
    TRY(hd_reduce_max(p->context, 1, &gave_up));
    p->approximate = gave_up > 0;
    p->used = p->approximate ? NULL : p->used;
done:
    own->cost_limit = 0; /* none */
    return status;
}

/* The own lists of an attempt, and what queries that come are compared with. */
static huddle_status attempt_own(distributed_search *p, int attempt) {
    huddle_status status = HUDDLE_OK;
    hd_graph_search *own = &p->own;
    if (p->own.train->n < APPROXIMATE_MIN_ROWS || own->k > p->own.train->n / 4) {
        free_index(p);
        p->used = NULL;
        TRY(begin_lists(p));
        goto done;
    }
    if (attempt == 0) {
        p->approximation.search = own;
        p->approximation.keep = true;
        TRY(hd_graph_approximation_begin(p->context, &p->approximation));
        own->order = p->approximation.points.order;
    }
    TRY(hd_graph_approximation_attempt(p->context, &p->approximation, attempt));
    TRY(hd_graph_approximation_verify(p->context, &p->approximation)); /* by ids */
done:
    return status;
}

/* Attempts until the target is met; "auto" gives up if comparing all pairs is no more expensive.
 * The recall is that of complete lists, after the ring: neighbours may be on any process. */
static huddle_status search_approximately(distributed_search *p, hd_graph_ring *ring) {
    huddle_status status = HUDDLE_OK;
    hd_graph_search *asked = p->asked;
    double rounds = 0;
    TRY(hd_graph_sample_distributed(p->context, &p->own, &p->sample));
    for (int attempt = 0; attempt < HD_GRAPH_ATTEMPTS; attempt++) {
        p->approximate =
            strcmp(p->name, "auto") != 0 || hd_graph_approximation_pays(p->total, attempt);
        if (!p->approximate)
            goto done;
        TRY_ALONE(p->context, attempt_own(p, attempt));
        ring->order = p->own.order;
        TRY(hd_graph_ring_run(p->context, ring));
        TRY(hd_graph_sample_measure(p->context, &p->sample, &p->own, &asked->recall));
        /* Each process converges by itself; the largest number is reported. */
        rounds = (double)p->own.n_rounds;
        TRY(hd_reduce_max(p->context, 1, &rounds));
        asked->n_rounds = (int32_t)rounds;
        hd_log(p->context, "graph: attempt %d, %d rounds, recall %.4f", attempt + 1,
               asked->n_rounds, asked->recall.share);
        if (asked->recall.share >= asked->recall_target)
            goto done;
    }
    hd_graph_approximation_warn(p->context, asked);
done:
    p->used = p->approximate ? "approximate" : NULL;
    return status;
}

static huddle_status search_exactly(distributed_search *p, hd_graph_ring *ring) {
    huddle_status status = HUDDLE_OK;
    p->asked->recall = (hd_graph_recall){1, 1, 1};
    p->asked->n_rounds = 0;
    free_index(p);
    TRY_ALONE(p->context, begin_lists(p));
    ring->order = p->own.order;
    TRY(hd_graph_ring_run(p->context, ring));
done:
    return status;
}

/* ---- the search ---------------------------------------------------------------------------- */

static void free_search(distributed_search *p) {
    if (p->own.index != p->asked->index) /* both arrays or neither (settle_rows()) */
        FREE(p->own.index, p->own.distance2);
    huddle_free(p->own_ids);
    hd_graph_regions_free(&p->regions);
    hd_graph_moved_free(&p->moved_train);
    hd_graph_moved_free(&p->moved_query);
    hd_graph_sample_free(&p->sample);
    free_index(p);
}

huddle_status hd_graph_search_distributed(huddle_context *context, const char *name,
                                          hd_graph_search *search, const char **used) {
    huddle_status status = HUDDLE_OK;
    distributed_search p = {.context = context, .asked = search, .name = name};
    hd_graph_ring ring = {.measure = measure_queries,
                          .pack = pack_queries,
                          .compare = compare_queries,
                          .argument = &p};
    hd_slab slab;
    TRY(hd_graph_rows_reach(context, search->train, search->query, &p.own.reach));
    TRY(hd_slab_locate(context, search->train->n, &slab));
    p.total = slab.total;
    TRY(allow_approximate(&p));
    TRY(settle_rows(&p, slab.first));
    p.own.self = search->self;
    p.own.k = ring.k = search->k;
    p.own.seed = search->seed;
    /* Solvers that are run among the own rows are exact; attempts are made step by step. */
    p.own.recall_target = 1;
    p.own.cells = &p.cells;
    ring.n = p.own.query->n;
    ring.unit = HD_GRAPH_LEAF; /* blocks of whole leaves */
    ring.index = p.own.index;
    ring.distance2 = p.own.distance2;
    TRY(decide(&p));
    if (p.approximate)
        TRY(search_approximately(&p, &ring));
    if (!p.approximate)
        TRY(search_exactly(&p, &ring));
    if (p.own.query != search->query)
        TRY(hd_graph_move_back(search->self ? &p.moved_train : &p.moved_query, search->k,
                               p.own.index, p.own.distance2, search->index, search->distance2));
    atomic_fetch_add(&search->n_distances, atomic_load(&p.own.n_distances));
    *used = p.used;
done:
    free_search(&p);
    return status;
}
