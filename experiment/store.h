/* OUT/results.jsonl: one line of JSON for each finished cell. */
#ifndef HUDDLE_EXPERIMENT_STORE_H
#define HUDDLE_EXPERIMENT_STORE_H

#include "experiment/experiment.h"

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

#endif
