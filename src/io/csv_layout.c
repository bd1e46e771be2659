#include "io/csv.h"

#include "base/check.h"
#include "base/text.h"
#include "io/formats.h"
#include "io/lines.h"
#include "io/number.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Records examined to find the separator and the kinds of the columns. */
enum { SAMPLE = 100 };

/* ---- fields --------------------------------------------------------------------------------- */

/* A tab is a blank unless it is the separator: in a TSV file it delimits an empty field. */
static bool is_blank(char c, char separator) {
    return c == ' ' || (c == '\t' && separator != '\t');
}

/* The field at p; returns the position of its separator, its line feed or the end of the text.
 * RFC 4180 with the deviations found in practice: blanks around fields do not count, lines may
 * end in CR LF or LF, and a quote that is not followed by a separator (6" pipe) is part of the
 * text. Inside quotes a quote is doubled, and separators and line feeds are ordinary
 * characters. */
static const char *next_field(const char *p, const char *end, char separator, hd_io_field *field) {
    while (p < end && is_blank(*p, separator))
        p++;
    *field = (hd_io_field){p, p, false, false};
    if (p < end && *p == '"') {
        field->quoted = true;
        field->begin = ++p;
        while (p < end && (*p != '"' || (p + 1 < end && p[1] == '"')))
            p += *p == '"' ? 2 : 1;
        field->end = p = p < end ? p : end;
        field->open = p == end;
        p += p < end;
        while (p < end && is_blank(*p, separator) && separator != ' ')
            p++;
        if (p < end && *p == '\r')
            p++;
        if (p == end || *p == separator || *p == '\n' || is_blank(*p, separator))
            return p;
        field->quoted = false; /* text after the closing quote: all of it is the field */
        field->begin--;
    }
    while (p < end && *p != separator && *p != '\n' && !(separator == ' ' && *p == '\t'))
        p++;
    field->end = p;
    while (field->end > field->begin &&
           (is_blank(field->end[-1], separator) || field->end[-1] == '\r'))
        field->end--;
    return p;
}

/* With separator ' ' any run of blanks and tabs separates, so next_field() stops at the first
 * of them and the rest is skipped here. */
const char *hd_io_fields_split(const char *p, const char *end, char separator,
                               hd_io_fields *fields) {
    fields->count = 0;
    for (;;) {
        if (!hd_grow(&fields->items, &fields->capacity, fields->count + 1, sizeof *fields->items)) {
            hd_fail(HUDDLE_NO_MEMORY, "no memory for %lld fields", (long long)fields->count + 1);
            return NULL;
        }
        p = next_field(p, end, separator, &fields->items[fields->count++]);
        if (separator == ' ') /* blanks at the end of a line separate nothing */
            while (p < end && (*p == ' ' || *p == '\t' || *p == '\r'))
                p++;
        if (p == end)
            return end;
        if (*p == '\n')
            return p + 1;
        p += separator != ' ' && *p == separator;
    }
}

/* A number, or a word in the place of a number. Both decimal signs count: the sign of a column
 * is not known yet. */
static bool is_numeric(const hd_io_field *field) {
    double value;
    return hd_io_field_number(field, '.', &value) || hd_io_field_number(field, ',', &value) ||
           hd_io_field_missing(field) || hd_io_field_infinite(field);
}

/* ---- separator ------------------------------------------------------------------------------ */

/* Fields of the first record, and whether the next records have as many. A header may have one
 * name fewer than the rows have fields (R writes no name for the names of rows), or one comma more
 * at its end: *count is then that of the rows. */
static huddle_status try_separator(const hd_io_layout *layout, char separator, int64_t *count,
                                   bool *same) {
    huddle_status status = HUDDLE_OK;
    hd_io_fields fields = {0};
    const char *p = layout->begin;
    int64_t records = 0;
    bool open_end = false;
    *count = 0;
    *same = true;
    for (int k = 0; k < SAMPLE && p < layout->end; k++) {
        const char *begin = p;
        p = hd_io_fields_split(p, layout->end, separator, &fields);
        if (p == NULL)
            TRY(HUDDLE_NO_MEMORY);
        if (hd_io_is_blank_line(begin, p))
            continue;
        if (records++ == 0) {
            *count = fields.count;
            const hd_io_field *last = &fields.items[fields.count - 1];
            open_end = fields.count > 1 && last->begin == last->end;
        } else if (records == 2 &&
                   (fields.count == *count + 1 || (open_end && fields.count == *count - 1)))
            *count = fields.count;
        *same = *same && fields.count == *count;
    }
done:
    huddle_free(fields.items);
    return status;
}

/* The first of tab, semicolon, comma and blanks that divides every record into the same number
 * of fields; if none does, the one that divides the first record into the most. The order is
 * that of certainty: tabs hardly occur inside texts, and in a file with semicolons commas are
 * decimal signs. */
static huddle_status find_separator(hd_io_layout *layout) {
    static const char separators[] = {'\t', ';', ',', ' '};
    huddle_status status = HUDDLE_OK;
    int64_t max_count = 1;
    layout->separator = ',';
    for (size_t k = 0; k < sizeof separators; k++) {
        int64_t count;
        bool same;
        TRY(try_separator(layout, separators[k], &count, &same));
        /* Blanks inside texts are not separators if another separator was found. */
        if (count < 2 || (separators[k] == ' ' && max_count > 1))
            continue;
        if (count > max_count)
            layout->separator = separators[k];
        max_count = count > max_count ? count : max_count;
        if (same) {
            layout->separator = separators[k];
            break;
        }
    }
done:
    return status;
}

/* ---- header --------------------------------------------------------------------------------- */

/* ",0,1,2": pandas writes numbers as names for columns that have none, after an empty name for
 * the index. Such a header consists of numbers only and would otherwise be read as a row. */
static bool is_numbered(const hd_io_fields *first) {
    double value;
    if (first->count < 2 || first->items[0].begin != first->items[0].end)
        return false;
    for (int64_t c = 1; c < first->count; c++)
        if (!hd_io_field_number(&first->items[c], '.', &value) || value != (double)(c - 1))
            return false;
    return true;
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

/* The first row is a header if something in it contradicts being data: a conventional name for
 * labels, or a text above a number or date. A row of texts alone is one if numbers are below
 * it, or if it is the only row. */
static bool is_header(const hd_io_fields *first, const hd_io_fields *second) {
    bool numbers = false, number_below = false;
    /* Where the header has one name fewer, its first name is the second column's. */
    int64_t offset = second->count == first->count + 1;
    for (int64_t c = 0; c < first->count; c++) {
        const hd_io_field *field = &first->items[c];
        bool numeric = is_numeric(field), date = hd_io_is_date(field->begin, field->end);
        numbers = numbers || ((numeric || date) && field->begin < field->end);
        if (!numeric && is_label_name(field))
            return true;
        if (c + offset >= second->count)
            continue;
        const hd_io_field *below = &second->items[c + offset];
        if (is_numeric(below) || hd_io_is_date(below->begin, below->end)) {
            number_below = true;
            /* Tables of months have dates for names: 2020-01 above 17.5 is one. */
            if (!numeric && (!date || (is_numeric(below) && !hd_io_field_missing(below))))
                return true;
        }
    }
    return is_numbered(first) || (!numbers && (number_below || second->count == 0));
}

/* Not strcmp(): fields are not terminated. */
static int by_text(const void *a, const void *b) {
    const hd_io_field *x = a, *y = b;
    int64_t nx = x->end - x->begin, ny = y->end - y->begin;
    int order = memcmp(x->begin, y->begin, (size_t)(nx < ny ? nx : ny));
    return order != 0 ? order : (nx > ny) - (nx < ny);
}

/* All fields of a first row are texts, and no two are equal: names of columns do not repeat. */
static bool are_names(const hd_io_fields *first) {
    for (int64_t c = 0; c < first->count; c++) {
        const hd_io_field *field = &first->items[c];
        if (is_numeric(field) || hd_io_is_date(field->begin, field->end))
            return false;
        for (int64_t b = 0; b < c; b++)
            if (by_text(field, &first->items[b]) == 0)
                return false;
    }
    return true;
}

/* Sorts the fields of a column; true if each occurs twice on average. *seen: the name is one
 * of them. */
static bool has_repeats(hd_io_field *fields, int64_t count, const hd_io_field *name, bool *seen) {
    int64_t distinct = 1;
    qsort(fields, (size_t)count, sizeof *fields, by_text);
    for (int64_t i = 1; i < count; i++)
        distinct += by_text(&fields[i], &fields[i - 1]) != 0;
    *seen = bsearch(name, fields, (size_t)count, sizeof *fields, by_text) != NULL;
    return 2 * distinct <= count;
}

/* A table of texts has a header if its first row is unlike the others: two columns or more
 * repeat their values, and none of the first row's values occurs again. Fewer than FEWEST rows
 * are no evidence. `next`: the second row. */
static huddle_status is_header_of_texts(const hd_io_layout *layout, const hd_io_fields *first,
                                        const char *next, bool *header) {
    enum { FEWEST = 4 };
    huddle_status status = HUDDLE_OK;
    hd_io_fields fields = {0};
    hd_io_field *columns = NULL;
    int64_t rows = 0, repeating = 0;
    *header = false;
    if (first->count < 2 || !are_names(first))
        goto done;
    ALLOC(columns, first->count * SAMPLE);
    for (const char *begin; next < layout->end && rows < SAMPLE;) {
        next = hd_io_fields_split(begin = next, layout->end, layout->separator, &fields);
        if (next == NULL)
            TRY(HUDDLE_NO_MEMORY);
        if (hd_io_is_blank_line(begin, next))
            continue;
        if (fields.count != first->count)
            goto done;
        for (int64_t c = 0; c < first->count; c++)
            columns[c * SAMPLE + rows] = fields.items[c];
        rows++;
    }
    if (rows < FEWEST)
        goto done;
    for (int64_t c = 0; c < first->count; c++) {
        bool seen;
        repeating += has_repeats(columns + c * SAMPLE, rows, &first->items[c], &seen);
        if (seen)
            goto done;
    }
    *header = repeating >= 2;
done:
    huddle_free(columns);
    huddle_free(fields.items);
    return status;
}

/* A text in which doubled quotes have become single ones. */
static char *copy_field(const hd_io_field *field) {
    char *copy = hd_copy_part(field->begin, field->end - field->begin), *to = copy;
    if (copy == NULL)
        return NULL;
    for (const char *p = field->begin; p < field->end; p++) {
        *to++ = *p;
        p += field->quoted && *p == '"' && p + 1 < field->end && p[1] == '"';
    }
    *to = '\0';
    return copy;
}

/* A quoted name in the header may contain line feeds. */
static int64_t count_lines(const char *begin, const char *end) {
    int64_t lines = 0;
    for (const char *p = begin; p < end; p++)
        lines += *p == '\n';
    return lines;
}

/* Counts the lines that it skips: messages refer to line numbers of the file. */
static const char *skip_blank_lines(hd_io_layout *layout, const char *p) {
    while (p < layout->end) {
        const char *next = hd_io_record_end(p, layout->end, ',', false);
        if (!hd_io_is_blank_line(p, next))
            break;
        layout->first_line++;
        p = next;
    }
    return p;
}

/* `below`: fields of the first row. R's write.table() gives no name to the column of row
 * names, so that the header is one shorter; some programs end the header with a separator, so
 * that it is one longer. In both cases the rows determine the number of columns. */
static huddle_status keep_names(hd_io_layout *layout, const hd_io_fields *first, int64_t below) {
    huddle_status status = HUDDLE_OK;
    const hd_io_field *last = &first->items[first->count - 1], nothing = {"", "", false, false};
    layout->row_names = below == first->count + 1;
    if (layout->row_names || (below == first->count - 1 && last->begin == last->end))
        layout->columns = below;
    ALLOC_ZERO(layout->names, layout->columns + 1);
    for (int64_t c = 0; c < layout->columns; c++) {
        int64_t at = c - layout->row_names;
        layout->names[c] = copy_field(at < 0 ? &nothing : &first->items[at]);
        if (layout->names[c] == NULL)
            FAIL(HUDDLE_NO_MEMORY, "no memory for a column's name");
    }
done:
    return status;
}

/* The line numbers are advanced past the header first and restored if there is none. */
static huddle_status find_header(hd_io_layout *layout) {
    huddle_status status = HUDDLE_OK;
    hd_io_fields first = {0}, second = {0};
    const char *next = hd_io_fields_split(layout->begin, layout->end, layout->separator, &first);
    if (next == NULL)
        TRY(HUDDLE_NO_MEMORY);
    layout->columns = first.count;
    layout->counted_line = layout->first_line;
    int64_t first_line = layout->first_line;
    layout->first_line += count_lines(layout->begin, next);
    next = skip_blank_lines(layout, next);
    if (next < layout->end &&
        hd_io_fields_split(next, layout->end, layout->separator, &second) == NULL)
        TRY(HUDDLE_NO_MEMORY);
    bool header = is_header(&first, &second);
    if (!header)
        TRY(is_header_of_texts(layout, &first, next, &header));
    if (!header) {
        layout->first_line = first_line;
        goto done;
    }
    layout->begin = next;
    TRY(keep_names(layout, &first, second.count));
done:
    huddle_free(first.items);
    huddle_free(second.items);
    return status;
}

/* ---- all of it ------------------------------------------------------------------------------ */

/* Removes what is not part of the table: the byte order mark that Windows programs put before
 * UTF-8, blank lines at both ends and, at the beginning, comment lines. */
static void trim_text(const hd_file *file, hd_io_layout *layout) {
    layout->begin = file->text;
    layout->end = file->text + file->size;
    layout->first_line = 1;
    if (file->size >= 3 && memcmp(file->text, "\xEF\xBB\xBF", 3) == 0)
        layout->begin += 3;
    while (layout->end > layout->begin) { /* blank lines at the end */
        const char *line = layout->end - 1;
        while (line > layout->begin && line[-1] != '\n')
            line--;
        if (!hd_io_is_blank_line(line, layout->end))
            break;
        layout->end = line;
    }
    for (;;) { /* comments at the beginning, as numpy.savetxt() writes them */
        layout->begin = skip_blank_lines(layout, layout->begin);
        if (layout->begin == layout->end || *layout->begin != '#')
            break;
        layout->begin = hd_io_record_end(layout->begin, layout->end, ',', false);
        layout->first_line++;
    }
}

/* The order matters: the header is recognised by its fields, so the separator comes first, and
 * the kinds of the columns are those of the rows below the header. A quote anywhere makes
 * every later step use the slower search for the ends of records. */
huddle_status hd_io_layout_find(huddle_context *context, const hd_file *file,
                                hd_io_layout *layout) {
    huddle_status status = HUDDLE_OK;
    memset(layout, 0, sizeof *layout);
    if (hd_io_arff_is(file)) {
        TRY(hd_io_arff_layout(context, file, layout));
        TRY(hd_io_layout_examine(layout, SAMPLE));
        goto done;
    }
    trim_text(file, layout);
    layout->top = layout->begin;
    if (layout->begin == layout->end)
        FAIL(HUDDLE_FORMAT, "the file contains only blank lines and comments");
    layout->quoted = memchr(layout->begin, '"', (size_t)(layout->end - layout->begin)) != NULL;
    TRY(find_separator(layout));
    TRY(find_header(layout));
    if (layout->begin == layout->end)
        FAIL(HUDDLE_FORMAT, "the file contains a header but no rows");
    TRY(hd_io_layout_examine(layout, SAMPLE));
done:
    return status;
}

/* names may be NULL; hd_io_classes_free() accepts that. */
void hd_io_layout_free(hd_io_layout *layout) {
    hd_io_classes_free(layout->names, layout->columns);
    huddle_free(layout->kinds);
    huddle_free(layout->declared);
    huddle_free(layout->owned);
    memset(layout, 0, sizeof *layout);
}

/* The exact name wins over one in another case. "column 2" is how messages and saved models
 * call a column without a name; it never overrides a real name. */
int64_t hd_io_layout_named(const hd_io_layout *layout, const char *name) {
    int64_t position;
    for (int64_t c = 0; layout->names != NULL && c < layout->columns; c++)
        if (strcmp(layout->names[c], name) == 0)
            return c;
    for (int64_t c = 0; layout->names != NULL && c < layout->columns; c++)
        if (hd_same_word(layout->names[c], name))
            return c;
    if (strncmp(name, "column ", 7) == 0 &&
        hd_io_number_whole(name + 7, name + strlen(name), &position) && position >= 1 &&
        position <= layout->columns && hd_io_layout_name(layout, position - 1)[0] == '\0')
        return position - 1;
    return -1;
}

/* Names before positions: a table may have columns called 2019 and 2020. */
int64_t hd_io_layout_column(const hd_io_layout *layout, const char *name) {
    int64_t position, column = hd_io_layout_named(layout, name);
    if (column >= 0)
        return column;
    if (hd_io_number_whole(name, name + strlen(name), &position) && position >= 1 &&
        position <= layout->columns)
        return position - 1;
    return -1;
}

const char *hd_io_layout_name(const hd_io_layout *layout, int64_t column) {
    return layout->names != NULL ? layout->names[column] : "";
}

/* Long names are cut: the position identifies the column. */
void hd_io_layout_place(const hd_io_layout *layout, int64_t column, char *text, size_t size) {
    const char *name = hd_io_layout_name(layout, column);
    if (name[0] != '\0')
        snprintf(text, size, "column %lld (%.100s)", (long long)column + 1, name);
    else
        snprintf(text, size, "column %lld", (long long)column + 1);
}
