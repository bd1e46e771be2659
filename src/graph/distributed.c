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
#include "graph/distributed.h"

#include "base/check.h"
#include "base/parallel.h"
#include "base/slabs.h"
#include "graph/approximate.h"
#include "graph/cells.h"
#include "graph/distributed_recall.h"
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
    const hd_graph_rows *train, *query; /* the rows that this process answers for */
    int32_t *own_ids;
    int32_t *index;    /* lists of these queries: the caller's, or those that are moved back */
    double *distance2; /* likewise */
    hd_graph_search own;
    bool by_cells;
    hd_graph_cells cells;
    hd_graph_sweep sweep;
    hd_graph_leaves query_leaves; /* of queries that are other points than the training rows */
    bool approximate;
    hd_graph_approximation approximation; /* of the own rows, if there are enough of them */
    hd_graph_recall_sample sample;
} distributed_search;

/* ---- rows ---------------------------------------------------------------------------------- */

/* Whether boxes exclude most pairs of such rows. */
static bool is_boxed(const distributed_search *p) {
    const hd_graph_rows *train = p->asked->train;
    bool by_name = strcmp(p->name, "brute") == 0 || strcmp(p->name, "pcabound") == 0;
    return !by_name && (train->doubles != NULL || hd_graph_rows_width(train) <= MAX_WIDTH);
}

/* Whether the search may be approximate, by what one process would decide without a trial: it was
 * asked for, or comparing all pairs costs too much. */
static huddle_status allow_approximate(distributed_search *p) {
    huddle_status status = HUDDLE_OK;
    const hd_graph_search *s = p->asked;
    hd_slab slab;
    double doubles = s->train->n > 0 && s->train->doubles != NULL;
    bool automatic = strcmp(p->name, "auto") == 0, named = strcmp(p->name, "approximate") == 0;
    TRY(hd_reduce_max(p->context, 1, &doubles));
    TRY(hd_slab_locate(p->context, s->train->n, &slab));
    double n = (double)slab.total, pairs = n * n / 2;
    p->approximate = s->self && s->recall_target < 1 && doubles == 0 && s->k <= slab.total / 4;
    automatic = automatic && hd_graph_approximation_pays(slab.total, 0) &&
                hd_graph_search_exceeds(s, pairs * (double)hd_graph_rows_width(s->train));
    p->approximate = p->approximate && (named || automatic);
done:
    return status;
}

/* Moves the rows to their regions if that pays. */
static huddle_status settle_rows(distributed_search *p) {
    huddle_status status = HUDDLE_OK;
    hd_graph_search *s = p->asked;
    hd_slab slab;
    p->train = s->train;
    p->query = s->query;
    p->index = s->index;
    p->distance2 = s->distance2;
    TRY(hd_slab_locate(p->context, s->train->n, &slab));
    if (slab.total >= MOVE_MIN_ROWS && (is_boxed(p) || p->approximate) &&
        hd_slabs_count(p->context) > 1) {
        TRY(hd_graph_regions_new(p->context, s->train, &p->regions));
        TRY(hd_graph_move_rows(&p->regions, s->train, &p->moved_train));
        if (p->moved_train.balanced && !s->self)
            TRY(hd_graph_move_rows(&p->regions, s->query, &p->moved_query));
    }
    if (p->moved_train.balanced) {
        p->train = p->query = &p->moved_train.rows;
        p->own.ids = p->moved_train.number;
    } else {
        ALLOC(p->own_ids, s->train->n);
        for (int64_t i = 0; i < s->train->n; i++)
            p->own_ids[i] = (int32_t)(slab.first + i);
        p->own.ids = p->own_ids;
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

/* Replaces numbers of own rows in the lists by ids. */
static void map_to_ids(distributed_search *p) {
    for (int64_t e = 0; e < p->query->n * p->own.k; e++)
        if (p->own.index[e] != INT32_MAX)
            p->own.index[e] = p->own.ids[p->own.index[e]];
}

/* Lists of the own rows by the solver that suits them; its numbers become ids. */
static huddle_status search_own(distributed_search *p) {
    huddle_status status = HUDDLE_OK;
    hd_graph_search *own = &p->own;
    const int32_t *ids = own->ids;
    own->ids = NULL;
    own->cells = &p->cells;
    TRY(hd_graph_search_run(p->context, p->name, own, &p->used));
    own->ids = ids;
    map_to_ids(p);
done:
    own->ids = ids;
    own->cells = NULL;
    return status;
}

/* Which queries may have a neighbour in the region of this process that is nearer than their last
 * one so far. */
typedef struct nearness {
    const distributed_search *p;
    const hd_graph_search *search;
    bool *near;
    double *rows; /* workers x width */
} nearness;

static huddle_status mark_near(void *argument, hd_chunk chunk) {
    const nearness *m = argument;
    const hd_graph_regions *regions = &m->p->regions;
    double *row = m->rows + chunk.worker * regions->width;
    for (int64_t i = chunk.begin; i < chunk.end; i++) {
        double kth = sqrt(m->search->distance2[(i + 1) * m->search->k - 1]);
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
static huddle_status begin_lists(distributed_search *p) {
    huddle_status status = HUDDLE_OK;
    hd_graph_search *own = &p->own;
    bool few = p->train->n - own->self<own->k, many = p->train->n> CELLS_MIN_ROWS;
    bool begun = p->used != NULL;
    if (!begun) {
        hd_graph_search_clear(own, 0, p->query->n);
        p->used = "brute";
    }
    if (p->train->n == 0)
        return status;
    p->by_cells = is_boxed(p) && many && !few;
    bool searched = !few && (own->self || !p->by_cells);
    if (searched && p->query->n > 0) {
        if (!begun)
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

static void free_index(distributed_search *p) {
    hd_graph_cells_free(&p->cells);
    hd_graph_sweep_free(&p->sweep);
    hd_graph_leaves_free(&p->query_leaves);
    hd_graph_approximation_free(&p->approximation);
    p->own.order = NULL; /* it was that of one of them */
}

/* ---- the ring ------------------------------------------------------------------------------ */

/* Queries travel in the order of the leaves, in which consecutive ones are near each other. */
static int64_t measure_queries(const void *argument, int64_t begin, int64_t end) {
    return hd_graph_rows_measure(((const distributed_search *)argument)->query, end - begin);
}

static void pack_queries(const void *argument, int64_t begin, int64_t end, char *bytes) {
    const distributed_search *p = argument;
    hd_graph_rows_pack(p->query, p->own.order, begin, end, bytes);
}

static huddle_status compare_queries(void *argument, const hd_graph_block *block) {
    huddle_status status = HUDDLE_OK;
    distributed_search *p = argument;
    hd_graph_rows rows = {0};
    hd_graph_search s = {.train = p->train,
                         .query = &rows,
                         .k = p->own.k,
                         .index = block->index,
                         .distance2 = block->distance2,
                         .ids = p->own.ids};
    if (p->train->n == 0)
        return status;
    TRY(hd_graph_rows_unpack(p->context, p->query, block->n, block->bytes, &rows));
    TRY(continue_lists(p, &s));
    atomic_fetch_add(&p->own.n_distances, atomic_load(&s.n_distances));
done:
    hd_graph_rows_free(&rows);
    return status;
}

/* ---- exact or approximate ------------------------------------------------------------------ */

/* Tries bounds of projections on the own rows, if comparing all projections is within the limit.
 * What follows from the own rows, which may use their share of it, is roughly proportional to their
 * number. The lists are kept if it succeeds. */
static huddle_status try_bound(distributed_search *p, double total, bool *gave_up) {
    huddle_status status = HUDDLE_OK;
    hd_graph_search *own = &p->own;
    int64_t width = hd_graph_rows_width(p->train);
    double each = (double)hd_graph_projection_count((int64_t)total, width) + 1;
    *gave_up = hd_graph_search_exceeds(p->asked, total * total / 2 * each);
    if (*gave_up || p->train->n < BOUND_MIN_ROWS)
        return status;
    own->cost_limit = p->asked->cost_limit * (double)p->train->n / total;
    TRY(hd_graph_search_pcabound(p->context, own, gave_up));
    if (!*gave_up) {
        map_to_ids(p);
        p->used = "pcabound";
    }
done:
    return status;
}

/* "auto" searches approximately if no exact solver is expected to keep to the limit: boxes, by the
 * cost among the own rows of all processes, then bounds of projections. */
static huddle_status decide(distributed_search *p) {
    huddle_status status = HUDDLE_OK;
    hd_graph_search *own = &p->own;
    double n = 0, gave_up = 0, cost = 0;
    int64_t width = hd_graph_rows_width(p->train), total = p->train->n;
    bool refused = false;
    if (!p->approximate || strcmp(p->name, "auto") != 0)
        return status;
    TRY(hd_reduce_count(p->context, &total));
    n = (double)total;
    cost = (double)p->train->n * n / 2 * (double)width;
    hd_alone before = hd_alone_begin(p->context);
    const int32_t *ids = own->ids;
    own->ids = NULL;
    if (is_boxed(p) && p->train->n > CELLS_MIN_ROWS)
        status = hd_graph_cells_predict(p->context, own, &cost);
    own->ids = ids;
    hd_alone_end(p->context, before);
    TRY(status);
    TRY(hd_reduce_sum(p->context, 1, &cost));
    p->approximate = hd_graph_search_exceeds(p->asked, cost);
    if (!p->approximate || width < BOUND_MIN_WIDTH)
        goto done;
    before = hd_alone_begin(p->context);
    status = try_bound(p, n, &refused);
    hd_alone_end(p->context, before);
    TRY(status);
    gave_up = refused;
    TRY(hd_reduce_max(p->context, 1, &gave_up));
    p->approximate = gave_up > 0;
    p->used = p->approximate ? NULL : p->used;
done:
    own->cost_limit = 0;
    return status;
}

/* The own lists of an attempt, and what queries that come are compared with. */
static huddle_status attempt_own(distributed_search *p, int attempt) {
    huddle_status status = HUDDLE_OK;
    hd_graph_search *own = &p->own;
    if (p->train->n < APPROXIMATE_MIN_ROWS || own->k > p->train->n / 4) {
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

/* Attempts until the target is met; "auto" gives up if comparing all pairs is no more expensive. */
static huddle_status search_approximately(distributed_search *p, hd_graph_ring *ring) {
    huddle_status status = HUDDLE_OK;
    hd_graph_search *asked = p->asked;
    double rounds = 0;
    int64_t total = p->train->n;
    TRY(hd_reduce_count(p->context, &total));
    TRY(hd_graph_recall_sample_new(p->context, &p->own, &p->sample));
    for (int attempt = 0; attempt < HD_GRAPH_ATTEMPTS; attempt++) {
        p->approximate =
            strcmp(p->name, "auto") != 0 || hd_graph_approximation_pays(total, attempt);
        if (!p->approximate)
            goto done;
        hd_alone before = hd_alone_begin(p->context);
        status = attempt_own(p, attempt);
        hd_alone_end(p->context, before);
        TRY(status);
        ring->order = p->own.order;
        TRY(hd_graph_ring_run(p->context, ring));
        TRY(hd_graph_recall_sample_measure(p->context, &p->sample, &p->own, &asked->recall));
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
    hd_alone before = hd_alone_begin(p->context);
    status = begin_lists(p);
    hd_alone_end(p->context, before);
    TRY(status);
    ring->order = p->own.order;
    TRY(hd_graph_ring_run(p->context, ring));
done:
    return status;
}

/* ---- the search ---------------------------------------------------------------------------- */

static void free_search(distributed_search *p) {
    if (p->index != p->asked->index)
        huddle_free(p->index);
    if (p->distance2 != p->asked->distance2)
        huddle_free(p->distance2);
    huddle_free(p->own_ids);
    hd_graph_regions_free(&p->regions);
    hd_graph_moved_free(&p->moved_train);
    hd_graph_moved_free(&p->moved_query);
    hd_graph_recall_sample_free(&p->sample);
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
    TRY(hd_graph_rows_reach(context, search->train, search->query, &p.own.reach));
    TRY(allow_approximate(&p));
    TRY(settle_rows(&p));
    p.own.train = p.train;
    p.own.query = p.query;
    p.own.self = search->self;
    p.own.k = ring.k = search->k;
    p.own.seed = search->seed;
    p.own.recall_target = 1;
    p.own.index = p.index;
    p.own.distance2 = p.distance2;
    ring.n = p.query->n;
    ring.unit = HD_GRAPH_LEAF;
    ring.index = p.index;
    ring.distance2 = p.distance2;
    TRY(decide(&p));
    if (p.approximate)
        TRY(search_approximately(&p, &ring));
    if (!p.approximate)
        TRY(search_exactly(&p, &ring));
    if (p.query != search->query)
        TRY(hd_graph_move_back(search->self ? &p.moved_train : &p.moved_query, search->k, p.index,
                               p.distance2, search->index, search->distance2));
    atomic_fetch_add(&search->n_distances, atomic_load(&p.own.n_distances));
    *used = p.used;
done:
    free_search(&p);
    return status;
}
