/* Scatter plots of the points (X), the embedding (F) and the shrunk embedding (G): each by its
 * principal components, quantised to 16 bits. */
#include "report/arrays.h"
#include "report/run.h"

#include <math.h>
#include <string.h>

/* ---- coordinates -------------------------------------------------------------------------- */

/* huddle_points_from_double() shifts columns that float would ruin: the rows of G may differ
 * by very little once they have nearly fused. */
huddle_status report_dense_points(huddle_context *context, const huddle_dense *x,
                                  const int64_t *rows, int64_t count, huddle_points *points) {
    if (rows == NULL)
        return huddle_points_from_double(context, count, x->cols, x->values, x->stride, 1, points);
    huddle_dense taken = {0};
    huddle_status status = HUDDLE_OK;
    TRY(huddle_dense_new(count, x->cols, &taken));
    for (int64_t i = 0; i < count; i++)
        memcpy(taken.values + i * taken.stride, x->values + rows[i] * x->stride,
               (size_t)x->cols * sizeof(double));
    TRY(huddle_points_from_double(context, count, x->cols, taken.values, taken.stride, 1, points));
done:
    huddle_dense_free(&taken);
    return status;
}

/* Points with one or two coordinates are shown as they are: rotating them to principal components
 * would only confuse. A matrix has no more components than its smaller side. */
huddle_status report_fit_plane(const report_run *run, const huddle_points *x,
                               huddle_preparation *plane) {
    huddle_prepare_options options = huddle_prepare_defaults();
    int64_t rank = x->d < x->n ? x->d : x->n;
    if (x->d <= 2 && x->offsets == NULL && x->shift == NULL)
        options.prepare = (huddle_rule){"none", 0};
    else
        options.prepare =
            (huddle_rule){"pca:R", rank < MAX_COMPONENTS ? (int32_t)rank : MAX_COMPONENTS};
    huddle_status status = huddle_prepare_fit(run->context, x, &options, plane, NULL);
    plane->unit_rows = false; /* which the methods want, but a scatter plot does not */
    return status;
}

/* One span for a group of axes, the largest: plots must keep the proportions of the components. */
void report_fit_grid(report_grid *grid, const double *coords, int64_t count) {
    for (int32_t j = 0; j < grid->n_coords; j++) {
        double low = INFINITY, high = -INFINITY, *span = &grid->span[j / grid->group];
        for (int64_t i = 0; i < count; i++) {
            low = fmin(low, coords[i * grid->n_coords + j]);
            high = fmax(high, coords[i * grid->n_coords + j]);
        }
        grid->low[j] = count > 0 ? low : 0;
        *span = fmax(j % grid->group == 0 ? 0 : *span, high - low);
    }
    for (int32_t k = 0; k < grid->n_coords / grid->group; k++)
        if (!(grid->span[k] > 0))
            grid->span[k] = 1; /* all points coincide; any span will do */
}

/* Clamped, because later levels of a path may leave the grid by a rounding error. */
void report_quantise(const report_grid *grid, const double *coords, int64_t count, int32_t cols,
                     uint16_t *steps) {
    for (int64_t i = 0; i < count; i++)
        for (int32_t j = 0; j < cols; j++) {
            double value = coords[i * grid->n_coords + j];
            double step = 65535 * (value - grid->low[j]) / grid->span[j / grid->group];
            steps[i * cols + j] = (uint16_t)lrint(fmin(fmax(step, 0), 65535));
        }
}

/* cols and low have one entry per column of the plot. */
static json_t *grid_json(const report_grid *grid, int32_t cols) {
    json_t *low = json_array();
    for (int32_t j = 0; j < cols; j++)
        page_append(low, page_real(grid->low[j]));
    return json_pack("{s:i, s:o, s:o}", "cols", cols, "low", low, "span", page_real(grid->span[0]));
}

/* ---- views -------------------------------------------------------------------------------- */

/* The share of the total variance in each component; the preparation knows only the share of
 * all of them together, `kept`. Projected points have mean zero, so that the sum of squares is
 * the variance up to a factor. */
static json_t *shares_json(const huddle_points *x, double kept) {
    double variance[MAX_COMPONENTS] = {0}, total = 0;
    json_t *shares = json_array();
    for (int64_t j = 0; j < x->d && j < MAX_COMPONENTS; j++) {
        for (int64_t i = 0; i < x->n; i++)
            variance[j] += pow((double)x->values[i * x->stride + j], 2);
        total += variance[j];
    }
    for (int64_t j = 0; j < x->d && j < MAX_COMPONENTS; j++)
        page_append(shares, page_real(total > 0 ? kept * variance[j] / total : 0));
    return shares;
}

/* The sample of projected points: {cols, low, span, data}. At least two columns, because a
 * plot has two axes; one that is missing is 0. */
static huddle_status make_sample_view(const report_run *run, const huddle_points *projected,
                                      json_t **view) {
    huddle_points taken = {0};
    double *coords = NULL;
    uint16_t *steps = NULL;
    huddle_status status = HUDDLE_OK;
    TRY(huddle_points_take(projected, run->rows, run->count, &taken));
    int32_t n = taken.d < 2 ? 2 : taken.d < MAX_COMPONENTS ? (int32_t)taken.d : MAX_COMPONENTS;
    int32_t cols = run->count > MANY_POINTS ? 2 : n;
    report_grid grid = {.n_coords = n, .group = n};
    NEW(coords, run->count * n);
    NEW(steps, run->count * cols);
    for (int64_t i = 0; i < run->count; i++)
        for (int32_t j = 0; j < n && j < taken.d; j++)
            coords[i * n + j] = (double)taken.values[i * taken.stride + j];
    report_fit_grid(&grid, coords, run->count);
    report_quantise(&grid, coords, run->count, cols, steps);
    *view = grid_json(&grid, cols);
    page_set(*view, "data", page_integers(steps, (size_t)(run->count * cols), sizeof *steps));
done:
    FREE(steps, coords);
    huddle_points_free(&taken);
    return status;
}

/* {cols, low, span, data, share?, name, title} of points, for blocks.views
 * (report/page/50-points.js). The plane is fitted to all points, not to the sample: it must
 * not depend on how many are shown. */
static huddle_status make_view(const report_run *run, const char *name, const char *title,
                               const huddle_points *x, json_t **view) {
    huddle_preparation plane = {0};
    huddle_points projected = {0};
    huddle_status status = HUDDLE_OK;
    TRY(report_fit_plane(run, x, &plane));
    TRY(huddle_prepare_apply(run->context, &plane, x, &projected, NULL));
    TRY(make_sample_view(run, &projected, view));
    if (plane.projection.values != NULL)
        page_set(*view, "share", shares_json(&projected, plane.variance_kept));
    page_set(*view, "name", json_string(name));
    page_set(*view, "title", json_string(title));
done:
    huddle_points_free(&projected);
    huddle_preparation_free(&plane);
    return status;
}

/* F and G are double precision and are converted first. No view if the method has none. */
static huddle_status make_dense_view(const report_run *run, const char *name, const char *title,
                                     const huddle_array *array, json_t **view) {
    huddle_dense rows = array_dense(array);
    huddle_points points = {0};
    huddle_status status = HUDDLE_OK;
    if (array->type != HUDDLE_ARRAY_F64)
        return HUDDLE_OK;
    TRY(report_dense_points(run->context, &rows, NULL, rows.rows, &points));
    TRY(make_view(run, name, title, &points, view));
done:
    huddle_points_free(&points);
    return status;
}

/* No view if there are no points, as for a model that was given a graph. */
static huddle_status make_points_view(const report_run *run, json_t **view) {
    huddle_points x = {0};
    bool kept = report_find_points(run, &x);
    bool is_raw = strcmp(text_of(json_object_get(run->info, "prepare"), "rule"), "none") == 0;
    const char *title = kept && !is_raw ? "Points, prepared" : "Points";
    return kept || report_has_features(run) ? make_view(run, "X", title, &x, view) : HUDDLE_OK;
}

/* X, F and G in the order of the method. A view whose principal components cannot be computed, for
 * example because the values are too large, must not prevent the rest of the page: it becomes a
 * warning. Other failures (memory, cancelling) end the page. */
static huddle_status make_views(const report_run *run, json_t *views, json_t *warnings) {
    static const char *const names[] = {"X", "F", "G"};
    for (int k = 0; k < 3; k++) {
        json_t *view = NULL;
        huddle_status status =
            k == 0   ? make_points_view(run, &view)
            : k == 1 ? make_dense_view(run, "F", "Spectral embedding", &run->embedding, &view)
                     : make_dense_view(run, "G", "Shrunk embedding", &run->shrunk, &view);
        if (status == HUDDLE_OK && view != NULL)
            page_append(views, view);
        if (status == HUDDLE_OK)
            continue;
        json_decref(view);
        if (status != HUDDLE_NUMERIC && status != HUDDLE_INVALID)
            return status;
        page_append(warnings, json_sprintf("%s is not shown: %s", names[k], huddle_last_error()));
    }
    return HUDDLE_OK;
}

/* The arrays are packed with O, which takes a reference of its own, so that they are released
 * here in any case. */
huddle_status report_add_views(report_run *run) {
    json_t *views = json_array(), *warnings = json_array();
    huddle_status status = make_views(run, views, warnings);
    if (status == HUDDLE_OK && json_array_size(views) + json_array_size(warnings) > 0) {
        report_section *section = page_section(run->page, "views", "Views of the points", NULL);
        if (json_array_size(views) > 0)
            page_add(section, "views", json_pack("{s:O}", "views", views));
        if (json_array_size(warnings) > 0)
            page_add(section, "warnings", json_pack("{s:O}", "warnings", warnings));
    }
    json_decref(warnings);
    json_decref(views);
    return status;
}
