/* Bounds of the scores of sparse rows, 64 at a time. */
#include "base/cpu.h"
#include "graph/distance_kernels.h"

#include <string.h>

/* Scores are doubles, half as many to a register as floats. The norms are floats, already rounded
 * up, which halves what is read of them. */
enum { LANES = HD_LANES / 2 };
typedef double lanes __attribute__((vector_size(LANES * sizeof(double))));
typedef float narrow __attribute__((vector_size(LANES * sizeof(float))));
typedef int64_t flags __attribute__((vector_size(LANES * sizeof(int64_t))));

/* Lane l of step g has bit LANES g + l; the lanes are combined once at the end. The comparison is
 * negated instead of reversed: with NaN it is false, and the row stays possible. */
uint64_t HD_SIMD(hd_graph_sparse_possible)(const double *scores, const float *rest, double norm,
                                           double least) {
    flags bit = {0}, found = {0};
    for (int l = 0; l < LANES; l++)
        bit[l] = (int64_t)1 << l;
    for (int g = 0; g < HD_GRAPH_SPARSE_GROUP / LANES; g++) {
        lanes score;
        narrow part;
        memcpy(&score, scores + (size_t)g * LANES, sizeof score);
        memcpy(&part, rest + (size_t)g * LANES, sizeof part);
        found |= ~(flags)(score + norm * __builtin_convertvector(part, lanes) < least) & bit;
        bit <<= LANES;
    }
    uint64_t all = 0;
    for (int l = 0; l < LANES; l++)
        all |= (uint64_t)found[l];
    return all;
}
