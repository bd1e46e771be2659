/* The solvers of the neighbour search, and the choice between them. */
#include "base/check.h"
#include "graph/search.h"

#include <math.h>
#include <string.h>

/* When "auto" tries a solver other than brute force: where it was measured to be the faster one
 * (`./dev bench graph`). The tree and the bound also notice by themselves when they do not pay, so
 * these limits only avoid pointless attempts. */
enum {
    TREE_MIN_ROWS = 20000,        /* points in single precision */
    TREE_MAX_WIDTH = 16,          /* their coordinates; beyond, boxes exclude too little */
    TREE_MIN_DOUBLE_ROWS = 4000,  /* rows of embeddings, which form tight clusters: any width */
    BOUND_MIN_ROWS = 3000,        /* below, projecting costs as much as it saves */
    BOUND_MIN_WIDTH = 33,         /* up to 32 coordinates the tiles compare differences directly */
    CELLS_MIN_ROWS = 4000,        /* below, all pairs cost as much as the tree */
    CELLS_MIN_WIDTH = 4,          /* up to 3 coordinates single queries visit few leaves of 32 */
    CELLS_MAX_WIDTH = 64,         /* beyond, the bound excludes more, as long as */
    CELLS_MIN_LONG_ROWS = 100000, /* there are no more rows: it compares all pairs */
};

/* Leaf against leaf is faster than single queries from a few coordinates on (100,000 normal points
 * of 3 coordinates .43 and .31 cpu-s, of 8 2.1 and 12.3). */
static bool is_cells_suitable(const hd_graph_search *s) {
    int64_t n = s->train->n, d = hd_graph_rows_width(s->train);
    return s->self && n > CELLS_MIN_ROWS && d >= CELLS_MIN_WIDTH &&
           (d <= CELLS_MAX_WIDTH || s->train->doubles != NULL || n > CELLS_MIN_LONG_ROWS);
}

/* Rows of doubles are embeddings: most of them lie in tight clusters, where boxes exclude well in
 * any dimension. Points of few coordinates need many rows before the tree is worth building; among
 * themselves, they are left to the cells, except in the plane and in space. */
static bool is_tree_suitable(const hd_graph_search *s) {
    int64_t n = s->train->n, d = hd_graph_rows_width(s->train);
    if (s->train->doubles != NULL)
        return n > TREE_MIN_DOUBLE_ROWS;
    return d <= TREE_MAX_WIDTH && n > TREE_MIN_ROWS && (!s->self || d < CELLS_MIN_WIDTH);
}

/* Fewer rows or coordinates leave too little work to save. */
static bool is_bound_suitable(const hd_graph_search *s) {
    return s->train->n >= BOUND_MIN_ROWS && hd_graph_rows_width(s->train) >= BOUND_MIN_WIDTH;
}

/* Brute force is the last of the exact solvers, hence approximate if its cost exceeds the limit. */
static bool is_brute_too_costly(const hd_graph_search *s) {
    double n = (double)s->train->n;
    return hd_graph_search_exceeds(s, n * n / 2 * (double)hd_graph_rows_width(s->train));
}

/* ---- what a solver can do ------------------------------------------------------------------ */

static bool handles_all(const hd_graph_search *s) {
    (void)s;
    return true;
}

static bool handles_self(const hd_graph_search *s) {
    return s->self;
}

/* Lists of more than a quarter of the points leave nothing to approximate. */
static bool handles_float_self(const hd_graph_search *s) {
    return s->self && s->train->singles != NULL && s->k <= s->train->n / 4;
}

typedef struct solver {
    hd_graph_solver *run;
    bool (*handles)(const hd_graph_search *search);     /* otherwise brute force takes over */
    bool (*is_suitable)(const hd_graph_search *search); /* whether "auto" tries it */
    bool always_finishes; /* does not give up when it was chosen by name */
} solver;

/* "auto" tries them from the last to the first; the first never gives up. */
enum { BRUTE, APPROXIMATE, PCABOUND, KDTREE, CELLS, N_SOLVERS };
static const solver solvers[N_SOLVERS] = {
    [BRUTE] = {hd_graph_search_brute, handles_all, handles_all, true},
    [APPROXIMATE] = {hd_graph_search_approximate, handles_float_self, is_brute_too_costly, true},
    [PCABOUND] = {hd_graph_search_pcabound, handles_self, is_bound_suitable, false},
    [KDTREE] = {hd_graph_search_kdtree, handles_all, is_tree_suitable, true},
    [CELLS] = {hd_graph_search_cells, handles_self, is_cells_suitable, true}};

const char *const hd_graph_solver_names[1 + N_SOLVERS + 1] = {"auto",
                                                              [1 + BRUTE] = "brute",
                                                              [1 + APPROXIMATE] = "approximate",
                                                              [1 + PCABOUND] = "pcabound",
                                                              [1 + KDTREE] = "kdtree",
                                                              [1 + CELLS] = "cells"};

const char *const *huddle_graph_knn_solvers(void) {
    return hd_graph_solver_names + 1;
}

/* Brute force is last in the loop and always finishes: it also serves a solver chosen by name that
 * does not apply or gives up. A target of 1 excludes "approximate", also if it was chosen by
 * name. */
huddle_status hd_graph_search_run(huddle_context *context, const char *name,
                                  hd_graph_search *search, const char **used) {
    huddle_status status = HUDDLE_OK;
    bool exactly = search->recall_target >= 1 || !handles_float_self(search);
    bool automatic = strcmp(name, "auto") == 0 || (exactly && strcmp(name, "approximate") == 0);
    if (!automatic || exactly)
        search->cost_limit = INFINITY;
    for (int k = N_SOLVERS - 1; k >= 0; k--) {
        const solver *s = &solvers[k];
        bool gave_up = false, chosen = k == 0 || strcmp(name, hd_graph_solver_names[k + 1]) == 0;
        if (!s->handles(search) || (!automatic && !chosen) ||
            (automatic && k > 0 && !s->is_suitable(search)))
            continue;
        search->recall = (hd_graph_recall){1, 1, 1};
        search->n_rounds = 0;
        TRY(s->run(context, search, automatic || !s->always_finishes ? &gave_up : NULL));
        *used = hd_graph_solver_names[k + 1];
        if (!gave_up)
            break;
    }
done:
    return status;
}

void hd_graph_search_clear(hd_graph_search *search, int64_t begin, int64_t end) {
    for (int64_t e = begin * search->k; e < end * search->k; e++) {
        search->distance2[e] = INFINITY;
        search->index[e] = INT32_MAX;
    }
}
