/* The path of gamma on a page: G at every level, the number of groups and the tree of fusions. */
#include "report/arrays.h"
#include "report/run.h"

#include <math.h>
#include <string.h>

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

/* ---- following the path ------------------------------------------------------------------- */

/* Levels to follow; fewer where each takes long. */
enum { LEVELS = 24, FEW_LEVELS = 12, SLOW_POINTS = 20000 };

/* Relative duality gap of each level: far below what a plot can show, and quickly reached. */
static const double picture_gap = 1e-3;

/* Maximum size in bytes of the rows of G of all levels together. */
static const double max_path_bytes = 1e9;

/* Values of gamma evenly spaced in log gamma between both ends, with the one used among them
 * so that the page can stop exactly there. Returns how many, at most levels + 1. A value that
 * coincides with the one used is not added twice. */
static int32_t space_gammas(double low, double high, double used, int32_t levels, double *gammas) {
    int32_t count = 0;
    /* The gamma of the run is a level of its own, so that the page can show the very G of the
     * result. */
    bool placed = !(used > 0);
    if (used > 0) {
        low = fmin(low, used);
        high = fmax(high, used);
    }
    for (int32_t i = 0; i < levels; i++) {
        double gamma = low * pow(high / low, (double)i / (levels - 1));
        if (!placed && gamma >= used * (1 - 1e-9)) {
            gammas[count++] = used;
            placed = true;
            if (gamma <= used * (1 + 1e-9))
                continue;
        }
        gammas[count++] = gamma;
    }
    return count;
}

/* Solves the shrink problem of the model's F and W for a range of gamma, with the loss of the
 * fit. The path stays empty if no edge pulls at any gamma. Every level starts from the
 * solution of the one before, so that the whole path costs little more than a few single
 * solutions. */
static huddle_status solve_path(const report_run *run, double used, huddle_path *path) {
    huddle_dense f = array_dense(&run->embedding);
    huddle_csr w = array_csr(&run->shrink_graph);
    huddle_path_options options = huddle_path_defaults();
    const json_t *loss = json_object_get(json_object_get(run->info, "shrink"), "loss");
    double gammas[LEVELS + 1], low = 0, high = 0, mean_size = (double)f.rows / (double)f.cols;
    if (json_is_string(loss))
        options.shrink.loss = json_string_value(loss);
    options.shrink.gap = picture_gap;
    options.shrink.n_clusters = run->n_clusters;
    options.keep_shrunk = true;
    huddle_status status =
        huddle_shrink_ends(run->context, &f, &w, NULL, options.shrink.loss, &low, &high);
    if (status != HUDDLE_OK || !(high > 0) || !isfinite(low))
        return status;
    /* The same ends as huddle_shrink_path() chooses: beyond 1e3 n / c nothing changes visibly, and
     * with the loss "l2" there is no exact fit at any positive gamma. */
    high = fmin(high, 1e3 * mean_size);
    low = low > 0 ? fmin(low, high / 10) : 1e-4 * high;
    options.n_gamma =
        space_gammas(low, high, used, f.rows > SLOW_POINTS ? FEW_LEVELS : LEVELS, gammas);
    options.gammas = gammas;
    return huddle_shrink_path(run->context, &f, &w, &options, path);
}

/* Puts the result of the run in the place of the level of its gamma, which was solved less exactly
 * for the picture: the page must show the G and the numbers of the run. */
static void use_result(const report_run *run, double used, huddle_path *path) {
    const json_t *shrink = json_object_get(run->info, "shrink");
    const huddle_array *g = &run->shrunk;
    for (int32_t l = 0; l < path->n_levels; l++) {
        huddle_path_level *level = &path->levels[l];
        huddle_dense *own = &path->shrunk[l];
        if (fabs(level->gamma - used) > 1e-9 * used || g->type != HUDDLE_ARRAY_F64 ||
            g->rows != own->rows || g->cols != own->cols)
            continue;
        for (int64_t i = 0; i < own->rows; i++)
            memcpy(own->values + i * own->stride, (const double *)g->values + i * g->stride,
                   (size_t)own->cols * sizeof(double));
        level->objective = report_number(shrink, "objective");
        level->dual = report_number(shrink, "dual");
        level->gap = report_number(shrink, "gap");
        level->n_groups = (int32_t)json_integer_value(json_object_get(shrink, "groups"));
        level->n_iter = (int32_t)json_integer_value(json_object_get(shrink, "n_iter"));
    }
}

/* A report must not need more memory than the fit: very large paths are replaced by a
 * sentence. huddle_shrink_path() reports progress and can be cancelled. */
huddle_status report_follow_path(report_run *run) {
    static const char lead[] =
        "The shrink step has one parameter, gamma. Up to gamma_fit the points of G are those of F. "
        "As gamma grows they move together and fuse into groups, until each component of the graph "
        "is a single point.";
    const huddle_array *f = &run->embedding;
    /* NAN for a method that does not shrink. */
    double used = report_number(json_object_get(run->info, "shrink"), "gamma");
    huddle_path path = {0};
    huddle_status status = HUDDLE_OK;
    if (f->type != HUDDLE_ARRAY_F64 || run->shrink_graph.type != HUDDLE_ARRAY_CSR)
        return HUDDLE_OK;
    if ((double)f->rows * (double)f->cols * (LEVELS + 1) * sizeof(double) >= max_path_bytes) {
        page_add(page_section(run->page, "path", "Regularisation path", NULL), "text",
                 json_pack("{s:s}", "html",
                           "<p>Not shown: the path of so many points would take more than 1 GB of "
                           "memory.</p>"));
        return HUDDLE_OK;
    }
    TRY(solve_path(run, used, &path));
    use_result(run, used, &path);
    if (path.n_levels > 1)
        TRY(report_add_path(run, &path, used, "this run", lead));
done:
    huddle_path_free(&path);
    return status;
}
