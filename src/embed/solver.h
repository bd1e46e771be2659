/* The solvers: what each is given and returns, and the function that chooses among them and the
 * context's engine. */
#ifndef HUDDLE_SRC_EMBED_SOLVER_H
#define HUDDLE_SRC_EMBED_SOLVER_H

#include "base/context.h"
#include "embed/operator.h"

typedef struct hd_embed_problem {
    const hd_eigen_request *request; /* how many pairs, tolerance, seed */
    const hd_embed_operator *op;     /* its matrix */
    const int32_t *order; /* the row at each place of the operator; NULL: its own place */
    const char *solver;   /* "auto" or a name of the table below */
    const char *verify;
    int32_t n_extra; /* vectors after request->n_wanted that need not be accurate */
    bool trial;      /* "auto" iterates on small matrices too (hd_embed_trial) */
} hd_embed_problem;

typedef struct hd_embed_pairs {
    huddle_dense vectors; /* n x (n_wanted + n_extra), in the operator's order */
    huddle_dense storage; /* where they are, after columns for the known vectors; or empty, and
                             vectors has its own memory */
    const float *rounded; /* the same span in float, columns nearly the same, rows of
                             rounded_stride; the block's of the solver, or NULL */
    int64_t rounded_stride;
    double *theta;   /* eigenvalues of the operator, descending */
    int64_t count;   /* of theta, at least n_wanted + n_extra */
    double residual; /* largest of the wanted pairs */
    double edge;     /* all but a few eigenvalues are below; NAN: not known */
    huddle_stop stop;
    int32_t n_iter;
    int64_t n_products;
    bool cuts_cluster;
    const char *verified;
    int64_t proven; /* this many of the wanted pairs are proven to be the first */
    const char *solver;
} hd_embed_pairs;

void hd_embed_pairs_free(hd_embed_pairs *pairs);

/* Allocates storage for `count` vectors and those that the request knows. The array becomes that of
 * the embedding: a million rows are not copied once more. */
huddle_status hd_embed_pairs_new(const hd_embed_problem *problem, int64_t count,
                                 hd_embed_pairs *pairs);

typedef huddle_status hd_embed_solve_function(huddle_context *context,
                                              const hd_embed_problem *problem,
                                              hd_embed_pairs *pairs);

hd_embed_solve_function hd_embed_solve_dense, hd_embed_solve_chebyshev, hd_embed_solve_arpack;

/* Solves by the engine if it takes the problem, otherwise by the solver that was chosen. */
hd_embed_solve_function hd_embed_solve;

/* The same for a matrix that is no Laplacian: where the tolerance does not separate the wanted
 * eigenvalues from the next, "auto" tries a smaller one, then the dense solver. */
hd_embed_solve_function hd_embed_solve_any;

/* "auto" and the names of the solvers, and the names alone; both end with NULL. */
extern const char *const hd_embed_solver_choices[];
extern const char *const *const hd_embed_solver_names;

/* huddle_embed() for a trial: without an engine, or where it declines, "auto" iterates on small
 * graphs too. LAPACK would take longer, for a proof that a trial does not need. */
huddle_status hd_embed_trial(huddle_context *context, const huddle_csr *graph,
                             const huddle_embed_options *options, huddle_embedding *out,
                             huddle_embed_info *info);

/* Pairs from the span of the first `count` columns of vectors, a block in double: Rayleigh-Ritz and
 * residuals in double. Fills in vectors, theta, count, residual and cuts_cluster. HUDDLE_NUMERIC,
 * naming `origin`, if the span has fewer dimensions than pairs are wanted. */
struct hd_embed_block;
huddle_status hd_embed_take_span(huddle_context *context, const hd_embed_problem *problem,
                                 const char *origin, const struct hd_embed_block *span,
                                 hd_embed_pairs *pairs);

/* Whether "auto" takes the dense solver for a matrix of so many rows in all, which is small enough
 * for one process. */
bool hd_embed_needs_all_rows(const hd_embed_problem *problem, int64_t total);

/* A status from LAPACK's return value for an eigenproblem of size n. */
huddle_status hd_embed_check_lapack(int answer, int64_t n);

/* Columns of the block that the Chebyshev solver would use. */
int64_t hd_embed_chebyshev_width(int64_t n_wanted, int64_t n_extra);

#endif
