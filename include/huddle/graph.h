/* Huddle, graph: neighbour graphs.
 *
 *   neighbours   the k nearest other points of every point, exact, or beyond a cost approximate
 *   weights      w_ij = exp(-d_ij^2 / delta^2) on the union of those lists
 *   components   the connected components of a graph
 *   connect      the shortest edges that join components ("bridges")
 *
 * A graph is a symmetric huddle_csr with a zero diagonal, both triangles stored: i and j are
 * joined if either is among the k nearest of the other.
 *
 * Exact means: the lists are those of brute force in double precision, ties resolved by the smaller
 * index. Kernels in single precision only propose candidates; the effect of their rounding is
 * bounded, and a point for which the bound does not decide is searched again. An approximate search
 * misses some neighbours; which share is estimated and reported (huddle_knn_info.recall). The lists
 * are identical, bit for bit, for any number of threads.
 *
 * Distances under "euclidean" are Euclidean; under "cosine" they are 1 - cos, and a row of zeros
 * is at distance 1 from every other row and at distance 0 from other rows of zeros. A point is
 * never its own neighbour, but its duplicates are, at distance 0. The methods search among distinct
 * points only; see "copies" below.
 *
 * Under an engine that distributes rows over processes, each process passes its own rows: lists and
 * rows of graphs belong to those rows, indices and columns are numbers among all rows. Functions
 * that need all rows at once return HUDDLE_UNSUPPORTED then, unless the engine provides them.
 */
#ifndef HUDDLE_GRAPH_H
#define HUDDLE_GRAPH_H

#include "huddle/matrix.h"

/* ---- neighbours -------------------------------------------------------------------------- */

/* Start from huddle_knn_defaults(), then change what you need.
 *
 * Solvers: "brute" compares all pairs; "pcabound" compares projections, whose distances are lower
 * bounds, and computes full distances only where the bound is not sufficient; "kdtree" is for few
 * dimensions; "cells" divides the points into the leaves of a tree and compares leaf with leaf.
 * These are exact, and "auto" chooses the one that should be fastest.
 *
 * "approximate" compares all pairs within the leaves of random trees, then neighbours of neighbours
 * until few lists change. It is only for dense float points among themselves; for anything else an
 * exact solver takes over. "auto" chooses it if each exact solver is predicted to need more than
 * 4e12 multiply-adds, about a minute on two cores: with brute force, 500,000 points of 32 features
 * or 100,000 of 784. The recall is estimated on 500 random points that are also searched exactly.
 * If it is below the option `recall`, the search continues with more trees and longer lists, 1.5, 3
 * and 6 times as many; if it is below the option after that, there is a warning
 * (HUDDLE_WARNING_LOW_RECALL). recall = 1 always searches exactly, at any cost.
 *
 * Sparse points have one solver, an inverted index, reported as "sparse"; the option is ignored for
 * them. */
typedef struct huddle_knn_options {
    const char *knn_solver; /* "auto", or one of huddle_graph_knn_solvers() */
    int32_t n_neighbors;    /* k, at least 1; limited to n - 1 */
    const char *metric;     /* "euclidean" or "cosine" */
    double recall;          /* share of true neighbours that an approximate search must find */
    uint64_t seed;          /* of random trees and projections; exact lists do not depend on it */
} huddle_knn_options;

/* Row i: index[i * k] .. index[i * k + k - 1] and their distances, by ascending (distance, index).
 * Lists made from sparse distances may be shorter: empty places come last and contain index -1 and
 * distance infinity. */
typedef struct huddle_neighbors {
    int64_t n;
    int32_t k;
    int32_t *index;
    double *distance;
    huddle_resident *resident; /* an engine's copy; usually NULL */
} huddle_neighbors;

/* The recall is the share of true neighbours found: 1 if the search was exact, otherwise an
 * estimate with a confidence interval of 95 % (docs/method.md, "Approximate neighbours"). */
typedef struct huddle_knn_info {
    const char *solver; /* the one that was used; static text */
    double recall, recall_low, recall_high;
    int32_t n_rounds;    /* approximate: rounds of neighbour descent */
    int64_t n_distances; /* distances computed in full, in double */
    int64_t n_repeated;  /* points searched again because rounding could have mattered */
    double seconds;
} huddle_knn_info;

/* Options knn_solver, n_neighbors, metric, recall. */
HUDDLE_API const huddle_option *huddle_knn_options_table(void);
HUDDLE_API huddle_knn_options huddle_knn_defaults(void);

/* The names of the solvers without "auto", ending with NULL. */
HUDDLE_API const char *const *huddle_graph_knn_solvers(void);

/* The k nearest other rows of every row of x, dense or sparse. out is freed by
 * huddle_neighbors_free(). HUDDLE_INVALID, HUDDLE_NO_MEMORY, HUDDLE_CANCELLED. */
HUDDLE_API huddle_status huddle_graph_knn(huddle_context *context, const huddle_points *x,
                                          const huddle_knn_options *options, huddle_neighbors *out,
                                          huddle_knn_info *info);

/* The same for rows of doubles, such as an embedding: distances by differences in double. */
HUDDLE_API huddle_status huddle_graph_knn_dense(huddle_context *context, const huddle_dense *f,
                                                const huddle_knn_options *options,
                                                huddle_neighbors *out, huddle_knn_info *info);

/* The k nearest rows of train (k limited to its n) for every row of query. Both dense or both
 * sparse, with equally many features; each with its own shift or none. No row is excluded: a query
 * that equals a training row has it as a neighbour at distance 0. out->n is query's n. */
HUDDLE_API huddle_status huddle_graph_query(huddle_context *context, const huddle_points *train,
                                            const huddle_points *query,
                                            const huddle_knn_options *options,
                                            huddle_neighbors *out, huddle_knn_info *info);
HUDDLE_API huddle_status huddle_graph_query_dense(huddle_context *context,
                                                  const huddle_dense *train,
                                                  const huddle_dense *query,
                                                  const huddle_knn_options *options,
                                                  huddle_neighbors *out, huddle_knn_info *info);

/* k-nearest-neighbour search including ties at the k-th distance (equal to one part in 10^5): all
 * tied rows are neighbours, at most 40 in all; smaller indices first. Rounded or categorical data
 * have many such rows, and which of them is the k-th carries no information. Lists with fewer than
 * out->k entries end with index -1 and distance infinity. Without ties the lists are those of the
 * functions above. */
HUDDLE_API huddle_status huddle_graph_knn_ties(huddle_context *context, const huddle_points *x,
                                               const huddle_knn_options *options,
                                               huddle_neighbors *out, huddle_knn_info *info);
HUDDLE_API huddle_status huddle_graph_query_ties(huddle_context *context,
                                                 const huddle_points *train,
                                                 const huddle_points *query,
                                                 const huddle_knn_options *options,
                                                 huddle_neighbors *out, huddle_knn_info *info);

/* As huddle_csr_fetch(). */
HUDDLE_API huddle_status huddle_neighbors_fetch(const huddle_neighbors *neighbors);

HUDDLE_API void huddle_neighbors_free(huddle_neighbors *neighbors);

/* ---- weights ----------------------------------------------------------------------------- */

/* The weight of an edge of length d is exp(-d^2 / delta^2), where delta is a number of the caller's
 * or follows from a rule. The rules, with s_i the distance from i to the last neighbour of its
 * list:
 *
 *   selftune   exp(-d^2 / (s_i s_j)); where s_i = 0, it is replaced by the smallest positive s
 *   mean       delta = mean distance over all lists
 *   knn        delta^2 = mean squared distance over all lists
 *   global     delta^2 = 2 m^2, m = mean distance over all pairs of different points
 *   binary     1
 *
 * The weight at d = 0 is always 1, and exponents below -20 are raised to -20: smaller weights make
 * systems singular without changing a label. */
typedef struct huddle_weight_options {
    const char *scale;    /* one of the rules */
    double mean_distance; /* for "global": m, from huddle_graph_mean_distance(); not an option */
    double delta;         /* > 0, for all edges, in place of the rule; HUDDLE_AUTO: by the rule */
} huddle_weight_options;

/* A rule together with its numbers, so that bridges and new points get weights like those of the
 * graph. */
typedef struct huddle_scale {
    const char *rule; /* static text; "delta" for a number of the caller's */
    double delta2;    /* delta^2; 0 under selftune and binary */
    double smallest;  /* selftune: the smallest positive s, 0 if there is none */
    double *local;    /* selftune: s_i of each vertex, zeros replaced; NULL otherwise */
    int64_t n;        /* length of local, 0 if NULL */
} huddle_scale;

/* Options scale and delta. */
HUDDLE_API const huddle_option *huddle_weight_options_table(void);
HUDDLE_API huddle_weight_options huddle_weight_defaults(void);

/* The rules that a scale can have, "delta" included; ends with NULL. */
HUDDLE_API const char *const *huddle_graph_scale_rules(void);

/* The graph of the union of the lists. The caller frees graph and scale (may be NULL). */
HUDDLE_API huddle_status huddle_graph_weigh(huddle_context *context,
                                            const huddle_neighbors *neighbors,
                                            const huddle_weight_options *options, huddle_csr *graph,
                                            huddle_scale *scale);

/* The weight at that distance between vertex i and a point whose own scale is s. For a vertex j,
 * s is scale->local[j]; for a new point it is the distance to the last of its k neighbours. Only
 * selftune uses i and s. */
HUDDLE_API double huddle_graph_weight(const huddle_scale *scale, int64_t i, double s,
                                      double distance);

HUDDLE_API void huddle_scale_free(huddle_scale *scale);

/* Mean distance for scale = global: the mean over all pairs of different rows while n (n - 1) / 2 *
 * d is at most 2^32, otherwise over a random sample of as many pairs as cost the same, at most
 * 2^20; the seed determines the sample. 0 if n = 1. */
HUDDLE_API huddle_status huddle_graph_mean_distance(huddle_context *context, const huddle_points *x,
                                                    const char *metric, uint64_t seed,
                                                    double *mean);
HUDDLE_API huddle_status huddle_graph_mean_distance_dense(huddle_context *context,
                                                          const huddle_dense *f, uint64_t seed,
                                                          double *mean);

/* ---- copies ------------------------------------------------------------------------------ */

/* More than k duplicates of a point have only each other as neighbours and form a component of
 * their own. Therefore the graph is built from the distinct points (huddle_points_distinct), and
 * this function converts it to the graph of all points with duplicates merged: an edge between
 * points of m_i and m_j copies is multiplied by (m_i + m_j) / 2, and a point of m copies gets the
 * diagonal entry m min(m - 1, n_neighbors), the total weight between its copies. n_neighbors = 0
 * leaves the diagonal empty. */
HUDDLE_API huddle_status huddle_graph_weigh_copies(huddle_context *context, const int64_t *copies,
                                                   int32_t n_neighbors, huddle_csr *graph);

/* ---- components and bridges -------------------------------------------------------------- */

/* component[v] for each vertex, numbered 0, 1, ... by the smallest vertex in each; *count is their
 * number. component is the caller's array of graph->rows. */
HUDDLE_API huddle_status huddle_graph_components(huddle_context *context, const huddle_csr *graph,
                                                 int32_t *component, int32_t *count);

/* Option connect:
 *
 *   false    no bridges
 *   true     the graph becomes one component
 *   auto     as true, but only if there are more components than clusters
 *   small    first every small component, of fewer than .3 n / n_clusters points, is joined to its
 *            nearest outside point, until there are none; then as auto
 *
 * Bridges are edges of a minimum spanning tree over the components: each joins the two nearest
 * points of two components, ties resolved by the smaller vertices, exact.
 *
 * With max_ratio > 0, auto also adds the short bridges, whatever the number of components: those no
 * longer than max_ratio times the median s_i (huddle_scale) of either of the two components. They
 * join the pieces of a thin cluster, such as a ring, that a gap between its points divides. Only
 * under scale rule selftune, which has the s_i. */
typedef struct huddle_connect_options {
    const char *connect;   /* "auto", "true", "false" or "small" */
    int32_t n_clusters;    /* at least 1; not an option of the table */
    const char *metric;    /* as for the neighbours */
    double max_ratio;      /* 0: no short bridges; not an option of the table */
    const int64_t *copies; /* number of points that each vertex represents, which decides whether a
                              component is small; NULL: 1 each */
} huddle_connect_options;

typedef struct huddle_connect_info {
    int32_t before, after; /* number of components */
    int32_t bridges;       /* edges added */
    double seconds;
} huddle_connect_info;

/* Option connect. */
HUDDLE_API const huddle_option *huddle_connect_options_table(void);
HUDDLE_API huddle_connect_options huddle_connect_defaults(void);

/* Adds bridges to graph, with weights by the same scale as its edges. x is what the graph was made
 * from. info contains the number of bridges. graph is unchanged on failure. */
HUDDLE_API huddle_status huddle_graph_connect(huddle_context *context, const huddle_points *x,
                                              const huddle_connect_options *options,
                                              const huddle_scale *scale, huddle_csr *graph,
                                              huddle_connect_info *info);

/* The same where only the matrix of all distances is known. */
HUDDLE_API huddle_status huddle_graph_connect_distances(
    huddle_context *context, const huddle_dense *distances, const huddle_connect_options *options,
    const huddle_scale *scale, huddle_csr *graph, huddle_connect_info *info);

/* ---- precomputed matrices ---------------------------------------------------------------- */

/* A graph from similarities; diagonal and zeros dropped. Of a matrix that is not symmetric
 * (A + A')/2 is used, with a warning (huddle_csr_symmetric_part()). The
 * matrix must be square; HUDDLE_INVALID, naming the place, on a negative value, NaN or infinity. */
HUDDLE_API huddle_status huddle_graph_from_affinity(huddle_context *context,
                                                    const huddle_csr *affinity, huddle_csr *graph);
HUDDLE_API huddle_status huddle_graph_from_affinity_dense(huddle_context *context,
                                                          const huddle_dense *affinity,
                                                          huddle_csr *graph);

/* Lists from distances: the k nearest of row i, without the diagonal. Of a sparse matrix only the
 * stored entries count (an explicit 0 is a duplicate), as in scikit-learn's graphs of precomputed
 * neighbours, and lists may be shorter. k is limited to n - 1. Fails like
 * huddle_graph_from_affinity(). */
HUDDLE_API huddle_status huddle_graph_from_distances(huddle_context *context,
                                                     const huddle_csr *distances,
                                                     int32_t n_neighbors, huddle_neighbors *out);
HUDDLE_API huddle_status huddle_graph_from_distances_dense(huddle_context *context,
                                                           const huddle_dense *distances,
                                                           int32_t n_neighbors,
                                                           huddle_neighbors *out);

/* The same with ties, as in huddle_graph_knn_ties(). */
HUDDLE_API huddle_status huddle_graph_from_distances_ties(huddle_context *context,
                                                          const huddle_dense *distances,
                                                          int32_t n_neighbors,
                                                          huddle_neighbors *out);

/* Mean distance for scale = global, of a matrix of distances without its diagonal. */
HUDDLE_API huddle_status huddle_graph_mean_of_distances(huddle_context *context,
                                                        const huddle_dense *distances,
                                                        double *mean);

#endif
