/* Reading, writing and checking options by their tables. Every value has exactly one text, and a
 * struct is checked by writing its values as text and reading them again, so that there is only one
 * set of rules. */
#include "base/options.h"

#include "base/check.h"
#include "base/text.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The value of an option of any type. */
typedef union value {
    int32_t integer;
    uint64_t seed;
    double real;
    bool boolean;
    const char *choice;
    huddle_rule rule;
    huddle_range range;
    huddle_numbers numbers;
} value;

/* Values are copied to and from the caller's struct by their size, since the struct's type is
 * unknown here. */
static const size_t value_sizes[] = {[HUDDLE_OPTION_INT] = sizeof(int32_t),
                                     [HUDDLE_OPTION_SEED] = sizeof(uint64_t),
                                     [HUDDLE_OPTION_REAL] = sizeof(double),
                                     [HUDDLE_OPTION_BOOL] = sizeof(bool),
                                     [HUDDLE_OPTION_CHOICE] = sizeof(const char *),
                                     [HUDDLE_OPTION_RULE] = sizeof(huddle_rule),
                                     [HUDDLE_OPTION_RANGE] = sizeof(huddle_range),
                                     [HUDDLE_OPTION_NUMBERS] = sizeof(huddle_numbers)};

/* ---- text to value: each returns false if the text is not a value of the option ------------ */

/* False for NaN. Bounds of integer options are at most INT32_MAX, which a double represents
 * exactly. */
static bool is_within_bounds(const huddle_option *option, double number) {
    return number >= option->min && number <= option->max;
}

/* Reads an integer within the bounds at the beginning of the text, without the blanks and the "+"
 * that strtoll() would accept; *rest is what follows it. errno reports numbers beyond long long. */
static bool parse_int(const huddle_option *option, const char *text, const char **rest,
                      int32_t *number) {
    char *end;
    if (!isdigit((unsigned char)text[0]) && !(text[0] == '-' && isdigit((unsigned char)text[1])))
        return false;
    errno = 0;
    long long parsed = strtoll(text, &end, 10);
    *number = (int32_t)parsed;
    *rest = end;
    return errno == 0 && is_within_bounds(option, (double)parsed);
}

/* All 64 bits are allowed, which parse_int() could not read; strtoull() would accept a sign. */
static bool parse_seed(const char *text, value *out) {
    char *end;
    if (!isdigit((unsigned char)text[0]))
        return false;
    errno = 0;
    out->seed = strtoull(text, &end, 10);
    return errno == 0 && *end == '\0';
}

/* strtod() would skip blanks at the beginning and accept "inf" and "nan". */
static bool parse_number(const huddle_option *option, const char *text, const char **rest,
                         double *number) {
    char *end;
    if (text[0] == '\0' || isspace((unsigned char)text[0]))
        return false;
    locale_t before = hd_enter_c_locale();
    *number = strtod(text, &end);
    hd_leave_c_locale(before);
    *rest = end;
    return isfinite(*number) && is_within_bounds(option, *number);
}

static bool parse_real(const huddle_option *option, const char *text, value *out) {
    const char *rest;
    return parse_number(option, text, &rest, &out->real) && *rest == '\0';
}

static bool parse_bool(const char *text, value *out) {
    out->boolean = strcmp(text, "true") == 0;
    return out->boolean || strcmp(text, "false") == 0;
}

/* The table's own pointer is stored: it outlives the text of the caller. */
static bool parse_choice(const huddle_option *option, const char *text, value *out) {
    for (const char *const *choice = option->choices; *choice != NULL; choice++)
        if (strcmp(text, *choice) == 0) {
            out->choice = *choice;
            return true;
        }
    return false;
}

/* Length of "pca" in a choice written "pca:R"; 0 if the choice takes no number. */
static size_t numbered_length(const char *choice) {
    size_t length = strlen(choice);
    return length > 2 && strcmp(choice + length - 2, ":R") == 0 ? length - 2 : 0;
}

/* "unit", or "pca:40" for the choice "pca:R". */
static bool parse_rule(const huddle_option *option, const char *text, value *out) {
    for (const char *const *choice = option->choices; *choice != NULL; choice++) {
        size_t length = numbered_length(*choice);
        const char *rest;
        int32_t number;
        if (length == 0 && strcmp(text, *choice) == 0) {
            out->rule = (huddle_rule){*choice, 0};
            return true;
        }
        /* The ':' must follow at once: "pcax:3" is not "pca:R". */
        if (length == 0 || strncmp(text, *choice, length) != 0 || text[length] != ':')
            continue;
        if (!parse_int(option, text + length + 1, &rest, &number) || *rest != '\0')
            return false;
        out->rule = (huddle_rule){*choice, number};
        return true;
    }
    return false;
}

/* "7", or "2-20" with the smaller number first. A "-" after a number separates, it is not a
 * sign. */
static bool parse_range(const huddle_option *option, const char *text, value *out) {
    huddle_range *range = &out->range;
    const char *rest;
    if (!parse_int(option, text, &rest, &range->first))
        return false;
    range->last = range->first;
    if (*rest == '-' && !parse_int(option, rest + 1, &rest, &range->last))
        return false;
    return *rest == '\0' && range->first <= range->last;
}

/* "auto", or "2,1,0.5". */
static bool parse_numbers(const huddle_option *option, const char *text, value *out) {
    huddle_numbers *numbers = &out->numbers;
    value word;
    if (parse_choice(option, text, &word)) {
        numbers->name = word.choice;
        return true;
    }
    for (const char *rest = text; numbers->count < HUDDLE_MAX_NUMBERS; text = rest + 1) {
        if (!parse_number(option, text, &rest, &numbers->values[numbers->count++]))
            return false;
        if (*rest != ',')
            return *rest == '\0';
    }
    return false;
}

/* All bytes of the value are set, so that structs can be compared and stored as a whole. */
static bool parse_value(const huddle_option *option, const char *text, value *out) {
    bool is_auto = option->allows_auto && strcmp(text, "auto") == 0;
    const char *rest;
    memset(out, 0, sizeof *out);
    switch (option->type) {
    case HUDDLE_OPTION_INT:
        out->integer = HUDDLE_AUTO;
        return is_auto || (parse_int(option, text, &rest, &out->integer) && *rest == '\0');
    case HUDDLE_OPTION_SEED:
        return parse_seed(text, out);
    case HUDDLE_OPTION_REAL:
        out->real = HUDDLE_AUTO;
        return is_auto || parse_real(option, text, out);
    case HUDDLE_OPTION_BOOL:
        return parse_bool(text, out);
    case HUDDLE_OPTION_CHOICE:
        return parse_choice(option, text, out);
    case HUDDLE_OPTION_RULE:
        return parse_rule(option, text, out);
    case HUDDLE_OPTION_RANGE:
        out->range = (huddle_range){HUDDLE_AUTO, HUDDLE_AUTO};
        return is_auto || parse_range(option, text, out);
    case HUDDLE_OPTION_NUMBERS:
        return parse_numbers(option, text, out);
    case HUDDLE_OPTION_END:
        break;
    }
    return false;
}

/* ---- value to text ------------------------------------------------------------------------ */

/* The numbers, separated by commas. */
static void format_numbers(const huddle_numbers *numbers, char *text, size_t size) {
    size_t used = 0;
    if (size > 0)
        text[0] = '\0';
    for (int32_t k = 0; k < numbers->count && used < size; k++) {
        char number[32];
        huddle_format_real(numbers->values[k], number, sizeof number);
        used += (size_t)snprintf(text + used, size - used, "%s%s", k == 0 ? "" : ",", number);
    }
}

/* The text that parse_value() reads as the same value; "" for a choice that is not set, which
 * parse_value() refuses. */
static void format_value(const huddle_option *option, const value *in, char *text, size_t size) {
    switch (option->type) {
    case HUDDLE_OPTION_INT:
        if (option->allows_auto && in->integer == HUDDLE_AUTO)
            snprintf(text, size, "auto");
        else
            snprintf(text, size, "%d", in->integer);
        break;
    case HUDDLE_OPTION_SEED:
        snprintf(text, size, "%llu", (unsigned long long)in->seed);
        break;
    case HUDDLE_OPTION_REAL:
        if (option->allows_auto && in->real == HUDDLE_AUTO)
            snprintf(text, size, "auto");
        else
            huddle_format_real(in->real, text, size);
        break;
    case HUDDLE_OPTION_BOOL:
        snprintf(text, size, "%s", in->boolean ? "true" : "false");
        break;
    case HUDDLE_OPTION_CHOICE:
        snprintf(text, size, "%s", in->choice == NULL ? "" : in->choice);
        break;
    case HUDDLE_OPTION_RULE:
        if (in->rule.name == NULL || numbered_length(in->rule.name) == 0)
            snprintf(text, size, "%s", in->rule.name == NULL ? "" : in->rule.name);
        else
            snprintf(text, size, "%.*s:%d", (int)numbered_length(in->rule.name), in->rule.name,
                     in->rule.r);
        break;
    case HUDDLE_OPTION_RANGE:
        if (option->allows_auto && in->range.first == HUDDLE_AUTO)
            snprintf(text, size, "auto");
        else if (in->range.first == in->range.last)
            snprintf(text, size, "%d", in->range.first);
        else
            snprintf(text, size, "%d-%d", in->range.first, in->range.last);
        break;
    case HUDDLE_OPTION_NUMBERS:
        if (in->numbers.name != NULL)
            snprintf(text, size, "%s", in->numbers.name);
        else
            format_numbers(&in->numbers, text, size);
        break;
    case HUDDLE_OPTION_END:
        break;
    }
}

/* Appends as much as fits. */
static void append_text(char *text, size_t size, const char *more) {
    size_t length = strlen(text);
    if (length < size)
        snprintf(text + length, size - length, "%s", more);
}

/* "integer in [1, 100]", or "integer >= 1" where the upper bound is the largest number of the type,
 * unless that bound is what matters. */
static void append_bounds(const huddle_option *option, bool exact, char *text, size_t size) {
    char low[40], high[40], bounds[128];
    bool whole = option->type != HUDDLE_OPTION_REAL;
    huddle_format_real(option->min, low, sizeof low);
    huddle_format_real(option->max, high, sizeof high);
    bool open = !isfinite(option->max) || (whole && option->max >= INT32_MAX && !exact);
    const char *kind = whole ? "integer" : "number";
    if (open)
        snprintf(bounds, sizeof bounds, "%s >= %s", kind, low);
    else
        snprintf(bounds, sizeof bounds, "%s in [%s, %s]", kind, low, high);
    append_text(text, size, bounds);
}

/* For help texts and error messages alike, so that both agree with parse_value(). */
static void describe(const huddle_option *option, bool exact, char *text, size_t size) {
    text[0] = '\0';
    if (option->allows_auto)
        append_text(text, size, option->type == HUDDLE_OPTION_RANGE ? "auto, " : "auto or ");
    switch (option->type) {
    case HUDDLE_OPTION_INT:
    case HUDDLE_OPTION_REAL:
        append_bounds(option, exact, text, size);
        break;
    case HUDDLE_OPTION_RANGE:
        append_bounds(option, exact, text, size);
        append_text(text, size, ", or range such as 2-20");
        break;
    case HUDDLE_OPTION_SEED:
        append_text(text, size, exact ? "integer in [0, 18446744073709551615]" : "integer >= 0");
        break;
    case HUDDLE_OPTION_BOOL:
        append_text(text, size, "true|false");
        break;
    case HUDDLE_OPTION_CHOICE:
    case HUDDLE_OPTION_RULE:
        for (const char *const *choice = option->choices; *choice != NULL; choice++) {
            append_text(text, size, choice == option->choices ? "" : "|");
            append_text(text, size, *choice);
        }
        break;
    case HUDDLE_OPTION_NUMBERS:
        for (const char *const *choice = option->choices; *choice != NULL; choice++) {
            append_text(text, size, *choice);
            append_text(text, size, "|");
        }
        append_text(text, size, "numbers");
        break;
    case HUDDLE_OPTION_END:
        break;
    }
}

void huddle_option_allowed(const huddle_option *option, char *text, size_t size) {
    describe(option, false, text, size);
}

/* ---- tables ------------------------------------------------------------------------------- */

const huddle_option *huddle_option_find(const huddle_option *table, const char *name) {
    for (; table->type != HUDDLE_OPTION_END; table++)
        if (strcmp(table->name, name) == 0)
            return table;
    return NULL;
}

/* A misspelt option must fail with a hint: ignoring it would give results for other settings than
 * the user believes. */
static huddle_status unknown_option(const huddle_option *table, const char *name) {
    const char *nearest = NULL;
    int distance = HUDDLE_SUGGEST_DISTANCE;
    for (; table->type != HUDDLE_OPTION_END; table++)
        huddle_suggest_name(name, table->name, &distance, &nearest);
    if (nearest != NULL)
        return hd_fail(HUDDLE_INVALID, "no option named '%s'; did you mean '%s'?", name, nearest);
    return hd_fail(HUDDLE_INVALID, "no option named '%s'", name);
}

/* Whether a number is an integer as the option wants it, but one that its type cannot hold. */
static bool is_too_large(const huddle_option *option, const char *text) {
    char *end;
    const char *dash = option->type == HUDDLE_OPTION_RANGE ? strrchr(text, '-') : NULL;
    const char *last = dash != NULL ? dash + 1 : text; /* of a range */
    double number = strtod(last, &end);
    if (end == last || *end != '\0' || !isfinite(number))
        return false;
    if (option->type == HUDDLE_OPTION_SEED)
        return number > (double)INT64_MAX; /* all smaller ones are accepted */
    return (option->type == HUDDLE_OPTION_INT || option->type == HUDDLE_OPTION_RANGE) &&
           number > option->max;
}

/* Whether it is an integer that the option could hold, but written otherwise: 1e6, 10.0. */
static bool lacks_digits(const huddle_option *option, const char *text) {
    char *end;
    double number = strtod(text, &end);
    return option->type == HUDDLE_OPTION_INT && end != text && *end == '\0' &&
           number == trunc(number) && number >= option->min && number <= option->max;
}

/* "NAME = TEXT: expected ...", with the values that the option accepts. */
static huddle_status report_misfit(const huddle_option *option, const char *text) {
    char allowed[256];
    describe(option, is_too_large(option, text), allowed, sizeof allowed);
    return hd_fail(HUDDLE_INVALID, "%s = %s: expected %s%s%s", option->name, text,
                   option->choices != NULL ? "one of " : "", allowed,
                   lacks_digits(option, text) ? ", in digits" : "");
}

/* Defaults are texts in the table, read like any other value, so that the documented default is the
 * one in effect. */
void huddle_options_default(const huddle_option *table, void *options) {
    for (; table->type != HUDDLE_OPTION_END; table++) {
        value parsed;
        (void)parse_value(table, table->default_text, &parsed); /* a test reads every default */
        memcpy((char *)options + table->offset, &parsed, value_sizes[table->type]);
    }
}

huddle_status huddle_options_set(const huddle_option *table, void *options, const char *name,
                                 const char *text) {
    value parsed;
    const huddle_option *option = huddle_option_find(table, name);
    if (option == NULL)
        return unknown_option(table, name);
    if (!parse_value(option, text, &parsed))
        return report_misfit(option, text);
    memcpy((char *)options + option->offset, &parsed, value_sizes[option->type]);
    return HUDDLE_OK;
}

static void load_value(const huddle_option *option, const void *options, value *out) {
    memset(out, 0, sizeof *out);
    memcpy(out, (const char *)options + option->offset, value_sizes[option->type]);
}

huddle_status huddle_options_get(const huddle_option *table, const void *options, const char *name,
                                 char *text, size_t size) {
    value stored;
    const huddle_option *option = huddle_option_find(table, name);
    if (option == NULL)
        return unknown_option(table, name);
    load_value(option, options, &stored);
    format_value(option, &stored, text, size);
    return HUDDLE_OK;
}

/* For structs that a program has filled in directly. Every value is formatted and parsed again, so
 * that the rules for texts are the only rules. */
huddle_status huddle_options_check(const huddle_option *table, const void *options) {
    for (; table->type != HUDDLE_OPTION_END; table++) {
        value stored, again;
        char text[HUDDLE_OPTION_TEXT];
        load_value(table, options, &stored);
        format_value(table, &stored, text, sizeof text);
        if (!parse_value(table, text, &again))
            return report_misfit(table, text);
    }
    return HUDDLE_OK;
}

int64_t hd_options_count(const huddle_option *table) {
    int64_t count = 0;
    while (table[count].type != HUDDLE_OPTION_END)
        count++;
    return count;
}
