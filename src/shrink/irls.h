/* Reweighted least squares: one linear system a step. */
#ifndef HUDDLE_SRC_SHRINK_IRLS_H
#define HUDDLE_SRC_SHRINK_IRLS_H

#include "shrink/block.h"

/* As published: G moves by the whole step. */
huddle_status hd_plain_step(hd_block *block);

/* Anderson acceleration, type II: the step that would cancel the last HD_PAIRS changes of the
 * plain step in least squares, if it is no worse than 1.5 plain steps, which never raise the
 * smoothed objective. */
huddle_status hd_irls_step(hd_block *block);

/* Weights, gradient, linear system, bound, smoothing: what every step begins with. *finished if
 * the block's gap is small enough. */
huddle_status hd_irls_begin(hd_block *block, bool *finished);

#endif
