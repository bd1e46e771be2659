/* Which column of a table is a feature, which the labels, and which is left out. */
#include "io/csv.h"

#include "base/check.h"
#include "base/text.h"
#include "io/number.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

/* With fewer rows, texts may all differ (FEW_NAMES) or a column count (FEW_NUMBERS) by chance. */
enum { FEW_NAMES = 20, FEW_NUMBERS = 3 };

/* ---- names of columns ----------------------------------------------------------------------- */

static bool is_listed(const char *name, const char *const *words) {
    for (; *words != NULL; words++)
        if (hd_same_word(name, *words))
            return true;
    return false;
}

/* id, index, CustomerID, row_no and similar names of columns that identify rows. */
static bool is_id_name(const char *name) {
    static const char *const words[] = {
        "id",         "ids",     "idx",    "index",   "row",       "rowid",
        "row_id",     "rowname", "rownum", "row_num", "row_no",    "rownumber",
        "row_number", "no",      "no.",    "nr",      "nr.",       "num",
        "number",     "#",       "obs",    "record",  "row.names", "rownames",
        "row_names",  "uid",     "uuid",   "guid",    "key",       NULL};
    size_t length = strlen(name);
    if (is_listed(name, words))
        return true;
    if (length < 4 || !hd_same_word(name + length - 2, "id"))
        return false;
    char before = name[length - 3], i = name[length - 2];
    return before == '_' || before == ' ' || before == '-' || before == '.' ||
           (before >= 'a' && before <= 'z' && i == 'I');
}

/* What pandas and R write above the numbers or names of rows. */
static bool is_unnamed(const hd_io_layout *layout, int64_t column) {
    const char *name = hd_io_layout_name(layout, column);
    return layout->names != NULL &&
           ((column == 0 && name[0] == '\0') || strncmp(name, "Unnamed: 0", 10) == 0);
}

/* ---- labels --------------------------------------------------------------------------------- */

/* If the numeric columns are x and y, or x, y and z, they are coordinates, and y is no label. */
static bool holds_coordinates(const hd_io_layout *layout) {
    static const char *const axes[] = {"x", "y", "z"};
    bool found[3] = {false};
    for (int64_t c = 0; layout->names != NULL && c < layout->columns; c++) {
        int axis = 0;
        if (layout->kinds[c].kind != HD_IO_NUMBERS || is_unnamed(layout, c))
            continue;
        while (axis < 3 && !hd_same_word(layout->names[c], axes[axis]))
            axis++;
        if (axis == 3 || found[axis])
            return false;
        found[axis] = true;
    }
    return found[0] && found[1];
}

/* The column whose name suits labels best, unless it contains dates or numbers that are not
 * whole: "class" with 0.37 in it is a measurement. */
static int64_t find_label_by_name(const hd_io_layout *layout) {
    int64_t best = -1;
    int32_t best_rank = INT32_MAX;
    bool coordinates = holds_coordinates(layout);
    for (int64_t c = 0; layout->names != NULL && c < layout->columns; c++) {
        const hd_io_column *kind = &layout->kinds[c];
        int32_t rank = hd_io_label_name_rank(layout->names[c]);
        if (rank >= 0 && rank < best_rank &&
            (kind->kind == HD_IO_WORDS ||
             (kind->kind == HD_IO_NUMBERS && kind->whole && !coordinates))) {
            best = c;
            best_rank = rank;
        }
    }
    return best;
}

static int64_t count_words(const hd_io_layout *layout, int64_t *last) {
    int64_t count = 0;
    for (int64_t c = 0; c < layout->columns; c++)
        if (layout->kinds[c].kind == HD_IO_WORDS && !(c == 0 && layout->row_names)) {
            count++;
            *last = c;
        }
    return count;
}

int64_t hd_io_plan_find_label(const hd_io_layout *layout, bool *guessed, const char **reason) {
    int64_t column = find_label_by_name(layout);
    *guessed = false;
    *reason = "a conventional name for labels";
    if (column >= 0)
        return column;
    *reason = "the last attribute, which is nominal";
    if (layout->class_column > 0)
        return layout->class_column - 1;
    *guessed = count_words(layout, &column) == 1;
    *reason = "the only text column";
    return *guessed ? column : -1;
}

static bool is_file(const char *path) {
    struct stat about;
    return stat(path, &about) == 0 && !S_ISDIR(about.st_mode);
}

static huddle_status no_such_column(const hd_io_layout *layout, const char *name) {
    char names[400] = "";
    size_t used = 0;
    if (layout->names == NULL)
        return hd_fail(HUDDLE_INVALID, "no column '%.200s'; it has %lld columns without names",
                       name, (long long)layout->columns);
    for (int64_t c = 0; c < layout->columns && used < sizeof names - 110; c++)
        used += (size_t)snprintf(names + used, sizeof names - used, "%s%.80s", c > 0 ? ", " : "",
                                 c > 0 && used > sizeof names - 220 ? "..." : layout->names[c]);
    return hd_fail(HUDDLE_INVALID, "no column '%.200s'; it has %s", name, names);
}

/* The labels as far as options and names determine them. A column that looks like labels is no
 * feature even if labels are not wanted or come from elsewhere. */
static huddle_status choose_label(hd_io_plan *plan, const huddle_read_options *options) {
    const hd_io_layout *layout = plan->layout;
    plan->label = hd_io_plan_find_label(layout, &plan->guessed, &plan->y_reason);
    if (plan->guessed && options->encode) { /* texts are to be features */
        plan->label = -1;
        plan->guessed = false;
    }
    if (options->n_y == 0 || hd_io_labels_unwanted(options))
        return HUDDLE_OK;
    int64_t column = hd_io_layout_column(layout, options->y[0]);
    if (column >= 0 && options->n_y > 1)
        return hd_fail(HUDDLE_INVALID, "only one column can hold the labels, but %lld are named",
                       (long long)options->n_y);
    if (column >= 0) {
        plan->label = column;
        plan->guessed = false;
        plan->label_given = true;
        plan->y_reason = options->hints_as_flags ? "chosen by --y" : "chosen by y";
        return HUDDLE_OK;
    }
    if (!is_file(options->y[0]))
        return no_such_column(layout, options->y[0]);
    plan->from_files = true;
    return HUDDLE_OK;
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

/* The label must be text 0, so its role is given out before those of encoded columns. */
static huddle_status take_named(hd_io_plan *plan, const huddle_read_options *options) {
    huddle_status status = HUDDLE_OK;
    const hd_io_layout *layout = plan->layout;
    bool *taken = NULL;
    ALLOC_ZERO(taken, layout->columns);
    for (int64_t k = 0; k < options->n_x; k++) {
        int64_t first, last;
        if (!find_columns(layout, options->x[k], &first, &last))
            TRY(no_such_column(layout, options->x[k]));
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

/* ---- features that were not named ----------------------------------------------------------- */

/* Columns whose values must all be read to know what they are. */
static void mark_columns(const hd_io_plan *plan, bool *marked) {
    const hd_io_layout *layout = plan->layout;
    int64_t last = -1, words = count_words(layout, &last);
    if (plan->label >= 0 && layout->kinds[plan->label].kind == HD_IO_WORDS)
        words--;
    for (int64_t c = 0; c < layout->columns; c++) {
        const hd_io_column *kind = &layout->kinds[c];
        bool whole = kind->kind == HD_IO_NUMBERS && kind->whole;
        bool id = is_id_name(hd_io_layout_name(layout, c)) || is_unnamed(layout, c);
        if (c == plan->label)
            marked[c] = words > 0;
        else if (kind->kind == HD_IO_WORDS)
            marked[c] = words > 1 || plan->label >= 0 || id;
        else
            marked[c] = whole && ((c == 0 && kind->counts) || id);
    }
}

static bool are_row_numbers(const hd_io_plan *plan, const hd_io_facts *facts, int64_t column,
                            int64_t rows) {
    const hd_io_facts *f = &facts[column];
    bool id =
        is_id_name(hd_io_layout_name(plan->layout, column)) || is_unnamed(plan->layout, column);
    if (!f->known || !f->whole || rows < 2 || plan->layout->kinds[column].kind != HD_IO_NUMBERS)
        return false;
    return (id && f->distinct == rows) || (column == 0 && f->first >= 0 && rows >= FEW_NUMBERS);
}

static bool are_row_names(const hd_io_plan *plan, const hd_io_facts *facts, int64_t column,
                          int64_t rows) {
    const hd_io_facts *f = &facts[column];
    bool id =
        is_id_name(hd_io_layout_name(plan->layout, column)) || is_unnamed(plan->layout, column);
    if (!f->known || plan->layout->kinds[column].kind != HD_IO_WORDS || rows < 2)
        return false;
    return (id && f->distinct == rows) || hd_io_identifies_rows(f->distinct, rows);
}

/* Without a better candidate, the labels are the only texts that group the rows. A candidate
 * found by its name is rejected first if its values identify the rows. */
static huddle_status guess_label(hd_io_plan *plan, const huddle_read_options *options,
                                 const hd_io_facts *facts, int64_t rows) {
    int64_t groups = 0, found = -1, names = 0;
    if (plan->label >= 0 && !plan->label_given && facts[plan->label].known &&
        hd_io_identifies_rows(facts[plan->label].distinct, rows)) {
        int64_t column = plan->label;
        plan->label = -1;
        plan->guessed = false;
        huddle_status status = hd_io_plan_reject_label(plan, column, facts[column].distinct, rows);
        if (status != HUDDLE_OK)
            return status;
    }
    if (plan->label >= 0 || plan->from_files || options->encode)
        return HUDDLE_OK;
    for (int64_t c = 0; c < plan->layout->columns; c++) {
        if (plan->layout->kinds[c].kind != HD_IO_WORDS || (c == 0 && plan->layout->row_names))
            continue;
        bool name = are_row_names(plan, facts, c, rows);
        names += name;
        if (!name) {
            groups++;
            found = c;
        }
    }
    if (groups != 1 || (names == 0 && plan->rejected < 0))
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
    return hd_io_plan_leave_out(plan, column,
                                "it maps one to one onto %.100s, which looks like labels", place);
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
        TRY(hd_io_plan_leave_out(plan, column, "names of rows, for which the header has no name"));
    else if (kind->kind == HD_IO_EMPTY)
        TRY(hd_io_plan_leave_out(plan, column, "no values"));
    else if (kind->kind == HD_IO_DATES)
        TRY(hd_io_plan_leave_out(plan, column, kind->times ? "times" : "dates"));
    else if (are_row_numbers(plan, facts, column, rows) && f->first >= 0)
        TRY(hd_io_plan_leave_out(plan, column, "row numbers %lld .. %lld", (long long)f->first,
                                 (long long)(f->first + rows - 1)));
    else if (are_row_numbers(plan, facts, column, rows))
        TRY(hd_io_plan_leave_out(plan, column, "row numbers, a different one in every row"));
    else if (are_row_names(plan, facts, column, rows))
        TRY(hd_io_plan_leave_out(plan, column, "row names, %lld distinct values in %lld rows",
                                 (long long)f->distinct, (long long)rows));
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
        if (c != plan->label && are_row_numbers(plan, facts, c, rows))
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
    huddle_free(marked);
    huddle_free(usable);
    hd_io_facts_free(facts, columns);
    return status;
}

/* ---- the plan ------------------------------------------------------------------------------- */

huddle_status hd_io_plan_leave_out(hd_io_plan *plan, int64_t column, const char *format, ...) {
    char reason[160];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(reason, sizeof reason, format, arguments);
    va_end(arguments);
    huddle_free(plan->columns[column].reason);
    plan->columns[column].role = HUDDLE_COLUMN_IGNORED;
    plan->columns[column].reason = hd_copy_text(reason);
    if (plan->columns[column].reason == NULL)
        return hd_fail(HUDDLE_NO_MEMORY, "no memory for a line of text");
    return HUDDLE_OK;
}

huddle_status hd_io_plan_leave_out_leak(hd_io_plan *plan, int64_t column) {
    plan->leaks[column] = true;
    return hd_io_plan_leave_out(plan, column, "it maps one to one onto the labels");
}

/* More than one distinct value for every two rows: classes would have fewer than two members
 * on average. */
bool hd_io_identifies_rows(int64_t distinct, int64_t rows) {
    return rows > FEW_NAMES && 2 * distinct > rows;
}

huddle_status hd_io_plan_reject_label(hd_io_plan *plan, int64_t column, int64_t distinct,
                                      int64_t rows) {
    plan->rejected = column;
    return hd_io_plan_leave_out(plan, column,
                                plan->layout->kinds[column].kind == HD_IO_WORDS
                                    ? "row names, %lld distinct values in %lld rows"
                                    : "%lld different numbers in %lld rows are too many for labels",
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
                         .rejected = -1,
                         .automatic = options->n_x == 0 || by_position};
    if (by_position && options->encode)
        FAIL(HUDDLE_FORMAT, "the table has no header, so its text cannot be matched with the "
                            "features that were encoded");
    TRY(begin_plan(plan));
    TRY(choose_label(plan, options));
    if (plan->automatic)
        TRY(take_automatic(request, plan, pieces));
    else if (options->x_by_name)
        TRY(take_expected(plan, options));
    else
        TRY(take_named(plan, options));
    if (plan->n_chosen == 0)
        FAIL(HUDDLE_FORMAT, "no column is left for the features");
    if (plan->label >= 0 && plan->roles[plan->label] == HD_IO_SKIP) {
        TRY(hd_io_plan_leave_out(plan, plan->label, "%s",
                                 plan->from_files ? "it looks like labels, which are read elsewhere"
                                                  : "it looks like labels, which are not wanted"));
        plan->looks_like_labels = plan->label;
        plan->label = -1;
    } else if (plan->label >= 0) {
        TRY(hd_io_plan_leave_out(plan, plan->label, "%s", plan->y_reason));
        plan->columns[plan->label].role = HUDDLE_COLUMN_LABEL;
    }
done:
    return status;
}

void hd_io_plan_free(hd_io_plan *plan) {
    for (int64_t c = 0; plan->columns != NULL && c < plan->layout->columns; c++) {
        huddle_free(plan->columns[c].name);
        huddle_free(plan->columns[c].reason);
    }
    huddle_free(plan->columns);
    huddle_free(plan->roles);
    huddle_free(plan->chosen);
    huddle_free(plan->expected);
    huddle_free(plan->leaks);
    memset(plan, 0, sizeof *plan);
}
