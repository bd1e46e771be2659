/* The pieces of a fit that methods share: preparing, K-means, ranges of n_clusters. */
#include "methods/method.h"

#include "base/check.h"
#include "base/parallel.h"
#include "huddle/metrics.h"

#include <math.h>
#include <string.h>

void hd_fit_free(hd_fit *fit) {
    huddle_free(fit->shift);
    huddle_distinct_free(&fit->equal);
    huddle_distinct_free(&fit->nodes);
    huddle_free(fit->labels);
    huddle_dense_free(&fit->centres);
    huddle_free(fit->medoids);
    huddle_free(fit->is_medoid_row);
    huddle_free(fit->extents);
    huddle_preparation_free(&fit->preparation);
    if (!fit->points_borrowed)
        huddle_points_free(&fit->points);
    huddle_csr_free(&fit->graph);
    huddle_scale_free(&fit->scale);
    huddle_embedding_free(&fit->embedding);
    huddle_csr_free(&fit->shrink_graph);
    huddle_scale_free(&fit->shrink_scale);
    huddle_shrunk_free(&fit->shrunk);
    huddle_preparation_free(&fit->reduction);
    huddle_points_free(&fit->landmarks);
    huddle_dense_free(&fit->landmark_vectors);
    hd_alternation_reset(fit);
    huddle_shrink_info_free(&fit->shrink_info);
    huddle_kmeans_info_free(&fit->kmeans_info);
    huddle_free(fit->trials);
    huddle_free(fit->auto_trials);
    huddle_free(fit->trial_labels);
    hd_warnings_free(&fit->warnings);
    memset(fit, 0, sizeof *fit);
}

/* ---- preparing ----------------------------------------------------------------------------- */

bool hd_does_nothing(const huddle_preparation *p) {
    return p->centre == NULL && p->scale == NULL && p->projection.values == NULL &&
           !p->center_rows && !p->unit_rows;
}

huddle_status hd_fit_prepare(huddle_context *context, const huddle_points *x,
                             const huddle_prepare_options *options, bool keep, hd_fit *fit,
                             huddle_points *view) {
    huddle_status status = HUDDLE_OK;
    huddle_prepare_options chosen = *options;
    if (strcmp(chosen.prepare.name, "auto") == 0)
        TRY(hd_choose_prepare(context, x, fit->common, &chosen.prepare, fit));
    TRY(huddle_prepare_fit(context, x, &chosen, &fit->preparation, &fit->prepare_info));
    fit->prepare_info.seconds += fit->auto_seconds;
    huddle_distinct_free(&fit->equal);
    TRY(huddle_points_distinct(context, x, &fit->equal));
    if (hd_does_nothing(&fit->preparation)) {
        *view = *x;
        if (keep) {
            fit->points = *x;
            fit->points_borrowed = true;
        }
        goto done;
    }
    huddle_prepare_info applied = {0};
    TRY(huddle_prepare_apply(context, &fit->preparation, x, &fit->points, &applied));
    fit->prepare_info.zero_rows = applied.zero_rows;
    fit->prepare_info.seconds += applied.seconds;
    *view = fit->points;
done:
    if (status == HUDDLE_OK)
        status = hd_find_dominant(context, &fit->preparation, view, &fit->dominant);
    return status;
}

huddle_status hd_apply(huddle_context *context, const huddle_preparation *map,
                       const huddle_points *x, huddle_points *owned, huddle_points *view) {
    memset(owned, 0, sizeof *owned);
    *view = *x;
    if (map->rule.name == NULL || hd_does_nothing(map))
        return HUDDLE_OK;
    huddle_status status = huddle_prepare_apply(context, map, x, owned, NULL);
    *view = *owned;
    return status;
}

huddle_status hd_fit_own_points(hd_fit *fit) {
    huddle_status status = HUDDLE_OK;
    huddle_points copy = {0};
    if (!fit->points_borrowed)
        return status;
    TRY(huddle_points_copy(&fit->points, &copy));
    fit->points = copy;
    fit->points_borrowed = false;
done:
    return status;
}

huddle_status hd_prepare_new(huddle_context *context, const hd_fit *fit, const huddle_points *x,
                             huddle_points *owned, huddle_points *view) {
    huddle_status status = HUDDLE_OK;
    huddle_points prepared = {0}, prepared_view;
    memset(owned, 0, sizeof *owned);
    if (x->d != fit->preparation.d_in)
        FAIL(HUDDLE_INVALID, "the points have %lld features, the model was fitted to %lld",
             (long long)x->d, (long long)fit->preparation.d_in);
    TRY(hd_apply(context, &fit->preparation, x, &prepared, &prepared_view));
    TRY(hd_apply(context, &fit->reduction, &prepared_view, owned, view));
    if (owned->values == NULL) {
        *owned = prepared;
        memset(&prepared, 0, sizeof prepared);
    }
done:
    huddle_points_free(&prepared);
    return status;
}

/* ---- K-means ------------------------------------------------------------------------------- */

huddle_status hd_check_clusters(huddle_range n_clusters, int64_t n) {
    if (n_clusters.last > n)
        return hd_fail(HUDDLE_INVALID, "n_clusters = %d is outside [1, %lld]", n_clusters.last,
                       (long long)n);
    return HUDDLE_OK;
}

static double squared_distance(const huddle_points *x, int64_t i, const double *centre,
                               double centre_norm) {
    double sum = 0;
    if (x->offsets == NULL) {
        for (int64_t j = 0; j < x->d; j++) {
            double shift = x->shift != NULL ? x->shift[j] : 0;
            double difference = (double)x->values[i * x->stride + j] - (centre[j] - shift);
            sum += difference * difference;
        }
        return sum;
    }
    sum = centre_norm;
    for (int64_t e = x->offsets[i]; e < x->offsets[i + 1]; e++) {
        double value = (double)x->values[e];
        sum += value * (value - 2 * centre[x->columns[e]]);
    }
    return sum;
}

/* The row nearest each centre among its own, ties by the smaller index. Row i of n is point of[i],
 * or point i if of is NULL. */
static huddle_status find_medoids(const huddle_points *points, const int32_t *of, int64_t n,
                                  hd_fit *fit) {
    huddle_status status = HUDDLE_OK;
    int64_t c = fit->centres.rows, d = fit->centres.cols;
    double *best = NULL, *norms = NULL;
    ALLOC(best, c);
    ALLOC_ZERO(norms, c);
    ALLOC(fit->medoids, c);
    for (int64_t k = 0; k < c; k++) {
        best[k] = INFINITY;
        fit->medoids[k] = -1;
        for (int64_t j = 0; j < d; j++)
            norms[k] += fit->centres.values[k * d + j] * fit->centres.values[k * d + j];
    }
    for (int64_t i = 0; i < n; i++) {
        int32_t k = fit->labels[i];
        double distance =
            squared_distance(points, of != NULL ? of[i] : i, fit->centres.values + k * d, norms[k]);
        if (distance < best[k]) {
            best[k] = distance;
            fit->medoids[k] = i;
        }
    }
done:
    huddle_free(best);
    huddle_free(norms);
    return status;
}

static void forget_clusters(hd_fit *fit) {
    huddle_free(fit->labels);
    fit->labels = NULL;
    huddle_free(fit->medoids);
    fit->medoids = NULL;
    huddle_free(fit->is_medoid_row);
    fit->is_medoid_row = NULL;
    huddle_dense_free(&fit->centres);
    huddle_kmeans_info_free(&fit->kmeans_info);
}

void hd_fit_take_clusters(hd_fit *fit, hd_fit *other) {
    forget_clusters(fit);
    fit->n_clusters = other->n_clusters;
    fit->labels = other->labels;
    fit->medoids = other->medoids;
    fit->is_medoid_row = other->is_medoid_row;
    fit->centres = other->centres;
    fit->kmeans_info = other->kmeans_info;
    other->labels = NULL;
    other->medoids = NULL;
    other->is_medoid_row = NULL;
    memset(&other->centres, 0, sizeof other->centres);
    memset(&other->kmeans_info, 0, sizeof other->kmeans_info);
}

void hd_warn_few_distinct(huddle_context *context, const hd_fit *fit) {
    int32_t distinct = fit->kmeans_info.n_distinct, empty = fit->n_clusters - distinct;
    if (empty > 0)
        hd_warn(context, HUDDLE_WARNING_FEW_DISTINCT,
                "only %d distinct row%s for %d clusters: %d cluster%s empty", distinct,
                distinct == 1 ? "" : "s", fit->n_clusters, empty, empty == 1 ? " is" : "s are");
}

huddle_status hd_fit_kmeans(huddle_context *context, const huddle_points *rows,
                            const huddle_kmeans_options *options, hd_fit *fit) {
    huddle_status status = HUDDLE_OK;
    huddle_kmeans_result result = {0};
    huddle_kmeans_options wanted = *options;
    wanted.keep_starts = fit->keep_starts;
    forget_clusters(fit);
    TRY(huddle_kmeans(context, rows, NULL, &wanted, &result, &fit->kmeans_info));
    fit->n_clusters = options->n_clusters;
    fit->labels = result.labels;
    fit->centres = result.centres;
    memset(&result, 0, sizeof result);
    if (rows->n == fit->n)
        hd_fit_unify_labels(fit);
    TRY(find_medoids(rows, NULL, rows->n, fit));
done:
    huddle_kmeans_result_free(&result);
    return status;
}

/* The distinct rows as points of their own, and what each weighs. */
static huddle_status take_distinct(huddle_context *context, const huddle_dense *rows,
                                   const huddle_distinct *distinct, const hd_fit *fit,
                                   huddle_points *points, double **weights) {
    huddle_status status = HUDDLE_OK;
    huddle_dense taken = {0};
    TRY(huddle_dense_new(distinct->count, rows->cols, &taken));
    for (int64_t k = 0; k < distinct->count; k++) {
        int64_t row = distinct->first != NULL ? distinct->first[k] : k;
        memcpy(taken.values + k * rows->cols, rows->values + row * rows->stride,
               (size_t)rows->cols * sizeof *taken.values);
    }
    TRY(huddle_points_from_double(context, distinct->count, rows->cols, taken.values, rows->cols, 1,
                                  points));
    ALLOC_ZERO(*weights, distinct->count);
    for (int64_t i = 0; i < rows->rows; i++)
        (*weights)[distinct->of != NULL ? distinct->of[i] : i] += (double)hd_fit_copies(fit, i);
done:
    huddle_dense_free(&taken);
    return status;
}

/* Labels of every restart on the distinct rows become labels on all rows. */
static huddle_status spread_starts(const huddle_distinct *distinct, int64_t n,
                                   huddle_kmeans_info *info) {
    huddle_status status = HUDDLE_OK;
    int32_t *spread = NULL;
    if (info->start_labels == NULL || distinct->of == NULL)
        return status;
    ALLOC(spread, info->n_restarts * n);
    for (int64_t r = 0; r < info->n_restarts; r++)
        for (int64_t i = 0; i < n; i++)
            spread[r * n + i] = info->start_labels[r * distinct->count + distinct->of[i]];
    huddle_free(info->start_labels);
    info->start_labels = spread;
done:
    return status;
}

static huddle_status mark_medoid_rows(const huddle_distinct *distinct, int64_t n, hd_fit *fit) {
    huddle_status status = HUDDLE_OK;
    const int32_t *of = distinct->of;
    ALLOC(fit->is_medoid_row, n);
    for (int64_t i = 0; i < n; i++) {
        int64_t medoid = fit->medoids[fit->labels[i]];
        fit->is_medoid_row[i] = of != NULL ? of[i] == of[medoid] : i == medoid;
    }
done:
    return status;
}

huddle_status hd_fit_kmeans_dense(huddle_context *context, const huddle_dense *rows,
                                  const huddle_kmeans_options *options, hd_fit *fit) {
    huddle_status status = HUDDLE_OK;
    huddle_distinct distinct = {0};
    double *weights = NULL;
    huddle_points points = {0};
    huddle_kmeans_result result = {0};
    huddle_kmeans_options few = *options;
    few.keep_starts = fit->keep_starts;
    forget_clusters(fit);
    TRY(huddle_dense_distinct(context, rows, &distinct));
    TRY(take_distinct(context, rows, &distinct, fit, &points, &weights));
    if (few.n_clusters > distinct.count)
        few.n_clusters = (int32_t)distinct.count;
    TRY(huddle_kmeans(context, &points, weights, &few, &result, &fit->kmeans_info));
    TRY(spread_starts(&distinct, rows->rows, &fit->kmeans_info));
    fit->n_clusters = options->n_clusters;
    ALLOC(fit->labels, rows->rows);
    for (int64_t i = 0; i < rows->rows; i++)
        fit->labels[i] = result.labels[distinct.of != NULL ? distinct.of[i] : i];
    hd_fit_unify_labels(fit);
    fit->centres = result.centres;
    memset(&result.centres, 0, sizeof result.centres);
    TRY(find_medoids(&points, distinct.of, rows->rows, fit));
    TRY(mark_medoid_rows(&distinct, rows->rows, fit));
    hd_warn_few_distinct(context, fit);
done:
    huddle_distinct_free(&distinct);
    huddle_free(weights);
    huddle_points_free(&points);
    huddle_kmeans_result_free(&result);
    return status;
}

/* ---- a range of n_clusters ----------------------------------------------------------------- */

enum { SILHOUETTE_SAMPLE = 2000 };

huddle_status hd_fit_measure_extents(huddle_context *context, hd_fit *fit) {
    huddle_status status = HUDDLE_OK;
    huddle_free(fit->extents);
    fit->extents = NULL;
    ALLOC(fit->extents, fit->embedding.vectors.cols);
    TRY(huddle_embed_extents(context, &fit->embedding.vectors, fit->nodes.copies, fit->extents));
done:
    return status;
}

huddle_spectrum hd_fit_spectrum(const hd_fit *fit) {
    const huddle_embedding *e = &fit->embedding;
    return (huddle_spectrum){.n = hd_fit_rows(fit),
                             .components = fit->embed_info.components,
                             .n_eigenvalues = e->n_eigenvalues,
                             .eigenvalues = e->eigenvalues,
                             .n_extents = (int32_t)e->vectors.cols,
                             .extents = fit->extents};
}

/* Silhouette of the points; without any, of a given embedding, which is the same for all trials. */
static huddle_status trial_silhouette(huddle_context *context, const huddle_points *points,
                                      const hd_fit *fit, double *silhouette) {
    huddle_status status = HUDDLE_OK;
    const huddle_dense *rows = &fit->embedding.rows;
    huddle_points owned = {0};
    if (points == NULL && !fit->has_embedding && rows->values != NULL) {
        TRY(huddle_points_from_double(context, rows->rows, rows->cols, rows->values, rows->stride,
                                      1, &owned));
        points = &owned;
    }
    if (points != NULL)
        TRY(hd_fit_silhouette(context, fit, points, SILHOUETTE_SAMPLE, silhouette));
done:
    huddle_points_free(&owned);
    return status;
}

static huddle_status judge_trial(huddle_context *context, const huddle_points *points,
                                 const huddle_csr *graph, hd_fit *fit, hd_trial *trial) {
    huddle_status status = HUDDLE_OK;
    *trial = (hd_trial){fit->n_clusters, fit->kmeans_info.inertia, NAN, NAN, NAN, NAN};
    TRY(trial_silhouette(context, points, fit, &trial->silhouette));
    if (graph != NULL)
        TRY(huddle_metrics_ncut(context, graph, fit->labels, &trial->ncut));
    if (fit->has_embedding && !fit->graph_per_trial) {
        huddle_spectrum spectrum = hd_fit_spectrum(fit);
        trial->eigengap = huddle_embed_gap(&spectrum, trial->n_clusters);
    }
    if (fit->has_alignment)
        trial->alignment = fit->alignment;
done:
    return status;
}

bool hd_alignment_as_good(double alignment, double best) {
    return alignment >= best - 1e-3;
}

static int32_t best_aligned(const hd_fit *fit) {
    int32_t chosen = 0;
    double best = -INFINITY;
    for (int32_t t = 0; t < fit->n_trials; t++)
        best = fmax(best, fit->trials[t].alignment);
    for (int32_t t = 0; t < fit->n_trials; t++)
        if (hd_alignment_as_good(fit->trials[t].alignment, best))
            chosen = t;
    return chosen;
}

static int32_t best_silhouette(const hd_fit *fit) {
    int32_t best = 0;
    double largest = -INFINITY;
    for (int32_t t = 0; t < fit->n_trials; t++)
        if (fit->trials[t].silhouette > largest) {
            largest = fit->trials[t].silhouette;
            best = t;
        }
    return best;
}

/* The number of clusters of the best trial; the trials are consecutive numbers. */
static huddle_status choose_trial(const hd_fit *fit, int32_t *n_clusters) {
    huddle_status status = HUDDLE_OK;
    huddle_embed_choice choice;
    const hd_trial *trials = fit->trials;
    if (fit->has_alignment) {
        *n_clusters = trials[best_aligned(fit)].n_clusters;
    } else if (fit->has_embedding && !fit->graph_per_trial) {
        huddle_spectrum spectrum = hd_fit_spectrum(fit);
        TRY(huddle_embed_choose(&spectrum, trials[0].n_clusters,
                                trials[fit->n_trials - 1].n_clusters, &choice));
        *n_clusters = choice.candidates[0];
    } else {
        *n_clusters = trials[best_silhouette(fit)].n_clusters;
    }
done:
    return status;
}

/* Every number of the range, as trials. */
static huddle_status run_trials(huddle_context *context, huddle_range n_clusters,
                                const huddle_points *points, const huddle_csr *graph,
                                hd_cluster_step step, void *argument, hd_fit *fit) {
    huddle_status status = HUDDLE_OK;
    int32_t count = n_clusters.last - n_clusters.first + 1;
    ALLOC_ZERO(fit->trials, count);
    ALLOC(fit->trial_labels, hd_fit_rows(fit) * count);
    for (int32_t t = 0; t < count; t++) {
        TRY(hd_progress(context, "range", t, count));
        TRY(step(context, argument, n_clusters.first + t, fit));
        TRY(judge_trial(context, points, graph, fit, &fit->trials[t]));
        for (int64_t i = 0; i < hd_fit_rows(fit); i++)
            fit->trial_labels[i * count + t] = fit->labels[hd_fit_node(fit, i)];
        fit->n_trials = t + 1;
    }
done:
    return status;
}

huddle_status hd_fit_range(huddle_context *context, huddle_range n_clusters,
                           const huddle_points *points, const huddle_csr *graph,
                           hd_cluster_step step, void *argument, hd_fit *fit) {
    huddle_status status = HUDDLE_OK;
    int32_t chosen = n_clusters.first;
    if (n_clusters.first < n_clusters.last) {
        hd_silence before = hd_silence_begin(context);
        status = run_trials(context, n_clusters, points, graph, step, argument, fit);
        hd_silence_end(context, before);
        TRY(status);
        TRY(choose_trial(fit, &chosen));
    }
    TRY(step(context, argument, chosen, fit));
    TRY(hd_fit_settle_medoids(points, graph, fit));
done:
    return status;
}

/* ---- steps that take turns ----------------------------------------------------------------- */

void hd_alternation_reset(hd_fit *fit) {
    huddle_free(fit->alternation.objective);
    memset(&fit->alternation, 0, sizeof fit->alternation);
}

huddle_status hd_alternation_add(hd_fit *fit, double objective) {
    hd_alternation *a = &fit->alternation;
    int64_t capacity = a->n_history;
    if (!hd_grow(&a->objective, &capacity, a->n_history + 1, sizeof *a->objective))
        return hd_fail(HUDDLE_NO_MEMORY, "no memory for the objective of %d rounds",
                       a->n_history + 1);
    a->objective[a->n_history++] = objective;
    a->n_iter = a->n_history - 1;
    return HUDDLE_OK;
}
