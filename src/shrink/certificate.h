/* The dual bound: what the certificate and the solvers share. */
#ifndef HUDDLE_SRC_SHRINK_CERTIFICATE_H
#define HUDDLE_SRC_SHRINK_CERTIFICATE_H

#include "shrink/edges.h"

/* The "l21" bound of one connected piece. Whatever Z in its edge balls, with y = B'Z,
 *
 *     optimum >= s <Z, BF> - sum_i R_i (s ||y_i|| - 1)_+        for every s in [0, 1]
 *
 * if some optimal G has ||g_i - f_i|| <= R_i: rows that break ||y_i|| <= 1 cost only their own
 * excess. The right side is concave and piecewise linear in s; this maximises it exactly. With
 * weights m_i the same holds for ||y_i|| / m_i and m_i R_i in place of ||y_i|| and R_i.
 * `inner` is <Z, BF>; norm and radius have n entries, scratch has room for n of each. */
double hd_dual_l21(double inner, int64_t n, const double *norm, const double *radius,
                   double *scratch, double *scale);

/* The "l2" bound s inner - s^2 energy / 4, energy = sum_i ||(B'Z)_i||^2 / m_i, at its best s in
 * [0, 1]. */
double hd_dual_l2(double inner, double energy, double *scale);

/* R_i: an optimal G lies in the convex hull of the rows of F in its component of W (projecting on
 * it lowers no term), so ||g_i - f_i|| is at most the distance from f_i to the component's mean
 * plus the largest such distance. f has n rows of c at the given stride. */
huddle_status hd_radii(int64_t n, int64_t c, const double *f, int64_t stride,
                       const int32_t *component, int32_t n_components, double *radius);

/* HUDDLE_INVALID unless the weights are n positive finite numbers, or NULL. */
huddle_status hd_check_weights(const double *weights, int64_t n);

/* What huddle_shrink_certificate_weighted() does once its arguments are checked; dual only if z is
 * given. */
huddle_status hd_certify(const huddle_dense *f, const hd_edges *edges, const double *weights,
                         double gamma, bool squared, const huddle_dense *g, const huddle_dense *z,
                         double *objective, double *dual);

/* The relative gap as reported: 0 if the objective is 0. */
double hd_relative_gap(double objective, double dual);

#endif
