/* What every solver is given and gives back. */
#ifndef HUDDLE_SRC_EMBED_SOLVER_H
#define HUDDLE_SRC_EMBED_SOLVER_H

#include "base/context.h"
#include "embed/operator.h"

typedef struct hd_problem {
    const hd_operator *op;
    int64_t wanted; /* eigenpairs beyond the deflated ones, 1 .. n - n_null */
    double tol;     /* largest residual allowed */
    int32_t max_iter;
    const char *verify;
    uint64_t seed;
} hd_problem;

typedef struct hd_pairs {
    huddle_dense vectors; /* n x wanted, in the operator's order */
    double *theta;        /* descending */
    int64_t count;        /* of theta, at least wanted */
    double residual;      /* largest of the wanted pairs */
    double edge;          /* all but a few eigenvalues are below; NAN: not known */
    huddle_stop stop;
    int32_t n_iter;
    int64_t n_products;
    bool cuts_cluster;
    const char *verified;
    int64_t proven; /* the first so many of the wanted pairs are proven to be the first */
    const char *solver;
} hd_pairs;

void hd_pairs_free(hd_pairs *pairs);

huddle_status hd_solve_dense(huddle_context *context, const hd_problem *problem, hd_pairs *pairs);
huddle_status hd_solve_chebyshev(huddle_context *context, const hd_problem *problem,
                                 hd_pairs *pairs);
huddle_status hd_solve_arpack(huddle_context *context, const hd_problem *problem, hd_pairs *pairs);

/* A status from LAPACK's answer about an eigenproblem of size n. */
huddle_status hd_check_lapack(int answer, int64_t n);

/* Columns of the block that the Chebyshev solver would use. */
int64_t hd_chebyshev_width(int64_t wanted);

#endif
