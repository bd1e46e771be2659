/* A graph whose neighbours are adapted until it has as many components as clusters are wanted. */
#ifndef HUDDLE_SRC_STEPS_CAN_H
#define HUDDLE_SRC_STEPS_CAN_H

#include "huddle/embed.h"
#include "huddle/graph.h"

typedef struct hd_step_can_options {
    int32_t n_clusters;  /* at least 2, fewer than the points */
    int32_t n_neighbors; /* k */
    int32_t max_iter;    /* rounds */
    uint64_t seed;
    const char *embed_solver;
    int64_t max_entries; /* of the lists of all points, when k is raised */
} hd_step_can_options;

typedef struct hd_step_can {
    int32_t *component;   /* n: of the last graph */
    int32_t n_components; /* n_clusters if the graph could be adapted */
    huddle_dense f;       /* n x n_clusters: the last eigenvectors; empty if none were needed */
    huddle_csr s;         /* the last weights: n rows of nonnegative numbers that add up to 1 */
    double lambda, objective;
    int32_t n_neighbors, n_iter;
} hd_step_can;

/* With k neighbours, or more if the graph of the points themselves has more components. */
huddle_status hd_step_can_run(huddle_context *context, const huddle_points *points,
                              const hd_step_can_options *options, hd_step_can *can);

void hd_step_can_free(hd_step_can *can);

/* s, m numbers of sum 1, minimises sum_j (d_j s_j + gamma s_j^2) over all such s >= 0. order has
 * room for m. */
void hd_step_can_project(int32_t m, const double *d, double gamma, double *order, double *s);

#endif
