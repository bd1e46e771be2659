/* huddle cluster: fits a method and reports the result. */
#include "cli/text.h"
#include "columns.h"
#include "commands.h"
#include "fitting.h"
#include "json.h"
#include "session.h"
#include "streams.h"

/* What needs all rows on one process. */
static const char *const whole_flags[] = {"report", "dump",       "graph", "embedding", "append",
                                          "labels", "confidence", "view",  NULL};

/* DATA is optional only if a graph or an embedding replaces it, which the parser cannot know. */
static int check_operands(const cli_arguments *arguments) {
    if (arguments->n_operands == 1 || argument(arguments, "graph") != NULL ||
        argument(arguments, "embedding") != NULL)
        return EXIT_DONE;
    return usage_error("cluster: missing DATA; see huddle help cluster");
}

/* The files in the order of their importance: if one cannot be written, those before it exist.
 * Labels are written for every row of the file, -1 for dropped ones. */
static int write_outputs(const fitting *fit) {
    const char *save = argument(fit->arguments, "save"), *dump = argument(fit->arguments, "dump");
    int64_t n = 0;
    const int32_t *labels = huddle_model_labels(fit->model, &n);
    huddle_status status = HUDDLE_OK;
    row_results rows = {&fit->data, fit->model, n, labels, NULL};
    if (argument(fit->arguments, "confidence") != NULL)
        rows.confidence = fit->confidence;
    int result = columns_write(fit->context, fit->arguments, &rows);
    if (result != EXIT_DONE)
        return result;
    if (save != NULL)
        status = huddle_model_save_distributed(fit->context, fit->model, save);
    if (status != HUDDLE_OK)
        return call_result(status, save);
    if (save != NULL)
        print_detail("%s: model written", streams_shown(save));
    return dump == NULL ? EXIT_DONE : fitting_dump(fit, dump);
}

/* The page and what is printed are made from one object. The page is written after the other files:
 * it may take much longer, and follows the path of gamma. The progress bar is on stderr, but shares
 * the terminal with what follows on stdout. */
static int write_results(const fitting *fit) {
    static const char *const outputs[] = {"output", "save", "dump", "report", NULL};
    double began = read_clock(CLOCK_MONOTONIC);
    int result = write_outputs(fit);
    if (result != EXIT_DONE)
        return result;
    json_t *info = fitting_json(fit);
    if (info == NULL)
        return EXIT_FAILED;
    result = fitting_write_page(fit, NULL, info);
    if (argument_any(fit->arguments, outputs) != NULL)
        fitting_add_seconds(info, "write", read_clock(CLOCK_MONOTONIC) - began);
    clear_progress();
    if (result == EXIT_DONE && argument(fit->arguments, "json") != NULL)
        print_json(json_incref(info));
    else if (result == EXIT_DONE)
        print_summary(info);
    json_decref(info);
    return result;
}

/* Scores that need no classes (silhouette, confidence and others) are computed only where they are
 * written, because they take additional time. */
static int score(fitting *fit) {
    int64_t n = 0;
    const int32_t *labels = huddle_model_labels(fit->model, &n);
    int result = fitting_score(fit, n, labels);
    if (result != EXIT_DONE)
        return result;
    bool json = argument(fit->arguments, "json") != NULL;
    bool confidence = argument(fit->arguments, "confidence") != NULL;
    huddle_status status = HUDDLE_OK;
    double began = read_clock(CLOCK_MONOTONIC);
    if (json)
        status = huddle_model_score(fit->context, fit->model, fitting_points(fit));
    if (status == HUDDLE_OK && (json || confidence || argument(fit->arguments, "dump") != NULL))
        status = fitting_measure_confidence(fit);
    /* Only a file of values fails without them. */
    if (status == HUDDLE_INVALID && !confidence)
        status = HUDDLE_OK;
    fit->score_seconds += read_clock(CLOCK_MONOTONIC) - began;
    return call_result(status, fit->source);
}

/* The steps in the order in which mistakes are cheapest to report: the command line, the names
 * of outputs, the data. Each is skipped after a failure; fitting_free() accepts what is half
 * made. */
static int run_cluster(const cli_arguments *arguments) {
    fitting fit = {.arguments = arguments};
    const char *method = argument(arguments, "method");
    int result = check_operands(arguments);
    STEP(views_check(arguments));
    STEP(fitting_configure(&fit, method == NULL ? huddle_default_method() : method));
    STEP(session_begin(arguments, &fit.context));
    STEP(columns_check_outputs(fit.context, arguments,
                               arguments->n_operands == 1 ? arguments->operands[0] : NULL,
                               whole_flags));
    STEP(fitting_read(&fit));
    STEP(columns_check_data(arguments, &fit.data));
    STEP(fitting_fit(&fit));
    STEP(score(&fit));
    STEP(write_results(&fit));
    fitting_free(&fit);
    return result;
}

static const cli_flag view_flags[] = {VIEW_FLAG, {0}};

static const cli_flag output_flags[] = {
    {"output", 'o', FLAG_FILE, "FILE",
     "write the labels, one per row in the order of the input: as .csv (below the header cluster), "
     ".txt or .npy; -: one per line on stdout, the summary then goes to stderr",
     .stream = "labels.txt"},
    APPEND_FLAG,
    {"labels", 0, FLAG_CHOICE, "WHICH",
     "the labels to write where -c is a range: those of the number that was chosen, or one column "
     "for each number (cluster_2, cluster_3 ...)",
     .values = {"best", "all"}, .default_text = "best"},
    {"confidence", 0, FLAG_SWITCH, NULL,
     "add a column that tells how certain each label is, from 0 (as near to another cluster) to 1 "
     "(at the mean of its own), to the labels of -o or --append"},
    {"save", 0, FLAG_FILE, "FILE",
     "write the model (a zip of NPY arrays) for huddle predict; -: to stdout", .stream = "model"},
    {"dump", 0, FLAG_FOLDER, "DIR",
     "write all intermediate results to this folder: X.npy, A.npz, F.npy, eigenvalues.npy, W.npz, "
     "G.npy, centres.npy, labels.npy, confidence.npy",
     .files = dump_files},
    {"report", 0, FLAG_FILE, "FILE",
     "write an HTML page (one file) that shows the clusters and how they were found",
     .stream = "page.html"},
    {"report-path", 0, FLAG_CHOICE, "BOOL",
     "follow the path of gamma for the page, if the method shrinks: takes up to as long as the fit",
     .values = {"true", "false"}, .default_text = "true"},
    {"json", 0, FLAG_SWITCH, NULL, "print one JSON object instead of the summary"},
    {0}};

const cli_command cluster_command = {
    {"cluster", "DATA", 0, 1, "cluster a data set and report the result", run_cluster},
    .reads = true,
    .text = data_text,
    .words = huddle_data_kinds,
    .groups = {{"Method", method_flags},
               {"Input", input_flags},
               {"Views", view_flags},
               {"Output", output_flags},
               {"Computing", compute_flags},
               {"Other options", quiet_flags}},
    .methods = "*",
    .examples = {"huddle cluster digits --report digits.html",
                 "huddle cluster moons --n 3000 --json",
                 "huddle cluster faces.mat -m ssc -c 40 --prepare whiten:20 -o labels.csv",
                 "huddle cluster points.csv -c 2-20 --save points.model",
                 "huddle cluster pixels.npy --view spectra.npy -c 10",
                 "cat points.csv | huddle cluster - -c 5 -q -o - | sort | uniq -c",
                 "huddle cluster points.csv -c 5 --append -o with_clusters.csv"}};
