/* Matrices of golden numbers. */
#ifndef HUDDLE_TESTS_GOLDEN_MATRICES_H
#define HUDDLE_TESTS_GOLDEN_MATRICES_H

#include "huddle/matrix.h"
#include "support/support.h"

#include <string.h>

/* The nonzeros of n x n numbers. */
static inline huddle_csr golden_sparse(int64_t n, const double *values) {
    huddle_csr a;
    int64_t count = 0;
    for (int64_t e = 0; e < n * n; e++)
        count += values[e] != 0;
    assert_ok(huddle_csr_new(n, n, count, &a));
    count = 0;
    for (int64_t i = 0; i < n; i++) {
        for (int64_t j = 0; j < n; j++)
            if (values[i * n + j] != 0) {
                a.columns[count] = (int32_t)j;
                a.values[count++] = values[i * n + j];
            }
        a.offsets[i + 1] = count;
    }
    return a;
}

static inline huddle_dense golden_dense(int64_t rows, int64_t cols, const double *values) {
    huddle_dense m;
    assert_ok(huddle_dense_new(rows, cols, &m));
    memcpy(m.values, values, (size_t)(rows * cols) * sizeof *values);
    return m;
}

#endif
