#include "shrink/pdhg.h"

#include "base/check.h"
#include "base/parallel.h"

#include <math.h>
#include <string.h>

/* Where things are: h of the iterate in delta, its dual in unit_x, the start of the round in
 * anchor_h and anchor_z, 2 h' - h in step (h' the new primal point), inverse primal steps before
 * balancing in hold. h and z receive h' and z' when objective and bound are due. */
typedef struct pass {
    hd_block *block;
    double keep;  /* (k + 1) / (k + 2) */
    bool publish; /* leave h' and z' */
} pass;

static huddle_status move_primal(void *argument, hd_chunk chunk) {
    const pass *q = argument;
    hd_block *b = q->block;
    const hd_problem *p = b->problem;
    const hd_arrays *a = b->arrays;
    int64_t c = p->c;
    double moved = 0, travelled = 0;
    for (int64_t i = b->range.v0 + chunk.begin; i < b->range.v0 + chunk.end; i++) {
        double *restrict h = a->delta + i * c, *restrict ahead = a->step + i * c;
        const double *start = a->anchor_h + i * c;
        double tau = 1 / (b->balance * a->hold[i]), square = 0, keep, change = 0, way = 0;
        double reach = tau * p->mass[i];
        memset(ahead, 0, (size_t)c * sizeof *ahead);
        for (int64_t at = p->incident_at[i]; at < p->incident_at[i + 1]; at++) {
            const double *z = a->unit_x + (int64_t)(p->incident[at] >> 1) * c;
            double sign = p->incident[at] & 1 ? -1 : 1;
            for (int64_t k = 0; k < c; k++)
                ahead[k] += sign * z[k];
        }
        for (int64_t k = 0; k < c; k++) {
            ahead[k] = h[k] - tau * ahead[k];
            square += ahead[k] * ahead[k];
        }
        if (p->squared)
            keep = 1 / (1 + 2 * reach);
        else
            keep = square > reach * reach ? 1 - reach / sqrt(square) : 0;
        for (int64_t k = 0; k < c; k++) {
            double next = keep * ahead[k], difference = next - h[k];
            if (q->publish)
                a->h[i * c + k] = next;
            ahead[k] = 2 * next - h[k];
            change += difference * difference;
            h[k] = q->keep * ahead[k] + (1 - q->keep) * start[k];
            way += (next - start[k]) * (next - start[k]);
        }
        moved += change * a->hold[i];
        travelled += way * a->hold[i];
    }
    b->partial[2 * chunk.index] = moved;
    b->partial[2 * chunk.index + 1] = travelled;
    return HUDDLE_OK;
}

static huddle_status move_dual(void *argument, hd_chunk chunk) {
    const pass *q = argument;
    hd_block *b = q->block;
    const hd_problem *p = b->problem;
    const hd_arrays *a = b->arrays;
    int64_t c = p->c;
    double moved = 0, travelled = 0;
    for (int64_t e = b->range.e0 + chunk.begin; e < b->range.e0 + chunk.end; e++) {
        int64_t i = p->head[e] * c, j = p->tail[e] * c;
        double *restrict z = a->unit_x + e * c, *restrict out = b->z + (e - b->range.e0) * c;
        const double *start = a->anchor_z + e * c;
        double sigma = .5 * b->balance * a->pull[e], square = 0, clip, change = 0, way = 0;
        for (int64_t k = 0; k < c; k++) {
            out[k] =
                z[k] + sigma * ((p->f[i + k] - p->f[j + k]) + (a->step[i + k] - a->step[j + k]));
            square += out[k] * out[k];
        }
        clip = square > p->lambda[e] * p->lambda[e] ? p->lambda[e] / sqrt(square) : 1;
        for (int64_t k = 0; k < c; k++) {
            double next = clip * out[k], difference = next - z[k];
            out[k] = next;
            change += difference * difference;
            z[k] = q->keep * (2 * next - z[k]) + (1 - q->keep) * start[k];
            way += (next - start[k]) * (next - start[k]);
        }
        moved += 2 * change / a->pull[e];
        travelled += 2 * way / a->pull[e];
    }
    b->partial[2 * chunk.index] = moved;
    b->partial[2 * chunk.index + 1] = travelled;
    return HUDDLE_OK;
}

/* ---- rounds -------------------------------------------------------------------------------- */

static void begin_round(hd_block *b) {
    const hd_arrays *a = b->arrays;
    int64_t c = b->problem->c, v = b->range.v0 * c, e = b->range.e0 * c;
    memcpy(a->anchor_h + v, a->delta + v, (size_t)(b->n * c) * sizeof(double));
    memcpy(a->anchor_z + e, a->unit_x + e, (size_t)(b->m * c) * sizeof(double));
    b->round = 0;
}

/* Steps: an edge's pull and the sum of the pulls at a vertex (Pock and Chambolle 2011). */
static void begin(hd_block *b) {
    const hd_problem *p = b->problem;
    const hd_arrays *a = b->arrays;
    int64_t c = p->c;
    memcpy(a->delta + b->range.v0 * c, a->h + b->range.v0 * c, (size_t)(b->n * c) * sizeof(double));
    memset(a->unit_x + b->range.e0 * c, 0, (size_t)(b->m * c) * sizeof(double));
    for (int64_t e = b->range.e0; e < b->range.e1; e++)
        a->pull[e] = sqrt(p->lambda[e]);
    for (int64_t i = b->range.v0; i < b->range.v1; i++) {
        a->hold[i] = 0;
        for (int64_t at = p->incident_at[i]; at < p->incident_at[i + 1]; at++)
            a->hold[i] += a->pull[p->incident[at] >> 1];
    }
    b->balance = 1;
    begin_round(b);
    b->begun = true;
}

/* A new round when the residual has fallen to a fifth of the round's first, or below .8 and rises
 * again, or the round is longer than a third of the whole. */
static void consider_restart(hd_block *b, double residual, double way_h, double way_z) {
    b->iterations++;
    if (b->round == 0)
        b->first_residual = residual;
    bool enough = residual <= .2 * b->first_residual;
    bool turned = residual <= .8 * b->first_residual && residual > b->last_residual;
    bool long_enough = b->round > 2 && (double)b->round >= .36 * (double)b->iterations;
    b->last_residual = residual;
    b->round++;
    if (b->round < 3 || !(enough || turned || long_enough))
        return;
    if (way_h > 0 && way_z > 0)
        b->balance = exp(.5 * log(sqrt(way_z / way_h)) + .5 * log(b->balance));
    begin_round(b);
}

static huddle_status iterate(hd_block *b, bool publish) {
    huddle_status status = HUDDLE_OK;
    pass q = {b, (double)(b->round + 1) / (double)(b->round + 2), publish};
    double moved_h, way_h, moved_z, way_z;
    TRY(hd_parallel(b->context, NULL, b->n, HD_GRAIN, move_primal, &q));
    moved_h = hd_block_sum(b, b->n, 2, 0);
    way_h = hd_block_sum(b, b->n, 2, 1);
    TRY(hd_parallel(b->context, NULL, b->m, HD_GRAIN, move_dual, &q));
    moved_z = hd_block_sum(b, b->m, 2, 0);
    way_z = hd_block_sum(b, b->m, 2, 1);
    consider_restart(b, sqrt(b->balance * moved_h + moved_z / b->balance), way_h, way_z);
done:
    return status;
}

/* ---- objective and bound ------------------------------------------------------------------- */

static huddle_status square_vertices(void *argument, hd_chunk chunk) {
    hd_block *b = ((const pass *)argument)->block;
    const hd_arrays *a = b->arrays;
    int64_t c = b->problem->c;
    double loss = 0;
    for (int64_t i = b->range.v0 + chunk.begin; i < b->range.v0 + chunk.end; i++) {
        double sum = 0;
        for (int64_t k = 0; k < c; k++)
            sum += a->h[i * c + k] * a->h[i * c + k];
        loss += b->problem->mass[i] * (b->problem->squared ? sum : sqrt(sum));
    }
    b->partial[chunk.index] = loss;
    return HUDDLE_OK;
}

static huddle_status square_edges(void *argument, hd_chunk chunk) {
    hd_block *b = ((const pass *)argument)->block;
    const hd_problem *p = b->problem;
    const hd_arrays *a = b->arrays;
    int64_t c = p->c;
    double cost = 0;
    for (int64_t e = b->range.e0 + chunk.begin; e < b->range.e0 + chunk.end; e++) {
        int64_t i = p->head[e] * c, j = p->tail[e] * c;
        double sum = 0;
        for (int64_t k = 0; k < c; k++) {
            double x = (p->f[i + k] - p->f[j + k]) + (a->h[i + k] - a->h[j + k]);
            sum += x * x;
        }
        cost += p->lambda[e] * sqrt(sum);
    }
    b->partial[chunk.index] = cost;
    return HUDDLE_OK;
}

static huddle_status look(hd_block *b) {
    huddle_status status = HUDDLE_OK;
    pass q = {.block = b};
    int64_t first = b->range.v0 * b->problem->c;
    TRY(hd_parallel(b->context, NULL, b->n, HD_GRAIN, square_vertices, &q));
    b->now = hd_block_sum(b, b->n, 1, 0);
    TRY(hd_parallel(b->context, NULL, b->m, HD_GRAIN, square_edges, &q));
    b->now += hd_block_sum(b, b->m, 1, 0);
    if (b->now < b->primal) {
        b->primal = b->now;
        memcpy(b->arrays->best_h + first, b->arrays->h + first,
               (size_t)(b->n * b->problem->c) * sizeof(double));
    }
    TRY(hd_block_prove(b));
done:
    return status;
}

huddle_status hd_pdhg_step(hd_block *b) {
    huddle_status status = HUDDLE_OK;
    if (!b->begun)
        begin(b);
    for (int32_t k = 1; k <= b->batch; k++)
        TRY(iterate(b, k == b->batch));
    TRY(look(b));
done:
    return status;
}
