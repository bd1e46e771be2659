/* One neighbour search, as every solver understands it. */
#ifndef HUDDLE_SRC_GRAPH_SEARCH_H
#define HUDDLE_SRC_GRAPH_SEARCH_H

#include "graph/rows.h"
#include "huddle/graph.h"

#include <stdatomic.h>

/* For every row of query, the k nearest rows of train by (distance, index). Pairs that share a
 * group are passed over: in a search among the points themselves a point's group is its own name
 * (query_group and train_group NULL, self true); in the search for bridges it is the component. */
typedef struct hd_search {
    const hd_rows *train, *query; /* dense rows; the same pointer in a search among themselves */
    const int32_t *train_group, *query_group;
    bool self;
    int32_t k; /* every query has at least so many */
    uint64_t seed;
    int32_t *index;    /* query rows x k */
    double *distance2; /* likewise: squared */
    atomic_llong n_distances, n_repeated;
} hd_search;

static inline bool hd_search_skips(const hd_search *s, int64_t i, int64_t j) {
    return (s->self && i == j) ||
           (s->query_group != NULL && s->query_group[i] == s->train_group[j]);
}

/* Puts (distance2, index) into a list of k sorted by both, dropping the last. Returns false if it
 * does not belong there. Places not yet taken hold infinity. */
static inline bool hd_list_insert(double *distance2, int32_t *index, int32_t k, double value,
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
void hd_search_clear(hd_search *search, int64_t begin, int64_t end);

/* The solvers. Each fills index and distance2. */
huddle_status hd_search_brute(huddle_context *context, hd_search *search);

/* These may find that they would not pay: *gave_up is then set and the lists are not filled. With
 * gave_up NULL the tree goes on all the same. The bound is only for points among themselves. */
huddle_status hd_search_kdtree(huddle_context *context, hd_search *search, bool *gave_up);
huddle_status hd_search_pcabound(huddle_context *context, hd_search *search, bool *gave_up);

/* The one for sparse points. Under cosine the rows are taken at norm 1. search's own rows are not
 * used. */
huddle_status hd_search_sparse(huddle_context *context, const huddle_points *train,
                               const huddle_points *query, bool cosine, hd_search *search);

/* Chooses and runs: name is one of the solvers or "auto"; returns what ran in *used. */
huddle_status hd_search_run(huddle_context *context, const char *name, hd_search *search,
                            const char **used);

#endif
