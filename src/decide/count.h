/* The number of clusters for labels that are refined (docs/method.md, "How many clusters?"). */
#ifndef HUDDLE_SRC_DECIDE_COUNT_H
#define HUDDLE_SRC_DECIDE_COUNT_H

#include "steps/options.h"

/* With fewer features points are not prepared automatically, and modularity does not choose the
 * number of clusters: in a plane the neighbour graph of a single cluster can be divided by cutting
 * few edges, and its modularity is as large as that of several clusters. */
enum { HD_DECIDE_MIN_FEATURES = 10 };

/* ---- scores over the number of clusters ---------------------------------------------------- */

/* For every number of a range: clusters of the fit's graph found by merging and, if `embedded`, by
 * K-means on its embedding, all refined by moves; the scores of those with the larger modularity
 * become the fit's trials, which have no labels. The range is limited to the vertices and
 * eigenvectors that there are. The tree of merges is made here if the fit has none. */
huddle_status hd_decide_score_numbers(huddle_context *context, const hd_spectral_options *options,
                                      huddle_range range, bool embedded, hd_fit *fit);

/* The place of the smallest of count numbers whose modularity is as good as the largest. */
int32_t hd_decide_smallest(int32_t count, const huddle_trial *trials);

/* Whether the number of clusters is chosen by modularity, given the choice by eigengaps among the
 * trials of a fit with refined labels: no eigengap is clear, and modularity is informative. */
bool hd_decide_by_modularity(const hd_fit *fit, const huddle_embed_choice *choice);

/* ---- the number of clusters ---------------------------------------------------------------- */

/* After the embedding and the choice by eigengaps: if n_clusters is auto, labels are to be
 * refined and no eigengap is clear, the number by modularity instead. Leaves the candidates and the
 * scores of every number in the fit's trials. */
huddle_status hd_decide_count(huddle_context *context, const hd_spectral_options *options,
                              hd_fit *fit, huddle_range *n_clusters);

/* Sets the stability of the chosen trial and of the best by modularity: the mean adjusted Rand
 * index between labels of the points, or a sample of them, and labels of samples of these. Does
 * nothing without points. */
huddle_status hd_decide_stability(huddle_context *context, const hd_spectral_options *options,
                                  const huddle_points *points, hd_fit_trials *trials);

#endif
