#include "methods/spectral.h"

#include "base/check.h"

static const hd_section sections[] = {
    HD_SPECTRAL_SECTIONS,
    {huddle_kmeans_options_table, offsetof(hd_spectral_options, kmeans), hd_kmeans_names},
    {0}};

static huddle_status cluster(huddle_context *context, void *argument, int32_t n_clusters,
                             hd_fit *fit) {
    huddle_status status = HUDDLE_OK;
    const hd_spectral_options *options = argument;
    huddle_kmeans_options kmeans = options->kmeans;
    kmeans.n_clusters = n_clusters;
    kmeans.seed = options->common.seed;
    TRY(hd_spectral_rows(options, n_clusters, fit));
    TRY(hd_fit_kmeans_dense(context, &fit->embedding.rows, &kmeans, fit));
done:
    return status;
}

static huddle_status fit_sc(huddle_context *context, const hd_input *input, const void *options,
                            hd_fit *fit) {
    huddle_status status = HUDDLE_OK;
    hd_spectral_options o = *(const hd_spectral_options *)options;
    huddle_range n_clusters;
    TRY(hd_spectral_embed(context, input, &o, fit, &n_clusters));
    TRY(hd_fit_range(context, n_clusters, hd_spectral_points(fit),
                     fit->has_graph ? &fit->graph : NULL, cluster, &o, fit));
done:
    return status;
}

static huddle_status predict_sc(huddle_context *context, const hd_fit *fit, const void *options,
                                const huddle_points *x, int32_t *labels) {
    huddle_status status = HUDDLE_OK;
    huddle_dense rows = {0};
    int64_t *same = NULL;
    ALLOC(same, x->n);
    TRY(hd_spectral_new_rows(context, fit, options, x, &rows, same));
    TRY(hd_spectral_assign(context, fit, &rows, same, labels));
done:
    huddle_dense_free(&rows);
    huddle_free(same);
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
    .predict = predict_sc};
