/* What the features say about the clusters: means of each cluster, and values for colouring. */
#include "report/run.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Features in the heat map, and in the list of those that points can be coloured by; bytes of the
 * latter; sums of all features and clusters together. */
enum { MAX_SHOWN = 40, MAX_COLOURS = 64, COLOUR_BYTES = 2000000, MAX_SUMS = 20000000 };

/* A column of the points, relative to their shift. */
typedef struct feature {
    double mean, squares; /* squares: sum of squared deviations from the mean */
    double separation;    /* share of the squares that lies between the clusters */
    int32_t column;
} feature;

typedef struct feature_table {
    const report_run *run;
    double *means;     /* clusters x columns */
    feature *features; /* by column; in the end by descending separation */
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
    feature *f = &t->features[j];
    double zero = t->run->x->offsets == NULL ? 0 : f->mean * f->mean;
    (void)i;
    f->squares += (value - f->mean) * (value - f->mean) - zero;
}

/* Means first, then squares around them: exact also where the mean is large. */
static void measure_features(feature_table *t) {
    const huddle_points *x = t->run->x;
    const int64_t *sizes = t->run->sizes;
    int32_t k = t->run->n_clusters;
    visit_values(t, add_value);
    for (int32_t j = 0; j < x->d; j++) {
        feature *f = &t->features[j];
        f->column = j;
        for (int32_t c = 0; c < k; c++)
            f->mean += t->means[c * x->d + j] / (double)x->n;
        f->squares = x->offsets == NULL ? 0 : (double)x->n * f->mean * f->mean;
    }
    for (int32_t c = 0; c < k; c++)
        for (int64_t j = 0; j < x->d && sizes[c] > 0; j++)
            t->means[c * x->d + j] /= (double)sizes[c];
    visit_values(t, add_square);
    for (int64_t j = 0; j < x->d; j++) {
        feature *f = &t->features[j];
        double between = 0;
        for (int32_t c = 0; c < k; c++)
            between += (double)sizes[c] * pow(t->means[c * x->d + j] - f->mean, 2);
        /* A constant column separates nothing; its squares are rounding errors. */
        bool varies = f->squares > 1e-12 * (double)x->n * f->mean * f->mean;
        f->separation = varies && isfinite(between) ? fmin(1, between / f->squares) : 0;
    }
}

/* By descending separation; equal ones keep the order of the columns. */
static int compare_features(const void *a, const void *b) {
    const feature *f = a, *g = b;
    if (f->separation != g->separation)
        return f->separation > g->separation ? -1 : 1;
    return f->column < g->column ? -1 : 1;
}

static json_t *feature_name(const report_run *run, int32_t j) {
    return run->options->feature_names != NULL ? page_text(run->options->feature_names[j])
                                               : json_sprintf("feature %d", j);
}

/* {name, mean, deviation, separation, means}: one row of the heat map. */
static json_t *feature_json(const feature_table *t, const feature *f) {
    const huddle_points *x = t->run->x;
    double shift = x->shift == NULL ? 0 : x->shift[f->column];
    json_t *means = json_array();
    for (int32_t c = 0; c < t->run->n_clusters; c++)
        page_append(means, t->run->sizes[c] > 0 ? page_real(t->means[c * x->d + f->column] + shift)
                                                : json_null());
    return json_pack("{s:o, s:o, s:o, s:o, s:o}", "name", feature_name(t->run, f->column), "mean",
                     page_real(f->mean + shift), "deviation",
                     page_real(sqrt(fmax(f->squares, 0) / (double)x->n)), "separation",
                     page_real(f->separation), "means", means);
}

/* ---- values for colouring ----------------------------------------------------------------- */

/* One feature of the sampled points; a value that a sparse row does not have is zero. */
static void take_column(const report_run *run, int32_t j, double *values) {
    const huddle_points *x = run->x;
    for (int64_t i = 0; i < run->count; i++) {
        int64_t row = run->rows[i];
        values[i] = x->offsets == NULL ? (double)x->values[row * x->stride + j] : 0;
        for (int64_t e = x->offsets == NULL ? 0 : x->offsets[row];
             x->offsets != NULL && e < x->offsets[row + 1]; e++)
            if (x->columns[e] == j)
                values[i] = (double)x->values[e];
    }
}

/* {name, low, high, least, most, data}: a byte per point, from the 2 % to the 98 % quantile of the
 * sample, so that a few extreme values do not leave one colour to all others. */
static json_t *colour_json(const report_run *run, int32_t j, double *values, double *sorted,
                           unsigned char *bytes) {
    int64_t count = run->count;
    double shift = run->x->shift == NULL ? 0 : run->x->shift[j];
    take_column(run, j, values);
    for (int64_t i = 0; i < count; i++)
        sorted[i] = values[i];
    qsort(sorted, (size_t)count, sizeof *sorted, report_compare_doubles);
    double least = sorted[0], most = sorted[count - 1];
    double low = sorted[count / 50], high = sorted[count - 1 - count / 50];
    if (!(high > low)) {
        low = least;
        high = most;
    }
    for (int64_t i = 0; i < count; i++) {
        double share = high > low ? (values[i] - low) / (high - low) : 0;
        bytes[i] = (unsigned char)lrint(255 * fmin(fmax(share, 0), 1));
    }
    return json_pack("{s:o, s:o, s:o, s:o, s:o, s:o}", "name", feature_name(run, j), "low",
                     page_real(low + shift), "high", page_real(high + shift), "least",
                     page_real(least + shift), "most", page_real(most + shift), "data",
                     page_bytes(bytes, (size_t)count));
}

/* Shares the most distinctive features, as many as the limits allow. */
static huddle_status share_colours(const feature_table *t) {
    const report_run *run = t->run;
    huddle_status status = HUDDLE_OK;
    double *values = NULL, *sorted = NULL;
    unsigned char *bytes = NULL;
    NEW(values, run->count);
    NEW(sorted, run->count);
    NEW(bytes, run->count);
    json_t *list = json_array();
    for (int32_t i = 0; i < run->x->d && i < MAX_COLOURS; i++)
        if ((int64_t)(i + 1) * run->count <= COLOUR_BYTES)
            page_append(list, colour_json(run, t->features[i].column, values, sorted, bytes));
    page_share(run->page, "features", list);
done:
    FREE(bytes, sorted, values);
    return status;
}

/* ---- the section -------------------------------------------------------------------------- */

bool report_has_features(const report_run *run) {
    const char *affinity = text_of(json_object_get(run->info, "options"), "affinity");
    return run->x != NULL && (affinity[0] == '\0' || strcmp(affinity, "features") == 0);
}

/* Pixels are better seen as images, and the means of very many features and clusters would take
 * more memory than the points. */
huddle_status report_add_features(report_run *run) {
    static const char lead[] =
        "The mean of each feature in each cluster, in standard deviations from the mean of all "
        "points. The features that separate the clusters best come first.";
    feature_table t = {.run = run};
    json_t *rows = NULL;
    huddle_status status = HUDDLE_OK;
    if (!report_has_features(run) || report_has_images(run) || run->n == 0 || run->x->d == 0 ||
        run->x->d * run->n_clusters > MAX_SUMS)
        return HUDDLE_OK;
    NEW(t.means, run->n_clusters * run->x->d);
    NEW(t.features, run->x->d);
    measure_features(&t);
    qsort(t.features, (size_t)run->x->d, sizeof *t.features, compare_features);
    TRY(share_colours(&t));
    if (run->n_clusters < 2)
        goto done;
    rows = json_array();
    for (int32_t i = 0; i < run->x->d && i < MAX_SHOWN; i++)
        page_append(rows, feature_json(&t, &t.features[i]));
    page_add(page_section(run->page, "features", "Clusters and features", lead), "features",
             json_pack("{s:o, s:I}", "rows", rows, "total", (json_int_t)run->x->d));
done:
    FREE(t.features, t.means);
    return status;
}
