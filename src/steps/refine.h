/* Refinement of a method's labels on its graph (option `refine`; docs/method.md, "Refinement").
 *
 * A method clusters as published, then calls hd_step_refine(), which replaces the labels of the
 * fit by better ones and keeps the method's own beside them. Centres and the info of K-means or
 * of a rotation remain those of the method's own step. New points get the labels of their
 * neighbours then, because the clusters are no longer those of the centres. */
#ifndef HUDDLE_SRC_STEPS_REFINE_H
#define HUDDLE_SRC_STEPS_REFINE_H

#include "steps/options.h"

/* To be called first in a fit: where labels cannot be refined (an embedding without a graph),
 * "auto" becomes "none", and the info says why; "graph" fails. */
huddle_status hd_step_settle_refine(huddle_context *context, const hd_step_job *job,
                                    hd_spectral_options *options, hd_fit_refined *refined);

/* Refines `own` labellings (the method's own first) on the graph, with K-means on commute rows as a
 * further start; labels: rows->n.
 *
 * embedding: eigenvectors of the graph, of which the first 2 n_clusters are used (fewer if there
 * are fewer); NULL or without vectors: no such start. tree: merges of the same graph, or NULL.
 * Starts other than the first that have fewer clusters than it are left out. The number of clusters
 * is that of the first start, at most n_clusters; with fewer than 2 there is nothing to refine, and
 * info->n_trials is 0. */
huddle_status hd_step_refine_labels(huddle_context *context, const hd_spectral_options *options,
                                    int32_t n_clusters, const hd_fit_rows *rows,
                                    const huddle_csr *graph, const hd_fit_embedding *embedding,
                                    const huddle_refine_tree *tree, int32_t n_own,
                                    const huddle_refine_start *own, int32_t *labels,
                                    huddle_refine_info *info);

/* K-means on commute rows, made of the first 2 n_clusters vectors. */
huddle_status hd_step_cluster_commute(huddle_context *context, const hd_spectral_options *options,
                                      int32_t n_clusters, const hd_fit_rows *rows,
                                      const hd_fit_embedding *embedding, hd_fit_clusters *clusters);

/* The last step of a method's clustering: refines the labels of the fit, if that is wanted and
 * there is a graph. One of `own`, usually the first, has the labels of the fit; `clustered` are the
 * rows from which they come, among which the medoids of the refined clusters are chosen. embedding:
 * as above. */
huddle_status hd_step_refine(huddle_context *context, const hd_spectral_options *options,
                             const hd_fit_embedding *embedding, int32_t n_own,
                             const huddle_refine_start *own, const huddle_dense *clustered,
                             hd_fit *fit);

#endif
