/* Arrays of rows that are distributed over processes, as the walk (fit/walk.h) saves and loads
 * them. All processes walk in step. Saving, process 0 writes the file and gets the rows of the
 * others in pieces of bounded size; loading, every process reads its own rows from the file. */
#ifndef HUDDLE_SRC_FIT_WALK_SLAB_H
#define HUDDLE_SRC_FIT_WALK_SLAB_H

#include "fit/walk.h"

/* The NPY type of an element and its size. All types are little-endian, the only byte order that is
 * supported. */
typedef struct hd_walk_element {
    const char *type;
    char kind;
    size_t size;
} hd_walk_element;

extern const hd_walk_element hd_walk_long, hd_walk_int_element;

/* Fortran order would exchange rows and columns; for one dimension both orders are the same. */
bool hd_walk_is_array_of(const hd_npy *npy, const hd_walk_element *e, int32_t rank);

/* The rows of this process: n rows of cols elements, `stride` elements apart. values may be NULL
 * where n is 0; an array that no process has is not written. */
typedef struct hd_walk_rows_part {
    const hd_walk_element *element;
    int32_t rank; /* 1: cols is 1 */
    int64_t n, cols, stride;
    const void *values;
} hd_walk_rows_part;

huddle_status hd_walk_save_rows(hd_walk *walk, const char *name, const hd_walk_rows_part *part);

/* The rows of this process; dims[0] becomes their number, dims[1] that of the columns. */
void hd_walk_load_rows(hd_walk *walk, const char *name, const hd_walk_element *e, int32_t rank,
                       int64_t dims[2], void **values);

/* The three arrays of n sparse rows, saved or loaded. When they are loaded, *nonzeros is the number
 * of entries in the file first, and then that of this process. */
typedef struct hd_walk_sparse {
    const hd_walk_element *element; /* of the values */
    int64_t n;
    int64_t *nonzeros;
    int64_t **offsets;
    int32_t **columns;
    void **values;
} hd_walk_sparse;

void hd_walk_sparse_rows(hd_walk *walk, const char *name, const hd_walk_sparse *sparse);

/* The largest of the values of all processes, some of which have no rows and may not know it. */
void hd_walk_agree_int(hd_walk *walk, int64_t *value);

#endif
