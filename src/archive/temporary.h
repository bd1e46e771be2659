/* Temporary files beside the outputs that they become. */
#ifndef HUDDLE_SRC_ARCHIVE_TEMPORARY_H
#define HUDDLE_SRC_ARCHIVE_TEMPORARY_H

#include "huddle/base.h"

#include <sys/types.h>

/* Creates a temporary file for an output and removes those that processes which no longer live
 * have left beside it. Returns its descriptor, whose lock shows other processes that the file is
 * in use, and its name; -1 with errno if that fails. The file is removed or renamed before the
 * descriptor is closed. */
int hd_output_create_temporary(const char *target, mode_t mode, char **name);

/* Lists the name for huddle_file_abandon_all() until it is unlisted; the place in the list, or
 * -1. */
int hd_output_list(const char *name);
void hd_output_unlist(int place);

#endif
