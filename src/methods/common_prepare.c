/* Preparing as a stage that fits share. */
#include "methods/cache.h"

#include "base/check.h"

#include <stdio.h>

typedef struct prepare_job {
    const hd_input *input;
    const huddle_prepare_options *options;
} prepare_job;

static huddle_status make_points(huddle_context *context, void *argument, hd_fit *fit) {
    const prepare_job *job = argument;
    huddle_points view;
    return hd_fit_prepare(context, job->input->x, job->options, true, fit, &view);
}

static const hd_shared_stage points_stage = {make_points, hd_copy_points};

huddle_status hd_fit_prepare_shared(huddle_context *context, const hd_input *input,
                                    const huddle_prepare_options *options, hd_fit *fit) {
    prepare_job job = {input, options};
    char numbers[96];
    snprintf(numbers, sizeof numbers, "points;%llu;%d;%d", (unsigned long long)options->seed,
             fit->common.n_clusters.first, fit->common.n_clusters.last);
    hd_key_add_text(&fit->key, numbers);
    hd_key_add_options(&fit->key, huddle_prepare_options_table(), options);
    return hd_cache_run(context, input->cache, &fit->key, &points_stage, &job, fit);
}
