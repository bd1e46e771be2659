#include "shrink/irls.h"

#include "base/check.h"
#include "base/parallel.h"

#include <math.h>
#include <string.h>

huddle_status hd_irls_begin(hd_block *b, bool *finished) {
    huddle_status status = HUDDLE_OK;
    TRY(hd_block_weigh(b));
    TRY(hd_block_gradient(b));
    TRY(hd_block_solve(b));
    TRY(hd_block_bound(b));
    *finished = b->primal - b->dual <= b->target;
done:
    return status;
}

static size_t row_bytes(const hd_block *b) {
    return (size_t)(b->n * b->problem->c) * sizeof(double);
}

/* ---- the plain step ------------------------------------------------------------------------ */

huddle_status hd_plain_step(hd_block *b) {
    huddle_status status = HUDDLE_OK;
    int64_t first = b->range.v0 * b->problem->c;
    double smooth[2];
    bool finished;
    TRY(hd_irls_begin(b, &finished));
    if (finished)
        goto done;
    hd_block_tighten(b);
    memcpy(b->arrays->step + first, b->arrays->delta + first, row_bytes(b));
    TRY(hd_block_move(b, 1, smooth));
done:
    return status;
}

/* ---- Anderson acceleration ----------------------------------------------------------------- */

/* arrays->past holds, for each pair, the step taken and how much the plain step changed by it;
 * after all pairs, the plain step before. Single precision is enough for a guess. */
static float *past(const hd_block *b, int64_t which) {
    int64_t size = b->problem->free * b->problem->c;
    return b->arrays->past + which * size + b->range.v0 * b->problem->c;
}

static float *past_step(const hd_block *b, int32_t pair) {
    return past(b, 2 * pair);
}

static float *past_change(const hd_block *b, int32_t pair) {
    return past(b, 2 * pair + 1);
}

typedef struct mixing {
    hd_block *block;
    double theta[HD_PAIRS];
} mixing;

/* Completes the newest pair and leaves the normal equations of the least squares, in the metric
 * of the vertices' weights. */
static huddle_status measure(void *argument, hd_chunk chunk) {
    hd_block *b = ((mixing *)argument)->block;
    int64_t c = b->problem->c, width = HD_PAIRS * (HD_PAIRS + 1);
    const double *delta = b->arrays->delta + b->range.v0 * c;
    const double *hold = b->arrays->hold + b->range.v0;
    const float *change[HD_PAIRS];
    int32_t newest = (b->next + HD_PAIRS - 1) % HD_PAIRS;
    float *fresh = past_change(b, newest), *before = past(b, 2 * HD_PAIRS);
    double sums[HD_PAIRS * (HD_PAIRS + 1)] = {0};
    for (int32_t p = 0; p < b->pairs; p++)
        change[p] = past_change(b, p);
    for (int64_t i = chunk.begin; i < chunk.end; i++) {
        for (int64_t k = i * c; k < (i + 1) * c; k++) {
            fresh[k] = (float)(delta[k] - (double)before[k]);
            before[k] = (float)delta[k];
        }
        for (int32_t p = 0; p < b->pairs; p++) {
            const float *u = change[p] + i * c;
            double right = 0;
            for (int64_t k = 0; k < c; k++)
                right += (double)u[k] * delta[i * c + k];
            sums[p * (HD_PAIRS + 1) + HD_PAIRS] += hold[i] * right;
            for (int32_t q = 0; q <= p; q++) {
                const float *v = change[q] + i * c;
                double product = 0;
                for (int64_t k = 0; k < c; k++)
                    product += (double)u[k] * (double)v[k];
                sums[p * (HD_PAIRS + 1) + q] += hold[i] * product;
            }
        }
    }
    memcpy(b->partial + chunk.index * width, sums, sizeof sums);
    return HUDDLE_OK;
}

/* Cholesky of the small normal equations, a little regularised; false if they make no sense. */
static bool solve_small(double a[HD_PAIRS][HD_PAIRS], double *right, int32_t n) {
    double trace = 0;
    for (int32_t p = 0; p < n; p++)
        trace += a[p][p];
    if (!(trace > 0) || isinf(trace))
        return false;
    for (int32_t p = 0; p < n; p++) {
        a[p][p] += 1e-12 * trace;
        for (int32_t q = 0; q <= p; q++) {
            for (int32_t k = 0; k < q; k++)
                a[p][q] -= a[p][k] * a[q][k];
            if (q < p)
                a[p][q] /= a[q][q];
        }
        if (!(a[p][p] > 0))
            return false;
        a[p][p] = sqrt(a[p][p]);
    }
    for (int32_t p = 0; p < n; p++) {
        for (int32_t k = 0; k < p; k++)
            right[p] -= a[p][k] * right[k];
        right[p] /= a[p][p];
    }
    for (int32_t p = n; p-- > 0;) {
        for (int32_t k = p + 1; k < n; k++)
            right[p] -= a[k][p] * right[k];
        right[p] /= a[p][p];
    }
    return true;
}

static bool find_theta(mixing *mix) {
    const hd_block *b = mix->block;
    const int64_t width = HD_PAIRS * (HD_PAIRS + 1);
    double a[HD_PAIRS][HD_PAIRS];
    for (int32_t p = 0; p < b->pairs; p++) {
        for (int32_t q = 0; q <= p; q++)
            a[p][q] = hd_block_sum(b, b->n, width, p * (HD_PAIRS + 1) + q);
        mix->theta[p] = hd_block_sum(b, b->n, width, p * (HD_PAIRS + 1) + HD_PAIRS);
    }
    return solve_small(a, mix->theta, b->pairs);
}

static huddle_status mix_step(void *argument, hd_chunk chunk) {
    const mixing *mix = argument;
    hd_block *b = mix->block;
    int64_t c = b->problem->c, first = b->range.v0 * c;
    double *restrict step = b->arrays->step + first;
    const double *delta = b->arrays->delta + first;
    for (int64_t k = chunk.begin * c; k < chunk.end * c; k++)
        step[k] = delta[k];
    for (int32_t p = 0; p < b->pairs; p++) {
        const float *taken = past_step(b, p), *change = past_change(b, p);
        for (int64_t k = chunk.begin * c; k < chunk.end * c; k++)
            step[k] -= mix->theta[p] * ((double)taken[k] + (double)change[k]);
    }
    return HUDDLE_OK;
}

/* step = the fallback, 1.5 plain steps; or, on top of a step already made, what leads there. */
static void set_fallback(const hd_block *b, bool instead) {
    int64_t first = b->range.v0 * b->problem->c;
    double *restrict step = b->arrays->step + first;
    const double *delta = b->arrays->delta + first;
    for (int64_t k = 0; k < b->n * b->problem->c; k++)
        step[k] = 1.5 * delta[k] - (instead ? step[k] : 0);
}

/* Moves, and leaves in step what was moved. */
static huddle_status move(hd_block *b, bool mixed) {
    huddle_status status = HUDDLE_OK;
    double smooth[2];
    if (!mixed)
        set_fallback(b, false);
    TRY(hd_block_move(b, 1.5, smooth));
    if (mixed && !(smooth[0] <= smooth[1])) {
        set_fallback(b, true);
        TRY(hd_block_move(b, 0, smooth));
        set_fallback(b, false);
    }
done:
    return status;
}

static void keep(const hd_block *b, const double *rows, float *to) {
    int64_t first = b->range.v0 * b->problem->c;
    for (int64_t k = 0; k < b->n * b->problem->c; k++)
        to[k] = (float)rows[first + k];
}

huddle_status hd_irls_step(hd_block *b) {
    huddle_status status = HUDDLE_OK;
    mixing mix = {.block = b};
    bool finished, mixed = false;
    TRY(hd_irls_begin(b, &finished));
    if (finished)
        goto done;
    if (b->pairs > 0) {
        TRY(hd_parallel(b->context, NULL, b->n, HD_GRAIN, measure, &mix));
        mixed = find_theta(&mix);
    } else {
        keep(b, b->arrays->delta, past(b, 2 * HD_PAIRS));
        b->next = 0;
    }
    if (mixed)
        TRY(hd_parallel(b->context, NULL, b->n, HD_GRAIN, mix_step, &mix));
    TRY(move(b, mixed));
    keep(b, b->arrays->step, past_step(b, b->next));
    b->next = (b->next + 1) % HD_PAIRS;
    b->pairs += b->pairs < HD_PAIRS;
    /* Pairs of another smoothing say nothing. */
    if (hd_block_tighten(b))
        b->pairs = 0;
done:
    return status;
}
