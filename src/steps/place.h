/* New points in an embedding (docs/method.md, "New points"): each is placed by its neighbours among
 * the training points, without changing the embedding of these. */
#ifndef HUDDLE_SRC_STEPS_PLACE_H
#define HUDDLE_SRC_STEPS_PLACE_H

#include "steps/options.h"

/* How far new row i may be from a training row that it is taken for. */
double hd_spectral_same_distance(const huddle_points *x, int64_t i);

/* Rows of the embedding for new points, by the options of a method. same[i] (n) is the training row
 * that new row i equals and whose row of the embedding it has, or -1. */
typedef huddle_status hd_step_place(huddle_context *context, const hd_fit *fit, const void *options,
                                    const huddle_points *x, huddle_dense *rows, int64_t *same);

/* The neighbours of new points, prepared already, among those of the fit; with ties where rows of x
 * were merged. */
huddle_status hd_spectral_query_neighbors(huddle_context *context, const hd_fit *fit,
                                          const huddle_points *x, const huddle_knn_options *options,
                                          huddle_neighbors *neighbors);

/* The training row that new row i equals, or -1, by the lists of the call above. Equal but for
 * rounding is sufficient: a row that was prepared in another batch may differ in the last bit. */
int64_t hd_spectral_same_row(const huddle_points *x, int64_t i, const huddle_knn_options *options,
                             const huddle_neighbors *neighbors);

/* Completes a sum of w_xj / sqrt(d_j) v_j to a row of the embedding: divides it by sqrt(d_x) and
 * the eigenvalues of the graph, d_x being the degree of the new point, and applies the rule, but
 * for that of commute rows. */
void hd_spectral_finish_row(const hd_fit *fit, const char *rule, double degree, int64_t columns,
                            double *row);

/* Rows of the embedding for new points, by the neighbours among the training points they have:
 *
 *     f(x) = sum_j w_xj / sqrt(d_x d_j) v_j / (1 - lambda), then the row rule,
 *
 * w_xj with the copies of j as in the graph.
 *
 * for a method whose options begin with hd_spectral_options. If rows are distributed over
 * processes, same[i] is the label of the training row. rows and same (n) are the caller's. */
hd_step_place hd_spectral_place;

/* The scale that a point's own distances to k neighbours give it; only selftune uses it. */
double hd_spectral_own_scale(const huddle_scale *scale, const double *distance, int32_t k);

/* Lists of neighbours as a sparse matrix with the weights that a graph of this scale over the fit's
 * points would give new ones. */
huddle_status hd_spectral_weigh_new(const huddle_neighbors *neighbors, const huddle_scale *scale,
                                    const hd_fit *fit, huddle_csr *w);

#endif
