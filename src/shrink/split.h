/* Large problems, component by component of W.
 *
 * The problem separates over the components of W, and it is invariant under rotations of the
 * columns. Within a component the rows of an embedding differ in few directions only: of 300,000
 * points in 40 columns, the rows of the seven components looked at whose objective is not
 * negligible had 1.5e-5 of their length or less outside of 8 directions. So each component is
 * solved on its own, in the coordinates of its principal directions and without those that cannot
 * matter, and its arrays are freed before the next one begins: memory follows the largest
 * component, not the whole.
 *
 * The bound remains one of the whole problem. Projecting rows on directions V (orthonormal columns)
 * lengthens no difference, so the optimum of a component is at least that of F V, and the bounds of
 * components add up. What the directions left out add to the objective is part of the objective
 * that is reported, which is evaluated for all of G. */
#ifndef HUDDLE_SRC_SHRINK_SPLIT_H
#define HUDDLE_SRC_SHRINK_SPLIT_H

#include "shrink/solve.h"

/* Problems of fewer numbers, (n + edges) c, are solved whole: their arrays are small. */
#define HD_SHRINK_SMALLEST_SPLIT 1e6

/* Whether a problem of this size is solved component by component, and whether a component of so
 * many edges is solved alone, on all threads. */
bool hd_shrink_is_large(int64_t n, int64_t edges, int64_t c);
bool hd_shrink_is_large_part(int64_t edges);

/* Solves each component as a problem of its own and fills in out, and info but for `seconds`. Where
 * rows are distributed over processes (distributed.h), each calls this with components that it has
 * whole: the gaps are then shared out over the components of all, while out and info are those of
 * the process. */
huddle_status hd_shrink_split(hd_shrink_solve *solve, huddle_shrunk *out);

/* shrink.c: one component, as a problem of its own; input (without edges), options, info, outside
 * and started are set. */
huddle_status hd_shrink_solve_part(hd_shrink_solve *part, huddle_shrunk *out);

#endif
