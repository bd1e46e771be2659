/* The neighbour search among rows that are distributed over processes. */
#ifndef HUDDLE_SRC_GRAPH_DISTRIBUTED_H
#define HUDDLE_SRC_GRAPH_DISTRIBUTED_H

#include "graph/search.h"

/* As hd_graph_search_run(): train and query are the rows of this process, and the indices of the
 * lists are numbers among the training rows of all. */
huddle_status hd_graph_search_distributed(huddle_context *context, const char *name,
                                          hd_graph_search *search, const char **used);

/* As hd_graph_search_sparse(), likewise. */
huddle_status hd_graph_search_sparse_distributed(huddle_context *context,
                                                 const huddle_points *train,
                                                 const huddle_points *query, bool cosine,
                                                 hd_graph_search *search);

#endif
