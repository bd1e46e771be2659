/* Which column of a table is a feature, which the labels, and which is left out. */
#include "io/csv.h"

#include "base/check.h"
#include "base/text.h"
#include "io/number.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* ---- roles ---------------------------------------------------------------------------------- */

static huddle_status set_role(hd_io_plan *plan, int64_t column, huddle_column_role role,
                              const char *reason) {
    huddle_free(plan->columns[column].reason);
    plan->columns[column].role = role;
    plan->columns[column].reason = hd_copy_text(reason);
    if (plan->columns[column].reason == NULL)
        return hd_fail(HUDDLE_NO_MEMORY, "no memory for a line of text");
    return HUDDLE_OK;
}

/* Leaves a column out for that reason. */
__attribute__((format(printf, 3, 4))) static huddle_status
leave_out(hd_io_plan *plan, int64_t column, const char *format, ...) {
    char reason[160];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(reason, sizeof reason, format, arguments);
    va_end(arguments);
    return set_role(plan, column, HUDDLE_COLUMN_IGNORED, reason);
}

/* Makes it the column that names the rows, if it is the first and of texts. Numbers are ignored:
 * they are shown as those of the rows anyway. */
static huddle_status take_names(hd_io_plan *plan, int64_t column, const char *reason) {
    if (plan->names >= 0 || plan->layout->kinds[column].kind != HD_IO_WORDS)
        return leave_out(plan, column, "row names, %s", reason);
    plan->names = column;
    return set_role(plan, column, HUDDLE_COLUMN_NAMES, reason);
}

/* Names because there are so many of them. */
static huddle_status take_many_names(hd_io_plan *plan, int64_t column, int64_t distinct,
                                     int64_t rows) {
    char reason[100];
    snprintf(reason, sizeof reason, "%lld distinct value%s in %lld row%s", (long long)distinct,
             distinct == 1 ? "" : "s", (long long)rows, rows == 1 ? "" : "s");
    return take_names(plan, column, reason);
}

/* ---- features that were named --------------------------------------------------------------- */

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

static void take_feature(hd_io_plan *plan, const huddle_read_options *options, int64_t column) {
    const hd_io_column *kind = &plan->layout->kinds[column];
    plan->chosen[plan->n_chosen++] = column;
    plan->columns[column].role = HUDDLE_COLUMN_FEATURE;
    if (kind->kind == HD_IO_WORDS && options->encode) {
        plan->roles[column] = hd_io_text_role(plan->n_texts++);
        return;
    }
    plan->roles[column] = (int32_t)plan->d++;
    plan->styled = plan->styled || kind->decimal != '.';
}

/* A column that the caller's own choice of columns does not include. */
static void skip_column(hd_io_plan *plan, int64_t column) {
    huddle_free(plan->columns[column].reason);
    plan->columns[column].reason = NULL;
    plan->columns[column].role = HUDDLE_COLUMN_NOT_SELECTED;
}

/* Rejects labels whose values identify the rows. */
static huddle_status reject_names(hd_io_plan *plan, const huddle_read_options *options,
                                  const hd_io_facts *facts, int64_t rows) {
    int64_t column = plan->label;
    if (column < 0 || !facts[column].known || hd_io_labels_needed(plan, options) ||
        !(plan->guessed
              ? hd_io_are_row_names(plan->layout, facts, column, rows, false)
              : hd_io_are_no_labels(&plan->layout->kinds[column], facts[column].distinct, rows)))
        return HUDDLE_OK;
    plan->label = -1;
    plan->guessed = false;
    return hd_io_plan_reject_label(plan, column, facts[column].distinct, rows);
}

/* Where features are named: the other columns that name the rows, as the number of their distinct
 * values, or 0. Labels among them are rejected. */
static huddle_status find_names(hd_io_request *request, hd_io_plan *plan,
                                const hd_io_pieces *pieces, int64_t *names) {
    huddle_status status = HUDDLE_OK;
    const int64_t columns = plan->layout->columns;
    hd_io_facts *facts = NULL;
    bool *marked = NULL;
    ALLOC_ZERO(facts, columns);
    ALLOC(marked, columns);
    for (int64_t c = 0; c < columns; c++)
        marked[c] =
            plan->layout->kinds[c].kind == HD_IO_WORDS && (c != plan->label || plan->guessed);
    TRY(hd_io_facts_find(request->context, plan->layout, pieces, marked, facts));
    TRY(reject_names(plan, request->options, facts, pieces->rows));
    plan->names = -1; /* it may be one of the features */
    for (int64_t c = 0; c < columns; c++)
        if (c != plan->label && hd_io_are_row_names(plan->layout, facts, c, pieces->rows, false))
            names[c] = facts[c].distinct;
done:
    huddle_free(marked);
    hd_io_facts_free(facts, columns);
    return status;
}

/* The first of them that is not a feature. */
static huddle_status keep_names(hd_io_plan *plan, const int64_t *names, int64_t rows) {
    for (int64_t c = 0; c < plan->layout->columns; c++)
        if (names[c] > 0 && plan->columns[c].role == HUDDLE_COLUMN_NOT_SELECTED)
            return take_many_names(plan, c, names[c], rows);
    return HUDDLE_OK;
}

/* The label must be text 0, so its role is given out before those of encoded columns. */
static huddle_status take_named(hd_io_plan *plan, const huddle_read_options *options) {
    huddle_status status = HUDDLE_OK;
    const hd_io_layout *layout = plan->layout;
    bool *taken = NULL;
    ALLOC_ZERO(taken, layout->columns);
    for (int64_t k = 0; k < options->n_x; k++) {
        int64_t first, last;
        if (!find_columns(layout, options->x[k], &first, &last))
            TRY(hd_io_no_such_column(layout, options->x[k]));
        for (int64_t c = first; c <= last; c++) {
            if (taken[c])
                FAIL(HUDDLE_INVALID, "column %lld is chosen twice", (long long)c + 1);
            taken[c] = true;
            if (c == plan->label)
                plan->label = -1;
        }
    }
    if (plan->label >= 0 && !plan->from_files && !hd_io_labels_unwanted(options))
        plan->roles[plan->label] = hd_io_text_role(plan->n_texts++);
    for (int64_t k = 0; k < options->n_x; k++) {
        int64_t first, last;
        (void)find_columns(layout, options->x[k], &first, &last);
        for (int64_t c = first; c <= last; c++)
            take_feature(plan, options, c);
    }
    for (int64_t c = 0; c < layout->columns; c++)
        if (!taken[c] && c != plan->label)
            skip_column(plan, c);
done:
    huddle_free(taken);
    return status;
}

/* The features of another table, by their names. */
static huddle_status take_expected(hd_io_plan *plan, const huddle_read_options *options) {
    huddle_status status = HUDDLE_OK;
    TRY(hd_io_plan_expect(plan, options));
    for (int64_t k = 0; k < options->n_x; k++)
        if (plan->expected[k].column == plan->label)
            plan->label = -1;
    if (plan->label >= 0 && !plan->from_files && !hd_io_labels_unwanted(options))
        plan->roles[plan->label] = hd_io_text_role(plan->n_texts++);
    for (int64_t k = 0; k < options->n_x; k++) {
        int64_t c = plan->expected[k].column;
        if (plan->columns[c].role == HUDDLE_COLUMN_FEATURE && plan->roles[c] != HD_IO_SKIP)
            continue; /* another text of the same column */
        plan->chosen[plan->n_chosen++] = c;
        plan->columns[c].role = HUDDLE_COLUMN_FEATURE;
        plan->roles[c] =
            plan->expected[k].text != NULL ? hd_io_text_role(plan->n_texts++) : (int32_t)plan->d++;
        plan->styled = plan->styled || plan->layout->kinds[c].decimal != '.';
    }
    for (int64_t c = 0; c < plan->layout->columns; c++)
        if (plan->roles[c] == HD_IO_SKIP && c != plan->label)
            skip_column(plan, c);
done:
    return status;
}

static huddle_status take_chosen(hd_io_request *request, hd_io_plan *plan,
                                 const hd_io_pieces *pieces) {
    huddle_status status = HUDDLE_OK;
    const huddle_read_options *options = request->options;
    int64_t *names = NULL;
    ALLOC_ZERO(names, plan->layout->columns);
    TRY(find_names(request, plan, pieces, names));
    TRY((options->x_by_name ? take_expected : take_named)(plan, options));
    TRY(keep_names(plan, names, pieces->rows));
done:
    huddle_free(names);
    return status;
}

/* ---- features that were not named ----------------------------------------------------------- */

/* Columns whose values must all be read to know what they are. */
static void mark_columns(const hd_io_plan *plan, bool *marked) {
    const hd_io_layout *layout = plan->layout;
    int64_t last = -1, words = hd_io_count_words(layout, &last);
    if (plan->label >= 0 && layout->kinds[plan->label].kind == HD_IO_WORDS)
        words--;
    for (int64_t c = 0; c < layout->columns; c++) {
        const hd_io_column *kind = &layout->kinds[c];
        bool whole = kind->kind == HD_IO_NUMBERS && kind->whole;
        bool id = hd_io_is_id(layout, c);
        if (c == plan->label)
            marked[c] = words > 0 || plan->guessed;
        else if (kind->kind == HD_IO_WORDS)
            marked[c] = words > 1 || plan->label >= 0 || id;
        else
            marked[c] = whole && ((c == 0 && kind->counts) || id);
    }
}

/* Without a better candidate, the labels are the only texts that group the rows. */
static huddle_status guess_label(hd_io_plan *plan, const huddle_read_options *options,
                                 const hd_io_facts *facts, int64_t rows) {
    int64_t names = 0;
    huddle_status status = reject_names(plan, options, facts, rows);
    if (status != HUDDLE_OK)
        return status;
    if (plan->label >= 0 || plan->from_files || options->encode)
        return HUDDLE_OK;
    int64_t found = hd_io_find_groups(plan->layout, facts, rows, options->encode, &names);
    if (found < 0 || (names == 0 && plan->rejected < 0))
        return HUDDLE_OK;
    plan->label = found;
    plan->guessed = true;
    plan->y_reason =
        names > 0 ? "the only text column whose values repeat" : "the only text column";
    return HUDDLE_OK;
}

static huddle_status compare_with_labels(const hd_io_plan *plan, const hd_io_facts *facts,
                                         int64_t column, int64_t rows, bool *same) {
    huddle_status status = HUDDLE_OK;
    int32_t *map = NULL;
    *same = false;
    if (plan->label < 0)
        goto done;
    const hd_io_facts *f = &facts[column], *label = &facts[plan->label];
    if (!f->known || !label->known || f->distinct != label->distinct || f->distinct < 2 ||
        rows <= f->distinct)
        goto done;
    ALLOC(map, label->distinct);
    *same = hd_io_table_one_to_one(rows, label->values, (int32_t)label->distinct, f->values, map);
done:
    huddle_free(map);
    return status;
}

/* Leaves out a column that determines the labels, or what would be the labels if they were
 * wanted. */
static huddle_status leave_out_label_copy(hd_io_plan *plan, const huddle_read_options *options,
                                          int64_t column) {
    char place[160];
    if (!plan->from_files && !hd_io_labels_unwanted(options))
        return hd_io_plan_leave_out_leak(plan, column);
    hd_io_layout_place(plan->layout, plan->label, place, sizeof place);
    return leave_out(plan, column, "it maps one to one onto %.100s, which looks like labels",
                     place);
}

/* Leaves a column out if there is a reason. */
static huddle_status examine_column(hd_io_plan *plan, const huddle_read_options *options,
                                    const hd_io_facts *facts, int64_t column, int64_t rows,
                                    bool *left_out) {
    huddle_status status = HUDDLE_OK;
    const hd_io_facts *f = &facts[column];
    const hd_io_column *kind = &plan->layout->kinds[column];
    bool same = false;
    *left_out = true;
    if (column == plan->rejected)
        return HUDDLE_OK;
    if (column == 0 && plan->layout->row_names)
        TRY(take_names(plan, column, "the header has no name for it"));
    else if (kind->kind == HD_IO_EMPTY)
        TRY(leave_out(plan, column, "no values"));
    else if (kind->kind == HD_IO_DATES)
        TRY(leave_out(plan, column, kind->times ? "times" : "dates"));
    else if (hd_io_are_row_numbers(plan->layout, facts, column, rows) && f->first >= 0)
        TRY(leave_out(plan, column, "row numbers %lld .. %lld", (long long)f->first,
                      (long long)(f->first + rows - 1)));
    else if (hd_io_are_row_numbers(plan->layout, facts, column, rows))
        TRY(leave_out(plan, column, "row numbers, a different one in every row"));
    else if (hd_io_are_row_names(plan->layout, facts, column, rows, options->encode))
        TRY(take_many_names(plan, column, f->distinct, rows));
    else {
        *left_out = false;
        if (kind->kind == HD_IO_WORDS && !options->encode)
            TRY(compare_with_labels(plan, facts, column, rows, &same));
        if (same) {
            *left_out = true;
            TRY(leave_out_label_copy(plan, options, column));
        }
    }
done:
    return status;
}

/* An error, since ignoring texts or encoding them is the user's decision; both options are in
 * the message. */
static huddle_status refuse_texts(const hd_io_plan *plan, const huddle_read_options *options,
                                  const bool *usable) {
    huddle_status status = HUDDLE_OK;
    char names[300] = "", hint[600], encode[40], place[160];
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
        hd_io_layout_place(plan->layout, c, place, sizeof place);
        if (texts++ < 4 && used + strlen(place) + 8 < sizeof names)
            used += (size_t)snprintf(names + used, sizeof names - used, "%s%s",
                                     texts > 1 ? ", " : "", place);
        else if (texts == 5)
            used += (size_t)snprintf(names + used, sizeof names - used, ", ...");
    }
    hd_io_hint(options, "encode", NULL, encode, sizeof encode);
    if (count == 0)
        FAIL(HUDDLE_FORMAT, "%s: text, and no numeric column remains; use %s for one-hot features",
             names, encode);
    hd_io_hint_columns(options, plan->layout, numbers, count, hint, sizeof hint);
    FAIL(HUDDLE_FORMAT,
         "%s: text, not numbers; select the numeric columns with %s, or use %s for one-hot "
         "features",
         names, hint, encode);
done:
    huddle_free(numbers);
    return status;
}

/* Row numbers are better than nothing. */
static int64_t only_row_numbers(const hd_io_plan *plan, const hd_io_facts *facts, int64_t rows) {
    for (int64_t c = 0; c < plan->layout->columns; c++)
        if (c != plan->label && hd_io_are_row_numbers(plan->layout, facts, c, rows))
            return c;
    return -1;
}

static huddle_status take_usable(hd_io_plan *plan, const huddle_read_options *options,
                                 const hd_io_facts *facts, int64_t rows, bool *usable) {
    huddle_status status = HUDDLE_OK;
    int64_t count = 0, texts = 0;
    for (int64_t c = 0; c < plan->layout->columns; c++) {
        bool left_out = false;
        if (c == plan->label)
            continue;
        TRY(examine_column(plan, options, facts, c, rows, &left_out));
        usable[c] = !left_out;
        count += usable[c];
        texts += usable[c] && plan->layout->kinds[c].kind == HD_IO_WORDS;
    }
    if (texts > 0 && !options->encode)
        TRY(refuse_texts(plan, options, usable));
    int64_t rest = count == 0 ? only_row_numbers(plan, facts, rows) : -1;
    if (rest >= 0) {
        usable[rest] = true;
        huddle_free(plan->columns[rest].reason);
        plan->columns[rest].reason = NULL;
    }
    for (int64_t c = 0; c < plan->layout->columns; c++)
        if (usable[c])
            take_feature(plan, options, c);
done:
    return status;
}

static huddle_status take_automatic(hd_io_request *request, hd_io_plan *plan,
                                    const hd_io_pieces *pieces) {
    huddle_status status = HUDDLE_OK;
    const huddle_read_options *options = request->options;
    const int64_t columns = plan->layout->columns;
    bool *marked = NULL, *usable = NULL;
    hd_io_facts *facts = NULL;
    ALLOC_ZERO(marked, columns);
    ALLOC_ZERO(usable, columns);
    ALLOC_ZERO(facts, columns);
    mark_columns(plan, marked);
    TRY(hd_io_facts_find(request->context, plan->layout, pieces, marked, facts));
    TRY(guess_label(plan, options, facts, pieces->rows));
    if (plan->label >= 0 && !plan->from_files && !hd_io_labels_unwanted(options))
        plan->roles[plan->label] = hd_io_text_role(plan->n_texts++);
    TRY(take_usable(plan, options, facts, pieces->rows, usable));
done:
    FREE(marked, usable);
    hd_io_facts_free(facts, columns);
    return status;
}

/* ---- the plan ------------------------------------------------------------------------------- */

huddle_status hd_io_plan_leave_out_leak(hd_io_plan *plan, int64_t column) {
    plan->leaks[column] = true;
    return leave_out(plan, column, "it maps one to one onto the labels");
}

huddle_status hd_io_plan_reject_label(hd_io_plan *plan, int64_t column, int64_t distinct,
                                      int64_t rows) {
    plan->rejected = column;
    if (plan->layout->kinds[column].kind == HD_IO_WORDS)
        return take_many_names(plan, column, distinct, rows);
    return leave_out(plan, column, "%lld different numbers in %lld rows are too many for labels",
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
        plan->columns[c].name = hd_copy_text(hd_io_layout_name(plan->layout, c));
        if (plan->columns[c].name == NULL)
            FAIL(HUDDLE_NO_MEMORY, "no memory for a column's name");
    }
done:
    return status;
}

/* Without a header a model's features are matched by position, which encoded texts cannot be. */
huddle_status hd_io_plan_make(hd_io_request *request, const hd_io_layout *layout,
                              const hd_io_pieces *pieces, hd_io_plan *plan) {
    huddle_status status = HUDDLE_OK;
    const huddle_read_options *options = request->options;
    bool by_position = options->x_by_name && layout->names == NULL &&
                       !hd_io_features_name_positions(layout, options);
    *plan = (hd_io_plan){.layout = layout,
                         .label = -1,
                         .looks_like_labels = -1,
                         .names = -1,
                         .rejected = -1,
                         .automatic = options->n_x == 0 || by_position};
    if (by_position && options->encode)
        FAIL(HUDDLE_FORMAT, "the table has no header, so its text cannot be matched with the "
                            "features that were encoded");
    TRY(begin_plan(plan));
    TRY(hd_io_plan_choose_label(plan, options));
    if (plan->automatic)
        TRY(take_automatic(request, plan, pieces));
    else
        TRY(take_chosen(request, plan, pieces));
    if (plan->n_chosen == 0)
        FAIL(HUDDLE_FORMAT, "no column is left for the features");
    if (plan->label >= 0 && plan->roles[plan->label] == HD_IO_SKIP) {
        TRY(leave_out(plan, plan->label, "%s",
                      plan->from_files ? "it looks like labels, which are read elsewhere"
                                       : "it looks like labels, which are not wanted"));
        plan->looks_like_labels = plan->label;
        plan->label = -1;
    } else if (plan->label >= 0) {
        TRY(leave_out(plan, plan->label, "%s", plan->y_reason));
        plan->columns[plan->label].role = HUDDLE_COLUMN_LABEL;
    }
done:
    return status;
}

void hd_io_plan_free(hd_io_plan *plan) {
    for (int64_t c = 0; plan->columns != NULL && c < plan->layout->columns; c++) {
        FREE(plan->columns[c].name, plan->columns[c].reason);
    }
    FREE(plan->columns, plan->roles, plan->chosen, plan->expected, plan->leaks);
    memset(plan, 0, sizeof *plan);
}
