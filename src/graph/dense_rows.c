/* Distances between rows in double. Every solver enters these distances into its lists, so that
 * neighbours, ties and weights do not depend on the solver. */
#include "graph/dense_rows.h"

#include "base/check.h"
#include "base/parallel.h"
#include "base/slabs.h"
#include "graph/distance_kernels.h"

#include <float.h>
#include <limits.h>
#include <math.h>
#include <string.h>

/* A relative rounding error above this leaves too little of a distance to decide by. */
static const double max_margin = 0.1;

enum { ROWS_PER_CHUNK = 256, READ_ROWS = 4096 };

static hd_graph_distance2_rough_function *const distance2_rough[] =
    HD_SIMD_TABLE(hd_graph_distance2_rough);
static hd_graph_distance2_floats_function *const distance2_single[] =
    HD_SIMD_TABLE(hd_graph_distance2_floats);
static hd_graph_distance2_doubles_function *const distance2_double[] =
    HD_SIMD_TABLE(hd_graph_distance2_doubles);

/* One of the two pointers tells the type, even if a process has no rows, hence no values. */
static const float no_single;
static const double no_double;

hd_graph_rows hd_graph_rows_of_points(const huddle_points *x) {
    return (hd_graph_rows){.n = x->n,
                           .d = x->d,
                           .stride = x->stride,
                           .singles = x->values != NULL ? x->values : &no_single,
                           .isa = hd_cpu_isa()};
}

hd_graph_rows hd_graph_rows_of_dense(const huddle_dense *f) {
    return (hd_graph_rows){.n = f->rows,
                           .d = f->cols,
                           .stride = f->stride,
                           .doubles = f->values != NULL ? f->values : &no_double,
                           .isa = hd_cpu_isa()};
}

/* ---- doubles of any size ------------------------------------------------------------------- */

/* The largest exponent of a value, as frexp() returns it; INT_MIN if all are 0, which no scaling
 * changes. */
static int largest_exponent(const hd_graph_rows *rows) {
    double largest = 0;
    int exponent = 0;
    for (int64_t i = 0; i < rows->n; i++)
        for (int64_t j = 0; j < rows->d; j++)
            largest = fmax(largest, fabs(rows->doubles[i * rows->stride + j]));
    if (largest == 0)
        return INT_MIN;
    frexp(largest, &exponent);
    return exponent;
}

/* A copy, because the rows are the caller's. 2^exponent itself may be too large for a double, which
 * ldexp() avoids. */
static huddle_status rescale_values(hd_graph_rows *rows, int exponent) {
    huddle_status status = HUDDLE_OK;
    ALLOC(rows->owned_values, rows->n * rows->d);
    for (int64_t i = 0; i < rows->n; i++)
        for (int64_t j = 0; j < rows->d; j++)
            rows->owned_values[i * rows->d + j] =
                ldexp(rows->doubles[i * rows->stride + j], exponent);
    rows->doubles = rows->owned_values;
    rows->stride = rows->d;
done:
    return status;
}

/* Sums of squares of up to 2^31 values neither overflow nor vanish while the largest value has an
 * exponent in this range: double has exponents from -1022 to 1023. */
enum { MIN_EXPONENT = -400, MAX_EXPONENT = 400 };

/* A power of two changes no digit, so that the lists are those of the original rows. The exponent
 * is that of both sets together, since distances between them are compared. The largest value goes
 * to the upper end of the range, which keeps the smaller ones as far from underflow as possible. */
huddle_status hd_graph_rows_rescale(huddle_context *context, hd_graph_rows *train,
                                    hd_graph_rows *query, int *exponent) {
    huddle_status status = HUDDLE_OK;
    int largest = largest_exponent(train);
    double common;
    *exponent = 0;
    if (query != train) {
        int other = largest_exponent(query);
        largest = other > largest ? other : largest;
    }
    common = largest;
    TRY(hd_reduce_max(context, 1, &common));
    largest = (int)common;
    if (largest == INT_MIN || (largest >= MIN_EXPONENT && largest <= MAX_EXPONENT))
        goto done;
    *exponent = MAX_EXPONENT - largest;
    TRY(rescale_values(train, *exponent));
    if (query != train)
        TRY(rescale_values(query, *exponent));
done:
    return status;
}

void hd_graph_rows_free(hd_graph_rows *rows) {
    FREE(rows->owned_values, rows->scale, rows->owned_shift);
    *rows = (hd_graph_rows){0};
}

/* frexp() leaves a fraction in [.5, 1), which is what the largest number becomes. */
double hd_graph_unit_scale(double largest) {
    int exponent = 0;
    if (largest > 0)
        frexp(largest, &exponent);
    return ldexp(1, -exponent);
}

/* Where row i begins among the values. */
static int64_t offset_of(const hd_graph_rows *rows, int64_t i) {
    return (rows->pick != NULL ? rows->pick[i] : i) * rows->stride;
}

/* Coordinate j of the row at that offset, without its scale. */
static double coordinate_at(const hd_graph_rows *rows, int64_t at, int64_t j) {
    double v = rows->singles != NULL ? (double)rows->singles[at + j] : rows->doubles[at + j];
    return rows->shift != NULL ? v + rows->shift[j] : v;
}

/* scale = 1 / norm. The row is divided by its largest value first, so that no square overflows or
 * vanishes. A row of zeros has scale 0, by which it is recognised later. */
static huddle_status scale_rows(void *argument, hd_chunk chunk) {
    const hd_graph_rows *rows = argument;
    for (int64_t i = chunk.begin; i < chunk.end; i++) {
        int64_t at = offset_of(rows, i);
        double largest = 0, sum = 0;
        for (int64_t j = 0; j < rows->d; j++)
            largest = fmax(largest, fabs(coordinate_at(rows, at, j)));
        for (int64_t j = 0; j < rows->d && largest > 0; j++) {
            double v = coordinate_at(rows, at, j) / largest; /* in [-1, 1] */
            sum += v * v;
        }
        rows->scale[i] = largest > 0 ? 1 / (largest * sqrt(sum)) : 0;
    }
    return HUDDLE_OK;
}

huddle_status hd_graph_rows_normalise(huddle_context *context, hd_graph_rows *rows) {
    huddle_status status = HUDDLE_OK;
    ALLOC(rows->scale, rows->n);
    TRY(hd_parallel(context, NULL, rows->n, ROWS_PER_CHUNK, scale_rows, rows));
    /* Not by the loop above, whose threads would all write to one flag. */
    for (int64_t i = 0; i < rows->n && !rows->zeros; i++)
        rows->zeros = rows->scale[i] == 0;
done:
    return status;
}

/* A shift cancels in Euclidean distances within one set. Without it the kernels read the values
 * where they are. */
huddle_status hd_graph_rows_of_metric(huddle_context *context, const huddle_points *x, bool cosine,
                                      hd_graph_rows *rows) {
    *rows = hd_graph_rows_of_points(x);
    rows->shift = cosine ? x->shift : NULL;
    return cosine ? hd_graph_rows_normalise(context, rows) : HUDDLE_OK;
}

int64_t hd_graph_rows_width(const hd_graph_rows *rows) {
    return rows->d + rows->zeros;
}

/* Shift before scale, as in coordinate_at(): solvers that read coordinates and those that compute
 * distances directly must see the same numbers. */
void hd_graph_rows_read(const hd_graph_rows *rows, int64_t i, double *coordinates) {
    int64_t at = offset_of(rows, i);
    if (rows->singles != NULL)
        for (int64_t j = 0; j < rows->d; j++)
            coordinates[j] = (double)rows->singles[at + j];
    else
        memcpy(coordinates, rows->doubles + at, (size_t)rows->d * sizeof *coordinates);
    if (rows->shift != NULL)
        for (int64_t j = 0; j < rows->d; j++)
            coordinates[j] += rows->shift[j];
    if (rows->scale != NULL)
        for (int64_t j = 0; j < rows->d; j++)
            coordinates[j] *= rows->scale[i];
    if (rows->zeros && rows->scale != NULL)
        coordinates[rows->d] = rows->scale[i] == 0 ? 1 : 0;
}

typedef struct reading {
    const hd_graph_rows *rows;
    int64_t stride;
    double *to;
} reading;

static huddle_status read_rows(void *argument, hd_chunk chunk) {
    const reading *r = argument;
    for (int64_t i = chunk.begin; i < chunk.end; i++)
        hd_graph_rows_read(r->rows, i, r->to + i * r->stride);
    return HUDDLE_OK;
}

huddle_status hd_graph_rows_read_all(huddle_context *context, const hd_graph_rows *rows,
                                     int64_t stride, double *coordinates) {
    reading r = {rows, stride, coordinates};
    return hd_parallel(context, NULL, rows->n, READ_ROWS, read_rows, &r);
}

typedef struct measuring {
    const hd_graph_rows *rows;
    double *scratch; /* workers x width */
    double *largest; /* per chunk */
} measuring;

/* Floats as they are in memory are not read as doubles, which would take much longer. The largest
 * of them is the same number in both types. */
static huddle_status measure_rows(void *argument, hd_chunk chunk) {
    const measuring *m = argument;
    const hd_graph_rows *rows = m->rows;
    bool plain = rows->singles != NULL && rows->scale == NULL && rows->shift == NULL;
    int64_t width = hd_graph_rows_width(rows);
    double *row = m->scratch + chunk.worker * width, largest = 0;
    float single = 0;
    for (int64_t i = chunk.begin; i < chunk.end; i++) {
        const float *values = plain ? rows->singles + offset_of(rows, i) : NULL;
        for (int64_t j = 0; j < rows->d && plain; j++)
            single = fabsf(values[j]) > single ? fabsf(values[j]) : single;
        if (!plain)
            hd_graph_rows_read(rows, i, row);
        for (int64_t j = 0; j < width && !plain; j++)
            largest = fmax(largest, fabs(row[j]));
    }
    m->largest[chunk.index] = plain ? (double)single : largest;
    return HUDDLE_OK;
}

huddle_status hd_graph_rows_reach(huddle_context *context, const hd_graph_rows *train,
                                  const hd_graph_rows *query, double *reach) {
    huddle_status status = HUDDLE_OK;
    const hd_graph_rows *both[] = {train, query};
    measuring m = {0};
    *reach = 0;
    ALLOC(m.scratch, hd_workers(context) * hd_graph_rows_width(train));
    ALLOC(m.largest, hd_chunks(train->n > query->n ? train->n : query->n, READ_ROWS));
    for (int b = 0; b < (query == train ? 1 : 2); b++) {
        m.rows = both[b];
        TRY(hd_parallel(context, NULL, m.rows->n, READ_ROWS, measure_rows, &m));
        for (int64_t c = 0; c < hd_chunks(m.rows->n, READ_ROWS); c++)
            *reach = fmax(*reach, m.largest[c]);
    }
    TRY(hd_reduce_max(context, 1, reach));
    if (*reach == 0)
        *reach = 1; /* any scale suits zeros */
done:
    FREE(m.scratch, m.largest);
    return status;
}

double hd_graph_rows_coordinate(const hd_graph_rows *rows, int64_t i, int64_t f) {
    /* The direction of rows of zeros under cosine. */
    if (f >= rows->d)
        return rows->scale != NULL && rows->scale[i] == 0 ? 1 : 0;
    double v = coordinate_at(rows, offset_of(rows, i), f);
    return rows->scale != NULL ? v * rows->scale[i] : v;
}

/* At most eight cache lines: the hardware prefetches the rest of a row once it is read. */
void hd_graph_rows_prefetch(const hd_graph_rows *rows, int64_t i) {
    enum { LINE = 64, LINES = 8 };
    int64_t at = offset_of(rows, i), size = rows->d * (rows->singles != NULL ? 4 : 8);
    const char *from = rows->singles != NULL ? (const char *)(rows->singles + at)
                                             : (const char *)(rows->doubles + at);
    for (int64_t byte = 0; byte < size && byte < LINES * LINE; byte += LINE)
        __builtin_prefetch(from + byte);
}

/* Differences of two short rows; the coordinates are neither shifted nor scaled. Floats are
 * converted first: their difference is then rounded in double, if at all. */
static double distance2_short(const hd_graph_rows *rows, int64_t p, const hd_graph_rows *others,
                              int64_t q) {
    double differences[HD_GRAPH_SHORT_ROW];
    for (int64_t j = 0; j < rows->d; j++)
        differences[j] = rows->singles != NULL
                             ? (double)rows->singles[p + j] - (double)others->singles[q + j]
                             : rows->doubles[p + j] - others->doubles[q + j];
    return hd_graph_short_square(differences, rows->d);
}

/* If both sets are short, a solver that has their coordinates at hand may compute the sum itself:
 * hd_graph_rows_distance2() returns the same bits. */
bool hd_graph_rows_short(const hd_graph_rows *rows) {
    return rows->d < HD_GRAPH_SHORT_ROW && rows->scale == NULL && rows->shift == NULL;
}

/* Most pairs are farther apart than limit by more than the rounding error of float, which decides
 * those. Its sums have a relative error below (d + 8) 2^-24 and, where squares are subnormal, an
 * absolute error below d 2^-150; the lower bound on limit makes that less than the margin. If limit
 * is 0, any difference that float shows is a difference. Float kernels handle twice as many
 * features per instruction and need no conversion. A value that is returned from here is above
 * limit, so that its accuracy does not matter; all others are computed in double. */
static double distance2_singles(const hd_graph_rows *a, const float *x, const float *y,
                                double limit) {
    double margin = (double)(a->d + 8) * 0x1p-23;
    /* Below 2^123 the bound is a finite float; a sum that overflows nevertheless is computed again
     * in double. A margin of a tenth or more, of rows that are extremely long, is not worth
     * trying. */
    bool within = limit < 0x1p123 && (limit > 0x1p-100 || limit == 0);
    if (within && margin < max_margin) {
        float bound = (float)(limit * (1 + 2 * margin));
        float rough = distance2_rough[a->isa](x, y, a->d, bound);
        if (rough > bound && rough < FLT_MAX)
            return (double)rough;
    }
    return distance2_single[a->isa](x, y, a->d, limit);
}

/* Plain rows are left to the kernels. With a shift or a scale the coordinates are formed one by
 * one; a row of zeros under cosine is at squared distance 2 from every other row. Shifts occur
 * only under cosine or where new points have a shift of their own, so that this case need not be
 * fast. */
double hd_graph_rows_distance2(const hd_graph_rows *a, int64_t i, const hd_graph_rows *b, int64_t j,
                               double limit) {
    int64_t p = offset_of(a, i), q = offset_of(b, j);
    if (a->scale == NULL && a->shift == NULL && b->shift == NULL) {
        if (a->d < HD_GRAPH_SHORT_ROW)
            return distance2_short(a, p, b, q);
        if (a->singles != NULL)
            return distance2_singles(a, a->singles + p, b->singles + q, limit);
        return distance2_double[a->isa](a->doubles + p, b->doubles + q, a->d, limit);
    }
    double s = a->scale != NULL ? a->scale[i] : 1, t = b->scale != NULL ? b->scale[j] : 1;
    if (s == 0 || t == 0)
        return s == t ? 0 : 2;
    double sum = 0;
    for (int64_t f = 0; f < a->d; f++) {
        /* Not |x|^2 + |y|^2 - 2 <x, y>, which cancels where rows are near each other. */
        double difference = coordinate_at(a, p, f) * s - coordinate_at(b, q, f) * t;
        sum += difference * difference;
    }
    return sum;
}
