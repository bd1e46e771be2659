/* Files that appear complete or not at all: written beside their place, moved there at the end. */
#ifndef HUDDLE_SRC_IO_OUTPUT_H
#define HUDDLE_SRC_IO_OUTPUT_H

#include "huddle/base.h"

typedef struct hd_output {
    const char *path; /* as the caller wrote it, for sentences */
    char *target;     /* where it goes, links followed */
    char *temporary;  /* where it is meanwhile; NULL if it is written in place (a device, a pipe) */
    int descriptor;
    char *buffer;
    int64_t used;
} hd_output;

/* Begins an output; HUDDLE_IO, with the file's name, if the system refuses. A library that opens
 * files by name writes to output->temporary; `by_name` then refuses devices and pipes. */
huddle_status hd_output_begin(const char *path, bool by_name, hd_output *output);
huddle_status hd_output_write(hd_output *output, const void *bytes, int64_t size);

/* Moves it to its place if status is HUDDLE_OK, removes it otherwise; frees everything. Returns
 * status, or why the last step failed. Call it exactly once after hd_output_begin(), even if that
 * failed. */
huddle_status hd_output_end(hd_output *output, huddle_status status);

#endif
