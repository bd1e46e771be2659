/* Projections to a few principal directions, whose distances never exceed the true ones.
 *
 * V has p orthonormal rows; the bound holds for any, and principal directions make it tight. With
 * y = V x and rho = sqrt(|x|^2 - |y|^2), the norm of what V does not cover,
 *
 *     |x - x'|^2 >= |y - y'|^2 + (rho - rho')^2
 *
 * by the triangle inequality in the orthogonal complement. So (y, rho) are p + 1 coordinates whose
 * distances are lower bounds. They are computed in double, because rho is a difference that
 * cancels. */
#ifndef HUDDLE_SRC_GRAPH_PROJECTION_H
#define HUDDLE_SRC_GRAPH_PROJECTION_H

#include "graph/dense_rows.h"

typedef struct hd_graph_projection {
    huddle_dense y;        /* n x (p + 1) */
    double position_error; /* bound on the distance of a row from its exact position */
    int64_t p, d;
    double *v, *centre; /* p x d, orthonormal; d */
} hd_graph_projection;

/* How many directions make comparing all pairs of n rows cheapest. */
int64_t hd_graph_projection_count(int64_t n, int64_t width);

/* Projects to p directions found from a sample; p must be less than the width of the rows. */
huddle_status hd_graph_projection_new(huddle_context *context, const hd_graph_rows *rows, int64_t p,
                                      uint64_t seed, hd_graph_projection *projection);
void hd_graph_projection_free(hd_graph_projection *projection);

/* Projects other rows in the same way: y and *position_error are theirs. */
huddle_status hd_graph_projection_apply(huddle_context *context,
                                        const hd_graph_projection *projection,
                                        const hd_graph_rows *rows, huddle_dense *y,
                                        double *position_error);

#endif
