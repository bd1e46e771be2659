/* ARFF files. Dense ones are tables: the rows are rewritten as CSV, line by line, so that messages
 * have the numbers of the file's lines; what is in the columns is declared instead of guessed. Of
 * sparse ones the numeric attributes are the columns of a sparse matrix, the class the labels. */
#include "base/check.h"
#include "base/context.h"
#include "base/text.h"
#include "io/csv.h"
#include "io/formats.h"
#include "io/number.h"
#include "io/sparse.h"

#include <string.h>

typedef struct attribute {
    char *name;
    hd_io_column_kind kind;
    bool nominal;     /* its values are listed */
    bool numbers;     /* nominal: all values are numbers */
    hd_io_span first; /* nominal: the first value, which sparse rows leave out; see class_of() */
} attribute;

/* The line that was read last, from its first character that is not blank on, and what follows. */
typedef struct lines {
    const char *p, *stop;
    const char *next, *end;
    int64_t number; /* of the line in the file, from 1 */
} lines;

typedef struct arff {
    attribute *attributes;
    int64_t count, capacity;
    int64_t class; /* the attribute that is the class, or -1 */
    lines at;      /* after the header: @data */
} arff;

/* ---- words ---------------------------------------------------------------------------------- */

static bool is_blank(char c) {
    return c == ' ' || c == '\t' || c == '\r';
}

static const char *skip_blanks(const char *p, const char *end) {
    while (p < end && is_blank(*p))
        p++;
    return p;
}

/* The file's text after a byte order mark. */
static lines first_line(const hd_file *file) {
    bool marked = file->size >= 3 && memcmp(file->text, "\xEF\xBB\xBF", 3) == 0;
    return (lines){.next = file->text + (marked ? 3 : 0), .end = file->text + file->size};
}

static bool next_line(lines *at) {
    if (at->next >= at->end)
        return false;
    const char *feed = memchr(at->next, '\n', (size_t)(at->end - at->next));
    at->stop = feed == NULL ? at->end : feed;
    at->p = skip_blanks(at->next, at->stop);
    at->next = at->stop + (at->stop < at->end);
    at->number++;
    return true;
}

/* The next line that is neither blank nor a comment. */
static bool next_content(lines *at) {
    while (next_line(at))
        if (at->p < at->stop && *at->p != '%')
            return true;
    return false;
}

/* True if the text at p begins with that keyword, in any case; *p is moved past it. */
static bool take_keyword(const char **p, const char *end, const char *keyword) {
    ptrdiff_t length = (ptrdiff_t)strlen(keyword);
    if (end - *p < length || !hd_io_same_word(*p, length, keyword) ||
        (*p + length < end && !is_blank((*p)[length])))
        return false;
    *p += length;
    return true;
}

/* Cuts a value off: a word that ends before a comma, blank (unless blanks_belong), brace or line
 * end, or text in quotes, where backslashes may be before characters. *p is moved past it and past
 * blanks. False if a quote is not closed. */
static bool next_value(const char **p, const char *end, bool blanks_belong, hd_io_field *found) {
    const char *q = skip_blanks(*p, end);
    *found = (hd_io_field){q, q, false, false};
    if (q < end && (*q == '\'' || *q == '"')) {
        char quote = *q++;
        found->quoted = true;
        found->begin = q;
        while (q < end && *q != quote)
            q += *q == '\\' && q + 1 < end ? 2 : 1;
        if (q >= end)
            return false;
        found->end = q++;
    } else {
        while (q < end && *q != ',' && *q != '}' && *q != '{' && *q != '\t' &&
               (blanks_belong || *q != ' '))
            q++;
        found->end = q;
        while (found->end > found->begin && is_blank(found->end[-1]))
            found->end--;
    }
    *p = skip_blanks(q, end);
    return true;
}

/* Copies a value without backslashes, and with quotes doubled if `twice`; returns the end. */
static char *unescape(const hd_io_field *from, bool twice, char *to) {
    for (const char *p = from->begin; p < from->end; p++) {
        p += from->quoted && *p == '\\' && p + 1 < from->end;
        *to++ = *p;
        if (twice && *p == '"')
            *to++ = '"';
    }
    return to;
}

/* The text of a class, at its quote if it has one. */
static hd_io_span class_of(const hd_io_field *value) {
    return (hd_io_span){value->begin - value->quoted, value->end - value->begin + value->quoted};
}

static char *copy_class(const char *p, const char *end, char *to) {
    bool quoted = p < end && (*p == '\'' || *p == '"');
    return unescape(&(hd_io_field){p + quoted, end, quoted, false}, false, to);
}

/* ---- attributes ----------------------------------------------------------------------------- */

/* "{red, 'light blue', 3}": at p, after the brace. The values themselves are those of the rows;
 * only the first is kept, and whether all are numbers. */
static huddle_status parse_values(const char *p, const lines *at, attribute *a) {
    enum { LONGEST = 39 };
    hd_io_field listed;
    a->numbers = true;
    do {
        double ignored;
        if (!next_value(&p, at->stop, true, &listed) || p == at->stop || (*p != ',' && *p != '}'))
            return hd_fail(HUDDLE_FORMAT,
                           "line %lld: the values of attribute '%.100s' are not closed by }",
                           (long long)at->number, a->name);
        if (a->first.begin == NULL)
            a->first = class_of(&listed);
        /* A comma, blank or brace follows, where reading a number stops. */
        int64_t length = listed.end - listed.begin;
        a->numbers = a->numbers && length > 0 && length <= LONGEST && !listed.quoted &&
                     hd_io_number(listed.begin, &ignored) == listed.end;
    } while (*p++ != '}');
    return HUDDLE_OK;
}

/* "@attribute NAME TYPE", at p after the keyword. */
static huddle_status parse_attribute(const char *p, arff *f) {
    static const struct {
        const char *word;
        hd_io_column_kind kind;
    } types[] = {{"numeric", HD_IO_NUMBERS},
                 {"real", HD_IO_NUMBERS},
                 {"integer", HD_IO_NUMBERS},
                 {"string", HD_IO_WORDS},
                 {"date", HD_IO_DATES}};
    const long long line = f->at.number;
    const char *end = f->at.stop;
    hd_io_field name;
    if (!next_value(&p, end, false, &name) || (name.begin == name.end && !name.quoted))
        return hd_fail(HUDDLE_FORMAT, "line %lld: the attribute has no name", line);
    if (!hd_grow(&f->attributes, &f->capacity, f->count + 1, sizeof *f->attributes))
        return hd_fail(HUDDLE_NO_MEMORY, "no memory for %lld attributes", (long long)f->count + 1);
    attribute *a = &f->attributes[f->count];
    *a = (attribute){.name = hd_copy_part(name.begin, name.end - name.begin), .kind = HD_IO_WORDS};
    if (a->name == NULL)
        return hd_fail(HUDDLE_NO_MEMORY, "no memory for a name");
    *unescape(&name, false, a->name) = '\0';
    f->count++;
    a->nominal = p < end && *p == '{';
    if (a->nominal)
        return parse_values(p + 1, &f->at, a);
    for (size_t k = 0; k < sizeof types / sizeof *types; k++)
        if (take_keyword(&p, end, types[k].word)) {
            a->kind = types[k].kind;
            return HUDDLE_OK;
        }
    return hd_fail(
        HUDDLE_UNSUPPORTED,
        "line %lld: attribute '%.100s' is of type '%.*s'; numeric, nominal, string and date are "
        "read",
        line, a->name, (int)(end - p < 40 ? end - p : 40), p);
}

static void arff_free(arff *f) {
    for (int64_t k = 0; k < f->count; k++)
        huddle_free(f->attributes[k].name);
    huddle_free(f->attributes);
}

/* The class is called class or has another conventional name, or is the last attribute; it is
 * nominal. */
static int64_t find_class(const arff *f) {
    int64_t best = -1;
    int32_t best_rank = INT32_MAX;
    for (int64_t k = 0; k < f->count; k++) {
        int32_t rank = hd_io_label_name_rank(f->attributes[k].name);
        if (f->attributes[k].nominal && rank >= 0 && rank < best_rank) {
            best = k;
            best_rank = rank;
        }
    }
    return best < 0 && f->attributes[f->count - 1].nominal ? f->count - 1 : best;
}

/* Reads the declarations. */
static huddle_status read_header(const hd_file *file, arff *f) {
    huddle_status status = HUDDLE_OK;
    bool data = false;
    f->at = first_line(file);
    while (!data && next_content(&f->at)) {
        const char *p = f->at.p, *stop = f->at.stop;
        if (take_keyword(&p, stop, "@relation"))
            continue;
        if (take_keyword(&p, stop, "@attribute"))
            TRY(parse_attribute(p, f));
        else if (take_keyword(&p, stop, "@data"))
            data = true;
        else
            FAIL(HUDDLE_FORMAT, "line %lld: '%.*s' is neither @attribute nor @data",
                 (long long)f->at.number, (int)(stop - p < 40 ? stop - p : 40), p);
    }
    if (!data)
        FAIL(HUDDLE_FORMAT, "there is no @data in it: it is cut short");
    if (f->count == 0)
        FAIL(HUDDLE_FORMAT, "line %lld: @data comes before any @attribute",
             (long long)f->at.number);
    f->class = find_class(f);
done:
    return status;
}

/* ---- recognition ---------------------------------------------------------------------------- */

/* The first line that is neither blank nor a comment is @relation. */
bool hd_io_arff_is(const hd_file *file) {
    lines at = first_line(file);
    return next_content(&at) && take_keyword(&at.p, at.stop, "@relation");
}

/* The first row begins with a brace. */
bool hd_io_arff_sparse_is(const hd_file *file) {
    lines at = first_line(file);
    bool data = false, is_arff = hd_io_arff_is(file);
    while (is_arff && next_content(&at)) {
        if (data)
            return *at.p == '{';
        data = take_keyword(&at.p, at.stop, "@data");
    }
    return false;
}

/* ---- dense files as tables ------------------------------------------------------------------ */

/* The rewritten rows in layout->owned. */
typedef struct rewriting {
    hd_io_layout *layout;
    int64_t size, capacity;
} rewriting;

/* In quotes only if it has to be: the reader is faster without. */
static void add_value(rewriting *w, const hd_io_field *from) {
    char *to = w->layout->owned + w->size;
    bool special =
        from->quoted || memchr(from->begin, '"', (size_t)(from->end - from->begin)) != NULL;
    w->layout->quoted = w->layout->quoted || special;
    if (special)
        *to++ = '"';
    to = unescape(from, true, to);
    if (special)
        *to++ = '"';
    w->size = to - w->layout->owned;
}

/* One row. Values end at a comma or a tab, which next_value() has passed. The weight of an
 * instance, {2.5} at the end of a row, is refused. */
static huddle_status add_row(rewriting *w, const lines *at) {
    const char *p = at->p, *stop = at->stop;
    hd_io_field found;
    for (;;) {
        if (!next_value(&p, stop, true, &found))
            return hd_fail(HUDDLE_FORMAT, "line %lld: a quote is not closed",
                           (long long)at->number);
        add_value(w, &found);
        if (p == stop)
            return HUDDLE_OK;
        const char *after = found.end + found.quoted;
        if (*p != ',' && memchr(after, '\t', (size_t)(p - after)) == NULL)
            return hd_fail(HUDDLE_FORMAT, "line %lld: '%.*s' is not expected after a value",
                           (long long)at->number, (int)(stop - p < 20 ? stop - p : 20), p);
        p += *p == ',';
        w->layout->owned[w->size++] = ',';
    }
}

/* A row may become longer by two quotes for each value and one for each quote inside: three times
 * its length is room enough. Comments become blank lines, and so does @data, where `at` is. */
static huddle_status rewrite_rows(huddle_context *context, lines at, rewriting *w) {
    huddle_status status = HUDDLE_OK;
    char **text = &w->layout->owned;
    at.p = at.stop;
    do {
        if (at.number % 4096 == 0)
            TRY(hd_check_cancel(context));
        if (!hd_grow(text, &w->capacity, w->size + 3 * (at.stop - at.p) + 8 + HD_FILE_PADDING, 1))
            FAIL(HUDDLE_NO_MEMORY, "no memory for more than %lld bytes", (long long)w->size);
        if (at.p < at.stop && *at.p != '%')
            TRY(add_row(w, &at));
        (*text)[w->size++] = '\n';
    } while (next_line(&at));
    memset(*text + w->size, 0, HD_FILE_PADDING);
done:
    return status;
}

/* Nominal attributes are texts unless all their values are numbers, as {0,1}; the class always is.
 * Names move from the attributes to the layout. */
static huddle_status declare_columns(arff *f, hd_io_layout *layout) {
    huddle_status status = HUDDLE_OK;
    ALLOC_ZERO(layout->names, f->count + 1);
    ALLOC(layout->declared, f->count);
    ALLOC_ZERO(layout->kinds, f->count);
    layout->columns = f->count;
    layout->class_column = f->class + 1;
    for (int64_t c = 0; c < f->count; c++) {
        attribute *a = &f->attributes[c];
        layout->declared[c] = a->numbers && c != f->class ? HD_IO_NUMBERS : a->kind;
        layout->kinds[c].nominal = a->nominal;
        layout->names[c] = a->name;
        a->name = NULL;
    }
done:
    return status;
}

huddle_status hd_io_arff_layout(huddle_context *context, const hd_file *file,
                                hd_io_layout *layout) {
    huddle_status status = HUDDLE_OK;
    arff f = {0};
    rewriting w = {.layout = layout};
    TRY(read_header(file, &f));
    TRY(rewrite_rows(context, f.at, &w));
    TRY(declare_columns(&f, layout));
    layout->end = layout->owned + w.size;
    layout->first_line = layout->counted_line = f.at.number;
    layout->separator = ',';
    layout->begin = hd_io_skip_blank_lines(layout, layout->owned);
    if (layout->begin == layout->end)
        FAIL(HUDDLE_FORMAT, "the file contains attributes but no rows");
    while (layout->end[-2] == '\n') /* blank lines at the end */
        layout->end--;
done:
    arff_free(&f);
    return status;
}

/* ---- sparse files --------------------------------------------------------------------------- */

/* The column of an attribute in the matrix, which has none for the class. */
static int64_t column_of(const arff *f, int64_t k) {
    return k - (f->class >= 0 && k > f->class);
}

/* The entries read so far. */
typedef struct entries {
    int64_t *rows, *columns;
    double *values;
    int64_t count, capacities[3];
    hd_io_labels y; /* of the rows so far; see class_of() */
    int64_t label_capacity;
} entries;

/* Attributes that are neither numbers nor the class have no place in a sparse matrix: a value that
 * is left out of a row is the first of them, not zero. */
static huddle_status check_attributes(const arff *f) {
    for (int64_t k = 0; k < f->count; k++) {
        const attribute *a = &f->attributes[k];
        if (k != f->class && a->kind != HD_IO_NUMBERS && !a->numbers)
            return hd_fail(HUDDLE_UNSUPPORTED,
                           "attribute '%.100s' is not numeric, which sparse ARFF cannot be read "
                           "with; remove it, or save the file as dense ARFF",
                           a->name);
    }
    return column_of(f, f->count) > 0 ? HUDDLE_OK
                                      : hd_fail(HUDDLE_FORMAT, "there is no numeric attribute");
}

/* "7 1.5": the index of an attribute, from 0 and ascending, and its value. */
static huddle_status read_pair(const arff *f, entries *e, const char **p, int64_t *previous) {
    const long long line = f->at.number;
    hd_io_field index, found;
    int64_t k = -1;
    double number = 0;
    if (!next_value(p, f->at.stop, false, &index) || !next_value(p, f->at.stop, true, &found))
        return hd_fail(HUDDLE_FORMAT, "line %lld: a quote is not closed", line);
    int shown = (int)(index.end - index.begin < 40 ? index.end - index.begin : 40);
    if (!hd_io_number_whole(index.begin, index.end, &k) || k <= *previous || k >= f->count)
        return hd_fail(HUDDLE_FORMAT,
                       "line %lld: '%.*s' is not the index of an attribute (0 to %lld, ascending)",
                       line, shown, index.begin, (long long)f->count - 1);
    *previous = k;
    if (k == f->class) {
        e->y.texts[e->y.n] = class_of(&found);
        return HUDDLE_OK;
    }
    shown = (int)(found.end - found.begin < 40 ? found.end - found.begin : 40);
    if (hd_io_number(found.begin, &number) != found.end || found.begin == found.end)
        return hd_fail(HUDDLE_FORMAT, "line %lld, attribute %lld (%.100s): '%.*s' is not a number",
                       line, (long long)k, f->attributes[k].name, shown, found.begin);
    if (!hd_grow(&e->rows, &e->capacities[0], e->count + 1, sizeof *e->rows) ||
        !hd_grow(&e->columns, &e->capacities[1], e->count + 1, sizeof *e->columns) ||
        !hd_grow(&e->values, &e->capacities[2], e->count + 1, sizeof *e->values))
        return hd_fail(HUDDLE_NO_MEMORY, "no memory for %lld entries", (long long)e->count);
    e->rows[e->count] = e->y.n;
    e->columns[e->count] = column_of(f, k);
    e->values[e->count++] = number;
    return HUDDLE_OK;
}

/* "{0 1.5, 7 red}". A class that is left out is the first one. */
static huddle_status read_row(const arff *f, entries *e) {
    huddle_status status = HUDDLE_OK;
    const long long line = f->at.number;
    const char *p = f->at.p, *stop = f->at.stop;
    int64_t previous = -1;
    if (!hd_grow(&e->y.texts, &e->label_capacity, e->y.n + 1, sizeof *e->y.texts))
        FAIL(HUDDLE_NO_MEMORY, "no memory for %lld labels", (long long)e->y.n + 1);
    if (f->class >= 0)
        e->y.texts[e->y.n] = f->attributes[f->class].first;
    if (*p++ != '{')
        FAIL(HUDDLE_FORMAT, "line %lld: the row does not begin with {, as others do", line);
    p = skip_blanks(p, stop);
    bool closed = p < stop && *p == '}'; /* all values are left out */
    while (!closed) {
        TRY(read_pair(f, e, &p, &previous));
        closed = p < stop && *p == '}';
        if (!closed && (p == stop || *p++ != ','))
            FAIL(HUDDLE_FORMAT, "line %lld: the row is not closed by }", line);
    }
    e->y.n++;
done:
    return status;
}

huddle_status hd_io_arff_open(hd_io_request *request, const hd_file *file,
                              hd_io_container *container) {
    huddle_status status = HUDDLE_OK;
    arff f = {0};
    entries e = {0};
    huddle_csr x = {0};
    TRY(read_header(file, &f));
    TRY(check_attributes(&f));
    while (next_content(&f.at)) {
        if (f.at.number % 4096 == 0)
            TRY(hd_check_cancel(request->context));
        TRY(read_row(&f, &e));
    }
    TRY(hd_io_csr_from_entries(e.y.n, column_of(&f, f.count), e.count, e.rows, e.columns, e.values,
                               &x));
    TRY(hd_io_add_sparse(container, "X", &x));
    if (f.class >= 0) {
        TRY(hd_io_labels_own(&e.y, copy_class));
        TRY(hd_io_add_texts(container, "class", &e.y));
    }
done:
    FREE(e.rows, e.columns, e.values);
    huddle_csr_free(&x);
    hd_io_labels_free(&e.y);
    arff_free(&f);
    return status;
}
