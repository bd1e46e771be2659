/* Which column of a table is a feature, which the labels, and which is left out. */
#include "io/csv.h"

#include "base/check.h"
#include "base/text.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* ---- roles ---------------------------------------------------------------------------------- */

huddle_status hd_io_plan_set_role(hd_io_plan *plan, int64_t column, huddle_column_role role,
                                  const char *format, ...) {
    char reason[160];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(reason, sizeof reason, format, arguments);
    va_end(arguments);
    huddle_free(plan->columns[column].reason);
    plan->columns[column].role = role;
    return hd_io_copy_text(reason, "a line of text", &plan->columns[column].reason);
}

/* Makes it the column that names the rows, if it is the first and of texts. Numbers are ignored:
 * they are shown as those of the rows anyway. */
static huddle_status take_names(hd_io_plan *plan, int64_t column, const char *reason) {
    if (plan->names >= 0 || plan->layout->kinds[column].kind != HD_IO_WORDS)
        return hd_io_plan_set_role(plan, column, HUDDLE_COLUMN_IGNORED, "row names, %s", reason);
    plan->names = column;
    return hd_io_plan_set_role(plan, column, HUDDLE_COLUMN_NAMES, "%s", reason);
}

/* Names because there are so many of them. */
static huddle_status take_many_names(hd_io_plan *plan, int64_t column, int64_t distinct,
                                     int64_t rows) {
    char reason[100];
    snprintf(reason, sizeof reason, "%lld distinct value%s in %lld row%s", (long long)distinct,
             distinct == 1 ? "" : "s", (long long)rows, rows == 1 ? "" : "s");
    return take_names(plan, column, reason);
}

static void take_feature(hd_io_plan *plan, int64_t column, bool text) {
    plan->columns[column].role = HUDDLE_COLUMN_FEATURE;
    plan->roles[column] = text ? hd_io_text_role(plan->n_texts++) : (int32_t)plan->d++;
    plan->styled = plan->styled || (!text && plan->layout->kinds[column].decimal != '.');
}

static bool labels_wanted(const hd_io_plan *plan) {
    return !plan->from_files && !hd_io_labels_unwanted(plan->request->options);
}

/* The label must be text 0, so its role is given out before those of encoded columns. */
static void take_label(hd_io_plan *plan) {
    if (plan->label >= 0 && labels_wanted(plan))
        plan->roles[plan->label] = hd_io_text_role(plan->n_texts++);
}

static void forget_reason(hd_io_plan *plan, int64_t column) {
    huddle_free(plan->columns[column].reason);
    plan->columns[column].reason = NULL;
}

/* Rejects labels whose values identify the rows. */
static huddle_status reject_names(hd_io_plan *plan) {
    int64_t column = plan->label;
    if (column < 0 || !plan->facts[column].known || hd_io_labels_needed(plan) ||
        !hd_io_is_no_label(plan, column, plan->guessed))
        return HUDDLE_OK;
    plan->label = -1;
    plan->guessed = false;
    return hd_io_plan_reject_label(plan, column, plan->facts[column].distinct, plan->pieces->rows);
}

/* ---- features that were named --------------------------------------------------------------- */

/* What a column is used for by those who name features. */
enum { UNUSED, NUMBERS, TEXTS };

/* "3", "age" or "2-64" as columns first .. last. The whole text is looked up first, because
 * names may contain '-'. */
static bool find_columns(const hd_io_layout *layout, const char *text, int64_t *first,
                         int64_t *last) {
    char copy[64];
    *first = *last = hd_io_layout_column(layout, text);
    if (*first >= 0)
        return true;
    snprintf(copy, sizeof copy, "%s", text);
    char *dash = strchr(copy, '-');
    if (strlen(text) >= sizeof copy || dash == NULL)
        return false;
    *dash = '\0';
    *first = hd_io_layout_column(layout, copy);
    *last = hd_io_layout_column(layout, dash + 1);
    return *first >= 0 && *last >= *first;
}

static huddle_status list_named(hd_io_plan *plan, uint8_t *uses) {
    const huddle_read_options *options = plan->request->options;
    for (int64_t k = 0; k < options->n_x; k++) {
        int64_t first, last;
        if (!find_columns(plan->layout, options->x[k], &first, &last))
            return hd_io_no_such_column(plan->layout, options->x[k], false);
        for (int64_t c = first; c <= last; c++) {
            bool words = plan->layout->kinds[c].kind == HD_IO_WORDS;
            if (uses[c] != UNUSED)
                return hd_fail(HUDDLE_INVALID, "column %lld is chosen twice", (long long)c + 1);
            uses[c] = words && options->encode ? TEXTS : NUMBERS;
            plan->chosen[plan->n_chosen++] = c;
        }
    }
    return HUDDLE_OK;
}

/* "age" is a column; "city=Paris" is one too if a column has that name, else a text of "city".
 * Names and texts may contain '=' themselves: the name is shortened from its last '=' until a
 * column fits. */
static huddle_status find_feature(const hd_io_layout *layout, const char *name,
                                  hd_io_feature *feature) {
    huddle_status status = HUDDLE_OK;
    char *copy = NULL;
    *feature = (hd_io_feature){.column = hd_io_layout_named(layout, name)};
    if (feature->column >= 0)
        goto done;
    TRY(hd_io_copy_text(name, "a column's name", &copy));
    for (char *sign; feature->column < 0 && (sign = strrchr(copy, '=')) != NULL;) {
        *sign = '\0';
        feature->column = hd_io_layout_named(layout, copy);
        feature->text = name + (sign - copy) + 1;
    }
done:
    huddle_free(copy);
    return status;
}

/* The names that list_features() of csv_values.c gives to columns without one. All features must
 * have such a name, or the table is matched by position instead. */
static bool name_positions(const hd_io_layout *layout, const huddle_read_options *options) {
    for (int64_t k = 0; k < options->n_x; k++) {
        const char *name = options->x[k];
        long long position = 0;
        int end = 0;
        bool good = sscanf(name, "column %lld%n", &position, &end) == 1 && position >= 1 &&
                    position <= layout->columns && (name[end] == '\0' || name[end] == '=');
        if (!good)
            return false;
    }
    return options->n_x > 0;
}

/* In either decimal style: the name of the feature does not contain which one the column had. */
static bool is_number(const char *text) {
    const hd_io_field field = {text, text + strlen(text), false, false};
    double value;
    return hd_io_field_any_number(&field, &value);
}

/* The features of another table, by their names. A feature "column=text" means that the column was
 * encoded in the training table. A column is either numeric or encoded, and a numeric one occurs
 * once: anything else is a name that this table does not have. */
static huddle_status list_expected(hd_io_plan *plan, uint8_t *uses) {
    huddle_status status = HUDDLE_OK;
    const huddle_read_options *options = plan->request->options;
    bool *words = NULL;
    ALLOC(plan->expected, options->n_x);
    ALLOC_ZERO(words, plan->layout->columns);
    for (int64_t k = 0; k < options->n_x; k++) {
        hd_io_feature *feature = &plan->expected[k];
        TRY(find_feature(plan->layout, options->x[k], feature));
        int64_t c = feature->column;
        uint8_t use = feature->text == NULL ? NUMBERS : TEXTS;
        /* "a=1" is no text of "a" where "a" is a feature itself. */
        if (c < 0 || (uses[c] != UNUSED && (use == NUMBERS || uses[c] != use)))
            TRY(hd_io_no_such_column(plan->layout, options->x[k], true));
        if (uses[c] == UNUSED) /* else another text of the same column */
            plan->chosen[plan->n_chosen++] = c;
        uses[c] = use;
        words[c] = words[c] || (use == TEXTS && !is_number(feature->text));
    }
    /* Only columns of texts are encoded: where all would be numbers, "a=1" is a column's name. */
    for (int64_t k = 0; k < options->n_x; k++)
        if (plan->expected[k].text != NULL && !words[plan->expected[k].column])
            TRY(hd_io_no_such_column(plan->layout, options->x[k], true));
done:
    huddle_free(words);
    return status;
}

/* The rows are named by the first column of names that is not a feature. Labels that are names are
 * rejected. */
static huddle_status take_chosen(hd_io_plan *plan) {
    huddle_status status = HUDDLE_OK;
    const hd_io_layout *layout = plan->layout;
    int64_t *texts = NULL, count = 0;
    uint8_t *uses = NULL;
    ALLOC(texts, layout->columns);
    ALLOC_ZERO(uses, layout->columns);
    for (int64_t c = 0; c < layout->columns; c++)
        if (layout->kinds[c].kind == HD_IO_WORDS && (c != plan->label || plan->guessed))
            texts[count++] = c;
    TRY(hd_io_facts_find(plan, texts, count));
    TRY(reject_names(plan));
    plan->names = -1; /* it may be one of the features */
    TRY((plan->request->options->x_by_name ? list_expected : list_named)(plan, uses));
    if (plan->label >= 0 && uses[plan->label] != UNUSED)
        plan->label = -1;
    take_label(plan);
    for (int64_t k = 0; k < plan->n_chosen; k++)
        take_feature(plan, plan->chosen[k], uses[plan->chosen[k]] == TEXTS);
    for (int64_t c = 0; c < layout->columns; c++) {
        if (uses[c] != UNUSED || c == plan->label)
            continue;
        forget_reason(plan, c);
        plan->columns[c].role = HUDDLE_COLUMN_NOT_SELECTED;
        if (plan->names < 0 && hd_io_are_row_names(plan, c, false))
            TRY(take_many_names(plan, c, plan->facts[c].distinct, plan->pieces->rows));
    }
done:
    FREE(texts, uses);
    return status;
}

/* ---- features that were not named ----------------------------------------------------------- */

/* Columns whose values must all be read to know what they are. */
static int64_t list_doubtful(const hd_io_plan *plan, int64_t *columns) {
    const hd_io_layout *layout = plan->layout;
    int64_t last = -1, words = hd_io_count_words(layout, &last), count = 0;
    if (plan->label >= 0 && layout->kinds[plan->label].kind == HD_IO_WORDS)
        words--;
    for (int64_t c = 0; c < layout->columns; c++) {
        const hd_io_column *kind = &layout->kinds[c];
        bool whole = kind->kind == HD_IO_NUMBERS && kind->whole, id = hd_io_is_id(layout, c);
        bool doubtful = c == plan->label            ? words > 0 || plan->guessed
                        : kind->kind == HD_IO_WORDS ? words > 1 || plan->label >= 0 || id
                                                    : whole && ((c == 0 && kind->counts) || id);
        if (doubtful)
            columns[count++] = c;
    }
    return count;
}

/* Without a better candidate, the labels are the only texts that group the rows. */
static huddle_status guess_label(hd_io_plan *plan) {
    int64_t names = 0;
    huddle_status status = reject_names(plan);
    if (status != HUDDLE_OK || plan->label >= 0 || plan->from_files ||
        plan->request->options->encode)
        return status;
    int64_t found = hd_io_find_groups(plan, &names);
    if (found < 0 || (names == 0 && plan->rejected < 0))
        return HUDDLE_OK;
    plan->label = found;
    plan->guessed = true;
    plan->y_reason =
        names > 0 ? "the only text column whose values repeat" : "the only text column";
    return HUDDLE_OK;
}

static huddle_status compare_with_labels(const hd_io_plan *plan, int64_t column, bool *same) {
    const hd_io_facts *f = &plan->facts[column], *label = &plan->facts[plan->label];
    if (!f->known || !label->known)
        return HUDDLE_OK;
    return hd_io_one_to_one(plan->pieces->rows, label->values, label->distinct, f->values,
                            f->distinct, same);
}

/* Leaves out a column that determines the labels, or what would be the labels if they were
 * wanted. */
static huddle_status leave_out_label_copy(hd_io_plan *plan, int64_t column) {
    if (labels_wanted(plan))
        return hd_io_plan_leave_out_leak(plan, column);
    return hd_io_plan_set_role(plan, column, HUDDLE_COLUMN_IGNORED,
                               "it maps one to one onto %.100s, which looks like labels",
                               hd_io_layout_place(plan->layout, plan->label).text);
}

/* Leaves a column out if there is a reason. */
static huddle_status examine_column(hd_io_plan *plan, int64_t column, bool *left_out) {
    const huddle_column_role ignored = HUDDLE_COLUMN_IGNORED;
    huddle_status status = HUDDLE_OK;
    const hd_io_facts *f = &plan->facts[column];
    const hd_io_column *kind = &plan->layout->kinds[column];
    const int64_t rows = plan->pieces->rows;
    bool encode = plan->request->options->encode;
    *left_out = true;
    if (column == plan->rejected)
        return HUDDLE_OK;
    if (column == 0 && plan->layout->row_names)
        return take_names(plan, column, "the header has no name for it");
    if (kind->kind == HD_IO_EMPTY)
        return hd_io_plan_set_role(plan, column, ignored, "no values");
    if (kind->kind == HD_IO_DATES)
        return hd_io_plan_set_role(plan, column, ignored, kind->times ? "times" : "dates");
    if (hd_io_are_row_numbers(plan, column) && f->first >= 0)
        return hd_io_plan_set_role(plan, column, ignored, "row numbers %lld .. %lld",
                                   (long long)f->first, (long long)(f->first + rows - 1));
    if (hd_io_are_row_numbers(plan, column))
        return hd_io_plan_set_role(plan, column, ignored,
                                   "row numbers, a different one in every row");
    if (hd_io_are_row_names(plan, column, encode))
        return take_many_names(plan, column, f->distinct, rows);
    *left_out = false;
    if (kind->kind == HD_IO_WORDS && !encode && plan->label >= 0)
        status = compare_with_labels(plan, column, left_out);
    return status == HUDDLE_OK && *left_out ? leave_out_label_copy(plan, column) : status;
}

/* An error, since ignoring texts or encoding them is the user's decision; both options are in
 * the message. */
static huddle_status refuse_texts(const hd_io_plan *plan, const bool *usable) {
    huddle_status status = HUDDLE_OK;
    const huddle_read_options *options = plan->request->options;
    char names[300] = "";
    int64_t *numbers = NULL, count = 0, texts = 0;
    size_t used = 0;
    ALLOC(numbers, plan->layout->columns);
    for (int64_t c = 0; c < plan->layout->columns; c++) {
        if (!usable[c])
            continue;
        if (plan->layout->kinds[c].kind != HD_IO_WORDS) {
            numbers[count++] = c;
            continue;
        }
        hd_io_phrase place = hd_io_layout_place(plan->layout, c);
        if (texts++ < 4 && used + strlen(place.text) + 8 < sizeof names)
            used += (size_t)snprintf(names + used, sizeof names - used, "%s%.200s",
                                     texts > 1 ? ", " : "", place.text);
        else if (texts == 5)
            used += (size_t)snprintf(names + used, sizeof names - used, ", ...");
    }
    hd_io_phrase encode = hd_io_hint(options, "encode", NULL);
    if (count == 0)
        FAIL(HUDDLE_FORMAT, "%s: text, and no numeric column remains; use %s for one-hot features",
             names, encode.text);
    FAIL(HUDDLE_FORMAT,
         "%s: text, not numbers; select the numeric columns with %s, or use %s for one-hot "
         "features",
         names, hd_io_hint_columns(options, plan->layout, numbers, count).text, encode.text);
done:
    huddle_free(numbers);
    return status;
}

/* Row numbers are better than nothing. */
static int64_t only_row_numbers(const hd_io_plan *plan) {
    for (int64_t c = 0; c < plan->layout->columns; c++)
        if (c != plan->label && hd_io_are_row_numbers(plan, c))
            return c;
    return -1;
}

static huddle_status take_usable(hd_io_plan *plan, bool *usable) {
    huddle_status status = HUDDLE_OK;
    int64_t count = 0, texts = 0;
    for (int64_t c = 0; c < plan->layout->columns; c++) {
        bool left_out = false;
        if (c == plan->label)
            continue;
        TRY(examine_column(plan, c, &left_out));
        usable[c] = !left_out;
        count += usable[c];
        texts += usable[c] && plan->layout->kinds[c].kind == HD_IO_WORDS;
    }
    if (texts > 0 && !plan->request->options->encode)
        TRY(refuse_texts(plan, usable));
    int64_t rest = count == 0 ? only_row_numbers(plan) : -1;
    if (rest >= 0) {
        usable[rest] = true;
        forget_reason(plan, rest);
    }
    for (int64_t c = 0; c < plan->layout->columns; c++)
        if (usable[c]) {
            plan->chosen[plan->n_chosen++] = c;
            take_feature(plan, c, plan->layout->kinds[c].kind == HD_IO_WORDS);
        }
done:
    return status;
}

static huddle_status take_automatic(hd_io_plan *plan) {
    huddle_status status = HUDDLE_OK;
    int64_t *doubtful = NULL;
    bool *usable = NULL;
    ALLOC(doubtful, plan->layout->columns);
    ALLOC_ZERO(usable, plan->layout->columns);
    TRY(hd_io_facts_find(plan, doubtful, list_doubtful(plan, doubtful)));
    TRY(guess_label(plan));
    take_label(plan);
    TRY(take_usable(plan, usable));
done:
    FREE(doubtful, usable);
    return status;
}

/* ---- the plan ------------------------------------------------------------------------------- */

huddle_status hd_io_plan_leave_out_leak(hd_io_plan *plan, int64_t column) {
    plan->leaks[column] = true;
    return hd_io_plan_set_role(plan, column, HUDDLE_COLUMN_IGNORED,
                               "it maps one to one onto the labels");
}

huddle_status hd_io_plan_reject_label(hd_io_plan *plan, int64_t column, int64_t distinct,
                                      int64_t rows) {
    plan->rejected = column;
    if (plan->layout->kinds[column].kind == HD_IO_WORDS)
        return take_many_names(plan, column, distinct, rows);
    return hd_io_plan_set_role(plan, column, HUDDLE_COLUMN_IGNORED,
                               "%lld different numbers in %lld rows are too many for labels",
                               (long long)distinct, (long long)rows);
}

static huddle_status begin_plan(hd_io_plan *plan) {
    huddle_status status = HUDDLE_OK;
    const int64_t columns = plan->layout->columns;
    ALLOC(plan->roles, columns);
    ALLOC(plan->chosen, columns);
    ALLOC_ZERO(plan->leaks, columns);
    ALLOC_ZERO(plan->columns, columns);
    for (int64_t c = 0; c < columns; c++) {
        plan->roles[c] = HD_IO_SKIP;
        TRY(hd_io_copy_text(hd_io_layout_name(plan->layout, c), "a column's name",
                            &plan->columns[c].name));
    }
done:
    return status;
}

/* Without a header a model's features are matched by position, which encoded texts cannot be. */
huddle_status hd_io_plan_make(hd_io_plan *plan) {
    huddle_status status = HUDDLE_OK;
    const huddle_read_options *options = plan->request->options;
    bool by_position =
        options->x_by_name && plan->layout->names == NULL && !name_positions(plan->layout, options);
    plan->automatic = options->n_x == 0 || by_position;
    plan->label = plan->looks_like_labels = plan->names = plan->rejected = -1;
    if (by_position && options->encode)
        FAIL(HUDDLE_FORMAT, "the table has no header, so its text cannot be matched with the "
                            "features that were encoded");
    TRY(begin_plan(plan));
    TRY(hd_io_plan_choose_label(plan));
    TRY((plan->automatic ? take_automatic : take_chosen)(plan));
    if (plan->n_chosen == 0)
        FAIL(HUDDLE_FORMAT, "no column is left for the features");
    if (plan->label >= 0 && plan->roles[plan->label] == HD_IO_SKIP) {
        TRY(hd_io_plan_set_role(plan, plan->label, HUDDLE_COLUMN_IGNORED,
                                "it looks like labels, which are %s",
                                plan->from_files ? "read elsewhere" : "not wanted"));
        plan->looks_like_labels = plan->label;
        plan->label = -1;
    } else if (plan->label >= 0)
        TRY(hd_io_plan_set_role(plan, plan->label, HUDDLE_COLUMN_LABEL, "%s", plan->y_reason));
done:
    return status;
}

void hd_io_plan_free(hd_io_plan *plan) {
    for (int64_t c = 0; plan->columns != NULL && c < plan->layout->columns; c++)
        FREE(plan->columns[c].name, plan->columns[c].reason);
    for (int64_t c = 0; plan->facts != NULL && c < plan->layout->columns; c++)
        huddle_free(plan->facts[c].values);
    FREE(plan->columns, plan->roles, plan->chosen, plan->expected, plan->leaks, plan->facts);
    memset(plan, 0, sizeof *plan);
}
