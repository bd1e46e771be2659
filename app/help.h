/* --help. */
#ifndef HUDDLE_APP_HELP_H
#define HUDDLE_APP_HELP_H

#include "entries.h"

/* One entry. */
void print_entry(const app_entry *entry);

/* The whole of `huddle help COMMAND`, or of `huddle help`. */
void print_command_help(const app_command *command);
void print_general_help(FILE *file);

#endif
