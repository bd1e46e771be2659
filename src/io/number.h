/* Numbers in text, exactly: the double nearest to what is written, whatever the locale. */
#ifndef HUDDLE_SRC_IO_NUMBER_H
#define HUDDLE_SRC_IO_NUMBER_H

#include "archive/file.h" /* HD_FILE_PADDING */

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/* mantissa * 10^exponent, or the text between begin and end when `exact` is false: more digits
 * were written than the mantissa holds. */
double hd_io_number_hard(const char *begin, const char *end, bool exact, uint64_t mantissa,
                         int64_t exponent);

/* Writes the fewest digits that read back as this float or, if wide, as this double; whole numbers
 * up to 2^53 without an exponent. Returns the length; 32 bytes are enough. */
int hd_io_number_write(double value, bool wide, char *text);

/* True if the text between begin and end is a whole number within 2^53 or int64; "4.0" and "1e3"
 * are. The text must be followed by a character that is no part of a number. */
bool hd_io_number_whole(const char *begin, const char *end, int64_t *value);

/* The order of doubles that are not NaN, for qsort(). */
static inline int hd_io_by_real(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static const double hd_io_tens[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                    1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                    1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};

static inline bool hd_io_is_digit(char c) {
    return (unsigned char)(c - '0') < 10;
}

/* Adds the digits at p to the mantissa; returns where they end. */
static inline const char *hd_io_digits(const char *p, uint64_t *mantissa) {
    uint64_t m = *mantissa;
    while (hd_io_is_digit(*p))
        m = 10 * m + (uint64_t)(*p++ - '0');
    *mantissa = m;
    return p;
}

/* The same eight digits at a time. Bytes up to p + HD_FILE_PADDING must be readable. */
static inline const char *hd_io_digits_fast(const char *p, uint64_t *mantissa) {
    static const uint64_t tens[] = {1, 10, 100, 1000, 10000, 100000, 1000000, 10000000, 100000000};
    const uint64_t low_bits = 0x7F7F7F7F7F7F7F7F, high_bits = 0x8080808080808080;
    int count = 8;
    while (count == 8) {
        uint64_t digits;
        memcpy(&digits, p, sizeof digits);
        digits ^= 0x3030303030303030; /* a digit's byte is now 0 .. 9, any other is more */
        uint64_t others = (((digits & low_bits) + 0x7676767676767676) | digits) & high_bits;
        count = others == 0 ? 8 : __builtin_ctzll(others) / 8;
        if (count == 0)
            break;
        digits <<= 8 * (8 - count);                             /* zeros before the digits */
        digits = (digits * 2561) >> 8 & 0x00FF00FF00FF00FF;     /* pairs: 10 a + b */
        digits = (digits * 6553601) >> 16 & 0x0000FFFF0000FFFF; /* fours: 100 a + b */
        digits = (digits * 42949672960001) >> 32;               /* eight: 10000 a + b */
        *mantissa = *mantissa * tens[count] + digits;
        p += count;
    }
    return p;
}

/* Reads the number that begins at text: digits with an optional sign, point and exponent, no
 * words. Returns where it ends, which is `text` if there is none. A line feed, or anything else
 * that is no part of a number, must follow before the memory ends; if fast, HD_FILE_PADDING bytes
 * more must be readable behind that. */
static inline const char *hd_io_number_at(const char *text, bool fast, double *value) {
    const char *p = text;
    bool negative = *p == '-';
    p += *p == '-' || *p == '+';
    const char *begin = p;
    uint64_t mantissa = 0;
    int64_t exponent = 0;
    p = hd_io_digits(p, &mantissa);
    int64_t digits = p - begin;
    if (*p == '.') {
        const char *fraction = p + 1;
        p = fast ? hd_io_digits_fast(fraction, &mantissa) : hd_io_digits(fraction, &mantissa);
        exponent = fraction - p;
        digits -= exponent;
    }
    if (digits == 0)
        return text;
    if (*p == 'e' || *p == 'E') {
        const char *e = p + 1;
        bool below = *e == '-';
        e += *e == '-' || *e == '+';
        if (hd_io_is_digit(*e)) {
            int64_t power = 0;
            for (; hd_io_is_digit(*e); e++)
                power = power < 100000 ? 10 * power + (*e - '0') : power;
            exponent += below ? -power : power;
            p = e;
        }
    }
    double v;
    if (digits <= 19 && mantissa <= (uint64_t)1 << 53 && exponent >= -22 && exponent <= 22)
        /* Both factors are exact, so one rounding gives the nearest double. */
        v = exponent < 0 ? (double)mantissa / hd_io_tens[-exponent]
                         : (double)mantissa * hd_io_tens[exponent];
    else
        v = hd_io_number_hard(begin, p, digits <= 19, mantissa, exponent);
    *value = negative ? -v : v;
    return p;
}

static inline const char *hd_io_number(const char *text, double *value) {
    return hd_io_number_at(text, false, value);
}

#endif
