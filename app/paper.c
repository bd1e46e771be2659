/* huddle paper: the published experiments again. */
#include "paper.h"
#include "output.h"
#include "talk.h"

#include <stdlib.h>
#include <string.h>

json_t *paper_notes(const paper *p) {
    json_t *notes = json_array();
    for (int s = 0; s < PAPER_SETS; s++)
        if (p->found.entry[s] == NULL && p->found.file[s] != NULL)
            json_array_append_new(
                notes, json_sprintf("%s: left out; %s", paper_sets[s].name, p->found.note[s]));
        else if (p->found.note[s][0] != '\0')
            json_array_append_new(notes,
                                  json_sprintf("%s: %s", paper_sets[s].name, p->found.note[s]));
    return notes;
}

static void say_notes(const paper *p) {
    json_t *notes = paper_notes(p), *text;
    size_t index;
    json_array_foreach(notes, index, text) {
        note("%s", json_string_value(text));
    }
    json_decref(notes);
}

/* Which of the published sets each data set of the plan is. */
static void name_sets(paper *p) {
    int data = 0;
    for (int s = 0; s < PAPER_SETS; s++)
        if (p->found.entry[s] != NULL)
            p->set[data++] = s;
}

static int compute(huddle_context *context, const app_arguments *arguments, paper *p) {
    result_store store = {.file = -1};
    int n_init = (int)argument_count(arguments, "n-init", 50);
    int result = paper_find(context, arguments->operands[0], &p->found);
    if (result != EXIT_DONE)
        return result;
    say_notes(p);
    name_sets(p);
    result = plan_open(context, "paper", paper_plan(&p->found, n_init), &p->e);
    if (result == EXIT_DONE)
        result = plan_cells(&p->e);
    if (result == EXIT_DONE)
        result = store_open(&p->e, &store);
    if (result == EXIT_DONE)
        result = experiment_run(context, &p->e, &store);
    store_close(&store);
    return result;
}

/* The plan, to be looked at or run again by huddle experiment. */
static int write_plan(const paper *p) {
    char *path = output_path(&p->e, "plan.json");
    char *text = must(json_dumps(p->e.plan, JSON_INDENT(2) | JSON_REAL_PRECISION(15)));
    huddle_status status = huddle_file_write(path, text, strlen(text));
    int result = status == HUDDLE_OK ? EXIT_DONE : failed_call(status, path);
    free(text);
    free(path);
    return result;
}

static int write_files(const paper *p, const char *report) {
    char *path = output_path(&p->e, "index.html"), *svg[2] = {NULL, NULL};
    int result = write_plan(p);
    if (result == EXIT_DONE)
        result = store_write_csv(&p->e);
    if (result == EXIT_DONE)
        result = paper_tables(p);
    if (result == EXIT_DONE)
        result = paper_figures(p, svg);
    if (result == EXIT_DONE)
        result = paper_page(p, svg, report == NULL ? path : report);
    free(svg[0]);
    free(svg[1]);
    free(path);
    return result;
}

static void tell(const paper *p, bool json) {
    if (!json) {
        paper_print(p);
        return;
    }
    json_t *report = experiment_json(&p->e);
    json_object_set_new(report, "notes", paper_notes(p));
    print_json(report);
    json_decref(report);
}

static int run_paper(const app_arguments *arguments) {
    const char *output = argument(arguments, "output");
    paper p = {.e = {.output = output == NULL ? "paper" : output,
                     .alone = argument(arguments, "alone") != NULL}};
    int result = EXIT_DONE;
    huddle_context *context = talk_begin(arguments, &result);
    if (context != NULL)
        result = compute(context, arguments, &p);
    if (result == EXIT_DONE)
        result = write_files(&p, argument(arguments, "report"));
    talk_clear();
    if (result == EXIT_DONE)
        tell(&p, argument(arguments, "json") != NULL);
    experiment_free(&p.e);
    paper_found_free(&p.found);
    talk_end(context);
    return result;
}

static const app_flag output_flags[] = {
    {.name = "output",
     .letter = 'o',
     .kind = FLAG_FOLDER,
     .value = "OUT",
     .default_text = "paper",
     .help = "folder for tables, figures, the page and the raw results"},
    {.name = "report",
     .kind = FLAG_FILE,
     .value = "FILE",
     .help = "write the page there instead of OUT/index.html"},
    {.name = "json", .kind = FLAG_SWITCH, .help = "print one JSON object instead of the tables"},
    {0}};

static const app_flag protocol_flags[] = {{.name = "n-init",
                                           .kind = FLAG_COUNT,
                                           .value = "N",
                                           .min = 1,
                                           .default_text = "50",
                                           .help = "restarts of K-means; the paper has 50"},
                                          {0}};

static const flag_group paper_groups[] = {{"Output", output_flags},
                                          {"Protocol", protocol_flags},
                                          {"Computing", experiment_flags},
                                          {"Other options", quiet_flags},
                                          {0}};

static const char *const paper_examples[] = {"huddle paper data -o paper", NULL};

const app_command paper_command = {
    .name = "paper",
    .operands = "DIR",
    .least = 1,
    .most = 1,
    .summary = "run the published experiments on the data sets in a folder",
    .text =
        "DIR holds some of the data sets AR, JAFFE, ORL, UMIST, BinAlpha, MSRA50, YaleB and USPS, "
        "in files whose names begin so, in any format. All nine methods run over the published "
        "grids, 50 restarts each; the labels choose the grid point, as they did in the paper. "
        "Beside that stand the defaults, which see no labels. OUT gets acc and nmi as .csv, .md "
        "and .tex with the paper's numbers, figure1 and figure2 as .svg and .pdf, index.html, and "
        "the raw results. A run that was interrupted goes on where it was.",
    .groups = paper_groups,
    .examples = paper_examples,
    .run = run_paper};
