/* The graph as the stage uses it: checks, degrees, and the graph of its clusters. */
#include "base/check.h"
#include "base/slabs.h"
#include "matrix/labels.h"
#include "matrix/symmetric.h"
#include "refine/refine.h"

#include <math.h>
#include <string.h>

void hd_refine_graph_free(hd_refine_graph *graph) {
    huddle_csr_free(&graph->own);
    huddle_free(graph->degree);
    memset(graph, 0, sizeof *graph);
}

/* Shares of the total must not be negative, and the weight that leaves a cluster is that which
 * enters it only if the graph is symmetric. */
static huddle_status check_weights(const huddle_csr *matrix) {
    hd_asymmetry a;
    for (int64_t i = 0; i < matrix->rows; i++)
        for (int64_t e = matrix->offsets[i]; e < matrix->offsets[i + 1]; e++)
            if (matrix->values[e] < 0)
                return hd_fail(HUDDLE_INVALID, "row %lld, column %d: the weight %g is negative",
                               (long long)i + 1, matrix->columns[e] + 1, matrix->values[e]);
    huddle_status status = hd_csr_find_asymmetry(matrix, &a);
    if (status == HUDDLE_OK && a.found)
        return hd_fail(HUDDLE_INVALID,
                       "not symmetric: row %lld, column %lld is %g, row %lld, column %lld is %g; "
                       "use huddle_csr_symmetric_part()",
                       (long long)a.row + 1, (long long)a.column + 1, a.value,
                       (long long)a.column + 1, (long long)a.row + 1, a.other);
    return status;
}

/* Entries are multiplied by the unit where they are read: a scaled copy of the matrix would be the
 * largest array of the stage. With shares of the total weight the sums v_k and d_k of "Scores of a
 * labelling" need no division, and the thresholds of moves are the same for graphs of any weight. A
 * row with its loop is added once, so that an edge counts from both ends and a loop once, as W
 * does. */
huddle_status hd_refine_graph_weigh(huddle_context *context, hd_refine_graph *graph,
                                    double *total) {
    huddle_status status = HUDDLE_OK;
    const huddle_csr *a = graph->matrix;
    *total = 0;
    ALLOC_ZERO(graph->degree, graph->n);
    for (int64_t i = 0; i < graph->n; i++) {
        for (int64_t e = a->offsets[i]; e < a->offsets[i + 1]; e++)
            graph->degree[i] += a->values[e];
        *total += graph->degree[i];
    }
    TRY(hd_reduce_sum(context, 1, total));
    graph->unit = *total > 0 ? 1 / *total : 0;
    for (int64_t i = 0; i < graph->n; i++)
        graph->degree[i] *= graph->unit;
done:
    return status;
}

huddle_status hd_refine_graph_new(huddle_context *context, const huddle_csr *matrix,
                                  hd_refine_graph *graph) {
    huddle_status status = HUDDLE_OK;
    double total;
    memset(graph, 0, sizeof *graph);
    if (matrix == NULL)
        FAIL(HUDDLE_INVALID, "the graph is missing");
    TRY(huddle_csr_fetch(matrix));
    TRY(huddle_csr_check(matrix));
    if (matrix->rows != matrix->cols || matrix->rows < 1)
        FAIL(HUDDLE_INVALID, "a matrix of %lld x %lld is not a graph", (long long)matrix->rows,
             (long long)matrix->cols);
    TRY(check_weights(matrix));
    TRY(hd_check_cancel(context));
    graph->matrix = matrix;
    graph->n = matrix->rows;
    TRY(hd_refine_graph_weigh(context, graph, &total));
    /* Each entry is finite, but their sum may overflow. */
    if (!isfinite(total))
        FAIL(HUDDLE_INVALID, "the weights of the graph sum to infinity");
    /* The reciprocal of a total below the normal numbers overflows. */
    if (!isfinite(graph->unit))
        FAIL(HUDDLE_INVALID, "the weights of the graph sum to %g, which is too small", total);
done:
    if (status != HUDDLE_OK)
        hd_refine_graph_free(graph);
    return status;
}

/* Columns are visited in their new order, so that those of every row ascend. Since the graph is
 * symmetric, column k has the entries of row k. So each entry is read and written once, and no row
 * has to be sorted. `next` is where the next entry of each new row goes. */
static void order_entries(const huddle_csr *from, const int32_t *order, const int32_t *position,
                          int64_t *next, huddle_csr *to) {
    for (int64_t k = 0; k < from->rows; k++)
        for (int64_t e = from->offsets[order[k]]; e < from->offsets[order[k] + 1]; e++) {
            if (from->values[e] <= 0)
                continue;
            int64_t at = next[position[from->columns[e]]]++;
            to->columns[at] = (int32_t)k;
            to->values[at] = from->values[e];
        }
}

/* Zeros that are stored on one side only would break the symmetry of the pattern; they are dropped.
 */
static int64_t count_entries(const huddle_csr *matrix, int64_t i) {
    int64_t count = 0;
    for (int64_t e = matrix->offsets[i]; e < matrix->offsets[i + 1]; e++)
        count += matrix->values[e] > 0;
    return count;
}

/* Degrees and the unit are copied, not summed again: scores have the same bits in any order of the
 * vertices as far as they depend on these. */
huddle_status hd_refine_graph_order(const hd_refine_graph *graph, const int32_t *order,
                                    hd_refine_graph *ordered) {
    huddle_status status = HUDDLE_OK;
    const huddle_csr *from = graph->matrix;
    int32_t *position = NULL;
    int64_t *next = NULL, n = graph->n;
    memset(ordered, 0, sizeof *ordered);
    ALLOC(position, n);
    ALLOC(next, n);
    ALLOC(ordered->degree, n);
    TRY(huddle_csr_new(n, n, from->offsets[n], &ordered->own));
    for (int64_t k = 0; k < n; k++) {
        next[k] = ordered->own.offsets[k];
        ordered->own.offsets[k + 1] = next[k] + count_entries(from, order[k]);
        ordered->degree[k] = graph->degree[order[k]];
        position[order[k]] = (int32_t)k;
    }
    order_entries(from, order, position, next, &ordered->own);
    ordered->matrix = &ordered->own;
    ordered->n = n;
    ordered->unit = graph->unit;
    ordered->hidden = graph->hidden;
done:
    FREE(position, next);
    if (status != HUDDLE_OK)
        hd_refine_graph_free(ordered);
    return status;
}

/* ---- the graph of clusters ----------------------------------------------------------------- */

void hd_refine_quotient_free(hd_refine_quotient *quotient) {
    FREE(quotient->offsets, quotient->columns, quotient->weights, quotient->volumes,
         quotient->sizes);
    memset(quotient, 0, sizeof *quotient);
}

/* Sums by cluster while its vertices are visited one after the other. A sum of 0 marks a cluster
 * that was not met yet: entries whose share is 0, or underflows to it, are skipped, and positive
 * numbers do not add up to 0. */
typedef struct sums {
    double *weight;   /* n_clusters, 0 but for the touched ones */
    int32_t *touched; /* n_clusters */
    int64_t count;
} sums;

/* Adds the edges of vertex i to the sums. `own` is its cluster, which is left out: the gains (26)
 * and (27) depend on what is between clusters and on their volumes, not on what is inside. */
static void add_edges(const hd_refine_graph *graph, const int32_t *labels, int64_t i, int32_t own,
                      sums *to) {
    const huddle_csr *a = graph->matrix;
    for (int64_t e = a->offsets[i]; e < a->offsets[i + 1]; e++) {
        int32_t other = labels != NULL ? labels[a->columns[e]] : a->columns[e];
        double weight = a->values[e] * graph->unit;
        if (other == own || weight <= 0)
            continue;
        if (to->weight[other] == 0)
            to->touched[to->count++] = other;
        to->weight[other] += weight;
    }
}

/* Appends the sums as row k and clears them. There is room for every edge of the graph. */
static void write_row(hd_refine_quotient *quotient, int64_t k, sums *from) {
    int64_t at = quotient->offsets[k];
    for (int64_t t = 0; t < from->count; t++) {
        quotient->columns[at + t] = from->touched[t];
        quotient->weights[at + t] = from->weight[from->touched[t]];
        from->weight[from->touched[t]] = 0;
    }
    quotient->offsets[k + 1] = at + from->count;
    from->count = 0;
}

/* The entries of the quotient are fewer than those between clusters, which are counted first, and
 * than all pairs of clusters. */
static int64_t count_room(const hd_refine_graph *graph, const int32_t *labels, int64_t n_clusters) {
    const huddle_csr *a = graph->matrix;
    int64_t count = 0;
    if (labels == NULL)
        return a->offsets[graph->n];
    for (int64_t i = 0; i < graph->n; i++)
        for (int64_t e = a->offsets[i]; e < a->offsets[i + 1]; e++)
            count += labels[a->columns[e]] != labels[i];
    return n_clusters < INT32_MAX / n_clusters && n_clusters * n_clusters < count
               ? n_clusters * n_clusters
               : count;
}

huddle_status hd_refine_quotient_allocate(int64_t n, int64_t room, hd_refine_quotient *quotient) {
    huddle_status status = HUDDLE_OK;
    *quotient = (hd_refine_quotient){.n = n};
    ALLOC_ZERO(quotient->offsets, n + 1);
    ALLOC(quotient->columns, room);
    ALLOC(quotient->weights, room);
    ALLOC_ZERO(quotient->volumes, n);
    ALLOC_ZERO(quotient->sizes, n);
done:
    return status;
}

/* Cluster by cluster, with the vertices of each listed first: one array of sums serves all rows,
 * and clearing it takes no longer than writing the row. The whole takes time in proportion to the
 * entries of the graph, however many clusters there are. */
huddle_status hd_refine_quotient_new(const hd_refine_graph *graph, const int32_t *labels,
                                     int64_t n_clusters, hd_refine_quotient *quotient) {
    huddle_status status = HUDDLE_OK;
    int32_t *members = NULL;
    int64_t *begin = NULL;
    sums to = {0};
    TRY(hd_refine_quotient_allocate(n_clusters, count_room(graph, labels, n_clusters), quotient));
    ALLOC_ZERO(to.weight, n_clusters);
    ALLOC(to.touched, n_clusters);
    if (labels != NULL) {
        ALLOC(members, graph->n);
        ALLOC(begin, n_clusters + 2);
        hd_list_members(graph->n, labels, n_clusters, begin, members);
    }
    for (int64_t k = 0; k < n_clusters; k++) {
        int64_t first = labels != NULL ? begin[k] : k, end = labels != NULL ? begin[k + 1] : k + 1;
        for (int64_t t = first; t < end; t++) {
            int64_t i = labels != NULL ? members[t] : t;
            add_edges(graph, labels, i, (int32_t)k, &to);
            quotient->volumes[k] += graph->degree[i];
        }
        quotient->sizes[k] = (int32_t)(end - first);
        write_row(quotient, k, &to);
    }
done:
    FREE(members, begin, to.weight, to.touched);
    if (status != HUDDLE_OK)
        hd_refine_quotient_free(quotient);
    return status;
}
