/* A mixture of Gaussians, fitted by EM. */
#ifndef HUDDLE_SRC_STEPS_MIXTURE_H
#define HUDDLE_SRC_STEPS_MIXTURE_H

#include "fit/fit.h"

/* Component k has the density N(means[k], S_k) and the weight weights[k], 0 if it has no rows. S_k
 * is represented by a matrix B with B S_k B' = I. Its form depends on `covariance`, which is
 * "full", "tied" (one matrix for all components), "diagonal" or "spherical". */
typedef struct hd_step_mixture {
    const char *covariance;
    int32_t c;
    int64_t d;
    double *weights;   /* c */
    double *means;     /* c x d, as the points are stored: without their shift */
    double *scales;    /* B, see hd_step_mixture_scales() */
    int32_t n_floored; /* covariances in which a variance had to be raised */
} hd_step_mixture;

/* The rows and columns of all B below each other: full: lower triangles, d rows for each component;
 * tied: one lower triangle; diagonal: a row of diagonal entries for each component; spherical: one
 * number for each. */
void hd_step_mixture_scales(const char *covariance, int32_t c, int64_t d, int64_t *rows,
                            int64_t *cols);

void hd_step_mixture_free(hd_step_mixture *mixture);

typedef struct hd_step_mixture_options {
    const char *covariance;
    double least;     /* variance of a component in any direction, above 0 */
    double tol;       /* stop when the log-likelihood of a row rises by less on average */
    int32_t max_iter; /* maximum number of rounds */
} hd_step_mixture_options;

/* Fits c components to points, row i of which counts copies[i] times (NULL: once), starting from
 * labels in 0 .. c - 1. The log-likelihoods of the start, which has the parameters that fit the
 * labels best, and of every round are left in history; they never fall. mixture owns nothing
 * before. */
huddle_status hd_step_mixture_fit(huddle_context *context, const huddle_points *points,
                                  const double *copies, int32_t c, const int32_t *labels,
                                  const hd_step_mixture_options *options, hd_step_mixture *mixture,
                                  huddle_alternation_info *history);

/* The component of the largest responsibility for each row, of equal ones the first. */
huddle_status hd_step_mixture_label(huddle_context *context, const huddle_points *points,
                                    const hd_step_mixture *mixture, int32_t *labels);

/* Free parameters of a mixture whose points vary in d columns. */
double hd_step_mixture_parameters(const char *covariance, int32_t c, int64_t d);

#endif
