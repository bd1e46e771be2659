#include "columns.h"

#include "cli/messages.h"
#include "cli/text.h"
#include "output.h"
#include "processes.h"
#include "session.h"
#include "streams.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- checks --------------------------------------------------------------------------------- */

static bool wants_all(const cli_arguments *arguments) {
    const char *which = argument(arguments, "labels");
    return which != NULL && strcmp(which, "all") == 0;
}

/* Rows must be those of the file, in its order. */
static int check_append(const cli_arguments *arguments, const char *source) {
    static const char *const selecting[] = {"classes", "per-class", NULL};
    const char *selected = argument_any(arguments, selecting);
    if (selected != NULL)
        return usage_error("--append needs all rows of the table and cannot be combined with --%s",
                           selected);
    if (source == NULL)
        return usage_error("--append needs DATA, a table to add a column to");
    if (is_listed(source, huddle_data_kinds()))
        return usage_error("%s: --append adds a column to a file; huddle generate %s writes one",
                           source, source);
    return EXIT_DONE;
}

static int check_columns(const cli_arguments *arguments, const char *source) {
    static const char *const tables[] = {".csv", ".tsv", ".txt", NULL};
    static const char *const texts[] = {".csv", ".txt", NULL};
    const char *path = argument(arguments, "output"), *range = argument(arguments, "n_clusters");
    bool append = argument(arguments, "append") != NULL, all = wants_all(arguments);
    bool confidence = argument(arguments, "confidence") != NULL;
    if (confidence && (all || path == NULL))
        return usage_error(all ? "--confidence is that of one number of clusters and cannot be "
                                 "combined with --labels all"
                               : "--confidence needs -o FILE");
    if (all && (range == NULL || strchr(range, '-') == NULL || range[0] == '-'))
        return usage_error("--labels all needs a range of numbers of clusters, such as -c 2-20");
    if (all && path == NULL)
        return usage_error("--labels all needs -o FILE");
    int result = append ? check_append(arguments, source) : EXIT_DONE;
    if (result != EXIT_DONE)
        return result;
    return output_check_ending(path, "labels",
                               append              ? tables
                               : all || confidence ? texts
                                                   : label_endings);
}

/* Process 0 writes the files. */
int columns_check_outputs(huddle_context *context, const cli_arguments *arguments,
                          const char *source, const char *const *whole) {
    int result = processes_refuse(context, arguments, whole);
    if (processes_first(context)) {
        STEP(check_columns(arguments, source));
        STEP(outputs_check(arguments, NULL));
    }
    return processes_agree(context, result);
}

int columns_check_data(const cli_arguments *arguments, const huddle_data *data) {
    if (argument(arguments, "append") == NULL || strcmp(data->format, "csv") == 0 ||
        strcmp(data->format, "tsv") == 0)
        return EXIT_DONE;
    return failed("%s: a column can be added to a table (CSV, TSV) only", data->name);
}

/* ---- columns -------------------------------------------------------------------------------- */

/* Columns and the memory that they point to. */
typedef struct label_columns {
    int64_t n, count;
    huddle_new_column *items;
    void **values;
    char (*names)[32];
} label_columns;

static void columns_new(label_columns *columns, int64_t count) {
    columns->count = count;
    columns->items = check_allocation(calloc((size_t)count, sizeof *columns->items));
    columns->values = check_allocation(calloc((size_t)count, sizeof *columns->values));
    columns->names = check_allocation(calloc((size_t)count, sizeof *columns->names));
}

static void columns_free(label_columns *columns) {
    for (int64_t k = 0; k < columns->count; k++)
        free(columns->values[k]);
    free(columns->items);
    free(columns->values);
    free(columns->names);
}

static void set_labels(label_columns *columns, int64_t k, const row_results *rows,
                       const int32_t *labels) {
    int32_t *values = input_expand(rows->data, labels, rows->n, &columns->n);
    columns->values[k] = values;
    columns->items[k] = (huddle_new_column){.name = columns->names[k], .integers = values};
}

/* There is nothing to be certain of in a row without a label, which the column before this has. */
static void set_confidence(label_columns *columns, int64_t k, const row_results *rows) {
    const int32_t *labels = columns->values[k - 1];
    const double *next = rows->confidence;
    double *values = check_allocation(calloc((size_t)columns->n + 1, sizeof *values));
    for (int64_t i = 0; i < columns->n; i++)
        values[i] = labels[i] < 0 ? NAN : *next++;
    columns->values[k] = values;
    columns->items[k] = (huddle_new_column){.name = "confidence", .reals = values};
}

static void set_best(label_columns *columns, const row_results *rows) {
    columns_new(columns, rows->confidence == NULL ? 1 : 2);
    snprintf(columns->names[0], sizeof columns->names[0], "cluster");
    set_labels(columns, 0, rows, rows->labels);
    if (rows->confidence != NULL)
        set_confidence(columns, 1, rows);
}

static huddle_status set_range(label_columns *columns, const row_results *rows) {
    int32_t count = 0;
    huddle_array all = {0};
    const huddle_trial *trials = huddle_model_trials(rows->model, &count);
    huddle_status status = huddle_model_array(rows->model, "range_labels", &all);
    if (status != HUDDLE_OK)
        return status;
    const int32_t *values = all.values;
    int32_t *labels = check_allocation(calloc((size_t)rows->n + 1, sizeof *labels));
    columns_new(columns, count);
    for (int32_t k = 0; k < count; k++) {
        for (int64_t i = 0; i < rows->n; i++)
            labels[i] = values[i * all.stride + k];
        snprintf(columns->names[k], sizeof columns->names[k], "cluster_%d", trials[k].n_clusters);
        set_labels(columns, k, rows, labels);
    }
    free(labels);
    return HUDDLE_OK;
}

int columns_write(huddle_context *context, const cli_arguments *arguments,
                  const row_results *rows) {
    const char *path = argument(arguments, "output");
    bool append = argument(arguments, "append") != NULL, all = wants_all(arguments);
    label_columns columns = {0};
    /* As it was read, where options or the features of a model may have decided. */
    huddle_read_options read = {.header = rows->data->n_names > 0 ? "yes" : "no"};
    huddle_status status = HUDDLE_OK;
    if (path == NULL)
        return EXIT_DONE;
    if (all)
        status = set_range(&columns, rows);
    else
        set_best(&columns, rows);
    if (status == HUDDLE_OK && append)
        status = huddle_columns_append(context, rows->data->name, columns.n, columns.count,
                                       columns.items, &read, path);
    else if (status == HUDDLE_OK && (all || rows->confidence != NULL))
        status = huddle_columns_write(path, columns.n, columns.count, columns.items);
    else if (status == HUDDLE_OK) /* also of several processes, and as .npy */
        status = input_write_labels(context, rows->data, path, rows->n, rows->labels);
    columns_free(&columns);
    if (status != HUDDLE_OK)
        /* The table may be what is wrong; its name is in the message. */
        return call_result(status, append ? NULL : path);
    print_detail("%s: labels written", streams_shown(path));
    return EXIT_DONE;
}
