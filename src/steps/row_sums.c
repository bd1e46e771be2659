/* Sparse matrices whose rows are sums of sparse rows, by a dense accumulator (Gustavson's
 * algorithm): adding a sparse row costs its nonzeros only. */
#include "steps/row_sums.h"

#include "base/check.h"
#include "base/context.h"

enum { ROWS_PER_CHECK = 4096 };

struct hd_step_row_sum {
    double *value;
    int64_t *seen; /* the last row in which the column occurred */
    int32_t *columns;
    int64_t row, count;
};

/* A column is new if it was last seen in another row. */
void hd_step_row_add(hd_step_row_sum *s, double factor, int64_t count, const int32_t *columns,
                     const double *values) {
    for (int64_t e = 0; e < count; e++) {
        int32_t j = columns[e];
        if (s->seen[j] != s->row) {
            s->seen[j] = s->row;
            s->value[j] = 0;
            s->columns[s->count++] = j;
        }
        /* Values need no clearing between rows: `seen` marks those of the current row. */
        s->value[j] += factor * values[e];
    }
}

static void begin_row(int64_t row, hd_step_row_sum *s) {
    s->row = row;
    s->count = 0;
}

/* Shell sort, in place: a row of these sums has up to a few hundred entries. */
static void sort_columns(hd_step_row_sum *s) {
    for (int64_t gap = s->count / 2; gap > 0; gap /= 2)
        for (int64_t i = gap; i < s->count; i++) {
            int32_t column = s->columns[i];
            int64_t place = i;
            for (; place >= gap && s->columns[place - gap] > column; place -= gap)
                s->columns[place] = s->columns[place - gap];
            s->columns[place] = column;
        }
}

/* Two passes: the first counts the entries, so that the second can write them without a temporary
 * copy of the matrix, which is the largest array of the methods that use it. */
huddle_status hd_step_sum_rows(huddle_context *context, int64_t rows, int64_t cols,
                               hd_step_row_rule *rule, const void *of, huddle_csr *matrix) {
    huddle_status status = HUDDLE_OK;
    hd_step_row_sum s = {0};
    int64_t total = 0;
    ALLOC(s.value, cols);
    ALLOC(s.seen, cols);
    ALLOC(s.columns, cols);
    for (int64_t j = 0; j < cols; j++)
        s.seen[j] = -1;
    for (int64_t i = 0; i < rows; i++) {
        if (i % ROWS_PER_CHECK == 0)
            TRY(hd_check_cancel(context));
        begin_row(i, &s);
        rule(of, i, &s);
        total += s.count;
    }
    TRY(huddle_csr_new(rows, cols, total, matrix));
    for (int64_t j = 0; j < cols; j++)
        s.seen[j] = -1;
    for (int64_t i = 0; i < rows; i++) {
        int64_t at = matrix->offsets[i];
        if (i % ROWS_PER_CHECK == 0)
            TRY(hd_check_cancel(context));
        begin_row(i, &s);
        rule(of, i, &s);
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
