/* What a command is: a name, its operands, its flags, and the function that runs it. The parser,
 * --help, the man page, the shell completions and the documents all read these tables. */
#ifndef HUDDLE_CLI_COMMAND_H
#define HUDDLE_CLI_COMMAND_H

#include <stdbool.h>

/* What the tool leaves with. */
enum { EXIT_DONE = 0, EXIT_FAILED = 1, EXIT_USAGE = 2 };

typedef enum flag_kind {
    FLAG_END = 0, /* closes a table */
    FLAG_SWITCH,  /* there or not there */
    FLAG_TEXT,
    FLAG_FILE,
    FLAG_FOLDER,
    FLAG_COUNT,  /* a whole number, at least `min` */
    FLAG_NUMBER, /* a number, at least `min` */
    FLAG_CHOICE  /* one of choices() */
} flag_kind;

typedef struct cli_flag {
    const char *name; /* "per-class", for --per-class */
    char letter;      /* 'o', for -o as well; or 0 */
    flag_kind kind;
    const char *value; /* what stands for the value in --help: "FILE" */
    double min;
    bool repeats; /* may be given several times, and all of them count */
    const char *const *(*choices)(void);
    bool takes_options;               /* CHOICE: also a choice with options, "NAME:OPTIONS" */
    const char *default_text;         /* the default as text, or NULL if there is none to tell */
    const char *(*get_default)(void); /* the same, when it must be asked for */
    const char *help;                 /* half a sentence, no full stop */
} cli_flag;

typedef struct flag_group {
    const char *title;
    const cli_flag *flags; /* NULL closes a list of groups */
} flag_group;

struct cli_arguments;

typedef struct cli_command {
    const char *name;
    const char *operands;              /* "IN OUT", as in the usage line */
    int least, most;                   /* how many operands */
    const char *summary;               /* one line, no full stop */
    const char *text;                  /* paragraphs apart by an empty line; or NULL */
    const char *const *(*words)(void); /* what an operand may be, beside files; or NULL */
    const flag_group *groups;
    const char *methods; /* also takes every option of these: a method, or "*" for all; or NULL */
    const char *settled; /* one of those options that the command settles itself; or NULL */
    bool hidden;         /* not in the short list of commands */
    const char *const *examples;
    int (*run)(const struct cli_arguments *arguments);
} cli_command;

/* All commands in the order of --help; ends with NULL. Defined by the tool. */
extern const cli_command *const commands[];

/* The command of that name; NULL, after a sentence, if there is none. */
const cli_command *find_command(const char *name);

/* The names of all commands; ends with NULL. */
const char *const *command_names(void);

#endif
