#include "cli/arguments.h"

#include "cli/catalogue.h"
#include "cli/messages.h"
#include "cli/text.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- lookup ------------------------------------------------------------------------------- */

/* What a command accepts by this name or letter, and the nearest of its names: one that begins so,
 * or that differs in few letters. */
typedef struct lookup {
    const char *name; /* or NULL */
    char letter;      /* or 0 */
    const cli_flag *flag;
    const char *option; /* of a method or stage, if it is no flag */
    const char *best, *longer;
    int distance;
} lookup;

/* n_clusters is --n-clusters. */
static bool is_same_name(const char *word, const char *name) {
    for (; *word != '\0' && (*word == *name || (*word == '-' && *name == '_')); word++)
        name++;
    return *word == *name;
}

static bool is_found(lookup *look, const char *name, char letter) {
    if (look->name == NULL)
        return letter == look->letter;
    if (is_same_name(look->name, name))
        return true;
    size_t length = strlen(look->name);
    huddle_suggest_name(look->name, name, &look->distance, &look->best);
    if (length >= 3 && strncmp(name, look->name, length) == 0)
        look->longer = name;
    return false;
}

/* A flag of the command takes precedence over an option of a method of the same name. */
static bool find(const cli_command *command, lookup *look) {
    look->distance = HUDDLE_SUGGEST_DISTANCE;
    for (const flag_group *group = command->groups; group->flags != NULL; group++)
        for (look->flag = group->flags; look->flag->kind != FLAG_END; look->flag++)
            if (is_found(look, look->flag->name, look->flag->letter))
                return true;
    look->flag = NULL;
    FOR_EACH_OPTION(option, command->methods) {
        look->option = option->name;
        if (is_found(look, option->flag, option->letter))
            return true;
    }
    const huddle_option *row = command->stage == NULL ? NULL : command->stage();
    for (; row != NULL && row->type != HUDDLE_OPTION_END; row++) {
        look->option = row->name;
        if (is_found(look, row->name, option_letter(row->name)))
            return true;
    }
    look->option = NULL;
    return false;
}

/* Names that options have in other programs, and their letters. A letter may have several meanings;
 * the first that a command has is suggested. */
static const struct {
    const char *own, *others[5], *letters;
} synonyms[] = {{"n-clusters", {"k", "clusters", "num-clusters", "n-components"}, "kKn"},
                {"n-neighbors", {"knn", "neighbors", "neighbours"}, ""},
                {"method", {"algorithm"}, "a"},
                {"weights", {"affinity"}, ""},
                {"prepare", {"scale", "normalize", "standardize"}, ""},
                {"seed", {NULL}, "s"},
                {"n-threads", {"threads", "jobs", "cores", "workers"}, "tp"},
                {"output", {"out", "outfile"}, ""},
                {"save", {"model"}, ""},
                {"y", {"label", "labels", "target", "truth"}, "yl"},
                {"x", {"features", "columns"}, "x"},
                {"missing", {"na"}, ""},
                {"encode", {"one-hot"}, ""},
                {"n", {"samples", "n-samples"}, "n"},
                {"report", {"html", "plot"}, "r"},
                {"quiet", {"silent"}, ""},
                {"verbose", {"debug"}, ""}};

/* The command's own name for a name or, if that is NULL, a letter of others; NULL if it has none.
 */
static const char *find_synonym(const cli_command *command, const char *name, char letter,
                                lookup *meant) {
    for (size_t i = 0; i < sizeof synonyms / sizeof *synonyms; i++) {
        bool same = name == NULL && strchr(synonyms[i].letters, letter) != NULL;
        for (const char *const *other = synonyms[i].others; name != NULL && *other != NULL; other++)
            same = same || strcmp(*other, name) == 0;
        *meant = (lookup){.name = synonyms[i].own};
        if (same && find(command, meant))
            return synonyms[i].own;
    }
    return NULL;
}

static int unknown_flag(const cli_command *command, const lookup *look, const char *word,
                        size_t length) {
    char name[64], flag[64];
    lookup meant;
    snprintf(name, sizeof name, "%.*s", (int)length, word);
    const char *best = find_synonym(command, look->name, 0, &meant);
    if (best == NULL)
        best = look->longer != NULL ? look->longer : look->best;
    if (best == NULL)
        return usage_error("%s has no option --%s; see huddle help %s", command->name, name,
                           command->name);
    option_flag(best, flag, sizeof flag);
    return usage_error("%s has no option --%s; did you mean --%s?", command->name, name, flag);
}

static int unknown_letter(const cli_command *command, char letter) {
    lookup meant;
    const char *name = find_synonym(command, NULL, letter, &meant);
    if (name == NULL)
        return usage_error("%s has no option -%c; see huddle help %s", command->name, letter,
                           command->name);
    char own = meant.flag != NULL ? meant.flag->letter : option_letter(meant.option);
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
    for (const char *const *choice = flag_choices(flag); *choice != NULL; choice++) {
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
        for (const char *const *choice = flag_choices(flag); *choice != NULL; choice++)
            if (strlen(*choice) == length && strncmp(value, *choice, length) == 0)
                return EXIT_DONE;
        return wrong_choice(flag, value);
    }
    if (value[0] == '\0' && flag->kind != FLAG_SWITCH)
        return usage_error("--%s needs a value (%s)", flag->name, flag->value);
    return EXIT_DONE;
}

/* There is room for every letter of the command line (arguments_parse), so this cannot overflow. */
static int add_setting(cli_arguments *out, const lookup *look, const char *value) {
    if (look->flag != NULL && check_value(look->flag, value) != EXIT_DONE)
        return EXIT_USAGE;
    out->settings[out->n_settings++] = (cli_setting){look->flag, look->option, value};
    return EXIT_DONE;
}

/* ---- parsing ------------------------------------------------------------------------------ */

/* The words not yet read. */
typedef struct reader {
    int at, count;
    char **words;
} reader;

/* The name to look up for what follows "--": with dashes instead of underscores, and the tool's own
 * name for one of scikit-learn's, which the Python package uses. */
static void read_name(const char *word, size_t length, char *name, size_t size) {
    static const char *const accepted[][2] = {{"random-state", "seed"}, {"n-jobs", "n-threads"}};
    char given[64];
    snprintf(given, sizeof given, "%.*s", (int)length, word);
    option_flag(given, name, size);
    for (size_t i = 0; i < sizeof accepted / sizeof *accepted; i++)
        if (strcmp(name, accepted[i][0]) == 0)
            snprintf(name, size, "%s", accepted[i][1]);
}

/* --name value and --name=value. A value may begin with a dash (--noise -1 is refused by its range,
 * not by its form). */
static int read_long(reader *in, cli_arguments *out) {
    const char *word = in->words[in->at++] + 2, *equals = strchr(word, '=');
    size_t length = equals == NULL ? strlen(word) : (size_t)(equals - word);
    char name[64];
    lookup look = {.name = name};
    read_name(word, length, name, sizeof name);
    if (!find(out->command, &look))
        return unknown_flag(out->command, &look, word, length);
    const cli_flag *flag = look.flag;
    if (flag != NULL && flag->kind == FLAG_SWITCH)
        return equals == NULL ? add_setting(out, &look, "")
                              : usage_error("--%s takes no value", flag->name);
    if (equals != NULL)
        return add_setting(out, &look, equals + 1);
    if (in->at == in->count)
        return usage_error("--%s needs a value%s%s%s", word, flag == NULL ? "" : " (",
                           flag == NULL ? "" : flag->value, flag == NULL ? "" : ")");
    return add_setting(out, &look, in->words[in->at++]);
}

/* -c10, -c 10, or several switches and then at most one that takes a value, as getopt() does. */
static int read_letters(reader *in, cli_arguments *out) {
    for (const char *letter = in->words[in->at++] + 1; *letter != '\0'; letter++) {
        lookup look = {.letter = *letter};
        if (!find(out->command, &look))
            return unknown_letter(out->command, *letter);
        if (look.flag != NULL && look.flag->kind == FLAG_SWITCH) {
            (void)add_setting(out, &look, "");
            continue;
        }
        if (letter[1] != '\0')
            return add_setting(out, &look, letter + 1);
        if (in->at == in->count)
            return usage_error("-%c needs a value", *letter);
        return add_setting(out, &look, in->words[in->at++]);
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
    lookup look = {.name = name};
    if (find(arguments->command, &look))
        (void)add_setting(arguments, &look, value);
}

int arguments_set_options(const cli_arguments *arguments, const huddle_option *table,
                          void *options) {
    for (int i = 0; i < arguments->n_settings; i++) {
        const cli_setting *setting = &arguments->settings[i];
        if (setting->option != NULL && huddle_option_find(table, setting->option) != NULL &&
            huddle_options_set(table, options, setting->option, setting->value) != HUDDLE_OK)
            return usage_error("%s", huddle_last_error());
    }
    return EXIT_DONE;
}

void arguments_free(cli_arguments *arguments) {
    free(arguments->operands);
    free(arguments->settings);
    *arguments = (struct cli_arguments){0};
}

/* ---- access ------------------------------------------------------------------------------- */

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

const char *argument_any(const cli_arguments *arguments, const char *const *names) {
    while (*names != NULL && argument(arguments, *names) == NULL)
        names++;
    return *names;
}

int64_t argument_count(const cli_arguments *arguments, const char *name, int64_t default_value) {
    const char *text = argument(arguments, name);
    return text == NULL ? default_value : strtoll(text, NULL, 10);
}

double argument_number(const cli_arguments *arguments, const char *name, double default_value) {
    const char *text = argument(arguments, name);
    return text == NULL ? default_value : strtod(text, NULL);
}

const char **argument_all(const cli_arguments *arguments, const char *name, int64_t *count) {
    const char **all = check_allocation(calloc((size_t)arguments->n_settings + 1, sizeof *all));
    *count = 0;
    for (int i = 0; i < arguments->n_settings; i++)
        if (is_named(&arguments->settings[i], name))
            all[(*count)++] = arguments->settings[i].value;
    return all;
}
