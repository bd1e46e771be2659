/* The passes of the conjugate gradients of Newton's step (newton.c), for each instruction set. */
#include "shrink/newton_passes.h"
#include "shrink/width.h"

#include <math.h>

/* z_e = the edge's block of the Hessian times (B from)_e; with half = 1 / (2 r), since edge_weight
 * = lambda / r. The present z is free to be overwritten: the bound has already been computed from
 * it. The symmetrised block is (lambda / r) (I - (u x' + x u') / (2 r)). For any d, d'(u x' + x u')
 * d <= 2 ||u|| ||x|| ||d||^2, so that it is positive semidefinite while ||u|| <= 1 and ||x|| <=
 * r. */
HD_SHRINK_INLINE void apply_edges(int64_t c, const hd_shrink_newton_pass *q, int64_t begin,
                                  int64_t end, double *sums) {
    const hd_shrink_problem *p = q->b->problem;
    const double *edge_weight = q->b->arrays->edge_weight;
    int64_t e0 = q->b->range.e0;
    (void)sums;
    for (int64_t e = e0 + begin; e < e0 + end; e++) {
        double *restrict z = q->b->point.z + (e - e0) * c;
        const double *head = q->from + p->head[e] * c, *tail = q->from + p->tail[e] * c;
        const double *unit = q->unit_x + e * c, *x = q->irls->x + e * c;
        double ax = 0, au = 0, half = .5 * edge_weight[e] / p->lambda[e];
#pragma omp simd reduction(+ : ax, au)
        for (int64_t k = 0; k < c; k++) {
            z[k] = head[k] - tail[k];
            ax += x[k] * z[k];
            au += unit[k] * z[k];
        }
        for (int64_t k = 0; k < c; k++)
            z[k] = edge_weight[e] * (z[k] - half * (ax * unit[k] + au * x[k]));
    }
}

HD_SHRINK_DEFINE_PASS(hd_shrink_apply_edges, hd_shrink_newton_pass, apply_edges, q->b->problem->c)

/* The block of a vertex: out = weight (v - (unit (at . v) + at (unit . v)) inverse / 2), with
 * inverse = 1 / rho_i; 0 for the squared loss, which leaves weight v. */
HD_SHRINK_INLINE void apply_vertex(double weight, double inverse, const double *unit,
                                   const double *at, const double *v, double *restrict out,
                                   int64_t c) {
    double a = .5 * inverse * hd_shrink_dot(at, v, c), u = .5 * inverse * hd_shrink_dot(unit, v, c);
    for (int64_t k = 0; k < c; k++)
        out[k] = weight * (v[k] - unit[k] * a - at[k] * u);
}

/* to = H from = the vertices' blocks + B' z; sum: from . to. The product, which conjugate gradients
 * need as the curvature, costs no pass of its own. */
HD_SHRINK_INLINE void apply_vertices(int64_t c, const hd_shrink_newton_pass *q, int64_t begin,
                                     int64_t end, double *sums) {
    const hd_shrink_problem *p = q->b->problem;
    const double *weight = q->irls->vertex_weight;
    int64_t v0 = q->b->range.v0;
    double product = 0;
    for (int64_t i = v0 + begin; i < v0 + end; i++) {
        double *restrict to = q->to + i * c;
        const double *from = q->from + i * c;
        apply_vertex(weight[i], p->squared ? 0 : weight[i] / p->mass[i], q->unit_h + i * c,
                     q->b->arrays->h + i * c, from, to, c);
        for (int64_t at = p->incident_at[i]; at < p->incident_at[i + 1]; at++) {
            int64_t e = (int64_t)(p->incident[at] >> 1) - q->b->range.e0;
            const double *z = q->b->point.z + e * c;
            double sign = p->incident[at] & 1 ? -1 : 1;
            for (int64_t k = 0; k < c; k++)
                to[k] += sign * z[k];
        }
        product += hd_shrink_dot(from, to, c);
    }
    sums[0] = product;
}

HD_SHRINK_DEFINE_PASS(hd_shrink_apply_vertices, hd_shrink_newton_pass, apply_vertices,
                      q->b->problem->c)

/* sums: from . with, and the norms of the rows of from. The norms are what tolerances of linear
 * solvers refer to (linear.h). */
HD_SHRINK_INLINE void multiply_rows(int64_t c, const hd_shrink_newton_pass *q, int64_t begin,
                                    int64_t end, double *sums) {
    int64_t first = hd_shrink_first(q->b);
    double sum = 0, length = 0;
    for (int64_t i = begin; i < end; i++) {
        const double *from = q->from + first + i * c;
        sum += hd_shrink_dot(from, q->with + first + i * c, c);
        length += sqrt(hd_shrink_dot(from, from, c));
    }
    sums[0] = sum;
    sums[1] = length;
}

HD_SHRINK_DEFINE_PASS(hd_shrink_multiply_rows, hd_shrink_newton_pass, multiply_rows,
                      q->b->problem->c)

/* to = with + factor from */
HD_SHRINK_INLINE void add_rows(int64_t c, const hd_shrink_newton_pass *q, int64_t begin,
                               int64_t end, double *sums) {
    int64_t first = hd_shrink_first(q->b);
    double *restrict to = q->to + first;
    const double *from = q->from + first, *with = q->with + first;
    (void)sums;
    for (int64_t k = begin * c; k < end * c; k++)
        to[k] = with[k] + q->factor * from[k];
}

HD_SHRINK_DEFINE_PASS(hd_shrink_add_rows, hd_shrink_newton_pass, add_rows, q->b->problem->c)
