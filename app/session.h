/* A computation of a command: its context of the library, configured by the flags, with messages
 * on stderr and cancellation by Ctrl-C. */
#ifndef HUDDLE_APP_SESSION_H
#define HUDDLE_APP_SESSION_H

#include "cli/arguments.h"
#include "cli/messages.h"

#include <huddle/base.h>
#include <jansson.h>

/* A context with the threads and the engine of --n-threads and --engine, which shows its progress
 * on stderr unless -q is given, and which Ctrl-C cancels. Returns NULL after a message, with the
 * exit status in *result. There may be only one at a time. */
huddle_context *session_begin(const cli_arguments *arguments, int *result);
void session_end(huddle_context *context);

/* Appends warnings to this array from now on instead of printing them; NULL: print them again. */
void session_collect_warnings(json_t *warnings);

/* True after Ctrl-C. Commands then write no further output. */
bool session_cancelled(void);

/* Prints why a call of the library failed: its message, preceded by `source` (a file name) unless
 * that is NULL or the message begins with it. Returns EXIT_FAILED. */
int failed_call(huddle_status status, const char *source);

#endif
