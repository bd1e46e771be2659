#include "methods/spectral.h"

#include "base/check.h"
#include "methods/cache.h"

#include <stdio.h>
#include <string.h>

typedef struct ssc_options {
    hd_spectral_options spectral;
    huddle_knn_options shrink_knn;
    huddle_weight_options shrink_weight;
    huddle_shrink_options shrink;
} ssc_options;

/* The graph W on the embedding has its own two options. */
static const hd_rename shrink_knn_names[] = {
    {"n_neighbors", "shrink_neighbors", "5", "neighbours of each row of the embedding in W"}, {0}};
static const hd_rename shrink_weight_names[] = {
    {"scale", "shrink_scale", "mean", "how distances in the embedding become weights of W"}, {0}};

static const hd_section sections[] = {
    HD_SPECTRAL_SECTIONS,
    {huddle_knn_options_table, offsetof(ssc_options, shrink_knn), shrink_knn_names},
    {huddle_weight_options_table, offsetof(ssc_options, shrink_weight), shrink_weight_names},
    {huddle_shrink_options_table, offsetof(ssc_options, shrink), NULL},
    {huddle_kmeans_options_table, offsetof(ssc_options, spectral.kmeans), hd_kmeans_names},
    {0}};

/* W: neighbours among the rows of the embedding. */
static huddle_status make_shrink_graph(huddle_context *context, void *argument, hd_fit *fit) {
    huddle_status status = HUDDLE_OK;
    const ssc_options *options = argument;
    huddle_neighbors neighbors = {0};
    const huddle_dense *f = &fit->embedding.rows;
    huddle_weight_options weight = options->shrink_weight;
    huddle_knn_options knn = huddle_knn_defaults();
    knn.n_neighbors = options->shrink_knn.n_neighbors;
    knn.seed = options->spectral.common.seed;
    TRY(huddle_graph_knn_dense(context, f, &knn, &neighbors, NULL));
    if (strcmp(weight.scale, "global") == 0)
        TRY(huddle_graph_mean_distance_dense(context, f, knn.seed, &weight.mean_distance));
    TRY(huddle_graph_weigh(context, &neighbors, &weight, &fit->shrink_graph, &fit->shrink_scale));
done:
    huddle_neighbors_free(&neighbors);
    return status;
}

static const hd_shared_stage shrink_graph_stage = {make_shrink_graph, hd_copy_shrink_graph};

/* W depends on the embedding, on how many of its columns are used, and on its own two options. */
static hd_key shrink_graph_key(const ssc_options *options, int32_t n_clusters, const hd_fit *fit) {
    char text[96];
    hd_key key = fit->key;
    snprintf(text, sizeof text, "shrink;%d;%d;%s", n_clusters, options->shrink_knn.n_neighbors,
             options->shrink_weight.scale);
    hd_key_add_text(&key, text);
    return key;
}

static void warn_uncertified(huddle_context *context, const huddle_shrink_info *info,
                             double wanted) {
    if (info->stop == HUDDLE_STOP_MAX_ITER || info->stop == HUDDLE_STOP_STALLED)
        hd_warn(context,
                "the shrinking stopped (%s) after %d iterations at a gap of %.2g, not %.2g",
                huddle_stop_name(info->stop), info->n_iter, info->gap, wanted);
}

/* What the step for one number of clusters needs. */
typedef struct ssc_step {
    ssc_options options;
    huddle_cache *cache;
} ssc_step;

static huddle_status cluster(huddle_context *context, void *argument, int32_t n_clusters,
                             hd_fit *fit) {
    huddle_status status = HUDDLE_OK;
    ssc_step *step = argument;
    ssc_options *options = &step->options;
    huddle_shrink_options shrink = options->shrink;
    huddle_kmeans_options kmeans = options->spectral.kmeans;
    hd_key key = shrink_graph_key(options, n_clusters, fit);
    shrink.n_clusters = kmeans.n_clusters = n_clusters;
    shrink.seed = kmeans.seed = options->spectral.common.seed;
    TRY(hd_spectral_rows(&options->spectral, n_clusters, fit));
    double begin = hd_seconds();
    huddle_csr_free(&fit->shrink_graph);
    huddle_scale_free(&fit->shrink_scale);
    TRY(hd_cache_run(context, step->cache, &key, &shrink_graph_stage, options, fit));
    huddle_shrunk_free(&fit->shrunk);
    huddle_shrink_info_free(&fit->shrink_info);
    TRY(huddle_shrink(context, &fit->embedding.rows, &fit->shrink_graph, &shrink, &fit->shrunk,
                      &fit->shrink_info));
    fit->shrink_seconds = hd_seconds() - begin;
    fit->has_shrink = true;
    warn_uncertified(context, &fit->shrink_info, shrink.gap);
    TRY(hd_fit_kmeans_dense(context, &fit->shrunk.g, &kmeans, fit));
done:
    return status;
}

static huddle_status fit_ssc(huddle_context *context, const hd_input *input, const void *options,
                             hd_fit *fit) {
    huddle_status status = HUDDLE_OK;
    ssc_step step = {*(const ssc_options *)options, NULL};
    huddle_range n_clusters;
    if (input->graph == NULL && input->embedding == NULL)
        step.cache = input->cache;
    TRY(hd_spectral_embed(context, input, &step.options.spectral, fit, &n_clusters));
    TRY(hd_fit_range(context, n_clusters, hd_spectral_points(fit),
                     fit->has_graph ? &fit->graph : NULL, cluster, &step, fit));
done:
    return status;
}

/* Row i of w: the training rows of F that pull new row i, as W would have joined them. */
static huddle_status weigh_new_rows(huddle_context *context, const hd_fit *fit,
                                    const ssc_options *options, const huddle_dense *rows,
                                    huddle_csr *w) {
    huddle_status status = HUDDLE_OK;
    huddle_neighbors neighbors = {0};
    huddle_knn_options knn = huddle_knn_defaults();
    knn.n_neighbors = options->shrink_knn.n_neighbors;
    TRY(huddle_graph_query_dense(context, &fit->embedding.rows, rows, &knn, &neighbors, NULL));
    TRY(hd_weigh_new(&neighbors, &fit->shrink_scale, fit->n, w));
done:
    huddle_neighbors_free(&neighbors);
    return status;
}

static huddle_status predict_ssc(huddle_context *context, const hd_fit *fit, const void *options,
                                 const huddle_points *x, int32_t *labels) {
    huddle_status status = HUDDLE_OK;
    const ssc_options *o = options;
    huddle_dense rows = {0};
    huddle_csr w = {0};
    int64_t *same = NULL;
    ALLOC(same, x->n);
    TRY(hd_spectral_new_rows(context, fit, &o->spectral, x, &rows, same));
    TRY(weigh_new_rows(context, fit, o, &rows, &w));
    TRY(huddle_shrink_points(context, &rows, &w, &fit->shrunk.g, fit->shrink_info.gamma,
                             o->shrink.loss, &rows));
    TRY(hd_spectral_assign(context, fit, &rows, same, labels));
done:
    huddle_csr_free(&w);
    huddle_dense_free(&rows);
    huddle_free(same);
    return status;
}

const hd_method hd_method_ssc = {
    .text = {"ssc", "spectral shrunk clustering",
             "Spectral clustering whose embedding is shrunk by a convex programme before K-means: "
             "neighbours in the embedding are pulled together until points of one cluster "
             "coincide. The answer comes with a proof of how near it is to the optimum."},
    .options_size = sizeof(ssc_options),
    .sections = sections,
    .takes_graph = true,
    .fit = fit_ssc,
    .predict = predict_ssc};
