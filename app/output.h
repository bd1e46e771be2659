/* Checks of output files before the work begins: a mistake in a name should not cost the result of
 * a long computation. Every function accepts NULL for an output that was not requested. */
#ifndef HUDDLE_APP_OUTPUT_H
#define HUDDLE_APP_OUTPUT_H

#include "cli/arguments.h"

/* EXIT_FAILED, after a message, if path is a folder, or cannot be written because its folder does
 * not exist or may not be changed. */
int output_check(const char *path);

/* The same for an output folder, which may exist already. */
int output_check_folder(const char *path);

/* EXIT_USAGE, after a message, if path is a file that the command reads. */
int output_check_not_input(const cli_arguments *arguments, const char *path);

/* EXIT_USAGE, after a message, if path does not end in one of the endings (".npy" ...; ends with
 * NULL). `what` names the content in the message: "labels". */
int output_check_ending(const char *path, const char *what, const char *const *endings);

/* EXIT_USAGE, after a message, if --format is given although `path` has an ending. */
int output_check_format(const cli_arguments *arguments, const char *path);

/* The formats of data on stdout. */
#define FORMAT_FLAG                                                                                \
    {                                                                                              \
        .name = "format", .kind = FLAG_CHOICE, .value = "NAME", .choices = stream_formats,         \
        .default_text = "csv",                                                                     \
        .help = "the format on stdout; that of a file is determined by its extension"              \
    }
const char *const *stream_formats(void);

/* The endings of files of labels and of data sets. */
extern const char *const label_endings[], *const data_endings[];

#endif
