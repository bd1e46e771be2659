/* A file to be read, in memory, and small questions about names of files. */
#ifndef HUDDLE_SRC_IO_FILE_H
#define HUDDLE_SRC_IO_FILE_H

#include "huddle/base.h"

typedef struct hd_file {
    const char *path; /* as the caller wrote it */
    const char *text; /* the bytes, and room behind them that may be read: see number.h */
    int64_t size;     /* at least 1 */
    int descriptor;   /* open as long as this is; -1 if the bytes were read */
} hd_file;

/* Opens a file that is not a directory. HUDDLE_IO if the system refuses, HUDDLE_FORMAT if it is
 * empty; sentences do not name the file. */
huddle_status hd_file_open(const char *path, hd_file *file);
void hd_file_close(hd_file *file);

/* True if path ends with a dot and that extension, in any case. */
bool hd_has_extension(const char *path, const char *extension);

/* Compares without regard to the case of ASCII letters. */
bool hd_same_word(const char *a, const char *b);

/* A copy of the first `length` bytes of text, or NULL. */
char *hd_copy_part(const char *text, int64_t length);

/* Two texts, one after the other, in memory of its own, or NULL. */
char *hd_join_text(const char *first, const char *second);

#endif
