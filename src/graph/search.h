/* One neighbour search in the form that every solver of the CPU takes. */
#ifndef HUDDLE_SRC_GRAPH_SEARCH_H
#define HUDDLE_SRC_GRAPH_SEARCH_H

#include "graph/dense_rows.h"
#include "huddle/graph.h"

#include <stdatomic.h>

/* An estimate of the share of true neighbours found, and its confidence interval. */
typedef struct hd_graph_recall {
    double share, low, high;
} hd_graph_recall;

/* For every row of query, the k nearest rows of train by (distance, index). Two kinds of pairs are
 * skipped: a row and itself in a search of points among themselves (self), and rows of the same
 * group, which are the components in the search for bridges. */
typedef struct hd_graph_search {
    const hd_graph_rows *train,
        *query; /* dense rows; the same pointer in a search among themselves */
    const int32_t *train_group, *query_group; /* NULL: no groups. "sparse", and lists that are
                                                 continued (cells.h, sweep.h), know of them */
    bool self;
    int32_t k; /* every query has at least so many rows that are not skipped */
    uint64_t seed;
    double cost_limit;  /* a solver that predicts a larger cost gives up: multiply-adds in float, or
                           what takes as long; 0 or infinity: none */
    int32_t *index;     /* query rows x k */
    double *distance2;  /* likewise: squared */
    const int32_t *ids; /* of the train rows in the lists, their numbers among the rows of all
                           processes, ascending; NULL: their numbers here */
    const int32_t *order;         /* of the queries, near ones together; NULL: that of their rows */
    double reach;                 /* as for hd_graph_leaf_points_new() */
    struct hd_graph_cells *cells; /* not NULL: where "cells" leaves its index, if it is used */
    double recall_target;         /* of an approximate search */
    hd_graph_recall recall;
    int32_t n_rounds;
    atomic_llong n_distances, n_repeated;
    atomic_llong n_products; /* multiplications of the sparse search */
} hd_graph_search;

static inline bool hd_graph_search_skips(const hd_graph_search *s, int64_t i, int64_t j) {
    return (s->self && i == j) ||
           (s->query_group != NULL && s->query_group[i] == s->train_group[j]);
}

/* The id of train row j in the lists. */
static inline int32_t hd_graph_search_id(const hd_graph_search *s, int64_t j) {
    return s->ids != NULL ? s->ids[j] : (int32_t)j;
}

/* Whether a predicted cost is above the limit. */
static inline bool hd_graph_search_exceeds(const hd_graph_search *s, double cost) {
    return s->cost_limit > 0 && cost > s->cost_limit;
}

/* Inserts (value, id) into a list of k that is sorted by both, dropping the last entry. Returns
 * false if it does not belong there. Empty places contain infinity and INT32_MAX. */
static inline bool hd_graph_list_insert(double *distance2, int32_t *index, int32_t k, double value,
                                        int32_t id) {
    int32_t at = k - 1;
    if (value > distance2[at] || (value == distance2[at] && id >= index[at]))
        return false;
    for (; at > 0 &&
           (value < distance2[at - 1] || (value == distance2[at - 1] && id < index[at - 1]));
         at--) {
        distance2[at] = distance2[at - 1];
        index[at] = index[at - 1];
    }
    distance2[at] = value;
    index[at] = id;
    return true;
}

/* The last squared distance in the list of query i: what is farther does not enter it. */
static inline double hd_graph_search_last(const hd_graph_search *s, int64_t i) {
    return s->distance2[(i + 1) * s->k - 1];
}

/* Enters train row j into the list of query i; returns false if it does not belong there. */
static inline bool hd_graph_search_insert(const hd_graph_search *s, int64_t i, int64_t j,
                                          double distance2) {
    return hd_graph_list_insert(s->distance2 + i * s->k, s->index + i * s->k, s->k, distance2,
                                hd_graph_search_id(s, j));
}

/* Compares query i with train row j in double, and enters it. */
static inline bool hd_graph_search_compare(const hd_graph_search *s, int64_t i, int64_t j) {
    double limit = hd_graph_search_last(s, i);
    return hd_graph_search_insert(s, i, j,
                                  hd_graph_rows_distance2(s->query, i, s->train, j, limit));
}

/* Whether a comparison could enter train row j into the list of query i: nothing enters a list of
 * zeros but a smaller id. */
static inline bool hd_graph_search_admits(const hd_graph_search *s, int64_t i, int64_t j) {
    bool behind =
        hd_graph_search_last(s, i) == 0 && hd_graph_search_id(s, j) > s->index[(i + 1) * s->k - 1];
    return !behind && !hd_graph_search_skips(s, i, j);
}

/* Empties the lists of queries begin .. end - 1. */
void hd_graph_search_clear(hd_graph_search *search, int64_t begin, int64_t end);

/* The solvers fill in index and distance2. One that would be slower than brute force, or that
 * predicts a cost above cost_limit, may set *gave_up instead, unless gave_up is NULL; the lists are
 * then not valid. Predictions are counts, never times. Brute force never gives up; "pcabound" and
 * "approximate" are only for points among themselves, and "pcabound" needs gave_up. */
typedef huddle_status hd_graph_solver(huddle_context *context, hd_graph_search *search,
                                      bool *gave_up);
hd_graph_solver hd_graph_search_brute;
hd_graph_solver hd_graph_search_kdtree;
hd_graph_solver hd_graph_search_pcabound;
hd_graph_solver hd_graph_search_cells;
hd_graph_solver hd_graph_search_approximate;

/* The solver for sparse points. Under cosine the rows are scaled to norm 1. search->train and
 * search->query are not used. */
huddle_status hd_graph_search_sparse(huddle_context *context, const huddle_points *train,
                                     const huddle_points *query, bool cosine,
                                     hd_graph_search *search);

/* The cost up to which "auto" searches exactly. Two cores do about 7e10 multiply-adds of tiles in a
 * second, so that it takes about a minute; an approximate search of a million points takes a
 * sixth of that. */
static const double hd_graph_cost_limit = 4e12;

/* Chooses a solver and runs it: name is one of hd_graph_solver_names. *used is the name of the one
 * that made the lists. cost_limit is ignored unless "auto" may search approximately: for dense
 * float points among themselves, and with a recall_target below 1. */
huddle_status hd_graph_search_run(huddle_context *context, const char *name,
                                  hd_graph_search *search, const char **used);

/* The same for rows that are distributed over processes: train and query are the rows of this
 * process, and the indices of the lists are numbers among the training rows of all. */
huddle_status hd_graph_search_distributed(huddle_context *context, const char *name,
                                          hd_graph_search *search, const char **used);
huddle_status hd_graph_search_sparse_distributed(huddle_context *context,
                                                 const huddle_points *train,
                                                 const huddle_points *query, bool cosine,
                                                 hd_graph_search *search);

/* "auto" and the solvers, ending with NULL: the choices of option knn_solver. */
extern const char *const hd_graph_solver_names[];

#endif
