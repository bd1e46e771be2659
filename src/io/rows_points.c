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

huddle_status hd_io_rows_fill(hd_io_chosen *r, int64_t d) {
    divide_parts(r->request->rows, &r->points, r->in_columns);
    return hd_io_parts_fill(r, r->request->rows->n, d);
}

/* ---- shift ---------------------------------------------------------------------------------- */

/* The argument of the functions below. */
typedef struct shifting {
    const hd_io_chosen *chosen;
    double *sums;
} shifting;

static huddle_status add_samples(void *argument, const hd_io_samples *samples, int64_t first) {
    const shifting *s = argument;
    (void)first;
    return hd_io_samples_add(s->chosen->request->context, samples, s->sums);
}

static huddle_status add_parts(void *argument) {
    const hd_io_chosen *r = ((const shifting *)argument)->chosen;
    huddle_status status = HUDDLE_OK;
    for (int64_t k = 0; k < r->points.count; k++)
        if (hd_io_samples_in(r->points.items[k], r->in_columns) > 0)
            TRY(hd_io_part_visit(r, r->points.items[k], add_samples, argument));
done:
    return status;
}

/* The points have their shift by now, and no ranges are needed. */
static huddle_status fill_again(void *argument) {
    const hd_io_chosen *r = ((const shifting *)argument)->chosen;
    return hd_io_parts_take(r,
                            &(hd_io_intake){.points = &r->data->points, .first = r->intake.first});
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
huddle_status hd_io_rows_shift(hd_io_chosen *r) {
    huddle_status status = HUDDLE_OK;
    huddle_context *context = r->request->context;
    huddle_points *points = &r->data->points;
    int64_t d = points->d;
    double *low = r->intake.low, *high = r->intake.high, *shift = NULL;
    if (low == NULL)
        return status;
    ALLOC_ZERO(shift, d);
    hd_io_intake_merge(context, &r->intake);
    TRY(hd_reduce_min(context, d, low));
    TRY(hd_reduce_max(context, d, high));
    if (!hd_io_intake_shifts(context, &r->intake))
        goto done;
    TRY(hd_io_rows_together(r->request, add_parts, &(shifting){r, shift}));
    TRY(hd_reduce_sum(context, d, shift));
    for (int64_t j = 0; j < d; j++)
        shift[j] = column_shift(low[j], high[j], shift[j] / (double)r->request->rows->total);
    points->shift = shift;
    shift = NULL;
    TRY(hd_io_rows_together(r->request, fill_again, &(shifting){r, NULL}));
done:
    huddle_free(shift);
    return hd_agree(context, status);
}
