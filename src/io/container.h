/* A file with named arrays inside, whatever its format, and how data is found in it. A reader
 * lists its variables; which of them are points and labels, how they are oriented and stacked is
 * decided here, once for all formats. */
#ifndef HUDDLE_SRC_IO_CONTAINER_H
#define HUDDLE_SRC_IO_CONTAINER_H

#include "archive/file.h"
#include "huddle/io.h"
#include "io/array.h"
#include "io/labels.h"

typedef enum hd_io_kind {
    HD_IO_ARRAY,  /* numbers */
    HD_IO_SPARSE, /* a sparse matrix */
    HD_IO_TEXTS,  /* a list of texts */
    HD_IO_OTHER   /* something Huddle does not read */
} hd_io_kind;

typedef struct hd_io_variable {
    char *name;
    hd_io_kind kind;
    const char *refusal; /* HD_IO_OTHER: "holds complex numbers"; static text */
    bool part;           /* of another variable: not listed, and not found by its name */
    hd_io_array array;   /* HD_IO_ARRAY; for the others only rank and dims count */
    huddle_csr sparse;   /* HD_IO_SPARSE, when loaded */
    bool wide;           /* HD_IO_SPARSE: its values have a type that float does not contain */
    hd_io_labels texts;  /* HD_IO_TEXTS, when loaded */
    char *owned;         /* the bytes of array, if they are owned */
    int64_t place;       /* for the reader: where it is */
    int64_t inside;      /* for the reader: where in what is at place; 0: all of it */
    bool divided;        /* only the elements from starts on are read, as many as array.dims says */
    int64_t starts[HD_IO_MAX_RANK];
} hd_io_variable;

/* The rows of a process that reads only those (io/rows.h). */
typedef struct hd_io_rows {
    int32_t rank, count;     /* of the process, and the number of processes */
    int64_t first, n, total; /* the rows, once their number is known */
} hd_io_rows;

/* What is being read, and for whom. */
typedef struct hd_io_request {
    huddle_context *context;
    const huddle_read_options *options; /* never NULL */
    const char *failing_path; /* what a failure is about; NULL: its message contains the file */
    hd_io_rows *rows;         /* NULL: all rows are read */
    bool typed;               /* the numbers in the file have a type that float does not contain */
    bool clusters;            /* labels are those of a clustering (hd_io_find_label()) */
} hd_io_request;

/* Passes on the status of a call whose messages contain the name of a file already. */
static inline huddle_status hd_io_located(hd_io_request *request, huddle_status status) {
    if (status != HUDDLE_OK)
        request->failing_path = NULL;
    return status;
}

typedef struct hd_io_container hd_io_container;

struct hd_io_container {
    const char *format;
    bool down_columns; /* pixels of images run down columns, unless the file specifies the order */
    const hd_file *file;
    bool dotted;    /* parts of names are separated by dots instead of slashes */
    bool divisible; /* hd_io_variable_divide() works for all variables */
    hd_io_variable *variables;
    int64_t count, capacity;
    void *state; /* the reader's own */
    /* Makes a variable's bytes, sparse or texts available. NULL: all were from the beginning. */
    huddle_status (*load)(hd_io_container *container, hd_io_variable *variable);
    /* Reads a packed array of floats, or of what the reader turns into floats without loss,
     * straight into place, where the caller checks them unless *checked says that all
     * are finite. Leaves *done false, having done nothing, if it cannot. NULL: never. */
    huddle_status (*read_floats)(hd_io_request *request, hd_io_container *container,
                                 const hd_io_variable *variable, float *values, bool *done,
                                 bool *checked);
    /* Lets packed floats of a plain file stay there: sets values and mapping of the points, and
     * nothing else; leaves them NULL if it cannot. NULL: never. */
    huddle_status (*map_floats)(const hd_io_container *container, const hd_io_variable *variable,
                                huddle_points *points);
    void (*close)(hd_io_container *container); /* NULL: nothing to do */
};

/* Adds a variable named by the first `length` bytes of name. */
huddle_status hd_io_container_add(hd_io_container *container, const char *name, int64_t length,
                                  hd_io_variable **added);
void hd_io_container_close(hd_io_container *container);

/* Elements of a variable, by its shape. */
int64_t hd_io_variable_count(const hd_io_variable *variable);

/* Loads a variable unless it is loaded; unloads it if the reader can load it again. */
huddle_status hd_io_variable_load(hd_io_container *container, hd_io_variable *variable);
void hd_io_variable_unload(const hd_io_container *container, hd_io_variable *variable);

/* Restricts a variable that is not loaded, of a divisible container, to the elements first ..
 * first + count - 1 along an axis. */
void hd_io_variable_divide(hd_io_variable *variable, int32_t axis, int64_t first, int64_t count);

/* Points, labels and image size from a container. */
huddle_status hd_io_container_read(hd_io_request *request, hd_io_container *container,
                                   huddle_data *data);

/* Only the labels: the variable with a conventional name, or the only vector. */
huddle_status hd_io_container_find_labels(const hd_io_container *container,
                                          hd_io_variable **variable);

/* HUDDLE_INVALID if a variable is not a vector. */
huddle_status hd_io_container_check_labels(const hd_io_variable *variable);

/* Appends the labels of a variable, which is unloaded again. */
huddle_status hd_io_container_append(hd_io_container *container, hd_io_variable *variable,
                                     hd_io_labels *labels);

/* Names and shapes, and whether points are found by conventional names. */
huddle_status hd_io_container_list(const hd_io_container *container, huddle_listing *listing);

/* The one variable for huddle_dense_read() and huddle_csr_read(), loaded. */
huddle_status hd_io_container_matrix(hd_io_container *container, hd_io_variable **variable);

/* How well a name suits labels: 0 is best, -1 not at all. gnd, label, target, class, y and their
 * like, in any case. */
int32_t hd_io_label_name_rank(const char *name);

/* True if the options exclude labels. */
bool hd_io_labels_unwanted(const huddle_read_options *options);

/* Labels from the files that options->y names, stacked. */
huddle_status hd_io_labels_from_files(hd_io_request *request, hd_io_labels *labels);

/* Labels from any file that has some, to be freed also after a failure; error messages contain its
 * name. clusters: of a clustering (hd_io_find_label()). */
huddle_status hd_io_labels_read_raw(huddle_context *context, const char *path, bool clusters,
                                    hd_io_labels *labels);

/* Labels into data, which must have as many points: the file that options->y names may have
 * others, and is then what the failure is about. */
huddle_status hd_io_data_set_labels(hd_io_request *request, huddle_data *data,
                                    hd_io_labels *labels);

#endif
