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

#include <stdio.h>
#include <string.h>

typedef struct attribute {
    char *name;
    hd_io_column_kind kind;
    bool nominal; /* its values are listed */
    bool numbers; /* nominal: all values are numbers */
    char *first;  /* nominal: the first value, which sparse rows leave out */
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
    size_t length = strlen(keyword);
    char word[16];
    if (end - *p < (ptrdiff_t)length)
        return false;
    memcpy(word, *p, length);
    word[length] = '\0';
    if (!hd_same_word(word, keyword) || (*p + length < end && !is_blank((*p)[length])))
        return false;
    *p += length;
    return true;
}

/* The text of a value; in quotes it may have backslashes before characters. */
typedef struct value {
    const char *begin, *end;
    bool quoted;
} value;

/* Cuts a value off: a word that ends before a comma, blank (unless blanks_belong), brace or line
 * end, or text in quotes. *p is moved past it and past blanks. False if a quote is not closed. */
static bool next_value(const char **p, const char *end, bool blanks_belong, value *found) {
    const char *q = skip_blanks(*p, end);
    *found = (value){q, q, false};
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
static char *unescape(const value *from, bool twice, char *to) {
    for (const char *p = from->begin; p < from->end; p++) {
        p += from->quoted && *p == '\\' && p + 1 < from->end;
        *to++ = *p;
        if (twice && *p == '"')
            *to++ = '"';
    }
    return to;
}

/* The value as text of its own, or NULL. */
static char *copy_value(const value *from) {
    char *copy = hd_copy_part(from->begin, from->end - from->begin);
    if (copy != NULL)
        *unescape(from, false, copy) = '\0';
    return copy;
}

/* ---- attributes ----------------------------------------------------------------------------- */

/* "{red, 'light blue', 3}": at p, after the brace. The values themselves are those of the rows;
 * only the first is kept, and whether all are numbers. */
static huddle_status parse_values(const char *p, const lines *at, attribute *a) {
    enum { LONGEST = 39 };
    value listed;
    a->numbers = true;
    do {
        double ignored;
        if (!next_value(&p, at->stop, true, &listed) || p == at->stop || (*p != ',' && *p != '}'))
            return hd_fail(HUDDLE_FORMAT,
                           "line %lld: the values of attribute '%.100s' are not closed by }",
                           (long long)at->number, a->name);
        if (a->first == NULL && (a->first = copy_value(&listed)) == NULL)
            return hd_fail(HUDDLE_NO_MEMORY, "no memory for a value");
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
    value name;
    if (!next_value(&p, end, false, &name) || (name.begin == name.end && !name.quoted))
        return hd_fail(HUDDLE_FORMAT, "line %lld: the attribute has no name", line);
    if (!hd_grow(&f->attributes, &f->capacity, f->count + 1, sizeof *f->attributes))
        return hd_fail(HUDDLE_NO_MEMORY, "no memory for %lld attributes", (long long)f->count + 1);
    attribute *a = &f->attributes[f->count];
    *a = (attribute){.name = copy_value(&name), .kind = HD_IO_WORDS};
    if (a->name == NULL)
        return hd_fail(HUDDLE_NO_MEMORY, "no memory for a name");
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
        FREE(f->attributes[k].name, f->attributes[k].first);
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
static bool find_relation(const hd_file *file, lines *at) {
    *at = first_line(file);
    return next_content(at) && take_keyword(&at->p, at->stop, "@relation");
}

bool hd_io_arff_is(const hd_file *file) {
    lines at;
    return find_relation(file, &at);
}

/* The first row begins with a brace. */
bool hd_io_arff_sparse_is(const hd_file *file) {
    lines at;
    bool data = false;
    if (!find_relation(file, &at))
        return false;
    while (next_content(&at)) {
        if (data)
            return *at.p == '{';
        data = take_keyword(&at.p, at.stop, "@data");
    }
    return false;
}

/* ---- dense files as tables ------------------------------------------------------------------ */

/* The rewritten rows. */
typedef struct rewriting {
    char *text;
    int64_t size, capacity;
    bool quoted;
} rewriting;

/* In quotes only if it has to be: the reader is faster without. */
static void add_value(rewriting *w, const value *from) {
    char *to = w->text + w->size;
    bool special =
        from->quoted || memchr(from->begin, '"', (size_t)(from->end - from->begin)) != NULL;
    w->quoted = w->quoted || special;
    if (special)
        *to++ = '"';
    to = unescape(from, true, to);
    if (special)
        *to++ = '"';
    w->size = to - w->text;
}

/* One row. Values end at a comma or a tab, which next_value() has passed. The weight of an
 * instance, {2.5} at the end of a row, is refused. */
static huddle_status add_row(rewriting *w, const lines *at) {
    const char *p = at->p, *stop = at->stop;
    value found;
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
        w->text[w->size++] = ',';
    }
}

/* A row may become longer by two quotes for each value and one for each quote inside: three times
 * its length is room enough. Comments become blank lines. */
static huddle_status rewrite_rows(huddle_context *context, lines at, rewriting *w) {
    huddle_status status = HUDDLE_OK;
    while (next_line(&at)) {
        if (at.number % 4096 == 0)
            TRY(hd_check_cancel(context));
        if (!hd_grow(&w->text, &w->capacity, w->size + 3 * (at.stop - at.p) + 8 + HD_FILE_PADDING,
                     1))
            FAIL(HUDDLE_NO_MEMORY, "no memory for more than %lld bytes", (long long)w->size);
        if (at.p < at.stop && *at.p != '%')
            TRY(add_row(w, &at));
        w->text[w->size++] = '\n';
    }
    if (w->text != NULL)
        memset(w->text + w->size, 0, HD_FILE_PADDING);
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
    rewriting w = {0};
    TRY(read_header(file, &f));
    TRY(rewrite_rows(context, f.at, &w));
    if (w.size == 0)
        FAIL(HUDDLE_FORMAT, "the file contains attributes but no rows");
    layout->begin = layout->owned = w.text;
    layout->end = layout->owned + w.size;
    w.text = NULL;
    layout->first_line = f.at.number + 1;
    layout->counted_line = f.at.number;
    layout->separator = ',';
    layout->quoted = w.quoted;
    TRY(declare_columns(&f, layout));
    while (layout->begin < layout->end && *layout->begin == '\n') {
        layout->begin++;
        layout->first_line++;
    }
    if (layout->begin == layout->end)
        FAIL(HUDDLE_FORMAT, "the file contains attributes but no rows");
    while (layout->end - 1 > layout->begin && layout->end[-2] == '\n')
        layout->end--;
done:
    huddle_free(w.text);
    arff_free(&f);
    return status;
}

/* ---- sparse files --------------------------------------------------------------------------- */

/* The entries read so far, and the columns of the matrix, one per attribute; -1: the class. */
typedef struct entries {
    int64_t *rows, *columns;
    double *values;
    int64_t count, capacities[3];
    value *labels;
    int64_t n, label_capacity;
    int64_t *column_of, n_columns;
} entries;

/* Attributes that are neither numbers nor the class have no place in a sparse matrix: a value that
 * is left out of a row is the first of them, not zero. */
static huddle_status assign_columns(const arff *f, entries *e) {
    huddle_status status = HUDDLE_OK;
    ALLOC(e->column_of, f->count);
    for (int64_t k = 0; k < f->count; k++) {
        const attribute *a = &f->attributes[k];
        if (k != f->class && a->kind != HD_IO_NUMBERS && !a->numbers)
            FAIL(HUDDLE_UNSUPPORTED,
                 "attribute '%.100s' is not numeric, which sparse ARFF cannot be read with; remove "
                 "it, or save the file as dense ARFF",
                 a->name);
        e->column_of[k] = k == f->class ? -1 : e->n_columns++;
    }
    if (e->n_columns == 0)
        FAIL(HUDDLE_FORMAT, "there is no numeric attribute");
done:
    return status;
}

static huddle_status add_entry(entries *e, int64_t column, double number) {
    int64_t needed = e->count + 1;
    if (!hd_grow(&e->rows, &e->capacities[0], needed, sizeof *e->rows) ||
        !hd_grow(&e->columns, &e->capacities[1], needed, sizeof *e->columns) ||
        !hd_grow(&e->values, &e->capacities[2], needed, sizeof *e->values))
        return hd_fail(HUDDLE_NO_MEMORY, "no memory for %lld entries", (long long)e->count);
    e->rows[e->count] = e->n;
    e->columns[e->count] = column;
    e->values[e->count++] = number;
    return HUDDLE_OK;
}

/* "7 1.5": the index of an attribute, from 0 and ascending, and its value. */
static huddle_status read_pair(const arff *f, entries *e, const char **p, int64_t *previous) {
    const long long line = f->at.number;
    value index, found;
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
    if (e->column_of[k] < 0) {
        e->labels[e->n] = found;
        return HUDDLE_OK;
    }
    shown = (int)(found.end - found.begin < 40 ? found.end - found.begin : 40);
    if (hd_io_number(found.begin, &number) != found.end || found.begin == found.end)
        return hd_fail(HUDDLE_FORMAT, "line %lld, attribute %lld (%.100s): '%.*s' is not a number",
                       line, (long long)k, f->attributes[k].name, shown, found.begin);
    return add_entry(e, e->column_of[k], number);
}

/* "{0 1.5, 7 red}". A class that is left out is the first one. */
static huddle_status read_row(const arff *f, entries *e) {
    huddle_status status = HUDDLE_OK;
    const long long line = f->at.number;
    const char *p = f->at.p, *stop = f->at.stop;
    int64_t previous = -1;
    if (!hd_grow(&e->labels, &e->label_capacity, e->n + 1, sizeof *e->labels))
        FAIL(HUDDLE_NO_MEMORY, "no memory for %lld labels", (long long)e->n + 1);
    const char *first = f->class >= 0 ? f->attributes[f->class].first : "";
    e->labels[e->n] = (value){first, first + strlen(first), false};
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
    e->n++;
done:
    return status;
}

/* The labels with quotes inside resolved, in memory of their own; each is followed by a line feed,
 * where readers of numbers stop. */
static huddle_status copy_labels(const entries *e, hd_io_labels *labels) {
    huddle_status status = HUDDLE_OK;
    int64_t bytes = 1;
    for (int64_t i = 0; i < e->n; i++)
        bytes += e->labels[i].end - e->labels[i].begin + 1;
    ALLOC(labels->texts, e->n);
    ALLOC(labels->arena, bytes);
    char *to = labels->arena;
    for (labels->n = 0; labels->n < e->n; labels->n++) {
        char *end = unescape(&e->labels[labels->n], false, to);
        labels->texts[labels->n] = (hd_io_span){to, end - to};
        *end = '\n';
        to = end + 1;
    }
done:
    return status;
}

huddle_status hd_io_arff_open(hd_io_request *request, const hd_file *file,
                              hd_io_container *container) {
    huddle_status status = HUDDLE_OK;
    arff f = {0};
    entries e = {0};
    huddle_csr x = {0};
    hd_io_labels y = {0};
    TRY(read_header(file, &f));
    TRY(assign_columns(&f, &e));
    while (next_content(&f.at)) {
        if (f.at.number % 4096 == 0)
            TRY(hd_check_cancel(request->context));
        TRY(read_row(&f, &e));
    }
    TRY(hd_io_csr_from_entries(e.n, e.n_columns, e.count, e.rows, e.columns, e.values, &x));
    TRY(hd_io_add_sparse(container, "X", &x));
    if (f.class >= 0) {
        TRY(copy_labels(&e, &y));
        TRY(hd_io_add_texts(container, "class", &y));
    }
done:
    FREE(e.rows, e.columns, e.values, e.labels, e.column_of);
    huddle_csr_free(&x);
    hd_io_labels_free(&y);
    arff_free(&f);
    return status;
}
