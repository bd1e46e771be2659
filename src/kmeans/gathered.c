/* Few rows that are distributed over processes: every process gets all of them and runs its share
 * of the restarts alone. A common iteration would send a message in each of its steps, of which
 * small problems, such as the distinct rows of G, have thousands. Results are those of one process.
 */
#include "base/check.h"
#include "kmeans/restart.h"
#include "matrix/collect.h"

#include <math.h>
#include <string.h>

/* Values that every process can hold whatever the data: 16 MB. */
static const int64_t most_values = 1 << 22;

/* Rows of all processes, and what this process found. */
typedef struct gathered {
    huddle_points points;
    double *weights;
    hd_kmeans_restarts set;    /* inertias: infinity where another process ran the restart */
    huddle_kmeans_result best; /* labels of all rows */
} gathered;

static huddle_status collect(huddle_context *context, const huddle_points *x,
                             const double *row_weights, gathered *g) {
    huddle_status status = HUDDLE_OK;
    void *weights = NULL;
    int64_t total;
    TRY(hd_collect_points(context, x, NULL, 0, HD_EVERYWHERE, &g->points));
    if (row_weights != NULL)
        TRY(hd_collect_rows(context, HD_EVERYWHERE, x->n, row_weights, sizeof *row_weights, &total,
                            &weights));
    g->weights = weights;
done:
    return status;
}

/* Every parts-th restart, with the random numbers of its number. */
static huddle_status run_share(huddle_context *context, gathered *g) {
    huddle_status status = HUDDLE_OK;
    hd_kmeans_data data = {0};
    if (g->set.part >= g->set.count)
        goto done;
    TRY(hd_kmeans_data_new(context, &g->points, g->weights, g->set.options->n_clusters, &data));
    g->set.data = &data;
    TRY(hd_kmeans_run_restarts(&g->set, &g->best));
done:
    hd_kmeans_data_free(&data);
    return status;
}

/* The best restart of all processes: that of the smallest inertia, then of the smallest number. */
static huddle_status take_best(huddle_context *context, const huddle_points *x, gathered *g,
                               huddle_kmeans_result *result, huddle_kmeans_info *info) {
    huddle_status status = HUDDLE_OK;
    hd_kmeans_restarts *set = &g->set;
    int64_t c = set->options->n_clusters;
    TRY(hd_reduce_min(context, set->count, set->inertias));
    set->best = 0;
    for (int32_t k = 1; k < set->count; k++)
        set->best = set->inertias[k] < set->inertias[set->best] ? k : set->best;
    int32_t owner = set->best % set->parts;
    TRY(hd_slabs_broadcast(context, owner, sizeof set->outcome, &set->outcome));
    ALLOC(result->labels, x->n);
    TRY(huddle_dense_new(c, x->d, &result->centres));
    TRY(hd_scatter_rows(context, owner, g->best.labels, x->n, sizeof *result->labels,
                        result->labels));
    int64_t size = c * x->d * (int64_t)sizeof *result->centres.values;
    if (owner == set->part)
        memcpy(result->centres.values, g->best.centres.values, (size_t)size);
    TRY(hd_slabs_broadcast(context, owner, size, result->centres.values));
    hd_kmeans_give_info(set, info);
done:
    if (status != HUDDLE_OK)
        huddle_kmeans_result_free(result);
    return hd_agree(context, status);
}

/* Whether rows are few enough. Where the engine wants small problems to use all processes, which
 * serves tests, none are; given centres are one run, of few messages. */
static bool applies(const huddle_context *context, const huddle_points *x, int64_t total,
                    const huddle_kmeans_options *options) {
    return hd_slabs_few_rows(context) > 0 && x->offsets == NULL && total * x->d <= most_values &&
           options->start == NULL && !options->keep_starts && !options->keep_averaged;
}

huddle_status hd_kmeans_try_gathered(huddle_context *context, const huddle_points *x,
                                     const double *row_weights,
                                     const huddle_kmeans_options *options,
                                     huddle_kmeans_result *result, huddle_kmeans_info *info) {
    huddle_status status = HUDDLE_OK;
    hd_slab slab;
    gathered g = {.set = {.options = options,
                          .count = options->n_clusters == 1 ? 1 : options->n_init,
                          .part = hd_slabs_rank(context),
                          .parts = hd_slabs_count(context)}};
    TRY(hd_slab_locate(context, x->n, &slab));
    if (!applies(context, x, slab.total, options))
        goto done;
    ALLOC(g.set.inertias, g.set.count);
    for (int32_t k = 0; k < g.set.count; k++)
        g.set.inertias[k] = INFINITY;
    TRY(collect(context, x, row_weights, &g));
    hd_alone before = hd_alone_begin(context);
    status = run_share(context, &g);
    hd_alone_end(context, before);
    TRY(hd_agree(context, status));
    TRY(take_best(context, x, &g, result, info));
done:
    huddle_points_free(&g.points);
    FREE(g.weights, g.set.inertias);
    huddle_kmeans_result_free(&g.best);
    return status;
}
