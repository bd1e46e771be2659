/* Huddle, shrink: pulls the rows of an embedding together along a graph, to a certificate.
 *
 *     minimise  sum_i ||g_i - f_i||  +  gamma sum_e w_e ||g_i - g_j||      loss "l21"
 *     minimise  ||G - F||_F^2        +  gamma sum_e w_e ||g_i - g_j||      loss "l2"
 *
 * over G, n x c like F. With weights m_i the first sum is sum_i m_i ||g_i - f_i||, or with squares;
 * a row of weight m then counts as m equal rows that stay together. The sum over e takes every edge
 * of the graph W once, not twice. Both
 * problems are convex; rows of G fuse into groups as gamma grows. Every answer comes with a bound:
 * `dual` is a number the optimum cannot be below, so gap = (objective - dual) / objective says how
 * near to the optimum G is, whatever solver found it. A gap certifies the value; the minimiser of
 * "l21" need not be unique.
 *
 * Solvers. "irls": iteratively reweighted least squares with Anderson acceleration, and "newton":
 * the same with a primal-dual Newton tail where it stagnates; "pdhg": restarted primal-dual
 * hybrid gradient, no linear systems; "plain": reweighted least squares as published. "auto" is
 * newton. Linear systems are solved by "cholmod", a direct factorisation, or "approximate",
 * conjugate gradients preconditioned by a randomised incomplete one. "auto" chooses by CHOLMOD's
 * symbolic analysis: the approximate solver where the analysis fails, or the factor would cost more
 * operations than it saves, or more memory than 4 GB or half of the machine's.
 *
 * Letters: F, G, W as above, lambda_e = gamma w_e, B the oriented incidence matrix
 * ((BG)_e = g_i - g_j with i < j), z_e the dual vector of edge e, ||z_e|| <= lambda_e.
 */
#ifndef HUDDLE_SHRINK_H
#define HUDDLE_SHRINK_H

#include "huddle/matrix.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Start from huddle_shrink_defaults(), then change what you need. */
typedef struct huddle_shrink_options {
    double gamma;              /* >= 0, or HUDDLE_AUTO: n (the sum of the weights) / n_clusters */
    const char *loss;          /* "l21" or "l2" */
    const char *solver;        /* "auto", "irls", "newton", "pdhg" or "plain" */
    const char *linear_solver; /* "auto", "cholmod" or "approximate" */
    double gap;                /* relative duality gap to stop at */
    bool snap;                 /* put each group of fused rows at one point */
    int32_t max_iter;          /* most iterations, or HUDDLE_AUTO; the option "shrink_max_iter" */
    int32_t n_clusters;        /* for gamma HUDDLE_AUTO; HUDDLE_AUTO: the columns of f */
    uint64_t seed;             /* of the approximate factorisation */
    bool keep_dual;            /* hand out the dual point too */
    const huddle_dense *start; /* a first guess of G, n x c, or NULL */
    const double *weights;     /* n positive numbers m_i, or NULL: 1 for every row; see below */
} huddle_shrink_options;

typedef struct huddle_shrunk {
    huddle_dense g;   /* n x c */
    int32_t *group;   /* n: groups of fused rows, numbered from 0 by their first member */
    int32_t n_groups; /* an edge is fused when its dual is slack, ||z_e|| < .99 lambda_e */
    huddle_dense z;   /* with keep_dual: one row an edge i < j, in the order W stores them */
} huddle_shrunk;

/* How the solve went. `stop` is "converged" or "exact" (a closed form) only if gap, as proven for
 * the G handed out, is at most the gap asked for. Otherwise it is "max_iter", "stalled" or
 * "rounding": what is left is less than rounding the entries of G can change, so that double
 * precision cannot do better. None of them is an error: G is the best point seen, gap its true
 * gap, and the log gets a warning, unless the rows were equal but for rounding from the start. */
typedef struct huddle_shrink_info {
    huddle_stop stop;
    double gamma;         /* the number used */
    double objective;     /* of the G handed out, on every edge of W */
    double dual;          /* the optimum is at least this, rounding errors allowed for */
    double gap;           /* max(0, objective - dual) / objective; 0 if the objective is 0 */
    int32_t n_groups;     /* groups of fused rows */
    int32_t n_components; /* of W */
    int64_t n_fixed;      /* rows that cannot move: gamma * degree < m_i ("l2": no edges) */
    int32_t n_iter;       /* iterations */
    int64_t n_solves;     /* linear systems solved (c right-hand sides count once) */
    bool snapped;         /* groups were put at one point */
    const char *loss;     /* "l21" or "l2"; static text, as the next two */
    const char *solver;   /* what was used. "exact": a closed form */
    const char *linear_solver;
    int32_t n_history;                                          /* iterations recorded */
    double *history_objective, *history_dual, *history_seconds; /* best so far after each */
    double seconds;
} huddle_shrink_info;

/* The option table. n_clusters and seed are not in it: they belong to the whole method. */
HUDDLE_API const huddle_option *huddle_shrink_options_table(void);
HUDDLE_API huddle_shrink_options huddle_shrink_defaults(void);

/* Shrinks the rows of f along w, which must be square, symmetric and not negative; its diagonal
 * is ignored. out and info are freed by their _free functions; info may be NULL. HUDDLE_INVALID
 * if an option, f or w does not fit, HUDDLE_UNSUPPORTED for a linear solver this build lacks or
 * that cannot take a matrix of this size, HUDDLE_NO_MEMORY, HUDDLE_CANCELLED. */
HUDDLE_API huddle_status huddle_shrink(huddle_context *context, const huddle_dense *f,
                                       const huddle_csr *w, const huddle_shrink_options *options,
                                       huddle_shrunk *out, huddle_shrink_info *info);

HUDDLE_API void huddle_shrunk_free(huddle_shrunk *shrunk);
HUDDLE_API void huddle_shrink_info_free(huddle_shrink_info *info);

/* The two numbers of the certificate from their definitions, with nothing of the solvers:
 * objective is that of g; dual (may be NULL) the lower bound that z proves, z as in huddle_shrunk.
 * Any z will do: rows outside their ball are pulled back into it, and z is scaled per component of
 * w so that the bound is best. */
HUDDLE_API huddle_status huddle_shrink_certificate(huddle_context *context, const huddle_dense *f,
                                                   const huddle_csr *w, double gamma,
                                                   const char *loss, const huddle_dense *g,
                                                   const huddle_dense *z, double *objective,
                                                   double *dual);

/* The same with weights of the rows (NULL: 1). */
HUDDLE_API huddle_status huddle_shrink_certificate_weighted(
    huddle_context *context, const huddle_dense *f, const huddle_csr *w, const double *weights,
    double gamma, const char *loss, const huddle_dense *g, const huddle_dense *z, double *objective,
    double *dual);

/* The two ends of gamma.
 *
 * Up to gamma_fit, G = F is optimal. For "l21" this is exact (beyond it some row moves) unless an
 * edge joins equal rows, when it is the largest value certified by giving such edges no force
 * (but a row without other edges holds the equal row it hangs on);
 * for "l2" it is 0. From gamma_up on every component of W is one point, its geometric median
 * ("l2": mean). gamma_up is sufficient, not always necessary: it is what the forces of least
 * energy certify. With several components gamma_fit is the smallest and gamma_up the largest of
 * theirs. Without edges they are infinity and 0. */
HUDDLE_API huddle_status huddle_shrink_ends(huddle_context *context, const huddle_dense *f,
                                            const huddle_csr *w, const char *loss,
                                            double *gamma_fit, double *gamma_up);

/* The same with weights of the rows (NULL: 1). */
HUDDLE_API huddle_status huddle_shrink_ends_weighted(huddle_context *context, const huddle_dense *f,
                                                     const huddle_csr *w, const double *weights,
                                                     const char *loss, double *gamma_fit,
                                                     double *gamma_up);

/* Shrinks new rows towards fixed ones: row x of g becomes
 *
 *     argmin_g  ||g - f_x|| + gamma sum_j w_xj ||g - a_j||       (loss "l2": ||g - f_x||^2 + ...)
 *
 * where row x of w (new rows x anchors, not negative) says which rows a_j of `anchors` pull, and
 * how much. g has the shape of f and may be the same matrix. Each row on its own; the answer is
 * exact where it is f_x or an anchor, elsewhere its objective is right to about 1e-10. */
HUDDLE_API huddle_status huddle_shrink_points(huddle_context *context, const huddle_dense *f,
                                              const huddle_csr *w, const huddle_dense *anchors,
                                              double gamma, const char *loss, huddle_dense *g);

#ifdef __cplusplus
}
#endif

#endif
