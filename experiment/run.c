/* Runs the cells that have no record yet: each on one thread, as many at a time as the context
 * has threads, those of the largest data sets first (distributed.c hands them out). */
#include "experiment/work.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

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
static int find_group(const experiment *e, const experiment_cell *cell) {
    const json_t *seeds = json_object_get(e->plan, "seeds");
    int n_seeds = (int)json_array_size(seeds), seed = 0;
    while (seed < n_seeds &&
           (uint64_t)json_integer_value(json_array_get(seeds, (size_t)seed)) != cell->seed)
        seed++;
    return cell->data * n_seeds + seed;
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
    w->n_groups = e->n_data * (int)json_array_size(json_object_get(e->plan, "seeds"));
    w->items = calloc((size_t)e->n_cells + 1, sizeof *w->items);
    w->groups = calloc((size_t)w->n_groups + 1, sizeof *w->groups);
    w->queue.items = calloc((size_t)e->n_cells + 1, sizeof *w->queue.items);
    TRY_POINTER(w->items);
    TRY_POINTER(w->queue.items);
    TRY_POINTER(w->groups);
    for (int i = 0; i < e->n_cells; i++) {
        const experiment_cell *cell = &e->cells[i];
        if (cell->record != NULL || is_repeated(e, i))
            continue;
        work_item *item = &w->items[w->count++];
        /* The cost is crude: only the order and the progress bar depend on it. */
        double cost = (double)e->data[cell->data].data.points.n;
        *item = (work_item){cost, cell->data, cell->point, i, find_group(e, cell)};
        w->cost += cost;
        work_group *group = &w->groups[item->group];
        group->n_left++;
        if (group->cache == NULL && !e->alone)
            TRY(huddle_cache_new(&group->cache));
    }
    qsort(w->items, (size_t)w->count, sizeof *w->items, compare_items);
done:
    return status;
}

static bool is_optional(const experiment *e, const experiment_cell *cell) {
    return json_is_true(json_object_get(experiment_entry(e, cell->entry), "optional"));
}

/* Writing to disk first: a record that is counted must survive a crash. */
void work_take_record(work *w, const experiment_cell *cell, json_t *record) {
    experiment *e = w->e;
    const char *error = json_string_value(json_object_get(record, "error"));
    /* Recorded for all workers to see; they stop at their next cell. */
    if (!store_append(w->store, record))
        w->error = errno;
    if (error != NULL && e->n_failed == 0 && !is_optional(e, cell))
        snprintf(w->first_failure, sizeof w->first_failure, "%s, %s: %s", e->data[cell->data].name,
                 experiment_label(e, cell->entry), error);
    for (int i = 0; i < e->n_cells; i++)
        if (e->cells[i].record == NULL && strcmp(e->cells[i].key, cell->key) == 0) {
            bool refused = error != NULL && is_optional(e, &e->cells[i]);
            if (refused && e->cells[i].refusal == NULL)
                e->cells[i].refusal = strdup(error); /* without memory: no reason in the table */
            e->n_refused += refused;
            e->n_failed += error != NULL && !refused;
            e->n_computed += error == NULL;
            if (error == NULL)
                e->cells[i].record = json_incref(record);
        }
}

/* Frees the cache after the last cell that uses it, so that memory is bounded by the data sets
 * in progress. */
void work_leave_group(work *w, work_group *group) {
    int64_t hits, misses;
    if (--group->n_left > 0 || group->cache == NULL)
        return;
    huddle_cache_counts(group->cache, &hits, &misses);
    huddle_cache_free(group->cache);
    group->cache = NULL;
    w->e->hits += hits;
    w->e->misses += misses;
}

/* The status of the whole run, when all workers have ended. What the user asked for
 * (cancelling) is reported before failures that may be its consequence. A cell that is neither
 * done nor failed had no memory for its record. */
static huddle_status check_outcome(const work *w) {
    const experiment *e = w->e;
    int done = e->n_found + e->n_computed + e->n_refused;
    /* Results so far are stored, so the run can be continued. */
    if (w->cancelled)
        return set_error(HUDDLE_CANCELLED,
                         "cancelled; %d of %d cells are done, run the same command again to "
                         "continue",
                         done, e->n_cells);
    if (w->error != 0)
        return set_error(HUDDLE_IO, "%s: %s", w->store->path, strerror(w->error));
    if (e->n_failed > 0)
        return set_error(HUDDLE_NUMERIC, "%d of %d cells failed; the first was %s", e->n_failed,
                         e->n_cells, w->first_failure);
    return done == e->n_cells ? HUDDLE_OK : experiment_no_memory();
}

static void free_work(work *w) {
    for (int i = 0; w->groups != NULL && i < w->n_groups; i++)
        huddle_cache_free(w->groups[i].cache);
    free(w->items);
    free(w->groups);
    free(w->queue.items);
    pthread_cond_destroy(&w->changed);
    pthread_mutex_destroy(&w->lock);
}

/* Records are in e->cells of process 0 and in the store when this returns, also after a failure. */
static huddle_status compute_cells(huddle_context *context, experiment *e,
                                   const result_store *store, bool distributed) {
    huddle_status status = HUDDLE_OK;
    work w = {.e = e,
              .store = store,
              .context = context,
              .engine = distributed ? huddle_engines()[0]->name : huddle_context_engine(context)};
    double began = read_clock(CLOCK_MONOTONIC);
    pthread_mutex_init(&w.lock, NULL);
    pthread_cond_init(&w.changed, NULL);
    TRY(huddle_context_agree(context, list_work(&w)));
    if (w.count > 0)
        TRY(distributed_run(&w));
    TRY(experiment_first_status(context, huddle_context_process(context) == 0 ? check_outcome(&w)
                                                                              : HUDDLE_OK));
done:
    e->seconds = read_clock(CLOCK_MONOTONIC) - began;
    free_work(&w);
    return status;
}

/* Every process reads all data, as if it were alone. */
static huddle_status open_alone(huddle_context *context, const char *file, json_t *plan,
                                experiment *e, bool *distributed) {
    *distributed = huddle_context_set_alone(context, true);
    huddle_status status = experiment_open_plan(context, file, plan, e);
    if (status == HUDDLE_OK)
        status = experiment_list_cells(e);
    (void)huddle_context_set_alone(context, false);
    return huddle_context_agree(context, status);
}

/* The store is opened before anything is computed: a folder that cannot be written should not
 * cost a result. */
huddle_status experiment_run_plan(huddle_context *context, const char *file, json_t *plan,
                                  experiment *e) {
    huddle_status status = HUDDLE_OK;
    result_store store = {.file = -1};
    bool distributed = false;
    TRY(open_alone(context, file, plan, e, &distributed));
    TRY(distributed_compare(context, e));
    TRY(experiment_first_status(
        context, huddle_context_process(context) == 0 ? store_open(e, &store) : HUDDLE_OK));
    TRY(distributed_share_found(context, e));
    TRY(compute_cells(context, e, &store, distributed));
done:
    store_close(&store);
    return status;
}

huddle_status experiment_run_file(huddle_context *context, const char *file, experiment *e) {
    json_t *plan = NULL;
    huddle_status status = huddle_context_agree(context, experiment_load_plan(file, &plan));
    return status == HUDDLE_OK ? experiment_run_plan(context, file, plan, e) : status;
}
