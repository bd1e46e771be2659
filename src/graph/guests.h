/* Queries of other processes in the trees and lists of an approximate search. */
#ifndef HUDDLE_SRC_GRAPH_GUESTS_H
#define HUDDLE_SRC_GRAPH_GUESTS_H

#include "graph/approximate.h"

/* Continues the lists of search->query, whose names are search->names, with points of the
 * approximation, which has kept its trees. A query with near[i] false is left out; near may be
 * NULL. */
huddle_status hd_graph_guests_continue(huddle_context *context, const hd_graph_approximation *a,
                                       const bool *near, hd_graph_search *search);

#endif
