/* K-means on the prepared points (Lloyd, IEEE Trans. Information Theory 1982, with the
 * initialisation of Arthur and Vassilvitskii, SODA 2007; src/kmeans/ contains the algorithm). */
#include "steps/kmeans.h"
#include "base/check.h"
#include "decide/eigengap.h"
#include "methods/cluster.h"
#include "methods/method.h"
#include "methods/prepare.h"
#include "steps/predict.h"

typedef struct kmeans_options {
    hd_step_common common;
    huddle_prepare_options prepare;
    huddle_kmeans_options kmeans;
} kmeans_options;

static const hd_method_section sections[] = {
    {huddle_prepare_options_table, offsetof(kmeans_options, prepare), NULL},
    {huddle_kmeans_options_table, offsetof(kmeans_options, kmeans), NULL},
    {0}};

/* The argument of cluster(). */
typedef struct kmeans_step {
    const huddle_points *points;
    huddle_kmeans_options options;
} kmeans_step;

static huddle_status cluster(huddle_context *context, void *argument, int32_t n_clusters,
                             hd_fit *fit) {
    kmeans_step *step = argument;
    step->options.n_clusters = n_clusters;
    return hd_step_kmeans(context, step->points, &step->options, &fit->rows, &fit->clusters);
}

/* The prepared points are not kept: prediction needs the centres only. n_clusters = auto is chosen
 * on a neighbour graph, because the inertia of K-means always decreases with the number of
 * clusters. */
static huddle_status fit_kmeans(huddle_context *context, const hd_step_job *job,
                                const void *options, hd_fit *fit) {
    huddle_status status = HUDDLE_OK;
    const kmeans_options *o = options;
    huddle_points points;
    huddle_prepare_options prepare = o->prepare;
    kmeans_step step = {&points, o->kmeans};
    huddle_range n_clusters = o->common.n_clusters;
    hd_method_clustering how = {.cluster = cluster, .argument = &step, .points = &points};
    prepare.seed = step.options.seed = o->common.seed;
    step.options.keep_starts = job->keep_starts;
    TRY(hd_step_check_clusters(n_clusters, &fit->rows));
    TRY(hd_method_prepare(context, job, &prepare, NULL, false, fit, &points));
    TRY(hd_decide_eigengap_of_points(context, &points, o->common.seed, fit, &n_clusters));
    TRY(hd_method_cluster(context, n_clusters, &how, fit));
done:
    return status;
}

const hd_method hd_method_kmeans = {
    .text =
        {"kmeans", "K-means",
         "Lloyd's K-means on the prepared points: points are assigned to the "
         "nearest of n_clusters centres and centres to the mean of their points, in turn. The best "
         "of n_init restarts is kept."},
    .options_size = sizeof(kmeans_options),
    .sections = sections,
    .spreads = true,
    .fit = fit_kmeans,
    .predict = hd_step_predict_centres};
