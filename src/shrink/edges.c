#include "shrink/edges.h"

#include "base/check.h"

#include <string.h>

/* ---- components ---------------------------------------------------------------------------- */

/* Numbers by first appearance do not depend on the names, hence neither on the order in which sets
 * were united. */
huddle_status hd_shrink_number_by_first(int32_t *label, int64_t n, int32_t *count) {
    huddle_status status = HUDDLE_OK;
    int32_t *number = NULL;
    ALLOC(number, n);
    memset(number, -1, (size_t)n * sizeof *number);
    *count = 0;
    for (int64_t v = 0; v < n; v++) {
        if (number[label[v]] < 0)
            number[label[v]] = (*count)++;
        label[v] = number[label[v]];
    }
done:
    huddle_free(number);
    return status;
}

/* value[v] = the smallest value in the set of v, over all processes. Each round takes the minimum
 * over every local set, ghosts included, and then fetches the values of the ghosts from their
 * owners. It ends when no process sees a change. Numbers below 2^53 are exact in double. */
static huddle_status propagate_minimum(huddle_context *context, const hd_halo *halo, int64_t n,
                                       const int32_t *root, double *value) {
    huddle_status status = HUDDLE_OK;
    int64_t all = n + halo->ghosts;
    double changed = 1, *smallest = NULL;
    ALLOC(smallest, all);
    while (changed > 0) {
        for (int64_t v = 0; v < all; v++)
            smallest[v] = INFINITY;
        for (int64_t v = 0; v < all; v++)
            smallest[root[v]] = fmin(smallest[root[v]], value[v]);
        changed = 0;
        for (int64_t v = 0; v < n; v++) {
            changed = fmax(changed, value[v] != smallest[root[v]]);
            value[v] = smallest[root[v]];
        }
        TRY(hd_halo_fetch(halo, value, sizeof *value));
        /* A ghost can have changed at its owner after the local minimum was taken: one more
         * round. */
        for (int64_t v = n; v < all; v++)
            changed = fmax(changed, value[v] != smallest[root[v]]);
        TRY(hd_reduce_max(context, 1, &changed));
    }
done:
    huddle_free(smallest);
    return status;
}

/* First rows get consecutive numbers over all processes, and the halo of their names brings these
 * to the other rows. hd_halo_open() makes the names local, so that the first row of a set is the
 * one that is named after itself. */
huddle_status hd_shrink_number_first_rows(huddle_context *context, int64_t n, int32_t *label,
                                          int32_t *count) {
    huddle_status status = HUDDLE_OK;
    int64_t firsts = 0;
    int32_t *number = NULL;
    hd_halo halo = {0};
    hd_slab sets;
    TRY(hd_halo_open(context, n, n, label, &halo));
    for (int64_t v = 0; v < n; v++)
        firsts += label[v] == v;
    TRY(hd_slab_locate(context, firsts, &sets));
    if (sets.total > INT32_MAX)
        FAIL(HUDDLE_UNSUPPORTED, "%lld groups of rows are more than this build can number",
             (long long)sets.total);
    *count = (int32_t)sets.total;
    ALLOC(number, n + halo.ghosts);
    for (int64_t v = 0; v < n; v++)
        number[v] = label[v] == v ? (int32_t)sets.first++ : -1;
    TRY(hd_halo_fetch(&halo, number, sizeof *number));
    for (int64_t v = 0; v < n; v++)
        label[v] = number[label[v]];
done:
    hd_halo_close(&halo);
    huddle_free(number);
    return status;
}

/* Labels sets over all processes: every set learns the number of its first row among all rows, by a
 * propagation of minima. Ghosts start at infinity, until the first exchange brings the numbers of
 * their owners. */
static huddle_status label_across(huddle_context *context, const hd_halo *halo, int64_t n,
                                  const int32_t *root, int32_t *label, int32_t *count) {
    huddle_status status = HUDDLE_OK;
    int64_t all = n + halo->ghosts;
    double *value = NULL;
    hd_slab rows;
    ALLOC(value, all);
    TRY(hd_slab_locate(context, n, &rows));
    for (int64_t v = 0; v < all; v++)
        value[v] = v < n ? (double)(rows.first + v) : INFINITY;
    TRY(propagate_minimum(context, halo, n, root, value));
    for (int64_t v = 0; v < n; v++)
        label[v] = (int32_t)value[v];
    TRY(hd_shrink_number_first_rows(context, n, label, count));
done:
    huddle_free(value);
    return status;
}

/* Flattens the forest first, so that the passes above can use parent[] as the root of each
 * vertex. */
huddle_status hd_shrink_label_sets(huddle_context *context, const hd_halo *halo, int64_t n,
                                   int32_t *parent, int32_t *label, int32_t *count) {
    int64_t all = n + halo->ghosts;
    for (int64_t v = 0; v < all; v++)
        parent[v] = hd_find_root(parent, (int32_t)v);
    if (halo->slabs != NULL)
        return label_across(context, halo, n, parent, label, count);
    if (label != parent)
        memcpy(label, parent, (size_t)n * sizeof *label);
    return hd_shrink_number_by_first(label, n, count);
}

/* Edges of weight 0 connect nothing: they exert no force. The problem therefore separates over
 * these components: the optima add up, and so do the bounds. */
huddle_status hd_shrink_components(huddle_context *context, const hd_shrink_edges *edges, int64_t n,
                                   int32_t *component, int32_t *count) {
    huddle_status status = HUDDLE_OK;
    int64_t all = n + edges->halo.ghosts;
    int32_t *parent = NULL;
    ALLOC(parent, all);
    for (int64_t v = 0; v < all; v++)
        parent[v] = (int32_t)v;
    for (int64_t e = 0; e < edges->count; e++)
        if (edges->weight[e] > 0)
            hd_unite(parent, edges->i[e], edges->j[e]);
    TRY(hd_shrink_label_sets(context, &edges->halo, n, parent, component, count));
done:
    huddle_free(parent);
    return status;
}

/* ---- rows ---------------------------------------------------------------------------------- */

/* At most 2^20 columns: the error bounds of the certificate assume no more. */
huddle_status hd_shrink_check_rows(const huddle_dense *f, const char *name, int64_t rows) {
    if (f->rows != rows)
        return hd_fail(HUDDLE_INVALID, "%s has %lld rows where %lld are needed", name,
                       (long long)f->rows, (long long)rows);
    if (f->cols < 1 || f->cols > 1 << 20 || f->stride < f->cols)
        return hd_fail(HUDDLE_INVALID, "%s has %lld columns at a stride of %lld", name,
                       (long long)f->cols, (long long)f->stride);
    for (int64_t i = 0; i < f->rows; i++)
        for (int64_t k = 0; k < f->cols; k++)
            if (!isfinite(f->values[i * f->stride + k]))
                return hd_fail(HUDDLE_INVALID, "%s, row %lld, column %lld: the value is %s", name,
                               (long long)i + 1, (long long)k + 1,
                               isnan(f->values[i * f->stride + k]) ? "not a number" : "infinite");
    return HUDDLE_OK;
}

/* One thread adds in the order of rows, so that means do not depend on the number of threads. */
huddle_status hd_shrink_find_means(huddle_context *context, const huddle_dense *x,
                                   const double *weights, const int32_t *group,
                                   const int32_t *place, int64_t count, int64_t shared,
                                   double *mean) {
    huddle_status status = HUDDLE_OK;
    int64_t c = x->cols;
    double *mass = NULL;
    ALLOC_ZERO(mass, count);
    for (int64_t v = 0; v < x->rows; v++) {
        int64_t q = place == NULL ? group[v] : place[group[v]];
        double weight = hd_shrink_row_weight(weights, v);
        if (q < 0)
            continue;
        mass[q] += weight;
        for (int64_t k = 0; k < c; k++)
            mean[q * c + k] += weight * x->values[v * x->stride + k];
    }
    if (shared > 0) {
        TRY(hd_reduce_sum(context, shared, mass));
        TRY(hd_reduce_sum(context, shared * c, mean));
    }
    for (int64_t k = 0; k < count * c; k++)
        mean[k] /= mass[k / c];
done:
    huddle_free(mass);
    return status;
}

/* With one process nothing is copied, so that this costs nothing in the usual case. */
huddle_status hd_shrink_rows_open(const hd_halo *halo, const huddle_dense *matrix,
                                  hd_shrink_rows *rows) {
    huddle_status status = HUDDLE_OK;
    int64_t c = matrix->cols;
    *rows = (hd_shrink_rows){.values = matrix->values, .stride = matrix->stride};
    if (halo->slabs == NULL)
        goto done;
    ALLOC(rows->copy, (matrix->rows + halo->ghosts) * c);
    for (int64_t v = 0; v < matrix->rows; v++)
        memcpy(rows->copy + v * c, matrix->values + v * matrix->stride, (size_t)c * sizeof(double));
    rows->values = rows->copy;
    rows->stride = c;
    TRY(hd_halo_fetch(halo, rows->copy, (size_t)c * sizeof(double)));
done:
    return status;
}

void hd_shrink_rows_close(hd_shrink_rows *rows) {
    huddle_free(rows->copy);
    *rows = (hd_shrink_rows){0};
}

/* ---- edges --------------------------------------------------------------------------------- */

/* Messages number rows and columns from 1. */
static huddle_status report_asymmetry(int64_t row, int64_t column) {
    return hd_fail(HUDDLE_INVALID,
                   "the graph is not symmetric: row %lld, column %lld has no equal at row %lld, "
                   "column %lld",
                   (long long)row + 1, (long long)column + 1, (long long)column + 1,
                   (long long)row + 1);
}

/* A reader of W: its columns in local numbers, and for each row the first entry not yet paired. */
typedef struct reader {
    const huddle_csr *w;
    const int32_t *columns;
    int64_t *cursor;
} reader;

/* Moves the cursor of row i past entries that lead to other processes: their counterpart is stored
 * there. Local columns from w->rows on are ghosts. */
static int64_t next_entry(const reader *r, int64_t i) {
    while (r->cursor[i] < r->w->offsets[i + 1] && r->columns[r->cursor[i]] >= r->w->rows)
        r->cursor[i]++;
    return r->cursor[i];
}

/* A negative weight would make (6) concave in places. Values that are not finite were refused by
 * huddle_csr_check(). */
static huddle_status check_weight(const huddle_csr *w, int64_t i, int64_t e) {
    if (w->values[e] < 0)
        return hd_fail(HUDDLE_INVALID,
                       "the graph has the negative weight %g at row %lld, column %d", w->values[e],
                       (long long)i + 1, w->columns[e] + 1);
    return HUDDLE_OK;
}

/* The entry e = (i, j) above the diagonal needs an equal one at (j, i), which can only be at
 * `twin`. The tolerance allows for weights that were computed separately for each triangle. */
static huddle_status check_twin(const reader *r, int64_t i, int64_t e, int64_t twin) {
    const double symmetric = 1e-9;
    double value = r->w->values[e];
    int32_t j = r->columns[e];
    if (twin >= r->w->offsets[j + 1] || r->columns[twin] != i ||
        fabs(r->w->values[twin] - value) > symmetric * fabs(value))
        return report_asymmetry(i, j);
    return HUDDLE_OK;
}

static void store_edge(hd_shrink_edges *edges, int64_t e, int64_t i, int32_t j, double weight) {
    edges->i[e] = (int32_t)i;
    edges->j[e] = j;
    edges->weight[e] = weight;
}

/* Pairs each entry (i, j) above the diagonal with (j, i) below it, in one pass. Rows are visited in
 * ascending order and store their columns in ascending order, so the entries below the diagonal of
 * row j are needed in the order in which row j stores them: one cursor per row finds each. An entry
 * below the diagonal that is still unpaired when its own row is reached has no counterpart above.
 * Edges to rows of other processes are stored by both, which is not checked: the other half is not
 * here. */
static huddle_status pair_entries(const reader *r, hd_shrink_edges *edges) {
    huddle_status status = HUDDLE_OK;
    const huddle_csr *w = r->w;
    int64_t count = 0, outward = edges->own;
    for (int64_t i = 0; i < w->rows; i++) {
        int64_t first = next_entry(r, i);
        /* All entries (j, i) with j < i have been paired by now. */
        if (first < w->offsets[i + 1] && r->columns[first] < i)
            TRY(report_asymmetry(i, r->columns[first]));
        for (int64_t e = w->offsets[i]; e < w->offsets[i + 1]; e++) {
            int32_t j = r->columns[e];
            if (j == i && edges->at != NULL)
                edges->at[e] = -1;
            if (j <= i)
                continue;
            TRY(check_weight(w, i, e));
            if (j >= w->rows) {
                store_edge(edges, outward++, i, j, w->values[e]);
                continue;
            }
            int64_t twin = next_entry(r, j);
            TRY(check_twin(r, i, e, twin));
            if (edges->at != NULL)
                edges->at[e] = edges->at[twin] = (int32_t)count;
            store_edge(edges, count++, i, j, w->values[e]);
            r->cursor[j]++;
        }
    }
done:
    return status;
}

/* Counts the edges, allocates their arrays and sets each cursor to the start of its row. `incident`
 * (problem.h) stores 2 e + 1 in 32 bits, hence the limit. `at` leads from the entries of a row to
 * its edges for the numbering of blocks (problem.c), which rows on several processes do not get. */
static huddle_status size_edges(const reader *r, hd_shrink_edges *edges) {
    huddle_status status = HUDDLE_OK;
    const huddle_csr *w = r->w;
    int64_t outward = 0;
    for (int64_t i = 0; i < w->rows; i++) {
        r->cursor[i] = w->offsets[i];
        for (int64_t e = w->offsets[i]; e < w->offsets[i + 1]; e++) {
            edges->own += r->columns[e] > i && r->columns[e] < w->rows;
            outward += r->columns[e] >= w->rows;
        }
    }
    edges->count = edges->own + outward;
    if (edges->count > INT32_MAX / 2)
        FAIL(HUDDLE_UNSUPPORTED, "%lld edges are more than this build can shrink along",
             (long long)edges->count);
    ALLOC(edges->i, edges->count);
    ALLOC(edges->j, edges->count);
    ALLOC(edges->weight, edges->count);
    if (edges->halo.slabs == NULL)
        ALLOC(edges->at, w->offsets[w->rows]);
done:
    return status;
}

/* The caller's W is not modified: under slabs the columns are renumbered in a copy. The diagonal is
 * read over: a loop joins a row to itself, and its term in (6) is 0. */
huddle_status hd_shrink_edges_read(huddle_context *context, const huddle_csr *w,
                                   hd_shrink_edges *edges) {
    huddle_status status = HUDDLE_OK;
    reader r = {.w = w, .columns = w->columns};
    int32_t *local = NULL;
    hd_slab slab;
    memset(edges, 0, sizeof *edges);
    TRY(hd_slab_locate(context, w->rows, &slab));
    if (slab.total != w->cols)
        FAIL(HUDDLE_INVALID, "the graph is %lld x %lld, not square", (long long)slab.total,
             (long long)w->cols);
    TRY(huddle_csr_check(w));
    if (hd_context_engine(context)->slabs != NULL) {
        int64_t count = w->offsets[w->rows];
        ALLOC(local, count);
        memcpy(local, w->columns, (size_t)count * sizeof *local);
        TRY(hd_halo_open(context, w->rows, count, local, &edges->halo));
        r.columns = local;
    }
    ALLOC(r.cursor, w->rows);
    TRY(size_edges(&r, edges));
    TRY(pair_entries(&r, edges));
done:
    FREE(r.cursor, local);
    if (status != HUDDLE_OK)
        hd_shrink_edges_free(edges);
    return status;
}

void hd_shrink_edges_free(hd_shrink_edges *edges) {
    hd_halo_close(&edges->halo);
    FREE(edges->i, edges->j, edges->weight, edges->at);
    memset(edges, 0, sizeof *edges);
}
