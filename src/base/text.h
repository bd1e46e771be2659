/* Texts and file names. The public half is in huddle/base.h. */
#ifndef HUDDLE_SRC_TEXT_H
#define HUDDLE_SRC_TEXT_H

#include "huddle/base.h"

#include <locale.h>

/* Make the calling thread read and print numbers with a decimal point, and restore its locale. */
locale_t hd_enter_c_locale(void);
void hd_leave_c_locale(locale_t before);

/* True if path ends with a dot and that extension, in upper or lower case. */
bool hd_has_extension(const char *path, const char *extension);

/* Compares two texts, ignoring the case of ASCII letters. */
bool hd_same_word(const char *a, const char *b);

/* Copies a text with \r and \x1b for a carriage return, an escape and other control characters but
 * line feeds and tabs; what does not fit is cut off. */
void hd_escape_controls(const char *from, char *to, size_t size);

/* The number of bytes, at most `limit`, of a text of `length` bytes that end with a whole character
 * of UTF-8. */
int hd_cut_text(const char *text, int64_t length, int limit);

/* A copy of the first `length` bytes of text, or NULL. */
char *hd_copy_part(const char *text, int64_t length);

/* The concatenation of two texts, or NULL. */
char *hd_join_text(const char *first, const char *second);

/* Writes a character as UTF-8, at most four bytes; returns where they end. */
char *hd_put_utf8(uint32_t c, char *to);

#endif
