/* Applies a fitted preparation, row by row. Every row depends on the fitted numbers and on itself
 * only, so that new points are prepared exactly like training points. All arithmetic is in double,
 * and the result is rounded once. */
#include "huddle/prepare.h"

#include "base/blas.h"
#include "base/check.h"
#include "base/parallel.h"
#include "base/slabs.h"
#include "matrix/points.h"
#include "prepare/centred.h"
#include "prepare/ranks.h"

#include <float.h>
#include <math.h>
#include <string.h>

typedef struct application {
    const huddle_preparation *p;
    const huddle_points *x;
    huddle_points *y;
    double *offset;     /* subtracted from stored values: centre less the points' shift */
    double offset_norm; /* norms that bound the rounding error */
    double centre_norm;
    double gain;     /* how much the projection can increase it */
    double *base;    /* offset'projection */
    double *scratch; /* one piece per worker */
    int64_t scratch_size;
    int64_t *zero_rows; /* in each chunk */
} application;

static double vector_norm(int64_t count, const double *values) {
    double sum = 0;
    for (int64_t j = 0; j < count; j++)
        sum += values[j] * values[j];
    return sqrt(sum);
}

/* ---- one row ------------------------------------------------------------------------------- */

/* Otherwise rows are exact. */
static bool is_rounded(const application *a) {
    return a->offset != NULL || a->p->center_rows;
}

/* The factor that makes the row's norm 1. A row whose length is only rounding error would become a
 * random direction; it gets 0 and is counted. The bound is 16 eps for the sums over stored values,
 * before the shift is added, and offset, eps for the rounding of the centre itself, both multiplied
 * by what the projection can add. */
static double unit_factor(const application *a, int64_t i, double length, int64_t *zero_rows) {
    double rounding = DBL_EPSILON * a->gain *
                      (16 * (sqrt(hd_points_square(a->x, i)) + a->offset_norm) + a->centre_norm);
    if (length > (is_rounded(a) ? rounding : 0))
        return 1 / length;
    ++*zero_rows;
    return 0;
}

/* Subtracts the mean of the row over its features. */
static void centre_row(int64_t d, double *row) {
    double mean = 0;
    for (int64_t j = 0; j < d; j++)
        mean += row[j];
    mean /= (double)d;
    for (int64_t j = 0; j < d; j++)
        row[j] -= mean;
}

/* Centres and scales the row as the rule requires, and stores it. Rules that scale by small
 * standard deviations can exceed the range of float. */
static huddle_status store_row(const application *a, int64_t i, double *row, int64_t *zero_rows) {
    int64_t d = a->y->d;
    double factor = 1;
    if (a->p->center_rows)
        centre_row(d, row);
    if (a->p->unit_rows)
        factor = unit_factor(a, i, vector_norm(d, row), zero_rows);
    for (int64_t j = 0; j < d; j++) {
        float value = (float)(factor * row[j]);
        if (!isfinite(value))
            return hd_fail(HUDDLE_INVALID,
                           "row %lld: prepare = %s gives %g, which is beyond single precision",
                           (long long)i + 1, a->p->rule.name, factor * row[j]);
        a->y->values[i * a->y->stride + j] = value;
    }
    return HUDDLE_OK;
}

/* ---- chunks of rows ------------------------------------------------------------------------ */

/* Rules without a projection. */
static huddle_status scale_chunk(void *argument, hd_chunk chunk) {
    const application *a = argument;
    huddle_status status = HUDDLE_OK;
    const double *scale = a->p->scale;
    double *row = a->scratch + chunk.worker * a->scratch_size;
    for (int64_t i = chunk.begin; i < chunk.end; i++) {
        const float *from = a->x->values + i * a->x->stride;
        for (int64_t j = 0; j < a->x->d; j++)
            row[j] = (double)from[j];
        for (int64_t j = 0; j < a->x->d && a->offset != NULL; j++)
            row[j] -= a->offset[j];
        for (int64_t j = 0; j < a->x->d && scale != NULL; j++)
            row[j] *= scale[j];
        for (int64_t j = 0; j < a->x->d && a->p->limit > 0; j++)
            row[j] = fmax(-a->p->limit, fmin(a->p->limit, row[j]));
        for (int64_t j = 0; j < a->x->d && a->p->knots.values != NULL; j++)
            row[j] = hd_prepare_rank(a->p, j, row[j]);
        TRY(store_row(a, i, row, a->zero_rows + chunk.index));
    }
done:
    return status;
}

/* Rules with a projection: one matrix product per chunk of rows, then each row on its own. */
static huddle_status project_chunk(void *argument, hd_chunk chunk) {
    const application *a = argument;
    huddle_status status = HUDDLE_OK;
    const huddle_dense *v = &a->p->projection;
    hd_prepare_centred centred = {.x = a->x, .offset = a->offset};
    double *tile = a->scratch + chunk.worker * a->scratch_size;
    double *out = tile + (int64_t)HD_PREPARE_TILE_ROWS * HD_PREPARE_TILE_DEPTH;
    hd_prepare_centred_times_rows(&centred, chunk.begin, chunk.end, v->values, v->cols, v->stride,
                                  a->base, out, v->cols, tile);
    for (int64_t i = chunk.begin; i < chunk.end && status == HUDDLE_OK; i++)
        status = store_row(a, i, out + (i - chunk.begin) * v->cols, a->zero_rows + chunk.index);
    return status;
}

/* Rule unit on sparse points, whose zeros stay zeros. Their columns are those of the copy
 * already. */
static huddle_status sparse_chunk(void *argument, hd_chunk chunk) {
    const application *a = argument;
    for (int64_t i = chunk.begin; i < chunk.end; i++) {
        double factor =
            unit_factor(a, i, sqrt(hd_points_square(a->x, i)), a->zero_rows + chunk.index);
        for (int64_t e = a->x->offsets[i]; e < a->x->offsets[i + 1]; e++)
            a->y->values[e] = (float)(factor * (double)a->x->values[e]);
    }
    return HUDDLE_OK;
}

/* ---- the whole ----------------------------------------------------------------------------- */

/* What to subtract from the stored values: the centre, or for rule none the shift of the training
 * points, less these points' own shift. The difference of the two is formed first, in double, since
 * both may be much larger than the values. Stays NULL if there is neither. */
static huddle_status find_offset(application *a) {
    huddle_status status = HUDDLE_OK;
    const double *centre = a->p->centre != NULL ? a->p->centre : a->p->shift;
    const double *shift = a->x->shift;
    int64_t d = a->x->d;
    if (centre == NULL && shift == NULL)
        return status;
    ALLOC(a->offset, d);
    for (int64_t j = 0; j < d; j++)
        a->offset[j] = (centre != NULL ? centre[j] : 0) - (shift != NULL ? shift[j] : 0);
    a->offset_norm = vector_norm(d, a->offset);
    a->centre_norm = centre != NULL ? vector_norm(d, centre) : 0;
done:
    return status;
}

/* `gain`, the largest norm of a column of the projection, bounds how much the projection magnifies
 * the rounding error of a row in one component: 1 for pca, and for whiten the inverse of the
 * smallest standard deviation. The product of offset and projection is the same for all rows. */
static huddle_status prepare_projection(application *a) {
    huddle_status status = HUDDLE_OK;
    const huddle_dense *v = &a->p->projection;
    hd_prepare_centred centred = {.x = a->x, .offset = a->offset};
    a->gain = 0;
    ALLOC_ZERO(a->base, v->cols); /* first the squared norms of the columns */
    for (int64_t j = 0; j < v->rows; j++)
        for (int64_t k = 0; k < v->cols; k++)
            a->base[k] += v->values[j * v->stride + k] * v->values[j * v->stride + k];
    for (int64_t k = 0; k < v->cols; k++)
        a->gain = fmax(a->gain, sqrt(a->base[k]));
    hd_prepare_centred_base(&centred, v->values, v->cols, v->stride, a->base);
done:
    return status;
}

/* Runs the body over all rows and adds up the rows of zeros, over all processes. */
static huddle_status apply_to_chunks(huddle_context *context, application *a, hd_body body,
                                     int64_t grain, huddle_prepare_info *info) {
    huddle_status status = HUDDLE_OK;
    int64_t chunks = hd_chunks(a->x->n, grain);
    ALLOC(a->scratch, a->scratch_size * hd_workers(context));
    ALLOC_ZERO(a->zero_rows, chunks);
    TRY(hd_blas_reserve(context));
    hd_blas_enter();
    status = hd_parallel(context, "prepare", a->x->n, grain, body, a);
    hd_blas_leave();
    int64_t zero_rows = 0;
    for (int64_t k = 0; k < chunks; k++)
        zero_rows += a->zero_rows[k];
    if (status == HUDDLE_OK)
        status = hd_reduce_count(context, &zero_rows);
    if (info != NULL)
        info->zero_rows = zero_rows;
done:
    return status;
}

/* Sparse points stay sparse; every rule that would make them dense is refused. Projections are not,
 * because their result is dense and small in any case. */
static huddle_status apply_sparse(huddle_context *context, application *a,
                                  huddle_prepare_info *info) {
    huddle_status status = HUDDLE_OK;
    const huddle_preparation *p = a->p;
    if (p->centre != NULL || p->scale != NULL || p->knots.values != NULL || p->center_rows)
        FAIL(HUDDLE_INVALID, "prepare = %s would make sparse points dense", p->rule.name);
    TRY(huddle_points_copy(a->x, a->y));
    if (p->unit_rows)
        TRY(apply_to_chunks(context, a, sparse_chunk, 1024, info));
done:
    return status;
}

/* Checks what an engine returned. */
static huddle_status check_mapped(const huddle_context *context, const application *a,
                                  int64_t zero_rows) {
    const huddle_points *y = a->y;
    const char *name = hd_context_engine(context)->text.name;
    if (y->n != a->x->n || y->d != a->p->d_out || y->offsets != NULL || y->shift != NULL ||
        y->values == NULL || zero_rows < 0 || zero_rows > y->n)
        return hd_fail(HUDDLE_INTERNAL,
                       "the engine %s returned %lld x %lld prepared points instead of %lld x %lld",
                       name, (long long)y->n, (long long)y->d, (long long)a->x->n,
                       (long long)a->p->d_out);
    for (int64_t i = 0; i < y->n; i++)
        for (int64_t j = 0; j < y->d; j++)
            if (!isfinite(y->values[i * y->stride + j]))
                return hd_fail(HUDDLE_INTERNAL,
                               "the engine %s returned a value in row %lld that is not finite",
                               name, (long long)i + 1);
    return HUDDLE_OK;
}

/* Asks the engine, unless the rule is none or ranks: copies and searches in tables. Sparse points
 * that stay sparse do not come here. */
static huddle_status map_by_engine(huddle_context *context, const application *a,
                                   huddle_prepare_info *info, bool *handled) {
    const hd_engine *engine = hd_context_engine(context);
    const huddle_preparation *p = a->p;
    double rounding = is_rounded(a) ? DBL_EPSILON * a->gain : 0;
    hd_map_request request = {.x = a->x,
                              .offset = a->offset,
                              .scale = p->scale,
                              .limit = p->limit,
                              .projection = p->projection.rows > 0 ? &p->projection : NULL,
                              .columns = p->d_out,
                              .center_rows = p->center_rows,
                              .unit_rows = p->unit_rows,
                              .zero_share = 16 * rounding,
                              .zero_norm = rounding * (16 * a->offset_norm + a->centre_norm)};
    hd_map_result result = {.y = a->y};
    *handled = false;
    if (engine->map_points == NULL || engine->slabs != NULL || p->knots.values != NULL ||
        !(p->unit_rows || p->scale != NULL))
        return HUDDLE_OK;
    huddle_status status = engine->map_points(context, &request, &result);
    *handled = status == HUDDLE_OK;
    if (hd_engine_declined(context, "map_points", status)) {
        huddle_points_free(a->y);
        return HUDDLE_OK;
    }
    if (info != NULL)
        info->zero_rows = result.zero_rows;
    return status != HUDDLE_OK ? status : check_mapped(context, a, result.zero_rows);
}

/* Chooses the body that the rule needs. Projections accept sparse points; their result is dense. */
static huddle_status apply_all(huddle_context *context, application *a, huddle_prepare_info *info) {
    huddle_status status = HUDDLE_OK;
    enum { VALUES = 1 << 16 }; /* per chunk: 256 kB of floats */
    const huddle_points *x = a->x;
    bool projects = a->p->projection.values != NULL, handled;
    if (x->offsets != NULL && !projects)
        return apply_sparse(context, a, info);
    TRY(find_offset(a));
    if (projects)
        TRY(prepare_projection(a));
    TRY(map_by_engine(context, a, info, &handled));
    if (handled)
        goto done;
    TRY(huddle_points_new(x->n, a->p->d_out, a->y));
    /* Prepared points have a shift only under rule none, where values stay as they were. */
    TRY(hd_copy_numbers(a->y->d, a->p->shift, &a->y->shift));
    if (projects) {
        a->scratch_size = HD_PREPARE_TILE_ROWS * ((int64_t)HD_PREPARE_TILE_DEPTH + a->p->d_out);
        TRY(apply_to_chunks(context, a, project_chunk, HD_PREPARE_TILE_ROWS, info));
    } else {
        a->scratch_size = x->d;
        TRY(apply_to_chunks(context, a, scale_chunk, x->d < VALUES ? VALUES / x->d : 1, info));
    }
done:
    return status;
}

/* Also fetches the matrices, since a preparation may come from an engine. */
huddle_status huddle_prepare_apply(huddle_context *context, const huddle_preparation *preparation,
                                   const huddle_points *x, huddle_points *y,
                                   huddle_prepare_info *info) {
    huddle_status status = HUDDLE_OK;
    application a = {.p = preparation, .x = x, .y = y, .gain = 1};
    double start = hd_seconds();
    memset(y, 0, sizeof *y);
    if (preparation == NULL || preparation->rule.name == NULL)
        FAIL(HUDDLE_INVALID, "the preparation is not fitted");
    if (x == NULL)
        FAIL(HUDDLE_INVALID, "there are no points to prepare");
    TRY(huddle_points_fetch(x));
    TRY(huddle_dense_fetch(&preparation->projection));
    TRY(huddle_dense_fetch(&preparation->knots));
    TRY(huddle_points_check(context, x));
    if (x->d != preparation->d_in)
        FAIL(HUDDLE_INVALID, "the points have %lld features, those of the preparation had %lld",
             (long long)x->d, (long long)preparation->d_in);
    if (info != NULL)
        *info = (huddle_prepare_info){.variance_kept = preparation->variance_kept};
    TRY(apply_all(context, &a, info));
    if (info != NULL)
        info->seconds = hd_seconds() - start;
done:
    FREE(a.offset, a.base, a.scratch, a.zero_rows);
    if (status != HUDDLE_OK)
        huddle_points_free(y);
    return hd_agree(context, status);
}
