/* Spectral clustering of principal components. The graph is that of the components; fits that share
 * a cache share the decomposition. */
#include "base/check.h"
#include "decide/memory.h"
#include "methods/reduce.h"
#include "methods/spectral.h"

typedef struct pca_sc_options {
    hd_spectral_options spectral;
    hd_method_reduce_options reduce;
} pca_sc_options;

static const hd_method_section sections[] = {
    HD_METHOD_FEATURE_SECTIONS,
    {hd_method_reduce_table, offsetof(pca_sc_options, reduce), NULL},
    {huddle_kmeans_options_table, offsetof(pca_sc_options, spectral.kmeans),
     hd_method_kmeans_names},
    {0}};

/* hd_method_pca() names the components in the run's key, to which the graph's options are added:
 * fits that differ in later options only share both. */
static huddle_status fit_pca_sc(hd_method_run *run, const void *options) {
    huddle_status status = HUDDLE_OK;
    pca_sc_options o = *(const pca_sc_options *)options;
    TRY(hd_method_pca(run, &o.spectral.prepare, o.reduce.dim));
    TRY(hd_method_embed_points(run, &o.spectral));
    hd_method_clustering how = hd_method_clustering_of(run->fit, hd_method_cluster_rows, &o, NULL);
    TRY(hd_method_cluster(run, &how));
done:
    return status;
}

const hd_method hd_method_pca_sc = {
    .text =
        {"pca-sc", "principal components, then spectral clustering",
         "Projects the prepared points onto their first principal components and clusters those "
         "by spectral clustering."},
    .options_size = sizeof(pca_sc_options),
    .sections = sections,
    .fit = fit_pca_sc,
    .place = hd_spectral_place,
    .memory = {.predict = hd_decide_memory_of_spectral}};
