/* --help. */
#ifndef HUDDLE_CLI_HELP_H
#define HUDDLE_CLI_HELP_H

#include "cli/entries.h"

/* One entry. */
void print_entry(const cli_entry *entry);

/* The whole of `huddle help COMMAND`, or of `huddle help`. */
void print_command_help(const cli_command *command);
void print_general_help(FILE *file);

#endif
