#include "io/number.h"

#include "base/text.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

__extension__ typedef unsigned __int128 wide;

/* 5^27 is the last power of five below 2^63; 10^k = 5^k * 2^k, and the power of two is exact
 * in any case. */
enum { MAX_FIVES = 27 };

/* At most 27 multiplications. */
static uint64_t power_of_five(int64_t k) {
    uint64_t power = 1;
    while (k-- > 0)
        power *= 5;
    return power;
}

/* x is not zero. */
static int leading_zeros(wide x) {
    uint64_t high = (uint64_t)(x >> 64);
    return high != 0 ? __builtin_clzll(high) : 64 + __builtin_clzll((uint64_t)x);
}

/* x * 2^exponent to the nearest double, ties to even; `more`: a small remainder was cut off,
 * so that what looks like a tie is above it. The result must be a normal number. */
static double round_to_double(wide x, bool more, int64_t exponent) {
    int zeros = leading_zeros(x);
    x <<= zeros;
    exponent -= zeros;
    uint64_t mantissa = (uint64_t)(x >> 75); /* 53 bits */
    wide rest = x & (((wide)1 << 75) - 1), half = (wide)1 << 74;
    if (rest > half || (rest == half && (more || (mantissa & 1) != 0)))
        mantissa++;
    return ldexp((double)mantissa, (int)exponent + 75);
}

/* mantissa * 10^exponent with exponent in -27 .. 27, correctly rounded. The product fits 128
 * bits. The quotient has 64 bits or more, because the dividend was shifted up to bit 126 and
 * the divisor is below 2^63; with whether there is a remainder, this is all that rounding
 * needs. */
static double scale_decimal(uint64_t mantissa, int64_t exponent) {
    if (exponent >= 0)
        return round_to_double((wide)mantissa * power_of_five(exponent), false, exponent);
    uint64_t divisor = power_of_five(-exponent);
    int zeros = __builtin_clzll(mantissa);
    wide dividend = (wide)(mantissa << zeros) << 63;
    wide quotient = dividend / divisor;
    return round_to_double(quotient, quotient * divisor != dividend, exponent - 63 - zeros);
}

/* The rare rest: very many digits or large exponents. strtod() depends on the locale's decimal
 * point. NaN, which every caller refuses, if there is no memory. */
static double read_any(const char *begin, const char *end) {
    double value = NAN;
    char *text = hd_copy_part(begin, end - begin);
    locale_t before = hd_enter_c_locale();
    if (text != NULL && before != (locale_t)0)
        value = strtod(text, NULL);
    hd_leave_c_locale(before);
    huddle_free(text);
    return value;
}

/* The header's inline reader has handled what two exact doubles can express; this is the next
 * case and the fallback. */
double hd_io_number_hard(const char *begin, const char *end, bool exact, uint64_t mantissa,
                         int64_t exponent) {
    if (exact && mantissa == 0)
        return 0;
    if (exact && exponent >= -MAX_FIVES && exponent <= MAX_FIVES)
        return scale_decimal(mantissa, exponent);
    return read_any(begin, end);
}

/* Up to 18 digits are read as an integer, exactly. "4.0" and "1e3" are accepted as doubles, up
 * to 2^53 where doubles are exact. */
bool hd_io_number_whole(const char *begin, const char *end, int64_t *value) {
    double v;
    const char *p = begin + (*begin == '-' || *begin == '+');
    uint64_t magnitude = 0;
    if (p < end && end - p <= 18 && hd_io_digits(p, &magnitude) == end) {
        *value = *begin == '-' ? -(int64_t)magnitude : (int64_t)magnitude;
        return true;
    }
    if (begin == end || hd_io_number(begin, &v) != end || v != floor(v) || fabs(v) > 0x1p53)
        return false;
    *value = (int64_t)v;
    return true;
}

/* The digits of a whole number below 10^19, which 20 characters hold. */
static int write_digits(uint64_t number, char *text) {
    char digits[20];
    int count = 0;
    do {
        digits[count++] = (char)('0' + number % 10);
        number /= 10;
    } while (number > 0);
    for (int i = 0; i < count; i++)
        text[i] = digits[count - 1 - i];
    return count;
}

/* Nine digits identify a float and 17 a double; so many, or fewer, survive the way through it. */
enum { FLOAT_DIGITS = 9, FLOAT_SAFE = 6, DOUBLE_DIGITS = 17, DOUBLE_SAFE = 15 };

/* Whether what was read is the value, as a float or as a double. */
static bool reads_back(double read, double value, bool as_double) {
    return as_double ? read == value : (float)read == (float)value;
}

/* Finds the fewest decimals after which the number reads back the same; -1 if none of at most nine
 * digits do, or 15 of a double. The scaled number is then exact, and the division is the one that
 * the reader performs, so the test is exact too. */
static int decimals_needed(double value, bool as_double, double *scaled) {
    int most = as_double ? DOUBLE_SAFE : FLOAT_DIGITS;
    for (int decimals = 1; decimals <= most; decimals++) {
        double m = rint(value * hd_io_tens[decimals]);
        if (m >= hd_io_tens[most])
            return -1;
        if (reads_back(m / hd_io_tens[decimals], value, as_double)) {
            *scaled = m;
            return decimals;
        }
    }
    return -1;
}

/* In integers: printf() would be slower, and depends on the locale. */
static int write_fixed(double scaled, int decimals, char *text) {
    uint64_t m = (uint64_t)scaled, unit = (uint64_t)hd_io_tens[decimals];
    int length = write_digits(m / unit, text);
    text[length++] = '.';
    uint64_t fraction = m % unit;
    for (int i = decimals - 1; i >= 0; i--) {
        text[length + i] = (char)('0' + fraction % 10);
        fraction /= 10;
    }
    return length + decimals;
}

/* With the fewest digits that read back, in as many as printf() needs. Its decimal comma is
 * replaced before the text is read. */
static int write_any(double value, bool as_double, char *text) {
    int digits = as_double ? DOUBLE_SAFE : FLOAT_SAFE;
    int most = as_double ? DOUBLE_DIGITS : FLOAT_DIGITS, length;
    double read = NAN;
    do {
        length = snprintf(text, 32, "%.*g", digits, value);
        for (char *p = text; *p != '\0'; p++)
            if (*p == ',')
                *p = '.';
        hd_io_number(text, &read);
    } while (digits++ < most && !reads_back(read, value, as_double));
    return length;
}

/* Whole numbers and short decimals, which most data are, take the fast paths. */
int hd_io_number_write(double value, bool as_double, char *text) {
    double magnitude = fabs(value), scaled = 0;
    int sign = 0, decimals;
    if (value < 0)
        text[sign++] = '-';
    if (magnitude <= 0x1p53 && magnitude == floor(magnitude))
        return sign + write_digits((uint64_t)magnitude, text + sign);
    if (magnitude >= 1e-3 && (decimals = decimals_needed(magnitude, as_double, &scaled)) > 0)
        return sign + write_fixed(scaled, decimals, text + sign);
    return write_any(value, as_double, text);
}
