#include "io/image.h"

#include "base/check.h"
#include "archive/file.h"
#include "io/number.h"

#include <png.h>
#include <string.h>

/* No image of a data set is larger; a damaged header easily claims to be. */
enum { MOST_SIDE = 1 << 15 };

static huddle_status reserve(int64_t height, int64_t width, hd_image *image) {
    huddle_status status = HUDDLE_OK;
    if (height < 1 || width < 1 || height > MOST_SIDE || width > MOST_SIDE)
        FAIL(HUDDLE_FORMAT, "an image of %lld x %lld is impossible", (long long)height,
             (long long)width);
    ALLOC(image->pixels, height * width);
    image->height = (int32_t)height;
    image->width = (int32_t)width;
done:
    return status;
}

/* ---- PGM ------------------------------------------------------------------------------------ */

/* The next whole number, past blanks and comments; -1 if there is none. */
static int64_t next_number(const char **p, const char *end) {
    int64_t value = 0, digits = 0;
    const char *q = *p;
    while (q < end && (*q == ' ' || *q == '\t' || *q == '\n' || *q == '\r' || *q == '#')) {
        if (*q == '#')
            while (q < end && *q != '\n')
                q++;
        else
            q++;
    }
    for (; q < end && hd_is_digit(*q) && digits < 9; digits++)
        value = 10 * value + (*q++ - '0');
    *p = q;
    return digits == 0 ? -1 : value;
}

static huddle_status read_pgm(const hd_file *file, hd_image *image) {
    huddle_status status = HUDDLE_OK;
    const char *p = file->text + 2, *end = file->text + file->size;
    bool plain = file->text[1] == '2';
    int64_t width = next_number(&p, end), height = next_number(&p, end);
    int64_t most = next_number(&p, end), bytes = most > 255 ? 2 : 1;
    if (most < 1 || most > 65535)
        FAIL(HUDDLE_FORMAT, "the PGM header is damaged");
    p += !plain; /* the one blank before the pixels */
    if (height < 1 || width < 1 || width > MOST_SIDE || height > MOST_SIDE ||
        height * width > (plain ? end - p : (end - p) / bytes))
        FAIL(HUDDLE_FORMAT, "the PGM header claims %lld x %lld pixels, more than there are",
             (long long)height, (long long)width);
    TRY(reserve(height, width, image));
    for (int64_t k = 0; k < height * width; k++) {
        const unsigned char *b = (const unsigned char *)p + k * bytes;
        int64_t value = plain        ? next_number(&p, end)
                        : bytes == 1 ? b[0]
                                     : 256 * (int64_t)b[0] + b[1];
        if (value < 0 || value > most)
            FAIL(HUDDLE_FORMAT, "pixel %lld is missing or above %lld", (long long)k + 1,
                 (long long)most);
        image->pixels[k] =
            most == 255 ? (float)value : (float)((double)value * 255.0 / (double)most);
    }
done:
    return status;
}

/* ---- PNG ------------------------------------------------------------------------------------ */

typedef struct source {
    const char *text;
    size_t left;
} source;

static void read_bytes(png_structp png, png_bytep to, size_t size) {
    source *s = png_get_io_ptr(png);
    if (size > s->left)
        png_error(png, "the file is cut short");
    memcpy(to, s->text, size);
    s->text += size;
    s->left -= size;
}

static void keep_error(png_structp png, png_const_charp text) {
    char *kept = png_get_error_ptr(png);
    strncpy(kept, text, 99);
    png_longjmp(png, 1);
}

static void ignore_warning(png_structp png, png_const_charp text) {
    (void)png, (void)text;
}

/* Asks for gray of 8 or 16 bits, whatever the file has. */
static void ask_for_gray(png_structp png, png_infop info) {
    png_byte colour = png_get_color_type(png, info);
    png_set_expand(png);
    png_set_strip_alpha(png);
    if ((colour & PNG_COLOR_MASK_COLOR) != 0)
        png_set_rgb_to_gray(png, PNG_ERROR_ACTION_NONE, PNG_RGB_TO_GRAY_DEFAULT,
                            PNG_RGB_TO_GRAY_DEFAULT);
    (void)png_set_interlace_handling(png);
    png_read_update_info(png, info);
}

/* Everything that libpng may jump out of; what it allocates hangs on the arguments. */
static huddle_status decode(png_structp png, png_infop info, unsigned char **block,
                            hd_image *image) {
    huddle_status status = HUDDLE_OK;
    if (setjmp(png_jmpbuf(png)) != 0)
        return hd_fail(HUDDLE_FORMAT, "the PNG is damaged: %s",
                       (const char *)png_get_error_ptr(png));
    png_set_user_limits(png, MOST_SIDE, MOST_SIDE);
    png_read_info(png, info);
    ask_for_gray(png, info);
    int64_t height = png_get_image_height(png, info), width = png_get_image_width(png, info);
    int64_t row = (int64_t)png_get_rowbytes(png, info);
    bool deep = png_get_bit_depth(png, info) == 16;
    if (row != width * (deep ? 2 : 1))
        FAIL(HUDDLE_FORMAT, "the PNG is not an image of gray");
    TRY(reserve(height, width, image));
    ALLOC_ZERO(*block, height * row);
    /* Interlaced images need every pass over all rows. */
    int passes = png_get_interlace_type(png, info) == PNG_INTERLACE_ADAM7 ? 7 : 1;
    for (int pass = 0; pass < passes; pass++)
        for (int64_t i = 0; i < height; i++)
            png_read_row(png, *block + i * row, NULL);
    for (int64_t k = 0; k < height * width; k++) {
        const unsigned char *b = *block + k * (deep ? 2 : 1);
        image->pixels[k] = deep ? (float)(256 * b[0] + b[1]) / 257.0f : (float)b[0];
    }
done:
    return status;
}

static huddle_status read_png(const hd_file *file, hd_image *image) {
    huddle_status status = HUDDLE_OK;
    char text[100] = "";
    source from = {file->text, (size_t)file->size};
    unsigned char *block = NULL;
    png_structp png =
        png_create_read_struct(PNG_LIBPNG_VER_STRING, text, keep_error, ignore_warning);
    png_infop info = png == NULL ? NULL : png_create_info_struct(png);
    if (info == NULL)
        FAIL(HUDDLE_NO_MEMORY, "no memory to read a PNG");
    png_set_read_fn(png, &from, read_bytes);
    TRY(decode(png, info, &block, image));
done:
    png_destroy_read_struct(&png, &info, NULL);
    huddle_free(block);
    return status;
}

huddle_status hd_image_read(const char *path, hd_image *image) {
    huddle_status status = HUDDLE_OK;
    hd_file file = {.descriptor = -1};
    *image = (hd_image){0};
    TRY(hd_file_open(path, &file));
    if (file.size >= 8 && memcmp(file.text, "\x89PNG\r\n\x1a\n", 8) == 0)
        TRY(read_png(&file, image));
    else if (file.size >= 3 && file.text[0] == 'P' && (file.text[1] == '2' || file.text[1] == '5'))
        TRY(read_pgm(&file, image));
    else
        FAIL(HUDDLE_FORMAT, "the content is neither PGM (P2, P5) nor PNG");
done:
    if (file.text != NULL)
        hd_file_close(&file);
    if (status != HUDDLE_OK) {
        huddle_free(image->pixels);
        *image = (hd_image){0};
    }
    if (status != HUDDLE_OK && status != HUDDLE_NO_MEMORY)
        status = hd_fail_at(status, "%s", path);
    return status;
}
