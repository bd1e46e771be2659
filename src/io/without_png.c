/* Compiled in place of png.c when HUDDLE_WITH_PNG is off. */
#include "io/formats.h"
#include "io/image.h"

huddle_status hd_io_png_read(const hd_file *file, hd_io_image *image) {
    (void)file, (void)image;
    return hd_io_missing_library("PNG images", "libpng");
}
