/* Supernodes: parts of a graph around seeds, or halves of it by an embedding; their links to the
 * vertices; and the singular vectors of these links. Time is linear in the edges, but for the heap
 * of the shortest paths and for a matrix of supernodes x supernodes. */
#include "steps/supernodes.h"

#include "base/blas.h"
#include "base/check.h"
#include "base/context.h"
#include "steps/row_sums.h"

#include <lapacke.h>
#include <math.h>

/* Added to the length of each edge, so that of paths over edges of the largest weight, in a graph
 * of equal weights all of them, the one with the fewest edges is the shortest. */
static const double edge_length = 1e-6;

/* A row may have thousands of supernodes, and takes the square of that. */
enum { ROWS_PER_CHECK = 1024 };

/* Squared singular values below this are rounding errors; the largest is 1. The vectors are divided
 * by their roots. */
static const double rank_tolerance = 1e-12;

/* A column of an embedding that varies less than this, relative to its largest entry, is
 * constant. */
static const double constant_share = 1e-8;

/* ---- shortest paths ------------------------------------------------------------------------ */

/* A path that ends at a vertex; the heap has the shortest first, of equal ones that of the first
 * seed, then that to the first vertex. */
typedef struct path {
    double length;
    int32_t seed;
    int64_t vertex;
} path;

typedef struct heap {
    path *items;
    int64_t count, capacity;
} heap;

static bool is_before(const path *a, const path *b) {
    if (a->length != b->length)
        return a->length < b->length;
    return a->seed != b->seed ? a->seed < b->seed : a->vertex < b->vertex;
}

static huddle_status push(heap *h, path item) {
    if (!hd_grow(&h->items, &h->capacity, h->count + 1, sizeof *h->items))
        return hd_fail(HUDDLE_NO_MEMORY, "no memory for %lld paths", (long long)h->count + 1);
    int64_t at = h->count++;
    for (; at > 0 && is_before(&item, &h->items[(at - 1) / 2]); at = (at - 1) / 2)
        h->items[at] = h->items[(at - 1) / 2];
    h->items[at] = item;
    return HUDDLE_OK;
}

static path pop(heap *h) {
    path first = h->items[0], last = h->items[--h->count];
    int64_t at = 0, child = 1;
    for (; child < h->count; at = child, child = 2 * at + 1) {
        if (child + 1 < h->count && is_before(&h->items[child + 1], &h->items[child]))
            child++;
        if (!is_before(&h->items[child], &last))
            break;
        h->items[at] = h->items[child];
    }
    h->items[at] = last;
    return first;
}

/* Dijkstra's algorithm from all seeds at once. A vertex may be in the heap several times; the first
 * path that is taken out is its shortest. */
static huddle_status follow_paths(huddle_context *context, const huddle_csr *graph, double largest,
                                  heap *h, double *shortest, int32_t *of) {
    huddle_status status = HUDDLE_OK;
    for (int64_t steps = 0; h->count > 0; steps++) {
        path p = pop(h);
        if (of[p.vertex] >= 0)
            continue;
        of[p.vertex] = p.seed;
        if (steps % 4096 == 0)
            TRY(hd_check_cancel(context));
        for (int64_t e = graph->offsets[p.vertex]; e < graph->offsets[p.vertex + 1]; e++) {
            int64_t to = graph->columns[e];
            if (of[to] >= 0 || !(graph->values[e] > 0))
                continue;
            double length = p.length - log(graph->values[e] / largest) + edge_length;
            if (length > shortest[to])
                continue;
            shortest[to] = length;
            TRY(push(h, (path){length, p.seed, to}));
        }
    }
done:
    return status;
}

huddle_status hd_step_supernodes_grow(huddle_context *context, const huddle_csr *graph,
                                      int64_t n_seeds, const int64_t *seeds, int32_t *of,
                                      int64_t *count) {
    huddle_status status = HUDDLE_OK;
    heap h = {0};
    double *shortest = NULL, largest = 0;
    int64_t n = graph->rows;
    ALLOC(shortest, n);
    for (int64_t v = 0; v < n; v++) {
        shortest[v] = INFINITY;
        of[v] = -1;
    }
    for (int64_t e = 0; e < graph->offsets[n]; e++)
        largest = fmax(largest, graph->values[e]);
    for (int64_t k = 0; k < n_seeds; k++)
        TRY(push(&h, (path){0, (int32_t)k, seeds[k]}));
    TRY(follow_paths(context, graph, largest, &h, shortest, of));
    *count = n_seeds;
    for (int64_t v = 0; v < n; v++) {
        if (of[v] >= 0)
            continue;
        TRY(push(&h, (path){0, (int32_t)*count, v}));
        ++*count;
        TRY(follow_paths(context, graph, largest, &h, shortest, of));
    }
done:
    FREE(shortest, h.items);
    return status;
}

/* ---- R ------------------------------------------------------------------------------------- */

huddle_status hd_step_supernodes_of(int64_t n, int64_t count, const int32_t *of, huddle_csr *r) {
    huddle_status status = HUDDLE_OK;
    TRY(huddle_csr_new(n, count, n, r));
    for (int64_t v = 0; v < n; v++) {
        r->columns[v] = of[v];
        r->values[v] = 1;
        r->offsets[v + 1] = v + 1;
    }
done:
    return status;
}

/* The mean of a column, or NAN if it is constant. */
static double splitting_mean(const huddle_dense *m, int64_t k) {
    double sum = 0, low = INFINITY, high = -INFINITY;
    for (int64_t i = 0; i < m->rows; i++) {
        double value = m->values[i * m->stride + k];
        sum += value;
        low = fmin(low, value);
        high = fmax(high, value);
    }
    return high - low > constant_share * fmax(high, -low) ? sum / (double)m->rows : NAN;
}

huddle_status hd_step_supernodes_split(const huddle_dense *embedding, huddle_csr *r) {
    huddle_status status = HUDDLE_OK;
    double *means = NULL;
    int64_t n = embedding->rows, kept = 0, columns = embedding->cols;
    ALLOC(means, columns);
    for (int64_t k = 0; k < columns; k++) {
        means[k] = splitting_mean(embedding, k);
        kept += !isnan(means[k]);
    }
    int64_t each = kept > 0 ? kept : 1; /* supernodes of a vertex */
    TRY(huddle_csr_new(n, kept > 0 ? 2 * kept : 1, n * each, r));
    for (int64_t i = 0; i < n; i++) {
        int64_t at = i * each, column = 0;
        r->values[at] = 1;
        for (int64_t k = 0; k < columns; k++) {
            if (isnan(means[k]))
                continue;
            bool below = embedding->values[i * embedding->stride + k] < means[k];
            r->columns[at + column] = (int32_t)(2 * column + below);
            r->values[at + column++] = 1;
        }
        r->offsets[i + 1] = at + each;
    }
done:
    huddle_free(means);
    return status;
}

/* ---- links --------------------------------------------------------------------------------- */

typedef struct linking {
    const huddle_csr *graph, *r;
} linking;

static void add_supernodes(const huddle_csr *r, int64_t vertex, double weight,
                           hd_step_row_sum *sum) {
    int64_t at = r->offsets[vertex];
    hd_step_row_add(sum, weight, r->offsets[vertex + 1] - at, r->columns + at, r->values + at);
}

static void link_vertex(const void *of, int64_t vertex, hd_step_row_sum *sum) {
    const linking *l = of;
    const huddle_csr *graph = l->graph;
    double degree = 0;
    for (int64_t e = graph->offsets[vertex]; e < graph->offsets[vertex + 1]; e++)
        degree += graph->values[e];
    if (!(degree > 0)) {
        add_supernodes(l->r, vertex, 1, sum);
        return;
    }
    for (int64_t e = graph->offsets[vertex]; e < graph->offsets[vertex + 1]; e++)
        add_supernodes(l->r, graph->columns[e], graph->values[e], sum);
}

huddle_status hd_step_supernodes_link(huddle_context *context, const huddle_csr *graph,
                                      const huddle_csr *r, huddle_csr *links) {
    const linking l = {graph, r};
    return hd_step_sum_rows(context, graph->rows, r->cols, link_vertex, &l, links);
}

/* ---- singular vectors ---------------------------------------------------------------------- */

/* Z = D1^-1/2 links D2^-1/2 in place; degrees become D1. A supernode without links has no entry. */
static huddle_status normalise(huddle_csr *z, double *degrees) {
    huddle_status status = HUDDLE_OK;
    double *sums = NULL;
    ALLOC_ZERO(sums, z->cols);
    for (int64_t i = 0; i < z->rows; i++) {
        degrees[i] = 0;
        for (int64_t e = z->offsets[i]; e < z->offsets[i + 1]; e++) {
            degrees[i] += z->values[e];
            sums[z->columns[e]] += z->values[e];
        }
    }
    for (int64_t i = 0; i < z->rows; i++)
        for (int64_t e = z->offsets[i]; e < z->offsets[i + 1]; e++)
            z->values[e] /= sqrt(degrees[i] * sums[z->columns[e]]);
done:
    huddle_free(sums);
    return status;
}

/* The largest eigenpairs of Z'Z, s x s, in ascending order: mu (s), v (s x limit). */
static huddle_status decompose(huddle_context *context, const huddle_csr *z, int limit, double *mu,
                               double *v) {
    huddle_status status = HUDDLE_OK;
    int s = (int)z->cols, found = 0;
    double *gram = NULL;
    int *support = NULL;
    ALLOC_ZERO(gram, (int64_t)s * s);
    ALLOC(support, 2 * (int64_t)s);
    for (int64_t i = 0; i < z->rows; i++) {
        if (i % ROWS_PER_CHECK == 0)
            TRY(hd_check_cancel(context));
        for (int64_t a = z->offsets[i]; a < z->offsets[i + 1]; a++)
            for (int64_t b = z->offsets[i]; b <= a; b++)
                gram[(int64_t)z->columns[a] * s + z->columns[b]] += z->values[a] * z->values[b];
    }
    if (LAPACKE_dsyevr(LAPACK_ROW_MAJOR, 'V', 'I', 'L', s, gram, s, 0, 0, s - limit + 1, s, 0,
                       &found, mu, v, limit, support) != 0 ||
        found != limit)
        FAIL(HUDDLE_NUMERIC, "the eigensolver failed on %d supernodes", s);
done:
    FREE(gram, support);
    return status;
}

/* The left singular vectors are Z v / sqrt(mu). */
huddle_status hd_step_supernodes_vectors(huddle_context *context, const huddle_csr *links,
                                         int64_t n_wanted, huddle_embedding *out) {
    huddle_status status = HUDDLE_OK;
    huddle_csr z = {0};
    double *mu = NULL, *v = NULL;
    int limit = (int)(n_wanted < links->cols ? n_wanted : links->cols), rank = 0;
    hd_blas_enter();
    TRY(hd_check_cancel(context));
    TRY(huddle_csr_copy(links, &z));
    ALLOC(out->degrees, z.rows);
    ALLOC(mu, z.cols);
    ALLOC(v, z.cols * limit);
    TRY(normalise(&z, out->degrees));
    TRY(decompose(context, &z, limit, mu, v));
    while (rank < limit && mu[limit - 1 - rank] > rank_tolerance)
        rank++;
    TRY(huddle_dense_new(z.rows, rank, &out->vectors));
    ALLOC(out->eigenvalues, rank);
    out->n_eigenvalues = rank;
    for (int k = 0; k < rank; k++) {
        int column = limit - 1 - k; /* the largest come last */
        double sigma = sqrt(mu[column]);
        out->eigenvalues[k] = fmax(1 - sigma, 0);
        for (int64_t i = 0; i < z.rows; i++)
            for (int64_t e = z.offsets[i]; e < z.offsets[i + 1]; e++)
                out->vectors.values[i * rank + k] +=
                    z.values[e] * v[(int64_t)z.columns[e] * limit + column] / sigma;
    }
done:
    hd_blas_leave();
    huddle_csr_free(&z);
    FREE(mu, v);
    return status;
}
