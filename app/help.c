/* huddle help, man and completion: the documents that are generated from the tables of commands. */
#include "cli/arguments.h"
#include "cli/documents.h"
#include "cli/messages.h"
#include "commands.h"

static int run_help(const cli_arguments *arguments) {
    const cli_command *command = NULL;
    if (argument(arguments, "markdown") != NULL)
        print_commands_markdown();
    else if (arguments->n_operands == 0)
        print_general_help(stdout);
    else if ((command = find_command(arguments->operands[0])) != NULL)
        print_command_help(command);
    else
        return EXIT_USAGE;
    return EXIT_DONE;
}

static const cli_flag help_flags[] = {
    {"markdown", 0, FLAG_SWITCH, NULL, "print all commands as a Markdown page"}, {0}};

const cli_command help_command = {
    {"help", "[COMMAND]", 0, 1, "show the help of the tool or of a command", run_help},
    .words = command_names,
    .groups = {{"Options", help_flags}, {"Other options", common_flags}}};

static int run_man(const cli_arguments *arguments) {
    (void)arguments;
    print_man_page();
    return EXIT_DONE;
}

const cli_command man_command = {
    {"man", "", 0, 0, "print the manual page (view it with man -l -)", run_man},
    .groups = {{"Options", common_flags}}};

/* print_completion() has the list of shells, so that the check and the scripts cannot differ. */
static int run_completion(const cli_arguments *arguments) {
    const char *shell = arguments->operands[0];
    if (print_completion(shell))
        return EXIT_DONE;
    return usage_error("no shell named '%s'; choose bash, zsh or fish", shell);
}

const cli_command completion_command = {
    {"completion", "SHELL", 1, 1, "print completions for bash, zsh or fish", run_completion},
    .words = shell_names,
    .groups = {{"Options", common_flags}},
    .examples = {"huddle completion bash > ~/.local/share/bash-completion/completions/huddle"}};
