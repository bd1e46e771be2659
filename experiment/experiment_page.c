/* The page of an experiment. */
#include "experiment/experiment.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The columns of a table; the type decides how report/page/30-blocks.js shows the numbers of one.
 */
static json_t *list_columns(size_t count, const char *const *labels) {
    json_t *columns = json_array();
    for (size_t i = 0; i < count; i++)
        page_append(columns, json_pack("{s:s, s:s*}", "label", labels[i], "type",
                                       strcmp(labels[i], "gap") == 0 ? "gap" : NULL));
    return columns;
}

/* A fraction as a cell of a table: sorted by its value, shown with one decimal. */
static json_t *make_percent(double value) {
    if (!isfinite(value))
        return json_null();
    return json_pack("{s:f, s:o}", "value", 100 * value, "text",
                     json_sprintf("%.1f", shown_percent(value)));
}

/* One row of the table of best points. ACC and NMI may have their best at different grid points, so
 * both are named. */
static json_t *oracle_row(const experiment *e, int data, int entry) {
    char at_acc[256] = "", at_nmi[256] = "", title[128];
    grid_result acc = grid_oracle(e, data, entry, "acc"), nmi = grid_oracle(e, data, entry, "nmi");
    cell_grid_text(e, acc.cell, at_acc, sizeof at_acc);
    cell_grid_text(e, nmi.cell, at_nmi, sizeof at_nmi);
    return json_pack("[o, s, o, o, o, s, o, o, o, s]", page_text(e->data[data].name),
                     experiment_title(e, entry, title, sizeof title), make_percent(acc.best),
                     make_percent(acc.mean), make_percent(acc.std), at_acc, make_percent(nmi.best),
                     make_percent(nmi.mean), make_percent(nmi.std), at_nmi);
}

/* The table that people look for first: one row per data set and method. */
void add_oracle_section(report_page *page, const experiment *e) {
    static const char lead[] =
        "For each method, the grid point at which the restart with the smallest inertia scores "
        "highest. The labels choose it: read it as an upper bound, not as what to expect without "
        "labels. Mean and standard deviation (±) are over the single restarts of K-means at that "
        "point. In per cent.";
    static const char *const labels[] = {"data", "method", "ACC",  "mean", "±",
                                         "at",   "NMI",    "mean", "±",    "at"};
    json_t *rows = json_array();
    for (int i = 0; i < e->n_data; i++)
        for (int k = 0; k < experiment_entry_count(e); k++)
            /* Without labels there are no scores and no row. */
            if (grid_oracle(e, i, k, "acc").cell != NULL)
                page_append(rows, oracle_row(e, i, k));
    page_add(page_section(page, "best", "Best of each grid", lead), "table",
             json_pack("{s:o, s:o}", "columns",
                       list_columns(sizeof labels / sizeof *labels, labels), "rows", rows));
}

static json_t *cell_row(const experiment *e, const experiment_cell *cell) {
    const json_t *r = cell->record;
    char text[256];
    cell_grid_text(e, cell, text, sizeof text);
    json_t *row = json_pack("[s, s, I]", text, text_of(r, "prepare"), (json_int_t)cell->seed);
    static const char *const metrics[] = {"acc",      "acc_mean", "acc_std", "nmi",
                                          "nmi_mean", "nmi_std",  "ari",     "purity"};
    static const char *const numbers[] = {"objective", "gap", "groups", "seconds"};
    for (size_t i = 0; i < sizeof metrics / sizeof *metrics; i++)
        page_append(row, make_percent(number_of(r, metrics[i])));
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        page_append(row, page_real(number_of(r, numbers[i])));
    return row;
}

/* A folded table for each method and data set: a page may have thousands of cells. */
void add_cells_section(report_page *page, const experiment *e) {
    static const char lead[] = "All cells, by method and data set. Click a line to unfold its "
                               "table and a column heading to sort it.";
    static const char *const labels[] = {"grid",   "preparation", "seed", "ACC",    "mean",
                                         "±",      "NMI",         "mean", "±",      "ARI",
                                         "purity", "objective",   "gap",  "groups", "seconds"};
    report_section *section = page_section(page, "cells", "Cells", lead);
    char title[128], label[400];
    for (int k = 0; k < experiment_entry_count(e); k++)
        for (int i = 0; i < e->n_data; i++) {
            json_t *rows = json_array();
            for (int c = 0; c < e->n_cells; c++) {
                const experiment_cell *cell = &e->cells[c];
                if (cell->entry == k && cell->data == i && cell->record != NULL)
                    page_append(rows, cell_row(e, cell));
            }
            size_t count = json_array_size(rows);
            snprintf(label, sizeof label, "%s on %.200s: %zu cell%s",
                     experiment_title(e, k, title, sizeof title), e->data[i].name, count,
                     count == 1 ? "" : "s");
            if (count > 0)
                page_add(section, "folded",
                         json_pack("{s:o, s:o, s:O}", "label", page_text(label), "columns",
                                   list_columns(sizeof labels / sizeof *labels, labels), "rows",
                                   rows));
            json_decref(rows);
        }
}

/* CPU time is the sum over cells, also of those found in OUT: what the results cost, not what
 * this run did. fmax() ignores NaN, the number of a cell without a record. */
static void add_facts(report_page *page, const experiment *e) {
    double seconds = 0;
    for (int i = 0; i < e->n_cells; i++)
        seconds += fmax(number_of(e->cells[i].record, "cpu_seconds"), 0);
    page_add(page_section(page, "summary", "", NULL), "facts",
             json_pack("{s:[{s:o, s:s}, {s:o, s:s}, {s:o, s:s}, {s:o, s:s}]}", "facts", "value",
                       json_sprintf("%d", e->n_data), "label",
                       e->n_data == 1 ? "data set" : "data sets", "value",
                       json_sprintf("%d", experiment_entry_count(e)), "label", "grids", "value",
                       json_sprintf("%d", e->n_cells), "label", "cells", "value",
                       json_sprintf("%.1f s", seconds), "label", "of CPU time"));
}

/* The message names the file that was asked for, because page_write() does not know which flag it
 * came from. */
huddle_status experiment_finish_page(const experiment *e, report_page *page, const char *file) {
    huddle_status status = HUDDLE_OK;
    char *path = join_path(e->output, "index.html");
    TRY_POINTER(path);
    TRY(experiment_fail_about(page_write(page, file == NULL ? path : file),
                              file == NULL ? path : file));
done:
    json_decref(page);
    free(path);
    return status;
}

/* From general to particular: counts, methods by data sets, grids, the best of each, all cells. */
huddle_status experiment_write_page(const experiment *e, const char *file) {
    const char *name = json_string_value(json_object_get(e->plan, "name"));
    report_page *page = page_new(name == NULL ? e->file : name, "experiment");
    add_facts(page, e);
    add_heat_section(page, e);
    add_grid_section(page, e);
    add_oracle_section(page, e);
    add_cells_section(page, e);
    return experiment_finish_page(e, page, file);
}
