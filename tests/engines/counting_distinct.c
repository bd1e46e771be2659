/* Distinct rows: each is compared with all before it. */
#include "engines/counting.h"

#include "base/check.h"

/* Row i of either container, in double. */
static void take_row(const hd_distinct_request *request, int64_t i, double *row) {
    if (request->points != NULL) {
        huddle_points stored = *request->points;
        stored.shift = NULL;
        counting_row(&stored, i, row);
        return;
    }
    for (int64_t j = 0; j < request->rows->cols; j++)
        row[j] = request->rows->values[i * request->rows->stride + j];
}

huddle_status counting_find_distinct(huddle_context *context, const hd_distinct_request *request,
                                     int32_t *first) {
    huddle_status status = HUDDLE_OK;
    int64_t n = request->points != NULL ? request->points->n : request->rows->rows;
    int64_t d = request->points != NULL ? request->points->d : request->rows->cols;
    double *rows = NULL;
    TRY(counting_enter(context, COUNTING_DISTINCT));
    TRY(request->points != NULL ? huddle_points_fetch(request->points)
                                : huddle_dense_fetch(request->rows));
    ALLOC(rows, n * d);
    for (int64_t i = 0; i < n; i++)
        take_row(request, i, rows + i * d);
    for (int64_t i = 0; i < n; i++) {
        first[i] = (int32_t)i;
        for (int64_t k = 0; k < i && first[i] == i; k++) {
            bool equal = true;
            for (int64_t j = 0; j < d && equal; j++)
                equal = rows[i * d + j] == rows[k * d + j];
            if (equal)
                first[i] = (int32_t)k;
        }
    }
    /* Two rows that differ, as if they were copies. */
    for (int64_t i = 1; i < n && counting_spoils(context, COUNTING_DISTINCT); i++)
        first[i] = 0;
done:
    huddle_free(rows);
    return status;
}
