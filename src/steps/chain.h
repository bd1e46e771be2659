/* One Markov chain for several graphs of the same points (methods/rmsc.c): the transitions that all
 * graphs share, a low-rank matrix, apart from the errors of each, which are sparse. */
#ifndef HUDDLE_SRC_STEPS_CHAIN_H
#define HUDDLE_SRC_STEPS_CHAIN_H

#include "fit/fit.h"

typedef struct hd_step_chain_options {
    double sparsity;        /* lambda, the weight of the errors; HUDDLE_AUTO: chosen */
    double penalty, growth; /* mu in the first round, and by what it is multiplied after each */
    double tol;             /* largest violation of a constraint at which the rounds end */
    int32_t max_iter;
} hd_step_chain_options;

typedef struct hd_step_chain {
    int64_t n;
    double *p;                          /* n x n: rows of nonnegative numbers of sum 1 */
    double sparsity;                    /* lambda as it was used */
    double nuclear;                     /* sum of the singular values of Q */
    int64_t rank;                       /* of Q */
    double deviation[HD_FIT_MAX_VIEWS]; /* mean of sum_j |P_v - P|_ij over the rows i: 0 to 2 */
} hd_step_chain;

void hd_step_chain_free(hd_step_chain *chain);

/* Row i of the adjacency matrix divided by its sum; a row without edges stays where it is. */
huddle_status hd_step_chain_transitions(const huddle_csr *graph, huddle_csr *transitions);

/* lambda = auto for transitions of so many graphs. */
double hd_step_chain_auto(int32_t count, const huddle_csr *transitions);

/* The chain of `count` graphs, given their transitions. rounds, which begin anew, have the largest
 * violation of a constraint before the first round and after each. */
huddle_status hd_step_chain_find(huddle_context *context, int32_t count,
                                 const huddle_csr *transitions,
                                 const hd_step_chain_options *options, hd_step_chain *chain,
                                 huddle_alternation_info *rounds);

/* Room for hd_step_chain_threshold(): n^2 numbers twice, n, and hd_prepare_eigen_room(n). */
typedef struct hd_step_chain_room {
    double *gram, *vectors, *values, *work;
} hd_step_chain_room;

/* q minimises limit ||q||_* + ||q - x||_F^2 / 2: the singular values of x (n x n) less limit, or 0.
 * Also their number and sum. */
huddle_status hd_step_chain_threshold(huddle_context *context, int64_t n, const double *x,
                                      double limit, hd_step_chain_room *room, double *q,
                                      int64_t *rank, double *sum);

/* The distribution pi of a chain that returns to `start`, a distribution, with a tiny probability
 * in each step: where the chain is irreducible, its stationary one; otherwise each closed class has
 * the share of the start that ends up in it. Positive where start is. */
huddle_status hd_step_chain_stationary(const hd_step_chain *chain, const double *start, double *pi);

/* (Pi P + P' Pi) / 2 times total, symmetric to the last bit. */
huddle_status hd_step_chain_graph(const hd_step_chain *chain, const double *pi, double total,
                                  huddle_csr *graph);

#endif
