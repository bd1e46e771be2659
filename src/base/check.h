/* The one shape of a function that owns something: everything owned is NULL first, these macros
 * in between, one label `done` that frees, reached on success too. They expect a variable
 * `status` and that label. */
#ifndef HUDDLE_SRC_CHECK_H
#define HUDDLE_SRC_CHECK_H

#include "base/memory.h"
#include "huddle/base.h"

/* Records the sentence of a failure for huddle_last_error() and returns the status. */
huddle_status hd_fail(huddle_status status, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Continues a failure with what only the caller knows: "NAME: " goes before the sentence. */
huddle_status hd_fail_at(huddle_status status, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

#ifdef __clang_analyzer__
/* Shows the analyser that the status which comes back is the one that was handed in. */
#define hd_fail(code, ...)    ((void)(hd_fail)((code), __VA_ARGS__), (code))
#define hd_fail_at(code, ...) ((void)(hd_fail_at)((code), __VA_ARGS__), (code))
#endif

/* Goes to done if the call did not succeed. */
#define TRY(call)                                                                                  \
    do {                                                                                           \
        status = (call);                                                                           \
        if (status != HUDDLE_OK)                                                                   \
            goto done;                                                                             \
    } while (0)

/* Records a failure and goes to done. */
#define FAIL(code, ...)                                                                            \
    do {                                                                                           \
        status = (code);                                                                           \
        (void)hd_fail(status, __VA_ARGS__);                                                        \
        goto done;                                                                                 \
    } while (0)

/* Makes pointer an array of count elements, or goes to done. ALLOC_ZERO clears it. */
#define ALLOC(pointer, count)                                                                      \
    do {                                                                                           \
        (pointer) = hd_alloc((int64_t)(count), sizeof *(pointer));                                 \
        if ((pointer) == NULL)                                                                     \
            FAIL(HUDDLE_NO_MEMORY, "no memory for %lld elements of %zu bytes", (long long)(count), \
                 sizeof *(pointer));                                                               \
    } while (0)

#define ALLOC_ZERO(pointer, count)                                                                 \
    do {                                                                                           \
        (pointer) = hd_alloc_zero((int64_t)(count), sizeof *(pointer));                            \
        if ((pointer) == NULL)                                                                     \
            FAIL(HUDDLE_NO_MEMORY, "no memory for %lld elements of %zu bytes", (long long)(count), \
                 sizeof *(pointer));                                                               \
    } while (0)

#endif
