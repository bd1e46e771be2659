#include "cli/documents.h"

#include "cli/messages.h"
#include "cli/text.h"

#include <stdlib.h>
#include <string.h>

/* The entries of the command that was asked for last. */
static struct {
    cli_entry *entries;
    int count;
} list;

/* The values and the default are appended to the help, so that every document shows them
 * alike. */
static void make_flag_entry(const char *group, const cli_flag *flag, cli_entry *out) {
    *out = (cli_entry){.letter = flag->letter,
                       .value = flag->value,
                       .choices = flag->kind == FLAG_CHOICE ? flag_choices(flag) : NULL,
                       .kind = flag->kind,
                       .repeats = flag->repeats};
    snprintf(out->group, sizeof out->group, "%s", group);
    snprintf(out->name, sizeof out->name, "%s", flag->name);
    snprintf(out->help, sizeof out->help, "%s", flag->help);
    /* The values of a flag that takes options depend on the build; its help refers to their list.
     */
    for (int i = 0; !flag->takes_options && out->choices != NULL && out->choices[i] != NULL; i++)
        append_text(out->help, sizeof out->help, "%s%s", i == 0 ? "; " : "|", out->choices[i]);
    const char *default_text = flag->get_default != NULL ? flag->get_default() : flag->default_text;
    if (default_text != NULL)
        append_text(out->help, sizeof out->help, " [%s]", default_text);
}

void method_entry(const huddle_option *option, cli_entry *out) {
    static const char *const booleans[] = {"true", "false", NULL};
    char allowed[512];
    *out = (cli_entry){.of_method = true,
                       .letter = option_letter(option->name),
                       .value = option_value(option),
                       .choices = option->type == HUDDLE_OPTION_BOOL ? booleans : option->choices,
                       .kind = FLAG_TEXT};
    option_flag(option->name, out->name, sizeof out->name);
    huddle_option_allowed(option, allowed, sizeof allowed);
    snprintf(out->help, sizeof out->help, "%s; %s [%s]", option->help, allowed,
             option->default_text);
}

/* Headings of --help where a command accepts the options of all methods. */
static void name_group(const catalogue_option *option, char *text, size_t size) {
    if (option->rank == OF_EVERY_METHOD)
        snprintf(text, size, "Options of every method");
    else if (option->rank == OF_DEFAULT_METHOD)
        snprintf(text, size,
                 "Options of %s, the default method; for other methods see huddle options METHOD",
                 huddle_default_method());
    else
        snprintf(text, size, "Options of other methods only");
}

/* `methods`: the method whose options the command takes, or "*" for all. */
static void make_option_entry(const catalogue_option *option, const char *methods, cli_entry *out) {
    char allowed[512], value[256], owners[200] = "";
    method_entry(option->option, out);
    if (strcmp(methods, "*") == 0)
        name_group(option, out->group, sizeof out->group);
    else
        snprintf(out->group, sizeof out->group, "Options of %s", methods);
    if (option->rank == OF_OTHER_METHODS) {
        option_owners(option, owners, sizeof owners);
        append_text(owners, sizeof owners, ": ");
    }
    huddle_option_allowed(option->option, allowed, sizeof allowed);
    /* The defaults of other methods are of no interest to a command that runs one method. */
    if (strcmp(methods, "*") == 0 || strcmp(option->name, "n_clusters") == 0)
        option_default(option, value, sizeof value);
    else
        snprintf(value, sizeof value, "%s", option->option->default_text);
    snprintf(out->help, sizeof out->help, "%s%s; %s [%s]", owners, option->option->help, allowed,
             value);
}

/* True if the command has a flag of this name, which then replaces the option: the parser
 * looks for flags first. */
static bool has_flag(const char *name) {
    for (int i = 0; i < list.count; i++)
        if (!list.entries[i].of_method && strcmp(list.entries[i].name, name) == 0)
            return true;
    return false;
}

/* True if the command does not accept this option of its method, as `path` does with gamma. */
static bool is_fixed(const cli_command *command, const char *name) {
    for (const char *const *fixed = command->fixed_options; fixed != NULL && *fixed != NULL;
         fixed++)
        if (strcmp(*fixed, name) == 0)
            return true;
    return false;
}

/* Room for one more entry. */
static cli_entry *add_entry(void) {
    size_t count = (size_t)++list.count;
    list.entries = check_allocation(realloc(list.entries, count * sizeof *list.entries));
    return &list.entries[count - 1];
}

/* Options of methods are listed after the command's first group of flags, which contains
 * --method, and before the input and output flags. Those of a stage belong to that group: they are
 * documented with the command, as its flags are, because no other page lists them. */
const cli_entry *command_entries(const cli_command *command) {
    const huddle_option *row = command->stage == NULL ? NULL : command->stage();
    list.count = 0;
    for (const flag_group *group = command->groups; group->flags != NULL; group++) {
        for (const cli_flag *flag = group->flags; flag->kind != FLAG_END; flag++)
            make_flag_entry(group->title, flag, add_entry());
        if (group != command->groups)
            continue;
        for (; row != NULL && row->type != HUDDLE_OPTION_END; row++) {
            cli_entry *entry = add_entry();
            method_entry(row, entry);
            entry->of_method = false;
            snprintf(entry->group, sizeof entry->group, "%s", group->title);
        }
        FOR_EACH_OPTION(option, command->methods)
        if (!has_flag(option->flag) && !is_fixed(command, option->name))
            make_option_entry(option, command->methods, add_entry());
    }
    add_entry()->name[0] = '\0';
    return list.entries;
}

bool entry_is_general(const cli_entry *entry) {
    return strcmp(entry->name, "help") == 0 || strcmp(entry->name, "version") == 0;
}

/* Names without a letter are indented by the width of one, so that all long names are aligned. */
void entry_names(const cli_entry *entry, char *text, size_t size) {
    if (entry->letter != '\0')
        snprintf(text, size, "-%c, --%s", entry->letter, entry->name);
    else
        snprintf(text, size, "    --%s", entry->name);
    if (entry->value != NULL)
        append_text(text, size, " %s", entry->value);
}

/* Summaries begin in lower case and have no full stop, as in the list of commands. */
void command_sentence(const cli_command *command, char *text, size_t size) {
    char first = command->summary[0];
    if (first >= 'a' && first <= 'z')
        first = (char)(first - 'a' + 'A');
    snprintf(text, size, "%c%s.", first, command->summary + 1);
}
