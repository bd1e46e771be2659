#include "methods/views.h"

#include "base/check.h"
#include "base/options.h"
#include "decide/views.h"
#include "methods/prepare.h"
#include "steps/merge.h"
#include "steps/views.h"

#include <string.h>

const huddle_option *hd_method_views_table(void) {
    static const char *const choices[] = {"auto", "equal", NULL};
    static const huddle_option table[] = {
        HD_NUMBERS(hd_spectral_options, view_weights, "auto", choices, 0, INFINITY,
                   "weights of several views of the same points: by how clear the clusters of each "
                   "are, equal, or a number for each, such as 2,1"),
        {0}};
    return table;
}

/* The fit's part of a view is made as if there were no other: preparation, its choice, and which
 * rows are equal. */
static huddle_status prepare_view(const hd_method_run *run, const hd_spectral_options *options,
                                  int32_t v, huddle_distinct *equal) {
    huddle_status status = HUDDLE_OK;
    hd_fit alone = {0}, *fit = run->fit;
    hd_step_job job = *run->job;
    hd_method_run one = *run;
    huddle_points points;
    job.x = &run->job->x[v];
    job.n_views = 1;
    one.job = &job;
    one.fit = &alone;
    TRY(hd_fit_rows_begin(run->context, job.x->n, &alone.rows));
    alone.d = job.x->d;
    fit->views.items[v].d = job.x->d;
    TRY(hd_method_prepare(&one, &options->prepare, options, true, &points));
    *hd_fit_prepared_of(fit, v) = alone.prepared;
    *equal = alone.rows.equal;
    memset(&alone.prepared, 0, sizeof alone.prepared);
    memset(&alone.rows.equal, 0, sizeof alone.rows.equal);
done:
    hd_fit_free(&alone);
    return status;
}

huddle_status hd_method_make_views(hd_method_run *run, const hd_spectral_options *options) {
    huddle_status status = HUDDLE_OK;
    huddle_context *context = run->context;
    hd_fit *fit = run->fit;
    int32_t count = run->job->n_views;
    huddle_distinct equal[HD_FIT_MAX_VIEWS] = {0};
    if (strcmp(options->affinity, "features") != 0)
        FAIL(HUDDLE_INVALID, "affinity = %s takes one matrix; several views are points",
             options->affinity);
    ALLOC_ZERO(fit->views.items, count);
    fit->views.count = count;
    for (int32_t v = 0; v < count; v++)
        TRY(prepare_view(run, options, v, &equal[v]));
    TRY_STAGE(context, HD_STAGE_DISTINCT, hd_step_merge_views(context, options, equal, fit));
    TRY(hd_spectral_make_view_graphs(context, options, run->n_clusters, fit));
    TRY_STAGE(context, HD_STAGE_GRAPH,
              hd_decide_view_weights(context, options, run->n_clusters, fit));
    if (run->views == HD_METHOD_MEAN_GRAPH)
        TRY_STAGE(context, HD_STAGE_GRAPH, hd_spectral_take_mean_graph(context, fit));
done:
    for (int32_t v = 0; v < count; v++)
        huddle_distinct_free(&equal[v]);
    return status;
}
