/* One image from a file: Netpbm, PNG, JPEG, TIFF or BMP, each in a file of its own. */
#ifndef HUDDLE_SRC_IO_IMAGE_H
#define HUDDLE_SRC_IO_IMAGE_H

#include "archive/file.h"

typedef struct hd_io_image {
    int32_t height, width;
    int32_t channels;    /* 1: gray; 3: red, green, blue */
    int32_t orientation; /* how the rows are to be turned: EXIF's 1 .. 8, where 0 and 1 mean not */
    float *pixels;       /* row by row, the channels of a pixel side by side, 0 .. 255 whatever the
                            file's depth */
} hd_io_image;

/* Images of data sets are smaller; a damaged header easily claims to be larger. */
enum { HD_IO_MAX_SIDE = 1 << 15 };

/* Reads an image, the given page of it if it is TIFF, upright. Messages contain the file's name. An
 * image is gray if the three channels are equal everywhere; transparency is ignored. */
huddle_status hd_io_image_read(const char *path, int32_t page, hd_io_image *image);

/* The same for a file that is open. */
huddle_status hd_io_image_decode(const hd_file *file, int32_t page, hd_io_image *image);

/* The number of images in a file: 1 unless it is TIFF. Messages contain the file's name. */
huddle_status hd_io_image_pages(const hd_file *file, int32_t *pages);

/* True if the name of a file is that of an image. */
bool hd_io_image_named(const char *path);

/* The formats that this build reads, for messages: "PGM, PPM, BMP, PNG and TIFF". */
void hd_io_image_formats(char *text, size_t size);

/* For the readers of a format. Allocates the pixels; HUDDLE_FORMAT if the size is impossible, or
 * more than `file_size` bytes could unpack to if one byte holds at most `ratio` pixels. */
huddle_status hd_io_image_reserve(int64_t height, int64_t width, int32_t channels, int64_t ratio,
                                  int64_t file_size, hd_io_image *image);

/* The readers, for files that begin like such an image. Messages do not contain its name. */
bool hd_io_netpbm_is(const hd_file *file);
bool hd_io_bmp_is(const hd_file *file);
huddle_status hd_io_netpbm_read(const hd_file *file, int32_t page, hd_io_image *image);
huddle_status hd_io_bmp_read(const hd_file *file, int32_t page, hd_io_image *image);
huddle_status hd_io_png_read(const hd_file *file, int32_t page, hd_io_image *image);
huddle_status hd_io_jpeg_read(const hd_file *file, int32_t page, hd_io_image *image);
huddle_status hd_io_tiff_read(const hd_file *file, int32_t page, hd_io_image *image);
huddle_status hd_io_tiff_pages(const hd_file *file, int32_t *pages);
bool hd_io_tiff_is(const hd_file *file);

#endif
