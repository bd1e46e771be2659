/* Average ranks of columns (docs/method.md, "Preparation"). A column becomes its empirical
 * distribution function: sorted distinct values with their average rank divided by n, a value
 * between two of them by linear interpolation. Outliers then are as far from the rest as their rank
 * says, however large they are. */
#include "prepare/ranks.h"

#include "base/check.h"
#include "base/parallel.h"
#include "base/slabs.h"
#include "matrix/points.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A column with more distinct values keeps some of them, so that the memory of a preparation does
 * not grow with n. Two consecutive ones that are kept differ in rank by at most n / RANK_STEPS or
 * have no training value between them. Any two steps together are wider than n / RANK_STEPS (see
 * keep_knots()), which leaves at most 2 RANK_STEPS + 2 = MAX_KNOTS. */
enum { RANK_STEPS = 1023, MAX_KNOTS = 2 * RANK_STEPS + 2 };

typedef struct rank_fit {
    const huddle_points *x;
    float *sorted;    /* n for each worker */
    double *rank;     /* n for each worker: of the distinct values */
    int64_t capacity; /* knots that a column can have */
    double *knots;    /* d x capacity x 2: value, rank */
    int64_t *n_knots; /* d */
} rank_fit;

/* Total order on finite values; -0 and 0 are equal, and either represents both. */
static int ascending(const void *left, const void *right) {
    float a = *(const float *)left, b = *(const float *)right;
    return (a > b) - (a < b);
}

double hd_prepare_rounding(double magnitude) {
    return 16 * DBL_EPSILON * fabs(magnitude);
}

/* Replaces n sorted values by the distinct ones, with the average of the ranks 1 .. n that equal
 * values share, divided by n. Values within `rounding` above the first of a group are equal to it.
 * Returns the number of distinct ones. */
static int64_t average_ranks(int64_t n, double rounding, float *sorted, double *rank) {
    int64_t count = 0;
    for (int64_t begin = 0, end; begin < n; begin = end) {
        double last = (double)sorted[begin] + rounding;
        for (end = begin + 1; end < n && (double)sorted[end] <= last; end++) {
        }
        sorted[count] = sorted[begin];
        rank[count++] = (double)(begin + 1 + end) / 2 / (double)n;
    }
    return count;
}

/* Keeps a value if without it the ranks of the last kept one and of the next would differ by more
 * than a step. The next kept value is then at least the next one, hence two steps are always wider
 * than 1 / RANK_STEPS. Returns the number of knots. */
static int64_t keep_knots(int64_t count, const float *values, const double *rank, double *knots) {
    int64_t kept = 0;
    double last = 0;
    for (int64_t k = 0; k < count; k++) {
        bool is_end = k == 0 || k + 1 == count;
        if (count > MAX_KNOTS && !is_end && rank[k + 1] - last <= 1. / RANK_STEPS)
            continue;
        knots[2 * kept] = (double)values[k];
        knots[2 * kept++ + 1] = last = rank[k];
    }
    return kept;
}

/* One chunk is one column. */
static huddle_status fit_column(void *argument, hd_chunk chunk) {
    const rank_fit *f = argument;
    int64_t n = f->x->n, j = chunk.begin;
    float *sorted = f->sorted + chunk.worker * n;
    double *rank = f->rank + chunk.worker * n;
    for (int64_t i = 0; i < n; i++)
        sorted[i] = f->x->values[i * f->x->stride + j];
    qsort(sorted, (size_t)n, sizeof *sorted, ascending);
    double rounding = f->x->shift != NULL ? hd_prepare_rounding(f->x->shift[j]) : 0;
    int64_t count = average_ranks(n, rounding, sorted, rank);
    f->n_knots[j] = keep_knots(count, sorted, rank, f->knots + 2 * j * f->capacity);
    return HUDDLE_OK;
}

/* The knots of all columns in one matrix, without the room that columns did not need. */
static huddle_status join_columns(const rank_fit *f, huddle_preparation *p) {
    huddle_status status = HUDDLE_OK;
    int64_t d = f->x->d;
    ALLOC_ZERO(p->knot_offsets, d + 1);
    for (int64_t j = 0; j < d; j++)
        p->knot_offsets[j + 1] = p->knot_offsets[j] + f->n_knots[j];
    TRY(huddle_dense_new(p->knot_offsets[d], 2, &p->knots));
    for (int64_t j = 0; j < d; j++)
        memcpy(p->knots.values + 2 * p->knot_offsets[j], f->knots + 2 * j * f->capacity,
               (size_t)(2 * f->n_knots[j]) * sizeof *f->knots);
done:
    return status;
}

/* Stored values are sorted, not true ones: the sum of a value and a large shift would be rounded,
 * and different values might become equal. The shift of the training points, to which the knots are
 * relative, becomes the centre. */
huddle_status hd_prepare_fit_ranks(huddle_context *context, const huddle_points *x,
                                   huddle_preparation *p) {
    huddle_status status = HUDDLE_OK;
    rank_fit f = {.x = x, .capacity = x->n < MAX_KNOTS ? x->n : MAX_KNOTS};
    TRY(hd_copy_numbers(x->d, x->shift, &p->centre));
    TRY(hd_slabs_refuse(context, "prepare = ranks"));
    ALLOC(f.sorted, x->n * hd_workers(context));
    ALLOC(f.rank, x->n * hd_workers(context));
    ALLOC(f.knots, 2 * x->d * f.capacity);
    ALLOC(f.n_knots, x->d);
    TRY(hd_parallel(context, "prepare", x->d, 1, fit_column, &f));
    TRY(join_columns(&f, p));
done:
    FREE(f.sorted, f.rank, f.knots, f.n_knots);
    return status;
}

/* Values outside of the training values get the first or the last rank. A value that equals a knot
 * gets its rank exactly. */
double hd_prepare_rank(const huddle_preparation *p, int64_t j, double value) {
    const double *knots = p->knots.values + 2 * p->knot_offsets[j];
    int64_t low = 0, high = p->knot_offsets[j + 1] - p->knot_offsets[j] - 1;
    if (high == 0)
        return 0;
    if (!(value > knots[0]))
        return knots[1];
    if (value >= knots[2 * high])
        return knots[2 * high + 1];
    while (high - low > 1) { /* knot low <= value < knot high */
        int64_t middle = low + (high - low) / 2;
        if (knots[2 * middle] <= value)
            low = middle;
        else
            high = middle;
    }
    const double *a = knots + 2 * low, *b = knots + 2 * high;
    return a[1] + (value - a[0]) / (b[0] - a[0]) * (b[1] - a[1]);
}
