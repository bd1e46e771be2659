#include "methods/prepare.h"

#include "base/check.h"
#include "decide/preparation.h"
#include "decide/table.h"
#include "steps/prepare.h"

#include <string.h>

/* Tables are examined also if the user has chosen the preparation: fits with different options
 * share the result. */
huddle_status hd_method_prepare(const hd_method_run *run, const huddle_prepare_options *options,
                                const hd_spectral_options *spectral, bool keep,
                                huddle_points *view) {
    huddle_status status = HUDDLE_OK;
    huddle_context *context = run->context;
    const hd_step_job *job = run->job;
    hd_fit_prepared *prepared = &run->fit->prepared;
    hd_spectral_options plain = hd_spectral_defaults(job->common.n_clusters, job->common.seed);
    huddle_prepare_options chosen = *options;
    chosen.seed = run->seed;
    if (spectral != NULL && spectral->refine != NULL)
        TRY_STAGE(context, HD_STAGE_PREPARE, hd_decide_table(context, job->x, &prepared->table));
    if (strcmp(chosen.prepare.name, "auto") == 0)
        TRY_STAGE(context, HD_STAGE_PREPARE,
                  hd_decide_preparation(context, job->x, spectral != NULL ? spectral : &plain,
                                        prepared, &chosen.prepare));
    TRY(hd_step_prepare(context, job->x, &chosen, keep, run->fit, view));
    prepared->info.seconds += prepared->trials.seconds;
done:
    return status;
}

/* Options of which the choice uses a part (restarts of K-means, the verification of eigenvectors)
 * are added whole: that costs some repeated work at most. Methods whose labels come from a rotation
 * have no K-means but its restarts. Without refinement the choice depends on nothing but the
 * points. */
void hd_method_add_choice_to_key(const hd_spectral_options *o, hd_cache_key *key) {
    if (!hd_spectral_refines(o))
        return;
    hd_cache_key_add(key, "%s;%d", o->refine, o->kmeans.n_init);
    hd_cache_key_add_options(key, huddle_embed_options_table(), &o->embed);
    if (o->kmeans.init != NULL)
        hd_cache_key_add_options(key, huddle_kmeans_options_table(), &o->kmeans);
}

void hd_method_add_graph_to_key(const hd_spectral_options *o, hd_cache_key *key) {
    hd_cache_key_add_options(key, huddle_knn_options_table(), &o->knn);
    hd_cache_key_add_options(key, huddle_weight_options_table(), &o->weight);
    hd_cache_key_add_options(key, huddle_connect_options_table(), &o->connect);
}

/* n_clusters is always part of the key, although only prepare = auto depends on it; the cost is
 * some repeated work. */
huddle_status hd_method_prepare_shared(hd_method_run *run, const huddle_prepare_options *options,
                                       const hd_spectral_options *spectral) {
    huddle_status status = HUDDLE_OK;
    hd_cache_key *key = &run->key;
    const hd_cache_part parts[] = {{&run->fit->rows, &hd_fit_rows_copier},
                                   {&run->fit->prepared, &hd_fit_prepared_copier}};
    huddle_points view;
    /* The automatic preparation depends on n_clusters. */
    hd_cache_key_add(key, "points;%llu;%d;%d", (unsigned long long)run->seed, run->n_clusters.first,
                     run->n_clusters.last);
    hd_cache_key_add_options(key, huddle_prepare_options_table(), options);
    if (spectral != NULL)
        hd_cache_key_add(key, "table"); /* examined, unlike by methods without refinement */
    if (spectral != NULL && strcmp(options->prepare.name, "auto") == 0) {
        hd_method_add_choice_to_key(spectral, key);
        hd_method_add_graph_to_key(spectral, key);
    }
    HD_CACHE_TRY(key, parts, 2, hd_method_prepare(run, options, spectral, true, &view));
done:
    return status;
}
