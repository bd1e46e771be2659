/* Huddle, fit: results that belong to a fit as a whole and not to one stage. The info structs of
 * the stages are in the stages' headers; huddle/model.h provides accessors. */
#ifndef HUDDLE_FIT_H
#define HUDDLE_FIT_H

#include "huddle/embed.h"
#include "huddle/graph.h"
#include "huddle/kmeans.h"
#include "huddle/prepare.h"
#include "huddle/shrink.h"

/* A preparation that was tried by prepare = auto: scores of its labels on its own graph, and how
 * many points it was last evaluated on. For several numbers of clusters the scores are means, or
 * those of the number with the largest modularity; for a preparation that was ruled out early,
 * those of clusters found by merging alone. divergence: NaN if labels are not refined. */
typedef struct huddle_prepare_trial {
    huddle_rule rule;
    double modularity, divergence;
    int64_t n;
} huddle_prepare_trial;

/* The score whose largest value decides between preparations. */
typedef enum huddle_prepare_score {
    HUDDLE_PREPARE_BY_MODULARITY = 0,    /* of spectral clustering with default options */
    HUDDLE_PREPARE_BY_DIVERGENCE,        /* of refined labels */
    HUDDLE_PREPARE_BY_LARGEST_MODULARITY /* of refined labels, over all numbers of clusters */
} huddle_prepare_score;

/* Two steps that alternate until nothing changes: K-means and discriminant analysis, shrinking and
 * a subspace, labels and a rotation. The objective of method rmsc is the largest violation of a
 * constraint, which becomes 0. Of an encoder, the epochs of its layers: n_iter counts all
 * evaluations of the loss, objective has those that were lower than the one before, layer by layer,
 * and stop is that of the last layer. */
typedef struct huddle_alternation_info {
    int32_t n_iter; /* rounds */
    huddle_stop stop;
    int32_t n_history; /* length of objective */
    double *objective; /* before the first round and after each */
} huddle_alternation_info;

/* A rotation of the embedding whose axes are the clusters (method ncut), found from several
 * starts. The objective is sum_i ||x_i R - e_{y_i}||^2. */
typedef struct huddle_rotation_info {
    double objective;   /* of the best start */
    double *objectives; /* of every start */
    int32_t n_restarts; /* length of objectives */
    int32_t best;       /* which start was kept */
    int32_t n_iter;     /* of the best start */
    huddle_stop stop;
    double seconds;
} huddle_rotation_info;

/* One number of clusters of a range, as it was tried; or, with n_clusters = auto and refined
 * labels, a number that was considered. Scores that were not computed are NaN. */
typedef struct huddle_trial {
    int32_t n_clusters;
    double inertia; /* of K-means; of a rotation, its objective */
    double silhouette;
    double ncut, eigengap; /* NaN without a graph */
    double alignment;      /* NaN unless the method aligns the embedding with axes */
    double modularity;     /* of refined labels */
    double divergence;     /* of refined labels */
    double stability;      /* under sampling, of the numbers with the largest modularity */
    double bic;            /* of a mixture, whose inertia is its negative log-likelihood */
} huddle_trial;

/* Internal scores, which need no classes; NaN where there is none. */
typedef struct huddle_fit_scores {
    double silhouette; /* of the prepared points */
    double ncut;       /* normalised cut of the graph */
    double stability;  /* mean ARI with the labels of other seeds, before refinement */
} huddle_fit_scores;

/* An array of a fit. */
typedef enum huddle_array_type {
    HUDDLE_ARRAY_NONE = 0,
    HUDDLE_ARRAY_F32,
    HUDDLE_ARRAY_F64,
    HUDDLE_ARRAY_I32,
    HUDDLE_ARRAY_CSR /* values are double, with offsets and columns */
} huddle_array_type;

typedef struct huddle_array {
    huddle_array_type type;
    int64_t rows, cols, stride;
    const void *values;
    const int64_t *offsets; /* sparse only */
    const int32_t *columns; /* sparse only */
} huddle_array;

#endif
