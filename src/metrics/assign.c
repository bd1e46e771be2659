/* The dense assignment problem, max sum of value[i][col_of[i]], by shortest augmenting paths
 * (Jonker and Volgenant, Computing 1987, in the rectangular form of Crouse, IEEE TAES 2016): the
 * Hungarian method of Kuhn and Munkres in O(rows^2 cols).
 *
 * Invariants: the prices are feasible, u_i + v_j >= value_ij, with equality on matched pairs, and
 * unmatched columns have price 0. By complementary slackness, a matching of all rows is then
 * optimal. */
#include "huddle/metrics.h"

#include "base/check.h"

#include <math.h>
#include <string.h>

typedef struct assignment {
    int64_t rows, cols; /* rows <= cols */
    const double *value;
    double *u, *v;    /* prices; the slack u_i + v_j - value_ij is never negative */
    double *distance; /* of each column from the new row */
    int32_t *parent;  /* the row from which a column was reached */
    int32_t *col_of;  /* the matching */
    int32_t *row_of;  /* -1 for a free column */
    int32_t *open;    /* columns whose distance is not final, then the others */
    int64_t n_open;
} assignment;

/* Shortens the distances of the open columns by paths through `row`; returns the place of the
 * nearest, a free column before a matched one. The slack of a pair is its length. Ties prefer a
 * free column because it ends the search. */
static int64_t scan_columns(assignment *s, int64_t row, double at) {
    const double *value = s->value + row * s->cols;
    double base = at + s->u[row], nearest = INFINITY;
    int64_t best = 0;
    for (int64_t k = 0; k < s->n_open; k++) {
        int32_t j = s->open[k];
        double length = base + s->v[j] - value[j];
        if (length < s->distance[j]) {
            s->distance[j] = length;
            s->parent[j] = (int32_t)row;
        }
        if (s->distance[j] < nearest || (s->distance[j] == nearest && s->row_of[j] < 0)) {
            nearest = s->distance[j];
            best = k;
        }
    }
    return best;
}

/* Changes the prices so that no slack is negative and the path has none. Columns whose distance is
 * final, and the rows matched to them, move by the difference to the length of the path; all others
 * stay. */
static void update_prices(assignment *s, int64_t root, double length) {
    s->u[root] -= length;
    for (int64_t k = s->n_open; k < s->cols; k++) {
        int32_t j = s->open[k];
        if (s->row_of[j] < 0)
            continue;
        s->v[j] += length - s->distance[j];
        s->u[s->row_of[j]] -= length - s->distance[j];
    }
}

/* Adds a row: Dijkstra's algorithm to the nearest free column, then the matching along the path is
 * exchanged. Slacks are not negative, as the algorithm of Dijkstra requires. A matched column leads
 * to its row at no cost, because matched pairs have no slack. Final columns are moved to the end of
 * `open`. */
static void add_row(assignment *s, int64_t root) {
    int64_t row = root;
    double at = 0;
    int32_t column;
    for (int64_t j = 0; j < s->cols; j++)
        s->distance[j] = INFINITY;
    s->n_open = s->cols;
    for (;;) {
        int64_t k = scan_columns(s, row, at);
        column = s->open[k];
        s->open[k] = s->open[--s->n_open];
        s->open[s->n_open] = column;
        at = s->distance[column];
        if (s->row_of[column] < 0)
            break;
        row = s->row_of[column];
    }
    update_prices(s, root, at);
    /* From the free column back to the root: each row on the path takes the column that was reached
     * from it and releases its former one. */
    while (column >= 0) {
        int32_t from = s->parent[column], next = s->col_of[from];
        s->row_of[column] = from;
        s->col_of[from] = column;
        column = next;
    }
}

/* The largest value of a row is a feasible price for it while all columns cost 0. Rows are added in
 * their order; the sum does not depend on it, but the choice between several optimal assignments
 * does. */
static void assign_rows(assignment *s) {
    for (int64_t j = 0; j < s->cols; j++) {
        s->open[j] = (int32_t)j;
        s->row_of[j] = -1;
        s->v[j] = 0;
    }
    for (int64_t i = 0; i < s->rows; i++) {
        s->col_of[i] = -1;
        s->u[i] = -INFINITY;
        for (int64_t j = 0; j < s->cols; j++)
            s->u[i] = fmax(s->u[i], s->value[i * s->cols + j]);
    }
    for (int64_t i = 0; i < s->rows; i++)
        add_row(s, i);
}

static huddle_status check_values(int64_t rows, int64_t cols, const double *value,
                                  const int32_t *column_of) {
    if (rows < 1 || cols < 1 || rows > INT32_MAX || cols > INT32_MAX)
        return hd_fail(HUDDLE_INVALID, "an assignment of %lld rows to %lld columns is invalid",
                       (long long)rows, (long long)cols);
    if (value == NULL || column_of == NULL)
        return hd_fail(HUDDLE_INVALID, "the assignment has no values or no place for its result");
    for (int64_t e = 0; e < rows * cols; e++)
        if (!isfinite(value[e]))
            return hd_fail(HUDDLE_INVALID, "row %lld, column %lld: the value is %s",
                           (long long)(e / cols) + 1, (long long)(e % cols) + 1,
                           isnan(value[e]) ? "not a number" : "infinite");
    return HUDDLE_OK;
}

/* In squares, so that both matrices are accessed in short strides. */
static void transpose(int64_t rows, int64_t cols, const double *from, double *to) {
    enum { SIDE = 32 };
    for (int64_t i0 = 0; i0 < rows; i0 += SIDE)
        for (int64_t j0 = 0; j0 < cols; j0 += SIDE)
            for (int64_t i = i0; i < rows && i < i0 + SIDE; i++)
                for (int64_t j = j0; j < cols && j < j0 + SIDE; j++)
                    to[j * rows + i] = from[i * cols + j];
}

/* The algorithm needs at least as many columns as rows; otherwise the transpose is solved. */
huddle_status huddle_metrics_assign(int64_t rows, int64_t cols, const double *value,
                                    int32_t *column_of) {
    huddle_status status = HUDDLE_OK;
    double *turned = NULL;
    bool turn = rows > cols;
    assignment s = {.rows = turn ? cols : rows, .cols = turn ? rows : cols, .value = value};
    TRY(check_values(rows, cols, value, column_of));
    if (turn) {
        ALLOC(turned, rows * cols);
        transpose(rows, cols, value, turned);
        s.value = turned;
    }
    ALLOC(s.u, s.rows);
    ALLOC(s.v, s.cols);
    ALLOC(s.distance, s.cols);
    ALLOC(s.parent, s.cols);
    ALLOC(s.col_of, s.rows);
    ALLOC(s.row_of, s.cols);
    ALLOC(s.open, s.cols);
    assign_rows(&s);
    memcpy(column_of, turn ? s.row_of : s.col_of, (size_t)rows * sizeof *column_of);
done:
    huddle_free(s.u);
    huddle_free(s.v);
    huddle_free(s.distance);
    huddle_free(s.parent);
    huddle_free(s.col_of);
    huddle_free(s.row_of);
    huddle_free(s.open);
    huddle_free(turned);
    return status;
}
