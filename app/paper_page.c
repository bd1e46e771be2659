/* The page of huddle paper. */
#include "paper.h"
#include "report/page.h"
#include "talk.h"
#include "text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static json_t *heading(const char *label) {
    return json_pack("{s:s}", "label", label);
}

/* Which numbers a table shows. */
typedef enum table_kind { BY_ORACLE, BY_DEFAULT, BY_PREPARATION } table_kind;

static int entry_of(table_kind kind, int method) {
    return kind == BY_ORACLE    ? ENTRY_GRID + method
           : kind == BY_DEFAULT ? ENTRY_DEFAULT + method
                                : ENTRY_PREPARED;
}

static json_t *columns_of(const paper *p) {
    json_t *columns = json_array();
    json_array_append_new(columns, heading("method"));
    for (int i = 0; i < p->e.n_data; i++)
        json_array_append_new(columns, heading(p->e.data[i].name));
    return columns;
}

static double best_of(const paper *p, const char *metric, table_kind kind, int data) {
    double best = -1;
    for (int m = kind == BY_PREPARATION ? PAPER_METHODS - 1 : 0; m < PAPER_METHODS; m++)
        best = fmax(best, shown_percent(grid_oracle(&p->e, data, entry_of(kind, m), metric).best));
    return best;
}

static json_t *cell_of(const paper *p, const char *metric, table_kind kind, int method, int data) {
    grid_result found = grid_oracle(&p->e, data, entry_of(kind, method), metric);
    double ours = shown_percent(found.best);
    const paper_score *score = paper_number(metric, method, p->set[data]);
    char at[128] = "", chosen[160] = "";
    if (found.cell == NULL)
        return json_null();
    cell_grid_text(&p->e, found.cell, at, sizeof at);
    if (at[0] != '\0')
        snprintf(chosen, sizeof chosen, "; at %s", at);
    return json_pack("{s:f, s:o, s:o, s:b}", "value", ours, "text",
                     json_sprintf("%.1f (%+.1f)", ours, ours - score->mean), "note",
                     json_sprintf("single starts %.1f ± %.1f; paper %.1f ± %.1f%s",
                                  shown_percent(found.mean), shown_percent(found.std), score->mean,
                                  score->std, chosen),
                     "strong", ours == best_of(p, metric, kind, data));
}

static json_t *row_of(const paper *p, const char *metric, table_kind kind, int method) {
    const char *name = paper_methods[method];
    json_t *row = json_array();
    json_array_append_new(
        row, json_sprintf("%s%s", name, strcmp(name, "spls") == 0 ? " (reconstruction)" : ""));
    for (int i = 0; i < p->e.n_data; i++)
        json_array_append_new(row, cell_of(p, metric, kind, method, i));
    return row;
}

static void add_table(report_page *page, const paper *p, const char *metric, table_kind kind) {
    static const char *const leads[] = {
        ("The restart of least inertia at the grid point that the labels choose, as in the paper. "
         "In per cent; in brackets the difference from the paper's number. Hover for the single "
         "starts and the grid point."),
        ("No option set: no labels used, the number of clusters known. The paper's numbers were "
         "tuned with the labels."),
        "The labels choose the preparation too, and gamma between 0.1 n/c and 10,000 n/c."};
    static const char *const titles[] = {"published protocol", "defaults",
                                         "ssc over preparations and gamma"};
    char id[16], title[64];
    json_t *rows = json_array();
    snprintf(id, sizeof id, "%s%d", metric, (int)kind);
    snprintf(title, sizeof title, "%s, %s", strcmp(metric, "acc") == 0 ? "ACC" : "NMI",
             titles[kind]);
    for (int m = kind == BY_PREPARATION ? PAPER_METHODS - 1 : 0; m < PAPER_METHODS; m++)
        json_array_append_new(rows, row_of(p, metric, kind, m));
    page_add(page_section(page, id, title, leads[kind]), "table",
             json_pack("{s:o, s:o}", "columns", columns_of(p), "rows", rows));
}

/* How many data sets ssc reaches the published result on. */
static json_t *reached(const paper *p, const char *metric, int entry) {
    int count = 0;
    for (int i = 0; i < p->e.n_data; i++) {
        double ours = shown_percent(grid_oracle(&p->e, i, entry, metric).best);
        count += ours >= paper_number(metric, PAPER_METHODS - 1, p->set[i])->mean;
    }
    return json_sprintf("%d of %d", count, p->e.n_data);
}

static void add_summary(report_page *page, const paper *p) {
    report_section *section = page_section(page, "summary", "", NULL);
    page_add(section, "facts",
             json_pack("{s:[{s:o, s:s, s:s}, {s:o, s:s, s:s}, {s:o, s:s, s:s}]}", "facts", "value",
                       reached(p, "acc", ENTRY_DEFAULT + PAPER_METHODS - 1), "label",
                       "data sets on which ssc's default is at least the paper's ACC", "note",
                       "no labels used", "value", reached(p, "acc", ENTRY_PREPARED), "label",
                       "with preparation and gamma chosen by the labels, ACC", "note", "an oracle",
                       "value", reached(p, "nmi", ENTRY_PREPARED), "label", "the same, NMI", "note",
                       "an oracle"));
}

static void add_notes(report_page *page, const paper *p) {
    json_t *notes = paper_notes(p), *rows = json_array(), *text;
    size_t index;
    json_array_foreach(notes, index, text) {
        const char *all = json_string_value(text), *colon = strstr(all, ": ");
        json_array_append_new(rows, json_pack("[s#, s]", all, (int)(colon - all), colon + 2));
    }
    page_add(page_section(page, "data", "Data", "What was found, and what was done to it."),
             "table",
             json_pack("{s:[{s:s}, {s:s, s:s}], s:o}", "columns", "label", "data", "label", "note",
                       "type", "text", "rows", rows));
    json_decref(notes);
}

static void add_figures(report_page *page, char *const svg[2]) {
    static const char gamma[] =
        "Left of fit no point moves, so nothing changes; from collapse on every component of the "
        "graph is one point. The published grid has two values that do nothing.";
    static const char convergence[] =
        "The gap bounds how far the objective is above the optimum, relative to it. Dashed: the "
        "iteration as published; solid: what Huddle uses.";
    page_add(page_section(page, "gamma", "Figure 1: gamma", gamma), "figure",
             json_pack("{s:s, s:s}", "svg", svg[0], "caption", ""));
    page_add(page_section(page, "convergence", "Figure 2: convergence", convergence), "figure",
             json_pack("{s:s, s:s}", "svg", svg[1], "caption", ""));
}

int paper_page(const paper *p, char *const svg[2], const char *file) {
    report_page *page =
        page_new("The published experiments again",
                 "nine methods, the published grids, and defaults that see no labels");
    add_summary(page, p);
    for (int kind = BY_ORACLE; kind <= BY_PREPARATION; kind++) {
        add_table(page, p, "acc", (table_kind)kind);
        add_table(page, p, "nmi", (table_kind)kind);
    }
    add_figures(page, svg);
    add_notes(page, p);
    add_oracle_section(page, &p->e);
    add_cells_section(page, &p->e);
    huddle_status status = page_write(page, file);
    page_free(page);
    return status == HUDDLE_OK ? EXIT_DONE : failed_call(status, file);
}
