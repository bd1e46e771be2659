/* Squared distances by differences, and products. There are eight partial sums in double and
 * sixteen in float for every instruction set, so that all of them add in the same order. Where the
 * instruction set has fused multiply-add, a square is not rounded before it is added; the square of
 * a difference of two floats of similar size is exact in double, so that this usually changes
 * nothing. */
#include "base/cpu.h"
#include "graph/distance_kernels.h"

#include <string.h>

/* Partial sums never decrease, so that a sum above limit stays above it. Comparing more often would
 * spend too much time on adding up the lanes. */
enum { STRIDE = 128 }; /* features between two comparisons of the sum with limit */

typedef double quad __attribute__((vector_size(4 * sizeof(double))));
typedef double doubles __attribute__((vector_size(8 * sizeof(double))));
typedef float four __attribute__((vector_size(4 * sizeof(float))));
typedef float eight __attribute__((vector_size(8 * sizeof(float))));
typedef float sixteen __attribute__((vector_size(16 * sizeof(float))));

/* The sum over the lanes of s, by halving. */
#define TOTAL_DOUBLE(s, sum)                                                                       \
    do {                                                                                           \
        quad h =                                                                                   \
            __builtin_shufflevector(s, s, 0, 1, 2, 3) + __builtin_shufflevector(s, s, 4, 5, 6, 7); \
        sum = (h[0] + h[2]) + (h[1] + h[3]);                                                       \
    } while (0)
#define TOTAL_FLOAT(s, sum)                                                                        \
    do {                                                                                           \
        eight h = __builtin_shufflevector(s, s, 0, 1, 2, 3, 4, 5, 6, 7) +                          \
                  __builtin_shufflevector(s, s, 8, 9, 10, 11, 12, 13, 14, 15);                     \
        four q =                                                                                   \
            __builtin_shufflevector(h, h, 0, 1, 2, 3) + __builtin_shufflevector(h, h, 4, 5, 6, 7); \
        sum = (q[0] + q[2]) + (q[1] + q[3]);                                                       \
    } while (0)

/* acc += (a - b)^2, from numbers of the type of acc, and from floats in double. Floats are
 * converted before they are subtracted, so that the difference has the 53 bits of double. */
#define STEP_SAME(acc, a, b)                                                                       \
    do {                                                                                           \
        __typeof__(acc) p, q;                                                                      \
        memcpy(&p, a, sizeof p);                                                                   \
        memcpy(&q, b, sizeof q);                                                                   \
        p -= q;                                                                                    \
        acc += p * p;                                                                              \
    } while (0)
#define STEP_SINGLE(acc, a, b)                                                                     \
    do {                                                                                           \
        eight p, q;                                                                                \
        memcpy(&p, a, sizeof p);                                                                   \
        memcpy(&q, b, sizeof q);                                                                   \
        doubles difference =                                                                       \
            __builtin_convertvector(p, doubles) - __builtin_convertvector(q, doubles);             \
        acc += difference * difference;                                                            \
    } while (0)

/* STEP over all whole vectors of LANES, comparing the sum with limit after every STRIDE features,
 * then over the rest padded with zeros. Two accumulators, because one addition has to wait for the
 * one before it. */
#define DISTANCE(TYPE, SUMS, SUM_TYPE, LANES, STEP, TOTAL)                                         \
    SUMS s = {0}, t = {0};                                                                         \
    SUM_TYPE sum = 0;                                                                              \
    int64_t j = 0;                                                                                 \
    for (; j + STRIDE <= d; j += STRIDE) {                                                         \
        for (int l = 0; l < STRIDE; l += 2 * LANES) {                                              \
            STEP(s, a + j + l, b + j + l);                                                         \
            STEP(t, a + j + l + LANES, b + j + l + LANES);                                         \
        }                                                                                          \
        SUMS both = s + t;                                                                         \
        TOTAL(both, sum);                                                                          \
        if (sum > limit)                                                                           \
            return sum;                                                                            \
    }                                                                                              \
    for (; j + LANES <= d; j += LANES)                                                             \
        STEP(s, a + j, b + j);                                                                     \
    if (j < d) {                                                                                   \
        TYPE x[LANES] = {0}, y[LANES] = {0};                                                       \
        for (int64_t l = 0; j + l < d; l++) {                                                      \
            x[l] = a[j + l];                                                                       \
            y[l] = b[j + l];                                                                       \
        }                                                                                          \
        STEP(t, x, y);                                                                             \
    }                                                                                              \
    s += t;                                                                                        \
    TOTAL(s, sum);                                                                                 \
    return sum

double HD_SIMD(hd_graph_distance2_floats)(const float *a, const float *b, int64_t d, double limit) {
    DISTANCE(float, doubles, double, 8, STEP_SINGLE, TOTAL_DOUBLE);
}

double HD_SIMD(hd_graph_distance2_doubles)(const double *a, const double *b, int64_t d,
                                           double limit) {
    DISTANCE(double, doubles, double, 8, STEP_SAME, TOTAL_DOUBLE);
}

/* Twice as many features an instruction as in double; distance2_singles() of dense_rows.c bounds
 * the error. */
float HD_SIMD(hd_graph_distance2_rough)(const float *a, const float *b, int64_t d, float limit) {
    DISTANCE(float, sixteen, float, 16, STEP_SAME, TOTAL_FLOAT);
}

/* The product of two rows in float, for the sides of random hyperplanes. Rounding may move a point
 * to the other side, where it is as well placed: no bound depends on it. */
float HD_SIMD(hd_graph_product)(const float *a, const float *b, int64_t d) {
    sixteen sum = {0}, x, y;
    int64_t j = 0;
    for (; j + 16 <= d; j += 16) {
        memcpy(&x, a + j, sizeof x);
        memcpy(&y, b + j, sizeof y);
        sum += x * y;
    }
    float total = 0;
    for (; j < d; j++)
        total += a[j] * b[j];
    for (int l = 0; l < 16; l++)
        total += sum[l];
    return total;
}
