/* What several files of this stage check and make. */
#ifndef HUDDLE_SRC_GRAPH_CHECK_H
#define HUDDLE_SRC_GRAPH_CHECK_H

#include "huddle/graph.h"

/* HUDDLE_INVALID, naming the place, if the matrix is empty or holds NaN or infinity. */
huddle_status hd_dense_check(const huddle_dense *f);

/* HUDDLE_INVALID unless metric is "euclidean" or "cosine". NULL is "euclidean". */
huddle_status hd_metric(const char *metric, bool *cosine);

/* Room for n lists of k. */
huddle_status hd_neighbors_new(int64_t n, int32_t k, huddle_neighbors *out);

/* Union-find in an array that begins as parent[v] = v; parents are smaller than their children.
 * hd_number_roots() turns it into set numbers 0, 1, ... by smallest member and returns how many. */
int32_t hd_find_root(int32_t *parent, int32_t v);
void hd_unite(int32_t *parent, int32_t a, int32_t b);
int32_t hd_number_roots(int32_t *parent, int64_t n);

#endif
