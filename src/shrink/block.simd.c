/* The passes of the bound (block.c), for each instruction set. */
#include "shrink/block.h"
#include "shrink/width.h"

#include <math.h>
#include <string.h>

/* The inner product <Z, BF> of (7). F, not G: the bound depends on Z alone, and so is valid
 * whichever point it is compared with. */
HD_SHRINK_INLINE void sum_inner(int64_t c, const hd_shrink_block *b, int64_t begin, int64_t end,
                                double *sums) {
    const hd_shrink_problem *p = b->problem;
    double inner = 0;
    for (int64_t local = begin; local < end; local++) {
        int64_t e = b->range.e0 + local;
        const double *head = p->f + p->head[e] * c, *tail = p->f + p->tail[e] * c;
        const double *z = b->point.z + local * c;
#pragma omp simd reduction(+ : inner)
        for (int64_t k = 0; k < c; k++)
            inner += z[k] * (head[k] - tail[k]);
    }
    sums[0] = inner;
}

HD_SHRINK_DEFINE_PASS(hd_shrink_sum_inner, hd_shrink_block, sum_inner, q->problem->c)

/* Columns of B'Z that are summed at a time. The tile is on the stack, so that the pass needs no
 * memory per thread, whatever c is. With more columns than that only the list of edges is read
 * again, once for each tile. */
enum { TILE = 64 };

/* ||(B'Z)_i||^2. Each vertex gathers from its own edges, in their fixed order, so that vertices can
 * be processed in parallel without atomic additions. The lowest bit of `incident` distinguishes
 * heads (+) from tails (-). */
HD_SHRINK_INLINE double square_force(int64_t c, const hd_shrink_block *b, int64_t i) {
    const hd_shrink_problem *p = b->problem;
    double square = 0;
    for (int64_t first = 0; first < c; first += TILE) {
        int64_t width = c - first < TILE ? c - first : TILE;
        double y[TILE];
        memset(y, 0, (size_t)width * sizeof *y);
        for (int64_t at = p->incident_at[i]; at < p->incident_at[i + 1]; at++) {
            int64_t e = (int64_t)(p->incident[at] >> 1) - b->range.e0;
            const double *z = b->point.z + e * c + first;
            double sign = p->incident[at] & 1 ? -1 : 1;
            for (int64_t k = 0; k < width; k++)
                y[k] += sign * z[k];
        }
#pragma omp simd reduction(+ : square)
        for (int64_t k = 0; k < width; k++)
            square += y[k] * y[k];
    }
    return square;
}

/* norm_i = ||(B'Z)_i|| / m_i for (10), and the energy sum ||(B'Z)_i||^2 / m_i for (8). */
HD_SHRINK_INLINE void sum_energy(int64_t c, const hd_shrink_block *b, int64_t begin, int64_t end,
                                 double *sums) {
    const double *mass = b->problem->mass;
    double energy = 0;
    for (int64_t i = b->range.v0 + begin; i < b->range.v0 + end; i++) {
        double square = square_force(c, b, i);
        energy += square / mass[i];
        b->arrays->norm[i] = sqrt(square) / mass[i];
    }
    sums[0] = energy;
}

HD_SHRINK_DEFINE_PASS(hd_shrink_sum_energy, hd_shrink_block, sum_energy, q->problem->c)
