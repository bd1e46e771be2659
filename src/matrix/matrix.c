/* The containers: allocation, copies, the transpose. A container whose arrays are in the memory of
 * an engine is fetched before it is read (resident.h). */
#include "huddle/matrix.h"

#include "base/check.h"
#include "matrix/points.h"
#include "matrix/resident.h"

#include <string.h>

/* Bounds shared by all containers: columns and vertex numbers are 32-bit. Rows times columns times
 * 16 bytes must not overflow, so that all later products of sizes are safe. */
static huddle_status check_sizes(int64_t rows, int64_t cols, int64_t nonzeros) {
    if (rows < 0 || cols < 0 || cols > INT32_MAX)
        return hd_fail(HUDDLE_INVALID, "a matrix of %lld x %lld is invalid", (long long)rows,
                       (long long)cols);
    if (cols > 0 && rows > INT64_MAX / 16 / cols)
        return hd_fail(HUDDLE_NO_MEMORY, "a matrix of %lld x %lld does not fit in memory",
                       (long long)rows, (long long)cols);
    if (nonzeros < 0)
        return hd_fail(HUDDLE_INVALID, "invalid number of non-zeros: %lld", (long long)nonzeros);
    return HUDDLE_OK;
}

/* Values are zeroed. Rows follow each other without gaps: stride = d. */
huddle_status huddle_points_new(int64_t n, int64_t d, huddle_points *points) {
    huddle_status status = HUDDLE_OK;
    memset(points, 0, sizeof *points);
    TRY(check_sizes(n, d, 0));
    ALLOC_ZERO(points->values, n * d);
    points->n = n;
    points->d = d;
    points->stride = d;
done:
    return status;
}

/* Room for `nonzeros` entries; rows are empty until the offsets are filled in. */
huddle_status huddle_points_new_sparse(int64_t n, int64_t d, int64_t nonzeros,
                                       huddle_points *points) {
    huddle_status status = HUDDLE_OK;
    memset(points, 0, sizeof *points);
    TRY(check_sizes(n, d, nonzeros));
    ALLOC_ZERO(points->offsets, n + 1);
    ALLOC_ZERO(points->columns, nonzeros);
    ALLOC_ZERO(points->values, nonzeros);
    points->n = n;
    points->d = d;
done:
    if (status != HUDDLE_OK)
        huddle_points_free(points);
    return status;
}

huddle_status huddle_dense_new(int64_t rows, int64_t cols, huddle_dense *matrix) {
    huddle_status status = HUDDLE_OK;
    memset(matrix, 0, sizeof *matrix);
    TRY(check_sizes(rows, cols, 0));
    ALLOC_ZERO(matrix->values, rows * cols);
    matrix->rows = rows;
    matrix->cols = cols;
    matrix->stride = cols;
done:
    return status;
}

/* Room for `nonzeros` entries; rows are empty until the offsets are filled in. */
huddle_status huddle_csr_new(int64_t rows, int64_t cols, int64_t nonzeros, huddle_csr *matrix) {
    huddle_status status = HUDDLE_OK;
    memset(matrix, 0, sizeof *matrix);
    TRY(check_sizes(rows, cols, nonzeros));
    ALLOC_ZERO(matrix->offsets, rows + 1);
    ALLOC_ZERO(matrix->columns, nonzeros);
    ALLOC_ZERO(matrix->values, nonzeros);
    matrix->rows = rows;
    matrix->cols = cols;
done:
    if (status != HUDDLE_OK)
        huddle_csr_free(matrix);
    return status;
}

/* Frees the host arrays, or unmaps their file, and the copy of an engine. A freed container is
 * empty and may be freed again. */
void huddle_points_free(huddle_points *points) {
    if (points->mapping != NULL)
        points->mapping->free(points->mapping);
    else
        huddle_free(points->values);
    FREE(points->offsets, points->columns, points->shift);
    hd_resident_release(&points->resident);
    memset(points, 0, sizeof *points);
}

void huddle_dense_free(huddle_dense *matrix) {
    huddle_free(matrix->values);
    hd_resident_release(&matrix->resident);
    memset(matrix, 0, sizeof *matrix);
}

void huddle_csr_free(huddle_csr *matrix) {
    FREE(matrix->offsets, matrix->columns, matrix->values);
    hd_resident_release(&matrix->resident);
    memset(matrix, 0, sizeof *matrix);
}

huddle_status huddle_dense_copy(const huddle_dense *matrix, huddle_dense *copy) {
    memset(copy, 0, sizeof *copy);
    huddle_status status = huddle_dense_fetch(matrix);
    if (status == HUDDLE_OK)
        status = huddle_dense_new(matrix->rows, matrix->cols, copy);
    for (int64_t i = 0; status == HUDDLE_OK && i < matrix->rows; i++)
        memcpy(copy->values + i * copy->stride, matrix->values + i * matrix->stride,
               (size_t)matrix->cols * sizeof *copy->values);
    return status;
}

huddle_status huddle_csr_copy(const huddle_csr *matrix, huddle_csr *copy) {
    huddle_status status = HUDDLE_OK;
    memset(copy, 0, sizeof *copy);
    TRY(huddle_csr_fetch(matrix));
    int64_t nonzeros = matrix->offsets[matrix->rows];
    TRY(huddle_csr_new(matrix->rows, matrix->cols, nonzeros, copy));
    memcpy(copy->offsets, matrix->offsets, (size_t)(matrix->rows + 1) * sizeof *copy->offsets);
    memcpy(copy->columns, matrix->columns, (size_t)nonzeros * sizeof *copy->columns);
    memcpy(copy->values, matrix->values, (size_t)nonzeros * sizeof *copy->values);
done:
    return status;
}

/* Rows are visited in ascending order, hence the columns of the transpose ascend, even if those of
 * the matrix do not. */
huddle_status huddle_csr_transpose(const huddle_csr *matrix, huddle_csr *transpose) {
    huddle_status status = HUDDLE_OK;
    memset(transpose, 0, sizeof *transpose);
    TRY(huddle_csr_fetch(matrix));
    int64_t nonzeros = matrix->offsets[matrix->rows];
    if (matrix->rows > INT32_MAX)
        FAIL(HUDDLE_INVALID, "a transpose with %lld columns is invalid", (long long)matrix->rows);
    TRY(huddle_csr_new(matrix->cols, matrix->rows, nonzeros, transpose));
    int64_t *offsets = transpose->offsets;
    for (int64_t e = 0; e < nonzeros; e++)
        offsets[matrix->columns[e] + 1]++;
    for (int64_t j = 0; j < matrix->cols; j++)
        offsets[j + 1] += offsets[j];
    /* A counting sort. Placing an entry advances the offset of its row; in the end each offset is
     * the end of its row, which is where the next one begins. */
    for (int64_t i = 0; i < matrix->rows; i++)
        for (int64_t e = matrix->offsets[i]; e < matrix->offsets[i + 1]; e++) {
            int64_t place = offsets[matrix->columns[e]]++;
            transpose->columns[place] = (int32_t)i;
            transpose->values[place] = matrix->values[e];
        }
    memmove(offsets + 1, offsets, (size_t)matrix->cols * sizeof *offsets);
    offsets[0] = 0;
done:
    return status;
}
