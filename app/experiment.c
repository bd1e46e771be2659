/* huddle experiment: methods x data x grids x seeds, resumable. */
#include "experiment.h"
#include "output.h"
#include "talk.h"

#include <stdlib.h>
#include <string.h>

/* The plan's name without folders and ending, or with -results if it has none. */
static char *default_output(const char *file) {
    const char *slash = strrchr(file, '/'), *base = slash == NULL ? file : slash + 1;
    const char *dot = strrchr(base, '.');
    bool ends = dot != NULL && dot != base;
    size_t size = strlen(base) + sizeof "-results";
    char *name = must(malloc(size));
    snprintf(name, size, "%.*s%s", (int)(ends ? dot - base : (long)strlen(base)), base,
             ends ? "" : "-results");
    return name;
}

static int write_files(const experiment *e, const char *report) {
    char *path = output_path(e, "index.html");
    int result = store_write_csv(e);
    if (result == EXIT_DONE)
        result = experiment_page(e, report == NULL ? path : report);
    free(path);
    return result;
}

static int run_plan(huddle_context *context, const app_arguments *arguments, experiment *e) {
    result_store store = {.file = -1};
    json_t *plan = plan_load(arguments->operands[0]);
    int result = plan == NULL ? EXIT_FAILED : plan_open(context, arguments->operands[0], plan, e);
    if (result == EXIT_DONE)
        result = plan_cells(e);
    if (result == EXIT_DONE)
        result = store_open(e, &store);
    if (result == EXIT_DONE)
        result = experiment_run(context, e, &store);
    store_close(&store);
    return result;
}

static int run_experiment(const app_arguments *arguments) {
    const char *output = argument(arguments, "output");
    char *own = output == NULL ? default_output(arguments->operands[0]) : NULL;
    experiment e = {.output = output == NULL ? own : output,
                    .alone = argument(arguments, "alone") != NULL};
    int result = EXIT_DONE;
    huddle_context *context = talk_begin(arguments, &result);
    if (context != NULL)
        result = run_plan(context, arguments, &e);
    if (result == EXIT_DONE)
        result = write_files(&e, argument(arguments, "report"));
    talk_clear();
    if (result == EXIT_DONE && argument(arguments, "json") != NULL) {
        json_t *report = experiment_json(&e);
        print_json(report);
        json_decref(report);
    } else if (result == EXIT_DONE)
        experiment_print(&e);
    experiment_free(&e);
    free(own);
    talk_end(context);
    return result;
}

const app_flag experiment_flags[] = {
    {.name = "n-threads",
     .kind = FLAG_COUNT,
     .value = "N",
     .min = 1,
     .help = "cells to compute at a time; default: as many as this process may use; results do not "
             "depend on it"},
    {.name = "alone",
     .kind = FLAG_SWITCH,
     .help = "share no graphs, embeddings or components between cells; to see what that saves"},
    {0}};

static const app_flag output_flags[] = {
    {.name = "output",
     .letter = 'o',
     .kind = FLAG_FOLDER,
     .value = "OUT",
     .help = "folder for results.jsonl, results.csv and index.html; default: the plan's name "
             "without .json, in the working folder"},
    {.name = "report",
     .kind = FLAG_FILE,
     .value = "FILE",
     .help = "write the page there instead of OUT/index.html"},
    {.name = "json", .kind = FLAG_SWITCH, .help = "print one JSON object instead of the tables"},
    {0}};

static const flag_group experiment_groups[] = {
    {"Output", output_flags}, {"Computing", experiment_flags}, {"Other options", quiet_flags}, {0}};

static const char *const experiment_examples[] = {
    "huddle experiment examples/digits-plan.json -o digits", NULL};

const app_command experiment_command = {
    .name = "experiment",
    .operands = "PLAN",
    .least = 1,
    .most = 1,
    .summary = "run methods on data sets over grids of options and seeds",
    .text =
        "PLAN is a JSON file: data sets, methods with their options and grids, seeds; "
        "docs/experiments.md describes it. Every finished cell is written to OUT at once: a run "
        "that was interrupted goes on where it was, and one that is finished costs nothing. "
        "Graphs, embeddings and principal components are computed once for all cells that need "
        "them.",
    .groups = experiment_groups,
    .examples = experiment_examples,
    .run = run_experiment};
