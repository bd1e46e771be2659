/* Primal-dual hybrid gradient: no linear systems, little memory, many cheap iterations. */
#ifndef HUDDLE_SRC_SHRINK_PDHG_H
#define HUDDLE_SRC_SHRINK_PDHG_H

#include "shrink/block.h"

/* block->batch iterations and a look at objective and bound. Restarted, reflected Halpern
 * iteration: with T one primal-dual step from w = (G, Z) and w_0 the start of the round,
 * w <- (k + 1)/(k + 2) (2 T(w) - w) + 1/(k + 2) w_0. A new round begins when the fixed-point
 * residual has fallen enough. Steps are diagonal; their balance is set anew each round. */
huddle_status hd_pdhg_step(hd_block *block);

#endif
