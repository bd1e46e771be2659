/* Flags of a command and options of methods as entries of one kind, for whoever writes them down:
 * --help, the man page, Markdown, shell completions. */
#ifndef HUDDLE_APP_ENTRIES_H
#define HUDDLE_APP_ENTRIES_H

#include "catalogue.h"
#include "command.h"

typedef struct app_entry {
    char group[256]; /* "Input", "Options of sc, ssc" */
    bool of_method;  /* an option of methods, not a flag of the command */
    char letter;     /* or 0 */
    char name[40];   /* without dashes */
    const char *value;
    const char *const *choices; /* or NULL; ends with NULL */
    flag_kind kind;
    bool repeats;
    char help[1024]; /* with what it takes and its default */
} app_entry;

/* Everything a command takes, group after group; freed by free(). */
app_entry *command_entries(const app_command *command, int *count);

/* One option as one method has it. */
void method_entry(const huddle_option *option, app_entry *out);

/* "-o, --output FILE", or "    --x NAME" to stand below it. */
void entry_names(const app_entry *entry, char *text, size_t size);

/* "Cluster a data set and tell how it went." */
void command_sentence(const app_command *command, char *text, size_t size);

#endif
