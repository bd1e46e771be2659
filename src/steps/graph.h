/* Graph A (docs/method.md, "Graph A"), from points or from a matrix of distances or
 * similarities. */
#ifndef HUDDLE_SRC_STEPS_GRAPH_H
#define HUDDLE_SRC_STEPS_GRAPH_H

#include "steps/options.h"

/* The neighbours of the fit's points, with ties where rows of x were merged, and the weights of the
 * edges to them; without bridges and copies. */
huddle_status hd_spectral_weigh_points(huddle_context *context, const hd_fit *fit,
                                       const huddle_knn_options *knn,
                                       const huddle_weight_options *options, hd_fit_graph *graph);

/* How the graph for a range of numbers is connected. */
huddle_connect_options hd_spectral_connect_options(const hd_spectral_options *options,
                                                   huddle_range n_clusters,
                                                   const hd_fit_rows *rows);

/* The last steps of A, from weights between the fit's points and their scale: bridges, copies. */
huddle_status hd_spectral_connect_graph(huddle_context *context, const hd_spectral_options *options,
                                        huddle_range n_clusters, hd_fit *fit);

/* A of the fit's points: neighbours, weights, bridges, copies. An earlier one is replaced. */
huddle_status hd_spectral_make_graph(huddle_context *context, const hd_spectral_options *options,
                                     huddle_range n_clusters, hd_fit *fit);

/* A of the square matrix that the job has: given graph, distances or similarities. Equal points of
 * a matrix of all distances are merged. */
huddle_status hd_spectral_make_matrix_graph(huddle_context *context, const hd_step_job *job,
                                            const hd_spectral_options *options,
                                            huddle_range n_clusters, hd_fit *fit);

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
                            huddle_range n_clusters, const hd_fit *fit);

#endif
