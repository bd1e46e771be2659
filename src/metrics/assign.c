/* The dense assignment problem: a matching of cells that are all stored. */
#include "metrics/match.h"

#include "base/check.h"
#include "huddle/metrics.h"

#include <math.h>
#include <string.h>

static huddle_status check_values(int64_t rows, int64_t cols, const double *value,
                                  const int32_t *column_of) {
    if (rows < 1 || cols < 1 || rows > INT32_MAX || cols > INT32_MAX)
        return hd_fail(HUDDLE_INVALID, "an assignment of %lld rows to %lld columns is invalid",
                       (long long)rows, (long long)cols);
    if (value == NULL || column_of == NULL)
        return hd_fail(HUDDLE_INVALID, "the assignment has no values or no place for its result");
    for (int64_t e = 0; e < rows * cols; e++)
        if (!isfinite(value[e]))
            return hd_fail(HUDDLE_INVALID, "row %lld, column %lld: the value is %s",
                           (long long)(e / cols) + 1, (long long)(e % cols) + 1,
                           isnan(value[e]) ? "not a number" : "infinite");
    return HUDDLE_OK;
}

huddle_status huddle_metrics_assign(int64_t rows, int64_t cols, const double *value,
                                    int32_t *column_of) {
    huddle_status status = HUDDLE_OK;
    huddle_csr cells = {0};
    TRY(check_values(rows, cols, value, column_of));
    TRY(huddle_csr_new(rows, cols, rows * cols, &cells));
    for (int64_t i = 0; i <= rows; i++)
        cells.offsets[i] = i * cols;
    for (int64_t e = 0; e < rows * cols; e++)
        cells.columns[e] = (int32_t)(e % cols);
    memcpy(cells.values, value, (size_t)(rows * cols) * sizeof *value);
    TRY(hd_metrics_match(&cells, true, column_of, NULL));
done:
    huddle_csr_free(&cells);
    return status;
}
