/* huddle predict: labels of new points, from a saved model. */
#define _XOPEN_SOURCE 700
#include "cli/text.h"
#include "columns.h"
#include "commands.h"
#include "json.h"
#include "processes.h"
#include "session.h"
#include "streams.h"
#include "views.h"

#include <stdlib.h>
#include <string.h>

typedef struct prediction {
    const cli_arguments *arguments;
    huddle_context *context;
    huddle_model *model;
    huddle_data data;
    view_list views;
    int32_t *labels; /* of the rows of this process */
    int64_t n_all;   /* rows of all processes; 0 but on process 0 */
    int32_t *all;    /* their labels */
    double seconds;
} prediction;

/* ---- the model's features ----------------------------------------------------------------- */

/* The names of the features that the model was fitted to; an empty array if they are unknown.
 * Models that were fitted to arrays have no names of features. */
static json_t *model_features(const huddle_model *model) {
    json_t *info = NULL;
    (void)model_info(model, &info);
    json_t *names = json_incref(json_object_get(info, "feature_names"));
    json_decref(info);
    return names == NULL ? json_array() : names;
}

/* True if each name identifies one column. With an empty or a repeated name, columns are
 * matched by position. */
static bool are_distinct(const json_t *features) {
    json_t *seen = json_object(), *feature;
    size_t i;
    bool distinct = json_array_size(features) > 0;
    json_array_foreach(features, i, feature) {
        const char *name = json_string_value(feature);
        distinct = distinct && name[0] != '\0' && json_object_get(seen, name) == NULL;
        json_object_set(seen, name, feature);
    }
    json_decref(seen);
    return distinct;
}

/* A row's label must not depend on the other rows of its file: filling in the mean of the new
 * rows would make it so. Encoded texts can be matched by name only. */
static int check_flags(const prediction *p, bool named) {
    const char *missing = argument(p->arguments, "missing");
    if (missing != NULL && (strcmp(missing, "mean") == 0 || strcmp(missing, "median") == 0))
        return usage_error("--missing %s would use the %s of the new rows, so that a label would "
                           "depend on the other rows; predict accepts --missing drop",
                           missing, missing);
    if (!named && argument(p->arguments, "encode") != NULL)
        return usage_error("%s", argument(p->arguments, "x") != NULL
                                     ? "predict finds encoded features by their names: --encode "
                                       "cannot be combined with --x"
                                     : "the model does not contain the names of its features, "
                                       "which --encode needs to encode strings as in the fit");
    return EXIT_DONE;
}

/* Reads the features that the model was fitted to by their names, in any order and among other
 * columns. A table without names, or another kind of file, is read as it comes. */
static int read_features(prediction *p, const char *source) {
    json_t *features = model_features(p->model);
    size_t count = json_array_size(features);
    /* --x means that the user has chosen the columns, in the order of the features. */
    bool named = argument(p->arguments, "x") == NULL && are_distinct(features);
    const char **names = check_allocation(calloc(count + 1, sizeof *names));
    for (size_t k = 0; k < count; k++)
        names[k] = json_string_value(json_array_get(features, k));
    huddle_read_options options = {.x_by_name = named, .x = names, .n_x = (int64_t)count};
    options.shift = huddle_model_shift(p->model, &options.n_shift);
    int result = check_flags(p, named);
    STEP(input_read(p->context, p->arguments, source, &options, &p->data));
    free(names);
    json_decref(features);
    return result;
}

/* ---- predicting --------------------------------------------------------------------------- */

/* The seconds count the prediction only, without loading the model and reading the data. */
static int predict_labels(prediction *p) {
    const char *model = p->arguments->operands[0], *source = p->arguments->operands[1];
    int result = streams_read_input();
    STEP(call_result(huddle_model_load_distributed(p->context, model, &p->model), model));
    STEP(read_features(p, source));
    STEP(views_read(p->context, p->arguments, source, &p->data, p->model, &p->views));
    STEP(columns_check_data(p->arguments, &p->data));
    if (result != EXIT_DONE)
        return result;
    double began = read_clock(CLOCK_MONOTONIC);
    p->labels = check_allocation(calloc((size_t)p->data.points.n + 1, sizeof *p->labels));
    result = call_result(huddle_model_predict_views(p->context, p->model, (int32_t)p->views.count,
                                                    p->views.points, p->labels),
                         source);
    p->seconds = read_clock(CLOCK_MONOTONIC) - began;
    return result == EXIT_DONE && session_cancelled() ? failed("cancelled") : result;
}

/* Scores are added if the new points happen to have labels. The labels array is for the points
 * read; "dropped_rows" lists what is missing from it. */
static int print_info(const prediction *p) {
    json_t *labels = json_array();
    for (int64_t i = 0; i < p->n_all; i++)
        json_array_append_new(labels, json_integer(p->all[i]));
    json_t *info = json_pack("{s:o, s:o, s:s, s:I, s:I, s:f}", "file", text_json(p->data.name),
                             "model", text_json(p->arguments->operands[0]), "method",
                             huddle_model_method(p->model), "n", (json_int_t)p->n_all, "d",
                             (json_int_t)p->data.points.d, "seconds", p->seconds);
    huddle_scores scores;
    huddle_status status = HUDDLE_OK;
    if (p->data.labels != NULL)
        status =
            huddle_metrics_scores(p->context, p->data.points.n, p->data.labels, p->labels, &scores);
    if (status == HUDDLE_OK && p->data.labels != NULL)
        json_object_set_new(info, "scores", scores_json(&scores));
    json_object_set_new(info, "labels", labels);
    input_add_names_json(&p->data, info);
    input_add_json(&p->data, info);
    if (status == HUDDLE_OK)
        print_json(json_incref(info));
    json_decref(info);
    return call_result(status, p->data.name);
}

static void print_labels(const prediction *p) {
    int64_t rows = 0;
    int32_t *labels = input_expand(&p->data, p->all, p->n_all, &rows);
    for (int64_t i = 0; i < rows; i++)
        printf("%d\n", labels[i]);
    free(labels);
}

/* Labels go to stdout only if nothing else is asked for, so that a pipe receives either labels or
 * JSON. */
static int write_labels(prediction *p) {
    const char *path = argument(p->arguments, "output");
    bool json = argument(p->arguments, "json") != NULL;
    row_results rows = {.data = &p->data, .n = p->data.points.n, .labels = p->labels};
    int result = columns_write(p->context, p->arguments, &rows);
    clear_progress();
    if (result != EXIT_DONE || (path != NULL && !json))
        return result;
    p->n_all = p->data.points.n;
    result = call_result(processes_gather(p->context, &p->n_all, p->labels, &p->all), p->data.name);
    if (result == EXIT_DONE && json)
        result = print_info(p);
    else if (result == EXIT_DONE)
        print_labels(p);
    return result;
}

/* Nothing of the model changes, so that predicting twice gives the same labels. */
static int run_predict(const cli_arguments *arguments) {
    static const char *const whole[] = {"append", "view", NULL};
    prediction p = {.arguments = arguments};
    int result = views_check(arguments);
    STEP(session_begin(arguments, &p.context));
    STEP(columns_check_outputs(p.context, arguments, arguments->operands[1], whole));
    STEP(predict_labels(&p));
    STEP(write_labels(&p));
    free(p.labels);
    huddle_free(p.all);
    views_free(&p.views);
    huddle_data_free(&p.data);
    huddle_model_free(p.model);
    session_end(p.context);
    return result;
}

static const cli_flag predict_flags[] = {
    VIEW_FLAG,
    {"output", 'o', FLAG_FILE, "FILE",
     "write the labels to this file, as .csv (below the header cluster), .txt or .npy; default: "
     "one per line on stdout",
     .stream = "labels.txt"},
    APPEND_FLAG,
    {"json", 0, FLAG_SWITCH, NULL, "print one JSON object"},
    THREADS_FLAG("number of threads; default: one per CPU available to the process"),
    ENGINE_FLAG,
    {0}};

const cli_command predict_command = {
    {"predict", "MODEL DATA", 2, 2, "label new points with a saved model", run_predict},
    .reads = true,
    .text =
        "MODEL is a file written by huddle cluster --save. The points must have the features that "
        "the model was fitted to; columns of a table are found by their names, in any order.",
    .words = huddle_data_kinds,
    .groups = {{"Options", predict_flags},
               {"Input", input_flags},
               {"Generators", seeded_flags},
               {"Other options", quiet_flags}},
    .examples = {"huddle cluster old.csv -c 10 --save old.model",
                 "huddle predict old.model new.csv -o new.txt",
                 "cat new.csv | huddle predict old.model - --append"}};
