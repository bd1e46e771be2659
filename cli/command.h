/* Commands as tables: name, operands, flags, texts, and the function that runs it. The parser,
 * --help, the manual page, the shell completions and the Markdown pages are all derived from these
 * tables, so that they cannot contradict each other. */
#ifndef HUDDLE_CLI_COMMAND_H
#define HUDDLE_CLI_COMMAND_H

#include <huddle/base.h>
#include <stdbool.h>

/* Exit statuses. */
enum { EXIT_DONE = 0, EXIT_FAILED = 1, EXIT_USAGE = 2 };

/* Takes a step of a command unless one before it has failed. Expects a variable `result`. */
#define STEP(call)                                                                                 \
    do {                                                                                           \
        if (result == EXIT_DONE)                                                                   \
            result = (call);                                                                       \
    } while (0)

typedef enum flag_kind {
    FLAG_END = 0, /* end of a table */
    FLAG_SWITCH,  /* takes no value */
    FLAG_TEXT,
    FLAG_FILE,
    FLAG_FOLDER,
    FLAG_COUNT,  /* a whole number, at least `min` */
    FLAG_NUMBER, /* a number, at least `min` */
    FLAG_CHOICE  /* one of flag_choices() */
} flag_kind;

typedef struct cli_flag {
    const char *name; /* "per-class", for --per-class */
    char letter;      /* 'o', for -o as well; or 0 */
    flag_kind kind;
    const char *value; /* placeholder of the value in --help: "FILE" */
    const char *help;  /* a phrase without a full stop */
    double min;
    double max;         /* COUNT: the largest value; 0: any */
    bool repeats;       /* may be given several times; all values are used */
    bool reads;         /* its value may be a file that the command reads; "-" is stdin */
    const char *stream; /* its value is a file that the command writes; "-" is stdout, for which
                           this is the name of a file of the same format. NULL: not a file to
                           write, or one that must have a name */
    const char *const *files;            /* FOLDER: what the command writes there; ends with NULL */
    const char *values[8];               /* CHOICE: the values, if they are fixed */
    const char *const *(*choices)(void); /* CHOICE: or the same as a function; ends with NULL */
    bool takes_options;                  /* CHOICE: NAME:OPTIONS is accepted as well */
    const char *default_text;            /* the default in --help, or NULL */
    const char *(*get_default)(void);    /* the same as a function, or NULL */
} cli_flag;

/* The values of a CHOICE; ends with NULL. */
const char *const *flag_choices(const cli_flag *flag);

typedef struct flag_group {
    const char *title;
    const cli_flag *flags; /* NULL: end of the list */
} flag_group;

enum { MAX_GROUPS = 6, MAX_EXAMPLES = 8 };

struct cli_arguments;

typedef struct cli_command {
    struct { /* what every command has: the first row of its table */
        const char *name;
        const char *operands; /* "IN OUT", as in the usage line */
        int min_operands, max_operands;
        const char *summary; /* one line, no full stop */
        int (*run)(const struct cli_arguments *arguments);
    };
    bool reads;         /* operands are files to read; "-" is stdin */
    const char *stream; /* but the last one is a file to write, as in cli_flag; or NULL */
    const char *text;   /* paragraphs, separated by empty lines; or NULL */
    const char *const *(*words)(void); /* operands to complete besides files; or NULL */
    flag_group groups[MAX_GROUPS];     /* fewer: the list has an end */
    const char *methods;              /* accepts the options of this method, "*": of all; or NULL */
    const char *const *fixed_options; /* those of them that it does not accept; or NULL */
    const huddle_option *(*stage)(void); /* options of a stage that it runs itself; or NULL */
    const char *examples[MAX_EXAMPLES];  /* likewise */
} cli_command;

/* All commands in the order of --help; ends with NULL. Defined by the tool. */
extern const cli_command *const commands[];

/* The command of that name; NULL, after a message, if there is none. */
const cli_command *find_command(const char *name);

/* The names of all commands; ends with NULL. */
const char *const *command_names(void);

/* The place of a name in a list that ends with NULL; -1, after a message, if it is not there: "no
 * WHAT named 'NAME'" and the nearest one, or "see huddle HELP". */
int find_name(const char *what, const char *name, const char *const *names, const char *help);

#endif
