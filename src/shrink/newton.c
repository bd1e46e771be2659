/* The Newton tail: for the last digits, where reweighting becomes slow.
 *
 * The solver runs accelerated reweighting (irls.h) until it stagnates, then primal-dual Newton
 * steps (Chan, Golub and Mulet 1999). The Hessian of the smoothed objective has, for every edge,
 * the block
 *
 *     (lambda / r) (I - x x' / r^2)
 *
 * in which one factor x / r is replaced by an independent dual vector u_e = z_e / lambda_e, and the
 * result is symmetrised. At the solution both are equal; away from it x / r is a strongly nonlinear
 * function of x where r is small, and treating it as a variable of its own makes the linearisation
 * accurate over much longer steps. The matrix is positive semidefinite while ||u_e|| <= 1, because
 * ||x|| < r. Vertices have such blocks too, with h_i / rho_i and u_i ("l2": the loss is quadratic,
 * 2 m_i I). The dual vectors follow their own linearisation.
 *
 * The systems H step = right are solved by conjugate gradients, preconditioned with the reweighted
 * matrix (14): unlike H, which couples the columns, it has one scalar factor for all of them. The
 * bound always comes from the reweighted step, whose Z satisfies the row constraints of (7) almost
 * exactly; the clipped dual vectors of Newton's method need not. */
#include "base/check.h"
#include "shrink/newton_passes.h"

#include <math.h>
#include <string.h>

/* The constants below come from prototypes on USPS and synthetic graphs at gaps from 1e-4 to 1e-8;
 * bench/bench_shrink.c measures their effect. */
enum {
    MAX_IDLE = 30,    /* steps without progress before reweighting takes over again */
    MAX_INNER = 30,   /* conjugate gradient steps */
    MAX_HALVINGS = 8, /* of a step that does not descend */
};

/* Steps above the smoothing before Newton takes over. A Newton step costs 10 to 30 solves with one
 * factor. At a gap of 1e-4, total solves over the sets of irls.c were .95 with 30 steps of patience
 * of those with 20; for small gaps the earlier value is kept. */
enum { PATIENCE = 30, SHORT_PATIENCE = 10 };
static const double small_gap = 1e-5;

/* Relative gap below which a tail may begin: farther from the optimum Newton steps gain little, and
 * reweighted steps are much cheaper. */
static const double near_gap = .02;

/* The tail begins with tau = twice the gap, or the present tau if that is larger, but never above
 * this: at a tau far below the gap, the first Newton steps would be short. */
static const double largest_tau = .3;

/* Conjugate gradients stop when r' M^-1 r has fallen by this factor, that is, the residual by a
 * factor of 20 in the norm of the preconditioner: an inexact Newton step. */
static const double inner_tolerance = .0025;

/* Tolerance of the preconditioner's solves, relative to the residual. */
static const double preconditioner_tolerance = .1;

/* A step descends enough if it gains this share of what its slope promises (Armijo). */
static const double sufficient_descent = 1e-4;

/* Factor of the plain step that is taken if no Newton step descends; see irls.c. */
static const double relaxation = 1.5;

/* State of the tail per block. */
typedef struct newton_block {
    bool is_active;    /* in the tail */
    bool is_wanted;    /* would begin the tail if its arrays were there */
    bool is_exhausted; /* the tail was tried and stopped helping */
} newton_block;

/* Vectors of the conjugate gradients. */
enum { RESIDUAL, DIRECTION, IMAGE, SOLVED, N_VECTORS };

typedef struct newton {
    hd_shrink_irls_state irls;
    newton_block *blocks;
    /* Allocated when the first block wants its tail: many solves never do. */
    double *unit_x;    /* live x c: u_e */
    double *unit_h;    /* rows x c: u_i */
    double *conjugate; /* N_VECTORS x rows x c, or NULL */
} newton;

static double *vector_of(const newton *s, int which) {
    return s->conjugate + which * s->irls.problem->rows * s->irls.problem->c;
}

/* What the passes over the Hessian need; the caller adds what they read and write. */
static hd_shrink_newton_pass make_pass(const newton *s, const hd_shrink_block *b) {
    return (hd_shrink_newton_pass){
        .irls = &s->irls, .unit_x = s->unit_x, .unit_h = s->unit_h, .b = b};
}

/* ---- the Hessian --------------------------------------------------------------------------- */

/* Two passes, edges first: each vertex then gathers the results of its edges in a fixed order. */
static huddle_status apply_hessian(newton *s, hd_shrink_block *b, double *from, double *to,
                                   double *product) {
    huddle_status status = HUDDLE_OK;
    hd_shrink_newton_pass q = make_pass(s, b);
    q.from = from;
    q.to = to;
    *product = 0;
    TRY(hd_shrink_fetch(b->problem, from));
    TRY(hd_shrink_over_edges(b, HD_SHRINK_BODY(hd_shrink_apply_edges), &q, 0, NULL));
    TRY(hd_shrink_over_vertices(b, HD_SHRINK_BODY(hd_shrink_apply_vertices), &q, 1, product));
    TRY(hd_reduce_sum(b->context, 1, product));
done:
    return status;
}

/* ---- conjugate gradients ------------------------------------------------------------------- */

/* The product of two vectors; the sum of the row norms of the first in *length, if wanted. */
static huddle_status dot_product(hd_shrink_block *b, const double *a, const double *v,
                                 double *product, double *length) {
    huddle_status status = HUDDLE_OK;
    hd_shrink_newton_pass q = {.b = b, .from = a, .with = v};
    double sums[2] = {0};
    TRY(hd_shrink_over_vertices(b, HD_SHRINK_BODY(hd_shrink_multiply_rows), &q, 2, sums));
    TRY(hd_reduce_sum(b->context, 2, sums));
    *product = sums[0];
    if (length != NULL)
        *length = sums[1];
done:
    return status;
}

/* to = with + factor from */
static huddle_status add_scaled(hd_shrink_block *b, double *to, const double *with, double factor,
                                const double *from) {
    hd_shrink_newton_pass q = {.b = b, .from = from, .with = with, .to = to, .factor = factor};
    return hd_shrink_over_vertices(b, HD_SHRINK_BODY(hd_shrink_add_rows), &q, 0, NULL);
}

/* step = approximately H^-1 right. The first preconditioned residual is the reweighted step, which
 * is already known. *slope becomes right . step, the decrease of the smoothed objective that the
 * step promises to first order.
 *
 * Flexible conjugate gradients (Notay 2000): the new direction is made conjugate to the last one
 * explicitly, by the product of its image with the new preconditioned residual. The usual formula
 * assumes a preconditioner that is the same linear map in each step, which an inexact solve is not.
 * If curvature is lost to rounding, the step so far is used: it is a descent direction after any
 * number of iterations. */
static huddle_status solve_newton(newton *s, hd_shrink_block *b, double *slope) {
    huddle_status status = HUDDLE_OK;
    const hd_shrink_arrays *a = b->arrays;
    const hd_shrink_linear_system *linear = &b->linear;
    int64_t first = hd_shrink_first(b);
    size_t bytes = (size_t)hd_shrink_size(b) * sizeof(double);
    double *r = vector_of(s, RESIDUAL), *p = vector_of(s, DIRECTION), *image = vector_of(s, IMAGE);
    double *solved = vector_of(s, SOLVED), *step = s->irls.step, product, begin, length;
    memset(step + first, 0, bytes);
    memcpy(r + first, a->right + first, bytes);
    memcpy(p + first, a->delta + first, bytes);
    TRY(dot_product(b, r, p, &product, NULL));
    begin = product;
    for (int32_t k = 0; k < MAX_INNER && product > 0; k++) {
        double curvature, change, next;
        TRY(apply_hessian(s, b, p, image, &curvature));
        if (!(curvature > 0))
            break;
        TRY(add_scaled(b, step, step, product / curvature, p));
        TRY(add_scaled(b, r, r, -product / curvature, image));
        TRY(dot_product(b, r, r, &next, &length));
        TRY(linear->solver->solve(linear->state, r + first, preconditioner_tolerance * length,
                                  solved + first));
        b->n_solves++;
        /* image . solved over curvature is the coefficient for which the new p is conjugate to the
         * old. */
        TRY(dot_product(b, image, solved, &change, NULL));
        TRY(dot_product(b, r, solved, &next, NULL));
        if (next <= inner_tolerance * begin)
            break;
        TRY(add_scaled(b, p, solved, -change / curvature, p));
        product = next;
    }
    TRY(dot_product(b, a->right, step, slope, NULL));
done:
    return status;
}

/* ---- the step ------------------------------------------------------------------------------ */

/* Linearising u r = x at (x, u), with the derivative x . d / r of r, gives
 *
 *     u_new = (x + d - u (x . d) / r) / r
 *
 * which is then brought into the unit ball, so that the next Hessian is positive semidefinite. */
void hd_shrink_follow_move(double *restrict unit, const double *at, const double *d, double inverse,
                           int64_t c) {
    double along = inverse * hd_shrink_dot(at, d, c), square = 0;
    for (int64_t k = 0; k < c; k++) {
        double full = inverse * (at[k] + d[k] - unit[k] * along);
        unit[k] += full - unit[k];
        square += unit[k] * unit[k];
    }
    if (square > 1)
        for (int64_t k = 0; k < c; k++)
            unit[k] /= sqrt(square);
}

/* z of the block serves as scratch again: the move of each edge. */
static void follow_edges(const void *argument, int64_t begin, int64_t end, double *sums) {
    const hd_shrink_newton_pass *q = argument;
    const hd_shrink_problem *p = q->b->problem;
    int64_t c = p->c, e0 = q->b->range.e0;
    (void)sums;
    for (int64_t e = e0 + begin; e < e0 + end; e++) {
        double *scratch = q->b->point.z + (e - e0) * c;
        const double *head = q->from + p->head[e] * c, *tail = q->from + p->tail[e] * c;
        for (int64_t k = 0; k < c; k++)
            scratch[k] = head[k] - tail[k];
        hd_shrink_follow_move(q->unit_x + e * c, q->irls->x + e * c, scratch,
                              q->b->arrays->edge_weight[e] / p->lambda[e], c);
    }
}

static void follow_vertices(const void *argument, int64_t begin, int64_t end, double *sums) {
    const hd_shrink_newton_pass *q = argument;
    const hd_shrink_problem *p = q->b->problem;
    int64_t c = p->c, v0 = q->b->range.v0;
    (void)sums;
    for (int64_t i = v0 + begin; i < v0 + end; i++)
        hd_shrink_follow_move(q->unit_h + i * c, q->b->arrays->h + i * c, q->from + i * c,
                              q->irls->vertex_weight[i] / p->mass[i], c);
}

/* Updates the dual vectors for a move by `step` that has not been made yet: they are linearised at
 * the present point. */
static huddle_status follow_dual(newton *s, hd_shrink_block *b, double *step) {
    huddle_status status = HUDDLE_OK;
    hd_shrink_newton_pass q = make_pass(s, b);
    q.from = step;
    TRY(hd_shrink_fetch(b->problem, step));
    TRY(hd_shrink_over_edges(b, follow_edges, &q, 0, NULL));
    TRY(hd_shrink_over_vertices(b, follow_vertices, &q, 0, NULL));
done:
    return status;
}

static void scale_rows(const hd_shrink_block *b, double *to, const double *from, double factor) {
    int64_t first = hd_shrink_first(b);
    for (int64_t k = first; k < first + hd_shrink_size(b); k++)
        to[k] = factor * from[k];
}

/* Moves by the largest of 1, 1/2, 1/4 ... of the Newton step that descends enough (Armijo), or by
 * 1.5 plain steps if none does; those always descend. A shorter step is reached by moving back by
 * the difference, so that no copy of h and x is needed. The dual vectors follow first, by the whole
 * step: they influence only the next Hessian, which is positive semidefinite for any dual vectors
 * in the unit ball. */
static huddle_status descent_step(newton *s, hd_shrink_block *b, double slope) {
    huddle_status status = HUDDLE_OK;
    hd_shrink_irls_state *irls = &s->irls;
    double *whole = vector_of(s, DIRECTION), smooth[2], moved = 1,
           start = irls->blocks[b->index].smooth;
    scale_rows(b, whole, irls->step, 1);
    TRY(follow_dual(s, b, whole));
    TRY(hd_shrink_irls_move(irls, b, 0, smooth));
    for (int32_t k = 0; k < MAX_HALVINGS; k++) {
        if (smooth[0] <= start - sufficient_descent * moved * slope)
            goto done;
        moved *= .5;
        scale_rows(b, irls->step, whole, -moved);
        TRY(hd_shrink_irls_move(irls, b, 0, smooth));
    }
    int64_t first = hd_shrink_first(b);
    for (int64_t k = first; k < first + hd_shrink_size(b); k++)
        irls->step[k] = relaxation * b->arrays->delta[k] - moved * whole[k];
    TRY(hd_shrink_irls_move(irls, b, 0, smooth));
done:
    return status;
}

/* The dual vectors start at the values that the smoothed objective implies at the present tau, u_e
 * = x_e / r_e and u_i = h_i / rho_i; the squared loss does not use the latter. */
static void begin_tail(newton *s, const hd_shrink_block *b) {
    const hd_shrink_problem *p = b->problem;
    const hd_shrink_irls_state *irls = &s->irls;
    hd_shrink_irls_block *own = &irls->blocks[b->index];
    int64_t c = p->c;
    double gap = hd_shrink_block_gap(b) / b->point.primal;
    for (int64_t e = b->range.e0; e < b->range.e1; e++)
        for (int64_t k = 0; k < c; k++)
            s->unit_x[e * c + k] = b->arrays->edge_weight[e] / p->lambda[e] * irls->x[e * c + k];
    for (int64_t i = b->range.v0; i < b->range.v1; i++)
        for (int64_t k = 0; k < c; k++)
            s->unit_h[i * c + k] = irls->vertex_weight[i] / p->mass[i] * b->arrays->h[i * c + k];
    s->blocks[b->index].is_active = true;
    own->waiting = 0;
    own->tau = fmax(own->tau, fmin(2 * gap, largest_tau));
}

/* A step begins like a reweighted one, for the bound and the preconditioner. If the tail makes no
 * progress, the block returns to reweighting for good, with a new history. */
static huddle_status tail_step(newton *s, hd_shrink_block *b) {
    huddle_status status = HUDDLE_OK;
    newton_block *own = &s->blocks[b->index];
    double slope;
    bool is_done;
    TRY(hd_shrink_irls_begin(&s->irls, b, &is_done));
    if (is_done)
        goto done;
    TRY(solve_newton(s, b, &slope));
    TRY(descent_step(s, b, slope));
    hd_shrink_irls_reduce_smoothing(&s->irls, b);
    if (b->progress.since >= MAX_IDLE) {
        own->is_active = false;
        own->is_exhausted = true;
        s->irls.blocks[b->index].n_pairs = 0;
    }
done:
    return status;
}

/* A block asks for its tail (is_wanted) in one step and begins it in the next, because only
 * newton_prepare(), which runs on one thread between steps, may allocate the shared arrays. */
static huddle_status newton_step(void *state, hd_shrink_block *b) {
    huddle_status status = HUDDLE_OK;
    newton *s = state;
    newton_block *own = &s->blocks[b->index];
    double gap;
    if (own->is_wanted && s->conjugate != NULL) {
        own->is_wanted = false;
        TRY(hd_shrink_irls_set_weights(&s->irls, b));
        begin_tail(s, b);
    }
    if (own->is_active)
        return tail_step(s, b);
    TRY(hd_shrink_irls_step(&s->irls, b));
    /* tau is reduced whenever the gap comes near it (irls.c), so many steps at the same tau mean
     * that the gap no longer follows. */
    gap = hd_shrink_block_gap(b);
    bool is_small = b->progress.target < small_gap * b->point.primal;
    own->is_wanted = !own->is_exhausted &&
                     s->irls.blocks[b->index].waiting >= (is_small ? SHORT_PATIENCE : PATIENCE) &&
                     gap < near_gap * b->point.primal && gap > b->progress.target;
done:
    return status;
}

/* ---- state --------------------------------------------------------------------------------- */

static huddle_status newton_open(const hd_shrink_problem *p, const hd_shrink_arrays *arrays,
                                 void **state) {
    huddle_status status = HUDDLE_OK;
    newton *s = NULL;
    ALLOC_ZERO(s, 1);
    *state = s;
    ALLOC_ZERO(s->blocks, p->n_blocks);
    TRY(hd_shrink_irls_open(p, arrays, true, &s->irls));
done:
    return status;
}

static huddle_status newton_prepare(void *state) {
    huddle_status status = HUDDLE_OK;
    newton *s = state;
    const hd_shrink_problem *p = s->irls.problem;
    bool is_wanted = false;
    for (int64_t k = 0; k < p->n_blocks; k++)
        is_wanted = is_wanted || s->blocks[k].is_wanted;
    if (!is_wanted || s->conjugate != NULL)
        goto done;
    ALLOC_ZERO(s->unit_h, p->rows * p->c);
    ALLOC_ZERO(s->unit_x, p->n_live * p->c);
    ALLOC_ZERO(s->conjugate, N_VECTORS * p->rows * p->c);
done:
    return status;
}

static void newton_close(void *state) {
    newton *s = state;
    hd_shrink_irls_close(&s->irls);
    FREE(s->blocks, s->unit_x, s->unit_h, s->conjugate, s);
}

const hd_shrink_solver hd_shrink_newton = {.name = "newton",
                                           .uses_systems = true,
                                           .batch = 1,
                                           .max_idle = 150,
                                           .max_iter = 1000,
                                           .open = newton_open,
                                           .prepare = newton_prepare,
                                           .step = newton_step,
                                           .close = newton_close};
