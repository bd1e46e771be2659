#include "huddle/kmeans.h"

#include "base/check.h"
#include "base/options.h"
#include "kmeans/restart.h"

#include <float.h>
#include <math.h>
#include <string.h>

/* ---- options and results ------------------------------------------------------------------ */

static const char *const inits[] = {"k-means++", "sample", NULL};

static const huddle_option table[] = {
    HD_INT(huddle_kmeans_options, n_clusters, "8", 1, INT32_MAX, "clusters to find"),
    HD_INT(huddle_kmeans_options, n_init, "50", 1, INT32_MAX, "restarts; the best one is kept"),
    HD_INT(huddle_kmeans_options, max_iter, "300", 1, INT32_MAX, "most iterations of a restart"),
    HD_REAL(huddle_kmeans_options, tol, "1e-4", 0, INFINITY,
            "stop when the centres' squared moves sum to less than this part of the variance"),
    HD_CHOICE(huddle_kmeans_options, init, "k-means++", inits, "how to choose the first centres"),
    HD_SEED(huddle_kmeans_options, seed, "of the random numbers"),
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
    huddle_free(result->labels);
    huddle_dense_free(&result->centres);
    memset(result, 0, sizeof *result);
}

void huddle_kmeans_info_free(huddle_kmeans_info *info) {
    huddle_free(info->inertias);
    huddle_free(info->start_labels);
    memset(info, 0, sizeof *info);
}

/* ---- checks ------------------------------------------------------------------------------- */

static huddle_status check_weights(const double *weights, int64_t n) {
    for (int64_t i = 0; weights != NULL && i < n; i++)
        if (!(weights[i] > 0 && weights[i] <= DBL_MAX))
            return hd_fail(HUDDLE_INVALID, "the weight of row %lld is %g, not a positive number",
                           (long long)i + 1, weights[i]);
    return HUDDLE_OK;
}

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

static huddle_status check_arguments(huddle_context *context, const huddle_points *x,
                                     const double *row_weights,
                                     const huddle_kmeans_options *options) {
    huddle_status status = HUDDLE_OK;
    TRY(huddle_options_check(table, options));
    TRY(huddle_points_check(context, x));
    if (options->n_clusters > x->n)
        FAIL(HUDDLE_INVALID, "n_clusters = %d is outside [1, %lld], the number of rows",
             options->n_clusters, (long long)x->n);
    TRY(check_weights(row_weights, x->n));
    if (options->start == NULL)
        goto done;
    TRY(check_centres(options->start, x->d));
    if (options->start->rows != options->n_clusters)
        FAIL(HUDDLE_INVALID, "%lld starting centres for n_clusters = %d",
             (long long)options->start->rows, options->n_clusters);
done:
    return status;
}

/* centres less the points' shift, without gaps between rows. */
static void take_centres(const huddle_points *x, const huddle_dense *centres, double *values) {
    for (int64_t k = 0; k < centres->rows; k++)
        for (int64_t j = 0; j < x->d; j++)
            values[k * x->d + j] =
                centres->values[k * centres->stride + j] - (x->shift != NULL ? x->shift[j] : 0);
}

/* ---- restarts ----------------------------------------------------------------------------- */

/* The best restart a worker has seen. */
typedef struct winner {
    hd_kmeans_run run;
    bool made;       /* run is there */
    int32_t restart; /* -1: none yet */
    double inertia;
    int32_t n_iter;
    huddle_stop stop;
    int32_t *labels;
    double *centres;
} winner;

typedef struct contest {
    const hd_kmeans_data *data;
    const huddle_kmeans_options *options;
    int32_t n_restarts;
    bool together; /* restarts at the same time, each on one thread */
    winner *winners;
    int32_t n_winners;
    double *inertias;
    int32_t *start_labels; /* n_restarts x n, or NULL if nobody asks for them */
} contest;

static void swap_labels(int32_t **a, int32_t **b) {
    int32_t *t = *a;
    *a = *b;
    *b = t;
}

/* Takes the run's outcome if it is the worker's best; the run continues with the old arrays. */
static huddle_status keep_best(const contest *all, winner *w, int32_t restart) {
    huddle_status status = HUDDLE_OK;
    const hd_kmeans_data *data = all->data;
    hd_kmeans_run *run = &w->run;
    int64_t cells = data->c * data->x->d;
    all->inertias[restart] = run->inertia;
    if (all->start_labels != NULL)
        memcpy(all->start_labels + restart * data->x->n, run->labels,
               (size_t)data->x->n * sizeof *run->labels);
    if (w->restart >= 0 &&
        (run->inertia > w->inertia || (run->inertia == w->inertia && restart > w->restart)))
        return status;
    if (w->centres == NULL)
        ALLOC(w->centres, cells);
    if (w->labels == NULL && all->n_restarts > 1)
        ALLOC(w->labels, data->x->n);
    memcpy(w->centres, run->centres, (size_t)cells * sizeof *w->centres);
    swap_labels(&w->labels, &run->labels);
    w->restart = restart;
    w->inertia = run->inertia;
    w->n_iter = run->n_iter;
    w->stop = run->stop;
done:
    return status;
}

static huddle_status try_restart(const contest *all, winner *w, int32_t restart) {
    huddle_status status = HUDDLE_OK;
    const huddle_kmeans_options *options = all->options;
    hd_rng rng = hd_rng_stream(options->seed, (uint64_t)restart);
    if (!w->made) {
        int32_t n_scratch = all->together ? 1 : hd_workers(all->data->context);
        TRY(hd_kmeans_run_new(all->data, n_scratch, &w->run));
        w->made = true;
        w->run.reports = !all->together;
        w->run.n_restarts = all->n_restarts;
    }
    w->run.restart = restart;
    if (options->start != NULL)
        take_centres(all->data->x, options->start, w->run.centres);
    else
        TRY(hd_kmeans_seed(&w->run, options->init, &rng));
    TRY(hd_kmeans_lloyd(&w->run, options->max_iter, options->tol));
    TRY(keep_best(all, w, restart));
done:
    return status;
}

static huddle_status try_restarts(void *argument, hd_chunk chunk) {
    const contest *all = argument;
    huddle_status status = HUDDLE_OK;
    for (int64_t r = chunk.begin; r < chunk.end && status == HUDDLE_OK; r++)
        status = try_restart(all, &all->winners[chunk.worker], (int32_t)r);
    return status;
}

/* Runs all restarts. With few rows they run side by side, with many they share out the rows: the
 * chunks are the same, and so are the bits. */
static huddle_status hold_contest(contest *all) {
    huddle_status status = HUDDLE_OK;
    enum { FEW_ROWS = 1 << 15 };
    huddle_context *context = all->data->context;
    all->together = all->n_restarts > 1 && all->data->x->n <= FEW_ROWS;
    all->n_winners = all->together ? hd_workers(context) : 1;
    ALLOC_ZERO(all->winners, all->n_winners);
    for (int32_t i = 0; i < all->n_winners; i++)
        all->winners[i].restart = -1;
    if (all->together)
        TRY(hd_parallel(context, "kmeans", all->n_restarts, 1, try_restarts, all));
    else
        TRY(try_restarts(all, (hd_chunk){0, 0, all->n_restarts, 0}));
done:
    return status;
}

static winner *best_winner(const contest *all) {
    winner *best = NULL;
    for (int32_t i = 0; i < all->n_winners; i++) {
        winner *w = &all->winners[i];
        if (w->restart < 0)
            continue;
        if (best == NULL || w->inertia < best->inertia ||
            (w->inertia == best->inertia && w->restart < best->restart))
            best = w;
    }
    return best;
}

static void contest_free(contest *all) {
    for (int32_t i = 0; i < all->n_winners && all->winners != NULL; i++) {
        hd_kmeans_run_free(&all->winners[i].run);
        huddle_free(all->winners[i].labels);
        huddle_free(all->winners[i].centres);
    }
    huddle_free(all->winners);
    huddle_free(all->inertias);
    huddle_free(all->start_labels);
}

static huddle_status run_contest(huddle_context *context, const huddle_points *x,
                                 const double *row_weights, const huddle_kmeans_options *options,
                                 huddle_kmeans_result *result, huddle_kmeans_info *info) {
    huddle_status status = HUDDLE_OK;
    int32_t c = options->n_clusters;
    hd_kmeans_data data = {0};
    contest all = {.data = &data, .options = options};
    TRY(hd_kmeans_data_new(context, x, row_weights, c, &data));
    /* One cluster has one answer, and given centres one run. */
    all.n_restarts = options->start != NULL || c == 1 ? 1 : options->n_init;
    ALLOC(all.inertias, all.n_restarts);
    if (options->keep_starts)
        ALLOC(all.start_labels, all.n_restarts * x->n);
    TRY(hold_contest(&all));
    winner *best = best_winner(&all);
    result->labels = best->labels;
    result->centres = (huddle_dense){c, x->d, x->d, best->centres};
    *info = (huddle_kmeans_info){.inertia = best->inertia,
                                 .inertias = all.inertias,
                                 .start_labels = all.start_labels,
                                 .n_restarts = all.n_restarts,
                                 .best = best->restart,
                                 .n_iter = best->n_iter,
                                 .n_distinct = c,
                                 .stop = best->stop};
    best->labels = NULL;
    best->centres = NULL;
    all.inertias = NULL;
    all.start_labels = NULL;
done:
    contest_free(&all);
    hd_kmeans_data_free(&data);
    return status;
}

/* ---- few distinct rows -------------------------------------------------------------------- */

/* Fewer distinct rows than clusters: they are the centres, the first one repeated to fill up. */
static huddle_status place_rows(const huddle_points *x, const int32_t *rows, int32_t n_distinct,
                                int32_t c, huddle_dense *centres) {
    huddle_status status = HUDDLE_OK;
    TRY(huddle_dense_new(c, x->d, centres));
    for (int64_t k = 0; k < c; k++) {
        int64_t i = rows[k < n_distinct ? k : 0];
        double *centre = centres->values + k * centres->stride;
        if (x->offsets == NULL)
            for (int64_t j = 0; j < x->d; j++)
                centre[j] = (double)x->values[i * x->stride + j];
        else
            for (int64_t e = x->offsets[i]; e < x->offsets[i + 1]; e++)
                centre[x->columns[e]] = (double)x->values[e];
    }
done:
    return status;
}

/* Settles the case of too few distinct rows; otherwise leaves result->labels NULL. */
static huddle_status settle_few(huddle_context *context, const huddle_points *x,
                                const huddle_kmeans_options *options, huddle_kmeans_result *result,
                                huddle_kmeans_info *info) {
    huddle_status status = HUDDLE_OK;
    int32_t c = options->n_clusters;
    int32_t *rows = NULL, *labels = NULL, count;
    ALLOC(rows, c);
    ALLOC(labels, x->n);
    TRY(hd_kmeans_distinct(context, x, c, rows, labels, &count));
    if (count == c)
        goto done;
    hd_warn(context, HUDDLE_WARNING_FEW_DISTINCT, "only %d distinct row%s for %d clusters", count,
            count == 1 ? "" : "s", c);
    TRY(place_rows(x, rows, count, c, &result->centres));
    ALLOC_ZERO(info->inertias, 1);
    if (options->keep_starts) {
        ALLOC(info->start_labels, x->n);
        memcpy(info->start_labels, labels, (size_t)x->n * sizeof *labels);
    }
    info->n_restarts = 1;
    info->n_distinct = count;
    info->stop = HUDDLE_STOP_EXACT;
    result->labels = labels;
    labels = NULL;
done:
    huddle_free(rows);
    huddle_free(labels);
    return status;
}

/* ---- entry points ------------------------------------------------------------------------- */

static void add_shift(const huddle_points *x, huddle_dense *centres) {
    for (int64_t k = 0; k < centres->rows && x->shift != NULL; k++)
        for (int64_t j = 0; j < centres->cols; j++)
            centres->values[k * centres->stride + j] += x->shift[j];
}

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
    TRY(settle_few(context, x, options, result, &details));
    if (result->labels == NULL)
        TRY(run_contest(context, x, row_weights, options, result, &details));
    add_shift(x, &result->centres);
    details.seconds = hd_seconds() - began;
    if (info != NULL) {
        *info = details;
        details.inertias = NULL;
        details.start_labels = NULL;
    }
done:
    huddle_kmeans_info_free(&details);
    if (status != HUDDLE_OK)
        huddle_kmeans_result_free(result);
    return status;
}

typedef struct assignment {
    const hd_kmeans_data *data;
    const hd_kmeans_centres *centres;
    hd_kmeans_scratch *scratch;
    int32_t *labels;
} assignment;

static huddle_status label_rows(void *argument, hd_chunk chunk) {
    const assignment *a = argument;
    hd_kmeans_near near;
    int32_t rows[HD_KMEANS_BLOCK];
    for (int64_t i = chunk.begin; i < chunk.end; i += HD_KMEANS_BLOCK) {
        int32_t count = (int32_t)(chunk.end - i < HD_KMEANS_BLOCK ? chunk.end - i : HD_KMEANS_BLOCK);
        for (int32_t r = 0; r < count; r++)
            rows[r] = (int32_t)(i + r);
        hd_kmeans_nearest(a->data, a->centres, rows, count, &a->scratch[chunk.worker], &near);
        memcpy(a->labels + i, near.label, (size_t)count * sizeof *a->labels);
    }
    return HUDDLE_OK;
}

huddle_status huddle_kmeans_assign(huddle_context *context, const huddle_points *x,
                                   const huddle_dense *centres, int32_t *labels) {
    huddle_status status = HUDDLE_OK;
    hd_kmeans_data data = {0};
    hd_kmeans_centres ready = {0};
    double *values = NULL;
    int32_t n_scratch = hd_workers(context);
    assignment a = {.data = &data, .centres = &ready, .labels = labels};
    TRY(huddle_points_check(context, x));
    TRY(check_centres(centres, x->d));
    int32_t c = (int32_t)centres->rows;
    TRY(hd_kmeans_data_new(context, x, NULL, c, &data));
    TRY(hd_kmeans_centres_new(&data, c, &ready));
    ALLOC(values, c * x->d);
    take_centres(x, centres, values);
    hd_kmeans_centres_set(&data, c, values, &ready);
    ALLOC_ZERO(a.scratch, n_scratch);
    for (int32_t i = 0; i < n_scratch; i++)
        TRY(hd_kmeans_scratch_new(&data, c, &a.scratch[i]));
    TRY(hd_parallel(context, "kmeans", x->n, data.grain, label_rows, &a));
done:
    for (int32_t i = 0; i < n_scratch && a.scratch != NULL; i++)
        hd_kmeans_scratch_free(&a.scratch[i]);
    huddle_free(a.scratch);
    huddle_free(values);
    hd_kmeans_centres_free(&ready);
    hd_kmeans_data_free(&data);
    return status;
}
