#include "reference.h"

#include "catalogue.h"
#include "entries.h"

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
static void print_flag_tables(const app_command *command) {
    int count;
    app_entry *entries = command_entries(command, &count);
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

static void print_command_markdown(const app_command *command) {
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
    for (const app_command *const *command = commands; *command != NULL; command++)
        print_command_markdown(*command);
}

/* ---- options ------------------------------------------------------------------------------ */

static void print_option_row(const huddle_option *option) {
    char text[512];
    option_flag(option->name, text, sizeof text);
    printf("| `--%s` | ", text);
    print_cell(option->default_text);
    huddle_option_allowed(option, text, sizeof text);
    printf(" | ");
    print_cell(text);
    printf(" | ");
    print_cell(option->help);
    printf(" |\n");
}

static void print_method(const catalogue_of_methods *all, int method) {
    printf("\n## %s\n\n**%s.** %s\n\n| option | default | takes | meaning |\n|---|---|---|---|\n",
           all->names[method], all->methods[method]->title, all->methods[method]->summary);
    for (const huddle_option *row = all->tables[method]; row->type != HUDDLE_OPTION_END; row++)
        print_option_row(row);
}

void print_options_markdown(void) {
    const catalogue_of_methods *all = catalogue();
    printf("# Methods and their options\n\n"
           "Written by `huddle options --markdown` from the library's tables; do not edit.\n\n"
           "An option is called the same everywhere: `--n-clusters` of the tool is `n_clusters` "
           "in C, Python and JSON. The default method is `%s`. The tool takes the number of "
           "classes as `n_clusters` if the data have labels.\n",
           huddle_default_method());
    for (int i = 0; i < all->n_methods; i++)
        print_method(all, i);
}
