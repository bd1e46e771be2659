/* The texts of --help. */
#ifndef HUDDLE_CLI_HELP_H
#define HUDDLE_CLI_HELP_H

#include "cli/entries.h"

/* One option with its help, in two columns. */
void print_entry(const cli_entry *entry);

/* `huddle help COMMAND`, and `huddle help`. */
void print_command_help(const cli_command *command);
void print_general_help(FILE *file);

#endif
