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
huddle_status hd_decide_eigengap(hd_fit *fit, huddle_range *n_clusters) {
    huddle_status status = HUDDLE_OK;
    if (is_given(*n_clusters))
        return status;
    huddle_spectrum spectrum = hd_fit_spectrum(fit);
    TRY(huddle_embed_choose(&spectrum, 0, 0, &fit->trials.choice));
    n_clusters->first = n_clusters->last = fit->trials.choice.candidates[0];
done:
    return status;
}

/* Graph and eigenvectors of the points that a fit has. */
static huddle_status choose_among(huddle_context *context, const hd_spectral_options *options,
                                  hd_fit *fit, huddle_range *n_clusters) {
    huddle_status status = HUDDLE_OK;
    TRY(hd_step_merge(context, options->knn.n_neighbors, fit));
    TRY(hd_spectral_make_graph(context, options, *n_clusters, fit));
    hd_spectral_warn_graph(context, options, *n_clusters, fit);
    TRY(hd_spectral_find_vectors(context, options, *n_clusters, fit));
    TRY(hd_spectral_measure_extents(context, fit));
    hd_spectral_warn_embedding(context, &options->embed, &fit->embedding.info, *n_clusters);
    TRY(hd_decide_eigengap(fit, n_clusters));
done:
    return status;
}

/* The points are borrowed, and freed only if merging replaced them by a copy. Of the fit that is
 * made of them only the choice is kept. */
huddle_status hd_decide_eigengap_of_points(huddle_context *context, const huddle_points *points,
                                           uint64_t seed, const char *refine, hd_fit *fit,
                                           huddle_range *n_clusters) {
    huddle_status status = HUDDLE_OK;
    hd_spectral_options options = hd_spectral_defaults(*n_clusters, seed);
    hd_fit own = {0};
    if (is_given(*n_clusters))
        return status;
    options.refine = refine;
    TRY(hd_fit_borrow_points(points, &own.prepared));
    TRY(hd_fit_rows_begin(context, points->n, &own.rows));
    TRY(huddle_points_distinct(context, points, &own.rows.equal));
    TRY_STAGE(context, HD_STAGE_CHOOSE, choose_among(context, &options, &own, n_clusters));
    fit->trials.choice = own.trials.choice;
done:
    hd_fit_free(&own);
    return status;
}
