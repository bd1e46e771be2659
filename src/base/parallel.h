/* The one way to use several threads.
 *
 * hd_parallel() cuts 0 .. n - 1 into chunks of `grain` items (the last may be shorter) and calls
 * the body once for each. The cut depends on n and grain only, so a body that writes results per
 * item or per chunk, with chunk results combined in chunk order afterwards, gives the same bits
 * for any number of threads. The calling thread works too. A loop inside a loop runs on its own
 * thread alone. */
#ifndef HUDDLE_SRC_PARALLEL_H
#define HUDDLE_SRC_PARALLEL_H

#include "base/context.h"

typedef struct hd_chunk {
    int64_t index;      /* 0 .. hd_chunks(n, grain) - 1 */
    int64_t begin, end; /* items begin .. end - 1 */
    int32_t worker;     /* 0 .. threads - 1: for scratch space, never for results */
} hd_chunk;

typedef huddle_status (*hd_body)(void *argument, hd_chunk chunk);

/* Runs the loop. If bodies fail, no new chunk is begun, and the failure of the lowest chunk is
 * returned with its sentence. `stage`, if not NULL, is the name under which progress is reported.
 * HUDDLE_CANCELLED when the caller asks to stop. */
huddle_status hd_parallel(huddle_context *context, const char *stage, int64_t n, int64_t grain,
                          hd_body body, void *argument);

/* How many chunks, and how many workers can be at work in hd_parallel(): sizes for arrays. */
int64_t hd_chunks(int64_t n, int64_t grain);
int32_t hd_workers(const huddle_context *context);

void hd_pool_free(struct hd_pool *pool);

#endif
