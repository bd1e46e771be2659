#include "cli/command.h"

#include "cli/messages.h"

#include <string.h>

/* Capacity of the list of names; the tool has 15 commands. */
enum { MAX_COMMANDS = 64 };

const char *const *flag_choices(const cli_flag *flag) {
    return flag->choices == NULL ? flag->values : flag->choices();
}

const char *const *command_names(void) {
    static const char *names[MAX_COMMANDS + 1];
    for (int i = 0; i < MAX_COMMANDS && commands[i] != NULL; i++)
        names[i] = commands[i]->name;
    return names;
}

/* Lists of names are short: a linear search also finds the nearest one for the message. */
int find_name(const char *what, const char *name, const char *const *names, const char *help) {
    const char *best = NULL;
    int distance = HUDDLE_SUGGEST_DISTANCE;
    for (int i = 0; names[i] != NULL; i++) {
        if (strcmp(names[i], name) == 0)
            return i;
        huddle_suggest_name(name, names[i], &distance, &best);
    }
    if (best != NULL)
        (void)usage_error("no %s named '%s'; did you mean '%s'?", what, name, best);
    else
        (void)usage_error("no %s named '%s'; see huddle %s", what, name, help);
    return -1;
}

const cli_command *find_command(const char *name) {
    int found = find_name("command", name, command_names(), "help");
    return found < 0 ? NULL : commands[found];
}
