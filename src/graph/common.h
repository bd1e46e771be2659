/* Checks and small parts that several files of this stage share. */
#ifndef HUDDLE_SRC_GRAPH_COMMON_H
#define HUDDLE_SRC_GRAPH_COMMON_H

#include "base/engine.h"
#include "base/union.h"
#include "huddle/graph.h"

/* HUDDLE_INVALID, naming the place, if the matrix is empty or contains NaN or infinity. */
huddle_status hd_graph_check_dense(const huddle_dense *f);

/* HUDDLE_INVALID unless metric is "euclidean" or "cosine". NULL means "euclidean". */
huddle_status hd_graph_parse_metric(const char *metric, bool *cosine);

/* Allocates n lists of k neighbours, not initialised. */
huddle_status hd_graph_neighbors_new(int64_t n, int32_t k, huddle_neighbors *out);

/* The neighbour search behind every entry point of this stage: checks, the engine's turn, the CPU's
 * turn, timing. Answers a request without parts; its options may be NULL. The lists may stay in the
 * engine's memory. */
huddle_status hd_graph_find_neighbors(huddle_context *context, const hd_neighbor_request *request,
                                      huddle_neighbors *out, huddle_knn_info *info);

/* Asks the engine alone. *handled is false if it has no neighbour search or declines this one.
 * The request's options are complete, n_neighbors at most what there is. */
huddle_status hd_graph_try_engine(huddle_context *context, const hd_neighbor_request *request,
                                  huddle_neighbors *out, huddle_knn_info *info, bool *handled);

/* Replaces the parents of base/union.h by set numbers 0, 1, ..., ordered by the smallest member of
 * each set; returns the number of sets. */
int32_t hd_graph_number_roots(int32_t *parent, int64_t n);

/* The scale that options->scale derives from the lists, over the lists of all processes. scale is
 * the caller's to free, also on failure. */
huddle_status hd_graph_measure_scale(huddle_context *context, const huddle_neighbors *neighbors,
                                     const huddle_weight_options *options, huddle_scale *scale);

/* graph = max(A, A'), element by element, without diagonal and zeros; A is square, its columns
 * ascending. Under slabs both have the rows of this process and columns of all. */
huddle_status hd_graph_symmetrize(huddle_context *context, const huddle_csr *a, huddle_csr *graph);

#endif
