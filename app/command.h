/* What a command is: a name, its operands, its flags, and the function that runs it. The parser,
 * --help, the man page, the shell completions and the documents all read these tables. */
#ifndef HUDDLE_APP_COMMAND_H
#define HUDDLE_APP_COMMAND_H

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

typedef struct app_flag {
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
} app_flag;

typedef struct flag_group {
    const char *title;
    const app_flag *flags; /* NULL closes a list of groups */
} flag_group;

struct app_arguments;

typedef struct app_command {
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
    int (*run)(const struct app_arguments *arguments);
} app_command;

/* All commands in the order of --help; ends with NULL. */
extern const app_command *const commands[];

/* The command of that name; NULL, after a sentence, if there is none. */
const app_command *find_command(const char *name);

/* The names of all commands; ends with NULL. */
const char *const *command_names(void);

extern const app_command cluster_command, path_command, predict_command, score_command,
    experiment_command, paper_command, info_command, convert_command, generate_command,
    methods_command, engines_command, options_command, help_command, man_command,
    completion_command;

/* Flags that several commands share. */
extern const app_flag input_flags[];  /* of everything that reads DATA */
extern const app_flag seeded_flags[]; /* --seed, where no method brings its own */
extern const app_flag common_flags[]; /* --help */
extern const app_flag quiet_flags[];  /* -q, --help */

/* What every command that reads DATA says about it. */
extern const char data_text[];

#endif
