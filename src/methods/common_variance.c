/* A warning when few features hold nearly all the variance of the points: distances are then
 * theirs, and the other features hardly count. */
#include "methods/method.h"

#include "base/check.h"
#include "base/parallel.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* From which share on the other features hardly count: at .95 the column's spread is over four
 * times that of all others together. In the plane, where a long axis is common, ten times are
 * asked for. One feature is named, or up to three if they are at most a tenth of all. */
enum { MOST_NAMED = 3, FEATURES_PER_NAMED = 10, MOST_CHUNKS = 16 };
static const double share_in_plane = .99, share_in_space = .95;

typedef struct moments {
    const huddle_points *points;
    double *sums, *squares; /* chunks x d, of values less the first row's */
} moments;

static huddle_status add_rows(void *argument, hd_chunk chunk) {
    const moments *m = argument;
    const huddle_points *x = m->points;
    double *sums = m->sums + chunk.index * x->d, *squares = m->squares + chunk.index * x->d;
    for (int64_t i = chunk.begin; i < chunk.end; i++)
        for (int64_t j = 0; j < x->d; j++) {
            double v = (double)x->values[i * x->stride + j] - (double)x->values[j];
            sums[j] += v;
            squares[j] += v * v;
        }
    return HUDDLE_OK;
}

/* variances[j] of column j; d doubles, freed by huddle_free(). */
static huddle_status find_variances(huddle_context *context, const huddle_points *x,
                                    double **variances) {
    huddle_status status = HUDDLE_OK;
    moments m = {x, NULL, NULL};
    int64_t grain = (x->n + MOST_CHUNKS - 1) / MOST_CHUNKS, d = x->d;
    grain = grain < 256 ? 256 : grain;
    int64_t chunks = hd_chunks(x->n, grain);
    ALLOC(*variances, d);
    ALLOC_ZERO(m.sums, chunks * d);
    ALLOC_ZERO(m.squares, chunks * d);
    TRY(hd_parallel(context, NULL, x->n, grain, add_rows, &m));
    for (int64_t j = 0; j < d; j++) {
        double sum = 0, squares = 0;
        for (int64_t k = 0; k < chunks; k++) {
            sum += m.sums[k * d + j];
            squares += m.squares[k * d + j];
        }
        (*variances)[j] = fmax(0, squares - sum * (sum / (double)x->n)) / (double)x->n;
    }
done:
    huddle_free(m.sums);
    huddle_free(m.squares);
    return status;
}

/* The features with the largest variances, in order, until they hold the share; their number, or
 * 0 if it takes more than may be named. */
static int find_dominant(const double *variances, int64_t d, double share, int64_t *named,
                         double *held) {
    int64_t most = d / FEATURES_PER_NAMED;
    most = most < 1 ? 1 : most > MOST_NAMED ? MOST_NAMED : most;
    double total = 0, sum = 0;
    for (int64_t j = 0; j < d; j++)
        total += variances[j];
    for (int count = 0; total > 0 && count < most; count++) {
        int64_t best = -1;
        for (int64_t j = 0; j < d; j++) {
            bool taken = false;
            for (int k = 0; k < count; k++)
                taken = taken || named[k] == j;
            if (!taken && (best < 0 || variances[j] > variances[best]))
                best = j;
        }
        named[count] = best;
        sum += variances[best];
        *held = sum / total;
        if (*held > share)
            return count + 1;
    }
    return 0;
}

huddle_status hd_warn_dominant(huddle_context *context, const huddle_preparation *preparation,
                               const char *const *names, const huddle_points *x) {
    huddle_status status = HUDDLE_OK;
    double *variances = NULL, held = 0;
    int64_t named[MOST_NAMED];
    char list[400] = "";
    size_t used = 0;
    if (x->offsets != NULL || x->d < 2 || x->n < 2 || preparation->scale != NULL ||
        preparation->projection.values != NULL)
        goto done;
    TRY(find_variances(context, x, &variances));
    int count =
        find_dominant(variances, x->d, x->d == 2 ? share_in_plane : share_in_space, named, &held);
    for (int k = 0; k < count; k++) {
        used += (size_t)snprintf(list + used, sizeof list - used, "%s%lld",
                                 k == 0           ? ""
                                 : k + 1 == count ? " and "
                                                  : ", ",
                                 (long long)named[k] + 1);
        if (names != NULL && names[named[k]][0] != '\0')
            used += (size_t)snprintf(list + used, sizeof list - used, " (%.100s)", names[named[k]]);
    }
    if (count > 0)
        hd_warn(context,
                "feature%s %s hold%s %.1f %% of the variance, so that the other%s hardly "
                "count%s; --prepare standard gives all features the same weight",
                count == 1 ? "" : "s", list, count == 1 ? "s" : "", fmin(100 * held, 99.9),
                x->d - count == 1 ? "" : "s", x->d - count == 1 ? "s" : "");
done:
    huddle_free(variances);
    return status;
}
