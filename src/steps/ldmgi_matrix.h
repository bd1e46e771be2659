/* Local discriminant models (methods/ldmgi.c): the model of one clique, and the sum of all. */
#ifndef HUDDLE_SRC_STEPS_LDMGI_MATRIX_H
#define HUDDLE_SRC_STEPS_LDMGI_MATRIX_H

#include "huddle/matrix.h"

/* squares (m x m) are the squared distances between the members of a clique, which become K, the
 * products of its centred points, and then (K + lambda I + r 11'/m)^-1, symmetric to the last bit.
 * K 1 = 0, so r, which is returned, changes nothing but the eigenvalue of 1, from lambda to lambda
 * + r. With r = tr K the inverse is as well conditioned as on the rest of the space. means (m): the
 * row means of squares. A lambda that is only rounding beside tr K is raised to it. */
double hd_step_ldmgi_invert(int32_t m, double lambda, double *squares, double *means);

/* The Laplacian of a clique, unit H (K + lambda I)^-1 H, in place of its squared distances. */
void hd_step_ldmgi_block(int32_t m, double lambda, double unit, double *squares, double *means);

/* Cliques: row i of `members` has the members of clique i, columns ascending (values are not used),
 * and its Laplacian, of as many rows as members, begins at blocks + begin[i]. */
typedef struct hd_step_cliques {
    huddle_csr members;
    int64_t *begin;
    double *blocks;
} hd_step_cliques;

void hd_step_cliques_free(hd_step_cliques *cliques);

/* I - L, L the sum of the cliques' Laplacians, each in the rows and columns of its members.
 * Symmetric to the last bit if the blocks are. */
huddle_status hd_step_ldmgi_matrix(huddle_context *context, const hd_step_cliques *cliques,
                                   huddle_csr *matrix);

#endif
