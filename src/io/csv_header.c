/* Whether the first row of a table is a header, and the names in it. */
#include "io/csv.h"

#include "base/check.h"
#include "base/text.h"
#include "io/lines.h"
#include "io/number.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* Rows that are compared with the first, and fewer of wide tables. */
enum { SAMPLE = 100, WIDE_SAMPLE = 10, MAX_FIELDS = 1 << 20 };

/* ---- fields ---------------------------------------------------------------------------------- */

static bool is_number(const hd_io_field *field) {
    double value;
    return hd_io_field_number(field, '.', &value) || hd_io_field_number(field, ',', &value) ||
           hd_io_field_infinite(field);
}

bool hd_io_field_numeric(const hd_io_field *field) {
    return is_number(field) || hd_io_field_missing(field);
}

/* Not strcmp(): fields are not terminated. */
int hd_io_by_text(const void *a, const void *b) {
    const hd_io_field *x = a, *y = b;
    int64_t nx = x->end - x->begin, ny = y->end - y->begin;
    int order = memcmp(x->begin, y->begin, (size_t)(nx < ny ? nx : ny));
    return order != 0 ? order : (nx > ny) - (nx < ny);
}

/* Conventional names are short, so that a longer one need not be compared. */
static bool is_label_name(const hd_io_field *field) {
    char name[32];
    int64_t length = field->end - field->begin;
    if (length >= (int64_t)sizeof name)
        return false;
    memcpy(name, field->begin, (size_t)length);
    name[length] = '\0';
    return hd_io_label_name_rank(name) >= 0;
}

/* ---- the rows below -------------------------------------------------------------------------- */

huddle_status hd_io_sample_take(const hd_io_layout *layout, const char *next, int64_t columns,
                                hd_io_sample *s) {
    huddle_status status = HUDDLE_OK;
    hd_io_fields fields = {0};
    *s = (hd_io_sample){.columns = columns, .room = SAMPLE, .even = true};
    if (columns * SAMPLE > MAX_FIELDS)
        s->room = columns * WIDE_SAMPLE < MAX_FIELDS ? MAX_FIELDS / columns : WIDE_SAMPLE;
    ALLOC(s->fields, columns * s->room);
    while (s->rows < s->room && s->even) {
        bool found;
        TRY(hd_io_fields_next(&next, layout->end, layout->separator, &fields, &found));
        if (!found)
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

/* Most of the values that a column has are numbers. */
static bool holds_numbers(const hd_io_sample *s, int64_t column) {
    int64_t values = 0, numbers = 0;
    for (int64_t r = 0; r < s->rows; r++) {
        const hd_io_field *field = hd_io_sampled(s, r, column);
        values += !hd_io_field_missing(field);
        numbers += is_number(field);
    }
    return numbers > 0 && 2 * numbers > values;
}

bool hd_io_sample_repeats(hd_io_sample *s, int64_t column, const hd_io_field *name, bool *seen) {
    hd_io_field *fields = s->fields + column * s->room;
    int64_t distinct = 1;
    qsort(fields, (size_t)s->rows, sizeof *fields, hd_io_by_text);
    for (int64_t i = 1; i < s->rows; i++)
        distinct += hd_io_by_text(&fields[i], &fields[i - 1]) != 0;
    *seen = bsearch(name, fields, (size_t)s->rows, sizeof *fields, hd_io_by_text) != NULL;
    return 2 * distinct <= s->rows;
}

/* ---- names that are texts -------------------------------------------------------------------- */

/* ",0,1,2": pandas writes numbers as names for columns that have none, after an empty name for
 * the index. Such a header consists of numbers only and would otherwise be read as a row. */
static bool is_numbered(const hd_io_fields *first) {
    int64_t value;
    if (first->count < 2 || !hd_io_field_empty(&first->items[0]))
        return false;
    for (int64_t c = 1; c < first->count; c++)
        if (!hd_io_number_whole(first->items[c].begin, first->items[c].end, &value) ||
            value != c - 1)
            return false;
    return true;
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
        bool numeric = hd_io_field_numeric(field), date = hd_io_is_date(field->begin, field->end);
        numbers = numbers || ((numeric || date) && !hd_io_field_empty(field));
        if (!numeric && is_label_name(field))
            return true;
        if (c + offset >= second->count)
            continue;
        const hd_io_field *below = &second->items[c + offset];
        if (hd_io_field_numeric(below) || hd_io_is_date(below->begin, below->end)) {
            number_below = true;
            /* Tables of months have dates for names: 2020-01 above 17.5 is one. */
            if (!numeric && (!date || (hd_io_field_numeric(below) && !hd_io_field_missing(below))))
                return true;
        }
    }
    return is_numbered(first) || (!numbers && (number_below || second->count == 0));
}

/* A text above a column of numbers, where the second row has something else. */
static bool is_above_numbers(const hd_io_fields *first, const hd_io_sample *s) {
    for (int64_t c = 0; c < first->count; c++) {
        const hd_io_field *name = &first->items[c];
        if (!hd_io_field_numeric(name) && !hd_io_is_date(name->begin, name->end) &&
            holds_numbers(s, c))
            return true;
    }
    return false;
}

/* All fields of a first row are texts, and no two are equal: names of columns do not repeat. */
static bool are_names(const hd_io_fields *first) {
    for (int64_t c = 0; c < first->count; c++) {
        const hd_io_field *field = &first->items[c];
        if (hd_io_field_numeric(field) || hd_io_is_date(field->begin, field->end))
            return false;
        for (int64_t b = 0; b < c; b++)
            if (hd_io_by_text(field, &first->items[b]) == 0)
                return false;
    }
    return true;
}

/* A table of texts has a header if its first row is unlike the others: two columns or more
 * repeat their values, and none of the first row's values occurs again. Fewer than HD_IO_FEWEST
 * rows are no evidence. */
static bool is_header_of_texts(const hd_io_fields *first, hd_io_sample *s) {
    int64_t repeating = 0;
    if (first->count < 2 || s->rows < HD_IO_FEWEST || !s->even || !are_names(first))
        return false;
    for (int64_t c = 0; c < first->count; c++) {
        bool seen;
        repeating += hd_io_sample_repeats(s, c, &first->items[c], &seen);
        if (seen)
            return false;
    }
    return repeating >= 2;
}

/* ---- a second line --------------------------------------------------------------------------- */

/* What is written where a value is not known is no unit. */
static bool is_unit(const hd_io_field *field) {
    enum { LENGTH = 7 };
    int64_t length = field->end - field->begin;
    return !hd_io_field_missing(field) &&
           !(length == LENGTH && (strncasecmp(field->begin, "unknown", LENGTH) == 0 ||
                                  strncasecmp(field->begin, "missing", LENGTH) == 0));
}

/* A line of units below the names: texts above most of the columns of numbers, and nothing above
 * columns of texts, where it would be a value. The second line of names of pandas has the same
 * form. */
static bool are_units(const hd_io_fields *first, const hd_io_fields *second,
                      const hd_io_sample *s) {
    int64_t numbers = 0, units = 0;
    for (int64_t c = 0; c < second->count; c++) {
        const hd_io_field *name = &first->items[c], *unit = &second->items[c];
        bool number = holds_numbers(s, c);
        if (is_number(unit) || hd_io_is_date(unit->begin, unit->end) ||
            (!number && !hd_io_field_missing(unit)) ||
            (number && hd_io_field_numeric(name) &&
             !(hd_io_field_empty(name) && hd_io_field_empty(unit))))
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
    hd_io_sample s = {0};
    if (second->count != first->count)
        goto done;
    for (int64_t c = 0; c < second->count; c++)
        if (is_number(&second->items[c]))
            goto done;
    const char *next =
        hd_io_record_end(layout->begin, layout->end, layout->separator, layout->quoted);
    TRY(hd_io_sample_take(layout, next, second->count, &s));
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

/* ---- names ----------------------------------------------------------------------------------- */

/* A text in which doubled quotes have become single ones. */
static char *copy_field(const hd_io_field *field) {
    char *copy = hd_copy_part(field->begin, field->end - field->begin);
    if (copy != NULL && field->quoted)
        *hd_io_unquote(field->begin, field->end, copy) = '\0';
    return copy;
}

/* Every row ends with a separator, after which there is nothing. */
static huddle_status ends_empty(const hd_io_layout *layout, int64_t columns, bool *empty) {
    huddle_status status = HUDDLE_OK;
    hd_io_sample s = {0};
    TRY(hd_io_sample_take(layout, layout->begin, columns, &s));
    *empty = s.rows > 0;
    for (int64_t r = 0; r < s.rows; r++)
        *empty = *empty && hd_io_field_empty(hd_io_sampled(&s, r, columns - 1));
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
    if (shorter)
        TRY(ends_empty(layout, below, &open));
    layout->row_names = shorter && !open;
    if (shorter || (below == first->count - 1 && hd_io_field_empty(last)))
        layout->columns = below;
    ALLOC_ZERO(layout->names, layout->columns + 1);
    for (int64_t c = 0; c < layout->columns; c++) {
        int64_t at = c - layout->row_names;
        layout->names[c] = copy_field(at < 0 || at >= first->count ? &nothing : &first->items[at]);
        if (layout->names[c] == NULL)
            FAIL(HUDDLE_NO_MEMORY, "no memory for a column's name");
    }
done:
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
        int64_t c = 0;
        /* Most often in the same order. */
        if (hd_io_by_text(&first->items[k], &name) == 0)
            continue;
        while (c < first->count && hd_io_by_text(&first->items[c], &name) != 0)
            c++;
        if (c == first->count)
            return false;
    }
    return true;
}

/* The rules in the order of their certainty. `next`: the second row. */
static huddle_status judge_header(hd_io_layout *layout, const huddle_read_options *options,
                                  const hd_io_fields *first, const hd_io_fields *second,
                                  const char *next) {
    huddle_status status = HUDDLE_OK;
    hd_io_sample s = {0};
    layout->header = HD_IO_HEADER_CERTAIN;
    if (is_header(first, second) || layout->units != NULL || has_expected_names(first, options))
        goto done;
    TRY(hd_io_sample_take(layout, next, first->count, &s));
    if (!is_above_numbers(first, &s) && !is_header_of_texts(first, &s))
        TRY(hd_io_header_of_numbers(first, &s, &layout->header));
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
