#include "methods/range.h"

#include "base/check.h"
#include "decide/count.h"
#include "huddle/metrics.h"
#include "steps/merge.h"

#include <math.h>

/* Alignments within this distance of the best count as equally good: Zelnik-Manor and Perona (NIPS
 * 2004) take the largest number of groups among those of minimal cost, and computed costs are never
 * exactly equal. */
static const double alignment_tolerance = 1e-3;

/* Silhouette of the points; without any, of a given embedding, which is the same for all trials. */
static huddle_status score_silhouette(huddle_context *context, const huddle_points *points,
                                      const hd_fit *fit, double *silhouette) {
    huddle_status status = HUDDLE_OK;
    const huddle_dense *rows = &fit->embedding.f.rows;
    huddle_points owned = {0};
    /* A computed embedding would not do: it has another number of columns in every trial, and
     * silhouettes in spaces of different dimension cannot be compared. */
    if (points == NULL && !fit->embedding.present && rows->values != NULL) {
        TRY(huddle_points_from_double(context, rows->rows, rows->cols, rows->values, rows->stride,
                                      1, &owned));
        points = &owned;
    }
    if (points != NULL)
        TRY(hd_step_silhouette(context, fit, points, silhouette));
done:
    huddle_points_free(&owned);
    return status;
}

/* Whether the eigengaps of the trials can be compared: they must come from the same graph. */
static bool has_eigengaps(const hd_method_clustering *how, const hd_fit *fit) {
    return fit->embedding.present && !how->graph_per_trial;
}

/* Scores that do not apply to the method remain NAN. */
static huddle_status score_trial(huddle_context *context, const hd_method_clustering *how,
                                 const hd_fit *fit, huddle_trial *trial) {
    huddle_status status = HUDDLE_OK;
    const hd_fit_clusters *clusters = &fit->clusters;
    *trial = (huddle_trial){
        clusters->n_clusters, hd_fit_inertia(clusters), NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN};
    TRY(score_silhouette(context, how->points, fit, &trial->silhouette));
    if (how->graph != NULL)
        TRY(huddle_metrics_ncut(context, how->graph, clusters->labels, &trial->ncut));
    if (how->graph != NULL && fit->refined.present) {
        huddle_graph_scores scores;
        TRY(huddle_metrics_graph_scores(context, how->graph, clusters->labels, &scores));
        trial->modularity = scores.modularity;
        trial->divergence = scores.divergence;
    }
    if (has_eigengaps(how, fit)) {
        huddle_spectrum spectrum = hd_fit_spectrum(fit);
        trial->eigengap = huddle_embed_gap(&spectrum, trial->n_clusters);
    }
    /* Set by selftune-sc only. */
    if (clusters->has_alignment)
        trial->alignment = clusters->alignment;
    if (fit->mixture.covariance != NULL)
        trial->bic = fit->mixture.bic;
done:
    return status;
}

/* Used for ranges and for n_clusters = auto alike, so that both make the same choice. */
bool hd_method_alignment_as_good(double alignment, double best) {
    return alignment >= best - alignment_tolerance;
}

/* Of all trials that are as good as the best, the last: the largest number, as in the paper. */
static int32_t best_alignment(const hd_fit_trials *trials) {
    int32_t chosen = 0;
    double best = -INFINITY;
    for (int32_t t = 0; t < trials->count; t++)
        best = fmax(best, trials->items[t].alignment);
    for (int32_t t = 0; t < trials->count; t++)
        if (hd_method_alignment_as_good(trials->items[t].alignment, best))
            chosen = t;
    return chosen;
}

/* The smallest number of clusters among equal silhouettes; trial 0 if none has a silhouette. */
static int32_t best_silhouette(const hd_fit_trials *trials) {
    int32_t best = 0;
    double largest = -INFINITY;
    for (int32_t t = 0; t < trials->count; t++)
        if (trials->items[t].silhouette > largest) {
            largest = trials->items[t].silhouette;
            best = t;
        }
    return best;
}

int32_t hd_method_best_bic(int32_t count, const huddle_trial *trials) {
    int32_t best = 0;
    for (int32_t t = 1; t < count; t++)
        best = trials[t].bic < trials[best].bic ? t : best;
    return best;
}

/* The number of clusters of the best trial; the trials are consecutive numbers. */
static huddle_status choose_trial(const hd_method_clustering *how, hd_fit *fit,
                                  int32_t *n_clusters) {
    huddle_status status = HUDDLE_OK;
    huddle_embed_choice choice;
    hd_fit_trials *trials = &fit->trials;
    /* The rule of the method itself takes precedence over the general ones. */
    if (fit->mixture.covariance != NULL) {
        *n_clusters = trials->items[hd_method_best_bic(trials->count, trials->items)].n_clusters;
    } else if (fit->clusters.has_alignment) {
        *n_clusters = trials->items[best_alignment(trials)].n_clusters;
    } else if (has_eigengaps(how, fit)) {
        huddle_spectrum spectrum = hd_fit_spectrum(fit);
        TRY(huddle_embed_choose(&spectrum, trials->items[0].n_clusters,
                                trials->items[trials->count - 1].n_clusters, &choice));
        *n_clusters = choice.candidates[0];
        trials->by_modularity = fit->refined.present && hd_decide_by_modularity(fit, &choice);
        if (trials->by_modularity)
            *n_clusters =
                trials->items[hd_decide_smallest(trials->count, trials->items)].n_clusters;
    } else {
        *n_clusters = trials->items[best_silhouette(trials)].n_clusters;
    }
done:
    return status;
}

/* Clusters with every number of the range. Labels are stored for the rows of x, one column per
 * trial, because merged rows may differ between trials (lda-sc). */
static huddle_status run_trials(hd_method_run *run, const hd_method_clustering *how) {
    huddle_status status = HUDDLE_OK;
    huddle_context *context = run->context;
    const hd_fit *fit = run->fit;
    hd_fit_trials *trials = &run->fit->trials;
    int32_t first = run->n_clusters.first, count = run->n_clusters.last - first + 1;
    int64_t rows = hd_fit_rows_total(&fit->rows);
    ALLOC_ZERO(trials->items, count);
    ALLOC(trials->labels, rows * count);
    for (int32_t t = 0; t < count; t++) {
        TRY(hd_progress(context, "range", t, count));
        /* Each call replaces the results of the previous number in fit. */
        TRY(hd_method_cluster_number(run, how, first + t));
        TRY_STAGE(context, HD_STAGE_CHOOSE, score_trial(context, how, fit, &trials->items[t]));
        for (int64_t i = 0; i < rows; i++)
            trials->labels[i * count + t] = fit->clusters.labels[hd_fit_rows_node(&fit->rows, i)];
        trials->count = t + 1;
    }
done:
    return status;
}

/* Nothing warns: warnings of the trials are not about the result. */
huddle_status hd_method_range(hd_method_run *run, const hd_method_clustering *how,
                              int32_t *chosen) {
    huddle_status status = HUDDLE_OK;
    TRY_SILENT(run->context, run_trials(run, how));
    TRY(choose_trial(how, run->fit, chosen));
    if (how->measures_stability && run->fit->refined.present && how->points != NULL)
        TRY_STAGE(run->context, HD_STAGE_CHOOSE,
                  hd_decide_stability(run->context, how->refined, how->points, &run->fit->trials));
done:
    return status;
}
