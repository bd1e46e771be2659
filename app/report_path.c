/* huddle path --report: the page of a path. */
#include "output.h"
#include "report_run.h"
#include "talk.h"

#include <math.h>

static void add_summary(report_page *page, const report_walk *walk) {
    report_section *section = page_section(page, "summary", "", NULL);
    page_add(section, "walk", json_pack("{s:O}", "report", walk->report));
    json_t *warnings = json_object_get(walk->report, "warnings");
    if (json_array_size(warnings) > 0)
        page_add(section, "warnings", json_pack("{s:O}", "warnings", warnings));
}

static json_t *level_rows(const huddle_path *path) {
    json_t *rows = json_array();
    for (int32_t i = 0; i < path->n_levels; i++) {
        const huddle_path_level *level = &path->levels[i];
        json_array_append_new(rows, json_pack("[o, o, o, i, i, s]", page_real(level->gamma),
                                              page_real(level->objective), page_real(level->gap),
                                              level->n_groups, level->n_iter,
                                              huddle_stop_name(level->stop)));
    }
    return rows;
}

static void add_levels(report_page *page, const report_walk *walk) {
    static const char lead[] = "Each level is solved from the one before. The gap bounds how far "
                               "the objective can be above the optimum, relative to it.";
    json_t *columns = json_pack("[{s:s}, {s:s}, {s:s, s:s}, {s:s}, {s:s}, {s:s}]", "label", "gamma",
                                "label", "objective", "label", "gap", "type", "gap", "label",
                                "groups", "label", "iterations", "label", "ended");
    page_add(page_section(page, "levels", "Levels", lead), "table",
             json_pack("{s:o, s:o, s:i}", "columns", columns, "rows", level_rows(walk->path),
                       "marked", walk->choice.level));
}

static void add_pictures(report_page *page, report_run *run, const report_walk *walk) {
    static const char path_lead[] =
        "Below gamma_fit no point moves at all; as gamma grows, points of G flow together and fuse "
        "into groups; from the collapse on, each component of the graph is a single point.";
    static const char tree_lead[] = "Groups in the order they fuse. Two points count as fused from "
                                    "the gamma on from which they "
                                    "stay together.";
    bool chosen = walk->choice.level >= 0;
    json_t *block = path_json(run, walk->path, chosen ? walk->choice.gamma : NAN,
                              "gamma the clusters are read at");
    if (block != NULL)
        page_add(page_section(page, "path", "The path of gamma", path_lead), "path", block);
    page_add(page_section(page, "tree", "Tree of fusions", tree_lead), "tree",
             tree_json(run, walk->path));
}

int report_path(const fitting *fit, const report_walk *walk, const char *file) {
    report_run run = {
        .fit = fit, .n = walk->path->n, .labels = walk->labels, .n_clusters = walk->n_clusters};
    report_page *page = page_new(fit->source, "path of gamma");
    run_sample(&run);
    page_share(page, "points", points_json(&run));
    add_summary(page, walk);
    add_pictures(page, &run, walk);
    add_levels(page, walk);
    add_repeat(page, fit, walk->report);
    int result = write_unless_cancelled(page, file);
    page_free(page);
    run_free(&run);
    return result;
}
