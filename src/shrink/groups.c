/* Groups: which rows have fused, and moving each group to one point (docs/method.md, "Groups and
 * snapping"). */
#include "base/check.h"
#include "shrink/solve.h"

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

/* In the numbering of the caller, in which ghosts have the same numbers. */
static void unite_ends(const hd_shrink_problem *p, int64_t e, int32_t *parent) {
    int32_t head = p->head[e], tail = p->tail[e];
    hd_unite(parent, p->vertex[head], tail < p->n ? p->vertex[tail] : tail);
}

/* Unites the ends of fused edges. One is closed by moving the cheaper end to the other. Before the
 * solve has converged, z_e may be slack although the edge is still long; the second condition
 * excludes such edges. A collapsed block needs no test. */
static void join_block(const hd_shrink_block *b, const double *cost, double negligible,
                       int32_t *parent) {
    const hd_shrink_problem *p = b->problem;
    for (int64_t e = b->range.e0; e < b->range.e1; e++) {
        const double *z = b->point.best_z + (e - b->range.e0) * p->c;
        double lambda = p->lambda[e], cheaper = fmin(cost[p->head[e]], cost[p->tail[e]]);
        /* Compared as squares, without a root; an edge with lambda = 0 is never slack. */
        bool is_slack = hd_shrink_dot(z, z, p->c) < slack_share * slack_share * lambda * lambda;
        if (b->progress.is_collapsed ||
            (is_slack &&
             cheaper * sqrt(hd_shrink_edge_square(p, e, b->arrays->best_h)) <= negligible))
            unite_ends(p, e, parent);
    }
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
    /* Fixed rows are fused only if they are equal, bit for bit: they are at their f. Negligible
     * edges of free rows exert no force that could fuse them. */
    for (int64_t e = p->n_live; e < p->m; e++)
        if (p->lambda[e] > 0 && p->head[e] >= p->n_free && p->tail[e] >= p->n_free &&
            memcmp(p->f + p->head[e] * p->c, p->f + p->tail[e] * p->c,
                   (size_t)p->c * sizeof *p->f) == 0)
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

/* Groups of one row are not touched: their mean, a product divided by the weight, could differ from
 * the row in the last bit. Where rows are distributed over processes none is fixed, and only the
 * sums of groups that extend over processes are exchanged: there can be as many groups as rows, and
 * no process has room for c numbers for each row of all. */
huddle_status hd_shrink_snap(const hd_shrink_input *in, const hd_shrink_problem *p,
                             const int32_t *group, int32_t n_groups, huddle_dense *g) {
    huddle_status status = HUDDLE_OK;
    const huddle_dense *f = in->f;
    int64_t c = g->cols, shared = 0, count = 0;
    int32_t *place = NULL, *fixed = NULL;
    double *mean = NULL;
    ALLOC(place, n_groups);
    ALLOC(fixed, n_groups);
    TRY(place_groups(in->context, group, g->rows, n_groups, place, &shared, &count));
    ALLOC_ZERO(mean, count * c);
    TRY(hd_shrink_find_means(in->context, g, in->weights, group, place, count, shared, mean));
    for (int32_t q = 0; q < n_groups; q++)
        fixed[q] = NO_FIXED;
    find_fixed(p, f, group, fixed);
    for (int64_t v = 0; v < g->rows; v++) {
        int32_t q = group[v];
        /* A fixed row does not move, so its group moves to it, bit for bit. */
        if (place[q] >= 0 && fixed[q] != SEVERAL_FIXED)
            memcpy(g->values + v * g->stride,
                   fixed[q] >= 0 ? f->values + fixed[q] * f->stride : mean + place[q] * c,
                   (size_t)c * sizeof *mean);
    }
done:
    FREE(place, fixed, mean);
    return status;
}
