/* K-means on the prepared points (Lloyd, IEEE Trans. Information Theory 1982, with the
 * initialisation of Arthur and Vassilvitskii, SODA 2007; src/kmeans/ contains the algorithm). */
#include "base/check.h"
#include "methods/cluster.h"
#include "methods/prepare.h"

typedef struct kmeans_options {
    hd_step_common common;
    huddle_prepare_options prepare;
    huddle_kmeans_options kmeans;
} kmeans_options;

static const hd_method_section sections[] = {
    {huddle_prepare_options_table, offsetof(kmeans_options, prepare), NULL},
    {huddle_kmeans_options_table, offsetof(kmeans_options, kmeans), NULL},
    {0}};

/* The prepared points are not kept: prediction needs the centres only. */
static huddle_status fit_kmeans(hd_method_run *run, const void *options) {
    huddle_status status = HUDDLE_OK;
    const kmeans_options *o = options;
    huddle_points points;
    TRY(hd_method_prepare(run, &o->prepare, NULL, false, &points));
    TRY(hd_method_cluster_points(run, &points, &o->kmeans));
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
    .distributes = true,
    .fit = fit_kmeans,
    .predict = hd_step_predict_centres};
