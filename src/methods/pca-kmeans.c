/* K-means on principal components. Ding and He (K-means clustering via principal component
 * analysis, ICML 2004) show that the first n_clusters - 1 components span the continuous solution
 * of the K-means problem. */
#include "base/check.h"
#include "methods/cluster.h"
#include "methods/reduce.h"

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

/* The components do not depend on n_clusters and are kept: points of the trials, silhouettes and
 * centres all refer to them. */
static huddle_status fit_pca_kmeans(hd_method_run *run, const void *options) {
    huddle_status status = HUDDLE_OK;
    const pca_options *o = options;
    TRY(hd_method_pca(run, &o->prepare, o->reduce.dim));
    TRY(hd_method_cluster_points(run, &run->fit->prepared.points, &o->kmeans));
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
