#include "experiment/experiment.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* Messages contain file names; longer ones are cut off. */
enum { MESSAGE_SIZE = 1024 };

huddle_status experiment_fail(huddle_status status, const char *format, ...) {
    char message[MESSAGE_SIZE];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    return huddle_set_error(status, message);
}

/* Readers of the library begin their messages with the file name, other functions do not: the name
 * is added where it is missing. Cancellation is not about a file. */
huddle_status experiment_fail_about(huddle_status status, const char *about) {
    const char *message = huddle_last_error();
    if (status == HUDDLE_OK || status == HUDDLE_CANCELLED ||
        strncmp(message, about, strlen(about)) == 0)
        return status;
    return experiment_fail(status, "%s: %s", about, message);
}

huddle_status experiment_no_memory(void) {
    return huddle_set_error(HUDDLE_NO_MEMORY, "out of memory");
}
