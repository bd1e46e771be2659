/* Squared distances by differences in double. Eight partial sums whatever the instruction set, so
 * that all of them add in the same order. */
#include "base/cpu.h"
#include "graph/kernels.h"

enum { LANES = 8, STRIDE = 64 };

static inline double total(const double s[LANES]) {
    return ((s[0] + s[4]) + (s[2] + s[6])) + ((s[1] + s[5]) + (s[3] + s[7]));
}

#define DISTANCE                                                                                   \
    double s[LANES] = {0};                                                                         \
    int64_t j = 0;                                                                                 \
    while (j + LANES <= d) {                                                                       \
        int64_t stop = j + STRIDE <= d ? j + STRIDE : d;                                           \
        for (; j + LANES <= stop; j += LANES)                                                      \
            for (int l = 0; l < LANES; l++) {                                                      \
                double difference = (double)a[j + l] - (double)b[j + l];                           \
                s[l] += difference * difference;                                                   \
            }                                                                                      \
        if (total(s) > limit)                                                                      \
            return total(s);                                                                       \
    }                                                                                              \
    for (int l = 0; j + l < d; l++) {                                                              \
        double difference = (double)a[j + l] - (double)b[j + l];                                   \
        s[l] += difference * difference;                                                           \
    }                                                                                              \
    return total(s)

double HD_SIMD(hd_distance2_single)(const float *a, const float *b, int64_t d, double limit) {
    DISTANCE;
}

double HD_SIMD(hd_distance2_double)(const double *a, const double *b, int64_t d, double limit) {
    DISTANCE;
}
