/* Coordinates of new points: rows of the embedding, or distances to the centres of a method that
 * clusters points, as the transform of scikit-learn's KMeans. */
#include "model/model.h"

#include "base/blas.h"
#include "base/check.h"
#include "base/parallel.h"
#include "base/slabs.h"
#include "steps/medoids.h"
#include "steps/prepare.h"

#include <math.h>
#include <string.h>

enum { GRAIN = 256 };

/* The row of a training point is the one it had in the fit: a new point is only placed near it. */
static huddle_status embed_rows(huddle_context *context, const huddle_model *model,
                                const huddle_points *x, huddle_dense *rows) {
    huddle_status status = HUDDLE_OK;
    const huddle_dense *known = &model->fit.embedding.f.rows;
    int64_t *same = NULL;
    ALLOC(same, x->n);
    TRY(model->method->place(context, &model->fit, model->fitted_options, x, rows, same));
    TRY(huddle_dense_fetch(known));
    if (rows->cols != known->cols)
        FAIL(HUDDLE_INVALID, "new rows have %lld columns, the embedding of the model has %lld",
             (long long)rows->cols, (long long)known->cols);
    for (int64_t i = 0; i < x->n; i++)
        if (same[i] >= 0)
            memcpy(rows->values + i * rows->stride, known->values + same[i] * known->stride,
                   (size_t)known->cols * sizeof *rows->values);
done:
    huddle_free(same);
    return status;
}

typedef struct measuring {
    const huddle_points *points;
    const double *centres; /* c x d, without the shift of the points */
    const double *norms;   /* squared */
    huddle_dense *rows;
} measuring;

static huddle_status measure_rows(void *argument, hd_chunk chunk) {
    const measuring *m = argument;
    int64_t c = m->rows->cols, d = m->points->d;
    for (int64_t i = chunk.begin; i < chunk.end; i++)
        for (int64_t k = 0; k < c; k++) {
            double square = hd_step_distance_to(m->points, i, m->centres + k * d, m->norms[k]);
            m->rows->values[i * m->rows->stride + k] = sqrt(fmax(square, 0));
        }
    return HUDDLE_OK;
}

static huddle_status measure_distances(huddle_context *context, const huddle_model *model,
                                       const huddle_points *x, huddle_dense *rows) {
    huddle_status status = HUDDLE_OK;
    const huddle_dense *from = &model->fit.clusters.centres;
    huddle_points owned = {0}, view;
    double *centres = NULL, *norms = NULL;
    TRY(hd_step_prepare_new(context, &model->fit, x, &owned, &view));
    TRY(huddle_points_fetch(&view));
    if (from->cols != view.d)
        FAIL(HUDDLE_INVALID, "prepared points have %lld columns, the centres of the model %lld",
             (long long)view.d, (long long)from->cols);
    TRY(hd_step_stored_centres(&view, from, &centres, &norms));
    TRY(huddle_dense_new(x->n, from->rows, rows));
    measuring m = {&view, centres, norms, rows};
    TRY(hd_parallel(context, "transform", x->n, GRAIN, measure_rows, &m));
done:
    huddle_points_free(&owned);
    FREE(centres, norms);
    return status;
}

huddle_status huddle_model_transform_views(huddle_context *context, const huddle_model *model,
                                           int32_t n_views, const huddle_points *views,
                                           huddle_dense *rows) {
    huddle_status status = HUDDLE_OK;
    hd_model_new opened = {0};
    huddle_dense made = {0};
    TRY(hd_model_check_fitted(model));
    TRY(hd_slabs_refuse(context, "transforming new points"));
    TRY(hd_model_check_whole(context, model, "transform new points"));
    TRY(hd_model_open_new(context, &model->fit, n_views, views, &opened));
    TRY(hd_blas_reserve(context));
    hd_blas_enter();
    status = (model->method->place != NULL ? embed_rows : measure_distances)(context, model,
                                                                             opened.points, &made);
    hd_blas_leave();
    if (status == HUDDLE_OK) {
        *rows = made;
        memset(&made, 0, sizeof made);
    }
done:
    hd_model_close_new(&opened);
    huddle_dense_free(&made);
    return status;
}

huddle_status huddle_model_transform(huddle_context *context, const huddle_model *model,
                                     const huddle_points *x, huddle_dense *rows) {
    return huddle_model_transform_views(context, model, 1, x, rows);
}
