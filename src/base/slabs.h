/* Rows that are distributed over processes. Under an engine with slabs every process runs the same
 * code on its own consecutive rows; the calls below are what makes the results those of all rows.
 * Without such an engine, and with a NULL context, they do nothing and cost nothing.
 *
 * The rule for numerical code: a number that depends on all rows (a sum, a count, an extreme value)
 * goes through hd_reduce_*() before it is used, after the chunks of this process have been added in
 * their order; rows that a sparse matrix refers to are fetched before they are read; a public
 * function returns hd_agree(context, status). */
#ifndef HUDDLE_SRC_SLABS_H
#define HUDDLE_SRC_SLABS_H

#include "base/engine.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Where this process's rows are among all. */
typedef struct hd_slab {
    int64_t first, total;
} hd_slab;

/* {0, n} if this process holds all rows. */
huddle_status hd_slab_locate(huddle_context *context, int64_t n, hd_slab *slab);

/* How total rows are divided evenly, as when a file is read: process `rank` of `count` has rows
 * total * rank / count .. total * (rank + 1) / count - 1. Without the products, which could
 * overflow. */
static inline int64_t hd_slab_begin_of(int64_t total, int32_t rank, int32_t count) {
    return total / count * rank + total % count * rank / count;
}

static inline void hd_slab_share_of(int64_t total, int32_t rank, int32_t count, int64_t *first,
                                    int64_t *n) {
    *first = hd_slab_begin_of(total, rank, count);
    *n = hd_slab_begin_of(total, rank + 1, count) - *first;
}

/* Combine values[0 .. count - 1] over the processes, in place. All processes must call them, in the
 * same order. */
huddle_status hd_reduce_sum(huddle_context *context, int64_t count, double *values);
huddle_status hd_reduce_min(huddle_context *context, int64_t count, double *values);
huddle_status hd_reduce_max(huddle_context *context, int64_t count, double *values);

/* The same for one count, which must be below 2^53. */
huddle_status hd_reduce_count(huddle_context *context, int64_t *count);

/* Whether rows are distributed over processes: an engine with slabs, even if it has one process
 * only. */
bool hd_slabs_distributed(const huddle_context *context);

/* The number of this process, from 0, and how many there are: 0 and 1 without slabs. */
int32_t hd_slabs_rank(const huddle_context *context);
int32_t hd_slabs_count(const huddle_context *context);

/* Up to how many rows a problem is better solved by process 0 alone; 0 without slabs. */
int64_t hd_slabs_few_rows(const huddle_context *context);

/* sizes[r] bytes to each process r, in the order of the processes; see exchange() of the engine.
 * Both arrays of sizes have hd_slabs_count() places. *received is freed by huddle_free(); it is a
 * copy without slabs. */
huddle_status hd_slabs_exchange(huddle_context *context, const int64_t *sizes, const void *send,
                                int64_t *received_sizes, void **received);

/* As the number of a process: every one of them. */
enum { HD_EVERYWHERE = -1 };

/* The bytes of all processes, one after the other, on process `to`, where *all is freed by
 * huddle_free(); NULL and 0 on the others. sizes, if not NULL, gets the bytes of each process. */
huddle_status hd_slabs_gather(huddle_context *context, int32_t to, int64_t size, const void *bytes,
                              int64_t *sizes, int64_t *total, void **all);

/* Copies `size` bytes of process `from` to all others; size must be the same everywhere. */
huddle_status hd_slabs_broadcast(huddle_context *context, int32_t from, int64_t size, void *bytes);

/* A pass of bytes to the next process while this one computes; see start_pass() of the engine. */
typedef struct hd_pass {
    const hd_engine_slabs *slabs;
    void *transfer;
} hd_pass;

huddle_status hd_pass_start(huddle_context *context, const void *send, int64_t size, void *received,
                            int64_t received_size, hd_pass *pass);
huddle_status hd_pass_finish(hd_pass *pass);

/* What all processes return: HUDDLE_OK only if none failed. */
huddle_status hd_agree(huddle_context *context, huddle_status status);

#ifdef __clang_analyzer__
/* Shows the analyser that a process that failed never returns HUDDLE_OK. */
#define hd_agree(context, status)                                                                  \
    ((status) != HUDDLE_OK ? (status) : (hd_agree)((context), (status)))
#endif

/* HUDDLE_UNSUPPORTED if rows are distributed over processes: for algorithms, named by `what`, that
 * need all rows on one process and that the engine does not do itself. */
huddle_status hd_slabs_refuse(const huddle_context *context, const char *what);

/* Between these two calls the context computes on the CPU with the rows it is given and does not
 * communicate: for rows that this process holds all of. Keep what begin returns, and pass it to
 * end. Unless `alone`, begin_if changes nothing.
 */
typedef struct hd_alone {
    bool already;
} hd_alone;

hd_alone hd_alone_begin(huddle_context *context);
hd_alone hd_alone_begin_if(huddle_context *context, bool alone);
void hd_alone_end(huddle_context *context, hd_alone before);

/* TRY() for a call that this process makes alone. */
#define TRY_ALONE(context, call)                                                                   \
    do {                                                                                           \
        hd_alone hd_before = hd_alone_begin(context);                                              \
        status = (call);                                                                           \
        hd_alone_end((context), hd_before);                                                        \
        TRY(status);                                                                               \
    } while (0)

/* TRY() for a call that process 0 makes alone, with what was collected there; the others wait for
 * its status. */
#define TRY_ON_FIRST(context, call)                                                                \
    do {                                                                                           \
        if (hd_slabs_rank(context) == 0) {                                                         \
            hd_alone hd_before = hd_alone_begin(context);                                          \
            status = (call);                                                                       \
            hd_alone_end((context), hd_before);                                                    \
        }                                                                                          \
        TRY(hd_agree((context), status));                                                          \
    } while (0)

/* Rows of other processes that this process's rows refer to. */
typedef struct hd_halo {
    huddle_context *context;
    const hd_engine_slabs *slabs; /* NULL: there are none */
    void *handle;                 /* the engine's */
    int64_t ghosts;               /* rows that follow the own ones in every array that is fetched */
} hd_halo;

/* Sets up the exchange for `count` column indices of n own rows; they become local. */
huddle_status hd_halo_open(huddle_context *context, int64_t n, int64_t count, int32_t *columns,
                           hd_halo *halo);
huddle_status hd_halo_fetch(const hd_halo *halo, void *rows, size_t row_size);
void hd_halo_close(hd_halo *halo);

#ifdef __cplusplus
}
#endif

#endif
