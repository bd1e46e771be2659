/* Suggestions in messages: which options make the table readable. */
#include "io/csv.h"

#include "io/number.h"

#include <stdio.h>
#include <string.h>

/* A phrase that is marked when it is cut off. */
typedef struct line {
    hd_io_phrase phrase;
    size_t used;
    bool full;
} line;

/* Once something did not fit, nothing more is added: a shorter text after it would leave a gap
 * unnoticed. Five bytes are reserved for " ..." and its zero. */
static void add_text(line *to, const char *text) {
    size_t length = strlen(text);
    if (to->full)
        return;
    to->full = to->used + length + 5 > sizeof to->phrase.text;
    memcpy(to->phrase.text + to->used, to->full ? " ..." : text, to->full ? 5 : length + 1);
    to->used += length;
}

/* Characters that no shell treats specially; a leading '-' would be taken for an option. */
static bool is_shell_safe(const char *name) {
    static const char safe[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.,:/@%+-";
    return name[0] != '\0' && name[0] != '-' && name[strspn(name, safe)] == '\0';
}

/* Quoted for a shell, or in double quotes. A single quote cannot be escaped inside single
 * quotes in a shell: the quoting is closed, '\'' added, and opened again. Eight bytes are kept
 * for the longest of these and the closing quote. */
static hd_io_phrase quote_name(const char *name, bool shell) {
    enum { SIZE = 256 };
    hd_io_phrase quoted = {0};
    char *to = quoted.text, mark = shell ? '\'' : '"';
    if (shell && is_shell_safe(name)) {
        snprintf(to, SIZE, "%s", name);
        return quoted;
    }
    *to++ = mark;
    for (; *name != '\0' && to - quoted.text + 8 < SIZE; name++) {
        if (*name == mark)
            to = stpcpy(to, shell ? "'\\''" : "\\\"");
        else
            *to++ = *name;
    }
    *to++ = mark;
    *to = '\0';
    return quoted;
}

/* On the command line --x is repeated for each column; in a program the columns are a list. */
static void add_choice(line *to, const huddle_read_options *options, const char *name, bool first) {
    if (options->hints_as_flags)
        add_text(to, first ? "--x " : " --x ");
    else if (!first)
        add_text(to, ", ");
    add_text(to, quote_name(name, options->hints_as_flags).text);
}

/* True if a name is a number that is not its own position: "3" would then select by name, so a
 * suggestion by position would choose the wrong column. */
static bool has_false_positions(const hd_io_layout *layout) {
    for (int64_t c = 0; layout->names != NULL && c < layout->columns; c++) {
        int64_t value;
        const char *name = layout->names[c];
        if (hd_io_number_whole(name, name + strlen(name), &value) && value != c + 1)
            return true;
    }
    return false;
}

/* True if the columns should be chosen by their names: all have one that is short and leads
 * back to the same column (names may repeat), and there are not too many. Positions are not
 * used where they could be mistaken for names. */
static bool has_good_names(const hd_io_layout *layout, const int64_t *columns, int64_t count) {
    enum { MAX_NAMES = 12, LONGEST = 100 };
    for (int64_t k = 0; k < count; k++) {
        const char *name = hd_io_layout_name(layout, columns[k]);
        if (name[0] == '\0' || strlen(name) > LONGEST ||
            hd_io_layout_column(layout, name) != columns[k])
            return false;
    }
    return count <= MAX_NAMES || has_false_positions(layout);
}

/* By position, runs of adjacent columns become ranges: a suggestion for hundreds of pixels
 * must stay readable. */
hd_io_phrase hd_io_hint_columns(const huddle_read_options *options, const hd_io_layout *layout,
                                const int64_t *columns, int64_t count) {
    line to = {.used = 0};
    bool names = has_good_names(layout, columns, count);
    if (!options->hints_as_flags)
        add_text(&to, "x = [");
    for (int64_t k = 0, last; k < count; k = last + 1) {
        char range[48];
        last = k;
        while (!names && last + 1 < count && columns[last + 1] == columns[last] + 1)
            last++;
        int used = snprintf(range, sizeof range, "%lld", (long long)columns[k] + 1);
        if (last > k)
            snprintf(range + used, sizeof range - (size_t)used, "-%lld",
                     (long long)columns[last] + 1);
        add_choice(&to, options, names ? hd_io_layout_name(layout, columns[k]) : range, k == 0);
    }
    if (!options->hints_as_flags)
        add_text(&to, "]");
    return to.phrase;
}

/* A position is used if the name is missing, ambiguous or long: see has_good_names(). */
hd_io_phrase hd_io_hint_column(const huddle_read_options *options, const char *option,
                               const hd_io_layout *layout, int64_t column) {
    char position[24];
    hd_io_phrase phrase;
    snprintf(position, sizeof position, "%lld", (long long)column + 1);
    const char *name =
        has_good_names(layout, &column, 1) ? hd_io_layout_name(layout, column) : position;
    snprintf(phrase.text, sizeof phrase.text, options->hints_as_flags ? "--%s %s" : "%s = %s",
             option, quote_name(name, options->hints_as_flags).text);
    return phrase;
}

/* The same advice as a flag of the tool or as an option of the library. */
hd_io_phrase hd_io_hint(const huddle_read_options *options, const char *name, const char *value) {
    hd_io_phrase phrase;
    if (options->hints_as_flags)
        snprintf(phrase.text, sizeof phrase.text, "--%s%s%s", name, value != NULL ? " " : "",
                 value != NULL ? value : "");
    else if (value != NULL)
        snprintf(phrase.text, sizeof phrase.text, "%s = \"%s\"", name, value);
    else
        snprintf(phrase.text, sizeof phrase.text, "%s = true", name);
    return phrase;
}
