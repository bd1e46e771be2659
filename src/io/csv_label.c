/* Which columns of a table have the labels, name the rows or number them: as far as options and
 * names tell, and by facts that take reading all of their values. */
#include "io/csv.h"

#include "base/check.h"
#include "base/context.h"
#include "base/text.h"
#include "io/number.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

/* In so few rows, most labels (FEW_LABELS) or other texts (FEW_TEXTS) may differ by chance, or a
 * column count (fewer than FEW_NUMBERS). */
enum { FEW_LABELS = 20, FEW_TEXTS = 5, FEW_NUMBERS = 3 };

/* ---- names of columns ----------------------------------------------------------------------- */

/* id, index, CustomerID, row_no and similar names of columns that identify rows. */
static bool is_id_name(const char *name) {
    static const char *const words[] = {
        "id",         "ids",     "idx",    "index",   "row",       "rowid",
        "row_id",     "rowname", "rownum", "row_num", "row_no",    "rownumber",
        "row_number", "no",      "no.",    "nr",      "nr.",       "num",
        "number",     "#",       "obs",    "record",  "row.names", "rownames",
        "row_names",  "uid",     "uuid",   "guid",    "key",       NULL};
    size_t length = strlen(name);
    for (const char *const *word = words; *word != NULL; word++)
        if (hd_same_word(name, *word))
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

bool hd_io_is_id(const hd_io_layout *layout, int64_t column) {
    return is_id_name(hd_io_layout_name(layout, column)) || is_unnamed(layout, column);
}

/* ---- facts ---------------------------------------------------------------------------------- */

/* The texts of one column. Numbers that count from 0 or 1 in steps of 1 are row numbers; the
 * distinct values come from the mapping that labels use. */
static huddle_status analyse_column(const hd_io_labels *texts, hd_io_facts *facts) {
    huddle_status status = HUDDLE_OK;
    char **classes = NULL;
    int32_t n_classes = 0;
    facts->whole = true;
    facts->first = 0;
    for (int64_t i = 0; i < texts->n; i++) {
        const char *begin = texts->texts[i].begin, *end = begin + texts->texts[i].length;
        int64_t value = 0;
        facts->missing += begin == end;
        facts->whole = facts->whole && hd_io_number_whole(begin, end, &value);
        if (!facts->whole)
            facts->first = -1;
        else if (i == 0)
            facts->first = value == 0 || value == 1 ? value : -1;
        else if (value != facts->first + i)
            facts->first = -1;
    }
    TRY(hd_io_labels_map(texts, &facts->values, &n_classes, &classes));
    facts->distinct = n_classes;
done:
    hd_io_classes_free(classes, n_classes);
    return status;
}

/* All columns are read in one pass over the file. A missing value is one of the values here, not an
 * error. */
huddle_status hd_io_facts_find(hd_io_schema *schema, const int64_t *columns, int64_t count) {
    huddle_status status = HUDDLE_OK;
    const int64_t rows = schema->layout->pieces.rows;
    hd_io_span *texts = NULL;
    ALLOC_ZERO(schema->facts, schema->layout->columns);
    if (count > 0)
        TRY(hd_io_texts_read(schema, columns, count, true, &texts));
    for (int64_t k = 0; k < count; k++) {
        hd_io_labels column = {.n = rows, .texts = texts + k * rows};
        TRY(analyse_column(&column, &schema->facts[columns[k]]));
    }
done:
    huddle_free(texts);
    return status;
}

/* A map from as many labels to as many values that is a function is also one to one. No text has a
 * negative number, so -1 means that the label was not seen yet. */
huddle_status hd_io_one_to_one(int64_t n, const int32_t *labels, int64_t n_labels,
                               const int32_t *values, int64_t n_values, bool *same) {
    huddle_status status = HUDDLE_OK;
    int32_t *map = NULL;
    *same = n_values == n_labels && n_values >= 2 && n > n_values;
    if (!*same)
        goto done;
    ALLOC(map, n_labels);
    for (int64_t k = 0; k < n_labels; k++)
        map[k] = -1;
    for (int64_t i = 0; i < n && *same; i++) {
        int32_t *expected = &map[labels[i]];
        if (*expected < 0)
            *expected = values[i];
        *same = *expected == values[i];
    }
done:
    huddle_free(map);
    return status;
}

/* More than one distinct value for every two rows: classes would have fewer than two members
 * on average. */
static bool identifies_rows(int64_t distinct, int64_t rows) {
    return rows > FEW_LABELS && 2 * distinct > rows;
}

/* Numbers may be classes of one member, and so may texts that the file lists, or the only one. */
bool hd_io_are_no_labels(const hd_io_column *kind, int64_t distinct, int64_t rows) {
    return identifies_rows(distinct, rows) ||
           (kind->kind == HD_IO_WORDS && !kind->nominal && distinct == rows && rows > 1);
}

bool hd_io_are_row_numbers(const hd_io_schema *schema, int64_t column) {
    const hd_io_facts *f = &schema->facts[column];
    const int64_t rows = schema->layout->pieces.rows;
    if (f->values == NULL || !f->whole || rows < 2 ||
        schema->layout->kinds[column].kind != HD_IO_NUMBERS)
        return false;
    return (hd_io_is_id(schema->layout, column) && f->distinct == rows) ||
           (column == 0 && f->first >= 0 && rows >= FEW_NUMBERS);
}

/* Texts of a few rows that are to be encoded, or whose values the file lists, may be categories
 * that happen to differ. Rows may lack a name. */
bool hd_io_are_row_names(const hd_io_schema *schema, int64_t column, bool encode) {
    const hd_io_facts *f = &schema->facts[column];
    const hd_io_column *kind = &schema->layout->kinds[column];
    const int64_t rows = schema->layout->pieces.rows;
    if (f->values == NULL || kind->kind != HD_IO_WORDS)
        return false;
    bool may_differ = encode || kind->nominal;
    bool differ = f->distinct == rows || (f->missing > 0 && f->distinct - 1 == rows - f->missing);
    if (differ && (!may_differ || hd_io_is_id(schema->layout, column)))
        return true;
    return identifies_rows(f->distinct, rows) ||
           (!may_differ && rows > FEW_TEXTS && 2 * f->distinct > rows);
}

bool hd_io_is_no_label(const hd_io_schema *schema, int64_t column, bool guessed) {
    return guessed
               ? hd_io_are_row_names(schema, column, false)
               : hd_io_are_no_labels(&schema->layout->kinds[column], schema->facts[column].distinct,
                                     schema->layout->pieces.rows);
}

/* ---- labels ---------------------------------------------------------------------------------- */

/* If the numeric columns are x and y, or x, y and z, they are coordinates, and y is no label. */
static bool holds_coordinates(const hd_io_layout *layout) {
    bool found[3] = {false};
    for (int64_t c = 0; layout->names != NULL && c < layout->columns; c++) {
        const char *name = layout->names[c];
        if (layout->kinds[c].kind != HD_IO_NUMBERS || is_unnamed(layout, c))
            continue;
        int axis = name[0] != '\0' && name[1] == '\0' ? (name[0] | 32) - 'x' : -1;
        if (axis < 0 || axis > 2 || found[axis])
            return false;
        found[axis] = true;
    }
    return found[0] && found[1];
}

/* Not dates or numbers that are not whole: "class" with 0.37 in it is a measurement. */
static bool may_be_classes(const hd_io_column *kind) {
    return kind->kind == HD_IO_WORDS || (kind->kind == HD_IO_NUMBERS && kind->whole);
}

/* The column whose name suits labels best. */
static int64_t find_label_by_name(const hd_io_layout *layout) {
    int64_t best = -1;
    int32_t best_rank = INT32_MAX;
    bool coordinates = holds_coordinates(layout);
    for (int64_t c = 0; layout->names != NULL && c < layout->columns; c++) {
        const hd_io_column *kind = &layout->kinds[c];
        int32_t rank = hd_io_label_name_rank(layout->names[c]);
        if (rank >= 0 && rank < best_rank && may_be_classes(kind) &&
            !(kind->kind == HD_IO_NUMBERS && coordinates)) {
            best = c;
            best_rank = rank;
        }
    }
    return best;
}

/* A column of texts that are not the names of the rows. */
static bool is_text(const hd_io_layout *layout, int64_t column) {
    return layout->kinds[column].kind == HD_IO_WORDS && !(column == 0 && layout->row_names);
}

int64_t hd_io_count_words(const hd_io_layout *layout, int64_t *last) {
    int64_t count = 0;
    for (int64_t c = 0; c < layout->columns; c++)
        if (is_text(layout, c)) {
            count++;
            *last = c;
        }
    return count;
}

/* The column that looks like labels, or -1; *reason is why. */
static int64_t find_label(const hd_io_layout *layout, bool *guessed, const char **reason) {
    int64_t column = find_label_by_name(layout);
    *guessed = false;
    *reason = "a conventional name for labels";
    if (column >= 0)
        return column;
    *reason = "the last attribute, which is nominal";
    if (layout->class_column > 0)
        return layout->class_column - 1;
    *guessed = hd_io_count_words(layout, &column) == 1;
    *reason = "the only text column";
    return *guessed ? column : -1;
}

int64_t hd_io_find_groups(const hd_io_schema *schema, int64_t *names) {
    int64_t groups = 0, found = -1;
    *names = 0;
    for (int64_t c = 0; c < schema->layout->columns; c++) {
        if (!is_text(schema->layout, c))
            continue;
        if (hd_io_are_row_names(schema, c, false)) {
            (*names)++;
            continue;
        }
        groups++;
        found = c;
    }
    return groups == 1 ? found : -1;
}

/* ---- a table that is read for its labels alone ----------------------------------------------- */

/* The last of the columns that huddle_columns_append() has named: cluster, cluster.1, .... */
static int64_t find_clusters(const hd_io_layout *layout) {
    static const char cluster[] = "cluster";
    const size_t length = sizeof cluster - 1;
    int64_t found = -1;
    for (int64_t c = 0; layout->names != NULL && c < layout->columns; c++) {
        const char *name = layout->names[c];
        int64_t number = 0;
        bool numbered = strncmp(name, cluster, length) == 0 && name[length] == '.' &&
                        hd_io_number_whole(name + length + 1, name + strlen(name), &number);
        if ((hd_same_word(name, cluster) || numbered) && may_be_classes(&layout->kinds[c]))
            found = c;
    }
    return found;
}

/* How many columns have a name for labels, or texts. */
static int64_t count_candidates(const hd_io_layout *layout) {
    int64_t count = 0;
    for (int64_t c = 0; c < layout->columns; c++)
        count += is_text(layout, c) || (hd_io_label_name_rank(hd_io_layout_name(layout, c)) >= 0 &&
                                        may_be_classes(&layout->kinds[c]));
    return count;
}

/* The column that huddle_data_read() would take. Where it would take none, a column with a name for
 * labels is believed: the caller says that there are labels. So is the only row's label. */
static huddle_status find_usual(hd_io_schema *schema, int64_t *found) {
    huddle_status status = HUDDLE_OK;
    const hd_io_layout *layout = schema->layout;
    bool guessed = false;
    const char *reason;
    int64_t *columns = NULL, count = 0, names = 0, last = -1, rows = schema->layout->pieces.rows;
    int64_t words = hd_io_count_words(layout, &last);
    *found = find_label(layout, &guessed, &reason);
    if (*found >= 0 && !guessed && (words == 0 || (words == 1 && last == *found)))
        goto done; /* there is no other */
    ALLOC(columns, layout->columns);
    for (int64_t c = 0; c < layout->columns; c++)
        if (layout->kinds[c].kind == HD_IO_WORDS || c == *found)
            columns[count++] = c;
    TRY(hd_io_facts_find(schema, columns, count));
    bool rejected = *found >= 0 && hd_io_is_no_label(schema, *found, guessed);
    int64_t other = hd_io_find_groups(schema, &names);
    if ((*found < 0 || rejected) && other >= 0)
        *found = other;
    else if (rejected && guessed && rows > 1)
        FAIL(HUDDLE_FORMAT, "%s names the rows, and no other column is known to hold labels",
             hd_io_layout_place(layout, *found).text);
done:
    huddle_free(columns);
    return status;
}

huddle_status hd_io_find_label(hd_io_schema *schema, const char *path, bool clusters,
                               int64_t *found) {
    huddle_status status = HUDDLE_OK;
    const hd_io_layout *layout = schema->layout;
    *found = 0; /* a single column is labels whatever it contains */
    if (layout->columns == 1)
        goto done;
    *found = clusters ? find_clusters(layout) : -1;
    if (*found < 0)
        TRY(find_usual(schema, found));
    if (*found < 0)
        FAIL(HUDDLE_FORMAT, "it has %lld columns, and none is known to hold labels",
             (long long)layout->columns);
    if (count_candidates(layout) > 1)
        hd_log(schema->request->context, "%s: the labels are those in %s", path,
               hd_io_layout_place(layout, *found).text);
done:
    return status;
}

/* ---- labels beside points -------------------------------------------------------------------- */

/* The list of columns is cut while there is still room for one name of 80 bytes, a separator and
 * "...", which takes the place of the first name that does not fit. */
huddle_status hd_io_no_such_column(const hd_io_layout *layout, const char *name, bool feature) {
    char names[400] = "";
    size_t used = 0;
    int own = (int)strcspn(name, "=");
    if (layout->names == NULL)
        snprintf(names, sizeof names, "%lld columns without names", (long long)layout->columns);
    for (int64_t c = 0; layout->names != NULL && c < layout->columns; c++) {
        bool room = used <= sizeof names - 220;
        used += (size_t)snprintf(names + used, sizeof names - used, "%s%.80s", c > 0 ? ", " : "",
                                 room ? layout->names[c] : "...");
        if (!room)
            break;
    }
    if (feature && name[own] == '=')
        return hd_fail(HUDDLE_INVALID, "no column '%.*s' or '%.200s'; it has %s",
                       own > 200 ? 200 : own, name, name, names);
    return hd_fail(HUDDLE_INVALID, "no column '%.200s'; it has %s", name, names);
}

/* The labels as far as options and names determine them. A column that looks like labels is no
 * feature even if labels are not wanted or come from elsewhere. */
huddle_status hd_io_schema_choose_label(hd_io_schema *schema) {
    const hd_io_layout *layout = schema->layout;
    const huddle_read_options *options = schema->request->options;
    schema->label = find_label(layout, &schema->guessed, &schema->y_reason);
    if (schema->guessed && options->encode) { /* texts are to be features */
        schema->label = -1;
        schema->guessed = false;
    }
    if (options->n_y == 0 || hd_io_labels_unwanted(options))
        return HUDDLE_OK;
    int64_t column = hd_io_layout_column(layout, options->y[0]);
    if (column >= 0 && options->n_y > 1)
        return hd_fail(HUDDLE_INVALID, "only one column can hold the labels, but %lld are named",
                       (long long)options->n_y);
    if (column >= 0) {
        schema->label = column;
        schema->guessed = false;
        schema->label_given = true;
        schema->y_reason = options->hints_as_flags ? "chosen by --y" : "chosen by y";
        return HUDDLE_OK;
    }
    struct stat about;
    if (stat(options->y[0], &about) != 0 || S_ISDIR(about.st_mode))
        return hd_io_no_such_column(layout, options->y[0], false);
    schema->from_files = true;
    return HUDDLE_OK;
}

bool hd_io_labels_needed(const hd_io_schema *schema) {
    const huddle_read_options *options = schema->request->options;
    return schema->label_given || options->classes != NULL || options->per_class > 0;
}
