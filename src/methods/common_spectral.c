/* From the graph to eigenvectors to rows of the embedding. Results are shared with other fits of
 * the same points where a cache is given. */
#include "base/check.h"
#include "base/options.h"
#include "methods/refining.h"

#include <stdio.h>
#include <string.h>

/* ---- options ------------------------------------------------------------------------------- */

const huddle_option *hd_spectral_affinity_table(void) {
    static const char *const affinities[] = {"features", "distances", "precomputed",
                                             "precomputed_nearest_neighbors", NULL};
    static const huddle_option table[] = {
        HD_CHOICE(hd_spectral_options, affinity, "features", affinities,
                  "meaning of the input matrix: features, distances between all points, "
                  "similarities, or a sparse matrix of distances to neighbours"),
        {0}};
    return table;
}

const huddle_option *hd_spectral_refine_table(void) {
    static const char *const choices[] = {"auto", "none", "graph", NULL};
    static const huddle_option table[] = {
        HD_CHOICE(hd_spectral_options, refine, "auto", choices,
                  "refinement of the labels on the graph: where possible, never, or always"),
        {0}};
    return table;
}

/* Spectral methods depend strongly on the preparation, so they choose it by default. */
const hd_rename hd_spectral_prepare_names[] = {{"prepare", "prepare", "auto", NULL}, {0}};

const hd_rename hd_spectral_kmeans_names[] = {{"n_init", "n_init", NULL, NULL},
                                              {"init", "init", NULL, NULL},
                                              {"max_iter", "kmeans_max_iter", NULL, NULL},
                                              {"tol", "kmeans_tol", NULL, NULL},
                                              {"full_restarts", "full_restarts", NULL, NULL},
                                              {0}};

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

/* ---- steps --------------------------------------------------------------------------------- */

/* int64_t: n_clusters may be INT32_MAX. */
int64_t hd_spectral_count_columns(const char *row_rule, int32_t n_clusters) {
    return strcmp(row_rule, "commute") == 0 ? 2 * (int64_t)n_clusters : n_clusters;
}

/* (4) needs the eigenvalue after the last number of clusters, so that a choice requires one vector
 * more. */
int32_t hd_spectral_count_vectors(const hd_spectral_options *options, huddle_range n_clusters,
                                  const hd_fit_rows *rows) {
    bool is_auto = n_clusters.first == HUDDLE_AUTO;
    int32_t last = is_auto ? hd_spectral_connect_clusters(n_clusters, rows) : n_clusters.last;
    bool twice = hd_refine_is_wanted(options) && !options->few_vectors;
    const char *widest = twice ? "commute" : options->embed.rows;
    int64_t n_requested =
        hd_spectral_count_columns(widest, last) + (is_auto || n_clusters.first < last);
    int64_t vertices = rows->n + rows->elsewhere;
    return (int32_t)(n_requested < vertices ? n_requested : vertices);
}

/* The vectors beyond the columns of F only provide starts for the refinement: on large graphs they
 * need not be accurate, which halves the time. Up to so many vertices they are, because labels
 * should not depend on an option that saves no time. A choice among numbers of clusters needs the
 * eigenvalues of all. */
enum { ALL_EXACT_ROWS = 50000 };

/* The columns of F if one number of clusters is given, else 0. */
static int64_t count_given(const hd_spectral_options *options) {
    huddle_range given = options->common.n_clusters;
    if (given.first == HUDDLE_AUTO || given.first < given.last)
        return 0;
    return hd_spectral_count_columns(options->embed.rows, given.first);
}

/* `present` distinguishes a computed embedding from a given one. */
huddle_status hd_spectral_find_vectors(huddle_context *context, const hd_spectral_options *options,
                                       int32_t n_components, const huddle_csr *graph,
                                       hd_fit_embedding *embedding) {
    huddle_embed_options embed = options->embed;
    int64_t given = count_given(options);
    embed.seed = options->common.seed;
    embed.n_components = n_components;
    embed.n_rows = (int32_t)(given < n_components ? given : n_components);
    embed.n_exact = graph->cols > ALL_EXACT_ROWS ? embed.n_rows : 0; /* cols: of all processes */
    hd_stage before = hd_stage_enter(context, HD_STAGE_EMBED);
    huddle_status status = huddle_embed(context, graph, &embed, &embedding->f, &embedding->info);
    hd_stage_leave(context, before);
    embedding->present = status == HUDDLE_OK;
    return status;
}

/* Equation (5) for every eigenvector. */
huddle_status hd_spectral_measure_extents(huddle_context *context, const hd_fit_rows *rows,
                                          hd_fit_embedding *embedding) {
    huddle_status status = HUDDLE_OK;
    hd_stage before = hd_stage_enter(context, HD_STAGE_EMBED);
    huddle_free(embedding->extents);
    embedding->extents = NULL;
    TRY(huddle_dense_fetch(&embedding->f.vectors));
    ALLOC(embedding->extents, embedding->f.vectors.cols);
    TRY(huddle_embed_extents(context, &embedding->f.vectors, rows->nodes.copies,
                             embedding->extents));
    hd_stage_leave(context, before);
done:
    return status;
}

/* The rule of docs/method.md, "How many clusters?", on all numbers that the eigenvalues allow. */
huddle_status hd_spectral_choose(const hd_fit_embedding *embedding, const hd_fit_rows *rows,
                                 huddle_embed_choice *choice, huddle_range *n_clusters) {
    huddle_status status = HUDDLE_OK;
    if (n_clusters->first != HUDDLE_AUTO)
        return status;
    huddle_spectrum spectrum = hd_fit_spectrum(embedding, rows);
    TRY(huddle_embed_choose(&spectrum, 0, 0, choice));
    n_clusters->first = n_clusters->last = choice->candidates[0];
done:
    return status;
}

huddle_status hd_spectral_apply_rule(const char *rule, const huddle_dense *vectors,
                                     const double *eigenvalues, huddle_dense *f) {
    if (strcmp(rule, "commute") == 0)
        return huddle_embed_commute_rows(vectors, eigenvalues, f);
    return huddle_embed_rows(vectors, NULL, strcmp(rule, "unit") == 0 ? "unit" : "sym", f);
}

/* For a range one set of eigenvectors is sufficient for every number of clusters: the embedding in
 * c dimensions consists of the first c columns. Rows are scaled anew for each c, because norms
 * depend on the number of columns. */
huddle_status hd_spectral_make_rows(const hd_spectral_options *options, int32_t n_clusters,
                                    hd_fit_embedding *embedding) {
    huddle_status status = HUDDLE_OK;
    huddle_embedding *f = &embedding->f;
    bool given = f->vectors.values == NULL && f->vectors.resident == NULL;
    int64_t columns = hd_spectral_count_columns(options->embed.rows, n_clusters);
    /* A graph has no more eigenvectors than vertices, and merging may leave fewer vertices than
     * clusters. */
    if (columns > f->vectors.cols && !given)
        columns = f->vectors.cols;
    if (given || f->rows.cols == columns)
        return status;
    huddle_dense_free(&f->rows);
    TRY(huddle_dense_fetch(&f->vectors));
    TRY(huddle_dense_new(f->vectors.rows, columns, &f->rows));
    if (strcmp(options->embed.rows, "commute") == 0)
        TRY(huddle_embed_commute_rows(&f->vectors, f->eigenvalues, &f->rows));
    else
        TRY(huddle_embed_rows(&f->vectors, f->degrees, options->embed.rows, &f->rows));
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

/* A small eigengap matters only at a number that the user asked for. With a range or auto the rule
 * avoids such numbers itself. Vectors beyond the columns of F need no proof: they only provide a
 * start for the refinement. */
void hd_spectral_warn_embedding(huddle_context *context, const huddle_embed_options *options,
                                const huddle_embed_info *info, huddle_range n_clusters) {
    bool given = n_clusters.first != HUDDLE_AUTO && n_clusters.first == n_clusters.last;
    /* The vector after the last column shows the eigengap there. */
    int64_t n_needed = hd_spectral_count_columns(options->rows, n_clusters.last) + !given;
    if (info->stop == HUDDLE_STOP_MAX_ITER || info->stop == HUDDLE_STOP_STALLED)
        hd_warn(context, HUDDLE_WARNING_NOT_CONVERGED,
                "the embedding stopped (%s) after %d iterations at a residual of %.2g",
                huddle_stop_name(info->stop), info->n_iter, info->residual);
    else if (strcmp(info->verified, "none") == 0 && strcmp(options->verify, "none") != 0 &&
             (n_clusters.first == HUDDLE_AUTO || info->proven_pairs < n_needed))
        hd_warn(
            context, HUDDLE_WARNING_NOT_VERIFIED,
            "the embedding could not be verified: only %d eigenvectors are proven to be the first; "
            "others may be missing",
            info->proven_pairs);
    if (given && info->cuts_cluster)
        hd_warn(context, HUDDLE_WARNING_SMALL_EIGENGAP,
                "the eigengap %s is only %.2g; the last columns of the embedding are not unique",
                strcmp(options->rows, "commute") == 0 ? "after the last eigenvector"
                                                      : "at this number of clusters",
                info->gap);
}

/* ---- graph and eigenvectors, shared with other fits of the same points -------------------------
 */

/* Options of which the choice uses a part (restarts of K-means, the verification of eigenvectors)
 * are added whole: that costs some repeated work at most. Methods whose labels come from a rotation
 * have no K-means but its restarts. Without refinement the choice depends on nothing but the
 * points. */
void hd_spectral_add_choice_to_key(const hd_spectral_options *o, hd_cache_key *key) {
    char text[64];
    if (!hd_refine_is_wanted(o))
        return;
    snprintf(text, sizeof text, "%s;%d", o->refine, o->kmeans.n_init);
    hd_cache_key_add(key, text);
    hd_cache_key_add_options(key, huddle_embed_options_table(), &o->embed);
    if (o->kmeans.init != NULL)
        hd_cache_key_add_options(key, huddle_kmeans_options_table(), &o->kmeans);
}

/* Adds everything that graph and points depend on. The first number of clusters, or auto,
 * determines how the graph is connected; with prepare = auto the whole range determines the
 * points. */
static void add_graph_to_key(const hd_spectral_options *o, huddle_range n_clusters,
                             hd_cache_key *key) {
    char numbers[64];
    snprintf(numbers, sizeof numbers, "%llu;%d:%d", (unsigned long long)o->common.seed,
             n_clusters.first, n_clusters.last);
    hd_cache_key_add(key, numbers);
    /* Methods without the option leave it NULL. */
    hd_cache_key_add(key, o->affinity != NULL ? o->affinity : "features");
    hd_cache_key_add_options(key, huddle_prepare_options_table(), &o->prepare);
    if (strcmp(o->prepare.prepare.name, "auto") == 0)
        hd_spectral_add_choice_to_key(o, key);
    hd_cache_key_add_options(key, huddle_knn_options_table(), &o->knn);
    hd_cache_key_add_options(key, huddle_weight_options_table(), &o->weight);
    hd_cache_key_add_options(key, huddle_connect_options_table(), &o->connect);
    if (hd_spectral_joins_pieces(o, n_clusters))
        hd_cache_key_add(key, "short bridges");
}

/* Appended to the key of the graph, on which the embedding depends. */
static void add_embedding_to_key(const hd_spectral_options *o, int32_t n_components,
                                 hd_cache_key *key) {
    char numbers[64];
    snprintf(numbers, sizeof numbers, "embed;%d;%lld", n_components, (long long)count_given(o));
    hd_cache_key_add(key, numbers);
    hd_cache_key_add_options(key, huddle_embed_options_table(), &o->embed);
}

/* Prepared points, merged, and their graph; or the graph of a given matrix, which has no points. */
static huddle_status make_points_and_graph(huddle_context *context, const hd_fit_job *job,
                                           const hd_spectral_options *options,
                                           huddle_range n_clusters, hd_fit *fit) {
    huddle_status status = HUDDLE_OK;
    huddle_points points;
    hd_fit_job own = *job;
    huddle_prepare_options prepare = options->prepare;
    prepare.seed = options->common.seed;
    own.spectral = options;
    if (job->graph != NULL || strcmp(options->affinity, "features") != 0)
        return hd_spectral_make_matrix_graph(context, job, options, n_clusters, &fit->rows,
                                             &fit->graph);
    TRY(hd_fit_prepare(context, &own, &prepare, true, fit, &points));
    TRY(hd_fit_merge(context, options->knn.n_neighbors, &fit->rows, &fit->prepared));
    TRY(hd_spectral_make_graph(context, options, n_clusters, &fit->rows, &fit->prepared.points,
                               &fit->graph));
done:
    return status;
}

/* Short bridges are part of the choice of a number, not a departure to warn of. */
static void warn_components(huddle_context *context, const hd_spectral_options *options,
                            huddle_range n_clusters, const hd_fit_rows *rows,
                            const huddle_connect_info *info) {
    int32_t limit = hd_spectral_connect_clusters(n_clusters, rows);
    if (info->before > limit || !hd_spectral_joins_pieces(options, n_clusters))
        hd_spectral_warn_components(context, info, limit);
}

/* Computes the eigenvectors of the fit's graph and chooses n_clusters if it is auto. Warnings are
 * raised outside the shared computation, so that a fit that finds its embedding in the cache has
 * the same warnings as the one that computed it. */
static huddle_status embed_graph(huddle_context *context, const hd_spectral_options *options,
                                 hd_cache_key *key, hd_fit *fit, huddle_range *n_clusters) {
    huddle_status status = HUDDLE_OK;
    const hd_cache_part part = {&fit->embedding, &hd_fit_embedding_copier};
    bool found;
    warn_components(context, options, *n_clusters, &fit->rows, &fit->graph.connect);
    int32_t n_components = hd_spectral_count_vectors(options, *n_clusters, &fit->rows);
    hd_fit_embedding_free(&fit->embedding);
    add_embedding_to_key(options, n_components, key);
    TRY(hd_cache_find(key, &part, 1, &found));
    if (!found)
        TRY(hd_cache_store(key, &part, 1,
                           hd_spectral_find_vectors(context, options, n_components,
                                                    &fit->graph.matrix, &fit->embedding)));
    TRY(hd_spectral_measure_extents(context, &fit->rows, &fit->embedding));
    if (n_clusters->first != HUDDLE_AUTO && n_clusters->first == n_clusters->last)
        set_gap(&options->embed, n_clusters->first, &fit->embedding);
    hd_spectral_warn_embedding(context, &options->embed, &fit->embedding.info, *n_clusters);
    TRY(hd_spectral_choose(&fit->embedding, &fit->rows, &fit->trials.choice, n_clusters));
done:
    return status;
}

/* Copies a given embedding. Without n_clusters, one cluster per column is assumed, as in spectral
 * embeddings. */
static huddle_status copy_given_embedding(const huddle_dense *given, hd_fit *fit,
                                          huddle_range *n_clusters) {
    huddle_status status = HUDDLE_OK;
    TRY(huddle_dense_copy(given, &fit->embedding.f.rows));
    if (n_clusters->first == HUDDLE_AUTO)
        n_clusters->first = n_clusters->last = (int32_t)given->cols;
done:
    return status;
}

/* Points and graph are one entry of the cache, the embedding another: fits that differ only in
 * options of the embedding or of later steps share the graph. */
huddle_status hd_spectral_embed(huddle_context *context, const hd_fit_job *job,
                                const hd_spectral_options *options, hd_cache_key *key, hd_fit *fit,
                                huddle_range *n_clusters) {
    huddle_status status = HUDDLE_OK;
    const hd_cache_part parts[] = {{&fit->rows, &hd_fit_rows_copier},
                                   {&fit->prepared, &hd_fit_prepared_copier},
                                   {&fit->graph, &hd_fit_graph_copier}};
    bool found;
    *n_clusters = options->common.n_clusters;
    if (job->graph != NULL || job->embedding != NULL)
        key->cache = NULL; /* these belong to one model; only what comes from x is shared */
    TRY(hd_fit_check_clusters(*n_clusters, &fit->rows));
    if (job->embedding != NULL)
        return copy_given_embedding(job->embedding, fit, n_clusters);
    add_graph_to_key(options, *n_clusters, key);
    TRY(hd_cache_find(key, parts, 3, &found));
    if (!found)
        TRY(hd_cache_store(key, parts, 3,
                           make_points_and_graph(context, job, options, *n_clusters, fit)));
    TRY(embed_graph(context, options, key, fit, n_clusters));
done:
    return status;
}

/* Called once per number of clusters by lda-sc: graph and embedding of the previous call are
 * freed. */
huddle_status hd_spectral_embed_points(huddle_context *context, const hd_spectral_options *options,
                                       hd_cache_key *key, hd_fit *fit, huddle_range *n_clusters) {
    huddle_status status = HUDDLE_OK;
    const hd_cache_part part = {&fit->graph, &hd_fit_graph_copier};
    bool found;
    hd_fit_graph_free(&fit->graph);
    TRY(hd_fit_merge(context, options->knn.n_neighbors, &fit->rows, &fit->prepared));
    add_graph_to_key(options, *n_clusters, key);
    TRY(hd_cache_find(key, &part, 1, &found));
    if (!found)
        TRY(hd_cache_store(key, &part, 1,
                           hd_spectral_make_graph(context, options, *n_clusters, &fit->rows,
                                                  &fit->prepared.points, &fit->graph)));
    TRY(embed_graph(context, options, key, fit, n_clusters));
done:
    return status;
}

/* ---- clustering ---------------------------------------------------------------------------- */

/* Points and graph exist unless an embedding or a matrix was given; trials are scored by what
 * exists. */
hd_fit_trial_plan hd_spectral_plan(const hd_fit *fit,
                                   huddle_status (*cluster)(huddle_context *context, void *argument,
                                                            int32_t n_clusters, hd_fit *fit),
                                   void *argument) {
    const huddle_points *points = &fit->prepared.points;
    return (hd_fit_trial_plan){.cluster = cluster,
                               .argument = argument,
                               .points = points->values != NULL || points->resident != NULL ? points
                                                                                            : NULL,
                               .graph = fit->graph.present ? &fit->graph.matrix : NULL};
}

/* Steps 4 and 5 of spectral clustering (Ng, Jordan and Weiss, 2001): rows, then K-means on them.
 * Refinement follows where the method has it. */
huddle_status hd_spectral_cluster(huddle_context *context, void *options, int32_t n_clusters,
                                  hd_fit *fit) {
    huddle_status status = HUDDLE_OK;
    const hd_spectral_options *o = options;
    huddle_kmeans_options kmeans = o->kmeans;
    kmeans.n_clusters = n_clusters;
    kmeans.seed = o->common.seed;
    TRY_STAGE(context, HD_STAGE_ROWS, hd_spectral_make_rows(o, n_clusters, &fit->embedding));
    TRY(hd_fit_kmeans_dense(context, &fit->embedding.f.rows, &kmeans, &fit->rows, &fit->clusters));
    const huddle_refine_start own = {"embedding", fit->clusters.labels};
    TRY(hd_refine_clusters(context, o, &fit->embedding, 1, &own, &fit->embedding.f.rows, fit));
done:
    return status;
}

/* Graph and eigenvectors of the points as they are; only the choice is kept. */
static huddle_status choose_among(huddle_context *context, const hd_spectral_options *options,
                                  hd_fit_rows *rows, hd_fit_prepared *prepared,
                                  huddle_embed_choice *choice, huddle_range *n_clusters) {
    huddle_status status = HUDDLE_OK;
    hd_fit_graph graph = {0};
    hd_fit_embedding embedding = {0};
    TRY(hd_fit_merge(context, options->knn.n_neighbors, rows, prepared));
    TRY(hd_spectral_make_graph(context, options, *n_clusters, rows, &prepared->points, &graph));
    warn_components(context, options, *n_clusters, rows, &graph.connect);
    TRY(hd_spectral_find_vectors(context, options,
                                 hd_spectral_count_vectors(options, *n_clusters, rows),
                                 &graph.matrix, &embedding));
    TRY(hd_spectral_measure_extents(context, rows, &embedding));
    hd_spectral_warn_embedding(context, &options->embed, &embedding.info, *n_clusters);
    TRY(hd_spectral_choose(&embedding, rows, choice, n_clusters));
done:
    hd_fit_graph_free(&graph);
    hd_fit_embedding_free(&embedding);
    return status;
}

/* For methods without a graph of their own: the eigengap rule on the graph that sc would use. The
 * points are borrowed, and freed only if merging replaced them by a copy. */
huddle_status hd_spectral_choose_for_refined(huddle_context *context, const huddle_points *points,
                                             uint64_t seed, const char *refine,
                                             huddle_embed_choice *choice,
                                             huddle_range *n_clusters) {
    huddle_status status = HUDDLE_OK;
    hd_spectral_options options = hd_spectral_defaults(*n_clusters, seed);
    options.refine = refine;
    hd_fit_rows rows = {0};
    hd_fit_prepared prepared = {.points = *points, .borrows_points = true};
    TRY(hd_fit_rows_begin(context, points->n, &rows));
    TRY(huddle_points_distinct(context, points, &rows.equal));
    TRY_STAGE(context, HD_STAGE_CHOOSE,
              choose_among(context, &options, &rows, &prepared, choice, n_clusters));
done:
    hd_fit_rows_free(&rows);
    hd_fit_prepared_free(&prepared);
    return status;
}

huddle_status hd_spectral_choose_clusters(huddle_context *context, const huddle_points *points,
                                          uint64_t seed, huddle_embed_choice *choice,
                                          huddle_range *n_clusters) {
    return hd_spectral_choose_for_refined(context, points, seed, "none", choice, n_clusters);
}
