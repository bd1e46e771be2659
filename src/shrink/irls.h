/* Iteratively reweighted least squares (IRLS): one linear system per step.
 *
 * The norms are smoothed, rho_i = sqrt(||h_i||^2 + eps_h^2) and r_e = sqrt(||x_e||^2 + eps_d^2)
 * with x = BG, and the smoothed objective sum m_i rho_i + sum lambda_e r_e is majorised at the
 * present point by a quadratic with the weights m_i / rho_i and lambda_e / r_e (docs/method.md,
 * section 3). Its minimiser G + delta solves
 *
 *     (diag(m_i / rho_i) + B' diag(lambda_e / r_e) B) delta = - gradient
 *
 * so a whole step never raises the smoothed objective. "l2": the loss is quadratic already, and its
 * weights are 2 m_i. The state is shared by the solvers reweighted, irls and newton. */
#ifndef HUDDLE_SRC_SHRINK_IRLS_H
#define HUDDLE_SRC_SHRINK_IRLS_H

#include "shrink/solver.h"

/* What IRLS keeps of a block. */
typedef struct hd_shrink_irls_block {
    double tau;          /* the smoothing: eps_h = tau P / sum m_i, eps_d = tau P / sum lambda_e */
    double eps_h, eps_d; /* so that smoothing raises the objective P by at most 2 tau P */
    double smooth;       /* the smoothed objective at the present point */
    int32_t waiting;     /* steps since tau changed */
    int32_t n_pairs;     /* Anderson: pairs of the history in use */
    int32_t next_pair;   /* where the next one goes */
} hd_shrink_irls_block;

typedef struct hd_shrink_irls_state {
    const hd_shrink_problem *problem;
    double *x;             /* live x c: x_e = g_head - g_tail, carried along like h */
    double *hh, *xx;       /* ||h_i||^2 (free), ||x_e||^2 (live) */
    double *vertex_weight; /* free: m_i / rho_i; those of edges are arrays->edge_weight */
    double *step;          /* rows x c: what G moves by */
    float *history;        /* Anderson, or NULL; see irls.c */
    hd_shrink_irls_block *blocks;
} hd_shrink_irls_state;

/* The state, for newton as well; with_history: for Anderson acceleration. */
huddle_status hd_shrink_irls_open(const hd_shrink_problem *problem, const hd_shrink_arrays *arrays,
                                  bool with_history, hd_shrink_irls_state *state);
void hd_shrink_irls_close(hd_shrink_irls_state *state);

/* What every step begins with: weights, gradient, linear system (its solution in arrays->delta) and
 * the bound that follows from it. *is_done if the block's gap is small enough. */
huddle_status hd_shrink_irls_begin(hd_shrink_irls_state *state, hd_shrink_block *block,
                                   bool *is_done);

/* Updates eps, weights, objective and smoothed objective at the present point. */
huddle_status hd_shrink_irls_set_weights(hd_shrink_irls_state *state, hd_shrink_block *block);

/* One accelerated step of a hd_shrink_irls_state (see irls.c). */
huddle_status hd_shrink_irls_step(void *state, hd_shrink_block *block);

/* Moves by state->step (h += step, x += B step, hh and xx follow). smooth[0] becomes the smoothed
 * objective there, and smooth[1] what it would be at h + factor * delta. */
huddle_status hd_shrink_irls_move(hd_shrink_irls_state *state, hd_shrink_block *block,
                                  double factor, double smooth[2]);

/* Reduces tau if the gap has come near it; true if tau changed. */
bool hd_shrink_irls_reduce_smoothing(hd_shrink_irls_state *state, const hd_shrink_block *block);

/* ---- the passes that take the time of a step (irls.simd.c) --------------------------------- */

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

/* The rows of the history: of each pair the step and the change of delta that it caused, and the
 * delta before. */
enum {
    HD_SHRINK_STEPS = 0,
    HD_SHRINK_CHANGES = HD_SHRINK_PAIRS,
    HD_SHRINK_LAST_DELTA = 2 * HD_SHRINK_PAIRS
};

static inline float *hd_shrink_history(const hd_shrink_irls_state *s, const hd_shrink_block *b,
                                       int64_t which) {
    return s->history + which * s->problem->n_free * s->problem->c + hd_shrink_first(b);
}

/* Bodies of passes (block.h); the argument is a hd_shrink_irls_pass. */
HD_SHRINK_PASS(hd_shrink_set_system);
HD_SHRINK_PASS(hd_shrink_set_dual);
HD_SHRINK_PASS(hd_shrink_move_vertices);
HD_SHRINK_PASS(hd_shrink_move_edges);
HD_SHRINK_PASS(hd_shrink_set_normal_equations);
HD_SHRINK_PASS(hd_shrink_mix_step);

#endif
