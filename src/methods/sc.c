#include "methods/spectral.h"

#include "base/check.h"

static const hd_section sections[] = {
    HD_SPECTRAL_SECTIONS,
    {huddle_kmeans_options_table, offsetof(hd_spectral_options, kmeans), hd_kmeans_names},
    {0}};

static huddle_status fit_sc(huddle_context *context, const hd_input *input, const void *options,
                            hd_fit *fit) {
    huddle_status status = HUDDLE_OK;
    hd_spectral_options o = *(const hd_spectral_options *)options;
    huddle_range n_clusters;
    TRY(hd_spectral_embed(context, input, &o, fit, &n_clusters));
    TRY(hd_fit_range(context, n_clusters, hd_spectral_points(fit),
                     fit->has_graph ? &fit->graph : NULL, hd_spectral_cluster, &o, fit));
done:
    return status;
}

const hd_method hd_method_sc = {
    .text = {"sc", "spectral clustering",
             "Joins each point to its nearest neighbours, embeds the graph by the first "
             "eigenvectors of its normalised Laplacian and clusters the embedding by K-means."},
    .options_size = sizeof(hd_spectral_options),
    .sections = sections,
    .takes_graph = true,
    .fit = fit_sc,
    .predict = hd_spectral_predict};
