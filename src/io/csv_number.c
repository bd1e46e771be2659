/* What values look like: numbers as people and spreadsheets write them, words for missing values,
 * dates; and the columns of them. */
#include "io/csv.h"

#include "base/check.h"
#include "io/number.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

/* ---- words ---------------------------------------------------------------------------------- */

static bool is_word(const char *begin, int64_t length, const char *const *words) {
    while (*words != NULL && !hd_io_same_word(begin, length, *words))
        words++;
    return *words != NULL;
}

/* What R (NA), pandas (NaN, empty), spreadsheets (#N/A), SQL exports (null), the UCI
 * repository (?) and SAS (.) write. */
bool hd_io_field_missing(const hd_io_field *field) {
    static const char *const words[] = {"",     "NA",   "N/A", "NaN", "-NaN", "#N/A",
                                        "null", "none", "?",   "-",   ".",    NULL};
    return is_word(field->begin, field->end - field->begin, words);
}

/* Infinity is a number for the purpose of finding headers, although the points must be finite. */
bool hd_io_field_infinite(const hd_io_field *field) {
    static const char *const words[] = {"inf", "+inf", "-inf", NULL};
    return is_word(field->begin, field->end - field->begin, words);
}

/* Here "none", "-" and "." are not missing: they occur as names of classes. */
bool hd_io_label_missing(const char *begin, int64_t length) {
    static const char *const words[] = {"", "NA", "N/A", "NaN", "#N/A", "null", "?", NULL};
    return is_word(begin, length, words);
}

/* ---- numbers -------------------------------------------------------------------------------- */

/* Bytes of the blank at p, a no-break space (U+00A0, U+202F) included; 0 if there is none. */
static int blank_at(const char *p, const char *end) {
    if (p < end && (*p == ' ' || *p == '\t'))
        return 1;
    if (end - p >= 2 && memcmp(p, "\xC2\xA0", 2) == 0)
        return 2;
    return end - p >= 3 && memcmp(p, "\xE2\x80\xAF", 3) == 0 ? 3 : 0;
}

static const char *skip_blanks(const char *p, const char *end) {
    for (int size; (size = blank_at(p, end)) > 0;)
        p += size;
    return p;
}

/* Skips a currency sign and records which. The second call for the same number does nothing if
 * a sign was found: "$5 EUR" is not a number. */
static const char *skip_currency(const char *p, const char *end, hd_io_marks *marks) {
    static const char *const signs[] = {"$",   "\xE2\x82\xAC", "\xC2\xA3", "\xC2\xA5", "USD",
                                        "EUR", "GBP",          "CHF",      "JPY"};
    for (int32_t k = 0; k < (int32_t)(sizeof signs / sizeof *signs); k++) {
        size_t length = strlen(signs[k]);
        if (*marks < HD_IO_CURRENCY && (size_t)(end - p) >= length &&
            memcmp(p, signs[k], length) == 0) {
            *marks |= (hd_io_marks)HD_IO_CURRENCY << k;
            return p + length;
        }
    }
    return p;
}

/* The number less its decoration, as hd_io_number() reads it. */
typedef struct plain_text {
    char text[72];
    int length;
} plain_text;

/* The whole part, a fraction and an exponent share one buffer, so that no run of digits in a
 * hostile file overflows it. A longer number is not a styled one; hd_io_field_number() still
 * reads it in its plain form. */
enum { MAX_DIGITS = 60 };

/* Stops at MAX_DIGITS; the digits left over then make the caller refuse the number. */
static const char *copy_digits(const char *p, const char *end, plain_text *to) {
    for (; p < end && hd_io_is_digit(*p) && to->length < MAX_DIGITS; p++)
        to->text[to->length++] = *p;
    return p;
}

/* Whole part: digits, perhaps in groups of three divided by one kind of separator: comma,
 * point, apostrophe (Swiss) or blank (French), whichever is not the decimal sign. NULL if the
 * groups are not right: 1,5 and 0,123 are no thousands. */
static const char *copy_whole(const char *p, const char *end, char decimal, plain_text *to) {
    const char *first = p;
    char group = '\0';
    for (;;) {
        const char *begin = p;
        p = copy_digits(p, end, to);
        int64_t run = p - begin;
        if (group != '\0' && run != 3)
            return NULL;
        int blank = blank_at(p, end);
        char c = blank > 0 ? ' ' : p < end ? *p : '\0';
        bool grouping = (c == ' ' || c == ',' || c == '.' || c == '\'') && c != decimal;
        const char *next = p + (blank > 0 ? blank : 1);
        if (!grouping || next >= end || !hd_io_is_digit(*next))
            return p;
        if (group == '\0' && (run < 1 || run > 3 || *first == '0'))
            return NULL;
        if (group != '\0' && c != group)
            return NULL;
        group = c;
        p = next;
    }
}

/* "e" without digits after it is not an exponent; the caller then finds text left over and
 * refuses the number. */
static const char *copy_exponent(const char *p, const char *end, plain_text *to) {
    const char *e = p + 1;
    if (end - p < 2 || (*p != 'e' && *p != 'E'))
        return p;
    bool sign = *e == '-' || *e == '+';
    if (e + sign >= end || !hd_io_is_digit(e[sign]))
        return p;
    to->text[to->length++] = 'e';
    if (sign)
        to->text[to->length++] = *e;
    return copy_digits(e + sign, end, to);
}

/* Currency sign, minus sign, currency sign, digits, fraction, exponent, then a per cent or
 * currency sign: "-$1,234.50" and "$-5" occur as well as "5 EUR". The decoration is removed
 * and the rest passed to hd_io_number(), so that both paths round alike. */
bool hd_io_styled_number(const char *begin, const char *end, char decimal, double *value,
                         hd_io_marks *marks) {
    plain_text plain = {.length = 0};
    *marks = 0;
    const char *p = skip_currency(begin, end, marks);
    p = skip_blanks(p, end);
    if (p < end && (*p == '-' || *p == '+'))
        plain.text[plain.length++] = *p++;
    else if (end - p >= 3 &&
             memcmp(p, "\xE2\x88\x92", 3) == 0) { /* U+2212, the typographic minus sign */
        plain.text[plain.length++] = '-';
        p += 3;
    }
    p = skip_blanks(skip_currency(p, end, marks), end);
    if ((p = copy_whole(p, end, decimal, &plain)) == NULL)
        return false;
    if (p < end && *p == decimal) {
        plain.text[plain.length++] = '.';
        p = copy_digits(p + 1, end, &plain);
    }
    p = skip_blanks(copy_exponent(p, end, &plain), end);
    if (p < end && *p == '%') {
        *marks |= HD_IO_PER_CENT;
        p++;
    } else
        p = skip_currency(p, end, marks);
    plain.text[plain.length] = '\0';
    if (p != end || hd_io_number(plain.text, value) != plain.text + plain.length)
        return false;
    if ((*marks & HD_IO_PER_CENT) != 0)
        *value /= 100;
    return plain.length > 0;
}

/* The plain form is tried first: it is by far the most frequent, and the only one that may be
 * long. */
bool hd_io_field_number(const hd_io_field *field, char decimal, double *value) {
    enum { LONGEST_STYLED = 63 };
    hd_io_marks marks;
    int64_t length = field->end - field->begin;
    if (length == 0)
        return false;
    if (decimal == '.' && hd_io_number(field->begin, value) == field->end)
        return true;
    return (decimal != '.' || length <= LONGEST_STYLED) &&
           hd_io_styled_number(field->begin, field->end, decimal, value, &marks);
}

/* ---- dates ---------------------------------------------------------------------------------- */

/* Reads between min_digits and max_digits digits at p; NULL if there are fewer or more:
 * the first four digits of 20200131 are not a year. */
static const char *read_digits(const char *p, const char *end, int min_digits, int max_digits,
                               int *value) {
    int count = 0;
    *value = 0;
    for (; p < end && hd_io_is_digit(*p) && count < max_digits; count++)
        *value = 10 * *value + (*p++ - '0');
    return count < min_digits || (p < end && hd_io_is_digit(*p)) ? NULL : p;
}

/* "Jan", "january", "Jan.": one past the name of a month, cut after three letters or more, or NULL.
 * Where two numbers stand beside it, only the first three letters are compared, so that other
 * languages' "Juni" and "August" pass; strict: "Mars" is none. */
static const char *skip_month(const char *p, const char *end, bool strict) {
    static const char *const months[] = {"january",   "february", "march",    "april",
                                         "may",       "june",     "july",     "august",
                                         "september", "october",  "november", "december"};
    int64_t length = 0;
    while (p + length < end && (p[length] | 32) >= 'a' && (p[length] | 32) <= 'z')
        length++;
    for (size_t k = 0; k < sizeof months / sizeof *months && length <= 9; k++) {
        int64_t same = 0;
        while (same < length && (p[same] | 32) == months[k][same])
            same++;
        if (same >= 3 && (!strict || same == length))
            return p + length + (p + length < end && p[length] == '.');
    }
    return NULL;
}

/* 14:30, 14:30:59.25, with Z, +01:00, AM or PM. Hour 24 is allowed by ISO 8601, second 60 is a
 * leap second. */
static const char *skip_time(const char *p, const char *end) {
    int hour, minute, second;
    if ((p = read_digits(p, end, 1, 2, &hour)) == NULL || hour > 24 || p == end || *p != ':' ||
        (p = read_digits(p + 1, end, 2, 2, &minute)) == NULL || minute > 59)
        return NULL;
    if (p < end && *p == ':') {
        if ((p = read_digits(p + 1, end, 2, 2, &second)) == NULL || second > 60)
            return NULL;
        if (p < end && (*p == '.' || *p == ','))
            for (p++; p < end && hd_io_is_digit(*p);)
                p++;
    }
    const char *zone = skip_blanks(p, end);
    if (zone < end && (*zone == 'Z' || *zone == 'z'))
        return zone + 1;
    if (end - zone >= 2 && (zone[1] | 32) == 'm' && ((*zone | 32) == 'a' || (*zone | 32) == 'p'))
        return zone + 2;
    if (zone < end && (*zone == '+' || *zone == '-')) {
        zone = read_digits(zone + 1, end, 2, 4, &hour);
        if (zone != NULL && zone < end && *zone == ':')
            zone = read_digits(zone + 1, end, 2, 2, &minute);
        return zone;
    }
    return p;
}

/* Three numbers, or two and the name of a month, divided by - . / or blanks. A part of three
 * digits rules a date out; the parts may be in any order, since 31/12/24, 12/31/24 and
 * 2024-12-31 are all in use. */
static const char *skip_day(const char *p, const char *end) {
    int parts[3], years = 0, names = 0, short_parts = 0;
    char apart = '\0';
    for (int k = 0; k < 3; k++) {
        const char *begin = p, *next = names == 0 ? skip_month(p, end, false) : NULL;
        parts[k] = 1;
        if (next != NULL)
            names++;
        else if ((next = read_digits(p, end, 1, 4, &parts[k])) == NULL || next - begin == 3)
            return NULL;
        else {
            years += next - begin == 4;
            short_parts += next - begin == 1;
        }
        p = next;
        if (k == 2)
            break;
        if (p < end && *p == ',' && names > 0)
            p++;
        if (p == end || strchr("-./ ", *p) == NULL || (apart != '\0' && *p != apart && names == 0))
            return NULL;
        apart = *p;
        p = apart == ' ' ? skip_blanks(p, end) : p + 1;
    }
    /* Three numbers divided by blanks are no date, nor is 1.2.3, which may be a version;
     * 31.12.24 and 1/2/24 are. */
    if (names == 0 && (apart == ' ' || (years == 0 && apart != '/' && short_parts > 0)))
        return NULL;
    bool day = parts[1] <= 31 && (parts[0] <= 31 || parts[2] <= 31);
    bool month = names > 0 || parts[0] <= 12 || parts[1] <= 12;
    return years <= 1 && day && month ? p : NULL;
}

/* What a letter of a pattern stands for, or one of the signs that may divide the others, at p; one
 * past it, or NULL. Four digits are a year only in a plausible range: 9999-12 is rather a code. */
static const char *skip_part(char part, const char *p, const char *end) {
    int number = 0;
    const char *next = NULL;
    switch (part) {
    case 'Y':
        next = read_digits(p, end, 4, 4, &number);
        return number >= 1500 && number < 2500 ? next : NULL;
    case 'M':
        next = read_digits(p, end, 2, 2, &number);
        return number >= 1 && number <= 12 ? next : NULL;
    case 'D': /* a day or a year */
        next = read_digits(p, end, 1, 4, &number);
        return next != NULL && next - p != 3 ? next : NULL;
    case 'N':
        return skip_month(p, end, true);
    case 'Q':
        return end - p >= 2 && (*p | 32) == 'q' && p[1] >= '1' && p[1] <= '4' ? p + 2 : NULL;
    default: /* '-', ' ' or '\'': each also stands for those before it, and for a slash */
        return p < end && memchr("-/ '", *p,
                                 part == '-'   ? 2
                                 : part == ' ' ? 3
                                               : 4) != NULL
                   ? p + 1
                   : NULL;
    }
}

/* 2020-01, 2020/01, 2020Q1, 2020-Q1, Q1 2020, Jan-20, Jan 2020, 20-Jan, 2020-Jan */
static bool is_part_of_year(const char *begin, const char *end) {
    static const char *const patterns[] = {"Y-M", "YQ", "Y Q", "Q Y", "N'D", "D N"};
    for (size_t k = 0; k < sizeof patterns / sizeof *patterns; k++) {
        const char *p = begin;
        for (const char *part = patterns[k]; p != NULL && *part != '\0'; part++)
            p = skip_part(*part, p, end);
        if (p == end)
            return true;
    }
    return false;
}

/* At least "0:00"; the upper limit excludes long texts at once. */
static bool is_time(const char *begin, const char *end) {
    return end - begin >= 4 && end - begin <= 40 && skip_time(begin, end) == end;
}

static bool is_compact_date(const char *begin, const char *end) {
    int date;
    if (end - begin != 8 || read_digits(begin, end, 8, 8, &date) != end)
        return false;
    int year = date / 10000, month = date / 100 % 100, day = date % 100;
    return year >= 1500 && year < 2500 && month >= 1 && month <= 12 && day >= 1 && day <= 31;
}

/* More than 40 characters are a sentence. A date may be followed by a time, after a T (ISO
 * 8601), a comma or a blank. */
bool hd_io_is_date(const char *begin, const char *end) {
    if (end - begin < 4 || end - begin > 40)
        return false;
    if (skip_time(begin, end) == end || is_part_of_year(begin, end))
        return true;
    const char *p = skip_day(begin, end);
    if (p == NULL || p == end)
        return p == end;
    if (*p == 'T' || *p == ',')
        p++;
    p = skip_blanks(p, end);
    return p < end && skip_time(p, end) == end;
}

/* ---- columns -------------------------------------------------------------------------------- */

/* Counts over the values of one column that were examined. */
typedef struct tally {
    int64_t values; /* that are not missing */
    int64_t texts, dates, times;
    int64_t compact;         /* dates in eight digits */
    int64_t points, commas;  /* numbers that can only have a decimal point, a decimal comma */
    int64_t ambiguous_point; /* 1.234: thousands or a fraction */
    int64_t ambiguous_comma; /* 1,234 */
    hd_io_marks all;         /* that occur; HD_IO_BARE: none of them */
    bool whole[2];           /* as read with a point, with a comma */
    bool from_zero, from_one;
    char example[24];
    char mixes[2][24]; /* the first value, and one with another sign */
    hd_io_marks first; /* the first one's */
} tally;

enum { EXAMPLE = 24 };

/* A value to show in a message; one that is too long is not kept. */
static void keep_example(char *to, const hd_io_field *field) {
    int64_t length = field->end - field->begin;
    if (length < EXAMPLE)
        snprintf(to, EXAMPLE, "%.*s", (int)length, field->begin);
}

/* More than one currency. */
static bool has_currencies(hd_io_marks marks) {
    hd_io_marks currencies = marks / HD_IO_CURRENCY;
    return (currencies & (currencies - 1)) != 0;
}

/* A value without a sign differs from one with a per cent sign, which divides it by 100, but
 * not from one with a currency sign, which leaves the number as it is. */
static void count_marks(tally *t, hd_io_marks marks, const hd_io_field *field) {
    hd_io_marks both = marks | t->first;
    bool other = ((marks ^ t->first) & HD_IO_PER_CENT) != 0 || has_currencies(both);
    if (t->mixes[0][0] == '\0') {
        keep_example(t->mixes[0], field);
        t->first = marks;
    } else if (other && t->mixes[1][0] == '\0')
        keep_example(t->mixes[1], field);
    t->all |= marks != 0 ? marks : HD_IO_BARE;
}

/* A number that means the same with both signs decides nothing. One that can be read in both
 * ways with different results (1,234) is in doubt. */
static void count_signs(tally *t, const hd_io_field *field, bool point, double with_point,
                        bool comma, double with_comma) {
    t->points += point && !comma;
    t->commas += comma && !point;
    if (!point || !comma || with_point == with_comma)
        return;
    bool has_comma = memchr(field->begin, ',', (size_t)(field->end - field->begin)) != NULL;
    t->ambiguous_comma += has_comma;
    t->ambiguous_point += !has_comma;
    keep_example(t->example, field);
}

/* Every value is tried with a decimal point and with a decimal comma; the tally as a whole
 * decides later. A missing value prevents the column from being row numbers or whole-number
 * labels, but does not count for its kind. */
static void count_field(tally *t, const hd_io_field *field, int64_t row) {
    double with_point = NAN, with_comma = NAN;
    hd_io_marks marks = 0, other = 0;
    if (hd_io_field_missing(field)) {
        t->whole[0] = t->whole[1] = t->from_zero = t->from_one = false;
        return;
    }
    t->values++;
    bool point = hd_io_styled_number(field->begin, field->end, '.', &with_point, &marks) ||
                 hd_io_field_number(field, '.', &with_point);
    bool comma = hd_io_styled_number(field->begin, field->end, ',', &with_comma, &other);
    bool number = point || comma || hd_io_field_infinite(field);
    t->compact += number && is_compact_date(field->begin, field->end);
    if (!number && hd_io_is_date(field->begin, field->end)) {
        t->dates++;
        t->times += is_time(field->begin, field->end);
    } else if (!number)
        t->texts++;
    if (point || comma) {
        count_marks(t, point ? marks : other, field);
        count_signs(t, field, point, with_point, comma, with_comma);
    }
    t->whole[0] = t->whole[0] && point && with_point == floor(with_point);
    t->whole[1] = t->whole[1] && comma && with_comma == floor(with_comma);
    t->from_zero = t->from_zero && with_point == (double)row;
    t->from_one = t->from_one && with_point == (double)(row + 1);
}

/* "Date", "birthday", "timestamp". Only under such a name are eight digits like 20200131 a
 * date: elsewhere they are an ordinary number. */
static bool is_date_name(const char *name) {
    static const char *const parts[] = {"date", "day", "time"};
    for (; *name != '\0'; name++)
        for (size_t k = 0; k < sizeof parts / sizeof *parts; k++)
            if (strncasecmp(name, parts[k], strlen(parts[k])) == 0)
                return true;
    return false;
}

/* A typing error among numbers must not make a column textual: the majority decides. */
static void classify_column(const tally *t, const char *name, hd_io_column *column) {
    column->times = t->times == t->dates;
    if (t->values == 0)
        column->kind = HD_IO_EMPTY;
    else if (2 * t->dates > t->values)
        column->kind = HD_IO_DATES;
    else if (t->compact == t->values && is_date_name(name)) {
        column->kind = HD_IO_DATES;
        column->times = false;
    } else
        column->kind = 2 * (t->texts + t->dates) > t->values ? HD_IO_WORDS : HD_IO_NUMBERS;
    column->counts = t->from_zero || t->from_one;
    column->mixed =
        has_currencies(t->all) || ((t->all & HD_IO_PER_CENT) != 0 && t->all != HD_IO_PER_CENT);
}

/* The decimal sign that the column's own values require; '\0' if they leave it open. */
static char sign_of(const tally *t) {
    if (t->points == 0 && t->commas == 0)
        return '\0';
    return t->commas > t->points ? ',' : '.';
}

/* Where a column leaves the decimal sign open, the other columns decide. If they do too, a
 * comma is decimal in a file with semicolons, which is what spreadsheets write where the comma
 * is the decimal sign, and separates thousands elsewhere; a point is decimal. */
static void choose_decimal_signs(hd_io_layout *layout, const tally *tallies) {
    int64_t points = 0, commas = 0;
    for (int64_t c = 0; c < layout->columns; c++) {
        points += sign_of(&tallies[c]) == '.';
        commas += sign_of(&tallies[c]) == ',';
    }
    char others = commas > points ? ',' : points > 0 ? '.' : '\0';
    for (int64_t c = 0; c < layout->columns; c++) {
        const tally *t = &tallies[c];
        hd_io_column *column = &layout->kinds[c];
        char own = sign_of(t), rule = others;
        if (rule == '\0')
            rule = layout->separator == ';' && t->ambiguous_comma > 0 && t->ambiguous_point == 0
                       ? ','
                       : '.';
        column->decimal = own != '\0' ? own : rule;
        /* A point and three digits are an ordinary fraction unless something contradicts it. */
        bool ordinary = t->ambiguous_comma == 0 && column->decimal == '.' &&
                        (others == '.' || layout->separator != ';');
        column->open = own == '\0' && t->ambiguous_comma + t->ambiguous_point > 0 && !ordinary;
        column->ambiguous = column->open && others == '\0';
        column->whole = t->whole[column->decimal == ','];
        memcpy(column->example, t->example, sizeof column->example);
        memcpy(column->mixes, t->mixes, sizeof column->mixes);
    }
}

/* Called with the first records, and with all of them where those do not suffice. Rows with
 * too many or too few fields are tolerated here: the reader reports them with their line. */
huddle_status hd_io_layout_examine(hd_io_layout *layout, int64_t max_records) {
    huddle_status status = HUDDLE_OK;
    hd_io_fields fields = {0};
    tally *tallies = NULL;
    const char *p = layout->begin;
    ALLOC_ZERO(tallies, layout->columns);
    if (layout->kinds == NULL)
        ALLOC_ZERO(layout->kinds, layout->columns);
    for (int64_t c = 0; c < layout->columns; c++)
        tallies[c] = (tally){.whole = {true, true}, .from_zero = true, .from_one = true};
    for (int64_t records = 0; p < layout->end && records < max_records; records++) {
        TRY(hd_io_fields_next(&p, layout->end, layout->separator, &fields));
        for (int64_t c = 0; c < fields.count && c < layout->columns; c++)
            count_field(&tallies[c], &fields.items[c], records);
    }
    layout->all_examined = p == layout->end;
    for (int64_t c = 0; c < layout->columns; c++)
        classify_column(&tallies[c], hd_io_layout_name(layout, c), &layout->kinds[c]);
    choose_decimal_signs(layout, tallies);
    /* A declaration leaves nothing open: the decimal sign of ARFF is a point. A column without
     * values stays empty. */
    for (int64_t c = 0; layout->declared != NULL && c < layout->columns; c++) {
        hd_io_column *column = &layout->kinds[c];
        if (column->kind != HD_IO_EMPTY)
            column->kind = layout->declared[c];
        column->decimal = '.';
        column->open = column->ambiguous = column->mixed = false;
    }
done:
    FREE(tallies, fields.items);
    return status;
}
