/* The shrink problem by the primal-dual hybrid gradient method (Chambolle and Pock 2011), with the
 * diagonal step lengths of Pock and Chambolle (2011) and restarts to the average (Applegate et al.
 * 2021). First order, no linear systems. New rows by Weiszfeld's iteration. */
#include "engines/counting.h"

#include "base/check.h"

#include <math.h>
#include <string.h>

enum { BATCH = 50, MAX_BATCHES = 600 };

/* Edges i < j in the order W stores them, and the arrays of the iteration. */
typedef struct problem {
    int64_t n, m, c;
    int32_t *head, *tail;
    double *limit;         /* lambda_e = gamma w_e */
    const double *weights; /* of the rows, or NULL */
    bool squared;
    double *f;          /* n x c */
    double *g, *z;      /* the iterate */
    double *sum_g;      /* over the iterations since the last restart */
    double *sum_z;      /* likewise */
    double *start_g;    /* at the last restart */
    double *start_z;    /* likewise */
    double *pull;       /* n x c: B' z */
    double *ahead;      /* n x c: 2 g_new - g_old */
    int64_t *degree;    /* edges of each row */
    double balance;     /* primal step over dual step */
    int64_t n_averaged; /* iterations in the sums */
} problem;

static double row_weight(const problem *p, int64_t i) {
    return p->weights != NULL ? p->weights[i] : 1;
}

static double length(const double *v, int64_t c) {
    double square = 0;
    for (int64_t k = 0; k < c; k++)
        square += v[k] * v[k];
    return sqrt(square);
}

static huddle_status problem_new(huddle_context *context, const hd_shrink_request *request,
                                 problem *p) {
    huddle_status status = HUDDLE_OK;
    huddle_dense f;
    huddle_csr w;
    TRY(counting_dense(context, request->f, &f));
    TRY(counting_csr(context, request->w, &w));
    int64_t entries = w.offsets[w.rows];
    p->n = f.rows;
    p->c = f.cols;
    p->weights = request->weights;
    p->squared = request->squared;
    p->balance = 1;
    ALLOC(p->head, entries);
    ALLOC(p->tail, entries);
    ALLOC(p->limit, entries);
    ALLOC_ZERO(p->degree, p->n);
    for (int64_t i = 0; i < w.rows; i++)
        for (int64_t e = w.offsets[i]; e < w.offsets[i + 1]; e++)
            if (w.columns[e] > i) {
                p->head[p->m] = (int32_t)i;
                p->tail[p->m] = w.columns[e];
                p->limit[p->m++] = request->gamma * w.values[e];
                p->degree[i]++;
                p->degree[w.columns[e]]++;
            }
    ALLOC(p->f, p->n * p->c);
    ALLOC(p->g, p->n * p->c);
    ALLOC(p->start_g, p->n * p->c);
    ALLOC_ZERO(p->sum_g, p->n * p->c);
    ALLOC(p->pull, p->n * p->c);
    ALLOC(p->ahead, p->n * p->c);
    ALLOC_ZERO(p->z, p->m * p->c);
    ALLOC_ZERO(p->start_z, p->m * p->c);
    ALLOC_ZERO(p->sum_z, p->m * p->c);
    for (int64_t i = 0; i < p->n; i++)
        memcpy(p->f + i * p->c, f.values + i * f.stride, (size_t)p->c * sizeof(double));
    memcpy(p->g, p->f, (size_t)(p->n * p->c) * sizeof(double));
    memcpy(p->start_g, p->f, (size_t)(p->n * p->c) * sizeof(double));
done:
    return status;
}

static void problem_free(problem *p) {
    void *arrays[] = {p->head,  p->tail,    p->limit,   p->f,    p->g,     p->z,     p->sum_g,
                      p->sum_z, p->start_g, p->start_z, p->pull, p->ahead, p->degree};
    for (size_t k = 0; k < sizeof arrays / sizeof *arrays; k++)
        huddle_free(arrays[k]);
}

/* pull = B' z. */
static void set_pull(const problem *p, const double *z) {
    memset(p->pull, 0, (size_t)(p->n * p->c) * sizeof(double));
    for (int64_t e = 0; e < p->m; e++)
        for (int64_t k = 0; k < p->c; k++) {
            p->pull[p->head[e] * p->c + k] += z[e * p->c + k];
            p->pull[p->tail[e] * p->c + k] -= z[e * p->c + k];
        }
}

static double objective(const problem *p, const double *g) {
    double sum = 0;
    for (int64_t i = 0; i < p->n; i++) {
        double d = counting_distance(g + i * p->c, p->f + i * p->c, p->c);
        sum += row_weight(p, i) * (p->squared ? d * d : d);
    }
    for (int64_t e = 0; e < p->m; e++)
        sum += p->limit[e] * counting_distance(g + p->head[e] * p->c, g + p->tail[e] * p->c, p->c);
    return sum;
}

/* The dual value of z, which is within its balls, scaled until B' z is feasible too. With "l2" it
 * is feasible as it is. */
static double dual_value(const problem *p, const double *z) {
    double scale = 1, inner = 0, energy = 0;
    set_pull(p, z);
    for (int64_t i = 0; i < p->n; i++) {
        const double *pull = p->pull + i * p->c;
        double size = length(pull, p->c);
        if (!p->squared && size * scale > row_weight(p, i))
            scale = row_weight(p, i) / size;
        energy += size * size / (4 * row_weight(p, i));
        for (int64_t k = 0; k < p->c; k++)
            inner += pull[k] * p->f[i * p->c + k];
    }
    return p->squared ? inner - energy : scale * inner;
}

static double relative_gap(const problem *p, const double *g, const double *z) {
    double value = objective(p, g), bound = dual_value(p, z);
    return value > 0 ? (value - bound) / value : 0;
}

/* argmin_g m ||g - f|| + ||g - x||^2 / (2 tau), or with the square of the first; x becomes g. */
static void prox_row(const problem *p, int64_t i, double tau, double *x) {
    const double *f = p->f + i * p->c;
    double m = row_weight(p, i), d = counting_distance(x, f, p->c);
    double stay = p->squared ? 1 / (1 + 2 * tau * m) : d > tau * m ? 1 - tau * m / d : 0;
    for (int64_t k = 0; k < p->c; k++)
        x[k] = f[k] + stay * (x[k] - f[k]);
}

/* One iteration: a step of G, then one of Z at 2 G_new - G_old. */
static void iterate(problem *p) {
    set_pull(p, p->z);
    for (int64_t i = 0; i < p->n; i++) {
        double *g = p->g + i * p->c, *ahead = p->ahead + i * p->c;
        double tau = p->degree[i] > 0 ? p->balance / (double)p->degree[i] : 0;
        for (int64_t k = 0; k < p->c; k++) {
            ahead[k] = -g[k];
            g[k] -= tau * p->pull[i * p->c + k];
        }
        if (tau > 0)
            prox_row(p, i, tau, g);
        for (int64_t k = 0; k < p->c; k++) {
            ahead[k] += 2 * g[k];
            p->sum_g[i * p->c + k] += g[k];
        }
    }
    for (int64_t e = 0; e < p->m; e++) {
        double *z = p->z + e * p->c, size;
        const double *a = p->ahead + p->head[e] * p->c, *b = p->ahead + p->tail[e] * p->c;
        for (int64_t k = 0; k < p->c; k++)
            z[k] += .5 / p->balance * (a[k] - b[k]);
        size = length(z, p->c);
        for (int64_t k = 0; k < p->c; k++) {
            if (size > p->limit[e])
                z[k] *= p->limit[e] / size;
            p->sum_z[e * p->c + k] += z[k];
        }
    }
    p->n_averaged++;
}

/* Continues from the average, with the balance that the way since the last restart suggests. */
static void restart(problem *p, const double *g, const double *z) {
    double way_g = counting_distance(g, p->start_g, p->n * p->c);
    double way_z = counting_distance(z, p->start_z, p->m * p->c);
    if (way_g > 0 && way_z > 0)
        p->balance = exp(.5 * log(way_g / way_z) + .5 * log(p->balance));
    memmove(p->g, g, (size_t)(p->n * p->c) * sizeof(double));
    memmove(p->z, z, (size_t)(p->m * p->c) * sizeof(double));
    memcpy(p->start_g, p->g, (size_t)(p->n * p->c) * sizeof(double));
    memcpy(p->start_z, p->z, (size_t)(p->m * p->c) * sizeof(double));
    memset(p->sum_g, 0, (size_t)(p->n * p->c) * sizeof(double));
    memset(p->sum_z, 0, (size_t)(p->m * p->c) * sizeof(double));
    p->n_averaged = 0;
}

/* Iterates until the gap is reached, or declines: the plain iteration is slow where components
 * collapse to points. The scratch arrays hold the average. */
static huddle_status solve(problem *p, double wanted, int32_t *n_iter) {
    huddle_status status = HUDDLE_OK;
    double *mean_g = NULL, *mean_z = NULL, last = INFINITY;
    ALLOC(mean_g, p->n * p->c);
    ALLOC(mean_z, p->m * p->c);
    for (int64_t batch = 1; batch <= MAX_BATCHES; batch++) {
        for (int step = 0; step < BATCH; step++)
            iterate(p);
        *n_iter += BATCH;
        for (int64_t k = 0; k < p->n * p->c; k++)
            mean_g[k] = p->sum_g[k] / (double)p->n_averaged;
        for (int64_t k = 0; k < p->m * p->c; k++)
            mean_z[k] = p->sum_z[k] / (double)p->n_averaged;
        double gap = relative_gap(p, p->g, p->z), mean_gap = relative_gap(p, mean_g, mean_z);
        if (gap <= wanted)
            goto done;
        bool better = mean_gap < gap;
        double best = better ? mean_gap : gap;
        if (best <= wanted || best < .3 * last || (double)p->n_averaged > .4 * *n_iter) {
            last = best;
            restart(p, better ? mean_g : p->g, better ? mean_z : p->z);
        }
        if (best <= wanted)
            goto done;
    }
    FAIL(HUDDLE_UNSUPPORTED, "the gap %g was not reached in %d iterations", wanted, *n_iter);
done:
    huddle_free(mean_g);
    huddle_free(mean_z);
    return status;
}

huddle_status counting_shrink(huddle_context *context, const hd_shrink_request *request,
                              hd_shrink_result *result) {
    huddle_status status = HUDDLE_OK;
    problem p = {0};
    TRY(counting_enter(context, COUNTING_SHRINK));
    TRY(problem_new(context, request, &p));
    result->n_iter = 0;
    result->n_solves = 0;
    if (!counting_state_of(context)->forge)
        TRY(solve(&p, request->gap, &result->n_iter));
    TRY(huddle_dense_new(p.n, p.c, result->g));
    TRY(huddle_dense_new(p.m, p.c, result->z));
    memcpy(result->g->values, p.g, (size_t)(p.n * p.c) * sizeof(double));
    memcpy(result->z->values, p.z, (size_t)(p.m * p.c) * sizeof(double));
    TRY(counting_keep_dense(context, result->g));
    TRY(counting_keep_dense(context, result->z));
done:
    problem_free(&p);
    return status;
}

/* ---- new rows -------------------------------------------------------------------------------- */

/* One new row: the points that pull it and how strongly; the first is its own row of F. */
typedef struct pulls {
    int64_t count, c;
    const double **point;
    double *weight;
    bool squared; /* the first pulls with the square of its distance */
} pulls;

/* The slope of the objective at `at`, without the points that lie there, whose weight is returned.
 */
static double slope_at(const pulls *p, const double *at, double *slope, double *curvature) {
    double here = 0;
    memset(slope, 0, (size_t)p->c * sizeof(double));
    *curvature = 0;
    for (int64_t q = 0; q < p->count; q++) {
        double d = counting_distance(at, p->point[q], p->c);
        double factor = q == 0 && p->squared ? 2 : d > 0 ? p->weight[q] / d : 0;
        here += d == 0 && !(q == 0 && p->squared) ? p->weight[q] : 0;
        *curvature += factor;
        for (int64_t k = 0; k < p->c; k++)
            slope[k] += factor * (at[k] - p->point[q][k]);
    }
    return here;
}

/* Weiszfeld's iteration with Vardi and Zhang's step away from a point: from each of the points in
 * turn, stopping at one that the others cannot move. */
static void shrink_row(const pulls *p, double *slope, double *g) {
    double curvature;
    for (int64_t q = 0; q < p->count; q++) {
        double here = slope_at(p, p->point[q], slope, &curvature);
        memcpy(g, p->point[q], (size_t)p->c * sizeof(double));
        if (length(slope, p->c) <= here * (1 + 1e-12))
            return;
    }
    for (int step = 0; step < 100000; step++) {
        double here = slope_at(p, g, slope, &curvature), size = length(slope, p->c);
        if (size <= here || size <= 1e-13 * curvature)
            return;
        for (int64_t k = 0; k < p->c; k++)
            g[k] -= (1 - here / size) / curvature * slope[k];
    }
}

huddle_status counting_shrink_points(huddle_context *context,
                                     const hd_shrink_points_request *request, huddle_dense *g) {
    huddle_status status = HUDDLE_OK;
    pulls p = {.c = request->f->cols, .squared = request->squared};
    double *slope = NULL, *own = NULL, *found = NULL;
    huddle_dense f, anchors;
    huddle_csr w;
    TRY(counting_enter(context, COUNTING_SHRINK_POINTS));
    TRY(counting_dense(context, request->f, &f));
    TRY(counting_dense(context, request->anchors, &anchors));
    TRY(counting_csr(context, request->w, &w));
    ALLOC(p.point, anchors.rows + 1);
    ALLOC(p.weight, anchors.rows + 1);
    ALLOC(slope, p.c);
    ALLOC(own, p.c);
    ALLOC(found, p.c);
    for (int64_t i = 0; i < f.rows; i++) {
        memcpy(own, f.values + i * f.stride, (size_t)p.c * sizeof(double));
        p.point[0] = own; /* g may be f */
        p.weight[0] = 1;
        p.count = 1;
        for (int64_t e = w.offsets[i]; e < w.offsets[i + 1]; e++) {
            p.point[p.count] = anchors.values + w.columns[e] * anchors.stride;
            p.weight[p.count++] = request->gamma * w.values[e];
        }
        shrink_row(&p, slope, found);
        memcpy(g->values + i * g->stride, found, (size_t)p.c * sizeof(double));
    }
    TRY(counting_adopt_dense(context, g));
done:
    FREE(p.point, p.weight, slope, own, found);
    return status;
}
