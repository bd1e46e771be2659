/* Approximate neighbours: random trees with large leaves, then neighbour descent, until the recall
 * that is estimated on random queries reaches the target.
 *
 * An attempt grows trees, compares all pairs within their leaves and runs rounds of descent. If the
 * estimate is below the target, the next attempt continues with longer lists and more trees. The
 * candidates' distances are computed in double, by the arithmetic that all solvers use. */
#include "graph/approximate.h"
#include "base/check.h"
#include "base/parallel.h"

#include <math.h>

/* Measured on a million points in 32 dimensions (`bench/neighbors_million.py`): with fewer trees or
 * smaller leaves more rounds follow, with more of them fewer points have anything left to find. */
enum {
    TREES = 4,       /* of the first attempt */
    LEAF = 288,      /* points, a multiple of the columns of a tile */
    SPARE = 3,       /* entries of a list more than neighbours */
    MIN_LIST = 12,   /* entries of a list of the first attempt: with fewer, descent ends early */
    MAX_ROUNDS = 20, /* of an attempt; points without structure need about 12 */
    POINTS_PER_CHUNK = 1024,
    ROUNDS_EXPECTED = 4, /* for the report of progress */
};

/* Trees and entries of the attempts, relative to the first. The second is a small step, because the
 * first usually misses the target by little. */
static const double growth[HD_GRAPH_ATTEMPTS] = {1, 1.5, 3, 6};

/* The first attempt takes about the time in which brute force compares each point with so many
 * others, in 32 dimensions; the time of the others grows with trees and entries. */
static const double attempt_pairs = 20000;

typedef hd_graph_approximation approximation;

/* ---- distances in double ------------------------------------------------------------------- */

static void verify_list(const approximation *a, int64_t position) {
    int64_t i = a->points.order[position];
    hd_graph_search_clear(a->search, i, i + 1);
    hd_graph_lists_verify(&a->lists, position, &a->points, i, a->search);
}

static huddle_status verify_lists(void *argument, hd_chunk chunk) {
    const approximation *a = argument;
    for (int64_t position = chunk.begin; position < chunk.end; position++)
        verify_list(a, position);
    atomic_fetch_add(&a->search->n_distances, (chunk.end - chunk.begin) * a->lists.k);
    return HUDDLE_OK;
}

/* Makes the lists of the sample final and compares them with the truth. */
static huddle_status estimate_recall(huddle_context *context, approximation *a) {
    huddle_status status = HUDDLE_OK;
    for (int64_t q = 0; q < a->sample.count; q++)
        verify_list(a, a->sample.position[q]);
    /* Once: later lists have smaller distances, not other true neighbours. */
    if (a->sample.kth2 == NULL)
        TRY(hd_graph_sample_answer(context, &a->points, a->search, &a->sample));
    TRY(hd_graph_sample_measure(context, &a->sample, a->search, &a->search->recall));
done:
    return status;
}

/* ---- attempts ------------------------------------------------------------------------------ */

/* The number of entries of a list. */
static int32_t list_length(const hd_graph_search *s, int attempt) {
    double k = (double)s->k + SPARE, others = (double)s->train->n - 1;
    return (int32_t)fmin(others, fmax(k, MIN_LIST) * growth[attempt]);
}

/* A leaf fills the lists of its points, hence each has k neighbours after the first tree. Leaves
 * may have half as many points as this, the point itself included. */
static int64_t leaf_size(const hd_graph_search *s) {
    int64_t least = 2 * ((int64_t)list_length(s, 0) + 1), tile = HD_GRAPH_TILE_COLUMNS;
    return least > LEAF ? (least + tile - 1) / tile * tile : LEAF;
}

/* How many rounds follow is not known: the total is that of a usual attempt, at which the report
 * stays if there are more. */
static huddle_status report_progress(huddle_context *context, const approximation *a,
                                     int64_t trees) {
    double done = (double)(a->trees + a->search->n_rounds);
    double total = (double)(trees + ROUNDS_EXPECTED);
    return hd_progress(context, "graph", fmin(done, total), total);
}

/* Grows the next tree and keeps it, if it is one of those. */
static huddle_status grow_tree(huddle_context *context, approximation *a) {
    huddle_status status = HUDDLE_OK;
    bool kept = a->keep && a->trees < HD_GRAPH_KEPT_TREES;
    if (kept) {
        ALLOC(a->routes[a->trees], a->forest.leaves * (a->points.d + 1));
        ALLOC(a->orders[a->trees], a->points.n);
    }
    a->forest.routes = kept ? a->routes[a->trees] : NULL;
    TRY(hd_graph_forest_grow(context, &a->forest, a->trees));
    /* The first tree orders the points next, after which its order is that of the positions. */
    for (int64_t p = 0; p < a->points.n && kept; p++)
        a->orders[a->trees][p] = a->trees == 0 ? (int32_t)p : a->forest.order[p];
    a->trees++;
done:
    return status;
}

/* The first tree also orders the points. */
huddle_status hd_graph_approximation_begin(huddle_context *context, hd_graph_approximation *a) {
    huddle_status status = HUDDLE_OK;
    hd_graph_search *s = a->search;
    TRY(hd_graph_ordered_points_new(context, s->train, s->reach, &a->points));
    TRY(hd_graph_forest_new(context, &a->points, leaf_size(s), s->seed, &a->forest));
    TRY(grow_tree(context, a));
    TRY(hd_graph_ordered_points_permute(context, &a->points, a->forest.order));
    /* The leaves are now ranges of positions. */
    for (int64_t p = 0; p < a->points.n; p++)
        a->forest.order[p] = (int32_t)p;
    TRY(hd_graph_lists_new(a->points.n, list_length(s, 0), &a->lists));
    TRY(hd_graph_forest_join(context, &a->forest, &a->lists));
done:
    return status;
}

void hd_graph_approximation_free(hd_graph_approximation *a) {
    for (int t = 0; t < HD_GRAPH_KEPT_TREES; t++) {
        FREE(a->routes[t], a->orders[t]);
    }
    hd_graph_sample_free(&a->sample);
    hd_graph_lists_free(&a->lists);
    hd_graph_forest_free(&a->forest);
    hd_graph_ordered_points_free(&a->points);
    *a = (hd_graph_approximation){0};
}

huddle_status hd_graph_approximation_attempt(huddle_context *context, hd_graph_approximation *a,
                                             int attempt) {
    huddle_status status = HUDDLE_OK;
    int64_t trees = (int64_t)(TREES * growth[attempt]);
    bool converged = false;
    TRY(hd_graph_lists_extend(&a->lists, list_length(a->search, attempt)));
    /* The pairs of earlier trees are in the lists already. */
    while (a->trees < trees) {
        TRY(report_progress(context, a, trees));
        TRY(grow_tree(context, a));
        TRY(hd_graph_forest_join(context, &a->forest, &a->lists));
    }
    for (int round = 0; round < MAX_ROUNDS && !converged; round++) {
        TRY(report_progress(context, a, trees));
        TRY(hd_graph_descend(context, &a->points, a->search->seed, a->search->n_rounds++, &a->lists,
                             &converged));
    }
done:
    return status;
}

/* Brute force compares a pair once for both of its points: n / 2 pairs a point. */
bool hd_graph_approximation_pays(int64_t n, int attempt) {
    return attempt_pairs * growth[attempt] <= (double)n / 2;
}

void hd_graph_approximation_warn(huddle_context *context, const hd_graph_search *s) {
    hd_warn(context, HUDDLE_WARNING_LOW_RECALL,
            "graph: the approximate neighbour search found only %.2f %% of the true neighbours "
            "(95 %% interval %.2f to %.2f), %.2f %% were asked for; recall = 1 searches exactly",
            100 * s->recall.share, 100 * s->recall.low, 100 * s->recall.high,
            100 * s->recall_target);
}

/* Attempts until the target is met. If brute force is no more expensive than the next attempt, it
 * is the better choice, unless this solver was chosen by name. */
static huddle_status attempt_all(huddle_context *context, approximation *a, bool *gave_up) {
    huddle_status status = HUDDLE_OK;
    hd_graph_search *s = a->search;
    for (int attempt = 0; attempt < HD_GRAPH_ATTEMPTS; attempt++) {
        if (gave_up != NULL && !hd_graph_approximation_pays(s->train->n, attempt)) {
            *gave_up = true;
            goto done;
        }
        TRY(hd_graph_approximation_attempt(context, a, attempt));
        TRY(estimate_recall(context, a));
        hd_log(context, "graph: %lld trees, %d rounds, recall %.4f", (long long)a->trees,
               s->n_rounds, s->recall.share);
        if (s->recall.share >= s->recall_target)
            goto done;
    }
    hd_graph_approximation_warn(context, s);
done:
    return status;
}

huddle_status hd_graph_approximation_verify(huddle_context *context, hd_graph_approximation *a) {
    return hd_parallel(context, NULL, a->points.n, POINTS_PER_CHUNK, verify_lists, a);
}

huddle_status hd_graph_search_approximate(huddle_context *context, hd_graph_search *search,
                                          bool *gave_up) {
    huddle_status status = HUDDLE_OK;
    approximation a = {.search = search};
    TRY(hd_graph_approximation_begin(context, &a));
    /* Drawn among positions, hence after the first tree has ordered the points. */
    TRY(hd_graph_sample_new(&a.points, search->seed, &a.sample));
    TRY(attempt_all(context, &a, gave_up));
    if (gave_up == NULL || !*gave_up)
        TRY(hd_graph_approximation_verify(context, &a));
done:
    hd_graph_approximation_free(&a);
    return status;
}
