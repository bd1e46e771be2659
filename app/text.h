/* Small things about text. */
#ifndef HUDDLE_APP_TEXT_H
#define HUDDLE_APP_TEXT_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* Columns that --help and summaries keep to. */
enum { PAGE_WIDTH = 90 };

/* Prints text in lines of at most PAGE_WIDTH columns, all but the first indented. `column` is
 * where the first line begins. An empty line in the text stays one. */
void print_wrapped(FILE *file, const char *text, int indent, int column);

/* Adds to a text in an array of that size, as far as it fits. */
void append_text(char *text, size_t size, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Columns that a text in UTF-8 takes on a terminal. */
int text_width(const char *text);

/* "1 point", "3 points". */
const char *plural(int64_t count);

/* A share in per cent, rounded to the one decimal that tables show (halves away from zero). Every
 * table uses it, so that a number reads the same everywhere, and differences are those of the
 * numbers shown. */
double shown_percent(double share);

#endif
