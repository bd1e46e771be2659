/* Spectral clustering (Ng, Jordan and Weiss, NIPS 2001; von Luxburg, Statistics and Computing
 * 2007): the shortest of the spectral methods. */
#include "base/check.h"
#include "decide/count.h"
#include "decide/memory.h"
#include "methods/spectral.h"
#include "methods/views.h"
#include "steps/refine.h"

static const hd_method_section sections[] = {
    HD_METHOD_SPECTRAL_SECTIONS,
    {hd_method_views_table, 0, NULL},
    {huddle_kmeans_options_table, offsetof(hd_spectral_options, kmeans), hd_method_kmeans_names},
    {hd_method_refine_table, 0, NULL},
    {0}};

/* The eigenvectors of the largest number of a range contain those of all others, so that embedding
 * is done once and clustering for each number. */
static huddle_status fit_sc(hd_method_run *run, const void *options) {
    huddle_status status = HUDDLE_OK;
    hd_spectral_options o = *(const hd_spectral_options *)options;
    TRY(hd_step_settle_refine(run->context, run->job, &o, &run->fit->refined));
    TRY(hd_method_prepare_graph(run, &o));
    TRY(hd_method_embed(run, &o));
    TRY(hd_decide_count(run->context, &o, run->fit, &run->n_clusters));
    hd_method_clustering how = hd_method_clustering_of(run->fit, hd_method_cluster_rows, &o, &o);
    TRY(hd_method_cluster(run, &how));
done:
    return status;
}

const hd_method hd_method_sc = {
    .text = {"sc", "spectral clustering",
             "Connects each point to its nearest neighbours, embeds the graph by the first "
             "eigenvectors of its normalised Laplacian and clusters the embedding by K-means."},
    .options_size = sizeof(hd_spectral_options),
    .sections = sections,
    .takes_graph = true,
    .views = HD_METHOD_MEAN_GRAPH,
    .distributes = true,
    .fit = fit_sc,
    .place = hd_spectral_place,
    .memory = {hd_decide_memory_of_spectral, hd_decide_economise_spectral}};
