/* From one direction to both. */
#ifndef HUDDLE_SRC_GRAPH_UNION_H
#define HUDDLE_SRC_GRAPH_UNION_H

#include "huddle/matrix.h"

/* graph = max(A, A') without diagonal and zeros; A is square, its columns ascending. */
huddle_status hd_graph_union(const huddle_csr *a, huddle_csr *graph);

#endif
