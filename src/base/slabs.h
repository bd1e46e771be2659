/* Rows that are spread over processes. Under an engine with slabs every process runs the same code
 * on its own consecutive rows; the calls below are what makes the results those of all rows.
 * Without such an engine, and with a NULL context, they do nothing and cost nothing.
 *
 * The rule for numerical code: a number that depends on all rows (a sum, a count, an extreme value)
 * goes through hd_reduce_*() before it is used, after the chunks of this process have been added in
 * their order; rows that a sparse matrix refers to are fetched before they are read; a public
 * function returns hd_agree(context, status). */
#ifndef HUDDLE_SRC_SLABS_H
#define HUDDLE_SRC_SLABS_H

#include "base/engine.h"

/* Where this process's rows are among all. */
typedef struct hd_slab {
    int64_t first, total;
} hd_slab;

/* {0, n} if this process holds all rows. */
huddle_status hd_slab_locate(huddle_context *context, int64_t n, hd_slab *slab);

/* Combine values[0 .. count - 1] over the processes, in place. */
huddle_status hd_reduce_sum(huddle_context *context, int64_t count, double *values);
huddle_status hd_reduce_min(huddle_context *context, int64_t count, double *values);
huddle_status hd_reduce_max(huddle_context *context, int64_t count, double *values);

/* The same for one count, which must be below 2^53. */
huddle_status hd_reduce_count(huddle_context *context, int64_t *count);

/* What all processes return: HUDDLE_OK only if none failed. */
huddle_status hd_agree(huddle_context *context, huddle_status status);

/* HUDDLE_UNSUPPORTED if rows are spread over processes: for algorithms, named by `what`, that need
 * all rows on one process and that the engine does not do itself. */
huddle_status hd_slabs_refuse(const huddle_context *context, const char *what);

/* Rows of other processes that this process's rows refer to. */
typedef struct hd_halo {
    const hd_engine_slabs *slabs; /* NULL: there are none */
    void *plan;
    int64_t ghosts; /* rows that follow the own ones in every array that is fetched */
} hd_halo;

/* Plans the exchange for `count` column indices of n own rows; they become local. */
huddle_status hd_halo_open(huddle_context *context, int64_t n, int64_t count, int32_t *columns,
                           hd_halo *halo);
huddle_status hd_halo_fetch(const hd_halo *halo, void *rows, size_t row_size);
void hd_halo_close(hd_halo *halo);

#endif
