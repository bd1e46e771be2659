/* huddle experiment: methods x data sets x grids of options x seeds. */
#include "experiment/experiment.h"
#include "commands.h"

#include "json.h"
#include "output.h"
#include "processes.h"
#include "session.h"
#include "streams.h"

#include <stdlib.h>
#include <string.h>

/* The plan's name without folders and ending. If it has no ending, -results is appended,
 * because the folder would otherwise have the name of the plan. */
static char *default_output(const char *file) {
    const char *slash = strrchr(file, '/'), *base = slash == NULL ? file : slash + 1;
    const char *dot = strrchr(base, '.');
    /* A dot at the beginning is part of a hidden file's name. */
    bool has_ending = dot != NULL && dot != base;
    size_t size = strlen(base) + sizeof "-results";
    char *name = check_allocation(malloc(size));
    snprintf(name, size, "%.*s%s", (int)(has_ending ? dot - base : (long)strlen(base)), base,
             has_ending ? "" : "-results");
    return name;
}

/* The results of each cell are already on disk when the page is written: they are appended to
 * results.jsonl as the cells finish. Of several processes the first has them. */
static huddle_status run_and_write(huddle_context *context, const cli_arguments *arguments,
                                   experiment *e) {
    huddle_status status = experiment_run_file(context, arguments->operands[0], e);
    if (status != HUDDLE_OK)
        return status;
    if (huddle_context_process(context) == 0) {
        status = experiment_write_csv(e);
        if (status == HUDDLE_OK)
            status = experiment_write_page(e, argument(arguments, "report"));
    }
    return experiment_first_status(context, status);
}

/* The tables, or one JSON object; progress was cleared from the terminal before. */
static void print_results(const experiment *e, bool json) {
    if (json)
        print_json(check_allocation(experiment_json(e)));
    else
        experiment_print(e, stdout);
}

/* Results are printed only if the run is complete; what was computed before a failure is in OUT. */
static int run_experiment(const cli_arguments *arguments) {
    const char *output = argument(arguments, "output");
    char *own = output == NULL ? default_output(arguments->operands[0]) : NULL;
    experiment e = {.output = output == NULL ? own : output,
                    .report = argument(arguments, "report"),
                    .alone = argument(arguments, "alone") != NULL};
    huddle_context *context = NULL;
    int result = session_begin(arguments, &context);
    if (result == EXIT_DONE && processes_first(context))
        result = outputs_check(arguments, own);
    result = processes_agree(context, result);
    STEP(streams_read_input());
    /* Messages of experiments contain the name of the plan or of the file concerned. */
    if (result == EXIT_DONE && context != NULL &&
        run_and_write(context, arguments, &e) != HUDDLE_OK)
        result = failed("%s", huddle_last_error());
    clear_progress();
    if (result == EXIT_DONE && huddle_context_process(context) == 0)
        print_results(&e, argument(arguments, "json") != NULL);
    experiment_free(&e);
    free(own);
    session_end(context);
    return result;
}

/* The flags are shared by `paper`, which runs an experiment too. */
const cli_flag experiment_flags[] = {
    THREADS_FLAG("number of cells to compute in parallel; default: one per CPU available to the "
                 "process; results do not depend on it. With --engine mpi: on each process"),
    {"alone", 0, FLAG_SWITCH, NULL,
     "do not share graphs, embeddings or components between cells; shows what sharing saves"},
    ENGINE_FLAG,
    {0}};

/* The page is not listed: --report may name it. */
static const char *const result_files[] = {"results.jsonl", "results.csv", NULL};

static const cli_flag output_flags[] = {
    {"output", 'o', FLAG_FOLDER, "OUT",
     "folder for results.jsonl, results.csv and index.html; default: the plan's name without "
     ".json, in the current folder",
     .files = result_files},
    {"report", 0, FLAG_FILE, "FILE", "write the page to this file instead of OUT/index.html"},
    {"json", 0, FLAG_SWITCH, NULL, "print one JSON object instead of the tables"},
    {0}};

const cli_command experiment_command = {
    .name = "experiment",
    .operands = "PLAN",
    .min_operands = 1,
    .max_operands = 1,
    .reads = true,
    .summary = "run methods on data sets over grids of options and seeds",
    .text = "PLAN is a JSON file with data sets, methods with their options and grids, and seeds; "
            "docs/experiments.md describes it. The result of each cell is written to OUT as soon "
            "as it is finished: an interrupted run continues where it stopped, and finished cells "
            "are not computed again. Graphs, embeddings and principal components are computed once "
            "for all cells that need them. With --engine mpi the cells are spread over the "
            "processes of mpirun: each process reads all data and computes some of the cells, "
            "alone, by cpu; the first one writes the results, which are those of one process.",
    .groups = {{"Output", output_flags},
               {"Computing", experiment_flags},
               {"Other options", quiet_flags}},
    .examples = {"huddle experiment examples/digits-plan.json -o digits",
                 "mpirun -n 4 huddle experiment plan.json --engine mpi"},
    .run = run_experiment};
