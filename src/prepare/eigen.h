/* The largest eigenvalues of a symmetric positive semidefinite matrix and their vectors. */
#ifndef HUDDLE_SRC_PREPARE_EIGEN_H
#define HUDDLE_SRC_PREPARE_EIGEN_H

#include "huddle/base.h"

/* out (m x b, row-major, leading dimension ldo) = A v (leading dimension ldv). */
typedef struct hd_prepare_operator {
    int64_t m;
    huddle_status (*times)(huddle_context *context, void *self, const double *v, int64_t b,
                           int64_t ldv, double *out, int64_t ldo);
    void *self;
} hd_prepare_operator;

/* The r largest eigenvalues, descending, and their unit vectors (m x r, row-major). matrix is
 * m x m and destroyed. With m above 46,000 it is refused. */
huddle_status hd_prepare_eigen_dense(int64_t m, double *matrix, int64_t r, double *values,
                                     double *vectors);

/* The *r eigenvalues above a limit, ascending: values, which has room for m, and their unit
 * vectors, one after the other, in vectors, which has room for m x m. matrix is destroyed; room is
 * for as many numbers as hd_prepare_eigen_room() says. m is at most 46,000. */
huddle_status hd_prepare_eigen_above(int64_t m, double *matrix, double limit, double *values,
                                     double *vectors, double *room, int64_t *r);
int64_t hd_prepare_eigen_room(int64_t m);

/* The same as the first of an operator, by subspace iteration from a random start (see krylov.c).
 * Reports in *converged whether every residual fell below its tolerance. A rough solution, an
 * orthonormal basis of nearly the same space, takes a fraction of the time. The operator and all
 * vectors are the same on every process. */
huddle_status hd_prepare_eigen_krylov(huddle_context *context, const hd_prepare_operator *a,
                                      int64_t r, bool rough, uint64_t seed, double *values,
                                      double *vectors, bool *converged);

/* The most columns that it passes to an operator of size m at a time. */
int64_t hd_prepare_eigen_block(int64_t m, int64_t r);

#endif
