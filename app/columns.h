/* The labels of a data set as columns: in a file of their own, or added to the table that they
 * belong to (--append). */
#ifndef HUDDLE_APP_COLUMNS_H
#define HUDDLE_APP_COLUMNS_H

#include "input.h"

/* Checks -o, --append and --labels before anything is read: EXIT_USAGE after a message. `source`
 * is DATA, or NULL if there is none. */
int columns_check(const cli_arguments *arguments, const char *source);

/* Writes one label per row to -o, as --append and --labels ask for it; n labels, -1 for rows that
 * were dropped. `model` has the labels of all numbers of clusters; NULL: only these labels exist.
 * EXIT_DONE also if there is no -o. */
int columns_write(huddle_context *context, const cli_arguments *arguments, const huddle_data *data,
                  const huddle_model *model, int64_t n, const int32_t *labels);

/* The help of --append, where it is not in a table of its own. */
#define APPEND_FLAG                                                                                \
    {                                                                                              \
        .name = "append", .kind = FLAG_SWITCH,                                                     \
        .help =                                                                                    \
            "write the table DATA (CSV, TSV) with its labels as a further column, cluster, to "    \
            "the file of -o; everything else in it remains as it is; default file: -"              \
    }

#endif
