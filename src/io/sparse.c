#include "io/sparse.h"

#include "base/check.h"
#include "io/array.h"
#include "matrix/points.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Memory is proportional to the dimensions of a matrix, which a damaged header can claim at no
 * cost. Beyond LARGE rows or columns there must be an entry for every EMPTY_FOR_EACH of them. */
enum { LARGE = 1 << 21, EMPTY_FOR_EACH = 64 };

static huddle_status check_sizes(int64_t rows, int64_t cols, int64_t count) {
    int64_t max_size = LARGE + EMPTY_FOR_EACH * count;
    if (rows <= max_size && cols <= max_size)
        return HUDDLE_OK;
    return hd_fail(HUDDLE_FORMAT, "a matrix of %lld x %lld with only %lld entries is implausible",
                   (long long)rows, (long long)cols, (long long)count);
}

/* Adds up entries of one row in the same column, as SciPy does; columns ascend. In place:
 * entries only move to the front. */
static void merge_repeated(huddle_csr *matrix) {
    int64_t kept = 0, begin = 0;
    for (int64_t i = 0; i < matrix->rows; i++) {
        int64_t end = matrix->offsets[i + 1], row = kept;
        for (int64_t e = begin; e < end; e++) {
            if (kept > row && matrix->columns[kept - 1] == matrix->columns[e]) {
                matrix->values[kept - 1] += matrix->values[e];
                continue;
            }
            matrix->columns[kept] = matrix->columns[e];
            matrix->values[kept++] = matrix->values[e];
        }
        begin = end;
        matrix->offsets[i + 1] = kept;
    }
}

/* Two stable passes of counting sort: by column, which builds the transpose, then by row,
 * which is its transpose again. Linear in the number of entries, and the order of duplicates,
 * which decides how their sum is rounded, is that of the file. */
huddle_status hd_io_csr_from_entries(int64_t n_rows, int64_t n_columns, int64_t count,
                                     const int64_t *rows, const int64_t *columns,
                                     const double *values, huddle_csr *matrix) {
    huddle_status status = HUDDLE_OK;
    huddle_csr across = {0};
    memset(matrix, 0, sizeof *matrix);
    TRY(check_sizes(n_rows, n_columns, count));
    TRY(huddle_csr_new(n_columns, n_rows, count, &across));
    for (int64_t e = 0; e < count; e++) {
        if (rows[e] < 0 || rows[e] >= n_rows || columns[e] < 0 || columns[e] >= n_columns)
            FAIL(HUDDLE_FORMAT, "entry %lld at (%lld, %lld) is outside the matrix of %lld x %lld",
                 (long long)e + 1, (long long)rows[e] + 1, (long long)columns[e] + 1,
                 (long long)n_rows, (long long)n_columns);
        across.offsets[columns[e] + 1]++;
    }
    for (int64_t j = 0; j < n_columns; j++)
        across.offsets[j + 1] += across.offsets[j];
    for (int64_t e = 0; e < count; e++) {
        int64_t place = across.offsets[columns[e]]++;
        across.columns[place] = (int32_t)rows[e];
        across.values[place] = values[e];
    }
    /* Filling has advanced each offset to the beginning of the next column, so all of them are
     * moved up by one. */
    memmove(across.offsets + 1, across.offsets, (size_t)n_columns * sizeof *across.offsets);
    across.offsets[0] = 0;
    TRY(huddle_csr_transpose(&across, matrix));
    merge_repeated(matrix);
done:
    huddle_csr_free(&across);
    if (status != HUDDLE_OK)
        huddle_csr_free(matrix);
    return status;
}

/* Monotone offsets that begin at 0 and end at the number of entries keep every later index in
 * range. */
static huddle_status check_offsets(const hd_io_lines *lines, int64_t count) {
    if (lines->offsets[0] != 0 || lines->offsets[count] != lines->count)
        return hd_fail(HUDDLE_FORMAT,
                       "the offsets of the sparse matrix run from %lld to %lld, not 0 to %lld",
                       (long long)lines->offsets[0], (long long)lines->offsets[count],
                       (long long)lines->count);
    for (int64_t k = 0; k < count; k++)
        if (lines->offsets[k + 1] < lines->offsets[k])
            return hd_fail(HUDDLE_FORMAT, "the offsets of the sparse matrix go backwards at %lld",
                           (long long)k + 1);
    return HUDDLE_OK;
}

/* An entry of a row that is being sorted. */
typedef struct entry {
    int64_t column;
    int64_t order; /* equal columns stay in order, so that sums do not depend on the sort */
    double value;
} entry;

static int by_column(const void *a, const void *b) {
    const entry *x = a, *y = b;
    if (x->column != y->column)
        return x->column < y->column ? -1 : 1;
    return (x->order > y->order) - (x->order < y->order);
}

/* Rows are nearly always sorted already; only the others are sorted. Ranges were checked, so
 * that positions fit int32. */
static void copy_row(const hd_io_lines *lines, int64_t row, entry *room, huddle_csr *matrix) {
    int64_t begin = lines->offsets[row], length = lines->offsets[row + 1] - begin;
    bool sorted = true;
    for (int64_t k = 0; k < length; k++) {
        room[k] = (entry){lines->positions[begin + k], k, lines->values[begin + k]};
        sorted = sorted && (k == 0 || room[k - 1].column <= room[k].column);
    }
    if (!sorted)
        qsort(room, (size_t)length, sizeof *room, by_column);
    for (int64_t k = 0; k < length; k++) {
        matrix->columns[begin + k] = (int32_t)room[k].column;
        matrix->values[begin + k] = room[k].value;
    }
}

/* All positions are checked before anything is allocated for the matrix. */
static huddle_status copy_rows(const hd_io_lines *lines, huddle_csr *matrix) {
    huddle_status status = HUDDLE_OK;
    entry *room = NULL;
    int64_t longest = 0;
    for (int64_t i = 0; i < lines->rows; i++) {
        int64_t length = lines->offsets[i + 1] - lines->offsets[i];
        longest = length > longest ? length : longest;
    }
    for (int64_t e = 0; e < lines->count; e++)
        if (lines->positions[e] < 0 || lines->positions[e] >= lines->cols)
            FAIL(HUDDLE_FORMAT, "column %lld is outside the matrix of %lld x %lld",
                 (long long)lines->positions[e] + 1, (long long)lines->rows,
                 (long long)lines->cols);
    TRY(huddle_csr_new(lines->rows, lines->cols, lines->count, matrix));
    ALLOC(room, longest);
    memcpy(matrix->offsets, lines->offsets, (size_t)(lines->rows + 1) * sizeof *matrix->offsets);
    for (int64_t i = 0; i < lines->rows; i++)
        copy_row(lines, i, room, matrix);
    merge_repeated(matrix);
done:
    huddle_free(room);
    return status;
}

/* Offsets are expanded into the column of each entry, so that the same counting sort serves
 * both layouts. */
static huddle_status turn_columns(const hd_io_lines *lines, huddle_csr *matrix) {
    huddle_status status = HUDDLE_OK;
    int64_t *columns = NULL;
    ALLOC(columns, lines->count);
    for (int64_t j = 0; j < lines->cols; j++)
        for (int64_t e = lines->offsets[j]; e < lines->offsets[j + 1]; e++)
            columns[e] = j;
    TRY(hd_io_csr_from_entries(lines->rows, lines->cols, lines->count, lines->positions, columns,
                               lines->values, matrix));
done:
    huddle_free(columns);
    return status;
}

huddle_status hd_io_csr_from_lines(const hd_io_lines *lines, huddle_csr *matrix) {
    huddle_status status = check_offsets(lines, lines->by_columns ? lines->cols : lines->rows);
    memset(matrix, 0, sizeof *matrix);
    if (status == HUDDLE_OK)
        status = (lines->by_columns ? turn_columns : copy_rows)(lines, matrix);
    if (status != HUDDLE_OK)
        huddle_csr_free(matrix);
    return status;
}

/* Transposing allocates an offset per column, so its sizes are checked like those of entries. */
huddle_status hd_io_points_from_csr(const huddle_csr *matrix, bool in_columns,
                                    huddle_points *points, double **exact) {
    huddle_status status = HUDDLE_OK;
    huddle_csr turned = {0};
    double limit = hd_io_exact_limit(exact != NULL);
    memset(points, 0, sizeof *points);
    if (in_columns) {
        TRY(check_sizes(matrix->rows, matrix->cols, matrix->offsets[matrix->rows]));
        TRY(huddle_csr_transpose(matrix, &turned));
        matrix = &turned;
    }
    if (matrix->rows < 1 || matrix->cols < 1)
        FAIL(HUDDLE_FORMAT, "there are no points in it: the matrix is %lld x %lld",
             (long long)matrix->rows, (long long)matrix->cols);
    int64_t count = matrix->offsets[matrix->rows];
    TRY(huddle_points_new_sparse(matrix->rows, matrix->cols, count, points));
    memcpy(points->offsets, matrix->offsets, (size_t)(matrix->rows + 1) * sizeof *points->offsets);
    if (count > 0)
        memcpy(points->columns, matrix->columns, (size_t)count * sizeof *points->columns);
    for (int64_t i = 0; i < matrix->rows; i++)
        for (int64_t e = matrix->offsets[i]; e < matrix->offsets[i + 1]; e++) {
            if (!(fabs(matrix->values[e]) <= limit)) /* also NaN */
                TRY(hd_refuse_value(matrix->values[e], i, matrix->columns[e]));
            points->values[e] = (float)hd_io_exact_clamp(matrix->values[e]);
        }
    if (exact != NULL)
        TRY(hd_io_exact_append(exact, 0, matrix->values, count));
done:
    huddle_csr_free(&turned);
    if (status != HUDDLE_OK)
        huddle_points_free(points);
    return status;
}

/* The offsets of the second part are moved by the entries of the first. */
huddle_status hd_io_points_append(huddle_points *points, const huddle_points *more) {
    huddle_status status = HUDDLE_OK;
    huddle_points both = {0};
    /* An empty set has no offsets. */
    int64_t n = points->n, old = n > 0 ? points->offsets[n] : 0, added = more->offsets[more->n];
    TRY(huddle_points_new_sparse(n + more->n, more->d, old + added, &both));
    /* memcpy() must not be called with NULL, even for no bytes. */
    if (old > 0) {
        memcpy(both.columns, points->columns, (size_t)old * sizeof *both.columns);
        memcpy(both.values, points->values, (size_t)old * sizeof *both.values);
    }
    if (n > 0)
        memcpy(both.offsets, points->offsets, (size_t)n * sizeof *both.offsets);
    if (added > 0) {
        memcpy(both.columns + old, more->columns, (size_t)added * sizeof *both.columns);
        memcpy(both.values + old, more->values, (size_t)added * sizeof *both.values);
    }
    for (int64_t i = 0; i <= more->n; i++)
        both.offsets[n + i] = old + more->offsets[i];
    huddle_points_free(points);
    *points = both;
done:
    return status;
}
