/* The neighbour search behind every entry point of this stage: checks, the engine's turn, the CPU's
 * turn, timing. */
#ifndef HUDDLE_SRC_GRAPH_NEIGHBORS_H
#define HUDDLE_SRC_GRAPH_NEIGHBORS_H

#include "base/engine.h"
#include "huddle/graph.h"

/* Answers a request without parts; its options may be NULL. The lists may stay in the engine's
 * memory. */
huddle_status hd_graph_find_neighbors(huddle_context *context, const hd_neighbor_request *request,
                                      huddle_neighbors *out, huddle_knn_info *info);

/* Asks the engine alone. *handled is false if it has no neighbour search or declines this one.
 * The request's options are complete, n_neighbors at most what there is. */
huddle_status hd_graph_try_engine(huddle_context *context, const hd_neighbor_request *request,
                                  huddle_neighbors *out, huddle_knn_info *info, bool *handled);

#endif
