/* Text that is not UTF-8. */
#include "base/check.h"
#include "base/context.h"
#include "base/text.h"
#include "io/formats.h"
#include "io/mat.h"

#include <string.h>

/* ---- UTF-16 --------------------------------------------------------------------------------- */

static bool is_plain(unsigned char c) {
    return (c >= ' ' && c < 127) || c == '\n' || c == '\r' || c == '\t';
}

/* Without a byte order mark: three quarters of the first characters are ASCII, each with a zero
 * byte, after it or before it (big-endian), and there are no other zeros. */
static bool looks_like_utf16(const hd_file *file, bool *big) {
    enum { EXAMINED = 64 };
    const unsigned char *b = (const unsigned char *)file->text;
    int64_t pairs = (file->size < EXAMINED ? file->size : EXAMINED) / 2, plain = 0;
    *big = b[0] == 0;
    for (int64_t k = 0; k < pairs; k++) {
        unsigned char low = b[2 * k + *big], high = b[2 * k + !*big];
        plain += high == 0 && is_plain(low);
        if (high == 0 && low == 0)
            return false;
    }
    return pairs >= 4 && 4 * plain >= 3 * pairs;
}

/* What Windows programs call "Unicode text". A unit of two bytes takes at most three in UTF-8. */
huddle_status hd_io_recode_utf16(hd_file *file, hd_io_encoding *encoding) {
    huddle_status status = HUDDLE_OK;
    const unsigned char *b = (const unsigned char *)file->text;
    bool big = false, mark = false;
    char *bytes = NULL;
    int64_t at = 0;
    if (file->size >= 2 && ((b[0] == 0xFF && b[1] == 0xFE) || (b[0] == 0xFE && b[1] == 0xFF))) {
        big = b[0] == 0xFE;
        mark = true;
        at = 2;
    } else if (!looks_like_utf16(file, &big)) {
        goto done;
    }
    if (file->size % 2 != 0)
        FAIL(HUDDLE_FORMAT, "it is UTF-16 with an odd number of bytes (%lld): it is cut short",
             (long long)file->size);
    if (file->size == at)
        FAIL(HUDDLE_FORMAT, "the file is empty");
    ALLOC(bytes, file->size / 2 * 3 + HD_FILE_PADDING);
    char *to = bytes;
    const hd_io_characters units = {file->text, 2, big, 1, file->size / 2};
    for (int64_t k = at / 2; k < units.length;)
        to = hd_put_utf8(hd_io_character_at(&units, 0, &k), to);
    if (encoding != NULL)
        *encoding = (hd_io_encoding){.utf16 = true, .big = big, .mark = mark};
    hd_file_replace(file, bytes, to - bytes);
done:
    return status;
}

/* Old spreadsheets on the Mac end lines with CR alone. Where there is a LF, a CR is not the end of
 * a line. */
huddle_status hd_io_recode_returns(hd_file *file, hd_io_encoding *encoding) {
    huddle_status status = HUDDLE_OK;
    char *bytes = NULL;
    if (memchr(file->text, '\n', (size_t)file->size) != NULL ||
        memchr(file->text, '\r', (size_t)file->size) == NULL)
        goto done;
    ALLOC(bytes, file->size + HD_FILE_PADDING);
    for (int64_t i = 0; i < file->size; i++)
        bytes[i] = (char)(file->text[i] == '\r' ? '\n' : file->text[i]);
    if (encoding != NULL)
        encoding->returns = true;
    hd_file_replace(file, bytes, file->size);
done:
    return status;
}

/* ---- Latin-1 -------------------------------------------------------------------------------- */

/* The length of the UTF-8 character at p, or 0 if it is not one. */
static int utf8_length(const unsigned char *p, const unsigned char *end) {
    int more = *p < 0x80                 ? 0
               : *p >= 0xC2 && *p < 0xE0 ? 1
               : *p >> 4 == 14           ? 2
               : *p >> 3 == 30           ? 3
                                         : -1;
    if (more < 0 || end - p <= more)
        return 0;
    for (int k = 1; k <= more; k++)
        if (p[k] >> 6 != 2)
            return 0;
    return more + 1;
}

static void store_unit(uint32_t unit, bool big, char *to) {
    to[!big] = (char)(unit >> 8);
    to[big] = (char)(unit & 0xFF);
}

int hd_io_encode_utf16(const char *text, const char *end, bool big, char to[4], int *size) {
    static const unsigned char first_bits[] = {0, 0x7F, 0x1F, 0x0F, 0x07};
    const unsigned char *p = (const unsigned char *)text;
    int length = utf8_length(p, (const unsigned char *)end);
    uint32_t c = length == 0 ? 0xFFFD : p[0] & first_bits[length];
    for (int k = 1; k < length; k++)
        c = c << 6 | (p[k] & 0x3F);
    *size = 2;
    if (c < 0x10000) {
        store_unit(c, big, to);
    } else {
        store_unit(0xD800 + ((c - 0x10000) >> 10), big, to);
        store_unit(0xDC00 + ((c - 0x10000) & 0x3FF), big, to + 2);
        *size = 4;
    }
    return length == 0 ? 1 : length;
}

/* The first byte that is not UTF-8, or end. Eight ASCII characters are passed at once. */
static const unsigned char *find_invalid(const unsigned char *p, const unsigned char *end) {
    while (p < end) {
        uint64_t word;
        while (end - p >= 8 && (memcpy(&word, p, 8), (word & 0x8080808080808080u) == 0))
            p += 8;
        if (p == end)
            break;
        int length = utf8_length(p, end);
        if (length == 0)
            return p;
        p += length;
    }
    return end;
}

/* Windows-1252: Latin-1 with letters and signs in the place of the control characters 80 .. 9F. */
static uint32_t character_of(unsigned char c) {
    static const uint16_t signs[32] = {
        0x20AC, 0xFFFD, 0x201A, 0x0192, 0x201E, 0x2026, 0x2020, 0x2021, 0x02C6, 0x2030, 0x0160,
        0x2039, 0x0152, 0xFFFD, 0x017D, 0xFFFD, 0xFFFD, 0x2018, 0x2019, 0x201C, 0x201D, 0x2022,
        0x2013, 0x2014, 0x02DC, 0x2122, 0x0161, 0x203A, 0x0153, 0xFFFD, 0x017E, 0x0178};
    return c >= 0x80 && c < 0xA0 ? signs[c - 0x80] : c;
}

/* The characters may be wrong if the file is in yet another encoding, hence the warning; numbers
 * are the same in all of them. */
huddle_status hd_io_recode_latin1(huddle_context *context, hd_file *file) {
    huddle_status status = HUDDLE_OK;
    const unsigned char *begin = (const unsigned char *)file->text, *end = begin + file->size;
    const unsigned char *bad = find_invalid(begin, end);
    int64_t line = 1, high = 0;
    char *bytes = NULL;
    if (bad == end)
        goto done;
    for (const unsigned char *p = begin; p < end; p++) {
        line += p < bad && *p == '\n';
        high += *p >= 0x80;
    }
    hd_warn(context, HUDDLE_WARNING_INPUT,
            "%s: line %lld: byte 0x%02X is not UTF-8; the file is read as Windows-1252 (Latin-1)",
            file->path, (long long)line, *bad);
    ALLOC(bytes, file->size + 2 * high + HD_FILE_PADDING);
    char *to = bytes;
    for (const unsigned char *p = begin; p < end; p++)
        to = hd_put_utf8(character_of(*p), to);
    hd_file_replace(file, bytes, to - bytes);
done:
    return status;
}
