#include "steps/options.h"

#include <string.h>

hd_spectral_options hd_spectral_defaults(huddle_range n_clusters, uint64_t seed) {
    return (hd_spectral_options){.common = {n_clusters, seed},
                                 .affinity = "features",
                                 .prepare = huddle_prepare_defaults(),
                                 .knn = huddle_knn_defaults(),
                                 .weight = huddle_weight_defaults(),
                                 .connect = huddle_connect_defaults(),
                                 .embed = huddle_embed_defaults(),
                                 .kmeans = huddle_kmeans_defaults(),
                                 .refine = "none"};
}

/* Methods without the option leave it NULL. */
bool hd_spectral_refines(const hd_spectral_options *options) {
    return options->refine != NULL && strcmp(options->refine, "none") != 0;
}

/* A method whose labels come from a rotation has restarts only and leaves the others empty. */
huddle_kmeans_options hd_spectral_kmeans_options(const hd_spectral_options *options,
                                                 int32_t n_clusters) {
    huddle_kmeans_options kmeans = options->kmeans;
    if (kmeans.init == NULL) {
        kmeans = huddle_kmeans_defaults();
        kmeans.n_init = options->kmeans.n_init;
    }
    kmeans.n_clusters = n_clusters;
    kmeans.seed = options->common.seed;
    kmeans.keep_starts = false;
    return kmeans;
}

int64_t hd_step_job_rows(const hd_step_job *job) {
    if (job->x != NULL)
        return job->x->n;
    if (job->graph != NULL)
        return job->graph->rows;
    return job->embedding != NULL ? job->embedding->rows : 0;
}
