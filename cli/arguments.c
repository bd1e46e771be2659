#include "cli/arguments.h"

#include "cli/catalogue.h"
#include "cli/messages.h"
#include "cli/synonyms.h"
#include "cli/text.h"

#include <ctype.h>
#include <huddle/base.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- lookup ------------------------------------------------------------------------------- */

static const cli_flag *find_flag(const cli_command *command, const char *name) {
    for (const flag_group *group = command->groups; group->flags != NULL; group++)
        for (const cli_flag *flag = group->flags; flag->kind != FLAG_END; flag++)
            if (strcmp(flag->name, name) == 0)
                return flag;
    return NULL;
}

/* Letters of flags; those of options are found by find_option_letter(). */
static const cli_flag *find_letter(const cli_command *command, char letter) {
    for (const flag_group *group = command->groups; group->flags != NULL; group++)
        for (const cli_flag *flag = group->flags; flag->kind != FLAG_END; flag++)
            if (flag->letter == letter)
                return flag;
    return NULL;
}

/* The options of the stage that a command runs itself; an empty table if there is none. */
static const huddle_option *stage_options(const cli_command *command) {
    static const huddle_option none = {0};
    return command->stage == NULL ? &none : command->stage();
}

/* The braces are missing because FOR_EACH_OPTION is a loop header, which the formatter does
 * not indent. */
static const char *find_option(const cli_command *command, const char *name) {
    FOR_EACH_OPTION(option, command->methods)
    if (strcmp(option->flag, name) == 0)
        return option->name;
    for (const huddle_option *row = stage_options(command); row->type != HUDDLE_OPTION_END; row++) {
        char flag[64];
        option_flag(row->name, flag, sizeof flag);
        if (strcmp(flag, name) == 0)
            return row->name;
    }
    return NULL;
}

static const char *find_option_letter(const cli_command *command, char letter) {
    FOR_EACH_OPTION(option, command->methods)
    if (option->letter == letter)
        return option->name;
    return NULL;
}

static bool has_name(const cli_command *command, const char *name) {
    return find_flag(command, name) != NULL || find_option(command, name) != NULL;
}

/* The nearest name: one of the command that begins so, or that differs in few letters. */
typedef struct nearest_name {
    const char *word, *best, *longer;
    int distance;
} nearest_name;

static void compare_name(nearest_name *nearest, const char *name) {
    size_t length = strlen(nearest->word);
    huddle_suggest_name(nearest->word, name, &nearest->distance, &nearest->best);
    if (length >= 3 && strncmp(name, nearest->word, length) == 0)
        nearest->longer = name;
}

/* Flags of the command and options of methods and stages are candidates alike: the user does not
 * distinguish them. */
static const char *find_nearest(const cli_command *command, const char *word) {
    nearest_name nearest = {.word = word, .distance = HUDDLE_SUGGEST_DISTANCE};
    const char *synonym;
    for (int k = 0; (synonym = name_synonym(word, k)) != NULL; k++)
        if (has_name(command, synonym))
            return synonym;
    for (const flag_group *group = command->groups; group->flags != NULL; group++)
        for (const cli_flag *flag = group->flags; flag->kind != FLAG_END; flag++)
            compare_name(&nearest, flag->name);
    FOR_EACH_OPTION(option, command->methods)
    compare_name(&nearest, option->flag);
    for (const huddle_option *row = stage_options(command); row->type != HUDDLE_OPTION_END; row++)
        compare_name(&nearest, row->name);
    return nearest.longer != NULL ? nearest.longer : nearest.best;
}

static int unknown_flag(const cli_command *command, const char *word, size_t length) {
    char name[64], found[64], flag[64];
    snprintf(name, sizeof name, "%.*s", (int)length, word);
    flag_name(word, length, found, sizeof found);
    const char *best = find_nearest(command, found);
    if (best != NULL) {
        option_flag(best, flag, sizeof flag);
        return usage_error("%s has no option --%s; did you mean --%s?", command->name, name, flag);
    }
    return usage_error("%s has no option --%s; see huddle help %s", command->name, name,
                       command->name);
}

/* The letter of a flag or an option, or 0. */
static char letter_of(const cli_command *command, const char *name) {
    const cli_flag *flag = find_flag(command, name);
    const char *option = flag == NULL ? find_option(command, name) : NULL;
    return flag != NULL ? flag->letter : option != NULL ? option_letter(option) : '\0';
}

static int unknown_letter(const cli_command *command, char letter) {
    const char *name = NULL;
    for (int k = 0; (name = letter_synonym(letter, k)) != NULL && !has_name(command, name);)
        k++;
    if (name == NULL)
        return usage_error("%s has no option -%c; see huddle help %s", command->name, letter,
                           command->name);
    char own = letter_of(command, name);
    return usage_error("%s has no option -%c; did you mean %s%.1s%s--%s?", command->name, letter,
                       own != '\0' ? "-" : "", &own, own != '\0' ? ", " : "", name);
}

/* ---- values ------------------------------------------------------------------------------- */

/* Below 2^63, and such that a double represents it. */
static double most_count(const cli_flag *flag) {
    return flag->max > 0 ? flag->max : 9e18;
}

/* The upper bound is of interest only to who exceeds it. */
static int wrong_count(const cli_flag *flag, const char *value) {
    if (value[0] != '\0' && value[strspn(value, "0123456789")] == '\0' &&
        strtod(value, NULL) > most_count(flag))
        return usage_error("--%s = %s: expected integer in [%g, %.0f]", flag->name, value,
                           flag->min, most_count(flag));
    return usage_error("--%s = %s: expected integer >= %g", flag->name, value, flag->min);
}

/* strtod() also accepts leading blanks, "inf", "nan" and hexadecimal numbers; the first three
 * are refused. Counts are limited to digits, and to what int64 holds. */
static bool is_number(const char *text, const cli_flag *flag) {
    char *end;
    double number = strtod(text, &end);
    bool whole = flag->kind == FLAG_COUNT;
    if (text[0] == '\0' || isspace((unsigned char)text[0]) || *end != '\0' || !isfinite(number))
        return false;
    if (whole && (text[strspn(text, "0123456789")] != '\0' || number > most_count(flag)))
        return false;
    return number >= flag->min;
}

/* Short lists are shown as a whole; the nearest name is more helpful if there is one. */
static int wrong_choice(const cli_flag *flag, const char *value) {
    const char *best = NULL;
    int distance = HUDDLE_SUGGEST_DISTANCE;
    char names[256] = "";
    for (const char *const *choice = flag->choices(); *choice != NULL; choice++) {
        huddle_suggest_name(value, *choice, &distance, &best);
        append_text(names, sizeof names, "%s%s", names[0] == '\0' ? "" : "|", *choice);
    }
    /* The few engines of a build are listed: a similar name is another engine, not a typing error.
     */
    if (best != NULL && !flag->takes_options)
        return usage_error("--%s: unknown value '%s'; did you mean '%s'?", flag->name, value, best);
    return usage_error("--%s = %s: expected one of %s", flag->name, value, names);
}

/* A choice that takes options (--engine NAME:OPTIONS) is compared up to the colon; the library
 * checks the rest. Options of methods are not checked here but by the tables of the library. */
static int check_value(const cli_flag *flag, const char *value) {
    if (flag->kind == FLAG_COUNT && !is_number(value, flag))
        return wrong_count(flag, value);
    if (flag->kind == FLAG_NUMBER && !is_number(value, flag))
        return usage_error("--%s = %s: expected number >= %g", flag->name, value, flag->min);
    if (flag->kind == FLAG_CHOICE) {
        size_t length = flag->takes_options ? strcspn(value, ":") : strlen(value);
        for (const char *const *choice = flag->choices(); *choice != NULL; choice++)
            if (strlen(*choice) == length && strncmp(value, *choice, length) == 0)
                return EXIT_DONE;
        return wrong_choice(flag, value);
    }
    if (value[0] == '\0' && flag->kind != FLAG_SWITCH)
        return usage_error("--%s needs a value (%s)", flag->name, flag->value);
    return EXIT_DONE;
}

/* There is room for every letter of the command line (arguments_parse), so this cannot overflow. */
static int add_setting(cli_arguments *out, const cli_flag *flag, const char *option,
                       const char *value) {
    if (flag != NULL && check_value(flag, value) != EXIT_DONE)
        return EXIT_USAGE;
    out->settings[out->n_settings++] = (cli_setting){flag, option, value};
    return EXIT_DONE;
}

/* ---- parsing ------------------------------------------------------------------------------ */

/* The words not yet read. */
typedef struct reader {
    int at, count;
    char **words;
} reader;

/* --name value and --name=value. A flag of the command takes precedence over an option of a
 * method of the same name. A value may begin with a dash (--noise -1 is refused by its range,
 * not by its form). */
static int read_long(reader *in, cli_arguments *out) {
    const char *word = in->words[in->at++] + 2, *equals = strchr(word, '=');
    size_t length = equals == NULL ? strlen(word) : (size_t)(equals - word);
    char name[64];
    flag_name(word, length, name, sizeof name);
    const cli_flag *flag = find_flag(out->command, name);
    const char *option = flag == NULL ? find_option(out->command, name) : NULL;
    if (flag == NULL && option == NULL)
        return unknown_flag(out->command, word, length);
    if (flag != NULL && flag->kind == FLAG_SWITCH) {
        if (equals != NULL)
            return usage_error("--%s takes no value", flag->name);
        return add_setting(out, flag, NULL, "");
    }
    if (equals != NULL)
        return add_setting(out, flag, option, equals + 1);
    if (in->at == in->count)
        return usage_error("--%s needs a value%s%s%s", word, flag == NULL ? "" : " (",
                           flag == NULL ? "" : flag->value, flag == NULL ? "" : ")");
    return add_setting(out, flag, option, in->words[in->at++]);
}

/* -c10, -c 10, or several switches and then at most one that takes a value, as getopt() does. */
static int read_letters(reader *in, cli_arguments *out) {
    for (const char *letter = in->words[in->at++] + 1; *letter != '\0'; letter++) {
        const cli_flag *flag = find_letter(out->command, *letter);
        const char *option = flag == NULL ? find_option_letter(out->command, *letter) : NULL;
        if (flag == NULL && option == NULL)
            return unknown_letter(out->command, *letter);
        if (flag != NULL && flag->kind == FLAG_SWITCH) {
            (void)add_setting(out, flag, NULL, "");
            continue;
        }
        if (letter[1] != '\0')
            return add_setting(out, flag, option, letter + 1);
        if (in->at == in->count)
            return usage_error("-%c needs a value", *letter);
        return add_setting(out, flag, option, in->words[in->at++]);
    }
    return EXIT_DONE;
}

/* Operands and options may be mixed. "--" ends the options, and "-" alone is an operand. */
static int read_words(reader *in, cli_arguments *out) {
    bool only_operands = false;
    while (in->at < in->count) {
        char *word = in->words[in->at];
        int result = EXIT_DONE;
        if (only_operands || word[0] != '-' || word[1] == '\0') {
            out->operands[out->n_operands++] = word;
            in->at++;
        } else if (strcmp(word, "--") == 0) {
            only_operands = true;
            in->at++;
        } else if (word[1] == '-')
            result = read_long(in, out);
        else
            result = read_letters(in, out);
        if (result != EXIT_DONE)
            return result;
    }
    return EXIT_DONE;
}

/* The k-th word of "TRUTH LABELS", for the message about a missing operand. */
static void operand_name(const cli_command *command, int k, char *name, size_t size) {
    const char *start = command->operands;
    for (; k > 0 && strchr(start, ' ') != NULL; k--)
        start = strchr(start, ' ') + 1;
    snprintf(name, size, "%.*s", (int)strcspn(start, " "), start);
}

/* The name in the message is that of the first operand that is missing. */
static int check_operands(const cli_arguments *arguments) {
    const cli_command *command = arguments->command;
    char name[32];
    operand_name(command, arguments->n_operands, name, sizeof name);
    if (arguments->n_operands < command->min_operands)
        return usage_error("%s: missing %s; see huddle help %s", command->name, name,
                           command->name);
    if (arguments->n_operands > command->max_operands)
        return usage_error("%s: unexpected argument '%s'; see huddle help %s", command->name,
                           arguments->operands[command->max_operands], command->name);
    return EXIT_DONE;
}

/* A word such as -qqq sets one option per letter, so the number of letters bounds the number
 * of settings. With --help and --version the operands are not checked: they must work on their
 * own. */
int arguments_parse(const cli_command *command, int count, char **words, cli_arguments *out) {
    reader in = {0, count, words};
    size_t letters = 2;
    for (int i = 0; i < count; i++)
        letters += strlen(words[i]);
    out->command = command;
    out->operands = check_allocation(calloc((size_t)count + 1, sizeof *out->operands));
    out->settings = check_allocation(calloc(letters, sizeof *out->settings));
    int result = read_words(&in, out);
    if (result != EXIT_DONE || argument(out, "help") != NULL || argument(out, "version") != NULL)
        return result;
    return check_operands(out);
}

/* arguments_parse() leaves room for one. */
void arguments_add(cli_arguments *arguments, const char *name, const char *value) {
    const cli_flag *flag = find_flag(arguments->command, name);
    if (flag != NULL)
        arguments->settings[arguments->n_settings++] = (cli_setting){flag, NULL, value};
}

void arguments_free(cli_arguments *arguments) {
    free(arguments->operands);
    free(arguments->settings);
    *arguments = (struct cli_arguments){0};
}

/* ---- access ------------------------------------------------------------------------------- */

/* A setting has either a flag or an option. */
static bool is_named(const cli_setting *setting, const char *name) {
    return strcmp(setting->flag != NULL ? setting->flag->name : setting->option, name) == 0;
}

/* The last one wins, so that a command line can be extended to override what precedes. */
const char *argument(const cli_arguments *arguments, const char *name) {
    for (int i = arguments->n_settings - 1; i >= 0; i--)
        if (is_named(&arguments->settings[i], name))
            return arguments->settings[i].value;
    return NULL;
}

/* The value was checked by the parser, so the conversion cannot fail. */
int64_t argument_count(const cli_arguments *arguments, const char *name, int64_t default_value) {
    const char *text = argument(arguments, name);
    return text == NULL ? default_value : strtoll(text, NULL, 10);
}

double argument_number(const cli_arguments *arguments, const char *name, double default_value) {
    const char *text = argument(arguments, name);
    return text == NULL ? default_value : strtod(text, NULL);
}

/* For flags that may be repeated; for others argument() returns the last. */
const char **argument_all(const cli_arguments *arguments, const char *name, int64_t *count) {
    const char **all = check_allocation(calloc((size_t)arguments->n_settings + 1, sizeof *all));
    *count = 0;
    for (int i = 0; i < arguments->n_settings; i++)
        if (is_named(&arguments->settings[i], name))
            all[(*count)++] = arguments->settings[i].value;
    return all;
}
