/* Sparse ARFF files: numeric attributes are the columns of a sparse matrix, the class the labels.
 */
#include "base/check.h"
#include "base/context.h"
#include "base/text.h"
#include "io/arff.h"
#include "io/formats.h"
#include "io/number.h"
#include "io/sparse.h"

#include <stdio.h>
#include <string.h>

/* The entries read so far. */
typedef struct entries {
    int64_t *rows, *columns;
    double *values;
    int64_t count, capacities[3];
    hd_io_arff_value *labels;
    int64_t n, label_capacity;
} entries;

/* What attributes are for. */
typedef struct roles {
    hd_io_arff arff;
    int64_t class;
    int64_t *columns; /* of the matrix, one per attribute; -1: the class */
    int64_t n_columns;
} roles;

/* Attributes that are neither numbers nor the class have no place in a sparse matrix: a value that
 * is left out of a row is the first of them, not zero. */
static huddle_status assign_columns(roles *r) {
    huddle_status status = HUDDLE_OK;
    r->class = hd_io_arff_class(&r->arff);
    ALLOC(r->columns, r->arff.count);
    for (int64_t k = 0; k < r->arff.count; k++) {
        const hd_io_attribute *a = &r->arff.attributes[k];
        if (k != r->class && a->kind != HD_IO_ATTRIBUTE_NUMERIC && !a->numbers)
            FAIL(HUDDLE_UNSUPPORTED,
                 "attribute '%.100s' is not numeric, which sparse ARFF cannot be read with; remove "
                 "it, or save the file as dense ARFF",
                 a->name);
        r->columns[k] = k == r->class ? -1 : r->n_columns++;
    }
    if (r->n_columns == 0)
        FAIL(HUDDLE_FORMAT, "there is no numeric attribute");
done:
    return status;
}

static bool add_entry(entries *e, int64_t column, double value) {
    int64_t needed = e->count + 1;
    if (!hd_grow(&e->rows, &e->capacities[0], needed, sizeof *e->rows) ||
        !hd_grow(&e->columns, &e->capacities[1], needed, sizeof *e->columns) ||
        !hd_grow(&e->values, &e->capacities[2], needed, sizeof *e->values))
        return false;
    e->rows[e->count] = e->n;
    e->columns[e->count] = column;
    e->values[e->count++] = value;
    return true;
}

/* "7 1.5": the index of an attribute, from 0 and ascending, and its value. */
static huddle_status read_pair(const roles *r, entries *e, const char **p, const char *stop,
                               int64_t line, int64_t *previous) {
    hd_io_arff_value index, value;
    int64_t k = -1;
    double number = 0;
    if (!hd_io_arff_next(p, stop, false, &index) || !hd_io_arff_next(p, stop, true, &value))
        return hd_fail(HUDDLE_FORMAT, "line %lld: a quote is not closed", (long long)line);
    int shown = (int)(index.end - index.begin < 40 ? index.end - index.begin : 40);
    if (!hd_io_number_whole(index.begin, index.end, &k) || k <= *previous || k >= r->arff.count)
        return hd_fail(HUDDLE_FORMAT,
                       "line %lld: '%.*s' is not the index of an attribute (0 to %lld, ascending)",
                       (long long)line, shown, index.begin, (long long)r->arff.count - 1);
    *previous = k;
    if (r->columns[k] < 0) {
        e->labels[e->n] = value;
        return HUDDLE_OK;
    }
    shown = (int)(value.end - value.begin < 40 ? value.end - value.begin : 40);
    if (hd_io_number(value.begin, &number) != value.end || value.begin == value.end)
        return hd_fail(HUDDLE_FORMAT, "line %lld, attribute %lld (%.100s): '%.*s' is not a number",
                       (long long)line, (long long)k, r->arff.attributes[k].name, shown,
                       value.begin);
    return add_entry(e, r->columns[k], number)
               ? HUDDLE_OK
               : hd_fail(HUDDLE_NO_MEMORY, "no memory for %lld entries", (long long)e->count);
}

/* "{0 1.5, 7 red}". A class that is left out is the first one. */
static huddle_status read_row(const roles *r, entries *e, const char *p, const char *stop,
                              int64_t line) {
    huddle_status status = HUDDLE_OK;
    int64_t previous = -1;
    bool closed = false;
    if (!hd_grow(&e->labels, &e->label_capacity, e->n + 1, sizeof *e->labels))
        FAIL(HUDDLE_NO_MEMORY, "no memory for %lld labels", (long long)e->n + 1);
    const char *first = r->class >= 0 ? r->arff.attributes[r->class].first : "";
    e->labels[e->n] = (hd_io_arff_value){first, first + strlen(first), false};
    if (*p++ != '{')
        FAIL(HUDDLE_FORMAT, "line %lld: the row does not begin with {, as others do",
             (long long)line);
    while (p < stop && (*p == ' ' || *p == '\t'))
        p++;
    closed = p < stop && *p == '}'; /* all values are left out */
    while (!closed) {
        TRY(read_pair(r, e, &p, stop, line, &previous));
        closed = p < stop && *p == '}';
        if (!closed && (p == stop || *p++ != ','))
            FAIL(HUDDLE_FORMAT, "line %lld: the row is not closed by }", (long long)line);
    }
    e->n++;
done:
    return status;
}

static huddle_status read_rows(huddle_context *context, const roles *r, entries *e) {
    huddle_status status = HUDDLE_OK;
    int64_t line = r->arff.data_line;
    for (const char *p = r->arff.data; p < r->arff.end; line++) {
        const char *stop = hd_io_arff_line(p, r->arff.end), *q = p;
        if (line % 4096 == 0)
            TRY(hd_check_cancel(context));
        while (q < stop && (*q == ' ' || *q == '\t' || *q == '\r'))
            q++;
        if (q < stop && *q != '%')
            TRY(read_row(r, e, q, stop, line));
        p = stop + (stop < r->arff.end);
    }
done:
    return status;
}

/* The labels with quotes inside resolved, in memory of their own; each is followed by a line feed,
 * where readers of numbers stop. */
static huddle_status keep_labels(hd_io_container *container, const entries *e) {
    huddle_status status = HUDDLE_OK;
    int64_t bytes = 1;
    hd_io_variable *y = hd_io_container_add(container, "class", 5);
    if (y == NULL)
        FAIL(HUDDLE_NO_MEMORY, "no memory for a name");
    for (int64_t i = 0; i < e->n; i++)
        bytes += e->labels[i].end - e->labels[i].begin + 1;
    y->kind = HD_IO_TEXTS;
    y->array.rank = 1;
    y->array.dims[0] = e->n;
    ALLOC(y->texts.texts, e->n);
    ALLOC(y->texts.arena, bytes);
    char *to = y->texts.arena;
    for (y->texts.n = 0; y->texts.n < e->n; y->texts.n++) {
        char *end = hd_io_arff_unescape(&e->labels[y->texts.n], to);
        y->texts.texts[y->texts.n] = (hd_io_span){to, end - to};
        *end = '\n';
        to = end + 1;
    }
done:
    return status;
}

huddle_status hd_io_arff_open(hd_io_request *request, const hd_file *file,
                              hd_io_container *container) {
    huddle_status status = HUDDLE_OK;
    roles r = {0};
    entries e = {0};
    TRY(hd_io_arff_header(file, &r.arff));
    TRY(assign_columns(&r));
    TRY(read_rows(request->context, &r, &e));
    hd_io_variable *x = hd_io_container_add(container, "X", 1);
    if (x == NULL)
        FAIL(HUDDLE_NO_MEMORY, "no memory for a name");
    x->kind = HD_IO_SPARSE;
    TRY(hd_io_csr_from_entries(e.n, r.n_columns, e.count, e.rows, e.columns, e.values, &x->sparse));
    x->array.rank = 2;
    x->array.dims[0] = e.n;
    x->array.dims[1] = r.n_columns;
    if (r.class >= 0)
        TRY(keep_labels(container, &e));
done:
    FREE(e.rows, e.columns, e.values, e.labels, r.columns);
    hd_io_arff_free(&r.arff);
    return status;
}
