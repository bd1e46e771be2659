/* NumPy's array format (numpy.lib.format): the header that .npy files and the members of .npz files
 * begin with, and arrays as entries of a zip archive. */
#ifndef HUDDLE_SRC_ARCHIVE_NPY_H
#define HUDDLE_SRC_ARCHIVE_NPY_H

#include "archive/zip.h"

enum { HD_NPY_MAX_RANK = 8 };

/* What a header describes. */
typedef struct hd_npy {
    char kind;     /* NumPy's letter: f, i, u, b, c; S and U for texts; O, V (also for records) and
                      other letters for what has no elements of a known size */
    int64_t width; /* bytes per element; S and U: characters per text */
    bool swapped;  /* the elements are in the other byte order than this machine's */
    bool fortran;  /* the first index varies fastest */
    int32_t rank;  /* dims has at most HD_NPY_MAX_RANK of them */
    int64_t dims[HD_NPY_MAX_RANK];
    int64_t offset; /* where the elements begin */
    int64_t count;  /* elements */
    int64_t bytes;  /* of all elements; 0 if their size is not known */
} hd_npy;

/* Parses a header of which `size` bytes are there. HUDDLE_FORMAT if it is damaged. The caller
 * checks that npy->bytes follow npy->offset. */
huddle_status hd_npy_parse(const char *text, int64_t size, hd_npy *npy);

/* Bytes of one element: 4 for each character of U. */
int64_t hd_npy_element_size(const hd_npy *npy);

/* The header of an array in C order, such as "<f4" and {n, d}, of 64 x k bytes, in memory to be
 * freed by huddle_free(). */
huddle_status hd_npy_header(const char *type, int32_t rank, const int64_t *dims, char **header,
                            int64_t *length);

/* Begins entry NAME.npy with the header of an array, whose *bytes bytes follow with hd_zip_write(),
 * and then hd_zip_end(). */
huddle_status hd_npy_begin(hd_zip_writer *zip, const char *name, hd_zip_method method,
                           const char *type, int32_t rank, const int64_t *dims, int64_t *bytes);

/* Adds the array as entry NAME.npy. The types are NumPy's: "<f4", "<f8", "<i4", "<i8", "|u1",
 * "|b1", "|S3", "<U5". */
huddle_status hd_npy_add(hd_zip_writer *zip, const char *name, hd_zip_method method,
                         const char *type, int32_t rank, const int64_t *dims, const void *elements);

/* Reads the header of an entry without unpacking the rest, to list the arrays of an archive. Its
 * CRC-32 is checked when the array is read. */
huddle_status hd_npy_peek(const hd_zip *zip, const hd_zip_entry *entry, hd_npy *npy);

/* Reads an array: npy describes it and *bytes, to be freed by huddle_free(), has its elements. */
huddle_status hd_npy_read(const hd_zip *zip, const hd_zip_entry *entry, hd_npy *npy, char **bytes);

/* Reads the elements, of exactly `size` bytes, straight to `to`. */
huddle_status hd_npy_read_to(const hd_zip *zip, const hd_zip_entry *entry, void *to, int64_t size);

#endif
