/* Input data: reading it with the input flags, and describing it. */
#ifndef HUDDLE_APP_INPUT_H
#define HUDDLE_APP_INPUT_H

#include "cli/arguments.h"

#include <huddle/io.h>
#include <huddle/model.h>
#include <jansson.h>

/* Reads `source` with the input flags, relative to the shift of the model that will label the
 * points (NULL: there is none). EXIT_DONE, or another status after a message. */
int input_read(huddle_context *context, const cli_arguments *arguments, const char *source,
               const huddle_model *model, huddle_data *data);

/* Reads it with data->exact, to write it again. */
int input_read_exact(huddle_context *context, const cli_arguments *arguments, const char *source,
                     huddle_data *data);

/* As input_read(), but leaves it to the caller to report a status other than HUDDLE_OK. */
int input_try(huddle_context *context, const cli_arguments *arguments, const char *source,
              const huddle_model *model, huddle_data *data, huddle_status *status);

/* The same with the columns of these names as the points, where columns have names, instead of
 * those of --x. */
int input_try_columns(huddle_context *context, const cli_arguments *arguments, const char *source,
                      const char *const *x, int64_t n_x, const huddle_model *model,
                      huddle_data *data, huddle_status *status);

/* Reads a graph for refine and score, which need symmetric ones. */
huddle_status input_read_graph(huddle_context *context, const char *source, huddle_csr *graph);

/* "1797 points, 64 features, 10 classes". */
void input_describe(const huddle_data *data, char *text, size_t size);

/* The column of a table that became the labels, or NULL. */
const huddle_column *input_label(const huddle_data *data);

/* A column's name, or "column 3" if it has none. */
void input_column_name(const huddle_data *data, const huddle_column *column, char *text,
                       size_t size);

/* Adds the names of the rows that were read, row_names; those of the rows that the report's medoids
 * are, medoid_names. Nothing if the rows have no names. */
void input_add_names_json(const huddle_data *data, json_t *report);
void input_add_medoid_names_json(const huddle_data *data, json_t *report);

/* Adds label_column, names_column, columns and dropped_rows (from 0) to a report, for tables. */
void input_add_json(const huddle_data *data, json_t *report);

/* Labels for every row of the file: -1 for rows that were dropped. Freed by free(). */
int32_t *input_expand(const huddle_data *data, const int32_t *labels, int64_t n, int64_t *rows);

/* Writes them, also if every process has those of its own rows. */
huddle_status input_write_labels(huddle_context *context, const huddle_data *data, const char *path,
                                 int64_t n, const int32_t *labels);

#endif
