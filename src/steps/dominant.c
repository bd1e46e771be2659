/* A warning if few features contain nearly all the variance of the points: distances then depend on
 * these features alone, usually because units differ. The points are not changed; the warning
 * recommends prepare = standard. */
#include "steps/dominant.h"

#include "base/check.h"
#include "base/parallel.h"
#include "base/slabs.h"

#include <math.h>
#include <stdio.h>

/* A share of .95 means that the standard deviation of the feature is more than four times that of
 * all others together. In the plane, where an elongated cloud of points is common and no mistake,
 * ten times (.99) is required. At most a tenth of the features are named, at least one, at most
 * three. */
enum { FEATURES_PER_NAMED = 10, MAX_CHUNKS = 16, MAX_NAME_LENGTH = 100 };
static const double share_in_plane = .99, share_in_space = .95;

typedef struct moments {
    const huddle_points *points;
    double *origin;         /* d: the first of all rows, so that large means do not cost digits */
    double *sums, *squares; /* chunks x d, of values less the origin */
} moments;

/* Sums of one chunk, relative to a row of the data: for values with a large mean, the difference of
 * squares below would otherwise lose all digits. */
static huddle_status add_rows(void *argument, hd_chunk chunk) {
    const moments *m = argument;
    const huddle_points *x = m->points;
    double *sums = m->sums + chunk.index * x->d, *squares = m->squares + chunk.index * x->d;
    for (int64_t i = chunk.begin; i < chunk.end; i++)
        for (int64_t j = 0; j < x->d; j++) {
            double v = (double)x->values[i * x->stride + j] - m->origin[j];
            sums[j] += v;
            squares[j] += v * v;
        }
    return HUDDLE_OK;
}

/* variances[j] of column j; d doubles, freed by huddle_free(). At most MAX_CHUNKS chunks limit the
 * memory for their sums. The size of a chunk depends on n only, not on the number of threads. */
static huddle_status find_variances(huddle_context *context, const huddle_points *x,
                                    double **variances) {
    huddle_status status = HUDDLE_OK;
    moments m = {.points = x};
    hd_slab slab;
    int64_t grain = (x->n + MAX_CHUNKS - 1) / MAX_CHUNKS, d = x->d, n = x->n;
    grain = grain < 256 ? 256 : grain;
    int64_t chunks = x->n > 0 ? hd_chunks(x->n, grain) : 1; /* sums of 0 without rows */
    ALLOC(*variances, d);
    ALLOC_ZERO(m.sums, chunks * d);
    ALLOC_ZERO(m.squares, chunks * d);
    TRY(huddle_points_fetch(x));
    TRY(hd_slab_locate(context, n, &slab));
    ALLOC_ZERO(m.origin, d);
    /* The process that owns row 0 supplies the origin; the others add zeros. */
    for (int64_t j = 0; j < d && slab.first == 0 && n > 0; j++)
        m.origin[j] = (double)x->values[j];
    TRY(hd_reduce_sum(context, d, m.origin));
    TRY(hd_parallel(context, NULL, x->n, grain, add_rows, &m));
    /* The chunks are added to the first in their order, then the processes. */
    for (int64_t j = 0; j < d; j++)
        for (int64_t k = 1; k < chunks; k++) {
            m.sums[j] += m.sums[k * d + j];
            m.squares[j] += m.squares[k * d + j];
        }
    TRY(hd_reduce_sum(context, d, m.sums));
    TRY(hd_reduce_sum(context, d, m.squares));
    TRY(hd_reduce_count(context, &n));
    for (int64_t j = 0; j < d; j++)
        /* Rounding can make the difference slightly negative for a constant column. */
        (*variances)[j] = fmax(0, m.squares[j] - m.sums[j] * (m.sums[j] / (double)n)) / (double)n;
done:
    FREE(m.origin, m.sums, m.squares);
    return status;
}

/* Determines the features with the largest variances, in descending order, until they contain the
 * share; none if more than the allowed number would be needed. Constant features have no weight in
 * any scale and do not count: the only feature that varies does not outweigh others. */
static void name_largest(const double *variances, int64_t d, hd_fit_dominant *dominant) {
    int64_t varying = 0;
    double total = 0, sum = 0;
    for (int64_t j = 0; j < d; j++) {
        total += variances[j];
        varying += variances[j] > 0;
    }
    double share = varying == 2 ? share_in_plane : share_in_space;
    int64_t limit = varying / FEATURES_PER_NAMED;
    limit = limit < 1 ? 1 : limit > HD_FIT_MAX_DOMINANT ? HD_FIT_MAX_DOMINANT : limit;
    for (int count = 0; varying > 1 && count < limit; count++) {
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
            dominant->others = varying - dominant->count;
            return;
        }
    }
}

huddle_status hd_step_find_dominant(huddle_context *context, const huddle_preparation *preparation,
                                    const huddle_points *x, hd_fit_dominant *dominant) {
    huddle_status status = HUDDLE_OK;
    double *variances = NULL;
    hd_slab slab;
    *dominant = (hd_fit_dominant){0};
    TRY(hd_slab_locate(context, x->n, &slab));
    /* Scaled or projected columns are no longer the user's features. Sparse points are not
     * examined. */
    if (x->offsets != NULL || x->d < 2 || slab.total < 2 || preparation->scale != NULL ||
        preparation->projection.values != NULL || preparation->knots.values != NULL)
        goto done;
    TRY(find_variances(context, x, &variances));
    name_largest(variances, x->d, dominant);
done:
    huddle_free(variances);
    return status;
}

/* ---- the warning --------------------------------------------------------------------------- */

/* Number of bytes of a name to print: all, or as many as end with a complete UTF-8 character. Bytes
 * 10xxxxxx continue a character, so the cut moves back to the first byte of the last one. */
static int shown_length(const char *name) {
    int length = 0, cut = MAX_NAME_LENGTH;
    while (length <= MAX_NAME_LENGTH && name[length] != '\0')
        length++;
    if (length <= MAX_NAME_LENGTH)
        return length;
    while (cut > MAX_NAME_LENGTH - 4 && ((unsigned char)name[cut] & 0xc0) == 0x80)
        cut--;
    return cut;
}

/* Features are numbered from 1, as in error messages about the input, and named if names are known.
 * The share is limited to 99.9 so that it is not printed as 100.0. */
void hd_step_warn_dominant(huddle_context *context, const hd_fit *fit, const char *const *names) {
    const hd_fit_dominant *dominant = &fit->prepared.dominant;
    int count = dominant->count;
    bool one = count == 1, one_other = dominant->others == 1;
    char list[HD_FIT_MAX_DOMINANT * (MAX_NAME_LENGTH + 32)] = "";
    size_t used = 0;
    if (count == 0)
        return;
    for (int k = 0; k < count; k++) {
        int64_t j = dominant->features[k];
        const char *name = names != NULL ? names[j] : "";
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
