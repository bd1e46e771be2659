/* Documents that are generated from the tables of commands and options, printed to stdout: --help,
 * the manual page, Markdown and the shell completions. Flags of a command and options of methods
 * are entries of one type for all of them. */
#ifndef HUDDLE_CLI_DOCUMENTS_H
#define HUDDLE_CLI_DOCUMENTS_H

#include "cli/catalogue.h"
#include "cli/command.h"

typedef struct cli_entry {
    char group[256];            /* "Input", "Options of sc, ssc" */
    bool of_method;             /* an option of methods, not a flag of the command */
    char letter;                /* of the short form, or 0 */
    char name[40];              /* without dashes */
    const char *value;          /* placeholder of the value, such as FILE; NULL for a switch */
    const char *const *choices; /* or NULL; ends with NULL */
    flag_kind kind;
    bool repeats;
    char help[1024]; /* with the values it takes and its default */
} cli_entry;

/* All entries of a command, group by group; ends with an empty name. Valid until the next call. */
const cli_entry *command_entries(const cli_command *command);

/* True for --help and --version, which all commands have. */
bool entry_is_general(const cli_entry *entry);

/* The entry of an option as one method defines it. */
void method_entry(const huddle_option *option, cli_entry *out);

/* "-o, --output FILE", or "    --x NAME", aligned with it. */
void entry_names(const cli_entry *entry, char *text, size_t size);

/* The command's summary as a sentence: "Convert a data set to another format." */
void command_sentence(const cli_command *command, char *text, size_t size);

/* One option with its help, in two columns. */
void print_entry(const cli_entry *entry);

/* `huddle help COMMAND`, and `huddle help`. */
void print_command_help(const cli_command *command);
void print_general_help(FILE *file);

/* The manual page, in roff. */
void print_man_page(void);

/* Markdown pages: all commands with their flags; all methods with their options. */
void print_commands_markdown(void);
void print_options_markdown(void);

/* The completion script for a shell; false if there is none for it. */
bool print_completion(const char *shell);

/* The shells that print_completion() knows; ends with NULL. */
const char *const *shell_names(void);

#endif
