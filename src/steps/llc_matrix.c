/* The matrix whose eigenvectors local learning clustering needs (llc.c): A + A' - A'A for a sparse
 * A. */
#include "steps/llc_matrix.h"

#include "steps/row_sums.h"

typedef struct predictors {
    const huddle_csr *a, *t; /* t: the transpose */
} predictors;

static void add_row(const huddle_csr *m, int64_t row, double factor, hd_step_row_sum *sum) {
    int64_t begin = m->offsets[row];
    hd_step_row_add(sum, factor, m->offsets[row + 1] - begin, m->columns + begin,
                    m->values + begin);
}

/* One row of A + A' - A'A. Row i of A'A is the sum of a_mi times row m of A over the nonzeros of
 * column i, that is of row i of the transpose. Entry (i, j) is summed in the same order as entry
 * (j, i), so that the matrix is symmetric to the last bit, as the eigensolver requires. */
static void sum_row(const void *of, int64_t row, hd_step_row_sum *sum) {
    const predictors *p = of;
    const huddle_csr *a = p->a, *t = p->t;
    add_row(a, row, 1, sum);
    add_row(t, row, 1, sum);
    for (int64_t e = t->offsets[row]; e < t->offsets[row + 1]; e++)
        add_row(a, t->columns[e], -t->values[e], sum);
}

huddle_status hd_step_llc_matrix(huddle_context *context, const huddle_csr *a, const huddle_csr *t,
                                 huddle_csr *matrix) {
    const predictors p = {a, t};
    return hd_step_sum_rows(context, a->rows, a->rows, sum_row, &p, matrix);
}
