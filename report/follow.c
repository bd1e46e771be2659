/* Follows the path of gamma for the page of a clustering.
 *
 * Up to MAX_WHOLE_ROWS rows every level is solved on all of them, from the solution before. For
 * more rows the levels are solved on aggregates (huddle_shrink_path_coarse), apart from both that
 * are known: G = F at gamma_fit, and G of the fit at its own gamma. Either way the gap of a level
 * is proven for all rows; levels without a good proof are not shown. */
#include "report/arrays.h"
#include "report/run.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Levels to follow: more where each is quick. */
enum { LEVELS = 24, FEW_LEVELS = 10, MAX_WHOLE_ROWS = 10000 };

/* Relative duality gap of each level: far below what a plot can show, and quickly reached. */
static const double picture_gap = 1e-3;

/* Levels on aggregates are shown if they are proven within this gap on all rows. They begin at this
 * share of n / c: below it rows are still single, and aggregates would be wrong. */
static const double max_gap = .05, first_share = 1. / 4;

/* Maximum size in bytes of what a path takes, and what each edge takes besides a row of numbers. */
static const double max_path_bytes = 1e9, edge_bytes = 40;

/* A path that is being followed. */
typedef struct gamma_path {
    report_run *run;
    huddle_context *context; /* of the solver: its progress becomes that of the page. NULL if the
                                page has none */
    huddle_dense f;
    huddle_csr w;
    const char *loss;
    double used; /* gamma of the fit, or NAN */
    double gamma_fit, gamma_up;
    double gammas[LEVELS + 2];
    int32_t n_gammas, at; /* to solve, and which one is being solved */
    int32_t aggregates;   /* 0: levels are solved on all rows */
} gamma_path;

/* ---- progress ----------------------------------------------------------------------------- */

/* "page: level 4 of 12", with the share of the level that is done. */
static huddle_status report_level(const gamma_path *path, double share) {
    char stage[40];
    snprintf(stage, sizeof stage, "page: level %d of %d", path->at + 1, path->n_gammas);
    return huddle_context_progress(path->run->context, stage, path->at + share, path->n_gammas);
}

/* Progress of the solver: of the levels ("path"), or within a level ("shrink"). Cancels it if the
 * page is cancelled. */
static int on_solver(void *user, const char *stage, double done, double total) {
    gamma_path *path = user;
    double share = total > 0 && strcmp(stage, "shrink") == 0 ? done / total : 0;
    if (strcmp(stage, "path") == 0 && done < path->n_gammas)
        path->at = (int32_t)done;
    return report_level(path, fmin(fmax(share, 0), .99)) != HUDDLE_OK;
}

static void drop_message(void *user, huddle_log_level level, huddle_warning_code code,
                         const char *text) {
    (void)user, (void)level, (void)code, (void)text; /* the page shows the gap of every level */
}

/* A context of its own, which computes on the CPU with the threads of the page's. */
static huddle_status open_context(gamma_path *path) {
    huddle_context *outer = path->run->context;
    huddle_status status = HUDDLE_OK;
    if (outer == NULL)
        return HUDDLE_OK;
    TRY(huddle_context_new(&path->context));
    TRY(huddle_context_set_threads(path->context, huddle_context_threads(outer)));
    huddle_context_set_log(path->context, drop_message, NULL);
    huddle_context_set_progress(path->context, on_solver, path);
done:
    return status;
}

/* ---- levels ------------------------------------------------------------------------------- */

/* Values of gamma evenly spaced in log gamma between both ends, with the one used among them
 * so that the page can stop exactly there. A value that coincides with the one used is not added
 * twice. */
static void space_gammas(gamma_path *path, double low, double high, int32_t levels) {
    double used = path->used;
    bool placed = !(used > 0);
    if (used > 0) {
        low = fmin(low, used);
        high = fmax(high, used);
    }
    for (int32_t i = 0; i < levels; i++) {
        double gamma = low * pow(high / low, (double)i / (levels - 1));
        if (!placed && gamma >= used * (1 - 1e-9)) {
            path->gammas[path->n_gammas++] = used;
            placed = true;
            if (gamma <= used * (1 + 1e-9))
                continue;
        }
        path->gammas[path->n_gammas++] = gamma;
    }
}

static huddle_path_options path_options(const gamma_path *path) {
    huddle_path_options options = huddle_path_defaults();
    options.shrink.loss = path->loss;
    options.shrink.gap = picture_gap;
    options.shrink.n_clusters = path->run->n_clusters;
    options.keep_shrunk = true;
    options.gammas = path->gammas;
    options.n_gamma = path->n_gammas;
    return options;
}

/* ---- levels of many rows ------------------------------------------------------------------ */

/* Levels that need not be solved on aggregates: at gamma_fit, and of the fit. */
typedef struct known_levels {
    huddle_path_level levels[2];
    huddle_dense shrunk[2];
    int32_t count;
} known_levels;

/* At gamma_fit G = F, which huddle_shrink() finds without an iteration. */
static huddle_status solve_fit(const gamma_path *path, huddle_shrunk *shrunk, known_levels *known) {
    huddle_status status = HUDDLE_OK;
    huddle_shrink_options options = huddle_shrink_defaults();
    huddle_shrink_info info = {0};
    options.gamma = path->gamma_fit;
    options.gap = picture_gap;
    options.loss = path->loss;
    TRY(huddle_shrink(path->context, &path->f, &path->w, &options, shrunk, &info));
    known->shrunk[known->count] = shrunk->g;
    known->levels[known->count++] =
        (huddle_path_level){path->gamma_fit, info.objective, info.dual, info.gap,
                            info.n_groups,   info.n_iter,    info.stop};
done:
    huddle_shrink_info_free(&info);
    return status;
}

static int32_t json_int32(const json_t *object, const char *name) {
    return (int32_t)json_integer_value(json_object_get(object, name));
}

/* The numbers of the fit as a level. */
static huddle_path_level level_of_fit(const gamma_path *path, double gamma, huddle_stop stop) {
    const json_t *shrink = json_object_get(path->run->info, "shrink");
    return (huddle_path_level){.gamma = gamma,
                               .objective = number_of(shrink, "objective"),
                               .dual = number_of(shrink, "dual"),
                               .gap = number_of(shrink, "gap"),
                               .n_groups = json_int32(shrink, "groups"),
                               .n_iter = json_int32(shrink, "n_iter"),
                               .stop = stop};
}

/* The level of the fit, with its own certificate. Not if the fit solved another problem than that
 * of all rows, such as one of distinct rows. */
static huddle_status reuse_fit(const gamma_path *path, known_levels *known) {
    const char *stop = text_of(json_object_get(path->run->info, "shrink"), "stop");
    huddle_path_level level = level_of_fit(path, path->used, HUDDLE_STOP_CONVERGED);
    const huddle_array *shrunk = &path->run->shrunk;
    double objective;
    if (!(path->used > 0) || shrunk->type != HUDDLE_ARRAY_F64 || shrunk->rows != path->f.rows ||
        shrunk->cols != path->f.cols || stop[0] == '\0')
        return HUDDLE_OK;
    huddle_dense g = array_dense(shrunk);
    huddle_status status =
        huddle_shrink_certificate(path->context, &path->f, &path->w, NULL, path->used, path->loss,
                                  &g, NULL, &objective, NULL);
    if (status != HUDDLE_OK || !(fabs(objective - level.objective) <= 1e-6 * objective))
        return status;
    while (level.stop < HUDDLE_STOP_ROUNDING && strcmp(huddle_stop_name(level.stop), stop) != 0)
        level.stop++;
    known->shrunk[known->count] = g;
    known->levels[known->count++] = level;
    return HUDDLE_OK;
}

static huddle_status follow_many(gamma_path *path, huddle_path *whole) {
    huddle_status status = HUDDLE_OK;
    huddle_path_options options = path_options(path);
    huddle_shrunk fit = {0};
    known_levels known = {0};
    TRY(report_level(path, 0));
    if (path->gammas[0] == path->gamma_fit)
        TRY(solve_fit(path, &fit, &known));
    TRY(reuse_fit(path, &known));
    huddle_path levels = {.n_levels = known.count, .levels = known.levels, .shrunk = known.shrunk};
    TRY(huddle_shrink_path_coarse(path->context, &path->f, &path->w, &options, &levels, max_gap,
                                  whole, &path->aggregates));
    whole->gamma_fit = path->gamma_fit;
    whole->gamma_up = path->gamma_up;
done:
    huddle_shrunk_free(&fit);
    return status;
}

/* ---- the path ----------------------------------------------------------------------------- */

/* Chooses the levels. Beyond 1e3 n / c nothing changes visibly, and with the loss "l2" there is no
 * exact fit at any positive gamma. No levels if no edge pulls at any gamma. */
static void choose_gammas(gamma_path *path, bool many) {
    double mean_size = (double)path->f.rows / (double)path->f.cols;
    double high = fmin(path->gamma_up, 1e3 * mean_size);
    double low = path->gamma_fit > 0 ? fmin(path->gamma_fit, high / 10) : 1e-4 * high;
    if (!(path->gamma_up > 0) || !isfinite(path->gamma_fit))
        return;
    if (!many) {
        space_gammas(path, low, high, LEVELS);
        return;
    }
    double first = fmin(fmax(low, first_share * mean_size), high / 10);
    if (path->used > 0)
        first = fmin(first, path->used);
    if (path->gamma_fit > 0 && path->gamma_fit < first)
        path->gammas[path->n_gammas++] = path->gamma_fit;
    space_gammas(path, first, high, FEW_LEVELS);
}

/* Puts the result of the run in the place of the level of its gamma, which was solved less exactly
 * for the picture: the page must show the G and the numbers of the run. */
static void use_result(const gamma_path *path, huddle_path *whole) {
    const huddle_array *g = &path->run->shrunk;
    for (int32_t l = 0; l < whole->n_levels; l++) {
        huddle_path_level *level = &whole->levels[l];
        huddle_dense *own = &whole->shrunk[l];
        if (fabs(level->gamma - path->used) > 1e-9 * path->used || g->type != HUDDLE_ARRAY_F64 ||
            g->rows != own->rows || g->cols != own->cols)
            continue;
        for (int64_t i = 0; i < own->rows; i++)
            memcpy(own->values + i * own->stride, (const double *)g->values + i * g->stride,
                   (size_t)own->cols * sizeof(double));
        *level = level_of_fit(path, level->gamma, level->stop);
    }
}

/* Adds the path to the page; one on aggregates says so. */
static huddle_status show_path(const gamma_path *path, const huddle_path *shown) {
    static const char text[] =
        "The shrink step has one parameter, gamma. Up to gamma_fit the points of G are those of F. "
        "As gamma grows they move together and fuse into groups, until each component of the graph "
        "is a single point.";
    char lead[800];
    snprintf(lead, sizeof lead, "%s", text);
    if (path->aggregates > 0)
        snprintf(lead, sizeof lead,
                 "%s Levels between gamma_fit and the result of the run, and beyond it, were "
                 "solved on %d groups of neighbouring rows instead of %lld rows, from gamma = n / "
                 "(4 c) on. Their gaps are proven for the problem of all rows; levels that are not "
                 "proven within %.0f %% of the optimum are left out.",
                 text, path->aggregates, (long long)path->f.rows, 100 * max_gap);
    if (shown->n_levels < 2)
        return HUDDLE_OK;
    return report_add_path(path->run, shown, path->used, "this run", lead);
}

static huddle_status follow(gamma_path *path) {
    bool many = path->f.rows > MAX_WHOLE_ROWS;
    huddle_path whole = {0};
    huddle_status status = HUDDLE_OK;
    path->n_gammas = 1; /* until the levels are known */
    TRY(open_context(path));
    TRY(huddle_shrink_ends(path->context, &path->f, &path->w, NULL, path->loss, &path->gamma_fit,
                           &path->gamma_up));
    path->n_gammas = 0;
    choose_gammas(path, many);
    if (path->n_gammas == 0)
        goto done;
    if (many)
        TRY(follow_many(path, &whole));
    else {
        huddle_path_options options = path_options(path);
        TRY(huddle_shrink_path(path->context, &path->f, &path->w, &options, &whole));
        use_result(path, &whole);
    }
    TRY(show_path(path, &whole));
    path->at = path->n_gammas - 1;
    TRY(report_level(path, 1));
done:
    huddle_path_free(&whole);
    huddle_context_free(path->context);
    return status;
}

/* A report must not need more memory than the fit: very large paths are replaced by a sentence. */
huddle_status report_follow_path(report_run *run) {
    const huddle_array *f = &run->embedding;
    const json_t *shrink = json_object_get(run->info, "shrink");
    const char *loss = text_of(shrink, "loss");
    if (f->type != HUDDLE_ARRAY_F64 || run->shrink_graph.type != HUDDLE_ARRAY_CSR)
        return HUDDLE_OK;
    gamma_path path = {.run = run,
                       .f = array_dense(f),
                       .w = array_csr(&run->shrink_graph),
                       .loss = loss[0] != '\0' ? loss : "l21",
                       .used = number_of(shrink, "gamma")};
    double edges = (double)path.w.offsets[path.w.rows] / 2, row = 8 * (double)path.f.cols;
    double bytes = edges * (row + edge_bytes) + (double)f->rows * row * (FEW_LEVELS + 2);
    if (bytes < max_path_bytes)
        return follow(&path);
    page_add(
        page_section(run->page, "path", "Regularisation path", NULL), "text",
        json_pack(
            "{s:s}", "html",
            "<p>Not shown: the path of so many points would take more than 1 GB of memory.</p>"));
    return HUDDLE_OK;
}
