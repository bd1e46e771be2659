/* The passes of Newton's step that take its time (newton.simd.c), and what they work on. */
#ifndef HUDDLE_SRC_SHRINK_NEWTON_PASSES_H
#define HUDDLE_SRC_SHRINK_NEWTON_PASSES_H

#include "base/cpu.h"
#include "shrink/irls.h"

/* A pass over a block that computes `to` from `from` and `with`. Those over rows alone (multiply,
 * add) need neither the state nor the dual vectors. */
typedef struct hd_shrink_newton_pass {
    const hd_shrink_irls_state *irls;
    double *unit_x; /* live x c: u_e */
    double *unit_h; /* rows x c: u_i */
    const hd_shrink_block *b;
    const double *from, *with;
    double *to;
    double factor;
} hd_shrink_newton_pass;

/* Bodies of passes (block.h); the argument is a hd_shrink_newton_pass. */
HD_SHRINK_PASS(hd_shrink_apply_edges);
HD_SHRINK_PASS(hd_shrink_apply_vertices);
HD_SHRINK_PASS(hd_shrink_multiply_rows);
HD_SHRINK_PASS(hd_shrink_add_rows);

/* The dual vector `unit` of an edge or vertex after a move d of its x or h, which was `at`; inverse
 * = 1 / r or 1 / rho. It stays in the unit ball. */
void hd_shrink_follow_move(double *restrict unit, const double *at, const double *d, double inverse,
                           int64_t c);

#endif
