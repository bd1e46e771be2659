/* The symmetric part of a graph that somebody has given: lists of neighbours are seldom mutual. */
#include "matrix/symmetric.h"

#include "base/check.h"
#include "base/context.h"
#include "base/slabs.h"

#include <math.h>
#include <string.h>

/* Two entries that should be equal may differ by this part, as in the embedding: graphs are often
 * written as text. */
static const double symmetry_tolerance = 1e-9;

/* Rows are visited in ascending order and columns ascend, so the next unmatched entry of row j must
 * be (j, i): one pass without searching. If it is before column i, then that row, which was
 * visited, has no entry opposite to it. Explicit zeros need no partner. */
huddle_status hd_csr_find_asymmetry(const huddle_csr *matrix, hd_asymmetry *asymmetry) {
    huddle_status status = HUDDLE_OK;
    int64_t *next = NULL;
    *asymmetry = (hd_asymmetry){0};
    ALLOC(next, matrix->rows);
    memcpy(next, matrix->offsets, (size_t)matrix->rows * sizeof *next);
    for (int64_t i = 0; i < matrix->rows; i++)
        for (int64_t e = matrix->offsets[i]; e < matrix->offsets[i + 1]; e++) {
            double value = matrix->values[e];
            int64_t j = matrix->columns[e], twin = next[j], end = matrix->offsets[j + 1];
            if (value == 0)
                continue;
            while (twin < end && matrix->values[twin] == 0)
                twin++;
            int64_t column = twin < end ? matrix->columns[twin] : INT64_MAX;
            double other = column == i ? matrix->values[twin] : 0;
            if (column < i)
                *asymmetry = (hd_asymmetry){true, j, column, matrix->values[twin], 0};
            else if (fabs(value - other) > symmetry_tolerance * fabs(value))
                *asymmetry = (hd_asymmetry){true, i, j, value, other};
            if (asymmetry->found)
                goto done;
            next[j] = twin + 1;
        }
done:
    huddle_free(next);
    return status;
}

/* Both rows have ascending columns, and are merged. The halves are added, because the sum of two
 * large values may be infinite. */
static int64_t average_rows(const huddle_csr *a, const huddle_csr *t, int64_t i, huddle_csr *part,
                            int64_t at) {
    int64_t e = a->offsets[i], f = t->offsets[i];
    while (e < a->offsets[i + 1] || f < t->offsets[i + 1]) {
        int64_t j = e < a->offsets[i + 1] ? a->columns[e] : INT64_MAX;
        int64_t k = f < t->offsets[i + 1] ? t->columns[f] : INT64_MAX;
        double value = (j <= k ? a->values[e++] : 0) / 2;
        value += (k <= j ? t->values[f++] : 0) / 2;
        part->columns[at] = (int32_t)(j < k ? j : k);
        part->values[at++] = value;
    }
    return at;
}

huddle_status hd_csr_make_symmetric(huddle_context *context, const char *what,
                                    const huddle_csr *matrix, huddle_csr *part) {
    huddle_status status = HUDDLE_OK;
    hd_asymmetry first;
    huddle_csr transpose = {0};
    int64_t n = matrix->rows;
    *part = (huddle_csr){0};
    TRY(hd_csr_find_asymmetry(matrix, &first));
    if (!first.found)
        goto done;
    TRY(huddle_csr_transpose(matrix, &transpose));
    TRY(huddle_csr_new(n, n, 2 * matrix->offsets[n], part));
    for (int64_t i = 0; i < n; i++)
        part->offsets[i + 1] = average_rows(matrix, &transpose, i, part, part->offsets[i]);
    hd_warn(context, HUDDLE_WARNING_INPUT,
            "%s not symmetric (row %lld, column %lld is %g, row %lld, column %lld is %g): the "
            "average of both directions, (A + A')/2, is used",
            what, (long long)first.row + 1, (long long)first.column + 1, first.value,
            (long long)first.column + 1, (long long)first.row + 1, first.other);
done:
    huddle_csr_free(&transpose);
    if (status != HUDDLE_OK)
        huddle_csr_free(part);
    return status;
}

huddle_status huddle_csr_symmetric_part(huddle_context *context, const huddle_csr *matrix,
                                        huddle_csr *part) {
    huddle_status status = HUDDLE_OK;
    *part = (huddle_csr){0};
    TRY(hd_slabs_refuse(context, "making a matrix symmetric"));
    TRY(huddle_csr_fetch(matrix));
    TRY(huddle_csr_check(matrix));
    if (matrix->rows != matrix->cols)
        FAIL(HUDDLE_INVALID, "a matrix of %lld x %lld is not a graph", (long long)matrix->rows,
             (long long)matrix->cols);
    TRY(hd_csr_make_symmetric(context, "the graph is", matrix, part));
done:
    return status;
}
