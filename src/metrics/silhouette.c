/* The mean silhouette. For point i of cluster C, a = mean distance to the others of C, b = the
 * smallest over the other clusters of the mean distance to their points; its silhouette is
 * (b - a) / max(a, b).
 *
 * Distances come from products in double of points less their mean, block against block, so that
 * BLAS does the work and nothing of size n x n is kept. */
#include "huddle/metrics.h"

#include "base/blas.h"
#include "base/check.h"
#include "base/parallel.h"
#include "base/rng.h"
#include "metrics/table.h"

#include <cblas.h>
#include <math.h>
#include <string.h>

enum { BLOCK = 64, TILE = 256 };

typedef struct survey {
    const huddle_points *x; /* the sample */
    const int32_t *labels;  /* ranks 0 .. n_clusters - 1 */
    int64_t n_clusters;
    int64_t *sizes;
    double *mean;    /* d; dense only */
    double *squares; /* squared norm of each point, less the mean if dense */
    double *values;  /* the silhouettes */
    double *scratch; /* one piece a worker */
    int64_t scratch_size;
} survey;

/* ---- the sample ---------------------------------------------------------------------------- */

static huddle_status take_sample(const huddle_points *x, const int32_t *labels, int64_t count,
                                 uint64_t seed, huddle_points *sample, int32_t *chosen) {
    huddle_status status = HUDDLE_OK;
    hd_rng rng = hd_rng_stream(seed, 0);
    int64_t *index = NULL;
    ALLOC(index, count);
    hd_rng_sample(&rng, x->n, count, index);
    TRY(huddle_points_take(x, index, count, sample));
    for (int64_t k = 0; k < count; k++)
        chosen[k] = labels[index[k]];
done:
    huddle_free(index);
    return status;
}

/* ---- distances ----------------------------------------------------------------------------- */

static void centred_rows(const survey *s, int64_t begin, int64_t end, double *to) {
    int64_t d = s->x->d;
    for (int64_t i = begin; i < end; i++)
        for (int64_t j = 0; j < d; j++)
            to[(i - begin) * d + j] = (double)s->x->values[i * s->x->stride + j] - s->mean[j];
}

static double squared_norm(int64_t count, const double *values) {
    double sum = 0;
    for (int64_t j = 0; j < count; j++)
        sum += values[j] * values[j];
    return sum;
}

/* products[(i - begin) * TILE + j - first] = <x_i, x_j>. `rows` holds the block, `tile` is
 * room for TILE rows. */
static void dense_products(const survey *s, const double *rows, int64_t count, int64_t first,
                           int64_t last, double *tile, double *products) {
    int d = (int)s->x->d;
    centred_rows(s, first, last, tile);
    cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasTrans, (int)count, (int)(last - first), d, 1,
                rows, d, tile, d, 0, products, TILE);
}

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

static huddle_status survey_block(void *argument, hd_chunk chunk) {
    const survey *s = argument;
    int64_t d = s->x->d, n = s->x->n;
    bool sparse = s->x->offsets != NULL;
    double *products = s->scratch + chunk.worker * s->scratch_size;
    double *sums = products + (int64_t)BLOCK * TILE, *rows = sums + BLOCK * s->n_clusters;
    memset(sums, 0, (size_t)(BLOCK * s->n_clusters) * sizeof *sums);
    if (sparse)
        memset(rows, 0, (size_t)d * sizeof *rows);
    else
        centred_rows(s, chunk.begin, chunk.end, rows);
    for (int64_t first = 0; first < n; first += TILE) {
        int64_t last = first + TILE < n ? first + TILE : n;
        if (sparse)
            sparse_products(s, chunk.begin, chunk.end, first, last, rows, products);
        else
            dense_products(s, rows, chunk.end - chunk.begin, first, last, rows + BLOCK * d,
                           products);
        for (int64_t i = chunk.begin; i < chunk.end; i++) {
            double *sum = sums + (i - chunk.begin) * s->n_clusters;
            const double *product = products + (i - chunk.begin) * TILE;
            for (int64_t j = first; j < last; j++) {
                double square = s->squares[i] + s->squares[j] - 2 * product[j - first];
                sum[s->labels[j]] += i != j && square > 0 ? sqrt(square) : 0;
            }
        }
    }
    for (int64_t i = chunk.begin; i < chunk.end; i++)
        s->values[i] = one_silhouette(s, i, sums + (i - chunk.begin) * s->n_clusters);
    return HUDDLE_OK;
}

/* ---- the whole ----------------------------------------------------------------------------- */

static void prepare_dense(survey *s, double *row) {
    const huddle_points *x = s->x;
    for (int64_t i = 0; i < x->n; i++)
        for (int64_t j = 0; j < x->d; j++)
            s->mean[j] += (double)x->values[i * x->stride + j] / (double)x->n;
    for (int64_t i = 0; i < x->n; i++) {
        centred_rows(s, i, i + 1, row);
        s->squares[i] = squared_norm(x->d, row);
    }
}

static void prepare_sparse(survey *s) {
    for (int64_t i = 0; i < s->x->n; i++)
        for (int64_t e = s->x->offsets[i]; e < s->x->offsets[i + 1]; e++)
            s->squares[i] += (double)s->x->values[e] * (double)s->x->values[e];
}

static huddle_status mean_silhouette(huddle_context *context, survey *s, double *silhouette) {
    huddle_status status = HUDDLE_OK;
    int64_t n = s->x->n, d = s->x->d;
    bool sparse = s->x->offsets != NULL;
    s->scratch_size =
        (int64_t)BLOCK * TILE + BLOCK * s->n_clusters + (sparse ? d : (BLOCK + TILE) * d);
    ALLOC_ZERO(s->sizes, s->n_clusters);
    ALLOC_ZERO(s->mean, d);
    ALLOC_ZERO(s->squares, n);
    ALLOC(s->values, n);
    ALLOC(s->scratch, s->scratch_size * hd_workers(context));
    for (int64_t i = 0; i < n; i++)
        s->sizes[s->labels[i]]++;
    if (sparse)
        prepare_sparse(s);
    else
        prepare_dense(s, s->scratch);
    hd_blas_enter();
    status = hd_parallel(context, "silhouette", n, BLOCK, survey_block, s);
    hd_blas_leave();
    if (status != HUDDLE_OK)
        goto done;
    double sum = 0;
    for (int64_t i = 0; i < n; i++)
        sum += s->values[i];
    *silhouette = sum / (double)n;
done:
    huddle_free(s->sizes);
    huddle_free(s->mean);
    huddle_free(s->squares);
    huddle_free(s->values);
    huddle_free(s->scratch);
    return status;
}

huddle_status huddle_metrics_silhouette(huddle_context *context, const huddle_points *x,
                                        const int32_t *labels, int64_t sample, uint64_t seed,
                                        double *silhouette) {
    huddle_status status = HUDDLE_OK;
    huddle_points part = {0};
    int32_t *chosen = NULL, *ranks = NULL;
    survey s = {.x = x, .labels = NULL};
    if (x == NULL || labels == NULL || silhouette == NULL)
        return hd_fail(HUDDLE_INVALID,
                       "the points, the labels or the place for the score is missing");
    if (sample < 1)
        return hd_fail(HUDDLE_INVALID, "sample = %lld is less than 1", (long long)sample);
    TRY(huddle_points_check(context, x));
    if (x->n > sample) {
        ALLOC(chosen, sample);
        TRY(take_sample(x, labels, sample, seed, &part, chosen));
        s.x = &part;
        labels = chosen;
    }
    ALLOC(ranks, s.x->n);
    TRY(hd_metrics_rank_labels(s.x->n, labels, ranks, &s.n_clusters));
    s.labels = ranks;
    *silhouette = 0;
    if (s.n_clusters > 1)
        TRY(mean_silhouette(context, &s, silhouette));
done:
    huddle_free(ranks);
    huddle_free(chosen);
    huddle_points_free(&part);
    return status;
}
