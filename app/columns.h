/* The labels of a data set as columns: in a file of their own, or added to the table that they
 * belong to (--append). */
#ifndef HUDDLE_APP_COLUMNS_H
#define HUDDLE_APP_COLUMNS_H

#include "input.h"

/* Checks the outputs (-o with --append, --labels and --confidence, then outputs_check()) before
 * anything is read: the computation may take hours. `source` is DATA, or NULL if there is none; the
 * flags in `whole`, which ends with NULL, are refused where rows are distributed over processes. */
int columns_check_outputs(huddle_context *context, const cli_arguments *arguments,
                          const char *source, const char *const *whole);

/* Checks before anything is computed that --append has a table to add columns to. */
int columns_check_data(const cli_arguments *arguments, const huddle_data *data);

/* The results of the n rows that were read. */
typedef struct row_results {
    const huddle_data *data;
    const huddle_model *model; /* has the labels of all numbers of clusters, or NULL */
    int64_t n;
    const int32_t *labels;
    const double *confidence; /* or NULL */
} row_results;

/* Writes them to -o as --append, --labels and --confidence ask for it; rows that were dropped have
 * the label -1 and no confidence. EXIT_DONE also if there is no -o. */
int columns_write(huddle_context *context, const cli_arguments *arguments, const row_results *rows);

/* The help of --append, where it is not in a table of its own. */
#define APPEND_FLAG                                                                                \
    {                                                                                              \
        "append", 0, FLAG_SWITCH, NULL,                                                            \
            "write the table DATA (CSV, TSV) with its labels as a further column, cluster, to "    \
            "the file of -o; everything else in it remains as it is; default file: -"              \
    }

#endif
