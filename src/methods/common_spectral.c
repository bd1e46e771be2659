/* Points to graph to eigenvectors. */
#include "methods/spectral.h"

#include "base/check.h"
#include "base/options.h"
#include "methods/cache.h"

#include <stdio.h>
#include <string.h>

/* The eigengap rule looks at no more clusters than this. */
enum { MOST_CLUSTERS = 30, POINTS_PER_CLUSTER = 5 };

const huddle_option *hd_affinity_table(void) {
    static const char *const affinities[] = {"features", "distances", "precomputed",
                                             "precomputed_nearest_neighbors", NULL};
    static const huddle_option table[] = {
        HD_CHOICE(hd_spectral_options, affinity, "features", affinities,
                  "what the data are: points, all distances, similarities, or a sparse matrix of "
                  "distances to neighbours"),
        {0}};
    return table;
}

const hd_rename hd_prepare_auto[] = {{"prepare", "prepare", "auto", NULL}, {0}};

const hd_rename hd_kmeans_names[] = {{"n_init", "n_init", NULL, NULL},
                                     {"init", "init", NULL, NULL},
                                     {"max_iter", "kmeans_max_iter", NULL, NULL},
                                     {"tol", "kmeans_tol", NULL, NULL},
                                     {0}};

/* ---- the graph ----------------------------------------------------------------------------- */

static bool is_affinity(const hd_spectral_options *options, const char *name) {
    return strcmp(options->affinity, name) == 0;
}

/* Clusters that connect should leave room for. */
static int32_t clusters_for_connect(huddle_range n_clusters, int64_t n) {
    if (n_clusters.first != HUDDLE_AUTO)
        return n_clusters.first;
    int64_t most = n / POINTS_PER_CLUSTER;
    return most < 2 ? 2 : most > MOST_CLUSTERS ? MOST_CLUSTERS : (int32_t)most;
}

void hd_warn_components(huddle_context *context, const hd_fit *fit, int32_t n_clusters) {
    const huddle_connect_info *info = &fit->connect_info;
    if (info->bridges > 0)
        hd_warn(context, HUDDLE_WARNING_COMPONENTS,
                "the graph had %d components for %d clusters; joined by %d shortest bridges to %d",
                info->before, n_clusters, info->bridges, info->after);
    else if (info->after > n_clusters)
        hd_warn(context, HUDDLE_WARNING_COMPONENTS,
                "the graph has %d components for %d clusters and was not joined", info->after,
                n_clusters);
}

static huddle_status connect_points(huddle_context *context, const huddle_points *points,
                                    const hd_spectral_options *options, huddle_range n_clusters,
                                    hd_fit *fit) {
    huddle_status status = HUDDLE_OK;
    huddle_connect_options connect = options->connect;
    connect.n_clusters = clusters_for_connect(n_clusters, hd_fit_rows(fit));
    connect.metric = options->knn.metric;
    connect.copies = fit->nodes.copies;
    TRY(huddle_graph_connect(context, points, &connect, &fit->scale, &fit->graph,
                             &fit->connect_info));
done:
    return status;
}

/* A of the fit's points, of which equal ones are merged if they are many. */
static huddle_status graph_of_points(huddle_context *context, const hd_spectral_options *options,
                                     huddle_range n_clusters, hd_fit *fit) {
    huddle_status status = HUDDLE_OK;
    const huddle_points *points = &fit->points;
    huddle_neighbors neighbors = {0};
    huddle_knn_options knn = options->knn;
    huddle_weight_options weight = options->weight;
    double begin = hd_seconds();
    knn.seed = options->common.seed;
    TRY(hd_find_neighbors(context, fit, &knn, &neighbors));
    if (strcmp(weight.scale, "global") == 0)
        TRY(huddle_graph_mean_distance(context, points, knn.metric, knn.seed,
                                       &weight.mean_distance));
    TRY(huddle_graph_weigh(context, &neighbors, &weight, &fit->graph, &fit->scale));
    huddle_neighbors_free(&neighbors);
    TRY(connect_points(context, points, options, n_clusters, fit));
    if (fit->nodes.n > 0)
        TRY(huddle_graph_weigh_copies(context, fit->nodes.copies, knn.n_neighbors, &fit->graph));
    fit->graph_seconds = hd_seconds() - begin;
done:
    huddle_neighbors_free(&neighbors);
    return status;
}

/* x, or the graph that was given, as a sparse square matrix; owned is to be freed. */
static huddle_status square_matrix(const hd_input *input, huddle_csr *owned, huddle_csr *matrix) {
    huddle_status status = HUDDLE_OK;
    const huddle_points *x = input->x;
    if (input->graph != NULL) {
        *matrix = *input->graph;
        return status;
    }
    if (x->n != x->d)
        FAIL(HUDDLE_INVALID, "a matrix between %lld points must be square, not %lld x %lld",
             (long long)x->n, (long long)x->n, (long long)x->d);
    bool sparse = x->offsets != NULL;
    TRY(huddle_csr_new(x->n, x->n, sparse ? x->offsets[x->n] : x->n * x->n, owned));
    for (int64_t i = 0; i < x->n; i++) {
        int64_t from = sparse ? x->offsets[i] : i * x->stride;
        int64_t count = sparse ? x->offsets[i + 1] - from : x->n;
        owned->offsets[i + 1] = owned->offsets[i] + count;
        for (int64_t e = 0; e < count; e++) {
            int32_t column = sparse ? x->columns[from + e] : (int32_t)e;
            double shift = x->shift != NULL ? x->shift[column] : 0;
            owned->columns[owned->offsets[i] + e] = column;
            owned->values[owned->offsets[i] + e] = (double)x->values[from + e] + shift;
        }
    }
    *matrix = *owned;
done:
    return status;
}

/* All distances as a dense matrix; HUDDLE_INVALID if some are missing. */
static huddle_status dense_distances(const huddle_csr *matrix, huddle_dense *distances) {
    huddle_status status = HUDDLE_OK;
    int64_t others = matrix->rows - 1;
    TRY(huddle_dense_new(matrix->rows, matrix->cols, distances));
    for (int64_t i = 0; i < matrix->rows; i++) {
        int64_t count = 0;
        for (int64_t e = matrix->offsets[i]; e < matrix->offsets[i + 1]; e++) {
            distances->values[i * distances->stride + matrix->columns[e]] = matrix->values[e];
            count += matrix->columns[e] != i;
        }
        if (count < others)
            FAIL(HUDDLE_INVALID,
                 "affinity = distances needs all of them, but row %lld has only %lld of %lld; "
                 "precomputed_nearest_neighbors takes some",
                 (long long)i + 1, (long long)count, (long long)others);
    }
done:
    return status;
}

/* Points with equal rows of distances, at distance 0 from each other, are one. */
static bool are_copies(const huddle_dense *distances, const huddle_distinct *distinct) {
    for (int64_t i = 0; i < distinct->n && distinct->of != NULL; i++) {
        int64_t first = distinct->first[distinct->of[i]];
        if (distances->values[i * distances->stride + first] != 0 ||
            distances->values[first * distances->stride + i] != 0)
            return false;
    }
    return distinct->of != NULL;
}

/* As hd_fit_merge(), for points that are known by their distances only. */
static huddle_status merge_distances(huddle_context *context, int32_t n_neighbors,
                                     huddle_dense *distances, hd_fit *fit) {
    huddle_status status = HUDDLE_OK;
    huddle_distinct distinct = {0};
    huddle_dense fewer = {0};
    TRY(huddle_dense_distinct(context, distances, &distinct));
    if (!are_copies(distances, &distinct))
        goto done;
    TRY(hd_copy_distinct(&distinct, &fit->equal));
    if (!hd_copies_matter(&distinct, n_neighbors))
        goto done;
    TRY(huddle_dense_new(distinct.count, distinct.count, &fewer));
    for (int64_t i = 0; i < distinct.count; i++)
        for (int64_t j = 0; j < distinct.count; j++)
            fewer.values[i * fewer.stride + j] =
                distances->values[distinct.first[i] * distances->stride + distinct.first[j]];
    huddle_dense_free(distances);
    *distances = fewer;
    fit->nodes = distinct;
    fit->n = distinct.count;
    distinct = (huddle_distinct){0};
done:
    huddle_distinct_free(&distinct);
    return status;
}

static huddle_status graph_of_all_distances(huddle_context *context, const huddle_csr *matrix,
                                            const hd_spectral_options *options,
                                            huddle_range n_clusters, hd_fit *fit) {
    huddle_status status = HUDDLE_OK;
    huddle_dense distances = {0};
    huddle_neighbors neighbors = {0};
    huddle_weight_options weight = options->weight;
    huddle_connect_options connect = options->connect;
    TRY(dense_distances(matrix, &distances));
    TRY(merge_distances(context, options->knn.n_neighbors, &distances, fit));
    TRY(fit->nodes.n > 0 ? huddle_graph_from_distances_ties(context, &distances,
                                                            options->knn.n_neighbors, &neighbors)
                         : huddle_graph_from_distances_dense(context, &distances,
                                                             options->knn.n_neighbors, &neighbors));
    TRY(huddle_graph_mean_of_distances(context, &distances, &weight.mean_distance));
    TRY(huddle_graph_weigh(context, &neighbors, &weight, &fit->graph, &fit->scale));
    connect.n_clusters = clusters_for_connect(n_clusters, matrix->rows);
    connect.copies = fit->nodes.copies;
    TRY(huddle_graph_connect_distances(context, &distances, &connect, &fit->scale, &fit->graph,
                                       &fit->connect_info));
    if (fit->nodes.n > 0)
        TRY(huddle_graph_weigh_copies(context, fit->nodes.copies, options->knn.n_neighbors,
                                      &fit->graph));
done:
    huddle_neighbors_free(&neighbors);
    huddle_dense_free(&distances);
    return status;
}

static huddle_status graph_of_some_distances(huddle_context *context, const huddle_csr *matrix,
                                             const hd_spectral_options *options, hd_fit *fit) {
    huddle_status status = HUDDLE_OK;
    huddle_neighbors neighbors = {0};
    if (strcmp(options->weight.scale, "global") == 0)
        FAIL(HUDDLE_INVALID, "scale = global needs all distances, not those to neighbours only");
    TRY(huddle_graph_from_distances(context, matrix, options->knn.n_neighbors, &neighbors));
    TRY(huddle_graph_weigh(context, &neighbors, &options->weight, &fit->graph, &fit->scale));
done:
    huddle_neighbors_free(&neighbors);
    return status;
}

/* Without distances there are no bridges, but the components are counted. */
static huddle_status count_components(huddle_context *context, hd_fit *fit) {
    huddle_status status = HUDDLE_OK;
    int32_t *component = NULL;
    ALLOC(component, fit->graph.rows);
    TRY(huddle_graph_components(context, &fit->graph, component, &fit->connect_info.before));
    fit->connect_info.after = fit->connect_info.before;
done:
    huddle_free(component);
    return status;
}

static huddle_status graph_of_matrix(huddle_context *context, const hd_input *input,
                                     const hd_spectral_options *options, huddle_range n_clusters,
                                     hd_fit *fit) {
    huddle_status status = HUDDLE_OK;
    huddle_csr owned = {0}, matrix = {0};
    double begin = hd_seconds();
    TRY(square_matrix(input, &owned, &matrix));
    fit->knn_info.recall = 1;
    if (is_affinity(options, "distances")) {
        TRY(graph_of_all_distances(context, &matrix, options, n_clusters, fit));
    } else {
        if (is_affinity(options, "precomputed_nearest_neighbors"))
            TRY(graph_of_some_distances(context, &matrix, options, fit));
        else
            TRY(huddle_graph_from_affinity(context, &matrix, &fit->graph));
        TRY(count_components(context, fit));
    }
    fit->graph_seconds = hd_seconds() - begin;
done:
    huddle_csr_free(&owned);
    return status;
}

/* ---- the eigenvectors ---------------------------------------------------------------------- */

static huddle_status take_embedding(const huddle_dense *given, hd_fit *fit,
                                    huddle_range *n_clusters) {
    huddle_status status = HUDDLE_OK;
    TRY(huddle_dense_copy(given, &fit->embedding.rows));
    if (n_clusters->first == HUDDLE_AUTO)
        n_clusters->first = n_clusters->last = (int32_t)given->cols;
done:
    return status;
}

/* Eigenvectors to find: one for each cluster; where there is a choice, one more than could be
 * chosen, for the eigengap after the last. */
static int32_t components_for(huddle_range n_clusters, const hd_fit *fit) {
    int64_t wanted = (int64_t)n_clusters.last + (n_clusters.first < n_clusters.last);
    if (n_clusters.first == HUDDLE_AUTO)
        wanted = clusters_for_connect(n_clusters, hd_fit_rows(fit)) + 1;
    return (int32_t)(wanted < fit->n ? wanted : fit->n);
}

void hd_warn_embedding(huddle_context *context, const huddle_embed_options *options,
                       const huddle_embed_info *info, huddle_range n_clusters) {
    bool given = n_clusters.first != HUDDLE_AUTO && n_clusters.first == n_clusters.last;
    if (info->stop == HUDDLE_STOP_MAX_ITER || info->stop == HUDDLE_STOP_STALLED)
        hd_warn(context, HUDDLE_WARNING_NOT_CONVERGED,
                "the embedding stopped (%s) after %d iterations at a residual of %.2g",
                huddle_stop_name(info->stop), info->n_iter, info->residual);
    else if (strcmp(info->verified, "none") == 0 && strcmp(options->verify, "none") != 0)
        hd_warn(context, HUDDLE_WARNING_NOT_VERIFIED,
                "the embedding could not be verified: %d eigenvectors are proven to be the first, "
                "of the others some may be missing",
                info->proven_pairs);
    if (given && info->cuts_cluster)
        hd_warn(context, HUDDLE_WARNING_SMALL_EIGENGAP,
                "the eigengap at this number of clusters is only %.2g: the last columns of the "
                "embedding are one choice of many",
                info->gap);
}

/* ---- both, shared with other fits of the same points ---------------------------------------- */

/* What making the graph or the embedding needs. */
typedef struct spectral_job {
    const hd_input *input;
    const hd_spectral_options *options;
    huddle_range n_clusters;
    int32_t n_components;
} spectral_job;

static huddle_status make_graph(huddle_context *context, void *argument, hd_fit *fit) {
    huddle_status status = HUDDLE_OK;
    const spectral_job *job = argument;
    huddle_points points;
    huddle_prepare_options prepare = job->options->prepare;
    prepare.seed = job->options->common.seed;
    if (job->input->graph != NULL || !is_affinity(job->options, "features"))
        return graph_of_matrix(context, job->input, job->options, job->n_clusters, fit);
    TRY(hd_fit_prepare(context, job->input->x, &prepare, true, fit, &points));
    TRY(hd_fit_merge(context, job->options->knn.n_neighbors, fit));
    TRY(graph_of_points(context, job->options, job->n_clusters, fit));
done:
    return status;
}

static huddle_status make_graph_of_points(huddle_context *context, void *argument, hd_fit *fit) {
    const spectral_job *job = argument;
    return graph_of_points(context, job->options, job->n_clusters, fit);
}

static huddle_status make_embedding(huddle_context *context, void *argument, hd_fit *fit) {
    const spectral_job *job = argument;
    huddle_embed_options embed = job->options->embed;
    embed.seed = job->options->common.seed;
    embed.n_components = job->n_components;
    return huddle_embed(context, &fit->graph, &embed, &fit->embedding, &fit->embed_info);
}

static const hd_shared_stage graph_stage = {make_graph, hd_copy_graph};
static const hd_shared_stage points_stage = {make_graph_of_points, hd_copy_graph_alone};
static const hd_shared_stage embedding_stage = {make_embedding, hd_copy_embedding};

/* The first number of clusters, or auto, decides how the graph is joined; with prepare = auto the
 * whole range decides the points. */
static void add_graph_to_key(const spectral_job *job, hd_key *key) {
    const hd_spectral_options *o = job->options;
    char numbers[64];
    snprintf(numbers, sizeof numbers, "%llu;%d:%d", (unsigned long long)o->common.seed,
             job->n_clusters.first, job->n_clusters.last);
    hd_key_add_text(key, numbers);
    hd_key_add_text(key, o->affinity != NULL ? o->affinity : "features");
    hd_key_add_options(key, huddle_prepare_options_table(), &o->prepare);
    hd_key_add_options(key, huddle_knn_options_table(), &o->knn);
    hd_key_add_options(key, huddle_weight_options_table(), &o->weight);
    hd_key_add_options(key, huddle_connect_options_table(), &o->connect);
}

static void add_embedding_to_key(const spectral_job *job, hd_key *key) {
    char number[32];
    snprintf(number, sizeof number, "embed;%d", job->n_components);
    hd_key_add_text(key, number);
    hd_key_add_options(key, huddle_embed_options_table(), &job->options->embed);
}

/* Graph and eigenvectors by the graph stage given; settles n_clusters if it is auto. */
static huddle_status run_stages(huddle_context *context, huddle_cache *cache,
                                const hd_shared_stage *stage, spectral_job *job, hd_fit *fit,
                                huddle_range *n_clusters) {
    huddle_status status = HUDDLE_OK;
    job->n_clusters = *n_clusters;
    add_graph_to_key(job, &fit->key);
    TRY(hd_cache_run(context, cache, &fit->key, stage, job, fit));
    fit->has_graph = true;
    hd_warn_components(context, fit, clusters_for_connect(*n_clusters, hd_fit_rows(fit)));
    job->n_components = components_for(*n_clusters, fit);
    add_embedding_to_key(job, &fit->key);
    TRY(hd_cache_run(context, cache, &fit->key, &embedding_stage, job, fit));
    fit->has_embedding = true;
    TRY(hd_fit_measure_extents(context, fit));
    hd_warn_embedding(context, &job->options->embed, &fit->embed_info, *n_clusters);
    if (n_clusters->first != HUDDLE_AUTO)
        goto done;
    huddle_spectrum spectrum = hd_fit_spectrum(fit);
    TRY(huddle_embed_choose(&spectrum, 0, 0, &fit->choice));
    n_clusters->first = n_clusters->last = fit->choice.candidates[0];
done:
    return status;
}

huddle_status hd_spectral_embed(huddle_context *context, const hd_input *input,
                                const hd_spectral_options *options, hd_fit *fit,
                                huddle_range *n_clusters) {
    huddle_status status = HUDDLE_OK;
    spectral_job job = {.input = input, .options = options};
    /* A given graph belongs to one model; only what comes from x is shared. */
    huddle_cache *cache = input->graph == NULL ? input->cache : NULL;
    *n_clusters = options->common.n_clusters;
    TRY(hd_check_clusters(*n_clusters, fit->n));
    if (input->embedding != NULL)
        TRY(take_embedding(input->embedding, fit, n_clusters));
    else
        TRY(run_stages(context, cache, &graph_stage, &job, fit, n_clusters));
done:
    return status;
}

huddle_status hd_spectral_embed_points(huddle_context *context, huddle_cache *cache,
                                       const hd_spectral_options *options, hd_fit *fit,
                                       huddle_range *n_clusters) {
    spectral_job job = {.options = options};
    huddle_csr_free(&fit->graph);
    huddle_scale_free(&fit->scale);
    huddle_embedding_free(&fit->embedding);
    huddle_status status = hd_fit_merge(context, options->knn.n_neighbors, fit);
    if (status != HUDDLE_OK)
        return status;
    return run_stages(context, cache, &points_stage, &job, fit, n_clusters);
}

huddle_status hd_spectral_rows(const hd_spectral_options *options, int32_t n_clusters,
                               hd_fit *fit) {
    huddle_status status = HUDDLE_OK;
    huddle_embedding *e = &fit->embedding;
    if (n_clusters > e->vectors.cols && e->vectors.values != NULL)
        n_clusters = (int32_t)e->vectors.cols; /* fewer distinct rows than clusters */
    if (e->vectors.values == NULL || e->rows.cols == n_clusters)
        return status;
    huddle_dense_free(&e->rows);
    TRY(huddle_dense_new(e->vectors.rows, n_clusters, &e->rows));
    TRY(huddle_embed_rows(&e->vectors, e->degrees, options->embed.rows, &e->rows));
done:
    return status;
}

huddle_status hd_spectral_cluster(huddle_context *context, void *options, int32_t n_clusters,
                                  hd_fit *fit) {
    huddle_status status = HUDDLE_OK;
    const hd_spectral_options *o = options;
    huddle_kmeans_options kmeans = o->kmeans;
    kmeans.n_clusters = n_clusters;
    kmeans.seed = o->common.seed;
    TRY(hd_spectral_rows(o, n_clusters, fit));
    TRY(hd_fit_kmeans_dense(context, &fit->embedding.rows, &kmeans, fit));
done:
    return status;
}

const huddle_points *hd_spectral_points(const hd_fit *fit) {
    return fit->points.values != NULL ? &fit->points : NULL;
}

huddle_status hd_choose_clusters(huddle_context *context, const huddle_points *points,
                                 uint64_t seed, hd_fit *fit, huddle_range *n_clusters) {
    huddle_status status = HUDDLE_OK;
    hd_fit scratch = {.n = points->n, .d = points->d};
    hd_spectral_options options = {.common = {*n_clusters, seed},
                                   .affinity = "features",
                                   .prepare = huddle_prepare_defaults(),
                                   .knn = huddle_knn_defaults(),
                                   .weight = huddle_weight_defaults(),
                                   .connect = huddle_connect_defaults(),
                                   .embed = huddle_embed_defaults()};
    hd_input input = {points, NULL, NULL, NULL};
    TRY(hd_spectral_embed(context, &input, &options, &scratch, n_clusters));
    fit->choice = scratch.choice;
done:
    hd_fit_free(&scratch);
    return status;
}
