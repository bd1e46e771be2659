/* Runs the cells that have no result yet: each on one thread, as many at a time as there are
 * threads, those of the largest data first. */
#include "experiment.h"

#include "talk.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* Cells of one data set and seed share their work. */
typedef struct work_group {
    huddle_cache *cache;
    int left; /* cells still to come */
} work_group;

/* A cell to compute, and what decides its turn. */
typedef struct work_item {
    double cost;
    int data, point, cell;
} work_item;

typedef struct work {
    experiment *e;
    const result_store *store;
    work_item *items; /* cells to compute, in this order */
    int count;
    work_group *groups;
    int n_seeds;

    pthread_mutex_t lock;
    pthread_cond_t changed;
    int next;               /* place in items */
    int running;            /* threads at work */
    double cost, cost_done; /* of all cells, of those finished */
    int error;              /* errno of a line that could not be written, or 0 */
    char sentence[512];     /* of the first cell that failed */
} work;

/* ---- what there is to do -------------------------------------------------------------------- */

static double cost_of(const experiment *e, const experiment_cell *cell) {
    return (double)e->data[cell->data].data.points.n;
}

/* The largest data first, then one of each grid in turn: neighbours rarely wait for each other. */
static int compare_items(const void *left, const void *right) {
    const work_item *a = left, *b = right;
    if (a->cost != b->cost)
        return a->cost > b->cost ? -1 : 1;
    if (a->data != b->data)
        return a->data - b->data;
    return a->point != b->point ? a->point - b->point : a->cell - b->cell;
}

static work_group *group_of(const work *w, const experiment_cell *cell) {
    const json_t *seeds = json_object_get(w->e->plan, "seeds");
    int seed = 0;
    while (seed < w->n_seeds &&
           (uint64_t)json_integer_value(json_array_get(seeds, (size_t)seed)) != cell->seed)
        seed++;
    return &w->groups[cell->data * w->n_seeds + seed];
}

static bool is_repeated(const experiment *e, int index) {
    for (int i = 0; i < index; i++)
        if (strcmp(e->cells[i].key, e->cells[index].key) == 0)
            return true;
    return false;
}

static int list_work(work *w) {
    experiment *e = w->e;
    w->n_seeds = (int)json_array_size(json_object_get(e->plan, "seeds"));
    w->items = must(calloc((size_t)e->n_cells + 1, sizeof *w->items));
    w->groups = must(calloc((size_t)(e->n_data * w->n_seeds) + 1, sizeof *w->groups));
    for (int i = 0; i < e->n_cells; i++) {
        const experiment_cell *cell = &e->cells[i];
        if (cell->record != NULL || is_repeated(e, i))
            continue;
        w->items[w->count++] = (work_item){cost_of(e, cell), cell->data, cell->point, i};
        w->cost += cost_of(e, cell);
        work_group *group = group_of(w, cell);
        group->left++;
        if (group->cache == NULL && !e->alone && huddle_cache_new(&group->cache) != HUDDLE_OK)
            return failed("%s", huddle_last_error());
    }
    qsort(w->items, (size_t)w->count, sizeof *w->items, compare_items);
    return EXIT_DONE;
}

/* ---- threads -------------------------------------------------------------------------------- */

static int stop_if_cancelled(void *user, const char *stage, double done, double total) {
    (void)user, (void)stage, (void)done, (void)total;
    return talk_cancelled();
}

/* The cell's record, to all cells of its key. With the lock held. */
static void take_record(work *w, experiment_cell *cell, json_t *record) {
    experiment *e = w->e;
    const char *error = json_string_value(json_object_get(record, "error"));
    if (!store_append(w->store, record))
        w->error = errno;
    if (error != NULL && e->n_failed == 0)
        snprintf(w->sentence, sizeof w->sentence, "%s, %s: %s", e->data[cell->data].name,
                 plan_label(e, cell->entry), error);
    for (int i = 0; i < e->n_cells; i++)
        if (e->cells[i].record == NULL && strcmp(e->cells[i].key, cell->key) == 0) {
            e->n_failed += error != NULL;
            e->n_computed += error == NULL;
            if (error == NULL)
                e->cells[i].record = json_incref(record);
        }
}

/* With the lock held. */
static void leave_group(work *w, work_group *group) {
    int64_t hits, misses;
    if (--group->left > 0 || group->cache == NULL)
        return;
    huddle_cache_counts(group->cache, &hits, &misses);
    huddle_cache_free(group->cache);
    group->cache = NULL;
    w->e->hits += hits;
    w->e->misses += misses;
}

static void *run_cells(void *argument) {
    work *w = argument;
    huddle_context *context = NULL;
    if (huddle_context_new(&context) == HUDDLE_OK) {
        (void)huddle_context_set_threads(context, 1);
        huddle_context_set_progress(context, stop_if_cancelled, NULL);
    }
    pthread_mutex_lock(&w->lock);
    while (context != NULL && w->next < w->count && w->error == 0 && !talk_cancelled()) {
        experiment_cell *cell = &w->e->cells[w->items[w->next++].cell];
        work_group *group = group_of(w, cell);
        pthread_mutex_unlock(&w->lock);
        json_t *record = cell_fit(context, group->cache, w->e, cell);
        pthread_mutex_lock(&w->lock);
        if (record != NULL)
            take_record(w, cell, record);
        json_decref(record);
        leave_group(w, group);
        w->cost_done += cost_of(w->e, cell);
        pthread_cond_signal(&w->changed);
    }
    w->running--;
    pthread_cond_signal(&w->changed);
    pthread_mutex_unlock(&w->lock);
    huddle_context_free(context);
    return NULL;
}

/* Waits for the threads and shows how far they are. */
static void watch(work *w) {
    pthread_mutex_lock(&w->lock);
    while (w->running > 0) {
        struct timespec until;
        clock_gettime(CLOCK_REALTIME, &until);
        until.tv_nsec += 200 * 1000 * 1000;
        until.tv_sec += until.tv_nsec / 1000000000;
        until.tv_nsec %= 1000000000;
        pthread_cond_timedwait(&w->changed, &w->lock, &until);
        double done = w->cost_done;
        pthread_mutex_unlock(&w->lock);
        talk_progress("cells", done / w->cost * w->count, w->count);
        pthread_mutex_lock(&w->lock);
    }
    pthread_mutex_unlock(&w->lock);
}

static void run_threads(work *w, int wanted) {
    pthread_t *threads = must(calloc((size_t)wanted + 1, sizeof *threads));
    int made = 0;
    w->running = wanted;
    while (made < wanted && pthread_create(&threads[made], NULL, run_cells, w) == 0)
        made++;
    pthread_mutex_lock(&w->lock);
    w->running -= wanted - made;
    pthread_mutex_unlock(&w->lock);
    if (made == 0) {
        w->running = 1;
        run_cells(w);
    }
    watch(w);
    for (int i = 0; i < made; i++)
        pthread_join(threads[i], NULL);
    free(threads);
}

/* ---- the run -------------------------------------------------------------------------------- */

static double process_seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* How it ended. */
static int settle(const work *w) {
    const experiment *e = w->e;
    int done = e->n_found + e->n_computed;
    if (talk_cancelled())
        return failed("cancelled; %d of %d cells are done, and the same command goes on from there",
                      done, e->n_cells);
    if (w->error != 0)
        return failed("%s: %s", w->store->path, strerror(w->error));
    if (e->n_failed > 0)
        return failed("%d of %d cells failed; the first is %s", e->n_failed, e->n_cells,
                      w->sentence);
    return done == e->n_cells ? EXIT_DONE : failed("no thread could be started");
}

int experiment_run(huddle_context *context, experiment *e, const result_store *store) {
    work w = {.e = e, .store = store};
    double began = talk_seconds(), cpu = process_seconds();
    pthread_mutex_init(&w.lock, NULL);
    pthread_cond_init(&w.changed, NULL);
    int result = list_work(&w), threads = huddle_context_threads(context);
    if (result == EXIT_DONE && w.count > 0)
        run_threads(&w, threads < w.count ? threads : w.count);
    e->seconds = talk_seconds() - began;
    e->cpu_seconds = process_seconds() - cpu;
    if (result == EXIT_DONE)
        result = settle(&w);
    for (int i = 0; i < e->n_data * w.n_seeds; i++)
        huddle_cache_free(w.groups[i].cache);
    free(w.items);
    free(w.groups);
    pthread_cond_destroy(&w.changed);
    pthread_mutex_destroy(&w.lock);
    return result;
}
