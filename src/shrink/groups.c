#include "shrink/groups.h"

#include "base/check.h"

#include <math.h>
#include <string.h>

/* What all edges of a vertex, and its own term, could charge for a unit of movement. */
static void weigh_vertices(const hd_problem *p, double *weight) {
    for (int64_t v = 0; v < p->n; v++)
        weight[v] = v < p->free ? p->mass[v] : INFINITY;
    for (int64_t e = 0; e < p->live; e++) {
        weight[p->head[e]] += p->lambda[e];
        weight[p->tail[e]] += p->lambda[e];
    }
}

/* The most it can cost to move the lighter end of an edge to the other. */
static double closing_cost(const hd_problem *p, int64_t e, const double *h, const double *weight) {
    int64_t i = p->head[e] * p->c, j = p->tail[e] * p->c;
    double sum = 0;
    for (int64_t k = 0; k < p->c; k++) {
        double x = (p->f[i + k] - p->f[j + k]) + (h[i + k] - h[j + k]);
        sum += x * x;
    }
    return fmin(weight[p->head[e]], weight[p->tail[e]]) * sqrt(sum);
}

static bool is_slack(const hd_problem *p, const double *z, double lambda) {
    double norm = 0;
    for (int64_t k = 0; k < p->c; k++)
        norm += z[k] * z[k];
    return norm < .99 * .99 * lambda * lambda;
}

static void join_block(const hd_problem *p, const hd_block *b, const double *h,
                       const double *weight, double negligible, int32_t *parent) {
    for (int64_t e = b->range.e0; e < b->range.e1; e++) {
        const double *z = b->best_z + (e - b->range.e0) * p->c;
        if (b->collapsed ||
            (is_slack(p, z, p->lambda[e]) && closing_cost(p, e, h, weight) <= negligible))
            hd_unite(parent, p->vertex[p->head[e]], p->vertex[p->tail[e]]);
    }
}

static bool equal_rows(const hd_problem *p, int64_t e) {
    return memcmp(p->f + p->head[e] * p->c, p->f + p->tail[e] * p->c,
                  (size_t)p->c * sizeof(double)) == 0;
}

huddle_status hd_groups(const hd_problem *p, const hd_block *blocks, const double *h,
                        double negligible, int32_t *group, int32_t *n_groups) {
    huddle_status status = HUDDLE_OK;
    double *weight = NULL;
    ALLOC(weight, p->n);
    weigh_vertices(p, weight);
    for (int64_t v = 0; v < p->n; v++)
        group[v] = (int32_t)v;
    for (int64_t b = 0; b < p->n_blocks; b++)
        join_block(p, &blocks[b], h, weight, negligible, group);
    for (int64_t e = p->live; e < p->m; e++)
        if (p->lambda[e] > 0 && p->head[e] >= p->free && p->tail[e] >= p->free && equal_rows(p, e))
            hd_unite(group, p->vertex[p->head[e]], p->vertex[p->tail[e]]);
    for (int64_t v = 0; v < p->n; v++)
        group[v] = hd_find_root(group, (int32_t)v);
    TRY(hd_number_by_first(group, p->n, n_groups));
done:
    huddle_free(weight);
    return status;
}

enum { NO_FIXED = -1, SEVERAL_FIXED = -2 };

/* The fixed row of each group, by the caller's number. */
static void find_fixed(const hd_problem *p, const huddle_dense *f, const int32_t *group,
                       int32_t *fixed) {
    for (int64_t v = p->free; v < p->n; v++) {
        int32_t row = p->vertex[v], *known = &fixed[group[row]];
        if (*known == NO_FIXED)
            *known = row;
        else if (*known >= 0 && memcmp(f->values + *known * f->stride, f->values + row * f->stride,
                                       (size_t)f->cols * sizeof(double)) != 0)
            *known = SEVERAL_FIXED;
    }
}

huddle_status hd_snap(const hd_problem *p, const huddle_dense *f, const double *weights,
                      const int32_t *group, int32_t n_groups, huddle_dense *g) {
    huddle_status status = HUDDLE_OK;
    int64_t c = p->c;
    double *mean = NULL, *mass = NULL;
    int64_t *size = NULL;
    int32_t *fixed = NULL;
    ALLOC_ZERO(mean, n_groups * c);
    ALLOC_ZERO(mass, n_groups);
    ALLOC_ZERO(size, n_groups);
    ALLOC(fixed, n_groups);
    for (int32_t q = 0; q < n_groups; q++)
        fixed[q] = NO_FIXED;
    find_fixed(p, f, group, fixed);
    for (int64_t v = 0; v < p->n; v++) {
        double weight = weights != NULL ? weights[v] : 1;
        size[group[v]]++;
        mass[group[v]] += weight;
        for (int64_t k = 0; k < c; k++)
            mean[group[v] * c + k] += weight * g->values[v * g->stride + k];
    }
    for (int32_t q = 0; q < n_groups; q++)
        for (int64_t k = 0; k < c; k++)
            mean[q * c + k] =
                fixed[q] >= 0 ? f->values[fixed[q] * f->stride + k] : mean[q * c + k] / mass[q];
    for (int64_t v = 0; v < p->n; v++)
        if (size[group[v]] > 1 && fixed[group[v]] != SEVERAL_FIXED)
            memcpy(g->values + v * g->stride, mean + group[v] * c, (size_t)c * sizeof *mean);
done:
    huddle_free(fixed);
    huddle_free(size);
    huddle_free(mass);
    huddle_free(mean);
    return status;
}
