/* Are the clusters of the neighbour graph or those of K-means on the same points the better ones?
 * (docs/method.md, "Tables") */
#ifndef HUDDLE_SRC_DECIDE_LABELS_H
#define HUDDLE_SRC_DECIDE_LABELS_H

#include "steps/options.h"

/* Replaces the refined labels of the fit by those of K-means on the prepared points, or of K-means
 * on commute rows, if these are better; with refine = auto, for tables and for points of few
 * features. laplacian: eigenvectors of the graph. points: those of the fit, or NULL. */
huddle_status hd_decide_labels(huddle_context *context, const hd_spectral_options *options,
                               const hd_fit_embedding *laplacian, const huddle_points *points,
                               hd_fit *fit);

/* The rule itself: whether the scores on the graph are sufficient to keep its labels, without
 * samples; and which labels are used by scores and stabilities (HD_FIT_KMEANS, ...), which sets the
 * reason. */
bool hd_decide_is_clear(const hd_fit_table *table, const hd_fit_decision *decision);
int hd_decide_labelling(hd_fit_decision *decision);

#endif
