/* Compiled in place of jpeg.c when HUDDLE_WITH_JPEG is off. */
#include "io/formats.h"
#include "io/image.h"

huddle_status hd_io_jpeg_read(const hd_file *file, hd_io_image *image) {
    (void)file, (void)image;
    return hd_io_missing_library("JPEG images", "libjpeg");
}
