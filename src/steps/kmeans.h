/* K-means as a step of a fit. */
#ifndef HUDDLE_SRC_STEPS_KMEANS_H
#define HUDDLE_SRC_STEPS_KMEANS_H

#include "fit/fit.h"

/* Runs K-means on points, leaving labels, centres, medoids and info in clusters (replacing what was
 * there; the alternation stays). */
huddle_status hd_step_kmeans(huddle_context *context, const huddle_points *points,
                             const huddle_kmeans_options *options, const hd_fit_rows *rows,
                             hd_fit_clusters *clusters);

/* The same for the rows of a matrix of doubles, on its distinct rows with their counts. Warns if
 * there are fewer distinct rows than clusters. */
huddle_status hd_step_kmeans_dense(huddle_context *context, const huddle_dense *matrix,
                                   const huddle_kmeans_options *options, const hd_fit_rows *rows,
                                   hd_fit_clusters *clusters);

/* Warns that there are empty clusters, if K-means had too few distinct rows. */
void hd_step_warn_few_distinct(huddle_context *context, const hd_fit_clusters *clusters);

#endif
