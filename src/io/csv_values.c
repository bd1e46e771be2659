/* Tables with missing values to leave out or fill in, and with texts to encode. All values are in
 * memory as doubles on the way; a table that needs neither is read without. */
#include "io/csv.h"

#include "base/check.h"
#include "base/context.h"
#include "base/text.h"
#include "io/exact.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A column with more different texts than this contains names, not categories; encoding it
 * would add a feature for each. */
enum { MAX_CATEGORIES = 100 };

/* In the order of hd_io_missing. */
huddle_status hd_io_missing_policy(const huddle_read_options *options, hd_io_missing *policy) {
    static const char *const names[] = {"error", "drop", "mean", "median"};
    *policy = HD_IO_REFUSE;
    if (options->missing == NULL)
        return HUDDLE_OK;
    for (int k = 0; k < 4; k++)
        if (strcmp(options->missing, names[k]) == 0) {
            *policy = (hd_io_missing)k;
            return HUDDLE_OK;
        }
    return hd_fail(HUDDLE_INVALID, "missing = %.100s: expected one of error|drop|mean|median",
                   options->missing);
}

/* ---- rows with missing values --------------------------------------------------------------- */

/* Names the column that is missing most often, because leaving that one out may be all that is
 * needed. */
static huddle_status refuse_all_rows(const hd_io_reading *r) {
    char place[160];
    int64_t rows = r->pieces->rows, worst = 0, max_missing = -1;
    /* Only numeric columns are counted: a missing text is empty, not NaN. */
    for (int64_t k = 0; k < r->plan->n_chosen; k++) {
        int64_t column = r->plan->chosen[k], count = 0;
        int32_t role = r->plan->roles[column];
        for (int64_t i = 0; role >= 0 && i < rows; i++)
            count += isnan(r->values[i * r->plan->d + role]) != 0;
        if (count > max_missing) {
            max_missing = count;
            worst = column;
        }
    }
    hd_io_layout_place(r->plan->layout, worst, place, sizeof place);
    return hd_fail(HUDDLE_FORMAT,
                   "every row lacks a value, %s in %lld of %lld rows; leave that column out, or "
                   "fill missing values by mean or median",
                   place, (long long)max_missing, (long long)rows);
}

/* Removes incomplete rows in place. Texts of column k are then at k * pieces->rows as before,
 * but only the first *n of them count. */
static huddle_status drop_rows(const hd_io_reading *r, huddle_data *data, int64_t *n) {
    huddle_status status = HUDDLE_OK;
    const int64_t rows = r->pieces->rows, d = r->plan->d;
    int64_t count = 0, kept = 0;
    for (int64_t i = 0; i < rows; i++)
        count += r->incomplete[i];
    *n = rows - count;
    if (count == 0)
        goto done;
    /* Nothing would be left to cluster. */
    if (*n == 0)
        TRY(refuse_all_rows(r));
    ALLOC(data->dropped, count);
    for (int64_t i = 0; i < rows; i++) {
        if (r->incomplete[i]) {
            data->dropped[data->n_dropped++] = i;
            continue;
        }
        memmove(r->values + kept * d, r->values + i * d, (size_t)d * sizeof *r->values);
        for (int64_t k = 0; k < r->plan->n_texts; k++)
            r->texts[k * rows + kept] = r->texts[k * rows + i];
        kept++;
    }
done:
    return status;
}

/* NaN does not occur: missing values were left out. */
static int by_value(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Mean or median of the values of a column that are present; NaN if there is none. The median
 * of an even number of values is the mean of the middle two. */
static double typical_value(const double *values, int64_t n, int64_t d, int64_t j, bool median,
                            double *room) {
    int64_t count = 0;
    double sum = 0;
    for (int64_t i = 0; i < n; i++) {
        double value = values[i * d + j];
        if (isnan(value))
            continue;
        room[count++] = value;
        sum += value;
    }
    if (count == 0)
        return NAN;
    if (!median)
        return sum / (double)count;
    qsort(room, (size_t)count, sizeof *room, by_value);
    return (room[(count - 1) / 2] + room[count / 2]) / 2;
}

/* Works on the features after encoding: a missing category, NaN in all features of its column,
 * is filled by the mean of each, which is its share among the rows. */
static huddle_status fill_missing(const hd_io_plan *plan, double *values, int64_t n, int64_t d,
                                  const int64_t *sources, bool median, int64_t *filled) {
    huddle_status status = HUDDLE_OK;
    double *room = NULL;
    ALLOC(room, n);
    for (int64_t j = 0; j < d; j++) {
        bool gaps = false;
        for (int64_t i = 0; i < n && !gaps; i++)
            gaps = isnan(values[i * d + j]) != 0;
        /* 0 is never used: without gaps nothing is filled. */
        double value = gaps ? typical_value(values, n, d, j, median, room) : 0;
        if (isnan(value)) {
            char place[160];
            hd_io_layout_place(plan->layout, sources[j], place, sizeof place);
            FAIL(HUDDLE_FORMAT, "%s has no values at all", place);
        }
        for (int64_t i = 0; gaps && i < n; i++)
            if (isnan(values[i * d + j])) {
                values[i * d + j] = value;
                ++*filled;
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

/* `of` and `texts` are NULL for columns of numbers. */
static void categories_free(category *categories, int64_t count) {
    for (int64_t k = 0; categories != NULL && k < count; k++) {
        huddle_free(categories[k].of);
        hd_io_classes_free(categories[k].texts, categories[k].count);
    }
    huddle_free(categories);
}

/* hd_io_labels_map() sorts the texts, so that the features do not depend on the order of the
 * rows. A missing text is empty and becomes one of the categories, which is remembered to
 * leave it out. */
static huddle_status find_categories(const hd_io_plan *plan, int64_t column,
                                     const hd_io_span *texts, int64_t n, category *found) {
    huddle_status status = HUDDLE_OK;
    hd_io_labels labels = {.n = n};
    char place[160];
    ALLOC(labels.texts, n);
    memcpy(labels.texts, texts, (size_t)n * sizeof *texts);
    TRY(hd_io_texts_unescape(&labels));
    TRY(hd_io_labels_map(&labels, &found->of, &found->count, &found->texts));
    found->missing = -1;
    /* Missing texts were made empty by the reader. */
    for (int64_t i = 0; i < n && found->missing < 0; i++)
        if (texts[i].length == 0)
            found->missing = found->of[i];
    if (found->count > MAX_CATEGORIES) {
        hd_io_layout_place(plan->layout, column, place, sizeof place);
        FAIL(HUDDLE_FORMAT,
             "%s has %d categories, and more than %d are not encoded; leave it "
             "out by choosing the other columns as x",
             place, found->count, MAX_CATEGORIES);
    }
done:
    hd_io_labels_free(&labels);
    return status;
}

/* Two rows whose texts differ are at distance 1, as two numbers that differ by 1 are: each has
 * sqrt(1/2) where the other has 0. The missing category has no feature; its rows are NaN in
 * the others until they are filled or dropped. */
static void write_category(const category *c, int64_t row, double *to) {
    const double present = sqrt(0.5);
    for (int32_t k = 0, at = 0; k < c->count; k++) {
        if (k == c->missing)
            continue;
        to[at++] = c->of[row] == c->missing ? NAN : c->of[row] == k ? present : 0;
    }
}

/* Features that a chosen column becomes. */
static int64_t encoded_width(const hd_io_plan *plan, const category *categories, int64_t chosen) {
    int32_t role = plan->roles[plan->chosen[chosen]];
    const category *c = &categories[chosen];
    return role >= 0 ? 1 : c->count - (c->missing >= 0);
}

/* "city=Paris" for an encoded text. A saved model finds its features in another table by these
 * names: see csv_features.c. */
static huddle_status name_feature(const hd_io_plan *plan, int64_t column, const char *text,
                                  char **name) {
    char position[40];
    const char *own = hd_io_layout_name(plan->layout, column);
    snprintf(position, sizeof position, "column %lld", (long long)column + 1);
    char *joined = hd_join_text(own[0] != '\0' ? own : position, text == NULL ? "" : "=");
    *name = joined == NULL ? NULL : hd_join_text(joined, text == NULL ? "" : text);
    huddle_free(joined);
    return *name != NULL ? HUDDLE_OK : hd_fail(HUDDLE_NO_MEMORY, "no memory for a column's name");
}

/* The names of the features, in the order of the columns, and the column of each.
 * categories[k].count is 0 for a column of numbers. */
static huddle_status list_features(const hd_io_plan *plan, const category *categories, int64_t d,
                                   bool named, huddle_data *data, int64_t **sources) {
    huddle_status status = HUDDLE_OK;
    int64_t j = 0;
    ALLOC(*sources, d);
    if (named)
        ALLOC_ZERO(data->features, d + 1);
    for (int64_t k = 0; k < plan->n_chosen; k++) {
        int64_t column = plan->chosen[k];
        const category *c = &categories[k];
        for (int32_t t = 0; t < (c->count > 0 ? c->count : 1); t++) {
            if (c->count > 0 && t == c->missing)
                continue;
            /* Names are only made if the table has a header or something was encoded. */
            if (named)
                TRY(name_feature(plan, column, c->count > 0 ? c->texts[t] : NULL,
                                 &data->features[j]));
            (*sources)[j++] = column;
        }
    }
done:
    return status;
}

/* The values with each chosen column of texts replaced by its features. */
static huddle_status expand_categories(const hd_io_plan *plan, const category *categories,
                                       int64_t n, const double *values, int64_t d, double **wide) {
    huddle_status status = HUDDLE_OK;
    ALLOC(*wide, n * d);
    for (int64_t i = 0; i < n; i++) {
        double *to = *wide + i * d;
        for (int64_t k = 0; k < plan->n_chosen; k++) {
            int32_t role = plan->roles[plan->chosen[k]];
            if (role >= 0)
                *to = values[i * plan->d + role];
            else
                write_category(&categories[k], i, to);
            to += encoded_width(plan, categories, k);
        }
    }
done:
    return status;
}

/* Finds the texts of each column to encode; their number is shown in the column's reason. */
static huddle_status find_encoded_texts(hd_io_plan *plan, const hd_io_reading *r, int64_t n,
                                        category *categories) {
    huddle_status status = HUDDLE_OK;
    for (int64_t k = 0; k < plan->n_chosen; k++) {
        int64_t column = plan->chosen[k];
        int32_t role = plan->roles[column];
        char reason[80];
        if (role >= 0)
            continue;
        TRY(find_categories(plan, column, r->texts + (-2 - role) * r->pieces->rows, n,
                            &categories[k]));
        snprintf(reason, sizeof reason, "encoded, %lld categories",
                 (long long)encoded_width(plan, categories, k));
        huddle_free(plan->columns[column].reason);
        plan->columns[column].reason = hd_copy_text(reason);
        if (plan->columns[column].reason == NULL)
            FAIL(HUDDLE_NO_MEMORY, "no memory for a line of text");
    }
done:
    return status;
}

/* Encoded columns that determine the labels are not features. drop_leaks() of csv.c cannot
 * find them: none of the features of such a column determines the labels alone. The last
 * column is kept, as there. r->texts begins with the label, which is text 0. */
static huddle_status drop_leaks(hd_io_plan *plan, const hd_io_reading *r, int64_t n,
                                category *categories) {
    huddle_status status = HUDDLE_OK;
    category labels = {0};
    int32_t *map = NULL;
    int64_t kept = 0;
    if (!plan->automatic || plan->label < 0)
        goto done;
    hd_io_labels texts = {.n = n, .texts = r->texts};
    TRY(hd_io_labels_map(&texts, &labels.of, &labels.count, &labels.texts));
    ALLOC(map, labels.count);
    for (int64_t k = 0; k < plan->n_chosen; k++) {
        category *c = &categories[k];
        int64_t column = plan->chosen[k];
        bool leak = c->count >= 2 && c->count == labels.count && n > c->count &&
                    (kept > 0 || k + 1 < plan->n_chosen) &&
                    hd_io_table_one_to_one(n, labels.of, labels.count, c->of, map);
        if (leak) {
            TRY(hd_io_plan_leave_out_leak(plan, column));
            huddle_free(c->of);
            hd_io_classes_free(c->texts, c->count);
            *c = (category){0};
            continue;
        }
        /* Kept categories move together with their columns, so that categories[k] still
         * belongs to chosen[k]. */
        category moved = *c;
        *c = (category){0};
        categories[kept] = moved;
        plan->chosen[kept++] = column;
    }
    plan->n_chosen = kept;
done:
    huddle_free(labels.of);
    hd_io_classes_free(labels.texts, labels.count);
    huddle_free(map);
    return status;
}

/* ---- all of it ------------------------------------------------------------------------------ */

/* A missing label can be dropped with its row but not filled in. */
static huddle_status begin_reading(hd_io_request *request, const hd_io_plan *plan,
                                   hd_io_missing policy, const hd_io_pieces *pieces,
                                   hd_io_reading *r) {
    huddle_status status = HUDDLE_OK;
    *r = (hd_io_reading){.plan = plan,
                         .pieces = pieces,
                         .options = request->options,
                         .label_required = plan->label >= 0 && policy != HD_IO_DROP};
    ALLOC(r->values, pieces->rows * plan->d);
    ALLOC(r->texts, pieces->rows * plan->n_texts);
    if (policy != HD_IO_REFUSE)
        ALLOC(r->incomplete, pieces->rows);
done:
    return status;
}

/* Dropped rows are listed because their numbers are needed to match the result with the table. */
static void report_missing(huddle_context *context, const hd_io_reading *r, hd_io_missing policy,
                           int64_t filled, const huddle_data *data) {
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
            (long long)data->n_dropped, (long long)r->pieces->rows, data->n_dropped == 1 ? "" : "s",
            list, data->n_dropped > 10 ? ", ..." : "");
}

/* The features of a table that stands alone: names, sources and n x d values. */
static huddle_status take_features(hd_io_plan *plan, const hd_io_reading *r, int64_t n, int64_t *d,
                                   huddle_data *data, int64_t **sources, double **wide) {
    huddle_status status = HUDDLE_OK;
    category *categories = NULL;
    int64_t room = plan->n_chosen;
    ALLOC_ZERO(categories, room);
    TRY(find_encoded_texts(plan, r, n, categories));
    TRY(drop_leaks(plan, r, n, categories));
    /* d is the number of features after encoding. */
    for (int64_t k = 0; k < plan->n_chosen; k++)
        *d += encoded_width(plan, categories, k);
    if (*d == 0)
        FAIL(HUDDLE_FORMAT, "no column is left for the features");
    bool encoded = plan->n_texts > (plan->label >= 0);
    TRY(list_features(plan, categories, *d, plan->layout->names != NULL || encoded, data, sources));
    TRY(expand_categories(plan, categories, n, r->values, *d, wide));
done:
    categories_free(categories, room);
    return status;
}

/* The features of a training table, in its order, found in this table by name. */
static huddle_status take_expected(hd_io_request *request, const hd_io_plan *plan,
                                   const hd_io_reading *r, int64_t n, int64_t *d, huddle_data *data,
                                   int64_t **sources, double **wide) {
    huddle_status status = HUDDLE_OK;
    *d = request->options->n_x;
    /* The names are those the caller asked for, whatever their case in this table. */
    ALLOC(*sources, *d);
    ALLOC_ZERO(data->features, *d + 1);
    for (int64_t j = 0; j < *d; j++) {
        (*sources)[j] = plan->expected[j].column;
        data->features[j] = hd_copy_text(request->options->x[j]);
        if (data->features[j] == NULL)
            FAIL(HUDDLE_NO_MEMORY, "no memory for a column's name");
    }
    ALLOC(*wide, n * *d);
    TRY(hd_io_features_arrange(request->context, plan, *d, r, n, *wide));
done:
    return status;
}

/* Dropping comes before encoding, so that a text which occurs only in dropped rows makes no
 * feature; filling comes after it, because means are those of features. */
huddle_status hd_io_table_values(hd_io_request *request, hd_io_plan *plan,
                                 const hd_io_pieces *pieces, hd_io_missing policy, bool *misread,
                                 hd_io_labels *labels, huddle_data *data, int64_t **sources) {
    huddle_status status = HUDDLE_OK;
    hd_io_reading r = {0};
    double *wide = NULL;
    int64_t n = pieces->rows, d = 0, filled = 0;
    TRY(begin_reading(request, plan, policy, pieces, &r));
    status = hd_io_table_read(request->context, &r);
    *misread = atomic_load(&r.misread);
    TRY(status);
    if (policy == HD_IO_DROP)
        TRY(drop_rows(&r, data, &n));
    /* The spans are copied; what they point to is the mapped file. */
    if (plan->label >= 0) {
        ALLOC(labels->texts, n);
        memcpy(labels->texts, r.texts, (size_t)n * sizeof *labels->texts);
        labels->n = n;
    }
    if (plan->expected != NULL)
        TRY(take_expected(request, plan, &r, n, &d, data, sources, &wide));
    else
        TRY(take_features(plan, &r, n, &d, data, sources, &wide));
    if (policy == HD_IO_MEAN || policy == HD_IO_MEDIAN)
        TRY(fill_missing(plan, wide, n, d, *sources, policy == HD_IO_MEDIAN, &filled));
    /* The number of features is set with the points; until then data->features is freed below. */
    data->points.d = 0;
    if (request->options->n_shift == d)
        TRY(huddle_points_from_double_shifted(request->context, n, d, wide, d, 1,
                                              request->options->shift, &data->points));
    else if (request->options->exact)
        TRY(hd_io_exact_points(request->context, n, d, wide, &data->points));
    else
        TRY(huddle_points_from_double(request->context, n, d, wide, d, 1, &data->points));
    report_missing(request->context, &r, policy, filled, data);
    if (request->options->exact) {
        data->exact = wide;
        wide = NULL;
    }
done:
    if (status != HUDDLE_OK && data->features != NULL) { /* freed by d, which is not known yet */
        hd_io_classes_free(data->features, d);
        data->features = NULL;
    }
    FREE(wide, r.values, r.texts, r.incomplete);
    return status;
}
