#include "shrink/triangles.h"

#include "shrink/width.h"

#include <string.h>

/* Forward: each column of L is subtracted from the rows below. The diagonal of L is 1 and its
 * place, the first of the column, has D: both loops begin behind it. */
HD_SHRINK_INLINE void solve_lower(int64_t c, const hd_shrink_simplicial *l, double *work) {
    for (int64_t v = 0; v < l->n; v++) {
        const double *restrict from = work + v * c;
        for (int64_t at = l->start[v] + 1; at < l->start[v] + l->count[v]; at++) {
            double *restrict to = work + l->row[at] * c, value = l->value[at];
            for (int64_t k = 0; k < c; k++)
                to[k] -= value * from[k];
        }
    }
}

/* Backward: each row gathers from those below. The division by D is done here, where the row is at
 * hand: a pass of its own would read all rows once more. Entries of a column of L are those of a
 * row of L', so that the factor is read in sequence in both directions, once for all c columns. */
HD_SHRINK_INLINE void solve_upper(int64_t c, const hd_shrink_simplicial *l, double *work,
                                  double *x) {
    for (int64_t v = l->n; v-- > 0;) {
        double *restrict to = work + v * c, pivot = 1 / l->value[l->start[v]];
        for (int64_t k = 0; k < c; k++)
            to[k] *= pivot;
        for (int64_t at = l->start[v] + 1; at < l->start[v] + l->count[v]; at++) {
            const double *restrict from = work + l->row[at] * c;
            double value = l->value[at];
            for (int64_t k = 0; k < c; k++)
                to[k] -= value * from[k];
        }
        memcpy(x + l->order[v] * c, to, (size_t)c * sizeof *x);
    }
}

/* The rows are copied into the order of elimination, so that both passes read them in sequence;
 * backward, a row is final when it has been visited, and goes to its place at once. */
HD_SHRINK_INLINE void solve(int64_t c, const hd_shrink_simplicial *l, const double *r, double *work,
                            double *x) {
    for (int64_t v = 0; v < l->n; v++)
        memcpy(work + v * c, r + l->order[v] * c, (size_t)c * sizeof *work);
    solve_lower(c, l, work);
    solve_upper(c, l, work, x);
}

void HD_SIMD(hd_shrink_triangles)(int64_t c, const hd_shrink_simplicial *l, const double *r,
                                  double *work, double *x) {
    HD_SHRINK_BY_WIDTH(solve, c, l, r, work, x);
}
