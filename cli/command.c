#include "cli/command.h"

#include "cli/messages.h"

#include <huddle/base.h>
#include <string.h>

/* Capacity of the list of names; the tool has 15 commands. */
enum { MAX_COMMANDS = 64 };

/* The shape that completions expect: a list of texts that ends with NULL. */
const char *const *command_names(void) {
    static const char *names[MAX_COMMANDS + 1];
    for (int i = 0; i < MAX_COMMANDS && commands[i] != NULL; i++)
        names[i] = commands[i]->name;
    return names;
}

/* There are few commands: a linear search also finds the nearest name for the message. */
const cli_command *find_command(const char *name) {
    const char *best = NULL;
    int distance = HUDDLE_SUGGEST_DISTANCE;
    for (const cli_command *const *entry = commands; *entry != NULL; entry++) {
        if (strcmp((*entry)->name, name) == 0)
            return *entry;
        huddle_suggest_name(name, (*entry)->name, &distance, &best);
    }
    if (best != NULL)
        (void)usage_error("no command named '%s'; did you mean '%s'?", name, best);
    else
        (void)usage_error("no command named '%s'; see huddle help", name);
    return NULL;
}
