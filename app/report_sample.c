#include "report_sample.h"

#include "output.h"
#include "report/page.h"
#include "talk.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- the sample --------------------------------------------------------------------------- */

/* splitmix64: any fixed stream will do, the page only must be the same each time. */
static uint64_t next_random(uint64_t *state) {
    uint64_t z = *state += 0x9E3779B97F4A7C15u;
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9u;
    z = (z ^ z >> 27) * 0x94D049BB133111EBu;
    return z ^ z >> 31;
}

static int64_t *random_order(int64_t n) {
    int64_t *order = must(malloc((size_t)(n + 1) * sizeof *order));
    uint64_t state = 0;
    for (int64_t i = 0; i < n; i++) {
        int64_t j = (int64_t)(next_random(&state) % (uint64_t)(i + 1));
        order[i] = order[j];
        order[j] = i;
    }
    return order;
}

/* Moves to the front those that are among the first of their cluster, so that the smallest
 * cluster is seen too. */
static void favour_small_clusters(const report_run *run, int64_t *order) {
    enum { LEAST = 8 };
    int64_t n = run->n, front = 0, back = 0;
    int64_t *seen = must(calloc((size_t)run->n_clusters + 1, sizeof *seen));
    int64_t *rest = must(malloc((size_t)(n + 1) * sizeof *rest));
    for (int64_t i = 0; i < n; i++)
        if (seen[run->labels[order[i]]]++ < LEAST)
            order[front++] = order[i];
        else
            rest[back++] = order[i];
    memcpy(order + front, rest, (size_t)back * sizeof *rest);
    free(rest);
    free(seen);
}

void run_sample(report_run *run) {
    run->rows = random_order(run->n);
    run->count = run->n < VIEW_POINTS ? run->n : VIEW_POINTS;
    favour_small_clusters(run, run->rows);
}

void run_free(report_run *run) {
    free(run->rows);
    huddle_preparation_free(&run->plane);
}

static json_t *sampled_int32(const report_run *run, const int32_t *values) {
    int32_t *taken = must(malloc((size_t)(run->count + 1) * sizeof *taken));
    for (int64_t i = 0; i < run->count; i++)
        taken[i] = values == NULL ? (int32_t)run->rows[i] : values[run->rows[i]];
    json_t *made = page_int32(taken, (size_t)run->count);
    free(taken);
    return made;
}

json_t *points_json(const report_run *run) {
    const huddle_data *data = &run->fit->data;
    json_t *points =
        json_pack("{s:I, s:I, s:i, s:i, s:o, s:o}", "total", (json_int_t)run->n, "count",
                  (json_int_t)run->count, "path", PATH_POINTS, "clusters", run->n_clusters, "index",
                  sampled_int32(run, NULL), "label", sampled_int32(run, run->labels));
    if (data->labels != NULL) {
        json_t *classes = json_array();
        for (int32_t i = 0; i < data->n_classes; i++)
            json_array_append_new(classes, text_json(data->classes[i]));
        json_object_set_new(points, "class", sampled_int32(run, data->labels));
        json_object_set_new(points, "classes", classes);
    }
    if (has_images(run))
        json_object_set_new(points, "thumbs", thumbs_json(run));
    return points;
}

/* ---- coordinates -------------------------------------------------------------------------- */

enum { MOST_COMPONENTS = 6 };

huddle_status dense_points(huddle_context *context, const huddle_dense *x, const int64_t *rows,
                           int64_t count, huddle_points *points) {
    if (rows == NULL)
        return huddle_points_from_double(context, count, x->cols, x->values, x->stride, 1, points);
    huddle_dense taken = {0};
    huddle_status status = huddle_dense_new(count, x->cols, &taken);
    for (int64_t i = 0; i < count && status == HUDDLE_OK; i++)
        memcpy(taken.values + i * taken.stride, x->values + rows[i] * x->stride,
               (size_t)x->cols * sizeof(double));
    if (status == HUDDLE_OK)
        status = huddle_points_from_double(context, count, x->cols, taken.values, taken.stride, 1,
                                           points);
    huddle_dense_free(&taken);
    return status;
}

/* Points that already lie in the plane, or in a line, are shown as they are. */
static bool is_plane(const huddle_points *x) {
    return x->d <= 2 && x->offsets == NULL && x->shift == NULL;
}

huddle_status fit_plane(const report_run *run, const huddle_points *x, huddle_preparation *plane) {
    huddle_prepare_options options = huddle_prepare_defaults();
    int64_t rank = x->d < x->n ? x->d : x->n;
    json_t *unheard = json_array(); /* that there are fewer components is no news here */
    if (is_plane(x))
        options.prepare = (huddle_rule){"none", 0};
    else
        options.prepare =
            (huddle_rule){"pca:R", rank < MOST_COMPONENTS ? (int32_t)rank : MOST_COMPONENTS};
    talk_collect(unheard);
    huddle_status status = huddle_prepare_fit(run->fit->context, x, &options, plane, NULL);
    talk_collect(NULL);
    json_decref(unheard);
    plane->unit_rows = false;
    return status;
}

number_grid grid_of(const huddle_points *x) {
    number_grid grid = {.span = 0};
    for (int64_t j = 0; j < x->d && j < MOST_COMPONENTS; j++) {
        double low = INFINITY, high = -INFINITY;
        for (int64_t i = 0; i < x->n; i++) {
            low = fmin(low, (double)x->values[i * x->stride + j]);
            high = fmax(high, (double)x->values[i * x->stride + j]);
        }
        grid.low[j] = x->n > 0 ? low : 0;
        grid.span = fmax(grid.span, high - low);
    }
    if (!(grid.span > 0))
        grid.span = 1;
    return grid;
}

void grid_put(const number_grid *grid, const huddle_points *x, int32_t cols, uint16_t *out) {
    for (int64_t i = 0; i < x->n; i++)
        for (int32_t j = 0; j < cols; j++) {
            double value = j < x->d ? (double)x->values[i * x->stride + j] : grid->low[j];
            double step = 65535 * (value - grid->low[j]) / grid->span;
            out[i * cols + j] = (uint16_t)lrint(fmin(fmax(step, 0), 65535));
        }
}

json_t *grid_json(const number_grid *grid, int32_t cols) {
    json_t *low = json_array();
    for (int32_t j = 0; j < cols; j++)
        json_array_append_new(low, page_real(grid->low[j]));
    return json_pack("{s:i, s:o, s:o}", "cols", cols, "low", low, "span", page_real(grid->span));
}

/* The share of the total variance in each component; the plane knows that of all together. */
static json_t *shares_json(const huddle_points *x, double kept) {
    double variance[MOST_COMPONENTS] = {0}, total = 0;
    json_t *shares = json_array();
    for (int64_t j = 0; j < x->d && j < MOST_COMPONENTS; j++) {
        for (int64_t i = 0; i < x->n; i++)
            variance[j] += pow((double)x->values[i * x->stride + j], 2);
        total += variance[j];
    }
    for (int64_t j = 0; j < x->d && j < MOST_COMPONENTS; j++)
        json_array_append_new(shares, page_real(total > 0 ? kept * variance[j] / total : 0));
    return shares;
}

static json_t *placed_json(const report_run *run, const huddle_points *placed) {
    huddle_points taken = {0};
    json_t *view = NULL;
    if (huddle_points_take(placed, run->rows, run->count, &taken) == HUDDLE_OK) {
        int32_t cols = taken.d < 2                 ? 2
                       : taken.d < MOST_COMPONENTS ? (int32_t)taken.d
                                                   : MOST_COMPONENTS;
        number_grid grid = grid_of(&taken);
        size_t count = (size_t)run->count * (size_t)cols;
        uint16_t *steps = must(malloc((count + 1) * sizeof *steps));
        grid_put(&grid, &taken, cols, steps);
        view = grid_json(&grid, cols);
        json_object_set_new(view, "data", page_uint16(steps, count));
        free(steps);
    }
    huddle_points_free(&taken);
    return view;
}

static json_t *planar_json(const report_run *run, const huddle_points *x,
                           const huddle_preparation *plane) {
    huddle_points placed = {0};
    json_t *view = NULL;
    if (huddle_prepare_apply(run->fit->context, plane, x, &placed, NULL) == HUDDLE_OK) {
        view = placed_json(run, &placed);
        if (view != NULL && plane->projection.values != NULL)
            json_object_set_new(view, "share", shares_json(&placed, plane->variance_kept));
    }
    huddle_points_free(&placed);
    return view;
}

static json_t *named(json_t *view, const char *name, const char *title) {
    if (view == NULL)
        return NULL;
    json_object_set_new(view, "name", json_string(name));
    json_object_set_new(view, "title", json_string(title));
    return view;
}

json_t *view_json(const report_run *run, const char *name, const char *title,
                  const huddle_points *x) {
    huddle_preparation plane = {0};
    json_t *view = NULL;
    if (fit_plane(run, x, &plane) == HUDDLE_OK)
        view = planar_json(run, x, &plane);
    huddle_preparation_free(&plane);
    return named(view, name, title);
}

json_t *dense_view_json(report_run *run, const char *name, const char *title,
                        const huddle_dense *x) {
    huddle_points points = {0};
    json_t *view = NULL;
    if (dense_points(run->fit->context, x, NULL, x->rows, &points) == HUDDLE_OK)
        view = view_json(run, name, title, &points);
    huddle_points_free(&points);
    return view;
}
