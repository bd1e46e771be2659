/* Tables with missing values to leave out or fill in, and with texts to encode. All values are in
 * memory as doubles on the way; a table that needs neither is read without. */
#include "io/csv.h"

#include "base/check.h"
#include "base/context.h"
#include "base/text.h"
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

/* The texts of one column, and the number of the text that each row has. */
typedef struct category {
    int32_t *of; /* n */
    int32_t count;
    char **texts;
    int32_t missing; /* the one that means a missing value, or -1 */
} category;

/* The table on its way to points. */
typedef struct values {
    hd_io_schema *schema;
    hd_io_reading reading;
    huddle_data *data;
    int64_t n;                     /* rows that are left */
    int64_t d;                     /* features, encoded ones included */
    category *categories;          /* columns; count is 0 unless it is encoded */
    const hd_io_feature *features; /* d: schema->expected or own */
    hd_io_feature *own;
    double *wide;   /* n x d */
    int64_t filled; /* missing values that were filled in */
} values;

/* ---- rows with missing values --------------------------------------------------------------- */

/* Names the column that is missing most often, because leaving that one out may be all that is
 * needed. */
static huddle_status refuse_all_rows(const hd_io_reading *r) {
    int64_t rows = r->schema->layout->pieces.rows, worst = 0, max_missing = -1;
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

/* Fills feature j in by the mean or median of its values. The median of an even number of values is
 * the mean of the middle two. */
static huddle_status fill_feature(values *v, int64_t j, bool median, double *room) {
    int64_t count = 0;
    double sum = 0, typical = NAN;
    for (int64_t i = 0; i < v->n; i++) {
        double value = v->wide[i * v->d + j];
        if (isnan(value))
            continue;
        room[count++] = value;
        sum += value;
    }
    if (count == v->n)
        return HUDDLE_OK;
    if (median)
        qsort(room, (size_t)count, sizeof *room, hd_io_by_real);
    if (count > 0)
        typical = median ? (room[(count - 1) / 2] + room[count / 2]) / 2 : sum / (double)count;
    if (isnan(typical))
        return hd_fail(HUDDLE_FORMAT, "%s has no values at all",
                       hd_io_layout_place(v->schema->layout, v->schema->sources[j]).text);
    for (int64_t i = 0; i < v->n; i++)
        if (isnan(v->wide[i * v->d + j]))
            v->wide[i * v->d + j] = typical;
    v->filled += v->n - count;
    return HUDDLE_OK;
}

/* Works on the features after encoding: a missing category, NaN in all features of its column,
 * is filled by the mean of each, which is its share among the rows. */
static huddle_status fill_missing(values *v, bool median) {
    huddle_status status = HUDDLE_OK;
    double *room = NULL;
    ALLOC(room, v->n);
    for (int64_t j = 0; j < v->d; j++)
        TRY(fill_feature(v, j, median, room));
done:
    huddle_free(room);
    return status;
}

/* ---- texts as features ---------------------------------------------------------------------- */

static void category_free(category *c) {
    huddle_free(c->of);
    hd_io_classes_free(c->texts, c->count);
    *c = (category){0};
}

/* hd_io_labels_map() sorts the texts, so that the features do not depend on the order of the
 * rows. A missing text is empty and becomes one of the categories, which is remembered to
 * leave it out. Doubled quotes become single ones in a copy: the reading still needs its own. */
static huddle_status find_categories(const values *v, int64_t column, category *found) {
    huddle_status status = HUDDLE_OK;
    const hd_io_schema *schema = v->schema;
    const hd_io_span *texts =
        v->reading.texts + (-2 - schema->roles[column]) * schema->layout->pieces.rows;
    hd_io_labels copy = {.n = v->n};
    ALLOC(copy.texts, v->n);
    memcpy(copy.texts, texts, (size_t)v->n * sizeof *texts);
    TRY(hd_io_labels_own(&copy, hd_io_unquote));
    TRY(hd_io_labels_map(&copy, &found->of, &found->count, &found->texts));
    found->missing = -1;
    for (int64_t i = 0; i < v->n && found->missing < 0; i++)
        if (texts[i].length == 0)
            found->missing = found->of[i];
    if (found->count > MAX_CATEGORIES && schema->expected == NULL)
        FAIL(HUDDLE_FORMAT,
             "%s has %d categories, and more than %d are not encoded; leave it "
             "out by choosing the other columns as x",
             hd_io_layout_place(schema->layout, column).text, found->count, MAX_CATEGORIES);
done:
    hd_io_labels_free(&copy);
    return status;
}

/* Two rows whose texts differ are at distance 1, as two numbers that differ by 1 are: each has
 * sqrt(1/2) where the other has 0. A missing text is NaN in all features of its column until they
 * are filled or dropped. */
static double encode_text(bool missing, bool same) {
    return missing ? NAN : same ? sqrt(0.5) : 0;
}

/* The values of the features. A text that the training table did not have is 0 in all of its
 * column: it is equally far from every known one. */
static huddle_status expand_features(values *v) {
    huddle_status status = HUDDLE_OK;
    const hd_io_schema *schema = v->schema;
    ALLOC(v->wide, v->n * v->d);
    double *to = v->wide;
    for (int64_t i = 0; i < v->n; i++)
        for (const hd_io_feature *f = v->features; f < v->features + v->d; f++) {
            const category *c = &v->categories[f->column];
            if (f->text == NULL)
                *to++ = v->reading.values[i * schema->d + schema->roles[f->column]];
            else
                *to++ = encode_text(c->of[i] == c->missing, c->of[i] == f->category);
        }
done:
    return status;
}

/* ---- the features of a table that stands alone ----------------------------------------------- */

/* Features that a chosen column becomes. The missing category has none. */
static int64_t encoded_width(const category *c) {
    return c->count == 0 ? 1 : c->count - (c->missing >= 0);
}

/* Encoded columns that determine the labels are not features. drop_leaks() of csv.c cannot
 * find them: none of the features of such a column determines the labels alone. The last
 * column is kept, as there. The label is text 0. */
static huddle_status drop_leaks(const values *v) {
    huddle_status status = HUDDLE_OK;
    hd_io_schema *schema = v->schema;
    category labels = {0};
    int64_t kept = 0;
    if (!schema->automatic || schema->label < 0)
        goto done;
    hd_io_labels texts = {.n = v->n, .texts = v->reading.texts};
    TRY(hd_io_labels_map(&texts, &labels.of, &labels.count, &labels.texts));
    for (int64_t k = 0; k < schema->n_chosen; k++) {
        int64_t column = schema->chosen[k];
        const category *c = &v->categories[column];
        bool leak = false;
        if (kept > 0 || k + 1 < schema->n_chosen)
            TRY(hd_io_one_to_one(v->n, labels.of, labels.count, c->of, c->count, &leak));
        if (leak)
            TRY(hd_io_schema_leave_out_leak(schema, column));
        else
            schema->chosen[kept++] = column;
    }
    schema->n_chosen = kept;
done:
    category_free(&labels);
    return status;
}

/* In the order of the columns. The number of texts of an encoded one is shown in its reason. */
static huddle_status list_features(values *v) {
    huddle_status status = HUDDLE_OK;
    const hd_io_schema *schema = v->schema;
    for (int64_t k = 0; k < schema->n_chosen; k++)
        v->d += encoded_width(&v->categories[schema->chosen[k]]);
    if (v->d == 0)
        FAIL(HUDDLE_FORMAT, "no column is left for the features");
    ALLOC(v->own, v->d);
    v->features = v->own;
    hd_io_feature *to = v->own;
    for (int64_t k = 0; k < schema->n_chosen; k++) {
        const category *c = &v->categories[schema->chosen[k]];
        if (c->count == 0)
            *to++ = (hd_io_feature){.column = schema->chosen[k]};
        for (int32_t t = 0; t < c->count; t++)
            if (t != c->missing)
                *to++ = (hd_io_feature){schema->chosen[k], c->texts[t], t};
    }
done:
    return status;
}

/* "city=Paris" for an encoded text. A saved model finds its features in another table by these
 * names: see list_expected() of csv_schema.c. */
static huddle_status name_feature(const hd_io_schema *schema, const hd_io_feature *feature,
                                  char **name) {
    char position[40];
    const char *own = hd_io_layout_name(schema->layout, feature->column), *text = feature->text;
    snprintf(position, sizeof position, "column %lld", (long long)feature->column + 1);
    char *joined = hd_join_text(own[0] != '\0' ? own : position, text == NULL ? "" : "=");
    *name = joined == NULL ? NULL : hd_join_text(joined, text == NULL ? "" : text);
    huddle_free(joined);
    return *name != NULL ? HUDDLE_OK : hd_fail(HUDDLE_NO_MEMORY, "no memory for a column's name");
}

/* ---- the features of another table ----------------------------------------------------------- */

/* The first few texts of a column that belong to no feature, and the number of their rows. They are
 * listed in the order of the rows. */
static huddle_status warn_unknown(const values *v, int64_t column) {
    huddle_status status = HUDDLE_OK;
    enum { UNKNOWN, KNOWN, LISTED };
    enum { MAX_LISTED = 4 }; /* texts of 60 bytes with their quotes fit the list */
    const category *c = &v->categories[column];
    char list[300] = "";
    size_t used = 0;
    int64_t rows = 0, count = 0;
    uint8_t *seen = NULL;
    ALLOC_ZERO(seen, c->count);
    for (int64_t j = 0; j < v->d; j++)
        if (v->features[j].column == column && v->features[j].category >= 0)
            seen[v->features[j].category] = KNOWN;
    for (int64_t i = 0; i < v->n; i++) {
        int32_t t = c->of[i];
        if (t == c->missing || seen[t] == KNOWN)
            continue;
        rows++;
        if (seen[t] == UNKNOWN && count++ < MAX_LISTED)
            used += (size_t)snprintf(list + used, sizeof list - used, "%s'%.60s'",
                                     used > 0 ? ", " : "", c->texts[t]);
        seen[t] = LISTED;
    }
    if (rows > 0)
        hd_warn(v->schema->request->context, HUDDLE_WARNING_INPUT,
                "%s: unseen categories %s%s (%lld row%s) are encoded as 0 in all features of that "
                "column",
                hd_io_layout_place(v->schema->layout, column).text, list,
                count > MAX_LISTED ? ", ..." : "", (long long)rows, rows == 1 ? "" : "s");
done:
    huddle_free(seen);
    return status;
}

/* The category of each text, -1 if this table does not have it. */
static huddle_status take_expected(values *v) {
    huddle_status status = HUDDLE_OK;
    const hd_io_schema *schema = v->schema;
    v->d = schema->request->options->n_x;
    v->features = schema->expected;
    for (hd_io_feature *f = schema->expected; f < schema->expected + v->d; f++) {
        const category *c = &v->categories[f->column];
        f->category = c->count - 1;
        while (f->category >= 0 && strcmp(c->texts[f->category], f->text) != 0)
            f->category--;
    }
    for (int64_t k = 0; k < schema->n_chosen; k++)
        if (schema->roles[schema->chosen[k]] < 0)
            TRY(warn_unknown(v, schema->chosen[k]));
done:
    return status;
}

/* ---- all of it ------------------------------------------------------------------------------ */

/* The features with their names and values. Names are those that the caller asked for, whatever
 * their case in this table, or else only made if it has a header or something was encoded. */
static huddle_status make_features(values *v) {
    huddle_status status = HUDDLE_OK;
    hd_io_schema *schema = v->schema;
    bool given = schema->expected != NULL;
    ALLOC_ZERO(v->categories, schema->layout->columns);
    for (int64_t k = 0; k < schema->n_chosen; k++) {
        int64_t column = schema->chosen[k];
        if (schema->roles[column] >= 0)
            continue;
        TRY(find_categories(v, column, &v->categories[column]));
        if (!given)
            TRY(hd_io_schema_set_role(schema, column, HUDDLE_COLUMN_FEATURE,
                                      "encoded, %lld categories",
                                      (long long)encoded_width(&v->categories[column])));
    }
    TRY(drop_leaks(v));
    TRY((given ? take_expected : list_features)(v));
    ALLOC(schema->sources, v->d);
    if (given || schema->layout->names != NULL || schema->n_texts > (schema->label >= 0))
        ALLOC_ZERO(v->data->features, v->d + 1);
    for (int64_t j = 0; j < v->d; j++) {
        char **names = v->data->features;
        schema->sources[j] = v->features[j].column;
        if (given)
            TRY(hd_io_copy_text(schema->request->options->x[j], "a column's name", &names[j]));
        else if (names != NULL)
            TRY(name_feature(schema, &v->features[j], &names[j]));
    }
    TRY(expand_features(v));
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
            (long long)data->n_dropped, (long long)v->schema->layout->pieces.rows,
            data->n_dropped == 1 ? "" : "s", list, data->n_dropped > 10 ? ", ..." : "");
}

/* Dropping comes before encoding, so that a text which occurs only in dropped rows makes no
 * feature; filling comes after it, because means are those of features. */
huddle_status hd_io_table_values(hd_io_schema *schema, hd_io_missing policy, hd_io_labels *labels,
                                 huddle_data *data) {
    huddle_status status = HUDDLE_OK;
    const huddle_read_options *options = schema->request->options;
    huddle_context *context = schema->request->context;
    values v = {.schema = schema, .data = data, .n = schema->layout->pieces.rows};
    hd_io_reading *r = &v.reading;
    r->schema = schema;
    /* A missing label can be dropped with its row but not filled in. */
    r->label_required = schema->label >= 0 && policy != HD_IO_DROP;
    ALLOC(r->values, v.n * schema->d);
    ALLOC(r->texts, v.n * schema->n_texts);
    if (policy != HD_IO_REFUSE)
        ALLOC(r->incomplete, v.n);
    TRY(hd_io_table_read(r));
    if (policy == HD_IO_DROP)
        TRY(drop_rows(&v));
    /* The spans are copied; what they point to is the mapped file. */
    if (schema->label >= 0) {
        ALLOC(labels->texts, v.n);
        memcpy(labels->texts, r->texts, (size_t)v.n * sizeof *labels->texts);
        labels->n = v.n;
    }
    TRY(make_features(&v));
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
    if (status != HUDDLE_OK && data->features != NULL) { /* freed by d, which is not known yet */
        hd_io_classes_free(data->features, v.d);
        data->features = NULL;
    }
    for (int64_t c = 0; v.categories != NULL && c < schema->layout->columns; c++)
        category_free(&v.categories[c]);
    FREE(v.categories, v.own, v.wide, r->values, r->texts, r->incomplete);
    return status;
}
