#include "shrink/block.h"

#include "base/check.h"

#include <math.h>
#include <string.h>

/* The geometric median: Newton's method on the sum of distances, with Weiszfeld's step where
 * Newton's does not descend.
 *
 * The sum is convex, with a kink at each data point and smooth elsewhere. If a data point is the
 * minimiser, the iterates approach it without arriving; so the data point nearest to the iterate is
 * tested for optimality whenever it changes. */
enum {
    MAX_STEPS = 300,
    MAX_NEWTON_COLUMNS = 64, /* beyond that a c x c system costs more than Weiszfeld's steps */
    MIN_STEPS = 20,          /* before a step without descent ends the iteration */
};

/* The gradient, relative to the sum of the weights, at which the iterate is accepted as the median;
 * and the margin for rounding in the test of a data point. */
static const double gradient_tolerance = 1e-13, kink_margin = 1e-12;

/* If a pivot of the Hessian is below this share of its scale, Newton's step is not used: where the
 * rows lie nearly on a line, the sum has almost no curvature along it. */
static const double smallest_pivot = 1e-10;

typedef struct median {
    int64_t n, c;
    const double *rows;
    const double *mass; /* their weights */
    double *at;         /* the iterate */
    double *gradient;   /* weighted sum of unit vectors from the rows to it */
    double *hessian;    /* c x c, or NULL */
    double *trial;
    double total_mass;
    double total;      /* weighted sum of distances */
    double weight;     /* weighted sum of their inverses */
    int64_t nearest;   /* row */
    double coincident; /* weight of the rows at the iterate itself */
} median;

/* Objective, gradient and Hessian at a point, and the row nearest to it. The Hessian is sum_i m_i /
 * d_i (I - u_i u_i'), with the distances d_i and unit vectors u_i. Its multiple of the identity is
 * kept in m->weight, and only the lower triangle of the rest is stored. Rows at the point itself
 * have no gradient and are counted in m->coincident. */
static void evaluate_at(median *m, const double *point) {
    int64_t c = m->c;
    double smallest = INFINITY;
    m->total = m->weight = 0;
    m->coincident = 0;
    memset(m->gradient, 0, (size_t)c * sizeof *m->gradient);
    if (m->hessian != NULL)
        memset(m->hessian, 0, (size_t)(c * c) * sizeof *m->hessian);
    for (int64_t i = 0; i < m->n; i++) {
        const double *row = m->rows + i * c;
        double square = hd_shrink_distance2(point, row, c);
        if (square < smallest) {
            smallest = square;
            m->nearest = i;
        }
        if (square == 0) {
            m->coincident += m->mass[i];
            continue;
        }
        double unit = 1 / sqrt(square), inverse = m->mass[i] * unit;
        m->total += m->mass[i] * sqrt(square);
        m->weight += inverse;
        for (int64_t k = 0; k < c; k++)
            m->gradient[k] += inverse * (point[k] - row[k]);
        for (int64_t k = 0; k < c && m->hessian != NULL; k++)
            for (int64_t q = 0; q <= k; q++)
                m->hessian[k * c + q] -=
                    inverse * unit * unit * (point[k] - row[k]) * (point[q] - row[q]);
    }
}

/* Solves (hessian + weight I) step = -gradient in place; false if it is not definite enough. */
static bool newton_step(median *m, double *step) {
    for (int64_t k = 0; k < m->c; k++)
        step[k] = -m->gradient[k];
    return hd_shrink_solve_small(m->c, m->c, m->hessian, m->weight, smallest_pivot * m->weight,
                                 step);
}

/* The optimality condition at a kink: zero is in the subdifferential if and only if the gradient of
 * the other terms is not longer than the weight of the rows there. */
static bool is_optimal_at(median *m, int64_t row) {
    evaluate_at(m, m->rows + row * m->c);
    return hd_shrink_norm(m->gradient, m->c) <= m->coincident * (1 + kink_margin);
}

/* Weiszfeld's step, a gradient step of length 1 / sum m_i / d_i, which minimises a majorising
 * quadratic. At a data point it is shortened by the weight of that point (Vardi and Zhang 2000),
 * without which the iteration could not leave it. */
static void weiszfeld_step(const median *m, double *step) {
    double pull = hd_shrink_norm(m->gradient, m->c);
    double factor = pull > 0 ? fmax(0, 1 - m->coincident / pull) / m->weight : 0;
    for (int64_t k = 0; k < m->c; k++)
        step[k] = -factor * m->gradient[k];
}

/* One step: Newton's if it decreases the sum, otherwise Weiszfeld's, which always does. At a data
 * point the Hessian lacks the term of that point, so Newton's step is not tried there. */
static void descent_step(median *m, double *step) {
    bool newton = m->hessian != NULL && m->coincident == 0;
    double before = m->total;
    memcpy(m->trial, m->at, (size_t)m->c * sizeof *m->at);
    /* newton_step() overwrites the Hessian by its factor; every evaluation computes it anew. */
    if (newton && newton_step(m, step)) {
        for (int64_t k = 0; k < m->c; k++)
            m->at[k] = m->trial[k] + step[k];
        evaluate_at(m, m->at);
        if (m->total < before)
            return;
        evaluate_at(m, m->trial);
    }
    weiszfeld_step(m, step);
    for (int64_t k = 0; k < m->c; k++)
        m->at[k] = m->trial[k] + step[k];
    evaluate_at(m, m->at);
}

/* Starts from the mean. The iteration also ends when the sum no longer decreases in double
 * precision, but not within the first MIN_STEPS steps. */
static void find_median(median *m, double *step) {
    int64_t c = m->c, tested = -1;
    for (int64_t i = 0; i < m->n; i++)
        for (int64_t k = 0; k < c; k++)
            m->at[k] += m->mass[i] * m->rows[i * c + k] / m->total_mass;
    evaluate_at(m, m->at);
    for (int32_t count = 0; count < MAX_STEPS; count++) {
        if (hd_shrink_norm(m->gradient, c) <= gradient_tolerance * m->total_mass)
            return;
        int64_t nearest = m->nearest;
        if (nearest != tested) {
            tested = nearest;
            if (is_optimal_at(m, nearest)) {
                memcpy(m->at, m->rows + nearest * c, (size_t)c * sizeof *m->at);
                return;
            }
            evaluate_at(m, m->at);
        }
        double before = m->total;
        descent_step(m, step);
        if (before - m->total <= 1e-16 * before && count > MIN_STEPS)
            return;
    }
}

huddle_status hd_shrink_median(int64_t n, int64_t c, const double *rows, const double *mass,
                               double *out) {
    huddle_status status = HUDDLE_OK;
    median m = {.n = n, .c = c, .rows = rows, .mass = mass, .at = out};
    double *step = NULL;
    ALLOC(m.gradient, c);
    ALLOC(m.trial, c);
    ALLOC(step, c);
    /* In one dimension the sum is piecewise linear and its Hessian zero. */
    if (c > 1 && c <= MAX_NEWTON_COLUMNS)
        ALLOC(m.hessian, c * c);
    memset(out, 0, (size_t)c * sizeof *out);
    for (int64_t i = 0; i < n; i++)
        m.total_mass += mass[i];
    find_median(&m, step);
done:
    FREE(step, m.trial, m.hessian, m.gradient);
    return status;
}
