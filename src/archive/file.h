/* An input file in memory. */
#ifndef HUDDLE_SRC_ARCHIVE_FILE_H
#define HUDDLE_SRC_ARCHIVE_FILE_H

#include "huddle/base.h"

/* Zero bytes after the end of every hd_file, so that text can be scanned eight bytes at a time, and
 * a number ends. */
enum { HD_FILE_PADDING = 8 };

typedef struct hd_file {
    const char *path; /* as the caller wrote it */
    const char *text; /* the content, followed by HD_FILE_PADDING zero bytes */
    int64_t size;     /* at least 1 */
    int descriptor;   /* open as long as the file is mapped; -1 if the bytes were copied */
} hd_file;

/* Opens a file or a pipe. HUDDLE_IO if it is a directory or a device, or if the system refuses,
 * HUDDLE_FORMAT if it is empty; messages do not contain the file's name. */
huddle_status hd_file_open(const char *path, hd_file *file);

/* Maps an open file a second time, for an owner that keeps it longer. The path is left out.
 * HUDDLE_IO if the file has become shorter; HUDDLE_UNSUPPORTED if its bytes were copied. */
huddle_status hd_file_map_again(const hd_file *file, hd_file *again);
void hd_file_close(hd_file *file);

/* Replaces the content of a file by `size` bytes, of which the file becomes the owner; there is
 * room for HD_FILE_PADDING behind them. */
void hd_file_replace(hd_file *file, char *bytes, int64_t size);

/* Reads from a descriptor at an offset until `size` bytes are there or the file ends; returns how
 * many there were, or -1 with errno. */
int64_t hd_file_read_at(int descriptor, void *to, int64_t size, int64_t offset);

#endif
