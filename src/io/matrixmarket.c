/* MatrixMarket: coordinate and array, real, integer and pattern, general, symmetric and
 * skew-symmetric. A banner line, comments after %, a line with the sizes, then one entry per
 * line. */
#include "base/check.h"
#include "base/context.h"
#include "base/text.h"
#include "io/formats.h"
#include "io/lines.h"
#include "io/number.h"
#include "io/sparse.h"

#include <stdio.h>
#include <string.h>

bool hd_io_matrixmarket_is(const hd_file *file) {
    return file->size >= 14 && memcmp(file->text, "%%MatrixMarket", 14) == 0;
}

/* What the banner and the size line contain, and the position of the reader. */
typedef struct market {
    bool coordinate, pattern, symmetric, skew;
    int64_t rows, cols, entries;
    const char *p, *end; /* what is still to be read */
    int64_t line;
} market;

/* "%%MatrixMarket matrix LAYOUT FIELD SYMMETRY", in any case. The fields are cut to the size
 * of their buffers; a word that long is not a known one. Complex and Hermitian matrices are
 * refused: Huddle has no use for them. */
static huddle_status parse_banner(const hd_file *file, market *m) {
    char line[128] = "", object[32], layout[32], field[32], symmetry[32];
    int64_t length = file->size < 127 ? file->size : 127;
    memcpy(line, file->text, (size_t)length);
    if (sscanf(line, "%%%%MatrixMarket %31s %31s %31s %31s", object, layout, field, symmetry) != 4)
        return hd_fail(HUDDLE_FORMAT, "line 1: the MatrixMarket banner is cut short");
    m->coordinate = hd_same_word(layout, "coordinate");
    m->pattern = hd_same_word(field, "pattern");
    m->skew = hd_same_word(symmetry, "skew-symmetric");
    m->symmetric = m->skew || hd_same_word(symmetry, "symmetric");
    bool known = hd_same_word(object, "matrix") &&
                 (m->coordinate || hd_same_word(layout, "array")) &&
                 (hd_same_word(field, "real") || hd_same_word(field, "double") ||
                  hd_same_word(field, "integer") || (m->pattern && m->coordinate)) &&
                 (m->symmetric || hd_same_word(symmetry, "general"));
    if (!known)
        return hd_fail(HUDDLE_UNSUPPORTED, "a MatrixMarket %s %s %s %s is not supported", object,
                       layout, field, symmetry);
    return HUDDLE_OK;
}

/* Up to max_count numbers of the next line that is neither blank nor a comment; -1 at the end,
 * and max_count + 1 for a line with more numbers or with something else. Every line ends with a
 * line feed, so that the scan needs no bound. */
static int next_line(market *m, double *numbers, int max_count) {
    while (m->p < m->end) {
        const char *p = m->p, *stop = hd_io_record_end(p, m->end, ' ', false);
        m->p = stop;
        m->line++;
        if (*p == '%' || hd_io_is_blank_line(p, stop))
            continue;
        int count = 0;
        for (;;) {
            while (*p == ' ' || *p == '\t' || *p == '\r')
                p++;
            if (*p == '\n' || count == max_count)
                return *p == '\n' ? count : max_count + 1;
            const char *next = hd_io_number(p, &numbers[count]);
            if (next == p)
                return max_count + 1;
            count++;
            p = next;
        }
    }
    return -1;
}

/* Numbers are read as doubles, so that a size or index must be checked to be whole. NaN fails
 * too. */
static bool is_size(double v) {
    return v >= 0 && v <= INT32_MAX && v == (double)(int64_t)v;
}

/* The claimed number of entries is compared with the bytes that follow before room for them is
 * allocated: "1 1 1e15" is 8 bytes. A symmetric matrix is stored as its lower triangle,
 * without the diagonal if skew. */
static huddle_status parse_sizes(market *m) {
    double sizes[3] = {0};
    int n_expected = m->coordinate ? 3 : 2;
    if (next_line(m, sizes, n_expected) != n_expected || !is_size(sizes[0]) || !is_size(sizes[1]) ||
        !(sizes[2] >= 0 && sizes[2] <= 0x1p53))
        return hd_fail(HUDDLE_FORMAT, "line %lld: the sizes of the matrix are damaged",
                       (long long)m->line);
    m->rows = (int64_t)sizes[0];
    m->cols = (int64_t)sizes[1];
    m->entries = m->coordinate ? (int64_t)sizes[2] : m->rows * m->cols;
    if (m->symmetric && m->rows != m->cols)
        return hd_fail(HUDDLE_FORMAT, "the matrix is %lld x %lld, which cannot be symmetric",
                       (long long)m->rows, (long long)m->cols);
    if (!m->coordinate && m->symmetric)
        m->entries = m->rows * (m->rows + (m->skew ? -1 : 1)) / 2;
    /* An entry takes two bytes at least, a digit and a line feed; with indices four. */
    if (m->entries > (m->end - m->p) / (m->coordinate ? 4 : 2) + 1)
        return hd_fail(HUDDLE_FORMAT, "%lld entries are claimed, but only %lld bytes follow",
                       (long long)m->entries, (long long)(m->end - m->p));
    return HUDDLE_OK;
}

/* got is -1 at the end of the file. */
static huddle_status bad_line(const market *m, int got) {
    if (got < 0)
        return hd_fail(HUDDLE_FORMAT, "the file ends before all %lld entries",
                       (long long)m->entries);
    return hd_fail(HUDDLE_FORMAT, "line %lld is not an entry", (long long)m->line);
}

/* Indices count from 1. Of a symmetric matrix the other half is added here, with the opposite
 * sign if skew. A pattern has no values; its entries are 1. */
static huddle_status read_coordinates(market *m, hd_io_container *container) {
    huddle_status status = HUDDLE_OK;
    int64_t *rows = NULL, *columns = NULL, capacity = m->symmetric ? 2 * m->entries : m->entries;
    double *values = NULL;
    int64_t count = 0;
    huddle_csr matrix = {0};
    int n_expected = m->pattern ? 2 : 3;
    ALLOC(rows, capacity);
    ALLOC(columns, capacity);
    ALLOC(values, capacity);
    for (int64_t e = 0; e < m->entries; e++) {
        /* The third number stays 1 for a pattern. */
        double numbers[3] = {0, 0, 1};
        int got = next_line(m, numbers, n_expected);
        if (got != n_expected || !is_size(numbers[0]) || !is_size(numbers[1]))
            TRY(bad_line(m, got));
        rows[count] = (int64_t)numbers[0] - 1;
        columns[count] = (int64_t)numbers[1] - 1;
        values[count++] = numbers[2];
        if (!m->symmetric || numbers[0] == numbers[1])
            continue;
        rows[count] = columns[count - 1];
        columns[count] = rows[count - 1];
        values[count++] = m->skew ? -numbers[2] : numbers[2];
    }
    TRY(hd_io_csr_from_entries(m->rows, m->cols, count, rows, columns, values, &matrix));
    TRY(hd_io_add_sparse(container, "matrix", &matrix));
done:
    FREE(rows, columns, values);
    huddle_csr_free(&matrix);
    return status;
}

/* Values are in column-major order; of a symmetric matrix only those from the diagonal on,
 * below it if skew. */
static huddle_status read_array(market *m, hd_io_container *container) {
    huddle_status status = HUDDLE_OK;
    hd_io_variable *variable;
    double *values = NULL;
    ALLOC_ZERO(values, m->rows * m->cols);
    for (int64_t j = 0; j < m->cols && m->rows > 0;
         j++) /* an empty matrix can claim any width, which would otherwise be looped over */
        for (int64_t i = !m->symmetric ? 0 : m->skew ? j + 1 : j; i < m->rows; i++) {
            double value = 0;
            int got = next_line(m, &value, 1);
            if (got != 1)
                TRY(bad_line(m, got));
            values[j * m->rows + i] = value;
            if (m->symmetric && i != j)
                values[i * m->rows + j] = m->skew ? -value : value;
        }
    TRY(hd_io_container_add(container, "matrix", 6, &variable));
    variable->kind = HD_IO_ARRAY;
    variable->array = (hd_io_array){.element = HD_IO_F8, .rank = 2, .dims = {m->rows, m->cols}};
    hd_io_array_pack(&variable->array, true);
    variable->owned = (char *)values;
    variable->array.bytes = variable->owned;
    values = NULL;
done:
    huddle_free(values);
    return status;
}

/* The parser is sequential: the format is rare and its files small compared with the others. */
huddle_status hd_io_matrixmarket_open(hd_io_request *request, const hd_file *file,
                                      hd_io_container *container) {
    huddle_status status = HUDDLE_OK;
    market m = {.p = file->text, .end = file->text + file->size};
    char *copy = NULL;
    TRY(hd_check_cancel(request->context));
    TRY(parse_banner(file, &m));
    if (file->text[file->size - 1] != '\n') { /* the last number needs a character after it */
        ALLOC(copy, file->size + 1);
        memcpy(copy, file->text, (size_t)file->size);
        copy[file->size] = '\n';
        m.p = copy;
        m.end = copy + file->size + 1;
    }
    TRY(parse_sizes(&m));
    TRY((m.coordinate ? read_coordinates : read_array)(&m, container));
done:
    huddle_free(copy);
    return status;
}
