#include "io/array.h"

#include "base/check.h"
#include "base/context.h"

#include <math.h>
#include <string.h>

huddle_status hd_io_exact_append(double **exact, int64_t old, const double *more, int64_t count) {
    huddle_status status = HUDDLE_OK;
    double *both = NULL;
    ALLOC(both, old + count);
    /* memcpy() must not be called with NULL, even for no bytes. */
    if (old > 0)
        memcpy(both, *exact, (size_t)old * sizeof *both);
    if (count > 0)
        memcpy(both + old, more, (size_t)count * sizeof *both);
    huddle_free(*exact);
    *exact = both;
done:
    return status;
}

/* Only copied if a value is beyond float. Infinity is left to be refused. */
huddle_status hd_io_exact_points(huddle_context *context, int64_t n, int64_t d,
                                 const double *values, huddle_points *points) {
    huddle_status status = HUDDLE_OK;
    double *near = NULL;
    int64_t e = 0;
    while (e < n * d && !(fabs(values[e]) > (double)FLT_MAX && isfinite(values[e])))
        e++;
    if (e < n * d) {
        ALLOC(near, n * d);
        for (e = 0; e < n * d; e++)
            near[e] = isfinite(values[e]) ? hd_io_exact_clamp(values[e]) : values[e];
    }
    TRY(huddle_points_from_double(context, n, d, near != NULL ? near : values, d, 1, points));
done:
    huddle_free(near);
    return status;
}

/* Where the values of row i begin. */
static int64_t row_begin(const huddle_points *x, int64_t i) {
    return x->offsets != NULL ? x->offsets[i] : i * x->d;
}

huddle_status hd_io_exact_take(huddle_data *data, const int64_t *index, int64_t count) {
    huddle_status status = HUDDLE_OK;
    const huddle_points *x = &data->points;
    double *taken = NULL;
    int64_t size = 0;
    if (data->exact == NULL)
        goto done;
    for (int64_t k = 0; k < count; k++)
        size += row_begin(x, index[k] + 1) - row_begin(x, index[k]);
    ALLOC(taken, size);
    size = 0;
    for (int64_t k = 0; k < count; k++)
        for (int64_t e = row_begin(x, index[k]); e < row_begin(x, index[k] + 1); e++)
            taken[size++] = data->exact[e];
    huddle_free(data->exact);
    data->exact = taken;
done:
    return status;
}

/* A shift makes values that are rounded to float no floats again. */
void hd_io_exact_settle(huddle_data *data) {
    const huddle_points *x = &data->points;
    if (data->exact == NULL || x->shift != NULL)
        return;
    for (int64_t e = 0; e < row_begin(x, x->n); e++) /* rows that were read are contiguous */
        if ((double)x->values[e] != data->exact[e])
            return;
    huddle_free(data->exact);
    data->exact = NULL;
}

/* Once is enough. A double that is an integer below 2^53 is the integer of the file; 2^53 may be
 * 2^53 + 1. */
void hd_io_exact_warn(huddle_context *context, const double *values, int64_t count) {
    for (int64_t e = 0; e < count; e++)
        if (fabs(values[e]) >= 0x1p53) {
            hd_warn(context, HUDDLE_WARNING_INPUT,
                    "integers beyond 2^53, such as %.0f, are rounded to double precision",
                    values[e]);
            return;
        }
}
