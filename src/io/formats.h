/* The formats, one reader a file. A reader is opened on a file whose content it recognised and
 * lists what is inside; sentences of failures do not name the file. */
#ifndef HUDDLE_SRC_IO_FORMATS_H
#define HUDDLE_SRC_IO_FORMATS_H

#include "io/container.h"

typedef struct hd_format {
    const char *name;
    const char *extensions[4]; /* without dot; ends with NULL */
    bool (*is)(const hd_file *file);
    /* NULL for CSV, which has columns instead of variables. */
    huddle_status (*open)(hd_request *request, const hd_file *file, hd_container *container);
} hd_format;

/* Replaces the bytes of a file packed by gzip by what they hold. IDX unpacks its own. */
huddle_status hd_file_unpack(hd_file *file);

/* By content; an extension decides only where several formats fit. */
huddle_status hd_detect(const hd_file *file, const hd_format **format);

/* Opens the container of a file of that format. */
huddle_status hd_open(hd_request *request, const hd_format *format, const hd_file *file,
                      hd_container *container);

bool hd_npy_is(const hd_file *file);
bool hd_npz_is(const hd_file *file);
bool hd_mat_is(const hd_file *file);
bool hd_hdf5_is(const hd_file *file);
bool hd_idx_is(const hd_file *file);
bool hd_matrixmarket_is(const hd_file *file);
bool hd_libsvm_is(const hd_file *file);

huddle_status hd_npy_open(hd_request *request, const hd_file *file, hd_container *container);
huddle_status hd_npz_open(hd_request *request, const hd_file *file, hd_container *container);
huddle_status hd_mat_open(hd_request *request, const hd_file *file, hd_container *container);
huddle_status hd_hdf5_open(hd_request *request, const hd_file *file, hd_container *container);
huddle_status hd_idx_open(hd_request *request, const hd_file *file, hd_container *container);
huddle_status hd_matrixmarket_open(hd_request *request, const hd_file *file,
                                   hd_container *container);
huddle_status hd_libsvm_open(hd_request *request, const hd_file *file, hd_container *container);

/* Columns are points and labels. */
huddle_status hd_csv_read(hd_request *request, const hd_file *file, huddle_data *data);
/* One column, or the one that looks like labels. */
huddle_status hd_csv_labels(huddle_context *context, const hd_file *file, hd_labels *labels);
/* All columns, as doubles. */
huddle_status hd_csv_dense(huddle_context *context, const hd_file *file, huddle_dense *matrix);

huddle_status hd_images_read(hd_request *request, const char *folder, huddle_data *data);

/* digits and the generators. */
bool hd_is_kind(const char *name);
huddle_status hd_digits_make(huddle_data *data);
huddle_status hd_generate(huddle_context *context, const char *kind,
                          const huddle_read_options *options, huddle_data *data);

/* Applies options->classes and options->per_class. */
huddle_status hd_data_select(huddle_context *context, const huddle_read_options *options,
                             huddle_data *data);

#endif
