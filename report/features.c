/* What the features say about the clusters: means of each cluster, and values for colouring. */
#include "report/run.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Features in the heat map, and in the list of those that points can be coloured by; bytes of the
 * latter; sums of all features and clusters together. */
enum { MAX_SHOWN = 40, MAX_COLOURS = 64, COLOUR_BYTES = 2000000, MAX_SUMS = 20000000 };

/* Sums over all points. Columns are relative to the points' shift. */
typedef struct feature_table {
    const report_run *run;
    int64_t *sizes;         /* points of each cluster */
    double *means;          /* clusters x features */
    double *mean, *squares; /* of each feature: mean and sum of squared deviations */
    double *separation;     /* share of the squares that lies between the clusters */
    int32_t *order;         /* features by descending separation */
} feature_table;

/* Calls work(table, row, column, value) for each value that is stored. */
static void visit_values(feature_table *t,
                         void (*work)(feature_table *, int64_t, int64_t, double)) {
    const huddle_points *x = t->run->x;
    for (int64_t i = 0; i < x->n; i++)
        if (x->offsets == NULL)
            for (int64_t j = 0; j < x->d; j++)
                work(t, i, j, (double)x->values[i * x->stride + j]);
        else
            for (int64_t e = x->offsets[i]; e < x->offsets[i + 1]; e++)
                work(t, i, x->columns[e], (double)x->values[e]);
}

static void add_value(feature_table *t, int64_t i, int64_t j, double value) {
    t->means[t->run->labels[i] * t->run->x->d + j] += value;
}

/* Sparse points: what a zero would contribute is part of the start value, so that only the
 * difference is added. */
static void add_square(feature_table *t, int64_t i, int64_t j, double value) {
    double zero = t->run->x->offsets == NULL ? 0 : t->mean[j] * t->mean[j];
    (void)i;
    t->squares[j] += (value - t->mean[j]) * (value - t->mean[j]) - zero;
}

/* Means first, then squares around them: exact also where the mean is large. */
static void measure_features(feature_table *t) {
    const huddle_points *x = t->run->x;
    int32_t k = t->run->n_clusters;
    for (int64_t i = 0; i < x->n; i++)
        t->sizes[t->run->labels[i]]++;
    visit_values(t, add_value);
    for (int64_t j = 0; j < x->d; j++) {
        for (int32_t c = 0; c < k; c++)
            t->mean[j] += t->means[c * x->d + j] / (double)x->n;
        t->squares[j] = x->offsets == NULL ? 0 : (double)x->n * t->mean[j] * t->mean[j];
    }
    for (int32_t c = 0; c < k; c++)
        for (int64_t j = 0; j < x->d && t->sizes[c] > 0; j++)
            t->means[c * x->d + j] /= (double)t->sizes[c];
    visit_values(t, add_square);
    for (int64_t j = 0; j < x->d; j++) {
        double between = 0;
        for (int32_t c = 0; c < k; c++)
            between += (double)t->sizes[c] * pow(t->means[c * x->d + j] - t->mean[j], 2);
        /* A constant column separates nothing; its squares are rounding errors. */
        bool varies = t->squares[j] > 1e-12 * (double)x->n * t->mean[j] * t->mean[j];
        t->separation[j] = varies && isfinite(between) ? fmin(1, between / t->squares[j]) : 0;
    }
}

/* By descending separation; equal ones keep the order of the columns. The compared table is the
 * one that this thread sorts. */
static _Thread_local const double *sorted_by;

static int compare_features(const void *a, const void *b) {
    int32_t i = *(const int32_t *)a, j = *(const int32_t *)b;
    if (sorted_by[i] != sorted_by[j])
        return sorted_by[i] > sorted_by[j] ? -1 : 1;
    return i < j ? -1 : 1;
}

static json_t *feature_name(const report_run *run, int32_t j) {
    char buffer[32];
    if (run->options->feature_names != NULL)
        return page_text(run->options->feature_names[j]);
    snprintf(buffer, sizeof buffer, "feature %d", j);
    return page_text(buffer);
}

/* {name, mean, deviation, separation, means}: one row of the heat map. */
static json_t *feature_json(const feature_table *t, int32_t j) {
    const huddle_points *x = t->run->x;
    double shift = x->shift == NULL ? 0 : x->shift[j];
    json_t *means = json_array();
    for (int32_t c = 0; c < t->run->n_clusters; c++)
        page_append(means,
                    t->sizes[c] > 0 ? page_real(t->means[c * x->d + j] + shift) : json_null());
    return json_pack("{s:o, s:o, s:o, s:o, s:o}", "name", feature_name(t->run, j), "mean",
                     page_real(t->mean[j] + shift), "deviation",
                     page_real(sqrt(fmax(t->squares[j], 0) / (double)x->n)), "separation",
                     page_real(t->separation[j]), "means", means);
}

/* ---- values for colouring ----------------------------------------------------------------- */

static int compare_floats(const void *a, const void *b) {
    float x = *(const float *)a, y = *(const float *)b;
    return (x > y) - (x < y);
}

/* One feature of the sampled points; a value that a sparse row does not have is zero. */
static void take_column(const report_run *run, int32_t j, float *values) {
    const huddle_points *x = run->x;
    for (int64_t i = 0; i < run->count; i++) {
        int64_t row = run->rows[i];
        values[i] = x->offsets == NULL ? x->values[row * x->stride + j] : 0;
        for (int64_t e = x->offsets == NULL ? 0 : x->offsets[row];
             x->offsets != NULL && e < x->offsets[row + 1]; e++)
            if (x->columns[e] == j)
                values[i] = x->values[e];
    }
}

/* {name, low, high, least, most, data}: a byte per point, from the 2 % to the 98 % quantile of the
 * sample, so that a few extreme values do not leave one colour to all others. */
static json_t *colour_json(const report_run *run, int32_t j, float *values, float *sorted,
                           unsigned char *bytes) {
    int64_t count = run->count;
    double shift = run->x->shift == NULL ? 0 : run->x->shift[j];
    take_column(run, j, values);
    for (int64_t i = 0; i < count; i++)
        sorted[i] = values[i];
    qsort(sorted, (size_t)count, sizeof *sorted, compare_floats);
    double least = (double)sorted[0], most = (double)sorted[count - 1];
    double low = (double)sorted[count / 50], high = (double)sorted[count - 1 - count / 50];
    if (!(high > low)) {
        low = least;
        high = most;
    }
    for (int64_t i = 0; i < count; i++) {
        double share = high > low ? ((double)values[i] - low) / (high - low) : 0;
        bytes[i] = (unsigned char)lrint(255 * fmin(fmax(share, 0), 1));
    }
    return json_pack("{s:o, s:o, s:o, s:o, s:o, s:o}", "name", feature_name(run, j), "low",
                     page_real(low + shift), "high", page_real(high + shift), "least",
                     page_real(least + shift), "most", page_real(most + shift), "data",
                     page_bytes(bytes, (size_t)count));
}

/* The most distinctive features, as many as the limits allow. */
static json_t *colours_json(const feature_table *t) {
    const report_run *run = t->run;
    size_t count = (size_t)run->count;
    json_t *list = json_array();
    float *values = malloc((count + 1) * sizeof *values);
    float *sorted = malloc((count + 1) * sizeof *sorted);
    unsigned char *bytes = malloc(count + 1);
    if (values == NULL || sorted == NULL || bytes == NULL) {
        json_decref(list);
        list = NULL;
    }
    for (int32_t i = 0; list != NULL && i < run->x->d && i < MAX_COLOURS; i++)
        if ((int64_t)(i + 1) * run->count <= COLOUR_BYTES)
            page_append(list, colour_json(run, t->order[i], values, sorted, bytes));
    FREE(bytes, sorted, values);
    return list;
}

/* ---- the section -------------------------------------------------------------------------- */

static huddle_status allocate_table(feature_table *t) {
    huddle_status status = HUDDLE_OK;
    int64_t d = t->run->x->d, k = t->run->n_clusters;
    NEW(t->sizes, k);
    NEW(t->means, k * d);
    NEW(t->mean, d);
    NEW(t->squares, d);
    NEW(t->separation, d);
    NEW(t->order, d);
done:
    return status;
}

static void free_table(feature_table *t) {
    FREE(t->sizes, t->means, t->mean, t->squares, t->separation, t->order);
}

static void add_section(report_run *run, const feature_table *t) {
    static const char lead[] =
        "The mean of each feature in each cluster, in standard deviations from the mean of all "
        "points. The features that separate the clusters best come first.";
    json_t *rows = json_array();
    for (int32_t i = 0; i < run->x->d && i < MAX_SHOWN; i++)
        page_append(rows, feature_json(t, t->order[i]));
    page_add(page_section(run->page, "features", "Clusters and features", lead), "features",
             json_pack("{s:o, s:I}", "rows", rows, "total", (json_int_t)run->x->d));
}

bool report_has_features(const report_run *run) {
    const char *affinity = text_of(json_object_get(run->info, "options"), "affinity");
    return run->x != NULL && (affinity[0] == '\0' || strcmp(affinity, "features") == 0);
}

/* Pixels are better seen as images, and the means of very many features and clusters would take
 * more memory than the points. */
huddle_status report_add_features(report_run *run) {
    feature_table t = {.run = run};
    huddle_status status = HUDDLE_OK;
    if (!report_has_features(run) || report_has_images(run) || run->n == 0 || run->x->d == 0 ||
        run->x->d * run->n_clusters > MAX_SUMS)
        return HUDDLE_OK;
    TRY(allocate_table(&t));
    measure_features(&t);
    for (int32_t j = 0; j < run->x->d; j++)
        t.order[j] = j;
    sorted_by = t.separation;
    qsort(t.order, (size_t)run->x->d, sizeof *t.order, compare_features);
    page_share(run->page, "features", colours_json(&t));
    if (run->n_clusters > 1)
        add_section(run, &t);
done:
    free_table(&t);
    return status;
}
