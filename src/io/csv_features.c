/* The features of another table, found by their names: columns of numbers, and texts of columns
 * that were encoded there. The features of a row do not depend on the other rows. */
#include "io/csv.h"

#include "base/check.h"
#include "base/context.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- finding them --------------------------------------------------------------------------- */

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
    copy = hd_copy_text(name);
    if (copy == NULL)
        FAIL(HUDDLE_NO_MEMORY, "no memory for a column's name");
    for (char *sign; feature->column < 0 && (sign = strrchr(copy, '=')) != NULL;) {
        *sign = '\0';
        feature->column = hd_io_layout_named(layout, copy);
        feature->text = name + (sign - copy) + 1;
    }
done:
    huddle_free(copy);
    return status;
}

/* Names both readings of "city=Paris". The list of columns is cut while there is still room
 * for one name of 80 bytes, a separator and "...". */
static huddle_status no_such_feature(const hd_io_layout *layout, const char *name) {
    char names[400] = "";
    size_t used = 0;
    int own = (int)strcspn(name, "=");
    for (int64_t c = 0; layout->names != NULL && c < layout->columns; c++) {
        bool room = used < sizeof names - 220;
        /* "..." takes the place of the first name that does not fit. */
        used += (size_t)snprintf(names + used, sizeof names - used, "%s%.80s", c > 0 ? ", " : "",
                                 room ? layout->names[c] : "...");
        if (!room)
            break;
    }
    if (name[own] == '=')
        return hd_fail(HUDDLE_INVALID, "no column '%.*s' or '%.200s'; it has %s",
                       own > 200 ? 200 : own, name, name, names);
    return hd_fail(HUDDLE_INVALID, "no column '%.200s'; it has %s", name, names);
}

/* The names that list_features() gives to columns without one. All features must have such a
 * name, or the table is matched by position instead. */
bool hd_io_features_name_positions(const hd_io_layout *layout, const huddle_read_options *options) {
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
    return hd_io_field_number(&field, '.', &value) || hd_io_field_number(&field, ',', &value);
}

/* A feature "column=text" means that the column was encoded in the training table. A column is
 * either numeric or encoded, and a numeric one occurs once: anything else is a name that this
 * table does not have. */
huddle_status hd_io_plan_expect(hd_io_plan *plan, const huddle_read_options *options) {
    enum { FREE, NUMBERS, TEXTS };
    huddle_status status = HUDDLE_OK;
    uint8_t *uses = NULL;
    bool *words = NULL;
    ALLOC(plan->expected, options->n_x);
    ALLOC_ZERO(uses, plan->layout->columns);
    ALLOC_ZERO(words, plan->layout->columns);
    for (int64_t k = 0; k < options->n_x; k++) {
        hd_io_feature *feature = &plan->expected[k];
        TRY(find_feature(plan->layout, options->x[k], feature));
        uint8_t use = feature->text == NULL ? NUMBERS : TEXTS;
        /* "a=1" is no text of "a" where "a" is a feature itself. */
        if (feature->column < 0 ||
            (uses[feature->column] != FREE && (use == NUMBERS || uses[feature->column] != use)))
            TRY(no_such_feature(plan->layout, options->x[k]));
        uses[feature->column] = use;
        words[feature->column] =
            words[feature->column] || (use == TEXTS && !is_number(feature->text));
    }
    /* Only columns of texts are encoded: where all would be numbers, "a=1" is a column's name. */
    for (int64_t k = 0; k < options->n_x; k++)
        if (plan->expected[k].text != NULL && !words[plan->expected[k].column])
            TRY(no_such_feature(plan->layout, options->x[k]));
done:
    FREE(uses, words);
    return status;
}

/* ---- their values --------------------------------------------------------------------------- */

/* Texts of a column that belong to no feature: the first few, and the number of their rows. */
enum { MAX_UNKNOWN = 4 };
typedef struct unknown_texts {
    hd_io_span texts[MAX_UNKNOWN];
    int count;
    bool more;
    int64_t rows;
} unknown_texts;

static bool equals_text(hd_io_span text, const char *other) {
    return (size_t)text.length == strlen(other) &&
           memcmp(text.begin, other, (size_t)text.length) == 0;
}

/* The first few different texts are kept as examples; the number of rows counts all. */
static void record_unknown(unknown_texts *unknown, hd_io_span text) {
    unknown->rows++;
    for (int k = 0; k < unknown->count; k++)
        if (unknown->texts[k].length == text.length &&
            memcmp(unknown->texts[k].begin, text.begin, (size_t)text.length) == 0)
            return;
    if (unknown->count < MAX_UNKNOWN)
        unknown->texts[unknown->count++] = text;
    else
        unknown->more = true;
}

/* Four texts of 60 bytes with their quotes fit the list. */
static void warn_unknown(huddle_context *context, const hd_io_plan *plan, int64_t column,
                         const unknown_texts *unknown) {
    char place[160], list[300] = "";
    size_t used = 0;
    if (unknown->rows == 0)
        return;
    for (int k = 0; k < unknown->count; k++) {
        hd_io_span text = unknown->texts[k];
        used += (size_t)snprintf(list + used, sizeof list - used, "%s'%.*s'", k > 0 ? ", " : "",
                                 (int)(text.length < 60 ? text.length : 60), text.begin);
    }
    hd_io_layout_place(plan->layout, column, place, sizeof place);
    hd_warn(
        context, HUDDLE_WARNING_INPUT,
        "%s: unseen categories %s%s (%lld row%s) are encoded as 0 in all features of that column",
        place, list, unknown->more ? ", ..." : "", (long long)unknown->rows,
        unknown->rows == 1 ? "" : "s");
}

/* Features js[0 .. count - 1] are texts of that column. The entries are those of
 * put_category() in csv_values.c: sqrt(1/2) for the row's own text, so that two rows with
 * different texts are at distance 1. A text that the training table did not have is 0 in all
 * features: it is equally far from every known one. */
static huddle_status encode_texts(huddle_context *context, const hd_io_plan *plan, int64_t column,
                                  const int64_t *js, int64_t count, const hd_io_span *texts,
                                  int64_t n, double *wide, int64_t d) {
    huddle_status status = HUDDLE_OK;
    hd_io_labels rows = {.n = n};
    unknown_texts unknown = {.count = 0};
    const double present = sqrt(0.5);
    ALLOC(rows.texts, n);
    /* Spans are copied, because unescaping replaces them and the reading still needs its own. */
    memcpy(rows.texts, texts, (size_t)n * sizeof *texts);
    TRY(hd_io_texts_unescape(&rows));
    for (int64_t i = 0; i < n; i++) {
        bool known = false, missing = rows.texts[i].length == 0;
        for (int64_t k = 0; k < count; k++) {
            bool same = equals_text(rows.texts[i], plan->expected[js[k]].text);
            wide[i * d + js[k]] = missing ? NAN : same ? present : 0;
            known = known || same;
        }
        if (!known && !missing)
            record_unknown(&unknown, rows.texts[i]);
    }
    warn_unknown(context, plan, column, &unknown);
done:
    hd_io_labels_free(&rows);
    return status;
}

/* Numbers are copied feature by feature; encoded columns are handled once each, for all of
 * their features together. */
huddle_status hd_io_features_arrange(huddle_context *context, const hd_io_plan *plan,
                                     int64_t n_features, const hd_io_reading *reading, int64_t n,
                                     double *wide) {
    huddle_status status = HUDDLE_OK;
    int64_t *js = NULL;
    ALLOC(js, n_features);
    for (int64_t j = 0; j < n_features; j++) {
        int32_t role = plan->roles[plan->expected[j].column];
        /* Features that are texts have a negative role and are filled below. */
        for (int64_t i = 0; role >= 0 && i < n; i++)
            wide[i * n_features + j] = reading->values[i * plan->d + role];
    }
    for (int64_t k = 0; k < plan->n_chosen; k++) {
        int64_t column = plan->chosen[k], count = 0;
        int32_t role = plan->roles[column];
        if (role >= 0)
            continue;
        for (int64_t j = 0; j < n_features; j++)
            if (plan->expected[j].column == column)
                js[count++] = j;
        TRY(encode_texts(context, plan, column, js, count,
                         reading->texts + (-2 - role) * reading->pieces->rows, n, wide,
                         n_features));
    }
done:
    huddle_free(js);
    return status;
}
