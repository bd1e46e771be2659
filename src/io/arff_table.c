/* Dense ARFF files as tables: the rows are rewritten as CSV, line by line, so that messages have
 * the numbers of the file's lines; what is in the columns is declared instead of guessed. */
#include "base/check.h"
#include "base/context.h"
#include "io/arff.h"
#include "io/csv.h"

#include <stdio.h>
#include <string.h>

/* The rewritten rows. */
typedef struct rewriting {
    char *text;
    int64_t size, capacity;
    bool quoted;
} rewriting;

/* In quotes only if it has to be: the reader is faster without. Quotes inside are doubled; there is
 * room for that. */
static void add_value(rewriting *w, const hd_io_arff_value *value) {
    char *begin = w->text + w->size + 1, *end = hd_io_arff_unescape(value, begin), *to;
    bool quotes = false, special = value->quoted;
    for (const char *p = begin; p < end; p++) {
        quotes = quotes || *p == '"';
        special = special || *p == '"';
    }
    if (!special) {
        memmove(begin - 1, begin, (size_t)(end - begin));
        w->size += end - begin;
        return;
    }
    w->quoted = true;
    begin[-1] = '"';
    to = end;
    if (quotes) { /* from the back, so that nothing is overwritten before it is moved */
        int64_t count = 0;
        for (const char *p = begin; p < end; p++)
            count += *p == '"';
        to = end + count;
        for (char *from = end, *at = to; from > begin;) {
            *--at = *--from;
            if (*from == '"')
                *--at = '"';
        }
    }
    *to++ = '"';
    w->size = to - w->text;
}

/* One row. Values end at a comma or a tab, which hd_io_arff_next() has passed. The weight of an
 * instance, {2.5} at the end of a row, is refused. */
static huddle_status add_row(rewriting *w, const char *p, const char *stop, int64_t line) {
    hd_io_arff_value value;
    for (;;) {
        if (!hd_io_arff_next(&p, stop, true, &value))
            return hd_fail(HUDDLE_FORMAT, "line %lld: a quote is not closed", (long long)line);
        add_value(w, &value);
        if (p == stop)
            return HUDDLE_OK;
        const char *after = value.end + value.quoted;
        if (*p != ',' && memchr(after, '\t', (size_t)(p - after)) == NULL)
            return hd_fail(HUDDLE_FORMAT, "line %lld: '%.*s' is not expected after a value",
                           (long long)line, (int)(stop - p < 20 ? stop - p : 20), p);
        p += *p == ',';
        w->text[w->size++] = ',';
    }
}

/* A row may become longer by two quotes for each value and one for each quote inside: three times
 * its length is room enough. Comments become blank lines. */
static huddle_status rewrite_rows(huddle_context *context, const hd_io_arff *arff, rewriting *w) {
    huddle_status status = HUDDLE_OK;
    int64_t line = arff->data_line;
    for (const char *p = arff->data; p < arff->end; line++) {
        const char *stop = hd_io_arff_line(p, arff->end), *q = p;
        if (line % 4096 == 0)
            TRY(hd_check_cancel(context));
        if (!hd_grow(&w->text, &w->capacity, w->size + 3 * (stop - p) + 8 + HD_FILE_PADDING, 1))
            FAIL(HUDDLE_NO_MEMORY, "no memory for more than %lld bytes", (long long)w->size);
        while (q < stop && (*q == ' ' || *q == '\t' || *q == '\r'))
            q++;
        if (q < stop && *q != '%')
            TRY(add_row(w, q, stop, line));
        w->text[w->size++] = '\n';
        p = stop + (stop < arff->end);
    }
    if (w->text != NULL)
        memset(w->text + w->size, 0, HD_FILE_PADDING);
done:
    return status;
}

/* Nominal attributes are texts unless all their values are numbers, as {0,1}; the class always is.
 */
static hd_io_column_kind declared_kind(const hd_io_attribute *attribute, bool class) {
    switch (attribute->kind) {
    case HD_IO_ATTRIBUTE_NOMINAL:
        return attribute->numbers && !class ? HD_IO_NUMBERS : HD_IO_WORDS;
    case HD_IO_ATTRIBUTE_STRING:
        return HD_IO_WORDS;
    case HD_IO_ATTRIBUTE_DATE:
        return HD_IO_DATES;
    default:
        return HD_IO_NUMBERS;
    }
}

/* Names move from the attributes to the layout. */
static huddle_status declare_columns(hd_io_arff *arff, hd_io_layout *layout) {
    huddle_status status = HUDDLE_OK;
    int64_t class = hd_io_arff_class(arff);
    ALLOC_ZERO(layout->names, arff->count + 1);
    ALLOC(layout->declared, arff->count);
    layout->columns = arff->count;
    layout->class_column = class + 1;
    for (int64_t c = 0; c < arff->count; c++) {
        layout->declared[c] =
            (hd_io_declaration){.kind = declared_kind(&arff->attributes[c], c == class),
                                .nominal = arff->attributes[c].kind == HD_IO_ATTRIBUTE_NOMINAL};
        layout->names[c] = arff->attributes[c].name;
        arff->attributes[c].name = NULL;
    }
done:
    return status;
}

huddle_status hd_io_arff_layout(huddle_context *context, const hd_file *file,
                                hd_io_layout *layout) {
    huddle_status status = HUDDLE_OK;
    hd_io_arff arff = {0};
    rewriting w = {0};
    TRY(hd_io_arff_header(file, &arff));
    TRY(rewrite_rows(context, &arff, &w));
    if (w.size == 0)
        FAIL(HUDDLE_FORMAT, "the file contains attributes but no rows");
    layout->owned = w.text;
    w.text = NULL;
    layout->begin = layout->owned;
    layout->end = layout->owned + w.size;
    layout->first_line = arff.data_line;
    layout->counted_line = arff.data_line - 1;
    layout->separator = ',';
    layout->quoted = w.quoted;
    TRY(declare_columns(&arff, layout));
    while (layout->begin < layout->end && *layout->begin == '\n') {
        layout->begin++;
        layout->first_line++;
    }
    while (layout->end - 1 > layout->begin && layout->end[-2] == '\n')
        layout->end--;
    if (layout->begin == layout->end)
        FAIL(HUDDLE_FORMAT, "the file contains attributes but no rows");
done:
    huddle_free(w.text);
    hd_io_arff_free(&arff);
    return status;
}
