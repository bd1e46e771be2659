/* The stage itself: options, checks, calls of the engine, and what all implementations share.
 * Points may have a shift, which is added to every row; K-means is invariant to it, so it is
 * ignored in between and added to the centres at the end. */
#include "huddle/kmeans.h"

#include "base/check.h"
#include "base/options.h"
#include "kmeans/memory.h"
#include "kmeans/restart.h"
#include "matrix/resident.h"

#include <float.h>
#include <math.h>
#include <string.h>

/* ---- options and results ------------------------------------------------------------------ */

static const char *const inits[] = {"k-means++", "sample", NULL};

/* The defaults are those of the published experiments (50 restarts) and of scikit-learn (max_iter,
 * tol). */
static const huddle_option table[] = {
    HD_INT(huddle_kmeans_options, n_clusters, "8", 1, INT32_MAX, "number of clusters"),
    HD_INT(huddle_kmeans_options, n_init, "50", 1, INT32_MAX,
           "number of restarts; the best one is kept"),
    HD_INT(huddle_kmeans_options, max_iter, "300", 1, INT32_MAX,
           "maximum number of iterations of a restart"),
    HD_REAL(
        huddle_kmeans_options, tol, "1e-4", 0, INFINITY,
        "stop when the sum of squared centre shifts is less than this fraction of the variance"),
    HD_CHOICE(huddle_kmeans_options, init, "k-means++", inits,
              "how the initial centres are chosen"),
    HD_BOOL(huddle_kmeans_options, full_restarts, "false",
            "every restart uses all rows; otherwise, with 65536 rows or more, restarts run on a "
            "sample and the best continue on all rows"),
    HD_SEED(huddle_kmeans_options, seed, "seed of the random numbers"),
    {0}};

const huddle_option *huddle_kmeans_options_table(void) {
    return table;
}

huddle_kmeans_options huddle_kmeans_defaults(void) {
    huddle_kmeans_options options = {0};
    huddle_options_default(table, &options);
    return options;
}

void huddle_kmeans_result_free(huddle_kmeans_result *result) {
    FREE(result->labels, result->averaged);
    huddle_dense_free(&result->centres);
    memset(result, 0, sizeof *result);
}

/* Safe for an empty info, also after a failure. */
void huddle_kmeans_info_free(huddle_kmeans_info *info) {
    FREE(info->inertias, info->start_labels);
    memset(info, 0, sizeof *info);
}

/* ---- checks ------------------------------------------------------------------------------- */

/* A weight of 0 is not allowed: a cluster of such rows would have no mean. */
static huddle_status check_weights(const double *weights, int64_t n) {
    for (int64_t i = 0; weights != NULL && i < n; i++)
        if (!(weights[i] > 0 && weights[i] <= DBL_MAX))
            return hd_fail(HUDDLE_INVALID, "the weight of row %lld is %g, not a positive number",
                           (long long)i + 1, weights[i]);
    return HUDDLE_OK;
}

/* Checks that centres fit points of d features and are in the range of float, in which they are
 * compared. */
static huddle_status check_centres(const huddle_dense *centres, int64_t d) {
    if (centres->rows < 1 || centres->rows > INT32_MAX || centres->cols != d ||
        centres->stride < d || centres->values == NULL)
        return hd_fail(HUDDLE_INVALID, "centres of %lld x %lld do not fit points of %lld features",
                       (long long)centres->rows, (long long)centres->cols, (long long)d);
    for (int64_t k = 0; k < centres->rows; k++)
        for (int64_t j = 0; j < d; j++) {
            double v = centres->values[k * centres->stride + j];
            if (!(fabs(v) <= (double)FLT_MAX))
                return hd_fail(HUDDLE_INVALID, "centre %lld, column %lld: %g is not a usable value",
                               (long long)k + 1, (long long)j + 1, v);
        }
    return HUDDLE_OK;
}

/* Draws are numbers for k-means++, in [0, 1). */
static huddle_status check_draws(const huddle_kmeans_options *options) {
    if (options->draws == NULL)
        return HUDDLE_OK;
    if (strcmp(options->init, "k-means++") != 0)
        return hd_fail(HUDDLE_INVALID, "draws are for init = k-means++, not %s", options->init);
    int64_t count = options->n_init * huddle_kmeans_n_draws(options->n_clusters);
    for (int64_t i = 0; i < count; i++)
        if (!(options->draws[i] >= 0 && options->draws[i] < 1))
            return hd_fail(HUDDLE_INVALID, "draw %lld is %g, outside [0, 1)", (long long)i + 1,
                           options->draws[i]);
    return HUDDLE_OK;
}

/* Whether only the context's own engine has the points, which then vouches for their values. */
static bool is_away(const huddle_context *context, const huddle_points *x) {
    return hd_resident_own(context, x->resident) != NULL && hd_points_away(x);
}

/* n_clusters is compared with the rows of all processes, not of this one. */
static huddle_status check_arguments(huddle_context *context, const huddle_points *x,
                                     const double *row_weights,
                                     const huddle_kmeans_options *options) {
    huddle_status status = HUDDLE_OK;
    hd_slab slab;
    TRY(huddle_options_check(table, options));
    if (!is_away(context, x))
        TRY(huddle_points_fetch(x));
    TRY(huddle_points_check(context, x));
    TRY(hd_slab_locate(context, x->n, &slab));
    if (options->n_clusters > slab.total)
        FAIL(HUDDLE_INVALID, "n_clusters = %d is outside [1, %lld], the number of rows",
             options->n_clusters, (long long)slab.total);
    TRY(check_weights(row_weights, x->n));
    TRY(check_draws(options));
    if (options->start == NULL)
        goto done;
    TRY(check_centres(options->start, x->d));
    if (options->start->rows % options->n_clusters != 0)
        FAIL(HUDDLE_INVALID, "%lld starting centres for n_clusters = %d",
             (long long)options->start->rows, options->n_clusters);
done:
    return status;
}

/* ---- shift ------------------------------------------------------------------------------- */

/* A copy of the centres in the coordinates of x without its shift, rows contiguous. */
static huddle_status subtract_shift(const huddle_points *x, const huddle_dense *centres,
                                    huddle_dense *copy) {
    huddle_status status = HUDDLE_OK;
    TRY(huddle_dense_fetch(centres));
    TRY(huddle_dense_new(centres->rows, x->d, copy));
    for (int64_t k = 0; k < centres->rows; k++)
        for (int64_t j = 0; j < x->d; j++)
            copy->values[k * copy->stride + j] =
                centres->values[k * centres->stride + j] - (x->shift != NULL ? x->shift[j] : 0);
done:
    return status;
}

/* In place. A copy in the memory of an engine no longer matches and is dropped. */
static void add_shift(const huddle_points *x, huddle_dense *centres) {
    if (x->shift != NULL)
        hd_resident_invalidate(centres->resident); /* the host's copy changes */
    for (int64_t k = 0; k < centres->rows && x->shift != NULL; k++)
        for (int64_t j = 0; j < centres->cols; j++)
            centres->values[k * centres->stride + j] += x->shift[j];
}

/* ---- engine -------------------------------------------------------------------------------- */

static huddle_status check_labels(int64_t n, int32_t c, const int32_t *labels) {
    for (int64_t i = 0; i < n; i++)
        if (labels[i] < 0 || labels[i] >= c)
            return hd_fail(HUDDLE_INTERNAL, "the engine returned label %d of row %lld", labels[i],
                           (long long)i + 1);
    return HUDDLE_OK;
}

/* HUDDLE_INTERNAL if what an engine returned cannot be a result: labels index arrays later. */
static huddle_status check_result(const huddle_points *x, const huddle_kmeans_options *options,
                                  const huddle_kmeans_result *result,
                                  const huddle_kmeans_info *info) {
    huddle_status status = HUDDLE_OK;
    const huddle_dense *centres = &result->centres;
    int32_t c = options->n_clusters, restarts = info->inertias != NULL ? info->n_restarts : 0;
    if (result->labels == NULL || centres->values == NULL || centres->rows != c ||
        centres->cols != x->d)
        FAIL(HUDDLE_INTERNAL, "the engine returned no labels or no %d centres", c);
    TRY(check_labels(x->n, c, result->labels));
    for (int64_t k = 0; k < c; k++)
        for (int64_t j = 0; j < x->d; j++)
            if (!(fabs(centres->values[k * centres->stride + j]) <= (double)FLT_MAX))
                FAIL(HUDDLE_INTERNAL, "the engine returned a centre %lld that is not finite",
                     (long long)k + 1);
    if (!(info->inertia >= 0 && info->inertia <= DBL_MAX) || restarts < 0 ||
        (restarts > 0 && (info->best < 0 || info->best >= restarts)))
        FAIL(HUDDLE_INTERNAL, "the engine returned an inertia of %g in restart %d of %d",
             info->inertia, info->best + 1, restarts);
    for (int32_t r = 0; r < restarts; r++) {
        if (!(info->inertias[r] >= 0 && info->inertias[r] <= DBL_MAX))
            FAIL(HUDDLE_INTERNAL, "the engine returned an inertia of %g of restart %d",
                 info->inertias[r], r + 1);
        if (info->start_labels != NULL)
            TRY(check_labels(x->n, c, info->start_labels + r * x->n));
    }
done:
    return status;
}

/* The clusters of an engine. It reports the outcome; what it leaves out is completed here, so that
 * callers find the same fields as without an engine. */
static huddle_status cluster_by_engine(huddle_context *context, const huddle_points *x,
                                       const double *row_weights,
                                       const huddle_kmeans_options *options,
                                       huddle_kmeans_result *result, huddle_kmeans_info *info) {
    huddle_status status = HUDDLE_OK;
    TRY(hd_context_engine(context)->cluster_rows(context, x, row_weights, options, result, info));
    TRY(huddle_dense_fetch(&result->centres));
    TRY(check_result(x, options, result, info));
    info->n_distinct = options->n_clusters;
    if (info->inertias == NULL) {
        ALLOC(info->inertias, 1);
        info->inertias[0] = info->inertia;
        info->n_restarts = 1;
        info->best = 0;
    }
    if (options->keep_starts && info->start_labels == NULL && info->n_restarts == 1) {
        ALLOC(info->start_labels, x->n);
        memcpy(info->start_labels, result->labels, (size_t)x->n * sizeof *result->labels);
    }
done:
    return status;
}

/* Engines know neither draws nor averaged labels. A partial result is discarded. */
huddle_status hd_kmeans_try_engine(huddle_context *context, const huddle_points *x,
                                   const double *row_weights, const huddle_kmeans_options *options,
                                   huddle_kmeans_result *result, huddle_kmeans_info *info) {
    if (hd_context_engine(context)->cluster_rows == NULL || options->draws != NULL ||
        options->keep_averaged || options->log_iterations)
        return HUDDLE_OK;
    huddle_status status = cluster_by_engine(context, x, row_weights, options, result, info);
    if (!hd_engine_declined(context, "cluster_rows", status))
        return status;
    huddle_kmeans_result_free(result);
    huddle_kmeans_info_free(info);
    return HUDDLE_OK;
}

/* Points that only the engine has come to the host for a way that needs them there: all but the
 * engine, and a sample if there are enough rows for one. What precedes for others then follows. */
static huddle_status fetch_away(huddle_context *context, hd_kmeans_way *way, const huddle_points *x,
                                const huddle_kmeans_options *options, huddle_points *plain,
                                huddle_kmeans_result *result, huddle_kmeans_info *info) {
    huddle_status status = HUDDLE_OK;
    if (!is_away(context, x) || way == hd_kmeans_try_engine ||
        (way == hd_kmeans_try_sampled && hd_kmeans_sampled_memory(x->n, x->d, options, 1) == 0))
        return status;
    TRY(huddle_points_fetch(x));
    TRY(huddle_points_check(context, x));
    *plain = *x;
    plain->shift = NULL;
    TRY(hd_kmeans_place_few_rows(context, plain, options, result, info));
done:
    return status;
}

/* Clusters rows without their shift. Samples come first, on every engine; then the engine is asked
 * for all rows, and what it declines is computed on the CPU. */
static huddle_status cluster(huddle_context *context, const huddle_points *x,
                             const double *row_weights, const huddle_kmeans_options *options,
                             huddle_kmeans_result *result, huddle_kmeans_info *info) {
    huddle_status status = HUDDLE_OK;
    huddle_kmeans_options own = *options;
    huddle_points plain = *x;
    huddle_dense start = {0};
    plain.shift = NULL;
    if (options->start != NULL) {
        TRY(subtract_shift(x, options->start, &start));
        own.start = &start;
    }
    static hd_kmeans_way *const ways[] = {hd_kmeans_try_sampled, hd_kmeans_try_engine,
                                          hd_kmeans_try_gathered, hd_kmeans_try_restarts};
    for (size_t k = 0; k < sizeof ways / sizeof *ways && result->labels == NULL; k++) {
        TRY(fetch_away(context, ways[k], x, &own, &plain, result, info));
        if (result->labels == NULL)
            TRY(ways[k](context, &plain, row_weights, &own, result, info));
    }
done:
    huddle_dense_free(&start);
    return status;
}

/* Samples are freed before all rows are used. */
int64_t hd_kmeans_predict_memory(int64_t n, int64_t d, const huddle_kmeans_options *options,
                                 int32_t workers) {
    int64_t sampled = hd_kmeans_sampled_memory(n, d, options, workers);
    int64_t all = hd_kmeans_restarts_memory(n, d, options->n_clusters, options->n_init,
                                            sampled == 0, workers);
    if (options->keep_starts)
        all += options->n_init * n * (int64_t)sizeof(int32_t);
    if (options->keep_averaged)
        all += 2 * n * (int64_t)sizeof(int32_t);
    return sampled > all ? sampled : all;
}

/* ---- entry points ------------------------------------------------------------------------- */

/* Fewer distinct rows than clusters are handled before any method is chosen, so that all engines
 * agree on them. Errors are agreed on by all processes, since one may fail alone. */
huddle_status huddle_kmeans(huddle_context *context, const huddle_points *x,
                            const double *row_weights, const huddle_kmeans_options *options,
                            huddle_kmeans_result *result, huddle_kmeans_info *info) {
    huddle_status status = HUDDLE_OK;
    double began = hd_seconds();
    huddle_kmeans_options defaults = huddle_kmeans_defaults();
    huddle_kmeans_info details = {0};
    options = options != NULL ? options : &defaults;
    memset(result, 0, sizeof *result);
    if (info != NULL)
        memset(info, 0, sizeof *info);
    TRY(check_arguments(context, x, row_weights, options));
    /* Sets the labels if it applies; otherwise the result is still empty. */
    if (!is_away(context, x))
        TRY(hd_kmeans_place_few_rows(context, x, options, result, &details));
    if (result->labels == NULL)
        TRY(cluster(context, x, row_weights, options, result, &details));
    add_shift(x, &result->centres);
    details.seconds = hd_seconds() - began;
    if (info != NULL) {
        *info = details;
        details.inertias = NULL;
        details.start_labels = NULL;
    }
done:
    status = hd_agree(context, status);
    huddle_kmeans_info_free(&details);
    if (status != HUDDLE_OK) {
        huddle_kmeans_result_free(result);
        if (info != NULL)
            huddle_kmeans_info_free(info);
    }
    return status;
}

/* Arguments of label_rows(), shared by all threads; each uses the scratch memory of its worker. */
typedef struct assignment {
    const hd_kmeans_data *data;
    const hd_kmeans_centres *centres;
    hd_kmeans_scratch *scratch;
    int32_t *labels;
} assignment;

/* Labels the rows of one chunk, block by block. */
static huddle_status label_rows(void *argument, hd_chunk chunk) {
    const assignment *a = argument;
    hd_kmeans_near near;
    int32_t rows[HD_KMEANS_BLOCK];
    for (int64_t i = chunk.begin; i < chunk.end; i += HD_KMEANS_BLOCK) {
        int32_t count =
            (int32_t)(chunk.end - i < HD_KMEANS_BLOCK ? chunk.end - i : HD_KMEANS_BLOCK);
        for (int32_t r = 0; r < count; r++)
            rows[r] = (int32_t)(i + r);
        hd_kmeans_nearest(a->data, a->centres, rows, count, &a->scratch[chunk.worker], &near);
        memcpy(a->labels + i, near.label, (size_t)count * sizeof *a->labels);
    }
    return HUDDLE_OK;
}

/* Labels on the CPU; centres are without the shift of x. The comparison is that of Lloyd's
 * iteration, so that assigning the training points to their own centres returns their labels,
 * except for ties that the rounding of a shift decides. */
static huddle_status assign_on_cpu(huddle_context *context, const huddle_points *x,
                                   const huddle_dense *centres, int32_t *labels) {
    huddle_status status = HUDDLE_OK;
    hd_kmeans_data data = {0};
    hd_kmeans_centres ready = {0};
    int32_t n_scratch = hd_workers(context), c = (int32_t)centres->rows;
    assignment a = {.data = &data, .centres = &ready, .labels = labels};
    TRY(hd_kmeans_data_new(context, x, NULL, c, &data));
    TRY(hd_kmeans_centres_new(&data, c, &ready));
    hd_kmeans_centres_set(&data, c, centres->values, &ready);
    TRY(hd_kmeans_scratch_new(n_scratch, c, &a.scratch));
    TRY(hd_parallel(context, "kmeans", x->n, data.grain, label_rows, &a));
done:
    hd_kmeans_scratch_free(n_scratch, a.scratch);
    hd_kmeans_centres_free(&ready);
    hd_kmeans_data_free(&data);
    return status;
}

/* Labels points by given centres, which is all that a model needs to store for new points.
 * Restarts, weights and seeds play no part. */
huddle_status huddle_kmeans_assign(huddle_context *context, const huddle_points *x,
                                   const huddle_dense *centres, int32_t *labels) {
    huddle_status status = HUDDLE_OK;
    huddle_points plain;
    huddle_dense own = {0};
    const hd_engine *engine = hd_context_engine(context);
    if (!is_away(context, x))
        TRY(huddle_points_fetch(x));
    TRY(huddle_dense_fetch(centres));
    TRY(huddle_points_check(context, x));
    TRY(check_centres(centres, x->d));
    TRY(subtract_shift(x, centres, &own));
    plain = *x;
    plain.shift = NULL;
    status = HUDDLE_UNSUPPORTED;
    if (engine->assign_rows != NULL) {
        status = engine->assign_rows(context, &plain, &own, labels);
        if (status == HUDDLE_OK)
            status = check_labels(x->n, (int32_t)centres->rows, labels);
        (void)hd_engine_declined(context, "assign_rows", status);
    }
    if (status == HUDDLE_UNSUPPORTED) {
        TRY(huddle_points_fetch(x));
        plain = *x;
        plain.shift = NULL;
        status = assign_on_cpu(context, &plain, &own, labels);
    }
done:
    status = hd_agree(context, status);
    huddle_dense_free(&own);
    return status;
}
