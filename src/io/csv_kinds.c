/* What the values of each column look like: numbers, texts, dates, nothing; decimal signs. */
#include "io/csv.h"

#include "base/check.h"
#include "io/number.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Counts over the values of one column that were examined. */
typedef struct tally {
    int64_t values; /* that are not missing */
    int64_t texts, dates, times;
    int64_t compact;         /* dates in eight digits */
    int64_t points, commas;  /* numbers that can only have a decimal point, a decimal comma */
    int64_t ambiguous_point; /* 1.234: thousands or a fraction */
    int64_t ambiguous_comma; /* 1,234 */
    int64_t bare;            /* without a sign of currency or per cent */
    int64_t per_cent, currencies;
    int32_t currency; /* the first one */
    bool other_currency;
    bool whole[2]; /* as read with a point, with a comma */
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

/* A value without a sign differs from one with a per cent sign, which divides it by 100, but
 * not from one with a currency sign, which leaves the number as it is. */
static void count_marks(tally *t, hd_io_marks marks, const hd_io_field *field) {
    bool other =
        marks.percent != t->first.percent ||
        (marks.currency != t->first.currency && marks.currency != 0 && t->first.currency != 0);
    if (t->mixes[0][0] == '\0') {
        keep_example(t->mixes[0], field);
        t->first = marks;
    } else if (other && t->mixes[1][0] == '\0')
        keep_example(t->mixes[1], field);
    t->per_cent += marks.percent;
    t->currencies += marks.currency != 0;
    t->bare += !marks.percent && marks.currency == 0;
    if (t->currency != 0 && marks.currency != 0 && marks.currency != t->currency)
        t->other_currency = true;
    if (t->currency == 0)
        t->currency = marks.currency;
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
    hd_io_marks marks = {0}, other = {0};
    if (hd_io_field_missing(field)) {
        t->whole[0] = t->whole[1] = t->from_zero = t->from_one = false;
        return;
    }
    t->values++;
    bool point = hd_io_styled_number(field->begin, field->end, '.', &with_point, &marks) ||
                 hd_io_field_number(field, '.', &with_point);
    bool comma = hd_io_styled_number(field->begin, field->end, ',', &with_comma, &other);
    bool number = point || comma || hd_io_field_infinite(field);
    t->compact += number && hd_io_is_compact_date(field->begin, field->end);
    if (!number && hd_io_is_date(field->begin, field->end)) {
        t->dates++;
        t->times += hd_io_is_time(field->begin, field->end);
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
        for (size_t k = 0; k < sizeof parts / sizeof *parts; k++) {
            size_t i = 0;
            while (parts[k][i] != '\0' && (name[i] | 32) == parts[k][i])
                i++;
            if (parts[k][i] == '\0')
                return true;
        }
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
    column->mixed = t->other_currency || (t->per_cent > 0 && (t->bare > 0 || t->currencies > 0));
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

/* A declaration leaves nothing open: the decimal sign of ARFF is a point. A column without values
 * stays empty. */
static void declare_kind(hd_io_column *column, hd_io_column_kind declared) {
    if (column->kind != HD_IO_EMPTY)
        column->kind = declared;
    column->decimal = '.';
    column->open = column->ambiguous = column->mixed = false;
}

/* Called with the first records, and with all of them where those do not suffice. Rows with
 * too many or too few fields are tolerated here: the reader reports them with their line. */
huddle_status hd_io_layout_examine(hd_io_layout *layout, int64_t max_records) {
    huddle_status status = HUDDLE_OK;
    hd_io_fields fields = {0};
    tally *tallies = NULL;
    bool found = false;
    const char *p = layout->begin;
    ALLOC_ZERO(tallies, layout->columns);
    if (layout->kinds == NULL)
        ALLOC_ZERO(layout->kinds, layout->columns);
    for (int64_t c = 0; c < layout->columns; c++)
        tallies[c] = (tally){.whole = {true, true}, .from_zero = true, .from_one = true};
    for (int64_t records = 0; p < layout->end && records < max_records; records += found) {
        TRY(hd_io_fields_next(&p, layout->end, layout->separator, &fields, &found));
        for (int64_t c = 0; found && c < fields.count && c < layout->columns; c++)
            count_field(&tallies[c], &fields.items[c], records);
    }
    layout->all_examined = p == layout->end;
    for (int64_t c = 0; c < layout->columns; c++)
        classify_column(&tallies[c], hd_io_layout_name(layout, c), &layout->kinds[c]);
    choose_decimal_signs(layout, tallies);
    for (int64_t c = 0; layout->declared != NULL && c < layout->columns; c++)
        declare_kind(&layout->kinds[c], layout->declared[c]);
done:
    FREE(tallies, fields.items);
    return status;
}
