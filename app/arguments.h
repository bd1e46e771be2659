/* The command line, taken apart by a command's tables. */
#ifndef HUDDLE_APP_ARGUMENTS_H
#define HUDDLE_APP_ARGUMENTS_H

#include "command.h"

#include <stdint.h>

/* One flag as given. */
typedef struct app_setting {
    const app_flag *flag; /* NULL for an option of a method */
    const char *option;   /* "n_clusters", for an option of a method */
    const char *value;    /* "" for a switch */
} app_setting;

typedef struct app_arguments {
    const app_command *command;
    const char **operands;
    int n_operands;
    app_setting *settings; /* in the order given */
    int n_settings;
} app_arguments;

/* Reads the words after the command's name. EXIT_USAGE, after saying why, if they do not fit. */
int arguments_parse(const app_command *command, int count, char **words, app_arguments *arguments);
void arguments_free(app_arguments *arguments);

/* The last value given for a flag ("per-class") or for an option of a method ("n_clusters");
 * NULL if it was not given. */
const char *argument(const app_arguments *arguments, const char *name);

/* The same as a number, or the default. The parser has checked it. */
int64_t argument_count(const app_arguments *arguments, const char *name, int64_t default_value);
double argument_number(const app_arguments *arguments, const char *name, double default_value);

/* All values given for a flag, in order; ends with NULL; freed by free(). */
const char **argument_all(const app_arguments *arguments, const char *name, int64_t *count);

#endif
