/* The manual page in roff, from the same tables as --help. */
#include "cli/documents.h"

#include <stdio.h>
#include <string.h>

/* A dash in roff is a hyphen unless it is escaped, which would break copying options from the
 * page; and a line that begins with a point or a quote is a request, so \& precedes it. */
static void print_roff(const char *text) {
    if (*text == '.' || *text == '\'')
        printf("\\&");
    for (; *text != '\0'; text++) {
        if (*text == '-' || *text == '\\')
            putchar('\\');
        if (strncmp(text, "\n\n", 2) == 0) {
            printf("\n.PP\n");
            text++;
        } else
            putchar(*text);
        if (*text == '|') /* a list may be broken here */
            printf("\\:");
    }
}

/* request is a roff macro with its blank, or empty. */
static void print_line(const char *request, const char *text) {
    printf("%s", request);
    print_roff(text);
    printf("\n");
}

/* Bold for what is typed, italics for placeholders, as man-pages(7) recommends. */
static void print_entry_roff(const cli_entry *entry) {
    printf(".TP\n");
    if (entry->letter != '\0')
        printf("\\fB\\-%c\\fR, ", entry->letter);
    printf("\\fB\\-\\-");
    print_roff(entry->name);
    printf("\\fR");
    if (entry->value != NULL)
        printf(" \\fI%s\\fR", entry->value);
    printf("\n");
    print_line("", entry->help);
}

/* What all commands have is in the description of the tool. */
static void print_entries_roff(const cli_command *command) {
    const char *group = "";
    for (const cli_entry *entry = command_entries(command); entry->name[0] != '\0'; entry++) {
        if (entry_is_general(entry))
            continue;
        if (strcmp(entry->group, group) != 0)
            printf(".PP\n.I \"%s\"\n", entry->group);
        group = entry->group;
        print_entry_roff(entry);
    }
}

/* A subsection per command: one page for the whole tool, as there is one program. */
static void print_command_roff(const cli_command *command) {
    char sentence[256], usage[256];
    snprintf(usage, sizeof usage, "huddle %s [OPTIONS] %s", command->name, command->operands);
    print_line(".SS ", usage);
    command_sentence(command, sentence, sizeof sentence);
    print_line("", sentence);
    if (command->text != NULL)
        print_line(".PP\n", command->text);
    print_entries_roff(command);
    if (command->examples[0] == NULL)
        return;
    printf(".PP\n.I Examples\n.PP\n.nf\n");
    for (const char *const *line = command->examples; *line != NULL; line++)
        print_line("", *line);
    printf(".fi\n");
}

/* .ad l: options justified to both margins are hard to read. */
void print_man_page(void) {
    /* No date, so that the page of a version is the same for every build. */
    printf(".TH HUDDLE 1 \"\" \"huddle %s\" \"User Commands\"\n", huddle_version());
    printf(
        ".ad l\n.SH NAME\nhuddle \\- spectral shrunk clustering and related methods\n"
        ".SH SYNOPSIS\n.B huddle\n.I COMMAND\n[\\fIOPTIONS\\fR] ...\n.SH DESCRIPTION\n"
        "Clusters points, scores the result and predicts new points. Results are written to "
        "standard output or to the file given by \\fB\\-o\\fR; messages and progress are written "
        "to standard error unless \\fB\\-q\\fR is given. \\fB\\-\\-json\\fR prints one JSON "
        "object. An output file is replaced only when the new one is complete.\n.PP\n"
        "\\fB\\-\\fR in the place of a file is standard input or standard output; what a command "
        "prints besides then goes to standard error.\n.PP\n"
        "A long option may be written \\fB\\-\\-name value\\fR or \\fB\\-\\-name=value\\fR, with "
        "underscores instead of dashes; \\fB\\-\\-random\\-state\\fR and \\fB\\-\\-n\\-jobs\\fR "
        "are "
        "other names of \\fB\\-\\-seed\\fR and \\fB\\-\\-n\\-threads\\fR. Every command has "
        "\\fB\\-h\\fR, \\fB\\-\\-help\\fR and \\fB\\-V\\fR, \\fB\\-\\-version\\fR.\n"
        ".SH COMMANDS\n");
    for (const cli_command *const *command = commands; *command != NULL; command++)
        print_command_roff(*command);
    printf(".SH EXIT STATUS\n.TP\n0\nSuccess.\n.TP\n1\nThe command failed or was cancelled; a "
           "message on standard error gives the reason.\n.TP\n2\nThe command line is not valid.\n");
}
