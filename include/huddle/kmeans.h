/* Huddle, kmeans: Lloyd's K-means with restarts.
 *
 *     minimise  sum_i  omega_i ||x_i - m_{y_i}||^2   over centres m and labels y
 *
 * omega_i is the weight of row i, 1 if none are given. Each restart draws its starting centres from
 * a random stream of its own; the restart with the smallest sum is kept, ties broken by the earlier
 * one. A restart stops when no label changes, when the centres hardly move (tol), or after max_iter
 * iterations; the labels are then those of the centres returned. An empty cluster is given the
 * point farthest from its centre. From the same starting centres, labels and iterations are those
 * of scikit-learn's Lloyd in double precision.
 *
 * With many rows, 4 max(16384, 256 n_clusters) or more, restarts run on a sample of a quarter of
 * that number, the better ones continue on larger samples, and the best few on all rows
 * (docs/method.md, "Solvers"); full_restarts makes every restart use all rows, as do keep_starts,
 * draws and rows that are distributed over processes.
 *
 * Points are float and dense or sparse, sums double. Labels are those of the distances in double,
 * ties broken by the smaller index. Labels and centres are the same, bit for bit, for any number of
 * threads. Besides the points, some 20 bytes per row, at most about 50 MB of sums and distances
 * and a sample of at most a quarter of the points are kept, once per thread if restarts run side by
 * side (up to 32768 rows); no matrix of distances is stored.
 */
#ifndef HUDDLE_KMEANS_H
#define HUDDLE_KMEANS_H

#include "huddle/matrix.h"

/* Start from huddle_kmeans_defaults(), then change what you need. */
typedef struct huddle_kmeans_options {
    int32_t n_clusters; /* 1 .. n */
    int32_t n_init;     /* restarts */
    int32_t max_iter;   /* maximum number of Lloyd iterations of a restart */
    double tol;         /* stop when the sum of squared centre shifts is less than tol times the
                           mean variance of the features */
    const char *init;   /* "k-means++": each centre is the best of 2 + log(n_clusters) rows drawn
                           with probability proportional to the squared distance to the nearest
                           centre so far; "sample": distinct rows at random */
    bool full_restarts; /* every restart uses all rows, however many there are */
    uint64_t seed;
    const huddle_dense *start; /* if not NULL: begin here, without random numbers; m n_clusters x d
                                  for m restarts, n_init being ignored; in the coordinates of the
                                  points with their shift added. Not in the option table */
    bool keep_starts;          /* return the labels of every restart too. Not in the table */
    const double *draws; /* if not NULL: numbers in [0, 1) that k-means++ uses instead of those
                            of the seed, huddle_kmeans_n_draws() for each of the n_init
                            restarts. A restart takes first the one for its first centre, then
                            those for the candidates of the second, and so on: the order in
                            which scikit-learn draws them. Not in the table */
    bool keep_averaged;  /* return result->averaged too. Not in the table */
    bool log_iterations; /* log a line for every iteration. Not in the table */
} huddle_kmeans_options;

typedef struct huddle_kmeans_result {
    int32_t *labels;      /* n, in 0 .. n_clusters - 1 */
    huddle_dense centres; /* n_clusters x d, the points' shift added */
    int32_t *averaged;    /* with keep_averaged: n, the labels whose means the centres are. They
                             differ from labels if the iteration stopped before it converged; NULL if
                             there are too few distinct rows */
} huddle_kmeans_result;

typedef struct huddle_kmeans_info {
    double inertia;        /* the sum above, of the best restart */
    double *inertias;      /* of every restart, estimated where it ended on a sample; owned by the
                              info */
    int32_t n_restarts;    /* length of inertias; 1 if one cluster is wanted or if there are too few
                              distinct rows; else that of start, or n_init */
    int32_t *start_labels; /* with keep_starts: n_restarts x n, as labels; else NULL; owned by the
                              info */
    int32_t best;          /* index of the restart that was kept */
    int32_t n_iter;        /* of the best restart, on all rows */
    int32_t n_distinct;    /* distinct rows, counted up to n_clusters; if fewer than n_clusters, the
                              labels use only 0 .. n_distinct - 1, the other centres repeat the
                              first, and stop is HUDDLE_STOP_EXACT */
    huddle_stop stop;
    double seconds;
} huddle_kmeans_info;

/* The option table, for programs that compose options or write documentation. */
HUDDLE_API const huddle_option *huddle_kmeans_options_table(void);
HUDDLE_API huddle_kmeans_options huddle_kmeans_defaults(void);

/* How many of options.draws a restart uses: 1 + (n_clusters - 1) (2 + log(n_clusters)). */
HUDDLE_API int64_t huddle_kmeans_n_draws(int32_t n_clusters);

/* Clusters the rows of x. row_weights (n positive numbers) may be NULL. result and info are
 * freed by their _free functions, which may be called after a failure too; info may be NULL.
 * Progress is reported as stage "kmeans". HUDDLE_INVALID if an option or x is invalid
 * or has the wrong size, HUDDLE_NO_MEMORY, HUDDLE_CANCELLED. */
HUDDLE_API huddle_status huddle_kmeans(huddle_context *context, const huddle_points *x,
                                       const double *row_weights,
                                       const huddle_kmeans_options *options,
                                       huddle_kmeans_result *result, huddle_kmeans_info *info);

/* Labels each row of x by the nearest centre, ties broken by the smaller index. The centres are in
 * the coordinates of the points with their shift added, as huddle_kmeans() returns them; labels is
 * the caller's array of n. */
HUDDLE_API huddle_status huddle_kmeans_assign(huddle_context *context, const huddle_points *x,
                                              const huddle_dense *centres, int32_t *labels);

HUDDLE_API void huddle_kmeans_result_free(huddle_kmeans_result *result);
HUDDLE_API void huddle_kmeans_info_free(huddle_kmeans_info *info);

#endif
