/* The graph before any solver: is it one, its degrees, its components. */
#include "base/check.h"
#include "embed/operator.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void hd_laplacian_free(hd_laplacian *laplacian) {
    huddle_free(laplacian->degrees);
    huddle_free(laplacian->component);
    huddle_free(laplacian->order);
    memset(laplacian, 0, sizeof *laplacian);
}

/* Entries (i, j) come in ascending i, and so do the columns of row j: its next unmatched entry
 * must be (j, i). Explicit zeros need no partner. */
huddle_status hd_check_symmetric(const huddle_csr *matrix) {
    huddle_status status = HUDDLE_OK;
    int64_t *next = NULL;
    if (matrix->rows != matrix->cols)
        FAIL(HUDDLE_INVALID, "a matrix of %lld x %lld is not square", (long long)matrix->rows,
             (long long)matrix->cols);
    TRY(huddle_csr_check(matrix));
    ALLOC(next, matrix->rows);
    memcpy(next, matrix->offsets, (size_t)matrix->rows * sizeof *next);
    for (int64_t i = 0; i < matrix->rows; i++)
        for (int64_t e = matrix->offsets[i]; e < matrix->offsets[i + 1]; e++) {
            double value = matrix->values[e];
            if (value == 0)
                continue;
            int64_t j = matrix->columns[e], twin = next[j], end = matrix->offsets[j + 1];
            while (twin < end && matrix->values[twin] == 0)
                twin++;
            double other = twin < end && matrix->columns[twin] == i ? matrix->values[twin] : 0;
            if (fabs(value - other) > 1e-9 * fabs(value))
                FAIL(HUDDLE_INVALID,
                     "not symmetric: row %lld, column %lld is %g, row %lld, column %lld is %g",
                     (long long)i + 1, (long long)j + 1, value, (long long)j + 1, (long long)i + 1,
                     other);
            next[j] = twin + 1;
        }
done:
    huddle_free(next);
    return status;
}

static huddle_status add_degrees(const huddle_csr *graph, double *degrees) {
    for (int64_t i = 0; i < graph->rows; i++) {
        double sum = 0;
        for (int64_t e = graph->offsets[i]; e < graph->offsets[i + 1]; e++) {
            if (graph->values[e] < 0)
                return hd_fail(HUDDLE_INVALID, "row %lld, column %d: the weight %g is negative",
                               (long long)i + 1, graph->columns[e] + 1, graph->values[e]);
            sum += graph->values[e];
        }
        if (!isfinite(sum))
            return hd_fail(HUDDLE_INVALID, "row %lld: the weights sum to infinity",
                           (long long)i + 1);
        degrees[i] = sum;
    }
    return HUDDLE_OK;
}

/* Visits every vertex, component by component, breadth first: `order` is both the queue and the
 * result. Components are numbered by their first vertex. */
static int64_t traverse(const huddle_csr *graph, int32_t *component, int32_t *order) {
    int64_t found = 0, tail = 0, n = graph->rows;
    memset(component, -1, (size_t)n * sizeof *component);
    for (int64_t root = 0; root < n; root++) {
        if (component[root] >= 0)
            continue;
        int64_t head = tail;
        component[root] = (int32_t)found;
        order[tail++] = (int32_t)root;
        for (; head < tail; head++) {
            int32_t i = order[head];
            for (int64_t e = graph->offsets[i]; e < graph->offsets[i + 1]; e++) {
                int32_t j = graph->columns[e];
                if (graph->values[e] == 0 || component[j] >= 0)
                    continue;
                component[j] = (int32_t)found;
                order[tail++] = j;
            }
        }
        found++;
    }
    return found;
}

typedef struct ranked {
    int64_t size;
    int32_t name;
} ranked;

static int larger_first(const void *left, const void *right) {
    const ranked *a = left, *b = right;
    if (a->size != b->size)
        return a->size > b->size ? -1 : 1;
    return a->name < b->name ? -1 : a->name > b->name;
}

/* Renumbers components by falling size, ties by the first vertex. */
static huddle_status rank_components(int64_t n, int64_t count, int32_t *component) {
    huddle_status status = HUDDLE_OK;
    ranked *sizes = NULL;
    int32_t *rank = NULL;
    ALLOC_ZERO(sizes, count);
    ALLOC(rank, count);
    for (int64_t i = 0; i < n; i++)
        sizes[component[i]].size++;
    for (int64_t k = 0; k < count; k++)
        sizes[k].name = (int32_t)k;
    qsort(sizes, (size_t)count, sizeof *sizes, larger_first);
    for (int64_t k = 0; k < count; k++)
        rank[sizes[k].name] = (int32_t)k;
    for (int64_t i = 0; i < n; i++)
        component[i] = rank[component[i]];
done:
    huddle_free(sizes);
    huddle_free(rank);
    return status;
}

huddle_status hd_laplacian_new(const huddle_csr *graph, hd_laplacian *laplacian) {
    huddle_status status = HUDDLE_OK;
    memset(laplacian, 0, sizeof *laplacian);
    TRY(hd_check_symmetric(graph));
    laplacian->n = graph->rows;
    ALLOC(laplacian->degrees, graph->rows);
    ALLOC(laplacian->component, graph->rows);
    ALLOC(laplacian->order, graph->rows);
    TRY(add_degrees(graph, laplacian->degrees));
    laplacian->n_components = traverse(graph, laplacian->component, laplacian->order);
    TRY(rank_components(graph->rows, laplacian->n_components, laplacian->component));
done:
    if (status != HUDDLE_OK)
        hd_laplacian_free(laplacian);
    return status;
}
