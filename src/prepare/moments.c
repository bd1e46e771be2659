#include "prepare/pca.h"

#include "base/check.h"
#include "base/parallel.h"

#include <string.h>

typedef struct sums {
    const huddle_points *x;
    const double *mean; /* NULL: sum the values; else the squares of their distance to it */
    double *parts;      /* chunks x d */
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

static huddle_status mean_of(huddle_context *context, sums *s, int64_t grain, double *out) {
    int64_t n = s->x->n, d = s->x->d;
    huddle_status status = hd_parallel(context, NULL, n, grain, sum_rows, s);
    memset(out, 0, (size_t)d * sizeof *out);
    for (int64_t k = 0; k < hd_chunks(n, grain) && status == HUDDLE_OK; k++)
        for (int64_t j = 0; j < d; j++)
            out[j] += s->parts[k * d + j];
    for (int64_t j = 0; j < d; j++)
        out[j] /= (double)n;
    return status;
}

static huddle_status dense_moments(huddle_context *context, const huddle_points *x, double *mean,
                                   double *variance) {
    enum { MOST_PARTS = 16, LEAST_ROWS = 256 };
    huddle_status status = HUDDLE_OK;
    int64_t part = (x->n + MOST_PARTS - 1) / MOST_PARTS;
    int64_t grain = part > LEAST_ROWS ? part : LEAST_ROWS;
    sums s = {x, NULL, NULL};
    ALLOC(s.parts, hd_chunks(x->n, grain) * x->d);
    TRY(mean_of(context, &s, grain, mean));
    s.mean = mean;
    TRY(mean_of(context, &s, grain, variance));
done:
    huddle_free(s.parts);
    return status;
}

/* One pass over the entries; the absent ones are zeros, mean^2 away each. */
static huddle_status sparse_moments(const huddle_points *x, double *mean, double *variance) {
    huddle_status status = HUDDLE_OK;
    int64_t *counts = NULL, nonzeros = x->offsets[x->n];
    double n = (double)x->n;
    ALLOC_ZERO(counts, x->d);
    memset(mean, 0, (size_t)x->d * sizeof *mean);
    memset(variance, 0, (size_t)x->d * sizeof *variance);
    for (int64_t e = 0; e < nonzeros; e++) {
        mean[x->columns[e]] += (double)x->values[e];
        counts[x->columns[e]]++;
    }
    for (int64_t j = 0; j < x->d; j++)
        mean[j] /= n;
    for (int64_t e = 0; e < nonzeros; e++) {
        double away = (double)x->values[e] - mean[x->columns[e]];
        variance[x->columns[e]] += away * away;
    }
    for (int64_t j = 0; j < x->d; j++)
        variance[j] = (variance[j] + (double)(x->n - counts[j]) * mean[j] * mean[j]) / n;
done:
    huddle_free(counts);
    return status;
}

huddle_status hd_prepare_column_moments(huddle_context *context, const huddle_points *x,
                                        double *mean, double *variance) {
    return x->offsets == NULL ? dense_moments(context, x, mean, variance)
                              : sparse_moments(x, mean, variance);
}
