/* What a fit is given, and the options that the steps of spectral methods share. */
#ifndef HUDDLE_SRC_STEPS_OPTIONS_H
#define HUDDLE_SRC_STEPS_OPTIONS_H

#include "fit/fit.h"

/* Every method's options struct begins with these. */
typedef struct hd_step_common {
    huddle_range n_clusters;
    uint64_t seed;
} hd_step_common;

/* Begins the options struct of every spectral method. */
typedef struct hd_spectral_options {
    hd_step_common common;
    const char *affinity; /* what x is: features, distances, precomputed,
                             precomputed_nearest_neighbors */
    huddle_prepare_options prepare;
    huddle_knn_options knn;
    huddle_weight_options weight;
    huddle_connect_options connect;
    huddle_embed_options embed;
    huddle_kmeans_options kmeans;
    const char *refine; /* auto, none, graph; NULL: a method without refinement (steps/refine.h) */
    const char *duplicates;      /* merge, keep; NULL: merge */
    huddle_numbers view_weights; /* of several views; empty: a method that takes one */
    bool few_vectors; /* refinement has no eigenvectors beyond those of F, to save memory */
    bool trial;       /* the eigenvectors are those of hd_embed_trial() */
} hd_spectral_options;

/* The default options of every stage, for choices that a method makes on the side. */
hd_spectral_options hd_spectral_defaults(huddle_range n_clusters, uint64_t seed);

/* The options of the method's own K-means for so many clusters, without the labels of its starts.
 */
huddle_kmeans_options hd_spectral_kmeans_options(const hd_spectral_options *options,
                                                 int32_t n_clusters);

/* Whether labels are to be refined: the option is there and not "none". */
bool hd_spectral_refines(const hd_spectral_options *options);

/* What a fit is given. x is NULL only if a graph or an embedding is there instead. */
typedef struct hd_step_job {
    const huddle_points *x; /* n_views of them, one after the other */
    int32_t n_views;        /* 0, 1: one */
    const huddle_csr *graph;
    const huddle_dense *embedding;
    struct huddle_cache *cache; /* to share results with other fits of the same x, or NULL */
    hd_step_common common;      /* as the method's options have it */
    bool keep_starts;           /* K-means keeps the labels of every restart */
} hd_step_job;

/* Rows of x or, without it, of the graph or the embedding; 0 without any. */
int64_t hd_step_job_rows(const hd_step_job *job);

#endif
