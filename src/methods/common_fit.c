/* K-means as a step of a method, and ranges of n_clusters. Methods supply a function that clusters
 * for one number; this file tries the numbers of a range, scores them and chooses one. */
#include "methods/choosing.h"
#include "methods/deciding.h"
#include "methods/spreading.h"

#include "base/check.h"
#include "base/parallel.h"
#include "base/slabs.h"
#include "huddle/metrics.h"
#include "matrix/rows.h"

#include <math.h>
#include <string.h>

/* Alignments within this distance of the best count as equally good: Zelnik-Manor and Perona (NIPS
 * 2004) take the largest number of groups among those of minimal cost, and computed costs are never
 * exactly equal. */
static const double alignment_tolerance = 1e-3;

/* ---- K-means ------------------------------------------------------------------------------- */

huddle_status hd_fit_check_clusters(huddle_range n_clusters, const hd_fit_rows *rows) {
    int64_t n = rows->n + rows->elsewhere;
    if (n_clusters.last > n)
        return hd_fail(HUDDLE_INVALID, "n_clusters = %d is outside [1, %lld]", n_clusters.last,
                       (long long)n);
    return HUDDLE_OK;
}

/* Centres relative to the points' shift, in which the stored values can be compared with them
 * directly, and their squared norms. Only sparse points use the norms, and these have no shift. */
static huddle_status stored_centres(const huddle_points *points, const huddle_dense *centres,
                                    double **stored, double **norms) {
    huddle_status status = HUDDLE_OK;
    int64_t c = centres->rows, d = centres->cols;
    ALLOC(*stored, c * d);
    ALLOC_ZERO(*norms, c);
    for (int64_t k = 0; k < c; k++)
        for (int64_t j = 0; j < d; j++) {
            double value = centres->values[k * centres->stride + j];
            (*stored)[k * d + j] = value - (points->shift != NULL ? points->shift[j] : 0);
            (*norms)[k] += value * value;
        }
done:
    return status;
}

/* Two reductions: the smallest distance, then the smallest row number among those that attain it.
 * Row numbers are below 2^53 and exact as doubles. */
huddle_status hd_fit_reduce_medoids(huddle_context *context, int64_t n, double *distances,
                                    hd_fit_clusters *clusters) {
    huddle_status status = HUDDLE_OK;
    int64_t c = clusters->centres.rows;
    double *least = NULL, *row = NULL;
    hd_slab slab;
    if (hd_context_engine(context)->slabs == NULL)
        return status;
    TRY(hd_slab_locate(context, n, &slab));
    ALLOC(least, c);
    ALLOC(row, c);
    memcpy(least, distances, (size_t)c * sizeof *least);
    TRY(hd_reduce_min(context, c, least));
    for (int64_t k = 0; k < c; k++) {
        int64_t medoid = clusters->medoids[k];
        row[k] = medoid >= 0 && distances[k] == least[k] ? (double)(slab.first + medoid) : INFINITY;
    }
    memcpy(least, row, (size_t)c * sizeof *least);
    TRY(hd_reduce_min(context, c, least));
    for (int64_t k = 0; k < c; k++)
        if (row[k] != least[k] || row[k] == INFINITY)
            clusters->medoids[k] = -1;
done:
    huddle_free(least);
    huddle_free(row);
    return status;
}

/* The row nearest each centre among its own, ties by the smaller index. Row i of n is point of[i],
 * or point i if of is NULL. Sequential, because the result must not depend on the number of threads
 * and the loop is cheap compared with K-means. */
static huddle_status find_medoids(huddle_context *context, const huddle_points *points,
                                  const int32_t *of, int64_t n, hd_fit_clusters *clusters) {
    huddle_status status = HUDDLE_OK;
    int64_t c = clusters->centres.rows, d = clusters->centres.cols;
    double *best = NULL, *norms = NULL, *stored = NULL;
    TRY(huddle_points_fetch(points));
    TRY(huddle_dense_fetch(&clusters->centres));
    TRY(stored_centres(points, &clusters->centres, &stored, &norms));
    ALLOC(best, c);
    ALLOC(clusters->medoids, c);
    for (int64_t k = 0; k < c; k++) {
        best[k] = INFINITY;
        /* Remains -1 for an empty cluster. */
        clusters->medoids[k] = -1;
    }
    for (int64_t i = 0; i < n; i++) {
        int32_t k = clusters->labels[i];
        double distance =
            hd_fit_distance_to(points, of != NULL ? of[i] : i, stored + k * d, norms[k]);
        if (distance < best[k]) {
            best[k] = distance;
            clusters->medoids[k] = i;
        }
    }
    TRY(hd_fit_reduce_medoids(context, n, best, clusters));
done:
    huddle_free(best);
    huddle_free(norms);
    huddle_free(stored);
    return status;
}

/* Frees the results of an earlier K-means run; alternation and alignment belong to the method. */
static void forget_clusters(hd_fit_clusters *clusters) {
    huddle_free(clusters->labels);
    clusters->labels = NULL;
    huddle_free(clusters->medoids);
    clusters->medoids = NULL;
    huddle_free(clusters->is_medoid_row);
    clusters->is_medoid_row = NULL;
    huddle_dense_free(&clusters->centres);
    huddle_kmeans_info_free(&clusters->kmeans);
}

/* Moves the results; `other` is left without them, so that freeing it is safe. */
void hd_fit_take_clusters(hd_fit_clusters *clusters, hd_fit_clusters *other) {
    forget_clusters(clusters);
    clusters->n_clusters = other->n_clusters;
    clusters->labels = other->labels;
    clusters->medoids = other->medoids;
    clusters->is_medoid_row = other->is_medoid_row;
    clusters->centres = other->centres;
    clusters->kmeans = other->kmeans;
    other->labels = NULL;
    other->medoids = NULL;
    other->is_medoid_row = NULL;
    memset(&other->centres, 0, sizeof other->centres);
    memset(&other->kmeans, 0, sizeof other->kmeans);
}

void hd_fit_warn_few_distinct(huddle_context *context, const hd_fit_clusters *clusters) {
    int32_t distinct = clusters->kmeans.n_distinct, empty = clusters->n_clusters - distinct;
    if (empty > 0)
        hd_warn(context, HUDDLE_WARNING_FEW_DISTINCT,
                "only %d distinct row%s for %d clusters: %d cluster%s empty", distinct,
                distinct == 1 ? "" : "s", clusters->n_clusters, empty,
                empty == 1 ? " is" : "s are");
}

/* points->n differs from rows->n where the points are all rows of x although the fit has merged
 * rows; labels are then those of points, and rows does not apply to them. */
huddle_status hd_fit_kmeans(huddle_context *context, const huddle_points *points,
                            const huddle_kmeans_options *options, const hd_fit_rows *rows,
                            hd_fit_clusters *clusters) {
    huddle_status status = HUDDLE_OK;
    huddle_kmeans_result result = {0};
    hd_stage before = hd_stage_enter(context, HD_STAGE_KMEANS);
    forget_clusters(clusters);
    TRY(huddle_kmeans(context, points, NULL, options, &result, &clusters->kmeans));
    clusters->n_clusters = options->n_clusters;
    clusters->labels = result.labels;
    clusters->centres = result.centres;
    /* The arrays belong to clusters now. */
    memset(&result, 0, sizeof result);
    if (points->n == rows->n)
        hd_fit_unify_labels(rows, clusters);
    TRY(find_medoids(context, points, NULL, points->n, clusters));
    hd_stage_leave(context, before);
done:
    huddle_kmeans_result_free(&result);
    return status;
}

/* Collects the distinct rows of a matrix as points. The weight of each is the number of rows of x
 * that it represents: copies among the rows of the matrix, times those merged before. */
static huddle_status take_distinct(huddle_context *context, const huddle_dense *matrix,
                                   const huddle_distinct *distinct, const hd_fit_rows *rows,
                                   huddle_points *points, double **weights) {
    huddle_status status = HUDDLE_OK;
    TRY(hd_points_from_rows(context, matrix, distinct->first, distinct->count, points));
    ALLOC_ZERO(*weights, distinct->count);
    for (int64_t i = 0; i < matrix->rows; i++)
        (*weights)[distinct->of != NULL ? distinct->of[i] : i] +=
            (double)hd_fit_rows_copies(rows, i);
done:
    return status;
}

/* Translates the labels of every restart from distinct rows to all rows. */
static huddle_status expand_starts(const huddle_distinct *distinct, int64_t n,
                                   huddle_kmeans_info *info) {
    huddle_status status = HUDDLE_OK;
    int32_t *all = NULL;
    if (info->start_labels == NULL || distinct->of == NULL)
        return status;
    ALLOC(all, info->n_restarts * n);
    for (int64_t r = 0; r < info->n_restarts; r++)
        for (int64_t i = 0; i < n; i++)
            all[r * n + i] = info->start_labels[r * distinct->count + distinct->of[i]];
    huddle_free(info->start_labels);
    info->start_labels = all;
done:
    return status;
}

/* Marks the rows that are equal to the medoid of their cluster. K-means cannot distinguish them;
 * hd_fit_choose_medoids() chooses among them by the original points. */
static huddle_status mark_medoid_rows(const huddle_distinct *distinct, int64_t n,
                                      hd_fit_clusters *clusters) {
    huddle_status status = HUDDLE_OK;
    const int32_t *of = distinct->of;
    ALLOC(clusters->is_medoid_row, n);
    for (int64_t i = 0; i < n; i++) {
        int64_t medoid = clusters->medoids[clusters->labels[i]];
        clusters->is_medoid_row[i] = of != NULL ? of[i] == of[medoid] : i == medoid;
    }
done:
    return status;
}

/* hd_fit_kmeans_dense() of rows that are spread over processes. The rows that K-means gets are in
 * the same order as on one process, so that its random numbers choose the same ones. */
static huddle_status cluster_spread(huddle_context *context, const huddle_dense *matrix,
                                    const huddle_kmeans_options *options, const hd_fit_rows *rows,
                                    hd_fit_clusters *clusters) {
    huddle_status status = HUDDLE_OK;
    hd_spread_distinct distinct = {0};
    huddle_points points = {0}, all = {0};
    huddle_kmeans_result result = {0};
    huddle_kmeans_options few = *options;
    hd_slab slab;
    int64_t n = matrix->rows;
    few.keep_starts = false; /* labels of every restart are not kept for rows of other processes */
    TRY(hd_spread_find_distinct(context, matrix, rows, &distinct));
    TRY(hd_points_from_rows(context, matrix, distinct.first, distinct.count, &points));
    TRY(hd_slab_locate(context, distinct.count, &slab));
    if (few.n_clusters > slab.total)
        few.n_clusters = (int32_t)slab.total;
    TRY(huddle_kmeans(context, &points, distinct.weights, &few, &result, &clusters->kmeans));
    clusters->n_clusters = options->n_clusters;
    ALLOC(clusters->labels, n);
    TRY(hd_spread_expand_labels(context, &distinct, result.labels, n, clusters->labels));
    hd_fit_unify_labels(rows, clusters);
    clusters->centres = result.centres;
    memset(&result.centres, 0, sizeof result.centres);
    huddle_points_free(&points);
    TRY(hd_points_from_rows(context, matrix, NULL, n, &all));
    TRY(find_medoids(context, &all, NULL, n, clusters));
    TRY(hd_spread_mark_medoids(context, matrix, clusters));
done:
    hd_spread_distinct_free(&distinct);
    huddle_points_free(&points);
    huddle_points_free(&all);
    huddle_kmeans_result_free(&result);
    return hd_agree(context, status);
}

/* Clusters of one process that holds all rows. */
static huddle_status cluster_whole(huddle_context *context, const huddle_dense *matrix,
                                   const huddle_kmeans_options *options, const hd_fit_rows *rows,
                                   hd_fit_clusters *clusters) {
    huddle_status status = HUDDLE_OK;
    huddle_distinct distinct = {0};
    double *weights = NULL;
    huddle_points points = {0};
    huddle_kmeans_result result = {0};
    huddle_kmeans_options few = *options;
    int64_t n = matrix->rows;
    /* Shrunk rows fuse: K-means on their few distinct values, weighted, is the same problem. */
    TRY(huddle_dense_distinct(context, matrix, &distinct));
    TRY(take_distinct(context, matrix, &distinct, rows, &points, &weights));
    /* Complete fusion can leave fewer distinct rows than clusters. The remaining clusters stay
     * empty, and a warning reports this. */
    if (few.n_clusters > distinct.count)
        few.n_clusters = (int32_t)distinct.count;
    TRY(huddle_kmeans(context, &points, weights, &few, &result, &clusters->kmeans));
    TRY(expand_starts(&distinct, n, &clusters->kmeans));
    clusters->n_clusters = options->n_clusters;
    ALLOC(clusters->labels, n);
    for (int64_t i = 0; i < n; i++)
        clusters->labels[i] = result.labels[distinct.of != NULL ? distinct.of[i] : i];
    hd_fit_unify_labels(rows, clusters);
    clusters->centres = result.centres;
    memset(&result.centres, 0, sizeof result.centres);
    TRY(find_medoids(context, &points, distinct.of, n, clusters));
    TRY(mark_medoid_rows(&distinct, n, clusters));
done:
    huddle_distinct_free(&distinct);
    huddle_free(weights);
    huddle_points_free(&points);
    huddle_kmeans_result_free(&result);
    return status;
}

/* Equal rows get equal labels by construction: only distinct rows are clustered. */
huddle_status hd_fit_kmeans_dense(huddle_context *context, const huddle_dense *matrix,
                                  const huddle_kmeans_options *options, const hd_fit_rows *rows,
                                  hd_fit_clusters *clusters) {
    huddle_status status = HUDDLE_OK;
    hd_stage before = hd_stage_enter(context, HD_STAGE_KMEANS);
    forget_clusters(clusters);
    TRY(huddle_dense_fetch(matrix));
    TRY((hd_slabs_spread(context) ? cluster_spread : cluster_whole)(context, matrix, options, rows,
                                                                    clusters));
    hd_stage_leave(context, before);
    hd_fit_warn_few_distinct(context, clusters);
done:
    return status;
}

/* For methods that run K-means on the prepared points themselves: the clusters are the Voronoi
 * cells of the centres, so that new points need nothing else. */
huddle_status hd_fit_predict_centres(huddle_context *context, const hd_fit *fit,
                                     const void *options, const huddle_points *x, int32_t *labels) {
    (void)options;
    huddle_points owned, view;
    huddle_status status = hd_fit_prepare_new(context, fit, x, &owned, &view);
    if (status == HUDDLE_OK)
        status = huddle_kmeans_assign(context, &view, &fit->clusters.centres, labels);
    huddle_points_free(&owned);
    return status;
}

/* ---- trials -------------------------------------------------------------------------------- */

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
        TRY(hd_fit_silhouette(context, fit, points, silhouette));
done:
    huddle_points_free(&owned);
    return status;
}

/* Whether the eigengaps of the trials can be compared: they must come from the same graph. */
static bool has_eigengaps(const hd_fit_trial_plan *plan, const hd_fit *fit) {
    return fit->embedding.present && !plan->graph_per_trial;
}

/* Scores that do not apply to the method remain NAN. */
static huddle_status score_trial(huddle_context *context, const hd_fit_trial_plan *plan,
                                 const hd_fit *fit, huddle_trial *trial) {
    huddle_status status = HUDDLE_OK;
    const hd_fit_clusters *clusters = &fit->clusters;
    *trial = (huddle_trial){
        clusters->n_clusters, hd_fit_inertia(clusters), NAN, NAN, NAN, NAN, NAN, NAN, NAN};
    TRY(score_silhouette(context, plan->points, fit, &trial->silhouette));
    if (plan->graph != NULL)
        TRY(huddle_metrics_ncut(context, plan->graph, clusters->labels, &trial->ncut));
    if (plan->graph != NULL && fit->refined.present) {
        huddle_graph_scores scores;
        TRY(huddle_metrics_graph_scores(context, plan->graph, clusters->labels, &scores));
        trial->modularity = scores.modularity;
        trial->divergence = scores.divergence;
    }
    if (has_eigengaps(plan, fit)) {
        huddle_spectrum spectrum = hd_fit_spectrum(&fit->embedding, &fit->rows);
        trial->eigengap = huddle_embed_gap(&spectrum, trial->n_clusters);
    }
    /* Set by selftune-sc only. */
    if (clusters->has_alignment)
        trial->alignment = clusters->alignment;
done:
    return status;
}

/* Used for ranges and for n_clusters = auto alike, so that both make the same choice. */
bool hd_fit_alignment_as_good(double alignment, double best) {
    return alignment >= best - alignment_tolerance;
}

/* Of all trials that are as good as the best, the last: the largest number, as in the paper. */
static int32_t best_alignment(const hd_fit_trials *trials) {
    int32_t chosen = 0;
    double best = -INFINITY;
    for (int32_t t = 0; t < trials->count; t++)
        best = fmax(best, trials->items[t].alignment);
    for (int32_t t = 0; t < trials->count; t++)
        if (hd_fit_alignment_as_good(trials->items[t].alignment, best))
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

/* The number of clusters of the best trial; the trials are consecutive numbers. */
static huddle_status choose_trial(const hd_fit_trial_plan *plan, hd_fit *fit, int32_t *n_clusters) {
    huddle_status status = HUDDLE_OK;
    huddle_embed_choice choice;
    hd_fit_trials *trials = &fit->trials;
    /* The rule of the method itself takes precedence over the general ones. */
    if (fit->clusters.has_alignment) {
        *n_clusters = trials->items[best_alignment(trials)].n_clusters;
    } else if (has_eigengaps(plan, fit)) {
        huddle_spectrum spectrum = hd_fit_spectrum(&fit->embedding, &fit->rows);
        TRY(huddle_embed_choose(&spectrum, trials->items[0].n_clusters,
                                trials->items[trials->count - 1].n_clusters, &choice));
        *n_clusters = choice.candidates[0];
        trials->by_modularity = fit->refined.present && hd_count_by_modularity(fit, &choice);
        if (trials->by_modularity)
            *n_clusters = trials->items[hd_count_smallest(trials->count, trials->items)].n_clusters;
    } else {
        *n_clusters = trials->items[best_silhouette(trials)].n_clusters;
    }
done:
    return status;
}

/* Methods need not care how their clusters are numbered. */
static huddle_status cluster_for(huddle_context *context, const hd_fit_trial_plan *plan,
                                 int32_t n_clusters, hd_fit *fit) {
    huddle_status status = plan->cluster(context, plan->argument, n_clusters, fit);
    return status == HUDDLE_OK ? hd_fit_number_clusters(context, fit) : status;
}

/* Clusters with every number of the range. Labels are stored for the rows of x, one column per
 * trial, because merged rows may differ between trials (lda-sc). */
static huddle_status run_trials(huddle_context *context, huddle_range n_clusters,
                                const hd_fit_trial_plan *plan, hd_fit *fit) {
    huddle_status status = HUDDLE_OK;
    hd_fit_trials *trials = &fit->trials;
    int32_t count = n_clusters.last - n_clusters.first + 1;
    int64_t rows = hd_fit_rows_total(&fit->rows);
    ALLOC_ZERO(trials->items, count);
    ALLOC(trials->labels, rows * count);
    for (int32_t t = 0; t < count; t++) {
        TRY(hd_progress(context, "range", t, count));
        /* Each call replaces the results of the previous number in fit. */
        TRY(cluster_for(context, plan, n_clusters.first + t, fit));
        TRY_STAGE(context, HD_STAGE_CHOOSE, score_trial(context, plan, fit, &trials->items[t]));
        for (int64_t i = 0; i < rows; i++)
            trials->labels[i * count + t] = fit->clusters.labels[hd_fit_rows_node(&fit->rows, i)];
        trials->count = t + 1;
    }
done:
    return status;
}

/* The best trial is computed once more instead of being kept: results of all stages would have to
 * be stored for every trial, while most methods share graph and eigenvectors, the expensive part,
 * between all numbers. The same seed gives the same result. */
huddle_status hd_fit_range(huddle_context *context, huddle_range n_clusters,
                           const hd_fit_trial_plan *plan, hd_fit *fit) {
    huddle_status status = HUDDLE_OK;
    int32_t chosen = n_clusters.first;
    if (n_clusters.first < n_clusters.last) {
        hd_silence before = hd_silence_begin(context);
        status = run_trials(context, n_clusters, plan, fit);
        hd_silence_end(context, before);
        TRY(status);
        TRY(choose_trial(plan, fit, &chosen));
        if (fit->refined.present && plan->points != NULL && plan->spectral != NULL)
            TRY_STAGE(
                context, HD_STAGE_CHOOSE,
                hd_count_measure_stability(context, plan->spectral, plan->points, &fit->trials));
    }
    TRY(cluster_for(context, plan, chosen, fit));
    if (plan->deciding != NULL)
        TRY_STAGE(context, HD_STAGE_DECIDE,
                  hd_decide_labels(context, plan->deciding, plan->laplacian, plan->points, fit));
    TRY(hd_fit_number_clusters(context, fit)); /* the labels may be others now */
    TRY_STAGE(context, HD_STAGE_MEDOIDS,
              hd_fit_choose_medoids(context, plan->points, plan->graph, fit));
    huddle_refine_tree_free(&fit->refined.tree); /* no further number of clusters needs it */
done:
    return status;
}
