/* The product of two rows in float, for the sides of random hyperplanes. Sixteen partial sums for
 * every instruction set, so that all of them add in the same order. */
#include "base/cpu.h"
#include "graph/distance_kernels.h"

#include <string.h>

typedef float sixteen __attribute__((vector_size(16 * sizeof(float))));

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
