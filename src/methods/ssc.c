#include "methods/spectral.h"

#include "base/check.h"
#include "base/options.h"
#include "methods/cache.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

typedef struct ssc_options {
    hd_spectral_options spectral;
    huddle_knn_options shrink_knn;
    huddle_weight_options shrink_weight;
    huddle_shrink_options shrink;
    bool guard;
} ssc_options;

static const huddle_option *guard_table(void) {
    static const huddle_option table[] = {
        HD_BOOL(ssc_options, guard, "true",
                "with gamma auto: cluster the embedding itself where shrinking makes the clusters "
                "much less even"),
        {0}};
    return table;
}

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
    {guard_table, 0, NULL},
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
    if (fit->nodes.n > 0)
        TRY(huddle_graph_weigh_copies(context, fit->nodes.copies, 0, &fit->shrink_graph));
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

/* Entropy of the clusters' shares of the points, 1 if they are all alike. */
static huddle_status evenness(const hd_fit *fit, double *entropy) {
    huddle_status status = HUDDLE_OK;
    int64_t *sizes = NULL;
    double n = (double)hd_fit_rows(fit);
    *entropy = 1;
    if (fit->n_clusters == 1)
        return status;
    ALLOC_ZERO(sizes, fit->n_clusters);
    for (int64_t i = 0; i < fit->n; i++)
        sizes[fit->labels[i]] += hd_fit_copies(fit, i);
    *entropy = 0;
    for (int32_t k = 0; k < fit->n_clusters; k++)
        if (sizes[k] > 0)
            *entropy -= (double)sizes[k] / n * log((double)sizes[k] / n) / log(fit->n_clusters);
done:
    huddle_free(sizes);
    return status;
}

/* K-means on the shrunk rows and on the embedding; the fit gets the first unless `guarded`. */
static huddle_status cluster_both(huddle_context *context, const huddle_kmeans_options *kmeans,
                                  hd_fit *fit, double *shrunk, double *unshrunk) {
    static const double most_loss = 0.1;
    huddle_status status = HUDDLE_OK;
    hd_fit plain = {.n = fit->n, .d = fit->d, .keep_starts = fit->keep_starts};
    plain.nodes = fit->nodes; /* borrowed, as is the next */
    plain.equal = fit->equal;
    TRY(hd_fit_kmeans_dense(context, &fit->shrunk.g, kmeans, fit));
    TRY(hd_fit_kmeans_dense(context, &fit->embedding.rows, kmeans, &plain));
    TRY(evenness(fit, shrunk));
    TRY(evenness(&plain, unshrunk));
    fit->guarded = *shrunk < *unshrunk - most_loss;
    if (fit->guarded)
        hd_fit_take_clusters(fit, &plain);
done:
    plain.nodes = plain.equal = (huddle_distinct){0};
    hd_fit_free(&plain);
    return status;
}

/* Where n / c was too strong a pull, clusters that are close together fuse and the rest is split
 * into crumbs; the clusters' sizes show it. Then the embedding's own clusters are better. Only the
 * clusters that are kept are spoken of. */
static huddle_status cluster_guarded(huddle_context *context, const huddle_kmeans_options *kmeans,
                                     hd_fit *fit) {
    double shrunk, unshrunk;
    hd_silence before = hd_silence_begin(context);
    huddle_status status = cluster_both(context, kmeans, fit, &shrunk, &unshrunk);
    hd_silence_end(context, before);
    if (status != HUDDLE_OK)
        return status;
    hd_warn_few_distinct(context, fit);
    if (fit->guarded)
        hd_warn(context, HUDDLE_WARNING_GUARDED,
                "shrinking made the clusters much less even (entropy %.2f, without %.2f): the "
                "labels are those of the embedding, not of the certified shrink step",
                shrunk, unshrunk);
    return status;
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
    double *weights = NULL;
    shrink.n_clusters = kmeans.n_clusters = n_clusters;
    shrink.seed = kmeans.seed = options->spectral.common.seed;
    TRY(hd_spectral_rows(&options->spectral, n_clusters, fit));
    double begin = hd_seconds();
    huddle_csr_free(&fit->shrink_graph);
    huddle_scale_free(&fit->shrink_scale);
    TRY(hd_cache_run(context, step->cache, &key, &shrink_graph_stage, options, fit));
    huddle_shrunk_free(&fit->shrunk);
    huddle_shrink_info_free(&fit->shrink_info);
    TRY(hd_fit_weights(fit, &weights));
    shrink.weights = weights;
    TRY(huddle_shrink(context, &fit->embedding.rows, &fit->shrink_graph, &shrink, &fit->shrunk,
                      &fit->shrink_info));
    fit->shrink_seconds = hd_seconds() - begin;
    fit->has_shrink = true;
    fit->guarded = false;
    if (options->guard && shrink.gamma == HUDDLE_AUTO)
        TRY(cluster_guarded(context, &kmeans, fit));
    else
        TRY(hd_fit_kmeans_dense(context, &fit->shrunk.g, &kmeans, fit));
done:
    huddle_free(weights);
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
    TRY(hd_weigh_new(&neighbors, &fit->shrink_scale, fit, w));
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
    if (!fit->guarded) {
        TRY(weigh_new_rows(context, fit, o, &rows, &w));
        TRY(huddle_shrink_points(context, &rows, &w, &fit->shrunk.g, fit->shrink_info.gamma,
                                 o->shrink.loss, &rows));
    }
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
             "coincide. This shrink step, not the clusters, comes with a proof of how near it is "
             "to its optimum."},
    .options_size = sizeof(ssc_options),
    .sections = sections,
    .takes_graph = true,
    .fit = fit_ssc,
    .predict = predict_ssc};
