#include "cli/documents.h"

#include "cli/text.h"

#include <string.h>

/* The column at which the help of an option begins; names that reach it have a line of their
 * own. */
enum { ENTRY_COLUMN = 28 };

/* Names that are too long for the first column are followed by a line break. */
void print_entry(const cli_entry *entry) {
    char names[128];
    entry_names(entry, names, sizeof names);
    int column = 2 + (int)strlen(names);
    printf("  %s", names);
    if (column + 2 > ENTRY_COLUMN) {
        printf("\n");
        column = 0;
    }
    printf("%*s", ENTRY_COLUMN - column, "");
    print_wrapped(entry->help, ENTRY_COLUMN);
}

/* The entries of a group are adjacent, so a title is printed where the group changes. */
static void print_entries(const cli_command *command) {
    const char *group = "";
    for (const cli_entry *entry = command_entries(command); entry->name[0] != '\0'; entry++) {
        if (strcmp(entry->group, group) != 0)
            printf("\n%s\n", entry->group);
        group = entry->group;
        print_entry(entry);
    }
}

/* The same order as in the manual page: usage, sentence, paragraphs, options, examples. */
void print_command_help(const cli_command *command) {
    char sentence[256];
    printf("Usage: huddle %s [OPTIONS]%s%s\n\n", command->name,
           command->operands[0] == '\0' ? "" : " ", command->operands);
    command_sentence(command, sentence, sizeof sentence);
    print_wrapped(sentence, 0);
    if (command->text != NULL) {
        putchar('\n');
        print_wrapped(command->text, 0);
    }
    print_entries(command);
    if (command->examples[0] != NULL)
        printf("\nExamples\n");
    for (const char *const *line = command->examples; *line != NULL; line++)
        printf("  %s\n", *line);
}

/* To stdout if it was asked for, to stderr if the command line is empty. */
void print_general_help(FILE *file) {
    fprintf(file,
            "Usage: huddle COMMAND [OPTIONS] ...\n\n"
            "Clusters points by spectral shrunk clustering and related methods.\n\nCommands\n");
    for (const cli_command *const *entry = commands; *entry != NULL; entry++) {
        char usage[64];
        snprintf(usage, sizeof usage, "%s %s", (*entry)->name, (*entry)->operands);
        fprintf(file, "  %-24s%s\n", usage, (*entry)->summary);
    }
    fprintf(file, "\nOptions of every command\n"
                  "  -h, --help              print the help of the command and exit\n"
                  "  -V, --version           print the version and exit\n"
                  "\nOptions of the commands that compute\n"
                  "  -o, --output FILE       where to write the result; - is stdout\n"
                  "  -j, --n-threads N       number of threads\n"
                  "  -q, --quiet             print only errors on stderr\n"
                  "  -v, --verbose           print more on stderr\n"
                  "      --json              print one JSON object instead of text\n"
                  "\n- in the place of a file is stdin or stdout. Underscores in names of options\n"
                  "are dashes, and two names of scikit-learn are understood: --random-state\n"
                  "(--seed) and --n-jobs (--n-threads).\n"
                  "\nExamples\n"
                  "  huddle cluster digits\n"
                  "  cat points.csv | huddle cluster - -c 5 -o - > labels.txt\n"
                  "  huddle cluster faces.mat -m ssc -c 40 -o labels.csv\n"
                  "  huddle help cluster     the options of all methods\n");
}
