/* Loops on several threads.
 *
 * hd_parallel() divides 0 .. n - 1 into chunks of `grain` items (the last may be shorter) and calls
 * the body once per chunk. The division depends on n and grain only: a body that writes results per
 * item or per chunk, with the results of chunks combined in their order afterwards, gives the same
 * bits for any number of threads. The calling thread works too. A loop inside a loop runs on one
 * thread. */
#ifndef HUDDLE_SRC_PARALLEL_H
#define HUDDLE_SRC_PARALLEL_H

#include "base/context.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct hd_chunk {
    int64_t index;      /* 0 .. hd_chunks(n, grain) - 1 */
    int64_t begin, end; /* items begin .. end - 1 */
    int32_t worker;     /* 0 .. threads - 1: selects scratch space, never results */
} hd_chunk;

typedef huddle_status (*hd_body)(void *argument, hd_chunk chunk);

/* Runs the loop. If bodies fail, no new chunk is started, and the failure of the lowest chunk is
 * returned with its message. `stage`, if not NULL, is the name under which progress is reported.
 * HUDDLE_CANCELLED if the caller asks to stop. */
huddle_status hd_parallel(huddle_context *context, const char *stage, int64_t n, int64_t grain,
                          hd_body body, void *argument);

/* Whether this thread is inside the body of a loop, where progress is not reported. */
bool hd_parallel_inside(void);

/* The number of chunks, and of workers hd_parallel() may use: sizes for arrays. */
int64_t hd_chunks(int64_t n, int64_t grain);
int32_t hd_workers(const huddle_context *context);

/* Starts a thread; false if the system refuses. Its stack has the usual 8 MB: the default is the
 * limit of the process (ulimit -s), which may be too little for BLAS and LAPACK. */
bool hd_thread_start(pthread_t *thread, void *(*run)(void *argument), void *argument);

/* Ends the threads of a pool; NULL is fine. */
void hd_pool_free(struct hd_pool *pool);

#ifdef __cplusplus
}
#endif

#endif
