#define _GNU_SOURCE
/* The context of a computation: threads, log, warnings, progress, cancelling and the engine. There
 * are no global settings; a NULL context is valid everywhere and means the calling thread, the CPU,
 * no messages and no cancelling. */
#include "base/context.h"

#include "base/check.h"
#include "base/engine.h"
#include "base/machine.h"
#include "base/parallel.h"
#include "base/text.h"

#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

enum { MAX_THREADS = 1024 };

/* Seconds between two progress reports: short enough for a smooth display, long enough that a
 * callback in Python costs nothing. */
static const double progress_interval = 0.1;

/* A monotonic clock: durations must not depend on adjustments of the system time. */
double hd_seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* CPUs of the affinity mask, within the quota of control groups. */
static int32_t count_available_threads(void) {
    cpu_set_t set;
    int32_t count = 1;
    CPU_ZERO(&set);
    if (sched_getaffinity(0, sizeof set, &set) == 0)
        count = CPU_COUNT(&set);
    int64_t quota = hd_machine_cpus("");
    count = quota < count ? (int32_t)quota : count;
    return count < 1 ? 1 : count > MAX_THREADS ? MAX_THREADS : count;
}

/* Threads are started by the first parallel loop, so that a context costs nothing until it is
 * used. */
huddle_status huddle_context_new(huddle_context **context) {
    huddle_status status = HUDDLE_OK;
    huddle_context *made = NULL;
    ALLOC_ZERO(made, 1);
    made->n_threads = count_available_threads();
    made->memory = HUDDLE_AUTO;
    pthread_mutex_init(&made->logging, NULL);
    atomic_init(&made->cancelled, 0);
done:
    *context = made;
    return status;
}

void huddle_context_free(huddle_context *context) {
    if (context == NULL)
        return;
    (void)huddle_context_set_alone(context, false);
    hd_context_close_engine(context);
    hd_pool_free(context->pool);
    pthread_mutex_destroy(&context->logging);
    huddle_free(context);
}

/* The pool is started anew with the next loop. Results do not depend on the number of threads. */
huddle_status huddle_context_set_threads(huddle_context *context, int32_t n_threads) {
    if (n_threads == HUDDLE_AUTO)
        n_threads = count_available_threads();
    if (n_threads < 1 || n_threads > MAX_THREADS)
        return hd_fail(HUDDLE_INVALID, "n_threads = %d is outside [1, %d]", n_threads, MAX_THREADS);
    if (n_threads != context->n_threads) {
        hd_pool_free(context->pool);
        context->pool = NULL;
        context->n_threads = n_threads;
    }
    return HUDDLE_OK;
}

int32_t huddle_context_threads(const huddle_context *context) {
    return context == NULL ? 1 : context->n_threads;
}

huddle_status huddle_context_set_memory(huddle_context *context, int64_t bytes) {
    if (bytes != HUDDLE_AUTO && bytes < 1)
        return hd_fail(HUDDLE_INVALID, "memory = %lld must be positive", (long long)bytes);
    context->memory = bytes;
    return HUDDLE_OK;
}

int64_t huddle_context_memory(const huddle_context *context) {
    return context == NULL ? HUDDLE_AUTO : context->memory;
}

void huddle_context_set_log(huddle_context *context, huddle_log_function function, void *user) {
    context->log = function;
    context->log_user = user;
}

void huddle_context_set_progress(huddle_context *context, huddle_progress_function function,
                                 void *user) {
    context->progress = function;
    context->progress_user = user;
}

/* Only sets an atomic flag, so that it may be called from another thread or from a signal
 * handler. */
void huddle_context_cancel(huddle_context *context) {
    atomic_store(&context->cancelled, 1);
}

void huddle_context_resume(huddle_context *context) {
    atomic_store(&context->cancelled, 0);
}

const char *huddle_warning_name(huddle_warning_code code) {
    static const char *const names[] = {
        [HUDDLE_WARNING_NONE] = "none",
        [HUDDLE_WARNING_NOT_CONVERGED] = "not_converged",
        [HUDDLE_WARNING_NOT_VERIFIED] = "not_verified",
        [HUDDLE_WARNING_FEW_DISTINCT] = "few_distinct",
        [HUDDLE_WARNING_SMALL_EIGENGAP] = "small_eigengap",
        [HUDDLE_WARNING_COMPONENTS] = "components",
        [HUDDLE_WARNING_OPTION_CLIPPED] = "option_clipped",
        [HUDDLE_WARNING_DOMINANT_FEATURE] = "dominant_feature",
        [HUDDLE_WARNING_GUARDED] = "guarded",
        [HUDDLE_WARNING_LOW_RECALL] = "low_recall",
        [HUDDLE_WARNING_INPUT] = "input",
        [HUDDLE_WARNING_OUTPUT] = "output",
        [HUDDLE_WARNING_SINGULAR] = "singular",
    };
    return (size_t)code < sizeof names / sizeof *names ? names[code] : "none";
}

static huddle_status add_warning(hd_warnings *warnings, huddle_warning_code code,
                                 const char *text) {
    huddle_status status = HUDDLE_OK;
    char *copy = hd_copy_text(text);
    if (copy == NULL ||
        !hd_grow(&warnings->items, &warnings->capacity, warnings->count + 1, sizeof(hd_warning)))
        FAIL(HUDDLE_NO_MEMORY, "no memory for the text of a warning");
    warnings->items[warnings->count++] = (hd_warning){code, copy};
    copy = NULL;
done:
    huddle_free(copy);
    return status;
}

void hd_warnings_free(hd_warnings *warnings) {
    for (int64_t i = 0; i < warnings->count; i++)
        huddle_free(warnings->items[i].text);
    huddle_free(warnings->items);
    memset(warnings, 0, sizeof *warnings);
}

/* The lock keeps lines of different threads apart and protects the list of warnings. A warning that
 * cannot be stored for lack of memory is still logged. */
static void write_line(huddle_context *context, huddle_log_level level, huddle_warning_code code,
                       const char *format, va_list arguments) {
    char raw[1024], text[sizeof raw];
    if (context == NULL)
        return;
    vsnprintf(raw, sizeof raw, format, arguments);
    hd_escape_controls(raw, text, sizeof text);
    pthread_mutex_lock(&context->logging);
    if (level == HUDDLE_LOG_WARNING && context->warnings != NULL)
        (void)add_warning(context->warnings, code, text);
    if (context->log != NULL)
        context->log(context->log_user, level, code, text);
    pthread_mutex_unlock(&context->logging);
}

/* A warning is about the result and is stored with the fit; hd_log() is only shown. */
void hd_warn(huddle_context *context, huddle_warning_code code, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    write_line(context, HUDDLE_LOG_WARNING, code, format, arguments);
    va_end(arguments);
}

void hd_log(huddle_context *context, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    write_line(context, HUDDLE_LOG_INFO, HUDDLE_WARNING_NONE, format, arguments);
    va_end(arguments);
}

/* Both the log and the list of warnings are replaced, and restored by hd_silence_end(). Nothing is
 * written if the context is silent already, so that trials on several threads may call this. */
hd_silence hd_silence_begin(huddle_context *context) {
    hd_silence before = {0};
    if (context == NULL)
        return before;
    before = (hd_silence){context->log, context->warnings};
    if (before.log != NULL)
        context->log = NULL;
    if (before.warnings != NULL)
        context->warnings = NULL;
    return before;
}

void hd_silence_end(huddle_context *context, hd_silence before) {
    if (context == NULL)
        return;
    if (before.log != NULL)
        context->log = before.log;
    if (before.warnings != NULL)
        context->warnings = before.warnings;
}

/* Relaxed order is sufficient: the flag is checked often, and no other data are published with
 * it. */
huddle_status hd_check_cancel(huddle_context *context) {
    if (context != NULL && atomic_load_explicit(&context->cancelled, memory_order_relaxed))
        return hd_fail(HUDDLE_CANCELLED, "cancelled");
    return HUDDLE_OK;
}

/* The end of a stage is always reported, however short the interval. A callback that returns
 * non-zero cancels the computation. Inside a parallel loop nothing is reported: it may be a worker
 * thread, and callbacks need not be thread-safe. */
huddle_status hd_progress(huddle_context *context, const char *stage, double done, double total) {
    if (context == NULL)
        return HUDDLE_OK;
    if (context->progress != NULL && !hd_parallel_inside()) {
        double now = hd_seconds();
        if (now >= context->progress_next || done >= total) {
            context->progress_next = now + progress_interval;
            if (context->progress(context->progress_user, stage, done, total) != 0)
                huddle_context_cancel(context);
        }
    }
    return hd_check_cancel(context);
}

huddle_status huddle_context_progress(huddle_context *context, const char *stage, double done,
                                      double total) {
    return hd_progress(context, stage, done, total);
}
