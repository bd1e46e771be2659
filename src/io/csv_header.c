/* Whether the first row of a table is a header, texts or numbers such as 0,1,2,3, and the names in
 * it. */
#include "io/csv.h"

#include "base/check.h"
#include "base/text.h"
#include "io/number.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Rows that are compared with the first, and fewer of wide tables. */
enum { SAMPLE = 100, WIDE_SAMPLE = 10, MAX_FIELDS = 1 << 20 };

/* Fewer rows are no evidence. */
enum { FEWEST = 4 };

/* The fields of the first rows below some row; fields[c * room + r] is in row r, column c. */
typedef struct sample {
    hd_io_field *fields;
    int64_t rows, room;
    bool even; /* all rows have that many columns; those after one that does not are not taken */
} sample;

/* ---- fields ---------------------------------------------------------------------------------- */

static bool is_number(const hd_io_field *field) {
    double value;
    return hd_io_field_any_number(field, &value) || hd_io_field_infinite(field);
}

/* A number, or a word in the place of a number. */
static bool is_numeric(const hd_io_field *field) {
    return is_number(field) || hd_io_field_missing(field);
}

static bool is_empty(const hd_io_field *field) {
    return field->begin == field->end;
}

static bool is_date(const hd_io_field *field) {
    return hd_io_is_date(field->begin, field->end);
}

/* As strcmp(), for texts that are not terminated. */
static int by_text(const void *a, const void *b) {
    const hd_io_field *x = a, *y = b;
    int64_t nx = x->end - x->begin, ny = y->end - y->begin;
    int order = memcmp(x->begin, y->begin, (size_t)(nx < ny ? nx : ny));
    return order != 0 ? order : (nx > ny) - (nx < ny);
}

/* Conventional names are short, so that a longer one need not be compared. */
static bool is_label_name(const hd_io_field *field) {
    enum { LONGEST = 31 };
    char name[LONGEST + 1];
    int64_t length = field->end - field->begin;
    snprintf(name, sizeof name, "%.*s", (int)(length < LONGEST ? length : LONGEST), field->begin);
    return length <= LONGEST && hd_io_label_name_rank(name) >= 0;
}

/* ---- the rows below -------------------------------------------------------------------------- */

/* The rows from `next` on; s->fields is the caller's to free. */
static huddle_status take_sample(const hd_io_layout *layout, const char *next, int64_t columns,
                                 sample *s) {
    huddle_status status = HUDDLE_OK;
    hd_io_fields fields = {0};
    *s = (sample){.room = SAMPLE, .even = true};
    if (columns * SAMPLE > MAX_FIELDS)
        s->room = columns * WIDE_SAMPLE < MAX_FIELDS ? MAX_FIELDS / columns : WIDE_SAMPLE;
    ALLOC(s->fields, columns * s->room);
    while (s->rows < s->room && s->even) {
        TRY(hd_io_fields_next(&next, layout->end, layout->separator, &fields));
        if (fields.count == 0)
            break;
        s->even = fields.count == columns;
        for (int64_t c = 0; s->even && c < columns; c++)
            s->fields[c * s->room + s->rows] = fields.items[c];
        s->rows += s->even;
    }
done:
    huddle_free(fields.items);
    return status;
}

static const hd_io_field *field_of(const sample *s, int64_t row, int64_t column) {
    return &s->fields[column * s->room + row];
}

/* Most of the values that a column has are numbers. */
static bool holds_numbers(const sample *s, int64_t column) {
    int64_t values = 0, numbers = 0;
    for (int64_t r = 0; r < s->rows; r++) {
        const hd_io_field *field = field_of(s, r, column);
        values += !hd_io_field_missing(field);
        numbers += is_number(field);
    }
    return numbers > 0 && 2 * numbers > values;
}

/* Sorts the fields of a column; true if each occurs twice on average. *seen: the name is one of
 * them. */
static bool repeats(sample *s, int64_t column, const hd_io_field *name, bool *seen) {
    hd_io_field *fields = s->fields + column * s->room;
    int64_t distinct = 1;
    qsort(fields, (size_t)s->rows, sizeof *fields, by_text);
    for (int64_t i = 1; i < s->rows; i++)
        distinct += by_text(&fields[i], &fields[i - 1]) != 0;
    *seen = bsearch(name, fields, (size_t)s->rows, sizeof *fields, by_text) != NULL;
    return 2 * distinct <= s->rows;
}

/* ---- names that are texts -------------------------------------------------------------------- */

/* ",0,1,2": pandas writes numbers as names for columns that have none, after an empty name for
 * the index. Such a header consists of numbers only and would otherwise be read as a row. */
static bool is_numbered(const hd_io_fields *first) {
    int64_t value;
    bool numbered = first->count >= 2 && is_empty(&first->items[0]);
    for (int64_t c = 1; numbered && c < first->count; c++)
        numbered = hd_io_number_whole(first->items[c].begin, first->items[c].end, &value) &&
                   value == c - 1;
    return numbered;
}

/* The first row is a header if something in it contradicts being data: a conventional name for
 * labels, or a text above a number or date. A row of texts alone is one if numbers are below
 * it, or if it is the only row. */
static bool is_header(const hd_io_fields *first, const hd_io_fields *second) {
    bool numbers = false, number_below = false;
    /* Where the header has one name fewer, its first name is the second column's. */
    int64_t offset = second->count == first->count + 1;
    for (int64_t c = 0; c < first->count; c++) {
        const hd_io_field *field = &first->items[c];
        bool numeric = is_numeric(field), date = is_date(field);
        numbers = numbers || ((numeric || date) && !is_empty(field));
        if (!numeric && is_label_name(field))
            return true;
        if (c + offset >= second->count)
            continue;
        const hd_io_field *below = &second->items[c + offset];
        if (is_numeric(below) || is_date(below)) {
            number_below = true;
            /* Tables of months have dates for names: 2020-01 above 17.5 is one. */
            if (!numeric && (!date || (is_numeric(below) && !hd_io_field_missing(below))))
                return true;
        }
    }
    return is_numbered(first) || (!numbers && (number_below || second->count == 0));
}

/* A text above a column of numbers, where the second row has something else. */
static bool is_above_numbers(const hd_io_fields *first, const sample *s) {
    for (int64_t c = 0; c < first->count; c++) {
        const hd_io_field *name = &first->items[c];
        if (!is_numeric(name) && !is_date(name) && holds_numbers(s, c))
            return true;
    }
    return false;
}

/* All fields of a first row are texts, and no two are equal: names of columns do not repeat. */
static bool are_names(const hd_io_fields *first) {
    for (int64_t c = 0; c < first->count; c++) {
        const hd_io_field *field = &first->items[c];
        if (is_numeric(field) || is_date(field))
            return false;
        for (int64_t b = 0; b < c; b++)
            if (by_text(field, &first->items[b]) == 0)
                return false;
    }
    return true;
}

/* A table of texts has a header if its first row is unlike the others: two columns or more
 * repeat their values, and none of the first row's values occurs again. Fewer than FEWEST
 * rows are no evidence. */
static bool is_header_of_texts(const hd_io_fields *first, sample *s) {
    int64_t repeating = 0;
    if (first->count < 2 || s->rows < FEWEST || !s->even || !are_names(first))
        return false;
    for (int64_t c = 0; c < first->count; c++) {
        bool seen;
        repeating += repeats(s, c, &first->items[c], &seen);
        if (seen)
            return false;
    }
    return repeating >= 2;
}

/* Rows in which a column of measurements shows its fractions, and a column its range. */
enum { ENOUGH = 10 };

/* ---- names that are numbers ------------------------------------------------------------------ */

/* How numbers are written. */
typedef enum form {
    NO_NAME,
    PLAIN, /* 0, 17, 2004, as names of columns are, but not 007 or -3 */
    POINT, /* 0.0, 17.0, 2004.0: what Python makes of whole numbers that were read as others */
    OTHER  /* 402.5, 2.00, or several forms in a row */
} form;

/* What the numbers of a first row are. */
typedef enum series {
    NO_SERIES,
    DISTINCT, /* plain, and not known to repeat: some of many numbered columns */
    COUNTING, /* 0, 1, 2, ... or 1, 2, 3, ...: what programs write for columns without names */
    YEARS,    /* rising or falling */
    STEPS     /* 400, 402, 404, ...: wavelengths, ages, hours */
} series;

/* The numbers of a row and their columns. */
typedef struct names {
    double *values;
    int64_t *columns, count;
    form written;
    series kind;
} names;

static const char *skip_digits(const char *p, const char *end) {
    while (p < end && *p >= '0' && *p <= '9')
        p++;
    return p;
}

static form find_form(const hd_io_field *field, double *value) {
    const char *begin = field->begin, *end = field->end, *point = skip_digits(begin, end);
    if (point == begin || point - begin > 9 || (point - begin > 1 && *begin == '0') ||
        (point < end && (*point != '.' || point + 1 == end || skip_digits(point + 1, end) < end)) ||
        !hd_io_field_number(field, '.', value))
        return NO_NAME;
    if (point == end)
        return PLAIN;
    return end - point == 2 && point[1] == '0' ? POINT : OTHER;
}

static bool is_year(double value) {
    return value >= 1500 && value <= 2200;
}

/* All rising or all falling; at least two. */
static bool are_years(const double *values, int64_t count) {
    double step = values[1] - values[0];
    for (int64_t k = 0; k < count; k++)
        if (!is_year(values[k]) || (k > 0 && (values[k] - values[k - 1]) * step <= 0))
            return false;
    return true;
}

static series series_of(const double *values, int64_t count, form written) {
    enum { FEW = 3, MANY = 5 }; /* numbers with fractions are at equal steps by chance too */
    if (count == 0 || (written == OTHER && count < MANY))
        return NO_SERIES;
    if (count == 1)
        return is_year(values[0]) ? YEARS : values[0] <= 1 ? COUNTING : NO_SERIES;
    double step = values[1] - values[0];
    bool even = step != 0;
    for (int64_t k = 2; k < count; k++)
        even = even && fabs(values[k] - values[k - 1] - step) <= 1e-6 * fabs(step);
    if (written == OTHER)
        return even ? STEPS : NO_SERIES;
    if (even && step == 1 && values[0] <= 1)
        return COUNTING;
    if (are_years(values, count))
        return YEARS;
    if (even && count >= FEW)
        return STEPS;
    return written == PLAIN && count >= FEW ? DISTINCT : NO_SERIES;
}

/* A row with numbers of another form, such as -1.5, has no names: they are values. */
static void find_names(const hd_io_fields *row, names *n) {
    n->count = 0;
    for (int64_t c = 0; c < row->count; c++) {
        const hd_io_field *field = &row->items[c];
        form written = find_form(field, &n->values[n->count]);
        if (written != NO_NAME) {
            n->written = n->count == 0 || n->written == written ? written : OTHER;
            n->columns[n->count++] = c;
        } else if (!is_empty(field) && (is_numeric(field) || is_date(field))) {
            n->count = 0;
            break;
        }
    }
    n->kind = series_of(n->values, n->count, n->written);
}

/* ---- the values below ------------------------------------------------------------------------ */

/* The numbers of a column. */
typedef struct range {
    double low, high;
    int64_t count, unlike; /* unlike: written in a way in which the names are not */
} range;

static range range_of(const sample *s, int64_t column, form written) {
    range found = {INFINITY, -INFINITY, 0, 0};
    for (int64_t r = 0; r < s->rows; r++) {
        const hd_io_field *field = field_of(s, r, column);
        double value, unused;
        if (!hd_io_field_any_number(field, &value))
            continue;
        hd_io_field digits = *field;
        digits.begin += *digits.begin == '-';
        found.count++;
        if (written == PLAIN)
            found.unlike += find_form(&digits, &unused) != PLAIN;
        else
            found.unlike += written == POINT && value != floor(value);
        found.low = fmin(found.low, value);
        found.high = fmax(found.high, value);
    }
    return found;
}

/* How unlikely a name is as a value of its column, as a negative decimal logarithm. A whole number
 * is one of a thousand in a column of fractions, else one of as many as the column spans; so is any
 * number that is further from the range than the range is wide. */
static double surprise(const range *column, double name, form written) {
    const double most = 3, most_whole = 2.5; /* two columns of whole numbers are not enough */
    double span = column->high - column->low;
    bool measured = column->count > 0 && column->unlike == column->count;
    if (column->count < FEWEST)
        return measured || (column->count > 0 &&
                            name > 10 * fmax(fabs(column->low), fabs(column->high)))
                   ? 1.5
                   : 0;
    measured = measured && column->count >= ENOUGH;
    if (measured && written == PLAIN)
        return most;
    if (name < column->low - span || name > column->high + span)
        return column->count >= ENOUGH ? most : 2;
    if (measured)
        return most_whole;
    if (2 * column->unlike >= column->count)
        return 2;
    return written == OTHER ? 1 : fmin(most_whole, log10(span + 1));
}

/* The second row is such a series too, as in 1,2,3 and 2,4,6. */
static bool continues(const sample *s, const names *n, double *room) {
    form first = PLAIN;
    for (int64_t k = 0; k < n->count; k++) {
        form written = find_form(field_of(s, 0, n->columns[k]), &room[k]);
        if (written == NO_NAME)
            return false;
        first = k == 0 || first == written ? written : OTHER;
    }
    series kind = series_of(room, n->count, first);
    return kind > DISTINCT && (kind == YEARS) == (n->kind == YEARS);
}

static bool has_equal(double *values, int64_t count) {
    qsort(values, (size_t)count, sizeof *values, hd_io_by_real);
    for (int64_t k = 1; k < count; k++)
        if (values[k] == values[k - 1])
            return true;
    return false;
}

/* The evidence of all columns but those in which the second row has the same number, as in lists of
 * combinations or edges: 0,1,2 and then 0,1,3. */
static double weigh_names(const hd_io_fields *first, const sample *s, names *n) {
    const double two_free_values = 6, a_year = 1;
    double evidence = 0;
    bool measured = n->written == PLAIN;
    for (int64_t k = 0; k < n->count; k++) {
        int64_t c = n->columns[k];
        range column = range_of(s, c, n->written);
        if (by_text(&first->items[c], field_of(s, 0, c)) != 0)
            evidence += surprise(&column, n->values[k], n->written);
        measured = measured && column.count >= ENOUGH && column.unlike == column.count;
    }
    if (n->kind == DISTINCT)
        return measured && !has_equal(n->values, n->count) ? evidence : 0;
    if (n->kind == STEPS && !measured) /* the first number and the step are arbitrary */
        evidence -= two_free_values;
    return evidence + (n->count == 1 && n->kind == YEARS ? a_year : 0);
}

/* The texts of the first row: true if one occurs again in its column, so that the row is one of
 * the data. *fresh: how many a column of repeated texts lacks, which is evidence of a header. */
static bool has_known_text(const hd_io_fields *first, sample *s, int64_t *fresh, bool *texts) {
    for (int64_t c = 0; c < first->count; c++) {
        bool seen = false;
        if (is_numeric(&first->items[c]))
            continue;
        *texts = true;
        *fresh += repeats(s, c, &first->items[c], &seen);
        if (seen)
            return true;
    }
    return false;
}

/* Nothing in such a row contradicts being data, so that the question is how great a coincidence it
 * would be: among numbers alone less than one in a million makes it a header, beside texts or an
 * empty field, which are rarely without a header, less than one in ten thousand. What would make a
 * class of a name is never kept silently. */
static huddle_status judge_numbers(const hd_io_fields *first, sample *s, hd_io_header *found) {
    const double among_numbers = 6, beside_texts = 4, least = 3;
    huddle_status status = HUDDLE_OK;
    names n = {0};
    double *room = NULL;
    int64_t fresh = 0;
    bool texts = is_empty(&first->items[0]);
    *found = HD_IO_HEADER_NONE;
    ALLOC(n.values, first->count);
    ALLOC(n.columns, first->count);
    ALLOC(room, first->count);
    find_names(first, &n);
    if (n.kind == NO_SERIES || s->rows == 0 || !s->even)
        goto done;
    double evidence = continues(s, &n, room) ? 0 : weigh_names(first, s, &n);
    if (has_known_text(first, s, &fresh, &texts))
        goto done;
    evidence += (double)fresh;
    if (s->rows >= FEWEST && evidence >= (texts ? beside_texts : among_numbers))
        *found = HD_IO_HEADER_LIKELY;
    else if (evidence >= least || (n.kind != DISTINCT && fresh > 0))
        *found = HD_IO_HEADER_UNLIKELY;
done:
    FREE(n.values, n.columns, room);
    return status;
}

/* ---- a second line --------------------------------------------------------------------------- */

/* What is written where a value is not known is no unit. */
static bool is_unit(const hd_io_field *field) {
    int64_t length = field->end - field->begin;
    return !hd_io_field_missing(field) && !hd_io_same_word(field->begin, length, "unknown") &&
           !hd_io_same_word(field->begin, length, "missing");
}

/* A line of units below the names: texts above most of the columns of numbers, and nothing above
 * columns of texts, where it would be a value. The second line of names of pandas has the same
 * form. */
static bool are_units(const hd_io_fields *first, const hd_io_fields *second, const sample *s) {
    int64_t numbers = 0, units = 0;
    for (int64_t c = 0; c < second->count; c++) {
        const hd_io_field *name = &first->items[c], *unit = &second->items[c];
        bool number = holds_numbers(s, c);
        if (is_number(unit) || is_date(unit) || (!number && !hd_io_field_missing(unit)) ||
            (number && is_numeric(name) && !(is_empty(name) && is_empty(unit))))
            return false;
        numbers += number;
        units += number && is_unit(unit);
    }
    return 2 * units > numbers;
}

/* `second` begins at layout->begin, as if the first row was a header. Passes it if it has units. */
static huddle_status skip_units(hd_io_layout *layout, const hd_io_fields *first,
                                const hd_io_fields *second) {
    huddle_status status = HUDDLE_OK;
    sample s = {0};
    if (second->count != first->count)
        goto done;
    for (int64_t c = 0; c < second->count; c++)
        if (is_number(&second->items[c]))
            goto done;
    const char *next =
        hd_io_record_end(layout->begin, layout->end, layout->separator, layout->quoted);
    TRY(take_sample(layout, next, second->count, &s));
    if (s.rows == 0 || !are_units(first, second, &s))
        goto done;
    layout->units = layout->begin;
    layout->units_line = layout->first_line;
    layout->first_line += hd_io_count_lines(layout->begin, next);
    layout->begin = hd_io_skip_blank_lines(layout, next);
done:
    huddle_free(s.fields);
    return status;
}

/* `below`: fields of the first row. R's write.table() gives no name to the column of row
 * names, so that the header is one shorter, as it is where only the rows end with a separator; some
 * programs end the header with a separator, so that it is one longer. In all cases the rows
 * determine the number of columns. */
static huddle_status keep_names(hd_io_layout *layout, const hd_io_fields *first, int64_t below) {
    huddle_status status = HUDDLE_OK;
    const hd_io_field *last = &first->items[first->count - 1], nothing = {"", "", false, false};
    bool shorter = below == first->count + 1, open = false;
    sample s = {0};
    if (shorter)
        TRY(take_sample(layout, layout->begin, below, &s));
    for (int64_t i = 0; i < s.rows && (i == 0 || open); i++)
        open = is_empty(field_of(&s, i, below - 1));
    layout->row_names = shorter && !open;
    if (shorter || (below == first->count - 1 && is_empty(last)))
        layout->columns = below;
    ALLOC_ZERO(layout->names, layout->columns + 1);
    for (int64_t c = 0; c < layout->columns; c++) {
        int64_t at = c - layout->row_names;
        const hd_io_field *name = at < 0 || at >= first->count ? &nothing : &first->items[at];
        layout->names[c] = hd_copy_part(name->begin, name->end - name->begin);
        if (layout->names[c] == NULL)
            FAIL(HUDDLE_NO_MEMORY, "no memory for a column's name");
        if (name->quoted) /* doubled quotes become single ones */
            *hd_io_unquote(name->begin, name->end, layout->names[c]) = '\0';
    }
done:
    huddle_free(s.fields);
    return status;
}

/* ---- all of it ------------------------------------------------------------------------------- */

/* The first row has all the names that the caller expects, as new rows for a model do. */
static bool has_expected_names(const hd_io_fields *first, const huddle_read_options *options) {
    if (options == NULL || !options->x_by_name || options->n_x == 0 || options->n_x > first->count)
        return false;
    for (int64_t k = 0; k < options->n_x; k++) {
        const char *x = options->x[k];
        const hd_io_field name = {x, x + strlen(x), false, false};
        int64_t tried = 0; /* most often the first, in the same order */
        while (tried < first->count &&
               by_text(&first->items[(k + tried) % first->count], &name) != 0)
            tried++;
        if (tried == first->count)
            return false;
    }
    return true;
}

/* The rules in the order of their certainty. `next`: the second row. */
static huddle_status judge_header(hd_io_layout *layout, const huddle_read_options *options,
                                  const hd_io_fields *first, const hd_io_fields *second,
                                  const char *next) {
    huddle_status status = HUDDLE_OK;
    sample s = {0};
    layout->header = HD_IO_HEADER_CERTAIN;
    if (is_header(first, second) || layout->units != NULL || has_expected_names(first, options))
        goto done;
    TRY(take_sample(layout, next, first->count, &s));
    if (!is_above_numbers(first, &s) && !is_header_of_texts(first, &s))
        TRY(judge_numbers(first, &s, &layout->header));
done:
    huddle_free(s.fields);
    return status;
}

/* The line numbers are advanced past the header first and restored if there is none. */
huddle_status hd_io_header_find(hd_io_layout *layout, hd_io_header_rule rule,
                                const huddle_read_options *options) {
    huddle_status status = HUDDLE_OK;
    hd_io_fields first = {0}, second = {0};
    const char *top = layout->begin, *next = top, *below;
    TRY(hd_io_fields_split(&next, layout->end, layout->separator, &first));
    layout->columns = first.count;
    layout->counted_line = layout->first_line;
    layout->header = rule == HD_IO_HEADER_YES ? HD_IO_HEADER_CERTAIN : HD_IO_HEADER_NONE;
    if (rule == HD_IO_HEADER_NO)
        goto done;
    layout->first_line += hd_io_count_lines(top, next);
    layout->begin = next = below = hd_io_skip_blank_lines(layout, next);
    if (next < layout->end)
        TRY(hd_io_fields_split(&below, layout->end, layout->separator, &second));
    if (rule == HD_IO_HEADER_AUTO) {
        TRY(skip_units(layout, &first, &second));
        TRY(judge_header(layout, options, &first, &second, next));
    }
    if (layout->header == HD_IO_HEADER_NONE || layout->header == HD_IO_HEADER_UNLIKELY) {
        layout->first_line = layout->counted_line;
        layout->begin = top;
        goto done;
    }
    TRY(keep_names(layout, &first, second.count));
done:
    FREE(first.items, second.items);
    return status;
}
