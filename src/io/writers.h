/* The writers, one a file. Sentences of failures name the file. */
#ifndef HUDDLE_SRC_IO_WRITERS_H
#define HUDDLE_SRC_IO_WRITERS_H

#include "huddle/io.h"
#include "archive/output.h"

huddle_status hd_csv_write(huddle_context *context, const huddle_data *data, const char *path);
huddle_status hd_npy_write(huddle_context *context, const huddle_data *data, const char *path);
huddle_status hd_npz_write(huddle_context *context, const huddle_data *data, const char *path);
huddle_status hd_mat_write(huddle_context *context, const huddle_data *data, const char *path);
huddle_status hd_hdf5_write(huddle_context *context, const huddle_data *data, const char *path);
huddle_status hd_libsvm_write(huddle_context *context, const huddle_data *data, const char *path);

/* A text, in quotes where it would be misread: separators, quotes, line ends, blanks around. */
huddle_status hd_csv_text(hd_output *output, const char *text, char separator);

/* A vector of int32. */
huddle_status hd_labels_write_npy(const char *path, int64_t n, const int32_t *values);

/* Labels as whole numbers, as the file had them; HUDDLE_NO_MEMORY. NULL in *numbers if they are
 * texts or there are none. */
huddle_status hd_label_numbers(const huddle_data *data, int64_t **numbers);

/* Dense points as an array to write: floats, or doubles with the shift added back where there is
 * one. by_columns: the samples of one feature lie together. */
typedef struct hd_block {
    bool wide; /* doubles */
    const void *values;
    void *owned; /* to be freed; NULL if the points' own values will do */
} hd_block;

huddle_status hd_block_make(const huddle_points *points, bool by_columns, hd_block *block);

#endif
