/* Is x a table of columns in different units? (docs/method.md, "Tables")
 *
 * Distances between rows of such a table depend on the choice of units: the column with the largest
 * numbers decides alone. It is recognised by its variances, which are dominated by few columns, or
 * by columns of categories beside columns of measurements. Other data have unequal columns by their
 * nature: counts and grey levels, rows that were normalised, principal components. They are
 * recognised first, because scaling their columns would do harm. */
#include "decide/table.h"

#include "base/check.h"
#include "base/parallel.h"
#include "matrix/points.h"
#include "steps/slabs.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* All constants were set on 14 tables, 8 image sets, texts as counts, frequencies and tf-idf, and
 * principal components of images and texts (docs/results.md). */
enum {
    MIN_COMPONENTS = 5,      /* columns for which descending variances mean principal components */
    CATEGORY_VALUES = 5,     /* a column of categories has at most so many values */
    MEASUREMENT_VALUES = 20, /* a column of measurements has more */
    COLUMN_GRAIN = 16        /* columns of a chunk: the floats of one cache line */
};
static const double max_effective = 10;       /* columns that have nearly all the variance, */
static const double max_effective_share = .3; /* also as a share of all columns */
static const double min_unit_ratio = 10;      /* of the largest and smallest standard deviation */
static const double norm_tolerance = .001;    /* relative deviation of norms that are all equal */
static const double max_norm_share = .01;     /* of their deviation in that of a column */
static const double component_correlation = -.9; /* of positions and mean squares */
static const double min_category_share = .05;    /* of rows with the second commonest value */
static const double min_column_share = .1;       /* of columns of a kind, for there to be any */
static const double constant_tolerance = 1e-9;   /* standard deviation over the largest value */

/* ---- columns ------------------------------------------------------------------------------- */

typedef struct column {
    double deviation, mean_square;
    bool varies;
    bool is_count;    /* integers with minimum 0 */
    int32_t n_values; /* up to MEASUREMENT_VALUES + 1 */
    int64_t second;   /* rows with the second commonest value, if there are few values */
} column;

typedef struct examination {
    const huddle_points *x;
    column *columns; /* d */
    double *norms;   /* sums of 1-norms, their squares, 2-norms, their squares, per chunk */
} examination;

/* Values are floats relative to a shift: an integer comes back with the error of that rounding.
 * Adding and subtracting 1.5 * 2^52 rounds to the nearest integer where doubles have fractions;
 * round() is a call, and this runs once for each value of the points. */
static bool is_integer(const huddle_points *x, int64_t i, int64_t j, double value) {
    double error = FLT_EPSILON * fabs((double)x->values[i * x->stride + j]) + 1e-12;
    double nearest = (value + 0x1.8p52) - 0x1.8p52;
    return fabs(value - nearest) <= error || fabs(value) >= 0x1p51;
}

/* Two passes: the mean first, so that a large mean does not cost the digits of the variance. Each
 * pass goes along the rows, since the columns of a chunk share cache lines. */
static void measure_moments(const huddle_points *x, hd_chunk chunk, column *columns) {
    double sum[COLUMN_GRAIN] = {0}, squares[COLUMN_GRAIN] = {0}, largest[COLUMN_GRAIN] = {0};
    double smallest[COLUMN_GRAIN], n = (double)x->n;
    bool integers[COLUMN_GRAIN];
    int64_t first = chunk.begin, count = chunk.end - chunk.begin;
    for (int64_t k = 0; k < count; k++) {
        smallest[k] = INFINITY;
        integers[k] = true;
    }
    for (int64_t i = 0; i < x->n; i++)
        for (int64_t k = 0; k < count; k++) {
            double value = hd_points_value(x, i, first + k), size = fabs(value);
            sum[k] += value;
            squares[k] += value * value;
            largest[k] = size > largest[k] ? size : largest[k];
            smallest[k] = value < smallest[k] ? value : smallest[k];
            integers[k] = integers[k] && is_integer(x, i, first + k, value);
        }
    for (int64_t k = 0; k < count; k++) {
        columns[first + k].mean_square = squares[k] / n;
        columns[first + k].is_count = integers[k] && round(smallest[k]) == 0;
        sum[k] /= n;
        squares[k] = 0;
    }
    for (int64_t i = 0; i < x->n; i++)
        for (int64_t k = 0; k < count; k++) {
            double difference = hd_points_value(x, i, first + k) - sum[k];
            squares[k] += difference * difference;
        }
    for (int64_t k = 0; k < count; k++) {
        columns[first + k].deviation = sqrt(squares[k] / n);
        columns[first + k].varies = columns[first + k].deviation > constant_tolerance * largest[k];
    }
}

/* Counts the different values until there are too many. */
static void count_values(const huddle_points *x, int64_t j, column *c) {
    float values[MEASUREMENT_VALUES];
    int64_t counts[MEASUREMENT_VALUES] = {0}, most = 0;
    int32_t count = 0;
    for (int64_t i = 0; i < x->n && count <= MEASUREMENT_VALUES; i++) {
        float value = x->values[i * x->stride + j];
        int32_t k = 0;
        while (k < count && values[k] != value)
            k++;
        if (k == MEASUREMENT_VALUES) {
            count++;
            break;
        }
        if (k == count)
            values[count++] = value;
        counts[k]++;
    }
    c->n_values = count;
    for (int32_t k = 0; k < count && count <= MEASUREMENT_VALUES; k++) {
        if (counts[k] > most) {
            c->second = most;
            most = counts[k];
        } else if (counts[k] > c->second) {
            c->second = counts[k];
        }
    }
}

/* A chunk of columns needs no sums of other chunks. */
static huddle_status measure_columns(void *argument, hd_chunk chunk) {
    examination *e = argument;
    measure_moments(e->x, chunk, e->columns);
    for (int64_t j = chunk.begin; j < chunk.end; j++)
        count_values(e->x, j, &e->columns[j]);
    return HUDDLE_OK;
}

/* ---- data whose columns are unequal by nature ------------------------------------------------ */

enum { NORM_SUMS = 4 };

static huddle_status add_norms(void *argument, hd_chunk chunk) {
    examination *e = argument;
    double *sums = e->norms + chunk.index * NORM_SUMS;
    for (int64_t i = chunk.begin; i < chunk.end; i++) {
        double absolute = 0, square = 0;
        for (int64_t j = 0; j < e->x->d; j++)
            if (e->columns[j].varies) {
                double value = hd_points_value(e->x, i, j);
                absolute += fabs(value);
                square += value * value;
            }
        sums[0] += absolute;
        sums[1] += absolute * absolute;
        sums[2] += sqrt(square);
        sums[3] += square;
    }
    return HUDDLE_OK;
}

/* Whether n norms of this sum and this sum of squares are equal, and not only because a column with
 * a large mean, a year say, makes up most of them: they then vary as that column does. */
static bool are_equal(double n, double sum, double squares, double largest_deviation) {
    double mean = sum / n, deviation = sqrt(fmax(0, squares / n - mean * mean));
    return deviation <= norm_tolerance * mean && deviation <= max_norm_share * largest_deviation;
}

/* Shares of a whole, or unit rows. */
static huddle_status have_equal_norms(huddle_context *context, examination *e, bool *equal) {
    huddle_status status = HUDDLE_OK;
    enum { ROWS = 4096 };
    int64_t chunks = hd_chunks(e->x->n, ROWS);
    double n = (double)e->x->n, largest = 0;
    for (int64_t j = 0; j < e->x->d; j++)
        largest = fmax(largest, e->columns[j].deviation);
    ALLOC_ZERO(e->norms, chunks * NORM_SUMS);
    TRY(hd_parallel(context, NULL, e->x->n, ROWS, add_norms, e));
    for (int64_t k = 1; k < chunks; k++)
        for (int s = 0; s < NORM_SUMS; s++)
            e->norms[s] += e->norms[k * NORM_SUMS + s];
    *equal = are_equal(n, e->norms[0], e->norms[1], largest) ||
             are_equal(n, e->norms[2], e->norms[3], largest);
done:
    return status;
}

typedef struct ranked {
    double value;
    int64_t position;
} ranked;

static int compare_ranked(const void *a, const void *b) {
    double p = ((const ranked *)a)->value, q = ((const ranked *)b)->value;
    return (p > q) - (p < q);
}

/* Spearman's rank correlation of the values with their positions; equal values share their mean
 * rank. The list is sorted in place. */
static double rank_correlation(int64_t count, ranked *list) {
    double mean = (double)(count - 1) / 2, product = 0, squares = 0, positions = 0;
    qsort(list, (size_t)count, sizeof *list, compare_ranked);
    for (int64_t begin = 0, end; begin < count; begin = end) {
        for (end = begin + 1; end < count && list[end].value == list[begin].value;)
            end++;
        double rank = (double)(begin + end - 1) / 2 - mean;
        for (int64_t k = begin; k < end; k++) {
            double position = (double)list[k].position - mean;
            product += rank * position;
            squares += rank * rank;
            positions += position * position;
        }
    }
    return squares > 0 ? product / sqrt(squares * positions) : 0;
}

/* Principal components, also of new data, have variances that descend with few exceptions. */
static huddle_status are_components(const examination *e, int64_t count, bool *components) {
    huddle_status status = HUDDLE_OK;
    ranked *list = NULL;
    int64_t used = 0;
    *components = false;
    if (count < MIN_COMPONENTS)
        return status;
    ALLOC(list, count);
    for (int64_t j = 0; j < e->x->d; j++)
        if (e->columns[j].varies) {
            list[used] = (ranked){e->columns[j].mean_square, used};
            used++;
        }
    *components = rank_correlation(count, list) <= component_correlation;
done:
    huddle_free(list);
    return status;
}

/* ---- the test ------------------------------------------------------------------------------ */

/* Which kind of table the columns would be; NULL if none. */
static const char *classify(const examination *e, hd_fit_table *table) {
    double sum = 0, squares = 0, largest = 0, smallest = INFINITY, count = (double)table->n_columns;
    int64_t measurements = 0;
    for (int64_t j = 0; j < e->x->d; j++) {
        const column *c = &e->columns[j];
        if (!c->varies)
            continue;
        double variance = c->deviation * c->deviation;
        sum += variance;
        squares += variance * variance;
        largest = fmax(largest, c->deviation);
        smallest = fmin(smallest, c->deviation);
        measurements += c->n_values > MEASUREMENT_VALUES;
        table->n_categories += c->n_values <= CATEGORY_VALUES &&
                               (double)c->second >= min_category_share * (double)e->x->n;
    }
    table->n_effective = sum * sum / squares;
    if (table->n_effective <= max_effective &&
        table->n_effective - 1 < max_effective_share * (count - 1) &&
        largest >= min_unit_ratio * smallest)
        return "units";
    if ((double)table->n_categories >= min_column_share * count &&
        (double)measurements >= min_column_share * count)
        return "categories";
    return NULL;
}

/* The points of one process that holds all of them. */
static huddle_status examine_whole(huddle_context *context, const huddle_points *x,
                                   hd_fit_table *table) {
    huddle_status status = HUDDLE_OK;
    examination e = {.x = x};
    bool counts = true, equal_norms, components;
    if (x->offsets != NULL || x->n < 2)
        return status;
    TRY(huddle_points_fetch(x));
    ALLOC_ZERO(e.columns, x->d);
    TRY(hd_parallel(context, NULL, x->d, COLUMN_GRAIN, measure_columns, &e));
    for (int64_t j = 0; j < x->d; j++) {
        table->n_columns += e.columns[j].varies;
        counts = counts && (!e.columns[j].varies || e.columns[j].is_count);
    }
    if (table->n_columns < 2 || counts)
        goto done;
    TRY(have_equal_norms(context, &e, &equal_norms));
    TRY(are_components(&e, table->n_columns, &components));
    if (!equal_norms && !components)
        table->kind = classify(&e, table);
done:
    FREE(e.columns, e.norms);
    return status;
}

/* Distributed rows of which process 0 examines a sample: as many as have so many values
 * (64 MB), but at least SAMPLED_ROWS. */
enum { SAMPLED_VALUES = 1 << 24, SAMPLED_ROWS = 10000 };

/* The kinds, by number: texts of one process mean nothing to another. */
static const char *const kinds[] = {NULL, "units", "categories"};
enum { N_KINDS = sizeof kinds / sizeof *kinds };

static int32_t number_of_kind(const char *kind) {
    int32_t number = 0;
    for (int32_t k = 1; k < N_KINDS && kind != NULL; k++)
        number = strcmp(kinds[k], kind) == 0 ? k : number;
    return number;
}

static huddle_status examine_distributed(huddle_context *context, const huddle_points *x,
                                         hd_fit_table *table) {
    huddle_status status = HUDDLE_OK;
    huddle_points owned = {0}, sample;
    int64_t limit = SAMPLED_VALUES / x->d > SAMPLED_ROWS ? SAMPLED_VALUES / x->d : SAMPLED_ROWS;
    if (x->offsets != NULL)
        return status;
    TRY(hd_step_sample(context, x, limit, 0, &owned, &sample));
    TRY_ON_FIRST(context, examine_whole(context, &sample, table));
    int32_t kind = number_of_kind(table->kind);
    TRY(hd_slabs_broadcast(context, 0, sizeof *table, table));
    TRY(hd_slabs_broadcast(context, 0, sizeof kind, &kind));
    table->kind = kinds[kind];
done:
    huddle_points_free(&owned);
    return status;
}

huddle_status hd_decide_table(huddle_context *context, const huddle_points *x,
                              hd_fit_table *table) {
    *table = (hd_fit_table){0};
    return hd_slabs_distributed(context) ? examine_distributed(context, x, table)
                                         : examine_whole(context, x, table);
}

bool hd_decide_is_to_scale(const hd_spectral_options *options, const hd_fit_table *table) {
    return table->kind != NULL && hd_spectral_refines(options) &&
           strcmp(options->knn.metric, "euclidean") == 0;
}
