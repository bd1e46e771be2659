/* The best one-to-one mapping of a sparse table, by shortest augmenting paths (the Hungarian method
 * with Dijkstra's algorithm).
 *
 *     maximise   sum of counts over matched cells
 *     dual       minimise sum u_i + sum v_j  with  u_i + v_j >= count_ij,  u, v >= 0
 *
 * Rows are added one by one. From the new row, Dijkstra's algorithm follows cells, with the slack
 * u_i + v_j - count_ij as length, and matched cells backwards, until it finds the nearest end: a
 * column that is still free, or a row that should stay without a column (at the cost u_i). Counts
 * are integers, so the result is exact. Cells that are 0 are never visited.
 *
 * This maximum is the numerator of ACC (17). */
#include "metrics/table.h"

#include "base/check.h"

#include <string.h>

typedef struct matching {
    const int64_t *offsets; /* the table, with the fewer as rows */
    const int32_t *columns;
    const int64_t *counts;
    int64_t rows, cols;
    int64_t *u, *v;           /* the dual */
    int32_t *col_of, *row_of; /* the matching, -1 for none */
    int64_t *distance;        /* of a column from the new row; valid if reached */
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
static void update_distances(matching *s, int32_t row, int64_t at) {
    for (int64_t e = s->offsets[row]; e < s->offsets[row + 1]; e++) {
        int32_t j = s->columns[e];
        if (s->place[j] == FINAL)
            continue;
        int64_t length = at + s->u[row] + s->v[j] - s->counts[e];
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
static void update_dual(matching *s, int32_t root, int64_t length) {
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
    int64_t best = s->u[root]; /* the nearest end so far: root stays without a column */
    int32_t released_row = root, end = -1;
    update_distances(s, root, 0);
    while (s->heap_size > 0 && s->distance[s->heap[0]] < best) {
        int32_t column = take_nearest(s), row = s->row_of[column];
        int64_t at = s->distance[column];
        if (row < 0) {
            best = at;
            end = column;
            break;
        }
        if (at + s->u[row] < best) {
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
    for (int64_t j = 0; j < s->cols; j++) {
        s->row_of[j] = -1;
        s->place[j] = NOT_REACHED;
        s->v[j] = 0;
    }
    for (int64_t i = 0; i < s->rows; i++) {
        s->col_of[i] = -1;
        s->u[i] = 0;
    }
    for (int64_t i = 0; i < s->rows; i++)
        add_row(s, (int32_t)i);
}

/* ---- either orientation -----------------------------------------------------------------------
 */

/* The table with rows and columns exchanged, by a counting sort: columns stay ascending. */
static huddle_status transpose_table(const hd_metrics_table *t, int64_t **offsets,
                                     int32_t **columns, int64_t **counts) {
    huddle_status status = HUDDLE_OK;
    int64_t cells = t->offsets[t->rows];
    ALLOC_ZERO(*offsets, t->cols + 1);
    ALLOC(*columns, cells);
    ALLOC(*counts, cells);
    for (int64_t e = 0; e < cells; e++)
        (*offsets)[t->columns[e] + 1]++;
    for (int64_t j = 0; j < t->cols; j++)
        (*offsets)[j + 1] += (*offsets)[j];
    for (int64_t i = 0; i < t->rows; i++)
        for (int64_t e = t->offsets[i]; e < t->offsets[i + 1]; e++) {
            int64_t place = (*offsets)[t->columns[e]]++;
            (*columns)[place] = (int32_t)i;
            (*counts)[place] = t->counts[e];
        }
    memmove(*offsets + 1, *offsets, (size_t)t->cols * sizeof **offsets);
    (*offsets)[0] = 0;
done:
    return status;
}

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

/* The side with fewer members is added one by one: fewer and shorter paths. */
huddle_status hd_metrics_table_match(const hd_metrics_table *table, int32_t *row_of) {
    huddle_status status = HUDDLE_OK;
    int64_t *offsets = NULL, *counts = NULL;
    int32_t *columns = NULL;
    bool exchanged = table->rows > table->cols;
    matching s = {.offsets = table->offsets,
                  .columns = table->columns,
                  .counts = table->counts,
                  .rows = exchanged ? table->cols : table->rows,
                  .cols = exchanged ? table->rows : table->cols};
    if (exchanged) {
        TRY(transpose_table(table, &offsets, &columns, &counts));
        s.offsets = offsets;
        s.columns = columns;
        s.counts = counts;
    }
    ALLOC(s.u, s.rows);
    ALLOC(s.v, s.cols);
    ALLOC(s.col_of, s.rows);
    ALLOC(s.row_of, s.cols);
    ALLOC(s.distance, s.cols);
    ALLOC(s.parent, s.cols);
    ALLOC(s.heap, s.cols);
    ALLOC(s.place, s.cols);
    ALLOC(s.touched, s.cols);
    match_rows(&s);
    pair_remaining(s.rows, s.cols, s.col_of, s.row_of);
    memcpy(row_of, exchanged ? s.col_of : s.row_of, (size_t)table->cols * sizeof *row_of);
done:
    huddle_free(s.u);
    huddle_free(s.v);
    huddle_free(s.col_of);
    huddle_free(s.row_of);
    huddle_free(s.distance);
    huddle_free(s.parent);
    huddle_free(s.heap);
    huddle_free(s.place);
    huddle_free(s.touched);
    huddle_free(offsets);
    huddle_free(columns);
    huddle_free(counts);
    return status;
}
