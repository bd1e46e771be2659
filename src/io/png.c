/* PNG images, by libpng. */
#include "base/check.h"
#include "io/image.h"

#include <png.h>
#include <string.h>

/* The bytes that libpng has not read yet: it is given a callback instead of a FILE, because
 * the file is already mapped. */
typedef struct source {
    const char *text;
    size_t left;
} source;

/* A read beyond the end must not return: libpng would decode whatever is in memory. */
static void read_bytes(png_structp png, png_bytep to, size_t size) {
    source *s = png_get_io_ptr(png);
    if (size > s->left)
        png_error(png, "the file is cut short");
    memcpy(to, s->text, size);
    s->text += size;
    s->left -= size;
}

/* Called by libpng in place of returning an error. It must not return, so it jumps to the
 * setjmp() of decode_image(). One byte of the buffer remains zero to end the text. */
static void keep_error(png_structp png, png_const_charp text) {
    char *kept = png_get_error_ptr(png);
    strncpy(kept, text, 99);
    png_longjmp(png, 1);
}

/* Warnings are about colour profiles and text chunks, which do not matter here. */
static void ignore_warning(png_structp png, png_const_charp text) {
    (void)png, (void)text;
}

/* Deflate packs at most 1032 bytes into one, and a byte has up to eight pixels. */
enum { MAX_RATIO = 8 * 1032 };

/* Requests values of 8 or 16 bits, whatever the file has: palettes and smaller depths are
 * expanded, transparency is removed. */
static void request_values(png_structp png, png_infop info) {
    png_set_expand(png);
    png_set_strip_alpha(png);
    (void)png_set_interlace_handling(png);
    png_read_update_info(png, info);
}

/* Everything that libpng may leave by longjmp(). What is allocated here is stored in the
 * arguments, so that the caller can free it: local variables changed after setjmp() have no
 * defined value after a jump. */
static huddle_status decode_image(png_structp png, png_infop info, int64_t file_size,
                                  unsigned char **block, hd_io_image *image) {
    huddle_status status = HUDDLE_OK;
    if (setjmp(png_jmpbuf(png)) != 0)
        return hd_fail(HUDDLE_FORMAT, "the PNG is damaged: %s",
                       (const char *)png_get_error_ptr(png));
    /* Checked by libpng before it allocates a row. */
    png_set_user_limits(png, HD_IO_MAX_SIDE, HD_IO_MAX_SIDE);
    png_read_info(png, info);
    request_values(png, info);
    int64_t height = png_get_image_height(png, info), width = png_get_image_width(png, info);
    int64_t row = (int64_t)png_get_rowbytes(png, info);
    bool deep = png_get_bit_depth(png, info) == 16;
    bool colour = (png_get_color_type(png, info) & PNG_COLOR_MASK_COLOR) != 0;
    int32_t channels = colour ? 3 : 1;
    /* If a conversion was not applied, rows are longer than computed here and would overflow
     * the block. */
    if (row != width * channels * (deep ? 2 : 1))
        FAIL(HUDDLE_FORMAT, "neither a gray nor a colour PNG");
    TRY(hd_io_image_reserve(height, width, channels, MAX_RATIO, file_size, image));
    ALLOC_ZERO(*block, height * row);
    /* Interlaced images (Adam7) need seven passes over all rows, each of which fills in more
     * pixels. */
    int passes = png_get_interlace_type(png, info) == PNG_INTERLACE_ADAM7 ? 7 : 1;
    for (int pass = 0; pass < passes; pass++)
        for (int64_t i = 0; i < height; i++)
            png_read_row(png, *block + i * row, NULL);
    for (int64_t k = 0; k < height * width * channels; k++) {
        const unsigned char *b = *block + k * (deep ? 2 : 1);
        /* 65535 / 257 is 255, so that both depths have the same range. */
        image->pixels[k] = deep ? (float)(256 * b[0] + b[1]) / 257.0f : (float)b[0];
    }
done:
    return status;
}

huddle_status hd_io_png_read(const hd_file *file, int32_t page, hd_io_image *image) {
    (void)page;
    huddle_status status = HUDDLE_OK;
    /* Zeroed and one byte longer than what keep_error() copies. */
    char text[100] = "";
    source from = {file->text, (size_t)file->size};
    unsigned char *block = NULL;
    png_structp png =
        png_create_read_struct(PNG_LIBPNG_VER_STRING, text, keep_error, ignore_warning);
    png_infop info = png == NULL ? NULL : png_create_info_struct(png);
    if (info == NULL)
        FAIL(HUDDLE_NO_MEMORY, "no memory to read a PNG");
    png_set_read_fn(png, &from, read_bytes);
    TRY(decode_image(png, info, file->size, &block, image));
done:
    png_destroy_read_struct(&png, &info, NULL);
    huddle_free(block);
    return status;
}
