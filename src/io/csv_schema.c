/* Which column of a table is a feature, which the labels, and which is left out. */
#include "io/csv.h"

#include "base/check.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* ---- roles ---------------------------------------------------------------------------------- */

huddle_status hd_io_schema_set_role(hd_io_schema *schema, int64_t column, huddle_column_role role,
                                    const char *format, ...) {
    char reason[160];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(reason, sizeof reason, format, arguments);
    va_end(arguments);
    huddle_free(schema->columns[column].reason);
    schema->columns[column].role = role;
    return hd_io_copy_text(reason, "a line of text", &schema->columns[column].reason);
}

/* Makes it the column that names the rows, if it is the first and of texts. Numbers are ignored:
 * they are shown as those of the rows anyway. */
static huddle_status take_names(hd_io_schema *schema, int64_t column, const char *reason) {
    if (schema->names >= 0 || schema->layout->kinds[column].kind != HD_IO_WORDS)
        return hd_io_schema_set_role(schema, column, HUDDLE_COLUMN_IGNORED, "row names, %s",
                                     reason);
    schema->names = column;
    return hd_io_schema_set_role(schema, column, HUDDLE_COLUMN_NAMES, "%s", reason);
}

/* Names because there are so many of them. */
static huddle_status take_many_names(hd_io_schema *schema, int64_t column, int64_t distinct,
                                     int64_t rows) {
    char reason[100];
    snprintf(reason, sizeof reason, "%lld distinct value%s in %lld row%s", (long long)distinct,
             distinct == 1 ? "" : "s", (long long)rows, rows == 1 ? "" : "s");
    return take_names(schema, column, reason);
}

static void take_feature(hd_io_schema *schema, int64_t column, bool text) {
    schema->columns[column].role = HUDDLE_COLUMN_FEATURE;
    schema->roles[column] = text ? hd_io_text_role(schema->n_texts++) : (int32_t)schema->d++;
    schema->styled = schema->styled || (!text && schema->layout->kinds[column].decimal != '.');
}

static bool labels_wanted(const hd_io_schema *schema) {
    return !schema->from_files && !hd_io_labels_unwanted(schema->request->options);
}

/* The label must be text 0, so its role is given out before those of encoded columns. */
static void take_label(hd_io_schema *schema) {
    if (schema->label >= 0 && labels_wanted(schema))
        schema->roles[schema->label] = hd_io_text_role(schema->n_texts++);
}

static void forget_reason(hd_io_schema *schema, int64_t column) {
    huddle_free(schema->columns[column].reason);
    schema->columns[column].reason = NULL;
}

/* Rejects labels whose values identify the rows. */
static huddle_status reject_names(hd_io_schema *schema) {
    int64_t column = schema->label;
    if (column < 0 || schema->facts[column].values == NULL || hd_io_labels_needed(schema) ||
        !hd_io_is_no_label(schema, column, schema->guessed))
        return HUDDLE_OK;
    schema->label = -1;
    schema->guessed = false;
    return hd_io_schema_reject_label(schema, column, schema->facts[column].distinct,
                                     schema->layout->pieces.rows);
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

static huddle_status list_named(hd_io_schema *schema, uint8_t *uses) {
    const huddle_read_options *options = schema->request->options;
    for (int64_t k = 0; k < options->n_x; k++) {
        int64_t first, last;
        if (!find_columns(schema->layout, options->x[k], &first, &last))
            return hd_io_no_such_column(schema->layout, options->x[k], false);
        for (int64_t c = first; c <= last; c++) {
            bool words = schema->layout->kinds[c].kind == HD_IO_WORDS;
            if (uses[c] != UNUSED)
                return hd_fail(HUDDLE_INVALID, "column %lld is chosen twice", (long long)c + 1);
            uses[c] = words && options->encode ? TEXTS : NUMBERS;
            schema->chosen[schema->n_chosen++] = c;
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

/* The names that name_feature() of csv_values.c gives to columns without one. All features must
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
static huddle_status list_expected(hd_io_schema *schema, uint8_t *uses) {
    huddle_status status = HUDDLE_OK;
    const huddle_read_options *options = schema->request->options;
    bool *words = NULL;
    ALLOC(schema->expected, options->n_x);
    ALLOC_ZERO(words, schema->layout->columns);
    for (int64_t k = 0; k < options->n_x; k++) {
        hd_io_feature *feature = &schema->expected[k];
        TRY(find_feature(schema->layout, options->x[k], feature));
        int64_t c = feature->column;
        uint8_t use = feature->text == NULL ? NUMBERS : TEXTS;
        /* "a=1" is no text of "a" where "a" is a feature itself. */
        if (c < 0 || (uses[c] != UNUSED && (use == NUMBERS || uses[c] != use)))
            TRY(hd_io_no_such_column(schema->layout, options->x[k], true));
        if (uses[c] == UNUSED) /* else another text of the same column */
            schema->chosen[schema->n_chosen++] = c;
        uses[c] = use;
        words[c] = words[c] || (use == TEXTS && !is_number(feature->text));
    }
    /* Only columns of texts are encoded: where all would be numbers, "a=1" is a column's name. */
    for (int64_t k = 0; k < options->n_x; k++)
        if (schema->expected[k].text != NULL && !words[schema->expected[k].column])
            TRY(hd_io_no_such_column(schema->layout, options->x[k], true));
done:
    huddle_free(words);
    return status;
}

/* The rows are named by the first column of names that is not a feature. Labels that are names are
 * rejected. */
static huddle_status take_chosen(hd_io_schema *schema) {
    huddle_status status = HUDDLE_OK;
    const hd_io_layout *layout = schema->layout;
    int64_t *texts = NULL, count = 0;
    uint8_t *uses = NULL;
    ALLOC(texts, layout->columns);
    ALLOC_ZERO(uses, layout->columns);
    for (int64_t c = 0; c < layout->columns; c++)
        if (layout->kinds[c].kind == HD_IO_WORDS && (c != schema->label || schema->guessed))
            texts[count++] = c;
    TRY(hd_io_facts_find(schema, texts, count));
    TRY(reject_names(schema));
    schema->names = -1; /* it may be one of the features */
    TRY((schema->request->options->x_by_name ? list_expected : list_named)(schema, uses));
    if (schema->label >= 0 && uses[schema->label] != UNUSED)
        schema->label = -1;
    take_label(schema);
    for (int64_t k = 0; k < schema->n_chosen; k++)
        take_feature(schema, schema->chosen[k], uses[schema->chosen[k]] == TEXTS);
    for (int64_t c = 0; c < layout->columns; c++) {
        if (uses[c] != UNUSED || c == schema->label)
            continue;
        forget_reason(schema, c);
        schema->columns[c].role = HUDDLE_COLUMN_NOT_SELECTED;
        if (schema->names < 0 && hd_io_are_row_names(schema, c, false))
            TRY(take_many_names(schema, c, schema->facts[c].distinct, schema->layout->pieces.rows));
    }
done:
    FREE(texts, uses);
    return status;
}

/* ---- features that were not named ----------------------------------------------------------- */

/* Columns whose values must all be read to know what they are. */
static int64_t list_doubtful(const hd_io_schema *schema, int64_t *columns) {
    const hd_io_layout *layout = schema->layout;
    int64_t last = -1, words = hd_io_count_words(layout, &last), count = 0;
    if (schema->label >= 0 && layout->kinds[schema->label].kind == HD_IO_WORDS)
        words--;
    for (int64_t c = 0; c < layout->columns; c++) {
        const hd_io_column *kind = &layout->kinds[c];
        bool whole = kind->kind == HD_IO_NUMBERS && kind->whole, id = hd_io_is_id(layout, c);
        bool doubtful = c == schema->label          ? words > 0 || schema->guessed
                        : kind->kind == HD_IO_WORDS ? words > 1 || schema->label >= 0 || id
                                                    : whole && ((c == 0 && kind->counts) || id);
        if (doubtful)
            columns[count++] = c;
    }
    return count;
}

/* Without a better candidate, the labels are the only texts that group the rows. */
static huddle_status guess_label(hd_io_schema *schema) {
    int64_t names = 0;
    huddle_status status = reject_names(schema);
    if (status != HUDDLE_OK || schema->label >= 0 || schema->from_files ||
        schema->request->options->encode)
        return status;
    int64_t found = hd_io_find_groups(schema, &names);
    if (found < 0 || (names == 0 && schema->rejected < 0))
        return HUDDLE_OK;
    schema->label = found;
    schema->guessed = true;
    schema->y_reason =
        names > 0 ? "the only text column whose values repeat" : "the only text column";
    return HUDDLE_OK;
}

/* Leaves a column out if there is a reason, such as that it determines the labels, or what would be
 * the labels if they were wanted. */
static huddle_status examine_column(hd_io_schema *schema, int64_t column, bool *left_out) {
    const huddle_column_role ignored = HUDDLE_COLUMN_IGNORED;
    huddle_status status = HUDDLE_OK;
    const hd_io_facts *f = &schema->facts[column];
    const hd_io_column *kind = &schema->layout->kinds[column];
    const int64_t rows = schema->layout->pieces.rows;
    bool encode = schema->request->options->encode;
    *left_out = true;
    if (column == schema->rejected)
        return HUDDLE_OK;
    if (column == 0 && schema->layout->row_names)
        return take_names(schema, column, "the header has no name for it");
    if (kind->kind == HD_IO_EMPTY)
        return hd_io_schema_set_role(schema, column, ignored, "no values");
    if (kind->kind == HD_IO_DATES)
        return hd_io_schema_set_role(schema, column, ignored, kind->times ? "times" : "dates");
    if (hd_io_are_row_numbers(schema, column) && f->first >= 0)
        return hd_io_schema_set_role(schema, column, ignored, "row numbers %lld .. %lld",
                                     (long long)f->first, (long long)(f->first + rows - 1));
    if (hd_io_are_row_numbers(schema, column))
        return hd_io_schema_set_role(schema, column, ignored,
                                     "row numbers, a different one in every row");
    if (hd_io_are_row_names(schema, column, encode))
        return take_many_names(schema, column, f->distinct, rows);
    *left_out = false;
    if (kind->kind != HD_IO_WORDS || encode || schema->label < 0)
        return HUDDLE_OK;
    const hd_io_facts *label = &schema->facts[schema->label];
    if (f->values != NULL && label->values != NULL)
        status = hd_io_one_to_one(rows, label->values, label->distinct, f->values, f->distinct,
                                  left_out);
    if (status != HUDDLE_OK || !*left_out)
        return status;
    if (labels_wanted(schema))
        return hd_io_schema_leave_out_leak(schema, column);
    return hd_io_schema_set_role(schema, column, ignored,
                                 "it maps one to one onto %.100s, which looks like labels",
                                 hd_io_layout_place(schema->layout, schema->label).text);
}

/* An error, since ignoring texts or encoding them is the user's decision; both options are in
 * the message. */
static huddle_status refuse_texts(const hd_io_schema *schema, const bool *usable) {
    huddle_status status = HUDDLE_OK;
    const huddle_read_options *options = schema->request->options;
    char names[300] = "";
    int64_t *numbers = NULL, count = 0, texts = 0;
    size_t used = 0;
    ALLOC(numbers, schema->layout->columns);
    for (int64_t c = 0; c < schema->layout->columns; c++) {
        if (!usable[c])
            continue;
        if (schema->layout->kinds[c].kind != HD_IO_WORDS) {
            numbers[count++] = c;
            continue;
        }
        hd_io_phrase place = hd_io_layout_place(schema->layout, c);
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
         names, hd_io_hint_columns(options, schema->layout, numbers, count).text, encode.text);
done:
    huddle_free(numbers);
    return status;
}

static huddle_status take_automatic(hd_io_schema *schema) {
    huddle_status status = HUDDLE_OK;
    int64_t *doubtful = NULL, count = 0, texts = 0;
    bool *usable = NULL;
    ALLOC(doubtful, schema->layout->columns);
    ALLOC_ZERO(usable, schema->layout->columns);
    TRY(hd_io_facts_find(schema, doubtful, list_doubtful(schema, doubtful)));
    TRY(guess_label(schema));
    take_label(schema);
    for (int64_t c = 0; c < schema->layout->columns; c++) {
        bool left_out = false;
        if (c == schema->label)
            continue;
        TRY(examine_column(schema, c, &left_out));
        usable[c] = !left_out;
        count += usable[c];
        texts += usable[c] && schema->layout->kinds[c].kind == HD_IO_WORDS;
    }
    if (texts > 0 && !schema->request->options->encode)
        TRY(refuse_texts(schema, usable));
    /* Row numbers are better than nothing. */
    for (int64_t c = 0; count == 0 && c < schema->layout->columns; c++)
        if (c != schema->label && hd_io_are_row_numbers(schema, c)) {
            usable[c] = true;
            count++;
            forget_reason(schema, c);
        }
    for (int64_t c = 0; c < schema->layout->columns; c++)
        if (usable[c]) {
            schema->chosen[schema->n_chosen++] = c;
            take_feature(schema, c, schema->layout->kinds[c].kind == HD_IO_WORDS);
        }
done:
    FREE(doubtful, usable);
    return status;
}

/* ---- the schema ------------------------------------------------------------------------------ */

huddle_status hd_io_schema_leave_out_leak(hd_io_schema *schema, int64_t column) {
    schema->leaks[column] = true;
    return hd_io_schema_set_role(schema, column, HUDDLE_COLUMN_IGNORED,
                                 "it maps one to one onto the labels");
}

huddle_status hd_io_schema_reject_label(hd_io_schema *schema, int64_t column, int64_t distinct,
                                        int64_t rows) {
    schema->rejected = column;
    if (schema->layout->kinds[column].kind == HD_IO_WORDS)
        return take_many_names(schema, column, distinct, rows);
    return hd_io_schema_set_role(schema, column, HUDDLE_COLUMN_IGNORED,
                                 "%lld different numbers in %lld rows are too many for labels",
                                 (long long)distinct, (long long)rows);
}

/* Without a header a model's features are matched by position, which encoded texts cannot be. */
huddle_status hd_io_schema_make(hd_io_schema *schema) {
    huddle_status status = HUDDLE_OK;
    const huddle_read_options *options = schema->request->options;
    const hd_io_layout *layout = schema->layout;
    bool by_position =
        options->x_by_name && layout->names == NULL && !name_positions(layout, options);
    schema->automatic = options->n_x == 0 || by_position;
    schema->label = schema->looks_like_labels = schema->names = schema->rejected = -1;
    if (by_position && options->encode)
        FAIL(HUDDLE_FORMAT, "the table has no header, so its text cannot be matched with the "
                            "features that were encoded");
    ALLOC(schema->roles, layout->columns);
    ALLOC(schema->chosen, layout->columns);
    ALLOC_ZERO(schema->leaks, layout->columns);
    ALLOC_ZERO(schema->columns, layout->columns);
    for (int64_t c = 0; c < layout->columns; c++) {
        schema->roles[c] = HD_IO_SKIP;
        TRY(hd_io_copy_text(hd_io_layout_name(layout, c), "a column's name",
                            &schema->columns[c].name));
    }
    TRY(hd_io_schema_choose_label(schema));
    TRY((schema->automatic ? take_automatic : take_chosen)(schema));
    if (schema->n_chosen == 0)
        FAIL(HUDDLE_FORMAT, "no column is left for the features");
    if (schema->label >= 0 && schema->roles[schema->label] == HD_IO_SKIP) {
        TRY(hd_io_schema_set_role(schema, schema->label, HUDDLE_COLUMN_IGNORED,
                                  "it looks like labels, which are %s",
                                  schema->from_files ? "read elsewhere" : "not wanted"));
        schema->looks_like_labels = schema->label;
        schema->label = -1;
    } else if (schema->label >= 0)
        TRY(hd_io_schema_set_role(schema, schema->label, HUDDLE_COLUMN_LABEL, "%s",
                                  schema->y_reason));
done:
    return status;
}

void hd_io_schema_free(hd_io_schema *schema) {
    for (int64_t c = 0; schema->columns != NULL && c < schema->layout->columns; c++)
        FREE(schema->columns[c].name, schema->columns[c].reason);
    for (int64_t c = 0; schema->facts != NULL && c < schema->layout->columns; c++)
        huddle_free(schema->facts[c].values);
    FREE(schema->columns, schema->roles, schema->chosen, schema->expected, schema->leaks,
         schema->facts, schema->sources);
    memset(schema, 0, sizeof *schema);
}
