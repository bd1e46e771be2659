/* Products with sparse points: rows of a dense matrix, times their values, added up. */
#include "prepare/centred.h"

/* Rows are fetched so many entries ahead: they are all over the memory. A cache line has 8
 * doubles. */
enum { AHEAD = 4, LINE = 8 };

void HD_SIMD(hd_prepare_gather)(int64_t count, const int32_t *index, const float *values,
                                const double *v, int64_t b, int64_t ldv, double *restrict out) {
    for (int64_t e = 0; e < count; e++) {
        double value = (double)values[e];
        const double *row = v + index[e] * ldv;
        if (e + AHEAD < count)
            for (int64_t k = 0; k < b; k += LINE)
                __builtin_prefetch(v + index[e + AHEAD] * ldv + k);
        for (int64_t k = 0; k < b; k++)
            out[k] += value * row[k];
    }
}
