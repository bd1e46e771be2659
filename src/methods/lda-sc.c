/* Spectral clustering in the discriminant directions that lda-kmeans finds (after Ding and Li, ICML
 * 2007). The directions depend on n_clusters, and so does the graph: every number of a range has
 * its own. */
#include "base/check.h"
#include "decide/memory.h"
#include "methods/lda.h"
#include "methods/spectral.h"

typedef struct lda_sc_options {
    hd_spectral_options spectral;
    hd_method_reduce_options reduce;
    hd_method_lda_options lda;
} lda_sc_options;

static const hd_method_section sections[] = {
    HD_METHOD_FEATURE_SECTIONS,
    {hd_method_reduce_table, offsetof(lda_sc_options, reduce), NULL},
    {hd_method_lda_table, offsetof(lda_sc_options, lda), NULL},
    {huddle_kmeans_options_table, offsetof(lda_sc_options, spectral.kmeans),
     hd_method_kmeans_names},
    {0}};

/* The argument of cluster(); start is shared by all numbers of clusters. */
typedef struct lda_sc_step {
    hd_spectral_options options;
    hd_method_lda_options lda;
    hd_method_lda_start start;
} lda_sc_step;

/* The clusters of lda-kmeans only serve to find the directions; those of the graph replace them.
 * Nothing is shared: every n_clusters has points of its own. */
static huddle_status cluster(hd_method_run *run, void *argument, int32_t n_clusters) {
    huddle_status status = HUDDLE_OK;
    lda_sc_step *step = argument;
    huddle_kmeans_options kmeans = hd_method_kmeans_options(run, &step->options.kmeans, n_clusters);
    hd_method_run own = *run;
    own.key = (hd_cache_key){.cache = NULL};
    own.n_clusters = (huddle_range){n_clusters, n_clusters};
    TRY(hd_method_lda_cluster(&own, &step->start, &step->lda, &kmeans));
    TRY(hd_method_embed_points(&own, &step->options));
    TRY(hd_method_cluster_rows(&own, &step->options, n_clusters));
done:
    return status;
}

/* graph_per_trial: every number of clusters has its own graph, so that their eigengaps are not
 * compared, and silhouettes on the common principal components are used instead. */
static huddle_status fit_lda_sc(hd_method_run *run, const void *options) {
    huddle_status status = HUDDLE_OK;
    const lda_sc_options *o = options;
    lda_sc_step step = {.options = o->spectral, .lda = o->lda};
    hd_method_clustering how = {.cluster = cluster,
                                .argument = &step,
                                .points = &step.start.points,
                                .graph_per_trial = true};
    TRY(hd_method_lda_begin(run, &o->spectral.prepare, o->reduce.dim, &step.start));
    TRY(hd_method_cluster(run, &how));
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
    .place = hd_spectral_place,
    .memory = {.predict = hd_decide_memory_of_spectral}};
