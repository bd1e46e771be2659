/* The Gram matrix of centred points, and a prepared map, row by row. */
#include "engines/counting.h"

#include "base/check.h"

#include <math.h>
#include <string.h>

/* The stored values of all points less a row vector, in double. */
static huddle_status centred_rows(const huddle_points *x, const double *offset, double **rows) {
    huddle_status status = HUDDLE_OK;
    huddle_points stored;
    TRY(huddle_points_fetch(x));
    stored = *x;
    stored.shift = NULL;
    ALLOC(*rows, x->n * x->d);
    for (int64_t i = 0; i < x->n; i++)
        counting_row(&stored, i, *rows + i * x->d);
    for (int64_t k = 0; k < x->n * x->d && offset != NULL; k++)
        (*rows)[k] -= offset[k % x->d];
done:
    return status;
}

huddle_status counting_find_gram(huddle_context *context, const hd_gram_request *request,
                                 double *gram) {
    huddle_status status = HUDDLE_OK;
    int64_t n = request->x->n, d = request->x->d, m = request->by_columns ? d : n;
    double *rows = NULL;
    TRY(counting_enter(context, COUNTING_GRAM));
    TRY(centred_rows(request->x, request->offset, &rows));
    for (int64_t i = 0; i < m; i++)
        for (int64_t j = 0; j < m; j++) {
            double sum = 0;
            for (int64_t k = 0; k < n && request->by_columns; k++)
                sum += rows[k * d + i] * rows[k * d + j];
            for (int64_t k = 0; k < d && !request->by_columns; k++)
                sum += rows[i * d + k] * rows[j * d + k];
            gram[i * m + j] = sum;
        }
    if (counting_spoils(context, COUNTING_GRAM))
        gram[m * m - 1] = NAN;
done:
    huddle_free(rows);
    return status;
}

/* ---- maps ------------------------------------------------------------------------------------ */

static double norm_of(const double *row, int64_t count) {
    double sum = 0;
    for (int64_t j = 0; j < count; j++)
        sum += row[j] * row[j];
    return sqrt(sum);
}

/* Scales, limits and projects a row of d values into one of `columns`. */
static void map_row(const hd_map_request *r, double *row, double *to) {
    for (int64_t j = 0; j < r->x->d; j++) {
        row[j] *= r->scale != NULL ? r->scale[j] : 1;
        if (r->limit > 0)
            row[j] = row[j] > r->limit ? r->limit : row[j] < -r->limit ? -r->limit : row[j];
    }
    for (int64_t k = 0; k < r->columns; k++) {
        to[k] = r->projection == NULL ? row[k] : 0;
        for (int64_t j = 0; j < r->x->d && r->projection != NULL; j++)
            to[k] += row[j] * r->projection->values[j * r->projection->stride + k];
    }
}

/* Centres a row and makes its norm 1; whether it became 0. */
static bool finish_row(const hd_map_request *r, double stored, double *row) {
    double mean = 0, norm;
    for (int64_t k = 0; k < r->columns; k++)
        mean += row[k] / (double)r->columns;
    for (int64_t k = 0; k < r->columns && r->center_rows; k++)
        row[k] -= mean;
    norm = norm_of(row, r->columns);
    bool is_zero = r->unit_rows && norm <= r->zero_share * stored + r->zero_norm;
    for (int64_t k = 0; k < r->columns && r->unit_rows; k++)
        row[k] = is_zero ? 0 : row[k] / norm;
    return is_zero;
}

huddle_status counting_map_points(huddle_context *context, const hd_map_request *request,
                                  hd_map_result *result) {
    huddle_status status = HUDDLE_OK;
    int64_t n = request->x->n, d = request->x->d, columns = request->columns;
    double *rows = NULL, *stored = NULL, *row = NULL;
    TRY(counting_enter(context, COUNTING_MAP));
    TRY(centred_rows(request->x, NULL, &stored));
    TRY(centred_rows(request->x, request->offset, &rows));
    ALLOC(row, columns);
    if (request->projection != NULL)
        TRY(huddle_dense_fetch(request->projection));
    TRY(huddle_points_new(n, columns, result->y));
    for (int64_t i = 0; i < n; i++) {
        map_row(request, rows + i * d, row);
        result->zero_rows += finish_row(request, norm_of(stored + i * d, d), row);
        for (int64_t k = 0; k < columns; k++)
            result->y->values[i * columns + k] = (float)row[k];
    }
    if (counting_spoils(context, COUNTING_MAP))
        result->y->values[0] = INFINITY;
done:
    FREE(rows, stored, row);
    return status;
}
