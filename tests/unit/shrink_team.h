/* Slabs of rows for teams (engines/team.h), and a linear solver as an engine with several processes
 * would have. */
#ifndef HUDDLE_TESTS_SHRINK_TEAM_H
#define HUDDLE_TESTS_SHRINK_TEAM_H

#include "base/check.h"
#include "base/slabs.h"
#include "shrink/linear.h"
#include "shrink_problems.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Rows begin .. end - 1 of F and W, columns by their number among all rows. */
static inline huddle_status take_slab(const example *x, int64_t begin, int64_t end, example *part) {
    huddle_status status = HUDDLE_OK;
    int64_t c = x->f.cols, first = x->w.offsets[begin], count = x->w.offsets[end] - first;
    TRY(huddle_dense_new(end - begin, c, &part->f));
    TRY(huddle_csr_new(end - begin, x->w.cols, count, &part->w));
    memcpy(part->f.values, x->f.values + begin * c, (size_t)((end - begin) * c) * sizeof(double));
    for (int64_t i = begin; i <= end; i++)
        part->w.offsets[i - begin] = x->w.offsets[i] - first;
    memcpy(part->w.columns, x->w.columns + first, (size_t)count * sizeof(int32_t));
    memcpy(part->w.values, x->w.values + first, (size_t)count * sizeof(double));
done:
    return status;
}

/* Conjugate gradients, preconditioned by the diagonal, on rows of all members. */
typedef struct team_linear {
    huddle_context *context;
    hd_shrink_linear_graph graph;
    double *excess, *weight, *diagonal;
    double *direction; /* (n + ghosts) x c */
    double *residual, *image;
} team_linear;

static inline void linear_free(void *state) {
    team_linear *s = state;
    free(s->excess);
    free(s->weight);
    free(s->diagonal);
    free(s->direction);
    free(s->residual);
    free(s->image);
    free(s);
}

static inline huddle_status linear_analyse(huddle_context *context,
                                           const hd_shrink_linear_graph *graph, void **state) {
    team_linear *s = calloc(1, sizeof *s);
    size_t n = (size_t)graph->n, c = (size_t)graph->c, ghosts = (size_t)graph->halo->ghosts;
    s->context = context;
    s->graph = *graph;
    s->excess = calloc(n, sizeof(double));
    s->weight = calloc((size_t)graph->m, sizeof(double));
    s->diagonal = calloc(n, sizeof(double));
    s->direction = calloc((n + ghosts) * c, sizeof(double));
    s->residual = calloc(n * c, sizeof(double));
    s->image = calloc(n * c, sizeof(double));
    *state = s;
    return HUDDLE_OK;
}

/* The other end of entry `at` of the list of edges, and the edge. */
static inline int32_t other_end(const hd_shrink_linear_graph *g, int64_t at, int64_t *e) {
    *e = (int64_t)(g->incident[at] >> 1) - g->first_edge;
    return (g->incident[at] & 1 ? g->head[*e] : g->tail[*e]) - g->base;
}

static inline huddle_status linear_factor(void *state, const double *excess, const double *weight) {
    team_linear *s = state;
    memcpy(s->excess, excess, (size_t)s->graph.n * sizeof(double));
    memcpy(s->weight, weight, (size_t)s->graph.m * sizeof(double));
    for (int32_t v = 0; v < s->graph.n; v++) {
        s->diagonal[v] = excess[v];
        for (int64_t at = s->graph.incident_at[v]; at < s->graph.incident_at[v + 1]; at++) {
            int64_t e = (int64_t)(s->graph.incident[at] >> 1) - s->graph.first_edge;
            s->diagonal[v] += e < s->graph.m ? weight[e] : 0;
        }
    }
    return HUDDLE_OK;
}

static inline huddle_status apply_matrix(team_linear *s, double *curvature) {
    huddle_status status = HUDDLE_OK;
    const hd_shrink_linear_graph *g = &s->graph;
    int64_t c = g->c;
    *curvature = 0;
    TRY(hd_halo_fetch(g->halo, s->direction, (size_t)c * sizeof(double)));
    for (int32_t v = 0; v < g->n; v++)
        for (int64_t k = 0; k < c; k++) {
            double own = s->direction[v * c + k], sum = s->excess[v] * own;
            for (int64_t at = g->incident_at[v]; at < g->incident_at[v + 1]; at++) {
                int64_t e;
                int32_t u = other_end(g, at, &e);
                if (e < g->m) /* anchored edges are part of the excess */
                    sum += s->weight[e] * (own - s->direction[u * c + k]);
            }
            s->image[v * c + k] = sum;
            *curvature += own * sum;
        }
    TRY(hd_reduce_sum(s->context, 1, curvature));
done:
    return status;
}

static inline huddle_status linear_solve(void *state, const double *r, double tolerance,
                                         double *x) {
    huddle_status status = HUDDLE_OK;
    team_linear *s = state;
    int64_t c = s->graph.c, size = s->graph.n * c;
    double before = 0, curvature;
    memset(x, 0, (size_t)size * sizeof *x);
    memcpy(s->residual, r, (size_t)size * sizeof *r);
    memset(s->direction, 0, (size_t)size * sizeof(double));
    for (int step = 0; step < 5000; step++) {
        double sums[2] = {0};
        for (int64_t v = 0; v < s->graph.n; v++) {
            double square = 0;
            for (int64_t k = v * c; k < (v + 1) * c; k++) {
                square += s->residual[k] * s->residual[k];
                sums[0] += s->residual[k] * s->residual[k] / s->diagonal[v];
            }
            sums[1] += sqrt(square);
        }
        TRY(hd_reduce_sum(s->context, 2, sums));
        if (sums[1] <= .01 * tolerance || sums[0] == 0)
            break;
        for (int64_t k = 0; k < size; k++)
            s->direction[k] = s->residual[k] / s->diagonal[k / c] +
                              (step > 0 ? sums[0] / before : 0) * s->direction[k];
        before = sums[0];
        TRY(apply_matrix(s, &curvature));
        for (int64_t k = 0; k < size; k++) {
            x[k] += sums[0] / curvature * s->direction[k];
            s->residual[k] -= sums[0] / curvature * s->image[k];
        }
    }
done:
    return status;
}

static const hd_shrink_linear_solver team_linear_solver = {.name = "team",
                                                           .analyse = linear_analyse,
                                                           .factor = linear_factor,
                                                           .solve = linear_solve,
                                                           .free = linear_free};

#endif
