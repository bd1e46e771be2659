/* Restarts from different starting centres, of which the one with the smallest inertia is kept.
 * Lloyd's iteration only finds a local minimum, and which one depends on its start. */
#include "kmeans/restart.h"

#include "base/check.h"

#include <string.h>

/* Up to this number of rows, restarts run in parallel, each on one thread; with more rows each
 * restart uses all threads, one after the other (`./dev bench kmeans`). */
enum { FEW_ROWS = 1 << 15 };

/* The best restart of a worker so far, and the run that it reuses. */
typedef struct best_restart {
    hd_kmeans_run run;
    bool has_run;    /* run has been allocated */
    int32_t restart; /* -1: none yet */
    hd_kmeans_outcome outcome;
    int32_t *labels;
    double *centres;
} best_restart;

typedef struct restarts {
    const hd_kmeans_data *data;
    const huddle_kmeans_options *options;
    int32_t count;
    bool side_by_side;
    best_restart *best; /* one for each worker */
    int32_t n_workers;
    double *inertias;
    int32_t *start_labels; /* count x n, or NULL if they are not wanted */
} restarts;

static void swap_labels(int32_t **a, int32_t **b) {
    int32_t *t = *a;
    *a = *b;
    *b = t;
}

/* Whether a restart is better than another: by the smaller inertia, then by the smaller number, so
 * that the order in which workers finish does not matter. */
static bool is_better(double inertia, int32_t restart, const best_restart *other) {
    if (other->restart < 0)
        return true;
    return inertia < other->outcome.inertia ||
           (inertia == other->outcome.inertia && restart < other->restart);
}

/* Keeps the result of a run if it is the worker's best. Labels are swapped, not copied; the run
 * continues with the old array. A single restart needs no second array. */
static huddle_status keep_best(const restarts *all, best_restart *best, int32_t restart) {
    huddle_status status = HUDDLE_OK;
    const hd_kmeans_data *data = all->data;
    hd_kmeans_run *run = &best->run;
    int64_t cells = data->c * data->x->d;
    all->inertias[restart] = run->outcome.inertia;
    if (all->start_labels != NULL)
        memcpy(all->start_labels + restart * data->x->n, run->labels,
               (size_t)data->x->n * sizeof *run->labels);
    if (!is_better(run->outcome.inertia, restart, best))
        return status;
    if (best->centres == NULL)
        ALLOC(best->centres, cells);
    if (best->labels == NULL && all->count > 1)
        ALLOC(best->labels, data->x->n);
    memcpy(best->centres, run->centres, (size_t)cells * sizeof *best->centres);
    swap_labels(&best->labels, &run->labels);
    best->restart = restart;
    best->outcome = run->outcome;
done:
    return status;
}

/* Each restart has a random stream of its own, determined by the seed and its number: results do
 * not depend on which worker runs it. */
static huddle_status run_restart(const restarts *all, best_restart *best, int32_t restart) {
    huddle_status status = HUDDLE_OK;
    const huddle_kmeans_options *options = all->options;
    const huddle_dense *start = options->start;
    int64_t d = all->data->x->d;
    hd_rng rng = hd_rng_stream(options->seed, (uint64_t)restart);
    if (!best->has_run) {
        int32_t n_scratch = all->side_by_side ? 1 : hd_workers(all->data->context);
        TRY(hd_kmeans_run_new(all->data, n_scratch, &best->run));
        best->has_run = true;
        /* Only the calling thread may report progress; hd_parallel() does it otherwise. */
        best->run.n_restarts = all->side_by_side ? 0 : all->count;
    }
    best->run.restart = restart;
    for (int64_t k = 0; start != NULL && k < start->rows; k++)
        memcpy(best->run.centres + k * d, start->values + k * start->stride,
               (size_t)d * sizeof *start->values);
    if (start == NULL)
        TRY(hd_kmeans_seed(&best->run, options->init, &rng));
    TRY(hd_kmeans_lloyd(&best->run, options->max_iter, options->tol));
    TRY(keep_best(all, best, restart));
done:
    return status;
}

/* A worker uses one run for all of its restarts. */
static huddle_status try_chunk(void *argument, hd_chunk chunk) {
    const restarts *all = argument;
    huddle_status status = HUDDLE_OK;
    for (int64_t r = chunk.begin; r < chunk.end && status == HUDDLE_OK; r++)
        status = run_restart(all, &all->best[chunk.worker], (int32_t)r);
    return status;
}

/* Runs all restarts. With few rows they run in parallel, with many they share the rows. The chunks
 * of rows are the same in both cases, and so are the bits. With several processes, all of them must
 * take part in the same restart at the same time, so restarts are sequential. */
static huddle_status run_restarts(restarts *all) {
    huddle_status status = HUDDLE_OK;
    huddle_context *context = all->data->context;
    all->side_by_side = all->count > 1 && all->data->whole && all->data->x->n <= FEW_ROWS;
    all->n_workers = all->side_by_side ? hd_workers(context) : 1;
    ALLOC_ZERO(all->best, all->n_workers);
    for (int32_t i = 0; i < all->n_workers; i++)
        all->best[i].restart = -1;
    if (all->side_by_side)
        TRY(hd_parallel(context, "kmeans", all->count, 1, try_chunk, all));
    else
        TRY(try_chunk(all, (hd_chunk){0, 0, all->count, 0}));
done:
    return status;
}

/* The best over all workers, by the same total order. */
static best_restart *find_best(const restarts *all) {
    best_restart *best = &all->best[0];
    for (int32_t i = 1; i < all->n_workers; i++) {
        best_restart *other = &all->best[i];
        if (other->restart >= 0 && is_better(other->outcome.inertia, other->restart, best))
            best = other;
    }
    return best;
}

/* What the result took over has been set to NULL before. */
static void free_restarts(restarts *all) {
    for (int32_t i = 0; i < all->n_workers && all->best != NULL; i++) {
        hd_kmeans_run_free(&all->best[i].run);
        huddle_free(all->best[i].labels);
        huddle_free(all->best[i].centres);
    }
    huddle_free(all->best);
    huddle_free(all->inertias);
    huddle_free(all->start_labels);
}

huddle_status hd_kmeans_try_restarts(huddle_context *context, const huddle_points *x,
                                     const double *row_weights,
                                     const huddle_kmeans_options *options,
                                     huddle_kmeans_result *result, huddle_kmeans_info *info) {
    huddle_status status = HUDDLE_OK;
    int32_t c = options->n_clusters;
    hd_kmeans_data data = {0};
    restarts all = {.data = &data, .options = options};
    TRY(hd_kmeans_data_new(context, x, row_weights, c, &data));
    /* One cluster has one solution, and given centres determine one run. */
    all.count = options->start != NULL || c == 1 ? 1 : options->n_init;
    ALLOC(all.inertias, all.count);
    if (options->keep_starts)
        ALLOC(all.start_labels, all.count * x->n);
    TRY(run_restarts(&all));
    best_restart *best = find_best(&all);
    /* The best arrays change owner, without a copy. */
    result->labels = best->labels;
    result->centres =
        (huddle_dense){.rows = c, .cols = x->d, .stride = x->d, .values = best->centres};
    *info = (huddle_kmeans_info){.inertia = best->outcome.inertia,
                                 .inertias = all.inertias,
                                 .start_labels = all.start_labels,
                                 .n_restarts = all.count,
                                 .best = best->restart,
                                 .n_iter = best->outcome.n_iter,
                                 .n_distinct = c,
                                 .stop = best->outcome.stop};
    best->labels = NULL;
    best->centres = NULL;
    all.inertias = NULL;
    all.start_labels = NULL;
done:
    free_restarts(&all);
    hd_kmeans_data_free(&data);
    return status;
}
