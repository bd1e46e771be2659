/* The formats, one reader a file. A reader is opened on a file whose content it recognised and
 * lists what is inside; sentences of failures do not name the file. */
#ifndef HUDDLE_SRC_IO_FORMATS_H
#define HUDDLE_SRC_IO_FORMATS_H

#include "io/container.h"

typedef struct hd_io_format {
    const char *name;
    const char *extensions[4]; /* without dot; ends with NULL */
    bool (*is)(const hd_file *file);
    /* NULL for CSV, which has columns instead of variables. */
    huddle_status (*open)(hd_io_request *request, const hd_file *file, hd_io_container *container);
} hd_io_format;

/* Replaces the bytes of a file packed by gzip by what they hold. IDX unpacks its own. */
huddle_status hd_io_gunzip_file(hd_file *file);

/* By content; an extension decides only where several formats fit. */
huddle_status hd_io_detect(const hd_file *file, const hd_io_format **format);

/* Opens the container of a file of that format. */
huddle_status hd_io_open_container(hd_io_request *request, const hd_io_format *format,
                                   const hd_file *file, hd_io_container *container);

bool hd_io_npy_is(const hd_file *file);
bool hd_io_npz_is(const hd_file *file);
bool hd_io_mat_is(const hd_file *file);
bool hd_io_hdf5_is(const hd_file *file);
bool hd_io_idx_is(const hd_file *file);
bool hd_io_matrixmarket_is(const hd_file *file);
bool hd_io_libsvm_is(const hd_file *file);

huddle_status hd_io_npy_open(hd_io_request *request, const hd_file *file,
                             hd_io_container *container);
huddle_status hd_io_npz_open(hd_io_request *request, const hd_file *file,
                             hd_io_container *container);
huddle_status hd_io_mat_open(hd_io_request *request, const hd_file *file,
                             hd_io_container *container);
huddle_status hd_io_hdf5_open(hd_io_request *request, const hd_file *file,
                              hd_io_container *container);
huddle_status hd_io_idx_open(hd_io_request *request, const hd_file *file,
                             hd_io_container *container);
huddle_status hd_io_matrixmarket_open(hd_io_request *request, const hd_file *file,
                                      hd_io_container *container);
huddle_status hd_io_libsvm_open(hd_io_request *request, const hd_file *file,
                                hd_io_container *container);

/* Columns are points and labels. */
huddle_status hd_io_csv_read(hd_io_request *request, const hd_file *file, huddle_data *data);
/* One column, or the one that looks like labels. */
huddle_status hd_io_csv_labels(huddle_context *context, const hd_file *file, hd_io_labels *labels);
/* All columns, as doubles. */
huddle_status hd_io_csv_dense(huddle_context *context, const hd_file *file, huddle_dense *matrix);

huddle_status hd_io_images_read(hd_io_request *request, const char *folder, huddle_data *data);

/* digits and the generators. */
bool hd_io_is_generator(const char *name);
huddle_status hd_io_digits_make(huddle_data *data);
huddle_status hd_io_generate(huddle_context *context, const char *kind,
                             const huddle_read_options *options, huddle_data *data);

/* Applies options->classes and options->per_class. */
huddle_status hd_io_data_select(huddle_context *context, const huddle_read_options *options,
                                huddle_data *data);

#endif
