/* One gray image from a PGM (P2, P5) or PNG file. */
#ifndef HUDDLE_SRC_IO_IMAGE_H
#define HUDDLE_SRC_IO_IMAGE_H

#include "archive/file.h"

typedef struct hd_io_image {
    int32_t height, width;
    float *pixels; /* row by row, 0 .. 255 whatever the file's depth */
} hd_io_image;

/* Images of data sets are smaller; a damaged header easily claims to be larger. */
enum { HD_IO_MAX_SIDE = 1 << 15 };

/* Messages contain the file's name. Colours become gray by their luminance; transparency is
 * ignored. */
huddle_status hd_io_image_read(const char *path, hd_io_image *image);

/* For the readers of a format. Allocates the pixels; HUDDLE_FORMAT if the size is impossible. */
huddle_status hd_io_image_reserve(int64_t height, int64_t width, hd_io_image *image);

/* Reads a file that begins like a PNG image. Messages do not contain its name. */
huddle_status hd_io_png_read(const hd_file *file, hd_io_image *image);

#endif
