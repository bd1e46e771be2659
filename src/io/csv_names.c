/* The names of rows: which column has them, and reading it. Columns that number the rows. */
#include "io/csv.h"

#include "base/check.h"
#include "base/text.h"

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

bool hd_io_are_row_numbers(const hd_io_layout *layout, const hd_io_facts *facts, int64_t column,
                           int64_t rows) {
    const hd_io_facts *f = &facts[column];
    if (!f->known || !f->whole || rows < 2 || layout->kinds[column].kind != HD_IO_NUMBERS)
        return false;
    return (hd_io_is_id(layout, column) && f->distinct == rows) ||
           (column == 0 && f->first >= 0 && rows >= FEW_NUMBERS);
}

/* Texts of a few rows that are to be encoded, or whose values the file lists, may be categories
 * that happen to differ. Rows may lack a name. */
bool hd_io_are_row_names(const hd_io_layout *layout, const hd_io_facts *facts, int64_t column,
                         int64_t rows, bool encode) {
    const hd_io_facts *f = &facts[column];
    if (!f->known || layout->kinds[column].kind != HD_IO_WORDS)
        return false;
    bool may_differ = encode || layout->kinds[column].nominal;
    bool differ = f->distinct == rows || (f->missing > 0 && f->distinct - 1 == rows - f->missing);
    if (differ && (!may_differ || hd_io_is_id(layout, column)))
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
huddle_status hd_io_names_read(huddle_context *context, const hd_io_plan *plan,
                               const hd_io_pieces *pieces, huddle_data *data) {
    huddle_status status = HUDDLE_OK;
    hd_io_plan only = {.layout = plan->layout, .label = -1, .n_texts = 1};
    hd_io_labels texts = {0};
    if (plan->names < 0)
        goto done;
    ALLOC(only.roles, plan->layout->columns);
    for (int64_t c = 0; c < plan->layout->columns; c++)
        only.roles[c] = c == plan->names ? hd_io_text_role(0) : HD_IO_SKIP;
    ALLOC(texts.texts, pieces->rows);
    texts.n = pieces->rows;
    hd_io_reading reading = {
        .plan = &only, .pieces = pieces, .texts = texts.texts, .any_text = true};
    TRY(hd_io_table_read(context, &reading));
    if (plan->layout->quoted)
        TRY(hd_io_texts_unescape(&texts));
    TRY(copy_names(&texts, data));
done:
    huddle_free(only.roles);
    hd_io_labels_free(&texts);
    return status;
}
