#define _GNU_SOURCE
#include "base/context.h"

#include "base/check.h"
#include "base/engine.h"
#include "base/parallel.h"

#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

enum { MAX_THREADS = 1024 };

/* Seconds between two reports of progress. */
static const double progress_interval = 0.1;

double hd_seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* CPUs granted by one cpu.max file ("200000 100000" or "max 100000"), or `most` if none. */
static int32_t read_quota(const char *path, int32_t most) {
    double quota, period;
    FILE *file = fopen(path, "re");
    if (file == NULL)
        return most;
    int fields = fscanf(file, "%lf %lf", &quota, &period);
    fclose(file);
    if (fields != 2 || period <= 0 || quota <= 0)
        return most;
    double cpus = (quota + period - 1) / period;
    return cpus < 1 ? 1 : cpus < most ? (int32_t)cpus : most;
}

/* Walks from this process's cgroup up to the root; the tightest limit counts. */
static int32_t cgroup_limit(int32_t most) {
    char line[512], path[600];
    FILE *file = fopen("/proc/self/cgroup", "re");
    if (file == NULL)
        return most;
    while (fgets(line, sizeof line, file) != NULL) {
        if (strncmp(line, "0::/", 4) != 0)
            continue;
        char *group = line + 3;
        group[strcspn(group, "\n")] = '\0';
        for (;;) {
            snprintf(path, sizeof path, "/sys/fs/cgroup%s/cpu.max", group);
            most = read_quota(path, most);
            char *slash = strrchr(group, '/');
            if (slash == NULL)
                break;
            *slash = '\0';
        }
    }
    fclose(file);
    return most;
}

static int32_t available_threads(void) {
    cpu_set_t set;
    int32_t count = 1;
    CPU_ZERO(&set);
    if (sched_getaffinity(0, sizeof set, &set) == 0)
        count = CPU_COUNT(&set);
    count = cgroup_limit(count);
    return count < 1 ? 1 : count > MAX_THREADS ? MAX_THREADS : count;
}

huddle_status huddle_context_new(huddle_context **context) {
    huddle_status status = HUDDLE_OK;
    huddle_context *made = NULL;
    ALLOC_ZERO(made, 1);
    made->n_threads = available_threads();
    made->engine = hd_engine_find("cpu");
    pthread_mutex_init(&made->talking, NULL);
    atomic_init(&made->cancelled, 0);
done:
    *context = made;
    return status;
}

void huddle_context_free(huddle_context *context) {
    if (context == NULL)
        return;
    hd_pool_free(context->pool);
    pthread_mutex_destroy(&context->talking);
    huddle_free(context);
}

huddle_status huddle_context_set_threads(huddle_context *context, int32_t n_threads) {
    if (n_threads == HUDDLE_AUTO)
        n_threads = available_threads();
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

void huddle_context_set_log(huddle_context *context, huddle_log_function function, void *user) {
    context->log = function;
    context->log_user = user;
}

void huddle_context_set_progress(huddle_context *context, huddle_progress_function function,
                                 void *user) {
    context->progress = function;
    context->progress_user = user;
}

void huddle_context_cancel(huddle_context *context) {
    atomic_store(&context->cancelled, 1);
}

void huddle_context_resume(huddle_context *context) {
    atomic_store(&context->cancelled, 0);
}

huddle_status huddle_context_set_engine(huddle_context *context, const char *name) {
    const hd_engine *engine = hd_engine_find(name);
    if (engine == NULL)
        return hd_fail(HUDDLE_UNSUPPORTED, "no engine named '%s' in this build", name);
    context->engine = engine;
    return HUDDLE_OK;
}

const hd_engine *hd_context_engine(const huddle_context *context) {
    return context == NULL ? hd_engine_find("cpu") : context->engine;
}

huddle_status hd_texts_add(hd_texts *texts, const char *text) {
    huddle_status status = HUDDLE_OK;
    char *copy = hd_copy_text(text);
    if (copy == NULL || !hd_grow(&texts->items, &texts->capacity, texts->count + 1, sizeof(char *)))
        FAIL(HUDDLE_NO_MEMORY, "no memory for a line of text");
    texts->items[texts->count++] = copy;
    copy = NULL;
done:
    huddle_free(copy);
    return status;
}

void hd_texts_free(hd_texts *texts) {
    for (int64_t i = 0; i < texts->count; i++)
        huddle_free(texts->items[i]);
    huddle_free(texts->items);
    memset(texts, 0, sizeof *texts);
}

static void talk(huddle_context *context, huddle_log_level level, const char *format,
                 va_list arguments) {
    char text[1024];
    vsnprintf(text, sizeof text, format, arguments);
    pthread_mutex_lock(&context->talking);
    if (level == HUDDLE_LOG_WARNING && context->warnings != NULL)
        (void)hd_texts_add(context->warnings, text);
    if (context->log != NULL)
        context->log(context->log_user, level, text);
    pthread_mutex_unlock(&context->talking);
}

void hd_warn(huddle_context *context, const char *format, ...) {
    if (context == NULL)
        return;
    va_list arguments;
    va_start(arguments, format);
    talk(context, HUDDLE_LOG_WARNING, format, arguments);
    va_end(arguments);
}

void hd_say(huddle_context *context, const char *format, ...) {
    if (context == NULL)
        return;
    va_list arguments;
    va_start(arguments, format);
    talk(context, HUDDLE_LOG_INFO, format, arguments);
    va_end(arguments);
}

huddle_status hd_check_cancel(huddle_context *context) {
    if (context != NULL && atomic_load_explicit(&context->cancelled, memory_order_relaxed))
        return hd_fail(HUDDLE_CANCELLED, "cancelled");
    return HUDDLE_OK;
}

huddle_status hd_progress(huddle_context *context, const char *stage, double done, double total) {
    if (context == NULL)
        return HUDDLE_OK;
    if (context->progress != NULL) {
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
