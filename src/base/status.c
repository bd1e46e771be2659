/* Statuses and the text of the last error, one per thread: fits on different threads do not
 * overwrite each other's messages. */
#include "base/check.h"
#include "base/text.h"
#include "huddle/version.h"

#include <stdarg.h>
#include <stdio.h>

enum { TEXT_SIZE = 1024 };

static _Thread_local char last_error[TEXT_SIZE];

/* A status from outside, such as a wrapper in another language, may be out of range. */
const char *huddle_status_name(huddle_status status) {
    static const char *const names[] = {"ok",          "invalid", "no memory", "io",      "format",
                                        "unsupported", "numeric", "cancelled", "internal"};
    if ((unsigned)status >= sizeof names / sizeof *names)
        return "unknown";
    return names[status];
}

const char *huddle_stop_name(huddle_stop stop) {
    static const char *const names[] = {"converged", "exact", "max_iter", "stalled", "rounding"};
    if ((unsigned)stop >= sizeof names / sizeof *names)
        return "unknown";
    return names[stop];
}

const char *huddle_last_error(void) {
    return last_error;
}

const char *huddle_version(void) {
    return HUDDLE_VERSION;
}

huddle_status huddle_set_error(huddle_status status, const char *message) {
    return hd_fail(status, "%s", message);
}

/* Names and values come from files: a carriage return or an escape in them must not change what a
 * terminal shows of the message. Line feeds and tabs are the caller's. */
void hd_escape_controls(const char *from, char *to, size_t size) {
    size_t used = 0;
    for (; *from != '\0' && used + 5 < size; from++) {
        unsigned char c = (unsigned char)*from;
        if (c == '\r')
            used += (size_t)snprintf(to + used, size - used, "\\r");
        else if ((c < 32 && c != '\n' && c != '\t') || c == 127)
            used += (size_t)snprintf(to + used, size - used, "\\x%02x", c);
        else
            to[used++] = *from;
    }
    to[used] = '\0';
}

huddle_status(hd_fail)(huddle_status status, const char *format, ...) {
    /* Written to a copy first: an argument may be last_error itself, and source and destination of
     * vsnprintf() must not overlap. */
    char text[TEXT_SIZE];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    hd_escape_controls(text, last_error, sizeof last_error);
    return status;
}

/* Prepends a place, such as a file name, to the current message. The place gets at most half of the
 * space, so that the message itself is not lost. */
huddle_status(hd_fail_at)(huddle_status status, const char *format, ...) {
    char place[TEXT_SIZE / 2];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(place, sizeof place, format, arguments);
    va_end(arguments);
    return hd_fail(status, "%s: %s", place, last_error);
}
