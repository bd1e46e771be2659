/* The path of gamma on a page: G at every level, the number of groups and the tree of fusions. */
#include "report/run.h"

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
