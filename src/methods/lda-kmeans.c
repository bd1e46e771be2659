/* K-means and linear discriminant analysis in alternation (Ding and Li, ICML 2007; methods/lda.h).
 * The PCA beforehand is required: if n - c is below the rank of the points, every labelling can be
 * separated perfectly, and the first labels would never change. */
#include "base/check.h"
#include "methods/cluster.h"
#include "methods/lda.h"

typedef struct lda_options {
    hd_step_common common;
    huddle_prepare_options prepare;
    hd_method_reduce_options reduce;
    hd_method_lda_options lda;
    huddle_kmeans_options kmeans;
} lda_options;

static const hd_method_section sections[] = {
    {huddle_prepare_options_table, offsetof(lda_options, prepare), NULL},
    {hd_method_reduce_table, offsetof(lda_options, reduce), NULL},
    {hd_method_lda_table, offsetof(lda_options, lda), NULL},
    {huddle_kmeans_options_table, offsetof(lda_options, kmeans), NULL},
    {0}};

/* The argument of cluster(). The principal components are the same for every number of clusters and
 * are kept apart from the fit, whose points are replaced by X P each time. */
typedef struct lda_step {
    const lda_options *options;
    hd_method_lda_start start;
} lda_step;

static huddle_status cluster(hd_method_run *run, void *argument, int32_t n_clusters) {
    const lda_step *step = argument;
    huddle_kmeans_options kmeans =
        hd_method_kmeans_options(run, &step->options->kmeans, n_clusters);
    return hd_method_lda_cluster(run, &step->start, &step->options->lda, &kmeans);
}

static huddle_status fit_lda_kmeans(hd_method_run *run, const void *options) {
    huddle_status status = HUDDLE_OK;
    const lda_options *o = options;
    lda_step step = {.options = o};
    hd_method_clustering how = {
        .cluster = cluster, .argument = &step, .points = &step.start.points};
    TRY(hd_method_lda_begin(run, &o->prepare, o->reduce.dim, &step.start));
    TRY(hd_method_cluster(run, &how));
done:
    hd_method_lda_start_free(&step.start);
    return status;
}

const hd_method hd_method_lda_kmeans = {
    .text = {"lda-kmeans", "K-means with discriminant directions",
             "Alternates K-means with linear discriminant analysis: the clusters determine "
             "the directions that separate them best, and these directions determine the next "
             "clusters. Starts from principal components."},
    .options_size = sizeof(lda_options),
    .sections = sections,
    .fit = fit_lda_kmeans,
    .predict = hd_step_predict_centres};
