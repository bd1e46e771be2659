/* The shrink problem on aggregates of neighbouring rows, certified on all rows.
 *
 * For many rows the path of gamma is too expensive to be solved for a picture. Rows that short
 * edges join are merged into aggregates, which have the mean of their rows of F, their number as a
 * mass and the sums of the weights between them. A solution is expanded to all rows, and its
 * objective is that of all rows. So is its bound: the dual of the aggregates is divided among the
 * edges that they consist of, and inside an aggregate flows along a tree such that every row has
 * the same share of the force on its aggregate. What huddle_shrink_certificate() makes of that dual
 * is a proven lower bound of the whole problem. */
#ifndef HUDDLE_REPORT_COARSE_H
#define HUDDLE_REPORT_COARSE_H

#include <huddle/path.h>

/* An edge i < j of the whole graph, in the order in which the graph stores them. */
typedef struct coarse_edge {
    int32_t i, j;
    double weight, length; /* ||f_i - f_j|| squared */
    int64_t link;          /* the edge between the aggregates of i and j, or -1 inside of one */
    double share;          /* of the weight of that edge, negative if it has the other direction */
} coarse_edge;

/* A row that flows along an edge of its tree, towards the root. */
typedef struct coarse_flow {
    int32_t row, next;
    int64_t edge;
} coarse_flow;

typedef struct coarse_problem {
    huddle_context *context;
    huddle_dense f; /* all rows; borrowed, as w */
    huddle_csr w;
    const char *loss;

    coarse_edge *edges;
    int64_t n_edges;
    int32_t *aggregate; /* of each row */
    int32_t count;      /* aggregates */
    double *mass;       /* rows in each */
    huddle_dense mean;
    huddle_csr graph;
    coarse_flow *flows; /* leaves of the trees first */
    int64_t n_flows;

    int32_t *group;     /* of each aggregate: fused ones; set by coarse_solve(), as g and z */
    huddle_dense g, z;  /* of all rows and edges */
    huddle_dense start; /* G of the aggregates at the gamma before */
} coarse_problem;

/* Merges rows until a fifth of them is left, if edges allow it. loss: "l21" or "l2". */
huddle_status coarse_open(huddle_context *context, const huddle_dense *f, const huddle_csr *w,
                          const char *loss, coarse_problem *p);
void coarse_close(coarse_problem *p);

/* Solves the problem of the aggregates to a relative gap, from the solution before. p->g becomes
 * the solution for all rows; level (gamma must be set) gets its objective and bound on all rows.
 * Groups are counted as if the rows of an aggregate had fused, which they have in p->g. */
huddle_status coarse_solve(coarse_problem *p, double gap, huddle_path_level *level);

/* The tree of all rows, as in huddle_path: from p->group of n_levels levels, one after the other,
 * which is changed. The rows of an aggregate fuse at the first of them. *fusions is freed by
 * free(). */
huddle_status coarse_fusions(const coarse_problem *p, int32_t n_levels, const double *gammas,
                             int32_t *groups, huddle_path_fusion **fusions, int64_t *n_fusions);

/* The root of i in a forest, in which roots are their own parents; shortens the way there. */
int32_t coarse_root(int32_t *parent, int32_t i);

#endif
