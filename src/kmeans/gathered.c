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
    double *inertias; /* of the restarts; infinity where another process ran them */
    int32_t count;
    int32_t part, parts;
    hd_kmeans_outcome outcome;
    huddle_kmeans_result best; /* labels of all rows */
} gathered;

static void gathered_free(gathered *g) {
    huddle_points_free(&g->points);
    FREE(g->weights, g->inertias);
    huddle_kmeans_result_free(&g->best);
}

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
static huddle_status run_share(huddle_context *context, const huddle_kmeans_options *options,
                               gathered *g) {
    huddle_status status = HUDDLE_OK;
    hd_kmeans_data data = {0};
    if (g->part >= g->count)
        goto done;
    TRY(hd_kmeans_data_new(context, &g->points, g->weights, options->n_clusters, &data));
    hd_kmeans_restarts set = {.data = &data,
                              .options = options,
                              .count = g->count,
                              .part = g->part,
                              .parts = g->parts,
                              .inertias = g->inertias};
    TRY(hd_kmeans_run_restarts(&set, &g->best));
    g->outcome = set.outcome;
done:
    hd_kmeans_data_free(&data);
    return status;
}

/* The best restart of all processes: that of the smallest inertia, then of the smallest number. */
static huddle_status take_best(huddle_context *context, const huddle_points *x, int32_t c,
                               gathered *g, huddle_kmeans_result *result,
                               huddle_kmeans_info *info) {
    huddle_status status = HUDDLE_OK;
    int32_t best = 0;
    TRY(hd_reduce_min(context, g->count, g->inertias));
    for (int32_t k = 1; k < g->count; k++)
        best = g->inertias[k] < g->inertias[best] ? k : best;
    int32_t owner = best % g->parts;
    TRY(hd_slabs_broadcast(context, owner, sizeof g->outcome, &g->outcome));
    ALLOC(result->labels, x->n);
    TRY(huddle_dense_new(c, x->d, &result->centres));
    TRY(hd_scatter_rows(context, owner, g->best.labels, x->n, sizeof *result->labels,
                        result->labels));
    for (int64_t k = 0; k < c && owner == g->part; k++)
        memcpy(result->centres.values + k * result->centres.stride,
               g->best.centres.values + k * g->best.centres.stride,
               (size_t)x->d * sizeof *result->centres.values);
    TRY(hd_slabs_broadcast(context, owner,
                           c * result->centres.stride * (int64_t)sizeof *result->centres.values,
                           result->centres.values));
    *info = (huddle_kmeans_info){.inertia = g->outcome.inertia,
                                 .inertias = g->inertias,
                                 .n_restarts = g->count,
                                 .best = best,
                                 .n_iter = g->outcome.n_iter,
                                 .n_distinct = c,
                                 .stop = g->outcome.stop};
    g->inertias = NULL;
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
    gathered g = {.count = options->n_clusters == 1 ? 1 : options->n_init,
                  .part = hd_slabs_rank(context),
                  .parts = hd_slabs_count(context)};
    TRY(hd_slab_locate(context, x->n, &slab));
    if (!applies(context, x, slab.total, options))
        goto done;
    ALLOC(g.inertias, g.count);
    for (int32_t k = 0; k < g.count; k++)
        g.inertias[k] = INFINITY;
    TRY(collect(context, x, row_weights, &g));
    hd_alone before = hd_alone_begin(context);
    status = run_share(context, options, &g);
    hd_alone_end(context, before);
    TRY(hd_agree(context, status));
    TRY(take_best(context, x, options->n_clusters, &g, result, info));
done:
    gathered_free(&g);
    return status;
}
