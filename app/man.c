/* huddle man: the manual page. */
#include "cli/arguments.h"
#include "cli/documents.h"
#include "commands.h"

static int run_man(const cli_arguments *arguments) {
    (void)arguments;
    print_man_page();
    return EXIT_DONE;
}

const cli_command man_command = {.name = "man",
                                 .operands = "",
                                 .summary = "print the manual page (view it with man -l -)",
                                 .groups = {{"Options", common_flags}},
                                 .run = run_man};
