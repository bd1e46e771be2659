/* The layout of distributed rows (PETSc's PetscLayout): which process owns a row, and records sent
 * to the owners of the rows they are about. Without slabs one process owns all. */
#ifndef HUDDLE_SRC_GRAPH_LAYOUT_H
#define HUDDLE_SRC_GRAPH_LAYOUT_H

#include "base/slabs.h"

typedef struct hd_graph_layout {
    huddle_context *context;
    int32_t count, rank; /* of processes, and of this one */
    int64_t *offsets;    /* count + 1: process r owns rows offsets[r] .. offsets[r + 1] - 1 */
} hd_graph_layout;

/* HUDDLE_UNSUPPORTED, naming `what`, if the engine distributes rows but cannot pass them on. */
huddle_status hd_graph_require_passing(const huddle_context *context, const char *what);

/* n: rows of this process. */
huddle_status hd_graph_layout_new(huddle_context *context, int64_t n, hd_graph_layout *layout);
void hd_graph_layout_free(hd_graph_layout *layout);

int32_t hd_graph_layout_owner(const hd_graph_layout *layout, int64_t row);

/* Exchanges records of `size` bytes, which are sorted by process; sent[r] are for process r, and
 * received_from[r], if it is not NULL, come from there. *received is freed by huddle_free(). */
huddle_status hd_graph_exchange_records(huddle_context *context, const int64_t *sent,
                                        const void *records, int64_t size, int64_t *received_from,
                                        void **received);

/* Sends records of `size` bytes, each of which begins with the int32_t number of a row, to the
 * process that holds the row. They arrive in the order of the processes, those of one process in
 * the order given. */
huddle_status hd_graph_layout_send(const hd_graph_layout *layout, int64_t count,
                                   const void *records, size_t size, void **received,
                                   int64_t *n_received);

#endif
