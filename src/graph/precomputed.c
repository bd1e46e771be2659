/* Graphs and neighbour lists from matrices of similarities or distances that the caller already
 * has. */
#include "base/check.h"
#include "base/slabs.h"
#include "graph/common.h"
#include "graph/search.h"

#include <math.h>

/* Square over all processes: each has some of the rows and all columns. */
static huddle_status check_square(huddle_context *context, int64_t rows, int64_t cols,
                                  const char *what, hd_slab *slab) {
    huddle_status status = HUDDLE_OK;
    TRY(hd_slab_locate(context, rows, slab));
    if (slab->total != cols || rows < 1 || slab->total > INT32_MAX)
        FAIL(HUDDLE_INVALID, "%s must be a square matrix, not %lld x %lld", what,
             (long long)slab->total, (long long)cols);
done:
    return status;
}

/* Similarities and distances are both finite and not negative; the message names the first place
 * that is not. The later stages need a positive semidefinite Laplacian, but x'Lx, the sum of a_ij
 * (x_i - x_j)^2 over the edges, may be negative if a weight is. Infinity is the distance of empty
 * places in lists. */
static huddle_status check_value(double value, int64_t row, int64_t column, const char *what) {
    if (isnan(value) || isinf(value))
        return hd_fail(HUDDLE_INVALID, "%s: row %lld, column %lld: the value is %s", what,
                       (long long)row + 1, (long long)column + 1,
                       isnan(value) ? "not a number" : "infinite");
    if (value < 0)
        return hd_fail(HUDDLE_INVALID, "%s: row %lld, column %lld: %g is negative", what,
                       (long long)row + 1, (long long)column + 1, value);
    return HUDDLE_OK;
}

/* Values first: the message of huddle_csr_check() would not name the matrix that contains the
 * NaN. */
static huddle_status check_csr(huddle_context *context, const huddle_csr *matrix, const char *what,
                               hd_slab *slab) {
    huddle_status status = HUDDLE_OK;
    TRY(huddle_csr_fetch(matrix));
    TRY(check_square(context, matrix->rows, matrix->cols, what, slab));
    if (matrix->offsets != NULL)
        for (int64_t i = 0; i < matrix->rows; i++)
            for (int64_t e = matrix->offsets[i]; e < matrix->offsets[i + 1]; e++)
                TRY(check_value(matrix->values[e], i, matrix->columns[e], what));
    TRY(huddle_csr_check(matrix));
done:
    return status;
}

static huddle_status check_dense(huddle_context *context, const huddle_dense *matrix,
                                 const char *what, hd_slab *slab) {
    huddle_status status = HUDDLE_OK;
    TRY(huddle_dense_fetch(matrix));
    TRY(check_square(context, matrix->rows, matrix->cols, what, slab));
    if (matrix->stride < matrix->cols || matrix->values == NULL)
        FAIL(HUDDLE_INVALID, "%s: stride = %lld is less than the %lld columns", what,
             (long long)matrix->stride, (long long)matrix->cols);
    for (int64_t i = 0; i < matrix->rows; i++)
        for (int64_t j = 0; j < matrix->cols; j++)
            TRY(check_value(matrix->values[i * matrix->stride + j], i, j, what));
done:
    return status;
}

/* ---- similarities -------------------------------------------------------------------------- */

static const char affinity_name[] = "the affinity", distances_name[] = "the distances";

/* An affinity need not be symmetric, nor have an empty diagonal. Entries that differ by rounding
 * become the larger of the two. Where some differ by more than one part in 10^9, which is no
 * rounding, (A + A') / 2 replaces A. The second step also drops the diagonal and zeros. */
static huddle_status graph_of_pairs(huddle_context *context, const huddle_csr *affinity,
                                    huddle_csr *graph) {
    huddle_status status = HUDDLE_OK;
    huddle_csr average = {0};
    TRY(huddle_csr_symmetric_part(context, affinity, &average));
    TRY(hd_graph_symmetrize(context, average.offsets != NULL ? &average : affinity, graph));
done:
    huddle_csr_free(&average);
    return status;
}

huddle_status huddle_graph_from_affinity(huddle_context *context, const huddle_csr *affinity,
                                         huddle_csr *graph) {
    huddle_status status = HUDDLE_OK;
    hd_slab slab;
    *graph = (huddle_csr){0};
    /* Entries (i, j) and (j, i), which are compared, may be on different processes. */
    TRY(hd_slabs_refuse(context, "making a graph from an affinity matrix"));
    TRY(check_csr(context, affinity, affinity_name, &slab));
    TRY(graph_of_pairs(context, affinity, graph));
done:
    return hd_agree(context, status);
}

/* A dense affinity is converted to the sparse matrix of its entries that are not 0. They are
 * counted first, so that only as much is allocated; columns ascend in every row, as merging with
 * the transpose requires. */
huddle_status huddle_graph_from_affinity_dense(huddle_context *context,
                                               const huddle_dense *affinity, huddle_csr *graph) {
    huddle_status status = HUDDLE_OK;
    huddle_csr sparse = {0};
    hd_slab slab;
    int64_t entries = 0, at = 0;
    *graph = (huddle_csr){0};
    TRY(hd_slabs_refuse(context, "making a graph from an affinity matrix"));
    TRY(check_dense(context, affinity, affinity_name, &slab));
    for (int64_t i = 0; i < affinity->rows; i++)
        for (int64_t j = 0; j < affinity->cols; j++)
            entries += affinity->values[i * affinity->stride + j] != 0;
    TRY(huddle_csr_new(affinity->rows, affinity->cols, entries, &sparse));
    for (int64_t i = 0; i < affinity->rows; i++) {
        for (int64_t j = 0; j < affinity->cols; j++) {
            double value = affinity->values[i * affinity->stride + j];
            if (value == 0)
                continue;
            sparse.columns[at] = (int32_t)j;
            sparse.values[at++] = value;
        }
        sparse.offsets[i + 1] = at;
    }
    TRY(graph_of_pairs(context, &sparse, graph));
done:
    huddle_csr_free(&sparse);
    return hd_agree(context, status);
}

/* ---- distances ----------------------------------------------------------------------------- */

/* Empty lists, no longer than there are other points on all processes. An empty place is behind
 * every distance that can be offered. */
static huddle_status open_lists(int64_t n, int64_t total, int32_t n_neighbors,
                                huddle_neighbors *out) {
    if (n_neighbors < 1)
        return hd_fail(HUDDLE_INVALID, "n_neighbors = %d is less than 1", n_neighbors);
    huddle_status status =
        hd_graph_neighbors_new(n, n_neighbors < total ? n_neighbors : (int32_t)(total - 1), out);
    for (int64_t e = 0; status == HUDDLE_OK && e < n * out->k; e++) {
        out->index[e] = INT32_MAX;
        out->distance[e] = INFINITY;
    }
    return status;
}

/* Lists of length 0 occur where there is only one point. */
static void insert_neighbor(huddle_neighbors *out, int64_t i, int64_t j, double distance) {
    if (out->k > 0)
        hd_graph_list_insert(out->distance + i * out->k, out->index + i * out->k, out->k, distance,
                             (int32_t)j);
}

/* Only stored entries are neighbours, so that lists may have empty places. An absent entry is an
 * unknown distance, not a distance of 0. An explicit 0 is a duplicate. The diagonal is left out by
 * its number, since duplicates have the same distance as the point itself. */
huddle_status huddle_graph_from_distances(huddle_context *context, const huddle_csr *distances,
                                          int32_t n_neighbors, huddle_neighbors *out) {
    huddle_status status = HUDDLE_OK;
    hd_slab slab;
    *out = (huddle_neighbors){0};
    TRY(check_csr(context, distances, distances_name, &slab));
    TRY(open_lists(distances->rows, slab.total, n_neighbors, out));
    for (int64_t i = 0; i < distances->rows; i++)
        for (int64_t e = distances->offsets[i]; e < distances->offsets[i + 1]; e++)
            if (distances->columns[e] != slab.first + i)
                insert_neighbor(out, i, distances->columns[e], distances->values[e]);
    /* Lists of the caller end with -1; INT32_MAX is needed only while they are sorted. */
    for (int64_t e = 0; e < out->n * out->k; e++)
        if (out->index[e] == INT32_MAX)
            out->index[e] = -1;
done:
    if (status != HUDDLE_OK)
        huddle_neighbors_free(out);
    return hd_agree(context, status);
}

/* Offers by ascending column: hd_graph_list_insert() keeps the smaller index of two equal
 * distances. In random order about k (1 + log(n / k)) of n offers enter a list, and the others take
 * one comparison with its last entry: less than sorting whole rows. */
huddle_status huddle_graph_from_distances_dense(huddle_context *context,
                                                const huddle_dense *distances, int32_t n_neighbors,
                                                huddle_neighbors *out) {
    huddle_status status = HUDDLE_OK;
    hd_slab slab;
    *out = (huddle_neighbors){0};
    TRY(check_dense(context, distances, distances_name, &slab));
    TRY(open_lists(distances->rows, slab.total, n_neighbors, out));
    for (int64_t i = 0; i < distances->rows; i++)
        for (int64_t j = 0; j < distances->cols; j++)
            if (j != slab.first + i)
                insert_neighbor(out, i, j, distances->values[i * distances->stride + j]);
done:
    if (status != HUDDLE_OK)
        huddle_neighbors_free(out);
    return hd_agree(context, status);
}

/* Over both triangles: the matrix need not be symmetric. Each process has some of the rows. There
 * are n (n - 1) ordered pairs of different rows; for a symmetric matrix this is the mean over
 * pairs. */
huddle_status huddle_graph_mean_of_distances(huddle_context *context, const huddle_dense *distances,
                                             double *mean) {
    huddle_status status = HUDDLE_OK;
    hd_slab slab;
    *mean = 0;
    TRY(check_dense(context, distances, distances_name, &slab));
    double sum = 0, n = (double)slab.total;
    for (int64_t i = 0; i < distances->rows; i++)
        for (int64_t j = 0; j < distances->cols; j++)
            sum += j != slab.first + i ? distances->values[i * distances->stride + j] : 0;
    TRY(hd_reduce_sum(context, 1, &sum));
    *mean = n > 1 ? sum / (n * (n - 1)) : 0;
done:
    return hd_agree(context, status);
}
