/* Equal rows (docs/method.md, "Duplicate points"): merged where they would distort the graph, else
 * given equal labels. */
#ifndef HUDDLE_SRC_STEPS_MERGE_H
#define HUDDLE_SRC_STEPS_MERGE_H

#include "steps/options.h"

/* Keeps of the fit's points one row for each distinct row of x, and of those one for each distinct
 * prepared row (see hd_fit_rows); rows.n becomes their number. Without equal rows, or with too few
 * of them to matter for the graph, nothing changes; hd_step_unify_labels() then makes the labels of
 * equal rows equal. */
huddle_status hd_step_merge(huddle_context *context, int32_t n_neighbors, hd_fit *fit);

/* The same as the options say: with duplicates = keep every row stays one of its own, equal to no
 * other. */
huddle_status hd_step_merge_by(huddle_context *context, const hd_spectral_options *options,
                               hd_fit *fit);

/* Whether that is so. */
bool hd_step_keeps_copies(const hd_spectral_options *options);

/* hd_step_merge(); `whole` receives the points as they were if rows were merged, and *borrowed
 * whether they are not to be freed. */
huddle_status hd_step_merge_keeping(huddle_context *context, int32_t n_neighbors, hd_fit *fit,
                                    huddle_points *whole, bool *borrowed);

/* hd_step_merge_by() for the views of a fit: rows are equal only if they are in every view. equal:
 * for each view, which rows of it are. */
huddle_status hd_step_merge_views(huddle_context *context, const hd_spectral_options *options,
                                  const huddle_distinct *equal, hd_fit *fit);

/* Whether equal rows would fill the neighbour lists of a row, or many places in all of them; else
 * they are not merged. */
bool hd_step_copies_matter(const huddle_distinct *nodes, int32_t n_neighbors);

/* If rows were not merged: equal rows of x get the labels of the first of them, where K-means on
 * prepared rows that differ in the last bit may have separated them. Before the medoids are chosen,
 * which must belong to their clusters; K-means (steps/kmeans.h) calls it. */
void hd_step_unify_labels(const hd_fit_rows *rows, hd_fit_clusters *clusters);

/* Silhouette of the labels, in which copies count, at the points, which are those of the fit or all
 * rows of x; of a sample if there are many. */
huddle_status hd_step_silhouette(huddle_context *context, const hd_fit *fit,
                                 const huddle_points *points, double *silhouette);

#endif
