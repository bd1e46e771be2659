/* Which process holds a row, and records sent to the processes that hold the rows they are about.
 * Without slabs one process holds all. */
#ifndef HUDDLE_SRC_GRAPH_OWNERS_H
#define HUDDLE_SRC_GRAPH_OWNERS_H

#include "base/slabs.h"

typedef struct hd_graph_owners {
    huddle_context *context;
    int32_t count, rank; /* of processes, and of this one */
    int64_t *begins;     /* count + 1: the rows of process r are begins[r] .. begins[r + 1] - 1 */
} hd_graph_owners;

/* HUDDLE_UNSUPPORTED, naming `what`, if rows are distributed by an engine that cannot pass them on.
 */
huddle_status hd_graph_require_passing(const huddle_context *context, const char *what);

/* n: rows of this process. */
huddle_status hd_graph_owners_new(huddle_context *context, int64_t n, hd_graph_owners *owners);
void hd_graph_owners_free(hd_graph_owners *owners);

int32_t hd_graph_owner_of(const hd_graph_owners *owners, int64_t row);

/* Sends records of `size` bytes, each of which begins with the int32_t number of a row, to the
 * process that holds the row. They arrive in the order of the processes, those of one process in
 * the order given. *received is freed by huddle_free(). */
huddle_status hd_graph_owners_send(const hd_graph_owners *owners, int64_t count,
                                   const void *records, size_t size, void **received,
                                   int64_t *n_received);

#endif
