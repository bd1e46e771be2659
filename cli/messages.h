/* Messages of the tool on stderr: errors, notes and progress; and failures of stdout. */
#ifndef HUDDLE_CLI_MESSAGES_H
#define HUDDLE_CLI_MESSAGES_H

#include "cli/command.h"

/* Print "huddle: " and the message, and return the exit status. */
#define failed(...)      print_error(EXIT_FAILED, __VA_ARGS__)
#define usage_error(...) print_error(EXIT_USAGE, __VA_ARGS__)
int print_error(int result, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* How much is printed beside errors: nothing (-q), notes and progress, or more (-v). */
typedef enum message_level { MESSAGES_QUIET, MESSAGES_NORMAL, MESSAGES_VERBOSE } message_level;
void messages_set_level(message_level level);

/* Print "huddle: " and the message unless messages are off; a detail only if more are wanted. */
#define print_note(...)   print_at(MESSAGES_NORMAL, __VA_ARGS__)
#define print_detail(...) print_at(MESSAGES_VERBOSE, __VA_ARGS__)
void print_at(message_level level, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Returns the pointer; if it is NULL, prints a message and ends the program. */
void *check_allocation(void *pointer);

/* Switches all messages off, errors too: for one of several processes that another speaks for. */
void messages_set_silent(bool silent);

/* The last message of failed() or usage_error(), printed or not; "" if there was none. */
const char *messages_last_error(void);

/* Shows that `done` of `total` units of a stage are finished: as a bar on a terminal, elsewhere as
 * a line every ten seconds. */
void show_progress(const char *stage, double done, double total);

/* Removes the progress bar from the terminal, if there is one. */
void clear_progress(void);

/* Whether there is one. Async-signal-safe. */
bool progress_is_shown(void);

/* Flushes and closes stdout. Returns EXIT_FAILED, after a message, if output was lost. */
int close_output(void);

#endif
