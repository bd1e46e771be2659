/* Spectral clustering in the discriminant directions that lda-kmeans finds (after Ding and Li, ICML
 * 2007). The directions depend on n_clusters, and so does the graph: every number of a range has
 * its own. */
#include "base/check.h"
#include "decide/eigengap.h"
#include "decide/memory.h"
#include "methods/lda.h"
#include "methods/reduce.h"
#include "methods/spectral.h"
#include "steps/kmeans.h"
#include "steps/predict.h"

typedef struct lda_sc_options {
    hd_spectral_options spectral;
    hd_method_reduce_options reduce;
} lda_sc_options;

static const hd_method_section sections[] = {
    HD_METHOD_FEATURE_SECTIONS,
    {hd_method_reduce_table, offsetof(lda_sc_options, reduce), NULL},
    {huddle_kmeans_options_table, offsetof(lda_sc_options, spectral.kmeans),
     hd_method_kmeans_names},
    {0}};

/* The argument of cluster(); start is shared by all numbers of clusters. */
typedef struct lda_sc_step {
    const huddle_points *x;
    lda_sc_options options;
    hd_method_lda_start start;
} lda_sc_step;

/* The clusters of lda-kmeans only serve to find the directions; those of the graph replace them. */
static huddle_status cluster(huddle_context *context, void *argument, int32_t n_clusters,
                             hd_fit *fit) {
    huddle_status status = HUDDLE_OK;
    lda_sc_step *step = argument;
    hd_spectral_options *options = &step->options.spectral;
    huddle_kmeans_options kmeans = options->kmeans;
    huddle_range range = {n_clusters, n_clusters};
    hd_cache_key key = {.cache = NULL}; /* every n_clusters has points of its own */
    kmeans.n_clusters = n_clusters;
    kmeans.seed = options->common.seed;
    TRY(hd_method_lda_cluster(context, step->x, &step->start, &kmeans, fit));
    TRY(hd_method_embed_points(context, options, &key, fit, &range));
    TRY(hd_method_cluster_rows(context, options, n_clusters, fit));
done:
    return status;
}

/* graph_per_trial: every number of clusters has its own graph, so that their eigengaps are not
 * compared, and silhouettes on the common principal components are used instead. */
static huddle_status fit_lda_sc(huddle_context *context, const hd_step_job *job,
                                const void *options, hd_fit *fit) {
    huddle_status status = HUDDLE_OK;
    lda_sc_step step = {.x = job->x, .options = *(const lda_sc_options *)options};
    const hd_spectral_options *o = &step.options.spectral;
    hd_method_clustering how = {.cluster = cluster,
                                .argument = &step,
                                .points = &step.start.points,
                                .graph_per_trial = true};
    hd_cache_key key = {.cache = job->cache};
    huddle_range n_clusters = o->common.n_clusters;
    TRY(hd_step_check_clusters(n_clusters, &fit->rows));
    TRY_STAGE(context, HD_STAGE_PREPARE,
              hd_method_pca(context, job, &o->prepare, step.options.reduce.dim, &key, fit));
    hd_method_lda_begin(&fit->prepared, &step.start);
    TRY(hd_decide_eigengap_of_points(context, &step.start.points, o->common.seed, fit,
                                     &n_clusters));
    step.options.spectral.kmeans.keep_starts = job->keep_starts;
    TRY(hd_method_cluster(context, n_clusters, &how, fit));
done:
    hd_method_lda_start_free(&step.start);
    return status;
}

const hd_method hd_method_lda_sc = {
    .text = {"lda-sc", "spectral clustering with discriminant directions",
             "Finds discriminant directions by alternating K-means with linear discriminant "
             "analysis, then clusters the points in those directions by spectral clustering."},
    .options_size = sizeof(lda_sc_options),
    .sections = sections,
    .fit = fit_lda_sc,
    .predict = hd_spectral_predict,
    .place = hd_spectral_place,
    .memory = {.predict = hd_decide_memory_of_spectral}};
