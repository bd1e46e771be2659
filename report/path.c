/* The path of gamma on a page: G at every level, the number of groups and the tree of fusions; and
 * the page of a path. */
#include "report/run.h"
#include "report/write.h"

#include <math.h>

/* The same members as the tool's --json, without the dual bound. */
json_t *report_levels_json(const huddle_path *path) {
    json_t *levels = json_array();
    for (int32_t i = 0; i < path->n_levels; i++) {
        const huddle_path_level *level = &path->levels[i];
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
huddle_status report_add_path(report_run *run, const huddle_path *path, double used,
                              const char *used_label, const char *lead) {
    json_t *moves = NULL;
    if (path->shrunk == NULL || run->embedding.type != HUDDLE_ARRAY_F64)
        return HUDDLE_OK;
    huddle_status status = report_moves_json(run, path->shrunk, path->n_levels, &moves);
    if (status != HUDDLE_OK)
        return status;
    double mean_size = (double)run->n / (run->n_clusters > 0 ? run->n_clusters : 1);
    report_section *section = page_section(run->page, "path", "Regularisation path", lead);
    page_add(section, "path",
             json_pack("{s:o, s:o, s:o, s:o, s:o, s:s, s:o}", "moves", moves, "levels",
                       report_levels_json(path), "gamma_fit", page_real(path->gamma_fit),
                       "gamma_up", page_real(path->gamma_up), "used", page_real(used), "used_label",
                       used_label, "mean_size", page_real(mean_size)));
    page_add(section, "tree", report_tree_json(run, path));
    run->has_path = true;
    return HUDDLE_OK;
}

/* ---- the page of a path ------------------------------------------------------------------- */

/* What follows in the model's info is about a fit whose labels are not used. */
json_t *huddle_report_path_info(const json_t *model_info, const huddle_report_walk *walk) {
    static const char *const kept[] = {"file",  "n",         "d",      "graph",
                                       "embed", "n_classes", "scores", "warnings"};
    double total = number_of(json_object_get(model_info, "seconds"), "total");
    unsigned long failures = page_failures();
    json_t *info = json_object();
    for (size_t i = 0; i < sizeof kept / sizeof *kept; i++)
        if (json_object_get(model_info, kept[i]) != NULL)
            page_set(info, kept[i], json_incref(json_object_get(model_info, kept[i])));
    page_set(
        info, "seconds",
        json_pack("{s:f, s:o}", "path", walk->seconds, "total", page_real(total + walk->seconds)));
    page_set(info, "n_clusters", json_integer(walk->n_clusters));
    page_set(info, "gamma_fit", page_real(walk->path->gamma_fit));
    page_set(info, "gamma_up", page_real(walk->path->gamma_up));
    page_set(info, "levels", report_levels_json(walk->path));
    page_set(info, "fusions", json_integer((json_int_t)walk->path->n_fusions));
    page_set(info, "choice",
             json_pack("{s:i, s:o, s:i}", "level", walk->choice.level, "gamma",
                       page_real(walk->choice.gamma), "n_found", walk->choice.n_found));
    if (page_failures() == failures)
        return info;
    json_decref(info);
    return NULL;
}

/* The facts at the top are drawn by the page itself, from the info. */
static void add_summary(report_run *run) {
    report_section *section = page_section(run->page, "summary", "", NULL);
    page_add(section, "walk", json_pack("{s:O}", "report", run->info));
    report_add_warnings(run, section);
}

/* One row per gamma, in the order of the columns below. */
static json_t *level_rows(const huddle_path *path) {
    json_t *rows = json_array();
    for (int32_t i = 0; i < path->n_levels; i++) {
        const huddle_path_level *level = &path->levels[i];
        page_append(rows, json_pack("[o, o, o, i, i, s]", page_real(level->gamma),
                                    page_real(level->objective), page_real(level->gap),
                                    level->n_groups, level->n_iter, huddle_stop_name(level->stop)));
    }
    return rows;
}

/* A column's type decides how the general table (30-blocks.js) shows its numbers; "marked" is
 * the row of the chosen level, or -1. */
static void add_levels(report_run *run, const huddle_report_walk *walk) {
    static const char lead[] =
        "Each level starts from the solution of the one before. The gap is a bound on the relative "
        "distance of the objective from the optimum.";
    json_t *columns = json_pack("[{s:s}, {s:s}, {s:s, s:s}, {s:s}, {s:s}, {s:s}]", "label", "gamma",
                                "label", "objective", "label", "gap", "type", "gap", "label",
                                "groups", "label", "iterations", "label", "stop");
    page_add(page_section(run->page, "levels", "Levels", lead), "table",
             json_pack("{s:o, s:o, s:i}", "columns", columns, "rows", level_rows(walk->path),
                       "marked", walk->choice.level));
}

/* The labels index arrays of n_clusters counts later, so they are checked here, at the public
 * boundary. */
huddle_status report_check_walk(const huddle_report_walk *walk, const huddle_model *model) {
    int64_t n = 0;
    if (walk == NULL || walk->path == NULL || walk->labels == NULL)
        return set_error(HUDDLE_INVALID, "a report of a path needs the path and its labels");
    (void)huddle_model_labels(model, &n);
    if (walk->path->n != n)
        return set_error(HUDDLE_INVALID, "a path of %lld points, but the model was fitted to %lld",
                         (long long)walk->path->n, (long long)n);
    return report_check_labels("label", n, walk->labels, walk->n_clusters);
}

/* The same order as for a clustering: results, how they came about, how to repeat them. */
huddle_status report_fill_walk(report_run *run, const huddle_report_walk *walk) {
    /* The path covers every gamma and takes no labels from K-means, so these options had no
     * effect. */
    static const char *const hidden[] = {"gamma", "n_init", NULL};
    static const char lead[] =
        "Up to gamma_fit the points of G are those of F. As gamma grows they move together and "
        "fuse into groups, until each component of the graph is a single point.";
    /* NAN marks no gamma: the labels do not come from a single level then. */
    double used = walk->choice.level >= 0 ? walk->choice.gamma : NAN;
    huddle_status status = HUDDLE_OK;
    page_share(run->page, "points", report_points_json(run));
    add_summary(run);
    TRY(report_add_path(run, walk->path, used, "the clusters", lead));
    add_levels(run, walk);
    report_add_repeat(run, hidden);
done:
    return status;
}

huddle_status huddle_report_write_path(huddle_context *context, const huddle_model *model,
                                       const huddle_points *x, const huddle_report_walk *walk,
                                       const huddle_report_options *options, const char *path) {
    return walk == NULL ? report_check_walk(walk, model)
                        : huddle_report_write_info(context, model, x, walk, options, NULL, path);
}

huddle_status huddle_report_path_json(const huddle_model *model, const huddle_report_walk *walk,
                                      char **json) {
    huddle_status status = HUDDLE_OK;
    json_t *own = NULL, *info = NULL;
    *json = NULL;
    if (model == NULL || huddle_model_labels(model, NULL) == NULL)
        return set_error(HUDDLE_INVALID, "the model is not fitted");
    TRY(report_check_walk(walk, model));
    TRY(model_info(model, &own));
    info = huddle_report_path_info(own, walk);
    *json = json_dumps(info, 0);
    status = *json == NULL ? report_no_memory() : HUDDLE_OK;
done:
    json_decref(info);
    json_decref(own);
    return status;
}
