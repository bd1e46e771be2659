/* Documents that are generated from the tables of commands and options, printed to stdout. */
#ifndef HUDDLE_CLI_DOCUMENTS_H
#define HUDDLE_CLI_DOCUMENTS_H

#include "cli/entries.h"

/* One option with its help, in two columns. */
void print_entry(const cli_entry *entry);

/* `huddle help COMMAND`, and `huddle help`. */
void print_command_help(const cli_command *command);
void print_general_help(FILE *file);

/* The manual page, in roff. */
void print_man_page(void);

/* Markdown pages: all commands with their flags; all methods with their options. */
void print_commands_markdown(void);
void print_options_markdown(void);

/* The completion script for a shell; false if there is none for it. */
bool print_completion(const char *shell);

/* The shells that print_completion() knows; ends with NULL. */
const char *const *shell_names(void);

#endif
