/* Where records are kept, the cells of a run that have no record yet, and the threads of this
 * process that compute them. */
#ifndef HUDDLE_EXPERIMENT_WORK_H
#define HUDDLE_EXPERIMENT_WORK_H

#include "experiment/experiment.h"

#include <pthread.h>

/* ---- store.c -------------------------------------------------------------------------------- */

/* The file, open and locked by this process. */
typedef struct result_store {
    int file; /* -1 if it is not open */
    char *path;
} result_store;

/* Creates the folder, locks the file, and gives the cells the records that it contains. */
huddle_status store_open(experiment *e, result_store *store);
void store_close(result_store *store);

/* Appends a record; it is on the disc when this returns. False, with errno, if it is not. */
bool store_append(const result_store *store, const json_t *record);

/* ---- run.c ---------------------------------------------------------------------------------- */

/* Cells of one data set and seed share a cache of graphs, embeddings and components. */
typedef struct work_group {
    huddle_cache *cache;
    int n_left; /* cells that this process has not finished and no other has taken */
} work_group;

/* A cell to compute, with what decides its position in the queue. */
typedef struct work_item {
    double cost;
    int data, point, cell, group;
} work_item;

/* The items that this process computes. */
typedef struct work_queue {
    int *items; /* indices in work.items; room for all */
    int count, next;
    bool closed; /* no more are added */
} work_queue;

/* Fields above the blank line are set before the threads start and only read by them. */
typedef struct work {
    experiment *e;
    const result_store *store; /* open on process 0 */
    huddle_context *context;   /* the caller's */
    const char *engine;        /* of the threads */
    work_item *items;          /* cells to compute, in this order */
    int count;
    work_group *groups; /* of each data set and seed */
    int n_groups;

    pthread_mutex_t lock; /* of everything below, of the groups and of the records */
    pthread_cond_t changed;
    work_queue queue;
    json_t *finished;        /* items to tell process 0 of */
    double cost, cost_done;  /* of all cells, of those finished */
    int n_busy;              /* threads that are computing a cell */
    bool cancelled;          /* the caller's context was */
    int error;               /* errno of a record that could not be stored, or 0 */
    char first_failure[512]; /* message of the first cell that failed */
} work;

/* Stores a record and gives it to all cells with its key. With the lock held. */
void work_take_record(work *w, const experiment_cell *cell, json_t *record);

/* One cell of the group less to wait for. With the lock held. */
void work_leave_group(work *w, work_group *group);

/* ---- cell_fit.c ----------------------------------------------------------------------------- */

/* Fits a cell and makes its record. A fit that fails gives a record with the member "error"; NULL
 * if the context was cancelled or there is no memory. */
json_t *cell_fit(huddle_context *context, huddle_cache *cache, const experiment *e,
                 const experiment_cell *cell);

/* ---- workers.c ------------------------------------------------------------------------------ */

typedef struct worker {
    work *work;
    huddle_context *context; /* of this thread, which computes on that alone */
    pthread_t thread;
} worker;

typedef struct workers {
    worker *items;
    int count;
} workers;

/* Starts n threads, or fewer; HUDDLE_NO_MEMORY if not even one. They take items from the queue
 * until it is closed and empty, a record cannot be stored, or the work is cancelled. */
huddle_status workers_start(work *w, int n, workers *made);

/* Makes the threads leave the cells they compute, without records. */
void workers_cancel(work *w, const workers *made);

/* Waits until all threads have ended, which the queue must be closed for. */
void workers_join(workers *made);

/* ---- distributed.c -------------------------------------------------------------------------- */

/* Hands the items out to the processes of the context and computes those of this one. Process 0
 * has all records when this returns. The status is the same on all processes. */
huddle_status distributed_run(work *w);

/* Whether all processes have the same cells, and which of them process 0 has found in OUT. */
huddle_status distributed_compare(huddle_context *context, experiment *e);
huddle_status distributed_share_found(huddle_context *context, experiment *e);

#endif
