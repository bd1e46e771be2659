/* The page of huddle paper. */
#include "paper.h"
#include "report.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static json_t *percent(double value) {
    return json_real(round(1000 * value) / 10);
}

static json_t *heading(const char *label) {
    return json_pack("{s:s}", "label", label);
}

/* Which number of a table's cell is shown first. */
typedef enum table_kind { BY_ORACLE, BY_DEFAULT, BY_PREPARATION } table_kind;

static json_t *columns_of(const paper *p) {
    json_t *columns = json_array();
    json_array_append_new(columns, heading("method"));
    for (int i = 0; i < p->e.n_data; i++) {
        json_array_append_new(columns, heading(p->e.data[i].name));
        json_array_append_new(columns, heading("paper"));
        json_array_append_new(columns, heading("difference"));
    }
    return columns;
}

static json_t *row_of(const paper *p, const char *metric, int method, int entry) {
    const char *name = paper_methods[method];
    json_t *row = json_array();
    json_array_append_new(
        row, json_sprintf("%s%s", name, strcmp(name, "spls") == 0 ? " (reconstruction)" : ""));
    for (int i = 0; i < p->e.n_data; i++) {
        grid_result best = grid_oracle(&p->e, i, entry, metric);
        double published = paper_number(metric, method, p->set[i])->mean;
        double ours = round(1000 * best.best) / 10;
        json_array_append_new(row, percent(best.best));
        json_array_append_new(row, json_real(published));
        json_array_append_new(row, json_real(round(10 * (ours - published)) / 10));
    }
    return row;
}

static void add_table(json_t *page, const paper *p, const char *metric, table_kind kind) {
    static const char *const leads[] = {
        "The restart of least inertia at the grid point that the labels choose, as in the paper. "
        "In per cent.",
        "No option set, no label used: what one gets. The paper's numbers were tuned with the "
        "labels.",
        "The labels choose the preparation too, and gamma between 0.03 n/c and 30 n/c."};
    static const char *const titles[] = {"published protocol", "defaults",
                                         "ssc over preparations and gamma"};
    char id[16], title[64];
    json_t *rows = json_array();
    snprintf(id, sizeof id, "%s%d", metric, (int)kind);
    snprintf(title, sizeof title, "%s, %s", strcmp(metric, "acc") == 0 ? "ACC" : "NMI",
             titles[kind]);
    for (int m = kind == BY_PREPARATION ? PAPER_METHODS - 1 : 0; m < PAPER_METHODS; m++)
        json_array_append_new(rows, row_of(p, metric, m,
                                           kind == BY_ORACLE    ? ENTRY_GRID + m
                                           : kind == BY_DEFAULT ? ENTRY_DEFAULT + m
                                                                : ENTRY_PREPARED));
    page_add(page_section(page, id, title, leads[kind]), "table",
             json_pack("{s:o, s:o}", "columns", columns_of(p), "rows", rows));
}

/* How many data sets ssc reaches the published result on. */
static json_t *reached(const paper *p, const char *metric, int entry) {
    int count = 0;
    for (int i = 0; i < p->e.n_data; i++) {
        double ours = round(1000 * grid_oracle(&p->e, i, entry, metric).best) / 10;
        count += ours >= paper_number(metric, PAPER_METHODS - 1, p->set[i])->mean;
    }
    return json_sprintf("%d of %d", count, p->e.n_data);
}

static void add_summary(json_t *page, const paper *p) {
    json_t *section = page_section(page, "summary", "", NULL);
    page_add(section, "facts",
             json_pack("{s:[{s:o, s:s, s:s}, {s:o, s:s, s:s}, {s:o, s:s, s:s}]}", "facts", "value",
                       reached(p, "acc", ENTRY_DEFAULT + PAPER_METHODS - 1), "label",
                       "data sets on which ssc's default is at least the paper's ACC", "note",
                       "no labels used", "value", reached(p, "acc", ENTRY_PREPARED), "label",
                       "with preparation and gamma chosen by the labels, ACC", "note", "an oracle",
                       "value", reached(p, "nmi", ENTRY_PREPARED), "label", "the same, NMI", "note",
                       "an oracle"));
    json_t *notes = paper_notes(p);
    if (json_array_size(notes) > 0)
        page_add(section, "warnings", json_pack("{s:o}", "warnings", notes));
    else
        json_decref(notes);
}

static void add_figures(json_t *page, char *const svg[2]) {
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
    json_t *page = page_new("The published experiments again",
                            "nine methods, the published grids, and defaults that see no labels");
    add_summary(page, p);
    for (int kind = BY_ORACLE; kind <= BY_PREPARATION; kind++) {
        add_table(page, p, "acc", (table_kind)kind);
        add_table(page, p, "nmi", (table_kind)kind);
    }
    add_figures(page, svg);
    add_oracle_section(page, &p->e);
    add_cells_section(page, &p->e);
    int result = page_write(page, file);
    json_decref(page);
    return result;
}
