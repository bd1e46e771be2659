/* An engine that simulates two processes with equal slabs, inside one process and without any
 * communication: the other process holds a copy of the same rows, so a sum over both is twice the
 * own part, and a minimum or maximum is the own one. A stage that runs on n rows under this engine
 * must therefore compute what it computes on the 2 n rows of two copies. A number that depends on
 * all rows and does not pass through the reduction hook comes out as that of one copy.
 *
 *     huddle_context *context = mirror_context();
 *     ... call the stage on n rows with it, and on 2 n rows without ...
 *     assert_true(mirror_counts_of(context)->reductions > 0);
 *     huddle_context_free(context);
 *
 * Everything is in this header: a unit test includes it and links nothing more. */
#ifndef HUDDLE_TESTS_MIRROR_H
#define HUDDLE_TESTS_MIRROR_H

#include "base/check.h"
#include "base/context.h"
#include "base/engine.h"

#include <string.h>

/* How often each hook was called. */
typedef struct mirror_counts {
    int64_t locations, reductions, agreements;
    int64_t halos, fetches;
    int64_t open_halos; /* not yet closed: 0 after a stage */
} mirror_counts;

static inline huddle_status mirror_open(huddle_context *context, const char *options,
                                        void **state) {
    (void)context, (void)options;
    *state = hd_alloc_zero(1, sizeof(mirror_counts));
    return *state != NULL ? HUDDLE_OK : hd_fail(HUDDLE_NO_MEMORY, "no memory for the counters");
}

static inline void mirror_close(void *state) {
    huddle_free(state);
}

static inline huddle_status mirror_locate(void *state, int64_t n, int64_t *first, int64_t *total) {
    ((mirror_counts *)state)->locations++;
    *first = 0;
    *total = 2 * n;
    return HUDDLE_OK;
}

static inline huddle_status mirror_reduce(void *state, hd_reduction operation, int64_t count,
                                          double *values) {
    ((mirror_counts *)state)->reductions++;
    for (int64_t k = 0; k < count && operation == HD_REDUCE_SUM; k++)
        values[k] += values[k];
    return HUDDLE_OK;
}

static inline huddle_status mirror_agree(void *state, huddle_status status) {
    ((mirror_counts *)state)->agreements++;
    return status;
}

/* The rows of this process are the first n of all, and the copies refer only to each other: the
 * column numbers are local already. */
static inline huddle_status mirror_open_halo(void *state, int64_t n, int64_t count,
                                             int32_t *columns, int64_t *ghosts, void **halo) {
    mirror_counts *counts = state;
    for (int64_t e = 0; e < count; e++)
        if (columns[e] < 0 || columns[e] >= n)
            return hd_fail(HUDDLE_INTERNAL, "column %d of a slab of %lld rows", columns[e],
                           (long long)n);
    counts->halos++;
    counts->open_halos++;
    *ghosts = 0;
    *halo = counts;
    return HUDDLE_OK;
}

static inline huddle_status mirror_fetch_halo(void *halo, void *rows, size_t row_size) {
    (void)rows, (void)row_size;
    ((mirror_counts *)halo)->fetches++;
    return HUDDLE_OK;
}

static inline void mirror_close_halo(void *halo) {
    ((mirror_counts *)halo)->open_halos--;
}

static inline void mirror_place(const void *state, int32_t *rank, int32_t *count) {
    (void)state;
    *rank = 0;
    *count = 2;
}

/* The copy sends what this process sends to itself: so it is where every process sends the same to
 * all (hd_collect_rows()). Other stages that exchange are tested with a team (team.h). */
static inline huddle_status mirror_exchange(void *state, const int64_t *sizes, const void *send,
                                            int64_t *received_sizes, void **received) {
    (void)state;
    size_t size = (size_t)sizes[0];
    *received = hd_alloc(2, size > 0 ? size : 1);
    if (*received == NULL)
        return hd_fail(HUDDLE_NO_MEMORY, "no memory for two copies of %zu bytes", size);
    for (int r = 0; r < 2; r++) {
        received_sizes[r] = sizes[0];
        if (size > 0)
            memcpy((char *)*received + (size_t)r * size, send, size);
    }
    return HUDDLE_OK;
}

static const hd_engine_slabs mirror_slabs = {.place = mirror_place,
                                             .exchange = mirror_exchange,
                                             .locate = mirror_locate,
                                             .reduce = mirror_reduce,
                                             .agree = mirror_agree,
                                             .open_halo = mirror_open_halo,
                                             .fetch_halo = mirror_fetch_halo,
                                             .close_halo = mirror_close_halo};

static const hd_engine mirror_engine = {.text = {"mirror", "two processes with equal rows"},
                                        .open = mirror_open,
                                        .close = mirror_close,
                                        .slabs = &mirror_slabs};

/* A context with this engine, freed by huddle_context_free(); NULL if there is no memory. */
static inline huddle_context *mirror_context(void) {
    huddle_context *context = NULL;
    if (huddle_context_new(&context) != HUDDLE_OK)
        return NULL;
    if (hd_context_use_engine(context, &mirror_engine, "") != HUDDLE_OK) {
        huddle_context_free(context);
        return NULL;
    }
    return context;
}

static inline mirror_counts *mirror_counts_of(const huddle_context *context) {
    return hd_context_engine_state(context);
}

#endif
