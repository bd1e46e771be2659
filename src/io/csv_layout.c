#include "io/csv.h"

#include "base/check.h"
#include "base/text.h"
#include "io/formats.h"
#include "io/number.h"

#include <stdio.h>
#include <string.h>

/* Records examined to find the separator and the kinds of the columns. */
enum { SAMPLE = 100 };

/* ---- fields --------------------------------------------------------------------------------- */

/* The field at p; returns the position of its separator, its line feed or the end of the text.
 * RFC 4180 with the deviations found in practice: blanks around fields do not count, lines may
 * end in CR LF or LF, and a quote that is not followed by a separator (6" pipe) is part of the
 * text. Inside quotes a quote is doubled, and separators and line feeds are ordinary
 * characters. */
static const char *next_field(const char *p, const char *end, char separator, hd_io_field *field) {
    while (p < end && hd_io_is_blank(*p, separator))
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
        while (p < end && hd_io_is_blank(*p, separator) && separator != ' ')
            p++;
        if (p < end && *p == '\r')
            p++;
        if (p == end || *p == separator || *p == '\n' || hd_io_is_blank(*p, separator))
            return p;
        field->quoted = false; /* text after the closing quote: all of it is the field */
        field->begin--;
    }
    while (p < end && *p != separator && *p != '\n' && !(separator == ' ' && *p == '\t'))
        p++;
    field->end = p;
    while (field->end > field->begin &&
           (hd_io_is_blank(field->end[-1], separator) || field->end[-1] == '\r'))
        field->end--;
    return p;
}

/* With separator ' ' any run of blanks and tabs separates, so next_field() stops at the first
 * of them and the rest is skipped here. */
huddle_status hd_io_fields_split(const char **at, const char *end, char separator,
                                 hd_io_fields *fields) {
    const char *p = *at;
    for (fields->count = 0;; p += separator != ' ' && *p == separator) {
        if (!hd_grow(&fields->items, &fields->capacity, fields->count + 1, sizeof *fields->items))
            return hd_fail(HUDDLE_NO_MEMORY, "no memory for %lld fields",
                           (long long)fields->count + 1);
        p = next_field(p, end, separator, &fields->items[fields->count++]);
        if (separator == ' ') /* blanks at the end of a line separate nothing */
            while (p < end && (*p == ' ' || *p == '\t' || *p == '\r'))
                p++;
        if (p == end || *p == '\n')
            break;
    }
    *at = p + (p < end);
    return HUDDLE_OK;
}

huddle_status hd_io_fields_next(const char **p, const char *end, char separator,
                                hd_io_fields *fields) {
    fields->count = 0;
    while (*p < end) {
        const char *begin = *p;
        huddle_status status = hd_io_fields_split(p, end, separator, fields);
        if (status != HUDDLE_OK || !hd_io_is_blank_line(begin, *p))
            return status;
        fields->count = 0;
    }
    return HUDDLE_OK;
}

/* ---- separator ------------------------------------------------------------------------------ */

/* What a separator makes of the first records. */
typedef struct trial {
    int64_t count;   /* fields of the first */
    bool same;       /* all have as many */
    int64_t numbers; /* of all fields */
    int64_t fields;
} trial;

/* A header may have one name fewer than the rows have fields (R writes no name for the names of
 * rows), or one comma more at its end: the count is then that of the rows. */
static huddle_status try_separator(const hd_io_layout *layout, char separator, trial *found) {
    huddle_status status = HUDDLE_OK;
    hd_io_fields fields = {0};
    const char *p = layout->begin;
    int64_t records = 0;
    double value;
    bool open_end = false;
    *found = (trial){.same = true};
    for (int k = 0; k < SAMPLE && p < layout->end; k++) {
        const char *begin = p;
        TRY(hd_io_fields_split(&p, layout->end, separator, &fields));
        if (hd_io_is_blank_line(begin, p))
            continue;
        if (records++ == 0) {
            found->count = fields.count;
            const hd_io_field *last = &fields.items[fields.count - 1];
            open_end = fields.count > 1 && last->begin == last->end;
        } else if (records == 2 && (fields.count == found->count + 1 ||
                                    (open_end && fields.count == found->count - 1)))
            found->count = fields.count;
        found->same = found->same && fields.count == found->count;
        for (int64_t c = 0; c < fields.count; c++)
            found->numbers += hd_io_field_any_number(&fields.items[c], &value);
        found->fields += fields.count;
    }
done:
    huddle_free(fields.items);
    return status;
}

/* Bars are the separator, and commas belong to the values, if more of the fields are numbers so:
 * 1,5|2,5 has two numbers, but in 7,Heat,Action|Crime the bar belongs to a text. */
static huddle_status try_bars(const hd_io_layout *layout, trial *bars) {
    trial commas;
    huddle_status status = try_separator(layout, '|', bars);
    if (status != HUDDLE_OK || bars->count < 2)
        return status;
    status = try_separator(layout, ',', &commas);
    if (commas.count >= 2 && commas.same &&
        commas.numbers * bars->fields >= bars->numbers * commas.fields)
        bars->count = 0;
    return status;
}

/* The first of tab, semicolon, bar, comma and blanks that divides every record into the same number
 * of fields; if none does, the one that divides the first record into the most. The order is
 * that of certainty: tabs hardly occur inside texts, and in a file with semicolons commas are
 * decimal signs. */
static huddle_status find_separator(hd_io_layout *layout) {
    static const char separators[] = {'\t', ';', '|', ',', ' '};
    huddle_status status = HUDDLE_OK;
    int64_t max_count = 1;
    layout->separator = ',';
    for (size_t k = 0; k < sizeof separators; k++) {
        trial found;
        if (separators[k] == '|')
            TRY(try_bars(layout, &found));
        else
            TRY(try_separator(layout, separators[k], &found));
        /* Blanks inside texts are not separators if another separator was found. */
        if (found.count < 2 || (separators[k] == ' ' && max_count > 1))
            continue;
        if (found.count > max_count)
            layout->separator = separators[k];
        max_count = found.count > max_count ? found.count : max_count;
        if (found.same) {
            layout->separator = separators[k];
            break;
        }
    }
done:
    return status;
}

/* ---- all of it ------------------------------------------------------------------------------ */

/* A quoted name in the header may contain line feeds. */
int64_t hd_io_count_lines(const char *begin, const char *end) {
    int64_t lines = 0;
    for (const char *p = begin; p < end; p++)
        lines += *p == '\n';
    return lines;
}

/* Counts the lines that it skips: messages refer to line numbers of the file. */
const char *hd_io_skip_blank_lines(hd_io_layout *layout, const char *p) {
    while (p < layout->end) {
        const char *next = hd_io_record_end(p, layout->end, ',', false);
        if (!hd_io_is_blank_line(p, next))
            break;
        layout->first_line++;
        p = next;
    }
    return p;
}

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
        layout->begin = hd_io_skip_blank_lines(layout, layout->begin);
        if (layout->begin == layout->end || *layout->begin != '#')
            break;
        layout->begin = hd_io_record_end(layout->begin, layout->end, ',', false);
        layout->first_line++;
    }
}

/* "sep=;" in a line before the table tells a spreadsheet the separator; some programs put it in
 * quotes. *given: the number of that line, which is passed, or 0. */
static huddle_status read_separator_line(hd_io_layout *layout, int64_t *given) {
    const char *p = layout->begin, *next = hd_io_record_end(p, layout->end, ',', false);
    const char *stop = next;
    while (stop > p && (stop[-1] == '\n' || stop[-1] == '\r'))
        stop--;
    bool quoted = stop - p >= 2 && *p == '"' && stop[-1] == '"';
    p += quoted;
    stop -= quoted;
    while (stop - p > 5 && hd_io_is_blank(stop[-1], ','))
        stop--;
    *given = 0;
    if (stop - p < 4 || (p[0] | 32) != 's' || (p[1] | 32) != 'e' || (p[2] | 32) != 'p' ||
        p[3] != '=')
        return HUDDLE_OK;
    if (stop - p != 5 || memchr("\t;|,:^~ ", p[4], 8) == NULL)
        return hd_fail(
            HUDDLE_FORMAT,
            "line %lld: '%.*s': expected one of , ; | : ^ ~, a blank or a tab after sep=",
            (long long)layout->first_line, (int)(stop - p < 40 ? stop - p : 40), p);
    layout->separator = p[4];
    *given = layout->first_line++;
    layout->begin = hd_io_skip_blank_lines(layout, next);
    return HUDDLE_OK;
}

/* A tab would not be seen in a message. */
static const char *name_separator(char separator, char text[2]) {
    text[0] = separator;
    return separator == '\t' ? "TAB" : text;
}

/* A line of one field with the separator that "sep=;" gives, and of several with the one that all
 * lines suggest: the table was written with that one. Blanks do not count, since texts contain
 * them, and neither do decimal commas. */
static huddle_status check_separator(const hd_io_layout *layout, int64_t line) {
    huddle_status status = HUDDLE_OK;
    hd_io_layout other = *layout;
    hd_io_fields fields = {0};
    double value;
    const char *p = layout->begin, *q = p;
    TRY(hd_io_fields_split(&p, layout->end, layout->separator, &fields));
    if (fields.count > 1 || hd_io_field_number(&fields.items[0], ',', &value))
        goto done;
    TRY(find_separator(&other));
    TRY(hd_io_fields_split(&q, layout->end, other.separator, &fields));
    if (fields.count > 1 && other.separator != ' ')
        FAIL(HUDDLE_FORMAT, "line %lld: sep=%s, but the lines are separated by %s", (long long)line,
             name_separator(layout->separator, (char[2]){0}),
             name_separator(other.separator, (char[2]){0}));
done:
    huddle_free(fields.items);
    return status;
}

/* The order matters: the header is recognised by its fields, so the separator comes first, and
 * the kinds of the columns are those of the rows below the header. A quote anywhere makes
 * every later step use the slower search for the ends of records. */
huddle_status hd_io_layout_find(huddle_context *context, const hd_file *file,
                                const huddle_read_options *options, hd_io_layout *layout) {
    huddle_status status = HUDDLE_OK;
    int rule = HD_IO_HEADER_AUTO;
    int64_t given = 0;
    memset(layout, 0, sizeof *layout);
    if (options != NULL)
        TRY(hd_io_choose("header", options->header, "auto|yes|no", &rule));
    if (hd_io_arff_is(file)) {
        if (rule != HD_IO_HEADER_AUTO)
            FAIL(HUDDLE_UNSUPPORTED, "header = %s is for CSV only: ARFF declares its columns",
                 options->header);
        TRY(hd_io_arff_layout(context, file, layout));
        TRY(hd_io_layout_examine(layout, SAMPLE));
        goto done;
    }
    trim_text(file, layout);
    if (layout->begin < layout->end)
        TRY(read_separator_line(layout, &given));
    layout->top = layout->begin;
    if (layout->begin == layout->end)
        FAIL(HUDDLE_FORMAT, "the file contains only blank lines and comments");
    layout->quoted = memchr(layout->begin, '"', (size_t)(layout->end - layout->begin)) != NULL;
    TRY(given > 0 ? check_separator(layout, given) : find_separator(layout));
    TRY(hd_io_header_find(layout, (hd_io_header_rule)rule, options));
    if (layout->begin == layout->end)
        FAIL(HUDDLE_FORMAT, "the file contains a header but no rows");
    TRY(hd_io_layout_examine(layout, SAMPLE));
done:
    return status;
}

/* names may be NULL; hd_io_classes_free() accepts that. */
void hd_io_layout_free(hd_io_layout *layout) {
    hd_io_classes_free(layout->names, layout->columns);
    hd_io_pieces_free(&layout->pieces);
    FREE(layout->kinds, layout->declared, layout->owned);
    memset(layout, 0, sizeof *layout);
}

/* The column at a position from 1, or -1. */
static int64_t column_at(const hd_io_layout *layout, const char *text) {
    int64_t position;
    bool whole = hd_io_number_whole(text, text + strlen(text), &position);
    return whole && position >= 1 && position <= layout->columns ? position - 1 : -1;
}

/* The exact name wins over one in another case. "column 2" is how messages and saved models
 * call a column without a name; it never overrides a real name. */
int64_t hd_io_layout_named(const hd_io_layout *layout, const char *name) {
    for (int exact = 1; exact >= 0; exact--)
        for (int64_t c = 0; layout->names != NULL && c < layout->columns; c++)
            if (exact ? strcmp(layout->names[c], name) == 0 : hd_same_word(layout->names[c], name))
                return c;
    int64_t column = strncmp(name, "column ", 7) == 0 ? column_at(layout, name + 7) : -1;
    return column >= 0 && hd_io_layout_name(layout, column)[0] == '\0' ? column : -1;
}

/* Names before positions: a table may have columns called 2019 and 2020. */
int64_t hd_io_layout_column(const hd_io_layout *layout, const char *name) {
    int64_t column = hd_io_layout_named(layout, name);
    return column >= 0 ? column : column_at(layout, name);
}

const char *hd_io_layout_name(const hd_io_layout *layout, int64_t column) {
    return layout->names != NULL ? layout->names[column] : "";
}

/* Long names are cut: the position identifies the column. */
hd_io_phrase hd_io_layout_place(const hd_io_layout *layout, int64_t column) {
    hd_io_phrase phrase;
    const char *name = hd_io_layout_name(layout, column);
    bool named = name[0] != '\0';
    snprintf(phrase.text, sizeof phrase.text, "column %lld%s%.100s%s", (long long)column + 1,
             named ? " (" : "", name, named ? ")" : "");
    return phrase;
}
