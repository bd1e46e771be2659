/* One neighbour search in the form that every solver of the CPU takes. */
#ifndef HUDDLE_SRC_GRAPH_SEARCH_H
#define HUDDLE_SRC_GRAPH_SEARCH_H

#include "graph/dense_rows.h"
#include "huddle/graph.h"

#include <stdatomic.h>

/* For every row of query, the k nearest rows of train by (distance, index). Two kinds of pairs are
 * skipped: a row and itself in a search of points among themselves (self), and rows of the same
 * group, which are the components in the search for bridges. */
typedef struct hd_graph_search {
    const hd_graph_rows *train,
        *query; /* dense rows; the same pointer in a search among themselves */
    const int32_t *train_group, *query_group; /* NULL: no groups */
    bool self;
    int32_t k; /* every query has at least so many rows that are not skipped */
    uint64_t seed;
    double cost_limit; /* a solver that can predict its cost gives up if that is larger, in
                          multiply-adds of float; 0 or infinity: none */
    int32_t *index;    /* query rows x k */
    double *distance2; /* likewise: squared */
    atomic_llong n_distances, n_repeated;
    atomic_llong n_products; /* multiplications of the sparse search */
} hd_graph_search;

static inline bool hd_graph_search_skips(const hd_graph_search *s, int64_t i, int64_t j) {
    return (s->self && i == j) ||
           (s->query_group != NULL && s->query_group[i] == s->train_group[j]);
}

/* Inserts (value, name) into a list of k that is sorted by both, dropping the last entry. Returns
 * false if it does not belong there. Empty places contain infinity and INT32_MAX. */
static inline bool hd_graph_list_insert(double *distance2, int32_t *index, int32_t k, double value,
                                        int32_t name) {
    int32_t at = k - 1;
    if (value > distance2[at] || (value == distance2[at] && name >= index[at]))
        return false;
    for (; at > 0 &&
           (value < distance2[at - 1] || (value == distance2[at - 1] && name < index[at - 1]));
         at--) {
        distance2[at] = distance2[at - 1];
        index[at] = index[at - 1];
    }
    distance2[at] = value;
    index[at] = name;
    return true;
}

/* Empties the lists of queries begin .. end - 1. */
void hd_graph_search_clear(hd_graph_search *search, int64_t begin, int64_t end);

/* The solvers fill in index and distance2. One that would be slower than brute force may set
 * *gave_up instead, unless gave_up is NULL; the lists are then not valid. Brute force never does;
 * "pcabound" is only for points among themselves, and needs gave_up. */
huddle_status hd_graph_search_brute(huddle_context *context, hd_graph_search *search,
                                    bool *gave_up);
huddle_status hd_graph_search_kdtree(huddle_context *context, hd_graph_search *search,
                                     bool *gave_up);
huddle_status hd_graph_search_pcabound(huddle_context *context, hd_graph_search *search,
                                       bool *gave_up);
huddle_status hd_graph_search_cells(huddle_context *context, hd_graph_search *search,
                                    bool *gave_up);

/* The solver for sparse points. Under cosine the rows are scaled to norm 1. search->train and
 * search->query are not used. */
huddle_status hd_graph_search_sparse(huddle_context *context, const huddle_points *train,
                                     const huddle_points *query, bool cosine,
                                     hd_graph_search *search);

/* Chooses a solver and runs it: name is one of hd_graph_solver_names. *used is the name of the one
 * that made the lists. */
huddle_status hd_graph_search_run(huddle_context *context, const char *name,
                                  hd_graph_search *search, const char **used);

/* "auto" and the solvers, ending with NULL: the choices of option knn_solver. */
extern const char *const hd_graph_solver_names[];

#endif
