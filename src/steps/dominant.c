/* A warning if few features contain nearly all the variance of the points: distances then depend on
 * these features alone, usually because units differ. The points are not changed; the warning
 * recommends prepare = standard. */
#include "steps/dominant.h"

#include "base/check.h"
#include "base/slabs.h"
#include "matrix/resident.h"
#include "prepare/pca.h"

#include <math.h>
#include <stdio.h>

/* A share of .95 means that the standard deviation of the feature is more than four times that of
 * all others together. In the plane, where an elongated cloud of points is common and no mistake,
 * ten times (.99) is required. At most a tenth of the features are named, at least one, at most
 * three. */
enum { FEATURES_PER_NAMED = 10, MAX_NAME_LENGTH = 100 };
static const double share_in_plane = .99, share_in_space = .95;

/* Determines the features with the largest variances, in descending order, until they contain the
 * share; none if more than the allowed number would be needed. Constant features have no weight in
 * any scale and do not count: the only feature that varies does not outweigh others. Their variance
 * is exactly 0, because a sum of equal floats is exact in double precision. */
static void name_largest(double *variances, int64_t d, hd_fit_dominant *dominant) {
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
        int64_t best = 0;
        for (int64_t j = 1; j < d; j++)
            best = variances[j] > variances[best] ? j : best;
        dominant->features[count] = best;
        sum += variances[best];
        variances[best] = -1; /* taken */
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
    double *variances = NULL, *mean = NULL;
    hd_slab slab;
    *dominant = (hd_fit_dominant){0};
    TRY(hd_slab_locate(context, x->n, &slab));
    /* Scaled or projected columns are no longer the user's features. Sparse points are not
     * examined. */
    if (x->offsets != NULL || x->d < 2 || slab.total < 2 || preparation->scale != NULL ||
        hd_dense_present(&preparation->projection) || hd_dense_present(&preparation->knots))
        goto done;
    ALLOC(mean, x->d);
    ALLOC(variances, x->d);
    TRY(huddle_points_fetch(x));
    TRY(hd_prepare_column_moments(context, x, mean, variances));
    name_largest(variances, x->d, dominant);
done:
    FREE(mean, variances);
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
