/* Linear maps that a method applies after the preparation. */
#ifndef HUDDLE_SRC_METHODS_REDUCE_H
#define HUDDLE_SRC_METHODS_REDUCE_H

#include "methods/method.h"

typedef struct hd_method_reduce_options {
    int32_t dim; /* principal components to keep, or HUDDLE_AUTO */
} hd_method_reduce_options;

const huddle_option *hd_method_reduce_table(void);

/* Turns x into its first principal components, neither whitened nor scaled: prepares x, fills
 * in the fit's reduction and makes its points the components of the training points. dim is clipped
 * to their rank, with a warning; auto keeps the first that contain 9 / 10 of the variance, at most
 * 150. One decomposition serves all values of dim up to 150 in fits that share a cache. */
huddle_status hd_method_pca(hd_method_run *run, const huddle_prepare_options *prepare, int32_t dim);

/* The first r principal components of points (r <= n, d) as a map, rows not scaled; fewer if the
 * rank is less, one column of zeros if all points are equal. variances (r numbers) and total, that
 * of all components, are over n. */
huddle_status hd_method_principal_map(huddle_context *context, const huddle_points *points,
                                      int64_t r, uint64_t seed, huddle_preparation *map,
                                      double *variances, double *total);

/* Replaces the points by the reduction of `points`, which may be a view of them. */
huddle_status hd_method_reduce(huddle_context *context, const huddle_points *points,
                               hd_fit_prepared *prepared);

#endif
