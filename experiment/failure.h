/* How experiments report failures: a status, with the message in huddle_last_error(). */
#ifndef HUDDLE_EXPERIMENT_FAILURE_H
#define HUDDLE_EXPERIMENT_FAILURE_H

#include <huddle/base.h>

/* Sets the message of huddle_last_error() and returns the status. */
huddle_status experiment_fail(huddle_status status, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Puts "about: " before the message of a failed call, unless the message begins with it or the call
 * was cancelled. Returns the status. HUDDLE_OK is returned as it is. */
huddle_status experiment_fail_about(huddle_status status, const char *about);

/* HUDDLE_NO_MEMORY with its message. */
huddle_status experiment_no_memory(void);

/* Goes to `done` if the call failed. Expects a variable `status` and that label. */
#define TRY(call)                                                                                  \
    do {                                                                                           \
        status = (call);                                                                           \
        if (status != HUDDLE_OK)                                                                   \
            goto done;                                                                             \
    } while (0)

/* Goes to `done` with HUDDLE_NO_MEMORY if the pointer is NULL. */
#define TRY_POINTER(pointer)                                                                       \
    do {                                                                                           \
        if ((pointer) == NULL) {                                                                   \
            status = experiment_no_memory();                                                       \
            goto done;                                                                             \
        }                                                                                          \
    } while (0)

#endif
