/* huddle path: the shrink problem for increasing gamma, from exact fit to collapse. */
#include "cli/text.h"
#include "commands.h"
#include "fitting.h"
#include "json.h"
#include "output.h"
#include "report/arrays.h"
#include "report/write.h"
#include "session.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* A path and the labels taken from it. The fit provides F and W. */
typedef struct gamma_walk {
    fitting fit;
    huddle_path_options options;
    huddle_path path;
    int32_t *labels;
    huddle_report_walk shown; /* what the page shows of it */
} gamma_walk;

/* ---- options ------------------------------------------------------------------------------ */

/* Only F and W of the fit are used: it need not shrink, and one restart of K-means is enough. F and
 * W are those of cluster -m ssc. */
static int configure_fit(gamma_walk *walk) {
    static const char *const fixed[][2] = {{"gamma", "0"}, {"n_init", "1"}};
    /* The whole path is computed, so that a single value has no meaning. */
    if (argument(walk->fit.arguments, "gamma") != NULL)
        return usage_error("path covers all values of gamma and does not accept --gamma");
    if (argument(walk->fit.arguments, "view_weights") != NULL)
        return usage_error("path takes one view of the points and does not accept --view-weights");
    int result = fitting_configure(&walk->fit, "ssc");
    for (size_t i = 0; i < sizeof fixed / sizeof *fixed && result == EXIT_DONE; i++)
        if (huddle_model_set_option(walk->fit.model, fixed[i][0], fixed[i][1]) != HUDDLE_OK)
            result = failed("%s", huddle_last_error());
    return result;
}

/* Options of the shrink stage apply to the path too, as the model has them, which may be by a
 * preset. The path has its own values of gamma. */
static int copy_shrink_options(gamma_walk *walk) {
    char text[128];
    for (const huddle_option *o = huddle_shrink_options_table(); o->type != HUDDLE_OPTION_END; o++)
        if (strcmp(o->name, "gamma") != 0 &&
            (huddle_model_get_option(walk->fit.model, o->name, text, sizeof text) != HUDDLE_OK ||
             huddle_options_set(huddle_shrink_options_table(), &walk->options.shrink, o->name,
                                text) != HUDDLE_OK))
            return failed("%s", huddle_last_error());
    return EXIT_DONE;
}

/* G of every level is kept only for the page, because it takes n x c doubles for each. */
static int configure_path(gamma_walk *walk) {
    const cli_arguments *arguments = walk->fit.arguments;
    /* n_gamma is an option of the path, not of the method, so it is a flag of this command. */
    const char *levels = argument(arguments, "n-gamma");
    walk->options = huddle_path_defaults();
    walk->options.keep_shrunk = argument(arguments, "report") != NULL;
    if (levels != NULL && huddle_options_set(huddle_path_options_table(), &walk->options, "n_gamma",
                                             levels) != HUDDLE_OK)
        return usage_error("%s", huddle_last_error());
    return copy_shrink_options(walk);
}

/* ---- the path ----------------------------------------------------------------------------- */

/* Solves the path from the fitted F and W, and takes the labels from it. */
static huddle_status solve_path(gamma_walk *walk) {
    huddle_array f = {0}, w = {0};
    huddle_report_walk *shown = &walk->shown;
    huddle_status status = HUDDLE_OK;
    TRY(huddle_model_array(walk->fit.model, "embedding", &f));
    TRY(huddle_model_array(walk->fit.model, "shrink_graph", &w));
    huddle_dense rows = array_dense(&f);
    huddle_csr graph = array_csr(&w);
    shown->n_clusters = walk->options.shrink.n_clusters = (int32_t)f.cols;
    TRY(huddle_shrink_path(walk->fit.context, &rows, &graph, &walk->options, &walk->path));
    walk->labels = check_allocation(calloc((size_t)walk->path.n + 1, sizeof *walk->labels));
    shown->path = &walk->path;
    shown->labels = walk->labels;
    TRY(huddle_path_labels(walk->fit.context, &walk->path, &rows, shown->n_clusters, walk->labels,
                           &shown->choice));
done:
    return status;
}

/* The seconds are those of the path alone; the fit reports its own. */
static int compute_path(gamma_walk *walk) {
    int result = fitting_fit(&walk->fit);
    if (result != EXIT_DONE)
        return result;
    double began = read_clock(CLOCK_MONOTONIC);
    result = call_result(solve_path(walk), walk->fit.source);
    walk->shown.seconds = read_clock(CLOCK_MONOTONIC) - began;
    STEP(fitting_score(&walk->fit, walk->path.n, walk->labels));
    return result == EXIT_DONE && session_cancelled() ? failed("cancelled") : result;
}

/* ---- files -------------------------------------------------------------------------------- */

static const char *const tree_endings[] = {".csv", ".npy", NULL};

/* One line per fusion. Real numbers are written with the digits that they need to be read back
 * exactly. */
static huddle_status write_linkage_csv(const huddle_dense *linkage, const char *file) {
    char *text = NULL, gamma[40];
    size_t size = 0;
    FILE *out = check_allocation(open_memstream(&text, &size));
    fputs("a,b,gamma,size\n", out);
    for (int64_t i = 0; i < linkage->rows; i++) {
        const double *row = linkage->values + i * linkage->stride;
        huddle_format_real(row[2], gamma, sizeof gamma);
        fprintf(out, "%.0f,%.0f,%s,%.0f\n", row[0], row[1], gamma, row[3]);
    }
    (void)check_allocation(fclose(out) == 0 ? text : NULL);
    huddle_status status = huddle_file_write(file, text, size);
    free(text);
    return status;
}

/* SciPy's linkage format, or the same rows as text. */
static huddle_status write_tree(const huddle_path *path, const char *file) {
    huddle_dense linkage = {0};
    huddle_status status = huddle_path_linkage(path, &linkage);
    /* The ending was checked before the computation. */
    bool npy = strcasecmp(file + strlen(file) - 4, ".npy") == 0;
    if (status == HUDDLE_OK)
        status = npy ? huddle_dense_write_npy(file, &linkage) : write_linkage_csv(&linkage, file);
    huddle_dense_free(&linkage);
    return status;
}

/* The tree first, then the labels: each is reported by its own name if it cannot be written. */
static int write_files(const gamma_walk *walk) {
    const char *tree = argument(walk->fit.arguments, "output");
    const char *labels = argument(walk->fit.arguments, "labels");
    int result = tree == NULL ? EXIT_DONE : call_result(write_tree(&walk->path, tree), tree);
    if (labels != NULL)
        STEP(call_result(input_write_labels(walk->fit.context, &walk->fit.data, labels,
                                            walk->path.n, walk->labels),
                         labels));
    return result;
}

/* ---- what is printed ---------------------------------------------------------------------- */

/* level is -1 if no level of the path has that many large groups; the labels then come from
 * the level with the most. */
static void print_choice(const gamma_walk *walk) {
    const huddle_path_choice *choice = &walk->shown.choice;
    int32_t n_clusters = walk->shown.n_clusters;
    if (choice->level >= 0)
        printf("\n  %d cluster%s from the %d large groups at gamma %.4g\n", n_clusters,
               plural(n_clusters), choice->n_found, choice->gamma);
    else
        printf("\n  no level has %d large groups; the maximum is %d\n", n_clusters,
               choice->n_found);
    if (walk->fit.data.labels != NULL)
        printf("  acc %.4f  nmi %.4f  ari %.4f  purity %.4f\n", walk->fit.scores.acc,
               walk->fit.scores.nmi, walk->fit.scores.ari, walk->fit.scores.purity);
}

/* If the rows of each component of the graph coincide from the beginning, no edge pulls, and
 * gamma_fit is infinite or beyond the last level. */
static void print_ends(const huddle_path *path) {
    double last = path->n_levels > 0 ? path->levels[path->n_levels - 1].gamma : 0;
    if (path->gamma_fit < last)
        printf("exact fit up to gamma %.4g, collapse from %.4g\n\n", path->gamma_fit,
               path->gamma_up);
    else
        printf("exact fit at every gamma: rows connected by the graph coincide already\n\n");
}

/* One line per gamma; an asterisk marks the level that the labels come from, and levels that did
 * not converge show why. */
static void print_path(const gamma_walk *walk) {
    const huddle_path *path = &walk->path;
    printf("%s: %lld points; ", walk->fit.source, (long long)path->n);
    print_ends(path);
    printf("  %12s %14s %10s %8s %6s\n", "gamma", "objective", "gap", "groups", "n_iter");
    for (int32_t i = 0; i < path->n_levels; i++) {
        const huddle_path_level *level = &path->levels[i];
        printf("%c %12.5g %14.7g %10.2g %8d %6d%s%s\n", i == walk->shown.choice.level ? '*' : ' ',
               level->gamma, level->objective, level->gap, level->n_groups, level->n_iter,
               level->stop > HUDDLE_STOP_EXACT ? "  " : "",
               level->stop > HUDDLE_STOP_EXACT ? huddle_stop_name(level->stop) : "");
    }
    print_choice(walk);
}

/* ---- the command -------------------------------------------------------------------------- */

/* The page and what --json prints are made from one object. */
static int write_results(gamma_walk *walk) {
    json_t *fit = fitting_json(&walk->fit);
    if (fit == NULL)
        return EXIT_FAILED;
    json_t *info = check_allocation(huddle_report_path_info(fit, &walk->shown));
    int result = fitting_write_page(&walk->fit, &walk->shown, info);
    clear_progress();
    if (result == EXIT_DONE && argument(walk->fit.arguments, "json") != NULL)
        print_json(json_incref(info));
    else if (result == EXIT_DONE)
        print_path(walk);
    json_decref(info);
    json_decref(fit);
    return result;
}

static int run_path(const cli_arguments *arguments) {
    gamma_walk walk = {.fit = {.arguments = arguments}};
    int result = output_check_ending(argument(arguments, "output"), "the tree", tree_endings);
    STEP(output_check_ending(argument(arguments, "labels"), "labels", label_endings));
    STEP(outputs_check(arguments, NULL));
    STEP(configure_fit(&walk));
    STEP(configure_path(&walk));
    STEP(session_begin(arguments, &walk.fit.context));
    STEP(fitting_read(&walk.fit));
    STEP(compute_path(&walk));
    STEP(write_files(&walk));
    STEP(write_results(&walk));
    free(walk.labels);
    huddle_path_free(&walk.path);
    fitting_free(&walk.fit);
    return result;
}

/* The default is taken from the library's table, so that --help cannot differ from it. */
static const char *default_levels(void) {
    return huddle_option_find(huddle_path_options_table(), "n_gamma")->default_text;
}

static const cli_flag path_flags[] = {
    {"n-gamma", 0, FLAG_COUNT, "N", "number of values of gamma, evenly spaced in log gamma",
     .min = 1, .get_default = default_levels},
    {"output", 'o', FLAG_FILE, "FILE",
     "write the tree of fusions, one fusion per row (two parts, gamma, size), as .csv or .npy (a "
     "SciPy linkage; trees that remain separate are joined at ten times the last gamma)",
     .stream = "tree.csv"},
    {"labels", 0, FLAG_FILE, "FILE",
     "write the labels for --n-clusters groups of the path, as .csv (below the header cluster), "
     ".txt or .npy; -: one per line on stdout",
     .stream = "labels.txt"},
    {"report", 0, FLAG_FILE, "FILE",
     "write an HTML page (one file) that shows the path, with a slider, and the tree",
     .stream = "page.html"},
    {"json", 0, FLAG_SWITCH, NULL, "print one JSON object"},
    {0}};

/* Options of ssc that configure_fit() refuses. */
static const char *const own_options[] = {"gamma", "view_weights", NULL};

const cli_command path_command = {
    {"path", "DATA", 1, 1, "solve the shrink problem for a range of gamma", run_path},
    .reads = true,
    .text =
        "Computes the embedding as huddle cluster -m ssc does, then solves the shrink problem for "
        "increasing gamma: from the gamma up to which no point moves to the gamma from which each "
        "component of the graph is a single point, but at most 1000 n / c. The groups of fused "
        "rows form a tree, from which the labels for the requested number of clusters are taken.",
    .words = huddle_data_kinds,
    .groups = {{"Options", path_flags},
               {"Input", input_flags},
               {"Computing", compute_flags},
               {"Other options", quiet_flags}},
    .methods = "ssc",
    .fixed_options = own_options,
    .examples = {"huddle path digits", "huddle path moons -c 2 -o tree.csv --labels labels.csv"}};
