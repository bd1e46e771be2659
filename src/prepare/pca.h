/* Principal components. */
#ifndef HUDDLE_SRC_PREPARE_PCA_H
#define HUDDLE_SRC_PREPARE_PCA_H

#include "huddle/prepare.h"
#include "prepare/centred.h"

/* Mean of each column as stored (no shift added), and variance (divided by n), over the rows of all
 * processes. */
huddle_status hd_prepare_column_moments(huddle_context *context, const huddle_points *x,
                                        double *mean, double *variance);

/* Whether the rows of sparse points have norm 1 already, as those of text usually do, or 0. */
bool hd_prepare_has_unit_rows(const huddle_points *x);

/* The first r principal components of the centred points: unit columns of components (d x r,
 * row-major, largest entry of each positive), their variances (divided by n), and *rank, the number
 * of them that exceed rounding error; those beyond are zero. If `rough`, those of large or sparse
 * data are an orthonormal basis of nearly the same space, ordered by variance: enough to compare
 * preparations. */
huddle_status hd_prepare_pca(huddle_context *context, hd_prepare_centred *centred, int64_t r,
                             bool rough, uint64_t seed, double *components, double *variances,
                             int64_t *rank);

/* huddle_prepare_fit(), with rough components or not. */
huddle_status hd_prepare_fit(huddle_context *context, const huddle_points *x,
                             const huddle_prepare_options *options, bool rough,
                             huddle_preparation *preparation);

#endif
