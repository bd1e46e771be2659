/* Text helpers of reports, experiments and the tool. */
#ifndef HUDDLE_REPORT_TEXT_H
#define HUDDLE_REPORT_TEXT_H

#include <stdbool.h>
#include <stddef.h>

/* Appends to a string in an array of this size; what does not fit is cut off. */
void append_text(char *text, size_t size, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Whether a name is in a list that ends with NULL. */
bool is_listed(const char *name, const char *const *names);

/* A fraction in per cent, rounded to the one decimal that tables show (halves away from zero). All
 * tables use it: a number then reads the same everywhere, and a difference is that of the two
 * numbers shown. */
double shown_percent(double fraction);

#endif
