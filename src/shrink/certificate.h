/* The dual bound: what the certificate and the solvers share (docs/method.md, "The certificate").
 *
 * For a dual point Z with ||z_e|| <= lambda_e, y = B'Z and any s in [0, 1], weak duality gives
 *
 *     "l21":  optimum >= s <Z, BF> - sum_i m_i R_i (s ||y_i|| / m_i - 1)_+
 *     "l2":   optimum >= s <Z, BF> - s^2 sum_i ||y_i||^2 / (4 m_i)
 *
 * In the first line some optimal G has ||g_i - f_i|| <= R_i, so that a row that violates the dual
 * constraint ||y_i|| <= m_i costs its own excess only, instead of a smaller s for all rows. */
#ifndef HUDDLE_SRC_SHRINK_CERTIFICATE_H
#define HUDDLE_SRC_SHRINK_CERTIFICATE_H

#include "shrink/problem.h"

/* The "l21" bound at its best s, which is found exactly: the right-hand side is concave and
 * piecewise linear in s. inner = <Z, BF> over all processes; norm_i = ||y_i|| / m_i and radius_i =
 * m_i R_i of this process's n rows; scratch has room for 2 n numbers. */
huddle_status hd_shrink_dual_l21(huddle_context *context, double inner, int64_t n,
                                 const double *norm, const double *radius, double *scratch,
                                 double *scale, double *bound);

/* The "l2" bound at its best s; energy = sum_i ||y_i||^2 / m_i. */
double hd_shrink_dual_l2(double inner, double energy, double *scale);

/* R_i: an optimal G lies in the convex hull of the rows of F in its component of W (projecting on
 * it raises no term), so ||g_i - f_i|| is at most the distance from f_i to the component's mean
 * plus the largest such distance. */
huddle_status hd_shrink_radii(huddle_context *context, const huddle_dense *f,
                              const int32_t *component, int32_t n_components, double *radius);

/* HUDDLE_INVALID unless the weights are n positive finite numbers, or NULL. */
huddle_status hd_shrink_check_weights(const double *weights, int64_t n);

/* HUDDLE_INVALID unless the loss is "l21" or "l2" (*squared) and gamma is finite and not negative.
 */
huddle_status hd_shrink_check_loss(const char *loss, double gamma, bool *squared);

/* Fetches m, and HUDDLE_INVALID unless it is finite and rows x cols. */
huddle_status hd_shrink_check_shape(const huddle_dense *m, const char *name, int64_t rows,
                                    int64_t cols);

/* What huddle_shrink_certificate() does once its arguments are checked; dual only if z is given. */
huddle_status hd_shrink_certify(const hd_shrink_input *input, const huddle_dense *g,
                                const huddle_dense *z, double *objective, double *dual);

/* The relative gap as reported: 0 if the objective is 0. */
double hd_shrink_relative_gap(double objective, double dual);

#endif
