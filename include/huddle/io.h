/* Huddle, io: data sets and labels in files, the built-in digits, and generators. These functions
 * are in libhuddle-io (pkg-config huddle-io, CMake huddle::io).
 *
 *   read      CSV, TSV, ARFF, NPY, NPZ, MAT (v5 to v7.3), HDF5, LIBSVM, MatrixMarket, IDX, all but
 *             HDF5 also compressed by gzip, bzip2, xz or zstd; a folder of PGM, PPM, PNG, JPEG, BMP
 *             or TIFF images with one sub-folder per class; a TIFF file of several pages
 *   write     CSV, TSV, NPY, NPZ, MAT (v5), HDF5, LIBSVM
 *   generate  digits (embedded), moons, rings, spirals, blobs, unequal, swissroll
 *
 * The content of a file decides its format, not its name. An error message begins with the file's
 * name, the place and the reason: "faces.csv: line 12, column 3 (age): the value is missing".
 * Output is written to a temporary file that is renamed when complete.
 *
 * Containers (NPZ, MAT, HDF5): the points are the array with a conventional name (X, fea, data,
 * features, ...), or the only array that is not a vector. The labels are the vector beside it with
 * a conventional name (gnd, labels, target, class, y, ...). Case does not matter. Samples are
 * columns if there are as many labels as columns and not as many as rows. The fields of a MATLAB
 * struct are variables called STRUCT.FIELD.
 *
 * Images: an array of three dimensions is n images of h x w, one of four dimensions n colour images
 * of h x w x 3 or 3 x h x w, or gray ones with 1 in the place of 3. Otherwise the size is read from
 * im_height and im_width, and the order of the pixels from im_order (1: along rows, 2: down
 * columns; the default is down columns for MAT, along rows for the others), or given
 * (huddle_read_options.image), or inferred: rows of 64 or more values in 0 .. 255 or -1 .. 1 are
 * images if values at a distance of one row of pixels are more alike than those one further or one
 * closer. Of such images the order of the pixels is that in which the mean image is symmetric from
 * left to right, as that of faces is, or higher than wide, as that of digits is. The size is for
 * reports and has no influence on the points.
 *
 * Mapped files: float32 points of an NPY file in C order are not copied; they are the pages of the
 * file, which the system reads when they are needed and may drop again, until huddle_data_free().
 * Until then the file must not be changed in place: a program that reads beyond the new end of a
 * file that has become shorter receives SIGBUS. Replacing it by another file under the same name,
 * as all functions of this library do, is safe. With huddle_read_options.copy nothing is mapped.
 *
 * Processes: under an engine that distributes rows over processes, all of them call
 * huddle_data_read() and huddle_labels_read() with the same arguments. Process r of P gets the rows
 * total * r / P .. total * (r + 1) / P - 1 of the points and labels that one process would read;
 * everything else (classes, names, image size, ...) is the same on all. Of plain NPY, HDF5 and IDX
 * files each process reads its own rows; other formats, compressed files and selected classes are
 * read by process 0, which sends the others their rows. The file must be the same for all processes
 * that read it. If one fails, all return its failure. The other functions that read do not
 * communicate: each process gets everything.
 *
 * Tables (CSV, TSV): columns are separated by commas, semicolons, tabs, bars or blanks, a header is
 * recognised, fields may be quoted, lines end in LF, CR LF or CR. Unless the options name the
 * features (x) and the labels (y):
 *
 *   labels      the column with a conventional name, if it contains text or integers; else
 *               the only text column whose values repeat. In a table whose columns
 *               are x and y, or x, y and z, y is a coordinate, not a label. Dates are never labels.
 *   row names   the first text column in which no value repeats or, with more than 20 rows, more
 *               than half of the values are distinct
 *   ignored     row numbers (a first column of 0 .. n - 1 or 1 .. n, or different integers
 *               under a name such as id, index or Unnamed: 0, or without a name); further row
 *               names; dates; columns without values; columns that map one to one onto the labels
 *   features    all other columns; text columns are refused with a message that suggests
 *               alternatives, or encoded (huddle_read_options.encode)
 *
 * huddle_data.columns describes how each column was used and why. The context's log receives the
 * same.
 *
 * Numbers may have thousands separators, a currency sign or a per cent sign ($1,000.50; 5 % is
 * 0.05). The decimal sign, point or comma, is determined for each column: 1,5 and 1.234,56 have a
 * decimal comma, 1.5 and 1,234.56 a decimal point. Where all values of a column look like 1,234 or
 * 1.234, the other columns decide; if they do not either, a comma is decimal in a file with
 * semicolons and a thousands separator in others, a point is decimal, and a warning is issued.
 *
 * Generators: moons (2 classes), rings and spirals (3), blobs (5) and unequal (3 discs, one of them
 * large) in the plane; swissroll in space, cut across into four strips, which are the classes.
 * Point i is of class i mod c.
 */
#ifndef HUDDLE_IO_H
#define HUDDLE_IO_H

#include "huddle/matrix.h"

/* ---- formats ------------------------------------------------------------------------------ */

/* A file format. Some readers need a library that a build of Huddle may leave out. */
typedef struct huddle_format {
    const char *name;          /* "npz", as in huddle_data.format; two rows may share one */
    const char *title;         /* "NumPy archive" */
    const char *endings;       /* of file names, separated by blanks: ".h5 .hdf5" */
    const char *write_endings; /* those that huddle_data_write() accepts; NULL: not written */
    bool dense, sparse;        /* points that it can contain */
    const char *library;       /* the outside library it needs, or NULL */
    bool present;              /* this build has that library */
} huddle_format;

/* All formats; ends with {0}. Formats missing from this build are listed too, and recognised:
 * reading them fails with HUDDLE_UNSUPPORTED. */
HUDDLE_API const huddle_format *huddle_formats(void);

/* How a file may be compressed: all formats but HDF5, MATLAB v7.3 and the images of a folder. */
typedef struct huddle_packing {
    const char *name;    /* "gzip" */
    const char *ending;  /* ".gz" */
    const char *library; /* that it needs */
    bool present;        /* this build has it */
} huddle_packing;

/* All of them; ends with {0}. */
HUDDLE_API const huddle_packing *huddle_packings(void);

/* ---- data sets ---------------------------------------------------------------------------- */

/* How a column of a table was used. */
typedef enum huddle_column_role {
    HUDDLE_COLUMN_FEATURE,
    HUDDLE_COLUMN_LABEL,
    HUDDLE_COLUMN_IGNORED,      /* by the rules above */
    HUDDLE_COLUMN_NOT_SELECTED, /* x and y name other columns */
    HUDDLE_COLUMN_NAMES         /* it became row_names */
} huddle_column_role;

typedef struct huddle_column {
    char *name; /* "" if it has none */
    huddle_column_role role;
    char *reason; /* why it is the label, names or ignored, how text was encoded; or NULL */
} huddle_column;

/* A data set: points, and labels if there are any. More than 20 fields: it is everything that a
 * file can say about its points. */
typedef struct huddle_data {
    char *name;         /* of the file or the generator */
    const char *format; /* "csv", "npy", ..., "digits", "moons"; static text */
    huddle_points points;
    int32_t *labels;      /* n in 0 .. n_classes - 1 by ascending value, or NULL */
    int32_t n_classes;    /* 0 without labels */
    char **classes;       /* n_classes strings: the labels as the file has them */
    bool classes_numeric; /* the labels are integers there */
    char **features;      /* d column names, or NULL */
    char **names;         /* of the variables of a container or the columns of a table */
    int64_t n_names;
    int32_t height, width; /* of images, in rows and columns of pixels; 0 if unknown */
    int32_t channels;      /* of images: 1 gray; 3 red, green and blue, side by side or in planes */
    bool column_major;     /* pixels of an image run down its columns */
    bool planes;           /* of colour images: all red values first, then green, then blue */
    huddle_column *columns; /* of a table, in the order of the file; else NULL */
    int64_t n_columns;
    char **row_names; /* of a table: n texts and NULL, if a column names the rows; else NULL, also
                         if rows are distributed over processes */
    int64_t *dropped; /* rows, from 0, that options->missing = "drop" left out; ascending. Empty if
                         classes were selected. */
    int64_t n_dropped;
    int64_t first_row, total_rows; /* where the points are among those of all processes: 0 and n
                                      unless the context's engine distributes rows */
    double *exact; /* with huddle_read_options.exact: the values of the points as doubles, n x d or
                      one for each non-zero; NULL if the points have all their digits */
} huddle_data;

/* How to read. Zeroed: everything is found by conventional names. Many fields: each is one flag of
 * the tool, and most callers set one or two. */
typedef struct huddle_read_options {
    const char *const *x; /* names, stacked in order (CSV: columns by name, 1-based position or
                             range of positions, such as 2-64) */
    int64_t n_x;
    const char *const *y; /* likewise; {"none"} ignores labels; a file's name reads them there */
    int64_t n_y;
    bool transpose;      /* samples are columns, whatever the labels suggest */
    const char *classes; /* keep these classes, by their value in the file: "11-36,40" */
    int64_t per_class;   /* keep only the first so many points of each class; 0 = all */
    int64_t n;           /* generators: points, 0 = 1000 */
    double noise;        /* generators: HUDDLE_AUTO = the default of the generator */
    uint64_t seed;       /* generators, and draw */
    const double *shift; /* with n_shift features: round columns of doubles relative to this, or
                            to 0 if it is NULL, as the points of a model were: take both from
                            huddle_model_shift() */
    int64_t n_shift;     /* if not the number of features, the shift is chosen from the data */
    const char *missing; /* tables: what to do with missing values (empty, NA, NaN, null, None, ?,
                            -): NULL or "error" refuses them, with the place; "drop" removes
                            their rows; "mean" and "median" fill in that of the column. A missing
                            label can only be dropped. */
    bool encode;         /* tables: a text column becomes one feature per category (at most 100),
                            named COLUMN=TEXT: sqrt(1/2) in rows of that category, else 0, so that
                            rows of different categories are at distance 1. Labels are then found
                            by y or a conventional name only. */
    bool x_by_name; /* x are the features of another table, as huddle_data.features has them: the
                       points have them in that order, found by name and never by position.
                       COLUMN=TEXT is a category of an encoded column, regardless of encode: a
                       category that does not occur is 0 in all rows, one that x does not contain
                       is reported in a warning. A table without names, or another kind of file, is
                       read as if x were not given. */
    const char *header;  /* tables: "yes" or "no": the first row is a header, or none; NULL or
                            "auto": as it looks */
    bool copy;           /* never map: see "Mapped files" above */
    bool gray;           /* image files: colours become gray, by their luminance */
    const char *image;   /* what each row shows: "32x32" (height, width), "32x32x3" (red, green and
                            blue side by side), "3x32x32" (all red first), with ":rows" or
                            ":columns" after it if pixels run that way; "none"; NULL: as described
                            above */
    bool hints_as_flags; /* messages suggest flags of the tool, "--missing drop", instead of
                            missing = "drop" */
    bool exact;          /* keep the values in double precision too, in huddle_data.exact, which
                            huddle_data_write() writes then: arrays of doubles and of 32-bit and
                            64-bit integers always, text if float does not hold one of its numbers.
                            Of values beyond float, which are refused otherwise, the points have
                            the largest float.
                            HUDDLE_UNSUPPORTED if the context's engine distributes rows. */
    bool draw;           /* the per_class points of each class are drawn at random, by seed, and
                            stay in their order */
} huddle_read_options;

/* Reads `source`: a file, a folder, "digits" or a generator's name (to read a file of that
 * name in the working directory, pass "./digits"). */
HUDDLE_API huddle_status huddle_data_read(huddle_context *context, const char *source,
                                          const huddle_read_options *options, huddle_data *data);
HUDDLE_API void huddle_data_free(huddle_data *data);

/* The variables of a container. A table has none. */
typedef struct huddle_listing {
    const char *format; /* as in huddle_data */
    int64_t count;
    char **names;
    int64_t (*dims)[4]; /* shapes; 0 after the last dimension */
    bool has_points;    /* huddle_data_read() finds the points without options->x */
} huddle_listing;

HUDDLE_API huddle_status huddle_data_list(huddle_context *context, const char *path,
                                          huddle_listing *listing);
HUDDLE_API void huddle_listing_free(huddle_listing *listing);

/* The names of everything that can be generated, "digits" first; ends with NULL. */
HUDDLE_API const char *const *huddle_data_kinds(void);

/* Writes points and labels in the format of path's extension: csv, tsv, txt, npy, npz, mat, h5,
 * hdf5, svm, libsvm. The names inside are X and y, im_height, im_width and im_order. NPY contains
 * no labels, LIBSVM no string labels: a warning is issued. Sparse points can be written as npz
 * (which scipy.sparse reads), mat and svm; HUDDLE_UNSUPPORTED otherwise: they are never made dense.
 *
 * Values are float32, and float64 if data->exact is set or the points have a shift. Text has the
 * fewest digits that are read back as the same number of that precision. Sparse matrices in MAT
 * are float64. */
HUDDLE_API huddle_status huddle_data_write(huddle_context *context, const huddle_data *data,
                                           const char *path);

/* One integer per row, as .csv (text below the header "cluster"), .txt (text) or .npy (int32).
 * values[i] is written as texts[values[i]] in text formats if texts is not NULL. */
HUDDLE_API huddle_status huddle_labels_write(const char *path, int64_t n, const int32_t *values,
                                             const char *const *texts);

/* The same for labels of rows that the engine distributes over processes: all call it with
 * their n labels and the same path and texts, and one file has them in the order of the processes.
 * Where all see the directory, the processes write their rows of .npy at the same time, otherwise
 * process 0 writes what the others send. If one fails, all return its failure and there is no file.
 */
HUDDLE_API huddle_status huddle_labels_write_slabs(huddle_context *context, const char *path,
                                                   int64_t n, const int32_t *values,
                                                   const char *const *texts);

/* A column of a table to write: one of integers and reals. NaN is written as an empty field, or as
 * NA between blanks. */
typedef struct huddle_new_column {
    const char *name;
    const int32_t *integers;
    const double *reals;
} huddle_new_column;

/* n rows as CSV, below a header with the names. */
HUDDLE_API huddle_status huddle_columns_write(const char *path, int64_t n, int64_t n_columns,
                                              const huddle_new_column *columns);

/* Writes the table `source` (CSV, TSV; also compressed) to `path`, which must be another file, with
 * columns added on its right: one value for each of the n rows that huddle_data_read() finds there.
 * Everything else remains, byte by byte. If the table has no header, the new columns have no names;
 * a name that it has already is followed by ".1", ".2", ... The options are those with which the
 * table was read, of which only the header counts; or NULL. HUDDLE_UNSUPPORTED if the source is not
 * a table, HUDDLE_INVALID if it does not have n rows. */
HUDDLE_API huddle_status huddle_columns_append(huddle_context *context, const char *source,
                                               int64_t n, int64_t n_columns,
                                               const huddle_new_column *columns,
                                               const huddle_read_options *options,
                                               const char *path);

/* Reads one label per row from any supported file: integers or strings, mapped to
 * 0 .. n_classes - 1 by ascending value; *classes receives their strings. The caller frees all. */
HUDDLE_API huddle_status huddle_labels_read(huddle_context *context, const char *path, int64_t *n,
                                            int32_t **labels, int32_t *n_classes, char ***classes);
/* The same for labels that a clustering has found: of a table, the column that
 * huddle_columns_append() has named "cluster", or "cluster.1", ..., is preferred, the last of them;
 * huddle_labels_read() prefers other names. */
HUDDLE_API huddle_status huddle_clusters_read(huddle_context *context, const char *path, int64_t *n,
                                              int32_t **labels, int32_t *n_classes,
                                              char ***classes);

/* Arrays and graphs as SciPy reads them: .npy (f4, f8, i4) and scipy.sparse's .npz. */
HUDDLE_API huddle_status huddle_dense_write_npy(const char *path, const huddle_dense *matrix);
/* The rows of all processes, as huddle_labels_write_slabs() writes them; cols must be the same. */
HUDDLE_API huddle_status huddle_dense_write_npy_slabs(huddle_context *context, const char *path,
                                                      const huddle_dense *matrix);
HUDDLE_API huddle_status huddle_points_write_npy(const char *path, const huddle_points *points);
HUDDLE_API huddle_status huddle_csr_write_npz(const char *path, const huddle_csr *matrix);
HUDDLE_API huddle_status huddle_dense_read(huddle_context *context, const char *path,
                                           huddle_dense *matrix);
/* A sparse matrix from SciPy's .npz (csr, csc, coo), MatrixMarket, MAT or a dense array. */
HUDDLE_API huddle_status huddle_csr_read(huddle_context *context, const char *path,
                                         huddle_csr *matrix);

#endif
