/* K-means on principal components. Ding and He (K-means clustering via principal component
 * analysis, ICML 2004) show that the first n_clusters - 1 components span the continuous solution
 * of the K-means problem. */
#include "base/check.h"
#include "decide/eigengap.h"
#include "methods/cluster.h"
#include "methods/method.h"
#include "methods/reduce.h"
#include "steps/kmeans.h"
#include "steps/predict.h"

typedef struct pca_options {
    hd_step_common common;
    huddle_prepare_options prepare;
    hd_method_reduce_options reduce;
    huddle_kmeans_options kmeans;
} pca_options;

static const hd_method_section sections[] = {
    {huddle_prepare_options_table, offsetof(pca_options, prepare), NULL},
    {hd_method_reduce_table, offsetof(pca_options, reduce), NULL},
    {huddle_kmeans_options_table, offsetof(pca_options, kmeans), NULL},
    {0}};

static huddle_status cluster(huddle_context *context, void *argument, int32_t n_clusters,
                             hd_fit *fit) {
    const pca_options *options = argument;
    huddle_kmeans_options kmeans = options->kmeans;
    kmeans.n_clusters = n_clusters;
    kmeans.seed = options->common.seed;
    return hd_step_kmeans(context, &fit->prepared.points, &kmeans, &fit->rows, &fit->clusters);
}

/* The components do not depend on n_clusters and are kept: points of the trials, silhouettes and
 * centres all refer to them. */
static huddle_status fit_pca_kmeans(huddle_context *context, const hd_step_job *job,
                                    const void *options, hd_fit *fit) {
    huddle_status status = HUDDLE_OK;
    pca_options o = *(const pca_options *)options;
    huddle_range n_clusters = o.common.n_clusters;
    hd_cache_key key = {.cache = job->cache};
    const huddle_points *points = &fit->prepared.points;
    hd_method_clustering how = {.cluster = cluster, .argument = &o, .points = points};
    o.kmeans.keep_starts = job->keep_starts;
    TRY(hd_step_check_clusters(n_clusters, &fit->rows));
    TRY_STAGE(context, HD_STAGE_PREPARE,
              hd_method_pca(context, job, &o.prepare, o.reduce.dim, &key, fit));
    TRY(hd_decide_eigengap_of_points(context, points, o.common.seed, fit, &n_clusters));
    TRY(hd_method_cluster(context, n_clusters, &how, fit));
done:
    return status;
}

const hd_method hd_method_pca_kmeans = {
    .text =
        {"pca-kmeans", "principal components, then K-means",
         "Projects the prepared points onto their first principal components and clusters those "
         "by K-means."},
    .options_size = sizeof(pca_options),
    .sections = sections,
    .fit = fit_pca_kmeans,
    .predict = hd_step_predict_centres};
