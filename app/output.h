/* Checks of output files before the work begins: a mistake in a name should not cost the result of
 * a long computation. */
#ifndef HUDDLE_APP_OUTPUT_H
#define HUDDLE_APP_OUTPUT_H

#include "cli/arguments.h"

/* All files and folders that the command line names as outputs. EXIT_USAGE, after a message, if one
 * of them is a file that the command reads, or if two are the same file; EXIT_FAILED if one cannot
 * be written because its folder does not exist or may not be changed. `folder` is where the command
 * writes if the flag of its folder is not given; NULL: nowhere. */
int outputs_check(const cli_arguments *arguments, const char *folder);

/* EXIT_USAGE, after a message, if path does not end in one of the endings (".npy" ...; ends with
 * NULL). `what` names the content in the message: "labels". path may be NULL: no such output. */
int output_check_ending(const char *path, const char *what, const char *const *endings);

/* The endings of files of labels. */
extern const char *const label_endings[];

#endif
