/* The mean distance over all pairs, or over a sample of them. */
#include "base/check.h"
#include "base/parallel.h"
#include "base/rng.h"
#include "graph/check.h"
#include "graph/rows.h"
#include "graph/sparse.h"

#include <math.h>
#include <string.h>

enum { PAIRS_PER_CHUNK = 4096, ROWS_PER_CHUNK = 32 };

static const double most_work = 0x1p32, most_pairs = 0x1p20;

typedef struct mean {
    hd_rows rows; /* dense points, or */
    hd_sparse_rows sparse;
    bool cosine;
    int64_t n;
    uint64_t seed;
    double *sums; /* chunks */
} mean;

static double distance(const mean *m, int64_t i, int64_t j) {
    double distance2 = m->sparse.x != NULL ? hd_sparse_distance2(&m->sparse, i, &m->sparse, j)
                                           : hd_rows_distance2(&m->rows, i, &m->rows, j, INFINITY);
    return m->cosine ? distance2 / 2 : sqrt(distance2);
}

static huddle_status add_rows(void *argument, hd_chunk chunk) {
    const mean *m = argument;
    double sum = 0;
    for (int64_t i = chunk.begin; i < chunk.end; i++)
        for (int64_t j = 0; j < i; j++)
            sum += distance(m, i, j);
    m->sums[chunk.index] = sum;
    return HUDDLE_OK;
}

static huddle_status add_pairs(void *argument, hd_chunk chunk) {
    const mean *m = argument;
    hd_rng rng = hd_rng_stream(m->seed, (uint64_t)chunk.index);
    double sum = 0;
    for (int64_t pair = chunk.begin; pair < chunk.end; pair++) {
        int64_t i = hd_rng_below(&rng, m->n), j = hd_rng_below(&rng, m->n - 1);
        sum += distance(m, i, j + (j >= i));
    }
    m->sums[chunk.index] = sum;
    return HUDDLE_OK;
}

/* `width` is what one distance costs. */
static huddle_status run(huddle_context *context, mean *m, double width, double *result) {
    huddle_status status = HUDDLE_OK;
    double pairs = (double)m->n * (double)(m->n - 1) / 2, sum = 0;
    bool all = pairs * width <= most_work;
    double sample = fmax(1, floor(fmin(most_pairs, most_work / width)));
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
    TRY(huddle_points_check(context, x));
    TRY(hd_metric(metric, &m.cosine));
    if (x->offsets != NULL) {
        TRY(hd_sparse_rows_new(x, m.cosine, &m.sparse));
        width = 1 + 2 * (double)x->offsets[x->n] / (double)x->n;
    } else {
        m.rows = hd_rows_of_points(x);
        m.rows.shift = m.cosine ? x->shift : NULL;
        if (m.cosine)
            TRY(hd_rows_normalise(context, &m.rows));
    }
    TRY(run(context, &m, width, result));
done:
    hd_rows_free(&m.rows);
    hd_sparse_rows_free(&m.sparse);
    return status;
}

huddle_status huddle_graph_mean_distance_dense(huddle_context *context, const huddle_dense *f,
                                               uint64_t seed, double *result) {
    huddle_status status = HUDDLE_OK;
    mean m = {.n = f->rows, .seed = seed, .rows = hd_rows_of_dense(f)};
    int exponent;
    TRY(hd_dense_check(f));
    TRY(hd_rows_rescale(&m.rows, &m.rows, &exponent));
    TRY(run(context, &m, (double)f->cols, result));
    *result = ldexp(*result, -exponent);
done:
    hd_rows_free(&m.rows);
    return status;
}
