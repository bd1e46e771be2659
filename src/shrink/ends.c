#include "base/check.h"
#include "shrink/block.h"
#include "shrink/certificate.h"

#include <math.h>
#include <string.h>

/* Relative gaps at which a closed form counts as the solution: the rounding of a sum, and that of a
 * linear solve. The caller compares the second with the requested gap. */
static const double fit_gap = 1e-13, collapse_gap = 1e-9;

/* Relative residual of the system for the potentials. */
static const double potential_tolerance = 1e-10;

/* Edges lighter than 1e-12 of the heaviest cannot connect anything in double precision: with gamma
 * scaled so that the heaviest lambda is 1e3, they are below 1e-9. */
static const double heaviest_lambda = 1e3, negligible_lambda = 1e-9;

/* ---- exact fit ----------------------------------------------------------------------------- */

/* The dual point of G = F: z_e = lambda_e u_e with u_e the unit vector along f_i - f_j, for which
 * <Z, BF> equals the objective at F. It is optimal if it also satisfies the row constraints of (7),
 * which is condition (11). An edge between equal rows may have any z_e in its ball, and gets 0; the
 * condition is then sufficient, not necessary. Adds up the objective. */
static void set_fit_dual(const void *argument, int64_t begin, int64_t end, double *sums) {
    const hd_shrink_block *b = argument;
    const hd_shrink_problem *p = b->problem;
    int64_t c = p->c;
    double objective = 0;
    for (int64_t local = begin; local < end; local++) {
        int64_t e = b->range.e0 + local;
        double *z = b->point.z + local * c;
        const double *head = p->f + p->head[e] * c, *tail = p->f + p->tail[e] * c;
        double square = hd_shrink_distance2(head, tail, c);
        objective += p->lambda[e] * sqrt(square);
        for (int64_t k = 0; k < c; k++)
            z[k] = square > 0 ? p->lambda[e] * (head[k] - tail[k]) / sqrt(square) : 0;
    }
    sums[0] = objective;
}

/* Tries G = F. The squared loss has no kink at F, so that its gamma_fit is 0 and there is nothing
 * to try. */
huddle_status hd_shrink_try_fit(hd_shrink_block *b) {
    huddle_status status = HUDDLE_OK;
    double objective = 0;
    if (b->problem->squared)
        goto done;
    TRY(hd_shrink_over_edges(b, set_fit_dual, b, 1, &objective));
    TRY(hd_reduce_sum(b->context, 1, &objective));
    TRY(hd_shrink_block_bound(b));
    /* A gap of the size of rounding errors between this G and this Z proves that F is optimal. */
    if (objective - b->point.bound > fit_gap * objective)
        goto done;
    b->progress.is_exact = true;
    b->point.primal = objective;
    memset(b->arrays->best_h + hd_shrink_first(b), 0, (size_t)hd_shrink_size(b) * sizeof(double));
done:
    return status;
}

/* ---- one point ----------------------------------------------------------------------------- */

/* centre = the point to which the block collapses, the minimiser of the loss over a single point:
 * the geometric median ("l2": the mean) of its rows. delta = centre - f. */
static huddle_status find_centre(hd_shrink_block *b, double *centre) {
    huddle_status status = HUDDLE_OK;
    int64_t c = b->problem->c;
    const double *f = b->problem->f + b->range.v0 * c, *mass = b->problem->mass + b->range.v0;
    double *h = b->arrays->delta + b->range.v0 * c;
    if (b->problem->squared) {
        memset(centre, 0, (size_t)c * sizeof *centre);
        for (int64_t i = 0; i < b->n * c; i++)
            centre[i % c] += mass[i / c] * f[i] / b->sum_mass;
    } else {
        TRY(hd_shrink_median(b->n, c, f, mass, centre));
    }
    for (int64_t i = 0; i < b->n * c; i++)
        h[i] = centre[i % c] - f[i];
done:
    return status;
}

/* right = -Y of (12): the forces with which the rows pull back to their f, -y_i = -m_i h_i /
 * ||h_i|| (-2 m_i h_i for "l2"). A solution of L Phi = -Y exists only if they sum to zero, which
 * holds at the exact centre. The remainder of the computed one is spread over the rows at the
 * centre itself, whose subgradient is any vector of length at most m_i, or over all rows, in
 * proportion to their weights. Returns the objective of the collapse. */
static double set_forces(hd_shrink_block *b, double *rest) {
    int64_t c = b->problem->c;
    const double *h = b->arrays->delta + b->range.v0 * c, *mass = b->problem->mass + b->range.v0;
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
    /* Rows at the centre take the remainder; it is at most their weight if the centre is the
     * median. */
    for (int64_t i = 0; i < b->n; i++) {
        bool takes = true;
        for (int64_t k = 0; k < c && at_centre > 0; k++)
            takes = takes && h[i * c + k] == 0;
        for (int64_t k = 0; k < c && takes; k++)
            right[i * c + k] -= mass[i] * rest[k] / (at_centre > 0 ? at_centre : b->sum_mass);
    }
    return objective;
}

/* A cheap necessary condition for the collapse. For any set of vertices, the sum of their forces
 * must pass through the edges that leave the set, which transmit at most the sum of their lambda.
 * It is tested for the first k vertices of the block, for every k: in breadth-first order such sets
 * have few leaving edges. False if one of them fails; then no dual point proves the collapse, and
 * the linear system need not be solved. The tolerances, relative to the sums over the block, keep a
 * test that is met with equality from failing by rounding: behind the last vertex both sides are 0
 * but for the rounding of all terms before. */
static bool cuts_suffice(const hd_shrink_block *b, double *sum) {
    const hd_shrink_problem *p = b->problem;
    int64_t c = p->c;
    double cut = 0, rounding = 1e-9 * b->sum_mass + 1e-12 * b->sum_lambda;
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
        if (sqrt(square) > cut * (1 + 1e-9) + rounding)
            return false;
    }
    return true;
}

/* A Z with B'Z = right that needs no linear system. In breadth-first order every vertex but the
 * first has neighbours before it. From the last vertex to the first, each passes on to those
 * neighbours what it has to transmit, its own force and what it has been passed, in proportion to
 * lambda. Returns the largest ratio ||z_e|| / lambda_e; where gamma is large it is often far below
 * 1, the collapse is proven, and the matrix of the block is never factorised.
 *
 * potential: z_e begins at lambda_e (B potential)_e, and `right` is what that leaves; or NULL.
 * load: scratch, like right. */
static double pass_to_first(hd_shrink_block *b, const double *potential, double *load) {
    const hd_shrink_problem *p = b->problem;
    int64_t c = p->c, first = hd_shrink_first(b);
    double largest = 0;
    memcpy(load + first, b->arrays->right + first, (size_t)hd_shrink_size(b) * sizeof *load);
    for (int64_t v = b->range.v1 - 1; v > b->range.v0; v--) {
        double capacity = 0, *own = load + v * c;
        for (int64_t at = p->incident_at[v]; at < p->incident_at[v + 1]; at++) {
            int64_t e = p->incident[at] >> 1;
            capacity += (p->incident[at] & 1 ? p->head[e] : p->tail[e]) < v ? p->lambda[e] : 0;
        }
        if (!(capacity > 0))
            return INFINITY;
        for (int64_t at = p->incident_at[v]; at < p->incident_at[v + 1]; at++) {
            int64_t e = p->incident[at] >> 1;
            double sign = p->incident[at] & 1 ? -1 : 1;
            int32_t other = p->incident[at] & 1 ? p->head[e] : p->tail[e];
            double *z = b->point.z + (e - b->range.e0) * c;
            if (other > v)
                continue;
            for (int64_t k = 0; k < c; k++) {
                double along =
                    potential == NULL ? 0 : potential[v * c + k] - potential[other * c + k];
                z[k] = sign * p->lambda[e] * (along + own[k] / capacity);
                load[other * c + k] += p->lambda[e] / capacity * own[k];
            }
            largest = fmax(largest, sqrt(hd_shrink_dot(z, z, c)) / p->lambda[e]);
        }
    }
    return largest;
}

/* Blocks of at least this many vertices are relaxed before a matrix is factorised: the analysis
 * alone takes longer. Steps between two looks at the ratio, and by how much it must have fallen. */
enum { RELAXED_BLOCK = 50000, RELAXED_STEPS = 25 };
static const double relaxed_progress = .9;

/* A pass of conjugate gradients for L_lambda potential = right. */
typedef struct relaxation {
    const hd_shrink_block *b;
    double *potential, *direction, *image;
    double factor;
} relaxation;

/* The diagonal of L_lambda. */
static double degree_of(const hd_shrink_problem *p, int64_t v) {
    double degree = 0;
    for (int64_t at = p->incident_at[v]; at < p->incident_at[v + 1]; at++)
        degree += p->lambda[p->incident[at] >> 1];
    return degree;
}

/* image = L_lambda direction; sum: direction . image */
static void apply_laplacian(const void *argument, int64_t begin, int64_t end, double *sums) {
    const relaxation *q = argument;
    const hd_shrink_problem *p = q->b->problem;
    int64_t c = p->c;
    double product = 0;
    for (int64_t v = q->b->range.v0 + begin; v < q->b->range.v0 + end; v++) {
        double *restrict image = q->image + v * c;
        const double *own = q->direction + v * c;
        memset(image, 0, (size_t)c * sizeof *image);
        for (int64_t at = p->incident_at[v]; at < p->incident_at[v + 1]; at++) {
            int64_t e = p->incident[at] >> 1;
            const double *other =
                q->direction + (p->incident[at] & 1 ? p->head[e] : p->tail[e]) * c;
            for (int64_t k = 0; k < c; k++)
                image[k] += p->lambda[e] * (own[k] - other[k]);
        }
        product += hd_shrink_dot(own, image, c);
    }
    sums[0] = product;
}

/* potential += factor direction, right -= factor image; sum: right . right / degree */
static void move_potential(const void *argument, int64_t begin, int64_t end, double *sums) {
    const relaxation *q = argument;
    const hd_shrink_problem *p = q->b->problem;
    int64_t c = p->c;
    double sum = 0;
    for (int64_t v = q->b->range.v0 + begin; v < q->b->range.v0 + end; v++) {
        double *right = q->b->arrays->right + v * c;
        for (int64_t k = 0; k < c; k++) {
            q->potential[v * c + k] += q->factor * q->direction[v * c + k];
            right[k] -= q->factor * q->image[v * c + k];
        }
        sum += hd_shrink_dot(right, right, c) / degree_of(p, v);
    }
    sums[0] = sum;
}

/* direction = right / degree + factor direction */
static void turn_direction(const void *argument, int64_t begin, int64_t end, double *sums) {
    const relaxation *q = argument;
    const hd_shrink_problem *p = q->b->problem;
    int64_t c = p->c;
    (void)sums;
    for (int64_t v = q->b->range.v0 + begin; v < q->b->range.v0 + end; v++) {
        double inverse = 1 / degree_of(p, v);
        for (int64_t k = 0; k < c; k++)
            q->direction[v * c + k] =
                inverse * q->b->arrays->right[v * c + k] + q->factor * q->direction[v * c + k];
    }
}

/* A few conjugate gradient steps bring the potentials near those of (12); what they leave is small
 * and is passed on as above, so that B'Z = right holds exactly at any time. They go on while that
 * lowers the largest ratio; then the potentials are near enough to the exact ones, whose ratio
 * would hardly be smaller. */
static huddle_status relax_and_pass(hd_shrink_block *b, double *ratio) {
    huddle_status status = HUDDLE_OK;
    int64_t size = b->problem->rows * b->problem->c;
    double *direction = NULL, *image = NULL, before, curvature, product = 0, next;
    ALLOC_ZERO(direction, size);
    ALLOC_ZERO(image, size);
    memset(b->arrays->delta + hd_shrink_first(b), 0, (size_t)hd_shrink_size(b) * sizeof(double));
    relaxation q = {b, b->arrays->delta, direction, image, 0};
    TRY(hd_shrink_over_vertices(b, move_potential, &q, 1, &product));
    TRY(hd_shrink_over_vertices(b, turn_direction, &q, 0, NULL));
    do {
        before = *ratio;
        for (int k = 0; k < RELAXED_STEPS; k++) {
            TRY(hd_check_cancel(b->context));
            curvature = next = 0;
            TRY(hd_shrink_over_vertices(b, apply_laplacian, &q, 1, &curvature));
            if (!(curvature > 0))
                break;
            q.factor = product / curvature;
            TRY(hd_shrink_over_vertices(b, move_potential, &q, 1, &next));
            q.factor = next / product;
            product = next;
            TRY(hd_shrink_over_vertices(b, turn_direction, &q, 0, NULL));
        }
        *ratio = pass_to_first(b, q.potential, image);
    } while (*ratio > 1 && *ratio < relaxed_progress * before);
done:
    FREE(direction, image);
    return status;
}

/* delta = the potentials Phi of (12), L_lambda Phi = right. Among all Z with B'Z = right, lambda B
 * Phi has the least energy sum ||z_e||^2 / lambda_e; the Z that is feasible whenever any is would
 * minimise the largest ||z_e|| / lambda_e, at far higher cost.
 *
 * L_lambda is singular. One vertex is tied to the ground by the mean of lambda per vertex, which
 * makes the matrix regular at a similar scale; since the forces sum to zero, no current flows to
 * the ground and no difference changes. */
static huddle_status find_potentials(hd_shrink_block *b) {
    huddle_status status = HUDDLE_OK;
    const hd_shrink_arrays *a = b->arrays;
    int64_t first = b->range.v0 * b->problem->c;
    double total = 0;
    memset(a->excess + b->range.v0, 0, (size_t)b->n * sizeof *a->excess);
    a->excess[b->range.v0] = b->sum_lambda / b->n;
    for (int64_t e = b->range.e0; e < b->range.e1; e++)
        a->edge_weight[e] = b->problem->lambda[e];
    for (int64_t i = 0; i < b->n * b->problem->c; i++)
        total += fabs(a->right[first + i]);
    TRY(hd_shrink_block_open_linear(b));
    TRY(b->linear.solver->factor(b->linear.state, a->excess + b->range.v0,
                                 a->edge_weight + b->range.e0));
    TRY(b->linear.solver->solve(b->linear.state, a->right + first, potential_tolerance * total,
                                a->delta + first));
    b->n_solves++;
done:
    return status;
}

/* z = lambda B delta, clipped to its ball; returns the largest ||z_e|| / lambda_e before clipping.
 * Potentials scale as 1 / gamma, so gamma times this ratio is gamma_up, and a ratio of at most 1
 * proves the collapse. The guard of 1e-300 avoids a division by zero. */
static double set_dual(hd_shrink_block *b) {
    const hd_shrink_problem *p = b->problem;
    int64_t c = p->c;
    double largest = 0;
    for (int64_t e = b->range.e0; e < b->range.e1; e++) {
        double *z = b->point.z + (e - b->range.e0) * c;
        const double *head = b->arrays->delta + p->head[e] * c;
        const double *tail = b->arrays->delta + p->tail[e] * c;
        double ratio = sqrt(hd_shrink_distance2(head, tail, c));
        double clip = fmin(1, 1 / fmax(ratio, 1e-300));
        for (int64_t k = 0; k < c; k++)
            z[k] = p->lambda[e] * clip * (head[k] - tail[k]);
        largest = fmax(largest, ratio);
    }
    return largest;
}

/* Even if the collapse is not proven, its point and its clipped Z are valid: each is kept if it
 * improves on the best of the block. */
huddle_status hd_shrink_try_collapse(hd_shrink_block *b) {
    huddle_status status = HUDDLE_OK;
    int64_t c = b->problem->c, first = hd_shrink_first(b);
    double *row = NULL;
    if (b->range.anchor < b->range.e1 || b->linear_name == NULL ||
        hd_shrink_is_distributed(b->problem))
        goto done;
    ALLOC(row, c);
    TRY(find_centre(b, row));
    double objective = set_forces(b, row);
    if (objective < b->point.primal) {
        b->point.primal = objective;
        memcpy(b->arrays->best_h + first, b->arrays->delta + first,
               (size_t)(b->n * c) * sizeof(double));
    }
    if (!cuts_suffice(b, row))
        goto done;
    double ratio = pass_to_first(b, NULL, b->arrays->delta);
    if (ratio > 1 && b->n >= RELAXED_BLOCK) {
        TRY(relax_and_pass(b, &ratio));
        if (ratio > 1)
            goto done;
    }
    if (ratio > 1) {
        TRY(find_potentials(b));
        set_dual(b);
    }
    TRY(hd_shrink_block_bound(b));
    b->progress.is_exact = b->progress.is_collapsed =
        objective - b->point.dual <= collapse_gap * objective;
done:
    huddle_free(row);
    return status;
}

/* ---- both ends ----------------------------------------------------------------------------- */

/* pull[i] = sum_j w_ij u_ij of (11), u_ij being the unit vector from f_j to f_i. Equal rows do not
 * pull. */
static void add_pulls(const huddle_dense *f, const hd_shrink_edges *edges, double *pull) {
    int64_t c = f->cols;
    for (int64_t e = 0; e < edges->count; e++) {
        const double *a = f->values + edges->i[e] * f->stride;
        const double *b = f->values + edges->j[e] * f->stride;
        double square = 0, largest = 0;
        /* Dividing by the largest entry keeps squares of tiny differences from underflowing to 0,
         * and of large ones from overflowing. */
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

/* The weight that keeps each vertex at its place: its own, and that of its equal leaves, that is,
 * of rows equal to it whose only edge leads to it. Their edges have length 0, so z_e is free in its
 * ball and can pass the weight of the leaf on to the vertex; this needs lambda_e = gamma w_e to be
 * at least the weight of the leaf. min_gamma: the gamma from which this holds for all leaves of the
 * vertex.
 *
 * Leaves are the case of equal rows that can be decided locally. For other equal neighbours (11) is
 * a lower bound of the true gamma_fit. */
static huddle_status find_resistance(const huddle_dense *f, const hd_shrink_edges *edges,
                                     const double *weights, double *own, double *leaves,
                                     double *min_gamma) {
    huddle_status status = HUDDLE_OK;
    int64_t n = f->rows, *count = NULL;
    ALLOC_ZERO(count, n);
    for (int64_t v = 0; v < n; v++)
        own[v] = hd_shrink_row_weight(weights, v);
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
        leaves[stem] += own[leaf];
        min_gamma[stem] = fmax(min_gamma[stem], own[leaf] / edges->weight[e]);
    }
done:
    huddle_free(count);
    return status;
}

/* gamma_fit of (11): the smallest m_i / ||pull_i|| over the rows. The weight of the leaves is
 * counted only if gamma is then large enough for their edges to transmit it. */
static huddle_status find_fit(const hd_shrink_input *in, double *gamma) {
    huddle_status status = HUDDLE_OK;
    const huddle_dense *f = in->f;
    int64_t n = f->rows, c = f->cols;
    double *pull = NULL, *own = NULL, *leaves = NULL, *min_gamma = NULL;
    ALLOC_ZERO(pull, n * c);
    ALLOC(own, n);
    ALLOC_ZERO(leaves, n);
    ALLOC_ZERO(min_gamma, n);
    add_pulls(f, in->edges, pull);
    TRY(find_resistance(f, in->edges, in->weights, own, leaves, min_gamma));
    *gamma = INFINITY;
    for (int64_t i = 0; i < n; i++) {
        double square = hd_shrink_dot(pull + i * c, pull + i * c, c);
        if (square == 0)
            continue;
        double together = (own[i] + leaves[i]) / sqrt(square);
        *gamma = fmin(*gamma, together >= min_gamma[i] ? together : own[i] / sqrt(square));
    }
done:
    FREE(pull, own, leaves, min_gamma);
    return status;
}

/* gamma_up of (12), the largest over the blocks of a problem that was built with gamma = `unit`. A
 * block whose rows are equal is one point for every gamma. */
static huddle_status find_collapse(huddle_context *context, const hd_shrink_problem *p, double unit,
                                   double *gamma) {
    huddle_status status = HUDDLE_OK;
    hd_shrink_arrays arrays = {0};
    hd_shrink_block *blocks = NULL;
    double *row = NULL;
    ALLOC(row, p->c);
    TRY(hd_shrink_arrays_new(p, true, &arrays));
    TRY(hd_shrink_blocks_new(context, p, &arrays, "auto", 0, &blocks));
    for (int64_t k = 0; k < p->n_blocks; k++) {
        TRY(hd_check_cancel(context));
        TRY(find_centre(&blocks[k], row));
        if (set_forces(&blocks[k], row) == 0)
            continue;
        TRY(find_potentials(&blocks[k]));
        *gamma = fmax(*gamma, unit * set_dual(&blocks[k]));
    }
done:
    hd_shrink_blocks_free(blocks, p->n_blocks);
    hd_shrink_arrays_free(&arrays);
    huddle_free(row);
    return status;
}

/* Both ends, from checked arguments. input->gamma is set here: the potentials are computed at a
 * gamma for which the heaviest lambda has a moderate size, and scaled afterwards. */
static huddle_status find_ends(hd_shrink_input *input, double *gamma_fit, double *gamma_up) {
    huddle_status status = HUDDLE_OK;
    const hd_shrink_edges *edges = input->edges;
    hd_shrink_problem problem = {0};
    double heaviest = 0;
    TRY(find_fit(input, gamma_fit));
    if (input->squared && !isinf(*gamma_fit))
        *gamma_fit = 0;
    *gamma_up = 0;
    for (int64_t e = 0; e < edges->count; e++)
        heaviest = fmax(heaviest, edges->weight[e]);
    if (heaviest == 0)
        goto done;
    input->gamma = heaviest_lambda / heaviest;
    TRY(hd_shrink_problem_new(input, false, negligible_lambda, &problem));
    /* If a component is connected by negligible edges only, it falls into several blocks (fixed
     * vertices count as blocks of one). Its gamma_up is then beyond any gamma of practical use. */
    if (problem.n_blocks + (problem.n - problem.n_free) > problem.n_components)
        *gamma_up = INFINITY;
    else
        TRY(find_collapse(input->context, &problem, input->gamma, gamma_up));
done:
    hd_shrink_problem_free(&problem);
    return status;
}

huddle_status huddle_shrink_ends(huddle_context *context, const huddle_dense *f,
                                 const huddle_csr *w, const double *weights, const char *loss,
                                 double *gamma_fit, double *gamma_up) {
    huddle_status status = HUDDLE_OK;
    hd_shrink_edges edges = {0};
    hd_shrink_input input = {context, f, w, &edges, weights, 0, false};
    TRY(hd_shrink_check_loss(loss, 0, &input.squared));
    if (hd_context_engine(context)->slabs != NULL)
        FAIL(HUDDLE_UNSUPPORTED,
             "the ends of gamma need all rows in one process; this engine distributes them");
    TRY(huddle_csr_fetch(w));
    TRY(hd_shrink_edges_read(context, w, &edges));
    TRY(hd_shrink_check_shape(f, "f", w->rows, f->cols));
    TRY(hd_shrink_check_weights(weights, w->rows));
    TRY(find_ends(&input, gamma_fit, gamma_up));
done:
    hd_shrink_edges_free(&edges);
    return hd_agree(context, status);
}
