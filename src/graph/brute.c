/* Brute force: all pairs, by tiles in single precision.
 *
 * Points among themselves are compared once per pair, in the order of a tournament (tiles.h); new
 * points are compared with all training points, chunk by chunk.
 *
 * The distances of the kernel are rounded. Each list keeps a few candidates more than needed; their
 * distances are computed again in double, and the list is final if no point outside it can be
 * nearer than its k-th even with the largest possible rounding error (panels.h). Otherwise the
 * query is repeated: every point within that bound is compared in double. */
#include "base/check.h"
#include "base/parallel.h"
#include "graph/search.h"
#include "graph/tiles.h"

#include <math.h>

enum {
    SPARE = 3,              /* more candidates than neighbours, so that few queries are repeated
                               (huddle_knn_info.n_repeated) */
    QUERIES_PER_CHUNK = 96, /* a multiple of the rows of a tile */
};

typedef struct brute {
    hd_graph_search *search;
    hd_graph_packing packing;
    hd_graph_panels train, own;   /* own: those of the queries, if they are other points */
    const hd_graph_panels *query; /* &train or &own */
    hd_graph_tiles tiles;
    bool exact;               /* the kernel makes no rounding error */
    int32_t n_near;           /* candidates of every query: search->k and SPARE more */
    hd_graph_candidate *near; /* by the kernel */
    double *limits; /* of queries whose list is not final: their bounds, in packed units; of
                             the others -infinity */
} brute;

/* ---- candidates ---------------------------------------------------------------------------- */

/* tau is the last value of the list. It only decreases, so that a pair that the kernel dropped
 * against an earlier tau could not enter the list now either. Lists are sorted by (value, index):
 * their final content does not depend on the order of the offers. */
static void insert_candidate(void *argument, int64_t i, int64_t j, float value) {
    const brute *b = argument;
    hd_graph_candidates_offer(b->near + i * b->n_near, b->n_near, value, j, &b->tiles.tau[i]);
}

/* Both lists of a pair. A hit is within the larger tau of the two; the list with the smaller one
 * rejects it. Neither list needs a lock, because a block of points takes part in one comparison per
 * round. */
static void insert_pair(void *argument, int64_t i, int64_t j, float value) {
    const brute *b = argument;
    int32_t k = b->n_near;
    hd_graph_candidates_offer(b->near + i * k, k, value, j, &b->tiles.tau[i]);
    hd_graph_candidates_offer(b->near + j * k, k, value, i, &b->tiles.tau[j]);
}

static huddle_status compare_queries(void *argument, hd_chunk chunk) {
    const brute *b = argument;
    hd_graph_tiles_sweep(&b->tiles, chunk.begin * HD_GRAPH_TILE_ROWS,
                         chunk.end * HD_GRAPH_TILE_ROWS);
    return HUDDLE_OK;
}

/* ---- distances in double ------------------------------------------------------------------- */

/* Computes the distances of the candidates in double and decides whether the list is final.
 *
 * Let r be the k-th distance among the candidates. A point within r has a kernel value of at most
 * limit(r), the bound of panels.h. If the last value of the candidate list, tau, exceeds that,
 * every such point is a candidate, so that the k nearest candidates are the k nearest points. A
 * list that is not full has tau = FLT_MAX and contains all points. A kernel without rounding errors
 * orders the points correctly by itself. */
static void verify_query(brute *b, int64_t i) {
    const hd_graph_candidate *near = b->near + i * b->n_near;
    for (int32_t c = 0; c < b->n_near && near[c].index != INT32_MAX; c++)
        hd_graph_search_compare(b->search, i, near[c].index);
    double limit =
        hd_graph_packing_limit(&b->packing, b->query->norm[i], hd_graph_search_last(b->search, i));
    b->limits[i] = b->exact || (double)b->tiles.tau[i] > limit ? -INFINITY : limit;
}

static huddle_status verify_queries(void *argument, hd_chunk chunk) {
    brute *b = argument;
    hd_graph_search_clear(b->search, chunk.begin, chunk.end);
    for (int64_t i = chunk.begin; i < chunk.end; i++)
        verify_query(b, i);
    atomic_fetch_add(&b->search->n_distances, (chunk.end - chunk.begin) * b->n_near);
    return HUDDLE_OK;
}

/* Compares a pair in double. Pairs come by ascending j, so nothing can enter a list that is full of
 * zeros. */
static void compare_exactly(void *argument, int64_t i, int64_t j, float value) {
    const brute *b = argument;
    (void)value;
    if (hd_graph_search_admits(b->search, i, j))
        hd_graph_search_compare(b->search, i, j);
}

/* Searches the doubtful queries again, with every point within their bound as a candidate. */
static huddle_status repeat_queries(void *argument, hd_chunk chunk) {
    brute *b = argument;
    int64_t doubtful = 0;
    /* A tile has eight rows, doubtful or not; a tau of -infinity excludes those that are not.
     * Values are floats: one that is not above the limit is not above the float nearest to it
     * either. */
    for (int64_t group = chunk.begin; group < chunk.end; group++) {
        int64_t begin = group * HD_GRAPH_TILE_ROWS, end = begin + HD_GRAPH_TILE_ROWS, here = 0;
        for (int64_t i = begin; i < end; i++) {
            double limit = i < b->query->n ? b->limits[i] : -INFINITY;
            b->tiles.tau[i] = (float)limit;
            if (limit == -INFINITY)
                continue;
            hd_graph_search_clear(b->search, i, i + 1);
            here++;
        }
        if (here > 0)
            hd_graph_tiles_sweep(&b->tiles, begin, end);
        doubtful += here;
    }
    atomic_fetch_add(&b->search->n_repeated, doubtful);
    return HUDDLE_OK;
}

/* ---- the solver ---------------------------------------------------------------------------- */

/* Packs the points and allocates the lists. tau begins with the largest float, so that lists fill
 * up. It is not infinity, which is the distance of padding columns; padding rows get -infinity,
 * which no distance reaches. */
static huddle_status prepare_search(huddle_context *context, brute *b) {
    huddle_status status = HUDDLE_OK;
    hd_graph_search *s = b->search;
    const hd_graph_rows *others = s->query == s->train ? NULL : s->query;
    TRY(hd_graph_packing_new(context, s->train, others, &b->packing));
    TRY(hd_graph_panels_new(context, s->train, &b->packing, &b->train));
    b->query = &b->train;
    if (others != NULL) {
        TRY(hd_graph_panels_new(context, others, &b->packing, &b->own));
        b->query = &b->own;
    }
    b->exact = hd_graph_panels_exact(&b->packing, &b->train, b->query);
    b->tiles.rows = b->query;
    b->tiles.columns = &b->train;
    b->tiles.kernel = hd_graph_tiles_kernel(&b->packing);
    b->tiles.argument = b;
    b->tiles.hit = s->self ? insert_pair : insert_candidate;
    int64_t k = (int64_t)s->k + SPARE, padded = b->query->padded;
    b->n_near = (int32_t)(k < s->train->n ? k : s->train->n);
    ALLOC(b->near, b->query->n * b->n_near);
    for (int64_t e = 0; e < b->query->n * b->n_near; e++)
        b->near[e] = (hd_graph_candidate){FLT_MAX, INT32_MAX};
    ALLOC(b->tiles.tau, padded);
    ALLOC(b->limits, b->query->n);
    for (int64_t i = 0; i < padded; i++)
        b->tiles.tau[i] = i < b->query->n ? FLT_MAX : -INFINITY;
done:
    return status;
}

/* Three passes: candidates by the kernel, their distances in double, and the doubtful queries
 * again. The third pass is rare: on most data the spare candidates separate the k-th neighbour from
 * the rest by far more than the rounding error. */
huddle_status hd_graph_search_brute(huddle_context *context, hd_graph_search *search,
                                    bool *gave_up) {
    huddle_status status = HUDDLE_OK;
    (void)gave_up;
    brute b = {.search = search};
    enum { GROUPS = QUERIES_PER_CHUNK / HD_GRAPH_TILE_ROWS };
    TRY(prepare_search(context, &b));
    int64_t groups = b.query->padded / HD_GRAPH_TILE_ROWS;
    if (search->self) {
        TRY(hd_graph_tiles_tournament(context, &b.tiles, NULL, NULL));
    } else {
        TRY(hd_parallel(context, "graph", groups, GROUPS, compare_queries, &b));
    }
    TRY(hd_parallel(context, NULL, b.query->n, QUERIES_PER_CHUNK, verify_queries, &b));
    b.tiles.hit = compare_exactly;
    TRY(hd_parallel(context, NULL, groups, GROUPS, repeat_queries, &b));
done:
    hd_graph_packing_free(&b.packing);
    hd_graph_panels_free(&b.train);
    hd_graph_panels_free(&b.own);
    FREE(b.near, b.tiles.tau, b.limits);
    return status;
}
