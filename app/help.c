/* huddle help: how to use the tool and its commands. */
#include "cli/documents.h"
#include "commands.h"

#include "cli/arguments.h"

/* A misspelt command is a usage error with a suggestion. */
static int run_help(const cli_arguments *arguments) {
    if (argument(arguments, "markdown") != NULL) {
        print_commands_markdown();
        return EXIT_DONE;
    }
    if (arguments->n_operands == 0) {
        print_general_help(stdout);
        return EXIT_DONE;
    }
    const cli_command *command = find_command(arguments->operands[0]);
    if (command == NULL)
        return EXIT_USAGE;
    print_command_help(command);
    return EXIT_DONE;
}

static const cli_flag help_flags[] = {
    {"markdown", 0, FLAG_SWITCH, NULL, "print all commands as a Markdown page"}, {0}};

const cli_command help_command = {
    .name = "help",
    .operands = "[COMMAND]",
    .max_operands = 1,
    .summary = "show the help of the tool or of a command",
    .words = command_names,
    .groups = {{"Options", help_flags}, {"Other options", common_flags}},
    .run = run_help};
