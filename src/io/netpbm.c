/* PGM and PPM images. */
#include "base/check.h"
#include "io/image.h"
#include "io/lines.h"
#include "io/number.h"

/* P2 and P3 are decimal numbers, P5 and P6 bytes; P3 and P6 are colours. */
bool hd_io_netpbm_is(const hd_file *file) {
    char kind = file->size >= 3 ? file->text[1] : '\0';
    return file->size >= 3 && file->text[0] == 'P' &&
           (kind == '2' || kind == '3' || kind == '5' || kind == '6');
}

/* The next whole number, past white space and comments; -1 if there is none. The header consists
 * of such numbers. Nine digits cannot overflow; more are left over and fail later. */
static int64_t next_number(const char **p, const char *end) {
    int64_t value = 0, digits = 0;
    const char *q = hd_io_skip_comments(*p, end);
    for (; q < end && hd_io_is_digit(*q) && digits < 9; digits++)
        value = 10 * value + (*q++ - '0');
    *p = q;
    return digits == 0 ? -1 : value;
}

/* "P5", width, height, the largest value, then the pixels. Above 255 a binary value has two bytes,
 * the higher first. Every value takes a byte at least, which bounds what a damaged header can make
 * the reader allocate. */
huddle_status hd_io_netpbm_read(const hd_file *file, int32_t page, hd_io_image *image) {
    (void)page;
    huddle_status status = HUDDLE_OK;
    const char *p = file->text + 2, *end = file->text + file->size;
    bool plain = file->text[1] <= '3', colour = file->text[1] == '3' || file->text[1] == '6';
    const char *name = colour ? "PPM" : "PGM";
    int64_t width = next_number(&p, end), height = next_number(&p, end), channels = colour ? 3 : 1;
    int64_t max_value = next_number(&p, end), bytes = max_value > 255 ? 2 : 1;
    if (max_value < 1 || max_value > 65535)
        FAIL(HUDDLE_FORMAT, "the %s header is damaged", name);
    p += !plain; /* exactly one white-space character precedes the pixels */
    if (height < 1 || width < 1 || width > HD_IO_MAX_SIDE || height > HD_IO_MAX_SIDE ||
        height * width * channels > (plain ? end - p : (end - p) / bytes))
        FAIL(HUDDLE_FORMAT, "the %s header claims %lld x %lld pixels, more than there are", name,
             (long long)height, (long long)width);
    TRY(hd_io_image_reserve(height, width, (int32_t)channels, 1, file->size, image));
    for (int64_t k = 0; k < height * width * channels; k++) {
        const unsigned char *b = (const unsigned char *)p + k * bytes;
        int64_t value = plain        ? next_number(&p, end)
                        : bytes == 1 ? b[0]
                                     : 256 * (int64_t)b[0] + b[1];
        if (value < 0 || value > max_value)
            FAIL(HUDDLE_FORMAT, "pixel %lld is missing or above %lld",
                 (long long)(k / channels) + 1, (long long)max_value);
        /* All depths are scaled to 0 .. 255, so that folders of mixed depth can be compared. */
        image->pixels[k] =
            max_value == 255 ? (float)value : (float)((double)value * 255.0 / (double)max_value);
    }
done:
    return status;
}
