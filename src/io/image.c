#include "io/image.h"

#include "archive/file.h"
#include "base/check.h"
#include "io/number.h"

#include <string.h>

/* The sides of an image come from its file. The bound keeps their product within reach of the
 * allocator and of int64. */
huddle_status hd_io_image_reserve(int64_t height, int64_t width, hd_io_image *image) {
    huddle_status status = HUDDLE_OK;
    if (height < 1 || width < 1 || height > HD_IO_MAX_SIDE || width > HD_IO_MAX_SIDE)
        FAIL(HUDDLE_FORMAT, "an image of %lld x %lld is invalid", (long long)height,
             (long long)width);
    ALLOC(image->pixels, height * width);
    image->height = (int32_t)height;
    image->width = (int32_t)width;
done:
    return status;
}

/* The next whole number, past white space and comments; -1 if there is none. The PGM header
 * consists of such numbers. Nine digits cannot overflow; more are left over and fail later. */
static int64_t next_number(const char **p, const char *end) {
    int64_t value = 0, digits = 0;
    const char *q = *p;
    /* White space and comments may be mixed. */
    while (q < end && (*q == ' ' || *q == '\t' || *q == '\n' || *q == '\r' || *q == '#')) {
        if (*q == '#')
            while (q < end && *q != '\n')
                q++;
        else
            q++;
    }
    for (; q < end && hd_io_is_digit(*q) && digits < 9; digits++)
        value = 10 * value + (*q++ - '0');
    *p = q;
    return digits == 0 ? -1 : value;
}

/* PGM: "P2" (decimal numbers) or "P5" (bytes), width, height, the largest value, then the
 * pixels. Above 255 a binary pixel has two bytes, the higher first. Every pixel takes a byte
 * at least, which bounds what a damaged header can make the reader allocate. */
static huddle_status read_pgm(const hd_file *file, hd_io_image *image) {
    huddle_status status = HUDDLE_OK;
    const char *p = file->text + 2, *end = file->text + file->size;
    bool plain = file->text[1] == '2';
    int64_t width = next_number(&p, end), height = next_number(&p, end);
    int64_t max_value = next_number(&p, end), bytes = max_value > 255 ? 2 : 1;
    if (max_value < 1 || max_value > 65535)
        FAIL(HUDDLE_FORMAT, "the PGM header is damaged");
    p += !plain; /* exactly one white-space character precedes the pixels */
    if (height < 1 || width < 1 || width > HD_IO_MAX_SIDE || height > HD_IO_MAX_SIDE ||
        height * width > (plain ? end - p : (end - p) / bytes))
        FAIL(HUDDLE_FORMAT, "the PGM header claims %lld x %lld pixels, more than there are",
             (long long)height, (long long)width);
    TRY(hd_io_image_reserve(height, width, image));
    for (int64_t k = 0; k < height * width; k++) {
        const unsigned char *b = (const unsigned char *)p + k * bytes;
        int64_t value = plain        ? next_number(&p, end)
                        : bytes == 1 ? b[0]
                                     : 256 * (int64_t)b[0] + b[1];
        if (value < 0 || value > max_value)
            FAIL(HUDDLE_FORMAT, "pixel %lld is missing or above %lld", (long long)k + 1,
                 (long long)max_value);
        /* All depths are scaled to 0 .. 255, so that folders of mixed depth can be compared. */
        image->pixels[k] =
            max_value == 255 ? (float)value : (float)((double)value * 255.0 / (double)max_value);
    }
done:
    return status;
}

/* Content decides, not the ending of the name: folders contain PGM files renamed to .png. */
huddle_status hd_io_image_read(const char *path, hd_io_image *image) {
    huddle_status status = HUDDLE_OK;
    hd_file file = {.descriptor = -1};
    *image = (hd_io_image){0};
    TRY(hd_file_open(path, &file));
    if (file.size >= 8 && memcmp(file.text, "\x89PNG\r\n\x1a\n", 8) == 0)
        TRY(hd_io_png_read(&file, image));
    else if (file.size >= 3 && file.text[0] == 'P' && (file.text[1] == '2' || file.text[1] == '5'))
        TRY(read_pgm(&file, image));
    else
        FAIL(HUDDLE_FORMAT, "the content is neither PGM (P2, P5) nor PNG");
done:
    if (file.text != NULL)
        hd_file_close(&file);
    if (status != HUDDLE_OK) {
        huddle_free(image->pixels);
        *image = (hd_io_image){0};
    }
    if (status != HUDDLE_OK && status != HUDDLE_NO_MEMORY)
        status = hd_fail_at(status, "%s", path);
    return status;
}
