/* Discriminant directions found together with the clusters they discriminate. */
#ifndef HUDDLE_SRC_METHODS_LDA_H
#define HUDDLE_SRC_METHODS_LDA_H

#include "methods/reduce.h"

/* What LDA starts from: the principal components of the points, and the map to them. */
typedef struct hd_method_lda_start {
    huddle_points points; /* n x m */
    huddle_preparation map;
} hd_method_lda_start;

typedef struct hd_method_lda_options {
    double ridge;          /* on the diagonal of S_t, relative to its mean eigenvalue */
    const char *alternate; /* "best" or "all" restarts of the first K-means */
} hd_method_lda_options;

const huddle_option *hd_method_lda_table(void);

/* Finds the first dim components (methods/reduce.h). n_clusters = auto is chosen on them, because
 * the discriminant directions depend on the number of clusters. */
huddle_status hd_method_lda_begin(hd_method_run *run, const huddle_prepare_options *prepare,
                                  int32_t dim, hd_method_lda_start *start);
void hd_method_lda_start_free(hd_method_lda_start *start);

/* Alternates K-means on X P with P <- the leading solutions of S_b p = mu S_t p, beginning with the
 * first principal components, until the labels stay or 50 rounds are over. The round with the
 * largest trace of (P'S_t P)^-1 P'S_b P is kept: its clusters are the fit's, its map, P after the
 * principal components, is the fit's reduction, and X P are its points. With alternate = best only
 * the last K-means keeps the labels of its starts, with all those of every alternation are kept. */
huddle_status hd_method_lda_cluster(const hd_method_run *run, const hd_method_lda_start *start,
                                    const hd_method_lda_options *options,
                                    const huddle_kmeans_options *kmeans);

#endif
