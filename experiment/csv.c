/* OUT/results.csv: one row for each finished cell. */
#include "experiment/experiment.h"
#include "report/text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Members of a record that become columns; a missing one is an empty field. */
static const char *const number_columns[] = {
    "n_clusters",  "restarts",   "acc",         "nmi",     "ari",       "purity",
    "acc_mean",    "acc_std",    "nmi_mean",    "nmi_std", "ari_mean",  "ari_std",
    "purity_mean", "purity_std", "inertia",     "gamma",   "objective", "gap",
    "groups",      "seconds",    "cpu_seconds", NULL};

/* Writes a field, in quotes if it contains a separator, with quotes doubled. */
static void write_field(FILE *out, const char *text) {
    if (strpbrk(text, ",\"\n") == NULL) {
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
    write_field(out, e->data[cell->data].name);
    fputc(',', out);
    write_field(out, experiment_method(e, cell->entry));
    fputc(',', out);
    write_field(out, experiment_label(e, cell->entry));
    json_object_foreach(cell->settings, name, value) {
        append_text(options, sizeof options, "%s%s=%s", options[0] == '\0' ? "" : " ", name,
                    json_string_value(value));
    }
    fprintf(out, ",%llu,", (unsigned long long)cell->seed);
    write_field(out, options);
    fputc(',', out);
    write_field(out, record_text(cell->record, "prepare"));
    for (int i = 0; number_columns[i] != NULL; i++) {
        double x = record_number(cell->record, number_columns[i]);
        /* The shortest text that reads back as the same number; empty if there is none. */
        huddle_format_real(x, number, sizeof number);
        fprintf(out, ",%s", isfinite(x) ? number : "");
    }
    fprintf(out, ",%s\n", record_text(cell->record, "version"));
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
