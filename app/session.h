/* A computation of a command: its context of the library, configured by the flags, with messages
 * on stderr and cancellation by Ctrl-C. */
#ifndef HUDDLE_APP_SESSION_H
#define HUDDLE_APP_SESSION_H

#include "cli/arguments.h"
#include "cli/messages.h"

#include <huddle/base.h>
#include <jansson.h>

/* Makes a context with the threads and the engine of --n-threads and --engine, which shows its
 * progress on stderr unless -q is given, and which Ctrl-C cancels. There may be only one at a time.
 * *context is left as it is, NULL, if the exit status that is returned is not EXIT_DONE. */
int session_begin(const cli_arguments *arguments, huddle_context **context);
void session_end(huddle_context *context);

/* Appends warnings to this array from now on instead of printing them; NULL: print them again. */
void session_collect_warnings(json_t *warnings);

/* True after Ctrl-C. Commands then write no further output. */
bool session_cancelled(void);

/* The exit status after a call of the library. If it failed, prints why: its message, preceded by
 * `source` (a file name) unless that is NULL or the message begins with it. */
int call_result(huddle_status status, const char *source);

#endif
