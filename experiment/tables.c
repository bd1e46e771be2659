/* The best points of the grids, as tables for people and as JSON, and all cells as CSV. */
#include "experiment/experiment.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The method's own table states whether it was rebuilt from a paper without its code. */
bool experiment_is_reconstruction(const char *name) {
    const huddle_method_text *method = find_method(name);
    return method != NULL && method->reconstruction;
}

/* The label of an entry is shown, not the method, because a plan may have several entries of
 * one method. */
const char *experiment_title(const experiment *e, int entry, char *text, size_t size) {
    snprintf(text, size, "%s%s", experiment_label(e, entry),
             experiment_is_reconstruction(experiment_method(e, entry)) ? " (reconstruction)" : "");
    return text;
}

/* The best restart, then mean and deviation over single restarts. They show how much of a score is
 * due to choosing among restarts. */
static void print_score(FILE *out, const grid_result *result) {
    if (result->cell == NULL)
        fprintf(out, " %6s %14s", "-", "");
    else
        fprintf(out, " %6.1f %6.1f +- %4.1f", shown_percent(result->best),
                shown_percent(result->mean), shown_percent(result->std));
}

/* strlen() is enough: titles are ASCII in practice, and a wrong width only misaligns a column. */
static int label_width(const experiment *e) {
    size_t width = 6;
    for (int k = 0; k < experiment_entry_count(e); k++) {
        char title[128];
        size_t own = strlen(experiment_title(e, k, title, sizeof title));
        width = own > width ? own : width;
    }
    return (int)width;
}

/* The grid point shown is that of the best ACC; NMI may have its best elsewhere. */
static void print_entry(FILE *out, const experiment *e, int data, int entry, int width) {
    char text[256] = "", title[128];
    grid_result acc = grid_oracle(e, data, entry, "acc"), nmi = grid_oracle(e, data, entry, "nmi");
    fprintf(out, "  %-*s", width, experiment_title(e, entry, title, sizeof title));
    print_score(out, &acc);
    print_score(out, &nmi);
    if (acc.cell != NULL)
        cell_grid_text(e, acc.cell, text, sizeof text);
    fprintf(out, "%s%s\n", text[0] == '\0' ? "" : "  ", text);
}

/* Data sets without labels have no table: there is nothing to score against. */
static void print_data(FILE *out, const experiment *e, int data, int width) {
    const huddle_data *d = &e->data[data].data;
    fprintf(out, "%s: %lld points, %lld features", e->data[data].name, (long long)d->points.n,
            (long long)d->points.d);
    if (d->labels == NULL) {
        fprintf(out, "; no labels to score against, see results.csv\n\n");
        return;
    }
    fprintf(out, ", %d classes\n  %-*s %6s %14s %6s %14s\n", d->n_classes, width, "", "ACC",
            "single starts", "NMI", "single starts");
    for (int k = 0; k < experiment_entry_count(e); k++)
        print_entry(out, e, data, k, width);
    fprintf(out, "\n");
}

void experiment_print(const experiment *e, FILE *out) {
    int width = label_width(e);
    for (int i = 0; i < e->n_data; i++)
        print_data(out, e, i, width);
    fprintf(out, "%d cells: %d computed in %.1f s, %d found in %s\n", e->n_cells, e->n_computed,
            e->seconds, e->n_found, e->output);
    if (e->n_refused > 0)
        fprintf(out, "%d optional fits failed, see results.jsonl\n", e->n_refused);
    /* How often the caches replaced a computation; nothing with --alone. */
    if (e->hits > 0)
        fprintf(out, "shared work: %lld stages computed, %lld reused from an earlier cell\n",
                (long long)e->misses, (long long)e->hits);
}

/* "oracle" is named so because the labels choose the grid point; see add_oracle_section(). */
json_t *experiment_json(const experiment *e) {
    json_t *object = json_pack(
        "{s:o, s:o, s:i, s:i, s:i, s:i, s:i, s:o, s:o, s:{s:I, s:I}}", "plan", page_text(e->file),
        "output", page_text(e->output), "cells", e->n_cells, "computed", e->n_computed, "found",
        e->n_found, "failed", e->n_failed, "refused", e->n_refused, "seconds",
        page_real(e->seconds), "cpu_seconds", page_real(e->cpu_seconds), "shared", "computed",
        (json_int_t)e->misses, "found", (json_int_t)e->hits);
    json_t *best = json_array();
    for (int i = 0; i < e->n_data; i++)
        for (int k = 0; k < experiment_entry_count(e); k++) {
            static const char *const metrics[] = {"acc", "nmi"};
            json_t *row = json_pack("{s:o, s:s, s:s}", "data", page_text(e->data[i].name), "method",
                                    experiment_method(e, k), "label", experiment_label(e, k));
            for (int m = 0; m < 2; m++) {
                grid_result r = grid_oracle(e, i, k, metrics[m]);
                char text[256] = "";
                if (r.cell == NULL)
                    continue;
                cell_grid_text(e, r.cell, text, sizeof text);
                json_object_set_new(row, metrics[m],
                                    json_pack("{s:f, s:f, s:f, s:f, s:i, s:s}", "best", r.best,
                                              "mean", r.mean, "std", r.std, "spread", r.spread,
                                              "seeds", r.n_seeds, "at", text));
            }
            json_array_append_new(best, row);
        }
    json_object_set_new(object, "oracle", best);
    return object;
}

/* Members of a record that become columns; a missing one is an empty field. */
static const char *const number_columns[] = {
    "n_clusters",  "restarts",   "acc",         "nmi",     "ari",       "purity",
    "acc_mean",    "acc_std",    "nmi_mean",    "nmi_std", "ari_mean",  "ari_std",
    "purity_mean", "purity_std", "inertia",     "gamma",   "objective", "gap",
    "groups",      "seconds",    "cpu_seconds", NULL};

void experiment_write_field(FILE *out, const char *text) {
    if (strpbrk(text, ",\"\r\n") == NULL) {
        fputs(text, out);
        return;
    }
    fputc('"', out);
    for (; *text != '\0'; text++) {
        if (*text == '"')
            fputc('"', out);
        fputc(*text, out);
    }
    fputc('"', out);
}

/* All settings are one field, so that the number of columns does not depend on the plan. */
static void write_row(FILE *out, const experiment *e, const experiment_cell *cell) {
    char options[1024] = "", number[40];
    const char *name;
    json_t *value;
    experiment_write_field(out, e->data[cell->data].name);
    fputc(',', out);
    experiment_write_field(out, experiment_method(e, cell->entry));
    fputc(',', out);
    experiment_write_field(out, experiment_label(e, cell->entry));
    json_object_foreach(cell->settings, name, value) {
        append_text(options, sizeof options, "%s%s=%s", options[0] == '\0' ? "" : " ", name,
                    json_string_value(value));
    }
    fprintf(out, ",%llu,", (unsigned long long)cell->seed);
    experiment_write_field(out, options);
    fputc(',', out);
    experiment_write_field(out, text_of(cell->record, "prepare"));
    for (int i = 0; number_columns[i] != NULL; i++) {
        double x = number_of(cell->record, number_columns[i]);
        /* The shortest text that reads back as the same number; empty if there is none. */
        huddle_format_real(x, number, sizeof number);
        fprintf(out, ",%s", isfinite(x) ? number : "");
    }
    fprintf(out, ",%s\n", text_of(cell->record, "version"));
}

/* Written from all records, also those of earlier runs, whenever a run ends: the file is derived
 * and results.jsonl is the original. */
huddle_status experiment_write_csv(const experiment *e) {
    huddle_status status = HUDDLE_OK;
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    TRY_POINTER(out);
    fputs("data,method,label,seed,options,prepare", out);
    for (int i = 0; number_columns[i] != NULL; i++)
        fprintf(out, ",%s", number_columns[i]);
    fputs(",version\n", out);
    for (int i = 0; i < e->n_cells; i++)
        if (e->cells[i].record != NULL)
            write_row(out, e, &e->cells[i]);
    /* A memory stream fails only for lack of memory. */
    if (fclose(out) != 0)
        TRY(experiment_no_memory());
    TRY(experiment_write_file(e, "results.csv", text, size));
done:
    free(text);
    return status;
}
