/* Several matrices that describe the same points, and the weight that each has in their common
 * graph.
 *
 * Prediction needs the prepared points of every view, the scale of its weights and the degrees by
 * which its graph was normalised; its graph itself is part of the mean and not kept. The first view
 * is prepared into the fit's own `prepared`, so that whatever concerns "the points" (medoids,
 * silhouettes, names of features) means the first one. */
#include "fit/fit.h"

#include "base/check.h"
#include "matrix/resident.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- one of them --------------------------------------------------------------------------- */

int32_t hd_fit_count_views(const hd_fit *fit) {
    return fit->views.count > 0 ? fit->views.count : 1;
}

hd_fit_prepared *hd_fit_prepared_of(hd_fit *fit, int32_t v) {
    return v == 0 ? &fit->prepared : &fit->views.items[v].prepared;
}

hd_fit hd_fit_of_view(const hd_fit *fit, int32_t v) {
    hd_fit alone = *fit;
    const hd_fit_one_view *view = &fit->views.items[v];
    alone.views = (hd_fit_views){0};
    alone.d = view->d;
    alone.graph = view->graph;
    if (v > 0)
        alone.prepared = view->prepared;
    return alone;
}

/* ---- walk ---------------------------------------------------------------------------------- */

/* The degrees have as many elements as the graph has vertices, n. */
static void walk_view(hd_walk *walk, int64_t n, hd_fit_one_view *view) {
    hd_walk_int(walk, "d", &view->d);
    hd_fit_prepared_walk(walk, view->d, &view->prepared);
    hd_fit_graph_walk(walk, "graph", &view->graph);
    hd_walk_reals(walk, "degrees", n, &view->degrees);
    hd_walk_real(walk, "weight", &view->weight);
    hd_walk_real(walk, "score", &view->score);
}

/* Files have the members of view 2 under names that begin with view_2. Models without views are
 * those of earlier versions, which do not have the number. */
static void walk_in_file(hd_walk *walk, int64_t n, hd_fit_views *views) {
    char prefix[32];
    if (walk->mode == HD_WALK_LOAD && hd_json_get(walk->values, "views") == NULL)
        return;
    if (walk->mode == HD_WALK_SAVE && views->count == 0)
        return;
    hd_walk_count(walk, "views", HD_FIT_MAX_VIEWS, &views->count);
    if (walk->mode == HD_WALK_LOAD && views->count > 0) {
        views->items = hd_alloc_zero(views->count, sizeof *views->items);
        if (views->items == NULL) {
            walk->status = hd_fail(HUDDLE_NO_MEMORY, "no memory for %d views", views->count);
            views->count = 0;
        }
    }
    for (int32_t v = 0; v < views->count && walk->status == HUDDLE_OK; v++) {
        snprintf(prefix, sizeof prefix, "view_%d", v + 1);
        walk->prefix = prefix;
        walk_view(walk, n, &views->items[v]);
        walk->prefix = NULL;
    }
}

/* A view is a block of its own, so that the walk that copies it needs both of its places. After a
 * failure the others are walked too, which sets what they share with the original to NULL. */
static void copy_views(hd_walk *walk, int64_t n, hd_fit_views *views) {
    const hd_fit_one_view *from = views->items;
    views->items = hd_walk_copy_block(walk, from, views->count, sizeof *from);
    if (views->items == NULL)
        views->count = 0;
    for (int32_t v = 0; v < views->count; v++) {
        hd_walk one = {
            .mode = HD_WALK_COPY, .status = walk->status, .from = &from[v], .to = &views->items[v]};
        walk_view(&one, n, &views->items[v]);
        walk->status = one.status;
    }
}

static void walk_views(hd_walk *walk, int64_t n, hd_fit_views *views) {
    if (walk->mode == HD_WALK_SAVE || walk->mode == HD_WALK_LOAD) {
        walk_in_file(walk, n, views);
    } else if (walk->mode == HD_WALK_COPY) {
        copy_views(walk, n, views);
    } else {
        for (int32_t v = 0; v < views->count; v++)
            walk_view(walk, n, &views->items[v]);
        huddle_free(views->items);
    }
}

/* The number of vertices, for a copy: that of a scale or of points. */
static int64_t count_rows(const hd_fit_views *views) {
    return views->count > 1 ? views->items[1].prepared.points.n : 0;
}

static void walk_shared(hd_walk *walk, hd_fit_views *views) {
    walk_views(walk, count_rows(views), views);
}

HD_FIT_COPIER(hd_fit_views, walk_shared);

static void walk_part(hd_walk *walk, hd_fit *fit) {
    walk_views(walk, fit->rows.n, &fit->views);
}

/* ---- a loaded file ------------------------------------------------------------------------- */

/* Prediction divides by degrees and multiplies by weights, and needs the points of every view. */
static huddle_status view_fits(const hd_fit *fit, int32_t v) {
    huddle_status status = HUDDLE_OK;
    const hd_fit_one_view *view = &fit->views.items[v];
    HD_FIT_REQUIRE(v == 0 ? view->d == fit->d : view->d >= 1, "view_d", view->d);
    if (v > 0)
        TRY(hd_fit_prepared_fits(&view->prepared, fit->rows.n, view->d));
    HD_FIT_REQUIRE(v == 0 || hd_points_present(&view->prepared.points), "view_points", v + 1);
    TRY(hd_fit_graph_fits("view_graph", &view->graph, &fit->rows));
    HD_FIT_REQUIRE(view->graph.scale.rule != NULL, "view_graph_scale_rule", v + 1);
    /* Not kept by fits, and its columns would be unchecked. */
    HD_FIT_REQUIRE(view->graph.matrix.offsets == NULL, "view_graph", v + 1);
    HD_FIT_REQUIRE(view->degrees != NULL, "view_degrees", v + 1);
    HD_FIT_REQUIRE(view->weight >= 0 && view->weight <= 1, "view_weight", v + 1);
done:
    return status;
}

static huddle_status views_fit(const hd_fit *fit) {
    huddle_status status = HUDDLE_OK;
    HD_FIT_REQUIRE(fit->views.count != 1, "views", fit->views.count);
    HD_FIT_REQUIRE(fit->views.count == 0 || hd_points_present(&fit->prepared.points), "points_n",
                   fit->prepared.points.n);
    for (int32_t v = 0; v < fit->views.count; v++)
        TRY(view_fits(fit, v));
done:
    return status;
}

static huddle_status check_views(const hd_fit *fit) {
    huddle_status status = HUDDLE_OK;
    for (int32_t v = 0; v < fit->views.count; v++) {
        const hd_fit_one_view *view = &fit->views.items[v];
        for (int64_t i = 0; i < fit->rows.n; i++)
            if (!(view->degrees[i] >= 0) || !isfinite(view->degrees[i]))
                return hd_walk_misfit("view_degrees", i);
        if (v > 0)
            TRY(hd_fit_prepared_check(&view->prepared, view->d, false));
    }
done:
    return status;
}

/* ---- JSON ---------------------------------------------------------------------------------- */

/* The preparation of the first view is also that of the fit. */
static void write_views(const hd_fit *fit, hd_json_writer *json) {
    if (fit->views.count == 0)
        return;
    hd_json_set_array(json, "views");
    for (int32_t v = 0; v < fit->views.count; v++) {
        const hd_fit_one_view *view = &fit->views.items[v];
        hd_json_open_object(json);
        hd_json_set_integer(json, "d", view->d);
        hd_json_set_real(json, "weight", view->weight);
        hd_json_set_real(json, "score", view->score);
        hd_fit_prepared_write(v == 0 ? &fit->prepared : &view->prepared, json);
        hd_json_set_integer(json, "components", view->graph.connect.after);
        hd_json_set_integer(json, "bridges", view->graph.connect.bridges);
        hd_json_close_object(json);
    }
    hd_json_close_array(json);
}

const hd_fit_part hd_fit_part_views = {
    .walk = walk_part, .fits = views_fit, .check = check_views, .write_json = write_views};
