/* LIBSVM: one line "label index:value index:value ..." per sample, indices from 1 and ascending.
 * Files that begin at 0, lines without labels, qid and comments after # are understood too. */
#include "base/check.h"
#include "base/parallel.h"
#include "io/formats.h"
#include "io/lines.h"
#include "io/number.h"

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
    int64_t *lowest, *highest; /* index, a piece each */
    int64_t first_index;
} parsing;

/* At most 60 bytes of a damaged file are shown. */
static huddle_status bad_pair(const char *p, const char *end, int64_t line) {
    return hd_fail(HUDDLE_FORMAT, "line %lld: '%.*s' is not index:value", (long long)line,
                   (int)(end - p < 60 ? end - p : 60), p);
}

/* One line, in either pass; end[-1] is its line feed. Indices must ascend, which also excludes
 * duplicates, and fit int32. An index of more than ten digits is refused before its value,
 * which may have overflowed, is used. */
static huddle_status read_line(const parsing *s, const char *p, const char *end, int64_t line,
                               int64_t row, int64_t piece) {
    int64_t previous = -1, at = s->counting ? 0 : s->x->offsets[row];
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
            return bad_pair(p, stop, line);
        if ((int64_t)index <= previous || index > INT32_MAX)
            return hd_fail(HUDDLE_FORMAT, "line %lld: index %llu is out of order or too large",
                           (long long)line, (unsigned long long)index);
        previous = (int64_t)index;
        if (s->counting) {
            s->lowest[piece] = previous < s->lowest[piece] ? previous : s->lowest[piece];
            s->highest[piece] = previous > s->highest[piece] ? previous : s->highest[piece];
        } else {
            s->x->columns[at] = (int32_t)(previous - s->first_index);
            s->x->values[at] = value;
        }
        at++;
    }
    if (s->counting)
        s->x->offsets[row + 1] = at; /* how many; where they end comes later */
    return HUDDLE_OK;
}

/* Each piece keeps its own lowest and highest index, so that the threads share nothing.
 * Counting and filling walk the same lines in the same order. */
static huddle_status read_piece(void *argument, hd_chunk chunk) {
    const parsing *s = argument;
    huddle_status status = HUDDLE_OK;
    const hd_io_piece *piece = &s->pieces->items[chunk.begin];
    int64_t row = piece->first_row, line = piece->first_line;
    int64_t rows = row + piece->rows;
    /* Both passes must agree with hd_io_pieces_cut() on which lines are rows; the bound keeps
     * a disagreement from writing beyond the arrays. */
    for (const char *p = piece->begin; p < piece->end; line++) {
        const char *next = hd_io_record_end(p, piece->end, ' ', false);
        if (hd_io_is_row(p, next, &records) && row < rows) {
            TRY(read_line(s, p, next, line, row, chunk.begin));
            row++;
        }
        p = next;
    }
done:
    return status;
}

/* The pieces must outlive this function: a label in the last line points into their copy of
 * it. */
typedef struct state {
    hd_io_pieces pieces;
} state;

/* The labels' texts are freed with their variable. */
static void close_state(hd_io_container *container) {
    state *s = container->state;
    if (s == NULL)
        return;
    hd_io_pieces_free(&s->pieces);
    huddle_free(s);
}

/* Two passes over the text: the first counts the entries of every row and finds the range of
 * indices, then the matrix is allocated exactly, and the second fills it. An index 0 anywhere
 * means that the file counts from 0. Only the second pass reports progress. */
static huddle_status read_entries(huddle_context *context, parsing *s, huddle_csr *x) {
    huddle_status status = HUDDLE_OK;
    int64_t rows = s->pieces->rows, low = INT64_MAX, high = -1;
    ALLOC_ZERO(x->offsets, rows + 1);
    x->rows = rows;
    s->x = x;
    s->counting = true;
    TRY(hd_parallel(context, NULL, s->pieces->count, 1, read_piece, s));
    /* An index 0 in any piece decides for all. */
    for (int64_t k = 0; k < s->pieces->count; k++) {
        low = s->lowest[k] < low ? s->lowest[k] : low;
        high = s->highest[k] > high ? s->highest[k] : high;
    }
    for (int64_t i = 0; i < rows; i++)
        x->offsets[i + 1] += x->offsets[i];
    if (high < 0)
        FAIL(HUDDLE_FORMAT, "no line contains an index:value");
    s->first_index = low == 0 ? 0 : 1;
    s->counting = false;
    x->cols = high - s->first_index + 1;
    ALLOC(x->columns, x->offsets[rows]);
    ALLOC(x->values, x->offsets[rows]);
    TRY(hd_parallel(context, "read", s->pieces->count, 1, read_piece, s));
done:
    return status;
}

/* Labels are kept if every line has one; a file without any is valid too. Labels on some lines
 * only are most likely damage, and are refused. */
static huddle_status keep_labels(hd_io_container *container, hd_io_span **labels, int64_t rows) {
    int64_t with = 0, without = -1;
    for (int64_t i = 0; i < rows; i++) {
        with += (*labels)[i].length > 0;
        without = (*labels)[i].length == 0 && without < 0 ? i : without;
    }
    if (with == 0)
        return HUDDLE_OK;
    if (with < rows)
        return hd_fail(HUDDLE_FORMAT, "row %lld has no label, but others have",
                       (long long)without + 1);
    hd_io_variable *y = hd_io_container_add(container, "y", 1);
    if (y == NULL)
        return hd_fail(HUDDLE_NO_MEMORY, "no memory for a name");
    y->kind = HD_IO_TEXTS;
    y->array.rank = 1;
    y->array.dims[0] = rows;
    y->texts.n = rows;
    y->texts.texts = *labels;
    *labels = NULL;
    return HUDDLE_OK;
}

/* The container owns everything from the start, so that closing it cleans up after a failure
 * at any point. */
huddle_status hd_io_libsvm_open(hd_io_request *request, const hd_file *file,
                                hd_io_container *container) {
    huddle_status status = HUDDLE_OK;
    state *own = NULL;
    parsing s = {0};
    ALLOC_ZERO(own, 1);
    container->state = own;
    container->close = close_state;
    TRY(hd_io_pieces_cut(request->context, file->text, file->text + file->size, 1, &records,
                         &own->pieces));
    if (own->pieces.rows == 0)
        FAIL(HUDDLE_FORMAT, "the file contains only blank lines");
    s.pieces = &own->pieces;
    ALLOC(s.labels, own->pieces.rows);
    ALLOC(s.lowest, own->pieces.count);
    ALLOC(s.highest, own->pieces.count);
    /* Pieces without entries leave these as they are. */
    for (int64_t k = 0; k < own->pieces.count; k++) {
        s.lowest[k] = INT64_MAX;
        s.highest[k] = -1;
    }
    hd_io_variable *x = hd_io_container_add(container, "X", 1);
    if (x == NULL)
        FAIL(HUDDLE_NO_MEMORY, "no memory for a name");
    x->kind = HD_IO_SPARSE;
    TRY(read_entries(request->context, &s, &x->sparse));
    x->array.rank = 2;
    x->array.dims[0] = x->sparse.rows;
    x->array.dims[1] = x->sparse.cols;
    TRY(keep_labels(container, &s.labels, own->pieces.rows));
done:
    FREE(s.labels, s.lowest, s.highest);
    return status;
}
