/* The rows of a table: numbers of features, texts of labels. */
#include "io/csv.h"

#include "base/check.h"
#include "base/parallel.h"
#include "io/number.h"

#include <math.h>
#include <stdio.h>

/* ---- failures ------------------------------------------------------------------------------- */

/* "line 12, column 3 (age)" */
static hd_io_phrase name_place(const hd_io_schema *schema, int64_t line, int64_t column) {
    hd_io_phrase place;
    snprintf(place.text, sizeof place.text, "line %lld, %.200s", (long long)line,
             hd_io_layout_place(schema->layout, column).text);
    return place;
}

static huddle_status refuse_missing(const hd_io_reading *r, const char *place, bool label) {
    const huddle_read_options *options = r->schema->request->options;
    if (options == NULL)
        return hd_fail(HUDDLE_FORMAT, "%s: the value is missing", place);
    /* If the features are those of another table (a model's), a row must not be filled in from
     * its neighbours: its assignment would depend on which rows come with it. */
    if (label || options->x_by_name)
        return hd_fail(HUDDLE_FORMAT, "%s: the %s is missing; %s leaves such rows out", place,
                       label ? "label" : "value", hd_io_hint(options, "missing", "drop").text);
    return hd_fail(HUDDLE_FORMAT, "%s: the value is missing; %s leaves such rows out or fills them",
                   place, hd_io_hint(options, "missing", "drop|mean|median").text);
}

/* misread makes hd_io_csv_read() examine all records and read again: the kind of the column
 * may be wrong. A missing value is never a reason for that. */
static huddle_status refuse_field(hd_io_reading *r, int64_t line, int64_t column,
                                  const hd_io_field *field) {
    const hd_io_column *kind = &r->schema->layout->kinds[column];
    const huddle_read_options *options = r->schema->request->options;
    int length = (int)(field->end - field->begin < 60 ? field->end - field->begin : 60);
    hd_io_phrase named = name_place(r->schema, line, column);
    const char *place = named.text, *instant = kind->times ? "time" : "date";
    if (r->schema->roles[column] < 0 || hd_io_field_missing(field))
        return refuse_missing(r, place, column == r->schema->label);
    atomic_store(&r->schema->misread, true);
    if (kind->kind == HD_IO_DATES)
        return hd_fail(HUDDLE_FORMAT, "%s: '%.*s' is a %s, and %ss are not read as numbers", place,
                       length, field->begin, instant, instant);
    if (kind->kind == HD_IO_WORDS && options != NULL && !options->x_by_name)
        return hd_fail(HUDDLE_FORMAT,
                       "%s: '%.*s' is text, not a number; use %s for one-hot features", place,
                       length, field->begin, hd_io_hint(options, "encode", NULL).text);
    return hd_fail(HUDDLE_FORMAT, "%s: '%.*s' is not a number%s", place, length, field->begin,
                   kind->decimal == ',' ? " with a decimal comma, as others in this column are"
                                        : "");
}

/* A number that float cannot hold, or double if those are kept. If each value by itself fits, the
 * shift is what makes it too large. */
static huddle_status refuse_value(const hd_io_schema *schema, bool exact, int64_t line,
                                  const double *values) {
    double limit = hd_io_exact_limit(exact);
    for (int64_t c = 0; c < schema->layout->columns; c++) {
        int32_t role = schema->roles[c];
        if (role < 0 || fabs(values[role]) <= limit)
            continue;
        return hd_fail(HUDDLE_INVALID, "%s: %g is beyond %s precision",
                       name_place(schema, line, c).text, values[role], exact ? "double" : "single");
    }
    return hd_fail(HUDDLE_INVALID, "line %lld: a value less its shift is beyond single precision",
                   (long long)line);
}

/* ---- one record ----------------------------------------------------------------------------- */

/* A row on its way, and the working memory of a chunk. */
typedef struct record {
    double *room;      /* d */
    double *values;    /* room, or where the caller wants them */
    hd_io_span *texts; /* n_texts */
    hd_io_fields fields;
    int64_t line;
    bool incomplete;
} record;

/* A quick test: most texts cannot be one of the words for a missing label, of which the
 * longest has four characters. */
static inline bool may_be_missing(const char *begin, const char *end) {
    return end - begin <= 4 && ((*begin | 32) == 'n' || *begin == '?' || *begin == '#');
}

/* The fast path: a record without quotes and without faults, in one pass; NULL if it is not
 * one, and read_any_record() then reads it again. No bound is checked: every piece ends with a
 * line feed, and the file is followed by padding, so that the scan stops by itself. Ends one
 * past the line feed. */
static const char *read_plain_record(const hd_io_schema *schema, const char *p, double *values,
                                     hd_io_span *texts) {
    const char separator = schema->layout->separator;
    const int64_t columns = schema->layout->columns;
    for (int64_t c = 0; c < columns; c++) {
        while (hd_io_is_blank(*p, separator))
            p++;
        int32_t role = schema->roles[c];
        const char *begin = p;
        if (role >= 0) {
            /* It may read eight bytes beyond a digit, which the padding of the file and of the last
             * line allows. */
            p = hd_io_number_at(begin, true, &values[role]);
        } else {
            while (*p != separator && *p != '\n' && *p != '"' && !hd_io_is_blank(*p, separator) &&
                   *p != '\r')
                p++;
            if (role != HD_IO_SKIP) {
                if (may_be_missing(begin, p) && hd_io_label_missing(begin, p - begin))
                    return NULL;
                texts[-2 - role] = (hd_io_span){begin, p - begin};
            } else if (p == begin && *p == separator)
                begin--; /* an empty field that is not used is not an error */
        }
        if (p == begin)
            return NULL;
        const char *end = p;
        while (hd_io_is_blank(*p, separator))
            p++;
        /* CR is part of the line end only before LF; elsewhere it is an error of the field. */
        if (*p == '\r' && p[1] == '\n')
            p++;
        if (*p == '\n')
            return c + 1 == columns ? p + 1 : NULL;
        if (separator == ' ' ? p == end : *p++ != separator)
            return NULL;
    }
    return NULL;
}

/* A missing number is NaN, a missing text empty. */
static huddle_status take_field(hd_io_reading *r, record *to, int64_t column) {
    const hd_io_field *field = &to->fields.items[column];
    int32_t role = r->schema->roles[column];
    if (role == HD_IO_SKIP)
        return HUDDLE_OK;
    if (role < 0) {
        hd_io_span *text = &to->texts[-2 - role];
        *text = (hd_io_span){field->begin, field->end - field->begin};
        if (r->any_text || !hd_io_label_missing(text->begin, text->length))
            return HUDDLE_OK;
        if (r->incomplete == NULL || (role == hd_io_text_role(0) && r->label_required))
            return refuse_field(r, to->line, column, field);
        text->length = 0;
    } else if (r->incomplete != NULL && hd_io_field_missing(field))
        to->values[role] = NAN;
    else
        return hd_io_field_number(field, r->schema->layout->kinds[column].decimal,
                                  &to->values[role])
                   ? HUDDLE_OK
                   : refuse_field(r, to->line, column, field);
    to->incomplete = true;
    return HUDDLE_OK;
}

/* Any record. A record ends where hd_io_record_end() found its line feed outside quotes:
 * fields that end elsewhere, or a field left open, mean that a quote is missing, perhaps many
 * lines up. */
static huddle_status read_any_record(hd_io_reading *r, const char *p, const char *end, record *to) {
    huddle_status status = HUDDLE_OK;
    const hd_io_layout *layout = r->schema->layout;
    const long long line = to->line;
    TRY(hd_io_fields_split(&p, end, layout->separator, &to->fields));
    const long long count = to->fields.count;
    if (p != end || to->fields.items[count - 1].open)
        FAIL(HUDDLE_FORMAT, "line %lld: a quote is not closed", line);
    if (count != layout->columns && layout->declared != NULL)
        FAIL(HUDDLE_FORMAT, "line %lld has %lld value%s for %lld attributes", line, count,
             count == 1 ? "" : "s", (long long)layout->columns);
    if (count != layout->columns)
        FAIL(HUDDLE_FORMAT, "line %lld has %lld column%s, but line %lld has %lld", line, count,
             count == 1 ? "" : "s", (long long)layout->counted_line, (long long)layout->columns);
    for (int64_t c = 0; c < layout->columns; c++)
        TRY(take_field(r, to, c));
done:
    return status;
}

/* ---- all records ---------------------------------------------------------------------------- */

/* The intake's own message has no line number; the row is examined again for one that has. */
static huddle_status store_row(hd_io_reading *r, int32_t worker, int64_t row, const record *from) {
    if (r->intake != NULL && hd_io_intake_row(r->intake, worker, row, from->values) != HUDDLE_OK)
        return refuse_value(r->schema, r->intake->exact != NULL, from->line, from->values);
    for (int64_t k = 0; k < r->schema->n_texts; k++)
        r->texts[k * r->schema->layout->pieces.rows + row] = from->texts[k];
    if (r->incomplete != NULL)
        r->incomplete[row] = from->incomplete;
    return HUDDLE_OK;
}

/* Rows are written to where hd_io_pieces_cut() counted them, so that pieces can be read in any
 * order by any thread. Counting and reading must therefore agree on what a record is; the two
 * internal errors guard the memory after the last row if they do not. A record in quotes may
 * span several lines, which are added to the line count. */
static huddle_status read_piece(hd_io_reading *r, const hd_io_piece *piece, int32_t worker,
                                record *to) {
    huddle_status status = HUDDLE_OK;
    const hd_io_layout *layout = r->schema->layout;
    int64_t row = piece->first_row, line = piece->first_line, d = r->schema->d;
    const int64_t rows = row + piece->rows;
    for (const char *p = piece->begin, *next = NULL; p < piece->end; p = next, line++) {
        to->incomplete = false;
        to->line = line;
        /* Values are written straight into the caller's array if there is one. Beyond the last
         * counted row the own memory is used, until the error below is raised. */
        to->values = r->values != NULL && row < rows ? r->values + row * d : to->room;
        next = r->schema->styled ? NULL : read_plain_record(r->schema, p, to->values, to->texts);
        if (next == NULL) {
            next = hd_io_record_end(p, piece->end, layout->separator, layout->quoted);
            if (layout->columns > 1 && hd_io_is_blank_line(p, next))
                continue;
            TRY(read_any_record(r, p, next, to));
            /* A quoted record may contain line feeds; the last one is counted by the loop. */
            line += hd_io_count_lines(p, next - 1);
        }
        if (row == rows)
            FAIL(HUDDLE_INTERNAL, "line %lld was not counted", (long long)line);
        TRY(store_row(r, worker, row++, to));
    }
    if (row != rows)
        FAIL(HUDDLE_INTERNAL, "line %lld was counted twice", (long long)line);
done:
    return status;
}

/* One piece per chunk: hd_parallel() reports progress and stops a cancelled read between
 * pieces. */
static huddle_status read_pieces(void *argument, hd_chunk chunk) {
    hd_io_reading *r = argument;
    huddle_status status = HUDDLE_OK;
    record s = {0};
    ALLOC(s.room, r->schema->d);
    ALLOC_ZERO(s.texts, r->schema->n_texts);
    for (int64_t k = chunk.begin; k < chunk.end; k++)
        TRY(read_piece(r, &r->schema->layout->pieces.items[k], chunk.worker, &s));
done:
    FREE(s.room, s.texts, s.fields.items);
    return status;
}

huddle_status hd_io_table_read(hd_io_reading *reading) {
    return hd_parallel(reading->schema->request->context, "read",
                       reading->schema->layout->pieces.count, 1, read_pieces, reading);
}

huddle_status hd_io_texts_read(const hd_io_schema *table, const int64_t *columns, int64_t count,
                               bool any, hd_io_span **texts) {
    huddle_status status = HUDDLE_OK;
    hd_io_schema schema = {table->request, table->layout, .label = -1, .n_texts = count};
    hd_io_reading reading = {.schema = &schema, .any_text = any};
    ALLOC(schema.roles, schema.layout->columns);
    for (int64_t c = 0; c < schema.layout->columns; c++)
        schema.roles[c] = HD_IO_SKIP;
    for (int64_t k = 0; k < count; k++)
        schema.roles[columns[k]] = hd_io_text_role(k);
    ALLOC(reading.texts, count * schema.layout->pieces.rows);
    TRY(hd_io_table_read(&reading));
    *texts = reading.texts;
    reading.texts = NULL;
done:
    FREE(schema.roles, reading.texts);
    return status;
}

char *hd_io_unquote(const char *p, const char *end, char *to) {
    for (; p < end; p++) {
        *to++ = *p;
        p += *p == '"' && p + 1 < end && p[1] == '"';
    }
    return to;
}
