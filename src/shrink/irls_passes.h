/* The passes of the reweighted step that take its time (irls.simd.c), and what they work on. */
#ifndef HUDDLE_SRC_SHRINK_IRLS_PASSES_H
#define HUDDLE_SRC_SHRINK_IRLS_PASSES_H

#include "base/cpu.h"
#include "shrink/irls.h"

/* Number of past steps that Anderson acceleration uses. Its normal equations, with the right-hand
 * side, must fit in the sums of a pass. */
enum { HD_SHRINK_PAIRS = 5, HD_SHRINK_NORMAL_EQUATIONS = HD_SHRINK_PAIRS * (HD_SHRINK_PAIRS + 1) };
_Static_assert((int)HD_SHRINK_NORMAL_EQUATIONS <= (int)HD_SHRINK_MAX_SUMS,
               "the normal equations fit in a pass");

/* A pass over a block with the state of the solver. */
typedef struct hd_shrink_irls_pass {
    const hd_shrink_irls_state *s;
    const hd_shrink_irls_block *own;
    const hd_shrink_block *b;
    double factor;                 /* of a trial move */
    double theta[HD_SHRINK_PAIRS]; /* coefficients of the mixed step */
} hd_shrink_irls_pass;

/* The history holds, for each pair, the step and the change of delta that it caused, and after all
 * pairs the delta before. */
static inline float *hd_shrink_history(const hd_shrink_irls_state *s, const hd_shrink_block *b,
                                       int64_t which) {
    return s->history + which * s->problem->n_free * s->problem->c + hd_shrink_first(b);
}

static inline float *hd_shrink_past_step(const hd_shrink_irls_state *s, const hd_shrink_block *b,
                                         int32_t pair) {
    return hd_shrink_history(s, b, 2 * pair);
}

static inline float *hd_shrink_past_change(const hd_shrink_irls_state *s, const hd_shrink_block *b,
                                           int32_t pair) {
    return hd_shrink_history(s, b, 2 * pair + 1);
}

static inline float *hd_shrink_last_delta(const hd_shrink_irls_state *s, const hd_shrink_block *b) {
    return hd_shrink_history(s, b, 2 * HD_SHRINK_PAIRS);
}

/* Bodies of passes (block.h); the argument is a hd_shrink_irls_pass. */
HD_SHRINK_PASS(hd_shrink_set_system);
HD_SHRINK_PASS(hd_shrink_set_dual);
HD_SHRINK_PASS(hd_shrink_move_vertices);
HD_SHRINK_PASS(hd_shrink_move_edges);
HD_SHRINK_PASS(hd_shrink_set_normal_equations);
HD_SHRINK_PASS(hd_shrink_mix_step);

#endif
