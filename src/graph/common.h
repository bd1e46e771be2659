/* Checks and small parts that several files of this stage share. */
#ifndef HUDDLE_SRC_GRAPH_COMMON_H
#define HUDDLE_SRC_GRAPH_COMMON_H

#include "base/union.h"
#include "huddle/graph.h"

/* HUDDLE_INVALID, naming the place, if the matrix is empty or contains NaN or infinity. */
huddle_status hd_graph_check_dense(const huddle_dense *f);

/* HUDDLE_INVALID unless metric is "euclidean" or "cosine". NULL means "euclidean". */
huddle_status hd_graph_parse_metric(const char *metric, bool *cosine);

/* Allocates n lists of k neighbours, not initialised. */
huddle_status hd_graph_neighbors_new(int64_t n, int32_t k, huddle_neighbors *out);

/* huddle_graph_from_distances_dense() without the agreement of all processes. */
huddle_status hd_graph_lists_from_distances(huddle_context *context, const huddle_dense *distances,
                                            int32_t n_neighbors, huddle_neighbors *out);

/* Replaces the parents of base/union.h by set numbers 0, 1, ..., ordered by the smallest member of
 * each set; returns the number of sets. */
int32_t hd_graph_number_roots(int32_t *parent, int64_t n);

/* The scale that options->scale derives from the lists, over the lists of all processes. scale is
 * the caller's to free, also on failure. */
huddle_status hd_graph_measure_scale(huddle_context *context, const huddle_neighbors *neighbors,
                                     const huddle_weight_options *options, huddle_scale *scale);

#endif
