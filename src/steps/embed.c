/* From the graph to eigenvectors to rows of the embedding. */
#include "steps/embed.h"

#include "base/check.h"
#include "embed/solver.h"
#include "matrix/resident.h"
#include "steps/graph.h"

#include <string.h>

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
    bool twice = hd_spectral_refines(options) && !options->few_vectors;
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

int64_t hd_spectral_count_given(const hd_spectral_options *options) {
    huddle_range given = options->common.n_clusters;
    if (given.first == HUDDLE_AUTO || given.first < given.last)
        return 0;
    return hd_spectral_count_columns(options->embed.rows, given.first);
}

/* `present` distinguishes a computed embedding from a given one. */
huddle_status hd_spectral_find_vectors(huddle_context *context, const hd_spectral_options *options,
                                       huddle_range n_clusters, hd_fit *fit) {
    const huddle_csr *graph = &fit->graph.matrix;
    hd_fit_embedding *embedding = &fit->embedding;
    huddle_embed_options embed = options->embed;
    int64_t given = hd_spectral_count_given(options);
    int32_t n_components = hd_spectral_count_vectors(options, n_clusters, &fit->rows);
    embed.seed = options->common.seed;
    embed.n_components = n_components;
    embed.n_rows = (int32_t)(given < n_components ? given : n_components);
    embed.n_exact = graph->cols > ALL_EXACT_ROWS ? embed.n_rows : 0; /* cols: of all processes */
    hd_stage before = hd_stage_enter(context, HD_STAGE_EMBED);
    huddle_status status =
        options->trial ? hd_embed_trial(context, graph, &embed, &embedding->f, &embedding->info)
                       : huddle_embed(context, graph, &embed, &embedding->f, &embedding->info);
    hd_stage_leave(context, before);
    embedding->present = status == HUDDLE_OK;
    return status;
}

/* Equation (5) for every eigenvector. */
huddle_status hd_spectral_measure_extents(huddle_context *context, hd_fit *fit) {
    huddle_status status = HUDDLE_OK;
    const huddle_dense *vectors = &fit->embedding.f.vectors;
    double **extents = &fit->embedding.extents;
    hd_stage before = hd_stage_enter(context, HD_STAGE_EMBED);
    huddle_free(*extents);
    *extents = NULL;
    TRY(huddle_dense_fetch(vectors));
    ALLOC(*extents, vectors->cols);
    TRY(huddle_embed_extents(context, vectors, fit->rows.nodes.copies, *extents));
    hd_stage_leave(context, before);
done:
    return status;
}

huddle_status hd_spectral_apply_rule(const char *rule, const huddle_dense *vectors,
                                     const double *degrees, const double *eigenvalues,
                                     huddle_dense *f) {
    if (strcmp(rule, "commute") == 0)
        return huddle_embed_commute_rows(vectors, eigenvalues, f);
    if (strcmp(rule, "rw") == 0 && degrees == NULL)
        rule = "sym";
    return huddle_embed_rows(vectors, degrees, rule, f);
}

/* For a range one set of eigenvectors is sufficient for every number of clusters: the embedding in
 * c dimensions consists of the first c columns. Rows are scaled anew for each c, because norms
 * depend on the number of columns. */
huddle_status hd_spectral_make_rows(const char *row_rule, int32_t n_clusters,
                                    hd_fit_embedding *embedding) {
    huddle_status status = HUDDLE_OK;
    huddle_embedding *f = &embedding->f;
    bool given = !hd_dense_present(&f->vectors);
    int64_t columns = hd_spectral_count_columns(row_rule, n_clusters);
    /* A graph has no more eigenvectors than vertices, and merging may leave fewer vertices than
     * clusters. */
    if (columns > f->vectors.cols && !given)
        columns = f->vectors.cols;
    if (given || f->rows.cols == columns)
        return status;
    huddle_dense_free(&f->rows);
    TRY(huddle_dense_fetch(&f->vectors));
    TRY(huddle_dense_new(f->vectors.rows, columns, &f->rows));
    TRY(hd_spectral_apply_rule(row_rule, &f->vectors, f->degrees, f->eigenvalues, &f->rows));
done:
    return status;
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
