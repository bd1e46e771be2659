/* What reports, experiments and the tool share: texts, messages, clocks. */
#ifndef HUDDLE_REPORT_TEXT_H
#define HUDDLE_REPORT_TEXT_H

#include <huddle/base.h>
#include <stdbool.h>
#include <stdio.h>
#include <time.h>

/* Appends to a string in an array of this size; what does not fit is cut off. */
void append_text(char *text, size_t size, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* FOLDER/NAME, freed by free(); NULL without memory. */
char *join_path(const char *folder, const char *name);

/* The name of a file without its folders; all of a path that ends with a slash. */
const char *base_name(const char *path);

/* The length of such a name without its ending; a dot at the beginning is that of a hidden file. */
int stem_length(const char *name);

/* Writes text for the inside of an element of HTML or SVG. */
void write_escaped(FILE *out, const char *text);

/* Seconds. CLOCK_MONOTONIC for durations: a clock that is set during a run of hours must not make
 * them negative. */
double read_clock(clockid_t clock);

/* Sets the message of huddle_last_error() and returns the status. */
huddle_status set_error(huddle_status status, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Goes to `done` if the call failed. Expects a variable `status` and that label. */
#define TRY(call)                                                                                  \
    do {                                                                                           \
        status = (call);                                                                           \
        if (status != HUDDLE_OK)                                                                   \
            goto done;                                                                             \
    } while (0)

/* Whether a name is in a list that ends with NULL. */
bool is_listed(const char *name, const char *const *names);

/* A fraction in per cent, rounded to the one decimal that tables show (halves away from zero). All
 * tables use it: a number then reads the same everywhere, and a difference is that of the two
 * numbers shown. */
double shown_percent(double fraction);

#endif
