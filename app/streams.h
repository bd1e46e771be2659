/* Standard input and output in the place of files: "-" on the command line.
 *
 * "-" as a file to read becomes /dev/stdin, so that messages name it. What cannot be read twice (a
 * pipe, a terminal) is first copied to a temporary file that takes the place of descriptor 0.
 *
 * "-" as a file to write becomes a temporary file, which is copied to stdout when the command has
 * succeeded: stdout gets everything or nothing, in any format. Whatever else a command prints goes
 * to stderr, or nowhere with -q. */
#ifndef HUDDLE_APP_STREAMS_H
#define HUDDLE_APP_STREAMS_H

#include "cli/arguments.h"

/* Opens descriptors 0 to 2 where the parent process has closed them, such that using them fails:
 * a file that is opened later must not become stdout. */
void streams_reserve(void);

/* Replaces every "-"; the ending of the file for stdout shows the format. EXIT_USAGE, after a
 * message, if one stream is to serve two purposes. */
int streams_begin(cli_arguments *arguments);

/* Before the first file is read: copies stdin if it is an input and cannot be read twice. */
int streams_read_input(void);

/* The path for messages: "standard output" for the file that stands for it. */
const char *streams_shown(const char *path);

/* The value as on the command line: "-" for the files that stand for stdin and stdout. */
const char *streams_given(const char *value);

/* Copies the output to stdout if result is EXIT_DONE, and removes the temporary files. Returns
 * result, or EXIT_FAILED after a message. */
int streams_end(int result);

#endif
