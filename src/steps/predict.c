/* Labels of new points: by votes of their neighbours if those of the fit were refined, else by the
 * nearest centre. */
#include "steps/predict.h"

#include "base/check.h"
#include "base/slabs.h"
#include "matrix/resident.h"
#include "steps/near.h"
#include "steps/prepare.h"
#include "steps/views.h"

#include <string.h>

/* Sum of the weights of the neighbours with this label. */
static double count_votes(const huddle_csr *w, int64_t i, const int32_t *labels, int32_t label) {
    double votes = 0;
    for (int64_t e = w->offsets[i]; e < w->offsets[i + 1]; e++)
        votes += labels[w->columns[e]] == label ? w->values[e] : 0;
    return votes;
}

/* The lists are ordered by distance, so that of equal votes the first is that of the nearest
 * neighbour. Far from all points the weights have their smallest value and are equal. */
static int32_t elect_label(const huddle_neighbors *neighbors, const huddle_csr *w, int64_t i,
                           const int32_t *labels) {
    const int32_t *index = neighbors->index + i * neighbors->k;
    int32_t elected = labels[index[0]];
    double most = -1;
    for (int32_t j = 0; j < neighbors->k && index[j] >= 0; j++) {
        double votes = count_votes(w, i, labels, labels[index[j]]);
        if (votes > most) {
            most = votes;
            elected = labels[index[j]];
        }
    }
    return elected;
}

/* Points are labelled independently of each other: a label does not depend on the batch. */
static huddle_status predict_by_votes(huddle_context *context, const hd_fit *fit,
                                      const huddle_knn_options *knn, const huddle_points *x,
                                      int32_t *labels) {
    huddle_status status = HUDDLE_OK;
    huddle_neighbors neighbors = {0};
    huddle_csr w = {0};
    hd_step_near near = {0};
    TRY(huddle_points_fetch(x));
    TRY(hd_spectral_query_neighbors(context, fit, x, knn, &neighbors));
    TRY(hd_step_near_open(context, fit, false, &neighbors, &near));
    const int32_t *known = near.view.clusters.labels;
    TRY(hd_spectral_weigh_new(&neighbors, &near.view.graph.scale, &near.view, &w));
    for (int64_t i = 0; i < x->n; i++) {
        int64_t same = hd_spectral_same_row(x, i, knn, &neighbors);
        labels[i] = same >= 0 ? known[same] : elect_label(&neighbors, &w, i, known);
    }
done:
    hd_step_near_close(&near);
    huddle_neighbors_free(&neighbors);
    huddle_csr_free(&w);
    return status;
}

/* The label with the largest sum of weights among the edges of a new point; of equal ones that of
 * the heaviest edge, and then of the first. */
static int32_t elect_by_edges(const huddle_csr *w, int64_t i, const int32_t *labels) {
    double most = -1, heaviest = -1;
    int32_t elected = 0;
    for (int64_t e = w->offsets[i]; e < w->offsets[i + 1]; e++) {
        int32_t label = labels[w->columns[e]];
        double votes = count_votes(w, i, labels, label), weight = w->values[e];
        if (votes > most || (votes == most && weight > heaviest)) {
            most = votes;
            heaviest = weight;
            elected = label;
        }
    }
    return elected;
}

/* The neighbours of all views vote, each with the weight of its edge in their mean. */
static huddle_status predict_by_views(huddle_context *context, const hd_fit *fit,
                                      const huddle_knn_options *knn, const huddle_points *x,
                                      int32_t *labels) {
    huddle_status status = HUDDLE_OK;
    huddle_csr w = {0};
    int64_t *same = NULL;
    const int32_t *known = fit->clusters.labels;
    ALLOC(same, x->n);
    TRY(hd_spectral_weigh_new_views(context, fit, knn, x, &w, same));
    for (int64_t i = 0; i < x->n; i++)
        labels[i] = same[i] >= 0 ? known[same[i]] : elect_by_edges(&w, i, known);
done:
    huddle_csr_free(&w);
    huddle_free(same);
    return status;
}

/* Neighbours are searched in the prepared points, which a model of a given graph does not have. */
static huddle_status predict_refined(huddle_context *context, const hd_fit *fit,
                                     const hd_spectral_options *options, const huddle_points *x,
                                     int32_t *labels) {
    huddle_status status = HUDDLE_OK;
    huddle_points owned = {0}, view;
    const huddle_points *points = &fit->prepared.points;
    if (!hd_points_present(points))
        FAIL(HUDDLE_UNSUPPORTED,
             "a model fitted to a given graph or embedding cannot label new points");
    if (fit->views.count > 0)
        return predict_by_views(context, fit, &options->knn, x, labels);
    TRY(hd_step_prepare_new(context, fit, x, &owned, &view));
    if (strcmp(fit->refined.from, "kmeans") == 0)
        TRY(huddle_kmeans_assign(context, &view, &fit->refined.centres, labels));
    else
        TRY(predict_by_votes(context, fit, &options->knn, &view, labels));
done:
    huddle_points_free(&owned);
    return status;
}

/* A row that equals a training row gets the label of that row, not that of the nearest centre: for
 * most rows both are the same, but (15) is an approximation. */
huddle_status hd_spectral_assign(huddle_context *context, const hd_fit *fit, const void *given,
                                 huddle_dense *rows, const int64_t *same, int32_t *labels) {
    (void)given;
    huddle_status status = HUDDLE_OK;
    huddle_neighbors nearest = {0};
    huddle_knn_options options = huddle_knn_defaults();
    options.n_neighbors = 1;
    /* In double precision: converting the rows to points would subtract a shift that depends on all
     * of them, and the label of a row could depend on the other rows of its batch. */
    if (rows->rows == 0)
        goto done; /* a process without rows */
    /* Every process has all centres. */
    bool distributed = hd_slabs_distributed(context);
    hd_alone before = hd_alone_begin_if(context, distributed);
    status =
        huddle_graph_query_dense(context, &fit->clusters.centres, rows, &options, &nearest, NULL);
    hd_alone_end(context, before);
    TRY(status);
    TRY(huddle_neighbors_fetch(&nearest));
    for (int64_t i = 0; i < rows->rows; i++) {
        int64_t known = same[i] >= 0 && !distributed ? fit->clusters.labels[same[i]] : same[i];
        labels[i] = known >= 0 ? (int32_t)known : nearest.index[i];
    }
done:
    huddle_neighbors_free(&nearest);
    return status;
}

/* The options of every method that refines begin with hd_spectral_options. */
huddle_status hd_step_predict(huddle_context *context, const hd_fit *fit, const void *options,
                              hd_step_place *place, hd_step_assign *assign, const huddle_points *x,
                              int32_t *labels) {
    huddle_status status = HUDDLE_OK;
    huddle_dense rows = {0};
    int64_t *same = NULL;
    if (fit->refined.present)
        return predict_refined(context, fit, options, x, labels);
    ALLOC(same, x->n);
    TRY(place(context, fit, options, x, &rows, same));
    TRY(assign(context, fit, options, &rows, same, labels));
done:
    huddle_dense_free(&rows);
    huddle_free(same);
    return status;
}

/* For methods that run K-means on the prepared points themselves: the clusters are the Voronoi
 * cells of the centres, so that new points need nothing else. */
huddle_status hd_step_predict_centres(huddle_context *context, const hd_fit *fit,
                                      const void *options, const huddle_points *x,
                                      int32_t *labels) {
    (void)options;
    huddle_points owned, view;
    huddle_status status = hd_step_prepare_new(context, fit, x, &owned, &view);
    if (status == HUDDLE_OK)
        status = huddle_kmeans_assign(context, &view, &fit->clusters.centres, labels);
    huddle_points_free(&owned);
    return status;
}
