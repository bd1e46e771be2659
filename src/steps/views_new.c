/* New points of a fit of several views (docs/method.md, "Views"): their edges in the mean of the
 * graphs, and which training rows they equal. */
#include "base/check.h"
#include "base/parallel.h"
#include "matrix/points.h"
#include "steps/place.h"
#include "steps/prepare.h"
#include "steps/views.h"

#include <math.h>

enum { ROWS_PER_CHUNK = 256 };

/* New points in one view. */
typedef struct new_view {
    hd_fit alone; /* the fit as if it had only this view; owns nothing */
    huddle_points owned, points;
    huddle_neighbors neighbors;
    huddle_csr w;
    double *row, *column; /* factors of the entries of w */
} new_view;

typedef struct same_rows {
    const hd_fit *fit;
    const new_view *views;
    const huddle_knn_options *knn;
    int64_t *same;
} same_rows;

static void free_views(new_view *views, int32_t count) {
    for (int32_t v = 0; views != NULL && v < count; v++) {
        huddle_points_free(&views[v].owned);
        huddle_neighbors_free(&views[v].neighbors);
        huddle_csr_free(&views[v].w);
        FREE(views[v].row, views[v].column);
    }
    huddle_free(views);
}

/* The weights that the view's graph would give the edges of new points, and what normalises and
 * weights them as those of the training points. */
static huddle_status open_view(huddle_context *context, const hd_fit *fit, int32_t v,
                               const huddle_knn_options *knn, const huddle_points *x,
                               new_view *view) {
    huddle_status status = HUDDLE_OK;
    const hd_fit_one_view *known = &fit->views.items[v];
    view->alone = hd_fit_of_view(fit, v);
    TRY(hd_step_prepare_new(context, &view->alone, x, &view->owned, &view->points));
    TRY(huddle_points_fetch(&view->points));
    TRY(hd_spectral_query_neighbors(context, &view->alone, &view->points, knn, &view->neighbors));
    TRY(hd_spectral_weigh_new(&view->neighbors, &known->graph.scale, &view->alone, &view->w));
    ALLOC_ZERO(view->row, x->n);
    ALLOC(view->column, fit->rows.n);
    for (int64_t i = 0; i < x->n; i++) {
        for (int64_t e = view->w.offsets[i]; e < view->w.offsets[i + 1]; e++)
            view->row[i] += view->w.values[e];
        view->row[i] = view->row[i] > 0 ? known->weight / sqrt(view->row[i]) : 0;
    }
    for (int64_t j = 0; j < fit->rows.n; j++)
        view->column[j] = known->degrees[j] > 0 ? 1 / sqrt(known->degrees[j]) : 0;
done:
    return status;
}

/* ---- equal rows ---------------------------------------------------------------------------- */

/* The squared distance of two rows of sparse points. */
static double sparse_square(const huddle_points *x, int64_t i, const huddle_points *y, int64_t j) {
    int64_t e = x->offsets[i], f = y->offsets[j];
    double sum = 0;
    while (e < x->offsets[i + 1] || f < y->offsets[j + 1]) {
        int32_t a = e < x->offsets[i + 1] ? x->columns[e] : INT32_MAX;
        int32_t b = f < y->offsets[j + 1] ? y->columns[f] : INT32_MAX;
        double difference =
            (a <= b ? (double)x->values[e++] : 0) - (b <= a ? (double)y->values[f++] : 0);
        sum += difference * difference;
    }
    return sum;
}

/* Whether new row i is training row j in this view, but for rounding. Rows that are equal are so in
 * their length too, whatever the metric. */
static bool is_row(const new_view *view, int64_t i, int64_t j) {
    const huddle_points *x = &view->points, *y = &view->alone.prepared.points;
    double distance = hd_spectral_same_distance(x, i), limit = distance * distance, sum = 0;
    if (x->offsets != NULL)
        return sparse_square(x, i, y, j) <= limit;
    for (int64_t k = 0; k < x->d && sum <= limit; k++) {
        double difference = hd_points_value(x, i, k) - hd_points_value(y, j, k);
        sum += difference * difference;
    }
    return sum <= limit;
}

static bool is_row_everywhere(const new_view *views, int32_t count, int64_t i, int64_t j) {
    for (int32_t v = 0; v < count; v++)
        if (!is_row(&views[v], i, j))
            return false;
    return true;
}

/* Where the nearest training row of every view is equal, one row may be that in all of them: the
 * nearest of each are tried first, and then, as views of few values have more copies than a list
 * holds, every training row. */
static int64_t find_same(const hd_fit *fit, const new_view *views, const huddle_knn_options *knn,
                         int64_t i) {
    int32_t count = fit->views.count;
    for (int32_t v = 0; v < count; v++)
        if (hd_spectral_same_row(&views[v].points, i, knn, &views[v].neighbors) < 0)
            return -1;
    for (int32_t v = 0; v < count; v++) {
        const huddle_neighbors *list = &views[v].neighbors;
        for (int64_t e = i * list->k; e < (i + 1) * list->k && list->index[e] >= 0; e++)
            if (is_row_everywhere(views, count, i, list->index[e]))
                return list->index[e];
    }
    for (int64_t j = 0; j < fit->rows.n; j++)
        if (is_row_everywhere(views, count, i, j))
            return j;
    return -1;
}

static huddle_status find_all_same(void *argument, hd_chunk chunk) {
    const same_rows *s = argument;
    for (int64_t i = chunk.begin; i < chunk.end; i++)
        s->same[i] = find_same(s->fit, s->views, s->knn, i);
    return HUDDLE_OK;
}

/* ---- the whole ----------------------------------------------------------------------------- */

/* Rows are treated independently of each other: a label does not depend on the batch. */
huddle_status hd_spectral_weigh_new_views(huddle_context *context, const hd_fit *fit,
                                          const huddle_knn_options *knn, const huddle_points *x,
                                          huddle_csr *w, int64_t *same) {
    huddle_status status = HUDDLE_OK;
    int32_t count = fit->views.count;
    new_view *views = NULL;
    huddle_csr matrices[HD_FIT_MAX_VIEWS];
    double *row[HD_FIT_MAX_VIEWS], *column[HD_FIT_MAX_VIEWS];
    ALLOC_ZERO(views, count);
    for (int32_t v = 0; v < count; v++) {
        TRY(open_view(context, fit, v, knn, &x[v], &views[v]));
        matrices[v] = views[v].w;
        row[v] = views[v].row;
        column[v] = views[v].column;
    }
    same_rows all = {fit, views, knn, same};
    TRY(hd_parallel(context, "predict", x->n, ROWS_PER_CHUNK, find_all_same, &all));
    TRY(hd_step_sum_scaled(count, matrices, row, column, w));
done:
    free_views(views, count);
    return status;
}
