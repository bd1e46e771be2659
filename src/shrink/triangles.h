/* Triangular solves with a simplicial factor of CHOLMOD, for many right-hand sides. */
#ifndef HUDDLE_SRC_SHRINK_TRIANGLES_H
#define HUDDLE_SRC_SHRINK_TRIANGLES_H

#include "base/cpu.h"

#include <stdint.h>

/* L D L' of a permuted matrix, by columns, with D in the place of the unit diagonal. */
typedef struct hd_shrink_simplicial {
    int64_t n;
    const int64_t *start, *row, *count; /* column v: entries start[v] .. start[v] + count[v] - 1 */
    const int64_t *order;               /* the row of the matrix that is eliminated v-th */
    const double *value;
} hd_shrink_simplicial;

/* x = the solution for r, both n x c and stored by rows, so that each entry of L is one short
 * vector operation on c numbers. work: n x c. */
HD_SIMD_DECLARE(void, hd_shrink_triangles, int64_t c, const hd_shrink_simplicial *l,
                const double *r, double *work, double *x);

#endif
