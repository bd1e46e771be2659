/* Distances from one point to a leaf of the tree of boruvka.c, in float. */
#include "base/cpu.h"
#include "graph/distance_kernels.h"

#include <string.h>

enum { REGISTERS = HD_GRAPH_BORUVKA_LEAF / HD_LANES, PER_TEST = 8 };

typedef float lanes __attribute__((vector_size(HD_LANES * sizeof(float))));
typedef int32_t masks __attribute__((vector_size(HD_LANES * sizeof(int32_t))));

/* Bit l is set if point l is not farther than limit. After every PER_TEST coordinates the sums are
 * compared with the limit: the first coordinates of a projection contain most of the distance, and
 * where all points are too far already, the others are not read. Float is sufficient, because the
 * limit allows for the rounding of these sums (value_limit() of boruvka.c). */
uint64_t HD_SIMD(hd_graph_boruvka_near)(const float *q, const float *leaf, int64_t d, float limit) {
    lanes sum[REGISTERS];
    float out[HD_GRAPH_BORUVKA_LEAF];
    uint64_t near = 0;
    memset(sum, 0, sizeof sum);
    for (int64_t f = 0; f < d;) {
        int64_t end = d - f < PER_TEST ? d : f + PER_TEST;
        for (; f < end; f++)
            for (int r = 0; r < REGISTERS; r++) {
                lanes p;
                memcpy(&p, leaf + f * HD_GRAPH_BORUVKA_LEAF + r * HD_LANES, sizeof p);
                lanes difference = p - q[f];
                sum[r] += difference * difference;
            }
        /* Squares are added only: a point that is too far remains too far. */
        masks any = {0};
        for (int r = 0; r < REGISTERS; r++)
            any |= sum[r] <= limit;
        int32_t some = 0;
        for (int l = 0; l < HD_LANES; l++)
            some |= any[l];
        if (some == 0)
            return 0;
    }
    memcpy(out, sum, sizeof out);
    for (int l = 0; l < HD_GRAPH_BORUVKA_LEAF; l++)
        near |= (uint64_t)(out[l] <= limit) << l; /* padding: infinity */
    return near;
}
