/* huddle experiment: methods x data sets x grids of options x seeds; huddle paper: the published
 * experiments. */
#include "experiment/paper/claims.h"

#include "commands.h"
#include "json.h"
#include "output.h"
#include "processes.h"
#include "session.h"
#include "streams.h"

#include <stdlib.h>
#include <string.h>

/* The results of each cell are already on disk when the page is written: they are appended to
 * results.jsonl as the cells finish. Of several processes the first has them. */
static huddle_status run_plan(huddle_context *context, const cli_arguments *arguments, paper *p) {
    huddle_status status = experiment_run_file(context, arguments->operands[0], &p->e);
    if (status != HUDDLE_OK)
        return status;
    if (huddle_context_process(context) == 0) {
        status = experiment_write_csv(&p->e);
        if (status == HUDDLE_OK)
            status = experiment_write_page(&p->e, argument(arguments, "report"));
    }
    return experiment_first_status(context, status);
}

/* What paper_find() noticed: data sets that are missing or have another size than published. */
static void print_notes(const paper_found *found) {
    json_t *notes = paper_notes(found), *text;
    size_t index;
    json_array_foreach(notes, index, text) {
        print_note("%s", json_string_value(text));
    }
    json_decref(notes);
}

/* Everything but the numbers of restarts and seeds is the published protocol. */
static huddle_status run_published(huddle_context *context, const cli_arguments *arguments,
                                   paper *p) {
    const paper_protocol protocol = {.n_init = (int)argument_count(arguments, "n-init", 50),
                                     .n_seeds = (int)argument_count(arguments, "seeds", 3),
                                     .related = argument(arguments, "related") != NULL};
    huddle_status status = paper_find(context, arguments->operands[0], &p->found);
    print_notes(&p->found); /* they also explain why no data set was found */
    if (status == HUDDLE_OK)
        status = paper_run(context, &protocol, p);
    if (status == HUDDLE_OK && huddle_context_process(context) == 0)
        status = paper_write(p, argument(arguments, "report"));
    return experiment_first_status(context, status);
}

/* Results are printed only if the run is complete; what was computed before a failure is in OUT.
 * The notes of the published experiments belong to the results: they qualify how comparable the
 * numbers are. */
static void print_results(const paper *p, bool published, bool json) {
    json_t *results = json ? check_allocation(experiment_json(&p->e)) : NULL;
    if (json && published) {
        json_object_set_new(results, "notes", paper_notes(&p->found));
        json_object_set_new(results, "claims", check_allocation(paper_claims(p)));
    }
    if (json)
        print_json(results);
    else if (published)
        paper_print(p, stdout);
    else
        experiment_print(&p->e, stdout);
}

/* `folder`: OUT unless -o is given. Messages of experiments contain the name of the plan or of the
 * file concerned. */
static int run_cells(const cli_arguments *arguments, const char *folder, bool published) {
    const char *output = argument(arguments, "output");
    paper p = {.e = {.output = output == NULL ? folder : output,
                     .report = argument(arguments, "report"),
                     .alone = argument(arguments, "alone") != NULL}};
    huddle_context *context = NULL;
    int result = session_begin(arguments, &context);
    if (result == EXIT_DONE && processes_first(context))
        result = outputs_check(arguments, folder);
    result = processes_agree(context, result);
    STEP(streams_read_input());
    if (result == EXIT_DONE &&
        (published ? run_published : run_plan)(context, arguments, &p) != HUDDLE_OK)
        result = failed("%s", huddle_last_error());
    clear_progress();
    if (result == EXIT_DONE && processes_first(context))
        print_results(&p, published, argument(arguments, "json") != NULL);
    paper_free(&p);
    session_end(context);
    return result;
}

static const cli_flag experiment_flags[] = {
    THREADS_FLAG("number of cells to compute in parallel; default: one per CPU available to the "
                 "process; results do not depend on it. With --engine mpi: on each process"),
    {"alone", 0, FLAG_SWITCH, NULL,
     "do not share graphs, embeddings or components between cells; shows what sharing saves"},
    ENGINE_FLAG,
    {0}};

/* ---- experiment --------------------------------------------------------------------------- */

/* The plan's name without folders and ending. If it has no ending, -results is appended,
 * because the folder would otherwise have the name of the plan. */
static char *default_output(const char *file) {
    const char *base = base_name(file);
    int length = stem_length(base);
    size_t size = strlen(base) + sizeof "-results";
    char *name = check_allocation(malloc(size));
    snprintf(name, size, "%.*s%s", length, base, base[length] != '\0' ? "" : "-results");
    return name;
}

static int run_experiment(const cli_arguments *arguments) {
    char *folder = default_output(arguments->operands[0]);
    int result = run_cells(arguments, folder, false);
    free(folder);
    return result;
}

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
    {"experiment", "PLAN", 1, 1, "run methods on data sets over grids of options and seeds",
     run_experiment},
    .reads = true,
    .text = "PLAN is a JSON file with data sets, methods with their options and grids, and seeds; "
            "docs/experiments.md describes it. The result of each cell is written to OUT as soon "
            "as it is finished: an interrupted run continues where it stopped, and finished cells "
            "are not computed again. Graphs, embeddings and principal components are computed once "
            "for all cells that need them. With --engine mpi the cells are divided among the "
            "processes of mpirun: each process reads all data and computes some of the cells, "
            "alone, by cpu; the first one writes the results, which are those of one process.",
    .groups = {{"Output", output_flags},
               {"Computing", experiment_flags},
               {"Other options", quiet_flags}},
    .examples = {"huddle experiment examples/digits-plan.json -o digits",
                 "mpirun -n 4 huddle experiment plan.json --engine mpi"}};

/* ---- paper -------------------------------------------------------------------------------- */

static int run_paper(const cli_arguments *arguments) {
    return run_cells(arguments, "paper", true);
}

static const char *const paper_files[] = {
    "results.jsonl", "results.csv", "plan.json",   "acc.csv",     "acc.md",      "acc.tex",
    "nmi.csv",       "nmi.md",      "nmi.tex",     "figure1.svg", "figure1.pdf", "figure1.png",
    "figure2.svg",   "figure2.pdf", "figure2.png", "claims.md",   NULL};

static const cli_flag paper_output_flags[] = {
    {"output", 'o', FLAG_FOLDER, "OUT", "folder for tables, figures, the page and the raw results",
     .files = paper_files, .default_text = "paper"},
    {"report", 0, FLAG_FILE, "FILE", "write the page to this file instead of OUT/index.html"},
    {"json", 0, FLAG_SWITCH, NULL, "print one JSON object instead of the tables"},
    {0}};

static const cli_flag protocol_flags[] = {{"n-init", 0, FLAG_COUNT, "N",
                                           "number of restarts of K-means; 50 in the paper",
                                           .min = 1, .max = INT32_MAX, .default_text = "50"},
                                          {"seeds", 0, FLAG_COUNT, "N",
                                           "number of seeds of every table, 0, 1, ...; more than "
                                           "one give a mean and a standard deviation",
                                           .min = 1, .max = 1000, .default_text = "3"},
                                          {"related", 0, FLAG_SWITCH, NULL,
                                           "also run the defaults of the methods that are not in "
                                           "the paper's experiments"},
                                          {0}};

const cli_command paper_command = {
    {"paper", "DIR", 1, 1, "run the published experiments on the data sets in a folder", run_paper},
    .text = "DIR contains some of the data sets AR, JAFFE, ORL, UMIST, BinAlpha, MSRA50, YaleB and "
            "USPS, in files of any format whose names begin with these names. All nine methods run "
            "over the published grids with 50 restarts each, to the letter of the paper and with "
            "our choices where it leaves one; the labels choose the grid point, as in the paper. "
            "The defaults, which use no labels, are run for comparison. OUT receives acc and nmi "
            "as .csv, .md and .tex beside the published numbers, claims.md with a verdict on each "
            "claim of the paper, figure1 and figure2 as .svg, .pdf and .png, index.html, and the "
            "raw results. An interrupted run continues where it stopped. --engine mpi divides it "
            "among processes, as in huddle experiment.",
    .groups = {{"Output", paper_output_flags},
               {"Protocol", protocol_flags},
               {"Computing", experiment_flags},
               {"Other options", quiet_flags}},
    .examples = {"huddle paper data -o paper"}};
