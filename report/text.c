#include "report/text.h"

#include <math.h>
#include <stdarg.h>
#include <string.h>

/* vsnprintf() cuts what does not fit, and always ends the text. */
void append_text(char *text, size_t size, const char *format, ...) {
    size_t length = strlen(text);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text + length, size - length, format, arguments);
    va_end(arguments);
}

/* '>' needs no escape there. */
void write_escaped(FILE *out, const char *text) {
    for (; *text != '\0'; text++)
        if (*text == '<')
            fputs("&lt;", out);
        else if (*text == '&')
            fputs("&amp;", out);
        else
            fputc(*text, out);
}

/* Messages contain file names; longer ones are cut off. */
huddle_status set_error(huddle_status status, const char *format, ...) {
    char message[1024];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    return huddle_set_error(status, message);
}

bool is_listed(const char *name, const char *const *names) {
    while (*names != NULL && strcmp(*names, name) != 0)
        names++;
    return *names != NULL;
}

/* In floating point 1000 * fraction may lie just below a half; the result is the same in every
 * table, which is what matters. */
double shown_percent(double fraction) {
    return round(1000 * fraction) / 10;
}
