/* Squared distances by differences. In double there are eight partial sums whatever the
 * instruction set, so that all of them add in the same order. */
#include "base/cpu.h"
#include "graph/kernels.h"

#include <string.h>

enum { STRIDE = 64 };

typedef double doubles __attribute__((vector_size(8 * sizeof(double))));
typedef float eight __attribute__((vector_size(8 * sizeof(float))));
typedef float sixteen __attribute__((vector_size(16 * sizeof(float))));

#define TOTAL8(s) (((s[0] + s[4]) + (s[2] + s[6])) + ((s[1] + s[5]) + (s[3] + s[7])))

/* acc += (a - b)^2 in eight lanes of double. */
#define STEP_DOUBLE(acc, a, b)                                                                     \
    do {                                                                                           \
        doubles p, q;                                                                              \
        memcpy(&p, a, sizeof p);                                                                   \
        memcpy(&q, b, sizeof q);                                                                   \
        p -= q;                                                                                    \
        acc += p * p;                                                                              \
    } while (0)

/* The same from floats. */
#define STEP_SINGLE(acc, a, b)                                                                     \
    do {                                                                                           \
        eight p, q;                                                                                \
        memcpy(&p, a, sizeof p);                                                                   \
        memcpy(&q, b, sizeof q);                                                                   \
        doubles difference =                                                                       \
            __builtin_convertvector(p, doubles) - __builtin_convertvector(q, doubles);             \
        acc += difference * difference;                                                            \
    } while (0)

#define DISTANCE(TYPE, STEP)                                                                       \
    doubles s = {0};                                                                               \
    int64_t j = 0;                                                                                 \
    while (j + 8 <= d) {                                                                           \
        int64_t stop = j + STRIDE <= d ? j + STRIDE : d;                                           \
        for (; j + 8 <= stop; j += 8)                                                              \
            STEP(s, a + j, b + j);                                                                 \
        if (TOTAL8(s) > limit)                                                                     \
            return TOTAL8(s);                                                                      \
    }                                                                                              \
    if (j < d) {                                                                                   \
        TYPE x[8] = {0}, y[8] = {0};                                                               \
        for (int64_t l = 0; j + l < d; l++) {                                                      \
            x[l] = a[j + l];                                                                       \
            y[l] = b[j + l];                                                                       \
        }                                                                                          \
        STEP(s, x, y);                                                                             \
    }                                                                                              \
    return TOTAL8(s)

double HD_SIMD(hd_distance2_single)(const float *a, const float *b, int64_t d, double limit) {
    DISTANCE(float, STEP_SINGLE);
}

double HD_SIMD(hd_distance2_double)(const double *a, const double *b, int64_t d, double limit) {
    DISTANCE(double, STEP_DOUBLE);
}

/* acc += (a - b)^2 in sixteen lanes of float. */
#define STEP_ROUGH(acc, a, b)                                                                      \
    do {                                                                                           \
        sixteen p, q;                                                                              \
        memcpy(&p, a, sizeof p);                                                                   \
        memcpy(&q, b, sizeof q);                                                                   \
        p -= q;                                                                                    \
        acc += p * p;                                                                              \
    } while (0)

#define TOTAL16(s)                                                                                 \
    ((((s[0] + s[8]) + (s[4] + s[12])) + ((s[2] + s[10]) + (s[6] + s[14]))) +                      \
     (((s[1] + s[9]) + (s[5] + s[13])) + ((s[3] + s[11]) + (s[7] + s[15]))))

float HD_SIMD(hd_distance2_rough)(const float *a, const float *b, int64_t d, float limit) {
    sixteen s = {0}, t = {0};
    int64_t j = 0;
    for (; j + STRIDE <= d; j += STRIDE) {
        STEP_ROUGH(s, a + j, b + j);
        STEP_ROUGH(t, a + j + 16, b + j + 16);
        STEP_ROUGH(s, a + j + 32, b + j + 32);
        STEP_ROUGH(t, a + j + 48, b + j + 48);
        sixteen both = s + t;
        float sum = TOTAL16(both);
        if (sum > limit)
            return sum;
    }
    for (; j + 16 <= d; j += 16)
        STEP_ROUGH(s, a + j, b + j);
    s += t;
    float sum = TOTAL16(s);
    for (; j < d; j++)
        sum += (a[j] - b[j]) * (a[j] - b[j]);
    return sum;
}
