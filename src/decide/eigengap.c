/* The number of clusters by the eigengap rule: of an embedding, or of the graph that sc would use.
 */
#include "decide/eigengap.h"

#include "base/check.h"
#include "steps/embed.h"
#include "steps/graph.h"
#include "steps/merge.h"

static bool is_given(huddle_range n_clusters) {
    return n_clusters.first != HUDDLE_AUTO;
}

/* The rule of docs/method.md, "How many clusters?", on all numbers that the eigenvalues allow. */
huddle_status hd_decide_eigengap(const hd_fit_embedding *embedding, const hd_fit_rows *rows,
                                 huddle_embed_choice *choice, huddle_range *n_clusters) {
    huddle_status status = HUDDLE_OK;
    if (is_given(*n_clusters))
        return status;
    huddle_spectrum spectrum = hd_fit_spectrum(embedding, rows);
    TRY(huddle_embed_choose(&spectrum, 0, 0, choice));
    n_clusters->first = n_clusters->last = choice->candidates[0];
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
    TRY(hd_step_merge(context, options->knn.n_neighbors, rows, prepared));
    TRY(hd_spectral_make_graph(context, options, *n_clusters, rows, &prepared->points, &graph));
    hd_spectral_warn_graph(context, options, *n_clusters, rows, &graph.connect);
    TRY(hd_spectral_find_vectors(context, options,
                                 hd_spectral_count_vectors(options, *n_clusters, rows),
                                 &graph.matrix, &embedding));
    TRY(hd_spectral_measure_extents(context, rows, &embedding));
    hd_spectral_warn_embedding(context, &options->embed, &embedding.info, *n_clusters);
    TRY(hd_decide_eigengap(&embedding, rows, choice, n_clusters));
done:
    hd_fit_graph_free(&graph);
    hd_fit_embedding_free(&embedding);
    return status;
}

/* For methods without a graph of their own: the eigengap rule on the graph that sc would use. The
 * points are borrowed, and freed only if merging replaced them by a copy. */
huddle_status hd_decide_eigengap_for_refined(huddle_context *context, const huddle_points *points,
                                             uint64_t seed, const char *refine,
                                             huddle_embed_choice *choice,
                                             huddle_range *n_clusters) {
    huddle_status status = HUDDLE_OK;
    hd_spectral_options options = hd_spectral_defaults(*n_clusters, seed);
    hd_fit_rows rows = {0};
    hd_fit_prepared prepared = {0};
    if (is_given(*n_clusters))
        return status;
    options.refine = refine;
    TRY(hd_fit_borrow_points(points, &prepared));
    TRY(hd_fit_rows_begin(context, points->n, &rows));
    TRY(huddle_points_distinct(context, points, &rows.equal));
    TRY_STAGE(context, HD_STAGE_CHOOSE,
              choose_among(context, &options, &rows, &prepared, choice, n_clusters));
done:
    hd_fit_rows_free(&rows);
    hd_fit_prepared_free(&prepared);
    return status;
}

huddle_status hd_decide_eigengap_of_points(huddle_context *context, const huddle_points *points,
                                           uint64_t seed, huddle_embed_choice *choice,
                                           huddle_range *n_clusters) {
    return hd_decide_eigengap_for_refined(context, points, seed, "none", choice, n_clusters);
}
