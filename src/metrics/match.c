/* The best one-to-one mapping of rows to columns, by shortest augmenting paths (the Hungarian
 * method of Kuhn and Munkres with Dijkstra's algorithm; Jonker and Volgenant, Computing 1987).
 *
 *     maximise   sum of values over matched cells
 *     dual       minimise sum u_i + sum v_j  with  u_i + v_j >= value_ij,  u, v >= 0
 *
 * Rows are added one by one. From the new row, Dijkstra's algorithm follows cells, with the slack
 * u_i + v_j - value_ij as length, and matched cells backwards, until it finds the nearest end: a
 * column that is still free, or a row that should stay without a column (at the cost u_i). In a
 * complete matching no row may stay without one, and u has no sign. Cells that are not stored are
 * never visited. Counts are integers, so that their matching is exact: their maximum is the
 * numerator of ACC (17). */
#include "base/check.h"
#include "huddle/metrics.h"
#include "metrics/table.h"

#include <math.h>
#include <string.h>

typedef struct matching {
    huddle_csr cells; /* borrowed; no more rows than columns */
    bool complete;
    double *u, *v;            /* the dual; 0 at first */
    int32_t *col_of, *row_of; /* the matching, -1 for none */
    double *distance;         /* of a column from the new row; valid if reached */
    int32_t *parent;          /* the row from which a column was reached */
    int32_t *heap, *place;    /* columns by distance; place -1: not reached, -2: final */
    int32_t *touched;         /* columns reached or final */
    int64_t heap_size, n_touched;
} matching;

enum { NOT_REACHED = -1, FINAL = -2 };

/* ---- the heap of columns -------------------------------------------------------------------- */

static void place_in_heap(matching *s, int64_t k, int32_t column) {
    s->heap[k] = column;
    s->place[column] = (int32_t)k;
}

/* Distances of columns in the heap only decrease, so that moving up is all that an update needs. */
static void sift_up(matching *s, int64_t k) {
    int32_t column = s->heap[k];
    while (k > 0) {
        int64_t above = (k - 1) / 2;
        if (s->distance[s->heap[above]] <= s->distance[column])
            break;
        place_in_heap(s, k, s->heap[above]);
        k = above;
    }
    place_in_heap(s, k, column);
}

/* Removes the nearest column from the heap. */
static int32_t take_nearest(matching *s) {
    int32_t nearest = s->heap[0], column = s->heap[--s->heap_size];
    s->place[nearest] = FINAL;
    if (s->heap_size == 0)
        return nearest;
    int64_t k = 0;
    for (;;) {
        int64_t below = 2 * k + 1;
        if (below >= s->heap_size)
            break;
        if (below + 1 < s->heap_size &&
            s->distance[s->heap[below + 1]] < s->distance[s->heap[below]])
            below++;
        if (s->distance[s->heap[below]] >= s->distance[column])
            break;
        place_in_heap(s, k, s->heap[below]);
        k = below;
    }
    place_in_heap(s, k, column);
    return nearest;
}

/* ---- adding a row ------------------------------------------------------------------------ */

/* Updates the distances of the columns that share a cell with `row`, itself at distance `at`. */
static void update_distances(matching *s, int32_t row, double at) {
    for (int64_t e = s->cells.offsets[row]; e < s->cells.offsets[row + 1]; e++) {
        int32_t j = s->cells.columns[e];
        if (s->place[j] == FINAL)
            continue;
        double length = at + s->u[row] + s->v[j] - s->cells.values[e];
        if (s->place[j] == NOT_REACHED) {
            s->touched[s->n_touched++] = j;
            place_in_heap(s, s->heap_size++, j);
        } else if (length >= s->distance[j]) {
            continue;
        }
        s->distance[j] = length;
        s->parent[j] = row;
        sift_up(s, s->place[j]);
    }
}

/* Exchanges the matching along the path that ends in `column`: each row takes the column that was
 * reached from it and releases its former one, until the new row is reached, which has none. */
static void augment_matching(matching *s, int32_t column) {
    while (column >= 0) {
        int32_t row = s->parent[column], next = s->col_of[row];
        s->row_of[column] = row;
        s->col_of[row] = column;
        column = next;
    }
}

/* Changes the dual so that it stays feasible and has no slack along the path. Columns at distance
 * `length` or beyond keep their price: for them the change would be zero or negative. The scratch
 * arrays are reset for the touched columns only, which keeps the cost of a row proportional to what
 * its search has seen. */
static void update_dual(matching *s, int32_t root, double length) {
    s->u[root] -= length;
    for (int64_t k = 0; k < s->n_touched; k++) {
        int32_t j = s->touched[k];
        if (s->distance[j] < length) { /* and final: nearer columns were taken first */
            s->v[j] += length - s->distance[j];
            s->u[s->row_of[j]] -= length - s->distance[j];
        }
        s->place[j] = NOT_REACHED;
    }
    s->n_touched = s->heap_size = 0;
}

/* Adds a row: the nearest end of a path may be a free column, or a matched row that gives up its
 * column because that costs less. A row may stay unmatched, since absent cells count 0, but then
 * its u must become 0 (complementary slackness): a path that ends there is longer by u. `best` is
 * the length of the shortest path so far, and the search ends when no open column is nearer. */
static void add_row(matching *s, int32_t root) {
    /* The nearest end so far: root stays without a column. */
    double best = s->complete ? INFINITY : s->u[root];
    int32_t released_row = root, end = -1;
    update_distances(s, root, 0);
    while (s->heap_size > 0 && s->distance[s->heap[0]] < best) {
        int32_t column = take_nearest(s), row = s->row_of[column];
        double at = s->distance[column];
        if (row < 0) {
            best = at;
            end = column;
            break;
        }
        if (!s->complete && at + s->u[row] < best) {
            best = at + s->u[row];
            released_row = row;
        }
        update_distances(s, row, at);
    }
    update_dual(s, root, best);
    /* The path ends in a row that becomes free: its column is the end of the path to augment. */
    if (end < 0 && released_row != root) {
        end = s->col_of[released_row];
        s->col_of[released_row] = -1;
    }
    if (end >= 0)
        augment_matching(s, end);
}

/* Whatever the u of a row that is added, it only changes the lengths of all its paths by the same;
 * the search makes it feasible. */
static void match_rows(matching *s) {
    memset(s->row_of, -1, (size_t)s->cells.cols * sizeof *s->row_of);
    memset(s->col_of, -1, (size_t)s->cells.rows * sizeof *s->col_of);
    memset(s->place, NOT_REACHED, (size_t)s->cells.cols * sizeof *s->place);
    for (int64_t i = 0; i < s->cells.rows; i++)
        add_row(s, (int32_t)i);
}

/* ---- the matching -------------------------------------------------------------------------- */

/* Pairs the remaining rows and columns in order: their cells are 0, but the mapping should be
 * complete. */
static void pair_remaining(int64_t rows, int64_t cols, int32_t *col_of, int32_t *row_of) {
    int64_t j = 0;
    for (int64_t i = 0; i < rows; i++) {
        if (col_of[i] >= 0)
            continue;
        while (j < cols && row_of[j] >= 0)
            j++;
        if (j == cols)
            return;
        col_of[i] = (int32_t)j;
        row_of[j] = (int32_t)i;
    }
}

/* The mapping with the largest sum of the values of matched cells: col_of[i] for each row,
 * row_of[j] for each column, -1 for those without one; min(rows, cols) are matched. Either may be
 * NULL. Cells that are not stored are 0. complete: every cell is stored, and values may be
 * negative; otherwise they are positive. The side with fewer members is added one by one: fewer and
 * shorter paths. */
static huddle_status match_cells(const huddle_csr *cells, bool complete, int32_t *col_of,
                                 int32_t *row_of) {
    huddle_status status = HUDDLE_OK;
    huddle_csr turned = {0};
    bool turn = cells->rows > cells->cols;
    int64_t rows = turn ? cells->cols : cells->rows, cols = turn ? cells->rows : cells->cols;
    matching s = {.cells = *cells, .complete = complete};
    if (turn) {
        TRY(huddle_csr_transpose(cells, &turned));
        s.cells = turned;
    }
    ALLOC_ZERO(s.u, rows);
    ALLOC_ZERO(s.v, cols);
    ALLOC(s.col_of, rows);
    ALLOC(s.row_of, cols);
    ALLOC(s.distance, cols);
    ALLOC(s.parent, cols);
    ALLOC(s.heap, cols);
    ALLOC(s.place, cols);
    ALLOC(s.touched, cols);
    match_rows(&s);
    pair_remaining(rows, cols, s.col_of, s.row_of);
    if (col_of != NULL)
        memcpy(col_of, turn ? s.row_of : s.col_of, (size_t)cells->rows * sizeof *col_of);
    if (row_of != NULL)
        memcpy(row_of, turn ? s.col_of : s.row_of, (size_t)cells->cols * sizeof *row_of);
done:
    FREE(s.u, s.v, s.col_of, s.row_of, s.distance, s.parent, s.heap, s.place, s.touched);
    huddle_csr_free(&turned);
    return status;
}

/* A double represents every count exactly, and every sum of them that occurs here. */
huddle_status hd_metrics_table_match(const hd_metrics_table *table, int32_t *row_of) {
    huddle_status status = HUDDLE_OK;
    int64_t n_cells = table->offsets[table->rows];
    huddle_csr cells = {table->rows, table->cols, table->offsets, table->columns, NULL};
    ALLOC(cells.values, n_cells);
    for (int64_t e = 0; e < n_cells; e++)
        cells.values[e] = (double)table->counts[e];
    TRY(match_cells(&cells, false, NULL, row_of));
done:
    huddle_free(cells.values);
    return status;
}

/* ---- the dense assignment problem --------------------------------------------------------- */

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

huddle_status huddle_metrics_assign(int64_t rows, int64_t cols, const double *value,
                                    int32_t *column_of) {
    huddle_status status = HUDDLE_OK;
    huddle_csr cells = {0};
    TRY(check_values(rows, cols, value, column_of));
    TRY(huddle_csr_new(rows, cols, rows * cols, &cells));
    for (int64_t i = 0; i <= rows; i++)
        cells.offsets[i] = i * cols;
    for (int64_t e = 0; e < rows * cols; e++)
        cells.columns[e] = (int32_t)(e % cols);
    memcpy(cells.values, value, (size_t)(rows * cols) * sizeof *value);
    TRY(match_cells(&cells, true, column_of, NULL));
done:
    huddle_csr_free(&cells);
    return status;
}
