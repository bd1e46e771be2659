#include "shrink/block.h"

#include "base/check.h"
#include "base/parallel.h"
#include "shrink/certificate.h"

#include <math.h>
#include <string.h>

/* A pass: chunks are counted from the block's first vertex or edge. */
typedef struct pass {
    hd_block *block;
    double factor;
} pass;

double hd_block_sum(const hd_block *block, int64_t count, int64_t width, int64_t which) {
    double sum = 0;
    for (int64_t k = 0; k < hd_chunks(count, HD_GRAIN); k++)
        sum += block->partial[k * width + which];
    return sum;
}

static huddle_status over_vertices(hd_block *block, hd_body body, double factor) {
    pass p = {block, factor};
    return hd_parallel(block->context, NULL, block->n, HD_GRAIN, body, &p);
}

static huddle_status over_edges(hd_block *block, hd_body body, double factor) {
    pass p = {block, factor};
    return hd_parallel(block->context, NULL, block->m, HD_GRAIN, body, &p);
}

static double dot(const double *a, const double *b, int64_t c) {
    double sum = 0;
    for (int64_t k = 0; k < c; k++)
        sum += a[k] * b[k];
    return sum;
}

/* ---- objective and weights ----------------------------------------------------------------- */

static huddle_status weigh_vertices(void *argument, hd_chunk chunk) {
    hd_block *b = ((pass *)argument)->block;
    const double *hh = b->arrays->hh + b->range.v0, *mass = b->problem->mass + b->range.v0;
    double *hold = b->arrays->hold + b->range.v0, loss = 0, smooth = 0;
    double eps2 = b->eps_h * b->eps_h;
    for (int64_t i = chunk.begin; i < chunk.end; i++) {
        if (b->problem->squared) {
            loss += mass[i] * hh[i];
            hold[i] = 2 * mass[i];
            continue;
        }
        double rho = sqrt(hh[i] + eps2);
        loss += mass[i] * sqrt(hh[i]);
        smooth += mass[i] * rho;
        hold[i] = mass[i] / rho;
    }
    b->partial[2 * chunk.index] = loss;
    b->partial[2 * chunk.index + 1] = b->problem->squared ? loss : smooth;
    return HUDDLE_OK;
}

static huddle_status weigh_edges(void *argument, hd_chunk chunk) {
    hd_block *b = ((pass *)argument)->block;
    const double *xx = b->arrays->xx + b->range.e0, *lambda = b->problem->lambda + b->range.e0;
    double *pull = b->arrays->pull + b->range.e0, cost = 0, smooth = 0;
    double eps2 = b->eps_d * b->eps_d;
    for (int64_t e = chunk.begin; e < chunk.end; e++) {
        double r = sqrt(xx[e] + eps2);
        cost += lambda[e] * sqrt(xx[e]);
        smooth += lambda[e] * r;
        pull[e] = lambda[e] / r;
    }
    b->partial[2 * chunk.index] = cost;
    b->partial[2 * chunk.index + 1] = smooth;
    return HUDDLE_OK;
}

huddle_status hd_block_weigh(hd_block *b) {
    huddle_status status = HUDDLE_OK;
    int64_t first = b->range.v0 * b->problem->c;
    bool begun = !isinf(b->primal);
    b->eps_h = begun ? b->tau * b->primal / b->sum_mass : 0;
    b->eps_d = begun ? b->tau * b->primal / b->sum_lambda : 0;
    TRY(over_vertices(b, weigh_vertices, 0));
    b->now = hd_block_sum(b, b->n, 2, 0);
    b->smooth = hd_block_sum(b, b->n, 2, 1);
    TRY(over_edges(b, weigh_edges, 0));
    b->now += hd_block_sum(b, b->m, 2, 0);
    b->smooth += hd_block_sum(b, b->m, 2, 1);
    if (b->now < b->primal) {
        b->primal = b->now;
        memcpy(b->arrays->best_h + first, b->arrays->h + first,
               (size_t)(b->n * b->problem->c) * sizeof(double));
    }
done:
    return status;
}

bool hd_block_tighten(hd_block *b) {
    /* Below the target, because a gap may settle at a little more than tau. */
    double gap = b->primal - b->dual, lowest = .3 * b->target / b->primal;
    b->waiting++;
    if (gap >= 1.5 * b->tau * b->primal || b->tau <= lowest)
        return false;
    b->tau = fmax(.3 * b->tau, lowest);
    b->waiting = 0;
    return true;
}

/* ---- the reweighted step ------------------------------------------------------------------- */

static huddle_status gradient_of(void *argument, hd_chunk chunk) {
    hd_block *b = ((pass *)argument)->block;
    const hd_problem *p = b->problem;
    const hd_arrays *a = b->arrays;
    int64_t c = p->c;
    for (int64_t i = b->range.v0 + chunk.begin; i < b->range.v0 + chunk.end; i++) {
        double *restrict right = a->right + i * c;
        const double *h = a->h + i * c;
        double excess = a->hold[i];
        for (int64_t k = 0; k < c; k++)
            right[k] = -a->hold[i] * h[k];
        for (int64_t at = p->incident_at[i]; at < p->incident_at[i + 1]; at++) {
            int64_t e = p->incident[at] >> 1;
            double pull = p->incident[at] & 1 ? a->pull[e] : -a->pull[e];
            const double *x = a->x + e * c;
            for (int64_t k = 0; k < c; k++)
                right[k] += pull * x[k];
            if (e >= b->range.anchor)
                excess += a->pull[e];
        }
        a->excess[i] = excess;
    }
    return HUDDLE_OK;
}

huddle_status hd_block_gradient(hd_block *b) {
    return over_vertices(b, gradient_of, 0);
}

huddle_status hd_block_solve(hd_block *b) {
    huddle_status status = HUDDLE_OK;
    int64_t first = b->range.v0 * b->problem->c;
    TRY(b->linear.solver->factor(b->linear.state, b->arrays->excess + b->range.v0,
                                 b->arrays->pull + b->range.e0));
    TRY(b->linear.solver->solve(b->linear.state, b->arrays->right + first, .3 * b->tau * b->primal,
                                b->arrays->delta + first));
    b->n_solves++;
done:
    return status;
}

/* ---- the bound ----------------------------------------------------------------------------- */

static huddle_status dual_of(void *argument, hd_chunk chunk) {
    hd_block *b = ((pass *)argument)->block;
    const hd_problem *p = b->problem;
    const hd_arrays *a = b->arrays;
    int64_t c = p->c;
    for (int64_t local = chunk.begin; local < chunk.end; local++) {
        int64_t e = b->range.e0 + local;
        double *restrict z = b->z + local * c, norm = 0;
        const double *x = a->x + e * c;
        const double *head = a->delta + p->head[e] * c, *tail = a->delta + p->tail[e] * c;
        for (int64_t k = 0; k < c; k++) {
            z[k] = a->pull[e] * (x[k] + (head[k] - tail[k]));
            norm += z[k] * z[k];
        }
        if (norm > p->lambda[e] * p->lambda[e]) {
            double clip = p->lambda[e] / sqrt(norm);
            for (int64_t k = 0; k < c; k++)
                z[k] *= clip;
        }
    }
    return HUDDLE_OK;
}

static huddle_status inner_of(void *argument, hd_chunk chunk) {
    hd_block *b = ((pass *)argument)->block;
    const hd_problem *p = b->problem;
    int64_t c = p->c;
    double inner = 0;
    for (int64_t local = chunk.begin; local < chunk.end; local++) {
        int64_t e = b->range.e0 + local;
        const double *head = p->f + p->head[e] * c, *tail = p->f + p->tail[e] * c;
        const double *z = b->z + local * c;
        for (int64_t k = 0; k < c; k++)
            inner += z[k] * (head[k] - tail[k]);
    }
    b->partial[chunk.index] = inner;
    return HUDDLE_OK;
}

/* norm_i = ||(B'Z)_i|| / m_i, and the energy sum ||(B'Z)_i||^2 / m_i of the squared loss. */
static huddle_status norms_of(void *argument, hd_chunk chunk) {
    hd_block *b = ((pass *)argument)->block;
    const hd_problem *p = b->problem;
    const hd_arrays *a = b->arrays;
    int64_t c = p->c;
    double energy = 0;
    for (int64_t i = b->range.v0 + chunk.begin; i < b->range.v0 + chunk.end; i++) {
        double *restrict y = a->step + i * c;
        memset(y, 0, (size_t)c * sizeof *y);
        for (int64_t at = p->incident_at[i]; at < p->incident_at[i + 1]; at++) {
            const double *z = b->z + ((int64_t)(p->incident[at] >> 1) - b->range.e0) * c;
            double sign = p->incident[at] & 1 ? -1 : 1;
            for (int64_t k = 0; k < c; k++)
                y[k] += sign * z[k];
        }
        double norm = dot(y, y, c);
        energy += norm / p->mass[i];
        a->norm[i] = sqrt(norm) / p->mass[i];
    }
    b->partial[chunk.index] = energy;
    return HUDDLE_OK;
}

huddle_status hd_block_prove(hd_block *b) {
    huddle_status status = HUDDLE_OK;
    int32_t v0 = b->range.v0;
    double inner, energy, scale;
    TRY(over_edges(b, inner_of, 0));
    inner = hd_block_sum(b, b->m, 1, 0);
    TRY(over_vertices(b, norms_of, 0));
    energy = hd_block_sum(b, b->n, 1, 0);
    if (b->problem->squared)
        b->dual_now = hd_dual_l2(inner, energy, &scale);
    else
        b->dual_now = hd_dual_l21(inner, b->n, b->arrays->norm + v0, b->problem->radius + v0,
                                  b->arrays->scratch + 2 * (int64_t)v0, &scale);
    if (b->dual_now > b->dual) {
        double *swap = b->best_z;
        b->dual = b->dual_now;
        b->scale = scale;
        b->best_z = b->z;
        b->z = swap;
    }
done:
    return status;
}

huddle_status hd_block_bound(hd_block *b) {
    huddle_status status = HUDDLE_OK;
    TRY(over_edges(b, dual_of, 0));
    TRY(hd_block_prove(b));
done:
    return status;
}

/* ---- moving -------------------------------------------------------------------------------- */

static huddle_status move_vertices(void *argument, hd_chunk chunk) {
    const pass *moving = argument;
    hd_block *b = moving->block;
    const hd_arrays *a = b->arrays;
    int64_t c = b->problem->c;
    double eps2 = b->eps_h * b->eps_h, here = 0, there = 0;
    for (int64_t i = b->range.v0 + chunk.begin; i < b->range.v0 + chunk.end; i++) {
        double *restrict h = a->h + i * c, moved = 0, other = 0;
        const double *step = a->step + i * c, *delta = a->delta + i * c;
        for (int64_t k = 0; k < c; k++) {
            double v = h[k] + moving->factor * delta[k];
            h[k] += step[k];
            moved += h[k] * h[k];
            other += v * v;
        }
        a->hh[i] = moved;
        double mass = b->problem->mass[i];
        here += mass * (b->problem->squared ? moved : sqrt(moved + eps2));
        there += mass * (b->problem->squared ? other : sqrt(other + eps2));
    }
    b->partial[2 * chunk.index] = here;
    b->partial[2 * chunk.index + 1] = there;
    return HUDDLE_OK;
}

static huddle_status move_edges(void *argument, hd_chunk chunk) {
    const pass *moving = argument;
    hd_block *b = moving->block;
    const hd_problem *p = b->problem;
    const hd_arrays *a = b->arrays;
    int64_t c = p->c;
    double eps2 = b->eps_d * b->eps_d, here = 0, there = 0;
    for (int64_t e = b->range.e0 + chunk.begin; e < b->range.e0 + chunk.end; e++) {
        int64_t i = p->head[e] * c, j = p->tail[e] * c;
        double *restrict x = a->x + e * c, moved = 0, other = 0;
        for (int64_t k = 0; k < c; k++) {
            double v = x[k] + moving->factor * (a->delta[i + k] - a->delta[j + k]);
            x[k] += a->step[i + k] - a->step[j + k];
            moved += x[k] * x[k];
            other += v * v;
        }
        a->xx[e] = moved;
        here += p->lambda[e] * sqrt(moved + eps2);
        there += p->lambda[e] * sqrt(other + eps2);
    }
    b->partial[2 * chunk.index] = here;
    b->partial[2 * chunk.index + 1] = there;
    return HUDDLE_OK;
}

huddle_status hd_block_move(hd_block *b, double factor, double smooth[2]) {
    huddle_status status = HUDDLE_OK;
    TRY(over_vertices(b, move_vertices, factor));
    smooth[0] = hd_block_sum(b, b->n, 2, 0);
    smooth[1] = hd_block_sum(b, b->n, 2, 1);
    TRY(over_edges(b, move_edges, factor));
    smooth[0] += hd_block_sum(b, b->m, 2, 0);
    smooth[1] += hd_block_sum(b, b->m, 2, 1);
done:
    return status;
}

/* ---- arrays and blocks --------------------------------------------------------------------- */

/* How many partial sums a block leaves at most. */
static int64_t count_partials(const hd_range *range) {
    int64_t edges = range->e1 - range->e0, vertices = range->v1 - range->v0;
    return HD_PARTS * hd_chunks(edges > vertices ? edges : vertices, HD_GRAIN);
}

huddle_status hd_arrays_new(const hd_problem *p, int needs, hd_arrays *a) {
    huddle_status status = HUDDLE_OK;
    int64_t rows = p->n * p->c, edges = p->live * p->c, partials = 0;
    *a = (hd_arrays){0};
    for (int64_t b = 0; b < p->n_blocks; b++)
        partials += count_partials(&p->blocks[b]);
    ALLOC_ZERO(a->h, rows);
    ALLOC_ZERO(a->best_h, rows);
    ALLOC_ZERO(a->delta, rows);
    ALLOC_ZERO(a->step, rows);
    ALLOC_ZERO(a->right, rows);
    ALLOC(a->x, edges);
    ALLOC_ZERO(a->z, edges);
    ALLOC_ZERO(a->best_z, edges);
    ALLOC(a->hh, p->free);
    ALLOC(a->xx, p->live);
    ALLOC(a->pull, p->live);
    ALLOC(a->hold, p->free);
    ALLOC(a->excess, p->free);
    ALLOC(a->norm, p->free);
    ALLOC(a->scratch, 2 * (int64_t)p->free);
    ALLOC(a->partial, partials);
    if (needs & HD_NEEDS_PAST)
        ALLOC(a->past, (2 * HD_PAIRS + 1) * p->free * p->c);
    if (needs & HD_NEEDS_ROUNDS) {
        ALLOC_ZERO(a->anchor_h, rows);
        ALLOC_ZERO(a->anchor_z, edges);
        ALLOC_ZERO(a->unit_x, edges);
    }
done:
    return status;
}

huddle_status hd_arrays_add_newton(const hd_problem *p, hd_arrays *a) {
    huddle_status status = HUDDLE_OK;
    if (a->conjugate != NULL)
        return HUDDLE_OK;
    ALLOC_ZERO(a->unit_h, p->n * p->c);
    ALLOC_ZERO(a->unit_x, p->live * p->c);
    ALLOC_ZERO(a->conjugate, 4 * p->n * p->c);
done:
    return status;
}

void hd_arrays_free(hd_arrays *a) {
    void *const all[] = {a->h,      a->best_h,    a->delta,    a->step,    a->right,   a->x,
                         a->z,      a->best_z,    a->hh,       a->xx,      a->pull,    a->hold,
                         a->norm,   a->excess,    a->past,     a->scratch, a->partial, a->unit_h,
                         a->unit_x, a->conjugate, a->anchor_h, a->anchor_z};
    for (size_t k = 0; k < sizeof all / sizeof *all; k++)
        huddle_free(all[k]);
    *a = (hd_arrays){0};
}

void hd_arrays_start(const hd_problem *p, const huddle_dense *start, hd_arrays *a) {
    int64_t c = p->c;
    for (int64_t v = 0; v < p->free; v++) {
        a->hh[v] = 0;
        for (int64_t k = 0; k < c && start != NULL; k++) {
            double g = start->values[p->vertex[v] * start->stride + k] / p->unit;
            a->h[v * c + k] = g - p->f[v * c + k];
            a->hh[v] += a->h[v * c + k] * a->h[v * c + k];
        }
    }
    for (int64_t e = 0; e < p->live; e++) {
        int64_t i = p->head[e] * c, j = p->tail[e] * c;
        a->xx[e] = 0;
        for (int64_t k = 0; k < c; k++) {
            double x = (p->f[i + k] - p->f[j + k]) + (a->h[i + k] - a->h[j + k]);
            a->x[e * c + k] = x;
            a->xx[e] += x * x;
        }
    }
}

static huddle_status open_block(const char *linear, uint64_t seed, hd_block *b) {
    huddle_status status = HUDDLE_OK;
    const hd_problem *p = b->problem;
    b->n = b->range.v1 - b->range.v0;
    b->m = b->range.e1 - b->range.e0;
    b->z = b->arrays->z + b->range.e0 * p->c;
    b->best_z = b->arrays->best_z + b->range.e0 * p->c;
    b->primal = INFINITY;
    for (int64_t v = b->range.v0; v < b->range.v1; v++)
        b->sum_mass += p->mass[v];
    for (int64_t e = b->range.e0; e < b->range.e1; e++)
        b->sum_lambda += p->lambda[e];
    TRY(hd_block_weigh(b));
    if (linear != NULL) {
        hd_linear_graph graph = {.n = b->n,
                                 .m = b->range.anchor - b->range.e0,
                                 .c = p->c,
                                 .head = p->head + b->range.e0,
                                 .tail = p->tail + b->range.e0,
                                 .base = b->range.v0,
                                 .incident_at = p->incident_at + b->range.v0,
                                 .incident = p->incident,
                                 .first_edge = b->range.e0,
                                 .seed = seed};
        TRY(hd_linear_open(b->context, linear, &graph, &b->linear));
    }
done:
    return status;
}

huddle_status hd_blocks_new(huddle_context *context, const hd_problem *p, const hd_arrays *arrays,
                            const char *linear, uint64_t seed, hd_block **blocks) {
    huddle_status status = HUDDLE_OK;
    double *partial = arrays->partial;
    ALLOC_ZERO(*blocks, p->n_blocks);
    for (int64_t k = 0; k < p->n_blocks; k++) {
        hd_block *b = &(*blocks)[k];
        b->context = context;
        b->problem = p;
        b->arrays = arrays;
        b->range = p->blocks[k];
        b->partial = partial;
        partial += count_partials(&b->range);
        TRY(hd_check_cancel(context));
        TRY(open_block(linear, seed + (uint64_t)k, b));
    }
done:
    if (status != HUDDLE_OK) {
        hd_blocks_free(*blocks, p->n_blocks);
        *blocks = NULL;
    }
    return status;
}

void hd_blocks_free(hd_block *blocks, int64_t count) {
    for (int64_t k = 0; blocks != NULL && k < count; k++)
        hd_linear_close(&blocks[k].linear);
    huddle_free(blocks);
}
