/* Huddle, shrink: pulls the rows of an embedding together along a graph, with a certificate.
 *
 *     minimise  sum_i ||g_i - f_i||  +  gamma sum_e w_e ||g_i - g_j||      loss "l21"
 *     minimise  ||G - F||_F^2        +  gamma sum_e w_e ||g_i - g_j||      loss "l2"
 *
 * over G, n x c like F. The sum over e counts every edge of the graph W once, not twice. With
 * weights m_i the first sum is sum_i m_i ||g_i - f_i||, or with squares; a row of weight m then
 * counts as m equal rows that stay together. Both problems are convex; rows of G fuse into groups
 * as gamma grows. Every answer comes with a bound: the optimum is at least `dual`, so gap =
 * (objective - dual) / objective bounds the relative suboptimality of G, independently of the
 * solver. The gap certifies the value; the minimiser of "l21" need not be unique.
 *
 * Solvers. "irls": iteratively reweighted least squares with Anderson acceleration; "newton": the
 * same with a primal-dual Newton tail where it stagnates; "pdhg": restarted primal-dual hybrid
 * gradient, without linear systems; "reweighted": irls without acceleration. "auto" is
 * newton, or the engine's own solver (huddle/base.h) if it has one. "published" is the iteration of
 * the paper to the letter, and "printed" the algorithm as the paper lists it, with another matrix
 * (docs/method.md, section 4): from shrink_start, without smoothing, snapping or a look at the
 * certificate, which is computed at the end. Linear systems are solved by
 * "cholmod", a direct factorisation, which a build without GPL code lacks, or by "approximate",
 * conjugate gradients preconditioned by a randomised incomplete factorisation. "auto" chooses by
 * CHOLMOD's symbolic analysis: the approximate solver is used where the analysis fails, or the
 * factor would cost more operations than it saves, or more memory than 4 GB or half of the
 * machine's. A component of W that several processes solve together (engine mpi) has systems of
 * that engine: "mumps" or "boomeramg", a direct and an iterative solver, as linear_solver says.
 *
 * Large problems, from a million numbers (n + edges) c, are solved component by component of W, in
 * the directions in which the rows of a component differ, unless keep_dual asks for Z: memory then
 * follows the largest component. The certificate is that of the whole problem.
 *
 * Notation: F, G, W as above, lambda_e = gamma w_e, B the oriented incidence matrix
 * ((BG)_e = g_i - g_j with i < j), z_e the dual vector of edge e, ||z_e|| <= lambda_e.
 */
#ifndef HUDDLE_SHRINK_H
#define HUDDLE_SHRINK_H

#include "huddle/matrix.h"

/* Start from huddle_shrink_defaults(), then change what you need. */
typedef struct huddle_shrink_options {
    double gamma;              /* >= 0, or HUDDLE_AUTO: n (the sum of the weights) / n_clusters */
    const char *loss;          /* "l21" or "l2" */
    const char *solver;        /* "auto", "irls", "newton", "pdhg", "reweighted", "published" or
                                  "printed" */
    const char *linear_solver; /* "auto", "cholmod" (if this build has it) or "approximate" */
    double gap;                /* relative duality gap at which the solver stops */
    bool snap;                 /* replace each group of fused rows by one point */
    int32_t shrink_max_iter;   /* maximum number of iterations, or HUDDLE_AUTO: by solver */
    const char *shrink_start;  /* published, printed: G_0 if `start` is NULL: "random", standard
                                  normal numbers of the seed, or "embedding", F */
    double shrink_tol;         /* the same: they stop when the objective changes by no more than
                                  this share of itself; 0: never */
    double shrink_epsilon;     /* the same: smaller norms are raised to it before a division */
    int32_t n_clusters;        /* for gamma HUDDLE_AUTO; HUDDLE_AUTO: the columns of f */
    uint64_t seed;             /* of the approximate factorisation and of a random start */
    bool keep_dual;            /* return the dual point too */
    const huddle_dense *start; /* a first guess of G, n x c, or NULL; published, printed: G_0 */
    const double *weights;     /* n positive numbers m_i, or NULL: 1 for every row */
} huddle_shrink_options;

typedef struct huddle_shrunk {
    huddle_dense g;   /* n x c */
    int32_t *group;   /* n: groups of fused rows, numbered from 0 by their first member */
    int32_t n_groups; /* an edge is fused when its dual is slack, ||z_e|| < .99 lambda_e */
    huddle_dense z;   /* with keep_dual: one row per edge i < j, in the order W stores them */
} huddle_shrunk;

/* The outcome of the solve. `stop` is "converged" or "exact" (a closed form) only if gap, as proven
 * for the G returned, is at most the gap that was asked for. Otherwise it is "max_iter", "stalled"
 * or "rounding": the remaining gap is smaller than the effect of rounding the entries of G, so
 * that double precision cannot do better. "stalled" is also how published and printed end by
 * shrink_tol; then there is no warning. None of them is an error: G is the best point found, gap
 * its proven gap, and a warning is logged, unless the rows were equal up to rounding from the
 * start. */
typedef struct huddle_shrink_info {
    huddle_stop stop;
    double gamma;         /* the number used */
    double objective;     /* of the G returned, on every edge of W */
    double dual;          /* the optimum is at least this, rounding errors allowed for */
    double gap;           /* max(0, objective - dual) / objective; 0 if the objective is 0 */
    int32_t n_groups;     /* groups of fused rows */
    int32_t n_components; /* of W */
    int64_t n_fixed;      /* rows that cannot move: gamma * degree < m_i ("l2": no edges) */
    int32_t n_iter;       /* iterations */
    int64_t n_solves;     /* linear systems solved (c right-hand sides count once) */
    bool snapped;         /* groups were moved to one point */
    const char *loss;     /* "l21" or "l2"; static text, as the next two */
    const char *solver;   /* what was used: a solver, an engine, or "exact", a closed form */
    const char *linear_solver;
    int32_t n_history; /* iterations recorded */
    /* After each: the best so far; of published and printed the objective as it is, and as bound 0
     * but for the last. */
    double *history_objective, *history_dual, *history_seconds;
    double seconds;
} huddle_shrink_info;

/* The option table. n_clusters and seed are not in it: they belong to the whole method. */
HUDDLE_API const huddle_option *huddle_shrink_options_table(void);
HUDDLE_API huddle_shrink_options huddle_shrink_defaults(void);

/* Shrinks the rows of f along w, which must be square, symmetric and not negative; its diagonal
 * is ignored. out and info are freed by their _free functions; info may be NULL. HUDDLE_INVALID
 * if an option, f or w is invalid or has the wrong size, HUDDLE_UNSUPPORTED for a linear solver
 * that cannot handle a matrix of this size, HUDDLE_NO_MEMORY, HUDDLE_CANCELLED. */
HUDDLE_API huddle_status huddle_shrink(huddle_context *context, const huddle_dense *f,
                                       const huddle_csr *w, const huddle_shrink_options *options,
                                       huddle_shrunk *out, huddle_shrink_info *info);

HUDDLE_API void huddle_shrunk_free(huddle_shrunk *shrunk);
HUDDLE_API void huddle_shrink_info_free(huddle_shrink_info *info);

/* The two numbers of the certificate from their definitions, independent of the solvers: objective
 * is that of g; dual (may be NULL) the lower bound that z proves, z as in huddle_shrunk. weights:
 * m_i of the rows, or NULL. Any z will do: rows outside their ball are scaled back into it, and z
 * is scaled per component of w so that the bound is best. */
HUDDLE_API huddle_status huddle_shrink_certificate(huddle_context *context, const huddle_dense *f,
                                                   const huddle_csr *w, const double *weights,
                                                   double gamma, const char *loss,
                                                   const huddle_dense *g, const huddle_dense *z,
                                                   double *objective, double *dual);

/* The two ends of gamma. weights: m_i of the rows, or NULL.
 *
 * Up to gamma_fit, G = F is optimal. For "l21" this is exact (beyond it some row moves) unless an
 * edge joins equal rows, when it is the largest value certified by giving such edges no force
 * (except that a row whose only edge leads to an equal row adds its weight to that row);
 * for "l2" it is 0. From gamma_up on every component of W is one point, its geometric median
 * ("l2": mean). gamma_up is sufficient, not always necessary: it is what the minimum-norm
 * dual point certifies. With several components gamma_fit is the smallest and gamma_up the largest
 * of theirs. Without edges they are infinity and 0. */
HUDDLE_API huddle_status huddle_shrink_ends(huddle_context *context, const huddle_dense *f,
                                            const huddle_csr *w, const double *weights,
                                            const char *loss, double *gamma_fit, double *gamma_up);

/* Shrinks new rows towards fixed ones: row x of g becomes
 *
 *     argmin_g  ||g - f_x|| + gamma sum_j w_xj ||g - a_j||       (loss "l2": ||g - f_x||^2 + ...)
 *
 * where row x of w (new rows x anchors, not negative) gives the rows a_j of `anchors` that pull,
 * and how strongly. g has the shape of f and may be the same matrix. Rows are independent; the
 * answer is exact where it is f_x or an anchor, elsewhere its objective is right to about 1e-10. */
HUDDLE_API huddle_status huddle_shrink_points(huddle_context *context, const huddle_dense *f,
                                              const huddle_csr *w, const huddle_dense *anchors,
                                              double gamma, const char *loss, huddle_dense *g);

#endif
