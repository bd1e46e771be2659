/* From a directed graph to an undirected one. */
#ifndef HUDDLE_SRC_GRAPH_SYMMETRIZE_H
#define HUDDLE_SRC_GRAPH_SYMMETRIZE_H

#include "huddle/matrix.h"

/* graph = max(A, A'), element by element, without diagonal and zeros; A is square, its columns
 * ascending. Under slabs both have the rows of this process and columns of all. */
huddle_status hd_graph_symmetrize(huddle_context *context, const huddle_csr *a, huddle_csr *graph);

#endif
