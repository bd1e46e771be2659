/* Scripts with which a shell completes the command line, from the tables of the commands. */
#include "cli/documents.h"
#include "cli/entries.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void print_words(const char *const *words) {
    for (int i = 0; words != NULL && words[i] != NULL; i++)
        printf("%s%s", i == 0 ? "" : " ", words[i]);
}

/* Two methods may have an option of the same name and mean different things by it. */
static bool is_repeated(const cli_entry *entries, int i) {
    for (int j = 0; j < i; j++)
        if (strcmp(entries[i].name, entries[j].name) == 0)
            return true;
    return false;
}

/* ---- bash --------------------------------------------------------------------------------- */

static void print_bash_values(const cli_entry *entry) {
    if (entry->choices == NULL && entry->kind != FLAG_FOLDER)
        return;
    printf("            --%s", entry->name);
    if (entry->letter != '\0')
        printf(" | -%c", entry->letter);
    printf(") mapfile -t COMPREPLY < <(compgen ");
    if (entry->choices != NULL) {
        printf("-W \"");
        print_words(entry->choices);
        printf("\"");
    } else
        printf("-d");
    printf(" -- \"$current\"); return ;;\n");
}

static void print_bash_command(const cli_command *command) {
    int count;
    cli_entry *entries = command_entries(command, &count);
    printf("    %s)\n        words=\"", command->name);
    if (command->words != NULL)
        print_words(command->words());
    printf("\"\n        [[ $current == -* ]] && words=\"");
    for (int i = 0; i < count; i++)
        if (!is_repeated(entries, i))
            printf("%s--%s", i == 0 ? "" : " ", entries[i].name);
    printf("\"\n        case $previous in\n");
    for (int i = 0; i < count; i++)
        if (!is_repeated(entries, i))
            print_bash_values(&entries[i]);
    printf("        esac\n        ;;\n");
    free(entries);
}

static void print_bash(void) {
    printf(
        "# bash completion for huddle; written by huddle completion bash\n"
        "_huddle() {\n"
        "    local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD-1]} words=\n"
        "    COMPREPLY=()\n"
        "    case ${COMP_WORDS[1]} in\n");
    for (const cli_command *const *command = commands; *command != NULL; command++)
        print_bash_command(*command);
    printf("    esac\n    [ \"$COMP_CWORD\" -eq 1 ] && words=\"");
    print_words(command_names());
    printf(" --help --version\"\n"
           "    mapfile -t COMPREPLY < <(compgen -W \"$words\" -- \"$current\")\n"
           "    # Files too, where an operand or a file's name may stand.\n"
           "    if [ \"$COMP_CWORD\" -gt 1 ] && [[ $current != -* ]]; then\n"
           "        local files\n"
           "        mapfile -t files < <(compgen -f -- \"$current\")\n"
           "        COMPREPLY+=(\"${files[@]}\")\n"
           "    fi\n}\n"
           "complete -o filenames -F _huddle huddle\n");
}

/* ---- zsh ---------------------------------------------------------------------------------- */

/* Inside single quotes, as a part of an _arguments specification. */
static void print_zsh_text(const char *text) {
    for (; *text != '\0'; text++) {
        if (*text == '\'')
            printf("'\\''");
        else {
            if (strchr("[]:\\", *text) != NULL)
                putchar('\\');
            putchar(*text);
        }
    }
}

static void print_zsh_spec(const cli_entry *entry, const char *dashes, const char *name) {
    printf(" \\\n        '%s%s%s[", entry->repeats ? "*" : "", dashes, name);
    print_zsh_text(entry->help);
    printf("]");
    if (entry->value != NULL) {
        printf(":%s:", entry->value);
        if (entry->choices != NULL) {
            printf("(");
            for (int i = 0; entry->choices[i] != NULL; i++) {
                printf("%s", i == 0 ? "" : " ");
                print_zsh_text(entry->choices[i]);
            }
            printf(")");
        } else if (entry->kind == FLAG_FILE)
            printf("_files");
        else if (entry->kind == FLAG_FOLDER)
            printf("_files -/");
    }
    printf("'");
}

static void print_zsh_command(const cli_command *command) {
    int count;
    cli_entry *entries = command_entries(command, &count);
    printf("    %s) _arguments", command->name);
    for (int i = 0; i < count; i++) {
        char letter[2] = {entries[i].letter, '\0'};
        if (is_repeated(entries, i))
            continue;
        print_zsh_spec(&entries[i], "--", entries[i].name);
        if (entries[i].letter != '\0')
            print_zsh_spec(&entries[i], "-", letter);
    }
    if (command->words != NULL) {
        printf(" \\\n        '*:word:{compadd ");
        print_words(command->words());
        printf("; _files}'");
    } else
        printf(" \\\n        '*:file:_files'");
    printf(" ;;\n");
    free(entries);
}

static void print_zsh(void) {
    printf("#compdef huddle\n# zsh completion for huddle; written by huddle completion zsh\n"
           "_huddle() {\n    local -a commands\n    commands=(\n");
    for (const cli_command *const *command = commands; *command != NULL; command++) {
        printf("        '%s:", (*command)->name);
        print_zsh_text((*command)->summary);
        printf("'\n");
    }
    printf("    )\n    if (( CURRENT == 2 )); then\n        _describe command commands\n"
           "        return\n    fi\n    shift words\n    (( CURRENT-- ))\n    case $words[1] in\n");
    for (const cli_command *const *command = commands; *command != NULL; command++)
        print_zsh_command(*command);
    printf("    esac\n}\n_huddle \"$@\"\n");
}

/* ---- fish --------------------------------------------------------------------------------- */

static void print_fish_text(const char *text) {
    putchar('\'');
    for (; *text != '\0'; text++) {
        if (*text == '\'' || *text == '\\')
            putchar('\\');
        putchar(*text);
    }
    putchar('\'');
}

static void print_fish_entry(const char *condition, const cli_entry *entry) {
    printf("complete -c huddle -n '%s' -l %s", condition, entry->name);
    if (entry->letter != '\0')
        printf(" -s %c", entry->letter);
    if (entry->choices != NULL) {
        printf(" -x -a '");
        print_words(entry->choices);
        printf("'");
    } else if (entry->kind == FLAG_FILE || entry->kind == FLAG_FOLDER)
        printf(" -r -F");
    else if (entry->kind != FLAG_SWITCH)
        printf(" -x");
    printf(" -d ");
    print_fish_text(entry->help);
    printf("\n");
}

static void print_fish(void) {
    printf("# fish completion for huddle; written by huddle completion fish\n");
    for (const cli_command *const *entry = commands; *entry != NULL; entry++) {
        printf("complete -c huddle -n __fish_use_subcommand -f -a %s -d ", (*entry)->name);
        print_fish_text((*entry)->summary);
        printf("\n");
    }
    for (const cli_command *const *command = commands; *command != NULL; command++) {
        char condition[64];
        int count;
        cli_entry *entries = command_entries(*command, &count);
        snprintf(condition, sizeof condition, "__fish_seen_subcommand_from %s", (*command)->name);
        if ((*command)->words != NULL) {
            printf("complete -c huddle -n '%s' -a '", condition);
            print_words((*command)->words());
            printf("'\n");
        }
        for (int i = 0; i < count; i++)
            if (!is_repeated(entries, i))
                print_fish_entry(condition, &entries[i]);
        free(entries);
    }
}

/* ---- shells ------------------------------------------------------------------------------- */

static const struct {
    const char *name;
    void (*print)(void);
} shells[] = {{"bash", print_bash}, {"zsh", print_zsh}, {"fish", print_fish}};

enum { N_SHELLS = sizeof shells / sizeof *shells };

const char *const *shell_names(void) {
    static const char *names[N_SHELLS + 1];
    for (int i = 0; i < N_SHELLS; i++)
        names[i] = shells[i].name;
    return names;
}

bool print_completion(const char *shell) {
    for (int i = 0; i < N_SHELLS; i++)
        if (strcmp(shells[i].name, shell) == 0) {
            shells[i].print();
            return true;
        }
    return false;
}
