/* Distances between boxes and between points and boxes, in double: one box or point per lane needs
 * no sum over lanes. They only exclude leaves, with a margin for rounding (leaves.h). */
#include "base/cpu.h"
#include "graph/distance_kernels.h"
#include "graph/lanes.h"

#include <string.h>

#define WIDTH (HD_LANES / 2) /* doubles in one register */

typedef double lanes __attribute__((vector_size(WIDTH * sizeof(double))));
typedef int64_t mask __attribute__((vector_size(WIDTH * sizeof(double))));

static inline lanes load_lanes(const double *p) {
    lanes v;
    memcpy(&v, p, sizeof v);
    return v;
}

/* In each column at most one of the two gaps is positive, and neither if the boxes overlap there.
 * Padding boxes lie at infinity; the gap on the other side is -infinity and not NaN. */
void HD_SIMD(hd_graph_box_bounds)(const double *low, const double *high, const double *lows,
                                  const double *highs, int64_t d, double out[HD_GRAPH_BOXES]) {
    lanes sums[HD_GRAPH_BOXES / WIDTH] = {{0}}, zero = {0};
    for (int64_t f = 0; f < d; f++)
        for (int v = 0; v < HD_GRAPH_BOXES / WIDTH; v++) {
            lanes below = low[f] - load_lanes(highs + f * HD_GRAPH_BOXES + v * WIDTH);
            lanes above = load_lanes(lows + f * HD_GRAPH_BOXES + v * WIDTH) - high[f];
            lanes gap = HD_GRAPH_MAX(pd, HD_GRAPH_MAX(pd, below, above), zero);
            sums[v] += gap * gap;
        }
    memcpy(out, sums, sizeof sums);
}

/* Points points[column][HD_GRAPH_LEAF] against one box. Places beyond the last point are at
 * infinity, and so are their bounds. */
void HD_SIMD(hd_graph_leaf_bounds)(const double *points, const double *low, const double *high,
                                   int64_t d, double out[HD_GRAPH_LEAF]) {
    lanes sums[HD_GRAPH_LEAF / WIDTH] = {{0}}, zero = {0};
    for (int64_t f = 0; f < d; f++)
        for (int v = 0; v < HD_GRAPH_LEAF / WIDTH; v++) {
            lanes x = load_lanes(points + f * HD_GRAPH_LEAF + v * WIDTH);
            lanes gap = HD_GRAPH_MAX(pd, HD_GRAPH_MAX(pd, low[f] - x, x - high[f]), zero);
            sums[v] += gap * gap;
        }
    memcpy(out, sums, sizeof sums);
}
