/* Silhouettes (Rousseeuw, Journal of Computational and Applied Mathematics 1987), of each point or
 * their mean. For point i of cluster C, a is the mean distance to the other points of C, and b the
 * smallest over the other clusters of the mean distance to their points; its silhouette is (b - a)
 * / max(a, b).
 *
 * Distances are computed from inner products in double of points less their mean, block against
 * block, so that BLAS does the work and no array of size n x n is needed.
 *
 * If rows are distributed over processes, every process gets the whole sample and computes the
 * silhouettes of those points of it that are its own. */
#include "huddle/metrics.h"

#include "base/blas.h"
#include "base/check.h"
#include "base/parallel.h"
#include "base/rng.h"
#include "matrix/collect.h"
#include "matrix/labels.h"
#include "matrix/points.h"

#include <cblas.h>
#include <math.h>
#include <string.h>

/* Rows of a block and columns of a tile: their products, 128 kB, stay in the cache. */
enum { BLOCK = 64, TILE = 256 };

typedef struct survey {
    const huddle_points *x; /* the sample */
    const int32_t *labels;  /* ranks 0 .. n_clusters - 1 */
    int64_t n_clusters;
    int64_t *sizes;
    int64_t first, count; /* the points of this process */
    double *mean;         /* d; dense only */
    double *squares;      /* squared norm of each point, less the mean if dense */
    double *values;       /* the silhouettes of those points */
    double *scratch;      /* one piece per worker */
    int64_t scratch_size;
} survey;

/* ---- distances ----------------------------------------------------------------------------- */

/* Converted to double for every tile: single-precision products would lose small distances between
 * points far from the mean. */
static void centred_rows(const survey *s, int64_t begin, int64_t end, double *to) {
    int64_t d = s->x->d;
    for (int64_t i = begin; i < end; i++)
        for (int64_t j = 0; j < d; j++)
            to[(i - begin) * d + j] = (double)s->x->values[i * s->x->stride + j] - s->mean[j];
}

/* products[(i - begin) * TILE + j - first] = <x_i, x_j>. `rows` contains the block, `tile` has room
 * for TILE rows. */
static void dense_products(const survey *s, const double *rows, int64_t count, int64_t first,
                           int64_t last, double *tile, double *products) {
    int d = (int)s->x->d;
    centred_rows(s, first, last, tile);
    cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasTrans, (int)count, (int)(last - first), d, 1,
                rows, d, tile, d, 0, products, TILE);
}

/* The same for sparse points: one row is made dense, in an array that is cleared entry by entry. A
 * product then costs as much as the other row has entries. */
static void sparse_products(const survey *s, int64_t begin, int64_t end, int64_t first,
                            int64_t last, double *row, double *products) {
    const huddle_points *x = s->x;
    for (int64_t i = begin; i < end; i++) {
        for (int64_t e = x->offsets[i]; e < x->offsets[i + 1]; e++)
            row[x->columns[e]] = (double)x->values[e];
        for (int64_t j = first; j < last; j++) {
            double sum = 0;
            for (int64_t e = x->offsets[j]; e < x->offsets[j + 1]; e++)
                sum += row[x->columns[e]] * (double)x->values[e];
            products[(i - begin) * TILE + j - first] = sum;
        }
        for (int64_t e = x->offsets[i]; e < x->offsets[i + 1]; e++)
            row[x->columns[e]] = 0;
    }
}

/* The silhouette of point i from the sums of its distances to each cluster. A cluster of one point
 * has silhouette 0 by definition; the distance to itself is not counted in a. */
static double one_silhouette(const survey *s, int64_t i, const double *sums) {
    int32_t own = s->labels[i];
    if (s->sizes[own] == 1)
        return 0;
    double a = sums[own] / (double)(s->sizes[own] - 1), b = INFINITY;
    for (int64_t c = 0; c < s->n_clusters; c++)
        if (c != own)
            b = fmin(b, sums[c] / (double)s->sizes[c]);
    double larger = fmax(a, b);
    return larger > 0 ? (b - a) / larger : 0;
}

/* Adds the distances of points begin .. end - 1 to a tile of points, by |x|^2 + |y|^2 - 2 <x, y>.
 * Rounding may make the square of a tiny distance negative; the error is negligible in a mean. */
static void add_distances(const survey *s, int64_t begin, int64_t end, int64_t first, int64_t last,
                          const double *products, double *sums) {
    for (int64_t i = begin; i < end; i++) {
        double *sum = sums + (i - begin) * s->n_clusters;
        const double *product = products + (i - begin) * TILE;
        for (int64_t j = first; j < last; j++) {
            double square = s->squares[i] + s->squares[j] - 2 * product[j - first];
            sum[s->labels[j]] += i != j && square > 0 ? sqrt(square) : 0;
        }
    }
}

/* The silhouettes of a block of points: sums of their distances to every cluster, tile by tile.
 * Tiles are visited in order, so that the sums do not depend on the number of threads. */
static huddle_status survey_block(void *argument, hd_chunk chunk) {
    const survey *s = argument;
    int64_t d = s->x->d, n = s->x->n, begin = s->first + chunk.begin, end = s->first + chunk.end;
    bool sparse = s->x->offsets != NULL;
    double *products = s->scratch + chunk.worker * s->scratch_size;
    /* The scratch memory of a worker: products, sums per cluster, then the block and a tile of rows
     * (dense) or one row (sparse). */
    double *sums = products + (int64_t)BLOCK * TILE, *rows = sums + BLOCK * s->n_clusters;
    memset(sums, 0, (size_t)(BLOCK * s->n_clusters) * sizeof *sums);
    if (sparse)
        memset(rows, 0, (size_t)d * sizeof *rows);
    else
        centred_rows(s, begin, end, rows);
    for (int64_t first = 0; first < n; first += TILE) {
        int64_t last = first + TILE < n ? first + TILE : n;
        if (sparse)
            sparse_products(s, begin, end, first, last, rows, products);
        else
            dense_products(s, rows, end - begin, first, last, rows + BLOCK * d, products);
        add_distances(s, begin, end, first, last, products, sums);
    }
    for (int64_t i = begin; i < end; i++)
        s->values[i - s->first] = one_silhouette(s, i, sums + (i - begin) * s->n_clusters);
    return HUDDLE_OK;
}

/* ---- the whole ----------------------------------------------------------------------------- */

/* Squared norms. Distances do not depend on the mean, but without subtracting it products of large
 * coordinates would cancel. Sparse points stay as they are: their values are mostly 0, hence near
 * the mean, and little cancels. */
static void measure_points(survey *s, double *row) {
    const huddle_points *x = s->x;
    if (x->offsets != NULL) {
        for (int64_t i = 0; i < x->n; i++)
            s->squares[i] = hd_points_square(x, i);
        return;
    }
    for (int64_t i = 0; i < x->n; i++)
        for (int64_t j = 0; j < x->d; j++)
            s->mean[j] += (double)x->values[i * x->stride + j] / (double)x->n;
    for (int64_t i = 0; i < x->n; i++) {
        centred_rows(s, i, i + 1, row);
        for (int64_t j = 0; j < x->d; j++)
            s->squares[i] += row[j] * row[j];
    }
}

/* Asks the engine for the silhouettes of all points. */
static huddle_status survey_by_engine(huddle_context *context, const survey *s, bool *handled) {
    const hd_engine *engine = hd_context_engine(context);
    hd_silhouette_request request = {s->x, s->labels, s->n_clusters};
    *handled = false;
    if (engine->find_silhouettes == NULL || engine->slabs != NULL)
        return HUDDLE_OK;
    huddle_status status = engine->find_silhouettes(context, &request, s->values);
    if (status != HUDDLE_OK)
        return hd_engine_declined(context, "find_silhouettes", status) ? HUDDLE_OK : status;
    for (int64_t i = 0; i < s->count; i++)
        if (!(fabs(s->values[i]) <= 1))
            return hd_fail(HUDDLE_INTERNAL, "the engine %s returned %g as silhouette of point %lld",
                           engine->text.name, s->values[i], (long long)i + 1);
    *handled = true;
    return HUDDLE_OK;
}

/* The silhouettes of the points of this process, s->count of them. All are 0 if there is only one
 * cluster. */
static huddle_status survey_points(huddle_context *context, survey *s, double *values) {
    huddle_status status = HUDDLE_OK;
    int64_t n = s->x->n, d = s->x->d;
    bool sparse = s->x->offsets != NULL, handled;
    s->values = values;
    memset(values, 0, (size_t)s->count * sizeof *values);
    if (s->n_clusters < 2)
        return status;
    TRY(survey_by_engine(context, s, &handled));
    if (handled)
        return status;
    s->scratch_size =
        (int64_t)BLOCK * TILE + BLOCK * s->n_clusters + (sparse ? d : (BLOCK + TILE) * d);
    ALLOC_ZERO(s->sizes, s->n_clusters);
    ALLOC_ZERO(s->mean, d);
    ALLOC_ZERO(s->squares, n);
    ALLOC(s->scratch, s->scratch_size * hd_workers(context));
    for (int64_t i = 0; i < n; i++)
        s->sizes[s->labels[i]]++;
    measure_points(s, s->scratch);
    TRY(hd_blas_reserve(context));
    hd_blas_enter();
    status = hd_parallel(context, "silhouette", s->count, BLOCK, survey_block, s);
    hd_blas_leave();
done:
    FREE(s->sizes, s->mean, s->squares, s->scratch);
    return status;
}

/* The points and labels that are compared: all of them, or a sample, because the cost grows with
 * the square of their number. Every process draws the same rows of all from the same seed, and
 * needs all that are compared, so that they are collected even without sampling. `part` and *chosen
 * own a sample. */
static huddle_status choose_points(huddle_context *context, const huddle_points *x,
                                   const int32_t **labels, int64_t sample, uint64_t seed,
                                   huddle_points *part, void **chosen, survey *s) {
    huddle_status status = HUDDLE_OK;
    bool distributed = hd_slabs_distributed(context);
    hd_rng rng = hd_rng_stream(seed, 0);
    hd_slab slab;
    int64_t *index = NULL, total;
    int32_t *own = NULL;
    TRY(hd_slab_locate(context, x->n, &slab));
    sample = sample < slab.total ? sample : slab.total;
    s->x = x;
    s->count = x->n;
    if (sample == slab.total && !distributed)
        goto done;
    if (x->offsets != NULL && distributed)
        FAIL(HUDDLE_UNSUPPORTED, "the silhouette of sparse points needs all rows on one process");
    ALLOC(index, sample);
    ALLOC(own, sample);
    hd_rng_sample(&rng, slab.total, sample, index);
    s->count = 0;
    for (int64_t k = 0; k < sample; k++) { /* ascending, so the own points follow each other */
        s->first += index[k] < slab.first;
        if (index[k] >= slab.first && index[k] < slab.first + x->n)
            own[s->count++] = (*labels)[index[k] - slab.first];
    }
    TRY(hd_collect_points(context, x, index, sample, HD_EVERYWHERE, part));
    TRY(hd_collect_rows(context, HD_EVERYWHERE, s->count, own, sizeof *own, &total, chosen));
    s->x = part;
    *labels = *chosen;
done:
    FREE(index, own);
    return status;
}

/* The silhouettes of this process's points (values) and their mean over all that are compared, to
 * which every process adds its own, in their order. Either may be NULL. Labels may be any integers;
 * their ranks index the sums of the distances. */
static huddle_status compare_points(huddle_context *context, const huddle_points *x,
                                    const int32_t *labels, int64_t sample, uint64_t seed,
                                    double *values, double *mean) {
    huddle_status status = HUDDLE_OK;
    huddle_points part = {0};
    int32_t *ranks = NULL;
    void *chosen = NULL;
    double *own = NULL, sum = 0;
    survey s = {0};
    TRY(huddle_points_fetch(x));
    TRY(huddle_points_check(context, x));
    TRY(choose_points(context, x, &labels, sample, seed, &part, &chosen, &s));
    ALLOC(ranks, s.x->n);
    TRY(hd_rank_labels(NULL, s.x->n, labels, ranks, &s.n_clusters, NULL)); /* all are here */
    s.labels = ranks;
    if (values == NULL)
        ALLOC(own, s.count);
    TRY(survey_points(context, &s, values != NULL ? values : own));
    if (mean == NULL)
        goto done;
    for (int64_t i = 0; i < s.count; i++)
        sum += s.values[i];
    TRY(hd_reduce_sum(context, 1, &sum));
    *mean = sum / (double)s.x->n;
done:
    FREE(ranks, chosen, own);
    huddle_points_free(&part);
    return status;
}

huddle_status huddle_metrics_silhouette(huddle_context *context, const huddle_points *x,
                                        const int32_t *labels, int64_t sample, uint64_t seed,
                                        double *silhouette) {
    huddle_status status = HUDDLE_OK;
    if (x == NULL || labels == NULL || silhouette == NULL)
        FAIL(HUDDLE_INVALID, "the points, the labels or the place for the score is missing");
    if (sample < 1)
        FAIL(HUDDLE_INVALID, "sample = %lld is less than 1", (long long)sample);
    TRY(compare_points(context, x, labels, sample, seed, NULL, silhouette));
done:
    return hd_agree(context, status);
}

huddle_status huddle_metrics_silhouette_samples(huddle_context *context, const huddle_points *x,
                                                const int32_t *labels, double *silhouettes) {
    huddle_status status = HUDDLE_OK;
    if (x == NULL || labels == NULL || silhouettes == NULL)
        FAIL(HUDDLE_INVALID, "the points, the labels or the place for the scores is missing");
    TRY(compare_points(context, x, labels, INT64_MAX, 0, silhouettes, NULL));
done:
    return hd_agree(context, status);
}
