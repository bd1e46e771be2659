/* How certain the label of each row is (docs/method.md, "Scores"): confidence, the margin between
 * the mean of its own cluster and the nearest other mean, and its silhouette. Both are computed on
 * request: the first costs as much as one iteration of K-means, the second n times as much as one
 * row.
 *
 * The means are those of the final labels, not the centres that the method's own step found:
 * refinement moves rows between clusters, and a user asks about the labels that are shown. */
#include "model/model.h"

#include "base/blas.h"
#include "base/check.h"
#include "base/parallel.h"
#include "base/slabs.h"
#include "huddle/metrics.h"
#include "steps/medoids.h"

#include <math.h>
#include <string.h>

enum { GRAIN = 256 };

typedef struct margins {
    const hd_fit *fit;
    const huddle_points *points; /* the rows in which distances are measured */
    double *means;               /* c x d, then the c sizes */
    double *norms;               /* squared, of each mean */
    double *values;              /* one for each row of the fit's arrays */
} margins;

/* Copies count as often as they occur, rows of other processes too. */
static huddle_status find_means(huddle_context *context, margins *m) {
    huddle_status status = HUDDLE_OK;
    const hd_fit *fit = m->fit;
    int64_t c = fit->clusters.n_clusters, d = m->points->d;
    TRY(hd_step_cluster_means(context, &fit->rows, fit->clusters.labels, NULL, m->points, c,
                              &m->means));
    ALLOC_ZERO(m->norms, c);
    for (int64_t k = 0; k < c; k++)
        for (int64_t j = 0; j < d; j++)
            m->norms[k] += m->means[k * d + j] * m->means[k * d + j];
done:
    return status;
}

/* (b - a) / b of the distances a to the own mean and b to the nearest other one, 0 if b is not
 * larger, 1 if there is no other. */
static huddle_status measure_margins(void *argument, hd_chunk chunk) {
    const margins *m = argument;
    int64_t c = m->fit->clusters.n_clusters, d = m->points->d;
    const double *sizes = m->means + c * d;
    for (int64_t i = chunk.begin; i < chunk.end; i++) {
        int64_t row = hd_fit_rows_point(&m->fit->rows, m->points, i);
        double own = 0, other = INFINITY;
        for (int64_t k = 0; k < c; k++) {
            if (sizes[k] == 0)
                continue;
            double square = hd_step_distance_to(m->points, row, m->means + k * d, m->norms[k]);
            square = fmax(square, 0); /* rounding, of sparse rows */
            if (k == m->fit->clusters.labels[i])
                own = square;
            else
                other = fmin(other, square);
        }
        m->values[i] = own < other ? 1 - sqrt(own / other) : 0;
    }
    return HUDDLE_OK;
}

static huddle_status compute_confidence(huddle_context *context, const huddle_model *model,
                                        const huddle_points *x, double *confidence) {
    huddle_status status = HUDDLE_OK;
    const hd_fit *fit = &model->fit;
    huddle_points prepared = {0}, view = {0}, converted = {0}, rows = {0};
    const huddle_points *points;
    margins m = {.fit = fit};
    TRY(hd_model_find_points(context, model, x, &prepared, &view, &points));
    /* K-means preferred to the labels of the graph clustered the prepared points, whatever the
     * method itself clusters. */
    if (fit->refined.present && strcmp(fit->refined.from, "kmeans") == 0 && points != NULL)
        rows = *points;
    else
        TRY(hd_model_clustered_rows(context, fit, points, &converted, &rows));
    if (rows.d == 0)
        FAIL(HUDDLE_INVALID, "method %s does not keep the points it was fitted to; pass them again",
             model->method->text.name);
    TRY(huddle_points_fetch(&rows));
    m.points = &rows;
    TRY(find_means(context, &m));
    ALLOC(m.values, fit->rows.n);
    TRY(hd_parallel(context, "confidence", fit->rows.n, GRAIN, measure_margins, &m));
    for (int64_t i = 0; i < hd_fit_rows_total(&fit->rows); i++)
        confidence[i] = m.values[hd_fit_rows_node(&fit->rows, i)];
done:
    FREE(m.means, m.norms, m.values);
    huddle_points_free(&prepared);
    huddle_points_free(&converted);
    return status;
}

/* Merged points are expanded, so that every row of x is compared with every other. */
static huddle_status compute_silhouettes(huddle_context *context, const huddle_model *model,
                                         const huddle_points *x, double *silhouettes) {
    huddle_status status = HUDDLE_OK;
    const hd_fit *fit = &model->fit;
    huddle_points prepared = {0}, view = {0}, expanded = {0};
    const huddle_points *points;
    TRY(hd_model_find_points(context, model, x, &prepared, &view, &points));
    if (points == NULL)
        FAIL(HUDDLE_INVALID, "silhouettes need the points that the model was fitted to");
    if (points->n != hd_fit_rows_total(&fit->rows)) {
        TRY(hd_model_expand_points(fit, points, &expanded));
        points = &expanded;
    }
    TRY(huddle_metrics_silhouette_samples(context, points, huddle_model_labels(model, NULL),
                                          silhouettes));
done:
    huddle_points_free(&prepared);
    huddle_points_free(&expanded);
    return status;
}

typedef huddle_status (*compute_rows)(huddle_context *context, const huddle_model *model,
                                      const huddle_points *x, double *values);

/* A model that every process has all of is evaluated by each of them for itself. */
static huddle_status compute(huddle_context *context, const huddle_model *model,
                             const huddle_points *x, const char *what, compute_rows body,
                             double *values) {
    huddle_status status = HUDDLE_OK;
    bool distributed;
    TRY(hd_model_check_fitted(model));
    if (values == NULL)
        FAIL(HUDDLE_INVALID, "the place for the %s is missing", what);
    if (model->fit.rows.elsewhere > 0 && !hd_slabs_distributed(context))
        FAIL(HUDDLE_UNSUPPORTED,
             "this model has a part of its rows only, those of one process; the %s needs the "
             "others",
             what);
    TRY(hd_model_is_distributed(context, model, &distributed));
    TRY(hd_blas_reserve(context));
    bool alone = hd_slabs_distributed(context) && !distributed;
    hd_alone before = hd_alone_begin_if(context, alone);
    hd_blas_enter();
    status = body(context, model, x, values);
    hd_blas_leave();
    hd_alone_end(context, before);
done:
    return hd_agree(context, status);
}

huddle_status huddle_model_confidence(huddle_context *context, const huddle_model *model,
                                      const huddle_points *x, double *confidence) {
    return compute(context, model, x, "confidence", compute_confidence, confidence);
}

huddle_status huddle_model_silhouettes(huddle_context *context, const huddle_model *model,
                                       const huddle_points *x, double *silhouettes) {
    return compute(context, model, x, "silhouette", compute_silhouettes, silhouettes);
}
