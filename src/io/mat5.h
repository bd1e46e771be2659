#ifndef HUDDLE_SRC_IO_MAT5_H
#define HUDDLE_SRC_IO_MAT5_H

#include "io/container.h"

/* Opens a MAT file of version 5, which the caller has recognised. */
huddle_status hd_mat5_open(const hd_file *file, hd_container *container);

#endif
