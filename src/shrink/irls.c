#include "shrink/irls.h"

#include "base/check.h"

#include <math.h>
#include <string.h>

/* The constants below come from prototypes of this iteration on USPS and synthetic graphs at gamma
 * = n/c; bench/bench_shrink.c measures their effect (docs/results.md has USPS). Smoothing and
 * reweighting are equations (13) and (14) of docs/method.md. */

/* Initial smoothing. Total solves to 1e-4 over YaleB, UMIST, PenDigits and 10,000 digits of MNIST
 * at gamma = .1, 1 and 10 n/c, beside .3: .96 from .03, 1.06 from .01. Together with gap_over_tau
 * below (1.5 before) and the patience of newton.c (10 before) .76; the three were chosen on these
 * sets. */
static const double first_tau = .03;

/* tau falls by this factor when the gap is below this multiple of it. The smoothing itself raises
 * the objective by up to 2 tau P (irls.h), so that a gap of a few tau P means that the smoothed
 * problem is almost solved; what is left of the gap is mostly that of the bound. */
static const double tau_factor = .3, gap_over_tau = 3;

/* The smallest tau lies below the target by this factor, because the gap may stop falling at a
 * little more than tau. */
static const double last_tau = .3;

/* Tolerance of a linear solve, as a share of tau times the objective: an error below the smoothing
 * costs no additional steps, and the bound is valid for any delta. */
static const double solve_tolerance = .3;

/* Over-relaxation: 1.5 plain steps. Along the step the majorising quadratic is a parabola with its
 * minimum at 1 and its initial value again at 2; the smoothed objective is below it, so any factor
 * below 2 descends. */
static const double relaxation = 1.5;

/* Regularisation of the normal equations, relative to their trace: successive steps can be nearly
 * parallel. */
static const double regularisation = 1e-12;

/* factor and theta are set where they are needed. */
static hd_shrink_irls_pass make_pass(const hd_shrink_irls_state *s, const hd_shrink_block *b) {
    return (hd_shrink_irls_pass){.s = s, .own = &s->blocks[b->index], .b = b};
}

/* ---- weights and objective ----------------------------------------------------------------- */

/* The weights m_i / rho_i of (14), and sums of the loss and of its smoothed form. The squared loss
 * needs no smoothing: its weight 2 m_i is exact. */
static void weigh_vertices(const void *argument, int64_t begin, int64_t end, double *sums) {
    const hd_shrink_irls_pass *q = argument;
    const hd_shrink_problem *p = q->b->problem;
    const double *hh = q->s->hh + q->b->range.v0, *mass = p->mass + q->b->range.v0;
    double *weight = q->s->vertex_weight + q->b->range.v0, loss = 0, smooth = 0;
    double eps2 = q->own->eps_h * q->own->eps_h;
    for (int64_t i = begin; i < end; i++) {
        if (p->squared) {
            loss += mass[i] * hh[i];
            weight[i] = 2 * mass[i];
            continue;
        }
        double rho = sqrt(hh[i] + eps2);
        loss += mass[i] * sqrt(hh[i]);
        smooth += mass[i] * rho;
        weight[i] = mass[i] / rho;
    }
    sums[0] = loss;
    sums[1] = p->squared ? loss : smooth;
}

/* The weights lambda_e / r_e of (14), and sums of the second term of (6) and of its smoothed
 * form. */
static void weigh_edges(const void *argument, int64_t begin, int64_t end, double *sums) {
    const hd_shrink_irls_pass *q = argument;
    int64_t e0 = q->b->range.e0;
    const double *xx = q->s->xx + e0, *lambda = q->b->problem->lambda + e0;
    double *weight = q->b->arrays->edge_weight + e0, cost = 0, smooth = 0;
    double eps2 = q->own->eps_d * q->own->eps_d;
    for (int64_t e = begin; e < end; e++) {
        double r = sqrt(xx[e] + eps2);
        cost += lambda[e] * sqrt(xx[e]);
        smooth += lambda[e] * r;
        weight[e] = lambda[e] / r;
    }
    sums[0] = cost;
    sums[1] = smooth;
}

huddle_status hd_shrink_irls_set_weights(hd_shrink_irls_state *s, hd_shrink_block *b) {
    huddle_status status = HUDDLE_OK;
    hd_shrink_irls_block *own = &s->blocks[b->index];
    hd_shrink_irls_pass q = make_pass(s, b);
    double sums[2] = {0};
    /* sum m_i eps_h = sum lambda_e eps_d = tau P: both terms are smoothed by the same amount. */
    own->eps_h = own->tau * b->point.primal / b->sum_mass;
    own->eps_d = own->tau * b->point.primal / b->sum_lambda;
    TRY(hd_shrink_over_vertices(b, weigh_vertices, &q, 2, sums));
    TRY(hd_shrink_over_edges(b, weigh_edges, &q, 2, sums));
    TRY(hd_reduce_sum(b->context, 2, sums));
    b->point.objective = sums[0];
    own->smooth = sums[1];
    hd_shrink_block_keep_best(b);
done:
    return status;
}

/* tau depends on the measured gap, not on a fixed schedule: a smoothed problem is neither left
 * before it is solved nor iterated beyond what it can contribute. */
bool hd_shrink_irls_reduce_smoothing(hd_shrink_irls_state *s, const hd_shrink_block *b) {
    hd_shrink_irls_block *own = &s->blocks[b->index];
    double primal = b->point.primal, lowest = last_tau * b->progress.target / primal;
    own->waiting++;
    if (hd_shrink_block_gap(b) >= gap_over_tau * own->tau * primal || own->tau <= lowest)
        return false;
    own->tau = fmax(tau_factor * own->tau, lowest);
    own->waiting = 0;
    return true;
}

/* ---- the reweighted step ------------------------------------------------------------------- */

/* delta = the reweighted step, with the rows of other processes. */
static huddle_status solve_system(const hd_shrink_irls_state *s, hd_shrink_block *b) {
    huddle_status status = HUDDLE_OK;
    const hd_shrink_arrays *a = b->arrays;
    const hd_shrink_linear_system *linear = &b->linear;
    int64_t first = hd_shrink_first(b);
    double tolerance = solve_tolerance * s->blocks[b->index].tau * b->point.primal;
    /* The weights change in each step, so the matrix is factorised anew; its pattern is not. */
    TRY(linear->solver->factor(linear->state, a->excess + b->range.v0,
                               a->edge_weight + b->range.e0));
    TRY(linear->solver->solve(linear->state, a->right + first, tolerance, a->delta + first));
    b->n_solves++;
    TRY(hd_shrink_fetch(b->problem, a->delta));
done:
    return status;
}

huddle_status hd_shrink_irls_begin(hd_shrink_irls_state *s, hd_shrink_block *b, bool *is_done) {
    huddle_status status = HUDDLE_OK;
    hd_shrink_irls_pass q = make_pass(s, b);
    TRY(hd_shrink_irls_set_weights(s, b));
    TRY(hd_shrink_over_vertices(b, HD_SHRINK_BODY(hd_shrink_set_system), &q, 0, NULL));
    TRY(solve_system(s, b));
    TRY(hd_shrink_over_edges(b, HD_SHRINK_BODY(hd_shrink_set_dual), &q, 0, NULL));
    TRY(hd_shrink_block_bound(b));
    *is_done = hd_shrink_block_gap(b) <= b->progress.target;
done:
    return status;
}

/* ---- moving -------------------------------------------------------------------------------- */

/* h and x are updated by the same step and never recomputed from G: the error of the differences
 * then stays relative to the steps, not to the size of the rows of F. The objective after another
 * possible step is evaluated in the same pass, since the memory traffic dominates. */
huddle_status hd_shrink_irls_move(hd_shrink_irls_state *s, hd_shrink_block *b, double factor,
                                  double smooth[2]) {
    huddle_status status = HUDDLE_OK;
    hd_shrink_irls_pass q = make_pass(s, b);
    q.factor = factor;
    smooth[0] = smooth[1] = 0;
    TRY(hd_shrink_fetch(b->problem, s->step));
    TRY(hd_shrink_over_vertices(b, HD_SHRINK_BODY(hd_shrink_move_vertices), &q, 2, smooth));
    TRY(hd_shrink_over_edges(b, HD_SHRINK_BODY(hd_shrink_move_edges), &q, 2, smooth));
    TRY(hd_reduce_sum(b->context, 2, smooth));
done:
    return status;
}

/* ---- without acceleration ------------------------------------------------------------------ */

/* G moves by the whole reweighted step, as in the published iteration (published.c), which has
 * neither smoothing nor a start at F. */
static huddle_status whole_step(void *state, hd_shrink_block *b) {
    huddle_status status = HUDDLE_OK;
    hd_shrink_irls_state *s = state;
    int64_t first = hd_shrink_first(b);
    double smooth[2];
    bool is_done;
    TRY(hd_shrink_irls_begin(s, b, &is_done));
    if (is_done)
        goto done;
    hd_shrink_irls_reduce_smoothing(s, b);
    memcpy(s->step + first, b->arrays->delta + first, (size_t)hd_shrink_size(b) * sizeof(double));
    TRY(hd_shrink_irls_move(s, b, 1, smooth));
done:
    return status;
}

/* ---- Anderson acceleration ----------------------------------------------------------------- */

/* Type II (Walker and Ni 2011): with the plain step delta as the residual of the fixed-point map,
 * the last HD_SHRINK_PAIRS steps s_p and the changes d_p of delta that they caused, theta minimises
 * ||delta - sum_p theta_p d_p|| in the metric of the vertices' weights, and the mixed step is
 *
 *     step = delta - sum_p theta_p (s_p + d_p)
 *
 * It is taken if the smoothed objective is no higher there than after 1.5 plain steps, which always
 * descend; otherwise those are taken. The history (irls.h) is in single precision, which is
 * enough for a guess that is checked. */

/* Coefficients theta from the lower triangle of the normal equations and their right-hand side,
 * slightly regularised; false if the equations are not definite (or not finite), in which case the
 * plain step is used. */
static bool find_theta(hd_shrink_irls_pass *q, const double *sums) {
    int32_t n_pairs = q->own->n_pairs;
    double a[HD_SHRINK_PAIRS * HD_SHRINK_PAIRS], trace = 0;
    for (int32_t p = 0; p < n_pairs; p++) {
        const double *row = sums + p * (HD_SHRINK_PAIRS + 1);
        memcpy(a + p * HD_SHRINK_PAIRS, row, ((size_t)p + 1) * sizeof *a);
        q->theta[p] = row[HD_SHRINK_PAIRS];
        trace += row[p];
    }
    return trace > 0 && !isinf(trace) &&
           hd_shrink_solve_small(n_pairs, HD_SHRINK_PAIRS, a, regularisation * trace, 0, q->theta);
}

/* step = 1.5 plain steps; or, if `step` has already been made, the difference that leads from there
 * to the point of 1.5 plain steps. No copy of h and x is needed to undo a step. */
static void set_relaxed_step(const hd_shrink_irls_state *s, const hd_shrink_block *b,
                             bool from_step) {
    int64_t first = hd_shrink_first(b);
    double *restrict step = s->step + first;
    const double *delta = b->arrays->delta + first;
    for (int64_t k = 0; k < hd_shrink_size(b); k++)
        step[k] = relaxation * delta[k] - (from_step ? step[k] : 0);
}

/* Moves by the mixed step or by 1.5 plain steps, and leaves in step what was moved. */
static huddle_status move_safely(hd_shrink_irls_state *s, hd_shrink_block *b, bool is_mixed) {
    huddle_status status = HUDDLE_OK;
    double smooth[2];
    if (!is_mixed)
        set_relaxed_step(s, b, false);
    TRY(hd_shrink_irls_move(s, b, relaxation, smooth));
    if (is_mixed && !(smooth[0] <= smooth[1])) {
        set_relaxed_step(s, b, true);
        TRY(hd_shrink_irls_move(s, b, 0, smooth));
        set_relaxed_step(s, b, false);
    }
done:
    return status;
}

static void copy_rounded(const hd_shrink_block *b, const double *rows, float *to) {
    int64_t first = hd_shrink_first(b);
    for (int64_t k = 0; k < hd_shrink_size(b); k++)
        to[k] = (float)rows[first + k];
}

/* The change d_p of a pair is known one step later than its s_p: set_normal_equations() completes
 * the newest pair with the delta of this step. */
huddle_status hd_shrink_irls_step(void *state, hd_shrink_block *b) {
    huddle_status status = HUDDLE_OK;
    hd_shrink_irls_state *s = state;
    hd_shrink_irls_block *own = &s->blocks[b->index];
    hd_shrink_irls_pass q = make_pass(s, b);
    double sums[HD_SHRINK_NORMAL_EQUATIONS] = {0};
    bool is_done, is_mixed = false;
    TRY(hd_shrink_irls_begin(s, b, &is_done));
    if (is_done)
        goto done;
    if (own->n_pairs > 0) {
        TRY(hd_shrink_over_vertices(b, HD_SHRINK_BODY(hd_shrink_set_normal_equations), &q,
                                    HD_SHRINK_NORMAL_EQUATIONS, sums));
        TRY(hd_reduce_sum(b->context, HD_SHRINK_NORMAL_EQUATIONS, sums));
        is_mixed = find_theta(&q, sums);
    } else {
        copy_rounded(b, b->arrays->delta, hd_shrink_history(s, b, HD_SHRINK_LAST_DELTA));
        own->next_pair = 0;
    }
    if (is_mixed)
        TRY(hd_shrink_over_vertices(b, HD_SHRINK_BODY(hd_shrink_mix_step), &q, 0, NULL));
    TRY(move_safely(s, b, is_mixed));
    copy_rounded(b, s->step, hd_shrink_history(s, b, HD_SHRINK_STEPS + own->next_pair));
    own->next_pair = (own->next_pair + 1) % HD_SHRINK_PAIRS;
    own->n_pairs += own->n_pairs < HD_SHRINK_PAIRS;
    /* Another smoothing is another fixed-point map, to which the old pairs do not apply. */
    if (hd_shrink_irls_reduce_smoothing(s, b))
        own->n_pairs = 0;
done:
    return status;
}

/* ---- state --------------------------------------------------------------------------------- */

/* x, hh and xx at the initial h: the one time they are computed from scratch. */
static void set_differences(const hd_shrink_problem *p, const double *h, hd_shrink_irls_state *s) {
    int64_t c = p->c;
    for (int64_t v = 0; v < p->n_free; v++)
        s->hh[v] = hd_shrink_dot(h + v * c, h + v * c, c);
    for (int64_t e = 0; e < p->n_live; e++) {
        int64_t i = p->head[e] * c, j = p->tail[e] * c;
        s->xx[e] = 0;
        for (int64_t k = 0; k < c; k++) {
            double x = (p->f[i + k] - p->f[j + k]) + (h[i + k] - h[j + k]);
            s->x[e * c + k] = x;
            s->xx[e] += x * x;
        }
    }
}

huddle_status hd_shrink_irls_open(const hd_shrink_problem *p, const hd_shrink_arrays *arrays,
                                  bool with_history, hd_shrink_irls_state *s) {
    huddle_status status = HUDDLE_OK;
    *s = (hd_shrink_irls_state){.problem = p};
    ALLOC(s->x, p->n_live * p->c);
    ALLOC(s->hh, p->n_free);
    ALLOC(s->xx, p->n_live);
    ALLOC(s->vertex_weight, p->n_free);
    ALLOC_ZERO(s->step, p->rows * p->c);
    ALLOC_ZERO(s->blocks, p->n_blocks);
    if (with_history)
        ALLOC(s->history, (2 * HD_SHRINK_PAIRS + 1) * p->n_free * p->c);
    for (int64_t k = 0; k < p->n_blocks; k++)
        s->blocks[k].tau = first_tau;
    set_differences(p, arrays->h, s);
done:
    return status;
}

void hd_shrink_irls_close(hd_shrink_irls_state *s) {
    FREE(s->x, s->hh, s->xx, s->vertex_weight, s->step, s->history, s->blocks);
    *s = (hd_shrink_irls_state){0};
}

static huddle_status open_state(const hd_shrink_problem *problem, const hd_shrink_arrays *arrays,
                                bool with_history, void **state) {
    huddle_status status = HUDDLE_OK;
    hd_shrink_irls_state *s = NULL;
    ALLOC_ZERO(s, 1);
    *state = s;
    TRY(hd_shrink_irls_open(problem, arrays, with_history, s));
done:
    return status;
}

static huddle_status open_unaccelerated(const hd_shrink_problem *problem,
                                        const hd_shrink_arrays *arrays, void **state) {
    return open_state(problem, arrays, false, state);
}

static huddle_status open_accelerated(const hd_shrink_problem *problem,
                                      const hd_shrink_arrays *arrays, void **state) {
    return open_state(problem, arrays, true, state);
}

static void close_state(void *state) {
    hd_shrink_irls_close(state);
    huddle_free(state);
}

const hd_shrink_solver hd_shrink_irls = {.name = "irls",
                                         .uses_systems = true,
                                         .batch = 1,
                                         .max_idle = 150,
                                         .max_iter = 1000,
                                         .open = open_accelerated,
                                         .step = hd_shrink_irls_step,
                                         .close = close_state};

const hd_shrink_solver hd_shrink_reweighted = {.name = "reweighted",
                                               .uses_systems = true,
                                               .batch = 1,
                                               .max_idle = 1500,
                                               .max_iter = 10000,
                                               .open = open_unaccelerated,
                                               .step = whole_step,
                                               .close = close_state};
