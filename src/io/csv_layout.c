#include "io/csv.h"

#include "base/check.h"
#include "io/lines.h"
#include "io/number.h"

#include <math.h>
#include <string.h>

/* Records looked at to find separator and kinds of columns. */
enum { SAMPLE = 100 };

/* ---- fields --------------------------------------------------------------------------------- */

static bool is_blank(char c, char separator) {
    return c == ' ' || (c == '\t' && separator != '\t');
}

/* The field at p; returns where its separator, line feed or the text's end stands. */
static const char *next_field(const char *p, const char *end, char separator, hd_field *field) {
    while (p < end && is_blank(*p, separator))
        p++;
    *field = (hd_field){p, p, false, false};
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

const char *hd_fields_split(const char *p, const char *end, char separator, hd_fields *fields) {
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

bool hd_field_number(const hd_field *field, double *value) {
    char text[64];
    int64_t length = field->end - field->begin;
    if (length == 0)
        return false;
    if (length < (int64_t)sizeof text) { /* the field may be the last thing in memory */
        memcpy(text, field->begin, (size_t)length);
        text[length] = '\0';
        return hd_number(text, value) == text + length;
    }
    /* A number needs a character after it: the last is read without, if it is a digit. */
    char *copy = hd_copy_part(field->begin, length);
    bool good = copy != NULL && hd_number(copy, value) == copy + length;
    huddle_free(copy);
    return good;
}

static bool is_word(const hd_field *field, const char *const *words) {
    char text[8];
    int64_t length = field->end - field->begin;
    if (length >= (int64_t)sizeof text)
        return false;
    memcpy(text, field->begin, (size_t)length);
    text[length] = '\0';
    for (; *words != NULL; words++)
        if (hd_same_word(text, *words))
            return true;
    return false;
}

bool hd_field_missing(const hd_field *field) {
    static const char *const words[] = {"", "NA", "N/A", "null", "none", "?", "-", NULL};
    return is_word(field, words);
}

/* A number, or a word that stands where a number should. */
static bool is_numeric(const hd_field *field) {
    static const char *const words[] = {"nan", "inf", "+inf", "-inf", NULL};
    double value;
    return hd_field_number(field, &value) || hd_field_missing(field) || is_word(field, words);
}

/* ---- separator ------------------------------------------------------------------------------ */

/* Fields of the first record, and whether the next records have as many. */
static huddle_status try_separator(const hd_layout *layout, char separator, int64_t *count,
                                   bool *same) {
    huddle_status status = HUDDLE_OK;
    hd_fields fields = {0};
    const char *p = layout->begin;
    *count = 0;
    *same = true;
    for (int k = 0; k < SAMPLE && p < layout->end; k++) {
        const char *begin = p;
        p = hd_fields_split(p, layout->end, separator, &fields);
        if (p == NULL)
            TRY(HUDDLE_NO_MEMORY);
        if (hd_is_blank_line(begin, p))
            continue;
        if (*count == 0)
            *count = fields.count;
        *same = *same && fields.count == *count;
    }
done:
    huddle_free(fields.items);
    return status;
}

/* The first of tab, semicolon, comma and blanks that cuts every record alike; if none does, the
 * one that cuts the first record into most. */
static huddle_status find_separator(hd_layout *layout) {
    static const char separators[] = {'\t', ';', ',', ' '};
    huddle_status status = HUDDLE_OK;
    int64_t most = 1;
    layout->separator = ',';
    for (size_t k = 0; k < sizeof separators; k++) {
        int64_t count;
        bool same;
        TRY(try_separator(layout, separators[k], &count, &same));
        /* Blanks inside texts separate nothing when something better was found. */
        if (count < 2 || (separators[k] == ' ' && most > 1))
            continue;
        if (count > most)
            layout->separator = separators[k];
        most = count > most ? count : most;
        if (same) {
            layout->separator = separators[k];
            break;
        }
    }
done:
    return status;
}

/* ---- header --------------------------------------------------------------------------------- */

static bool is_header(const hd_fields *first, const hd_fields *second) {
    bool numbers = false, number_below = false;
    char name[32];
    for (int64_t c = 0; c < first->count; c++) {
        const hd_field *field = &first->items[c];
        int64_t length = field->end - field->begin;
        bool numeric = is_numeric(field);
        numbers = numbers || (numeric && length > 0);
        if (!numeric && length < (int64_t)sizeof name) {
            memcpy(name, field->begin, (size_t)length);
            name[length] = '\0';
            if (hd_label_name_rank(name) >= 0)
                return true;
        }
        if (c < second->count && is_numeric(&second->items[c])) {
            number_below = true;
            if (!numeric)
                return true;
        }
    }
    return !numbers && (number_below || second->count == 0);
}

/* A text with its doubled quotes made single. */
static char *copy_field(const hd_field *field) {
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

static int64_t count_lines(const char *begin, const char *end) {
    int64_t lines = 0;
    for (const char *p = begin; p < end; p++)
        lines += *p == '\n';
    return lines;
}

static const char *skip_blank_lines(hd_layout *layout, const char *p) {
    while (p < layout->end) {
        const char *next = hd_record_end(p, layout->end, ',', false);
        if (!hd_is_blank_line(p, next))
            break;
        layout->first_line++;
        p = next;
    }
    return p;
}

static huddle_status find_header(hd_layout *layout) {
    huddle_status status = HUDDLE_OK;
    hd_fields first = {0}, second = {0};
    const char *next = hd_fields_split(layout->begin, layout->end, layout->separator, &first);
    if (next == NULL)
        TRY(HUDDLE_NO_MEMORY);
    layout->columns = first.count;
    layout->counted_line = layout->first_line;
    int64_t first_line = layout->first_line;
    layout->first_line += count_lines(layout->begin, next);
    next = skip_blank_lines(layout, next);
    if (next < layout->end &&
        hd_fields_split(next, layout->end, layout->separator, &second) == NULL)
        TRY(HUDDLE_NO_MEMORY);
    if (!is_header(&first, &second)) {
        layout->first_line = first_line;
        goto done;
    }
    layout->begin = next;
    ALLOC_ZERO(layout->names, first.count + 1);
    for (int64_t c = 0; c < first.count; c++) {
        layout->names[c] = copy_field(&first.items[c]);
        if (layout->names[c] == NULL)
            FAIL(HUDDLE_NO_MEMORY, "no memory for a column's name");
    }
done:
    huddle_free(first.items);
    huddle_free(second.items);
    return status;
}

/* ---- kinds of columns ----------------------------------------------------------------------- */

/* A typing error among numbers must not make a column textual: the majority decides. */
static huddle_status find_kinds(hd_layout *layout) {
    huddle_status status = HUDDLE_OK;
    hd_fields fields = {0};
    int64_t *texts = NULL, records = 0;
    double value = 0;
    ALLOC_ZERO(texts, layout->columns);
    ALLOC_ZERO(layout->textual, layout->columns);
    ALLOC(layout->whole, layout->columns);
    memset(layout->whole, 1, (size_t)layout->columns * sizeof *layout->whole);
    for (const char *p = layout->begin; p < layout->end && records < SAMPLE;) {
        const char *begin = p;
        p = hd_fields_split(p, layout->end, layout->separator, &fields);
        if (p == NULL)
            TRY(HUDDLE_NO_MEMORY);
        if (hd_is_blank_line(begin, p))
            continue;
        records++;
        for (int64_t c = 0; c < fields.count && c < layout->columns; c++) {
            texts[c] += !is_numeric(&fields.items[c]);
            layout->whole[c] = layout->whole[c] && hd_field_number(&fields.items[c], &value) &&
                               value == floor(value);
        }
    }
    for (int64_t c = 0; c < layout->columns; c++)
        layout->textual[c] = 2 * texts[c] > records;
done:
    huddle_free(texts);
    huddle_free(fields.items);
    return status;
}

/* ---- all of it ------------------------------------------------------------------------------ */

static void trim(const hd_file *file, hd_layout *layout) {
    layout->begin = file->text;
    layout->end = file->text + file->size;
    layout->first_line = 1;
    if (file->size >= 3 && memcmp(file->text, "\xEF\xBB\xBF", 3) == 0)
        layout->begin += 3;
    while (layout->end > layout->begin) { /* blank lines at the end */
        const char *line = layout->end - 1;
        while (line > layout->begin && line[-1] != '\n')
            line--;
        if (!hd_is_blank_line(line, layout->end))
            break;
        layout->end = line;
    }
    for (;;) { /* comments at the beginning, as NumPy writes them */
        layout->begin = skip_blank_lines(layout, layout->begin);
        if (layout->begin == layout->end || *layout->begin != '#')
            break;
        layout->begin = hd_record_end(layout->begin, layout->end, ',', false);
        layout->first_line++;
    }
}

huddle_status hd_layout_find(const hd_file *file, hd_layout *layout) {
    huddle_status status = HUDDLE_OK;
    memset(layout, 0, sizeof *layout);
    trim(file, layout);
    if (layout->begin == layout->end)
        FAIL(HUDDLE_FORMAT, "the file holds nothing but blank lines and comments");
    layout->quoted = memchr(layout->begin, '"', (size_t)(layout->end - layout->begin)) != NULL;
    TRY(find_separator(layout));
    TRY(find_header(layout));
    if (layout->begin == layout->end)
        FAIL(HUDDLE_FORMAT, "the file holds a header but no rows");
    TRY(find_kinds(layout));
done:
    return status;
}

void hd_layout_free(hd_layout *layout) {
    hd_classes_free(layout->names, layout->columns);
    huddle_free(layout->textual);
    huddle_free(layout->whole);
    memset(layout, 0, sizeof *layout);
}

int64_t hd_layout_column(const hd_layout *layout, const char *name) {
    int64_t position;
    for (int64_t c = 0; layout->names != NULL && c < layout->columns; c++)
        if (strcmp(layout->names[c], name) == 0)
            return c;
    for (int64_t c = 0; layout->names != NULL && c < layout->columns; c++)
        if (hd_same_word(layout->names[c], name))
            return c;
    if (hd_number_whole(name, name + strlen(name), &position) && position >= 1 &&
        position <= layout->columns)
        return position - 1;
    return -1;
}
