/* huddle paper: the published experiments. */
#include "experiment/paper/paper.h"
#include "commands.h"

#include "json.h"
#include "output.h"
#include "processes.h"
#include "session.h"

#include <string.h>

/* What paper_find() noticed: data sets that are missing or have another size than published. */
static void print_notes(const paper_found *found) {
    json_t *notes = paper_notes(found), *text;
    size_t index;
    json_array_foreach(notes, index, text) {
        print_note("%s", json_string_value(text));
    }
    json_decref(notes);
}

/* The number of restarts is the only setting: everything else is the published protocol. */
static huddle_status run_and_write(huddle_context *context, const cli_arguments *arguments,
                                   paper *p) {
    huddle_status status = paper_find(context, arguments->operands[0], &p->found);
    print_notes(&p->found); /* they also explain why no data set was found */
    if (status == HUDDLE_OK)
        status = paper_run(context, (int)argument_count(arguments, "n-init", 50), p);
    if (status == HUDDLE_OK && huddle_context_process(context) == 0)
        status = paper_write(p, argument(arguments, "report"));
    return experiment_first_status(context, status);
}

/* The notes belong to the results: they qualify how comparable the numbers are. */
static void print_results(const paper *p, bool json) {
    if (!json) {
        paper_print(p, stdout);
        return;
    }
    json_t *info = check_allocation(experiment_json(&p->e));
    json_object_set_new(info, "notes", paper_notes(&p->found));
    print_json(info);
}

/* The default output folder is named after the command. */
static int run_paper(const cli_arguments *arguments) {
    const char *output = argument(arguments, "output");
    paper p = {.e = {.output = output == NULL ? "paper" : output,
                     .report = argument(arguments, "report"),
                     .alone = argument(arguments, "alone") != NULL}};
    huddle_context *context = NULL;
    int result = session_begin(arguments, &context);
    if (result == EXIT_DONE && processes_first(context))
        result = outputs_check(arguments, p.e.output);
    result = processes_agree(context, result);
    if (context != NULL && result == EXIT_DONE &&
        run_and_write(context, arguments, &p) != HUDDLE_OK)
        result = failed("%s", huddle_last_error());
    clear_progress();
    if (result == EXIT_DONE && huddle_context_process(context) == 0)
        print_results(&p, argument(arguments, "json") != NULL);
    paper_free(&p);
    session_end(context);
    return result;
}

/* The page is not listed: --report may name it. */
static const char *const result_files[] = {
    "results.jsonl", "results.csv", "plan.json",   "acc.csv",     "acc.md",      "acc.tex",
    "nmi.csv",       "nmi.md",      "nmi.tex",     "figure1.svg", "figure1.pdf", "figure1.png",
    "figure2.svg",   "figure2.pdf", "figure2.png", NULL};

static const cli_flag output_flags[] = {
    {"output", 'o', FLAG_FOLDER, "OUT", "folder for tables, figures, the page and the raw results",
     .files = result_files, .default_text = "paper"},
    {"report", 0, FLAG_FILE, "FILE", "write the page to this file instead of OUT/index.html"},
    {"json", 0, FLAG_SWITCH, NULL, "print one JSON object instead of the tables"},
    {0}};

static const cli_flag protocol_flags[] = {{"n-init", 0, FLAG_COUNT, "N",
                                           "number of restarts of K-means; 50 in the paper",
                                           .min = 1, .max = INT32_MAX, .default_text = "50"},
                                          {0}};

const cli_command paper_command = {
    .name = "paper",
    .operands = "DIR",
    .min_operands = 1,
    .max_operands = 1,
    .summary = "run the published experiments on the data sets in a folder",
    .text = "DIR contains some of the data sets AR, JAFFE, ORL, UMIST, BinAlpha, MSRA50, YaleB and "
            "USPS, in files of any format whose names begin with these names. All nine methods run "
            "over the published grids with 50 restarts each; the labels choose the grid point, as "
            "in the paper. The defaults, which use no labels, are run for comparison. OUT receives "
            "acc and nmi as .csv, .md and .tex beside the published numbers, figure1 and figure2 "
            "as .svg, .pdf and .png, index.html, and the raw results. An interrupted run continues "
            "where it stopped. --engine mpi spreads it over processes, as in huddle experiment.",
    .groups = {{"Output", output_flags},
               {"Protocol", protocol_flags},
               {"Computing", experiment_flags},
               {"Other options", quiet_flags}},
    .examples = {"huddle paper data -o paper"},
    .run = run_paper};
