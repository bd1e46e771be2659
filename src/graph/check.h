/* What several files of this stage check and make. */
#ifndef HUDDLE_SRC_GRAPH_CHECK_H
#define HUDDLE_SRC_GRAPH_CHECK_H

#include "base/union.h"
#include "huddle/graph.h"

/* HUDDLE_INVALID, naming the place, if the matrix is empty or holds NaN or infinity. */
huddle_status hd_dense_check(const huddle_dense *f);

/* HUDDLE_INVALID unless metric is "euclidean" or "cosine". NULL is "euclidean". */
huddle_status hd_metric(const char *metric, bool *cosine);

/* Room for n lists of k. */
huddle_status hd_neighbors_new(int64_t n, int32_t k, huddle_neighbors *out);

/* Turns the parents of base/union.h into set numbers 0, 1, ... by smallest member; how many. */
int32_t hd_number_roots(int32_t *parent, int64_t n);

#endif
