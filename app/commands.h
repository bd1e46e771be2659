/* The commands of the tool, and the flags that several of them share. */
#ifndef HUDDLE_APP_COMMANDS_H
#define HUDDLE_APP_COMMANDS_H

#include "cli/command.h"

#include <stdint.h>

extern const cli_command cluster_command, path_command, refine_command, predict_command,
    score_command, experiment_command, paper_command, info_command, convert_command,
    generate_command, methods_command, engines_command, options_command, help_command, man_command,
    completion_command;

extern const cli_flag input_flags[];  /* of everything that reads DATA */
extern const cli_flag seeded_flags[]; /* --seed, where no method brings its own */
extern const cli_flag common_flags[]; /* --help, --version */
extern const cli_flag quiet_flags[];  /* the same, -q and -v */

/* The names of the engines of this build; ends with NULL. */
const char *const *engine_names(void);

#define ENGINE_FLAG                                                                                \
    {                                                                                              \
        "engine", 0, FLAG_CHOICE, "NAME",                                                          \
            "compute engine, one of those listed by huddle engines; NAME:OPTIONS if it takes "     \
            "options",                                                                             \
            .choices = engine_names, .takes_options = true, .default_text = "cpu"                  \
    }

/* --n-threads; text: what N counts. */
#define THREADS_FLAG(text)                                                                         \
    { "n-threads", 'j', FLAG_COUNT, "N", text, .min = 1, .max = INT32_MAX }

/* The description of DATA in the help of the commands that read it. */
extern const char data_text[];

#endif
