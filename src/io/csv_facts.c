/* Facts about columns that take reading all of their values: do they number the rows, are they all
 * different, do they determine the labels? */
#include "io/csv.h"

#include "base/check.h"
#include "io/number.h"

#include <string.h>

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

/* All marked columns are read in one pass over the file. any_text: a missing value is one of
 * the values here, not an error. */
huddle_status hd_io_facts_find(huddle_context *context, const hd_io_layout *layout,
                               const hd_io_pieces *pieces, const bool *marked, hd_io_facts *facts) {
    huddle_status status = HUDDLE_OK;
    hd_io_plan plan = {.layout = layout, .label = -1};
    hd_io_reading reading = {.plan = &plan, .pieces = pieces, .any_text = true};
    ALLOC(plan.roles, layout->columns);
    for (int64_t c = 0; c < layout->columns; c++)
        plan.roles[c] = marked[c] ? hd_io_text_role(plan.n_texts++) : HD_IO_SKIP;
    if (plan.n_texts == 0)
        goto done;
    ALLOC(reading.texts, plan.n_texts * pieces->rows);
    TRY(hd_io_table_read(context, &reading));
    for (int64_t c = 0; c < layout->columns; c++) {
        hd_io_labels texts = {.n = pieces->rows};
        if (!marked[c])
            continue;
        /* The number of a text is -2 - role: see hd_io_text_role(). */
        texts.texts = reading.texts + (-2 - plan.roles[c]) * pieces->rows;
        TRY(analyse_column(&texts, &facts[c]));
    }
done:
    FREE(reading.texts, plan.roles);
    return status;
}

void hd_io_facts_free(hd_io_facts *facts, int64_t columns) {
    for (int64_t c = 0; facts != NULL && c < columns; c++)
        huddle_free(facts[c].values);
    huddle_free(facts);
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
