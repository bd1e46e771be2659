/* The shrink problem on aggregates of neighbouring rows, certified on all rows.
 *
 * For many rows the path of gamma is too expensive to be solved for a picture. Rows that short
 * edges join are merged into aggregates, which have the mean of their rows of F, their number as a
 * mass and the sums of the weights between them. A solution is expanded to all rows, and its
 * objective is that of all rows. So is its bound: the dual of the aggregates is divided among the
 * edges that they consist of, and inside an aggregate flows along a tree such that every row has
 * the same share of the force on its aggregate. What huddle_shrink_certificate() makes of that dual
 * is a proven lower bound of the whole problem. */
#ifndef HUDDLE_SRC_SHRINK_COARSE_H
#define HUDDLE_SRC_SHRINK_COARSE_H

#include "huddle/path.h"
#include "shrink/edges.h"

/* A row that flows along an edge of its tree, towards the root. */
typedef struct hd_shrink_flow {
    int32_t row, next;
    int64_t edge;
} hd_shrink_flow;

typedef struct hd_shrink_coarse {
    huddle_context *context;
    huddle_dense f; /* all rows; borrowed, as w */
    huddle_csr w;
    const char *loss;

    hd_shrink_edges edges; /* of the whole graph */
    int64_t *link;         /* of each: the edge between the aggregates of its ends, -1 inside one */
    double *share;         /* of the weight of that edge, negative if it has the other direction */
    int32_t *aggregate;    /* of each row */
    int32_t count;         /* aggregates */
    double *mass;          /* rows in each */
    huddle_dense mean;
    huddle_csr graph;
    hd_shrink_flow *flows; /* leaves of the trees first */
    int64_t n_flows;

    int32_t *group;     /* of each aggregate: fused ones; set by a solve, as g and z */
    huddle_dense g, z;  /* of all rows and edges */
    huddle_dense start; /* G of the aggregates at the gamma before */
} hd_shrink_coarse;

/* Merges rows until a fifth of them is left, if edges allow it. */
huddle_status hd_shrink_coarse_open(huddle_context *context, const huddle_dense *f,
                                    const huddle_csr *w, const char *loss, hd_shrink_coarse *p);
void hd_shrink_coarse_close(hd_shrink_coarse *p);

/* Solves the problem of the aggregates to a relative gap, from the solution before. p->g becomes
 * the solution for all rows; level (gamma must be set) gets its objective and bound on all rows.
 * Groups are counted as if the rows of an aggregate had fused, which they have in p->g. */
huddle_status hd_shrink_coarse_solve(hd_shrink_coarse *p, double gap, huddle_path_level *level);

#endif
