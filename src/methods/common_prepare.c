/* From x to the prepared points, for training points and for new ones. */
#include "methods/deciding.h"

#include "base/check.h"

#include <stdio.h>
#include <string.h>

/* ---- training points ----------------------------------------------------------------------- */

/* Applies the fitted preparation to x. If it changes nothing the points are x itself, without a
 * copy: x may take most of the memory. */
static huddle_status apply_preparation(huddle_context *context, const huddle_points *x, bool keep,
                                       hd_fit_prepared *prepared, huddle_points *view) {
    huddle_status status = HUDDLE_OK;
    huddle_prepare_info applied = {0};
    if (hd_fit_is_identity(&prepared->preparation)) {
        *view = *x;
        if (keep) {
            prepared->points = *x;
            prepared->borrows_points = true;
        }
        return status;
    }
    TRY(huddle_prepare_apply(context, &prepared->preparation, x, &prepared->points, &applied));
    prepared->info.zero_rows = applied.zero_rows;
    prepared->info.seconds += applied.seconds;
    *view = prepared->points;
done:
    return status;
}

/* prepare = auto: the columns of a table are scaled; all else is chosen by trials. */
static huddle_status choose_rule(huddle_context *context, const hd_fit_job *job,
                                 hd_fit_prepared *prepared, huddle_rule *rule) {
    prepared->table.is_scaled = hd_table_is_to_scale(job->spectral, &prepared->table);
    if (!prepared->table.is_scaled)
        return hd_choose_prepare(context, job->x, job->common, job->spectral, rule,
                                 &prepared->trials);
    *rule = (huddle_rule){"clip", 0};
    return HUDDLE_OK;
}

/* Equal rows are found in x, not in the prepared points: preparation rounds, and what is equal to
 * the user must have equal labels. */
huddle_status hd_fit_prepare(huddle_context *context, const hd_fit_job *job,
                             const huddle_prepare_options *options, bool keep, hd_fit *fit,
                             huddle_points *view) {
    huddle_status status = HUDDLE_OK;
    hd_fit_prepared *prepared = &fit->prepared;
    huddle_prepare_options chosen = *options;
    /* Always, also for preparations that the user has chosen: fits with different options share
     * the result. */
    hd_stage before = hd_stage_enter(context, HD_STAGE_PREPARE);
    if (job->spectral != NULL && job->spectral->refine != NULL)
        TRY(hd_table_examine(context, job->x, &prepared->table));
    if (strcmp(chosen.prepare.name, "auto") == 0)
        TRY(choose_rule(context, job, prepared, &chosen.prepare));
    TRY(huddle_prepare_fit(context, job->x, &chosen, &prepared->preparation, &prepared->info));
    prepared->info.seconds += prepared->trials.seconds;
    hd_stage_leave(context, before);
    before = hd_stage_enter(context, HD_STAGE_DISTINCT);
    huddle_distinct_free(&fit->rows.equal);
    TRY(huddle_points_distinct(context, job->x, &fit->rows.equal));
    hd_stage_leave(context, before);
    before = hd_stage_enter(context, HD_STAGE_PREPARE);
    TRY(apply_preparation(context, job->x, keep, prepared, view));
    TRY(hd_fit_find_dominant(context, &prepared->preparation, view, &prepared->dominant));
    hd_stage_leave(context, before);
done:
    return status;
}

/* n_clusters is always part of the key, although only prepare = auto depends on it; the cost is
 * some repeated work. */
huddle_status hd_fit_prepare_shared(huddle_context *context, const hd_fit_job *job,
                                    const huddle_prepare_options *options, hd_cache_key *key,
                                    hd_fit *fit) {
    huddle_status status = HUDDLE_OK;
    const hd_cache_part parts[] = {{&fit->rows, &hd_fit_rows_copier},
                                   {&fit->prepared, &hd_fit_prepared_copier}};
    huddle_points view;
    bool found;
    char numbers[96];
    /* The automatic preparation depends on n_clusters. */
    snprintf(numbers, sizeof numbers, "points;%llu;%d;%d", (unsigned long long)options->seed,
             job->common.n_clusters.first, job->common.n_clusters.last);
    hd_cache_key_add(key, numbers);
    hd_cache_key_add_options(key, huddle_prepare_options_table(), options);
    if (job->spectral != NULL)
        hd_cache_key_add(key, "table"); /* examined, unlike by methods without refinement */
    if (job->spectral != NULL && strcmp(options->prepare.name, "auto") == 0) {
        hd_spectral_add_choice_to_key(job->spectral, key);
        hd_cache_key_add_options(key, huddle_knn_options_table(), &job->spectral->knn);
        hd_cache_key_add_options(key, huddle_weight_options_table(), &job->spectral->weight);
        hd_cache_key_add_options(key, huddle_connect_options_table(), &job->spectral->connect);
    }
    TRY(hd_cache_find(key, parts, 2, &found));
    if (!found)
        TRY(hd_cache_store(key, parts, 2, hd_fit_prepare(context, job, options, true, fit, &view)));
done:
    return status;
}

/* ---- new points ---------------------------------------------------------------------------- */

/* rule.name is NULL in a fit without that map. */
huddle_status hd_fit_apply_map(huddle_context *context, const huddle_preparation *map,
                               const huddle_points *x, huddle_points *owned, huddle_points *view) {
    memset(owned, 0, sizeof *owned);
    *view = *x;
    if (map->rule.name == NULL || hd_fit_is_identity(map))
        return HUDDLE_OK;
    huddle_status status = huddle_prepare_apply(context, map, x, owned, NULL);
    *view = *owned;
    return status;
}

/* The first check of every prediction: all later stages take the number of features for granted. */
huddle_status hd_fit_prepare_new(huddle_context *context, const hd_fit *fit, const huddle_points *x,
                                 huddle_points *owned, huddle_points *view) {
    huddle_status status = HUDDLE_OK;
    const huddle_preparation *preparation = &fit->prepared.preparation;
    huddle_points prepared = {0}, prepared_view;
    memset(owned, 0, sizeof *owned);
    if (x->d != preparation->d_in)
        FAIL(HUDDLE_INVALID, "the points have %lld features, the model was fitted to %lld",
             (long long)x->d, (long long)preparation->d_in);
    TRY(hd_fit_apply_map(context, preparation, x, &prepared, &prepared_view));
    TRY(hd_fit_apply_map(context, &fit->prepared.reduction, &prepared_view, owned, view));
    /* Without a reduction the view refers to the prepared points, which the caller must then
     * own. */
    if (owned->values == NULL && owned->resident == NULL) {
        *owned = prepared;
        memset(&prepared, 0, sizeof prepared);
    }
done:
    huddle_points_free(&prepared);
    return status;
}
