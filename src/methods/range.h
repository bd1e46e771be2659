/* Fits for one number of clusters, or for each number of a range. */
#ifndef HUDDLE_SRC_METHODS_RANGE_H
#define HUDDLE_SRC_METHODS_RANGE_H

#include "steps/options.h"

/* How a method makes labels for one number of clusters, and what trials are scored by. */
typedef struct hd_fit_trial_plan {
    huddle_status (*cluster)(huddle_context *context, void *argument, int32_t n_clusters,
                             hd_fit *fit);
    void *argument;
    const huddle_points *points; /* for silhouettes and medoids; or NULL */
    const huddle_csr *graph;     /* for normalised cuts; or NULL */
    bool graph_per_trial;        /* every n_clusters has its own: eigengaps cannot be compared */
    const hd_spectral_options *spectral; /* to measure the stability of refined labels; or
                                                   NULL */
    const hd_spectral_options *deciding; /* to choose between the graph and K-means
                                                   (decide/labels.h); or NULL */
    const hd_fit_embedding *laplacian;   /* for that: eigenvectors of the graph */
} hd_fit_trial_plan;

/* Calls cluster() for n_clusters; for a range, for each number in it, keeping their labels and
 * scores as trials, and once more for the best: the best alignment if the method aligns, else by
 * the eigengap rule (huddle_embed_choose) if it embeds, unless no gap is clear and labels are
 * refined: then by modularity; else the largest silhouette of the points; without points, of the
 * embedding that was given. Only the last call warns: warnings of the trials are not about the
 * result. */
huddle_status hd_fit_range(huddle_context *context, huddle_range n_clusters,
                           const hd_fit_trial_plan *plan, hd_fit *fit);

/* Of several alignments the largest number of clusters that is as good as the best is taken. */
bool hd_fit_alignment_as_good(double alignment, double best);

#endif
