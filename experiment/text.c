#include "experiment/text.h"

#include <huddle/base.h>

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void append_text(char *text, size_t size, const char *format, ...) {
    size_t length = strlen(text);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text + length, size - length, format, arguments);
    va_end(arguments);
}

void nearer(const char *word, const char *candidate, int *distance, const char **best) {
    int found = huddle_edit_distance(word, candidate);
    /* The beginning of a word is near to it, however long the rest. */
    if (strlen(word) >= NEAR && strncmp(word, candidate, strlen(word)) == 0)
        found = found < NEAR - 1 ? found : NEAR - 1;
    /* A two-letter word is at most two edits from any other, which would suggest it for anything.
     */
    if (found < *distance && found < (int)strlen(candidate)) {
        *distance = found;
        *best = candidate;
    }
}

double shown_percent(double fraction) {
    return round(1000 * fraction) / 10;
}
