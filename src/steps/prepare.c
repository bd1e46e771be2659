#include "steps/prepare.h"

#include "base/check.h"
#include "matrix/resident.h"
#include "steps/dominant.h"

#include <string.h>

/* Applies the fitted preparation to x. If it changes nothing the points are x itself, without a
 * copy: x may take most of the memory. */
static huddle_status apply_preparation(huddle_context *context, const huddle_points *x, bool keep,
                                       hd_fit_prepared *prepared, huddle_points *view) {
    huddle_status status = HUDDLE_OK;
    huddle_prepare_info applied = {0};
    if (hd_fit_is_identity(&prepared->preparation)) {
        TRY(huddle_points_fetch(x)); /* a view could not be freed if it fetched its own */
        *view = *x;
        if (keep)
            TRY(hd_fit_borrow_points(x, prepared));
        return status;
    }
    TRY(huddle_prepare_apply(context, &prepared->preparation, x, &prepared->points, &applied));
    prepared->info.zero_rows = applied.zero_rows;
    prepared->info.seconds += applied.seconds;
    *view = prepared->points;
done:
    return status;
}

/* Equal rows are found in x, not in the prepared points: preparation rounds, and what is equal to
 * the user must have equal labels. */
huddle_status hd_step_prepare(huddle_context *context, const huddle_points *x,
                              const huddle_prepare_options *options, bool keep, hd_fit *fit,
                              huddle_points *view) {
    huddle_status status = HUDDLE_OK;
    hd_fit_prepared *prepared = &fit->prepared;
    TRY_STAGE(context, HD_STAGE_PREPARE,
              huddle_prepare_fit(context, x, options, &prepared->preparation, &prepared->info));
    huddle_distinct_free(&fit->rows.equal);
    TRY_STAGE(context, HD_STAGE_DISTINCT, huddle_points_distinct(context, x, &fit->rows.equal));
    TRY_STAGE(context, HD_STAGE_PREPARE, apply_preparation(context, x, keep, prepared, view));
    TRY_STAGE(context, HD_STAGE_PREPARE,
              hd_step_find_dominant(context, &prepared->preparation, view, &prepared->dominant));
done:
    return status;
}

/* rule.name is NULL in a fit without that map. */
huddle_status hd_step_apply_map(huddle_context *context, const huddle_preparation *map,
                                const huddle_points *x, huddle_points *owned, huddle_points *view) {
    huddle_status status = HUDDLE_OK;
    bool same = map->rule.name == NULL || hd_fit_is_identity(map);
    memset(owned, 0, sizeof *owned);
    TRY(same ? huddle_points_fetch(x) : huddle_prepare_apply(context, map, x, owned, NULL));
    *view = same ? *x : *owned;
done:
    return status;
}

/* The first check of every prediction: all later stages take the number of features for granted. */
huddle_status hd_step_prepare_new(huddle_context *context, const hd_fit *fit,
                                  const huddle_points *x, huddle_points *owned,
                                  huddle_points *view) {
    huddle_status status = HUDDLE_OK;
    const huddle_preparation *preparation = &fit->prepared.preparation;
    huddle_points prepared = {0}, prepared_view;
    memset(owned, 0, sizeof *owned);
    if (x->d != preparation->d_in)
        FAIL(HUDDLE_INVALID, "the points have %lld features, the model was fitted to %lld",
             (long long)x->d, (long long)preparation->d_in);
    TRY(hd_step_apply_map(context, preparation, x, &prepared, &prepared_view));
    TRY(hd_step_apply_map(context, &fit->prepared.reduction, &prepared_view, owned, view));
    /* Without a reduction the view refers to the prepared points, which the caller must then
     * own. */
    if (!hd_points_present(owned)) {
        *owned = prepared;
        memset(&prepared, 0, sizeof prepared);
    }
done:
    huddle_points_free(&prepared);
    return status;
}
