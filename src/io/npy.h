/* Arrays of NumPy as variables of a container: what archive/npy.h parsed, in the reader's terms. */
#ifndef HUDDLE_SRC_IO_NPY_H
#define HUDDLE_SRC_IO_NPY_H

#include "archive/npy.h"
#include "io/container.h"

/* Fills in kind, trouble and array (but its bytes) of a variable. */
void hd_npy_describe(const hd_npy *npy, hd_variable *variable);

/* The texts of an array of S or U, without trailing zeros, as UTF-8. */
huddle_status hd_npy_texts(const hd_npy *npy, const char *elements, hd_labels *texts);

#endif
