/* Compiled in place of tiff.c when HUDDLE_WITH_TIFF is off. */
#include "io/formats.h"
#include "io/image.h"

huddle_status hd_io_tiff_read(const hd_file *file, int32_t page, hd_io_image *image) {
    (void)file, (void)page, (void)image;
    return hd_io_missing_library("TIFF images", "libtiff");
}

huddle_status hd_io_tiff_pages(const hd_file *file, int32_t *pages) {
    (void)file, (void)pages;
    return hd_io_missing_library("TIFF images", "libtiff");
}
