#include "shrink/edges.h"

#include "base/check.h"

#include <math.h>
#include <string.h>

huddle_status hd_number_by_first(int32_t *label, int64_t n, int32_t *count) {
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

huddle_status hd_edges_components(const hd_edges *edges, int64_t n, int32_t *component,
                                  int32_t *count) {
    for (int64_t v = 0; v < n; v++)
        component[v] = (int32_t)v;
    for (int64_t e = 0; e < edges->count; e++)
        if (edges->weight[e] > 0)
            hd_unite(component, edges->i[e], edges->j[e]);
    for (int64_t v = 0; v < n; v++)
        component[v] = hd_find_root(component, (int32_t)v);
    return hd_number_by_first(component, n, count);
}

huddle_status hd_check_rows(const huddle_dense *f, const char *name, int64_t rows) {
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

static huddle_status check_entry(const huddle_csr *w, int64_t i, int64_t e, int64_t twin,
                                 int64_t twin_end) {
    double value = w->values[e];
    int32_t j = w->columns[e];
    if (value < 0)
        return hd_fail(HUDDLE_INVALID,
                       "the graph has the negative weight %g at row %lld, column %d", value,
                       (long long)i + 1, j + 1);
    if (twin >= twin_end || w->columns[twin] != i ||
        fabs(w->values[twin] - value) > 1e-9 * fabs(value))
        return hd_fail(HUDDLE_INVALID,
                       "the graph is not symmetric: row %lld, column %d has no equal at row %d, "
                       "column %lld",
                       (long long)i + 1, j + 1, j + 1, (long long)i + 1);
    return HUDDLE_OK;
}

/* Rows ascend, so the entries (j, i) below the diagonal of row j are met in the order in which
 * row j stores them: one cursor a row finds each twin. */
static huddle_status pair_entries(const huddle_csr *w, int64_t *cursor, hd_edges *edges) {
    huddle_status status = HUDDLE_OK;
    int64_t count = 0;
    for (int64_t i = 0; i < w->rows; i++) {
        int64_t below = cursor[i];
        if (below < w->offsets[i + 1] && w->columns[below] < i)
            FAIL(HUDDLE_INVALID,
                 "the graph is not symmetric: row %lld, column %d has no equal at row %d, column "
                 "%lld",
                 (long long)i + 1, w->columns[below] + 1, w->columns[below] + 1, (long long)i + 1);
        for (int64_t e = below; e < w->offsets[i + 1]; e++) {
            int32_t j = w->columns[e];
            if (j == i) {
                if (edges->at != NULL)
                    edges->at[e] = -1;
                continue;
            }
            TRY(check_entry(w, i, e, cursor[j], w->offsets[j + 1]));
            if (edges->at != NULL)
                edges->at[e] = edges->at[cursor[j]] = (int32_t)count;
            edges->i[count] = (int32_t)i;
            edges->j[count] = j;
            edges->weight[count++] = w->values[e];
            cursor[j]++;
        }
    }
done:
    return status;
}

huddle_status hd_edges_read(const huddle_csr *w, bool places, hd_edges *edges) {
    huddle_status status = HUDDLE_OK;
    int64_t *cursor = NULL, above = 0;
    memset(edges, 0, sizeof *edges);
    if (w->rows != w->cols)
        FAIL(HUDDLE_INVALID, "the graph is %lld x %lld, not square", (long long)w->rows,
             (long long)w->cols);
    TRY(huddle_csr_check(w));
    ALLOC(cursor, w->rows);
    for (int64_t i = 0; i < w->rows; i++) {
        cursor[i] = w->offsets[i];
        for (int64_t e = w->offsets[i]; e < w->offsets[i + 1]; e++)
            above += w->columns[e] > i;
    }
    if (above > INT32_MAX / 2)
        FAIL(HUDDLE_UNSUPPORTED, "%lld edges are more than this build can shrink along",
             (long long)above);
    edges->count = above;
    ALLOC(edges->i, above);
    ALLOC(edges->j, above);
    ALLOC(edges->weight, above);
    if (places)
        ALLOC(edges->at, w->offsets[w->rows]);
    TRY(pair_entries(w, cursor, edges));
done:
    huddle_free(cursor);
    if (status != HUDDLE_OK)
        hd_edges_free(edges);
    return status;
}

void hd_edges_free(hd_edges *edges) {
    huddle_free(edges->i);
    huddle_free(edges->j);
    huddle_free(edges->weight);
    huddle_free(edges->at);
    memset(edges, 0, sizeof *edges);
}
