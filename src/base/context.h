/* The inside of a context, and the part of it that stages use: warnings, log lines, progress and
 * cancelling. */
#ifndef HUDDLE_SRC_CONTEXT_H
#define HUDDLE_SRC_CONTEXT_H

#include "huddle/base.h"

#include <pthread.h>

/* C++ does not know C's atomic types. An engine does not touch the member; its size is the same. */
#ifdef __cplusplus
extern "C" {
typedef int hd_atomic_int;
#else
#include <stdatomic.h>
typedef atomic_int hd_atomic_int;
#endif

struct hd_engine;
struct hd_open_engine;
struct hd_pool;
struct hd_stages;

typedef struct hd_warning {
    huddle_warning_code code;
    char *text;
} hd_warning;

/* The warnings of a computation, in order. */
typedef struct hd_warnings {
    hd_warning *items;
    int64_t count, capacity;
} hd_warnings;

/* Different reasons of an engine to decline that are written to the log. */
enum { HD_MAX_DECLINED = 32 };

/* More than 20 fields: what all stages share of a computation. */
struct huddle_context {
    int32_t n_threads;
    int64_t memory;                /* bytes that a fit may use; HUDDLE_AUTO: what is available */
    int32_t n_sharing;             /* processes that share the memory of this machine; 0: one */
    struct hd_open_engine *opened; /* what the context has opened; NULL: the CPU */
    void *engine_state;            /* made by the engine's open() */
    bool alone, set_alone; /* its engine is aside (base/slabs.h); by huddle_context_set_alone() */
    char *engine_text;     /* "NAME" or "NAME:OPTIONS"; NULL: the CPU */
    uint64_t declined[HD_MAX_DECLINED]; /* reasons that are in the log (engine.c) */
    int32_t n_declined;
    huddle_log_function log;
    void *log_user;
    huddle_progress_function progress;
    void *progress_user;
    double progress_next;     /* earliest time of the next progress report */
    struct hd_stages *stages; /* of the fit that is being timed, or NULL */
    hd_warnings *warnings;    /* also receives every warning, or NULL */
    pthread_mutex_t logging;  /* one line at a time */
    hd_atomic_int cancelled;
    struct hd_pool *pool; /* started on first use */
};

void hd_warnings_free(hd_warnings *warnings);

/* Write a line to the caller's log; a warning is also added to context->warnings. */
void hd_warn(huddle_context *context, huddle_warning_code code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
void hd_log(huddle_context *context, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Between these two calls the context neither logs nor collects warnings: for trial computations
 * whose warnings are not about the result. Keep what begin returns, and pass it to end. */
typedef struct hd_silence {
    huddle_log_function log;
    hd_warnings *warnings;
} hd_silence;

hd_silence hd_silence_begin(huddle_context *context);
void hd_silence_end(huddle_context *context, hd_silence before);

/* TRY() (base/check.h) for a call in silence. */
#define TRY_SILENT(context, call)                                                                  \
    do {                                                                                           \
        hd_silence hd_before = hd_silence_begin(context);                                          \
        status = (call);                                                                           \
        hd_silence_end((context), hd_before);                                                      \
        if (status != HUDDLE_OK)                                                                   \
            goto done;                                                                             \
    } while (0)

/* HUDDLE_CANCELLED if the caller asked to stop. Cheap; call it in every long loop. */
huddle_status hd_check_cancel(huddle_context *context);

/* Reports progress, at most about ten times a second, and returns HUDDLE_CANCELLED if the caller
 * asked to stop. Only for the thread that called the library. */
huddle_status hd_progress(huddle_context *context, const char *stage, double done, double total);

/* Closes the engine; part of huddle_context_free(). */
void hd_context_close_engine(huddle_context *context);

/* Seconds of a monotonic clock. */
double hd_seconds(void);

#ifdef __cplusplus
}
#endif

#endif
