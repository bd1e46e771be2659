/* The matrix whose eigenvectors local learning clustering needs (llc.c): A + A' - A'A for a sparse
 * A. */
#include "steps/llc_matrix.h"

#include "base/check.h"
#include "base/context.h"

/* One row of the sum at a time: values by column, and which columns occur. A dense accumulator
 * (Gustavson's algorithm): adding a sparse row costs its nonzeros only. */
typedef struct row_sum {
    double *value;
    int64_t *seen; /* the last row in which the column occurred */
    int32_t *columns;
    int64_t count;
} row_sum;

/* Adds factor times a row of m. A column is new if it was last seen in another row. */
static void add_row(const huddle_csr *m, int64_t from, double factor, int64_t row, row_sum *s) {
    for (int64_t e = m->offsets[from]; e < m->offsets[from + 1]; e++) {
        int32_t j = m->columns[e];
        if (s->seen[j] != row) {
            s->seen[j] = row;
            s->value[j] = 0;
            s->columns[s->count++] = j;
        }
        /* Values need no clearing between rows: `seen` marks those of the current row. */
        s->value[j] += factor * m->values[e];
    }
}

/* Computes one row of A + A' - A'A. Row i of A'A is the sum of a_mi times row m of A over the
 * nonzeros of column i, that is of row i of the transpose. Entry (i, j) is summed in the same order
 * as entry (j, i), so that the matrix is symmetric to the last bit, as the eigensolver requires. */
static void sum_row(const huddle_csr *a, const huddle_csr *t, int64_t row, row_sum *s) {
    s->count = 0;
    add_row(a, row, 1, row, s);
    add_row(t, row, 1, row, s);
    for (int64_t e = t->offsets[row]; e < t->offsets[row + 1]; e++)
        add_row(a, t->columns[e], -t->values[e], row, s);
}

/* Shell sort, in place: rows of the product are longer than those of A, up to about k^2 + 2 k
 * entries. */
static void sort_columns(row_sum *s) {
    for (int64_t gap = s->count / 2; gap > 0; gap /= 2)
        for (int64_t i = gap; i < s->count; i++) {
            int32_t column = s->columns[i];
            int64_t place = i;
            for (; place >= gap && s->columns[place - gap] > column; place -= gap)
                s->columns[place] = s->columns[place - gap];
            s->columns[place] = column;
        }
}

/* Computes A + A' - A'A in two passes: the first counts the entries, so that the second can write
 * them without a temporary copy of the largest matrix of the method. */
huddle_status hd_step_llc_matrix(huddle_context *context, const huddle_csr *a, const huddle_csr *t,
                                 huddle_csr *matrix) {
    huddle_status status = HUDDLE_OK;
    row_sum s = {0};
    int64_t n = a->rows, total = 0;
    ALLOC(s.value, n);
    ALLOC(s.seen, n);
    ALLOC(s.columns, n);
    for (int64_t j = 0; j < n; j++)
        s.seen[j] = -1;
    for (int64_t i = 0; i < n; i++) {
        sum_row(a, t, i, &s);
        total += s.count;
    }
    TRY(hd_check_cancel(context));
    TRY(huddle_csr_new(n, n, total, matrix));
    for (int64_t j = 0; j < n; j++)
        s.seen[j] = -1;
    for (int64_t i = 0; i < n; i++) {
        int64_t at = matrix->offsets[i];
        sum_row(a, t, i, &s);
        sort_columns(&s);
        for (int64_t k = 0; k < s.count; k++) {
            matrix->columns[at + k] = s.columns[k];
            matrix->values[at + k] = s.value[s.columns[k]];
        }
        matrix->offsets[i + 1] = at + s.count;
    }
done:
    FREE(s.value, s.seen, s.columns);
    return status;
}
