/* Distances for the kd-tree, by differences in double. One point per lane needs no sum over lanes.
 * The order of summation therefore differs from that of distance.simd.c, and these values only
 * exclude points (hd_graph_boxes_factor() in leaves.c). */
#include "base/cpu.h"
#include "graph/distance_kernels.h"

#include <string.h>

typedef double lanes __attribute__((vector_size(HD_GRAPH_LEAF_LANES * sizeof(double))));

/* Lanes of padding, points at infinity, are computed like all others. */
void HD_SIMD(hd_graph_leaf_distances)(const double *q, const double *panel, int64_t d,
                                      double out[HD_GRAPH_LEAF_LANES]) {
    lanes sum = {0};
    for (int64_t f = 0; f < d; f++) {
        lanes p;
        memcpy(&p, panel + f * HD_GRAPH_LEAF_LANES, sizeof p);
        lanes difference = p - q[f];
        sum += difference * difference;
    }
    memcpy(out, &sum, sizeof sum);
}

/* The nearest point of the box: in each dimension at most one of the two differences is positive,
 * and neither if q lies between low and high. */
double HD_SIMD(hd_graph_box_distance)(const double *q, const double *low, const double *high,
                                      int64_t d) {
    double sum = 0;
    for (int64_t f = 0; f < d; f++) {
        double below = low[f] - q[f], above = q[f] - high[f];
        double outside = below > above ? below : above;
        outside = outside > 0 ? outside : 0;
        sum += outside * outside;
    }
    return sum;
}
