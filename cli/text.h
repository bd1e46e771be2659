/* Text on a terminal: line breaks, widths, plurals. */
#ifndef HUDDLE_CLI_TEXT_H
#define HUDDLE_CLI_TEXT_H

#include "report/text.h"

#include <stdint.h>

/* Maximum width of --help and summaries, in columns. */
enum { PAGE_WIDTH = 90 };

/* Prints text to stdout in lines of at most PAGE_WIDTH columns, indented; the first line begins in
 * that column already. An empty line in the text stays one. */
void print_wrapped(const char *text, int indent);

/* Columns that a text in UTF-8 takes on a terminal. */
int text_width(const char *text);

/* "1 point", "3 points". */
const char *plural(int64_t count);

#endif
