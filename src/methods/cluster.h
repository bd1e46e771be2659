/* The last steps of every method: clusters for one number of them, or for the best of a range. */
#ifndef HUDDLE_SRC_METHODS_CLUSTER_H
#define HUDDLE_SRC_METHODS_CLUSTER_H

#include "methods/method.h"

/* Makes the clusters of a fit for one number of them, replacing those of another. argument is the
 * method's. */
typedef huddle_status hd_method_cluster_step(hd_method_run *run, void *argument,
                                             int32_t n_clusters);

/* How a method clusters, and what its trials are scored by. */
typedef struct hd_method_clustering {
    hd_method_cluster_step *cluster;
    void *argument;
    const huddle_points *points;        /* for silhouettes and medoids; or NULL */
    const huddle_csr *graph;            /* for normalised cuts; or NULL */
    bool graph_per_trial;               /* every n_clusters has its own: eigengaps cannot be
                                           compared */
    const hd_spectral_options *refined; /* of a method that may refine its labels, to choose between
                                           the graph and K-means (decide/labels.h); or NULL */
    const hd_fit_embedding *laplacian;  /* for that: eigenvectors of the graph */
    bool measures_stability;            /* of refined labels for the numbers of a range */
} hd_method_clustering;

/* Clusters for run->n_clusters or, of a range, for the best of its numbers (methods/range.h).
 * Decides between the labels of the graph and of K-means where the method refines them. Clusters
 * are numbered, and medoids chosen. */
huddle_status hd_method_cluster(hd_method_run *run, const hd_method_clustering *how);

/* The clusters for one number, numbered. */
huddle_status hd_method_cluster_number(hd_method_run *run, const hd_method_clustering *how,
                                       int32_t n_clusters);

/* The options of K-means for one number of clusters. */
huddle_kmeans_options hd_method_kmeans_options(const hd_method_run *run,
                                               const huddle_kmeans_options *options,
                                               int32_t n_clusters);

/* The clusters of methods that are K-means on points; n_clusters = auto is chosen by the eigengap
 * of their graph. */
huddle_status hd_method_cluster_points(hd_method_run *run, const huddle_points *points,
                                       const huddle_kmeans_options *options);

#endif
