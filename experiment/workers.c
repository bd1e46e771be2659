/* Threads that compute cells: each cell on one thread. Whole cells in parallel scale better than
 * the loops inside them, and every record is the same for any number of threads. */
#include "experiment/work.h"

#include <errno.h>
#include <stdlib.h>

/* Process 0 stores a record at once; the others keep it until they tell process 0. With the lock
 * held. */
static void finish_item(work *w, int index, json_t *record, double seconds) {
    const experiment_cell *cell = &w->e->cells[w->items[index].cell];
    bool stores = w->store->file >= 0;
    if (record != NULL && stores)
        work_take_record(w, cell, record);
    json_t *told = json_pack("{s:i, s:f, s:O*}", "item", index, "seconds", seconds, "record",
                             stores ? NULL : record);
    if (json_array_append_new(w->finished, told) != 0 && w->error == 0)
        w->error = ENOMEM; /* nobody would learn that the cell is finished */
    w->n_busy--;
    w->cost_done += w->items[index].cost;
    work_leave_group(w, &w->groups[w->items[index].group]);
    pthread_cond_broadcast(&w->changed);
}

/* The next item, or -1 if there will be none: no more cells, a failed write, a cancellation. With
 * the lock held. */
static int next_item(work *w) {
    work_queue *queue = &w->queue;
    while (queue->next == queue->count && !queue->closed && !w->cancelled)
        pthread_cond_wait(&w->changed, &w->lock);
    if (queue->next == queue->count || w->error != 0 || w->cancelled)
        return -1;
    return queue->items[queue->next++];
}

/* A worker takes the next cell until there is none. It holds the lock except while fitting. A
 * failure to store a record stops all workers, since further results would be lost too. */
static void *run_cells(void *argument) {
    const worker *own = argument;
    work *w = own->work;
    int index;
    pthread_mutex_lock(&w->lock);
    while ((index = next_item(w)) >= 0) {
        const experiment_cell *cell = &w->e->cells[w->items[index].cell];
        huddle_cache *cache = w->groups[w->items[index].group].cache;
        w->n_busy++;
        pthread_mutex_unlock(&w->lock);
        double began = read_clock(CLOCK_MONOTONIC);
        json_t *record = cell_fit(own->context, cache, w->e, cell);
        pthread_mutex_lock(&w->lock);
        finish_item(w, index, record, read_clock(CLOCK_MONOTONIC) - began);
        json_decref(record);
    }
    pthread_mutex_unlock(&w->lock);
    return NULL;
}

/* With the usual stack, whatever the limit of the process (ulimit -s): a fit calls LAPACK.
 * hd_thread_start() does the same, but is internal to the library. */
static bool start_thread(pthread_t *thread, void *argument) {
    static const size_t stack_size = (size_t)8 << 20;
    pthread_attr_t attributes;
    if (pthread_attr_init(&attributes) != 0)
        return false;
    bool started = pthread_attr_setstacksize(&attributes, stack_size) == 0 &&
                   pthread_create(thread, &attributes, run_cells, argument) == 0;
    pthread_attr_destroy(&attributes);
    return started;
}

/* One thread per fit and several fits at a time: there is no synchronisation inside a fit, and
 * results do not depend on it. */
static bool start_worker(work *w, worker *made) {
    *made = (worker){.work = w};
    /* A context belongs to one thread. */
    if (huddle_context_new(&made->context) != HUDDLE_OK)
        return false;
    (void)huddle_context_set_threads(made->context, 1);
    if (huddle_context_set_engine(made->context, w->engine) == HUDDLE_OK &&
        start_thread(&made->thread, made))
        return true;
    huddle_context_free(made->context);
    return false;
}

huddle_status workers_start(work *w, int n, workers *made) {
    *made = (workers){.items = calloc((size_t)n + 1, sizeof *made->items)};
    if (made->items == NULL)
        return experiment_no_memory();
    while (made->count < n && start_worker(w, &made->items[made->count]))
        made->count++;
    /* Fewer threads than wanted are enough; none at all is a failure. */
    if (made->count == 0)
        return set_error(HUDDLE_NO_MEMORY, "no thread could be started");
    return HUDDLE_OK;
}

void workers_cancel(work *w, const workers *made) {
    for (int i = 0; i < made->count; i++)
        huddle_context_cancel(made->items[i].context);
    pthread_mutex_lock(&w->lock);
    w->cancelled = true;
    pthread_cond_broadcast(&w->changed);
    pthread_mutex_unlock(&w->lock);
}

void workers_join(workers *made) {
    for (int i = 0; i < made->count; i++) {
        pthread_join(made->items[i].thread, NULL);
        huddle_context_free(made->items[i].context);
    }
    free(made->items);
    *made = (workers){0};
}
