/* Neighbours of sparse points: inner products by an inverted index, without dense rows.
 *
 * The inner products of a query with all training points are accumulated column by column; then
 *
 *     |x - y|^2 = |x|^2 + |y|^2 - 2 <x, y>
 *
 * in double. The cancellation in this formula is bounded as in brute.c, and the distances of the
 * candidates are computed again by differences. */
#include "base/check.h"
#include "base/parallel.h"
#include "graph/search.h"
#include "graph/sparse_rows.h"

#include <float.h>
#include <math.h>
#include <string.h>

enum {
    SPARE = 3, /* more candidates than neighbours, as in brute.c */
    QUERIES_PER_CHUNK = 64,
};

typedef struct index {
    hd_graph_search *search;
    hd_graph_sparse_rows train, own;
    const hd_graph_sparse_rows *query; /* &train or &own */
    int64_t *offsets;                  /* the training points by columns: d + 1 */
    int32_t *rows;
    float *values;
    double *products; /* workers x n */
    double *near;     /* workers x spare k */
    int32_t *near_rows;
    int32_t k;
    double longest; /* number of values of the longest training row */
} index;

/* ---- the index ----------------------------------------------------------------------------- */

/* Stores the training points by columns: the list of a column contains all training points that
 * share this feature with a query. */
static huddle_status invert_points(index *t) {
    huddle_status status = HUDDLE_OK;
    const huddle_points *x = t->train.x;
    int64_t nonzeros = x->offsets[x->n];
    ALLOC_ZERO(t->offsets, x->d + 1);
    ALLOC(t->rows, nonzeros);
    ALLOC(t->values, nonzeros);
    for (int64_t e = 0; e < nonzeros; e++)
        t->offsets[x->columns[e] + 1]++;
    for (int64_t f = 0; f < x->d; f++)
        t->offsets[f + 1] += t->offsets[f];
    for (int64_t i = 0; i < x->n; i++)
        for (int64_t e = x->offsets[i]; e < x->offsets[i + 1]; e++) {
            int64_t at = t->offsets[x->columns[e]]++;
            t->rows[at] = (int32_t)i;
            t->values[at] = x->values[e];
        }
    /* A counting sort: every offset is now the end of its column, where the next one begins. */
    memmove(t->offsets + 1, t->offsets, (size_t)x->d * sizeof *t->offsets);
    t->offsets[0] = 0;
done:
    return status;
}

/* ---- one query ----------------------------------------------------------------------------- */

/* The inner products of query i with all training points, without the scale of the cosine. The work
 * is proportional to the products that are not 0. Columns are added in ascending order for every
 * pair, hence the sums do not depend on the number of threads. */
static void multiply_query(const index *t, int64_t i, double *products) {
    const huddle_points *x = t->query->x;
    memset(products, 0, (size_t)t->train.x->n * sizeof *products);
    for (int64_t e = x->offsets[i]; e < x->offsets[i + 1]; e++) {
        double v = (double)x->values[e];
        int64_t column = x->columns[e];
        for (int64_t p = t->offsets[column]; p < t->offsets[column + 1]; p++)
            products[t->rows[p]] += v * (double)t->values[p];
    }
}

/* The squared distance from the inner product. Rows of zeros under cosine have no inner product
 * that would give it (sparse_rows.c). */
static double approximate_distance2(const index *t, int64_t i, int64_t j, const double *products) {
    double s = t->query->scale[i], r = t->train.scale[j];
    if (s == 0 || r == 0)
        return s == r ? 0 : 2;
    return t->query->norm2[i] + t->train.norm2[j] - 2 * s * r * products[j];
}

/* Inserts the named points into the list with their distances by differences; returns their
 * number. */
static int64_t insert_exact_distances(const index *t, int64_t i, const int32_t *candidates,
                                      int64_t count) {
    hd_graph_search *s = t->search;
    for (int64_t c = 0; c < count; c++)
        hd_graph_list_insert(s->distance2 + i * s->k, s->index + i * s->k, s->k,
                             hd_graph_sparse_distance2(t->query, i, &t->train, candidates[c]),
                             candidates[c]);
    return count;
}

/* A bound on the difference between approximate_distance2() and the distance by differences. With u
 * = 2^-53 and rows of p and q values and of norms X and Y, the error of the norms is at most p u
 * X^2 and q u Y^2, of the product 2 min(p, q) u X Y, of the sums 2 u (X^2 + Y^2), of the scales of
 * the cosine a few u more, and of the distance by differences (p + q + 3) u times itself, which is
 * at most 2 (X^2 + Y^2): in total less than (p + q + 16) 4 u (X^2 + Y^2). */
static double rounding_error(double terms, double norm2, double other2) {
    return (terms + 16) * 0x1p-51 * (norm2 + other2);
}

static double row_length(const hd_graph_sparse_rows *rows, int64_t i) {
    return (double)(rows->x->offsets[i + 1] - rows->x->offsets[i]);
}

/* The largest value of approximate_distance2() for a training row j whose squared distance is at
 * most within2. */
static double max_approximate(const index *t, int64_t i, int64_t j, double within2) {
    return within2 + rounding_error(row_length(t->query, i) + row_length(&t->train, j),
                                    t->query->norm2[i], t->train.norm2[j]);
}

/* The same for any row: it has at most as many values as the longest, and its norm is at most that
 * of the query plus the distance. By the triangle inequality, a row within that distance cannot
 * have a larger norm. */
static double max_approximate_of_all(const index *t, int64_t i, double within2) {
    double other = sqrt(t->query->norm2[i]) + sqrt(within2);
    return within2 +
           rounding_error(row_length(t->query, i) + t->longest, t->query->norm2[i], other * other);
}

/* Searches the neighbours of query i; returns the number of distances by differences. As in
 * brute.c, the list is final if no other point can be nearer than its k-th; otherwise every point
 * within the bound is compared by differences. `within2`, the k-th distance among the candidates,
 * is an upper bound of the k-th distance of all points; the second pass may therefore discard
 * whatever is certainly beyond it. */
static int64_t search_query(const index *t, int64_t i, double *products, double *near,
                            int32_t *candidates) {
    hd_graph_search *s = t->search;
    int64_t compared = 0;
    int32_t found = 0;
    for (int32_t c = 0; c < t->k; c++) {
        near[c] = INFINITY;
        candidates[c] = INT32_MAX;
    }
    multiply_query(t, i, products);
    for (int64_t j = 0; j < t->train.x->n; j++) {
        double value = approximate_distance2(t, i, j, products);
        if (value <= near[t->k - 1] && !hd_graph_search_skips(s, i, j))
            hd_graph_list_insert(near, candidates, t->k, value, (int32_t)j);
    }
    hd_graph_search_clear(s, i, i + 1);
    /* Fewer candidates than places: all points that are not skipped are candidates, and the list is
     * final. */
    while (found < t->k && candidates[found] != INT32_MAX)
        found++;
    compared += insert_exact_distances(t, i, candidates, found);
    double *last = &s->distance2[i * s->k + s->k - 1];
    double within2 = *last;
    if (found < t->k || near[t->k - 1] > max_approximate_of_all(t, i, within2))
        return compared;
    atomic_fetch_add(&s->n_repeated, 1);
    hd_graph_search_clear(s, i, i + 1);
    for (int64_t j = 0; j < t->train.x->n; j++) {
        int32_t name = (int32_t)j;
        /* Points come by ascending index, so that nothing can enter a list of zeros any more. */
        if (*last == 0)
            break;
        if (approximate_distance2(t, i, j, products) <= max_approximate(t, i, j, within2) &&
            !hd_graph_search_skips(s, i, j))
            compared += insert_exact_distances(t, i, &name, 1);
    }
    return compared;
}

static huddle_status search_queries(void *argument, hd_chunk chunk) {
    const index *t = argument;
    double *products = t->products + chunk.worker * t->train.x->n;
    double *near = t->near + (int64_t)chunk.worker * t->k;
    int32_t *candidates = t->near_rows + (int64_t)chunk.worker * t->k;
    int64_t compared = 0;
    for (int64_t i = chunk.begin; i < chunk.end; i++)
        compared += search_query(t, i, products, near, candidates);
    atomic_fetch_add(&t->search->n_distances, compared);
    return HUDDLE_OK;
}

/* The index is built once; every worker has one array of inner products with all training points.
 */
huddle_status hd_graph_search_sparse(huddle_context *context, const huddle_points *train,
                                     const huddle_points *query, bool cosine,
                                     hd_graph_search *search) {
    huddle_status status = HUDDLE_OK;
    index t = {.search = search};
    int64_t workers = hd_workers(context);
    int64_t k = (int64_t)search->k + SPARE;
    t.k = (int32_t)(k < train->n ? k : train->n);
    TRY(hd_graph_sparse_rows_new(train, cosine, &t.train));
    t.query = &t.train;
    if (query != train) {
        TRY(hd_graph_sparse_rows_new(query, cosine, &t.own));
        t.query = &t.own;
    }
    TRY(invert_points(&t));
    for (int64_t j = 0; j < train->n; j++)
        t.longest = fmax(t.longest, row_length(&t.train, j));
    ALLOC(t.products, workers * train->n);
    ALLOC(t.near, workers * t.k);
    ALLOC(t.near_rows, workers * t.k);
    TRY(hd_parallel(context, "graph", query->n, QUERIES_PER_CHUNK, search_queries, &t));
done:
    hd_graph_sparse_rows_free(&t.train);
    hd_graph_sparse_rows_free(&t.own);
    huddle_free(t.offsets);
    huddle_free(t.rows);
    huddle_free(t.values);
    huddle_free(t.products);
    huddle_free(t.near);
    huddle_free(t.near_rows);
    return status;
}
