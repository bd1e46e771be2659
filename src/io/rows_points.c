/* Points of which each process reads its rows. */
#include "base/check.h"
#include "io/rows.h"

#include <string.h>

/* Restricts the parts to the rows of this process; the parts are numbered one after the other. */
static void divide_parts(const hd_io_rows *rows, const hd_io_parts *parts, bool in_columns) {
    int64_t begin = 0;
    for (int64_t k = 0; k < parts->count; k++) {
        hd_io_variable *v = parts->items[k];
        int64_t n = hd_io_samples_in(v, in_columns);
        int64_t from = rows->first - begin, to = from + rows->n;
        from = from < 0 ? 0 : from > n ? n : from;
        to = to < from ? from : to > n ? n : to;
        hd_io_variable_divide(v, in_columns ? v->array.rank - 1 : 0, from, to - from);
        begin += n;
    }
}

/* The parts that have rows of this process. */
static huddle_status fill_parts(const hd_io_division *v, hd_io_intake *intake) {
    huddle_status status = HUDDLE_OK;
    int64_t row = 0;
    for (int64_t k = 0; k < v->choice->points.count; k++) {
        hd_io_variable *part = v->choice->points.items[k];
        int64_t n = hd_io_samples_in(part, v->in_columns);
        if (n > 0)
            TRY(hd_io_part_fill(v->request, v->container, part, v->in_columns, intake, row));
        row += n;
    }
done:
    return status;
}

/* A process without rows has points with d features too. */
huddle_status hd_io_division_fill(hd_io_division *v, int64_t d) {
    huddle_status status = HUDDLE_OK;
    const hd_io_rows *rows = v->request->rows;
    const hd_io_parts *parts = &v->choice->points;
    bool narrow = true;
    for (int64_t k = 0; k < parts->count; k++)
        narrow = narrow && hd_io_element_narrow(parts->items[k]->array.element);
    divide_parts(rows, parts, v->in_columns);
    if (parts->count == 1)
        TRY(hd_io_part_map(v->request, v->container, parts->items[0], v->in_columns, v->points));
    if (v->points->mapping != NULL)
        goto done;
    if (rows->n > 0)
        TRY(hd_io_points_reserve(rows->n, d, v->points));
    else
        TRY(huddle_points_new(0, d, v->points));
    TRY(hd_io_intake_begin(v->request->context, v->points, narrow, v->request->options,
                           &v->intake));
    v->intake.first = rows->first;
    TRY(fill_parts(v, &v->intake));
done:
    return status;
}

/* ---- shift ---------------------------------------------------------------------------------- */

typedef struct summing {
    huddle_context *context;
    double *sums;
} summing;

static huddle_status add_samples(void *argument, const hd_io_samples *samples, int64_t first) {
    const summing *s = argument;
    (void)first;
    return hd_io_samples_add(s->context, samples, s->sums);
}

/* The argument of add_parts() and fill_again(). */
typedef struct shifting {
    hd_io_division *division;
    double *sums;
} shifting;

static huddle_status add_parts(void *argument) {
    const shifting *s = argument;
    const hd_io_division *v = s->division;
    huddle_status status = HUDDLE_OK;
    summing sum = {v->request->context, s->sums};
    for (int64_t k = 0; k < v->choice->points.count; k++)
        if (hd_io_samples_in(v->choice->points.items[k], v->in_columns) > 0)
            TRY(hd_io_part_visit(v->container, v->choice->points.items[k], v->in_columns,
                                 add_samples, &sum));
done:
    return status;
}

/* The points have their shift by now, and no ranges are needed. */
static huddle_status fill_again(void *argument) {
    const shifting *s = argument;
    hd_io_intake intake = {.points = s->division->points, .first = s->division->intake.first};
    return fill_parts(s->division, &intake);
}

/* As huddle_points_from_double() chooses it: once one column needs a shift, constant columns that
 * float cannot represent get one too. */
static double column_shift(double low, double high, double mean) {
    if (high <= low)
        return (double)(float)low == low ? 0 : low;
    return hd_io_range_shifts(low, high) ? mean : 0;
}

/* Values are read twice more if some column of all rows needs a shift, first for the means, instead
 * of being kept as doubles. Without ranges no column can need one, on any process. */
huddle_status hd_io_division_shift(hd_io_division *v) {
    huddle_status status = HUDDLE_OK;
    huddle_context *context = v->request->context;
    int64_t d = v->points->d;
    double *low = NULL, *high = NULL, *shift = NULL;
    bool shifts = false;
    if (v->intake.low == NULL)
        return status;
    ALLOC(low, d);
    ALLOC(high, d);
    ALLOC_ZERO(shift, d);
    hd_io_intake_ranges(context, &v->intake, low, high);
    TRY(hd_reduce_min(context, d, low));
    TRY(hd_reduce_max(context, d, high));
    for (int64_t j = 0; j < d; j++)
        shifts = shifts || hd_io_range_shifts(low[j], high[j]);
    if (!shifts)
        goto done;
    TRY(hd_io_rows_together(v->request, add_parts, &(shifting){v, shift}));
    TRY(hd_reduce_sum(context, d, shift));
    for (int64_t j = 0; j < d; j++)
        shift[j] = column_shift(low[j], high[j], shift[j] / (double)v->request->rows->total);
    v->points->shift = shift;
    shift = NULL;
    TRY(hd_io_rows_together(v->request, fill_again, &(shifting){v, NULL}));
done:
    FREE(low, high, shift);
    return hd_agree(context, status);
}
