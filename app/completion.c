/* huddle completion: scripts for the completion of command lines. */
#include "cli/arguments.h"
#include "cli/documents.h"
#include "cli/messages.h"

#include "commands.h"
#include <stddef.h>

/* print_completion() has the list of shells, so that the check and the scripts cannot differ. */
static int run_completion(const cli_arguments *arguments) {
    const char *shell = arguments->operands[0];
    if (print_completion(shell))
        return EXIT_DONE;
    return usage_error("no shell named '%s'; choose bash, zsh or fish", shell);
}

const cli_command completion_command = {
    .name = "completion",
    .operands = "SHELL",
    .min_operands = 1,
    .max_operands = 1,
    .summary = "print completions for bash, zsh or fish",
    .words = shell_names,
    .groups = {{"Options", common_flags}},
    .examples = {"huddle completion bash > ~/.local/share/bash-completion/completions/huddle"},
    .run = run_completion};
