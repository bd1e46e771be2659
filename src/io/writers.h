/* The writers, one per file. Error messages contain the file's name. */
#ifndef HUDDLE_SRC_IO_WRITERS_H
#define HUDDLE_SRC_IO_WRITERS_H

#include "archive/output.h"
#include "huddle/io.h"

typedef huddle_status hd_io_writer(huddle_context *context, const huddle_data *data,
                                   const char *path);
hd_io_writer hd_io_csv_write, hd_io_npy_write, hd_io_npz_write, hd_io_mat_write, hd_io_hdf5_write,
    hd_io_libsvm_write;

/* The first line of labels in a CSV file; other files have none. */
huddle_status hd_io_labels_write_header(hd_output *output);

/* One line of a text file for each value, as huddle_labels_write() describes. */
huddle_status hd_io_labels_write_lines(hd_output *output, int64_t n, const int32_t *values,
                                       const char *const *texts);

/* Begins an NPY file with the header of an array, whose length is then known. */
huddle_status hd_io_npy_begin(const char *path, const char *type, int32_t rank, const int64_t *dims,
                              hd_output *output, int64_t *length);

/* Labels as whole numbers, as the file had them; HUDDLE_NO_MEMORY. NULL in *numbers if they are
 * texts or there are none. */
huddle_status hd_io_label_numbers(const huddle_data *data, int64_t **numbers);

/* Whether a file gets im_height, im_width and im_order. They cannot say that colours are planes,
 * and a reader would take them for colours side by side. */
static inline bool hd_io_writes_image_size(const huddle_data *data) {
    return data->height > 0 && !data->planes;
}

/* Whether the values that are written are doubles: those before rounding, or with a shift added. */
static inline bool hd_io_writes_doubles(const huddle_data *data) {
    return data->exact != NULL || data->points.shift != NULL;
}

/* The value at `place` of the points' values, in `column`; rows are contiguous if there are exact
 * values. */
static inline double hd_io_value(const huddle_data *data, int64_t place, int64_t column) {
    const huddle_points *x = &data->points;
    if (data->exact != NULL)
        return data->exact[place];
    return (double)x->values[place] + (x->shift != NULL ? x->shift[column] : 0);
}

/* Dense points as an array to write: floats, or doubles if exact is not NULL or there is a shift to
 * add. by_columns: the samples of one feature lie together. */
typedef struct hd_io_block {
    bool wide; /* doubles */
    const void *values;
    void *owned; /* to be freed; NULL if the points' own values will do */
} hd_io_block;

huddle_status hd_io_block_make(const huddle_points *points, double *exact, bool by_columns,
                               hd_io_block *block);

#endif
