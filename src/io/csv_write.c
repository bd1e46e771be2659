/* Tables: data sets, columns as a table of their own, and columns added to a table that exists. */
#include "archive/file.h"
#include "archive/output.h"
#include "base/check.h"
#include "base/context.h"
#include "base/text.h"
#include "io/csv.h"
#include "io/formats.h"
#include "io/number.h"
#include "io/writers.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* A table that is written, and the columns that are new in it. After a failure nothing more is
 * written. */
typedef struct writing {
    hd_output *output;
    char separator, decimal;
    hd_io_encoding encoding; /* of the table that columns are added to */
    const huddle_new_column *items;
    int64_t count, n;
    huddle_status status;
} writing;

/* ---- texts ---------------------------------------------------------------------------------- */

static void put_bytes(writing *to, const char *bytes, int64_t size) {
    if (to->status == HUDDLE_OK)
        to->status = hd_output_write(to->output, bytes, size);
}

/* Text in the encoding of the table. Texts are cut at separators and line ends, never inside a
 * character. */
static void put_text(writing *to, const char *begin, const char *end) {
    const hd_io_encoding *encoding = &to->encoding;
    if (!encoding->utf16 && !encoding->returns) {
        put_bytes(to, begin, end - begin);
        return;
    }
    for (const char *p = begin; p < end;) {
        char bytes[4], c = (char)(encoding->returns && *p == '\n' ? '\r' : *p);
        bool plain = (unsigned char)c < 0x80;
        int size = 1, taken = 1;
        bytes[0] = c;
        if (encoding->utf16)
            taken = hd_io_encode_utf16(plain ? &c : p, plain ? &c + 1 : end, encoding->big, bytes,
                                       &size);
        put_bytes(to, bytes, size);
        p += taken;
    }
}

static void put(writing *to, const char *text) {
    put_text(to, text, text + strlen(text));
}

static void put_separator(writing *to) {
    put_text(to, &to->separator, &to->separator + 1);
}

/* RFC 4180: a text with a separator, quote or line break is quoted, and its quotes are
 * doubled. Also quoted is what the reader would not return unchanged: an empty text, blanks at
 * the ends, and '#', which would make a first line a comment. */
static bool needs_quotes(const char *text, char separator) {
    size_t length = strlen(text);
    char special[] = {separator, '"', '\n', '\r', '\0'};
    return length == 0 || strpbrk(text, special) != NULL || text[0] == ' ' || text[0] == '#' ||
           text[length - 1] == ' ';
}

static void put_quoted(writing *to, const char *text) {
    bool quotes = needs_quotes(text, to->separator);
    const char *quote;
    if (quotes)
        put(to, "\"");
    for (; quotes && (quote = strchr(text, '"')) != NULL; text = quote + 1) {
        put_text(to, text, quote + 1);
        put(to, "\"");
    }
    put(to, text);
    if (quotes)
        put(to, "\"");
}

/* Text labels are quoted, so that any class name can be read back. */
huddle_status hd_io_labels_write_lines(hd_output *output, int64_t n, const int32_t *values,
                                       const char *const *texts) {
    writing to = {.output = output, .separator = ','};
    for (int64_t i = 0; i < n && to.status == HUDDLE_OK; i++) {
        char number[16];
        snprintf(number, sizeof number, "%d", values[i]);
        put_quoted(&to, texts != NULL ? texts[values[i]] : number);
        put(&to, "\n");
    }
    return to.status;
}

/* ---- data sets ------------------------------------------------------------------------------ */

/* The column that the names of the rows came from, if the data is from a table. */
static const char *names_title(const huddle_data *data) {
    for (int64_t c = 0; c < data->n_columns; c++)
        if (data->columns[c].role == HUDDLE_COLUMN_NAMES && data->columns[c].name[0] != '\0')
            return data->columns[c].name;
    return "name";
}

/* A table with names is written even if the data has none, so that the header never has to be
 * guessed. */
static void write_names(writing *to, const huddle_data *data) {
    if (data->row_names != NULL) {
        put_quoted(to, names_title(data));
        put_separator(to);
    }
    for (int64_t j = 0; j < data->points.d; j++) {
        char name[32];
        snprintf(name, sizeof name, "x%lld", (long long)j + 1);
        if (j > 0)
            put_separator(to);
        put_quoted(to, data->features != NULL ? data->features[j] : name);
    }
    if (data->labels != NULL) {
        put_separator(to);
        put(to, "label");
    }
    put(to, "\n");
}

/* A value with a shift has the precision of a double. */
static void write_row(writing *to, const huddle_data *data, int64_t i) {
    const huddle_points *x = &data->points;
    if (data->row_names != NULL) {
        put_quoted(to, data->row_names[i]);
        put_separator(to);
    }
    for (int64_t j = 0; j < x->d; j++) {
        char text[40];
        bool wide = data->exact != NULL || (x->shift != NULL && x->shift[j] != 0);
        int length = hd_io_number_write(hd_io_value(data, i * x->stride + j, j), wide, text);
        text[length++] = j + 1 < x->d || data->labels != NULL ? to->separator : '\n';
        put_bytes(to, text, length);
    }
    if (data->labels != NULL) {
        char number[12];
        snprintf(number, sizeof number, "%d", data->labels[i]);
        put_quoted(to, data->classes != NULL ? data->classes[data->labels[i]] : number);
        put(to, "\n");
    }
}

/* Often enough for a smooth display, and rare enough that the clock costs nothing. */
static void report_progress(huddle_context *context, writing *to, int64_t row, int64_t n) {
    if (row % 256 == 0 && to->status == HUDDLE_OK)
        to->status = hd_progress(context, "write", (double)row, (double)n);
}

huddle_status hd_io_csv_write(huddle_context *context, const huddle_data *data, const char *path) {
    hd_output output;
    /* Only .tsv has tabs; .txt is written as CSV. */
    writing to = {&output, hd_has_extension(path, "tsv") ? '\t' : ','};
    to.status = hd_output_begin(path, false, &output);
    write_names(&to, data);
    for (int64_t i = 0; i < data->points.n && to.status == HUDDLE_OK; i++) {
        write_row(&to, data, i);
        report_progress(context, &to, i, data->points.n);
    }
    return hd_output_end(&output, to.status);
}

/* ---- new columns ---------------------------------------------------------------------------- */

/* An empty field would vanish between blanks. */
static void write_value(writing *to, const huddle_new_column *column, int64_t row) {
    char text[40] = "";
    if (column->integers != NULL)
        snprintf(text, sizeof text, "%d", column->integers[row]);
    else if (!isnan(column->reals[row])) {
        huddle_format_real(column->reals[row], text, sizeof text);
        char *point = strchr(text, '.');
        if (point != NULL)
            *point = to->decimal;
    } else if (to->separator == ' ')
        snprintf(text, sizeof text, "NA");
    if (text[0] != '\0')
        put_quoted(to, text); /* a comma may be the separator too */
}

/* `joined`: the first value follows others in its line. */
static void write_values(writing *to, int64_t row, bool joined) {
    for (int64_t k = 0; k < to->count; k++) {
        if (k > 0 || joined)
            put_separator(to);
        write_value(to, &to->items[k], row);
    }
}

huddle_status huddle_columns_write(const char *path, int64_t n, int64_t n_columns,
                                   const huddle_new_column *columns) {
    hd_output output;
    writing to = {&output, ',', '.', {0}, columns, n_columns, n};
    to.status = hd_output_begin(path, false, &output);
    for (int64_t k = 0; k < n_columns; k++) {
        put_quoted(&to, columns[k].name);
        put(&to, k + 1 < n_columns ? "," : "\n");
    }
    for (int64_t i = 0; i < n && to.status == HUDDLE_OK; i++) {
        write_values(&to, i, false);
        put(&to, "\n");
    }
    return hd_output_end(&output, to.status);
}

/* ---- a table that exists -------------------------------------------------------------------- */

/* The end of a record's text, before its line end. */
static const char *text_end(const char *begin, const char *end) {
    if (end > begin && end[-1] == '\n')
        end--;
    if (end > begin && end[-1] == '\r')
        end--;
    return end;
}

static bool is_taken(const hd_io_layout *layout, const char *name) {
    for (int64_t c = 0; c < layout->columns; c++)
        if (strcmp(layout->names[c], name) == 0)
            return true;
    return false;
}

/* The name, followed by a number if the table has it already. */
static void write_name(writing *to, const hd_io_layout *layout, const char *wanted) {
    char name[256];
    snprintf(name, sizeof name, "%.200s", wanted);
    for (int32_t k = 1; is_taken(layout, name); k++)
        snprintf(name, sizeof name, "%.200s.%d", wanted, k);
    put_quoted(to, name);
}

/* A line of units has none for the new columns. */
static void write_units(writing *to, const hd_io_layout *layout) {
    const char *end =
        hd_io_record_end(layout->units, layout->begin, layout->separator, layout->quoted);
    const char *stop = text_end(layout->units, end);
    put_text(to, layout->units, stop);
    for (int64_t k = 0; k < to->count; k++) {
        put_separator(to);
        if (to->separator == ' ')
            put(to, "NA");
    }
    put_text(to, stop, layout->begin);
}

/* A header that ends with a separator has an empty name beyond the last column (keep_names() in
 * csv_header.c), which the first new name takes. Where only the rows end with one, the header gets
 * the name that it lacks. */
static huddle_status write_header(writing *to, const hd_io_layout *layout) {
    hd_io_fields fields = {0};
    const char *end =
        hd_io_record_end(layout->top, layout->begin, layout->separator, layout->quoted);
    const char *stop = text_end(layout->top, end), *p = layout->top;
    huddle_status status = hd_io_fields_split(&p, end, layout->separator, &fields);
    bool open = fields.count == layout->columns + 1;
    put_text(to, layout->top, stop);
    if (fields.count == layout->columns - 1 && !layout->row_names)
        put_separator(to);
    for (int64_t k = 0; k < to->count; k++) {
        if (k > 0 || !open)
            put_separator(to);
        write_name(to, layout, to->items[k].name);
    }
    /* The line end, and blank lines below it. */
    put_text(to, stop, layout->units != NULL ? layout->units : layout->begin);
    if (layout->units != NULL)
        write_units(to, layout);
    huddle_free(fields.items);
    return status;
}

/* The decimal sign of the first column that needs one; all records are examined, since the first
 * may be whole. */
static huddle_status find_decimal(hd_io_layout *layout, writing *to) {
    huddle_status status = HUDDLE_OK;
    bool reals = false;
    for (int64_t k = 0; k < to->count; k++)
        reals = reals || to->items[k].reals != NULL;
    if (reals)
        status = hd_io_layout_examine(layout, INT64_MAX);
    for (int64_t c = layout->columns - 1; reals && c >= 0; c--)
        if (layout->kinds[c].kind == HD_IO_NUMBERS && !layout->kinds[c].whole)
            to->decimal = layout->kinds[c].decimal;
    return status;
}

/* Blank lines are rows only in a table of one column, as for the reader (open_table() in csv.c). */
static huddle_status write_rows(huddle_context *context, writing *to, const hd_io_layout *layout) {
    hd_io_records records = {layout->separator, layout->quoted, layout->columns == 1, 0};
    int64_t row = 0;
    for (const char *p = layout->begin, *next; p < layout->end && to->status == HUDDLE_OK;
         p = next) {
        next = hd_io_record_end(p, layout->end, layout->separator, layout->quoted);
        bool is_row = hd_io_is_row(p, next, &records);
        const char *stop = is_row ? text_end(p, next) : next;
        if (is_row && row++ >= to->n)
            continue; /* counted for the message below */
        put_text(to, p, stop);
        if (is_row)
            write_values(to, row - 1, true);
        put_text(to, stop, next);
        report_progress(context, to, row, to->n);
    }
    if (to->status == HUDDLE_OK && row != to->n)
        return hd_fail(HUDDLE_INVALID, "%lld rows, but %lld values for the new column",
                       (long long)row, (long long)to->n);
    return to->status;
}

static huddle_status append_columns(huddle_context *context, const hd_file *file,
                                    const huddle_read_options *options, writing *to) {
    huddle_status status = HUDDLE_OK;
    hd_io_layout layout = {0};
    TRY(hd_io_layout_find(context, file, options, &layout));
    to->separator = layout.separator;
    TRY(find_decimal(&layout, to));
    TRY(hd_output_begin(to->output->path, false, to->output));
    if (to->encoding.mark)
        put(to, "\xEF\xBB\xBF"); /* U+FEFF */
    put_text(to, file->text, layout.top);
    if (layout.names != NULL)
        TRY(write_header(to, &layout));
    TRY(write_rows(context, to, &layout));
    put_text(to, layout.end, file->text + file->size);
    status = to->status;
done:
    hd_io_layout_free(&layout);
    return status;
}

huddle_status huddle_columns_append(huddle_context *context, const char *source, int64_t n,
                                    int64_t n_columns, const huddle_new_column *columns,
                                    const huddle_read_options *options, const char *path) {
    huddle_status status = HUDDLE_OK;
    hd_output output = {.path = path, .descriptor = -1, .place = -1};
    writing to = {&output, ',', '.', {0}, columns, n_columns, n};
    hd_file file = {.descriptor = -1};
    const hd_io_format *format = NULL;
    status = hd_io_file_open(context, source, &file, &to.encoding, &format);
    TRY(hd_io_locate_failure(source, status));
    if (strcmp(format->about->name, "csv") != 0) /* an ARFF file is a table, but no CSV */
        FAIL(HUDDLE_UNSUPPORTED, "%s: a column can be added to a table (CSV, TSV) only", source);
    TRY(hd_io_recode_returns(&file, &to.encoding));
    status = append_columns(context, &file, options, &to);
    /* The messages of the output contain its own name. */
    if (status != HUDDLE_IO)
        status = hd_io_locate_failure(source, status);
done:
    hd_file_close(&file);
    return hd_output_end(&output, status);
}
