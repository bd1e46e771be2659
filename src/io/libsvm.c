/* LIBSVM: one line "label index:value index:value ..." per sample, indices from 1 and ascending.
 * Files that begin at 0, lines without labels, qid and comments after # are understood too. */
#include "archive/output.h"
#include "base/check.h"
#include "base/context.h"
#include "base/parallel.h"
#include "io/formats.h"
#include "io/lines.h"
#include "io/number.h"

#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

/* Fields are separated by blanks, quotes have no meaning, blank lines are skipped, and #
 * begins a comment. */
static const hd_io_records records = {' ', false, false, '#'};

/* Tabs separate as blanks do. */
static const char *skip_blanks(const char *p, const char *end) {
    while (p < end && (*p == ' ' || *p == '\t'))
        p++;
    return p;
}

static const char *word_end(const char *p, const char *end) {
    while (p < end && *p != ' ' && *p != '\t' && *p != '\n' && *p != '\r' && *p != '#')
        p++;
    return p;
}

/* "12:0.5"; the text continues after `end`. A label such as 1 or -1 has no colon, so that a
 * line without a label is recognised by its first word. */
static bool is_pair(const char *p, const char *end) {
    const char *digits = p;
    while (p < end && hd_io_is_digit(*p))
        p++;
    return p > digits && end - p > 1 && *p == ':' &&
           (hd_io_is_digit(p[1]) || p[1] == '-' || p[1] == '+' || p[1] == '.');
}

/* The first line with something on it: a pair among its first words identifies the format. A
 * label may come before the pair, and SVMlight's "qid:" between them. A comma in the first
 * word means a CSV file whose text happens to contain a colon later. */
bool hd_io_libsvm_is(const hd_file *file) {
    const char *end = file->text + file->size, *p = hd_io_skip_comments(file->text, end);
    /* Label, query and first pair: three words at most. */
    for (int word = 0; word < 3; word++) {
        const char *stop = word_end(p, end);
        if (is_pair(p, stop))
            return true;
        bool query = stop - p > 4 && memcmp(p, "qid:", 4) == 0;
        if (word > 0 && !query)
            return false;
        if (word == 0 && memchr(p, ',', (size_t)(stop - p)) != NULL)
            return false;
        p = skip_blanks(stop, end);
    }
    return false;
}

/* The argument of read_piece(), for both passes. */
typedef struct parsing {
    const hd_io_pieces *pieces;
    hd_io_span *labels; /* rows */
    huddle_csr *x;      /* its offsets are counted first, then its entries filled */
    bool counting;
    atomic_bool from_zero; /* there is an index 0 */
} parsing;

/* One line, in either pass; end[-1] is its line feed. Indices must ascend, which also excludes
 * duplicates, and fit int32. An index of more than ten digits is refused before its value,
 * which may have overflowed, is used. At most 60 bytes of a damaged file are shown. */
static huddle_status read_line(parsing *s, const char *p, const char *end, int64_t line,
                               int64_t row) {
    int64_t previous = -1, at = s->counting ? 0 : s->x->offsets[row];
    const bool from_zero = atomic_load(&s->from_zero);
    p = skip_blanks(p, end);
    const char *stop = word_end(p, end);
    s->labels[row] = (hd_io_span){p, 0};
    /* A line may begin with a pair if it has no label. */
    if (!is_pair(p, stop)) {
        s->labels[row].length = stop - p;
        p = skip_blanks(stop, end);
    }
    for (; p < end && *p != '\n' && *p != '\r' && *p != '#'; p = skip_blanks(stop, end)) {
        uint64_t index = 0;
        double value = 0;
        stop = word_end(p, end);
        if (stop - p > 4 && memcmp(p, "qid:", 4) == 0)
            continue;
        const char *colon = is_pair(p, stop) ? hd_io_digits(p, &index) : stop;
        if (colon == stop || colon - p > 10 || hd_io_number(colon + 1, &value) != stop)
            return hd_fail(HUDDLE_FORMAT, "line %lld: '%.*s' is not index:value", (long long)line,
                           (int)(stop - p < 60 ? stop - p : 60), p);
        if ((int64_t)index <= previous || index > INT32_MAX)
            return hd_fail(HUDDLE_FORMAT, "line %lld: index %llu is out of order or too large",
                           (long long)line, (unsigned long long)index);
        previous = (int64_t)index;
        if (s->counting && index == 0)
            atomic_store(&s->from_zero, true);
        if (!s->counting) {
            s->x->columns[at] = (int32_t)(previous - !from_zero);
            s->x->values[at] = value;
        }
        at++;
    }
    if (s->counting)
        s->x->offsets[row + 1] = at; /* how many; where they end comes later */
    return HUDDLE_OK;
}

/* Counting and filling walk the same lines in the same order. */
static huddle_status read_piece(void *argument, hd_chunk chunk) {
    parsing *s = argument;
    huddle_status status = HUDDLE_OK;
    const hd_io_piece *piece = &s->pieces->items[chunk.begin];
    int64_t row = piece->first_row, line = piece->first_line;
    int64_t rows = row + piece->rows;
    /* Both passes must agree with hd_io_pieces_cut() on which lines are rows; the bound keeps
     * a disagreement from writing beyond the arrays. */
    for (const char *p = piece->begin, *next; p < piece->end && status == HUDDLE_OK; p = next) {
        next = hd_io_record_end(p, piece->end, ' ', false);
        if (hd_io_is_row(p, next, &records) && row < rows)
            status = read_line(s, p, next, line, row++);
        line++;
    }
    return status;
}

/* Two passes over the text: the first counts the entries of every row, then the matrix is allocated
 * exactly, and the second fills it. An index 0 anywhere means that the file counts from 0. Only the
 * second pass reports progress. The last column of a row is its highest. */
static huddle_status read_entries(huddle_context *context, parsing *s, huddle_csr *x) {
    huddle_status status = HUDDLE_OK;
    const int64_t rows = s->pieces->rows;
    ALLOC_ZERO(x->offsets, rows + 1);
    x->rows = rows;
    s->x = x;
    s->counting = true;
    TRY(hd_parallel(context, NULL, s->pieces->count, 1, read_piece, s));
    for (int64_t i = 0; i < rows; i++)
        x->offsets[i + 1] += x->offsets[i];
    if (x->offsets[rows] == 0)
        FAIL(HUDDLE_FORMAT, "no line contains an index:value");
    s->counting = false;
    ALLOC(x->columns, x->offsets[rows]);
    ALLOC(x->values, x->offsets[rows]);
    TRY(hd_parallel(context, "read", s->pieces->count, 1, read_piece, s));
    for (int64_t i = 1; i <= rows; i++)
        if (x->offsets[i] > 0 && x->columns[x->offsets[i] - 1] >= x->cols)
            x->cols = (int64_t)x->columns[x->offsets[i] - 1] + 1;
done:
    return status;
}

/* Labels are kept if every line has one; a file without any is valid too. Labels on some lines
 * only are most likely damage, and are refused. */
static huddle_status keep_labels(hd_io_container *container, hd_io_labels *labels) {
    int64_t with = 0, without = -1;
    for (int64_t i = 0; i < labels->n; i++) {
        with += labels->texts[i].length > 0;
        without = labels->texts[i].length == 0 && without < 0 ? i : without;
    }
    if (with > 0 && with < labels->n)
        return hd_fail(HUDDLE_FORMAT, "row %lld has no label, but others have",
                       (long long)without + 1);
    return with > 0 ? hd_io_add_texts(container, "y", labels) : HUDDLE_OK;
}

huddle_status hd_io_libsvm_open(hd_io_request *request, const hd_file *file,
                                hd_io_container *container) {
    huddle_status status = HUDDLE_OK;
    hd_io_pieces pieces = {0};
    hd_io_labels y = {0};
    huddle_csr x = {0};
    parsing s = {.pieces = &pieces};
    TRY(hd_io_pieces_cut(request->context, file->text, file->text + file->size, 1, records,
                         &pieces));
    if (pieces.rows == 0)
        FAIL(HUDDLE_FORMAT, "the file contains only blank lines");
    ALLOC(y.texts, pieces.rows);
    y.n = pieces.rows;
    y.arena = pieces.tail; /* a label in the last line points into this copy of it */
    pieces.tail = NULL;
    s.labels = y.texts;
    TRY(read_entries(request->context, &s, &x));
    TRY(hd_io_add_sparse(container, "X", &x));
    TRY(keep_labels(container, &y));
done:
    hd_io_pieces_free(&pieces);
    huddle_csr_free(&x);
    hd_io_labels_free(&y);
    return status;
}

/* ---- writing -------------------------------------------------------------------------------- */

/* " 12:0.5", indices from 1 */
static huddle_status write_pair(hd_output *output, int64_t column, double value, bool wide) {
    char text[64];
    int length = snprintf(text, sizeof text, " %lld:", (long long)column + 1);
    length += hd_io_number_write(value, wide, text + length);
    return hd_output_write(output, text, length);
}

/* Zeros are left out. The first line contains the last feature even if it is zero: readers
 * derive the number of features from the largest index. */
static huddle_status write_row(hd_output *output, const huddle_data *data, int64_t i) {
    huddle_status status = HUDDLE_OK;
    const huddle_points *x = &data->points;
    int64_t begin = x->offsets != NULL ? x->offsets[i] : 0;
    int64_t end = x->offsets != NULL ? x->offsets[i + 1] : x->d, last = -1;
    for (int64_t e = begin; e < end; e++) {
        int64_t column = x->offsets != NULL ? x->columns[e] : e;
        double value = hd_io_value(data, x->offsets != NULL ? e : i * x->stride + e, column);
        /* A value that is zero only after its shift is added is left out, too. */
        if (value == 0)
            continue;
        TRY(write_pair(output, column, value, hd_io_writes_doubles(data)));
        last = column;
    }
    if (i == 0 && last < x->d - 1)
        TRY(write_pair(output, x->d - 1, 0, false));
    TRY(hd_output_write(output, "\n", 1));
done:
    return status;
}

/* LIBSVM demands a number before every line: text labels are written as class numbers with a
 * warning, and data without labels as 0. */
huddle_status hd_io_libsvm_write(huddle_context *context, const huddle_data *data,
                                 const char *path) {
    huddle_status status = HUDDLE_OK;
    hd_output output;
    int64_t *numbers = NULL;
    TRY(hd_output_begin(path, false, &output));
    TRY(hd_io_label_numbers(data, &numbers));
    if (data->labels != NULL && numbers == NULL)
        hd_warn(context, HUDDLE_WARNING_OUTPUT,
                "%s: labels that are strings are written as 0 .. %d", path, data->n_classes - 1);
    for (int64_t i = 0; i < data->points.n; i++) {
        char label[24];
        int64_t number = numbers != NULL ? numbers[i] : data->labels != NULL ? data->labels[i] : 0;
        TRY(hd_output_write(&output, label,
                            snprintf(label, sizeof label, "%lld", (long long)number)));
        TRY(write_row(&output, data, i));
        if (i % 256 == 0)
            TRY(hd_progress(context, "write", (double)i, (double)data->points.n));
    }
done:
    huddle_free(numbers);
    return hd_output_end(&output, status);
}
