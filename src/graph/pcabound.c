/* All pairs, by lower bounds.
 *
 * Distances between projections (projection.h) need a few dozen coordinates and never exceed the
 * true distances. The tiles compare projections; only if the bound of a pair is not above the k-th
 * distance of one of its points, the full distance is computed, in double, and enters the lists.
 * Nothing has to be verified afterwards. A random tree puts near points next to each other, so that
 * hits are concentrated in few tiles, and a first pass within small blocks fills every list with
 * good candidates. Where the bounds are too weak, the search gives up in favour of brute force. */
#include "base/check.h"
#include "base/parallel.h"
#include "base/rng.h"
#include "graph/projection.h"
#include "graph/search.h"
#include "graph/split.h"
#include "graph/tiles.h"

#include <math.h>

enum {
    LEAF = 16,        /* points that the tree does not separate */
    MIN_WIDTH = 24,   /* coordinates below which projecting cannot pay */
    FIRST_BLOCK = 96, /* points of the blocks of the first pass */
    PLACES_PER_CHUNK = 256,
};

/* A full distance takes about the time of so many pairs in tiles of full rows (`./dev bench graph`,
 * n_distances against the rate of the kernel). */
static const double full_cost = 30;

/* Full distances per point that are not counted when the cost is compared: the first lists are poor
 * on all data, also where the bound pays in the end. */
static const double free_distances = 100;

/* The share of all pairs after which the cost of the rest is predicted. */
static const double trial_share = 1.0 / 64;

typedef struct bound {
    hd_graph_search *search;
    hd_graph_projection projection;
    hd_graph_packing packing;
    hd_graph_panels panels; /* of the projections, in the order of the tree */
    hd_graph_tiles tiles;
    int32_t *order;           /* row numbers, in the order of the tree */
    double *keys, *direction; /* of the points being split */
    hd_graph_candidate *near; /* by bounds: the lists of the first pass, search->k each */
    int64_t n;
    int32_t *n_full_distances; /* full distances computed, by the first point of the pair */
} bound;

/* ---- lists --------------------------------------------------------------------------------- */

/* Whether point j could enter the list of i. It cannot if it is there already, which the first pass
 * makes possible. The test is cheap next to a full distance. */
static bool may_insert(const hd_graph_search *s, int32_t i, int32_t j) {
    const int32_t *index = s->index + (int64_t)i * s->k;
    if (!hd_graph_search_admits(s, i, j))
        return false;
    for (int32_t c = 0; c < s->k; c++)
        if (index[c] == hd_graph_search_id(s, j))
            return false;
    return true;
}

/* Sets tau, above which bounds exclude a pair, from the k-th distance of the list. */
static void lower_tau(const bound *b, int64_t place) {
    double kth2 = hd_graph_search_last(b->search, b->order[place]);
    b->tiles.tau[place] = hd_graph_packing_tau(&b->packing, b->panels.norm[place], kth2);
}

/* Computes the full distance of a pair that its bound does not exclude. The value is compared with
 * tau once more, for each of the two points: earlier hits of the same tile may have lowered it
 * since the kernel ran, and the kernel used the larger of the two. A distance above both k-th
 * distances may be cut short. */
static void compare_in_full(void *argument, int64_t place, int64_t other, float value) {
    bound *b = argument;
    const hd_graph_search *s = b->search;
    int32_t i = b->order[place], j = b->order[other];
    bool for_i = value <= b->tiles.tau[place] && may_insert(s, i, j);
    bool for_j = value <= b->tiles.tau[other] && may_insert(s, j, i);
    if (!for_i && !for_j)
        return;
    double limit =
        fmax(for_i ? hd_graph_search_last(s, i) : 0, for_j ? hd_graph_search_last(s, j) : 0);
    double distance2 = hd_graph_rows_distance2(s->query, i, s->train, j, limit);
    if (for_i && hd_graph_search_insert(s, i, j, distance2))
        lower_tau(b, place);
    if (for_j && hd_graph_search_insert(s, j, i, distance2))
        lower_tau(b, other);
    b->n_full_distances[place]++;
}

/* Rows are scattered in memory: each is requested while other hits of its tile are processed. The
 * order of the tree is not the order of the rows. */
static void prefetch_row(void *argument, int64_t place) {
    const bound *b = argument;
    hd_graph_rows_prefetch(b->search->train, b->order[place]);
}

/* ---- the order ---------------------------------------------------------------------------------
 */

static const double *projected_row(const bound *b, int32_t i) {
    return b->projection.y.values + i * b->projection.y.stride;
}

/* Keys: positions along the line through two random points of the node, up to a constant factor.
 * Such lines follow the directions in which the node is wide. */
static void compute_keys(bound *b, int64_t begin, int64_t end, hd_rng *rng) {
    int64_t width = b->projection.y.cols;
    const double *one = projected_row(b, b->order[begin + hd_rng_below(rng, end - begin)]);
    const double *two = projected_row(b, b->order[begin + hd_rng_below(rng, end - begin)]);
    for (int64_t f = 0; f < width; f++)
        b->direction[f] = one[f] - two[f];
    for (int64_t place = begin; place < end; place++)
        b->keys[place] = hd_graph_dot(b->direction, projected_row(b, b->order[place]), width);
}

/* A random projection tree (Dasgupta and Freund, STOC 2008), of which only the order remains.
 * Splits at the median keep the depth at log2(n / LEAF), which bounds the recursion. */
static void order_points(bound *b, int64_t begin, int64_t end, hd_rng *rng) {
    while (end - begin > LEAF) {
        int64_t middle = begin + (end - begin) / 2;
        compute_keys(b, begin, end, rng);
        hd_graph_split_at(b->keys, b->order, begin, end, middle);
        order_points(b, begin, middle, rng);
        begin = middle;
    }
}

/* ---- the first pass ------------------------------------------------------------------------ */

/* The first pass keeps the k candidates of smallest lower bound for both points of a pair. */
static void insert_pair(void *argument, int64_t i, int64_t j, float value) {
    const bound *b = argument;
    int32_t k = b->search->k;
    hd_graph_candidates_offer(b->near + i * k, k, value, j, &b->tiles.tau[i]);
    hd_graph_candidates_offer(b->near + j * k, k, value, i, &b->tiles.tau[j]);
}

/* Computes the full distances of the candidates. The k-th of them is an upper bound of the k-th
 * neighbour distance, whatever the candidates are. */
static huddle_status compare_candidates(void *argument, hd_chunk chunk) {
    bound *b = argument;
    for (int64_t place = chunk.begin; place < chunk.end; place++) {
        const hd_graph_candidate *near = b->near + place * b->search->k;
        for (int32_t c = 0; c < b->search->k && near[c].index != INT32_MAX; c++) {
            hd_graph_search_compare(b->search, b->order[place], b->order[near[c].index]);
            b->n_full_distances[place]++;
        }
        lower_tau(b, place);
    }
    return HUDDLE_OK;
}

/* The first pass: pairs within small blocks of the order. Its lists make tau small before the
 * tournament begins, in which most pairs are then excluded. */
static huddle_status begin_lists(huddle_context *context, bound *b) {
    huddle_status status = HUDDLE_OK;
    ALLOC(b->near, b->n * b->search->k);
    for (int64_t e = 0; e < b->n * b->search->k; e++)
        b->near[e] = (hd_graph_candidate){FLT_MAX, INT32_MAX};
    for (int64_t place = 0; place < b->panels.padded; place++)
        b->tiles.tau[place] = place < b->n ? FLT_MAX : -INFINITY;
    b->tiles.hit = insert_pair;
    TRY(hd_graph_tiles_blocks(context, &b->tiles, FIRST_BLOCK));
    hd_graph_search_clear(b->search, 0, b->n);
    TRY(hd_parallel(context, NULL, b->n, PLACES_PER_CHUNK, compare_candidates, b));
done:
    huddle_free(b->near);
    return status;
}

/* ---- the solver ---------------------------------------------------------------------------- */

/* Projects, orders and packs. The projections are packed in product form whatever their number,
 * with the error of the projection as position_error. Product form is the faster kernel for the
 * dozens of coordinates used here, and its rounding error only weakens the bound a little. */
static huddle_status prepare_search(huddle_context *context, bound *b) {
    huddle_status status = HUDDLE_OK;
    hd_graph_search *s = b->search;
    hd_rng rng = hd_rng_stream(s->seed, 1);
    TRY(hd_graph_projection_new(context, s->train,
                                hd_graph_projection_count(b->n, hd_graph_rows_width(s->train)),
                                s->seed, &b->projection));
    ALLOC(b->order, b->n);
    ALLOC(b->keys, b->n);
    ALLOC(b->direction, b->projection.y.cols);
    ALLOC_ZERO(b->n_full_distances, b->n);
    for (int64_t i = 0; i < b->n; i++)
        b->order[i] = (int32_t)i;
    order_points(b, 0, b->n, &rng);
    hd_graph_rows y = hd_graph_rows_of_dense(&b->projection.y);
    y.pick = b->order;
    TRY(hd_graph_packing_new(context, &y, NULL, &b->packing));
    b->packing.differences = false;
    b->packing.position_error = b->projection.position_error * b->packing.scale;
    TRY(hd_graph_panels_new(context, &y, &b->packing, &b->panels));
    /* The panels contain all that is needed of the projection. */
    hd_graph_projection_free(&b->projection);
    ALLOC(b->tiles.tau, b->panels.padded);
    b->tiles.rows = b->tiles.columns = &b->panels;
    b->tiles.kernel = hd_graph_tiles_kernel(&b->packing);
    b->tiles.argument = b;
done:
    return status;
}

static int64_t count_full_distances(const bound *b) {
    int64_t n_full_distances = 0;
    for (int64_t i = 0; i < b->n; i++)
        n_full_distances += b->n_full_distances[i];
    return n_full_distances;
}

/* The cost of comparing all pairs of projections, in multiply-adds. */
static double tile_cost(const bound *b, int64_t directions) {
    double n = (double)b->n;
    return n * n / 2 * (double)(directions + 1);
}

/* Continues while full distances cost less than the tiles of brute force, and while the prediction
 * of the whole cost is within the limit. `pairs` is the number of pairs compared so far, which
 * brute force would have compared in full; the pairs that remain need full distances as often. */
static bool is_bound_worthwhile(void *argument, double pairs) {
    const bound *b = argument;
    double n = (double)b->n, all = n * n / 2, first = free_distances * n;
    double n_full_distances = (double)count_full_distances(b) - first;
    if (pairs >= trial_share * all) {
        double predicted = first + fmax(0, n_full_distances) * fmax(1, all / pairs);
        double each = full_cost * (double)hd_graph_rows_width(b->search->train);
        if (hd_graph_search_exceeds(b->search, tile_cost(b, b->panels.d - 1) + predicted * each))
            return false;
    }
    return n_full_distances * full_cost < pairs;
}

/* Gives up at once if there are few coordinates to save, if lists are so long that tau excludes
 * little, or if the tiles alone exceed the limit. */
huddle_status hd_graph_search_pcabound(huddle_context *context, hd_graph_search *search,
                                       bool *gave_up) {
    huddle_status status = HUDDLE_OK;
    bound b = {.search = search, .n = search->train->n};
    int64_t width = hd_graph_rows_width(search->train);
    *gave_up =
        width < MIN_WIDTH || search->k >= b.n / 4 ||
        hd_graph_search_exceeds(search, tile_cost(&b, hd_graph_projection_count(b.n, width)));
    if (*gave_up)
        return status;
    TRY(prepare_search(context, &b));
    TRY(begin_lists(context, &b));
    b.tiles.hit = compare_in_full;
    b.tiles.fetch = prefetch_row;
    TRY(hd_graph_tiles_tournament(context, &b.tiles, is_bound_worthwhile, gave_up));
    atomic_fetch_add(&search->n_distances, count_full_distances(&b));
done:
    hd_graph_projection_free(&b.projection);
    hd_graph_packing_free(&b.packing);
    hd_graph_panels_free(&b.panels);
    FREE(b.tiles.tau, b.order, b.keys, b.direction, b.n_full_distances);
    return status;
}
