/* The path of gamma on a page: the rows of G as points that move, and the number of groups. */
#include "report/arrays.h"
#include "report/run.h"

#include <stdlib.h>

/* ---- points that move --------------------------------------------------------------------- */

/* The principal components of F. They serve all levels, so that between two levels only G
 * moves, not the point of view. */
static huddle_status fit_embedding_plane(const report_run *run, huddle_preparation *plane) {
    huddle_points points = {0};
    huddle_status status = HUDDLE_OK;
    huddle_dense rows = array_dense(&run->embedding);
    TRY(report_dense_points(run->context, &rows, NULL, rows.rows, &points));
    TRY(report_fit_plane(run, &points, plane));
done:
    huddle_points_free(&points);
    return status;
}

/* The given rows of G in the plane. */
static huddle_status project_level(const report_run *run, const huddle_preparation *plane,
                                   const huddle_dense *g, const int64_t *rows, int64_t count,
                                   huddle_points *projected) {
    huddle_points taken = {0};
    huddle_status status = HUDDLE_OK;
    TRY(report_dense_points(run->context, g, rows, count, &taken));
    TRY(huddle_prepare_apply(run->context, plane, &taken, projected, NULL));
done:
    huddle_points_free(&taken);
    return status;
}

/* Quantised coordinates of every level in turn. The grid is that of the first level: there G
 * is nearest to F and has its largest extent, and shrinking only moves points towards each
 * other. */
static huddle_status quantise_levels(const report_run *run, const report_levels *path,
                                     const huddle_preparation *plane, int64_t count, int32_t cols,
                                     report_grid *grid, uint16_t *steps) {
    huddle_points projected = {0};
    huddle_status status = HUDDLE_OK;
    for (int32_t l = 0; l < path->n_levels; l++) {
        TRY(project_level(run, plane, &path->shrunk[l], path->rows, count, &projected));
        if (l == 0)
            *grid = report_grid_of(&projected);
        report_grid_quantise(grid, &projected, cols, steps + count * cols * l);
        huddle_points_free(&projected);
    }
done:
    huddle_points_free(&projected);
    return status;
}

/* Any beginning of the sample is a sample too. */
int64_t report_moving_points(const report_run *run) {
    return run->count < MAX_PATH_POINTS ? run->count : MAX_PATH_POINTS;
}

/* {cols, low, span, count, data} for blocks.path (report/page/50-points.js), which
 * interpolates between levels while the slider moves. As many columns as the plane has, but an
 * even number, because the page shows them in pairs. data is level after level, point after
 * point, in 16 bits: a factor of four smaller than doubles, and finer than any screen. */
static huddle_status make_moves(const report_run *run, const report_levels *path, json_t **moves) {
    int64_t count = report_moving_points(run);
    huddle_preparation plane = {0};
    report_grid grid = {.span = 1};
    uint16_t *steps = NULL;
    huddle_status status = HUDDLE_OK;
    TRY(fit_embedding_plane(run, &plane));
    int32_t cols = plane.d_out < 4 ? 2 : (int32_t)plane.d_out / 2 * 2;
    size_t size = (size_t)(count * cols) * (size_t)path->n_levels;
    steps = malloc((size + 1) * sizeof *steps);
    if (steps == NULL) {
        status = report_no_memory();
        goto done;
    }
    TRY(quantise_levels(run, path, &plane, count, cols, &grid, steps));
    *moves = report_grid_json(&grid, cols);
    page_set(*moves, "count", json_integer((json_int_t)count));
    page_set(*moves, "data", page_uint16(steps, size));
done:
    free(steps);
    huddle_preparation_free(&plane);
    return status;
}

/* The same members as the tool's --json, without the dual bound. */
json_t *report_levels_json(const huddle_path_level *list, int32_t count) {
    json_t *levels = json_array();
    for (int32_t i = 0; i < count; i++) {
        const huddle_path_level *level = &list[i];
        page_append(levels,
                    json_pack("{s:o, s:o, s:o, s:o, s:i, s:i, s:s}", "gamma",
                              page_real(level->gamma), "objective", page_real(level->objective),
                              "dual", page_real(level->dual), "gap", page_real(level->gap),
                              "groups", level->n_groups, "n_iter", level->n_iter, "stop",
                              huddle_stop_name(level->stop)));
    }
    return levels;
}

/* Without G of every level there is nothing to animate, and the section is left out.
 * mean_size, n / c, is the default gamma, which the page marks for comparison. */
huddle_status report_add_path(report_run *run, const report_levels *path, double used,
                              const char *used_label, const char *lead) {
    json_t *moves = NULL;
    if (path->shrunk == NULL || run->embedding.type != HUDDLE_ARRAY_F64)
        return HUDDLE_OK;
    huddle_status status = make_moves(run, path, &moves);
    if (status != HUDDLE_OK)
        return status;
    double mean_size = (double)run->n / (run->n_clusters > 0 ? run->n_clusters : 1);
    report_section *section = page_section(run->page, "path", "Regularisation path", lead);
    page_add(section, "path",
             json_pack("{s:o, s:o, s:o, s:o, s:o, s:s, s:o}", "moves", moves, "levels",
                       report_levels_json(path->levels, path->n_levels), "gamma_fit",
                       page_real(path->gamma_fit), "gamma_up", page_real(path->gamma_up), "used",
                       page_real(used), "used_label", used_label, "mean_size",
                       page_real(mean_size)));
    if (path->note[0] != '\0')
        page_add(section, "note", json_pack("{s:s}", "text", path->note));
    return HUDDLE_OK;
}
