/* Graph A (docs/method.md, "Graph A"), from points or from a matrix of distances or
 * similarities. */
#ifndef HUDDLE_SRC_STEPS_GRAPH_H
#define HUDDLE_SRC_STEPS_GRAPH_H

#include "steps/options.h"

/* The neighbours of points; with ties where rows of x were merged. Such data lie on a grid, where
 * many rows are equally near. */
huddle_status hd_spectral_find_neighbors(huddle_context *context, const hd_fit_rows *rows,
                                         const huddle_points *points,
                                         const huddle_knn_options *options,
                                         huddle_neighbors *neighbors, huddle_knn_info *info);

/* A of the points, which are those of the rows: neighbours, weights, bridges, copies. graph is
 * replaced. */
huddle_status hd_spectral_make_graph(huddle_context *context, const hd_spectral_options *options,
                                     huddle_range n_clusters, const hd_fit_rows *rows,
                                     const huddle_points *points, hd_fit_graph *graph);

/* A of the square matrix that the job has: given graph, distances or similarities. Equal points of
 * a matrix of all distances are merged. */
huddle_status hd_spectral_make_matrix_graph(huddle_context *context, const hd_step_job *job,
                                            const hd_spectral_options *options,
                                            huddle_range n_clusters, hd_fit_rows *rows,
                                            hd_fit_graph *graph);

/* Clusters for which the graph should be connected: the first of the range. */
int32_t hd_spectral_connect_clusters(huddle_range n_clusters, const hd_fit_rows *rows);

/* Whether the graph has short bridges (huddle/graph.h): the number of clusters is to be chosen, and
 * a cluster may have fallen into several components. */
bool hd_spectral_joins_pieces(const hd_spectral_options *options, huddle_range n_clusters);

/* Warns if the graph was joined, or has more components than clusters. */
void hd_spectral_warn_components(huddle_context *context, const huddle_connect_info *info,
                                 int32_t n_clusters);

/* The same for the graph of a fit: short bridges are no reason to warn. */
void hd_spectral_warn_graph(huddle_context *context, const hd_spectral_options *options,
                            huddle_range n_clusters, const hd_fit_rows *rows,
                            const huddle_connect_info *info);

#endif
