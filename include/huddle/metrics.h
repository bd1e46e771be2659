/* Huddle, metrics: scores of a labelling.
 *
 * Against known classes: accuracy under the best one-to-one mapping of clusters to classes, mutual
 * information normalised by the geometric mean of the entropies, adjusted Rand index, purity, and
 * the contingency table from which they are computed. Without classes: silhouette; on a graph,
 * normalised cut, modularity, map equation and related scores. The agreement of two
 * labellings is their adjusted Rand index.
 *
 * Under an engine that distributes rows over processes, every process passes its own points or
 * rows, and all get the scores of all points.
 */
#ifndef HUDDLE_METRICS_H
#define HUDDLE_METRICS_H

#include "huddle/matrix.h"

typedef struct huddle_scores {
    double acc;    /* share of points whose cluster is mapped to their class */
    double nmi;    /* I / sqrt(H H'); 1 if both entropies are 0, 0 if one of them is */
    double ari;    /* Rand index corrected for chance */
    double purity; /* share of points in the largest class of their cluster */
} huddle_scores;

/* counts[i * n_clusters + j]: points of class i in cluster j. Row i and column j are those of the
 * i-th smallest class and the j-th smallest cluster that occur. */
typedef struct huddle_confusion {
    int64_t n_classes, n_clusters;
    int64_t *counts;
    int32_t *classes;  /* the labels of the rows */
    int32_t *clusters; /* the labels of the columns */
    int32_t *match;    /* match[j]: row mapped to column j, or -1 if there are more clusters */
} huddle_confusion;

/* All four scores of labels against truth; any int32 values, n >= 1: -1 is a cluster like others,
 * so leave out rows that have none. Memory and time are proportional to n, not to classes times
 * clusters. HUDDLE_INVALID if a labelling is missing or empty, HUDDLE_NO_MEMORY. */
HUDDLE_API huddle_status huddle_metrics_scores(huddle_context *context, int64_t n,
                                               const int32_t *truth, const int32_t *labels,
                                               huddle_scores *scores);

/* The contingency table, with the mapping of clusters to classes that gives acc; freed by
 * huddle_confusion_free(). It is dense: n_classes * n_clusters counts. */
HUDDLE_API huddle_status huddle_metrics_confusion(huddle_context *context, int64_t n,
                                                  const int32_t *truth, const int32_t *labels,
                                                  huddle_confusion *confusion);
HUDDLE_API void huddle_confusion_free(huddle_confusion *confusion);

/* Renumbers the clusters of labels, in place, so that as many points as possible have their label
 * of the reference. No two clusters get the same number. HUDDLE_INVALID if there are more clusters
 * than the reference has. */
HUDDLE_API huddle_status huddle_metrics_renumber(huddle_context *context, int64_t n,
                                                 const int32_t *reference, int32_t *labels);

/* The assignment problem: column_of[i] for each row i so that the sum of value[i * cols +
 * column_of[i]] is largest, every column at most once; -1 for rows without a column when rows >
 * cols. At most O(min^2 max log max). HUDDLE_INVALID, naming the place, if a value is NaN or
 * infinite. */
HUDDLE_API huddle_status huddle_metrics_assign(int64_t rows, int64_t cols, const double *value,
                                               int32_t *column_of);

/* Mean silhouette with Euclidean distances, of a random sample of at most `sample` points (all
 * points if there are no more) within that sample; the seed determines the sample. Points may be
 * sparse. The silhouette of a cluster of one point is 0; the mean is 0 if there is only one
 * cluster. The same bits for any number of threads. */
HUDDLE_API huddle_status huddle_metrics_silhouette(huddle_context *context, const huddle_points *x,
                                                   const int32_t *labels, int64_t sample,
                                                   uint64_t seed, double *silhouette);

/* The silhouette of each of the n points among all of them, from -1 to 1; silhouettes has n
 * elements. Time proportional to n^2 d; memory for a few hundred rows per thread besides the
 * points, never n x n. Under an engine that distributes rows over processes every process gets the
 * silhouettes of its own points, and has the rows of all while it computes them. Definitions and
 * bits as above. */
HUDDLE_API huddle_status huddle_metrics_silhouette_samples(huddle_context *context,
                                                           const huddle_points *x,
                                                           const int32_t *labels,
                                                           double *silhouettes);

/* Scores on a graph: a symmetric matrix of non-negative weights, one label per vertex. Symmetry is
 * not checked; huddle_csr_symmetric_part() does.
 *
 * Normalised cut: sum over clusters of cut / volume, where the cut is the weight of the edges that
 * leave the cluster and the volume the sum of its vertices' degrees. A cluster without volume
 * adds 0. */
HUDDLE_API huddle_status huddle_metrics_ncut(huddle_context *context, const huddle_csr *graph,
                                             const int32_t *labels, double *ncut);

/* Newman's modularity: the share of weight inside clusters, less its expected value if edges joined
 * vertices at random in proportion to their degrees. 0 for a graph without edges. */
HUDDLE_API huddle_status huddle_metrics_modularity(huddle_context *context, const huddle_csr *graph,
                                                   const int32_t *labels, double *modularity);

/* All scores of a labelling on a graph (docs/method.md, "Refinement"). Shares are of the total
 * weight, in which every edge counts from both ends and a loop once; v_k is the share of cluster
 * k's volume, d_k that of the weight inside it, h(x) = x ln x, q_k = v_k - d_k, and q the sum of
 * the q_k. Logarithms are natural. All are 0 for a graph without edges. */
typedef struct huddle_graph_scores {
    double inside;      /* f = sum d_k */
    double expected;    /* s = sum v_k^2: f of a random graph with the same degrees */
    double divergence;  /* J = f ln(f / s) + (1 - f) ln((1 - f) / (1 - s)) */
    double information; /* MI = sum_kl M_kl ln(M_kl / (v_k v_l)), M the shares between clusters */
    double map;         /* L = h(q) - 2 sum h(q_k) + sum h(q_k + v_k) */
    double entropy;     /* H = -sum h(p_i), p_i the share of vertex i; L + H: description length */
    double modularity;  /* Q = f - s */
    double ncut;        /* sum q_k / v_k */
} huddle_graph_scores;

/* Takes one pass over the edges and memory proportional to the number of vertices; MI takes time
 * proportional to the square of the number of clusters besides. */
HUDDLE_API huddle_status huddle_metrics_graph_scores(huddle_context *context,
                                                     const huddle_csr *graph, const int32_t *labels,
                                                     huddle_graph_scores *scores);

#endif
