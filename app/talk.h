/* What the tool says on stderr, how it is interrupted, and how it ends. */
#ifndef HUDDLE_APP_TALK_H
#define HUDDLE_APP_TALK_H

#include "arguments.h"

#include <huddle/base.h>
#include <jansson.h>

/* Print "huddle: " and the sentence, and give the exit status to leave with. */
int failed(const char *format, ...) __attribute__((format(printf, 1, 2)));
int usage_error(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Prints "huddle: " and the sentence unless -q was given. */
void note(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Says why a call of the library did not succeed: its sentence, which `about` (a file's name)
 * precedes unless that is NULL or the sentence begins with it. */
int failed_call(huddle_status status, const char *about);

/* Returns the pointer; leaves with a sentence if it is NULL. */
void *must(void *pointer);

/* A context with threads and engine as --n-threads and --engine say, whose progress is shown on
 * stderr, and which Ctrl-C cancels. NULL after a sentence, with *result the status to leave with.
 * Only one at a time. */
huddle_context *talk_begin(const app_arguments *arguments, int *result);
void talk_end(huddle_context *context);

/* From now on warnings go into this array instead of to stderr; NULL withdraws it. */
void talk_collect(json_t *warnings);

/* True once Ctrl-C was pressed; nothing should be written any more. */
bool talk_cancelled(void);

/* Shows that `done` of `total` units of a stage are finished, as the library's progress is. */
void talk_progress(const char *stage, double done, double total);

/* Takes the progress bar off the terminal, if there is one. */
void talk_clear(void);

/* Seconds on a clock that only goes forward. */
double talk_seconds(void);

/* Closes stdout. EXIT_FAILED, after a sentence, if something written there did not arrive. */
int close_output(void);

#endif
