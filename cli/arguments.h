/* The parser of command lines, driven by the tables of a command. */
#ifndef HUDDLE_CLI_ARGUMENTS_H
#define HUDDLE_CLI_ARGUMENTS_H

#include "cli/command.h"

#include <stdint.h>

/* A flag or option of the command line. */
typedef struct cli_setting {
    const cli_flag *flag; /* NULL for an option of a method or stage */
    const char *option;   /* "n_clusters", for an option of a method or stage */
    const char *value;    /* "" for a switch */
} cli_setting;

typedef struct cli_arguments {
    const cli_command *command;
    const char **operands;
    int n_operands;
    cli_setting *settings; /* in the order given */
    int n_settings;
} cli_arguments;

/* Parses the words after the command's name. EXIT_USAGE, after a message, if they are not valid. */
int arguments_parse(const cli_command *command, int count, char **words, cli_arguments *arguments);
void arguments_free(cli_arguments *arguments);

/* Adds a flag of the command as if it were the last of the command line; at most one. */
void arguments_add(cli_arguments *arguments, const char *name, const char *value);

/* Sets those of the options given that a stage has, by its table, which checks the values and words
 * the messages. EXIT_DONE or EXIT_USAGE. */
int arguments_set_options(const cli_arguments *arguments, const huddle_option *table,
                          void *options);

/* The last value given for a flag ("per-class") or for an option ("n_clusters");
 * NULL if it was not given. */
const char *argument(const cli_arguments *arguments, const char *name);

/* The first of these names that was given, or NULL; the list ends with NULL. */
const char *argument_any(const cli_arguments *arguments, const char *const *names);

/* The same as argument() as a number, or the default. The parser has checked the value. */
int64_t argument_count(const cli_arguments *arguments, const char *name, int64_t default_value);
double argument_number(const cli_arguments *arguments, const char *name, double default_value);

/* All values given for a flag, in order; ends with NULL; freed by free(). */
const char **argument_all(const cli_arguments *arguments, const char *name, int64_t *count);

#endif
