/* The numbers of clusters: by first member. Cluster 0 contains the first row, cluster 1 the first
 * row that is not in cluster 0, and so on; empty clusters come last.
 *
 * K-means numbers its clusters by the draws of its restarts, a rotation by its axes. Which of
 * several equally good restarts is the best is decided by rounding, and so by the kernels that the
 * BLAS chooses for the CPU: the same clusters would have other numbers on another machine. */
#include "fit/fit.h"

#include "base/check.h"
#include "base/slabs.h"
#include "matrix/labels.h"
#include "matrix/resident.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct first_row {
    double row;
    int32_t cluster;
} first_row;

/* By row; empty clusters, whose rows are all infinite, in the order that they had. */
static int compare_first(const void *a, const void *b) {
    const first_row *x = a, *y = b;
    if (x->row != y->row)
        return x->row < y->row ? -1 : 1;
    return (x->cluster > y->cluster) - (x->cluster < y->cluster);
}

huddle_status hd_fit_order_labels(huddle_context *context, int64_t n, const int32_t *labels,
                                  int32_t n_clusters, int32_t *numbers, int32_t *count) {
    huddle_status status = HUDDLE_OK;
    double *first = NULL;
    first_row *order = NULL;
    int32_t occurring = 0;
    ALLOC(first, n_clusters);
    ALLOC(order, n_clusters);
    TRY(hd_find_first_rows(context, n, labels, n_clusters, first));
    for (int32_t k = 0; k < n_clusters; k++) {
        order[k] = (first_row){first[k], k};
        occurring += isfinite(first[k]);
    }
    qsort(order, (size_t)n_clusters, sizeof *order, compare_first);
    for (int32_t k = 0; k < n_clusters; k++)
        numbers[order[k].cluster] = k;
    if (count != NULL)
        *count = occurring;
done:
    FREE(first, order);
    return status;
}

static void number_rows(int64_t n, const int32_t *numbers, int32_t *labels) {
    for (int64_t i = 0; i < n && labels != NULL; i++)
        labels[i] = numbers[labels[i]];
}

huddle_status hd_fit_number_labels(huddle_context *context, int64_t n, int32_t n_clusters,
                                   int32_t *labels) {
    huddle_status status = HUDDLE_OK;
    int32_t *numbers = NULL;
    ALLOC(numbers, n_clusters);
    TRY(hd_fit_order_labels(context, n, labels, n_clusters, numbers, NULL));
    number_rows(n, numbers, labels);
done:
    huddle_free(numbers);
    return status;
}

/* ---- everything that is indexed by clusters ---------------------------------------------------
 */

/* Row k becomes row numbers[k]. There may be fewer centres than clusters: those without one are
 * empty, so that they stay behind the others. */
static huddle_status number_centres(const int32_t *numbers, huddle_dense *centres) {
    huddle_status status = HUDDLE_OK;
    huddle_dense old = {0};
    size_t size = (size_t)centres->cols * sizeof *centres->values;
    if (centres->rows == 0)
        return status;
    TRY(huddle_dense_fetch(centres));
    TRY(huddle_dense_copy(centres, &old));
    hd_resident_invalidate(centres->resident);
    for (int64_t k = 0; k < old.rows; k++) {
        if (numbers[k] >= old.rows)
            FAIL(HUDDLE_INTERNAL, "a cluster has rows, but there are only %lld centres",
                 (long long)old.rows);
        memcpy(centres->values + numbers[k] * centres->stride, old.values + k * old.stride, size);
    }
done:
    huddle_dense_free(&old);
    return status;
}

static huddle_status number_medoids(const int32_t *numbers, int64_t count, int64_t *medoids) {
    huddle_status status = HUDDLE_OK;
    int64_t *old = NULL;
    if (medoids == NULL)
        return status;
    ALLOC(old, count);
    memcpy(old, medoids, (size_t)count * sizeof *old);
    for (int64_t k = 0; k < count; k++)
        medoids[numbers[k]] = old[k];
done:
    huddle_free(old);
    return status;
}

/* The method's own labels keep the numbers of the refined ones, which were matched to them: users
 * compare the two row by row. Every restart of K-means is a labelling for itself. */
huddle_status hd_fit_number_clusters(huddle_context *context, hd_fit *fit) {
    huddle_status status = HUDDLE_OK;
    hd_fit_clusters *clusters = &fit->clusters;
    huddle_kmeans_info *kmeans = &clusters->kmeans;
    int64_t n = fit->rows.n;
    int32_t *numbers = NULL;
    ALLOC(numbers, clusters->n_clusters);
    TRY(hd_fit_order_labels(context, n, clusters->labels, clusters->n_clusters, numbers, NULL));
    TRY(number_centres(numbers, &clusters->centres));
    TRY(number_centres(numbers, &fit->refined.centres));
    TRY(number_medoids(numbers, clusters->centres.rows, clusters->medoids));
    number_rows(n, numbers, clusters->labels);
    number_rows(n, numbers, fit->refined.own);
    for (int32_t r = 0; kmeans->start_labels != NULL && r < kmeans->n_restarts; r++)
        TRY(hd_fit_number_labels(context, n, clusters->n_clusters, kmeans->start_labels + r * n));
done:
    huddle_free(numbers);
    return hd_agree(context, status);
}
