#include "base/check.h"
#include "methods/reduce.h"
#include "methods/spectral.h"

typedef struct pca_sc_options {
    hd_spectral_options spectral;
    hd_reduce_options reduce;
} pca_sc_options;

static const hd_section sections[] = {
    HD_FEATURE_SECTIONS,
    {hd_reduce_table, offsetof(pca_sc_options, reduce), NULL},
    {huddle_kmeans_options_table, offsetof(pca_sc_options, spectral.kmeans), hd_kmeans_names},
    {0}};

static huddle_status fit_pca_sc(huddle_context *context, const hd_input *input, const void *options,
                                hd_fit *fit) {
    huddle_status status = HUDDLE_OK;
    pca_sc_options o = *(const pca_sc_options *)options;
    huddle_range n_clusters = o.spectral.common.n_clusters;
    TRY(hd_check_clusters(n_clusters, fit->n));
    TRY(hd_fit_pca(context, input, &o.spectral.prepare, o.reduce.dim, o.spectral.common.seed, fit));
    TRY(hd_spectral_embed_points(context, input->cache, &o.spectral, fit, &n_clusters));
    TRY(hd_fit_range(context, n_clusters, &fit->points, &fit->graph, hd_spectral_cluster, &o, fit));
done:
    return status;
}

const hd_method hd_method_pca_sc = {
    .text = {"pca-sc", "principal components, then spectral clustering",
             "Projects the prepared points to their first principal components and clusters those "
             "by spectral clustering."},
    .options_size = sizeof(pca_sc_options),
    .sections = sections,
    .fit = fit_pca_sc,
    .predict = hd_spectral_predict};
