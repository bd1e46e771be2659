#include "cli/documents.h"

#include "cli/catalogue.h"
#include "cli/entries.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A bar ends a cell of a table. */
static void print_cell(const char *text) {
    for (; *text != '\0'; text++) {
        if (*text == '|')
            putchar('\\');
        putchar(*text);
    }
}

/* ---- commands ----------------------------------------------------------------------------- */

/* The options of methods have a page of their own. */
static void print_flag_tables(const cli_command *command) {
    int count;
    cli_entry *entries = command_entries(command, &count);
    const char *group = "";
    for (int i = 0; i < count; i++) {
        char names[128];
        if (entries[i].of_method || strcmp(entries[i].name, "help") == 0)
            continue;
        if (strcmp(entries[i].group, group) != 0)
            printf("\n| %s | |\n|---|---|\n", entries[i].group);
        group = entries[i].group;
        entry_names(&entries[i], names, sizeof names);
        printf("| `%s` | ", names + strspn(names, " "));
        print_cell(entries[i].help);
        printf(" |\n");
    }
    free(entries);
}

static void print_command_markdown(const cli_command *command) {
    char sentence[256];
    command_sentence(command, sentence, sizeof sentence);
    printf("\n## huddle %s\n\n`huddle %s [OPTIONS]%s%s`\n\n%s", command->name, command->name,
           command->operands[0] == '\0' ? "" : " ", command->operands, sentence);
    if (command->text != NULL)
        printf(" %s", command->text);
    printf("\n");
    print_flag_tables(command);
    if (command->methods != NULL)
        printf("\nAlso every option of %s: see [options](options.md).\n",
               strcmp(command->methods, "*") == 0 ? "the method" : command->methods);
    if (command->examples != NULL) {
        printf("\n```sh\n");
        for (const char *const *line = command->examples; *line != NULL; line++)
            printf("%s\n", *line);
        printf("```\n");
    }
}

void print_commands_markdown(void) {
    printf("# The commands\n\n"
           "Written by `huddle help --markdown` from the tool's tables; do not edit.\n\n"
           "Results go to stdout or `-o`, talk and progress to stderr; `-q` keeps stderr silent. "
           "`--json` prints one JSON object. The exit status is 0 when done, 1 when the work "
           "failed, 2 when the command line was wrong. Outputs are written whole or not at "
           "all.\n");
    for (const cli_command *const *command = commands; *command != NULL; command++)
        print_command_markdown(*command);
}

/* ---- options ------------------------------------------------------------------------------ */

static void print_methods_table(const catalogue_of_methods *all) {
    printf("\n| method | | what it does |\n|---|---|---|\n");
    for (int i = 0; i < all->n_methods; i++) {
        printf("| `%s` | %s | ", all->names[i], all->methods[i]->title);
        print_cell(all->methods[i]->summary);
        printf(" |\n");
    }
}

/* Whether an entry before this one has the same name: an option that some methods understand
 * differently has several entries. */
static bool is_repeated(const catalogue_option *entry) {
    FOR_EACH_OPTION(earlier, "*") {
        if (earlier == entry)
            return false;
        if (strcmp(earlier->name, entry->name) == 0)
            return true;
    }
    return false;
}

/* One row per option, one column per method, the method's default in each cell. */
static void print_matrix(const catalogue_of_methods *all) {
    printf("\n| option |");
    for (int i = 0; i < all->n_methods; i++)
        printf(" %s |", all->names[i]);
    printf("\n|---|");
    for (int i = 0; i < all->n_methods; i++)
        printf("---|");
    printf("\n");
    FOR_EACH_OPTION(entry, "*") {
        if (is_repeated(entry))
            continue;
        printf("| [`--%s`](#%s) |", entry->flag, entry->flag);
        for (int i = 0; i < all->n_methods; i++) {
            const huddle_option *row = huddle_option_find(all->tables[i], entry->name);
            printf(" ");
            print_cell(row != NULL ? row->default_text : "");
            printf(" |");
        }
        printf("\n");
    }
}

static void print_meanings(const char *name) {
    FOR_EACH_OPTION(entry, "*") {
        char owners[512], allowed[512];
        if (strcmp(entry->name, name) != 0)
            continue;
        option_owners(entry, owners, sizeof owners);
        huddle_option_allowed(entry->option, allowed, sizeof allowed);
        printf("\n%s: %s.  \nValues: `%s`.\n",
               entry->rank == OF_EVERY_METHOD ? "All methods" : owners, entry->option->help,
               allowed);
    }
}

void print_options_markdown(void) {
    const catalogue_of_methods *all = catalogue();
    printf("# Methods and their options\n\n"
           "Written by `huddle options --markdown` from the library's tables; do not edit.\n\n"
           "An option has the same name everywhere: `--n-clusters` of the tool is `n_clusters` in "
           "C, Python and JSON. The default method is `%s`. If the data have labels, the tool uses "
           "the number of classes where `n_clusters` is not given.\n\n"
           "## Methods\n",
           huddle_default_method());
    print_methods_table(all);
    printf("\n## Defaults\n\nEach cell is the default of an option for a method; an empty cell "
           "means that the method does not have the option.\n");
    print_matrix(all);
    printf("\n## Meanings\n");
    FOR_EACH_OPTION(entry, "*") {
        if (is_repeated(entry))
            continue;
        printf("\n### %s\n", entry->flag);
        print_meanings(entry->name);
    }
}
