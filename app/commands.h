/* The commands of the tool, one file each, and the flags that several of them share. */
#ifndef HUDDLE_APP_COMMANDS_H
#define HUDDLE_APP_COMMANDS_H

#include "cli/command.h"

extern const cli_command cluster_command, path_command, refine_command, predict_command,
    score_command, experiment_command, paper_command, info_command, convert_command,
    generate_command, methods_command, engines_command, options_command, help_command, man_command,
    completion_command;

extern const cli_flag input_flags[];  /* of everything that reads DATA */
extern const cli_flag seeded_flags[]; /* --seed, where no method brings its own */
extern const cli_flag common_flags[]; /* --help, --version */
extern const cli_flag quiet_flags[];  /* the same, -q and -v */

/* The description of DATA in the help of the commands that read it. */
extern const char data_text[];

#endif
