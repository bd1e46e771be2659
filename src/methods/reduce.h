/* Linear maps that a method applies after the preparation. */
#ifndef HUDDLE_SRC_REDUCE_H
#define HUDDLE_SRC_REDUCE_H

#include "methods/method.h"

typedef struct hd_reduce_options {
    int32_t dim; /* principal components to keep, or HUDDLE_AUTO */
} hd_reduce_options;

const huddle_option *hd_reduce_table(void);

/* Turns the points of the input into their first principal components, neither whitened nor scaled:
 * prepares them, fills in fit->reduction and makes fit->points the components of the training
 * points. dim is clipped to their rank, with a warning; auto keeps the first that hold
 * 9 / 10 of the variance, at most 150. One decomposition serves all values of dim up to 150 in
 * fits that share a cache. */
huddle_status hd_fit_pca(huddle_context *context, const hd_input *input,
                         const huddle_prepare_options *prepare, int32_t dim, uint64_t seed,
                         hd_fit *fit);

/* The first r principal components of points (r <= n, d) as a map, rows not scaled; fewer if the
 * rank is less, one column of zeros if all points are equal. variances (r numbers) and total, that
 * of all components, are over n. */
huddle_status hd_principal_map(huddle_context *context, const huddle_points *points, int64_t r,
                               uint64_t seed, huddle_preparation *map, double *variances,
                               double *total);

/* Replaces fit->points by the reduction of `points`, which may be a view of fit->points. */
huddle_status hd_fit_reduce(huddle_context *context, const huddle_points *points, hd_fit *fit);

/* The predict of a method that ends with K-means on reduced points. */
huddle_status hd_reduced_predict(huddle_context *context, const hd_fit *fit, const void *options,
                                 const huddle_points *x, int32_t *labels);

#endif
