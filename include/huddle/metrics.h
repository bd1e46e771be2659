/* Huddle, metrics: how good is a labelling?
 *
 * Against known classes: accuracy under the best one-to-one map of clusters to classes, mutual
 * information normalised by the geometric mean of the entropies, adjusted Rand index, purity,
 * and the table of counts behind them. Without classes: silhouette, normalised cut, modularity,
 * and the agreement of two labellings (ARI).
 */
#ifndef HUDDLE_METRICS_H
#define HUDDLE_METRICS_H

#include "huddle/matrix.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct huddle_scores {
    double acc;    /* share of points whose cluster is mapped to their class */
    double nmi;    /* I / sqrt(H H); 1 if both entropies are 0, 0 if one is */
    double ari;    /* Rand index corrected for chance */
    double purity; /* share of points in the largest class of their cluster */
} huddle_scores;

/* counts[i * n_clusters + j]: points of class i in cluster j. Row i and column j stand for the
 * i-th and j-th smallest label that occurs. */
typedef struct huddle_confusion {
    int64_t n_classes, n_clusters;
    int64_t *counts;
    int32_t *classes;  /* the labels the rows stand for */
    int32_t *clusters; /* the labels the columns stand for */
    int32_t *match;    /* match[j]: row mapped to column j, or -1 if there are more clusters */
} huddle_confusion;

/* All four scores of labels against truth; any int32 values, n >= 1. Memory and time follow n, not
 * classes times clusters. HUDDLE_INVALID if a labelling is missing or empty, HUDDLE_NO_MEMORY. */
HUDDLE_API huddle_status huddle_metrics_scores(int64_t n, const int32_t *truth,
                                               const int32_t *labels, huddle_scores *scores);

/* The table, with the map of clusters to classes that gives acc; freed by
 * huddle_confusion_free(). It is dense: n_classes * n_clusters counts. */
HUDDLE_API huddle_status huddle_metrics_confusion(int64_t n, const int32_t *truth,
                                                  const int32_t *labels,
                                                  huddle_confusion *confusion);
HUDDLE_API void huddle_confusion_free(huddle_confusion *confusion);

/* The assignment problem: column_of[i] for each row i so that the sum of value[i * cols +
 * column_of[i]] is largest, every column at most once; -1 for rows left over when rows > cols.
 * O(min^2 max). HUDDLE_INVALID, naming the place, if a value is NaN or infinite. */
HUDDLE_API huddle_status huddle_metrics_assign(int64_t rows, int64_t cols, const double *value,
                                               int32_t *column_of);

/* Mean silhouette, Euclidean; of a random sample of at most `sample` points (seeded; all points
 * if there are no more) against that same sample. Points may be sparse. Clusters of one point
 * count 0; 0 if there is only one cluster. The same bits for any number of threads. */
HUDDLE_API huddle_status huddle_metrics_silhouette(huddle_context *context, const huddle_points *x,
                                                   const int32_t *labels, int64_t sample,
                                                   uint64_t seed, double *silhouette);

/* Scores on a graph: a symmetric matrix of weights that are not negative, one label a vertex.
 *
 * Normalised cut: sum over clusters of cut / volume, where the cut is the weight of the edges that
 * leave the cluster and the volume the sum of its vertices' degrees. A cluster without volume
 * counts 0. */
HUDDLE_API huddle_status huddle_metrics_ncut(const huddle_csr *graph, const int32_t *labels,
                                             double *ncut);

/* Newman's modularity: the share of weight inside clusters, less what it would be if edges joined
 * vertices at random by their degrees. 0 for a graph without edges. */
HUDDLE_API huddle_status huddle_metrics_modularity(const huddle_csr *graph, const int32_t *labels,
                                                   double *modularity);

#ifdef __cplusplus
}
#endif

#endif
