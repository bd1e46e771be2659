/* Output files that appear complete or not at all: they are written to a temporary file beside
 * their final place and renamed when complete. */
#ifndef HUDDLE_SRC_ARCHIVE_OUTPUT_H
#define HUDDLE_SRC_ARCHIVE_OUTPUT_H

#include "huddle/base.h"

typedef struct hd_output {
    const char *path; /* as the caller wrote it, for messages */
    char *target;     /* the final place, links resolved */
    char *temporary;  /* the temporary file; NULL if written in place (a device or a pipe) */
    int descriptor;
    int mode;  /* of the file that is replaced, or -1 */
    int place; /* in the list of outputs in progress, or -1 */
    char *buffer;
    int64_t used;
} hd_output;

/* Opens an output file; HUDDLE_IO, with the file's name, if the system refuses. With
 * `regular_only`, devices and pipes are refused: for formats that are written by a library which
 * needs the descriptor of a file, or that go back to patch what they have written. */
huddle_status hd_output_begin(const char *path, bool regular_only, hd_output *output);
huddle_status hd_output_write(hd_output *output, const void *bytes, int64_t size);

/* Overwrites `size` bytes at `offset`, which must have been written before. */
huddle_status hd_output_patch(hd_output *output, int64_t offset, const void *bytes, int64_t size);

/* Gives the file its final size before all of it is written, with hd_output_patch(). */
huddle_status hd_output_extend(hd_output *output, int64_t size);

/* Several processes may write to one output: the one that has begun it gives the others the name of
 * its temporary file, when it has extended it to that size, and ends it when they have left. They
 * join and patch it. False, with nothing to leave, if a process does not see such a file: its file
 * system is another. */
bool hd_output_join(const char *path, const char *temporary, int64_t size, hd_output *output);
huddle_status hd_output_leave(hd_output *output, huddle_status status);

/* Renames the file to its final place if status is HUDDLE_OK, removes it otherwise; frees
 * everything. Returns status, or why the last step failed. Call it exactly once after
 * hd_output_begin(), even if that failed. */
huddle_status hd_output_end(hd_output *output, huddle_status status);

/* Writes all bytes to a descriptor, at the offset, or where it is if that is negative; false with
 * errno if the system refuses. */
bool hd_output_write_all(int descriptor, const void *bytes, int64_t size, int64_t offset);

#endif
