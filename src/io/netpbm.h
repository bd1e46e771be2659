/* PGM (P2, P5) and PPM (P3, P6) images. */
#ifndef HUDDLE_SRC_IO_NETPBM_H
#define HUDDLE_SRC_IO_NETPBM_H

#include "io/image.h"

bool hd_io_netpbm_is(const hd_file *file);
/* Messages do not contain the file's name. */
huddle_status hd_io_netpbm_read(const hd_file *file, hd_io_image *image);

#endif
