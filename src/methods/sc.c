/* Spectral clustering (Ng, Jordan and Weiss, NIPS 2001; von Luxburg, Statistics and Computing
 * 2007): the shortest of the spectral methods. */
#include "base/check.h"
#include "decide/count.h"
#include "decide/memory.h"
#include "methods/spectral.h"
#include "steps/place.h"
#include "steps/predict.h"
#include "steps/refine.h"

static const hd_section sections[] = {
    HD_SPECTRAL_SECTIONS,
    {huddle_kmeans_options_table, offsetof(hd_spectral_options, kmeans), hd_spectral_kmeans_names},
    {hd_spectral_refine_table, 0, NULL},
    {0}};

/* The eigenvectors of the largest number of a range contain those of all others, so that embedding
 * is done once and clustering for each number. */
static huddle_status fit_sc(huddle_context *context, const hd_fit_job *job, const void *options,
                            hd_fit *fit) {
    huddle_status status = HUDDLE_OK;
    hd_spectral_options o = *(const hd_spectral_options *)options;
    hd_cache_key key = {.cache = job->cache};
    huddle_range n_clusters;
    o.kmeans.keep_starts = job->keep_starts;
    TRY(hd_refine_settle(context, job, &o, &fit->refined));
    TRY(hd_spectral_prepare_graph(context, job, &o, &key, fit));
    TRY(hd_spectral_embed(context, job, &o, &key, fit, &n_clusters));
    TRY(hd_count_choose(context, &o, fit, &n_clusters));
    hd_fit_trial_plan plan = hd_spectral_plan(fit, hd_spectral_cluster, &o, &o);
    TRY(hd_fit_cluster(context, n_clusters, &plan, fit));
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
    .spreads = true,
    .fit = fit_sc,
    .predict = hd_spectral_predict,
    .place = hd_spectral_place,
    .memory = {hd_memory_plan_spectral, hd_memory_economise_spectral}};
