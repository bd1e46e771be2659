/* Points: checks, conversion from double, selection of rows.
 *
 * Points are stored in single precision, which halves the memory and speeds up the neighbour
 * search. Columns with a large mean and a small spread would lose the digits that matter, hence the
 * mean of such a column is subtracted in double before rounding and kept as the shift. */
#include "matrix/points.h"

#include "base/check.h"
#include "base/parallel.h"
#include "base/slabs.h"
#include "matrix/resident.h"

#include <float.h>
#include <math.h>
#include <string.h>

/* Chunks of about 1 MB: large enough to hide the cost of handing them out, small enough to spread
 * over threads. */
enum { ROWS_PER_CHUNK = 4096, VALUES_PER_CHUNK = 1 << 18 };

/* Rows per chunk of d values each. */
static int64_t row_grain(int64_t d) {
    int64_t rows = VALUES_PER_CHUNK / (d > 0 ? d : 1);
    return rows < 1 ? 1 : rows > ROWS_PER_CHUNK ? ROWS_PER_CHUNK : rows;
}

/* ---- checking ----------------------------------------------------------------------------- */

/* Finite values beyond the range of float get a message of their own. */
huddle_status hd_refuse_value(double v, int64_t row, int64_t column) {
    if (isfinite(v))
        return hd_fail(HUDDLE_INVALID, "row %lld, column %lld: %g is beyond single precision",
                       (long long)row + 1, (long long)column + 1, v);
    return hd_fail(HUDDLE_INVALID, "row %lld, column %lld: the value is %s", (long long)row + 1,
                   (long long)column + 1, isnan(v) ? "not a number" : "infinite");
}

/* The values of row i: rows of dense and of sparse points are contiguous. */
static void find_row(const huddle_points *x, int64_t i, int64_t *begin, int64_t *end) {
    *begin = x->offsets != NULL ? x->offsets[i] : i * x->stride;
    *end = x->offsets != NULL ? x->offsets[i + 1] : *begin + x->d;
}

double hd_points_square(const huddle_points *x, int64_t i) {
    int64_t begin, end;
    double sum = 0;
    find_row(x, i, &begin, &end);
    for (int64_t e = begin; e < end; e++)
        sum += (double)x->values[e] * (double)x->values[e];
    return sum;
}

/* HUDDLE_INVALID, naming the place, if a value of row i is NaN or infinite. */
static huddle_status check_row(const huddle_points *x, int64_t i) {
    int64_t begin, end;
    find_row(x, i, &begin, &end);
    /* value * 0 is 0 only if the value is finite: one test per row instead of one per value. The
     * sums are independent so that they can be added at the same time. */
    enum { SUMS = 16 };
    float sums[SUMS] = {0}, sum = 0;
    int64_t at = begin;
    for (; at + SUMS <= end; at += SUMS)
        for (int q = 0; q < SUMS; q++)
            sums[q] += x->values[at + q] * 0.0f;
    for (; at < end; at++)
        sum += x->values[at] * 0.0f;
    for (int q = 0; q < SUMS; q++)
        sum += sums[q];
    if (sum == 0)
        return HUDDLE_OK;
    for (int64_t e = begin; e < end; e++)
        if (!isfinite(x->values[e]))
            return hd_refuse_value((double)x->values[e], i,
                                   x->offsets != NULL ? x->columns[e] : e - begin);
    return HUDDLE_OK;
}

/* All offsets are checked before any column is read: a wrong one would point outside. Arrays may
 * come from a caller or a file. */
static huddle_status check_offsets(int64_t rows, const int64_t *offsets, const void *columns,
                                   const void *values) {
    if (offsets[0] != 0)
        return hd_fail(HUDDLE_INVALID, "the first offset is not 0");
    for (int64_t i = 0; i < rows; i++)
        if (offsets[i + 1] < offsets[i])
            return hd_fail(HUDDLE_INVALID, "row %lld: offsets go backwards", (long long)i + 1);
    if (offsets[rows] > 0 && (columns == NULL || values == NULL))
        return hd_fail(HUDDLE_INVALID, "the sparse matrix has no columns or no values");
    return HUDDLE_OK;
}

/* Ascending columns without repetitions: merges of two rows rely on it. */
static huddle_status check_columns(const huddle_points *x, int64_t i) {
    int64_t previous = -1;
    for (int64_t e = x->offsets[i]; e < x->offsets[i + 1]; e++) {
        if (x->columns[e] <= previous || x->columns[e] >= x->d)
            return hd_fail(HUDDLE_INVALID,
                           "row %lld: column %lld is out of order, repeated or outside 1 .. %lld",
                           (long long)i + 1, (long long)x->columns[e] + 1, (long long)x->d);
        previous = x->columns[e];
    }
    return HUDDLE_OK;
}

/* Columns before values: the message for a bad value contains its column. */
static huddle_status check_rows(void *argument, hd_chunk chunk) {
    const huddle_points *x = argument;
    huddle_status status = HUDDLE_OK;
    for (int64_t i = chunk.begin; i < chunk.end && status == HUDDLE_OK; i++) {
        if (x->offsets != NULL)
            status = check_columns(x, i);
        if (status == HUDDLE_OK)
            status = check_row(x, i);
    }
    return status;
}

/* Sizes and arrays first, since the loops over rows rely on them; then the rows, in parallel. */
huddle_status huddle_points_check(huddle_context *context, const huddle_points *points) {
    /* Of several processes some may have no rows. */
    int64_t least = hd_slabs_distributed(context) ? 0 : 1;
    if (points->n < least || points->d < 1 || points->n > INT32_MAX || points->d > INT32_MAX)
        return hd_fail(HUDDLE_INVALID, "%lld points of %lld features are not a data set",
                       (long long)points->n, (long long)points->d);
    if (hd_points_away(points))
        return HUDDLE_OK; /* in the memory of the engine that made them */
    if (points->offsets == NULL && points->values == NULL)
        return hd_fail(HUDDLE_INVALID, "the points have no values");
    if (points->offsets == NULL && points->stride < points->d)
        return hd_fail(HUDDLE_INVALID, "stride = %lld is less than the %lld features",
                       (long long)points->stride, (long long)points->d);
    if (points->offsets != NULL) {
        if (points->shift != NULL)
            return hd_fail(HUDDLE_INVALID, "sparse points cannot have a shift");
        huddle_status status =
            check_offsets(points->n, points->offsets, points->columns, points->values);
        if (status != HUDDLE_OK)
            return status;
    }
    /* hd_parallel() takes an argument that is not const. */
    huddle_points view = *points;
    return hd_parallel(context, NULL, points->n, row_grain(points->d), check_rows, &view);
}

huddle_status huddle_csr_check(const huddle_csr *matrix) {
    if (hd_csr_away(matrix))
        return HUDDLE_OK; /* in the memory of the engine that made it */
    if (matrix->rows < 0 || matrix->cols < 0 || matrix->cols > INT32_MAX || matrix->offsets == NULL)
        return hd_fail(HUDDLE_INVALID, "the sparse matrix of %lld x %lld has invalid sizes",
                       (long long)matrix->rows, (long long)matrix->cols);
    huddle_status status =
        check_offsets(matrix->rows, matrix->offsets, matrix->columns, matrix->values);
    if (status != HUDDLE_OK)
        return status;
    for (int64_t i = 0; i < matrix->rows; i++) {
        int64_t previous = -1;
        for (int64_t e = matrix->offsets[i]; e < matrix->offsets[i + 1]; e++) {
            if (matrix->columns[e] <= previous || matrix->columns[e] >= matrix->cols)
                return hd_fail(
                    HUDDLE_INVALID,
                    "row %lld: column %lld is out of order, repeated or outside 1 .. %lld",
                    (long long)i + 1, (long long)matrix->columns[e] + 1, (long long)matrix->cols);
            if (!isfinite(matrix->values[e]))
                return hd_refuse_value(matrix->values[e], i, matrix->columns[e]);
            previous = matrix->columns[e];
        }
    }
    return HUDDLE_OK;
}

/* ---- from double -------------------------------------------------------------------------- */

typedef struct conversion {
    const double *values;
    int64_t row_step, col_step;
    const int64_t *index; /* the rows that are converted; NULL: all */
    huddle_points *points;
    double *sums, *lows, *highs; /* chunks x d */
} conversion;

/* The row that becomes row i of the points. */
static int64_t source_row(const int64_t *index, int64_t i) {
    return index != NULL ? index[i] : i;
}

/* Sums, minima and maxima over no rows: the neutral elements, which also serve a process without
 * rows in the reductions. */
static void clear_columns(const conversion *c, int64_t chunk) {
    int64_t d = c->points->d;
    for (int64_t e = chunk * d; e < (chunk + 1) * d; e++) {
        c->sums[e] = 0;
        c->lows[e] = DBL_MAX;
        c->highs[e] = -DBL_MAX;
    }
}

/* Sum, minimum and maximum of each column over a chunk of rows. The condition is written so that
 * NaN fails it. */
static huddle_status survey_rows(void *argument, hd_chunk chunk) {
    const conversion *c = argument;
    int64_t d = c->points->d;
    double *sum = c->sums + chunk.index * d;
    double *low = c->lows + chunk.index * d, *high = c->highs + chunk.index * d;
    clear_columns(c, chunk.index);
    for (int64_t i = chunk.begin; i < chunk.end; i++) {
        int64_t row = source_row(c->index, i);
        const double *values = c->values + row * c->row_step;
        for (int64_t j = 0; j < d; j++) {
            double v = values[j * c->col_step];
            if (!(fabs(v) <= (double)FLT_MAX))
                return hd_refuse_value(v, row, j);
            sum[j] += v;
            low[j] = v < low[j] ? v : low[j];
            high[j] = v > high[j] ? v : high[j];
        }
    }
    return HUDDLE_OK;
}

/* The subtraction is in double, before rounding. A value within the range of float can leave it
 * when the shift is subtracted. */
static huddle_status convert_rows(void *argument, hd_chunk chunk) {
    const conversion *c = argument;
    const huddle_points *x = c->points;
    for (int64_t i = chunk.begin; i < chunk.end; i++) {
        int64_t row = source_row(c->index, i);
        const double *values = c->values + row * c->row_step;
        for (int64_t j = 0; j < x->d; j++) {
            double v = values[j * c->col_step];
            float to = (float)(x->shift != NULL ? v - x->shift[j] : v);
            if (!isfinite(to))
                return hd_refuse_value(v, row, j);
            x->values[i * x->stride + j] = to;
        }
    }
    return HUDDLE_OK;
}

/* A column is shifted if its spread is below this share of its values, as that of times in seconds
 * since 1970 is: float's 24 bits would leave fewer than 10 for the spread. */
bool hd_range_shifts(double low, double high) {
    const double min_range = 0x1p-14;
    return high > low && high - low < min_range * fmax(fabs(low), fabs(high));
}

/* What is subtracted from a column: its mean if its spread is too small. A constant column has no
 * spread, but new points may be compared with it, and their difference to it must lose no digits:
 * it is shifted unless float represents its value exactly. */
double hd_column_shift(double low, double high, double mean) {
    if (high <= low)
        return (double)(float)low == low ? 0 : low;
    return hd_range_shifts(low, high) ? mean : 0;
}

/* Combines the chunks in their order, and then the processes, in the first chunk's place: the shift
 * has the same bits for any number of threads. */
static huddle_status combine_columns(huddle_context *context, const conversion *c, int64_t chunks) {
    huddle_status status = HUDDLE_OK;
    int64_t d = c->points->d;
    for (int64_t k = 1; k < chunks; k++)
        for (int64_t j = 0; j < d; j++) {
            int64_t e = k * d + j;
            c->sums[j] += c->sums[e];
            c->lows[j] = c->lows[e] < c->lows[j] ? c->lows[e] : c->lows[j];
            c->highs[j] = c->highs[e] > c->highs[j] ? c->highs[e] : c->highs[j];
        }
    TRY(hd_reduce_sum(context, d, c->sums));
    TRY(hd_reduce_min(context, d, c->lows));
    TRY(hd_reduce_max(context, d, c->highs));
done:
    return status;
}

/* The shift stays NULL if no column needs one. Most data have none, and every stage is simpler
 * without. */
static huddle_status choose_shift(const conversion *c, int64_t n) {
    huddle_status status = HUDDLE_OK;
    huddle_points *x = c->points;
    for (int64_t j = 0; j < x->d; j++) {
        double shift = hd_column_shift(c->lows[j], c->highs[j], c->sums[j] / (double)n);
        if (shift == 0)
            continue;
        if (x->shift == NULL)
            ALLOC_ZERO(x->shift, x->d);
        x->shift[j] = shift;
    }
done:
    return status;
}

/* Two passes: the shift of a column depends on all rows, of all processes, and must be known before
 * any value is rounded. The steps allow rows or columns to be contiguous. */
static huddle_status convert_shifted(huddle_context *context, int64_t n, int64_t d, conversion c,
                                     huddle_points *points) {
    huddle_status status = HUDDLE_OK;
    /* At most 16 chunks: each keeps three numbers per column. */
    int64_t grain = row_grain(d), sixteenth = (n + 15) / 16, all = n;
    grain = grain < sixteenth ? sixteenth : grain;
    int64_t chunks = hd_chunks(n, grain), room = chunks > 0 ? chunks : 1;
    TRY(huddle_points_new(n, d, points));
    ALLOC(c.sums, room * d);
    ALLOC(c.lows, room * d);
    ALLOC(c.highs, room * d);
    clear_columns(&c, 0);
    TRY(hd_parallel(context, NULL, n, grain, survey_rows, &c));
    TRY(combine_columns(context, &c, chunks));
    TRY(hd_reduce_count(context, &all));
    if (all > 0)
        TRY(choose_shift(&c, all));
    TRY(hd_parallel(context, NULL, n, grain, convert_rows, &c));
done:
    FREE(c.sums, c.lows, c.highs);
    if (status != HUDDLE_OK)
        huddle_points_free(points);
    return hd_agree(context, status);
}

huddle_status huddle_points_from_double(huddle_context *context, int64_t n, int64_t d,
                                        const double *values, int64_t row_step, int64_t col_step,
                                        huddle_points *points) {
    conversion c = {.values = values, .row_step = row_step, .col_step = col_step, .points = points};
    return convert_shifted(context, n, d, c, points);
}

huddle_status hd_points_from_rows(huddle_context *context, const huddle_dense *matrix,
                                  const int64_t *index, int64_t count, huddle_points *points) {
    huddle_status status = HUDDLE_OK;
    const hd_engine *engine = hd_context_engine(context);
    conversion c = {.values = matrix->values,
                    .row_step = matrix->stride,
                    .col_step = 1,
                    .index = index,
                    .points = points};
    TRY(convert_shifted(context, count, matrix->cols, c, points));
    hd_resident_offer(context, &points->resident);
    /* An engine that has the matrix need not be sent the points: it rounds its own copy. */
    if (engine->round_rows != NULL && hd_resident_own(context, matrix->resident) != NULL)
        status = engine->round_rows(context, matrix, index, points);
    if (hd_engine_declined(context, "round_rows", status))
        status = HUDDLE_OK;
done:
    if (status != HUDDLE_OK)
        huddle_points_free(points);
    return status;
}

huddle_status hd_copy_numbers(int64_t count, const double *from, double **to) {
    huddle_status status = HUDDLE_OK;
    if (from == NULL)
        return status;
    ALLOC(*to, count);
    memcpy(*to, from, (size_t)count * sizeof **to);
done:
    return status;
}

/* New points get the shift of the training points, so that stored values of both can be compared
 * directly. */
huddle_status huddle_points_from_double_shifted(huddle_context *context, int64_t n, int64_t d,
                                                const double *values, int64_t row_step,
                                                int64_t col_step, const double *shift,
                                                huddle_points *points) {
    huddle_status status = HUDDLE_OK;
    conversion c = {.values = values, .row_step = row_step, .col_step = col_step, .points = points};
    TRY(huddle_points_new(n, d, points));
    TRY(hd_copy_numbers(points->d, shift, &points->shift));
    TRY(hd_parallel(context, NULL, n, row_grain(d), convert_rows, &c));
done:
    if (status != HUDDLE_OK)
        huddle_points_free(points);
    return hd_agree(context, status);
}

/* ---- another shift ------------------------------------------------------------------------ */

typedef struct rebasing {
    const huddle_points *x;
    const double *difference; /* what is added to the stored values */
    huddle_points *y;
} rebasing;

/* Adds the difference of the two shifts in double, and rounds once. */
static huddle_status rebase_rows(void *argument, hd_chunk chunk) {
    const rebasing *r = argument;
    for (int64_t i = chunk.begin; i < chunk.end; i++)
        for (int64_t j = 0; j < r->x->d; j++) {
            double v = (double)r->x->values[i * r->x->stride + j];
            float to = (float)(v + r->difference[j]);
            if (!isfinite(to))
                return hd_refuse_value(v + r->difference[j], i, j);
            r->y->values[i * r->y->stride + j] = to;
        }
    return HUDDLE_OK;
}

/* The same points with another shift. */
huddle_status huddle_points_rebase(huddle_context *context, const huddle_points *x,
                                   const double *shift, huddle_points *y) {
    huddle_status status = HUDDLE_OK;
    double *difference = NULL;
    memset(y, 0, sizeof *y);
    TRY(huddle_points_fetch(x));
    if (x->offsets != NULL)
        FAIL(HUDDLE_INVALID, "sparse points cannot have a shift");
    TRY(huddle_points_new(x->n, x->d, y));
    TRY(hd_copy_numbers(y->d, shift, &y->shift));
    ALLOC(difference, x->d);
    for (int64_t j = 0; j < x->d; j++)
        difference[j] = (x->shift != NULL ? x->shift[j] : 0) - (shift != NULL ? shift[j] : 0);
    rebasing r = {x, difference, y};
    TRY(hd_parallel(context, NULL, x->n, row_grain(x->d), rebase_rows, &r));
done:
    huddle_free(difference);
    if (status != HUDDLE_OK)
        huddle_points_free(y);
    return hd_agree(context, status);
}

/* ---- taking rows -------------------------------------------------------------------------- */

/* Indices may repeat and need not be sorted; without them all rows are taken, without gaps. */
huddle_status huddle_points_take(const huddle_points *x, const int64_t *index, int64_t count,
                                 huddle_points *y) {
    huddle_status status = HUDDLE_OK;
    memset(y, 0, sizeof *y);
    TRY(huddle_points_fetch(x));
    for (int64_t i = 0; index != NULL && i < count; i++)
        if (index[i] < 0 || index[i] >= x->n)
            FAIL(HUDDLE_INVALID, "there is no row %lld among %lld points", (long long)index[i] + 1,
                 (long long)x->n);
    if (x->offsets == NULL) {
        TRY(huddle_points_new(count, x->d, y));
        for (int64_t i = 0; i < count; i++)
            memcpy(y->values + i * x->d, x->values + source_row(index, i) * x->stride,
                   (size_t)x->d * sizeof *y->values);
        TRY(hd_copy_numbers(x->d, x->shift, &y->shift));
        goto done;
    }
    /* Sparse rows: their total length first, so that the arrays are allocated once. */
    int64_t nonzeros = 0;
    for (int64_t i = 0; i < count; i++)
        nonzeros += x->offsets[source_row(index, i) + 1] - x->offsets[source_row(index, i)];
    TRY(huddle_points_new_sparse(count, x->d, nonzeros, y));
    for (int64_t i = 0; i < count; i++) {
        int64_t row = source_row(index, i);
        int64_t from = x->offsets[row], length = x->offsets[row + 1] - from;
        memcpy(y->columns + y->offsets[i], x->columns + from, (size_t)length * sizeof *y->columns);
        memcpy(y->values + y->offsets[i], x->values + from, (size_t)length * sizeof *y->values);
        y->offsets[i + 1] = y->offsets[i] + length;
    }
done:
    if (status != HUDDLE_OK)
        huddle_points_free(y);
    return status;
}

huddle_status huddle_points_copy(const huddle_points *points, huddle_points *copy) {
    return huddle_points_take(points, NULL, points->n, copy);
}
