/* The two ends of gamma (docs/method.md, "The two ends of gamma"), as closed forms of a block. */
#ifndef HUDDLE_SRC_SHRINK_ENDS_H
#define HUDDLE_SRC_SHRINK_ENDS_H

#include "shrink/block.h"

/* If G = F is the solution of the block ("l21"), sets is_exact; best_h and best_z are then the
 * solution and its proof. */
huddle_status hd_shrink_try_fit(hd_shrink_block *block);

/* If one point is the solution of the block, sets is_exact and is_collapsed; best_h and best_z are
 * then the solution and its proof. Otherwise the point and the bound are kept if they are better
 * than what the block has. Does nothing for a block with anchored edges, without a linear system,
 * or whose rows are distributed over processes: such a block need not be connected. */
huddle_status hd_shrink_try_collapse(hd_shrink_block *block);

/* The geometric median of n rows of c with weights mass: the point of least total distance. */
huddle_status hd_shrink_median(int64_t n, int64_t c, const double *rows, const double *mass,
                               double *median);

#endif
