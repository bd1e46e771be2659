/* Mean and variance of every column, in two passes: the variance is summed from differences to the
 * mean, which does not cancel. Sums of chunks are added in order, and the chunks depend on n only,
 * so that the result does not depend on the number of threads. */
#include "prepare/pca.h"

#include "base/check.h"
#include "base/parallel.h"
#include "base/slabs.h"
#include "matrix/points.h"

#include <math.h>
#include <string.h>

typedef struct sums {
    const huddle_points *x;
    const double *mean; /* NULL: sum the values; otherwise their squared differences to it */
    double *parts;      /* chunks x d */
    int64_t all;        /* rows of all processes */
} sums;

static huddle_status sum_rows(void *argument, hd_chunk chunk) {
    const sums *s = argument;
    int64_t d = s->x->d;
    double *sum = s->parts + chunk.index * d;
    memset(sum, 0, (size_t)d * sizeof *sum);
    for (int64_t i = chunk.begin; i < chunk.end; i++) {
        const float *row = s->x->values + i * s->x->stride;
        if (s->mean == NULL) {
            for (int64_t j = 0; j < d; j++)
                sum[j] += (double)row[j];
            continue;
        }
        for (int64_t j = 0; j < d; j++) {
            double away = (double)row[j] - s->mean[j];
            sum[j] += away * away;
        }
    }
    return HUDDLE_OK;
}

/* out = the sums of all rows, divided by their number. Variances are divided by n as well, not by n
 * - 1. */
static huddle_status average_rows(huddle_context *context, sums *s, int64_t grain, double *out) {
    huddle_status status = HUDDLE_OK;
    int64_t n = s->x->n, d = s->x->d;
    TRY(hd_parallel(context, NULL, n, grain, sum_rows, s));
    memset(out, 0, (size_t)d * sizeof *out);
    for (int64_t k = 0; k < hd_chunks(n, grain); k++)
        for (int64_t j = 0; j < d; j++)
            out[j] += s->parts[k * d + j];
    TRY(hd_reduce_sum(context, d, out));
    for (int64_t j = 0; j < d; j++)
        out[j] /= (double)s->all;
done:
    return status;
}

static huddle_status dense_moments(huddle_context *context, const huddle_points *x, int64_t all,
                                   double *mean, double *variance) {
    enum { MAX_PARTS = 16, MIN_ROWS = 256 }; /* few parts: each keeps d numbers */
    huddle_status status = HUDDLE_OK;
    int64_t part = (x->n + MAX_PARTS - 1) / MAX_PARTS;
    int64_t grain = part > MIN_ROWS ? part : MIN_ROWS;
    sums s = {x, NULL, NULL, all};
    ALLOC(s.parts, hd_chunks(x->n, grain) * x->d);
    TRY(average_rows(context, &s, grain, mean));
    s.mean = mean;
    TRY(average_rows(context, &s, grain, variance));
done:
    huddle_free(s.parts);
    return status;
}

/* Over the stored entries. An absent entry is a zero, whose squared difference to the mean is
 * mean^2: all of them are added at once. */
static huddle_status sparse_moments(huddle_context *context, const huddle_points *x, int64_t all,
                                    double *mean, double *variance) {
    huddle_status status = HUDDLE_OK;
    int64_t nonzeros = x->offsets[x->n];
    double *counts = NULL;
    ALLOC_ZERO(counts, x->d);
    memset(mean, 0, (size_t)x->d * sizeof *mean);
    memset(variance, 0, (size_t)x->d * sizeof *variance);
    for (int64_t e = 0; e < nonzeros; e++) {
        mean[x->columns[e]] += (double)x->values[e];
        counts[x->columns[e]]++;
    }
    /* The mean of all processes must be known before differences to it are summed. */
    TRY(hd_reduce_sum(context, x->d, mean));
    TRY(hd_reduce_sum(context, x->d, counts));
    for (int64_t j = 0; j < x->d; j++)
        mean[j] /= (double)all;
    for (int64_t e = 0; e < nonzeros; e++) {
        double away = (double)x->values[e] - mean[x->columns[e]];
        variance[x->columns[e]] += away * away;
    }
    TRY(hd_reduce_sum(context, x->d, variance));
    for (int64_t j = 0; j < x->d; j++)
        variance[j] = (variance[j] + ((double)all - counts[j]) * mean[j] * mean[j]) / (double)all;
done:
    huddle_free(counts);
    return status;
}

huddle_status hd_prepare_column_moments(huddle_context *context, const huddle_points *x,
                                        double *mean, double *variance) {
    int64_t all = x->n;
    huddle_status status = hd_reduce_count(context, &all);
    if (status != HUDDLE_OK)
        return status;
    return x->offsets == NULL ? dense_moments(context, x, all, mean, variance)
                              : sparse_moments(context, x, all, mean, variance);
}

bool hd_prepare_has_unit_rows(const huddle_points *x) {
    const double tolerance = 1e-5; /* the rounding of floats */
    for (int64_t i = 0; i < x->n; i++) {
        double squares = hd_points_square(x, i);
        if (squares > 0 && fabs(squares - 1) > tolerance)
            return false;
    }
    return true;
}
