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
