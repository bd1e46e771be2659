#include "input.h"

#include "cli/text.h"
#include "json.h"
#include "processes.h"
#include "session.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* --seed may be a flag or an option of a method; both have the same name. Values beyond 63 bits are
 * valid seeds. */
static uint64_t seed_of(const cli_arguments *arguments) {
    const char *text = argument(arguments, "seed");
    return text == NULL ? 0 : strtoull(text, NULL, 10);
}

/* Flags without effect on this source are refused: ignoring them would hide a mistake. digits is
 * built in but not generated: --n and --noise have no effect on it. */
static int check_flags(const cli_arguments *arguments, const char *source) {
    static const char *const for_files[] = {"x",      "transpose", "header", "missing",
                                            "encode", "gray",      "image",  NULL};
    static const char *const for_generators[] = {"n", "noise", NULL};
    bool generator = is_listed(source, huddle_data_kinds()) && strcmp(source, "digits") != 0;
    const char *misplaced = argument_any(arguments, generator ? for_files : for_generators);
    return misplaced == NULL ? EXIT_DONE
                             : usage_error("%s: --%s applies only to %s", source, misplaced,
                                           generator ? "files" : "generators");
}

/* The names in a list such as a,b,c; a part in double quotes may contain commas. Appends them to
 * names, which point into `text`, a copy of the list that is changed. */
static int64_t split_list(char *text, const char **names) {
    int64_t count = 0;
    for (char *p = text; p != NULL;) {
        char *end = *p == '"' ? strchr(p + 1, '"') : NULL;
        bool quoted = end != NULL && (end[1] == ',' || end[1] == '\0');
        char *comma = quoted ? (end[1] == ',' ? end + 1 : NULL) : strchr(p, ',');
        if (quoted)
            *end = '\0';
        if (comma != NULL)
            *comma = '\0';
        names[count++] = quoted ? p + 1 : p;
        p = comma == NULL ? NULL : comma + 1;
    }
    return count;
}

/* A list of names, and the memory of one that was split. */
typedef struct name_list {
    const char **names;
    int64_t count;
    char *text;
} name_list;

/* The values of --x or --y. If there is only one, it may be a list, unless it is a file of labels;
 * repeated ones are names as they are. */
static void list_names(const cli_arguments *arguments, const char *flag, name_list *list) {
    *list = (name_list){0};
    list->names = argument_all(arguments, flag, &list->count);
    if (list->count != 1 || access(list->names[0], F_OK) == 0)
        return;
    size_t size = strlen(list->names[0]) + 1;
    list->text = check_allocation(malloc(size));
    memcpy(list->text, list->names[0], size);
    free(list->names);
    list->names = check_allocation(calloc(size + 1, sizeof *list->names));
    list->count = split_list(list->text, list->names);
}

static void free_names(name_list *list) {
    free(list->names);
    free(list->text);
}

/* hints_as_flags makes the library word its suggestions as flags ("--missing drop") instead of
 * option names. */
int input_try(huddle_context *context, const cli_arguments *arguments, const char *source,
              const huddle_read_options *options, huddle_data *data, huddle_status *status) {
    huddle_read_options all = {.transpose = argument(arguments, "transpose") != NULL,
                               .classes = argument(arguments, "classes"),
                               .per_class = argument_count(arguments, "per-class", 0),
                               .n = argument_count(arguments, "n", 0),
                               .noise = argument_number(arguments, "noise", HUDDLE_AUTO),
                               .seed = seed_of(arguments),
                               .missing = argument(arguments, "missing"),
                               .encode = argument(arguments, "encode") != NULL,
                               .header = argument(arguments, "header"),
                               .gray = argument(arguments, "gray") != NULL,
                               .image = argument(arguments, "image"),
                               .hints_as_flags = true};
    int result = check_flags(arguments, source);
    if (result != EXIT_DONE)
        return result;
    name_list x, y;
    list_names(arguments, "x", &x);
    list_names(arguments, "y", &y);
    all.x = x.names;
    all.n_x = x.count;
    all.y = y.names;
    all.n_y = y.count;
    if (options != NULL) {
        all.exact = options->exact;
        all.shift = options->shift;
        all.n_shift = options->n_shift;
    }
    if (options != NULL && options->x_by_name) {
        all.x_by_name = true;
        all.x = options->x;
        all.n_x = options->n_x;
    }
    *status = huddle_data_read(context, source, &all, data);
    free_names(&x);
    free_names(&y);
    return EXIT_DONE;
}

/* Messages of the readers begin with the name of a file, which may be another one (--y);
 * call_result() adds the name only where there is none. */
int input_read(huddle_context *context, const cli_arguments *arguments, const char *source,
               const huddle_read_options *options, huddle_data *data) {
    huddle_status status = HUDDLE_OK;
    int result = input_try(context, arguments, source, options, data, &status);
    STEP(call_result(status, status == HUDDLE_NO_MEMORY ? source : NULL));
    return result;
}

/* The names of generators win over files, as for every command that reads data. */
int input_read_labels(huddle_context *context, const char *source, bool clusters, huddle_data *l) {
    if (is_listed(source, huddle_data_kinds()))
        return call_result(huddle_data_read(context, source, NULL, l), source);
    return call_result((clusters ? huddle_clusters_read : huddle_labels_read)(
                           context, source, &l->points.n, &l->labels, &l->n_classes, &l->classes),
                       source);
}

/* The one place where the tool makes a graph symmetric itself; huddle_graph_from_affinity() applies
 * the same rule in a fit. A matrix that is not square is left to the caller, whose message has the
 * name of the file. */
huddle_status input_read_graph(huddle_context *context, const char *source, huddle_csr *graph) {
    huddle_csr part = {0};
    huddle_status status = huddle_csr_read(context, source, graph);
    if (status == HUDDLE_OK && graph->rows == graph->cols)
        status = huddle_csr_symmetric_part(context, graph, &part);
    if (status == HUDDLE_OK && part.offsets != NULL) {
        huddle_csr_free(graph);
        *graph = part;
    }
    return status;
}

/* ---- columns of tables ---------------------------------------------------------------------- */

const huddle_column *input_column(const huddle_data *data, huddle_column_role role) {
    for (int64_t c = 0; c < data->n_columns; c++)
        if (data->columns[c].role == role)
            return &data->columns[c];
    return NULL;
}

void input_column_name(const huddle_data *data, const huddle_column *column, char *text,
                       size_t size) {
    if (column->name[0] != '\0')
        snprintf(text, size, "%s", column->name);
    else
        snprintf(text, size, "column %lld", (long long)(column - data->columns) + 1);
}

/* How the columns of a table were used, roles in the order of huddle_column_role. */
static json_t *columns_json(const huddle_data *data) {
    static const char *const roles[] = {"feature", "label", "ignored", "not selected", "row names"};
    json_t *columns = json_array();
    for (int64_t c = 0; c < data->n_columns; c++) {
        const huddle_column *column = &data->columns[c];
        json_t *entry =
            json_pack("{s:o, s:s}", "name", text_json(column->name), "role", roles[column->role]);
        if (column->reason != NULL)
            json_object_set_new(entry, "reason", text_json(column->reason));
        json_array_append_new(columns, entry);
    }
    return columns;
}

void input_add_json(const huddle_data *data, json_t *info) {
    char name[256];
    const huddle_column *label = input_column(data, HUDDLE_COLUMN_LABEL);
    const huddle_column *names = input_column(data, HUDDLE_COLUMN_NAMES);
    if (data->n_columns == 0)
        return;
    if (label != NULL) {
        input_column_name(data, label, name, sizeof name);
        json_object_set_new(info, "label_column", text_json(name));
    }
    if (names != NULL) {
        input_column_name(data, names, name, sizeof name);
        json_object_set_new(info, "names_column", text_json(name));
    }
    json_object_set_new(info, "columns", columns_json(data));
    if (data->n_dropped > 0)
        json_object_set_new(info, "dropped_rows", integers_json(data->n_dropped, data->dropped));
}

void input_add_names_json(const huddle_data *data, json_t *info) {
    if (data->row_names != NULL)
        json_object_set_new(info, "row_names", texts_json(data->points.n, data->row_names));
}

/* A cluster without a medoid has null in both. */
void input_add_medoid_names_json(const huddle_data *data, json_t *info) {
    const json_t *medoids = json_object_get(info, "medoids");
    if (data->row_names == NULL || medoids == NULL)
        return;
    json_t *names = json_array();
    for (size_t k = 0; k < json_array_size(medoids); k++) {
        const json_t *row = json_array_get(medoids, k);
        json_array_append_new(names, json_is_integer(row)
                                         ? text_json(data->row_names[json_integer_value(row)])
                                         : json_null());
    }
    json_object_set_new(info, "medoid_names", names);
}

/* ---- labels of all rows --------------------------------------------------------------------- */

/* Dropped rows get -1, so that line i of the output belongs to row i of the file.
 * data->dropped is in ascending order. */
int32_t *input_expand(const huddle_data *data, const int32_t *labels, int64_t n, int64_t *rows) {
    *rows = n + data->n_dropped;
    int32_t *expanded = check_allocation(calloc((size_t)*rows + 1, sizeof *expanded));
    for (int64_t i = 0, from = 0, gone = 0; i < *rows; i++) {
        bool dropped = gone < data->n_dropped && data->dropped[gone] == i;
        gone += dropped;
        expanded[i] = dropped ? -1 : labels[from++];
    }
    return expanded;
}

/* The file has a line for every row of the input, dropped ones included. Every process writes its
 * own rows, unless some were dropped: process 0 then inserts them among the labels of all. */
huddle_status input_write_labels(huddle_context *context, const huddle_data *data, const char *path,
                                 int64_t n, const int32_t *labels) {
    int32_t *all = NULL;
    if (data->n_dropped == 0)
        return huddle_labels_write_slabs(context, path, n, labels, NULL);
    huddle_status status = processes_gather(context, &n, labels, &all);
    if (status == HUDDLE_OK && processes_first(context)) {
        int64_t rows = 0;
        int32_t *expanded = input_expand(data, all, n, &rows);
        status = huddle_labels_write(path, rows, expanded, NULL);
        free(expanded);
    }
    huddle_free(all);
    return huddle_context_agree(context, status);
}
