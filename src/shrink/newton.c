#include "shrink/newton.h"

#include "base/check.h"
#include "base/parallel.h"
#include "shrink/irls.h"

#include <math.h>
#include <string.h>

enum {
    PATIENCE = 10,    /* steps above the smoothing before Newton takes over */
    MOST_IDLE = 30,   /* steps without progress before it gives back */
    MOST_INNER = 30,  /* conjugate gradient steps */
    MOST_HALVINGS = 8 /* of a step that does not descend */
};

/* The four vectors of the conjugate gradients, each n x c. */
static double *vector(const hd_block *b, int which) {
    return b->arrays->conjugate + which * b->problem->n * b->problem->c;
}
enum { RESIDUAL, DIRECTION, IMAGE, SOLVED };

typedef struct pass {
    hd_block *block;
    const double *from;
    const double *with;
    double *to;
    double factor;
} pass;

static double dot(const double *a, const double *b, int64_t c) {
    double sum = 0;
    for (int64_t k = 0; k < c; k++)
        sum += a[k] * b[k];
    return sum;
}

/* ---- the Hessian --------------------------------------------------------------------------- */

/* out = weight (v - (unit (at . v) + at (unit . v)) inverse / 2): one term's share. */
static void bend(double weight, double inverse, const double *unit, const double *at,
                 const double *v, double *restrict out, int64_t c) {
    double a = .5 * inverse * dot(at, v, c), u = .5 * inverse * dot(unit, v, c);
    for (int64_t k = 0; k < c; k++)
        out[k] = weight * (v[k] - unit[k] * a - at[k] * u);
}

static huddle_status bend_edges(void *argument, hd_chunk chunk) {
    const pass *q = argument;
    hd_block *b = q->block;
    const hd_problem *p = b->problem;
    const hd_arrays *a = b->arrays;
    int64_t c = p->c;
    for (int64_t e = b->range.e0 + chunk.begin; e < b->range.e0 + chunk.end; e++) {
        double *restrict z = b->z + (e - b->range.e0) * c;
        const double *head = q->from + p->head[e] * c, *tail = q->from + p->tail[e] * c;
        const double *unit = a->unit_x + e * c, *x = a->x + e * c;
        double ax = 0, au = 0, half = .5 * a->pull[e] / p->lambda[e];
        for (int64_t k = 0; k < c; k++) {
            z[k] = head[k] - tail[k];
            ax += x[k] * z[k];
            au += unit[k] * z[k];
        }
        for (int64_t k = 0; k < c; k++)
            z[k] = a->pull[e] * (z[k] - half * (ax * unit[k] + au * x[k]));
    }
    return HUDDLE_OK;
}

/* to = H from, and their product. */
static huddle_status bend_vertices(void *argument, hd_chunk chunk) {
    const pass *q = argument;
    hd_block *b = q->block;
    const hd_problem *p = b->problem;
    const hd_arrays *a = b->arrays;
    int64_t c = p->c;
    double product = 0;
    for (int64_t i = b->range.v0 + chunk.begin; i < b->range.v0 + chunk.end; i++) {
        double *restrict to = q->to + i * c;
        const double *from = q->from + i * c;
        bend(a->hold[i], p->squared ? 0 : a->hold[i] / p->mass[i], a->unit_h + i * c, a->h + i * c,
             from, to, c);
        for (int64_t at = p->incident_at[i]; at < p->incident_at[i + 1]; at++) {
            const double *z = b->z + ((int64_t)(p->incident[at] >> 1) - b->range.e0) * c;
            double sign = p->incident[at] & 1 ? -1 : 1;
            for (int64_t k = 0; k < c; k++)
                to[k] += sign * z[k];
        }
        product += dot(from, to, c);
    }
    b->partial[chunk.index] = product;
    return HUDDLE_OK;
}

static huddle_status apply(hd_block *b, const double *from, double *to, double *product) {
    huddle_status status = HUDDLE_OK;
    pass q = {.block = b, .from = from, .to = to};
    TRY(hd_parallel(b->context, NULL, b->m, HD_GRAIN, bend_edges, &q));
    TRY(hd_parallel(b->context, NULL, b->n, HD_GRAIN, bend_vertices, &q));
    *product = hd_block_sum(b, b->n, 1, 0);
done:
    return status;
}

/* ---- conjugate gradients ------------------------------------------------------------------- */

static huddle_status multiply_rows(void *argument, hd_chunk chunk) {
    const pass *q = argument;
    int64_t c = q->block->problem->c, first = q->block->range.v0 * c;
    double sum = 0, length = 0;
    for (int64_t i = chunk.begin; i < chunk.end; i++) {
        sum += dot(q->from + first + i * c, q->with + first + i * c, c);
        length += sqrt(dot(q->from + first + i * c, q->from + first + i * c, c));
    }
    q->block->partial[2 * chunk.index] = sum;
    q->block->partial[2 * chunk.index + 1] = length;
    return HUDDLE_OK;
}

/* The product of two vectors; the sum of the row lengths of the first in *length, if wanted. */
static huddle_status multiply(hd_block *b, const double *a, const double *v, double *product,
                              double *length) {
    huddle_status status = HUDDLE_OK;
    pass q = {.block = b, .from = a, .with = v};
    TRY(hd_parallel(b->context, NULL, b->n, HD_GRAIN, multiply_rows, &q));
    *product = hd_block_sum(b, b->n, 2, 0);
    if (length != NULL)
        *length = hd_block_sum(b, b->n, 2, 1);
done:
    return status;
}

static huddle_status add_rows(void *argument, hd_chunk chunk) {
    const pass *q = argument;
    int64_t c = q->block->problem->c, first = q->block->range.v0 * c;
    double *restrict to = q->to + first;
    const double *from = q->from + first, *with = q->with + first;
    for (int64_t k = chunk.begin * c; k < chunk.end * c; k++)
        to[k] = with[k] + q->factor * from[k];
    return HUDDLE_OK;
}

/* to = with + factor from */
static huddle_status add(hd_block *b, double *to, const double *with, double factor,
                         const double *from) {
    pass q = {.block = b, .from = from, .with = with, .to = to, .factor = factor};
    return hd_parallel(b->context, NULL, b->n, HD_GRAIN, add_rows, &q);
}

/* step = about H^-1 right; the first preconditioned residual is the reweighted step. *slope gets
 * right . step, the descent that the step promises. The new direction is kept conjugate to the
 * last by the change of the residual, which allows for inexact preconditioning. */
static huddle_status solve_newton(hd_block *b, double *slope) {
    huddle_status status = HUDDLE_OK;
    const hd_arrays *a = b->arrays;
    int64_t c = b->problem->c, first = b->range.v0 * c;
    size_t bytes = (size_t)(b->n * c) * sizeof(double);
    double *r = vector(b, RESIDUAL), *p = vector(b, DIRECTION), *image = vector(b, IMAGE);
    double *solved = vector(b, SOLVED), product, begin, length;
    memset(a->step + first, 0, bytes);
    memcpy(r + first, a->right + first, bytes);
    memcpy(p + first, a->delta + first, bytes);
    TRY(multiply(b, r, p, &product, NULL));
    begin = product;
    for (int32_t k = 0; k < MOST_INNER && product > 0; k++) {
        double curvature, change, next;
        TRY(apply(b, p, image, &curvature));
        if (!(curvature > 0))
            break;
        TRY(add(b, a->step, a->step, product / curvature, p));
        TRY(add(b, r, r, -product / curvature, image));
        TRY(multiply(b, r, r, &next, &length));
        TRY(b->linear.solver->solve(b->linear.state, r + first, .1 * length, solved + first));
        b->n_solves++;
        /* r - r_old = -(product / curvature) image */
        TRY(multiply(b, image, solved, &change, NULL));
        TRY(multiply(b, r, solved, &next, NULL));
        if (next <= .0025 * begin)
            break;
        TRY(add(b, p, solved, -change / curvature, p));
        product = next;
    }
    TRY(multiply(b, a->right, a->step, slope, NULL));
done:
    return status;
}

/* ---- the step ------------------------------------------------------------------------------ */

/* Half-way to a vector: unit = (1 - t) unit + t ((at + d) - unit (at . d) inverse) inverse, kept in
 * the unit ball; at is where the move began. */
static void follow(double *restrict unit, const double *at, const double *d, double inverse,
                   double t, int64_t c) {
    double along = inverse * dot(at, d, c), square = 0;
    for (int64_t k = 0; k < c; k++) {
        double full = inverse * (at[k] + d[k] - unit[k] * along);
        unit[k] += t * (full - unit[k]);
        square += unit[k] * unit[k];
    }
    if (square > 1)
        for (int64_t k = 0; k < c; k++)
            unit[k] /= sqrt(square);
}

static huddle_status follow_edges(void *argument, hd_chunk chunk) {
    const pass *q = argument;
    hd_block *b = q->block;
    const hd_problem *p = b->problem;
    const hd_arrays *a = b->arrays;
    int64_t c = p->c;
    for (int64_t e = b->range.e0 + chunk.begin; e < b->range.e0 + chunk.end; e++) {
        double *scratch = b->z + (e - b->range.e0) * c;
        const double *head = q->from + p->head[e] * c, *tail = q->from + p->tail[e] * c;
        for (int64_t k = 0; k < c; k++)
            scratch[k] = head[k] - tail[k];
        follow(a->unit_x + e * c, a->x + e * c, scratch, a->pull[e] / p->lambda[e], q->factor, c);
    }
    return HUDDLE_OK;
}

static huddle_status follow_vertices(void *argument, hd_chunk chunk) {
    const pass *q = argument;
    hd_block *b = q->block;
    const hd_arrays *a = b->arrays;
    int64_t c = b->problem->c;
    for (int64_t i = b->range.v0 + chunk.begin; i < b->range.v0 + chunk.end; i++)
        follow(a->unit_h + i * c, a->h + i * c, q->from + i * c, a->hold[i] / b->problem->mass[i],
               q->factor, c);
    return HUDDLE_OK;
}

/* The dual vectors for a move by t * step that has not yet been made. */
static huddle_status follow_dual(hd_block *b, double t) {
    huddle_status status = HUDDLE_OK;
    pass q = {.block = b, .from = vector(b, DIRECTION), .factor = t};
    TRY(hd_parallel(b->context, NULL, b->m, HD_GRAIN, follow_edges, &q));
    TRY(hd_parallel(b->context, NULL, b->n, HD_GRAIN, follow_vertices, &q));
done:
    return status;
}

static void scale_rows(const hd_block *b, double *to, const double *from, double factor) {
    int64_t c = b->problem->c, first = b->range.v0 * c;
    for (int64_t k = 0; k < b->n * c; k++)
        to[first + k] = factor * from[first + k];
}

/* Moves by the largest of 1, 1/2, 1/4 ... of the Newton step that descends enough; by 1.5 plain
 * steps if none does. The dual vectors follow first, by the whole step: they only shape the next
 * Hessian. */
static huddle_status descend(hd_block *b, double slope) {
    huddle_status status = HUDDLE_OK;
    double *newton = vector(b, DIRECTION), smooth[2], moved = 1;
    scale_rows(b, newton, b->arrays->step, 1);
    TRY(follow_dual(b, 1));
    TRY(hd_block_move(b, 0, smooth));
    for (int32_t k = 0; k < MOST_HALVINGS; k++) {
        if (smooth[0] <= b->smooth - 1e-4 * moved * slope)
            goto done;
        moved *= .5;
        scale_rows(b, b->arrays->step, newton, -moved);
        TRY(hd_block_move(b, 0, smooth));
    }
    int64_t c = b->problem->c, first = b->range.v0 * c;
    for (int64_t k = first; k < first + b->n * c; k++)
        b->arrays->step[k] = 1.5 * b->arrays->delta[k] - moved * newton[k];
    TRY(hd_block_move(b, 0, smooth));
done:
    return status;
}

/* The dual vectors begin where the smoothed objective puts them. */
static void begin_tail(hd_block *b) {
    const hd_arrays *a = b->arrays;
    int64_t c = b->problem->c;
    double gap = (b->primal - b->dual) / b->primal;
    for (int64_t e = b->range.e0; e < b->range.e1; e++)
        for (int64_t k = 0; k < c; k++)
            a->unit_x[e * c + k] = a->pull[e] / b->problem->lambda[e] * a->x[e * c + k];
    for (int64_t i = b->range.v0; i < b->range.v1; i++)
        for (int64_t k = 0; k < c; k++)
            a->unit_h[i * c + k] =
                b->problem->squared ? 0 : a->hold[i] / b->problem->mass[i] * a->h[i * c + k];
    b->newton = true;
    b->waiting = 0;
    b->tau = fmax(b->tau, fmin(2 * gap, .3));
}

/* A tail is for the end: far from the optimum reweighted steps are slow too, but far cheaper. */
static bool is_near(const hd_block *b) {
    return b->primal - b->dual < .02 * b->primal;
}

huddle_status hd_newton_step(hd_block *b) {
    huddle_status status = HUDDLE_OK;
    double slope;
    bool finished;
    if (b->wants_newton && b->arrays->conjugate != NULL) {
        b->wants_newton = false;
        TRY(hd_block_weigh(b));
        begin_tail(b);
    }
    if (!b->newton) {
        TRY(hd_irls_step(b));
        b->wants_newton =
            !b->spent && b->waiting >= PATIENCE && is_near(b) && b->primal - b->dual > b->target;
        goto done;
    }
    TRY(hd_irls_begin(b, &finished));
    if (finished)
        goto done;
    TRY(solve_newton(b, &slope));
    TRY(descend(b, slope));
    hd_block_tighten(b);
    if (b->since >= MOST_IDLE) {
        b->newton = false;
        b->spent = true;
        b->pairs = 0;
    }
done:
    return status;
}
