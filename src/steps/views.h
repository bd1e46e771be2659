/* The graph of several views of the same points (docs/method.md, "Views"): the weighted mean of
 * their normalised graphs. New points get edges of the same kind. */
#ifndef HUDDLE_SRC_STEPS_VIEWS_H
#define HUDDLE_SRC_STEPS_VIEWS_H

#include "steps/options.h"

/* A sum of sparse matrices of one shape, entry (i, j) of each times row[v][i] * column[v][j]. */
huddle_status hd_step_sum_scaled(int32_t count, const huddle_csr *matrices, double *const *row,
                                 double *const *column, huddle_csr *sum);

/* Makes the graph of each view, with bridges only if the views together have too many components,
 * and with copies; and what normalises it. */
huddle_status hd_spectral_make_view_graphs(huddle_context *context,
                                           const hd_spectral_options *options,
                                           huddle_range n_clusters, hd_fit *fit);

/* The fit's graph as the mean of those of the views by their weights; these graphs are freed. */
huddle_status hd_spectral_take_mean_graph(huddle_context *context, hd_fit *fit);

/* For a matrix of the fit's graph that was made of those of the views in another way: its info, and
 * frees the views' matrices, which no part of a fit may need later. */
huddle_status hd_spectral_finish_views(huddle_context *context, hd_fit *fit);

/* New points, as many matrices as the fit has views, among the training points: row i of w has the
 * weights of its edges in the mean, and same[i] (x->n) is the training row that it equals in every
 * view, or -1. */
huddle_status hd_spectral_weigh_new_views(huddle_context *context, const hd_fit *fit,
                                          const huddle_knn_options *knn, const huddle_points *x,
                                          huddle_csr *w, int64_t *same);

#endif
