/* The shrink problem as the solvers see it.
 *
 * Before a solver runs:
 *   F is scaled by a power of two to rows about 1 from their mean (for "l2" lambda with it), so
 *   that tolerances mean the same for every input and no digit is lost;
 *   rows with gamma * degree < m_i ("l21"), which no solution moves, become fixed;
 *   edges with a lambda too small to matter are set aside (they still count in the objective);
 *   what remains falls into blocks: connected sets of free vertices, solved on their own, each
 *   with its own smoothing and its own bound. Edges to fixed vertices belong to the free end's.
 *
 * Vertices are renumbered: block after block, each in breadth-first order, then the fixed ones.
 * Edges likewise: each block's own (inner), then those to its fixed neighbours (anchored); after
 * all blocks the idle ones. A fixed vertex is a vertex that never moves, so no loop treats it
 * apart. */
#ifndef HUDDLE_SRC_SHRINK_PROBLEM_H
#define HUDDLE_SRC_SHRINK_PROBLEM_H

#include "base/context.h"
#include "huddle/shrink.h"
#include "shrink/edges.h"

typedef struct hd_range {
    int32_t v0, v1;         /* free vertices v0 .. v1 - 1 */
    int64_t e0, anchor, e1; /* inner edges e0 .. anchor - 1, anchored ones anchor .. e1 - 1 */
} hd_range;

typedef struct hd_problem {
    int64_t n, m; /* vertices and edges, all of them */
    int64_t c;    /* columns */
    bool squared; /* loss "l2" */
    double unit;  /* F here = F given / unit */
    int32_t free; /* vertices 0 .. free - 1 may move */
    int64_t live; /* edges 0 .. live - 1 belong to blocks */
    int64_t n_blocks;
    hd_range *blocks;
    int32_t *vertex;      /* n: the caller's number of each vertex */
    int32_t *edge;        /* m: the caller's number of each edge */
    int8_t *turned;       /* m: the caller's edge points the other way */
    int32_t *head, *tail; /* m: x_e = g_head - g_tail */
    double *lambda;       /* m */
    double *f;            /* n x c */
    double *mass;         /* n: the weight m_i of each row */
    double *radius;       /* n: m_i times a bound on ||g_i - f_i||, for the certificate */
    int64_t *incident_at; /* free + 1 */
    uint32_t *incident;   /* 2 e if the vertex is the head of live edge e, 2 e + 1 if the tail */
    int32_t n_components; /* of W */
    double idle;          /* what the idle edges cost at F */
} hd_problem;

/* weights: of the rows, or NULL. fix: fix the vertices that cannot move; without it only those
 * without edges are. negligible: an edge pulls with at most lambda on rows that resist with m_i;
 * below this share of the smallest m_i it is set aside. */
huddle_status hd_problem_new(const huddle_dense *f, const huddle_csr *w, const hd_edges *edges,
                             const double *weights, double gamma, bool squared, bool fix,
                             double negligible, hd_problem *problem);
void hd_problem_free(hd_problem *problem);

/* The sum of the rows' weights: n without any. */
double hd_total_weight(const double *weights, int64_t n);

/* From objective and dual in here to the caller's, and rows of G and Z. */
double hd_problem_value(const hd_problem *problem, double value);

#endif
