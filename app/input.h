/* Input data: reading it with the input flags, and describing it. */
#ifndef HUDDLE_APP_INPUT_H
#define HUDDLE_APP_INPUT_H

#include "cli/arguments.h"

#include <huddle/io.h>
#include <huddle/model.h>
#include <jansson.h>

/* Reads `source` with the input flags. Of `options`, which may be NULL, those count that no flag
 * sets: shift, exact, and x if they are chosen by name. EXIT_DONE, or another status after a
 * message. */
int input_read(huddle_context *context, const cli_arguments *arguments, const char *source,
               const huddle_read_options *options, huddle_data *data);

/* The same, but leaves it to the caller to report a status other than HUDDLE_OK. */
int input_try(huddle_context *context, const cli_arguments *arguments, const char *source,
              const huddle_read_options *options, huddle_data *data, huddle_status *status);

/* Reads the labels of a file, of a generator or of a built-in data set into labels, n_classes,
 * classes and points.n of l, which may have nothing else; clusters: those that a clustering has
 * found (huddle_clusters_read()). EXIT_DONE, or EXIT_FAILED after a message. */
int input_read_labels(huddle_context *context, const char *source, bool clusters, huddle_data *l);

/* Reads a graph for refine and score, which need symmetric ones. */
huddle_status input_read_graph(huddle_context *context, const char *source, huddle_csr *graph);

/* The first column of a table in this role, or NULL. At most one is the label, and one has the
 * names of the rows. */
const huddle_column *input_column(const huddle_data *data, huddle_column_role role);

/* A column's name, or "column 3" if it has none. */
void input_column_name(const huddle_data *data, const huddle_column *column, char *text,
                       size_t size);

/* Adds the names of the rows that were read, row_names; those of the rows that the medoids of the
 * info are, medoid_names. Nothing if the rows have no names. */
void input_add_names_json(const huddle_data *data, json_t *info);
void input_add_medoid_names_json(const huddle_data *data, json_t *info);

/* Adds label_column, names_column, columns and dropped_rows (from 0) to an info, for tables. */
void input_add_json(const huddle_data *data, json_t *info);

/* Labels for every row of the file: -1 for rows that were dropped. Freed by free(). */
int32_t *input_expand(const huddle_data *data, const int32_t *labels, int64_t n, int64_t *rows);

/* Writes them, also if every process has those of its own rows. */
huddle_status input_write_labels(huddle_context *context, const huddle_data *data, const char *path,
                                 int64_t n, const int32_t *labels);

#endif
