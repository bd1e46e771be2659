/* One gray image from a PGM (P2, P5) or PNG file. */
#ifndef HUDDLE_SRC_IO_IMAGE_H
#define HUDDLE_SRC_IO_IMAGE_H

#include "huddle/base.h"

typedef struct hd_io_image {
    int32_t height, width;
    float *pixels; /* row by row, 0 .. 255 whatever the file's depth */
} hd_io_image;

/* Sentences name the file. Colours become gray by their luminance; transparency is ignored. */
huddle_status hd_io_image_read(const char *path, hd_io_image *image);

#endif
