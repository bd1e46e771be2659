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
enum { FEATURES_PER_NAMED = 10, MOST_CHUNKS = 16, LONGEST_NAME = 100 };
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

/* The features with the largest variances, in order, until they hold the share; none if it takes
 * more than may be named. */
static void name_largest(const double *variances, int64_t d, double share, hd_dominant *dominant) {
    int64_t most = d / FEATURES_PER_NAMED;
    most = most < 1 ? 1 : most > HD_MOST_DOMINANT ? HD_MOST_DOMINANT : most;
    double total = 0, sum = 0;
    for (int64_t j = 0; j < d; j++)
        total += variances[j];
    for (int count = 0; total > 0 && count < most; count++) {
        int64_t best = -1;
        for (int64_t j = 0; j < d; j++) {
            bool taken = false;
            for (int k = 0; k < count; k++)
                taken = taken || dominant->features[k] == j;
            if (!taken && (best < 0 || variances[j] > variances[best]))
                best = j;
        }
        dominant->features[count] = best;
        sum += variances[best];
        dominant->share = sum / total;
        if (dominant->share > share) {
            dominant->count = count + 1;
            return;
        }
    }
}

huddle_status hd_find_dominant(huddle_context *context, const huddle_preparation *preparation,
                               const huddle_points *x, hd_dominant *dominant) {
    huddle_status status = HUDDLE_OK;
    double *variances = NULL;
    *dominant = (hd_dominant){0};
    if (x->offsets != NULL || x->d < 2 || x->n < 2 || preparation->scale != NULL ||
        preparation->projection.values != NULL)
        goto done;
    TRY(find_variances(context, x, &variances));
    name_largest(variances, x->d, x->d == 2 ? share_in_plane : share_in_space, dominant);
done:
    huddle_free(variances);
    return status;
}

/* ---- the warning --------------------------------------------------------------------------- */

/* Bytes of a name to print: all, or as many as end with a whole character of UTF-8. */
static int shown_length(const char *name) {
    int length = 0, cut = LONGEST_NAME;
    while (length <= LONGEST_NAME && name[length] != '\0')
        length++;
    if (length <= LONGEST_NAME)
        return length;
    while (cut > LONGEST_NAME - 4 && ((unsigned char)name[cut] & 0xc0) == 0x80)
        cut--;
    return cut;
}

void hd_warn_dominant(huddle_context *context, const hd_fit *fit) {
    const hd_dominant *dominant = &fit->dominant;
    int count = dominant->count;
    bool one = count == 1, one_other = fit->d - count == 1;
    char list[HD_MOST_DOMINANT * (LONGEST_NAME + 32)] = "";
    size_t used = 0;
    if (count == 0)
        return;
    for (int k = 0; k < count; k++) {
        int64_t j = dominant->features[k];
        const char *name = fit->feature_names != NULL ? fit->feature_names[j] : "";
        const char *before = k == 0 ? "" : k + 1 == count ? " and " : ", ";
        used +=
            (size_t)snprintf(list + used, sizeof list - used, "%s%lld", before, (long long)j + 1);
        if (name[0] != '\0')
            used += (size_t)snprintf(list + used, sizeof list - used, " (%.*s)", shown_length(name),
                                     name);
    }
    hd_warn(context, HUDDLE_WARNING_DOMINANT_FEATURE,
            "feature%s %s hold%s %.1f %% of the variance, so that the other%s hardly count%s; "
            "prepare = standard gives all features the same weight",
            one ? "" : "s", list, one ? "s" : "", fmin(100 * dominant->share, 99.9),
            one_other ? "" : "s", one_other ? "s" : "");
}
