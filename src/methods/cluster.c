#include "methods/cluster.h"

#include "base/check.h"
#include "decide/eigengap.h"
#include "decide/labels.h"
#include "methods/range.h"
#include "steps/kmeans.h"
#include "steps/medoids.h"

/* Methods need not care how clusters are numbered. */
huddle_status hd_method_cluster_number(hd_method_run *run, const hd_method_clustering *how,
                                       int32_t n_clusters) {
    huddle_status status = how->cluster(run, how->argument, n_clusters);
    return status == HUDDLE_OK ? hd_fit_number_clusters(run->context, run->fit) : status;
}

/* The best trial is computed once more instead of being kept: results of all stages would have to
 * be stored for every trial, while most methods share graph and eigenvectors, the expensive part,
 * between all numbers. The same seed gives the same result. */
huddle_status hd_method_cluster(hd_method_run *run, const hd_method_clustering *how) {
    huddle_status status = HUDDLE_OK;
    huddle_context *context = run->context;
    hd_fit *fit = run->fit;
    int32_t chosen = run->n_clusters.first;
    if (run->n_clusters.first < run->n_clusters.last)
        TRY(hd_method_range(run, how, &chosen));
    TRY(hd_method_cluster_number(run, how, chosen));
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

huddle_kmeans_options hd_method_kmeans_options(const hd_method_run *run,
                                               const huddle_kmeans_options *options,
                                               int32_t n_clusters) {
    huddle_kmeans_options kmeans = *options;
    kmeans.n_clusters = n_clusters;
    kmeans.seed = run->seed;
    kmeans.keep_starts = run->job->keep_starts;
    return kmeans;
}

/* The argument of cluster_points(). */
typedef struct points_step {
    const huddle_points *points;
    const huddle_kmeans_options *options;
} points_step;

static huddle_status cluster_points(hd_method_run *run, void *argument, int32_t n_clusters) {
    const points_step *step = argument;
    huddle_kmeans_options kmeans = hd_method_kmeans_options(run, step->options, n_clusters);
    return hd_step_kmeans(run->context, step->points, &kmeans, &run->fit->rows,
                          &run->fit->clusters);
}

/* auto is chosen on a neighbour graph, because the inertia of K-means always decreases with the
 * number of clusters. */
huddle_status hd_method_cluster_points(hd_method_run *run, const huddle_points *points,
                                       const huddle_kmeans_options *options) {
    huddle_status status = HUDDLE_OK;
    points_step step = {points, options};
    hd_method_clustering how = {.cluster = cluster_points, .argument = &step, .points = points};
    TRY(hd_decide_eigengap_of_points(run->context, points, run->seed, NULL, run->fit,
                                     &run->n_clusters));
    TRY(hd_method_cluster(run, &how));
done:
    return status;
}
