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
    hd_kmeans_run run; /* data NULL: not allocated yet */
    int32_t restart;   /* -1: none yet */
    hd_kmeans_outcome outcome;
    int32_t *labels, *averaged;
    double *centres;
} best_restart;

typedef struct restarts {
    hd_kmeans_restarts *set;
    bool side_by_side;
    best_restart *best; /* one for each worker */
    int32_t n_workers;
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
    const hd_kmeans_restarts *set = all->set;
    const hd_kmeans_data *data = set->data;
    hd_kmeans_run *run = &best->run;
    int64_t cells = data->c * data->x->d;
    set->inertias[restart] = run->outcome.inertia;
    if (set->start_labels != NULL)
        memcpy(set->start_labels + restart * data->x->n, run->labels,
               (size_t)data->x->n * sizeof *run->labels);
    if (set->ends != NULL)
        memcpy(set->ends + restart * cells, run->centres, (size_t)cells * sizeof *set->ends);
    if (!is_better(run->outcome.inertia, restart, best))
        return status;
    if (best->centres == NULL)
        ALLOC(best->centres, cells);
    if (best->labels == NULL && set->count > 1)
        ALLOC(best->labels, data->x->n);
    if (best->averaged == NULL && set->count > 1 && run->averaged != NULL)
        ALLOC(best->averaged, data->x->n);
    memcpy(best->centres, run->centres, (size_t)cells * sizeof *best->centres);
    swap_labels(&best->labels, &run->labels);
    swap_labels(&best->averaged, &run->averaged);
    best->restart = restart;
    best->outcome = run->outcome;
done:
    return status;
}

/* A run for the restarts of a worker. */
static huddle_status new_run(const restarts *all, best_restart *best) {
    huddle_status status = HUDDLE_OK;
    const hd_kmeans_restarts *set = all->set;
    int32_t n_scratch = all->side_by_side ? 1 : hd_workers(set->data->context);
    TRY(hd_kmeans_run_new(set->data, n_scratch, &best->run));
    if (set->options->keep_averaged)
        ALLOC(best->run.averaged, set->data->x->n);
    /* Only the calling thread may report progress; hd_parallel() does it otherwise. */
    best->run.place.n_restarts = all->side_by_side ? 0 : set->count;
done:
    return status;
}

/* Each restart has a random stream of its own, determined by the seed and its number, or its own
 * part of the caller's draws: results do not depend on which worker runs it. */
static huddle_status run_restart(const restarts *all, best_restart *best, int32_t restart) {
    huddle_status status = HUDDLE_OK;
    const hd_kmeans_restarts *set = all->set;
    const huddle_kmeans_options *options = set->options;
    int64_t cells = set->data->c * set->data->x->d;
    hd_kmeans_source source = {.rng = hd_rng_stream(options->seed, (uint64_t)restart)};
    if (options->draws != NULL)
        source.draws = options->draws + restart * huddle_kmeans_n_draws(options->n_clusters);
    if (best->run.data == NULL)
        TRY(new_run(all, best));
    best->run.place.restart = restart;
    if (set->starts != NULL) {
        /* Only k-means++ needs the distances to candidates. */
        huddle_free(best->run.trial);
        best->run.trial = NULL;
        memcpy(best->run.centres, set->starts + restart * cells,
               (size_t)cells * sizeof *set->starts);
    } else {
        TRY(hd_kmeans_seed(&best->run, options->init, &source));
    }
    TRY(hd_kmeans_lloyd(&best->run, options));
    TRY(keep_best(all, best, restart));
done:
    return status;
}

/* A worker uses one run for all of its restarts. */
static huddle_status try_chunk(void *argument, hd_chunk chunk) {
    const restarts *all = argument;
    huddle_status status = HUDDLE_OK;
    const hd_kmeans_restarts *set = all->set;
    for (int64_t r = chunk.begin; r < chunk.end && status == HUDDLE_OK; r++)
        if (set->parts == 0 || r % set->parts == set->part)
            status = run_restart(all, &all->best[chunk.worker], (int32_t)r);
    return status;
}

/* Runs all restarts. With few rows they run in parallel, with many they share the rows. The chunks
 * of rows are the same in both cases, and so are the bits. With several processes, all of them must
 * take part in the same restart at the same time, so restarts are sequential. */
static huddle_status run_all(restarts *all) {
    huddle_status status = HUDDLE_OK;
    const hd_kmeans_restarts *set = all->set;
    huddle_context *context = set->data->context;
    all->side_by_side = set->count > 1 && set->data->whole && set->data->x->n <= FEW_ROWS;
    all->n_workers = all->side_by_side ? hd_workers(context) : 1;
    ALLOC_ZERO(all->best, all->n_workers);
    for (int32_t i = 0; i < all->n_workers; i++)
        all->best[i].restart = -1;
    if (all->side_by_side)
        TRY(hd_parallel(context, "kmeans", set->count, 1, try_chunk, all));
    else
        TRY(try_chunk(all, (hd_chunk){0, 0, set->count, 0}));
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
        FREE(all->best[i].labels, all->best[i].averaged, all->best[i].centres);
    }
    huddle_free(all->best);
}

/* The best arrays change owner, without a copy. */
huddle_status hd_kmeans_run_restarts(hd_kmeans_restarts *set, huddle_kmeans_result *result) {
    huddle_status status = HUDDLE_OK;
    restarts all = {.set = set};
    int64_t c = set->data->c, d = set->data->x->d;
    TRY(run_all(&all));
    best_restart *best = find_best(&all);
    set->best = best->restart;
    set->outcome = best->outcome;
    if (result != NULL) {
        result->labels = best->labels;
        result->averaged = best->averaged;
        result->centres =
            (huddle_dense){.rows = c, .cols = d, .stride = d, .values = best->centres};
        best->labels = NULL;
        best->averaged = NULL;
        best->centres = NULL;
    }
done:
    free_restarts(&all);
    return status;
}

void hd_kmeans_give_info(hd_kmeans_restarts *set, huddle_kmeans_info *info) {
    *info = (huddle_kmeans_info){.inertia = set->outcome.inertia,
                                 .inertias = set->inertias,
                                 .n_restarts = set->count,
                                 .start_labels = set->start_labels,
                                 .best = set->best,
                                 .n_iter = set->outcome.n_iter,
                                 .n_distinct = set->options->n_clusters,
                                 .stop = set->outcome.stop};
    set->inertias = NULL;
    set->start_labels = NULL;
}

/* Side by side every worker has a run of its own (run_all()). */
int64_t hd_kmeans_restarts_memory(int64_t n, int64_t d, int32_t c, int32_t count, bool seeded,
                                  int32_t workers) {
    int64_t runs = count > 1 && n <= FEW_ROWS ? (workers < count ? workers : count) : 1;
    return runs * hd_kmeans_run_memory(n, d, c, seeded, runs > 1 ? 1 : workers);
}

/* All restarts on all rows. Given centres are contiguous: the copy without the shift that cluster()
 * in kmeans.c has made. */
huddle_status hd_kmeans_try_restarts(huddle_context *context, const huddle_points *x,
                                     const double *row_weights,
                                     const huddle_kmeans_options *options,
                                     huddle_kmeans_result *result, huddle_kmeans_info *info) {
    huddle_status status = HUDDLE_OK;
    int32_t c = options->n_clusters;
    const huddle_dense *start = options->start;
    hd_kmeans_data data = {0};
    hd_kmeans_restarts all = {
        .data = &data, .options = options, .starts = start != NULL ? start->values : NULL};
    TRY(hd_kmeans_data_new(context, x, row_weights, c, &data));
    /* One cluster has one solution. */
    all.count = start != NULL ? (int32_t)(start->rows / c) : options->n_init;
    if (c == 1)
        all.count = 1;
    ALLOC(all.inertias, all.count);
    if (options->keep_starts)
        ALLOC(all.start_labels, all.count * x->n);
    TRY(hd_kmeans_run_restarts(&all, result));
    hd_kmeans_give_info(&all, info);
done:
    FREE(all.inertias, all.start_labels);
    hd_kmeans_data_free(&data);
    return status;
}
