/* BMP images of 1, 4, 8, 16, 24 and 32 bits, not compressed. */
#include "base/check.h"
#include "io/array.h"
#include "io/image.h"

#include <string.h>

/* FILE_HEADER: "BM", sizes and the offset of the pixels. It is followed by a header whose first
 * word is its own size: CORE (OS/2), INFO or a longer version of that. */
enum { FILE_HEADER = 14, CORE = 12, INFO = 40, WITH_MASKS = 56 };
/* BI_RGB, BI_BITFIELDS and BI_ALPHABITFIELDS: the pixels are numbers of `bits` bits. */
enum { BI_RGB = 0, BI_BITFIELDS = 3, BI_ALPHABITFIELDS = 6 };

typedef struct bitmap {
    int64_t height, width;
    bool top_down;
    int32_t bits;
    uint32_t masks[3];            /* of red, green and blue, for 16 and 32 bits */
    const unsigned char *palette; /* up to 8 bits: blue, green, red and perhaps a fourth byte */
    int64_t colours, colour_size;
    const unsigned char *pixels;
    int64_t row_size;
} bitmap;

bool hd_io_bmp_is(const hd_file *file) {
    const unsigned char *b = (const unsigned char *)file->text;
    if (file->size < FILE_HEADER + CORE || b[0] != 'B' || b[1] != 'M')
        return false;
    uint32_t size = hd_io_word(b + FILE_HEADER, 4, false);
    return size == CORE || (size >= INFO && size <= 256);
}

/* The masks of 16 and 32 bits: 5 bits and a byte for each colour, unless the file has masks, inside
 * a long header or after a short one. */
static void read_masks(const unsigned char *b, uint32_t compression, bitmap *m) {
    static const uint32_t usual[2][3] = {{0x7C00, 0x03E0, 0x001F}, {0xFF0000, 0x00FF00, 0x0000FF}};
    memcpy(m->masks, usual[m->bits == 32], sizeof m->masks);
    for (int c = 0; c < 3 && compression != BI_RGB; c++)
        m->masks[c] = hd_io_word(b + FILE_HEADER + INFO + 4 * c, 4, false);
}

/* Everything is checked against the bytes present before it is used. */
static huddle_status parse_headers(const hd_file *file, bitmap *m) {
    const unsigned char *b = (const unsigned char *)file->text;
    int64_t header = hd_io_word(b + FILE_HEADER, 4, false), start = hd_io_word(b + 10, 4, false);
    bool core = header == CORE;
    if (FILE_HEADER + header > file->size)
        return hd_fail(HUDDLE_FORMAT, "the BMP is cut short");
    m->width = (int32_t)hd_io_word(b + 18, core ? 2 : 4, false);
    m->height = (int32_t)hd_io_word(b + (core ? 20 : 22), core ? 2 : 4, false);
    m->bits = (int32_t)hd_io_word(b + (core ? 24 : 28), 2, false);
    m->top_down = m->height < 0;
    m->height = m->top_down ? -m->height : m->height;
    uint32_t compression = core ? BI_RGB : hd_io_word(b + 30, 4, false);
    bool masked = compression == BI_BITFIELDS || compression == BI_ALPHABITFIELDS;
    if (compression != BI_RGB && !masked)
        return hd_fail(HUDDLE_UNSUPPORTED,
                       "the BMP is compressed (method %u), which is not read; "
                       "save it uncompressed, or as PNG",
                       compression);
    if ((m->bits != 1 && m->bits != 4 && m->bits != 8 && m->bits != 16 && m->bits != 24 &&
         m->bits != 32) ||
        (masked && m->bits < 16))
        return hd_fail(HUDDLE_FORMAT, "the BMP has %d bits per pixel, which is invalid", m->bits);
    int64_t masks_end = FILE_HEADER + (masked && header < WITH_MASKS - 4 ? INFO + 12 : header);
    if (masks_end > file->size)
        return hd_fail(HUDDLE_FORMAT, "the BMP is cut short");
    read_masks(b, compression, m);
    m->colour_size = core ? 3 : 4;
    m->palette = b + masks_end;
    m->colours = (start - masks_end) / m->colour_size;
    m->row_size = (m->width * m->bits + 31) / 32 * 4;
    m->pixels = b + start;
    if (m->width < 1 || m->height < 1 || m->width > HD_IO_MAX_SIDE || m->height > HD_IO_MAX_SIDE)
        return hd_fail(HUDDLE_FORMAT, "an image of %lld x %lld is invalid", (long long)m->height,
                       (long long)m->width);
    if (start < masks_end || start > file->size || m->row_size * m->height > file->size - start)
        return hd_fail(HUDDLE_FORMAT,
                       "the BMP header claims %lld x %lld pixels, more than there are",
                       (long long)m->height, (long long)m->width);
    return HUDDLE_OK;
}

/* The bits under a mask as 0 .. 255. */
static float masked_value(uint32_t pixel, uint32_t mask) {
    if (mask == 0)
        return 0;
    int shift = 0;
    while ((mask >> shift & 1) == 0)
        shift++;
    return (float)((double)((pixel & mask) >> shift) * 255.0 / (double)(mask >> shift));
}

/* Blue comes first in the file. False if a pixel has a number that is not in the palette. */
static bool decode_pixel(const bitmap *m, const unsigned char *row, int64_t x, float *rgb) {
    if (m->bits == 24) {
        for (int c = 0; c < 3; c++)
            rgb[c] = (float)row[3 * x + 2 - c];
    } else if (m->bits > 8) {
        int bytes = m->bits / 8;
        uint32_t pixel = hd_io_word(row + bytes * x, bytes, false);
        for (int c = 0; c < 3; c++)
            rgb[c] = masked_value(pixel, m->masks[c]);
    } else {
        int per_byte = 8 / m->bits, place = (int)(x % per_byte);
        uint32_t byte = row[x / per_byte], mask = (1u << m->bits) - 1;
        uint32_t number = byte >> (8 - m->bits * (place + 1)) & mask;
        if ((int64_t)number >= m->colours)
            return false;
        for (int c = 0; c < 3; c++)
            rgb[c] = (float)m->palette[number * m->colour_size + 2 - c];
    }
    return true;
}

/* Rows are stored from the bottom up unless the height is negative. */
huddle_status hd_io_bmp_read(const hd_file *file, int32_t page, hd_io_image *image) {
    (void)page;
    huddle_status status = HUDDLE_OK;
    bitmap m = {0};
    TRY(parse_headers(file, &m));
    TRY(hd_io_image_reserve(m.height, m.width, 3, 8, file->size, image));
    for (int64_t y = 0; y < m.height; y++) {
        const unsigned char *row = m.pixels + (m.top_down ? y : m.height - 1 - y) * m.row_size;
        for (int64_t x = 0; x < m.width; x++)
            if (!decode_pixel(&m, row, x, image->pixels + 3 * (y * m.width + x)))
                FAIL(HUDDLE_FORMAT,
                     "row %lld, column %lld: the pixel is not one of the %lld colours",
                     (long long)y + 1, (long long)x + 1, (long long)m.colours);
    }
done:
    return status;
}
