/* Runs the cells that have no record yet: each on one thread, as many at a time as the context
 * has threads, those of the largest data sets first. Whole cells in parallel scale better than
 * the loops inside them, and every record is the same for any number of threads. */
#include "experiment/cell_fit.h"
#include "experiment/failure.h"
#include "experiment/store.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* How often the calling thread reports progress and looks for a cancellation, in nanoseconds. */
enum { POLL_INTERVAL = 100 * 1000 * 1000 };

/* Cells of one data set and seed share a cache of graphs, embeddings and components. */
typedef struct work_group {
    huddle_cache *cache;
    int n_left; /* cells not finished */
} work_group;

/* A cell to compute, with what decides its position in the queue. */
typedef struct work_item {
    double cost;
    int data, point, cell;
} work_item;

/* Fields above the blank line are set before the threads start and only read by them. */
typedef struct work {
    experiment *e;
    const result_store *store;
    huddle_context *context; /* the caller's */
    work_item *items;        /* cells to compute, in this order */
    int count;
    work_group *groups;
    int n_seeds;

    pthread_mutex_t lock; /* of everything below, of the groups and of the records */
    pthread_cond_t changed;
    int next;                /* index in items */
    int n_running;           /* threads */
    double cost, cost_done;  /* of all cells, of those finished */
    bool cancelled;          /* the caller's context was */
    int error;               /* errno of a record that could not be stored, or 0 */
    char first_failure[512]; /* message of the first cell that failed */
} work;

/* A thread with a context of its own, which computes on that thread alone. */
typedef struct worker {
    work *work;
    huddle_context *context;
    pthread_t thread;
} worker;

/* ---- listing -------------------------------------------------------------------------------- */

/* Proportional to the number of points, which is crude: only the order and the progress bar
 * depend on it. */
static double estimate_cost(const experiment *e, const experiment_cell *cell) {
    return (double)e->data[cell->data].data.points.n;
}

/* The largest data first, so that no long cell is left for the end. Then one point of each
 * grid in turn: neighbouring cells in the queue, which run at the same time, rarely wait for
 * the same graph. */
static int compare_items(const void *left, const void *right) {
    const work_item *a = left, *b = right;
    if (a->cost != b->cost)
        return a->cost > b->cost ? -1 : 1;
    if (a->data != b->data)
        return a->data - b->data;
    return a->point != b->point ? a->point - b->point : a->cell - b->cell;
}

/* The seed is part of the group, because embeddings depend on it. */
static work_group *find_group(const work *w, const experiment_cell *cell) {
    const json_t *seeds = json_object_get(w->e->plan, "seeds");
    int seed = 0;
    while (seed < w->n_seeds &&
           (uint64_t)json_integer_value(json_array_get(seeds, (size_t)seed)) != cell->seed)
        seed++;
    return &w->groups[cell->data * w->n_seeds + seed];
}

/* An earlier cell has the same key, and its record will serve both. Quadratic, but there are
 * thousands of cells at most, each taking far longer. */
static bool is_repeated(const experiment *e, int index) {
    for (int i = 0; i < index; i++)
        if (strcmp(e->cells[i].key, e->cells[index].key) == 0)
            return true;
    return false;
}

/* Cells with a record from an earlier run are skipped: this is how an interrupted experiment
 * continues. */
static huddle_status list_work(work *w) {
    huddle_status status = HUDDLE_OK;
    const experiment *e = w->e;
    w->n_seeds = (int)json_array_size(json_object_get(e->plan, "seeds"));
    w->items = calloc((size_t)e->n_cells + 1, sizeof *w->items);
    w->groups = calloc((size_t)(e->n_data * w->n_seeds) + 1, sizeof *w->groups);
    TRY_POINTER(w->items);
    TRY_POINTER(w->groups);
    for (int i = 0; i < e->n_cells; i++) {
        const experiment_cell *cell = &e->cells[i];
        /* A cell is computed once for all cells with its key. */
        if (cell->record != NULL || is_repeated(e, i))
            continue;
        double cost = estimate_cost(e, cell);
        w->items[w->count++] = (work_item){cost, cell->data, cell->point, i};
        w->cost += cost;
        work_group *group = find_group(w, cell);
        group->n_left++;
        if (group->cache == NULL && !e->alone)
            TRY(huddle_cache_new(&group->cache));
    }
    qsort(w->items, (size_t)w->count, sizeof *w->items, compare_items);
done:
    return status;
}

/* ---- workers -------------------------------------------------------------------------------- */

/* Stores a record and gives it to all cells with its key. With the lock held. Writing to disk
 * first: a record that is counted must survive a crash. */
static void take_record(work *w, const experiment_cell *cell, json_t *record) {
    experiment *e = w->e;
    const char *error = json_string_value(json_object_get(record, "error"));
    /* Recorded for all workers to see; they stop at their next cell. */
    if (!store_append(w->store, record))
        w->error = errno;
    if (error != NULL && e->n_failed == 0)
        snprintf(w->first_failure, sizeof w->first_failure, "%s, %s: %s", e->data[cell->data].name,
                 experiment_label(e, cell->entry), error);
    for (int i = 0; i < e->n_cells; i++)
        if (e->cells[i].record == NULL && strcmp(e->cells[i].key, cell->key) == 0) {
            e->n_failed += error != NULL;
            e->n_computed += error == NULL;
            if (error == NULL)
                e->cells[i].record = json_incref(record);
        }
}

/* Frees the cache after the last cell that uses it, so that memory is bounded by the data sets
 * in progress. With the lock held. */
static void leave_group(work *w, work_group *group) {
    int64_t hits, misses;
    if (--group->n_left > 0 || group->cache == NULL)
        return;
    huddle_cache_counts(group->cache, &hits, &misses);
    huddle_cache_free(group->cache);
    group->cache = NULL;
    w->e->hits += hits;
    w->e->misses += misses;
}

/* A worker takes the next cell until there is none. It holds the lock except while fitting. A
 * failure to store a record stops all workers, since further results would be lost too. */
static void *run_cells(void *argument) {
    const worker *own = argument;
    work *w = own->work;
    pthread_mutex_lock(&w->lock);
    /* Three reasons to stop: no more cells, a failed write, a cancellation. */
    while (w->next < w->count && w->error == 0 && !w->cancelled) {
        experiment_cell *cell = &w->e->cells[w->items[w->next++].cell];
        work_group *group = find_group(w, cell);
        pthread_mutex_unlock(&w->lock);
        json_t *record = cell_fit(own->context, group->cache, w->e, cell);
        pthread_mutex_lock(&w->lock);
        if (record != NULL)
            take_record(w, cell, record);
        json_decref(record);
        leave_group(w, group);
        w->cost_done += estimate_cost(w->e, cell);
        pthread_cond_signal(&w->changed);
    }
    w->n_running--;
    pthread_cond_signal(&w->changed);
    pthread_mutex_unlock(&w->lock);
    return NULL;
}

/* Waits until all workers have ended. Meanwhile it reports progress, on the thread that called
 * (which the library's progress function requires), and passes a cancellation on to the
 * workers' contexts, whose loops then stop. The lock is released for the callback, which may
 * take time. */
static void watch_workers(work *w, const worker *workers, int n_workers) {
    pthread_mutex_lock(&w->lock);
    while (w->n_running > 0) {
        struct timespec until;
        /* pthread_cond_timedwait() uses the real-time clock by default. */
        clock_gettime(CLOCK_REALTIME, &until);
        until.tv_nsec += POLL_INTERVAL;
        until.tv_sec += until.tv_nsec / 1000000000;
        until.tv_nsec %= 1000000000;
        pthread_cond_timedwait(&w->changed, &w->lock, &until);
        double done = w->cost_done;
        bool cancelled = w->cancelled;
        pthread_mutex_unlock(&w->lock);
        huddle_status status =
            huddle_context_progress(w->context, "cells", done / w->cost * w->count, w->count);
        for (int i = 0; i < n_workers && status == HUDDLE_CANCELLED && !cancelled; i++)
            huddle_context_cancel(workers[i].context);
        pthread_mutex_lock(&w->lock);
        w->cancelled |= status == HUDDLE_CANCELLED;
    }
    pthread_mutex_unlock(&w->lock);
}

/* One thread per fit and several fits at a time: there is no synchronisation inside a fit, and
 * results do not depend on it. */
static bool start_worker(work *w, worker *made) {
    *made = (worker){.work = w};
    /* A context belongs to one thread. */
    if (huddle_context_new(&made->context) != HUDDLE_OK)
        return false;
    (void)huddle_context_set_threads(made->context, 1);
    if (huddle_context_set_engine(made->context, huddle_context_engine(w->context)) == HUDDLE_OK &&
        pthread_create(&made->thread, NULL, run_cells, made) == 0)
        return true;
    huddle_context_free(made->context);
    return false;
}

/* The calling thread only watches, so that progress and cancellation work in the caller's thread.
 */
static huddle_status run_workers(work *w, int n_workers) {
    int n_started = 0;
    worker *workers = calloc((size_t)n_workers + 1, sizeof *workers);
    if (workers == NULL)
        return experiment_no_memory();
    w->n_running = n_workers; /* before they start, since each subtracts itself at its end */
    while (n_started < n_workers && start_worker(w, &workers[n_started]))
        n_started++;
    pthread_mutex_lock(&w->lock);
    /* Fewer threads than wanted are enough; none at all is a failure. */
    w->n_running -= n_workers - n_started;
    pthread_mutex_unlock(&w->lock);
    watch_workers(w, workers, n_started);
    for (int i = 0; i < n_started; i++) {
        pthread_join(workers[i].thread, NULL);
        huddle_context_free(workers[i].context);
    }
    free(workers);
    if (n_started == 0)
        return experiment_fail(HUDDLE_NO_MEMORY, "no thread could be started");
    return HUDDLE_OK;
}

/* ---- running -------------------------------------------------------------------------------- */

/* Of all threads together. */
static double process_seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* The status of the whole run, when all workers have ended. What the user asked for
 * (cancelling) is reported before failures that may be its consequence. A cell that is neither
 * done nor failed had no memory for its record. */
static huddle_status check_outcome(const work *w) {
    const experiment *e = w->e;
    int done = e->n_found + e->n_computed;
    /* Results so far are stored, so the run can be continued. */
    if (w->cancelled)
        return experiment_fail(HUDDLE_CANCELLED,
                               "cancelled; %d of %d cells are done, run the same command again to "
                               "continue",
                               done, e->n_cells);
    if (w->error != 0)
        return experiment_fail(HUDDLE_IO, "%s: %s", w->store->path, strerror(w->error));
    if (e->n_failed > 0)
        return experiment_fail(HUDDLE_NUMERIC, "%d of %d cells failed; the first was %s",
                               e->n_failed, e->n_cells, w->first_failure);
    /* A worker that has no memory for a record ends without one. */
    return done == e->n_cells ? HUDDLE_OK : experiment_no_memory();
}

/* Records are in e->cells and in the store when this returns, also after a failure. */
static huddle_status compute_cells(huddle_context *context, experiment *e,
                                   const result_store *store) {
    huddle_status status = HUDDLE_OK;
    work w = {.e = e, .store = store, .context = context};
    double began = wall_seconds(), cpu = process_seconds();
    int n_threads = huddle_context_threads(context);
    pthread_mutex_init(&w.lock, NULL);
    pthread_cond_init(&w.changed, NULL);
    TRY(list_work(&w));
    if (w.count > 0)
        TRY(run_workers(&w, n_threads < w.count ? n_threads : w.count));
    TRY(check_outcome(&w));
done:
    e->seconds = wall_seconds() - began;
    e->cpu_seconds = process_seconds() - cpu;
    for (int i = 0; w.groups != NULL && i < e->n_data * w.n_seeds; i++)
        huddle_cache_free(w.groups[i].cache);
    free(w.items);
    free(w.groups);
    pthread_cond_destroy(&w.changed);
    pthread_mutex_destroy(&w.lock);
    return status;
}

/* The store is opened before anything is computed: a folder that cannot be written should not
 * cost a result. */
huddle_status experiment_run_plan(huddle_context *context, const char *file, json_t *plan,
                                  experiment *e) {
    huddle_status status = HUDDLE_OK;
    result_store store = {.file = -1};
    TRY(experiment_open_plan(context, file, plan, e));
    TRY(experiment_list_cells(e));
    TRY(store_open(e, &store));
    TRY(compute_cells(context, e, &store));
done:
    store_close(&store);
    return status;
}

/* experiment_run_plan() takes the plan over. */
huddle_status experiment_run_file(huddle_context *context, const char *file, experiment *e) {
    json_t *plan = NULL;
    huddle_status status = experiment_load_plan(file, &plan);
    return status == HUDDLE_OK ? experiment_run_plan(context, file, plan, e) : status;
}
