/* The formats, one reader per file. A reader is opened on a file whose content it has recognised
 * and lists what is inside; messages of failures do not contain the file's name. */
#ifndef HUDDLE_SRC_IO_FORMATS_H
#define HUDDLE_SRC_IO_FORMATS_H

#include "io/container.h"
#include "io/writers.h"

typedef bool hd_io_test(const hd_file *file);
typedef huddle_status hd_io_opener(hd_io_request *request, const hd_file *file,
                                   hd_io_container *container);

/* A row of the table in formats.c. */
typedef struct hd_io_format {
    const huddle_format *about;
    hd_io_test *is;     /* NULL: not recognised by its content */
    hd_io_opener *open; /* NULL for CSV, which has columns instead of variables, and for images */
    /* For files of images; NULL for all others. */
    huddle_status (*read)(hd_io_request *request, const hd_file *file, huddle_data *data);
    hd_io_writer *write; /* NULL: not written */
    bool divisible;      /* processes can read rows of a plain file */
} hd_io_format;

/* Finds the format by content; the file's ending decides only where several formats fit. */
huddle_status hd_io_detect(const hd_file *file, const hd_io_format **format);

/* The format that is written to a file of that name, or NULL. */
const hd_io_format *hd_io_find_writer(const char *path);

/* The endings of files that can be written: ".csv, .tsv or .npy". */
void hd_io_list_write_endings(char *text, size_t size);

/* HUDDLE_UNSUPPORTED, with advice, if the content is of a format that Huddle knows but does not
 * read, such as Parquet or a spreadsheet. binary: the content is not text. */
huddle_status hd_io_refuse_foreign(const hd_file *file, bool binary);

/* What was recoded in a file, for those who write it again. */
typedef struct hd_io_encoding {
    bool utf16, big; /* big-endian */
    bool mark;       /* it begins with a byte order mark */
    bool returns;    /* lines end with CR alone */
} hd_io_encoding;

/* Text in another encoding becomes UTF-8: UTF-16 in any file, Latin-1 (Windows-1252) in a table,
 * with a warning. In a table whose lines end with CR alone, these become LF. Other files are left
 * alone. What was done is set in *encoding, which may be NULL. */
huddle_status hd_io_recode_utf16(hd_file *file, hd_io_encoding *encoding);
huddle_status hd_io_recode_returns(hd_file *file, hd_io_encoding *encoding);
huddle_status hd_io_recode_latin1(huddle_context *context, hd_file *file);

/* The first character of a UTF-8 text of at least one byte as UTF-16, in two or four bytes; returns
 * how many bytes of the text it takes. A byte that is not UTF-8 is U+FFFD. */
int hd_io_encode_utf16(const char *text, const char *end, bool big, char to[4], int *size);

/* The size of the images that the rows of data are, if the reader did not find it: as
 * options->image says, or inferred. All processes that have rows call it. */
huddle_status hd_io_data_shape(huddle_context *context, const huddle_read_options *options,
                               huddle_data *data);

/* HUDDLE_UNSUPPORTED for a format whose library was left out; the text is what needs it, "HDF5
 * files". */
huddle_status hd_io_missing_library(const char *library, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
huddle_status hd_io_check_library(const hd_io_format *format);

/* Opens a file, unpacks it, makes UTF-8 of UTF-16 and finds its format. */
huddle_status hd_io_file_open(huddle_context *context, const char *path, hd_file *file,
                              hd_io_encoding *encoding, const hd_io_format **format);

/* Add a matrix or texts of that name, which move to the container. */
huddle_status hd_io_add_sparse(hd_io_container *container, const char *name, huddle_csr *matrix);
huddle_status hd_io_add_texts(hd_io_container *container, const char *name, hd_io_labels *texts);

/* A file and its container. format->open is NULL if the file is a table, which has none. */
typedef struct hd_io_opened {
    hd_file file;
    const hd_io_format *format;
    hd_io_container container;
} hd_io_opened;

/* HUDDLE_INVALID if several processes are to read its rows but cannot. hd_io_close_file() closes
 * what is open, also after a failure. */
huddle_status hd_io_open_file(hd_io_request *request, const char *path, hd_io_opened *opened);
void hd_io_close_file(hd_io_opened *opened);

/* Puts the name of the file before a message that is about it; NULL: the message contains it. */
huddle_status hd_io_locate_failure(const char *path, huddle_status status);

/* HUDDLE_UNSUPPORTED if the options include some that are for tables only. */
huddle_status hd_io_refuse_table_options(const huddle_read_options *options);

/* huddle_data_read() on one process; messages contain the file's name. Generated data may be that
 * of request->rows only, which are then set. */
huddle_status hd_io_data_read(hd_io_request *request, const char *source, huddle_data *data);

hd_io_test hd_io_npy_is, hd_io_npz_is, hd_io_mat5_is, hd_io_mat73_is, hd_io_hdf5_is, hd_io_idx_is,
    hd_io_matrixmarket_is, hd_io_libsvm_is;
hd_io_test hd_io_arff_is;        /* dense or sparse */
hd_io_test hd_io_arff_sparse_is; /* read as a container; dense ones as a table */

hd_io_opener hd_io_npy_open, hd_io_npz_open, hd_io_mat5_open, hd_io_mat73_open, hd_io_hdf5_open,
    hd_io_idx_open, hd_io_matrixmarket_open, hd_io_libsvm_open, hd_io_arff_open;

/* Columns are points and labels. */
huddle_status hd_io_csv_read(hd_io_request *request, const hd_file *file, huddle_data *data);
/* One column, or the one that looks like labels; clusters: of a clustering (hd_io_find_label()). */
huddle_status hd_io_csv_labels(huddle_context *context, const hd_file *file, bool clusters,
                               hd_io_labels *labels);
/* All columns, as doubles. */
huddle_status hd_io_csv_dense(huddle_context *context, const hd_file *file, huddle_dense *matrix);

/* A folder of images; the pages of a TIFF file. */
huddle_status hd_io_images_read(hd_io_request *request, const char *folder, huddle_data *data);
huddle_status hd_io_pages_read(hd_io_request *request, const hd_file *file, huddle_data *data);

/* Leaves the data as if it had no labels. */
void hd_io_data_forget_labels(huddle_data *data);

/* digits and the generators. */
bool hd_io_is_generator(const char *name);
huddle_status hd_io_digits_make(huddle_data *data);
/* Names the classes "0", "1", ... in the order of their labels. */
huddle_status hd_io_data_number_classes(int32_t n_classes, huddle_data *data);
huddle_status hd_io_generate(huddle_context *context, const char *kind,
                             const huddle_read_options *options, hd_io_rows *rows,
                             huddle_data *data);

/* Applies options->classes and options->per_class. */
huddle_status hd_io_data_select(huddle_context *context, const huddle_read_options *options,
                                huddle_data *data);

#endif
