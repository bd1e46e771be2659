/* Medoids: for each cluster the row nearest its centre. */
#ifndef HUDDLE_SRC_STEPS_MEDOIDS_H
#define HUDDLE_SRC_STEPS_MEDOIDS_H

#include "fit/fit.h"

/* How far a row is from the centre of its cluster; INFINITY: it cannot be the medoid. */
typedef double hd_step_distance(const void *of, int64_t row, int32_t cluster);

/* The nearest of the n labelled rows for each cluster, of equally near ones the first; -1 for a
 * cluster that is empty. */
huddle_status hd_step_find_medoids(huddle_context *context, int64_t n, hd_step_distance *distance,
                                   const void *of, hd_fit_clusters *clusters);

/* The same by distances from the centres. Row i of n is point of[i], or point i if of is NULL. */
huddle_status hd_step_medoids_of_points(huddle_context *context, const huddle_points *points,
                                        const int32_t *of, int64_t n, hd_fit_clusters *clusters);

/* The same by distances from the means of the rows of a matrix, for labels that are not those of
 * the centres; also marks the rows that equal a medoid. */
huddle_status hd_step_medoids_of_rows(huddle_context *context, const hd_fit_rows *rows,
                                      const huddle_dense *matrix, hd_fit_clusters *clusters);

/* If rows are distributed over processes: of the rows that the processes have found, each at a
 * distance from its centre (infinity if there is none), the nearest stays the medoid, of equally
 * near ones the first of all rows. The others become -1, so that a cluster has its medoid on one
 * process. */
huddle_status hd_step_reduce_medoids(huddle_context *context, int64_t n, double *distances,
                                     hd_fit_clusters *clusters);

/* Sets is_medoid_row where a row of the matrix equals the medoid of its cluster, which may be on
 * another process: K-means cannot distinguish them, and hd_step_choose_medoids() chooses among
 * them. */
huddle_status hd_step_mark_medoids(huddle_context *context, const huddle_dense *matrix,
                                   hd_fit_clusters *clusters);

/* Chooses each medoid among the rows that K-means saw as equal: the row nearest their mean in the
 * points, or without points (NULL) the one of the largest degree in the graph. Without either the
 * medoid stays the first of them. */
huddle_status hd_step_choose_medoids(huddle_context *context, const huddle_points *points,
                                     const huddle_csr *graph, hd_fit *fit);

/* The means of the clusters 0 .. c - 1, c x d as stored, without the points' shift; and behind them
 * the rows of x in each, 0 if it is empty. counts: which rows of the fit count; NULL: all. *means
 * is to be freed. */
huddle_status hd_step_cluster_means(huddle_context *context, const hd_fit_rows *rows,
                                    const int32_t *labels, const bool *counts,
                                    const huddle_points *x, int64_t c, double **means);

/* Centres relative to the points' shift, in which the stored values can be compared with them
 * directly, and their squared norms; both are to be freed. */
huddle_status hd_step_stored_centres(const huddle_points *points, const huddle_dense *centres,
                                     double **stored, double **norms);

/* Squared distance of row i from a centre, d doubles without the points' shift. centre_norm is the
 * centre's squared norm and needed for sparse points only; to compare rows with one centre, any
 * number will do. */
double hd_step_distance_to(const huddle_points *x, int64_t i, const double *centre,
                           double centre_norm);

#endif
