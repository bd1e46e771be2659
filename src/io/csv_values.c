/* Tables with missing values to leave out or fill in, and with texts to encode. All values are in
 * memory as doubles on the way; a table that needs neither is read without. */
#include "io/csv.h"

#include "base/check.h"
#include "base/context.h"
#include "base/text.h"
#include "io/exact.h"
#include "io/number.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A column with more different texts than this contains names, not categories; encoding it
 * would add a feature for each. */
enum { MAX_CATEGORIES = 100 };

huddle_status hd_io_choose(const char *option, const char *value, const char *words, int *chosen) {
    *chosen = 0;
    if (value == NULL)
        return HUDDLE_OK;
    for (const char *word = words;; word++, ++*chosen) {
        size_t length = strcspn(word, "|");
        if (strlen(value) == length && memcmp(word, value, length) == 0)
            return HUDDLE_OK;
        word += length;
        if (*word == '\0')
            return hd_fail(HUDDLE_INVALID, "%s = %.100s: expected one of %s", option, value, words);
    }
}

/* The table on its way to points. */
typedef struct values {
    hd_io_schema *schema;
    hd_io_reading reading;
    huddle_data *data;
    int64_t n;        /* rows that are left */
    int64_t d;        /* features, encoded ones included */
    int64_t *sources; /* d: the column of each feature */
    double *wide;     /* n x d */
    int64_t filled;   /* missing values that were filled in */
} values;

/* The texts of a column that is to be encoded. */
static const hd_io_span *texts_of(const values *v, int64_t column) {
    return v->reading.texts + (-2 - v->schema->roles[column]) * v->schema->pieces->rows;
}

/* ---- rows with missing values --------------------------------------------------------------- */

/* Names the column that is missing most often, because leaving that one out may be all that is
 * needed. */
static huddle_status refuse_all_rows(const hd_io_reading *r) {
    int64_t rows = r->schema->pieces->rows, worst = 0, max_missing = -1;
    /* Only numeric columns are counted: a missing text is empty, not NaN. */
    for (int64_t k = 0; k < r->schema->n_chosen; k++) {
        int64_t column = r->schema->chosen[k], count = 0;
        int32_t role = r->schema->roles[column];
        for (int64_t i = 0; role >= 0 && i < rows; i++)
            count += isnan(r->values[i * r->schema->d + role]) != 0;
        if (count > max_missing) {
            max_missing = count;
            worst = column;
        }
    }
    return hd_fail(HUDDLE_FORMAT,
                   "every row lacks a value, %s in %lld of %lld rows; leave that column out, or "
                   "fill missing values by mean or median",
                   hd_io_layout_place(r->schema->layout, worst).text, (long long)max_missing,
                   (long long)rows);
}

/* Removes incomplete rows in place. Texts of column k are then at k * pieces->rows as before,
 * but only the first v->n of them count. */
static huddle_status drop_rows(values *v) {
    huddle_status status = HUDDLE_OK;
    const hd_io_reading *r = &v->reading;
    huddle_data *data = v->data;
    const int64_t rows = v->n, d = r->schema->d;
    int64_t count = 0, kept = 0;
    for (int64_t i = 0; i < rows; i++)
        count += r->incomplete[i];
    v->n = rows - count;
    if (count == 0)
        goto done;
    if (v->n == 0)
        TRY(refuse_all_rows(r));
    ALLOC(data->dropped, count);
    for (int64_t i = 0; i < rows; i++) {
        if (r->incomplete[i]) {
            data->dropped[data->n_dropped++] = i;
            continue;
        }
        memmove(r->values + kept * d, r->values + i * d, (size_t)d * sizeof *r->values);
        for (int64_t k = 0; k < r->schema->n_texts; k++)
            r->texts[k * rows + kept] = r->texts[k * rows + i];
        kept++;
    }
done:
    return status;
}

/* Mean or median of the values of a column that are present; NaN if there is none. The median
 * of an even number of values is the mean of the middle two. */
static double typical_value(const values *v, int64_t j, bool median, double *room) {
    int64_t count = 0;
    double sum = 0;
    for (int64_t i = 0; i < v->n; i++) {
        double value = v->wide[i * v->d + j];
        if (isnan(value))
            continue;
        room[count++] = value;
        sum += value;
    }
    if (count == 0)
        return NAN;
    if (!median)
        return sum / (double)count;
    qsort(room, (size_t)count, sizeof *room, hd_io_by_real);
    return (room[(count - 1) / 2] + room[count / 2]) / 2;
}

/* Works on the features after encoding: a missing category, NaN in all features of its column,
 * is filled by the mean of each, which is its share among the rows. */
static huddle_status fill_missing(values *v, bool median) {
    huddle_status status = HUDDLE_OK;
    double *room = NULL;
    ALLOC(room, v->n);
    for (int64_t j = 0; j < v->d; j++) {
        bool gaps = false;
        for (int64_t i = 0; i < v->n && !gaps; i++)
            gaps = isnan(v->wide[i * v->d + j]) != 0;
        if (!gaps)
            continue;
        double value = typical_value(v, j, median, room);
        if (isnan(value))
            FAIL(HUDDLE_FORMAT, "%s has no values at all",
                 hd_io_layout_place(v->schema->layout, v->sources[j]).text);
        for (int64_t i = 0; i < v->n; i++)
            if (isnan(v->wide[i * v->d + j])) {
                v->wide[i * v->d + j] = value;
                v->filled++;
            }
    }
done:
    huddle_free(room);
    return status;
}

/* ---- texts as features ---------------------------------------------------------------------- */

/* The texts of one column, and the number of the text that each row has. */
typedef struct category {
    int32_t *of; /* n */
    int32_t count;
    char **texts;
    int32_t missing; /* the one that means a missing value, or -1 */
} category;

static void category_free(category *c) {
    huddle_free(c->of);
    hd_io_classes_free(c->texts, c->count);
    *c = (category){0};
}

/* A copy of the texts with single quotes where they were doubled: the reading still needs its own.
 */
static huddle_status copy_texts(const hd_io_span *texts, int64_t n, hd_io_labels *copy) {
    huddle_status status = HUDDLE_OK;
    *copy = (hd_io_labels){.n = n};
    ALLOC(copy->texts, n);
    memcpy(copy->texts, texts, (size_t)n * sizeof *texts);
    TRY(hd_io_texts_unescape(copy));
done:
    return status;
}

/* hd_io_labels_map() sorts the texts, so that the features do not depend on the order of the
 * rows. A missing text is empty and becomes one of the categories, which is remembered to
 * leave it out. */
static huddle_status find_categories(const values *v, int64_t column, category *found) {
    huddle_status status = HUDDLE_OK;
    const hd_io_span *texts = texts_of(v, column);
    hd_io_labels labels;
    TRY(copy_texts(texts, v->n, &labels));
    TRY(hd_io_labels_map(&labels, &found->of, &found->count, &found->texts));
    found->missing = -1;
    for (int64_t i = 0; i < v->n && found->missing < 0; i++)
        if (texts[i].length == 0)
            found->missing = found->of[i];
    if (found->count > MAX_CATEGORIES)
        FAIL(HUDDLE_FORMAT,
             "%s has %d categories, and more than %d are not encoded; leave it "
             "out by choosing the other columns as x",
             hd_io_layout_place(v->schema->layout, column).text, found->count, MAX_CATEGORIES);
done:
    hd_io_labels_free(&labels);
    return status;
}

/* Two rows whose texts differ are at distance 1, as two numbers that differ by 1 are: each has
 * sqrt(1/2) where the other has 0. A missing text is NaN in all features of its column until they
 * are filled or dropped. */
static double encode_text(bool missing, bool same) {
    return missing ? NAN : same ? sqrt(0.5) : 0;
}

/* Features that a chosen column becomes. The missing category has none. */
static int64_t encoded_width(const category *c) {
    return c->count == 0 ? 1 : c->count - (c->missing >= 0);
}

/* "city=Paris" for an encoded text. A saved model finds its features in another table by these
 * names: see list_expected() of csv_schema.c. */
static huddle_status name_feature(const hd_io_schema *schema, int64_t column, const char *text,
                                  char **name) {
    char position[40];
    const char *own = hd_io_layout_name(schema->layout, column);
    snprintf(position, sizeof position, "column %lld", (long long)column + 1);
    char *joined = hd_join_text(own[0] != '\0' ? own : position, text == NULL ? "" : "=");
    *name = joined == NULL ? NULL : hd_join_text(joined, text == NULL ? "" : text);
    huddle_free(joined);
    return *name != NULL ? HUDDLE_OK : hd_fail(HUDDLE_NO_MEMORY, "no memory for a column's name");
}

/* The names of the features, in the order of the columns, and the column of each.
 * categories[k].count is 0 for a column of numbers. Names are only made if the table has a header
 * or something was encoded. */
static huddle_status list_features(values *v, const category *categories) {
    huddle_status status = HUDDLE_OK;
    const hd_io_schema *schema = v->schema;
    int64_t j = 0;
    bool named = schema->layout->names != NULL || schema->n_texts > (schema->label >= 0);
    ALLOC(v->sources, v->d);
    if (named)
        ALLOC_ZERO(v->data->features, v->d + 1);
    for (int64_t k = 0; k < schema->n_chosen; k++) {
        int64_t column = schema->chosen[k];
        const category *c = &categories[k];
        for (int32_t t = 0; t < (c->count > 0 ? c->count : 1); t++) {
            if (c->count > 0 && t == c->missing)
                continue;
            if (named)
                TRY(name_feature(schema, column, c->count > 0 ? c->texts[t] : NULL,
                                 &v->data->features[j]));
            v->sources[j++] = column;
        }
    }
done:
    return status;
}

/* The values with each chosen column of texts replaced by its features. */
static huddle_status expand_categories(values *v, const category *categories) {
    huddle_status status = HUDDLE_OK;
    ALLOC(v->wide, v->n * v->d);
    double *to = v->wide;
    for (int64_t i = 0; i < v->n; i++)
        for (int64_t k = 0; k < v->schema->n_chosen; k++) {
            const category *c = &categories[k];
            int32_t role = v->schema->roles[v->schema->chosen[k]];
            if (role >= 0)
                *to++ = v->reading.values[i * v->schema->d + role];
            for (int32_t t = 0; role < 0 && t < c->count; t++)
                if (t != c->missing)
                    *to++ = encode_text(c->of[i] == c->missing, c->of[i] == t);
        }
done:
    return status;
}

/* Finds the texts of each column to encode; their number is shown in the column's reason. */
static huddle_status find_encoded_texts(values *v, category *categories) {
    huddle_status status = HUDDLE_OK;
    for (int64_t k = 0; k < v->schema->n_chosen; k++) {
        int64_t column = v->schema->chosen[k];
        if (v->schema->roles[column] >= 0)
            continue;
        TRY(find_categories(v, column, &categories[k]));
        TRY(hd_io_schema_set_role(v->schema, column, HUDDLE_COLUMN_FEATURE,
                                  "encoded, %lld categories",
                                  (long long)encoded_width(&categories[k])));
    }
done:
    return status;
}

/* Encoded columns that determine the labels are not features. drop_leaks() of csv.c cannot
 * find them: none of the features of such a column determines the labels alone. The last
 * column is kept, as there. The label is text 0. */
static huddle_status drop_leaks(const values *v, category *categories) {
    huddle_status status = HUDDLE_OK;
    hd_io_schema *schema = v->schema;
    category labels = {0};
    int64_t kept = 0;
    if (!schema->automatic || schema->label < 0)
        goto done;
    hd_io_labels texts = {.n = v->n, .texts = v->reading.texts};
    TRY(hd_io_labels_map(&texts, &labels.of, &labels.count, &labels.texts));
    for (int64_t k = 0; k < schema->n_chosen; k++) {
        category c = categories[k];
        int64_t column = schema->chosen[k];
        bool leak = false;
        if (kept > 0 || k + 1 < schema->n_chosen)
            TRY(hd_io_one_to_one(v->n, labels.of, labels.count, c.of, c.count, &leak));
        if (leak) {
            category_free(&categories[k]);
            TRY(hd_io_schema_leave_out_leak(schema, column));
            continue;
        }
        /* Kept categories move together with their columns, so that categories[k] still
         * belongs to chosen[k]. */
        categories[k] = (category){0};
        categories[kept] = c;
        schema->chosen[kept++] = column;
    }
    schema->n_chosen = kept;
done:
    category_free(&labels);
    return status;
}

/* The features of a table that stands alone. */
static huddle_status take_features(values *v) {
    huddle_status status = HUDDLE_OK;
    category *categories = NULL;
    const int64_t room = v->schema->n_chosen;
    ALLOC_ZERO(categories, room);
    TRY(find_encoded_texts(v, categories));
    TRY(drop_leaks(v, categories));
    for (int64_t k = 0; k < v->schema->n_chosen; k++)
        v->d += encoded_width(&categories[k]);
    if (v->d == 0)
        FAIL(HUDDLE_FORMAT, "no column is left for the features");
    TRY(list_features(v, categories));
    TRY(expand_categories(v, categories));
done:
    for (int64_t k = 0; categories != NULL && k < room; k++)
        category_free(&categories[k]);
    huddle_free(categories);
    return status;
}

/* ---- the features of another table ----------------------------------------------------------- */

/* Texts of a column that belong to no feature: the first few, and the number of their rows. */
enum { MAX_UNKNOWN = 4 };
typedef struct unknown_texts {
    hd_io_span texts[MAX_UNKNOWN];
    int count;
    bool more;
    int64_t rows;
} unknown_texts;

static bool equals_text(hd_io_span text, const char *other, int64_t length) {
    return text.length == length && memcmp(text.begin, other, (size_t)length) == 0;
}

/* The first few different texts are kept as examples; the number of rows counts all. */
static void record_unknown(unknown_texts *unknown, hd_io_span text) {
    unknown->rows++;
    for (int k = 0; k < unknown->count; k++)
        if (equals_text(unknown->texts[k], text.begin, text.length))
            return;
    if (unknown->count < MAX_UNKNOWN)
        unknown->texts[unknown->count++] = text;
    else
        unknown->more = true;
}

/* Four texts of 60 bytes with their quotes fit the list. */
static void warn_unknown(const hd_io_schema *schema, int64_t column, const unknown_texts *unknown) {
    char list[300] = "";
    size_t used = 0;
    if (unknown->rows == 0)
        return;
    for (int k = 0; k < unknown->count; k++) {
        hd_io_span text = unknown->texts[k];
        used += (size_t)snprintf(list + used, sizeof list - used, "%s'%.*s'", k > 0 ? ", " : "",
                                 (int)(text.length < 60 ? text.length : 60), text.begin);
    }
    hd_warn(
        schema->request->context, HUDDLE_WARNING_INPUT,
        "%s: unseen categories %s%s (%lld row%s) are encoded as 0 in all features of that column",
        hd_io_layout_place(schema->layout, column).text, list, unknown->more ? ", ..." : "",
        (long long)unknown->rows, unknown->rows == 1 ? "" : "s");
}

/* All features that are texts of a column. A text that the training table did not have is 0 in all
 * of them: it is equally far from every known one. */
static huddle_status encode_column(values *v, int64_t column) {
    huddle_status status = HUDDLE_OK;
    const hd_io_feature *expected = v->schema->expected;
    hd_io_labels rows;
    unknown_texts unknown = {.count = 0};
    int64_t *js = NULL, count = 0;
    TRY(copy_texts(texts_of(v, column), v->n, &rows));
    ALLOC(js, v->d);
    for (int64_t j = 0; j < v->d; j++)
        if (expected[j].column == column)
            js[count++] = j;
    for (int64_t i = 0; i < v->n; i++) {
        bool known = false, missing = rows.texts[i].length == 0;
        for (int64_t k = 0; k < count; k++) {
            const char *text = expected[js[k]].text;
            bool same = equals_text(rows.texts[i], text, (int64_t)strlen(text));
            v->wide[i * v->d + js[k]] = encode_text(missing, same);
            known = known || same;
        }
        if (!known && !missing)
            record_unknown(&unknown, rows.texts[i]);
    }
    warn_unknown(v->schema, column, &unknown);
done:
    huddle_free(js);
    hd_io_labels_free(&rows);
    return status;
}

/* The features of a training table, in its order, found in this table by name. The names are those
 * the caller asked for, whatever their case in this table. */
static huddle_status take_expected(values *v) {
    huddle_status status = HUDDLE_OK;
    const hd_io_schema *schema = v->schema;
    v->d = schema->request->options->n_x;
    ALLOC(v->sources, v->d);
    ALLOC_ZERO(v->data->features, v->d + 1);
    ALLOC(v->wide, v->n * v->d);
    for (int64_t j = 0; j < v->d; j++) {
        v->sources[j] = schema->expected[j].column;
        TRY(hd_io_copy_text(schema->request->options->x[j], "a column's name",
                            &v->data->features[j]));
        int32_t role = schema->roles[v->sources[j]];
        for (int64_t i = 0; role >= 0 && i < v->n; i++)
            v->wide[i * v->d + j] = v->reading.values[i * schema->d + role];
    }
    for (int64_t k = 0; k < schema->n_chosen; k++)
        if (schema->roles[schema->chosen[k]] < 0)
            TRY(encode_column(v, schema->chosen[k]));
done:
    return status;
}

/* ---- all of it ------------------------------------------------------------------------------ */

/* A missing label can be dropped with its row but not filled in. */
static huddle_status begin_reading(const hd_io_schema *schema, hd_io_missing policy,
                                   hd_io_reading *r) {
    huddle_status status = HUDDLE_OK;
    const int64_t rows = schema->pieces->rows;
    r->schema = schema;
    r->label_required = schema->label >= 0 && policy != HD_IO_DROP;
    ALLOC(r->values, rows * schema->d);
    ALLOC(r->texts, rows * schema->n_texts);
    if (policy != HD_IO_REFUSE)
        ALLOC(r->incomplete, rows);
done:
    return status;
}

/* Dropped rows are listed because their numbers are needed to match the result with the table. */
static void report_missing(const values *v, hd_io_missing policy) {
    huddle_context *context = v->schema->request->context;
    const huddle_data *data = v->data;
    int64_t filled = v->filled;
    char list[120] = "";
    size_t used = 0;
    if (filled > 0)
        hd_warn(context, HUDDLE_WARNING_INPUT,
                "%lld missing value%s filled in by the %s of the column", (long long)filled,
                filled == 1 ? " was" : "s were", policy == HD_IO_MEAN ? "mean" : "median");
    if (data->n_dropped == 0)
        return;
    /* Ten row numbers fit the list. */
    for (int64_t k = 0; k < data->n_dropped && k < 10; k++)
        used += (size_t)snprintf(list + used, sizeof list - used, "%s%lld", k > 0 ? ", " : "",
                                 (long long)data->dropped[k] + 1);
    hd_warn(context, HUDDLE_WARNING_INPUT,
            "%lld of %lld rows dropped because a value is missing: row%s %s%s",
            (long long)data->n_dropped, (long long)v->schema->pieces->rows,
            data->n_dropped == 1 ? "" : "s", list, data->n_dropped > 10 ? ", ..." : "");
}

/* Dropping comes before encoding, so that a text which occurs only in dropped rows makes no
 * feature; filling comes after it, because means are those of features. */
huddle_status hd_io_table_values(hd_io_schema *schema, hd_io_missing policy, bool *misread,
                                 hd_io_labels *labels, huddle_data *data, int64_t **sources) {
    huddle_status status = HUDDLE_OK;
    const huddle_read_options *options = schema->request->options;
    huddle_context *context = schema->request->context;
    values v = {.schema = schema, .data = data, .n = schema->pieces->rows};
    hd_io_reading *r = &v.reading;
    TRY(begin_reading(schema, policy, r));
    status = hd_io_table_read(r);
    *misread = atomic_load(&r->misread);
    TRY(status);
    if (policy == HD_IO_DROP)
        TRY(drop_rows(&v));
    /* The spans are copied; what they point to is the mapped file. */
    if (schema->label >= 0) {
        ALLOC(labels->texts, v.n);
        memcpy(labels->texts, r->texts, (size_t)v.n * sizeof *labels->texts);
        labels->n = v.n;
    }
    TRY((schema->expected != NULL ? take_expected : take_features)(&v));
    if (policy == HD_IO_MEAN || policy == HD_IO_MEDIAN)
        TRY(fill_missing(&v, policy == HD_IO_MEDIAN));
    if (options->n_shift == v.d)
        TRY(huddle_points_from_double_shifted(context, v.n, v.d, v.wide, v.d, 1, options->shift,
                                              &data->points));
    else if (options->exact)
        TRY(hd_io_exact_points(context, v.n, v.d, v.wide, &data->points));
    else
        TRY(huddle_points_from_double(context, v.n, v.d, v.wide, v.d, 1, &data->points));
    report_missing(&v, policy);
    if (options->exact) {
        data->exact = v.wide;
        v.wide = NULL;
    }
done:
    *sources = v.sources;
    if (status != HUDDLE_OK && data->features != NULL) { /* freed by d, which is not known yet */
        hd_io_classes_free(data->features, v.d);
        data->features = NULL;
    }
    FREE(v.wide, r->values, r->texts, r->incomplete);
    return status;
}
