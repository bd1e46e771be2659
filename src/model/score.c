/* Scores of a fit that need no classes (docs/method.md, "Scores"): silhouette, normalised cut (20)
 * and stability. They are computed on request, not in the fit, because they may cost more than the
 * fit itself. Samples bound the cost, which grows with the square of the number of rows for
 * silhouettes. */
#include "model/model.h"

#include "base/blas.h"
#include "base/check.h"
#include "base/rng.h"
#include "base/slabs.h"
#include "huddle/metrics.h"
#include "matrix/collect.h"
#include "matrix/resident.h"
#include "steps/merge.h"
#include "steps/prepare.h"

#include <math.h>

/* Limits for the cost of stability: it is an indication, not a result. */
enum { STABILITY_SAMPLE = 5000, STABILITY_RUNS = 3, STABILITY_STARTS = 3 };

huddle_status hd_model_clustered_rows(huddle_context *context, const hd_fit *fit,
                                      const huddle_points *points, huddle_points *owned,
                                      huddle_points *rows) {
    huddle_status status = HUDDLE_OK;
    /* If the guard chose the labels of F, stability refers to F as well. */
    bool from_g = fit->shrunk.present && !fit->shrunk.labels_from_embedding;
    const huddle_dense *dense = from_g ? &fit->shrunk.g.g : &fit->embedding.f.rows;
    TRY(huddle_dense_fetch(dense));
    if (dense->values != NULL) {
        TRY(huddle_points_from_double(context, dense->rows, dense->cols, dense->values,
                                      dense->stride, 1, owned));
        *rows = *owned;
    } else if (points != NULL) {
        *rows = *points;
    }
done:
    return status;
}

/* The mean ARI between the labels of a sample, all of it on this process, and those of K-means with
 * other seeds. The sample may have fewer rows than clusters. */
static huddle_status average_agreement(huddle_context *context, const huddle_points *sample,
                                       const int32_t *labels, int32_t n_clusters,
                                       double *stability) {
    huddle_status status = HUDDLE_OK;
    huddle_kmeans_result result = {0};
    huddle_scores scores;
    huddle_kmeans_options options = huddle_kmeans_defaults();
    double sum = 0;
    options.n_clusters = n_clusters < sample->n ? n_clusters : (int32_t)sample->n;
    options.n_init = STABILITY_STARTS;
    for (uint64_t run = 1; run <= STABILITY_RUNS; run++) {
        options.seed = run << 32;
        huddle_kmeans_result_free(&result);
        TRY(huddle_kmeans(context, sample, NULL, &options, &result, NULL));
        TRY(huddle_metrics_scores(context, sample->n, labels, result.labels, &scores));
        sum += scores.ari;
    }
    *stability = sum / STABILITY_RUNS;
done:
    huddle_kmeans_result_free(&result);
    return status;
}

/* A sample of the rows of x of all processes, as numbers of rows of the fit's arrays, and the
 * labels of those that this process has. Drawn from rows of x, so that copies count as often as
 * they occur; fits of several processes do not merge them. */
static huddle_status draw_sample(huddle_context *context, const hd_fit *fit, int64_t *count,
                                 int64_t **index, int64_t *n_own, int32_t **labels) {
    huddle_status status = HUDDLE_OK;
    /* K-means is repeated, not the refinement. */
    const int32_t *own = fit->refined.own != NULL ? fit->refined.own : fit->clusters.labels;
    hd_rng rng = hd_rng_stream(0, 0);
    int64_t total = hd_fit_rows_total(&fit->rows);
    hd_slab slab;
    TRY(hd_reduce_count(context, &total));
    TRY(hd_slab_locate(context, fit->rows.n, &slab));
    *count = total < STABILITY_SAMPLE ? total : STABILITY_SAMPLE;
    *n_own = 0;
    ALLOC(*index, *count);
    ALLOC(*labels, *count);
    hd_rng_sample(&rng, total, *count, *index);
    for (int64_t i = 0; i < *count; i++) {
        int64_t node = (*index)[i] = hd_fit_rows_node(&fit->rows, (*index)[i]);
        if (node >= slab.first && node < slab.first + fit->rows.n)
            (*labels)[(*n_own)++] = own[node - slab.first];
    }
done:
    return status;
}

/* Mean ARI over runs (docs/method.md, "Scores"). The seeds are far from the small numbers that fits
 * usually have. If rows are distributed over processes, process 0 gets the sample and tells the
 * others. */
static huddle_status score_stability(huddle_context *context, const huddle_points *rows,
                                     const hd_fit *fit, double *stability) {
    huddle_status status = HUDDLE_OK;
    int64_t *index = NULL, count, n_own, total;
    int32_t *labels = NULL, c = fit->clusters.n_clusters;
    void *all = NULL;
    huddle_points sample = {0};
    TRY(draw_sample(context, fit, &count, &index, &n_own, &labels));
    if (!hd_slabs_distributed(context)) {
        TRY(huddle_points_take(rows, index, count, &sample));
        TRY(average_agreement(context, &sample, labels, c, stability));
        goto done;
    }
    TRY(hd_collect_points(context, rows, index, count, 0, &sample));
    TRY(hd_collect_rows(context, 0, n_own, labels, sizeof *labels, &total, &all));
    TRY_ON_FIRST(context, average_agreement(context, &sample, all, c, stability));
    TRY(hd_slabs_broadcast(context, 0, sizeof *stability, stability));
done:
    FREE(index, labels, all);
    huddle_points_free(&sample);
    return hd_agree(context, status);
}

/* Scores that need what the fit does not have remain NAN. */
static huddle_status score_fit(huddle_context *context, hd_fit *fit, const huddle_points *points) {
    huddle_status status = HUDDLE_OK;
    huddle_points owned = {0}, rows = {0};
    huddle_fit_scores *scores = &fit->scores;
    const huddle_csr *graph = &fit->graph.matrix;
    *scores = (huddle_fit_scores){NAN, NAN, NAN};
    if (points != NULL)
        TRY(hd_step_silhouette(context, fit, points, &scores->silhouette));
    if (hd_csr_present(graph))
        TRY(huddle_metrics_ncut(context, graph, fit->clusters.labels, &scores->ncut));
    TRY(hd_model_clustered_rows(context, fit, points, &owned, &rows));
    if (rows.d > 0) /* there are such rows, perhaps on other processes only */
        TRY(score_stability(context, &rows, fit, &scores->stability));
    fit->scored = true;
done:
    huddle_points_free(&owned);
    return status;
}

huddle_status hd_model_find_points(huddle_context *context, const huddle_model *model,
                                   const huddle_points *x, huddle_points *owned,
                                   huddle_points *view, const huddle_points **points) {
    huddle_status status = HUDDLE_OK;
    const hd_fit *fit = &model->fit;
    const huddle_points *kept = &fit->prepared.points;
    *points = NULL;
    if (hd_points_present(kept)) {
        *points = kept;
    } else if (x != NULL && fit->prepared.preparation.d_in > 0) {
        int64_t rows = hd_fit_rows_total(&fit->rows);
        if (x->n != rows)
            FAIL(HUDDLE_INVALID, "%lld points are not the %lld the model was fitted to",
                 (long long)x->n, (long long)rows);
        TRY(huddle_points_check(context, x));
        TRY(hd_step_prepare_new(context, fit, x, owned, view));
        *points = view;
    }
done:
    return status;
}

huddle_status huddle_model_score(huddle_context *context, huddle_model *model,
                                 const huddle_points *x) {
    huddle_status status = HUDDLE_OK;
    huddle_points owned = {0}, view = {0};
    const huddle_points *points;
    TRY(hd_model_check_fitted(model));
    TRY(hd_model_find_points(context, model, x, &owned, &view, &points));
    TRY(hd_blas_reserve(context));
    hd_blas_enter();
    status = score_fit(context, &model->fit, points);
    hd_blas_leave();
done:
    huddle_points_free(&owned);
    return hd_agree(context, status);
}
