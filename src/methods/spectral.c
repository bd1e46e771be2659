/* From points to a graph to an embedding. Results are shared with other fits of the same points
 * where a cache is given. */
#include "methods/spectral.h"

#include "base/check.h"
#include "base/options.h"
#include "decide/eigengap.h"
#include "matrix/resident.h"
#include "methods/prepare.h"
#include "methods/views.h"
#include "steps/embed.h"
#include "steps/graph.h"
#include "steps/kmeans.h"
#include "steps/merge.h"
#include "steps/refine.h"

#include <string.h>

/* ---- options ------------------------------------------------------------------------------- */

const huddle_option *hd_method_affinity_table(void) {
    static const char *const affinities[] = {"features", "distances", "precomputed",
                                             "precomputed_nearest_neighbors", NULL};
    static const huddle_option table[] = {
        HD_CHOICE(hd_spectral_options, affinity, "features", affinities,
                  "meaning of the input matrix: features, distances between all points, "
                  "similarities, or a sparse matrix of distances to neighbours"),
        {0}};
    return table;
}

const huddle_option *hd_method_duplicates_table(void) {
    static const char *const choices[] = {"merge", "keep", NULL};
    static const huddle_option table[] = {
        HD_CHOICE(hd_spectral_options, duplicates, "merge", choices,
                  "equal rows: merge them into one vertex where they would distort the graph, or "
                  "keep them all, each with a label of its own"),
        {0}};
    return table;
}

const huddle_option *hd_method_refine_table(void) {
    static const char *const choices[] = {"auto", "none", "graph", NULL};
    static const huddle_option table[] = {
        HD_CHOICE(hd_spectral_options, refine, "auto", choices,
                  "refinement of the labels on the graph: where possible, never, or always"),
        {0}};
    return table;
}

/* Spectral methods depend strongly on the preparation, so they choose it by default. */
const hd_method_rename hd_method_prepare_names[] = {{"prepare", "prepare", "auto", NULL}, {0}};

const hd_method_rename hd_method_kmeans_names[] = {{"n_init", "n_init", NULL, NULL},
                                                   {"init", "init", NULL, NULL},
                                                   {"max_iter", "kmeans_max_iter", NULL, NULL},
                                                   {"tol", "kmeans_tol", NULL, NULL},
                                                   {"full_restarts", "full_restarts", NULL, NULL},
                                                   {0}};

/* ---- graph and eigenvectors, shared with other fits of the same points -------------------------
 */

/* Adds everything that graph and points depend on. The first number of clusters, or auto,
 * determines how the graph is connected; with prepare = auto the whole range determines the
 * points. */
static void add_graph_to_key(hd_method_run *run, const hd_spectral_options *o) {
    hd_cache_key *key = &run->key;
    hd_cache_key_add(key, "%llu;%d:%d", (unsigned long long)o->common.seed, run->n_clusters.first,
                     run->n_clusters.last);
    /* Methods without the option leave it NULL. */
    hd_cache_key_add(key, "%s", o->affinity != NULL ? o->affinity : "features");
    if (hd_step_keeps_copies(o))
        hd_cache_key_add(key, "keep");
    hd_cache_key_add_options(key, huddle_prepare_options_table(), &o->prepare);
    if (strcmp(o->prepare.prepare.name, "auto") == 0)
        hd_method_add_choice_to_key(o, key);
    hd_method_add_graph_to_key(o, key);
    if (hd_spectral_joins_pieces(o, run->n_clusters))
        hd_cache_key_add(key, "short bridges");
    hd_cache_key_add(key, "%d", run->job->n_views);
    if (run->job->n_views > 1)
        hd_cache_key_add_options(key, hd_method_views_table(), o);
    if (run->views == HD_METHOD_VIEW_GRAPHS)
        hd_cache_key_add(key, "apart");
}

/* Appended to the key of the graph, on which the embedding depends. */
static void add_embedding_to_key(const hd_spectral_options *o, int32_t n_components,
                                 hd_cache_key *key) {
    hd_cache_key_add(key, "embed;%d;%lld", n_components, (long long)hd_spectral_count_given(o));
    hd_cache_key_add_options(key, huddle_embed_options_table(), &o->embed);
}

/* Prepared points, merged, and their graph; or the graph of a given matrix, which has no points. */
static huddle_status make_points_and_graph(hd_method_run *run, const hd_spectral_options *options) {
    huddle_status status = HUDDLE_OK;
    huddle_context *context = run->context;
    huddle_points points;
    if (run->job->n_views > 1)
        return hd_method_make_views(run, options);
    if (run->job->graph != NULL || strcmp(options->affinity, "features") != 0)
        return hd_spectral_make_matrix_graph(context, run->job, options, run->n_clusters, run->fit);
    TRY(hd_method_prepare(run, &options->prepare, options, true, &points));
    TRY(hd_step_merge_by(context, options, run->fit));
    hd_fit_offer(context, run->fit); /* the points: for neighbours, bridges and prediction */
    TRY(hd_spectral_make_graph(context, options, run->n_clusters, run->fit));
done:
    return status;
}

/* Eigenvalues that differ by no more than this are equal to LAPACK, whose error is of the order of
 * the rounding; those of the other solvers are separated if they differ by more than tol. */
static const double equal_eigenvalues = 1e-10;

/* If more vectors were found than F has columns, for the refinement: the gap that matters is still
 * the one after the last column, by the criterion of the solvers. */
static void set_gap(const huddle_embed_options *options, int32_t n_clusters,
                    hd_fit_embedding *embedding) {
    huddle_embed_info *info = &embedding->info;
    const double *eigenvalues = embedding->f.eigenvalues;
    double tol = strcmp(info->solver, "dense") == 0 ? equal_eigenvalues : options->tol;
    int64_t c = hd_spectral_count_columns(options->rows, n_clusters);
    if (c >= embedding->f.vectors.cols)
        return;
    info->gap = eigenvalues[c] - eigenvalues[c - 1];
    info->cuts_cluster = info->gap <= tol;
}

/* Computes the eigenvectors of the fit's graph and chooses n_clusters if it is auto. Warnings are
 * raised outside the shared computation, so that a fit that finds its embedding in the cache has
 * the same warnings as the one that computed it. */
static huddle_status embed_graph(hd_method_run *run, const hd_spectral_options *options) {
    huddle_status status = HUDDLE_OK;
    huddle_context *context = run->context;
    hd_cache_key *key = &run->key;
    hd_fit *fit = run->fit;
    huddle_range *n_clusters = &run->n_clusters;
    const hd_cache_part part = {&fit->embedding, &hd_fit_embedding_copier};
    hd_spectral_warn_graph(context, options, *n_clusters, fit);
    hd_fit_embedding_free(&fit->embedding);
    hd_fit_offer(context, fit); /* the graph: for eigenvectors and refinement */
    add_embedding_to_key(options, hd_spectral_count_vectors(options, *n_clusters, &fit->rows), key);
    HD_CACHE_TRY(key, &part, 1, hd_spectral_find_vectors(context, options, *n_clusters, fit));
    TRY(hd_spectral_measure_extents(context, fit));
    if (n_clusters->first != HUDDLE_AUTO && n_clusters->first == n_clusters->last)
        set_gap(&options->embed, n_clusters->first, &fit->embedding);
    hd_spectral_warn_embedding(context, &options->embed, &fit->embedding.info, *n_clusters);
    TRY(hd_decide_eigengap(fit, n_clusters));
done:
    return status;
}

/* Copies a given embedding. Without n_clusters, one cluster per column is assumed, as in spectral
 * embeddings. */
static huddle_status copy_given_embedding(hd_method_run *run) {
    const huddle_dense *given = run->job->embedding;
    if (run->n_clusters.first == HUDDLE_AUTO)
        run->n_clusters = (huddle_range){(int32_t)given->cols, (int32_t)given->cols};
    return huddle_dense_copy(given, &run->fit->embedding.f.rows);
}

/* Points and graph are one entry of the cache, the embedding another: fits that differ only in
 * options of the embedding or of later steps share the graph. */
huddle_status hd_method_prepare_graph(hd_method_run *run, const hd_spectral_options *options) {
    huddle_status status = HUDDLE_OK;
    hd_fit *fit = run->fit;
    hd_cache_key *key = &run->key;
    const hd_cache_part parts[] = {{&fit->rows, &hd_fit_rows_copier},
                                   {&fit->prepared, &hd_fit_prepared_copier},
                                   {&fit->graph, &hd_fit_graph_copier},
                                   {&fit->views, &hd_fit_views_copier}};
    if (run->job->graph != NULL || run->job->embedding != NULL)
        key->cache = NULL; /* these belong to one model; only what comes from x is shared */
    if (run->job->embedding != NULL)
        return status;
    add_graph_to_key(run, options);
    HD_CACHE_TRY(key, parts, 4, make_points_and_graph(run, options));
done:
    return status;
}

huddle_status hd_method_embed(hd_method_run *run, const hd_spectral_options *options) {
    return run->job->embedding != NULL ? copy_given_embedding(run) : embed_graph(run, options);
}

/* Called once per number of clusters by lda-sc: graph and embedding of the previous call are
 * freed. */
huddle_status hd_method_embed_points(hd_method_run *run, const hd_spectral_options *options) {
    huddle_status status = HUDDLE_OK;
    hd_fit *fit = run->fit;
    hd_cache_key *key = &run->key;
    const hd_cache_part part = {&fit->graph, &hd_fit_graph_copier};
    hd_fit_graph_free(&fit->graph);
    TRY(hd_step_merge(run->context, options->knn.n_neighbors, fit));
    add_graph_to_key(run, options);
    HD_CACHE_TRY(key, &part, 1,
                 hd_spectral_make_graph(run->context, options, run->n_clusters, fit));
    TRY(embed_graph(run, options));
done:
    return status;
}

/* ---- clustering ---------------------------------------------------------------------------- */

/* Points and graph exist unless an embedding or a matrix was given; trials are scored by what
 * exists. */
hd_method_clustering hd_method_clustering_of(const hd_fit *fit, hd_method_cluster_step *cluster,
                                             void *argument, const hd_spectral_options *refined) {
    const huddle_points *points = &fit->prepared.points;
    bool has_points = hd_points_present(points);
    return (hd_method_clustering){.cluster = cluster,
                                  .argument = argument,
                                  .points = has_points ? points : NULL,
                                  .graph = fit->graph.present ? &fit->graph.matrix : NULL,
                                  .refined = refined,
                                  .laplacian = refined != NULL ? &fit->embedding : NULL,
                                  .measures_stability = refined != NULL && fit->views.count == 0};
}

/* Steps 4 and 5 of spectral clustering (Ng, Jordan and Weiss, 2001): rows, then K-means on them.
 * Refinement follows where the method has it. */
huddle_status hd_method_cluster_rows(hd_method_run *run, void *options, int32_t n_clusters) {
    huddle_status status = HUDDLE_OK;
    const hd_spectral_options *o = options;
    huddle_context *context = run->context;
    hd_fit *fit = run->fit;
    huddle_kmeans_options kmeans = hd_method_kmeans_options(run, &o->kmeans, n_clusters);
    TRY_STAGE(context, HD_STAGE_ROWS,
              hd_spectral_make_rows(o->embed.rows, n_clusters, &fit->embedding));
    TRY(hd_step_kmeans_dense(context, &fit->embedding.f.rows, &kmeans, &fit->rows, &fit->clusters));
    const huddle_refine_start own = {"embedding", fit->clusters.labels};
    TRY(hd_step_refine(context, o, &fit->embedding, 1, &own, &fit->embedding.f.rows, fit));
done:
    return status;
}
