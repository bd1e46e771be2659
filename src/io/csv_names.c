/* Facts about columns that take reading all of their values: do they number the rows or name them,
 * do they determine the labels? The names of rows. */
#include "io/csv.h"

#include "base/check.h"
#include "base/text.h"
#include "io/number.h"

#include <string.h>

/* In so few rows, most labels (FEW_LABELS) or other texts (FEW_TEXTS) may differ by chance, or a
 * column count (fewer than FEW_NUMBERS). */
enum { FEW_LABELS = 20, FEW_TEXTS = 5, FEW_NUMBERS = 3 };

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

bool hd_io_is_unnamed(const hd_io_layout *layout, int64_t column) {
    const char *name = hd_io_layout_name(layout, column);
    return layout->names != NULL &&
           ((column == 0 && name[0] == '\0') || strncmp(name, "Unnamed: 0", 10) == 0);
}

bool hd_io_is_id(const hd_io_layout *layout, int64_t column) {
    return is_id_name(hd_io_layout_name(layout, column)) || hd_io_is_unnamed(layout, column);
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
    for (int64_t i = 0; i < texts->n && facts->whole; i++) {
        const char *begin = texts->texts[i].begin, *end = begin + texts->texts[i].length;
        int64_t value = 0;
        facts->whole = hd_io_number_whole(begin, end, &value);
        if (i == 0)
            facts->first = value == 0 || value == 1 ? value : -1;
        else if (value != facts->first + i)
            facts->first = -1;
    }
    if (!facts->whole)
        facts->first = -1;
    for (int64_t i = 0; i < texts->n; i++)
        facts->missing += texts->texts[i].length == 0;
    TRY(hd_io_labels_map(texts, &facts->values, &n_classes, &classes));
    facts->distinct = n_classes;
    facts->known = true;
done:
    hd_io_classes_free(classes, n_classes);
    return status;
}

/* All columns are read in one pass over the file. A missing value is one of the values here, not an
 * error. */
huddle_status hd_io_facts_find(hd_io_plan *plan, const int64_t *columns, int64_t count) {
    huddle_status status = HUDDLE_OK;
    const int64_t rows = plan->pieces->rows;
    hd_io_span *texts = NULL;
    ALLOC_ZERO(plan->facts, plan->layout->columns);
    if (count > 0)
        TRY(hd_io_texts_read(plan, columns, count, true, &texts));
    for (int64_t k = 0; k < count; k++) {
        hd_io_labels column = {.n = rows, .texts = texts + k * rows};
        TRY(analyse_column(&column, &plan->facts[columns[k]]));
    }
done:
    huddle_free(texts);
    return status;
}

/* The caller has checked that there are as many values as labels. Under that condition a map
 * from labels to values that is a function is also one to one. */
bool hd_io_table_one_to_one(int64_t n, const int32_t *labels, int32_t n_labels,
                            const int32_t *values, int32_t *map) {
    /* No text has a negative number, so -1 means that the label was not seen yet. */
    for (int32_t k = 0; k < n_labels; k++)
        map[k] = -1;
    for (int64_t i = 0; i < n; i++) {
        int32_t *expected = &map[labels[i]];
        if (*expected < 0)
            *expected = values[i];
        if (*expected != values[i])
            return false;
    }
    return true; /* as many values as labels, each label with one of its own: none can be shared */
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

bool hd_io_are_row_numbers(const hd_io_plan *plan, int64_t column) {
    const hd_io_facts *f = &plan->facts[column];
    const int64_t rows = plan->pieces->rows;
    if (!f->known || !f->whole || rows < 2 || plan->layout->kinds[column].kind != HD_IO_NUMBERS)
        return false;
    return (hd_io_is_id(plan->layout, column) && f->distinct == rows) ||
           (column == 0 && f->first >= 0 && rows >= FEW_NUMBERS);
}

/* Texts of a few rows that are to be encoded, or whose values the file lists, may be categories
 * that happen to differ. Rows may lack a name. */
bool hd_io_are_row_names(const hd_io_plan *plan, int64_t column, bool encode) {
    const hd_io_facts *f = &plan->facts[column];
    const hd_io_column *kind = &plan->layout->kinds[column];
    const int64_t rows = plan->pieces->rows;
    if (!f->known || kind->kind != HD_IO_WORDS)
        return false;
    bool may_differ = encode || kind->nominal;
    bool differ = f->distinct == rows || (f->missing > 0 && f->distinct - 1 == rows - f->missing);
    if (differ && (!may_differ || hd_io_is_id(plan->layout, column)))
        return true;
    return identifies_rows(f->distinct, rows) ||
           (!may_differ && rows > FEW_TEXTS && 2 * f->distinct > rows);
}

/* ---- reading -------------------------------------------------------------------------------- */

/* The rows of the points are those of the table but for the dropped ones, which ascend. */
static huddle_status copy_names(const hd_io_labels *texts, huddle_data *data) {
    huddle_status status = HUDDLE_OK;
    int64_t kept = 0, gone = 0;
    ALLOC_ZERO(data->row_names, texts->n - data->n_dropped + 1);
    for (int64_t i = 0; i < texts->n; i++) {
        if (gone < data->n_dropped && data->dropped[gone] == i) {
            gone++;
            continue;
        }
        data->row_names[kept] = hd_copy_part(texts->texts[i].begin, texts->texts[i].length);
        if (data->row_names[kept++] == NULL)
            FAIL(HUDDLE_NO_MEMORY, "no memory for the name of a row");
    }
done:
    return status;
}

/* In a pass of their own: the names are not missing where a field is empty, and are not needed
 * until it is known that they are names. */
huddle_status hd_io_names_read(const hd_io_plan *plan, huddle_data *data) {
    huddle_status status = HUDDLE_OK;
    hd_io_labels texts = {.n = plan->pieces->rows};
    if (plan->names < 0)
        goto done;
    TRY(hd_io_texts_read(plan, &plan->names, 1, true, &texts.texts));
    if (plan->layout->quoted)
        TRY(hd_io_texts_unescape(&texts));
    TRY(copy_names(&texts, data));
done:
    hd_io_labels_free(&texts);
    return status;
}
