/* The results of an experiment for people and programs: stdout and the page. */
#include "experiment.h"
#include "output.h"
#include "report.h"
#include "talk.h"
#include "text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static int n_entries(const experiment *e) {
    return (int)json_array_size(json_object_get(e->plan, "methods"));
}

/* What tables call an entry; a method that is a reconstruction is always called so. */
static const char *title_of(const experiment *e, int entry, char *text, size_t size) {
    const huddle_method_text *const *method = huddle_methods();
    while (*method != NULL && strcmp((*method)->name, plan_method(e, entry)) != 0)
        method++;
    bool rebuilt = *method != NULL && (*method)->reconstruction;
    snprintf(text, size, "%s%s", plan_label(e, entry), rebuilt ? " (reconstruction)" : "");
    return text;
}

/* ---- stdout --------------------------------------------------------------------------------- */

static void print_score(const grid_result *result) {
    if (result->cell == NULL)
        printf(" %6s %14s", "-", "");
    else
        printf(" %6.1f %6.1f +- %4.1f", shown_percent(result->best), shown_percent(result->mean),
               shown_percent(result->std));
}

static int label_width(const experiment *e) {
    size_t width = 6;
    for (int k = 0; k < n_entries(e); k++) {
        char title[128];
        size_t own = strlen(title_of(e, k, title, sizeof title));
        width = own > width ? own : width;
    }
    return (int)width;
}

static void print_entry(const experiment *e, int data, int entry, int width) {
    char text[256] = "", title[128];
    grid_result acc = grid_oracle(e, data, entry, "acc"), nmi = grid_oracle(e, data, entry, "nmi");
    printf("  %-*s", width, title_of(e, entry, title, sizeof title));
    print_score(&acc);
    print_score(&nmi);
    if (acc.cell != NULL)
        cell_grid_text(e, acc.cell, text, sizeof text);
    printf("%s%s\n", text[0] == '\0' ? "" : "  ", text);
}

static void print_data(const experiment *e, int data, int width) {
    const huddle_data *d = &e->data[data].data;
    printf("%s: %lld points, %lld features", e->data[data].name, (long long)d->points.n,
           (long long)d->points.d);
    if (d->labels == NULL) {
        printf("; no labels to score by, see results.csv\n\n");
        return;
    }
    printf(", %d classes\n  %-*s %6s %14s %6s %14s\n", d->n_classes, width, "", "ACC",
           "single starts", "NMI", "single starts");
    for (int k = 0; k < n_entries(e); k++)
        print_entry(e, data, k, width);
    printf("\n");
}

void experiment_print(const experiment *e) {
    int width = label_width(e);
    for (int i = 0; i < e->n_data; i++)
        print_data(e, i, width);
    printf("%d cells: %d computed in %.1f s, %d found in %s\n", e->n_cells, e->n_computed,
           e->seconds, e->n_found, e->output);
    if (e->hits > 0)
        printf("shared work: %lld stages computed, %lld taken from an earlier cell\n",
               (long long)e->misses, (long long)e->hits);
}

json_t *experiment_json(const experiment *e) {
    json_t *object =
        json_pack("{s:o, s:o, s:i, s:i, s:i, s:i, s:o, s:o, s:{s:I, s:I}}", "plan",
                  text_json(e->file), "output", text_json(e->output), "cells", e->n_cells,
                  "computed", e->n_computed, "found", e->n_found, "failed", e->n_failed, "seconds",
                  page_real(e->seconds), "cpu_seconds", page_real(e->cpu_seconds), "shared",
                  "computed", (json_int_t)e->misses, "found", (json_int_t)e->hits);
    json_t *best = json_array();
    for (int i = 0; i < e->n_data; i++)
        for (int k = 0; k < n_entries(e); k++) {
            static const char *const metrics[] = {"acc", "nmi"};
            json_t *row = json_pack("{s:o, s:s, s:s}", "data", text_json(e->data[i].name), "method",
                                    plan_method(e, k), "label", plan_label(e, k));
            for (int m = 0; m < 2; m++) {
                grid_result r = grid_oracle(e, i, k, metrics[m]);
                char text[256] = "";
                if (r.cell == NULL)
                    continue;
                cell_grid_text(e, r.cell, text, sizeof text);
                json_object_set_new(row, metrics[m],
                                    json_pack("{s:f, s:f, s:f, s:s}", "best", r.best, "mean",
                                              r.mean, "std", r.std, "at", text));
            }
            json_array_append_new(best, row);
        }
    json_object_set_new(object, "oracle", best);
    return object;
}

/* ---- the page ------------------------------------------------------------------------------- */

/* A heading of a table, with how its numbers are shown. */
static json_t *column(const char *label, const char *type) {
    json_t *made = json_pack("{s:s}", "label", label);
    if (type != NULL)
        json_object_set_new(made, "type", json_string(type));
    return made;
}

static json_t *percent(double value) {
    if (!isfinite(value))
        return json_null();
    return json_pack("{s:f, s:o}", "value", 100 * value, "text",
                     json_sprintf("%.1f", shown_percent(value)));
}

static json_t *oracle_row(const experiment *e, int data, int entry) {
    char at_acc[256] = "", at_nmi[256] = "", title[128];
    grid_result acc = grid_oracle(e, data, entry, "acc"), nmi = grid_oracle(e, data, entry, "nmi");
    if (acc.cell == NULL)
        return NULL;
    cell_grid_text(e, acc.cell, at_acc, sizeof at_acc);
    cell_grid_text(e, nmi.cell, at_nmi, sizeof at_nmi);
    return json_pack("[o, s, o, o, o, s, o, o, o, s]", text_json(e->data[data].name),
                     title_of(e, entry, title, sizeof title), percent(acc.best), percent(acc.mean),
                     percent(acc.std), at_acc, percent(nmi.best), percent(nmi.mean),
                     percent(nmi.std), at_nmi);
}

void add_oracle_section(json_t *page, const experiment *e) {
    static const char lead[] =
        "For each method the point of its grid at which the best-inertia restart scores highest, "
        "chosen with the labels: what can be had, not what one would get without them. Mean and "
        "spread are over the single starts of K-means at that point. In per cent.";
    static const char *const labels[] = {"data", "method", "ACC",  "mean", "±",
                                         "at",   "NMI",    "mean", "±",    "at"};
    json_t *columns = json_array(), *rows = json_array();
    for (size_t i = 0; i < sizeof labels / sizeof *labels; i++)
        json_array_append_new(columns, column(labels[i], NULL));
    for (int i = 0; i < e->n_data; i++)
        for (int k = 0; k < n_entries(e); k++) {
            json_t *row = oracle_row(e, i, k);
            if (row != NULL)
                json_array_append_new(rows, row);
        }
    page_add(page_section(page, "best", "Best of each grid", lead), "table",
             json_pack("{s:o, s:o}", "columns", columns, "rows", rows));
}

static json_t *cell_row(const experiment *e, const experiment_cell *cell) {
    const json_t *r = cell->record;
    char text[256], title[128];
    cell_grid_text(e, cell, text, sizeof text);
    json_t *row = json_pack("[o, s, s, s, I]", text_json(e->data[cell->data].name),
                            title_of(e, cell->entry, title, sizeof title), text,
                            record_text(r, "prepare"), (json_int_t)cell->seed);
    static const char *const metrics[] = {"acc",      "acc_mean", "acc_std", "nmi",
                                          "nmi_mean", "nmi_std",  "ari",     "purity"};
    static const char *const numbers[] = {"objective", "gap", "groups", "seconds"};
    for (size_t i = 0; i < sizeof metrics / sizeof *metrics; i++)
        json_array_append_new(row, percent(record_number(r, metrics[i])));
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        json_array_append_new(row, page_real(record_number(r, numbers[i])));
    return row;
}

void add_cells_section(json_t *page, const experiment *e) {
    static const char lead[] = "Every cell. A click on a heading sorts.";
    static const char *const labels[] = {"data", "method", "grid",  "prepared by", "seed",
                                         "ACC",  "mean",   "±",     "NMI",         "mean",
                                         "±",    "ARI",    "purity"};
    json_t *columns = json_array(), *rows = json_array();
    for (size_t i = 0; i < sizeof labels / sizeof *labels; i++)
        json_array_append_new(columns, column(labels[i], NULL));
    json_array_append_new(columns, column("objective", NULL));
    json_array_append_new(columns, column("gap", "gap"));
    json_array_append_new(columns, column("groups", NULL));
    json_array_append_new(columns, column("seconds", NULL));
    for (int i = 0; i < e->n_cells; i++)
        if (e->cells[i].record != NULL)
            json_array_append_new(rows, cell_row(e, &e->cells[i]));
    page_add(page_section(page, "cells", "Cells", lead), "table",
             json_pack("{s:o, s:o}", "columns", columns, "rows", rows));
}

static void add_facts(json_t *page, const experiment *e) {
    double seconds = 0;
    for (int i = 0; i < e->n_cells; i++)
        seconds += fmax(record_number(e->cells[i].record, "cpu_seconds"), 0);
    page_add(page_section(page, "summary", "", NULL), "facts",
             json_pack("{s:[{s:o, s:s}, {s:o, s:s}, {s:o, s:s}, {s:o, s:s}]}", "facts", "value",
                       json_sprintf("%d", e->n_data), "label",
                       e->n_data == 1 ? "data set" : "data sets", "value",
                       json_sprintf("%d", n_entries(e)), "label", "grids", "value",
                       json_sprintf("%d", e->n_cells), "label", "cells", "value",
                       json_sprintf("%.1f s", seconds), "label", "of computing"));
}

int experiment_page(const experiment *e, const char *file) {
    const char *name = json_string_value(json_object_get(e->plan, "name"));
    json_t *page = page_new(name == NULL ? e->file : name, "experiment");
    add_facts(page, e);
    add_oracle_section(page, e);
    add_cells_section(page, e);
    int result = page_write(page, file);
    json_decref(page);
    return result;
}
