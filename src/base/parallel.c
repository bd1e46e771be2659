#include "base/parallel.h"

#include "base/check.h"

#include <stdio.h>
#include <unistd.h>

/* A running loop. */
typedef struct job {
    huddle_context *context;
    hd_body body;
    void *argument;
    int64_t n, grain, chunks;
    atomic_llong next;     /* the next chunk to start */
    atomic_llong finished; /* for progress */
    atomic_int stopped;    /* start no more chunks */
    pthread_mutex_t lock;  /* guards the failure */
    int64_t failed_chunk;
    huddle_status failure;
    char failure_text[1024];
} job;

typedef struct hd_pool hd_pool;

struct hd_pool {
    pthread_mutex_t lock;
    pthread_cond_t begin, end;
    pid_t owner;         /* the process whose threads these are: fork() leaves them behind */
    int32_t n_workers;   /* threads of the pool, without the caller's */
    int32_t started;     /* of them, running */
    int32_t working;     /* workers inside the current job */
    bool busy, closing;  /* a job is running; threads must end */
    uint64_t generation; /* counts jobs */
    job *current;
    struct worker {
        pthread_t thread;
        struct hd_pool *pool;
        int32_t index;
    } workers[];
};

/* True on a thread that is inside the body of a loop. A nested loop runs on that thread alone:
 * waiting for the pool from inside the pool could deadlock. */
static _Thread_local bool inside;

bool hd_parallel_inside(void) {
    return inside;
}

int64_t hd_chunks(int64_t n, int64_t grain) {
    return n <= 0 ? 0 : (n - 1) / grain + 1;
}

int32_t hd_workers(const huddle_context *context) {
    return huddle_context_threads(context);
}

/* Keeps the failure of the lowest chunk. Chunks are claimed in ascending order and a claimed chunk
 * is always run, so that all chunks below a failing one are run too, and the message does not
 * depend on the threads. */
static void record_failure(job *loop, int64_t chunk, huddle_status status) {
    pthread_mutex_lock(&loop->lock);
    if (loop->failed_chunk < 0 || chunk < loop->failed_chunk) {
        loop->failed_chunk = chunk;
        loop->failure = status;
        snprintf(loop->failure_text, sizeof loop->failure_text, "%s", huddle_last_error());
    }
    pthread_mutex_unlock(&loop->lock);
    atomic_store(&loop->stopped, 1);
}

/* Runs chunks until none is left. Only the calling thread passes a stage and reports progress:
 * callbacks need not be thread-safe. Threads take the next chunk from a counter, which balances the
 * load if chunks take different times. */
static void run_chunks(job *loop, int32_t worker, const char *stage) {
    bool was_inside = inside;
    while (!atomic_load_explicit(&loop->stopped, memory_order_relaxed)) {
        int64_t chunk = atomic_fetch_add(&loop->next, 1);
        if (chunk >= loop->chunks)
            break;
        int64_t begin = chunk * loop->grain;
        /* Written so that begin + grain cannot overflow. */
        int64_t end = loop->n - begin < loop->grain ? loop->n : begin + loop->grain;
        huddle_status status = hd_check_cancel(loop->context);
        inside = true;
        if (status == HUDDLE_OK)
            status = loop->body(loop->argument, (hd_chunk){chunk, begin, end, worker});
        inside = was_inside;
        int64_t finished = atomic_fetch_add(&loop->finished, 1) + 1;
        /* The end is reported once, by hd_parallel(). */
        if (status == HUDDLE_OK && stage != NULL && finished < loop->chunks)
            status = hd_progress(loop->context, stage, (double)finished, (double)loop->chunks);
        if (status != HUDDLE_OK)
            record_failure(loop, chunk, status);
    }
}

bool hd_thread_start(pthread_t *thread, void *(*run)(void *argument), void *argument) {
    static const size_t stack_size = (size_t)8 << 20;
    pthread_attr_t attributes;
    if (pthread_attr_init(&attributes) != 0)
        return false;
    bool started = pthread_attr_setstacksize(&attributes, stack_size) == 0 &&
                   pthread_create(thread, &attributes, run, argument) == 0;
    pthread_attr_destroy(&attributes);
    return started;
}

/* A thread of the pool: waits for a job that it has not seen yet, works on it, and waits again.
 * The generation distinguishes a new job from the one just finished, which may have the same
 * address. */
static void *run_worker(void *argument) {
    struct worker *self = argument;
    hd_pool *pool = self->pool;
    uint64_t seen = 0;
    pthread_mutex_lock(&pool->lock);
    for (;;) {
        while (!pool->closing && (pool->current == NULL || pool->generation == seen))
            pthread_cond_wait(&pool->begin, &pool->lock);
        if (pool->closing)
            break;
        seen = pool->generation;
        job *loop = pool->current;
        pool->working++;
        pthread_mutex_unlock(&pool->lock);
        run_chunks(loop, self->index, NULL);
        pthread_mutex_lock(&pool->lock);
        if (--pool->working == 0)
            pthread_cond_signal(&pool->end);
    }
    pthread_mutex_unlock(&pool->lock);
    return NULL;
}

/* Starts the workers; fewer than wanted, or none, if the system refuses more threads. The caller
 * always works too, so that a loop completes in any case. */
static hd_pool *start_pool(int32_t n_workers) {
    hd_pool *pool = hd_alloc_zero(1, sizeof(hd_pool) + (size_t)n_workers * sizeof(struct worker));
    if (pool == NULL)
        return NULL;
    pthread_mutex_init(&pool->lock, NULL);
    pthread_cond_init(&pool->begin, NULL);
    pthread_cond_init(&pool->end, NULL);
    pool->owner = getpid();
    pool->n_workers = n_workers;
    for (int32_t i = 0; i < n_workers; i++) {
        pool->workers[i].pool = pool;
        /* Worker 0 is the thread that calls hd_parallel(). */
        pool->workers[i].index = i + 1;
        if (!hd_thread_start(&pool->workers[i].thread, run_worker, &pool->workers[i]))
            break;
        pool->started++;
    }
    return pool;
}

void hd_pool_free(hd_pool *pool) {
    if (pool == NULL)
        return;
    /* After fork() the threads, and perhaps a held lock, exist in the parent only. */
    if (pool->owner == getpid()) {
        pthread_mutex_lock(&pool->lock);
        pool->closing = true;
        pthread_cond_broadcast(&pool->begin);
        pthread_mutex_unlock(&pool->lock);
        for (int32_t i = 0; i < pool->started; i++)
            pthread_join(pool->workers[i].thread, NULL);
        pthread_cond_destroy(&pool->begin);
        pthread_cond_destroy(&pool->end);
        pthread_mutex_destroy(&pool->lock);
    }
    huddle_free(pool);
}

/* Reserves the context's pool for this thread; NULL if another thread uses it or if it cannot be
 * started. The loop then runs on the calling thread alone, with the same result. After fork() the
 * child has the memory of the pool but none of its threads, so it starts its own. */
static hd_pool *claim_pool(huddle_context *context) {
    hd_pool *pool = NULL;
    pthread_mutex_lock(&context->logging);
    if (context->pool != NULL && context->pool->owner != getpid()) {
        hd_pool_free(context->pool);
        context->pool = NULL;
    }
    if (context->pool == NULL)
        context->pool = start_pool(context->n_threads - 1);
    if (context->pool != NULL && !context->pool->busy) {
        pool = context->pool;
        pool->busy = true;
    }
    pthread_mutex_unlock(&context->logging);
    return pool;
}

static void release_pool(huddle_context *context, hd_pool *pool) {
    pthread_mutex_lock(&context->logging);
    pool->busy = false;
    pthread_mutex_unlock(&context->logging);
}

/* The calling thread is worker 0. The job is on its stack, so it must not return while a worker may
 * still use it. */
static void run_on_pool(hd_pool *pool, job *loop, const char *stage) {
    pthread_mutex_lock(&pool->lock);
    pool->current = loop;
    pool->generation++;
    pthread_cond_broadcast(&pool->begin);
    pthread_mutex_unlock(&pool->lock);
    run_chunks(loop, 0, stage);
    pthread_mutex_lock(&pool->lock);
    /* A worker that wakes up late finds no job; workers inside the job are waited for. */
    pool->current = NULL;
    while (pool->working > 0)
        pthread_cond_wait(&pool->end, &pool->lock);
    pthread_mutex_unlock(&pool->lock);
}

/* With one thread the chunks are the same and run in order: a program that is debugged on one
 * thread computes what it computes on many. */
huddle_status hd_parallel(huddle_context *context, const char *stage, int64_t n, int64_t grain,
                          hd_body body, void *argument) {
    job loop = {.context = context,
                .body = body,
                .argument = argument,
                .n = n,
                .grain = grain,
                .chunks = hd_chunks(n, grain),
                .failed_chunk = -1};
    hd_pool *pool = NULL;
    /* Inside a body we may be on a worker, which must not report progress. */
    if (inside)
        stage = NULL;
    pthread_mutex_init(&loop.lock, NULL);
    /* One chunk is not worth waking a thread for. */
    if (loop.chunks > 1 && !inside && huddle_context_threads(context) > 1)
        pool = claim_pool(context);
    if (pool != NULL) {
        run_on_pool(pool, &loop, stage);
        release_pool(context, pool);
    } else {
        run_chunks(&loop, 0, stage);
    }
    pthread_mutex_destroy(&loop.lock);
    if (loop.failed_chunk >= 0)
        return hd_fail(loop.failure, "%s", loop.failure_text);
    if (stage != NULL && loop.chunks > 0)
        return hd_progress(context, stage, (double)loop.chunks, (double)loop.chunks);
    return HUDDLE_OK;
}
