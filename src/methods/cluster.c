#include "methods/cluster.h"

#include "base/check.h"
#include "decide/count.h"
#include "decide/labels.h"
#include "methods/range.h"
#include "steps/medoids.h"

huddle_status hd_method_cluster_number(huddle_context *context, const hd_method_clustering *how,
                                       int32_t n_clusters, hd_fit *fit) {
    huddle_status status = how->cluster(context, how->argument, n_clusters, fit);
    return status == HUDDLE_OK ? hd_fit_number_clusters(context, fit) : status;
}

/* The number of clusters; that of a range by trials, whose stability is part of the report. */
static huddle_status choose_number(huddle_context *context, huddle_range n_clusters,
                                   const hd_method_clustering *how, hd_fit *fit, int32_t *chosen) {
    huddle_status status = HUDDLE_OK;
    *chosen = n_clusters.first;
    if (n_clusters.first >= n_clusters.last)
        return status;
    TRY(hd_method_range(context, n_clusters, how, fit, chosen));
    if (how->measures_stability && fit->refined.present && how->points != NULL)
        TRY_STAGE(context, HD_STAGE_CHOOSE,
                  hd_decide_stability(context, how->refined, how->points, &fit->trials));
done:
    return status;
}

/* The best trial is computed once more instead of being kept: results of all stages would have to
 * be stored for every trial, while most methods share graph and eigenvectors, the expensive part,
 * between all numbers. The same seed gives the same result. */
huddle_status hd_method_cluster(huddle_context *context, huddle_range n_clusters,
                                const hd_method_clustering *how, hd_fit *fit) {
    huddle_status status = HUDDLE_OK;
    int32_t chosen;
    TRY(choose_number(context, n_clusters, how, fit, &chosen));
    TRY(hd_method_cluster_number(context, how, chosen, fit));
    if (how->refined != NULL)
        TRY_STAGE(context, HD_STAGE_DECIDE,
                  hd_decide_labels(context, how->refined, how->laplacian, how->points, fit));
    TRY(hd_fit_number_clusters(context, fit)); /* the labels may be others now */
    TRY_STAGE(context, HD_STAGE_MEDOIDS,
              hd_step_choose_medoids(context, how->points, how->graph, fit));
    huddle_refine_tree_free(&fit->refined.tree); /* no further number of clusters needs it */
done:
    return status;
}
