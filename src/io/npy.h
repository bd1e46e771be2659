/* The header of NumPy's array format, which .npy files and the members of .npz files begin with. */
#ifndef HUDDLE_SRC_IO_NPY_H
#define HUDDLE_SRC_IO_NPY_H

#include "io/container.h"

/* Fills kind, array (but its bytes) or the width of texts from a header. `size` bytes are there;
 * *offset is where the elements begin, *bytes how long they are. HUDDLE_FORMAT if it is damaged. */
typedef struct hd_npy {
    hd_kind kind;
    const char *trouble; /* HD_OTHER */
    hd_array array;      /* bytes unset */
    int64_t text_width;  /* HD_TEXTS: characters each */
    bool unicode;        /* HD_TEXTS: of four bytes each */
    int64_t offset, bytes;
} hd_npy;

/* The length of the header in the first 12 bytes, or -1 if this is no NPY file. */
int64_t hd_npy_header_length(const char *text, int64_t size);
huddle_status hd_npy_parse(const char *text, int64_t size, hd_npy *npy);

/* Texts from the elements after a header, trailing zeros cut off, as UTF-8. */
huddle_status hd_npy_texts(const hd_npy *npy, const char *elements, hd_labels *texts);

/* A header for a packed array, of 64 x k bytes, as text of its own: "<f4", {n, d}. */
huddle_status hd_npy_header(const char *type, int rank, const int64_t *dims, char **header,
                            int64_t *length);

#endif
