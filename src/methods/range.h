/* A range of numbers of clusters: trials with each of them, and the choice of the best. */
#ifndef HUDDLE_SRC_METHODS_RANGE_H
#define HUDDLE_SRC_METHODS_RANGE_H

#include "methods/cluster.h"

/* Clusters for each number of the run's range; labels and scores become the fit's trials. The best
 * is that of the smallest BIC of a mixture, that of the best alignment if the method aligns, else
 * by the eigengap rule (huddle_embed_choose) if it embeds, unless no gap is clear and labels are
 * refined: then by modularity; else of the largest silhouette of the points; without points, of the
 * embedding that was given. The fit has the clusters of the last number afterwards. */
huddle_status hd_method_range(hd_method_run *run, const hd_method_clustering *how, int32_t *chosen);

/* Of several alignments the largest number of clusters that is as good as the best is taken. */
bool hd_method_alignment_as_good(double alignment, double best);

/* The trial of the smallest BIC, of equal ones the first. */
int32_t hd_method_best_bic(int32_t count, const huddle_trial *trials);

#endif
