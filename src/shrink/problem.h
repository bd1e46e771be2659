/* The shrink problem in the form in which the solvers see it.
 *
 * Before a solver runs:
 *   F is scaled by a power of two, so that its rows are about 1 from their mean (for "l2" lambda is
 *   scaled too): tolerances mean the same for every input, and scaling loses no digit;
 *   rows with gamma * degree < m_i ("l21"), which no solution moves (docs/method.md, "The two ends
 *   of gamma"), become fixed;
 *   edges with a lambda too small to matter are idle: no solver sees them, but they count in the
 *   objective;
 *   the rest is split into blocks: connected sets of free vertices. Each block is solved on its
 *   own, with its own smoothing and its own bound. Edges to fixed vertices belong to the block of
 *   the free end.
 *
 * Vertices are renumbered: block after block, each in breadth-first order, then the fixed ones.
 * Edges likewise: each block's inner edges, then those to its fixed neighbours (anchored); after
 * all blocks the idle edges. A fixed vertex is a vertex whose row of every step is 0, so that no
 * loop has to treat it separately.
 *
 * Where rows are distributed over processes, connected sets are not known to one process. All
 * vertices then keep their order and form one block without fixed vertices; edges to ghosts follow
 * the inner ones. */
#ifndef HUDDLE_SRC_SHRINK_PROBLEM_H
#define HUDDLE_SRC_SHRINK_PROBLEM_H

#include "base/context.h"
#include "huddle/shrink.h"
#include "shrink/edges.h"

/* What is to be solved, in the caller's numbers; all arguments checked. */
typedef struct hd_shrink_input {
    huddle_context *context;
    const huddle_dense *f;
    const huddle_csr *w;
    const hd_shrink_edges *edges;
    const double *weights; /* m_i of the rows, or NULL: 1 */
    double gamma;
    bool squared; /* loss "l2" */
} hd_shrink_input;

/* Vertices and edges of a block. Edges e0 .. ghost - 1 are inner, ghost .. anchor - 1 lead to
 * ghosts, anchor .. e1 - 1 are anchored. */
typedef struct hd_shrink_range {
    int32_t v0, v1; /* free vertices v0 .. v1 - 1 */
    int64_t e0, ghost, anchor, e1;
} hd_shrink_range;

/* More than 20 fields: these are the arrays of one graph, and every pass reads most of them. */
typedef struct hd_shrink_problem {
    int64_t n, m;     /* vertices and edges, all of them */
    int64_t c;        /* columns */
    int64_t rows;     /* of arrays with one row per vertex: n + ghosts */
    bool squared;     /* loss "l2" */
    double unit;      /* F here = F given / unit */
    int32_t n_free;   /* vertices 0 .. n_free - 1 may move */
    int64_t n_live;   /* edges 0 .. n_live - 1 belong to blocks */
    int64_t n_blocks; /* 1 if the rows are distributed over processes */
    hd_shrink_range *blocks;
    int32_t *vertex;      /* n: the caller's number of each vertex */
    int32_t *edge;        /* m: the caller's number of each edge */
    int8_t *flipped;      /* m: whether the caller's edge points in the other direction */
    int32_t *head, *tail; /* m: x_e = g_head - g_tail */
    double *lambda;       /* m */
    double *f;            /* rows x c */
    double *mass;         /* n: the weight m_i of each row */
    double *radius;       /* n: m_i times a bound on ||g_i - f_i||, for the certificate */
    int64_t *incident_at; /* n_free + 1 */
    uint32_t *incident;   /* 2 e if the vertex is the head of live edge e, 2 e + 1 if the tail */
    int32_t n_components; /* of W */
    double idle_cost;     /* of the idle edges at F, over all processes */
    const hd_halo *halo;  /* of the edges */
} hd_shrink_problem;

/* fix: fix the vertices that cannot move; without it only those without edges are. negligible: an
 * edge pulls with at most lambda on rows that resist with m_i; edges below this share of the
 * smallest m_i become idle. The edges must outlive the problem. */
huddle_status hd_shrink_problem_new(const hd_shrink_input *input, bool fix, double negligible,
                                    hd_shrink_problem *problem);
void hd_shrink_problem_free(hd_shrink_problem *problem);

static inline bool hd_shrink_is_distributed(const hd_shrink_problem *problem) {
    return problem->halo->slabs != NULL;
}

/* Fills in the rows of other processes in an array of problem->rows x c. */
huddle_status hd_shrink_fetch(const hd_shrink_problem *problem, double *rows);

/* The sum of the rows' weights over all processes: n without any. */
huddle_status hd_shrink_total_weight(huddle_context *context, const double *weights, int64_t n,
                                     double *total);

/* From an objective or dual in here to the caller's. */
double hd_shrink_value(const hd_shrink_problem *problem, double value);

#endif
