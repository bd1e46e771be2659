/* The mean distance over all pairs of rows, or over a sample of pairs. Sums are kept per chunk and
 * added in order, and every chunk of a sample has a random stream of its own, so that the mean has
 * the same bits for any number of threads. */
#include "base/check.h"
#include "base/parallel.h"
#include "base/rng.h"
#include "base/slabs.h"
#include "graph/common.h"
#include "graph/dense_rows.h"
#include "graph/sparse_rows.h"

#include <math.h>

/* Both sizes are parts of the result: they decide in which order the sums are added. The largest
 * sample has 256 chunks. */
enum { PAIRS_PER_CHUNK = 4096, ROWS_PER_CHUNK = 32 };

/* All pairs are taken while they cost at most max_work multiplications, a few seconds on one core;
 * otherwise a sample of at most max_pairs, whose relative standard error is 10^-3 if the standard
 * deviation of the distances equals their mean. Both are documented behaviour (huddle/graph.h). */
static const double max_work = 0x1p32, max_pairs = 0x1p20;

typedef struct mean {
    hd_graph_rows rows; /* dense points, or */
    hd_graph_sparse_rows sparse;
    bool cosine;
    int64_t n;
    uint64_t seed;
    double *sums; /* one per chunk */
} mean;

/* Rows of norm 1 have |x - y|^2 = 2 (1 - cos). No limit cuts a distance short, since every one of
 * them is added. */
static double row_distance(const mean *m, int64_t i, int64_t j) {
    double distance2 = m->sparse.x != NULL
                           ? hd_graph_sparse_distance2(&m->sparse, i, &m->sparse, j)
                           : hd_graph_rows_distance2(&m->rows, i, &m->rows, j, INFINITY);
    return m->cosine ? distance2 / 2 : sqrt(distance2);
}

/* All pairs i > j. Chunks are rows, so that later chunks cost more; small chunks keep the threads
 * equally busy. */
static huddle_status add_rows(void *argument, hd_chunk chunk) {
    const mean *m = argument;
    double sum = 0;
    for (int64_t i = chunk.begin; i < chunk.end; i++)
        for (int64_t j = 0; j < i; j++)
            sum += row_distance(m, i, j);
    m->sums[chunk.index] = sum;
    return HUDDLE_OK;
}

/* Pairs of different rows, uniformly: the second is drawn among the other n - 1. Adding 1 from i on
 * skips i itself. Pairs (i, i), of distance 0, would lower the mean by the factor 1 - 1 / n. */
static huddle_status add_pairs(void *argument, hd_chunk chunk) {
    const mean *m = argument;
    hd_rng rng = hd_rng_stream(m->seed, (uint64_t)chunk.index);
    double sum = 0;
    for (int64_t pair = chunk.begin; pair < chunk.end; pair++) {
        int64_t i = hd_rng_below(&rng, m->n), j = hd_rng_below(&rng, m->n - 1);
        sum += row_distance(m, i, j + (j >= i));
    }
    m->sums[chunk.index] = sum;
    return HUDDLE_OK;
}

/* The mean of all distances, or of a sample; `width` is the cost of one distance. All pairs are
 * preferred while they are affordable: the mean then does not depend on the seed. */
static huddle_status average_distances(huddle_context *context, mean *m, double width,
                                       double *result) {
    huddle_status status = HUDDLE_OK;
    double pairs = (double)m->n * (double)(m->n - 1) / 2, sum = 0;
    /* The decision depends on the sizes only, so that it is the same on every machine. */
    bool all = pairs * width <= max_work;
    /* Wide rows get fewer pairs, so that a sample never costs more than all pairs may. */
    double sample = fmax(1, floor(fmin(max_pairs, max_work / width)));
    int64_t items = all ? m->n : (int64_t)sample;
    int64_t grain = all ? ROWS_PER_CHUNK : PAIRS_PER_CHUNK, chunks = hd_chunks(items, grain);
    *result = 0;
    if (m->n < 2)
        return status;
    ALLOC(m->sums, chunks);
    TRY(hd_parallel(context, "graph", items, grain, all ? add_rows : add_pairs, m));
    for (int64_t c = 0; c < chunks; c++)
        sum += m->sums[c];
    *result = sum / (all ? pairs : sample);
done:
    huddle_free(m->sums);
    return status;
}

huddle_status huddle_graph_mean_distance(huddle_context *context, const huddle_points *x,
                                         const char *metric, uint64_t seed, double *result) {
    huddle_status status = HUDDLE_OK;
    mean m = {.n = x->n, .seed = seed};
    double width = (double)x->d;
    TRY(hd_slabs_refuse(context, "the mean distance over pairs of points"));
    TRY(huddle_points_fetch(x));
    TRY(huddle_points_check(context, x));
    TRY(hd_graph_parse_metric(metric, &m.cosine));
    if (x->offsets != NULL) {
        TRY(hd_graph_sparse_rows_new(x, m.cosine, &m.sparse));
        /* The mean length of two rows that are merged. */
        width = 1 + 2 * (double)x->offsets[x->n] / (double)x->n;
    } else {
        TRY(hd_graph_rows_of_metric(context, x, m.cosine, &m.rows));
    }
    TRY(average_distances(context, &m, width, result));
done:
    hd_graph_rows_free(&m.rows);
    hd_graph_sparse_rows_free(&m.sparse);
    return hd_agree(context, status);
}

huddle_status huddle_graph_mean_distance_dense(huddle_context *context, const huddle_dense *f,
                                               uint64_t seed, double *result) {
    huddle_status status = HUDDLE_OK;
    mean m = {.n = f->rows, .seed = seed};
    int exponent;
    TRY(hd_slabs_refuse(context, "the mean distance over pairs of rows"));
    TRY(huddle_dense_fetch(f));
    TRY(hd_graph_check_dense(f));
    m.rows = hd_graph_rows_of_dense(f);
    /* Squares of doubles may overflow; a power of two changes no digit of the result. */
    TRY(hd_graph_rows_rescale(context, &m.rows, &m.rows, &exponent));
    TRY(average_distances(context, &m, (double)f->cols, result));
    *result = ldexp(*result, -exponent);
done:
    hd_graph_rows_free(&m.rows);
    return hd_agree(context, status);
}
