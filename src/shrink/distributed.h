/* Shrinking where rows are distributed over processes.
 *
 * The problem separates over the components of W. Each component that fits on one process is moved
 * to one, which solves it as if it were alone: with blocks, closed forms, reduced directions and
 * direct linear solvers. What is too large for that (allot.h) is solved by all processes together,
 * one component after the other, on rows that the engine's partition has put where few edges join
 * processes. G, groups and Z are moved back to the rows they belong to. Objectives and bounds of
 * the parts, each evaluated on all of its edges, add up to those of the whole. */
#ifndef HUDDLE_SRC_SHRINK_DISTRIBUTED_H
#define HUDDLE_SRC_SHRINK_DISTRIBUTED_H

#include "shrink/allot.h"
#include "shrink/solve.h"

/* Solves, and fills in out, and info but for `seconds`; edges are those of this process. */
huddle_status hd_shrink_distributed(hd_shrink_solve *solve, const hd_shrink_limits *limits,
                                    huddle_shrunk *out);

#endif
