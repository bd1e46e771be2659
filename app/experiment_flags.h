/* Flags that huddle experiment and huddle paper share. */
#ifndef HUDDLE_APP_EXPERIMENT_FLAGS_H
#define HUDDLE_APP_EXPERIMENT_FLAGS_H

#include "cli/command.h"

extern const cli_flag experiment_flags[]; /* --n-threads, --alone, --engine */

#endif
