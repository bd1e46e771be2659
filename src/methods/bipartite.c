/* Spectral clustering on a graph compressed to a bipartite one (Liu, Wang, Danilevsky and Han,
 * Large-scale spectral clustering on graphs, IJCAI 2013). Seeds grow to supernodes: each vertex
 * belongs to the seed with the shortest path to it. With R their indicators, n x s, the sparse n x
 * s matrix A R has the weight between each vertex and each supernode. The bipartite graph that it
 * describes is clustered by the left singular vectors of D1^-1/2 A R D2^-1/2 (two-sided, as in
 * co-clustering), which follow from a matrix of s x s, and K-means on their rows. Time is linear in
 * the edges.
 *
 * Further generations replace the supernodes by those of the embedding: two for each column, the
 * vertices above its mean and the others, so that each vertex is in many.
 *
 * The text of the paper was not at hand; the steps are those of its abstract and of
 * implementations that others have published. Open there or chosen here: seeds are drawn uniformly
 * among the vertices; the length of an edge is -log of its weight relative to the largest, plus a
 * small constant; a component without a seed becomes a supernode of its own; the number of
 * supernodes; eigenvalues are 1 - singular value, and n_clusters = auto uses their gaps; rows of
 * norm 1 (rows = rw: divided by the root of the degree, as in those implementations). A new point
 * is placed by its neighbours as in sc. */
#include "base/check.h"
#include "base/options.h"
#include "base/rng.h"
#include "decide/eigengap.h"
#include "decide/memory.h"
#include "methods/spectral.h"
#include "steps/embed.h"
#include "steps/graph.h"
#include "steps/kmeans.h"
#include "steps/supernodes.h"

#include <math.h>

typedef struct bipartite_options {
    hd_spectral_options spectral;
    int32_t n_supernodes, generations;
} bipartite_options;

/* auto is a fifth of the vertices, but no fewer than FEW, or all, and no more than MANY; a matrix
 * of supernodes x supernodes is decomposed, which limits their number. */
enum { AUTO_SHARE = 5, FEW = 100, MANY = 1000, MAX_SUPERNODES = 5000 };

/* Eigenvalues below this are 0 up to rounding, which is that of a root near 1. */
static const double component_tolerance = 1e-10;

static const huddle_option *own_table(void) {
    static const huddle_option table[] = {
        HD_INT_AUTO(bipartite_options, n_supernodes, "auto", 1, MAX_SUPERNODES,
                    "number of seeds and of the supernodes that grow from them; auto: a fifth of "
                    "the vertices, between 100 and 1000"),
        HD_INT(bipartite_options, generations, "1", 1, 1000,
               "how many times supernodes are made: first from seeds, then from the embedding"),
        {0}};
    return table;
}

static const hd_method_rename embed_names[] = {{"rows", "rows", NULL, NULL}, {0}};

static const hd_method_section sections[] = {
    {hd_method_affinity_table, 0, NULL},
    {huddle_prepare_options_table, offsetof(bipartite_options, spectral.prepare),
     hd_method_prepare_names},
    {huddle_knn_options_table, offsetof(bipartite_options, spectral.knn), NULL},
    {huddle_weight_options_table, offsetof(bipartite_options, spectral.weight), NULL},
    {huddle_connect_options_table, offsetof(bipartite_options, spectral.connect), NULL},
    {own_table, 0, NULL},
    {huddle_embed_options_table, offsetof(bipartite_options, spectral.embed), embed_names},
    {huddle_kmeans_options_table, offsetof(bipartite_options, spectral.kmeans),
     hd_method_kmeans_names},
    {0}};

/* ---- the embedding ------------------------------------------------------------------------- */

/* The option, or its automatic value; at most all vertices. */
static huddle_status count_seeds(const bipartite_options *options, huddle_range n_clusters,
                                 int64_t n, int64_t *count) {
    int64_t least = n_clusters.first == HUDDLE_AUTO ? 1 : n_clusters.last;
    *count = options->n_supernodes;
    if (*count == HUDDLE_AUTO) {
        *count = n / AUTO_SHARE < FEW ? FEW : n / AUTO_SHARE;
        *count = *count > MANY ? MANY : *count;
        *count = *count < least ? least : *count;
    }
    if (*count < least)
        return hd_fail(HUDDLE_INVALID, "n_supernodes = %lld is fewer than n_clusters = %lld",
                       (long long)*count, (long long)least);
    if (*count > MAX_SUPERNODES)
        return hd_fail(HUDDLE_UNSUPPORTED,
                       "n_clusters = %lld needs as many supernodes, but %d are "
                       "possible at most",
                       (long long)least, MAX_SUPERNODES);
    *count = *count < n ? *count : n;
    return HUDDLE_OK;
}

/* The most supernodes of a later generation: two for each column of the embedding; 0 if there is
 * none. */
static huddle_status count_halves(const bipartite_options *options, int64_t columns, int64_t n,
                                  int64_t *count) {
    columns = columns < n ? columns : n;
    *count = options->generations > 1 ? 2 * columns : 0;
    if (*count > MAX_SUPERNODES)
        return hd_fail(HUDDLE_UNSUPPORTED,
                       "generations > 1 makes two supernodes for each of %lld columns of the "
                       "embedding, but %d supernodes are possible at most: use fewer clusters, or "
                       "generations = 1",
                       (long long)columns, MAX_SUPERNODES);
    return HUDDLE_OK;
}

/* R of the first generation. Stream UINT64_MAX is not used by the restarts of K-means. */
static huddle_status grow_supernodes(huddle_context *context, const huddle_csr *graph,
                                     int64_t n_seeds, uint64_t seed, huddle_csr *r) {
    huddle_status status = HUDDLE_OK;
    hd_rng rng = hd_rng_stream(seed, UINT64_MAX);
    int64_t *seeds = NULL, count;
    int32_t *of = NULL;
    ALLOC(seeds, n_seeds);
    ALLOC(of, graph->rows);
    hd_rng_sample(&rng, graph->rows, n_seeds, seeds);
    TRY(hd_step_supernodes_grow(context, graph, n_seeds, seeds, of, &count));
    if (count > MAX_SUPERNODES)
        FAIL(HUDDLE_UNSUPPORTED,
             "the graph has %lld components without a seed, which are supernodes too, but %d "
             "supernodes are possible at most; connect = true joins components",
             (long long)(count - n_seeds), MAX_SUPERNODES);
    TRY(hd_step_supernodes_of(graph->rows, count, of, r));
done:
    FREE(seeds, of);
    return status;
}

/* R of a later generation, by the first columns of the embedding: vectors divided by the root of
 * the degree, as for a random walk. */
static huddle_status split_vertices(const huddle_embedding *e, int64_t columns, huddle_csr *r) {
    huddle_status status = HUDDLE_OK;
    huddle_dense rows = {0};
    columns = columns < e->vectors.cols ? columns : e->vectors.cols;
    TRY(huddle_dense_new(e->vectors.rows, columns, &rows));
    for (int64_t i = 0; i < rows.rows; i++)
        for (int64_t k = 0; k < columns; k++)
            rows.values[i * columns + k] =
                e->vectors.values[i * e->vectors.stride + k] / sqrt(e->degrees[i]);
    TRY(hd_step_supernodes_split(&rows, r));
done:
    huddle_dense_free(&rows);
    return status;
}

/* The vectors of one generation after the other; each replaces those before. */
static huddle_status make_generations(hd_method_run *run, const bipartite_options *options,
                                      int64_t n_seeds, int64_t n_wanted) {
    huddle_status status = HUDDLE_OK;
    huddle_context *context = run->context;
    hd_fit *fit = run->fit;
    const huddle_csr *graph = &fit->graph.matrix;
    huddle_csr r = {0}, links = {0};
    TRY(grow_supernodes(context, graph, n_seeds, run->seed, &r));
    for (int32_t g = 0; g < options->generations; g++) {
        TRY(hd_progress(context, "generations", g, options->generations));
        if (g > 0) {
            huddle_csr_free(&r);
            TRY(split_vertices(&fit->embedding.f, n_wanted - 1, &r));
        }
        hd_fit_embedding_free(&fit->embedding);
        huddle_csr_free(&links);
        TRY(hd_step_supernodes_link(context, graph, &r, &links));
        TRY(hd_step_supernodes_vectors(context, &links, n_wanted, &fit->embedding.f));
    }
    fit->embedding.present = true;
done:
    huddle_csr_free(&r);
    huddle_csr_free(&links);
    return status;
}

/* The vectors come from LAPACK on the full matrix of supernodes: none can be missed. */
static huddle_embed_info describe_vectors(const huddle_embedding *e, int32_t c) {
    double gap = c < e->n_eigenvalues ? e->eigenvalues[c] - e->eigenvalues[c - 1] : NAN;
    int32_t components = 0;
    while (components < e->n_eigenvalues && e->eigenvalues[components] < component_tolerance)
        components++;
    return (huddle_embed_info){.stop = HUDDLE_STOP_EXACT,
                               .unit = 1,
                               .gap = gap,
                               .cuts_cluster = gap < component_tolerance,
                               .components = components,
                               .verified = "inertia",
                               .proven_pairs = c < e->n_eigenvalues ? c : e->n_eigenvalues,
                               .solver = "supernodes"};
}

/* One vector more than columns shows the eigengap. */
static huddle_status find_vectors(hd_method_run *run, const bipartite_options *options) {
    huddle_status status = HUDDLE_OK;
    hd_fit *fit = run->fit;
    huddle_range *n_clusters = &run->n_clusters;
    hd_fit_embedding *embedding = &fit->embedding;
    int64_t n_seeds, n_halves, n = fit->rows.n;
    double begin = hd_seconds();
    int32_t last =
        n_clusters->first == HUDDLE_AUTO ? huddle_embed_max_clusters(INT64_MAX) : n_clusters->last;
    int64_t columns = hd_spectral_count_columns(options->spectral.embed.rows, last);
    hd_spectral_warn_graph(run->context, &options->spectral, *n_clusters, fit);
    TRY(huddle_csr_fetch(&fit->graph.matrix));
    TRY(count_seeds(options, *n_clusters, n, &n_seeds));
    TRY(count_halves(options, columns, n, &n_halves));
    TRY(make_generations(run, options, n_seeds, columns + 1));
    embedding->info.components = describe_vectors(&embedding->f, 1).components;
    TRY(hd_spectral_measure_extents(run->context, fit));
    TRY(hd_decide_eigengap(fit, n_clusters));
    embedding->info = describe_vectors(&embedding->f, n_clusters->last);
    embedding->info.seconds = hd_seconds() - begin;
    hd_spectral_warn_embedding(run->context, &options->spectral.embed, &embedding->info,
                               *n_clusters);
done:
    return status;
}

/* ---- the method ---------------------------------------------------------------------------- */

/* Rows of fewer columns than clusters are used if the links have a smaller rank. */
static huddle_status cluster(hd_method_run *run, void *argument, int32_t n_clusters) {
    huddle_status status = HUDDLE_OK;
    const bipartite_options *o = argument;
    hd_fit *fit = run->fit;
    huddle_kmeans_options kmeans = hd_method_kmeans_options(run, &o->spectral.kmeans, n_clusters);
    int64_t rank = fit->embedding.f.vectors.cols;
    TRY(hd_spectral_make_rows(o->spectral.embed.rows,
                              n_clusters < rank ? n_clusters : (int32_t)rank, &fit->embedding));
    TRY(hd_step_kmeans_dense(run->context, &fit->embedding.f.rows, &kmeans, &fit->rows,
                             &fit->clusters));
done:
    return status;
}

static huddle_status fit_bipartite(hd_method_run *run, const void *options) {
    huddle_status status = HUDDLE_OK;
    bipartite_options o = *(const bipartite_options *)options;
    TRY(hd_method_prepare_graph(run, &o.spectral));
    if (run->job->embedding != NULL)
        TRY(hd_method_embed(run, &o.spectral));
    else
        TRY_STAGE(run->context, HD_STAGE_EMBED, find_vectors(run, &o));
    hd_method_clustering how = hd_method_clustering_of(run->fit, cluster, &o, NULL);
    TRY(hd_method_cluster(run, &how));
done:
    return status;
}

/* Beside what sc needs: the matrix of supernodes, of the generation that has most, and the copy
 * that LAPACK makes of it. */
static void predict_memory(const hd_decide_sizes *x, const void *options,
                           hd_decide_memory *needed) {
    const bipartite_options *o = options;
    huddle_range range = {(int32_t)x->n_clusters, (int32_t)x->n_clusters};
    int64_t seeds = 0, halves = 0;
    int64_t columns = hd_spectral_count_columns(o->spectral.embed.rows, range.last);
    hd_decide_memory_of_spectral(x, options, needed);
    if (count_seeds(o, range, x->n, &seeds) != HUDDLE_OK)
        return; /* the fit is refused */
    if (count_halves(o, columns, x->n, &halves) != HUDDLE_OK)
        halves = MAX_SUPERNODES; /* unless many rows are equal, the fit is refused */
    int64_t side = seeds > halves ? seeds : halves;
    needed->stages[HD_STAGE_EMBED] += 2 * side * side * (int64_t)sizeof(double);
}

const hd_method hd_method_bipartite = {
    .text = {.name = "bipartite",
             .title = "spectral clustering on a bipartite graph (reconstruction)",
             .reconstruction = true,
             .summary = "Reconstruction of a method for large graphs whose publication was not "
                        "available: compresses the graph to the links between its vertices and "
                        "n_supernodes parts around seeds, and clusters by their singular vectors."},
    .options_size = sizeof(bipartite_options),
    .sections = sections,
    .takes_graph = true,
    .fit = fit_bipartite,
    .place = hd_spectral_place,
    .memory = {.predict = predict_memory}};
