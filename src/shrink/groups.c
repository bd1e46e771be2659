#include "shrink/groups.h"

#include "base/check.h"

#include <math.h>
#include <string.h>

/* An edge is slack below this share of its largest force. By complementary slackness, an edge of
 * positive length has ||z_e|| = lambda_e in every dual solution, so an optimal dual vector strictly
 * inside its ball proves that the edge has length 0. A computed Z satisfies this up to about the
 * gap. */
static const double slack_share = .99;

/* ---- finding groups ------------------------------------------------------------------------ */

/* How much the objective can change if a vertex moves by a unit of length: each of its distances
 * changes by at most that (for the squared loss this is an estimate). Fixed vertices do not
 * move. */
static huddle_status bound_move_costs(const hd_shrink_problem *p, double *cost) {
    for (int64_t v = 0; v < p->n; v++)
        cost[v] = v < p->n_free ? p->mass[v] : INFINITY;
    for (int64_t e = 0; e < p->n_live; e++) {
        cost[p->head[e]] += p->lambda[e];
        cost[p->tail[e]] += p->lambda[e];
    }
    return hd_halo_fetch(p->halo, cost, sizeof *cost);
}

/* The cost of closing an edge, by moving the cheaper end to the other. */
static double closing_cost(const hd_shrink_problem *p, int64_t e, const double *h,
                           const double *cost) {
    int64_t i = p->head[e] * p->c, j = p->tail[e] * p->c;
    double sum = 0;
    for (int64_t k = 0; k < p->c; k++) {
        double x = (p->f[i + k] - p->f[j + k]) + (h[i + k] - h[j + k]);
        sum += x * x;
    }
    return fmin(cost[p->head[e]], cost[p->tail[e]]) * sqrt(sum);
}

/* Compared as squares, without a root; an edge with lambda = 0 is never slack. */
static bool is_slack(const double *z, int64_t c, double lambda) {
    double norm = hd_shrink_dot(z, z, c);
    return norm < slack_share * slack_share * lambda * lambda;
}

/* The caller's number of a vertex. Ghosts are numbered alike in both numberings. */
static int32_t caller_row(const hd_shrink_problem *p, int32_t v) {
    return v < p->n ? p->vertex[v] : v;
}

static void unite_ends(const hd_shrink_problem *p, int64_t e, int32_t *parent) {
    hd_unite(parent, caller_row(p, p->head[e]), caller_row(p, p->tail[e]));
}

/* Unites the ends of fused edges. Before the solve has converged, z_e may be slack although the
 * edge is still long; the second condition excludes such edges. A collapsed block needs no test. */
static void join_block(const hd_shrink_block *b, const double *cost, double negligible,
                       int32_t *parent) {
    const hd_shrink_problem *p = b->problem;
    const double *h = b->arrays->best_h;
    for (int64_t e = b->range.e0; e < b->range.e1; e++) {
        const double *z = b->point.best_z + (e - b->range.e0) * p->c;
        if (b->progress.is_collapsed ||
            (is_slack(z, p->c, p->lambda[e]) && closing_cost(p, e, h, cost) <= negligible))
            unite_ends(p, e, parent);
    }
}

/* Bit for bit: fixed rows are returned unchanged. */
static bool joins_equal_rows(const hd_shrink_problem *p, int64_t e) {
    return memcmp(p->f + p->head[e] * p->c, p->f + p->tail[e] * p->c,
                  (size_t)p->c * sizeof(double)) == 0;
}

huddle_status hd_shrink_find_groups(huddle_context *context, const hd_shrink_problem *p,
                                    const hd_shrink_block *blocks, const hd_shrink_arrays *arrays,
                                    double negligible, int32_t *group, int32_t *n_groups) {
    huddle_status status = HUDDLE_OK;
    double *cost = NULL;
    int32_t *parent = NULL;
    ALLOC_ZERO(cost, p->rows);
    ALLOC(parent, p->rows);
    TRY(bound_move_costs(p, cost));
    TRY(hd_shrink_fetch(p, arrays->best_h));
    /* The forest is in the numbering of the caller, whose smallest row names each group. */
    for (int64_t v = 0; v < p->rows; v++)
        parent[v] = (int32_t)v;
    for (int64_t b = 0; b < p->n_blocks; b++)
        join_block(&blocks[b], cost, negligible, parent);
    /* Fixed rows are fused only if they are equal: they are at their f. Negligible edges of free
     * rows exert no force that could fuse them. */
    for (int64_t e = p->n_live; e < p->m; e++)
        if (p->lambda[e] > 0 && p->head[e] >= p->n_free && p->tail[e] >= p->n_free &&
            joins_equal_rows(p, e))
            unite_ends(p, e, parent);
    TRY(hd_shrink_label_sets(context, p->halo, p->n, parent, group, n_groups));
done:
    FREE(parent, cost);
    return status;
}

/* ---- moving groups to one point ------------------------------------------------------------ */

enum { NO_FIXED = -1, SEVERAL_FIXED = -2 };

/* The fixed row of each group, by the number of the caller. A group can contain several if they are
 * equal. */
static void find_fixed(const hd_shrink_problem *p, const huddle_dense *f, const int32_t *group,
                       int32_t *fixed) {
    for (int64_t v = p->n_free; v < p->n; v++) {
        int32_t row = p->vertex[v], *known = &fixed[group[row]];
        if (*known == NO_FIXED)
            *known = row;
        else if (*known >= 0 && memcmp(f->values + *known * f->stride, f->values + row * f->stride,
                                       (size_t)f->cols * sizeof(double)) != 0)
            *known = SEVERAL_FIXED;
    }
}

/* Weighted sums of g, weights and sizes of the groups. Rows are added in their order, so that the
 * mean does not depend on the number of threads. */
static void sum_groups(const hd_shrink_input *in, const int32_t *group, const huddle_dense *g,
                       double *sum, double *mass, double *size) {
    int64_t c = g->cols;
    for (int64_t v = 0; v < g->rows; v++) {
        double weight = hd_shrink_row_weight(in->weights, v);
        size[group[v]]++;
        mass[group[v]] += weight;
        for (int64_t k = 0; k < c; k++)
            sum[group[v] * c + k] += weight * g->values[v * g->stride + k];
    }
}

/* Places for the groups of several rows of which this process has any, -1 for the others: first
 * those that extend over processes, the same on all of them, then those of this process alone. */
static huddle_status place_groups(huddle_context *context, const int32_t *group, int64_t n,
                                  int32_t n_groups, int32_t *place, int64_t *shared,
                                  int64_t *count) {
    huddle_status status = HUDDLE_OK;
    double *own = NULL, *size = NULL;
    ALLOC_ZERO(own, n_groups);
    ALLOC(size, n_groups);
    for (int64_t v = 0; v < n; v++)
        own[group[v]]++;
    memcpy(size, own, (size_t)n_groups * sizeof *own);
    TRY(hd_reduce_sum(context, n_groups, size));
    for (int32_t q = 0; q < n_groups; q++) {
        place[q] = size[q] > 1 && own[q] == size[q] ? 0 : -1;
        size[q] = own[q] > 0 && own[q] < size[q];
    }
    TRY(hd_reduce_max(context, n_groups, size));
    *count = 0;
    for (int32_t q = 0; q < n_groups; q++)
        if (size[q] > 0)
            place[q] = (int32_t)(*count)++;
    *shared = *count;
    for (int32_t q = 0; q < n_groups; q++)
        if (size[q] == 0 && place[q] == 0)
            place[q] = (int32_t)(*count)++;
done:
    FREE(own, size);
    return status;
}

/* Where rows are distributed over processes none is fixed, and only the sums of groups that extend
 * over processes are exchanged: there can be as many groups as rows, and no process has room for c
 * numbers for each row of all. */
static huddle_status snap_distributed(const hd_shrink_input *in, const int32_t *group,
                                      int32_t n_groups, huddle_dense *g) {
    huddle_status status = HUDDLE_OK;
    int64_t c = g->cols, shared = 0, count = 0;
    int32_t *place = NULL;
    double *mean = NULL, *mass = NULL;
    ALLOC(place, n_groups);
    TRY(place_groups(in->context, group, g->rows, n_groups, place, &shared, &count));
    ALLOC_ZERO(mean, count * c);
    ALLOC_ZERO(mass, count);
    for (int64_t v = 0; v < g->rows; v++) {
        int64_t q = place[group[v]];
        double weight = hd_shrink_row_weight(in->weights, v);
        if (q < 0)
            continue;
        mass[q] += weight;
        for (int64_t k = 0; k < c; k++)
            mean[q * c + k] += weight * g->values[v * g->stride + k];
    }
    if (shared > 0) {
        TRY(hd_reduce_sum(in->context, shared, mass));
        TRY(hd_reduce_sum(in->context, shared * c, mean));
    }
    for (int64_t k = 0; k < count * c; k++)
        mean[k] /= mass[k / c];
    for (int64_t v = 0; v < g->rows; v++)
        if (place[group[v]] >= 0)
            memcpy(g->values + v * g->stride, mean + place[group[v]] * c, (size_t)c * sizeof *mean);
done:
    FREE(place, mean, mass);
    return status;
}

/* Groups of one row are not touched: their mean, a product divided by the weight, could differ from
 * the row in the last bit. */
huddle_status hd_shrink_snap(const hd_shrink_input *in, const hd_shrink_problem *p,
                             const int32_t *group, int32_t n_groups, huddle_dense *g) {
    huddle_status status = HUDDLE_OK;
    const huddle_dense *f = in->f;
    int64_t c = p->c;
    double *mean = NULL, *mass = NULL, *size = NULL;
    int32_t *fixed = NULL;
    if (hd_shrink_is_distributed(p))
        return snap_distributed(in, group, n_groups, g);
    ALLOC_ZERO(mean, n_groups * c);
    ALLOC_ZERO(mass, n_groups);
    ALLOC_ZERO(size, n_groups);
    ALLOC(fixed, n_groups);
    for (int32_t q = 0; q < n_groups; q++)
        fixed[q] = NO_FIXED;
    find_fixed(p, f, group, fixed);
    sum_groups(in, group, g, mean, mass, size);
    for (int32_t q = 0; q < n_groups; q++)
        for (int64_t k = 0; k < c; k++)
            /* A fixed row does not move, so its group moves to it, bit for bit. */
            mean[q * c + k] =
                fixed[q] >= 0 ? f->values[fixed[q] * f->stride + k] : mean[q * c + k] / mass[q];
    for (int64_t v = 0; v < p->n; v++)
        if (size[group[v]] > 1 && fixed[group[v]] != SEVERAL_FIXED)
            memcpy(g->values + v * g->stride, mean + group[v] * c, (size_t)c * sizeof *mean);
done:
    FREE(fixed, size, mass, mean);
    return status;
}
