/* The two ends of gamma. */
#ifndef HUDDLE_SRC_SHRINK_ENDS_H
#define HUDDLE_SRC_SHRINK_ENDS_H

#include "shrink/block.h"

/* If G = F is the solution of the block, sets exact; best_h and best_z are then the solution and
 * its proof. */
huddle_status hd_block_fit(hd_block *block);

/* If one point is the solution of the block, finds that out: exact and collapsed are set, best_h
 * and best_z hold the solution and its proof. Otherwise what it learnt is kept as a first point or
 * bound, if it is any good. Only for solvers with a linear system. */
huddle_status hd_block_collapse(hd_block *block);

/* The geometric median of n rows of c with weights mass: the point of least total distance. */
huddle_status hd_median(int64_t n, int64_t c, const double *rows, const double *mass,
                        double *median);

#endif
