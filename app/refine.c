/* huddle refine: improves labels on a graph. */
#include "cli/text.h"
#include "commands.h"
#include "input.h"
#include "json.h"
#include "output.h"
#include "session.h"
#include "streams.h"

#include <huddle/refine.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Of the trials that a result can describe, the stage itself makes four. */
enum { MAX_STARTS = HUDDLE_REFINE_MAX_TRIALS - 4 };

typedef struct refining {
    const cli_arguments *arguments;
    huddle_context *context;
    huddle_refine_options options;
    huddle_csr graph;
    int n_starts;
    huddle_data starts[MAX_STARTS];
    int32_t n_clusters;
    huddle_graph_scores before; /* of the first labels as they were given */
    huddle_refine_info info;
    int32_t *labels;
} refining;

/* ---- options ------------------------------------------------------------------------------ */

static int configure(refining *r) {
    const cli_arguments *arguments = r->arguments;
    r->options = huddle_refine_defaults();
    int result = arguments_set_options(arguments, huddle_refine_options_table(), &r->options);
    int64_t n_clusters = argument_count(arguments, "n-clusters", HUDDLE_AUTO);
    r->options.n_clusters = n_clusters > INT32_MAX ? INT32_MAX : (int32_t)n_clusters;
    return result;
}

/* ---- files -------------------------------------------------------------------------------- */

/* Nothing but the order connects the labels with the rows of the graph, so their numbers must
 * agree. Labels with too few values could not be merged down to the clusters. */
static int check_start(const refining *r, int i) {
    const char *source = r->arguments->operands[1 + i];
    const huddle_data *start = &r->starts[i];
    if (start->points.n != r->graph.rows)
        return failed("%s: %lld label%s, but %s has %lld rows", source, (long long)start->points.n,
                      plural(start->points.n), r->arguments->operands[0], (long long)r->graph.rows);
    if (start->n_classes < r->n_clusters)
        return failed("%s: %d different label%s, fewer than %d clusters", source, start->n_classes,
                      plural(start->n_classes), r->n_clusters);
    return EXIT_DONE;
}

/* The graph is checked by the stage; its shape is checked here, before the labels are compared with
 * it. */
static int read_files(refining *r) {
    const char *source = r->arguments->operands[0];
    huddle_csr *graph = &r->graph;
    int result = streams_read_input();
    STEP(call_result(input_read_graph(r->context, source, graph), source));
    if (result == EXIT_DONE && graph->rows != graph->cols)
        result = failed("%s: a matrix of %lld x %lld is not square", source, (long long)graph->rows,
                        (long long)graph->cols);
    for (int i = 0; i + 1 < r->arguments->n_operands && result == EXIT_DONE; i++) {
        huddle_data *start = &r->starts[r->n_starts++];
        result = input_read_labels(r->context, r->arguments->operands[1 + i], true, start);
        r->n_clusters =
            r->options.n_clusters != HUDDLE_AUTO ? r->options.n_clusters : r->starts[0].n_classes;
        STEP(check_start(r, i));
    }
    return result;
}

/* ---- the computation ---------------------------------------------------------------------- */

static int refine_labels(refining *r) {
    huddle_refine_start starts[MAX_STARTS];
    r->labels = check_allocation(calloc((size_t)r->graph.rows + 1, sizeof *r->labels));
    /* The trials of the given starts come first, so that they are recognised by their places. */
    for (int i = 0; i < r->n_starts; i++)
        starts[i] = (huddle_refine_start){"given", r->starts[i].labels};
    huddle_status status =
        huddle_refine(r->context, &r->graph, r->n_starts, starts, &r->options, r->labels, &r->info);
    if (status == HUDDLE_OK)
        status =
            huddle_metrics_graph_scores(r->context, &r->graph, r->starts[0].labels, &r->before);
    if (status != HUDDLE_OK)
        return call_result(status, r->arguments->operands[0]);
    return session_cancelled() ? failed("cancelled") : EXIT_DONE;
}

/* Whether a text is the usual way to write an int32: "007" is a name, not a number. */
static bool is_integer(const char *text, int32_t *value) {
    char *end, usual[16];
    errno = 0;
    long number = strtol(text, &end, 10);
    if (errno != 0 || end == text || *end != '\0' || number < INT32_MIN || number > INT32_MAX)
        return false;
    *value = (int32_t)number;
    snprintf(usual, sizeof usual, "%d", *value);
    return strcmp(usual, text) == 0;
}

/* Writes labels 0 .. l->n_classes - 1 with the values that l's file has for them: as numbers if all
 * of them are integers, else as texts; .npy then has the numbers 0 .. n_classes - 1. Files of
 * numbers cannot have texts, so integers are looked up here rather than by the writer. */
static huddle_status write_values(const huddle_data *l, const char *path, const int32_t *labels) {
    int32_t *values = check_allocation(calloc((size_t)l->n_classes + 1, sizeof *values));
    int32_t *written = check_allocation(calloc((size_t)l->points.n + 1, sizeof *written));
    bool integers = true;
    for (int32_t k = 0; k < l->n_classes && integers; k++)
        integers = is_integer(l->classes[k], &values[k]);
    for (int64_t i = 0; i < l->points.n; i++)
        written[i] = integers ? values[labels[i]] : labels[i];
    huddle_status status = huddle_labels_write(path, l->points.n, written,
                                               integers ? NULL : (const char *const *)l->classes);
    free(written);
    free(values);
    return status;
}

/* The clusters are numbered like the values of the first labels as long as there are as many; they
 * then keep those values. */
static int write_labels(const refining *r) {
    const char *path = argument(r->arguments, "output");
    huddle_status status = HUDDLE_OK;
    if (path == NULL)
        return EXIT_DONE;
    if (r->n_clusters == r->starts[0].n_classes)
        status = write_values(&r->starts[0], path, r->labels);
    else
        status = huddle_labels_write(path, r->graph.rows, r->labels, NULL);
    return call_result(status, path);
}

/* ---- the result --------------------------------------------------------------------------- */

/* A start that was given has the name of its file. */
static const char *trial_name(const refining *r, int32_t i) {
    return i < r->n_starts ? r->arguments->operands[1 + i] : r->info.trials[i].name;
}

/* Every edge is stored from both ends; loops are not edges. */
static int64_t count_edges(const huddle_csr *graph) {
    int64_t count = 0;
    for (int64_t i = 0; i < graph->rows; i++)
        for (int64_t e = graph->offsets[i]; e < graph->offsets[i + 1]; e++)
            count += graph->columns[e] != i && graph->values[e] != 0;
    return count / 2;
}

static int64_t *count_sizes(const refining *r) {
    int64_t *sizes = check_allocation(calloc((size_t)r->n_clusters + 1, sizeof *sizes));
    for (int64_t i = 0; i < r->graph.rows; i++)
        sizes[r->labels[i]]++;
    return sizes;
}

static json_t *trial_json(const refining *r, int32_t i) {
    const huddle_refine_trial *trial = &r->info.trials[i];
    json_t *made =
        json_pack("{s:o, s:b, s:i, s:b}", "start", text_json(trial_name(r, i)), "given",
                  i < r->n_starts, "n_sweeps", trial->n_sweeps, "allowed", trial->allowed);
    json_t *scores = graph_scores_json(&trial->scores);
    json_object_update(made, scores);
    json_decref(scores);
    return made;
}

static json_t *result_json(const refining *r) {
    json_t *trials = json_array();
    int64_t *counts = count_sizes(r);
    json_t *sizes = integers_json(r->n_clusters, counts);
    for (int32_t i = 0; i < r->info.n_trials; i++)
        json_array_append_new(trials, trial_json(r, i));
    free(counts);
    return json_pack("{s:o, s:I, s:I, s:i, s:s, s:o, s:o, s:I, s:o, s:o, s:o, s:f}", "file",
                     text_json(r->arguments->operands[0]), "n", (json_int_t)r->graph.rows, "edges",
                     (json_int_t)count_edges(&r->graph), "n_clusters", r->n_clusters, "objective",
                     r->options.objective, "reference", text_json(trial_name(r, r->info.reference)),
                     "best", text_json(trial_name(r, r->info.best)), "n_changed",
                     (json_int_t)r->info.n_changed, "sizes", sizes, "before",
                     graph_scores_json(&r->before), "trials", trials, "seconds", r->info.seconds);
}

/* Four digits after the point, as for all scores; `left` is the width of the names. */
static void print_trial(char mark, const char *name, int left, const huddle_graph_scores *scores) {
    printf("%c %s%*s %8.4f %8.4f %8.4f %8.4f %8.4f", mark, name, left - text_width(name), "",
           scores->map, scores->divergence, scores->information, scores->modularity, scores->ncut);
}

/* One line per start, the given labels before any move first; an asterisk marks the labels that are
 * returned. */
static void print_trials(const refining *r) {
    static const char given[] = "as given";
    int left = text_width(given);
    for (int32_t i = 0; i < r->info.n_trials; i++)
        left = text_width(trial_name(r, i)) > left ? text_width(trial_name(r, i)) : left;
    printf("  %-*s %8s %8s %8s %8s %8s %7s  %s\n", left, "start", "L", "J", "MI", "Q", "ncut",
           "sweeps", "allowed");
    print_trial(' ', given, left, &r->before);
    printf("\n");
    for (int32_t i = 0; i < r->info.n_trials; i++) {
        const huddle_refine_trial *trial = &r->info.trials[i];
        print_trial(i == r->info.best ? '*' : ' ', trial_name(r, i), left, &trial->scores);
        printf(" %7d  %s\n", trial->n_sweeps, trial->allowed ? "yes" : "no");
    }
}

static void print_result(const refining *r) {
    char sizes[4096] = "";
    int64_t *counts = count_sizes(r), edges = count_edges(&r->graph);
    printf("%s: %lld vertices, %lld edge%s, %d cluster%s\n\n", r->arguments->operands[0],
           (long long)r->graph.rows, (long long)edges, plural(edges), r->n_clusters,
           plural(r->n_clusters));
    print_trials(r);
    printf("\n  L map equation, J divergence, MI information between the ends of an edge, Q "
           "modularity\n\n");
    /* Labels that were merged have other numbers, so that a count of changes means nothing. */
    if (r->n_clusters == r->starts[0].n_classes)
        printf("  changed    %lld of %lld labels; labels from %s\n", (long long)r->info.n_changed,
               (long long)r->graph.rows, trial_name(r, r->info.best));
    else
        printf("  merged     %d labels into %d clusters; labels from %s\n", r->starts[0].n_classes,
               r->n_clusters, trial_name(r, r->info.best));
    for (int32_t k = 0; k < r->n_clusters; k++)
        append_text(sizes, sizeof sizes, "%s%lld", k == 0 ? "" : " ", (long long)counts[k]);
    printf("  sizes      ");
    print_wrapped(sizes, 13);
    free(counts);
}

/* ---- the command -------------------------------------------------------------------------- */

/* The command line is checked before the files are read, and the labels are written before anything
 * is printed. */
static int run_refine(const cli_arguments *arguments) {
    refining r = {.arguments = arguments};
    int result = configure(&r);
    STEP(output_check_ending(argument(arguments, "output"), "labels", label_endings));
    STEP(outputs_check(arguments, NULL));
    STEP(session_begin(arguments, &r.context));
    STEP(read_files(&r));
    STEP(refine_labels(&r));
    clear_progress();
    STEP(write_labels(&r));
    if (result == EXIT_DONE && argument(arguments, "json") != NULL)
        print_json(result_json(&r));
    else if (result == EXIT_DONE)
        print_result(&r);
    for (int i = 0; i < r.n_starts; i++)
        huddle_data_free(&r.starts[i]);
    free(r.labels);
    huddle_csr_free(&r.graph);
    session_end(r.context);
    return result;
}

static const cli_flag refine_flags[] = {
    {"n-clusters", 'c', FLAG_COUNT, "N",
     "number of clusters; default: the number of different labels in the first file", .min = 1},
    {0}};

static const cli_flag refine_output_flags[] = {
    {"output", 'o', FLAG_FILE, "FILE",
     "write the labels, one per row of the graph, as .csv (below the header cluster), .txt or "
     ".npy, or to stdout (-): with the values of the first file of labels if there are as many "
     "clusters, else numbered from 0",
     .stream = "labels.txt"},
    {"json", 0, FLAG_SWITCH, NULL, "print one JSON object instead of the table"},
    {0}};

const cli_command refine_command = {
    {"refine", "GRAPH LABELS ...", 2, 1 + MAX_STARTS, "improve labels on a graph", run_refine},
    .reads = true,
    .text = "GRAPH is a symmetric matrix of weights (SciPy's .npz, MatrixMarket, MAT, or a dense "
            "array; of one that is not symmetric, (A + A')/2 is used, with a warning), LABELS a "
            "file of labels, one per row of the graph: numbers or words. Vertices are moved to the "
            "clusters of their neighbours while that lowers the objective. Several files are "
            "several starts; further ones are made by merging clusters. The first file's labels, "
            "after the moves, are returned unless another start is clearly better: smaller in the "
            "objective by --least-gain, with a normalised cut at most --cut-slack larger. Prints "
            "the scores of every start.",
    .groups = {{"Options", refine_flags},
               {"Output", refine_output_flags},
               {"Other options", quiet_flags}},
    .stage = huddle_refine_options_table,
    .examples = {"huddle cluster digits --refine none --dump parts -o labels.csv",
                 "huddle refine parts/A.npz labels.csv -o refined.csv",
                 "huddle refine A.mtx first.csv other.csv"}};
