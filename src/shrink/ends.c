#include "shrink/ends.h"

#include "base/check.h"
#include "shrink/certificate.h"

#include <math.h>
#include <string.h>

/* ---- exact fit ----------------------------------------------------------------------------- */

/* At G = F every edge pulls with all its force, an edge between equal rows with none. */
huddle_status hd_block_fit(hd_block *b) {
    huddle_status status = HUDDLE_OK;
    const hd_problem *p = b->problem;
    int64_t c = p->c, first = b->range.v0 * c;
    double objective = 0;
    if (p->squared)
        goto done;
    for (int64_t e = b->range.e0; e < b->range.e1; e++) {
        double *z = b->z + (e - b->range.e0) * c, square = 0;
        const double *head = p->f + p->head[e] * c, *tail = p->f + p->tail[e] * c;
        for (int64_t k = 0; k < c; k++)
            square += (head[k] - tail[k]) * (head[k] - tail[k]);
        objective += p->lambda[e] * sqrt(square);
        for (int64_t k = 0; k < c; k++)
            z[k] = square > 0 ? p->lambda[e] * (head[k] - tail[k]) / sqrt(square) : 0;
    }
    TRY(hd_block_prove(b));
    if (objective - b->dual_now > 1e-13 * objective)
        goto done;
    b->exact = true;
    b->primal = objective;
    memset(b->arrays->best_h + first, 0, (size_t)(b->n * c) * sizeof(double));
done:
    return status;
}

/* ---- one point ----------------------------------------------------------------------------- */

/* centre = where the block goes when it collapses; step = centre - f, hh with it. */
static huddle_status find_centre(hd_block *b, double *centre) {
    huddle_status status = HUDDLE_OK;
    int64_t c = b->problem->c;
    const double *f = b->problem->f + b->range.v0 * c, *mass = b->problem->mass + b->range.v0;
    double *h = b->arrays->step + b->range.v0 * c;
    if (b->problem->squared) {
        memset(centre, 0, (size_t)c * sizeof *centre);
        for (int64_t i = 0; i < b->n * c; i++)
            centre[i % c] += mass[i / c] * f[i] / b->sum_mass;
    } else {
        TRY(hd_median(b->n, c, f, mass, centre));
    }
    for (int64_t i = 0; i < b->n * c; i++)
        h[i] = centre[i % c] - f[i];
done:
    return status;
}

/* right = the forces that hold the rows at their f, -y_i = -m_i h_i / ||h_i|| (-2 m_i h_i for
 * "l2"), which must sum to nothing: rows at the centre itself take up the rest, or all rows, each
 * in proportion to its weight. Returns
 * the objective of the collapse. */
static double set_forces(hd_block *b, double *rest) {
    int64_t c = b->problem->c;
    const double *h = b->arrays->step + b->range.v0 * c, *mass = b->problem->mass + b->range.v0;
    double at_centre = 0;
    double *right = b->arrays->right + b->range.v0 * c, objective = 0;
    memset(rest, 0, (size_t)c * sizeof *rest);
    for (int64_t i = 0; i < b->n; i++) {
        double square = 0, factor;
        for (int64_t k = 0; k < c; k++)
            square += h[i * c + k] * h[i * c + k];
        at_centre += square == 0 ? mass[i] : 0;
        objective += mass[i] * (b->problem->squared ? square : sqrt(square));
        factor = mass[i] * (b->problem->squared ? -2 : square > 0 ? -1 / sqrt(square) : 0);
        for (int64_t k = 0; k < c; k++) {
            right[i * c + k] = factor * h[i * c + k];
            rest[k] += right[i * c + k];
        }
    }
    for (int64_t i = 0; i < b->n; i++) {
        bool takes = at_centre == 0;
        if (!takes) {
            takes = true;
            for (int64_t k = 0; k < c; k++)
                takes = takes && h[i * c + k] == 0;
        }
        for (int64_t k = 0; k < c && takes; k++)
            right[i * c + k] -= mass[i] * rest[k] / (at_centre > 0 ? at_centre : b->sum_mass);
    }
    return objective;
}

/* False if some first part of the block's vertices is held by more force than its cut can pass on:
 * then no dual point can prove the collapse. */
static bool cuts_suffice(const hd_block *b, double *sum) {
    const hd_problem *p = b->problem;
    int64_t c = p->c;
    double cut = 0;
    memset(sum, 0, (size_t)c * sizeof *sum);
    for (int64_t v = b->range.v0; v < b->range.v1; v++) {
        double square = 0;
        for (int64_t at = p->incident_at[v]; at < p->incident_at[v + 1]; at++) {
            int64_t e = p->incident[at] >> 1;
            int32_t other = p->incident[at] & 1 ? p->head[e] : p->tail[e];
            cut += other > v ? p->lambda[e] : -p->lambda[e];
        }
        for (int64_t k = 0; k < c; k++) {
            sum[k] += b->arrays->right[v * c + k];
            square += sum[k] * sum[k];
        }
        if (sqrt(square) > cut * (1 + 1e-9) + 1e-9)
            return false;
    }
    return true;
}

/* delta = the potentials Phi with L_lambda Phi = right. One vertex is tied to the ground, which
 * changes nothing, since the forces sum to nothing. */
static huddle_status find_potentials(hd_block *b) {
    huddle_status status = HUDDLE_OK;
    const hd_arrays *a = b->arrays;
    int64_t first = b->range.v0 * b->problem->c;
    double total = 0;
    memset(a->excess + b->range.v0, 0, (size_t)b->n * sizeof *a->excess);
    a->excess[b->range.v0] = b->sum_lambda / b->n;
    for (int64_t e = b->range.e0; e < b->range.e1; e++)
        a->pull[e] = b->problem->lambda[e];
    for (int64_t i = 0; i < b->n * b->problem->c; i++)
        total += fabs(a->right[first + i]);
    TRY(b->linear.solver->factor(b->linear.state, a->excess + b->range.v0, a->pull + b->range.e0));
    TRY(b->linear.solver->solve(b->linear.state, a->right + first, 1e-10 * total,
                                a->delta + first));
    b->n_solves++;
done:
    return status;
}

/* z = lambda B delta, and the largest ||z_e|| / lambda_e. */
static double set_dual(hd_block *b) {
    const hd_problem *p = b->problem;
    int64_t c = p->c;
    double most = 0;
    for (int64_t e = b->range.e0; e < b->range.e1; e++) {
        double *z = b->z + (e - b->range.e0) * c, square = 0;
        const double *head = b->arrays->delta + p->head[e] * c;
        const double *tail = b->arrays->delta + p->tail[e] * c;
        for (int64_t k = 0; k < c; k++)
            square += (head[k] - tail[k]) * (head[k] - tail[k]);
        double ratio = sqrt(square), clip = fmin(1, 1 / fmax(ratio, 1e-300));
        for (int64_t k = 0; k < c; k++)
            z[k] = p->lambda[e] * clip * (head[k] - tail[k]);
        most = fmax(most, ratio);
    }
    return most;
}

huddle_status hd_block_collapse(hd_block *b) {
    huddle_status status = HUDDLE_OK;
    int64_t c = b->problem->c, first = b->range.v0 * c;
    double *centre = NULL, *rest = NULL;
    if (b->range.anchor < b->range.e1 || b->linear.solver == NULL)
        goto done;
    ALLOC(centre, c);
    ALLOC(rest, c);
    TRY(find_centre(b, centre));
    double objective = set_forces(b, rest);
    if (objective < b->primal) {
        b->primal = objective;
        memcpy(b->arrays->best_h + first, b->arrays->step + first,
               (size_t)(b->n * c) * sizeof(double));
    }
    if (!cuts_suffice(b, rest))
        goto done;
    TRY(find_potentials(b));
    set_dual(b);
    TRY(hd_block_prove(b));
    b->exact = b->collapsed = objective - b->dual <= 1e-9 * objective;
done:
    huddle_free(rest);
    huddle_free(centre);
    return status;
}

/* ---- both ends ----------------------------------------------------------------------------- */

/* pull[i] = sum_j w_ij u_ij, u_ij the unit vector from f_j to f_i. */
static void add_pulls(const huddle_dense *f, const hd_edges *edges, double *pull) {
    int64_t c = f->cols;
    for (int64_t e = 0; e < edges->count; e++) {
        const double *a = f->values + edges->i[e] * f->stride;
        const double *b = f->values + edges->j[e] * f->stride;
        double square = 0, largest = 0;
        /* Divided by the largest entry, tiny rows do not vanish when squared. */
        for (int64_t k = 0; k < c; k++)
            largest = fmax(largest, fabs(a[k] - b[k]));
        if (largest == 0)
            continue;
        for (int64_t k = 0; k < c; k++)
            square += (a[k] - b[k]) / largest * ((a[k] - b[k]) / largest);
        double factor = edges->weight[e] / sqrt(square);
        for (int64_t k = 0; k < c; k++) {
            double force = factor * ((a[k] - b[k]) / largest);
            pull[edges->i[e] * c + k] += force;
            pull[edges->j[e] * c + k] -= force;
        }
    }
}

/* What holds each vertex: its own weight, and that of equal rows which hang on it by a single edge.
 * least: the gamma from which those edges can pass all of it on. */
static huddle_status find_holds(const huddle_dense *f, const hd_edges *edges, const double *weights,
                                double *own, double *hanging, double *least) {
    huddle_status status = HUDDLE_OK;
    int64_t n = f->rows, *count = NULL;
    ALLOC_ZERO(count, n);
    for (int64_t v = 0; v < n; v++)
        own[v] = weights != NULL ? weights[v] : 1;
    for (int64_t e = 0; e < edges->count; e++) {
        count[edges->i[e]]++;
        count[edges->j[e]]++;
    }
    for (int64_t e = 0; e < edges->count; e++) {
        int32_t i = edges->i[e], j = edges->j[e], leaf = count[j] == 1 ? j : i;
        int32_t stem = leaf == j ? i : j;
        if (count[leaf] != 1 || memcmp(f->values + i * f->stride, f->values + j * f->stride,
                                       (size_t)f->cols * sizeof *f->values) != 0)
            continue;
        hanging[stem] += own[leaf];
        least[stem] = fmax(least[stem], own[leaf] / edges->weight[e]);
    }
done:
    huddle_free(count);
    return status;
}

/* The smallest m_i / ||pull_i|| over the rows. */
static huddle_status exact_fit(const huddle_dense *f, const hd_edges *edges, const double *weights,
                               double *gamma) {
    huddle_status status = HUDDLE_OK;
    int64_t n = f->rows, c = f->cols;
    double *pull = NULL, *own = NULL, *hanging = NULL, *least = NULL;
    ALLOC_ZERO(pull, n * c);
    ALLOC(own, n);
    ALLOC_ZERO(hanging, n);
    ALLOC_ZERO(least, n);
    add_pulls(f, edges, pull);
    TRY(find_holds(f, edges, weights, own, hanging, least));
    *gamma = INFINITY;
    for (int64_t i = 0; i < n; i++) {
        double square = 0;
        for (int64_t k = 0; k < c; k++)
            square += pull[i * c + k] * pull[i * c + k];
        if (square == 0)
            continue;
        double together = (own[i] + hanging[i]) / sqrt(square);
        *gamma = fmin(*gamma, together >= least[i] ? together : own[i] / sqrt(square));
    }
done:
    huddle_free(pull);
    huddle_free(own);
    huddle_free(hanging);
    huddle_free(least);
    return status;
}

/* The gamma at which each block of a problem made with gamma = `unit` is certainly one point. */
static huddle_status collapse_of(huddle_context *context, const hd_problem *p, double unit,
                                 double *gamma) {
    huddle_status status = HUDDLE_OK;
    hd_arrays arrays = {0};
    hd_block *blocks = NULL;
    double *centre = NULL, *rest = NULL;
    ALLOC(centre, p->c);
    ALLOC(rest, p->c);
    TRY(hd_arrays_new(p, 0, &arrays));
    hd_arrays_start(p, NULL, &arrays);
    TRY(hd_blocks_new(context, p, &arrays, "auto", 0, &blocks));
    for (int64_t k = 0; k < p->n_blocks; k++) {
        TRY(hd_check_cancel(context));
        TRY(find_centre(&blocks[k], centre));
        if (set_forces(&blocks[k], rest) == 0)
            continue;
        TRY(find_potentials(&blocks[k]));
        *gamma = fmax(*gamma, unit * set_dual(&blocks[k]));
    }
done:
    hd_blocks_free(blocks, p->n_blocks);
    hd_arrays_free(&arrays);
    huddle_free(rest);
    huddle_free(centre);
    return status;
}

huddle_status huddle_shrink_ends(huddle_context *context, const huddle_dense *f,
                                 const huddle_csr *w, const char *loss, double *gamma_fit,
                                 double *gamma_up) {
    return huddle_shrink_ends_weighted(context, f, w, NULL, loss, gamma_fit, gamma_up);
}

huddle_status huddle_shrink_ends_weighted(huddle_context *context, const huddle_dense *f,
                                          const huddle_csr *w, const double *weights,
                                          const char *loss, double *gamma_fit, double *gamma_up) {
    huddle_status status = HUDDLE_OK;
    hd_edges edges = {0};
    hd_problem problem = {0};
    bool squared = strcmp(loss, "l2") == 0;
    double heaviest = 0;
    if (!squared && strcmp(loss, "l21") != 0)
        FAIL(HUDDLE_INVALID, "loss = %s is not one of l21|l2", loss);
    TRY(hd_edges_read(w, true, &edges));
    TRY(hd_check_rows(f, "f", w->rows));
    TRY(hd_check_weights(weights, w->rows));
    TRY(exact_fit(f, &edges, weights, gamma_fit));
    if (squared && !isinf(*gamma_fit))
        *gamma_fit = 0;
    *gamma_up = 0;
    for (int64_t e = 0; e < edges.count; e++)
        heaviest = fmax(heaviest, edges.weight[e]);
    if (heaviest == 0)
        goto done;
    /* Lighter edges than 1e-12 of the heaviest are no bridge that arithmetic can use. */
    double unit = 1e3 / heaviest;
    TRY(hd_problem_new(f, w, &edges, weights, unit, squared, false, 1e-9, &problem));
    if (problem.n_blocks + (problem.n - problem.free) > problem.n_components)
        *gamma_up = INFINITY;
    else
        TRY(collapse_of(context, &problem, unit, gamma_up));
done:
    hd_problem_free(&problem);
    hd_edges_free(&edges);
    return status;
}
