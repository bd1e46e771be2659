/* The tool: finds the command, parses its arguments and runs it. */
#include "cli/arguments.h"
#include "cli/catalogue.h"
#include "cli/help.h"
#include "cli/text.h"
#include "commands.h"
#include "processes.h"
#include "session.h"
#include "streams.h"

#include <huddle/base.h>
#include <stdlib.h>
#include <string.h>

/* The order of --help: the work first, then data, then information about the tool. */
const cli_command *const commands[] = {&cluster_command,
                                       &path_command,
                                       &refine_command,
                                       &predict_command,
                                       &score_command,
                                       &experiment_command,
                                       &paper_command,
                                       &info_command,
                                       &convert_command,
                                       &generate_command,
                                       &methods_command,
                                       &engines_command,
                                       &options_command,
                                       &help_command,
                                       &man_command,
                                       &completion_command,
                                       NULL};

/* What a command prints if it is not run. --help and --version win over missing operands: see
 * arguments_parse(). */
static bool print_about(const cli_arguments *arguments) {
    if (argument(arguments, "help") != NULL)
        print_command_help(arguments->command);
    else if (argument(arguments, "version") != NULL)
        printf("huddle %s\n", huddle_version());
    else
        return false;
    return true;
}

/* Help that was asked for is printed to stdout and is a success; help after a mistake is
 * printed to stderr. */
static int run_command(int count, char **words) {
    /* Without a command the help is an error message. */
    if (count < 2) {
        print_general_help(stderr);
        return EXIT_USAGE;
    }
    if (strcmp(words[1], "--help") == 0 || strcmp(words[1], "-h") == 0) {
        print_general_help(stdout);
        return EXIT_DONE;
    }
    if (strcmp(words[1], "--version") == 0 || strcmp(words[1], "-V") == 0) {
        printf("huddle %s\n", huddle_version());
        return EXIT_DONE;
    }
    if (words[1][0] == '-')
        return usage_error("a command must precede the options; see huddle help");
    const cli_command *command = find_command(words[1]);
    if (command == NULL)
        return EXIT_USAGE;
    cli_arguments arguments = {0};
    int result = arguments_parse(command, count - 2, words + 2, &arguments);
    if (result == EXIT_DONE && !print_about(&arguments)) {
        result = streams_begin(&arguments);
        if (result == EXIT_DONE)
            result = command->run(&arguments);
        result = streams_end(result);
    }
    arguments_free(&arguments);
    return result;
}

/* Closing stdout is part of the result: output lost to a full disk must not exit with 0. */
int main(int count, char **words) {
    streams_reserve();
    processes_begin(count, words);
    int result = run_command(count, words);
    catalogue_free();
    /* Lost output is a failure even if the command succeeded. */
    int closed = close_output();
    return result != EXIT_DONE ? result : closed;
}
