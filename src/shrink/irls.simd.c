/* The passes of the reweighted step (irls.c), for each instruction set. */
#include "shrink/irls.h"
#include "shrink/width.h"

#include <math.h>
#include <string.h>

/* right = -gradient of the smoothed objective, -(m_i / rho_i) h_i - sum (lambda_e / r_e) (+-x_e).
 * It is computed from the carried h and x, not as S F - (S + L) G as in (14), which would cancel.
 * excess = the diagonal of M beyond the edges between free vertices: the vertex's own weight and
 * those of its anchored edges, whose other end does not move. A vertex gathers from all of its
 * edges, each of which is therefore read twice: adding from edges to vertices would need atomic
 * additions, whose order changes. */
HD_SHRINK_INLINE void set_system(int64_t c, const hd_shrink_irls_pass *q, int64_t begin,
                                 int64_t end, double *sums) {
    const hd_shrink_problem *p = q->b->problem;
    const hd_shrink_arrays *a = q->b->arrays;
    const hd_shrink_range *range = &q->b->range;
    (void)sums;
    for (int64_t i = range->v0 + begin; i < range->v0 + end; i++) {
        double *restrict right = a->right + i * c;
        const double *h = a->h + i * c;
        double own = q->s->vertex_weight[i], excess = own;
        for (int64_t k = 0; k < c; k++)
            right[k] = -own * h[k];
        for (int64_t at = p->incident_at[i]; at < p->incident_at[i + 1]; at++) {
            int64_t e = p->incident[at] >> 1;
            double weight = p->incident[at] & 1 ? a->edge_weight[e] : -a->edge_weight[e];
            const double *x = q->s->x + e * c;
            for (int64_t k = 0; k < c; k++)
                right[k] += weight * x[k];
            if (e >= range->anchor)
                excess += a->edge_weight[e];
        }
        a->excess[i] = excess;
    }
}

HD_SHRINK_DEFINE_PASS(hd_shrink_set_system, hd_shrink_irls_pass, set_system, q->b->problem->c)

/* z_e = (lambda_e / r_e) (x + B delta)_e with the old r_e, clipped to its ball. If the system is
 * solved exactly, (B'Z)_i = -(m_i / rho_i) (h + delta)_i: rows whose new distance is below the old
 * rho_i satisfy their constraint of (7), and near the solution almost all do. If it is solved
 * inexactly, the bound (10) charges the difference to the rows concerned. */
HD_SHRINK_INLINE void set_dual(int64_t c, const hd_shrink_irls_pass *q, int64_t begin, int64_t end,
                               double *sums) {
    const hd_shrink_problem *p = q->b->problem;
    const hd_shrink_arrays *a = q->b->arrays;
    (void)sums;
    for (int64_t local = begin; local < end; local++) {
        int64_t e = q->b->range.e0 + local;
        double *restrict z = q->b->point.z + local * c, norm = 0;
        const double *x = q->s->x + e * c;
        const double *head = a->delta + p->head[e] * c, *tail = a->delta + p->tail[e] * c;
#pragma omp simd reduction(+ : norm)
        for (int64_t k = 0; k < c; k++) {
            z[k] = a->edge_weight[e] * (x[k] + (head[k] - tail[k]));
            norm += z[k] * z[k];
        }
        if (norm > p->lambda[e] * p->lambda[e]) {
            double clip = p->lambda[e] / sqrt(norm);
            for (int64_t k = 0; k < c; k++)
                z[k] *= clip;
        }
    }
}

HD_SHRINK_DEFINE_PASS(hd_shrink_set_dual, hd_shrink_irls_pass, set_dual, q->b->problem->c)

/* h += step, and the smoothed loss there (sums[0]) and at h + factor delta (sums[1]). The point of
 * the trial is taken from h before it moves. ||h_i||^2 is kept, so that the next weights need no
 * pass over rows of c numbers. */
HD_SHRINK_INLINE void move_vertices(int64_t c, const hd_shrink_irls_pass *q, int64_t begin,
                                    int64_t end, double *sums) {
    const hd_shrink_problem *p = q->b->problem;
    const hd_shrink_arrays *a = q->b->arrays;
    double eps2 = q->own->eps_h * q->own->eps_h, here = 0, there = 0;
    for (int64_t i = q->b->range.v0 + begin; i < q->b->range.v0 + end; i++) {
        double *restrict h = a->h + i * c, moved = 0, other = 0;
        const double *step = q->s->step + i * c, *delta = a->delta + i * c;
#pragma omp simd reduction(+ : moved, other)
        for (int64_t k = 0; k < c; k++) {
            double v = h[k] + q->factor * delta[k];
            h[k] += step[k];
            moved += h[k] * h[k];
            other += v * v;
        }
        q->s->hh[i] = moved;
        double mass = p->mass[i];
        here += mass * (p->squared ? moved : sqrt(moved + eps2));
        there += mass * (p->squared ? other : sqrt(other + eps2));
    }
    sums[0] = here;
    sums[1] = there;
}

HD_SHRINK_DEFINE_PASS(hd_shrink_move_vertices, hd_shrink_irls_pass, move_vertices, q->b->problem->c)

/* x += B step, and the smoothed cost of the edges at both points. x follows the step, not h: it
 * stays accurate where both ends are nearly one point and their difference would cancel. */
HD_SHRINK_INLINE void move_edges(int64_t c, const hd_shrink_irls_pass *q, int64_t begin,
                                 int64_t end, double *sums) {
    const hd_shrink_problem *p = q->b->problem;
    const double *delta = q->b->arrays->delta, *step = q->s->step;
    double eps2 = q->own->eps_d * q->own->eps_d, here = 0, there = 0;
    for (int64_t e = q->b->range.e0 + begin; e < q->b->range.e0 + end; e++) {
        int64_t i = p->head[e] * c, j = p->tail[e] * c;
        double *restrict x = q->s->x + e * c, moved = 0, other = 0;
#pragma omp simd reduction(+ : moved, other)
        for (int64_t k = 0; k < c; k++) {
            double v = x[k] + q->factor * (delta[i + k] - delta[j + k]);
            x[k] += step[i + k] - step[j + k];
            moved += x[k] * x[k];
            other += v * v;
        }
        q->s->xx[e] = moved;
        here += p->lambda[e] * sqrt(moved + eps2);
        there += p->lambda[e] * sqrt(other + eps2);
    }
    sums[0] = here;
    sums[1] = there;
}

HD_SHRINK_DEFINE_PASS(hd_shrink_move_edges, hd_shrink_irls_pass, move_edges, q->b->problem->c)

/* Completes the newest pair and adds up the normal equations of the least squares, lower triangle
 * and right-hand side. The weights m_i / rho_i make rows that have not moved, whose steps are tiny,
 * count as much as others. d_p has the rounding errors of single precision, about 6e-8 of delta:
 * enough for coefficients whose step is compared with the plain one before it is kept. Products are
 * added in double, where a sum over all rows adds no error of that size. */
HD_SHRINK_INLINE void set_normal_equations(int64_t c, const hd_shrink_irls_pass *q, int64_t begin,
                                           int64_t end, double *sums) {
    const hd_shrink_block *b = q->b;
    const double *delta = b->arrays->delta + hd_shrink_first(b);
    const double *weight = q->s->vertex_weight + b->range.v0;
    const float *change[HD_SHRINK_PAIRS];
    int32_t newest = (q->own->next_pair + HD_SHRINK_PAIRS - 1) % HD_SHRINK_PAIRS,
            n_pairs = q->own->n_pairs;
    float *fresh = hd_shrink_history(q->s, b, HD_SHRINK_CHANGES + newest),
          *before = hd_shrink_history(q->s, b, HD_SHRINK_LAST_DELTA);
    memset(sums, 0, HD_SHRINK_NORMAL_EQUATIONS * sizeof *sums);
    for (int32_t p = 0; p < n_pairs; p++)
        change[p] = hd_shrink_history(q->s, b, HD_SHRINK_CHANGES + p);
    for (int64_t i = begin; i < end; i++) {
        for (int64_t k = i * c; k < (i + 1) * c; k++) {
            fresh[k] = (float)(delta[k] - (double)before[k]);
            before[k] = (float)delta[k];
        }
        for (int32_t p = 0; p < n_pairs; p++) {
            const float *u = change[p] + i * c;
            double right = 0;
#pragma omp simd reduction(+ : right)
            for (int64_t k = 0; k < c; k++)
                right += (double)u[k] * delta[i * c + k];
            sums[p * (HD_SHRINK_PAIRS + 1) + HD_SHRINK_PAIRS] += weight[i] * right;
            for (int32_t r = 0; r <= p; r++) {
                const float *v = change[r] + i * c;
                double product = 0;
#pragma omp simd reduction(+ : product)
                for (int64_t k = 0; k < c; k++)
                    product += (double)u[k] * (double)v[k];
                sums[p * (HD_SHRINK_PAIRS + 1) + r] += weight[i] * product;
            }
        }
    }
}

HD_SHRINK_DEFINE_PASS(hd_shrink_set_normal_equations, hd_shrink_irls_pass, set_normal_equations,
                      q->b->problem->c)

/* step = delta - sum_p theta_p (s_p + d_p), the mixed step of Anderson's method (irls.c). Pair
 * after pair, so that each array is read in sequence. */
HD_SHRINK_INLINE void mix_step(int64_t c, const hd_shrink_irls_pass *q, int64_t begin, int64_t end,
                               double *sums) {
    int64_t first = hd_shrink_first(q->b);
    double *restrict step = q->s->step + first;
    const double *delta = q->b->arrays->delta + first;
    (void)sums;
    for (int64_t k = begin * c; k < end * c; k++)
        step[k] = delta[k];
    for (int32_t p = 0; p < q->own->n_pairs; p++) {
        const float *taken = hd_shrink_history(q->s, q->b, HD_SHRINK_STEPS + p),
                    *change = hd_shrink_history(q->s, q->b, HD_SHRINK_CHANGES + p);
        for (int64_t k = begin * c; k < end * c; k++)
            step[k] -= q->theta[p] * ((double)taken[k] + (double)change[k]);
    }
}

HD_SHRINK_DEFINE_PASS(hd_shrink_mix_step, hd_shrink_irls_pass, mix_step, q->b->problem->c)
