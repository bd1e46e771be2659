/* Error handling. A function that owns something sets everything it owns to NULL first, uses these
 * macros, and frees at one label `done`, which is reached on success too. The macros expect a
 * variable `status` and that label. */
#ifndef HUDDLE_SRC_CHECK_H
#define HUDDLE_SRC_CHECK_H

#include "base/memory.h"
#include "huddle/base.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Stores the message for huddle_last_error() and returns the status. */
huddle_status hd_fail(huddle_status status, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Puts "NAME: " before the message of a failure, for a caller that knows where it happened. */
huddle_status hd_fail_at(huddle_status status, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

#ifdef __clang_analyzer__
/* Shows the analyser that the returned status is the argument. */
#define hd_fail(code, ...)    ((void)(hd_fail)((code), __VA_ARGS__), (code))
#define hd_fail_at(code, ...) ((void)(hd_fail_at)((code), __VA_ARGS__), (code))
#endif

/* Goes to done unless the call returns HUDDLE_OK. */
#define TRY(call)                                                                                  \
    do {                                                                                           \
        status = (call);                                                                           \
        if (status != HUDDLE_OK)                                                                   \
            goto done;                                                                             \
    } while (0)

/* Stores a message and goes to done. */
#define FAIL(code, ...)                                                                            \
    do {                                                                                           \
        status = (code);                                                                           \
        (void)hd_fail(status, __VA_ARGS__);                                                        \
        goto done;                                                                                 \
    } while (0)

/* Allocates an array of count elements, or goes to done. ALLOC_ZERO also clears it. */
#define ALLOC_BY(allocate, pointer, count)                                                         \
    do {                                                                                           \
        (pointer) = allocate((int64_t)(count), sizeof *(pointer));                                 \
        if ((pointer) == NULL)                                                                     \
            FAIL(HUDDLE_NO_MEMORY, "no memory for %lld elements of %zu bytes", (long long)(count), \
                 sizeof *(pointer));                                                               \
    } while (0)
#define ALLOC(pointer, count)      ALLOC_BY(hd_alloc, pointer, count)
#define ALLOC_ZERO(pointer, count) ALLOC_BY(hd_alloc_zero, pointer, count)

static inline void hd_free_all(void *const *pointers, size_t count) {
    for (size_t k = 0; k < count; k++)
        huddle_free(pointers[k]);
}

/* huddle_free() of each of these. */
#define FREE(...)                                                                                  \
    hd_free_all((void *const[]){__VA_ARGS__}, sizeof(void *[]){__VA_ARGS__} / sizeof(void *))

#ifdef __cplusplus
}
#endif

#endif
